package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
)

// ArtefactInfo describes an artefact without its content.
type ArtefactInfo struct {
	Hash string `json:"hash"` // 32 hexadecimal digits
	Kind string `json:"kind"`
	Size int64  `json:"size"`           // bytes
	Name string `json:"name,omitempty"` // the name given to Put
	// Thread is the thread of the cell, if the artefacts of a cell were requested.
	Thread int `json:"thread"`
}

const (
	insertArtefact = "INSERT INTO artefact(kind, hash, size, data, sum) VALUES(?1, ?2, ?3, ?4, optcheck_sum('artefact', ?1, ?2, ?3))"
	insertMachine  = "INSERT INTO machine(code, thread, artefact, sum) VALUES(?1, ?2, ?3, optcheck_sum('machine', ?1, ?2, ?3))"
)

// artefacts writes the artefacts of a cell.
func (c *commit) artefacts(it *item) error {
	test, col, err := c.place(it)
	if err != nil {
		return err
	}
	for _, a := range it.arts {
		if a.Kind == event.ArtefactMachine {
			has, err := c.w.s.hasMachine(it.code, int64(a.Thread))
			if err != nil {
				return err
			}
			if has {
				continue
			}
		}
		id, err := c.w.s.putArtefact(a.Kind, []byte(a.Text))
		if err != nil {
			return err
		}
		if a.Kind == event.ArtefactMachine {
			_, err = c.w.s.exec(insertMachine+" ON CONFLICT DO NOTHING", it.code, a.Thread, id)
		} else {
			_, err = c.w.s.exec("INSERT INTO source(test, col, thread, artefact, sum) VALUES(?1, ?2, ?3, ?4, optcheck_sum('source', ?1, ?2, ?3, ?4)) ON CONFLICT DO NOTHING", test, col, a.Thread, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasMachine reports whether the machine code of a thread is stored. Texts of the same code may
// differ in names; the first is kept, and no other is stored.
func (s *Store) hasMachine(code string, thread int64) (bool, error) {
	var id int64
	return s.row("SELECT artefact FROM machine WHERE code=? AND thread=?", []any{code, thread}, &id)
}

// putArtefact stores content once and returns its number.
func (s *Store) putArtefact(kind string, data []byte) (int64, error) {
	if len(data) > maxBlob {
		return 0, fmt.Errorf("artefact of %d bytes is larger than %d", len(data), maxBlob)
	}
	d := digestOf(data)
	var id int64
	ok, err := s.row("SELECT id FROM artefact WHERE hash=? AND kind=?", []any{d[:], kind}, &id)
	if err != nil || ok {
		return id, err
	}
	res, err := s.exec(insertArtefact, kind, d[:], len(data), pack(data))
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// Artefact reads an artefact by its name or its hash.
func (s *Store) Artefact(ctx context.Context, name string) ([]byte, error) {
	var blob []byte
	hash, _ := hex.DecodeString(name)
	ok, err := s.row("SELECT data FROM artefact WHERE id=(SELECT artefact FROM label WHERE name=?)", []any{name}, &blob)
	if err == nil && !ok {
		ok, err = s.row("SELECT data FROM artefact WHERE hash=? ORDER BY kind LIMIT 1", []any{hash}, &blob)
	}
	if err == nil && !ok {
		err = fmt.Errorf("no artefact %.200q", name)
	}
	if err != nil {
		return nil, s.fail(err)
	}
	data, err := unpack(blob)
	if err != nil {
		return nil, s.fail(errDamaged("artefact %.200q: %w", name, err))
	}
	return data, nil
}

// Artefacts lists all artefacts by name, kind and hash.
func (s *Store) Artefacts(ctx context.Context) ([]ArtefactInfo, error) {
	out := []ArtefactInfo{}
	err := s.each(ctx,
		"SELECT a.kind, a.hash, a.size, coalesce(l.name, '') FROM artefact a LEFT JOIN label l ON l.artefact=a.id ORDER BY 4, 1, 2", nil,
		func(scan func(...any) error) error {
			var a ArtefactInfo
			var hash []byte
			if err := scan(&a.Kind, &hash, &a.Size, &a.Name); err != nil {
				return err
			}
			a.Hash = hex.EncodeToString(hash)
			out = append(out, a)
			return nil
		})
	return out, s.fail(err)
}

// Cell reads a cell by its number.
func (s *Store) Cell(ctx context.Context, number int64) (c event.Cell, err error) {
	e := runEvent{seq: number}
	var run, sum int64
	ok, err := s.row("SELECT col, test, body, code, run, sum FROM cell WHERE seq=?", []any{number}, &e.col, &e.testID,
		&e.body, &e.code, &run, &sum)
	if err == nil && !ok {
		err = fmt.Errorf("no cell %d (optcheck store export --format csv lists them)", number)
	}
	if err == nil {
		err = checkCell(number, e.col, e.testID, e.body, e.code, run, sum)
	}
	if err != nil {
		return c, s.fail(err)
	}
	src, err := s.source(ctx, run)
	if err == nil {
		c, err = src.cell(e)
	}
	return c, s.fail(err)
}

// Test reads a test by name and hash.
func (s *Store) Test(ctx context.Context, name, hash string) (*event.Test, error) {
	var id int64
	ok, err := s.row("SELECT id FROM test WHERE hash=? AND name=?", []any{hash, name}, &id)
	if err == nil && !ok {
		err = fmt.Errorf("no test %.200q with hash %.40q", name, hash)
	}
	if err != nil {
		return nil, s.fail(err)
	}
	src := &source{s: s, tests: map[int64]*event.Test{}}
	t, err := src.test(id)
	return t, s.fail(err)
}

// CellArtefacts reads the source and the machine code of the threads of a cell, sorted by
// thread and kind. The list is empty if they were not kept.
func (s *Store) CellArtefacts(ctx context.Context, c *event.Cell) ([]event.Artefact, error) {
	var out []event.Artefact
	read := func(scan func(...any) error) error {
		var a event.Artefact
		var blob []byte
		if err := scan(&a.Thread, &a.Kind, &blob); err != nil {
			return err
		}
		data, err := unpack(blob)
		if err != nil {
			return errDamaged("artefact: %w", err)
		}
		a.Text = string(data)
		out = append(out, a)
		return nil
	}
	err := s.each(
		ctx,
		"SELECT m.thread, a.kind, a.data FROM machine m JOIN artefact a ON a.id=m.artefact WHERE m.code=?",
		[]any{c.Code},
		read,
	)
	if err == nil {
		// The newest setting that has them.
		err = s.each(ctx, `SELECT x.thread, a.kind, a.data FROM source x JOIN artefact a ON a.id=x.artefact WHERE (x.test, x.col) =
			(SELECT t.id, k.id FROM test t, col k JOIN toolchain n ON n.id=k.toolchain JOIN source y ON y.test=t.id AND y.col=k.id
			WHERE t.hash=? AND t.name=? AND n.name=? AND k.target=? AND k.level=? AND k.layout=? ORDER BY k.id DESC LIMIT 1)`,
			[]any{c.Hash, c.Test, c.Toolchain, c.Target, c.Level, c.Layout}, read)
	}
	slices.SortFunc(out, func(a, b event.Artefact) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), strings.Compare(a.Kind, b.Kind))
	})
	return out, s.fail(err)
}

// machineRef refers to the artefact with a thread's machine code.
type machineRef struct {
	code             string
	thread, artefact int64
}

// machineLacking lists the machine code that another store has and this one lacks.
func (s *Store) machineLacking(ctx context.Context, from *Store) (out []machineRef, err error) {
	err = from.each(ctx, "SELECT code, thread, artefact FROM machine", nil, func(scan func(...any) error) error {
		var m machineRef
		if err := scan(&m.code, &m.thread, &m.artefact); err != nil {
			return err
		}
		has, err := s.hasMachine(m.code, m.thread)
		if err != nil {
			return err
		}
		if !has {
			out = append(out, m)
		}
		return nil
	})
	return out, err
}

// copyArtefacts copies the artefacts of another store, and what refers to them.
func (s *Store) copyArtefacts(ctx context.Context, from *Store) error {
	machine, err := s.machineLacking(ctx, from)
	if err != nil {
		return err
	}
	ids := map[int64]int64{}
	for _, m := range machine {
		ids[m.artefact] = 0
	}
	err = from.each(
		ctx,
		"SELECT id, kind, data, id IN (SELECT artefact FROM source) FROM artefact WHERE id IN (SELECT artefact FROM machine UNION SELECT artefact FROM source)",
		nil,
		func(scan func(...any) error) error {
			var id int64
			var kind string
			var blob []byte
			var source bool
			if err := scan(&id, &kind, &blob, &source); err != nil {
				return err
			}
			if _, ok := ids[id]; !ok && !source {
				return nil
			}
			data, err := unpack(blob)
			if err != nil {
				return from.fail(errDamaged("artefact %d: %w", id, err))
			}
			ids[id], err = s.putArtefact(kind, data)
			return err
		},
	)
	if err != nil {
		return err
	}
	for _, m := range machine {
		if ids[m.artefact] == 0 {
			return from.fail(errDamaged("a reference to no artefact"))
		}
		if _, err := s.exec(insertMachine, m.code, m.thread, ids[m.artefact]); err != nil {
			return err
		}
	}
	if err := s.copySources(ctx, from, ids); err != nil {
		return err
	}
	return s.copyLabels(ctx, from)
}

// copySources copies the references from threads of cells to their sources; ids maps the other
// store's artefact numbers to this one's.
func (s *Store) copySources(ctx context.Context, from *Store, ids map[int64]int64) error {
	return from.each(
		ctx,
		`SELECT t.hash, t.name, s.hash, n.name, n.build, n.max_ptx, k.target, k.level, k.layout, x.thread, x.artefact FROM source x
		JOIN test t ON t.id=x.test JOIN col k ON k.id=x.col JOIN toolchain n ON n.id=k.toolchain JOIN setting s ON s.id=k.setting`,
		nil,
		func(scan func(...any) error) error {
			args, dest := make([]any, 11), make([]any, 11)
			for i := range args {
				dest[i] = &args[i]
			}
			if err := scan(dest...); err != nil {
				return err
			}
			id, ok := args[10].(int64)
			if args[10], ok = ids[id], ok && ids[id] != 0; !ok {
				return from.fail(errDamaged("a reference to no artefact"))
			}
			_, err := s.exec(
				`INSERT INTO source(test, col, thread, artefact, sum) SELECT t.id, k.id, ?10, ?11, optcheck_sum('source', t.id, k.id, ?10, ?11) FROM test t, col k JOIN toolchain n ON n.id=k.toolchain JOIN setting s ON s.id=k.setting
				WHERE t.hash=?1 AND t.name=?2 AND s.hash=?3 AND n.name=?4 AND n.build=?5 AND n.max_ptx=?6 AND k.target=?7 AND k.level=?8 AND k.layout=?9 ON CONFLICT DO NOTHING`,
				args...)
			return err
		},
	)
}
