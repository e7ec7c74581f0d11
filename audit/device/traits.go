package device

import (
	"slices"
	"strconv"
	"strings"

	"optcheck/litmus"
)

// traits are what a test has in common with others.
type traits struct {
	// shapes are the kinds of test that it is of, the coarsest first: all; those of the same
	// synchronisation, which is the scopes of accesses and the kinds and scopes of fences; of the
	// same family besides; with their threads in the same CTAs besides.
	shapes []string
	// features are these and others, for the regression.
	features []string
	// skeleton stands for the test without fences, orders and scopes; strength is what there was of them.
	skeleton string
	strength []gap
}

// gap is the synchronisation between two accesses of a thread: the widest scopes of an acquire in
// front, a release behind, a fence, an SC fence, and of the access behind. To a model a fence is more than
// an acquire; to a chip they are different instructions: an acquire drops cached lines, a narrow fence need not.
type gap [5]uint8

const (
	acquires = iota
	releases
	fences
	fencesSC
	accesses
)

func (g *gap) raise(kind int, scope litmus.Scope) { g[kind] = max(g[kind], uint8(scope)) }

// atMost reports whether no synchronisation of x is stronger than that of y, which has the same skeleton.
func (x *traits) atMost(y *traits) bool {
	for i, g := range x.strength {
		for k := range g {
			if g[k] > y.strength[i][k] {
				return false
			}
		}
	}
	return true
}

// traitsOf returns a test's.
func traitsOf(t *litmus.Test) traits {
	var x traits
	var family, places, sync []string
	bare := t.Clone()
	for i := range t.Threads {
		s := stripped{thread: &bare.Threads[i]}
		s.strip()
		x.strength = append(x.strength, s.gaps...)
		sync = append(sync, s.sync...)
		first := slices.IndexFunc(t.Threads, func(th litmus.Thread) bool { return th.Place.SameScope(t.Threads[i].Place, litmus.ScopeCTA) })
		family, places = append(family, s.family), append(places, strconv.Itoa(first))
	}
	slices.Sort(sync)
	x.skeleton = bare.Hash()
	kind, in := strings.Join(slices.Compact(sync), " "), "|"+strings.Join(places, "+")
	of := kind + "|" + strings.Join(family, "+")
	x.shapes = []string{"", kind, of, of + in}
	x.features = append(slices.Clone(x.shapes), x.skeleton, in, kind+in)
	for i, g := range x.strength {
		x.features = append(x.features, x.skeleton+strconv.Itoa(i)+string(g[:]))
	}
	return x
}

// stripped is a thread without its synchronisation, and that.
type stripped struct {
	thread *litmus.Thread
	family string // R, W and U for reads, writes and updates
	sync   []string
	gaps   []gap // in front of each access, and at the end
}

func (s *stripped) strip() {
	var g gap
	body := s.thread.Body[:0]
	for _, in := range s.thread.Body {
		switch {
		case in.Op.IsFence():
			s.sync = append(s.sync, in.Op.String()+in.Sem.String()+in.Scope.String())
			g.raise(fences, in.Scope)
			if in.Sem == litmus.SemSC || in.Op == litmus.OpMembar {
				g.raise(fencesSC, in.Scope)
			}
			continue
		case in.Op.IsAccess():
			s.sync = append(s.sync, in.Scope.String())
			s.family += map[litmus.Op]string{litmus.OpLd: "R", litmus.OpSt: "W", litmus.OpAtom: "U", litmus.OpRed: "U"}[in.Op]
			g.raise(accesses, in.Scope)
			if in.Sem == litmus.SemRelease || in.Sem == litmus.SemAcqRel {
				g.raise(releases, in.Scope)
			}
			s.gaps, g = append(s.gaps, g), gap{}
			if in.Sem == litmus.SemAcquire || in.Sem == litmus.SemAcqRel {
				g.raise(acquires, in.Scope)
			}
			in.Sem, in.Scope = litmus.SemNone, litmus.ScopeNone
		}
		body = append(body, in)
	}
	s.thread.Body, s.gaps = body, append(s.gaps, g)
}
