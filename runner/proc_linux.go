package runner

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// procAttr puts a process at the head of its own group and ties its life to
// ours.
func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(p *os.Process) { _ = unix.Kill(-p.Pid, unix.SIGKILL) }

// tryLock takes an exclusive lock on an open file without waiting.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		}
		return err == nil, err
	}
}

const noFollow = unix.O_NOFOLLOW | unix.O_CLOEXEC
