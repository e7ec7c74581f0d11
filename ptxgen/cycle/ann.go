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
	// Copy: the read by a cp.async that is waited for, the write by a bulk copy that is waited for. Both are of global memory.
	Copy bool
}

// The words of copies, of reads and of writes.
const copyWord, bulkWord = "copy", "bulk"

var semTags = map[litmus.Sem]string{litmus.SemRelaxed: "rlx", litmus.SemAcquire: "acq", litmus.SemRelease: "rel", litmus.SemAcqRel: "ar"}
var atomTags = map[litmus.AtomOp]string{litmus.AtomAdd: "atom.add", litmus.AtomExch: "atom.exch", litmus.AtomCAS: "atom.cas"}

// String formats the annotation as ParseAnn reads it: weak, vol, cg, rlx.gpu, acq.sys,
// atom.cas, atom.exch.rel.gpu.
func (a Ann) String() string {
	switch {
	case a == (Ann{}):
		return "weak"
	case a.Copy && a.Sem == litmus.SemWeak:
		return bulkWord
	case a.Copy:
		return copyWord
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
	m := map[string]Ann{"weak": {}, "vol": {Sem: litmus.SemVolatile}, "volatile": {Sem: litmus.SemVolatile},
		copyWord: {Copy: true}, bulkWord: {Copy: true, Sem: litmus.SemWeak}}
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
// atom.add, atom.exch, atom.cas, alone or with rlx, acq, rel or ar and a scope; copy (a read), bulk (a write).
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
	case a.Copy && (d == Read) != (a.Sem == litmus.SemNone):
		return fmt.Errorf("a cp.async reads and a bulk copy writes: it cannot be %v", a)
	case d == Read && (a.Sem == litmus.SemRelease || a.Cache == litmus.CacheWB || a.Cache == litmus.CacheWT):
		return fmt.Errorf("a load cannot be %v", a)
	case d == Write && (a.Sem == litmus.SemAcquire || a.Cache == litmus.CacheCA || a.Cache == litmus.CacheLU || a.Cache == litmus.CacheCV):
		return fmt.Errorf("a store cannot be %v", a)
	}
	return nil
}

// code orders annotations; different annotations have different codes.
func (a Ann) code() uint32 {
	return bit(a.Copy)<<16 | uint32(a.Atom)<<12 | uint32(a.Sem)<<8 | uint32(a.Scope)<<4 | uint32(a.Cache)
}
