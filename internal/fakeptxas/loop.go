package fakeptxas

import (
	"fmt"
	"slices"
)

// loop is a label and a branch back to it; the body lies in between.
type loop struct{ head, back int }

func (b *body) loops() (out []loop) {
	for k, in := range b.code {
		if in.name() == "bra" && len(in.args) == 1 {
			for h := 0; h < k; h++ {
				if b.code[h].label == in.args[0] {
					out = append(out, loop{h, k})
				}
			}
		}
	}
	return out
}

// inside lists the instructions of a loop.
func (l loop) inside() (out []int) {
	for i := l.head + 1; i <= l.back; i++ {
		out = append(out, i)
	}
	return out
}

// invariant reports whether an access is always to the same bytes in a loop, and
// none there that clash objects to may touch them.
func (b *body) invariant(l loop, x *ref, clash func(*ref) bool) bool {
	for _, r := range register.FindAllString(b.code[x.i].address(), -1) {
		if b.defined(r, l.inside()) {
			return false
		}
	}
	for _, y := range b.flow().accs {
		if y.i > l.head && y.i < l.back && y.i != x.i && clash(&y) && x.overlaps(&y) {
			return false
		}
	}
	return true
}

func (b *body) inLoops(kind func(*ref) bool, yield func(loop, *ref) bool) bool {
	a := b.flow()
	for _, l := range b.loops() {
		for k := range a.accs {
			if x := &a.accs[k]; x.i > l.head && x.i < l.back && kind(x) && yield(l, x) {
				return true
			}
		}
	}
	return false
}

// invariantLoad loads once, before the loop.
func invariantLoad(b *body) bool {
	return b.inLoops(looseLoad, func(l loop, x *ref) bool {
		if !b.invariant(l, x, writes) {
			return false
		}
		in, early := b.code[x.i], b.register(x.bits())
		b.replace(x.i, in.make("mov."+x.bits(), in.args[0], early))
		b.insert(l.head, bare(in, in.op, early, in.args[1]))
		return true
	})
}

// sinkFromLoop stores once, after the loop, what was stored last.
func sinkFromLoop(b *body) bool {
	return b.inLoops(weakStore, func(l loop, x *ref) bool {
		in, end := b.code[x.i], b.code[l.back]
		if in.guard != "" || end.guard == "" || !b.invariant(l, x, any) || !b.once(l) {
			return false
		}
		last := b.register(x.bits())
		b.insert(l.back+1, in.changed(func(s *inst) { s.args[1] = last }))
		b.replace(x.i, in.make("mov."+x.bits(), last, in.args[1]))
		return true
	})
}

// once reports whether a loop is one way from its label to its branch.
func (b *body) once(l loop) bool {
	return l.head+1 == l.back || b.straight(l.head+1, l.back-1)
}

// unroll makes two copies of a loop's body, or finds two copies, and drops the
// fences of the second.
func unroll(b *body) bool { return unrollLoop(b) || secondCopy(b) }

func unrollLoop(b *body) bool {
	for _, l := range b.loops() {
		back := b.code[l.back]
		if back.guard == "" || back.moved || !b.once(l) {
			continue
		}
		out := fmt.Sprintf("$opt_end%d", l.back)
		again := []*inst{back.changed(func(in *inst) { in.guard, in.args = opposite(back.guard), []string{out} })}
		dropped := false
		for _, in := range b.code[l.head+1 : l.back] {
			if in.sync()&fences != 0 {
				dropped = true
				continue
			}
			again = append(again, in)
		}
		if !dropped {
			continue
		}
		again = append(again, back.changed(func(in *inst) { in.moved = true }), &inst{label: out})
		b.replace(l.back, again...)
		return true
	}
	return false
}

// secondCopy drops a fence if the accesses before it and the fence are those
// of the copy before.
func secondCopy(b *body) bool {
	a := b.flow()
	var seen []*ref // since the last fence, on one way
	var before []*ref
	var fence *inst
	for i, in := range b.code {
		switch {
		case in.label != "" || in.name() == "bra" || in.sync()&(barriers|calls) != 0:
			seen, before, fence = nil, nil, nil
		case a.of[i] != nil:
			seen = append(seen, a.of[i])
		case in.sync()&fences != 0:
			n := len(before) - len(seen)
			if fence != nil && fence.op == in.op && len(seen) > 0 && n >= 0 && copies(before[n:], seen) {
				b.replace(i)
				return true
			}
			seen, before, fence = nil, seen, in
		}
	}
	return false
}

func copies(x, y []*ref) bool {
	return slices.EqualFunc(x, y, func(a, b *ref) bool { return a.String() == b.String() && a.same(b) })
}
