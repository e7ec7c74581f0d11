package store

import (
	"bytes"
	"fmt"
	"strings"

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
// one stays.
func (c *commit) resolve(col, test int64, old, new cellRow) (take bool, err error) {
	a, err := c.w.s.result(old)
	if err != nil {
		return false, err
	}
	b, err := c.w.s.result(new)
	if err != nil {
		return false, err
	}
	ta, tb := Transient(&a), Transient(&b)
	if ta != tb {
		return ta, nil
	}
	x, err := marshal(&a)
	if err != nil {
		return false, err
	}
	y, err := marshal(&b)
	if err != nil {
		return false, err
	}
	if ta {
		return bytes.Compare(y, x) < 0, nil
	}
	// Which findings are known depends on the lists at hand.
	pa, pb := a, b
	pa.Known, pb.Known = nil, nil
	px, err := marshal(&pa)
	if err != nil {
		return false, err
	}
	py, err := marshal(&pb)
	if err != nil {
		return false, err
	}
	if bytes.Equal(px, py) {
		if (len(a.Known) == 0) != (len(b.Known) == 0) {
			return len(a.Known) == 0, nil
		}
		return bytes.Compare(y, x) < 0, nil
	}
	return false, c.conflict(col, test, &a, &b)
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

// mergeTests completes what is known of a test, the same in whatever order.
func mergeTests(a, b *report.Test) report.Test {
	least := func(x, y string) string {
		if x == "" || y != "" && y < x {
			return y
		}
		return x
	}
	m := *a
	m.Dialect, m.Text = least(a.Dialect, b.Dialect), least(a.Text, b.Text)
	// At most one of preset and file is given.
	switch m.Preset = least(a.Preset, b.Preset); m.Preset {
	case "":
		m.File = least(a.File, b.File)
	default:
		m.File = ""
	}
	return m
}
