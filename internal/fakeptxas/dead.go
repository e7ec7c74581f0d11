package fakeptxas

import "slices"

// rewrite changes the first access or fence that f has a better idea for.
func rewrite(f func(b *body, i int) []*inst) func(*body) bool {
	return func(b *body) bool {
		for i, in := range b.code {
			if in.op == "" || in.line() >= 2000 {
				continue
			}
			if by := f(b, i); by != nil {
				b.replace(i, by...)
				return true
			}
		}
		return false
	}
}

// gone is the idea that nothing is best.
var gone = []*inst{}

// respelled returns an instruction under another mnemonic, nil if it is the same.
func (in *inst) respelled(f func(*mnemonic)) []*inst {
	m := parseMnemonic(in.op)
	f(&m)
	if m.String() == in.op {
		return nil
	}
	return []*inst{in.changed(func(x *inst) { x.op = m.String() })}
}

func plain(m *mnemonic)   { m.sem, m.scope = "", "" }
func relaxed(m *mnemonic) { m.sem = "relaxed" }

// deadAcquire acts on an acquire load whose result nobody needs.
func deadAcquire(f func(*inst) []*inst) func(*body) bool {
	return rewrite(func(b *body, i int) []*inst {
		if in := b.code[i]; in.sync() == acquires && b.dead(i) {
			return f(in)
		}
		return nil
	})
}

// deadAtomic acts on an atomic whose result nobody needs.
func deadAtomic(f func(*inst, mnemonic) []*inst) func(*body) bool {
	return rewrite(func(b *body, i int) []*inst {
		if in := b.code[i]; in.name() == "atom" && b.dead(i) {
			return f(in, parseMnemonic(in.op))
		}
		return nil
	})
}

// relaxedReduction takes a relaxed reduction for an atomic with order.
func relaxedReduction(in *inst, m mnemonic) []*inst {
	if m.atom == "exch" || m.atom == "cas" || m.sem == "" || m.sem == "relaxed" {
		return nil
	}
	m.name, m.sem = "red", "relaxed"
	return []*inst{in.changed(func(x *inst) { x.op, x.args = m.String(), x.args[1:] })}
}

// exchangeToStore takes a relaxed store for an exchange.
func exchangeToStore(in *inst, m mnemonic) []*inst {
	if m.atom != "exch" || m.bytes() > 8 {
		return nil
	}
	m.name, m.atom, m.sem = "st", "", "relaxed"
	if m.scope == "" {
		m.sem = "volatile"
	}
	return []*inst{in.changed(func(x *inst) { x.op, x.args = m.String(), x.args[1:] })}
}

// narrowDead narrows the scope of an atomic.
func narrowDead(in *inst, m mnemonic) []*inst {
	if m.scope == "" || m.scope == "cta" {
		return nil
	}
	return in.respelled(func(m *mnemonic) { m.scope = "cta" })
}

// cacheVolatile takes a volatile access for a plain one.
func cacheVolatile(b *body, i int) []*inst {
	in := b.code[i]
	if !in.isAccess() {
		return nil
	}
	m := parseMnemonic(in.op)
	if m.sem != "volatile" && m.cache != "cv" {
		return nil
	}
	return in.respelled(func(m *mnemonic) { m.sem, m.cache = "", "" })
}

// acquireWithoutLoad makes an acquire relaxed if no load follows that it could
// order; releaseWithoutStore a release if no store precedes.
func acquireWithoutLoad(b *body, i int) []*inst {
	in := b.code[i]
	if in.sync() != acquires || b.reaches(b.from(i, -1), func(x *ref) bool { return x.reads() && x.i != i }) {
		return nil
	}
	return in.respelled(relaxed)
}

func releaseWithoutStore(b *body, i int) []*inst {
	in := b.code[i]
	if in.sync() != releases || b.precedes(i, writes) {
		return nil
	}
	return in.respelled(relaxed)
}

// fenceWithoutStore narrows a fence that no store precedes.
func fenceWithoutStore(b *body, i int) []*inst {
	in := b.code[i]
	if in.sync()&fences == 0 || b.precedes(i, writes) {
		return nil
	}
	return in.respelled(func(m *mnemonic) { m.scope = "cta" })
}

// acquireByControl makes an acquire relaxed whose result a branch or predicate
// depends on, as if control ordered what follows.
func acquireByControl(b *body, i int) []*inst {
	in := b.code[i]
	if in.sync() != acquires {
		return nil
	}
	for k := i + 1; k < len(b.code) && b.code[k].label == ""; k++ {
		if s := b.code[k]; s.name() == "setp" && slices.Contains(s.uses(), in.args[0]) {
			return in.respelled(relaxed)
		}
	}
	return nil
}

// reaches reports whether one of some instructions is an access of a kind.
func (b *body) reaches(these []bool, kind func(*ref) bool) bool {
	for _, x := range b.flow().accs {
		if these[x.i] && kind(&x) {
			return true
		}
	}
	return false
}

// precedes reports whether an access of a kind may be executed before
// instruction i.
func (b *body) precedes(i int, kind func(*ref) bool) bool {
	for _, x := range b.flow().accs {
		if x.i != i && kind(&x) && b.from(x.i, -1)[i] {
			return true
		}
	}
	return false
}

// nonNegative takes what was loaded for a number that is not negative, and so
// its sign for 0.
func nonNegative(b *body, i int) []*inst {
	in := b.code[i]
	if in.name() != "and" || len(in.args) != 3 || in.args[2] != "2147483648" && in.args[2] != "0x80000000" {
		return nil
	}
	for _, x := range b.flow().accs {
		if x.name == "ld" && x.i < i && slices.Contains(b.code[x.i].defs(), in.args[1]) {
			return []*inst{in.make("mov.b32", in.args[0], "0")}
		}
	}
	return nil
}
