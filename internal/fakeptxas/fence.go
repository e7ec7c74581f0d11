package fakeptxas

import "slices"

// neighbours returns the nearest accesses before and after instruction i on the
// only way through it, without order of their own in between.
func (b *body) neighbours(i int) (before, after *ref) {
	find := func(step int) *ref {
		for k := i + step; k >= 0 && k < len(b.code); k += step {
			in := b.code[k]
			if x := b.flow().of[k]; x != nil {
				return x
			}
			if in.label != "" || in.name() == "bra" || in.sync() != none || in.line() >= 2000 {
				return nil
			}
		}
		return nil
	}
	return find(-1), find(1)
}

// fenceOfOneLocation drops a fence between two accesses of the same bytes.
func fenceOfOneLocation(b *body, i int) []*inst {
	if b.code[i].sync()&fences == 0 {
		return nil
	}
	if p, q := b.neighbours(i); p != nil && q != nil && p.same(q) {
		return gone
	}
	return nil
}

var scopeOrder = []string{"cta", "cluster", "gpu", "gl", "sys"}

func narrower(a, b string) string {
	if slices.Index(scopeOrder, a) < slices.Index(scopeOrder, b) {
		return a
	}
	return b
}

// mergeFences takes the weaker of two fences for both: its order, and the
// narrower scope.
func mergeFences(b *body) bool {
	for i, in := range b.code {
		if in.sync()&fences == 0 || in.guard != "" {
			continue
		}
		for k := i + 1; k < len(b.code); k++ {
			next := b.code[k]
			if next.sync()&fences != 0 && next.guard == "" && next.op != in.op {
				weak := in
				if in.sync() == seqCst && next.sync() == acqRel {
					weak = next
				}
				x, y := parseMnemonic(in.op), parseMnemonic(next.op)
				b.replace(k)
				b.replace(i, in.changed(func(f *inst) {
					m := parseMnemonic(weak.op)
					m.scope = narrower(x.scope, y.scope)
					if m.name == "fence" && m.scope == "gl" {
						m.scope = "gpu"
					} else if m.name == "membar" && m.scope == "gpu" {
						m.scope = "gl"
					}
					f.op = m.String()
				}))
				return true
			}
			if next.sync() != none || next.isAccess() || next.label != "" || next.name() == "bra" {
				break
			}
		}
	}
	return false
}

// fenceForStores takes an acquire-release fence for a sequentially consistent one
// that a store follows, as if only loads could overtake.
func fenceForStores(b *body, i int) []*inst {
	in := b.code[i]
	m := parseMnemonic(in.op)
	if in.sync() != seqCst || m.scope == "" || b.sm < 70 {
		return nil
	}
	if _, q := b.neighbours(i); q == nil || q.name != "st" {
		return nil
	}
	return in.respelled(func(m *mnemonic) {
		if m.name, m.sem = "fence", "acq_rel"; m.scope == "gl" {
			m.scope = "gpu"
		}
	})
}

// fenceOfNeighbour narrows a fence to the scope of the access beside it.
func fenceOfNeighbour(b *body, i int) []*inst {
	in := b.code[i]
	if in.sync()&fences == 0 {
		return nil
	}
	p, q := b.neighbours(i)
	for _, x := range []*ref{p, q} {
		if x != nil && x.scope == "cta" && parseMnemonic(in.op).scope != "cta" {
			return in.respelled(func(m *mnemonic) { m.scope = "cta" })
		}
	}
	return nil
}

// redundantBarrier drops the second of two barriers with at most one access in
// between.
func redundantBarrier(b *body) bool {
	for i, in := range b.code {
		if in.sync() != barriers {
			continue
		}
		n := 0
		for k := i + 1; k < len(b.code) && b.straight(i, k); k++ {
			if b.code[k].isAccess() {
				n++
			}
			if b.code[k].sync() == barriers && n <= 1 {
				b.replace(k)
				return true
			}
		}
	}
	return false
}

// lastBarrier drops a barrier after which the thread accesses nothing.
func lastBarrier(b *body, i int) []*inst {
	if b.code[i].sync() != barriers || b.reaches(b.from(i, -1), any) {
		return nil
	}
	return gone
}
