//go:build !linux

package slurmtest

import "syscall"

// daemonAttr shields the daemons from Ctrl-C, because the tests stop them in order.
func daemonAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
