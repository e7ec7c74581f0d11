package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"optcheck/event"
)

// listings reads the listings of the codes in the set. Where tests with other names share a
// code, it always takes the same listing.
func (l *Live) listings(ctx context.Context) error {
	codes := map[string]bool{}
	for i := range l.Results {
		codes[l.Results[i].ListingKey()] = true
	}
	return l.s.each(ctx, "SELECT code, hash, data FROM listing ORDER BY code, hash", nil, func(scan func(...any) error) error {
		var code string
		var hash, blob []byte
		if err := scan(&code, &hash, &blob); err != nil {
			return err
		}
		if !codes[code] || l.Listings[code] != nil {
			return nil
		}
		x, err := decodeListing(code, hash, blob)
		l.Listings[code] = x
		return err
	})
}

func decodeListing(code string, hash, blob []byte) (*event.Listing, error) {
	var x event.Listing
	data, err := hashed(hash, blob)
	if err == nil {
		err = unmarshal(data, &x)
	}
	if err == nil && x.Code != code {
		return nil, errDamaged("listing of code %.20q is of another code", code)
	}
	if err != nil {
		return nil, errDamaged("listing of code %.20q: %w", code, err)
	}
	return &x, nil
}

// events reads problems, histograms and statistics of the runs of a setting.
func (l *Live) events(ctx context.Context, setting int64) error {
	standing := l.Standing()
	type told struct {
		kind int
		data string
	}
	seen := map[told]bool{}
	var runs int64
	if _, err := l.s.row("SELECT count(*) FROM run WHERE setting=?", []any{setting}, &runs); err != nil {
		return err
	}
	err := l.s.each(ctx,
		"SELECT e.run, e.n, e.kind, e.data FROM event e JOIN run r ON r.id=e.run WHERE r.setting=? AND e.kind IN (?, ?, ?) ORDER BY e.run, e.n",
		[]any{setting, kindProblem, kindHistogram, kindStats}, func(scan func(...any) error) error {
			var run, n int64
			var kind int
			var blob []byte
			if err := scan(&run, &n, &kind, &blob); err != nil {
				return err
			}
			e, err := decodeEvent(kind, blob)
			if err != nil {
				return errDamaged("event %d of run %d: %w", n, run, err)
			}
			if k := (told{kind, string(blob)}); seen[k] {
				return nil
			} else {
				seen[k] = true
			}
			switch {
			case e.Stats != nil && runs > 1:
				return nil
			case e.Problem != nil && !l.current(e.Problem, standing):
				return nil
			}
			return l.Handle(e)
		})
	slices.SortStableFunc(l.Problems, func(a, b event.Problem) int {
		return cmp.Or(compareToolchains(a.Toolchain, b.Toolchain), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Level, b.Level),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	slices.SortStableFunc(l.Histograms, func(a, b event.Histogram) int {
		x, errA := marshal(&a)
		y, errB := marshal(&b)
		if errA != nil || errB != nil {
			return 0
		}
		return bytes.Compare(x, y)
	})
	return err
}

// decodeEvent decodes an event that is stored as JSON.
func decodeEvent(kind int, blob []byte) (e event.Event, err error) {
	data, err := unpack(blob)
	if err != nil {
		return e, err
	}
	switch kind {
	case kindProblem:
		e.Problem = &event.Problem{}
		err = unmarshal(data, e.Problem)
	case kindHistogram:
		e.Histogram = &event.Histogram{}
		if err = unmarshal(data, e.Histogram); err == nil {
			err = e.Histogram.Check()
		}
	case kindStats:
		e.Stats = &event.Stats{}
		err = unmarshal(data, e.Stats)
	}
	return e, err
}

// current reports whether a problem belongs to the view and still exists.
func (l *Live) current(p *event.Problem, standing func(*event.Problem) bool) bool {
	if p.Toolchain != "" && l.view.Matrix != nil {
		c := event.Column{Toolchain: p.Toolchain, Target: p.Target, Level: p.Level, Layout: l.view.Matrix.Layouts[0]}
		if !l.wanted(c) {
			return false
		}
	}
	return standing(p)
}
