package chip

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"optcheck/litmus"
	"optcheck/report"
	"optcheck/runner"
	"optcheck/runner/drive"
)

// Campaigns were once written as events of their own: a line "campaign", then a
// line "result" for each run. ReadOld turns them into the common stream.

// maxOldLine bounds a line of an old campaign.
const maxOldLine = 16 << 20

// IsOld reports whether a file that begins like this is an old campaign.
func IsOld(begin []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(begin, " \t\r\n"), []byte(`{"event":"campaign"`))
}

// ReadOld passes the events of an old campaign to f in the common form. test
// finds a test by its name; it must have the hash that the results name, for
// they do not say which outcomes satisfy its condition. Files may be joined.
// Errors name file and line.
func ReadOld(file string, r io.Reader, test func(name string) *litmus.Test, f func(report.Event) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 1<<16), maxOldLine)
	o := oldReader{test: test, known: map[string]*litmus.Test{}, f: f}
	n := 0
	for sc.Scan() {
		n++
		line := bytes.TrimSpace(sc.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := o.line(line); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", file, n+1, err)
	}
	return o.end()
}

type oldReader struct {
	test     func(string) *litmus.Test
	known    map[string]*litmus.Test // by name and hash
	f        func(report.Event) error
	campaign *Campaign
	seen     map[string]bool // tests of this campaign
	seconds  float64
}

func (o *oldReader) line(line []byte) error {
	var kind struct {
		Event string `json:"event"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return fmt.Errorf("bad event: %w", err)
	}
	switch kind.Event {
	case "campaign":
		return o.begin(line)
	case "result":
		return o.result(line)
	}
	return fmt.Errorf("bad event: unknown kind %q of an old campaign", kind.Event)
}

func (o *oldReader) begin(line []byte) error {
	if err := o.end(); err != nil {
		return err
	}
	var h struct {
		Version  string        `json:"version"`
		Device   runner.Device `json:"device"`
		Compiler string        `json:"compiler"`
		Target   string        `json:"target"`
		Level    string        `json:"level"`
		Seed     uint64        `json:"seed"`
		Settings []string      `json:"settings"`
		Tuning   drive.Tuning  `json:"tuning"`
		Tests    int           `json:"tests"`
		Models   []string      `json:"models"`
		Start    time.Time     `json:"start"`
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return fmt.Errorf("bad campaign: %w", err)
	}
	o.campaign = &Campaign{Version: h.Version, Device: h.Device, Compiled: Compiled{h.Compiler, h.Target, h.Level}, Seed: h.Seed,
		Settings: h.Settings, Tuning: h.Tuning, Tests: h.Tests, Models: h.Models, Start: h.Start}
	o.seen, o.seconds = map[string]bool{}, 0
	return o.f(report.Event{Config: o.campaign.Config()})
}

// end closes a campaign. Old ones do not say whether they came to their end:
// those that have all their tests did.
func (o *oldReader) end() error {
	if o.campaign == nil || len(o.seen) != o.campaign.Tests {
		return nil
	}
	return o.f(report.Event{Stats: &report.Stats{Wall: o.seconds}})
}

func (o *oldReader) result(line []byte) error {
	if o.campaign == nil {
		return errors.New("bad event: a result before its campaign")
	}
	var r Result
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("bad result: %w", err)
	}
	t, err := o.find(r.Test, r.Hash)
	if err != nil {
		return err
	}
	r.Binary, r.Elapsed = &Binary{Test: t}, time.Duration(r.Seconds*float64(time.Second))
	r.Histogram = runner.NewHistogram(t)
	for _, s := range r.Seen {
		if err := r.Histogram.Add(s.Values, s.Count); err != nil {
			return fmt.Errorf("bad result of %s: %w", r.Test, err)
		}
	}
	o.seen[r.Test] = true
	o.seconds += r.Seconds
	h := r.Report(o.campaign.Device, o.campaign.Compiled, false)
	if h.Instances != r.Instances || h.Weak != r.Positive {
		return fmt.Errorf("bad result of %s: %d instances, %d positive, but the outcomes sum up to %d and %d", r.Test, r.Instances, r.Positive, h.Instances, h.Weak)
	}
	return o.f(report.Event{Histogram: h})
}

// find returns the test of a result.
func (o *oldReader) find(name, hash string) (*litmus.Test, error) {
	k := name + "\x00" + hash
	t, ok := o.known[k]
	if !ok {
		if t = o.test(name); t != nil && t.Hash() != hash {
			t = nil
		}
		o.known[k] = t
	}
	if t == nil {
		return nil, fmt.Errorf("an old campaign does not say what the condition of %s is, and no test of that name and hash %s is known here", name, hash)
	}
	return t, nil
}
