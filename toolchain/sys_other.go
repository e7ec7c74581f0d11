//go:build !linux

package toolchain

import (
	"errors"
	"os"
	"time"
)

// The compilers this package drives exist for Linux. Elsewhere the package
// builds, so that the rest of the program can read dumps made on Linux.

const canRun = false

func lockFile(*os.File) (bool, error) {
	return false, errors.New("file locks are supported on linux only")
}

const lockPoll = 100 * time.Millisecond

func fileState(os.FileInfo) string { return "" }
