//go:build !linux

package campaign

import "syscall"

// taskAttr keeps the terminal's Ctrl-C from a task's process: it is ended in an
// orderly way.
func taskAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
