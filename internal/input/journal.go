package input

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Journal is a file of JSON lines, to which a run adds what it has done, and from which a later one goes on.
type Journal[T any] struct{ f *os.File }

// OpenJournal calls each for the lines of a file of at most limit bytes, which is made if it is not there. A last line that was not written to its
// end is cut off. The error of a line that is none names what should stand there.
func OpenJournal[T any](name string, limit int64, what string, each func(T)) (*Journal[T], error) {
	if _, err := Replaceable(name); err != nil {
		return nil, err
	}
	f, err := Update(name, 0o666)
	if err != nil {
		return nil, err
	}
	j := &Journal[T]{f}
	if err := j.read(limit, what, each); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return j, nil
}

func (j *Journal[T]) read(limit int64, what string, each func(T)) error {
	r := bufio.NewReader(io.LimitReader(j.f, limit+1))
	at := int64(0)
	for n := 1; ; n++ {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if n == 1 && !begun[T](text) {
				return fmt.Errorf("line 1: no %s", what)
			}
			if err := j.f.Truncate(at); err != nil {
				return err
			}
			_, err := j.f.Seek(at, io.SeekStart)
			return err
		} else if err != nil {
			return err
		}
		if at += int64(len(text)); at > limit {
			return fmt.Errorf("more than %d bytes", limit)
		}
		var v T
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("line %d: no %s: %w", n, what, err)
		}
		each(v)
	}
}

// begun reports whether a text may be the beginning of a first line: only then it is the journal's own to cut off.
func begun[T any](text []byte) bool {
	var none T
	line, err := json.Marshal(none)
	head := line[:bytes.IndexByte(line, ':')+1]
	n := min(len(head), len(text))
	return err == nil && bytes.Equal(head[:n], text[:n]) && !json.Valid(text)
}

// Put adds a line.
func (j *Journal[T]) Put(v T) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = j.f.Write(append(b, '\n'))
	return err
}

// Close closes the file.
func (j *Journal[T]) Close() error { return j.f.Close() }
