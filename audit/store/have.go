package store

import (
	"context"
	"sync/atomic"

	"optcheck/event"
)

// known records which cells of a setting are stored: a bit for each test in each column. It is
// immutable, so that many goroutines may use it.
type known struct {
	tests map[testKey]int64
	cols  map[event.Column][]uint64
	asked atomic.Int64
	// other is the number of cells that differ only in the build of optcheck.
	other int64
}

func (k *known) has(c *event.Cell) bool {
	bits := k.cols[event.Column{Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Layout: c.Layout}]
	if bits == nil {
		return false
	}
	t, ok := k.tests[testKey{c.Test, c.Hash}]
	if !ok || bits[t/64]&(1<<(t%64)) == 0 {
		return false
	}
	k.asked.Add(1)
	return true
}

// Have reports whether the store already holds the result of a cell of the run that the last
// config event began. Results of failed attempts do not count. It may be called concurrently
// after that event.
func (w *Writer) Have(c *event.Cell) bool { return w.known != nil && w.known.has(c) }

// Skipped returns the number of cells for which Have returned true.
func (w *Writer) Skipped() int64 {
	if w.known == nil {
		return 0
	}
	return w.known.asked.Load()
}

// OtherBuilds returns the number of cells in the store that were made with the same
// setting by other builds of optcheck.
func (w *Writer) OtherBuilds() int64 {
	if w.known == nil {
		return 0
	}
	return w.known.other
}

// Remember prepares Have for the current run. It is called between the config event and the
// first call of Have.
func (w *Writer) Remember(ctx context.Context) error {
	k, err := w.s.known(ctx, w.config)
	if err != nil {
		return w.s.fail(err)
	}
	w.known = k
	return nil
}

func (s *Store) known(ctx context.Context, cfg *event.Config) (*known, error) {
	k := &known{tests: map[testKey]int64{}, cols: map[event.Column][]uint64{}}
	setting := SettingOf(cfg)
	ids, err := s.settings(ctx)
	if err != nil {
		return nil, err
	}
	var mine int64
	for _, x := range ids {
		if !setting.otherBuild(x.Setting) {
			_, a, errA := setting.key()
			_, b, errB := x.key()
			if errA == nil && errB == nil && a == b {
				mine = x.ID
			}
			continue
		}
		var n int64
		if _, err := s.row("SELECT count(*) FROM cell WHERE col IN (SELECT id FROM col WHERE setting=?)", []any{x.ID}, &n); err != nil {
			return nil, err
		}
		k.other += n
	}
	if mine == 0 {
		return k, nil
	}
	again, err := s.transientBodies(ctx)
	if err != nil {
		return nil, err
	}
	index := map[int64]int64{} // of a row, without gaps
	err = s.each(ctx, "SELECT id, name, hash FROM test", nil, func(scan func(...any) error) error {
		var id int64
		var t testKey
		if err := scan(&id, &t.name, &t.hash); err != nil {
			return err
		}
		n := int64(len(index))
		k.tests[t], index[id] = n, n
		return nil
	})
	if err != nil {
		return nil, err
	}
	cols := map[int64][]uint64{}
	err = s.each(ctx,
		"SELECT c.id, t.name, t.build, t.max_ptx, c.target, c.level, c.layout FROM col c JOIN toolchain t ON t.id=c.toolchain WHERE c.setting=?",
		[]any{mine}, func(scan func(...any) error) error {
			var id int64
			var t event.Toolchain
			var c event.Column
			if err := scan(&id, &t.ID, &t.Build, &t.MaxPTX, &c.Target, &c.Level, &c.Layout); err != nil {
				return err
			}
			if toolchainOf(cfg, t.ID) != t {
				return nil // another build of the toolchain
			}
			c.Toolchain = t.ID
			cols[id] = make([]uint64, len(index)/64+1)
			k.cols[c] = cols[id]
			return nil
		})
	if err != nil {
		return nil, err
	}
	return k, s.each(ctx, "SELECT col, test, body FROM cell", nil, func(scan func(...any) error) error {
		var col, test, body int64
		if err := scan(&col, &test, &body); err != nil {
			return err
		}
		if i, ok := index[test]; ok && cols[col] != nil && !again[body] {
			cols[col][i/64] |= 1 << (i % 64)
		}
		return nil
	})
}

// transientBodies lists the results of failed attempts.
func (s *Store) transientBodies(ctx context.Context) (map[int64]bool, error) {
	out := map[int64]bool{}
	err := s.each(ctx, "SELECT id, hash, data FROM body WHERE class=?", []any{event.Unknown}, func(scan func(...any) error) error {
		var id int64
		var hash, data []byte
		if err := scan(&id, &hash, &data); err != nil {
			return err
		}
		var r event.Result
		if err := decodeBody(id, hash, data, &r); err != nil {
			return err
		}
		if Transient(&r) {
			out[id] = true
		}
		return nil
	})
	return out, err
}

// numbered is a setting with its number in the store.
type numbered struct {
	ID int64
	Setting
}

// settings lists the settings of the store.
func (s *Store) settings(ctx context.Context) (out []numbered, err error) {
	err = s.each(ctx, "SELECT id, data FROM setting ORDER BY id", nil, func(scan func(...any) error) error {
		var n numbered
		var data []byte
		if err := scan(&n.ID, &data); err != nil {
			return err
		}
		if err := unmarshal(data, &n.Setting); err != nil {
			return errDamaged("setting %d: %w", n.ID, err)
		}
		out = append(out, n)
		return nil
	})
	return out, err
}
