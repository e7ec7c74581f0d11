package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// oldestSchema is the oldest one that Read still understands. Streams of schema
// 1 have no verdicts and call every cell with findings changed; those of 1 and
// 2 do not hold the tests.
const oldestSchema = 1

// Bounds of a stream read from outside: of a line in bytes, and of lines
// without an event.
const (
	maxLine  = 16 << 20
	maxEmpty = 100_000
)

// Read passes the events of a JSON-lines stream to f. Errors name file and
// line. A stream that does not begin with a config of a known schema, or that
// holds an event of no known kind, is refused. Several streams in a row are read
// as such: each config begins a run.
func Read(file string, r io.Reader, f func(Event) error) error {
	return ReadLines(file, r, func(_ int, e Event) error { return f(e) })
}

// ReadLines is Read and tells f the line of each event, counted from 1.
func ReadLines(file string, r io.Reader, f func(line int, e Event) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 1<<16), maxLine)
	n, empty, begun := 0, 0, false
	for sc.Scan() {
		n++
		line := bytes.TrimSpace(sc.Bytes())
		if len(line) == 0 {
			if empty++; empty > maxEmpty {
				return fmt.Errorf("%s:%d: no event stream: more than %d empty lines", file, n, maxEmpty)
			}
			continue
		}
		e, err := decode(line)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if !begun && e.Config == nil {
			return fmt.Errorf("%s:%d: no event stream: the first line is no config", file, n)
		}
		begun = true
		if err := e.check(); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if c := e.Config; c != nil && (c.Schema < oldestSchema || c.Schema > Schema) {
			return fmt.Errorf("%s:%d: event stream of schema %d, this tool reads %d to %d", file, n, c.Schema, oldestSchema, Schema)
		}
		if err := f(n, e); err != nil {
			return err
		}
	}
	if err := sc.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("%s:%d: line longer than %d bytes", file, n+1, maxLine)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%s:%d: the file is cut off", file, n+1)
		}
		return fmt.Errorf("%s: %w", file, err)
	}
	if !begun {
		return fmt.Errorf("%s: empty event stream", file)
	}
	return nil
}

// badEvent says in words of the format what is wrong with a line.
func badEvent(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("bad event: the line is cut off")
	case errors.As(err, &syntax):
		return fmt.Errorf("bad event: no JSON from byte %d on", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("bad event: %s cannot be a JSON %s", kind.Field, kind.Value)
	}
	return fmt.Errorf("bad event: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func decode(line []byte) (Event, error) {
	var e Event
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, badEvent(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return e, errors.New("bad event: something stands behind it")
	}
	if err := e.oneLine(); err != nil {
		return e, fmt.Errorf("bad event: %w", err)
	}
	kinds := 0
	for _, has := range []bool{e.Config != nil, e.Test != nil, e.Cell != nil, e.Listing != nil, e.Problem != nil,
		e.Stats != nil, e.Histogram != nil} {
		if has {
			kinds++
		}
	}
	if kinds != 1 {
		return e, errors.New("bad event: not exactly one kind")
	}
	return e, nil
}
