package store

import (
	"context"
	"errors"
	"fmt"
)

// MaxArtefact bounds the size of an artefact, in bytes.
const MaxArtefact = maxBlob

// ErrNoLabel is returned for a name that no artefact has.
var ErrNoLabel = errors.New("no artefact of that name")

// Put stores data under a name, replacing what had the name before. Equal data is stored once,
// however many names it has. kind is a word for its type.
func (s *Store) Put(ctx context.Context, name, kind string, data []byte) error {
	if len(data) > MaxArtefact {
		return s.fail(fmt.Errorf("artefact %s: %d bytes, more than %d", name, len(data), MaxArtefact))
	}
	return s.fail(s.update(ctx, func() error {
		h := digestOf(data)
		return s.label(name, kind, h[:], int64(len(data)), func() ([]byte, error) { return pack(data), nil })
	}))
}

// label names an artefact, which blob creates if it does not exist.
func (s *Store) label(name, kind string, hash []byte, size int64, blob func() ([]byte, error)) error {
	var id int64
	ok, err := s.row("SELECT id FROM artefact WHERE hash=? AND kind=?", []any{hash, kind}, &id)
	if err != nil {
		return err
	}
	if !ok {
		data, err := blob()
		if err != nil {
			return err
		}
		r, err := s.exec(insertArtefact, kind, hash, size, data)
		if err != nil {
			return err
		}
		if id, err = r.LastInsertId(); err != nil {
			return err
		}
	}
	_, err = s.exec(`INSERT INTO label(name, artefact, sum) VALUES(?1, ?2, optcheck_sum('label', ?1, ?2))
		ON CONFLICT(name) DO UPDATE SET artefact=excluded.artefact, sum=excluded.sum`, name, id)
	return err
}

// Get returns the data with a name, and its kind. It verifies the data: damage is an error.
func (s *Store) Get(ctx context.Context, name string) (data []byte, kind string, err error) {
	err = s.read(ctx, func() error {
		var hash, blob []byte
		ok, err := s.row("SELECT a.kind, a.hash, a.data FROM label l JOIN artefact a ON a.id = l.artefact WHERE l.name=?",
			[]any{name}, &kind, &hash, &blob)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%w: %s", ErrNoLabel, name)
		}
		if data, err = unpack(blob); err != nil {
			return fmt.Errorf("%w: artefact %s: %w", ErrDamaged, name, err)
		}
		if h := digestOf(data); string(h[:]) != string(hash) {
			return fmt.Errorf("%w: artefact %s does not match its hash", ErrDamaged, name)
		}
		return nil
	})
	return data, kind, s.fail(err)
}

// Labels lists the names that begin with a prefix, sorted.
func (s *Store) Labels(ctx context.Context, prefix string) (names []string, err error) {
	err = s.read(ctx, func() error {
		return s.each(ctx, "SELECT name FROM label WHERE substr(name, 1, ?) = ? ORDER BY name", []any{len([]rune(prefix)), prefix},
			func(scan func(...any) error) error {
				names = append(names, "")
				return scan(&names[len(names)-1])
			})
	})
	return names, s.fail(err)
}

// copyLabels copies the names in another store. A name that both have keeps the artefact with
// the larger hash, so that the order of merging does not matter.
func (s *Store) copyLabels(ctx context.Context, from *Store) error {
	type one struct {
		name, kind string
		hash       []byte
		size, id   int64
	}
	var all []one
	err := from.each(ctx, "SELECT l.name, a.kind, a.hash, a.size, a.id FROM label l JOIN artefact a ON a.id = l.artefact ORDER BY l.name",
		nil, func(scan func(...any) error) error {
			var x one
			err := scan(&x.name, &x.kind, &x.hash, &x.size, &x.id)
			all = append(all, x)
			return err
		})
	if err != nil {
		return from.fail(err)
	}
	for _, x := range all {
		var have []byte
		ok, err := s.row("SELECT a.hash FROM label l JOIN artefact a ON a.id = l.artefact WHERE l.name=?", []any{x.name}, &have)
		if err != nil {
			return err
		}
		if ok && string(have) >= string(x.hash) {
			continue
		}
		err = s.label(x.name, x.kind, x.hash, x.size, func() (blob []byte, err error) {
			_, err = from.row("SELECT data FROM artefact WHERE id=?", []any{x.id}, &blob)
			return blob, from.fail(err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
