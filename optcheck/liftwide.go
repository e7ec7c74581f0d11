package optcheck

import (
	"errors"

	"optcheck/litmus"
)

// Wide accesses of which each word belongs to a location of its own. Two words that the test itself has in one location, as parts of
// it, are one access of 64 bits, as in PTX. All others are one access for each word, in no order: a test cannot say that two of its
// locations are neighbours.

// grouped counts the operations that are words of one access with the i-th.
func (l *Lifted) grouped(i int) int {
	n := 1
	for g := l.ops[i].group; g != 0 && i+n < len(l.ops) && l.ops[i+n].group == g; n++ {
	}
	return n
}

// oneAccess reports whether the two words that begin at the i-th operation are one access of 64 bits in a test.
func (l *Lifted) oneAccess(t *litmus.Test, i int) bool {
	if l.grouped(i) != 2 || l.ops[i].texture {
		return false
	}
	low, high := &t.Locations[l.ops[i].loc], &t.Locations[l.ops[i+1].loc]
	base := func(x *litmus.Location) string {
		if x.Of != "" {
			return x.Of
		}
		return x.Name
	}
	return base(low) == base(high) && high.Offset == low.Offset+4 && low.Offset%8 == 0
}

// orders lists the orders of a thread's operations in a test: it permutes the words of wide accesses. Of words that are one access
// it has the first.
func (l *Lifted) orders(t *litmus.Test) [][]int {
	out := [][]int{nil}
	for i := 0; i < len(l.ops); {
		n := l.grouped(i)
		words := n
		if l.oneAccess(t, i) {
			words = 1
		}
		var next [][]int
		for _, p := range permutations(words) {
			for _, o := range out {
				c := append([]int(nil), o...)
				for _, k := range p {
					c = append(c, i+k)
				}
				next = append(next, c)
			}
		}
		out, i = next, i+n
	}
	return out
}

// words64 emits the access of two words.
func (l *threadLifter) words64(low, high *liftOp) error {
	in := low.raw
	in.Type = litmus.U64
	g, err := l.guard(low)
	if errors.Is(err, errNever) && low.read < 0 {
		return nil
	}
	if err != nil {
		return err
	}
	in.Guard = g
	if in.Addr, err = l.address(low); err != nil {
		return err
	}
	if in.Op == litmus.OpSt {
		return l.store64(in, low, high)
	}
	in.Dst = l.fresh("r", litmus.U64)
	l.emit(in)
	for w := range 2 {
		from := in.Dst
		if w == 1 {
			from = l.fresh("r", litmus.U64)
			l.emit(litmus.Instr{Op: litmus.OpShr, Type: litmus.U64, Dst: from, Src: []litmus.Operand{litmus.Reg(in.Dst), litmus.Const(32)}})
		}
		l.emit(litmus.Instr{Op: litmus.OpCvt, Type: litmus.U32, FromType: litmus.U64, Dst: l.readWord(low.read, w), Guard: g,
			Src: []litmus.Operand{litmus.Reg(from)}})
	}
	return nil
}

// store64 emits the store of two words.
func (l *threadLifter) store64(in litmus.Instr, low, high *liftOp) error {
	lo, err := l.value(low.data[0][0], litmus.U32)
	if err != nil {
		return err
	}
	hi, err := l.value(high.data[0][0], litmus.U32)
	if err != nil {
		return err
	}
	in.Src = []litmus.Operand{l.depends(l.pair(lo, hi), in.Type, low.dataDeps)}
	l.emit(in)
	return nil
}
