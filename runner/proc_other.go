//go:build !linux

package runner

import (
	"os"
	"syscall"
)

func procAttr() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) { _ = p.Kill() }

func tryLock(*os.File) (bool, error) { return true, nil }

const noFollow = 0
