package cycle

import (
	"fmt"
	"strings"

	"optcheck/litmus"
)

// Ann is the annotation of an access: how it is performed. The zero value is a plain (weak)
// access.
type Ann struct {
	Atom  litmus.AtomOp // AtomAdd, AtomExch or AtomCAS: by an atomic
	Sem   litmus.Sem
	Scope litmus.Scope
	Cache litmus.CacheOp
}

var semTags = map[litmus.Sem]string{litmus.SemRelaxed: "rlx", litmus.SemAcquire: "acq", litmus.SemRelease: "rel", litmus.SemAcqRel: "ar"}
var atomTags = map[litmus.AtomOp]string{litmus.AtomAdd: "atom.add", litmus.AtomExch: "atom.exch", litmus.AtomCAS: "atom.cas"}

// String formats the annotation as ParseAnn reads it: weak, vol, cg, rlx.gpu, acq.sys,
// atom.cas, atom.exch.rel.gpu.
func (a Ann) String() string {
	if a == (Ann{}) {
		return "weak"
	}
	var parts []string
	if a.Atom != litmus.AtomNone {
		parts = append(parts, atomTags[a.Atom])
	}
	switch {
	case a.Sem == litmus.SemVolatile:
		parts = append(parts, "vol")
	case a.Sem != litmus.SemNone:
		parts = append(parts, semTags[a.Sem])
	}
	if a.Scope != litmus.ScopeNone {
		parts = append(parts, a.Scope.String())
	}
	if a.Cache != litmus.CacheNone {
		parts = append(parts, a.Cache.String())
	}
	return strings.Join(parts, ".")
}

var annWords = func() map[string]Ann {
	m := map[string]Ann{"weak": {}, "vol": {Sem: litmus.SemVolatile}, "volatile": {Sem: litmus.SemVolatile}}
	for c := litmus.CacheCA; c <= litmus.CacheWT; c++ {
		m[c.String()] = Ann{Cache: c}
	}
	for _, sc := range scopes {
		for sem, tag := range semTags {
			a := Ann{Sem: sem, Scope: sc}
			if sem != litmus.SemAcqRel {
				m[tag+"."+sc.String()] = a
				m[sem.String()+"."+sc.String()] = a
			}
			for atom, word := range atomTags {
				a.Atom = atom
				m[word+"."+tag+"."+sc.String()] = a
				m[word+"."+sem.String()+"."+sc.String()] = a
			}
		}
	}
	for atom, word := range atomTags {
		m[word] = Ann{Atom: atom}
	}
	return m
}()

// ParseAnn reads an annotation: weak; vol or volatile; a cache operator (ca cg
// cs lu cv wb wt); rlx, acq or rel with a scope (rlx.gpu, also relaxed.gpu);
// atom.add, atom.exch, atom.cas, alone or with rlx, acq, rel or ar and a scope.
func ParseAnn(s string) (Ann, error) {
	a, ok := annWords[s]
	if !ok {
		return Ann{}, fmt.Errorf("unknown annotation %q", s)
	}
	return a, nil
}

// allowed says why an access of direction d cannot have the annotation.
func (a Ann) allowed(d Dir) error {
	switch {
	case a.Atom != litmus.AtomNone:
		if d == Read && a.Atom == litmus.AtomExch {
			return fmt.Errorf("%v cannot be a mere read: an exchange overwrites what it reads", a)
		}
		return nil
	case d == Read && (a.Sem == litmus.SemRelease || a.Cache == litmus.CacheWB || a.Cache == litmus.CacheWT):
		return fmt.Errorf("a load cannot be %v", a)
	case d == Write && (a.Sem == litmus.SemAcquire || a.Cache == litmus.CacheCA || a.Cache == litmus.CacheLU || a.Cache == litmus.CacheCV):
		return fmt.Errorf("a store cannot be %v", a)
	}
	return nil
}

// code orders annotations; different annotations have different codes.
func (a Ann) code() uint32 {
	return uint32(a.Atom)<<12 | uint32(a.Sem)<<8 | uint32(a.Scope)<<4 | uint32(a.Cache)
}
