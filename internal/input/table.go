package input

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// MaxTableLine and maxTableCells bound tables that are read from files.
const (
	MaxTableLine  = 1 << 20
	maxTableCells = 5_000_000
)

// Table reads JSON lines, each an object with one key that names its content. What says
// returns for a cell must not be empty.
func Table[T any](file string, in io.Reader, kind string, says func(*T) string) ([]T, error) {
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 0, 1<<16), MaxTableLine)
	var out []T
	for line := 1; sc.Scan(); line++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		d.DisallowUnknownFields()
		e := map[string]json.RawMessage{}
		err := d.Decode(&e)
		if err == nil && (len(e) != 1 || e[kind] == nil) {
			err = fmt.Errorf("no %s", kind)
		}
		var c T
		if err == nil {
			d = json.NewDecoder(bytes.NewReader(e[kind]))
			d.DisallowUnknownFields()
			err = d.Decode(&c)
		}
		if err == nil && says(&c) == "" {
			err = fmt.Errorf("a %s that says nothing", kind)
		}
		if err == nil && len(out) == maxTableCells {
			err = fmt.Errorf("more than %d cells", maxTableCells)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		out = append(out, c)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no %s in this file", file, kind)
	}
	return out, nil
}
