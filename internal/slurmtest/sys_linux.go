package slurmtest

import "syscall"

// daemonAttr keeps a Ctrl-C from the daemons, which the tests stop in order, and
// ends them if the tests themselves are killed.
func daemonAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
