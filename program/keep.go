package program

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"optcheck/internal/input"
)

// Key says what was measured.
type Key struct {
	Program  string `json:"program"`
	Hash     string `json:"hash"` // of the file and its sources
	Device   string `json:"device"`
	Driver   string `json:"driver,omitempty"`
	Compiler string `json:"compiler"`
	// Environment is that of the runs, Stress what it consists of, Fences what was put in,
	// by site, and What tells measurements of the same apart.
	Environment string `json:"environment"`
	Stress      string `json:"stress,omitempty"`
	Fences      Fences `json:"fences,omitempty"`
	What        string `json:"what"`
	Seed        uint64 `json:"seed"`
}

func (k *Key) text() string {
	b, err := json.Marshal(k) // maps in order
	if err != nil {
		panic("program: " + err.Error()) // numbers and texts
	}
	return string(b)
}

// line is what a file of measurements consists of; of lines of one key the last counts.
type line struct {
	Key     Key     `json:"key"`
	Setting Setting `json:"setting"`
	Count   Count   `json:"count"`
}

// Keep holds what was measured, in a file from which a later run goes on. The zero
// value holds it in memory.
type Keep struct {
	file io.Writer
	have map[string]line
}

// maxKeep bounds the file.
const maxKeep = 256 << 20

// OpenKeep reads a file, which is made if it is not there. A last line that was not
// written to its end is left out.
func OpenKeep(name string) (*Keep, io.Closer, error) {
	f, err := input.Update(name, 0o666)
	if err != nil {
		return nil, nil, err
	}
	k := &Keep{file: f, have: map[string]line{}}
	if err := k.read(f); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return k, f, nil
}

func (k *Keep) read(f *os.File) error {
	r := bufio.NewReader(io.LimitReader(f, maxKeep+1))
	at := int64(0)
	for n := 1; ; n++ {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if err := f.Truncate(at); err != nil {
				return err
			}
			_, err := f.Seek(at, io.SeekStart)
			return err
		} else if err != nil {
			return err
		}
		if at += int64(len(text)); at > maxKeep {
			return fmt.Errorf("more than %d bytes", maxKeep)
		}
		var l line
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			return fmt.Errorf("line %d: no measurement: %w", n, err)
		}
		k.have[l.Key.text()] = l
	}
}

// get is what was measured, if it was.
func (k *Keep) get(key *Key) (l line, ok bool) {
	l, ok = k.have[key.text()]
	return l, ok
}

// put keeps a measurement.
func (k *Keep) put(l line) error {
	if k.have == nil {
		k.have = map[string]line{}
	}
	k.have[l.Key.text()] = l
	if k.file == nil {
		return nil
	}
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = k.file.Write(append(b, '\n'))
	return err
}
