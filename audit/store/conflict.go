package store

import (
	"bytes"
	"fmt"

	"optcheck/event"
)

// cellRow holds what a cell refers to.
type cellRow struct {
	seq, body int64
	code      any
}

func sameCode(a, b any) bool {
	x, errA := codeText(a)
	y, errB := codeText(b)
	return errA == nil && errB == nil && x == y
}

// Transient reports whether a result comes from a failed attempt and can be obtained again.
func Transient(r *event.Result) bool { return event.Transient(r) }

// resolve chooses between two results for one cell, as report.Agree does.
func (c *commit) resolve(col, test int64, old, new cellRow) (take, marks bool, err error) {
	a, err := c.w.s.result(old)
	if err != nil {
		return false, false, err
	}
	b, err := c.w.s.result(new)
	if err != nil {
		return false, false, err
	}
	x, err := event.Agree(&a, &b)
	if err == nil && !x.Agree {
		err = c.conflict(col, test, &a, &b)
	}
	return x.New, x.Marks, err
}

// conflict returns the error for two results of one cell.
func (c *commit) conflict(col, test int64, a, b *event.Result) error {
	var name, hash, tc, target, level, layout string
	ok, err := c.w.s.row(`SELECT t.name, t.hash, k.name, c.target, c.level, c.layout FROM test t, col c, toolchain k
		WHERE t.id=? AND c.id=? AND k.id=c.toolchain`, []any{test, col}, &name, &hash, &tc, &target, &level, &layout)
	if err != nil || !ok {
		return fmt.Errorf("%w: cell of test %d, column %d (%w)", ErrConflict, test, col, err)
	}
	return fmt.Errorf("%w for %.200q (hash %s) in %s %s %s %s: stored is %s, new is %s", ErrConflict, name, hash, tc, target, level,
		layout, a.Brief(), b.Brief())
}

// result reads the result that a cell refers to.
func (s *Store) result(row cellRow) (r event.Result, err error) {
	var hash, data []byte
	ok, err := s.row("SELECT hash, data FROM body WHERE id=?", []any{row.body}, &hash, &data)
	if err == nil && !ok {
		err = fmt.Errorf("%w: no result %d", ErrDamaged, row.body)
	}
	if err != nil {
		return r, err
	}
	if err = decodeBody(row.body, hash, data, &r); err != nil {
		return r, err
	}
	r.Code, err = codeText(row.code)
	return r, err
}

func decodeBody(id int64, hash, blob []byte, r *event.Result) error {
	data, err := hashed(hash, blob)
	if err == nil {
		err = unmarshal(data, r)
	}
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		return fmt.Errorf("%w: result %d: %w", ErrDamaged, id, err)
	}
	return nil
}

// encodeTest returns the stored form of a test.
func encodeTest(t *event.Test) (about, text []byte, err error) {
	x := *t
	x.Name, x.Hash, x.Text = "", "", ""
	about, err = marshal(&x)
	return about, pack([]byte(t.Text)), err
}

// decodeTest is the inverse of encodeTest, without name and hash.
func decodeTest(id int64, about, text []byte, t *event.Test) error {
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

// mergeTests combines what is known about a test. The result does not depend on the order.
func mergeTests(a, b *event.Test) (event.Test, error) {
	x, _, err := encodeTest(a)
	if err != nil {
		return *a, err
	}
	y, _, err := encodeTest(b)
	if err != nil {
		return *a, err
	}
	m := *a
	// The origin of a test may be given in several ways.
	known := func(t *event.Test) bool { return t.Preset != "" || t.File != "" }
	if known(b) && !known(a) || known(b) == known(a) && bytes.Compare(y, x) < 0 && b.Dialect != "" || a.Dialect == "" {
		m = *b
	}
	if m.Text = a.Text; a.Text == "" || b.Text != "" && b.Text < a.Text {
		m.Text = b.Text
	}
	m.Name, m.Hash = a.Name, a.Hash
	return m, nil
}
