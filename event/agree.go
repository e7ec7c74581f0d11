package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Transient reports whether a result is only that of a failed attempt: a
// process that could not be run, or ran out of time. Such cells are audited
// again.
func Transient(r *Result) bool {
	return r.Class == Unknown && (strings.HasPrefix(r.Reason, "infrastructure: ") || strings.HasPrefix(r.Reason, "timeout: ") ||
		r.Reason == "not reached")
}

// Agreement says what two results of one cell have in common.
type Agreement struct {
	// Agree is false if they contradict each other.
	Agree bool
	// New is true if the new result is to be kept, false if the old one is.
	// Whatever the order in which two results come, the same one is kept.
	New bool
	// Marks is true if they differ only in which findings are known, and in
	// whether their stage or place was found.
	Marks bool
}

// Agree decides between two results for one cell. That of a failed attempt gives
// way to any other.
func Agree(old, new *Result) (Agreement, error) {
	to, tn := Transient(old), Transient(new)
	if to != tn {
		return Agreement{Agree: true, New: to}, nil
	}
	x, err := resultJSON(old)
	if err != nil {
		return Agreement{}, err
	}
	y, err := resultJSON(new)
	if err != nil {
		return Agreement{}, err
	}
	if to || bytes.Equal(x, y) {
		return Agreement{Agree: true, New: bytes.Compare(y, x) < 0}, nil
	}
	// Which findings are known depends on the lists at hand, the stage at which one arose
	// may not be found for want of time, and where a compiler crashes for want of a debugger.
	po, pn := unstaged(*old, new), unstaged(*new, old)
	po.Known, pn.Known = nil, nil
	px, err := resultJSON(&po)
	if err != nil {
		return Agreement{}, err
	}
	py, err := resultJSON(&pn)
	if err != nil {
		return Agreement{}, err
	}
	switch so, sn := staged(old), staged(new); {
	case !bytes.Equal(px, py):
		return Agreement{}, nil
	case so != sn:
		return Agreement{Agree: true, New: so < sn, Marks: true}, nil
	case (len(old.Known) == 0) != (len(new.Known) == 0):
		return Agreement{Agree: true, New: len(old.Known) == 0, Marks: true}, nil
	}
	return Agreement{Agree: true, New: bytes.Compare(y, x) < 0, Marks: true}, nil
}

func resultJSON(r *Result) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(r)
	return b.Bytes(), err
}

// staged counts what is told of where findings arose.
func staged(r *Result) (n int) {
	for _, f := range r.Findings {
		if f.Stage != "" {
			n++
		}
		if f.At != "" {
			n++
		}
	}
	return n
}

// unstaged returns a result without the stages of its findings, and the places of crashes, that
// another one does not name.
func unstaged(r Result, other *Result) Result {
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		if i >= len(other.Findings) {
			break
		}
		if other.Findings[i].Stage == "" {
			r.Findings[i].Stage = ""
		}
		if other.Findings[i].At == "" {
			r.Findings[i].At = ""
		}
	}
	return r
}

// Brief describes a result in a few words, for messages.
func (r *Result) Brief() string {
	s := r.Class
	if r.Code != "" {
		s += " code " + r.Code
	}
	for _, f := range r.Findings {
		s += " " + f.Rule
	}
	if r.Reason != "" {
		s += fmt.Sprintf(" (%.200s)", r.Reason)
	}
	return s
}

// site is where a problem arises.
type site struct{ toolchain, target, level string }

// Standing returns what tells of a problem whether it still stands: what could
// not be run was not overcome by another run.
func (s *Set) Standing() func(*Problem) bool {
	again := make([]bool, len(s.Results))
	for i := range s.Results {
		again[i] = Transient(&s.Results[i])
	}
	failed := map[site]bool{}
	for _, r := range s.Cells {
		if again[r.Result] {
			c := &s.Columns[r.Column]
			failed[site{c.Toolchain, c.Target, c.Level}] = true
		}
	}
	return func(p *Problem) bool {
		if p.Kind == KindIncomplete {
			return false // told of another set, or before something was merged
		}
		if p.Kind != "infrastructure" && p.Kind != "timeout" || p.Level == "" {
			return true
		}
		return failed[site{p.Toolchain, p.Target, p.Level}]
	}
}
