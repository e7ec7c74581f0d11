package keeper

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// DiesAt runs a program that dies of a signal as its debugger, and returns where in its code it does:
// "ptxas+0x4fd2c0", an offset into the file that is mapped there. deadly are the signals that count.
// It is "" where that cannot be told, such as where debugging is forbidden. The program ends with this
// process, as its debugger does, but may not start others.
func DiesAt(c *Cmd, limit time.Duration, deadly []syscall.Signal) string {
	runtime.LockOSThread() // the debugger is a thread
	defer runtime.UnlockOSThread()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0) //input:allow the null device
	if err != nil {
		return ""
	}
	defer null.Close()
	p, err := os.StartProcess(c.Path, append([]string{c.Path}, c.Args...),
		&os.ProcAttr{Dir: c.Dir, Env: c.Env, Files: []*os.File{null, null, null},
			Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Ptrace: true}})
	if err != nil {
		return ""
	}
	kill := func() { _ = unix.Kill(-p.Pid, unix.SIGKILL) }
	defer func() { kill(); _, _ = p.Wait() }()
	defer time.AfterFunc(limit, kill).Stop()
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(p.Pid, &status, unix.WALL, nil)
		switch signal := status.StopSignal(); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || !status.Stopped():
			return ""
		case signal == unix.SIGTRAP || signal == unix.SIGSTOP: // it begins
			err = unix.PtraceCont(p.Pid, 0)
		case slices.Contains(deadly, signal):
			return instructionOf(p.Pid)
		default:
			err = unix.PtraceCont(p.Pid, int(signal))
		}
		if err != nil {
			return ""
		}
	}
}

// instructionOf is where a process that is stopped executes.
func instructionOf(pid int) string {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(pid, &regs) != nil {
		return ""
	}
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid)) //input:allow what the system says of a process
	if err != nil {
		return ""
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to, offset uint64
		var mode string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s %x", &from, &to, &mode, &offset); err != nil || regs.PC() < from || regs.PC() >= to {
			continue
		}
		fields := strings.Fields(lines.Text())
		return fmt.Sprintf("%s+%#x", filepath.Base(fields[len(fields)-1]), regs.PC()-from+offset)
	}
	return "an address where there is no code"
}
