package slurmtest

import "syscall"

// daemonAttr shields the daemons from Ctrl-C, because the tests stop them in order, and ends
// them if the tests themselves are killed.
func daemonAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
