package campaign

import "syscall"

// taskAttr ties the life of a task's process to ours and keeps the terminal's
// Ctrl-C from it: it is ended in an orderly way.
func taskAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
