package fakeptxas

import (
	"slices"
	"strings"
)

// conditional is an access that a predicate or a branch may skip.
type conditional struct {
	x    *ref
	at   int    // where the decision is made: the access, or the branch
	when string // the predicate with which it is executed: @%p or @!%p
}

func opposite(guard string) string {
	if guard[1] == '!' {
		return "@" + guard[2:]
	}
	return "@!" + guard[1:]
}

// conditionals finds accesses of a kind that are executed sometimes: those with
// a predicate, and those after a branch around them whose operands are known at
// the branch.
func (b *body) conditionals(kind func(*ref) bool, yield func(conditional) bool) bool {
	a := b.flow()
	for k := range a.accs {
		x := &a.accs[k]
		in := b.code[x.i]
		if !kind(x) || in.moved {
			continue
		}
		if in.guard != "" {
			if yield(conditional{x, x.i, in.guard}) {
				return true
			}
			continue
		}
		for j := x.i - 1; j >= 0; j-- {
			y := b.code[j]
			if y.name() == "bra" && y.guard != "" {
				if a.next[j][0] > x.i && yield(conditional{x, j, opposite(y.guard)}) {
					return true
				}
				break
			}
			if y.op == "" || !independent(y, in) {
				break
			}
		}
	}
	return false
}

// lift takes a conditional access out of where it is and puts instructions where
// the decision is made.
func (b *body) lift(c conditional, these ...*inst) {
	if c.at == c.x.i {
		b.replace(c.x.i, these...)
		return
	}
	b.replace(c.x.i)
	b.insert(c.at, these...)
}

// ifConvertStore makes a conditional store an unconditional one, of the old
// value where it was none.
func ifConvertStore(b *body) bool {
	return b.conditionals(weakStore, func(c conditional) bool {
		in := b.code[c.x.i]
		old, chosen := b.register(c.x.bits()), b.register(c.x.bits())
		p, yes, no := c.when[1:], in.args[1], old
		if c.when[1] == '!' {
			p, yes, no = c.when[2:], old, in.args[1]
		}
		m := c.x.mnemonic
		m.name, m.cache = "ld", ""
		b.lift(c, bare(in, m.String(), old, in.args[0]), bare(in, "selp."+c.x.bits(), chosen, yes, no, p),
			bare(in, in.op, in.args[0], chosen))
		return true
	})
}

// bare returns an instruction without predicate on the line of another one.
func bare(in *inst, op string, args ...string) *inst {
	out := in.make(op, args...)
	out.guard = ""
	return out
}

// speculate executes a conditional access always.
func speculate(kind func(*ref) bool) func(*body) bool {
	return func(b *body) bool {
		return b.conditionals(kind, func(c conditional) bool {
			b.lift(c, b.code[c.x.i].changed(func(in *inst) { in.guard, in.moved = "", true }))
			return true
		})
	}
}

// speculateLoad makes a conditional load before the order that precedes the
// decision, and uses it only if the condition holds.
func speculateLoad(b *body) bool {
	return b.conditionals(looseLoad, func(c conditional) bool {
		in := b.code[c.x.i]
		for k := c.at - 1; k >= 0; k-- {
			y := b.code[k]
			if y.op == "" || y.name() == "bra" || slices.ContainsFunc(y.defs(), func(r string) bool { return strings.Contains(in.address(), r) }) {
				return false
			}
			if z := b.flow().of[k]; z != nil && z.writes() && z.overlaps(c.x) {
				return false
			}
			if y.sync() == none {
				continue
			}
			early := b.register(c.x.bits())
			b.replace(c.x.i, in.make("mov."+c.x.bits(), in.args[0], early))
			b.insert(k, bare(in, in.op, early, in.args[1]))
			return true
		}
		return false
	})
}

// strength orders accesses and fences of one operation by what they guarantee.
func strength(m mnemonic) int {
	s := map[string]int{"relaxed": 10, "volatile": 14, "acquire": 20, "release": 20, "acq_rel": 30, "sc": 40}[m.sem]
	if m.name == "membar" {
		s = 40
	}
	return s + slices.Index(scopeOrder, m.scope)
}

// tailMerge makes one of two accesses or fences that differ in strength and are
// what two predicates or two arms of a branch end with: the weaker.
func tailMerge(b *body) bool { return mergeTwins(b) || mergeArms(b) }

// twins reports whether two instructions differ in order, scope or cache
// operator alone.
func twins(x, y *inst) bool {
	m, n := parseMnemonic(x.op), parseMnemonic(y.op)
	if x.op == y.op {
		return false
	}
	if x.sync()&fences != 0 {
		return y.sync()&fences != 0
	}
	return x.isAccess() && m.name == n.name && m.space == n.space && m.atom == n.atom && m.vec == n.vec && m.bytes() == n.bytes()
}

// differ finds the operand that is stored, if two instructions have others there:
// -1 if they have the same operands. ok is false if they differ otherwise.
func differ(x, y *inst) (arg int, ok bool) {
	arg = -1
	for k := range x.args {
		if len(x.args) != len(y.args) || x.args[k] != y.args[k] && (arg >= 0 || x.name() != "st" || k != 1) {
			return 0, false
		}
		if x.args[k] != y.args[k] {
			arg = k
		}
	}
	return arg, len(x.args) == len(y.args)
}

func weaker(x, y *inst) *inst {
	if strength(parseMnemonic(y.op)) < strength(parseMnemonic(x.op)) {
		return y
	}
	return x
}

func mergeTwins(b *body) bool {
	for i, x := range b.code {
		if x.guard == "" {
			continue
		}
		for k := i + 1; k < len(b.code) && b.straight(i, k); k++ {
			y := b.code[k]
			if arg, ok := differ(x, y); ok && y.guard == opposite(x.guard) && twins(x, y) {
				args, these := slices.Clone(x.args), []*inst{}
				if arg >= 0 {
					typ := b.flow().of[k].bits()
					args[arg] = b.register(typ)
					choice := []string{args[arg], x.args[arg], y.args[arg], x.pred()}
					if x.guard[1] == '!' {
						choice[1], choice[2] = choice[2], choice[1]
					}
					these = append(these, bare(x, "selp."+typ, choice...))
				}
				b.replace(k, append(these, bare(y, weaker(x, y).op, args...))...)
				b.replace(i)
				return true
			}
			if y.sync() != none || y.isAccess() || !independent(x, y) {
				break
			}
		}
	}
	return false
}

// mergeArms looks at labels that one branch and the arm above lead to.
func mergeArms(b *body) bool {
	a := b.flow()
	last := func(i int) int { // the access or fence that an arm ends with
		for ; i >= 0; i-- {
			in := b.code[i]
			if in.isAccess() || in.sync() != none {
				return i
			}
			if in.op == "" || in.name() == "bra" || !in.pure() {
				return -1
			}
		}
		return -1
	}
	for l, in := range b.code {
		if in.label == "" || len(a.prev[l]) != 2 {
			continue
		}
		jump, falls := a.prev[l][0], a.prev[l][1]
		if falls != l-1 {
			jump, falls = falls, jump
		}
		if falls != l-1 || b.code[jump].name() != "bra" || b.code[jump].guard != "" {
			continue
		}
		p, q := last(jump-1), last(falls)
		if p < 0 || q < 0 || p == q {
			continue
		}
		x, y := b.code[p], b.code[q]
		arg, ok := differ(x, y)
		if !ok || !twins(x, y) || len(x.defs()) > 0 || x.guard+y.guard != "" {
			continue
		}
		args, left, right := slices.Clone(x.args), []*inst{}, []*inst{}
		if arg >= 0 {
			typ := a.of[p].bits()
			args[arg] = b.register(typ)
			left = append(left, x.make("mov."+typ, args[arg], x.args[arg]))
			right = append(right, y.make("mov."+typ, args[arg], y.args[arg]))
		}
		b.insert(l+1, x.make(weaker(x, y).op, args...))
		b.replace(q, right...)
		b.replace(p, left...)
		return true
	}
	return false
}
