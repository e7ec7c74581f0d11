//go:build !linux

package keeper

import (
	"os"
	"syscall"
	"time"
)

// Elsewhere programs are started by this process, and nobody ends them when it is killed.

// Close is for Linux.
func Close() {}

// link is the program itself.
type link struct{ p *os.Process }

func launch(o order, files []*os.File) (*Process, error) {
	p, err := os.StartProcess(o.Path, o.Args, &os.ProcAttr{Dir: o.Dir, Env: o.Env, Files: files})
	if err != nil {
		return nil, err
	}
	return &Process{Pid: p.Pid, done: make(chan struct{}), link: link{p}}, nil
}

func (l *link) await() (State, error) {
	s, err := l.p.Wait()
	if err != nil {
		return State{}, err
	}
	status, _ := s.Sys().(syscall.WaitStatus)
	return State{Status: status, User: time.Duration(s.UserTime()), System: time.Duration(s.SystemTime())}, nil
}

// Signal sends a signal to the program, unless it has ended.
func (l *link) Signal(s syscall.Signal) { _ = l.p.Signal(s) }

// Kill ends the program.
func (l *link) Kill() { _ = l.p.Kill() }

// DiesAt is known on Linux only.
func DiesAt(*Cmd, time.Duration, []syscall.Signal) string { return "" }

// Sleeps is known on Linux only.
func (p *Process) Sleeps() (ticks int, all bool) { return 0, false }
