package fakeptxas

import "slices"

// from lists what can be reached after instruction i without entering avoid,
// the end included.
func (b *body) from(i, avoid int) []bool {
	a := b.flow()
	seen := make([]bool, len(b.code)+1)
	for todo := []int{i}; len(todo) > 0; {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, n := range a.next[k] {
			if n == avoid || seen[n] {
				continue
			}
			if seen[n] = true; n < len(b.code) {
				todo = append(todo, n)
			}
		}
	}
	return seen
}

// dominates reports whether every way to q leads through p.
func (b *body) dominates(p, q int) bool {
	return p == 0 || p != q && !b.from(0, p)[q]
}

// postdominates reports whether every way from p to the end leads through q.
func (b *body) postdominates(q, p int) bool { return !b.from(p, q)[len(b.code)] }

// between lists the instructions that may be executed between p and q.
func (b *body) between(p, q int) (out []int) {
	a := b.flow()
	fwd := b.from(p, q)
	back := make([]bool, len(b.code)+1)
	for todo := []int{q}; len(todo) > 0; {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, n := range a.prev[k] {
			if n != p && !back[n] {
				back[n] = true
				todo = append(todo, n)
			}
		}
	}
	for i := range b.code {
		if fwd[i] && back[i] && i != p {
			out = append(out, i)
		}
	}
	return out
}

// straight reports whether from p to q there is one way: no label, no branch.
func (b *body) straight(p, q int) bool {
	for _, in := range b.code[p : q+1] {
		if in.op == "" || noReturn[in.name()] {
			return false
		}
	}
	return p <= q
}

// sameGuard reports whether q is executed exactly when p is, if control reaches
// both.
func (b *body) sameGuard(p, q int) bool {
	x, y := b.code[p], b.code[q]
	return x.guard == y.guard && (x.guard == "" || b.flow().operand(p, x.pred()) == b.flow().operand(q, y.pred()))
}

// dead reports whether nothing that has an effect uses what an instruction
// defines.
func (b *body) dead(i int) bool {
	for _, r := range b.code[i].defs() {
		if b.used(i, r, map[int]bool{}) {
			return false
		}
	}
	return true
}

// used reports whether a register's content after instruction i reaches an
// effect; through marks the pure instructions that were looked at.
func (b *body) used(i int, r string, through map[int]bool) bool {
	a := b.flow()
	seen := map[int]bool{}
	for todo := slices.Clone(a.next[i]); len(todo) > 0; {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[k] || k == len(b.code) {
			continue
		}
		seen[k] = true
		in := b.code[k]
		if slices.Contains(in.uses(), r) {
			if !in.pure() {
				return true
			}
			if !through[k] {
				through[k] = true
				for _, d := range in.defs() {
					if b.used(k, d, through) {
						return true
					}
				}
			}
		}
		if in.guard == "" && slices.Contains(in.defs(), r) {
			continue
		}
		todo = append(todo, a.next[k]...)
	}
	return false
}

// defined reports whether one of the instructions may define a register.
func (b *body) defined(r string, in []int) bool {
	return slices.ContainsFunc(in, func(i int) bool { return slices.Contains(b.code[i].defs(), r) })
}
