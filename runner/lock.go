package runner

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// DeviceLock keeps others from running on a device. It ends with the process
// that holds it.
type DeviceLock struct{ file *os.File }

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// LockDevice takes the lock of a device without waiting; ErrBusy says which
// process has it. A device is known by its UUID, else its bus address, so that
// one GPU has one lock for all back ends. The lock file stays when the lock is
// given back: removing it would let two processes hold "the" lock.
//
//input:allow locks stand in a folder of all users: no links are followed, and what is open must be a regular file
func LockDevice(dir string, d Device) (*DeviceLock, error) {
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "optcheck-locks")
	}
	name := d.UUID
	if name == "" {
		name = d.PCI
	}
	if name == "" {
		name = fmt.Sprintf("%s-%d", d.Backend, d.Index)
	}
	path := filepath.Join(dir, unsafeName.ReplaceAllString(name, "_")+".lock")
	fail := func(err error) error { return &Error{Kind: ErrChild, Op: "lock device", Err: err} }
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fail(err)
	}
	_ = os.Chmod(dir, 0o777|os.ModeSticky) // for other users; ours only if we made it
	// An existing file is opened without O_CREATE, which Linux refuses for
	// other users' files in such folders.
	file, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o666)
	}
	if errors.Is(err, fs.ErrPermission) {
		file, err = os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	}
	if err != nil {
		return nil, fail(err)
	}
	if st, err := file.Stat(); err != nil || !st.Mode().IsRegular() {
		file.Close()
		return nil, fail(fmt.Errorf("%s is no regular file: remove it", path))
	}
	ok, err := tryLock(file)
	if err != nil || !ok {
		defer file.Close()
		if err != nil {
			return nil, fail(err)
		}
		who, _ := io.ReadAll(io.LimitReader(file, 200))
		return nil, Errorf(ErrBusy, "lock device", "%s (%s) is used by another run: %s; wait for it or choose another --device", d.Name,
			name,
			strings.Join(strings.Fields(string(who)), " "))
	}
	// What the file says is for people; a file of another user keeps its text.
	if file.Truncate(0) == nil {
		_, _ = file.WriteAt([]byte(fmt.Sprintf("process %d since %s\n", os.Getpid(), time.Now().Format(time.DateTime))), 0)
	}
	return &DeviceLock{file}, nil
}

// Release gives the lock back; nil is allowed.
func (l *DeviceLock) Release() error {
	if l == nil || l.file == nil {
		return nil
	}
	_ = l.file.Truncate(0)
	err := l.file.Close()
	l.file = nil
	return err
}
