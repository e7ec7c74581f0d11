//go:build !linux

package slurmtest

import "syscall"

// daemonAttr keeps a Ctrl-C from the daemons, which the tests stop in order.
func daemonAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
