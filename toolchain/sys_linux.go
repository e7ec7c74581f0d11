package toolchain

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// canRun: process groups and their clean end are implemented here only.
const canRun = true

// procAttr puts a child at the head of its own process group, so that it can
// be killed with everything it started, and ties its life to ours.
func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills the process group of a child that has not been reaped yet.
func killGroup(p *os.Process) {
	_ = unix.Kill(-p.Pid, unix.SIGKILL)
}

// awaitExit waits until the child has ended and leaves it unreaped, so that
// its process id, hence its group id, cannot be taken by someone else while
// the rest of the group is killed.
func awaitExit(p *os.Process) {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// maxRSS is the largest resident set of the ended process, in bytes.
func maxRSS(s *os.ProcessState) int64 {
	if r, ok := s.SysUsage().(*syscall.Rusage); ok {
		return r.Maxrss * 1024
	}
	return 0
}

// fileState is what changes with every change of a file: its inode, size and times.
// The time of the last change of the inode cannot be set back by who may write.
func fileState(info os.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d %d %d %d", s.Dev, s.Ino, s.Size, s.Mtim.Nano(), s.Ctim.Nano())
}

// lockFile takes an exclusive lock on an open file without waiting.
func lockFile(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}

const lockPoll = 100 * time.Millisecond
