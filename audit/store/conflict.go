package store

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/report"
)

// cellRow is what a cell refers to.
type cellRow struct {
	seq, body int64
	code      any
}

func sameCode(a, b any) bool {
	x, errA := codeText(a)
	y, errB := codeText(b)
	return errA == nil && errB == nil && x == y
}

// Transient reports whether a result is only that of a failed attempt: a
// process that could not be run, or ran out of time. Such cells are audited
// again.
func Transient(r *report.Result) bool {
	return r.Class == report.Unknown && (strings.HasPrefix(r.Reason, "infrastructure: ") || strings.HasPrefix(r.Reason, "timeout: ") || r.Reason == "not reached")
}

// resolve decides between two results for one cell; take is true if the new one
// replaces the old one. Whatever the order in which two results come, the same
// one stays. marks tells that they differ only in which findings are known.
func (c *commit) resolve(col, test int64, old, new cellRow) (take, marks bool, err error) {
	a, err := c.w.s.result(old)
	if err != nil {
		return false, false, err
	}
	b, err := c.w.s.result(new)
	if err != nil {
		return false, false, err
	}
	ta, tb := Transient(&a), Transient(&b)
	if ta != tb {
		return ta, false, nil
	}
	x, err := marshal(&a)
	if err != nil {
		return false, false, err
	}
	y, err := marshal(&b)
	if err != nil {
		return false, false, err
	}
	if ta {
		return bytes.Compare(y, x) < 0, false, nil
	}
	// Which findings are known depends on the lists at hand, and the stage at
	// which one arose may not be found for want of time.
	pa, pb := unstaged(a, &b), unstaged(b, &a)
	pa.Known, pb.Known = nil, nil
	px, err := marshal(&pa)
	if err != nil {
		return false, false, err
	}
	py, err := marshal(&pb)
	if err != nil {
		return false, false, err
	}
	switch sa, sb := staged(&a), staged(&b); {
	case !bytes.Equal(px, py):
		return false, false, c.conflict(col, test, &a, &b)
	case sa != sb:
		return sa < sb, true, nil
	case (len(a.Known) == 0) != (len(b.Known) == 0):
		return len(a.Known) == 0, true, nil
	}
	return bytes.Compare(y, x) < 0, true, nil
}

// staged counts the findings whose stage is named.
func staged(r *report.Result) (n int) {
	for _, f := range r.Findings {
		if f.Stage != "" {
			n++
		}
	}
	return n
}

// unstaged is a result without the stages of its findings that another one does
// not name.
func unstaged(r report.Result, other *report.Result) report.Result {
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		if i < len(other.Findings) && other.Findings[i].Stage == "" {
			r.Findings[i].Stage = ""
		}
	}
	return r
}

// conflict is the error of two results for one cell.
func (c *commit) conflict(col, test int64, a, b *report.Result) error {
	var name, hash, tc, target, level, layout string
	ok, err := c.w.s.row(`SELECT t.name, t.hash, k.name, c.target, c.level, c.layout FROM test t, col c, toolchain k
		WHERE t.id=? AND c.id=? AND k.id=c.toolchain`, []any{test, col}, &name, &hash, &tc, &target, &level, &layout)
	if err != nil || !ok {
		return fmt.Errorf("%w: cell of test %d, column %d (%w)", ErrConflict, test, col, err)
	}
	return fmt.Errorf("%w for %.200q (hash %s) in %s %s %s %s: stored is %s, new is %s", ErrConflict, name, hash, tc, target, level, layout, describe(a), describe(b))
}

func describe(r *report.Result) string {
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

// result reads what a cell refers to.
func (s *Store) result(row cellRow) (r report.Result, err error) {
	var data []byte
	ok, err := s.row("SELECT data FROM body WHERE id=?", []any{row.body}, &data)
	if err == nil && !ok {
		err = fmt.Errorf("%w: no result %d", ErrDamaged, row.body)
	}
	if err != nil {
		return r, err
	}
	if err = decodeBody(row.body, data, &r); err != nil {
		return r, err
	}
	r.Code, err = codeText(row.code)
	return r, err
}

func decodeBody(id int64, blob []byte, r *report.Result) error {
	data, err := unpack(blob)
	if err == nil {
		err = unmarshal(data, r)
	}
	if err != nil {
		return fmt.Errorf("%w: result %d: %w", ErrDamaged, id, err)
	}
	return nil
}

// encodeTest writes a test as it is stored.
func encodeTest(t *report.Test) (about, text []byte, err error) {
	x := *t
	x.Name, x.Hash, x.Text = "", "", ""
	about, err = marshal(&x)
	return about, pack([]byte(t.Text)), err
}

// decodeTest is the inverse of encodeTest, without name and hash.
func decodeTest(id int64, about, text []byte, t *report.Test) error {
	name, hash := t.Name, t.Hash
	data, err := unpack(text)
	if err == nil {
		err = unmarshal(about, t)
	}
	if err != nil {
		return errDamaged("test %d: %w", id, err)
	}
	t.Name, t.Hash, t.Text = name, hash, string(data)
	return nil
}

// sameOrder tells whether two texts of tests of one hash declare their locations
// in one order. The hash leaves that out, as it changes no meaning, but it decides
// parameters and addresses of the kernels. What is no test has no order.
func sameOrder(a, b string) bool {
	if a == b || a == "" || b == "" {
		return true
	}
	x, errA := litmus.Parse("stored", []byte(a))
	y, errB := litmus.Parse("new", []byte(b))
	return errA != nil || errB != nil ||
		slices.EqualFunc(x.Locations, y.Locations, func(l, m litmus.Location) bool { return l.Name == m.Name })
}

// mergeTests completes what is known of a test, the same in whatever order.
func mergeTests(a, b *report.Test) (report.Test, error) {
	x, _, err := encodeTest(a)
	if err != nil {
		return *a, err
	}
	y, _, err := encodeTest(b)
	if err != nil {
		return *a, err
	}
	m := *a
	// Where a test is from may be told in several ways.
	known := func(t *report.Test) bool { return t.Preset != "" || t.File != "" }
	if known(b) && !known(a) || known(b) == known(a) && bytes.Compare(y, x) < 0 && b.Dialect != "" || a.Dialect == "" {
		m = *b
	}
	if m.Text = a.Text; a.Text == "" || b.Text != "" && b.Text < a.Text {
		m.Text = b.Text
	}
	m.Name, m.Hash = a.Name, a.Hash
	return m, nil
}
