package program

import (
	"encoding/json"
	"io"

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
	file *input.Journal[line]
	have map[string]line
}

// maxKeep bounds the file.
const maxKeep = 256 << 20

// OpenKeep reads a file, which is made if it is not there. A last line that was not
// written to its end is left out.
func OpenKeep(name string) (*Keep, io.Closer, error) {
	k := &Keep{have: map[string]line{}}
	var err error
	if k.file, err = input.OpenJournal(name, maxKeep, "measurement", func(l line) { k.have[l.Key.text()] = l }); err != nil {
		return nil, nil, err
	}
	return k, k.file, nil
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
	return k.file.Put(l)
}
