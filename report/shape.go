package report

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// A shape is what a test is beyond its words: which accesses its threads make, to which of its locations,
// when, with which values, and the outcome that is asked for. Names, registers, the order of threads and of
// locations, the numbers that stand for values, types, and the ways to write a condition are not part of it, nor
// are fences and the strengths of accesses: what of these an issue is about is in trait.
type shape struct {
	skeleton string
	trait
}

// trait is what a shape leaves open.
type trait struct {
	openCL   bool
	fenced   bool // something orders: a fence, or an access that acquires or releases
	volatile bool // all accesses are
	shared   bool // all locations are
	weak     bool // all accesses but atomics are
	l1       string
}

// maxShapeThreads bounds the orders of threads that are tried.
const maxShapeThreads = 4

// shapeOf gives the shape of a test; ok is false if it is none of a few short threads with an outcome that is
// a conjunction of values that are read.
func shapeOf(t *litmus.Test) (s shape, ok bool) {
	t, _, err := t.Unrolled()
	if err != nil || len(t.Threads) > maxShapeThreads {
		return s, false
	}
	bare, ok := bared(t)
	if !ok {
		return s, false
	}
	var threads []*spec.Spec
	s.openCL, s.volatile, s.shared, s.weak = t.Dialect == litmus.OpenCL, true, true, true
	for i := range t.Threads {
		full, err := spec.FromTest(t, i, spec.Pointers)
		if err != nil {
			return s, false
		}
		s.trait.add(full)
		th, err := spec.FromTest(bare, i, spec.Pointers)
		if err != nil {
			return s, false
		}
		th.SetCode(&bare.Threads[i], nil)
		th.AddDigest()
		threads = append(threads, th)
	}
	for order := range permutations(len(threads)) {
		text, ok := skeleton(bare, threads, order)
		if !ok {
			return s, false
		}
		if s.skeleton == "" || text < s.skeleton {
			s.skeleton = text
		}
	}
	return s, true
}

// add adds what a thread has.
func (x *trait) add(s *spec.Spec) {
	for _, e := range s.Entries {
		k := &e.Kind
		if e.IsFence() {
			x.fenced = true
			continue
		}
		x.fenced = x.fenced || k.Sem == litmus.SemAcquire || k.Sem == litmus.SemRelease || k.Sem == litmus.SemAcqRel || k.Sem == litmus.SemSC
		x.volatile = x.volatile && k.Sem == litmus.SemVolatile
		x.shared = x.shared && k.Space == litmus.Shared
		weak := k.Sem == litmus.SemNone || k.Sem == litmus.SemWeak
		x.weak = x.weak && (weak || k.Atom != litmus.AtomNone)
		if k.Op == litmus.OpLd {
			through := weak && k.Cache == litmus.CacheNone || k.Cache == litmus.CacheCA
			x.l1 += map[bool]string{true: "1", false: "2"}[through]
		}
	}
}

// bared is a test without fences and strengths, with words of 32 bits. Of its numbers only the order is left, if
// nothing is computed of them. ok is false if the outcome is no conjunction of values that are read.
func bared(t *litmus.Test) (bare *litmus.Test, ok bool) {
	c := t.Clone()
	c.Dialect, c.Results, c.Observed = litmus.GPUPTX, litmus.ResultsAll, nil
	var numbers []*int64
	computes := false
	for i := range c.Threads {
		th := &c.Threads[i]
		for _, r := range slices.Backward(th.Regs) {
			if r.Init.Kind == litmus.OperandConst {
				th.Body = slices.Insert(th.Body, 0, litmus.Instr{Op: litmus.OpMov, Dst: r.Name, Src: []litmus.Operand{r.Init}, Type: r.Type})
			}
		}
		for k := range th.Body {
			in := &th.Body[k]
			if in.Op.IsFence() {
				*in = litmus.Instr{Op: litmus.OpNop, Labels: in.Labels}
			}
			in.Sem, in.Scope, in.Cache, in.FromType = 0, 0, 0, 0
			if in.Type != litmus.Pred {
				in.Type = litmus.S32
			}
			computes = computes || in.Op >= litmus.OpAdd && in.Op <= litmus.OpNot ||
				in.Atom != litmus.AtomNone && in.Atom != litmus.AtomExch && in.Atom != litmus.AtomCAS
			for s := range in.Src {
				if in.Src[s].Kind == litmus.OperandConst {
					numbers = append(numbers, &in.Src[s].Value)
				}
			}
		}
	}
	for i := range c.Locations {
		numbers = append(numbers, &c.Locations[i].Init)
	}
	atoms, ok := conjuncts(c.Cond.Expr)
	for _, a := range atoms {
		numbers = append(numbers, &a.Right.Value)
	}
	var list []litmus.Expr
	if !computes {
		rank(numbers)
	}
	for _, a := range atoms {
		list = append(list, *a)
	}
	c.Cond.Expr = litmus.And{List: list}
	return c, ok
}

// rank has numbers be their places in the order of all of them.
func rank(numbers []*int64) {
	var all []int64
	for _, n := range numbers {
		all = append(all, *n)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for _, n := range numbers {
		k, _ := slices.BinarySearch(all, *n)
		*n = int64(k)
	}
}

// conjuncts are the terms of a conjunction of registers that have values.
func conjuncts(e litmus.Expr) (list []*litmus.Atom, ok bool) {
	switch e := e.(type) {
	case litmus.And:
		for _, x := range e.List {
			more, ok := conjuncts(x)
			if !ok {
				return nil, false
			}
			list = append(list, more...)
		}
		return list, true
	case litmus.Atom:
		if e.Left.Kind == litmus.TermConst {
			e.Left, e.Right = e.Right, e.Left
		}
		return []*litmus.Atom{&e}, e.Cmp == litmus.CmpEq && e.Left.Kind == litmus.TermReg && e.Right.Kind == litmus.TermConst
	}
	return nil, false
}

// skeleton prints the threads in an order.
func skeleton(t *litmus.Test, threads []*spec.Spec, order []int) (string, bool) {
	var b strings.Builder
	number := map[int]int{} // locations, as they come
	for _, i := range order {
		for _, e := range threads[i].Entries {
			if _, ok := number[e.Loc]; !ok && !e.IsFence() {
				number[e.Loc] = len(number)
				fmt.Fprintf(&b, "%d=%d ", number[e.Loc], t.Locations[e.Loc].Init)
			}
			fmt.Fprintf(&b, "%v%v%d ", e.Kind.Op, e.Kind.Atom, number[e.Loc])
		}
		fmt.Fprintf(&b, "%08x; ", threads[i].Digest)
	}
	atoms, ok := conjuncts(t.Cond.Expr)
	var terms []string
	for _, a := range atoms {
		th := a.Left.Thread
		read := -1
		for _, e := range threads[th].Entries {
			if t.Threads[th].Body[e.Instr].Dst == a.Left.Name {
				read = e.Pos
			}
		}
		ok = ok && read >= 0
		terms = append(terms, fmt.Sprintf("%d:%d=%d", slices.Index(order, th), read, a.Right.Value))
	}
	slices.Sort(terms)
	return b.String() + strings.Join(terms, " "), ok && len(terms) > 0
}

// permutations yields the orders of n things.
func permutations(n int) func(func([]int) bool) {
	return func(yield func([]int) bool) {
		var more func(have []int) bool
		more = func(have []int) bool {
			if len(have) == n {
				return yield(have)
			}
			for i := range n {
				if !slices.Contains(have, i) && !more(append(slices.Clip(have), i)) {
					return false
				}
			}
			return true
		}
		_ = more(nil)
	}
}
