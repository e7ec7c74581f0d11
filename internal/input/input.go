// Package input reads files that come from outside. They must be regular files, so that nothing
// blocks or never ends; their size is checked before memory is allocated; and a byte-order mark
// is not part of their content.
package input

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Errors of this package, to be distinguished by errors.Is.
var (
	ErrNotRegular = errors.New("not a regular file (for a pipe, give - where a command reads standard input)")
	ErrTooLarge   = errors.New("too large")
	ErrUTF16      = errors.New("the text is in UTF-16; convert it to UTF-8")
)

// Open opens a regular file for reading. It does not wait for a writer, as opening a pipe
// would.
func Open(path string) (*os.File, error) {
	return regular(path, func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) })
}

// regular opens a file and closes it again if it is not a regular one.
func regular(path string, open func() (*os.File, error)) (*os.File, error) {
	f, err := open()
	if errors.Is(err, syscall.ENXIO) { // a socket, or a device without a driver
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile returns the content of a regular file of at most limit bytes, without a byte-order
// mark.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > limit {
		return nil, tooLarge(path, limit)
	}
	var b bytes.Buffer
	b.Grow(int(st.Size()) + bytes.MinRead)
	return read(&b, path, f, limit)
}

// Read is ReadFile for a stream; name is used in errors.
func Read(name string, r io.Reader, limit int64) ([]byte, error) {
	return read(new(bytes.Buffer), name, r, limit)
}

func read(b *bytes.Buffer, name string, r io.Reader, limit int64) ([]byte, error) {
	if _, err := b.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(b.Len()) > limit {
		return nil, tooLarge(name, limit)
	}
	text, err := Text(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

func tooLarge(name string, limit int64) error {
	return fmt.Errorf("%s: %w: more than %d bytes", name, ErrTooLarge, limit)
}

var (
	utf8Mark   = []byte("\xef\xbb\xbf")
	utf16Marks = [][]byte{{0xff, 0xfe}, {0xfe, 0xff}}
)

// Text returns data without the mark with which some programs begin UTF-8.
func Text(data []byte) ([]byte, error) {
	for _, m := range utf16Marks {
		if bytes.HasPrefix(data, m) {
			return nil, ErrUTF16
		}
	}
	return bytes.TrimPrefix(data, utf8Mark), nil
}

// SkipMark is Text for a stream.
func SkipMark(r *bufio.Reader) error {
	head, _ := r.Peek(len(utf8Mark))
	text, err := Text(head)
	if err == nil && len(text) < len(head) {
		_, err = r.Discard(len(utf8Mark))
	}
	return err
}

// Until returns a reader that fails once the context is done, so that long reads need not check
// it.
func Until(ctx context.Context, r io.Reader) io.Reader { return &until{ctx, r} }

type until struct {
	ctx context.Context
	r   io.Reader
}

func (u *until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
