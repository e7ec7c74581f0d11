package store

import (
	"bytes"
	"context"
	"fmt"

	"optcheck/event"
)

// maxFaults bounds the number of faults that Check lists.
const maxFaults = 100

// checker gathers faults.
type checker struct {
	s      *Store
	faults []string
}

func (k *checker) fault(format string, args ...any) {
	if len(k.faults) < maxFaults {
		k.faults = append(k.faults, fmt.Sprintf(format, args...))
	}
}

// Check looks for damage: it runs SQLite's own check, and looks for contents that do not match
// their hash or cannot be read, and for dangling references. It returns what it found, at most
// 100 faults.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	k := &checker{s: s}
	err := s.read(ctx, func() error {
		for _, f := range []func(context.Context) error{k.integrity, k.references, k.bodies, k.tests, k.listings, k.events, k.runs,
			k.artefacts, k.meta, k.sums} {
			if err := f(ctx); err != nil {
				return err
			}
			if len(k.faults) >= maxFaults {
				return nil
			}
		}
		return nil
	})
	if err != nil && code(err) != 0 && ctx.Err() == nil {
		// Whatever cannot even be read is a fault.
		k.fault("%v", s.explain(err))
		err = nil
	}
	return k.faults, s.fail(err)
}

func (k *checker) integrity(ctx context.Context) error {
	return k.s.each(ctx, "PRAGMA integrity_check(100)", nil, func(scan func(...any) error) error {
		var line string
		if err := scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			k.fault("database: %s", line)
		}
		return nil
	})
}

// references looks for rows that refer to missing rows.
func (k *checker) references(ctx context.Context) error {
	for _, r := range []struct{ table, column, to string }{
		{"cell", "col", "col"}, {"cell", "test", "test"}, {"cell", "body", "body"}, {"cell", "run", "run"},
		{"col", "setting", "setting"}, {"col", "toolchain", "toolchain"}, {"run", "setting", "setting"}, {"event", "run", "run"},
		{"machine", "artefact", "artefact"}, {"source", "artefact", "artefact"}, {"source", "test", "test"}, {"source", "col", "col"},
		{"label", "artefact", "artefact"},
	} {
		var n int64
		q := fmt.Sprintf("SELECT count(*) FROM %[1]s WHERE %[2]s NOT IN (SELECT id FROM %[3]s)", r.table, r.column, r.to)
		if err := k.s.c.QueryRowContext(ctx, q).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			k.fault("%d rows of %s refer to no %s", n, r.table, r.to)
		}
	}
	return k.s.each(ctx, "SELECT DISTINCT typeof(code) FROM cell", nil, func(scan func(...any) error) error {
		var kind string
		if err := scan(&kind); err != nil {
			return err
		}
		if kind != "integer" && kind != "text" && kind != "null" {
			k.fault("hashes of machine code of type %s", kind)
		}
		return nil
	})
}

func (k *checker) bodies(ctx context.Context) error {
	return k.s.each(ctx, "SELECT id, hash, class, data FROM body ORDER BY id", nil, func(scan func(...any) error) error {
		var id int64
		var hash, blob []byte
		var class string
		if err := scan(&id, &hash, &class, &blob); err != nil {
			return err
		}
		var r event.Result
		if err := decodeBody(id, hash, blob, &r); err != nil {
			k.fault("%v", err)
			return nil
		}
		if r.Class != class || r.Code != "" {
			k.fault("result %d is of class %.20q, not %.20q", id, r.Class, class)
		}
		return nil
	})
}

// hash compares content with its hash.
func (k *checker) hash(hash, blob []byte, format string, args ...any) {
	data, err := unpack(blob)
	if err != nil {
		k.fault(format+": %v", append(args, err)...)
		return
	}
	if d := digestOf(data); !bytes.Equal(d[:], hash) {
		k.fault(format+" does not match its hash", args...)
	}
}

func (k *checker) tests(ctx context.Context) error {
	return k.s.each(ctx, "SELECT id, about, text FROM test ORDER BY id", nil, func(scan func(...any) error) error {
		var id int64
		var about, text []byte
		if err := scan(&id, &about, &text); err != nil {
			return err
		}
		if err := decodeTest(id, about, text, &event.Test{}); err != nil {
			k.fault("%v", err)
		}
		return nil
	})
}

func (k *checker) listings(ctx context.Context) error {
	return k.s.each(ctx, "SELECT id, code, hash, data FROM listing ORDER BY id", nil, func(scan func(...any) error) error {
		var id int64
		var code string
		var hash, blob []byte
		if err := scan(&id, &code, &hash, &blob); err != nil {
			return err
		}
		if _, err := decodeListing(code, hash, blob); err != nil {
			k.fault("%v", err)
		}
		return nil
	})
}

func (k *checker) events(ctx context.Context) error {
	ids := map[int]map[int64]bool{}
	for kind, table := range map[int]string{kindTests: "test", kindListing: "listing"} {
		ids[kind] = map[int64]bool{}
		err := k.s.each(ctx, "SELECT id FROM "+table, nil, func(scan func(...any) error) error {
			var id int64
			err := scan(&id)
			ids[kind][id] = true
			return err
		})
		if err != nil {
			return err
		}
	}
	return k.s.each(ctx, "SELECT run, n, pos, kind, ref, count, data FROM event ORDER BY run, n", nil, func(scan func(...any) error) error {
		var run, n, pos, ref, count int64
		var kind int
		var blob []byte
		if err := scan(&run, &n, &pos, &kind, &ref, &count, &blob); err != nil {
			return err
		}
		switch has := ids[kind]; {
		case pos < 0 || n < 0 || count < 1 || count > int64(len(ids[kindTests]))+1 || kind < kindTests || kind > kindStats:
			k.fault("event %d of run %d is invalid", n, run)
		case has == nil:
			if _, err := decodeEvent(kind, blob); err != nil {
				k.fault("event %d of run %d: %v", n, run, err)
			}
		default:
			for i := range count {
				if !has[ref+i] {
					k.fault("event %d of run %d refers to nothing", n+i, run)
					break
				}
			}
		}
		return nil
	})
}

func (k *checker) runs(ctx context.Context) error {
	if err := k.s.each(ctx, "SELECT id, config FROM run ORDER BY id", nil, func(scan func(...any) error) error {
		var id int64
		var config []byte
		if err := scan(&id, &config); err != nil {
			return err
		}
		if err := unmarshal(config, &event.Config{}); err != nil {
			k.fault("run %d: %v", id, err)
		}
		return nil
	}); err != nil {
		return err
	}
	return k.s.each(ctx, "SELECT id, hash, data FROM setting ORDER BY id", nil, func(scan func(...any) error) error {
		var id int64
		var hash, data []byte
		if err := scan(&id, &hash, &data); err != nil {
			return err
		}
		var s Setting
		if err := unmarshal(data, &s); err != nil {
			k.fault("setting %d: %v", id, err)
			return nil
		}
		if _, d, err := s.key(); err != nil || !bytes.Equal(d[:], hash) {
			k.fault("setting %d does not match its hash", id)
		}
		return nil
	})
}

// sums compares rows with their checksums.
func (k *checker) sums(ctx context.Context) error {
	for _, t := range summed {
		bad, err := k.s.badRows(ctx, t.table, t.columns, maxFaults)
		if err != nil {
			return err
		}
		for _, row := range bad {
			k.fault("%s", row)
		}
	}
	return nil
}

// meta checks that the only counter exists.
func (k *checker) meta(ctx context.Context) error {
	ok, err := k.s.counter(ctx)
	if err == nil && !ok {
		k.fault("the change counter is missing")
	}
	return err
}

func (k *checker) artefacts(ctx context.Context) error {
	return k.s.each(ctx, "SELECT id, hash, size, data FROM artefact ORDER BY id", nil, func(scan func(...any) error) error {
		var id, size int64
		var hash, blob []byte
		if err := scan(&id, &hash, &size, &blob); err != nil {
			return err
		}
		k.hash(hash, blob, "artefact %d", id)
		if data, err := unpack(blob); err == nil && int64(len(data)) != size {
			k.fault("artefact %d has %d bytes, not %d", id, len(data), size)
		}
		return nil
	})
}
