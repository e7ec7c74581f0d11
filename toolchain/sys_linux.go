package toolchain

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// canRun: programs and their clean end are implemented here only.
const canRun = true

// fileState is what changes with every change of a file: its inode, size and times.
// The time of the last change of the inode cannot be set back by who may write.
func fileState(info os.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d %d %d %d", s.Dev, s.Ino, s.Size, s.Mtim.Nano(), s.Ctim.Nano())
}

// lockFile takes an exclusive lock on an open file without waiting.
func lockFile(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}

const lockPoll = 100 * time.Millisecond
