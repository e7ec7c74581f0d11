package store

import (
	"bytes"
	"cmp"
	"errors"

	"optcheck/event"
)

// commit writes what a Writer has gathered. Its own fields become the writer's if the
// transaction succeeds.
type commit struct {
	w             *Writer
	run, setting  int64
	cells, events int64
	n             Counts
	tests         *span                   // the row to which further tests are added
	told          map[testKey]*event.Test // by events whose rows are new
	new           []newCell
}

// span is a row of the table event for tests with neighbouring numbers.
type span struct{ n, pos, ref, count int64 }

func (w *Writer) commit() *commit {
	return &commit{w: w, run: w.run, setting: w.setting, cells: w.cells, events: w.events}
}

func (c *commit) write() error {
	w := c.w
	if err := c.sync(); err != nil {
		return err
	}
	if c.run == 0 {
		if err := c.start(); err != nil {
			return err
		}
	}
	if err := cmp.Or(c.addBodies(), c.addTests()); err != nil {
		return err
	}
	for i := range w.items {
		it := &w.items[i]
		if it.kind == 0 {
			if err := c.cell(it); err != nil {
				return err
			}
			continue
		}
		write := c.event
		if it.kind == kindArtefacts {
			write = c.artefacts
		}
		if err := write(it); err != nil {
			return err
		}
	}
	if err := cmp.Or(c.endSpan(), c.addCells()); err != nil {
		return err
	}
	_, err := w.s.exec(`UPDATE run SET seen=?1, cells=max(cells, ?2), events=max(events, ?3),
		sum=optcheck_sum('run', uid, setting, config, started, ?1, max(cells, ?2), max(events, ?3)) WHERE id=?4`, now(), c.cells, c.events, c.run)
	return err
}

// sync forgets row numbers if something was removed since the last time: what is referred to is looked for again.
func (c *commit) sync() error {
	var epoch int64
	if _, err := c.w.s.row("SELECT value FROM meta WHERE name='epoch'", nil, &epoch); err != nil {
		return err
	}
	if epoch == c.w.epoch {
		return nil
	}
	if c.run != 0 {
		if ok, err := c.w.s.row("SELECT id FROM run WHERE id=?", []any{c.run}, new(int64)); err != nil || !ok {
			return cmp.Or(err, errRemoved)
		}
	}
	c.w.ids, c.w.epoch = newIDs(), epoch
	return nil
}

var errRemoved = errors.New("results were removed by another process (gc) while this one was writing; run it again")

// start adds the run, or finds it if its beginning was stored before.
func (c *commit) start() error {
	w := c.w
	data, hash, err := SettingOf(w.config).key()
	if err != nil {
		return err
	}
	if c.setting, err = w.s.id("SELECT id FROM setting WHERE hash=?", []any{hash[:]},
		"INSERT INTO setting(hash, data) VALUES(?, ?)", hash[:], string(data)); err != nil {
		return err
	}
	ok, err := w.s.row("SELECT id, cells, events FROM run WHERE uid=?", []any{w.uid}, &c.run, new(int64), &w.skip)
	if err != nil {
		return err
	}
	if !ok {
		cfg, err := marshal(w.config)
		if err != nil {
			return err
		}
		res, err := w.s.exec(`INSERT INTO run(uid, setting, config, started, seen, cells, events, sum)
			VALUES(?1, ?2, ?3, ?4, ?4, 0, 0, optcheck_sum('run', ?1, ?2, ?3, ?4, ?4, 0, 0))`, w.uid, c.setting, string(cfg), now())
		if err != nil {
			return err
		}
		if c.run, err = res.LastInsertId(); err != nil {
			return err
		}
		c.n.Runs++
	}
	w.uid = nil
	return nil
}

// id finds the number of a row, adding the row if necessary.
func (s *Store) id(query string, key []any, insert string, args ...any) (int64, error) {
	var id int64
	ok, err := s.row(query, key, &id)
	if err != nil || ok {
		return id, err
	}
	res, err := s.exec(insert, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// place finds the numbers of a cell's test and column.
func (c *commit) place(it *item) (test, col int64, err error) {
	if test, err = c.test(it.test, nil); err != nil {
		return 0, 0, err
	}
	col, err = c.col(it.col)
	return test, col, err
}

// cell writes one cell.
func (c *commit) cell(it *item) error {
	test, col, err := c.place(it)
	if err != nil {
		return err
	}
	bodyID, err := c.body(it.body)
	if err != nil {
		return err
	}
	c.cells++
	c.new = append(c.new, newCell{col, test, bodyID, codeValue(it.code)})
	return nil
}

// bump tells all processes that something was removed.
func (c *commit) bump() error {
	if err := c.w.s.bump(); err != nil {
		return err
	}
	c.w.epoch++ // this writer's numbers remain valid
	return nil
}

func (s *Store) bump() error {
	_, err := s.exec("UPDATE meta SET value=value+1 WHERE name='epoch'")
	return err
}

// test returns the number of a test, whose row is there. It adds what the event says about the
// test to what is known.
func (c *commit) test(k testKey, t *event.Test) (id int64, err error) {
	if id, ok := c.w.ids.tests[k]; ok && (t == nil || t == c.told[k]) {
		return id, nil
	}
	var about, text []byte
	ok, err := c.w.s.row("SELECT id, about, text FROM test WHERE hash=? AND name=?", []any{k.hash, k.name}, &id, &about, &text)
	if err == nil && !ok {
		err = errRemoved
	}
	if err == nil && t != nil {
		err = c.complete(id, about, text, t)
	}
	if err == nil {
		c.w.ids.tests[k] = id
	}
	return id, err
}

// complete adds what an event says about a test to what is stored.
func (c *commit) complete(id int64, about, text []byte, t *event.Test) error {
	var old event.Test
	if err := decodeTest(id, about, text, &old); err != nil {
		return err
	}
	m, err := mergeTests(&old, t)
	if err != nil {
		return err
	}
	a, x, err := encodeTest(&m)
	if err != nil || bytes.Equal(a, about) && m.Text == old.Text {
		return err
	}
	_, err = c.w.s.exec("UPDATE test SET about=?1, text=?2, sum=optcheck_sum('test', hash, name, ?1, ?2) WHERE id=?3", string(a), x, id)
	return err
}

// col returns the number of a column.
func (c *commit) col(k event.Column) (int64, error) {
	if id, ok := c.w.ids.cols[k]; ok {
		return id, nil
	}
	tool, err := c.toolchain(k.Toolchain)
	if err != nil {
		return 0, err
	}
	args := []any{c.setting, tool, k.Target, k.Level, k.Layout}
	id, err := c.w.s.id(
		"SELECT id FROM col WHERE setting=? AND toolchain=? AND target=? AND level=? AND layout=?",
		args,
		"INSERT INTO col(setting, toolchain, target, level, layout, sum) VALUES(?1, ?2, ?3, ?4, ?5, optcheck_sum('col', ?1, ?2, ?3, ?4, ?5))",
		args...)
	if err == nil {
		c.w.ids.cols[k] = id
	}
	return id, err
}

// toolchain returns the number of a toolchain of this run.
func (c *commit) toolchain(name string) (int64, error) {
	if id, ok := c.w.ids.tools[name]; ok {
		return id, nil
	}
	t := toolchainOf(c.w.config, name)
	args := []any{t.ID, t.Build, t.MaxPTX}
	id, err := c.w.s.id("SELECT id FROM toolchain WHERE name=? AND build=? AND max_ptx=?", args,
		"INSERT INTO toolchain(name, build, max_ptx, sum) VALUES(?1, ?2, ?3, optcheck_sum('toolchain', ?1, ?2, ?3))", args...)
	if err == nil {
		c.w.ids.tools[name] = id
	}
	return id, err
}

// toolchainOf returns a config's entry for a toolchain.
func toolchainOf(c *event.Config, name string) event.Toolchain {
	for _, t := range c.Toolchains {
		if t.ID == name {
			return t
		}
	}
	return event.Toolchain{ID: name}
}

// body returns the number of a result, which this writer or another one has written.
func (c *commit) body(d digest) (id int64, err error) {
	if id, ok := c.w.ids.body[d]; ok {
		return id, nil
	}
	ok, err := c.w.s.row("SELECT id FROM body WHERE hash=?", []any{d[:]}, &id)
	if err == nil && !ok {
		err = errRemoved
	}
	if err == nil {
		c.w.ids.body[d] = id
	}
	return id, err
}

// maxEvents bounds the numbers of events that are accepted.
const maxEvents = 1 << 40

// event writes an event other than a cell.
func (c *commit) event(it *item) error {
	if it.n > c.events && it.n < maxEvents {
		c.events = it.n - 1
	}
	n := c.events
	c.events++
	var ref int64
	var err error
	switch it.kind {
	case kindTests:
		ref, err = c.test(it.about())
	case kindListing:
		ref, err = c.listing(it)
	}
	if err != nil || n < c.w.skip {
		return err // of a run that was stored before
	}
	if it.kind == kindTests {
		if t := c.tests; t != nil && t.pos == c.cells && t.n+t.count == n && t.ref+t.count == ref {
			t.count++
			return nil
		}
		err := c.endSpan()
		c.tests = &span{n: n, pos: c.cells, ref: ref, count: 1}
		return err
	}
	if err := c.endSpan(); err != nil {
		return err
	}
	var data []byte
	if ref == 0 {
		data = pack(it.data)
	}
	return c.addEvent(n, c.cells, it.kind, ref, 1, data)
}

func (c *commit) addEvent(n, pos int64, kind int, ref, count int64, data []byte) error {
	_, err := c.w.s.exec(
		"INSERT INTO event(run, n, pos, kind, ref, count, data, sum) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, optcheck_sum('event', ?1, ?2, ?3, ?4, ?5, ?6, ?7))",
		c.run,
		n,
		pos,
		kind,
		ref,
		count,
		data,
	)
	return err
}

func (c *commit) endSpan() error {
	t := c.tests
	if t == nil {
		return nil
	}
	c.tests = nil
	return c.addEvent(t.n, t.pos, kindTests, t.ref, t.count, nil)
}

func (c *commit) listing(it *item) (int64, error) {
	d := digestOf(it.data)
	return c.w.s.id("SELECT id FROM listing WHERE code=? AND hash=?", []any{it.list.Code, d[:]},
		"INSERT INTO listing(code, hash, data) VALUES(?, ?, ?)", it.list.Code, d[:], pack(it.data))
}
