//go:build !linux

package campaign

import "syscall"

// taskAttr shields a task's process from the terminal's Ctrl-C, so that it ends in an orderly
// way.
func taskAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
