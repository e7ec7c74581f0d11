package campaign

import "syscall"

// taskAttr ends a task's process with ours, and shields it from the terminal's Ctrl-C, so that
// it ends in an orderly way.
func taskAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
