package store

import (
	"cmp"
	"fmt"
	"math/bits"
	"strings"

	"optcheck/event"
)

// A statement costs more than a row that it adds: rows are added many at a time.
const rowsAtOnce = 32

// newRow is a row for something of the stream. Its first value is its number.
type newRow[K any] struct {
	of     K
	values []any
}

func (r *newRow[K]) number() int64 { return r.values[0].(int64) }

// addMany adds rows, unless others have their numbers or their keys; in insert, %s stands for
// them. added is told of rows whether all of them are new.
func addMany[K any](s *Store, insert string, rows []newRow[K], added func(rows []newRow[K], all bool) error) error {
	for len(rows) > 0 {
		n := min(rowsAtOnce, 1<<(bits.Len(uint(len(rows)))-1)) // a power of two: few different statements
		row := "(?" + strings.Repeat(", ?", len(rows[0].values)-1) + ")"
		var args []any
		for _, r := range rows[:n] {
			args = append(args, r.values...)
		}
		res, err := s.exec(fmt.Sprintf(insert, row+strings.Repeat(", "+row, n-1)), args...)
		if err != nil {
			return err
		}
		k, err := res.RowsAffected()
		if err == nil {
			err = added(rows[:n], k == int64(n))
		}
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// remember keeps the numbers of rows of which all are new; of others they are looked for.
func remember[K comparable](ids map[K]int64) func(rows []newRow[K], all bool) error {
	return func(rows []newRow[K], all bool) error {
		for i := range rows {
			if all {
				ids[rows[i].of] = rows[i].number()
			}
		}
		return nil
	}
}

// last returns the largest number of a row.
func (s *Store) last(query string) (n int64, err error) {
	_, err = s.row(query, nil, &n)
	return n, err
}

// addBodies adds the results that are not known to be stored.
func (c *commit) addBodies() error {
	w := c.w
	n, err := w.s.last("SELECT coalesce(max(id), 0) FROM body")
	if err != nil {
		return err
	}
	var rows []newRow[digest]
	seen := map[digest]bool{}
	for i := range w.items {
		d := w.items[i].body
		if b, ok := w.bodies[d]; ok && !seen[d] {
			seen[d] = true
			n++
			rows = append(rows, newRow[digest]{d, []any{n, d[:], b.class, pack(b.data)}})
		}
	}
	return addMany(w.s, "INSERT OR IGNORE INTO body(id, hash, class, data) VALUES %s", rows, remember(w.ids.body))
}

// addTests adds the tests that are not known to be stored, with what the first event of each says.
func (c *commit) addTests() error {
	w := c.w
	n, err := w.s.last("SELECT coalesce(max(id), 0) FROM test")
	if err != nil {
		return err
	}
	c.told = map[testKey]*event.Test{}
	var rows []newRow[testKey]
	for i := range w.items {
		k, t := w.items[i].about()
		if _, ok := w.ids.tests[k]; ok || t == nil || c.told[k] != nil {
			continue
		}
		about, text, err := encodeTest(t)
		if err != nil {
			return err
		}
		c.told[k] = t
		n++
		rows = append(rows, newRow[testKey]{k, []any{n, k.hash, k.name, string(about), text}})
	}
	const insert = `INSERT OR IGNORE INTO test(id, hash, name, about, text, sum)
		SELECT *, optcheck_sum('test', column2, column3, column4, column5) FROM (VALUES %s)`
	return addMany(w.s, insert, rows, remember(w.ids.tests))
}

// untold is what an event says of a test that only names it.
var untold event.Test

// about returns the test that an event is about, and what it says of it, nil for no test.
func (it *item) about() (testKey, *event.Test) {
	switch it.kind {
	case 0, kindArtefacts:
		return it.test, &untold
	case kindTests:
		return testKey{it.text.Name, it.text.Hash}, it.text
	}
	return testKey{}, nil
}

// newCell is a cell without its number and its run.
type newCell struct {
	col, test, body int64
	code            any
}

func (c *commit) row(number int64, x newCell) newRow[newCell] {
	return newRow[newCell]{x, []any{number, x.col, x.test, x.body, x.code, c.run, cellSum(x.col, x.test, x.body, x.code, c.run)}}
}

const insertCells = "INSERT OR IGNORE INTO cell(seq, col, test, body, code, run, sum) VALUES %s"

// addCells adds the cells, unless others stand at their places.
func (c *commit) addCells() error {
	n, err := c.w.s.last("SELECT coalesce(max(seq), 0) FROM cell")
	if err != nil {
		return err
	}
	rows := make([]newRow[newCell], len(c.new))
	for i, x := range c.new {
		rows[i] = c.row(n+int64(i)+1, x)
	}
	return addMany(c.w.s, insertCells, rows, func(rows []newRow[newCell], all bool) error {
		for i := range rows {
			if all {
				c.n.Cells++
			} else if err := c.meet(rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// meet decides between a cell and the one that stands at its place: itself, if that was free.
func (c *commit) meet(r newRow[newCell]) error {
	s, x := c.w.s, r.of
	var old cellRow
	ok, err := s.row("SELECT seq, body, code FROM cell WHERE col=? AND test=?", []any{x.col, x.test}, &old.seq, &old.body, &old.code)
	switch {
	case err != nil:
		return err
	case !ok:
		return errDamaged("no number is free for a cell")
	case old.seq == r.number():
		c.n.Cells++
		return nil
	case old.body == x.body && sameCode(old.code, x.code):
		c.n.Repeated++
		return nil
	}
	take, marks, err := c.resolve(x.col, x.test, old, cellRow{body: x.body, code: x.code})
	if err != nil {
		return err
	}
	if take && !marks {
		c.n.Replaced++
	} else {
		c.n.Repeated++
	}
	if !take {
		return nil
	}
	if _, err := s.exec("DELETE FROM cell WHERE seq=?", old.seq); err != nil {
		return err
	}
	err = addMany(s, insertCells, []newRow[newCell]{r}, func([]newRow[newCell], bool) error { return nil })
	return cmp.Or(err, c.bump())
}
