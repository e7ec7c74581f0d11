package cat

// link drops operations that nothing needs, numbers the rest and prepares the
// checks.
func (p *Program) link(l *lowerer) {
	b := l.b
	for i := range l.checks {
		l.checks[i].prepare(b)
	}
	live := make([]bool, len(b.ops))
	for i := range l.checks {
		c := &l.checks[i]
		for _, s := range []int32{c.slot, c.a, c.b} {
			if s != noSlot {
				b.mark(s, live)
			}
		}
	}
	renum := make([]int32, len(b.ops))
	inputAt := make([]int, len(b.inputs))
	for i := range b.ops {
		renum[i] = noSlot
		if live[i] {
			renum[i] = int32(len(p.ops))
			p.ops = append(p.ops, b.ops[i])
		}
	}
	for i, in := range b.inputs {
		inputAt[i] = -1
		if live[in.slot] {
			inputAt[i] = len(p.inputs)
			in.slot = renum[in.slot]
			p.inputs = append(p.inputs, in)
		}
	}
	remask := func(m Mask) Mask {
		var out Mask
		for _, i := range m.Indexes() {
			if inputAt[i] >= 0 {
				out = out.Or(MaskOf(inputAt[i]))
			}
		}
		return out
	}
	p.relink(b, renum, inputAt, remask)
	for i := range l.checks {
		c := &l.checks[i]
		o := &p.ops[renum[c.slot]]
		c.Deps, c.Up, c.Down = o.deps, o.up, o.down
		c.slot, c.a, c.b = at(renum, c.slot), at(renum, c.a), at(renum, c.b)
	}
	p.checks = l.checks
}

func at(renum []int32, s int32) int32 {
	if s == noSlot {
		return noSlot
	}
	return renum[s]
}

// relink rewrites the operands of the kept operations.
func (p *Program) relink(b *builder, renum []int32, inputAt []int, remask func(Mask) Mask) {
	fixAt := map[int32]int32{}
	for i := range p.ops {
		o := &p.ops[i]
		o.deps, o.up, o.down = remask(o.deps), remask(o.up), remask(o.down)
		switch o.code {
		case opInput:
			o.a = int32(inputAt[o.a])
		case opConstEmpty, opConstAll, opConstID, opPhi:
		case opFix:
			f := *b.fixes[o.a]
			f.op = int32(i)
			if !f.mono {
				p.Warnings = append(p.Warnings, Warning{f.pos,
					"the recursive definition of " + f.names[0] + " is not monotone: its value depends on the order of evaluation"})
			}
			fixAt[o.a] = int32(len(p.fixes))
			o.a = int32(len(p.fixes))
			f.phis, f.next, f.ops = remap(renum, f.phis), remap(renum, f.next), remap(renum, f.ops)
			p.fixes = append(p.fixes, &f)
		case opFixResult:
			o.a = renum[o.a]
			p.results = append(p.results, int32(i))
		default:
			o.a, o.b, o.c = at(renum, o.a), at(renum, o.b), at(renum, o.c)
		}
	}
	for i := range p.ops {
		o := &p.ops[i]
		if r, ok := fixAt[o.region]; ok && o.region >= 0 {
			o.region = r
		} else {
			o.region = -1
		}
		if o.code == opPhi {
			o.a = o.region
		}
		if o.region < 0 && o.deps.IsZero() {
			p.static = append(p.static, int32(i))
		}
	}
}

// remap renumbers slots and leaves out the dropped ones.
func remap(renum, slots []int32) []int32 {
	var out []int32
	for _, s := range slots {
		if renum[s] != noSlot {
			out = append(out, renum[s])
		}
	}
	return out
}

// mark marks a slot and all that it needs.
func (b *builder) mark(s int32, live []bool) {
	pending := []int32{s}
	for len(pending) > 0 {
		s = pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if live[s] {
			continue
		}
		live[s] = true
		o := &b.ops[s]
		pending = append(pending, b.operands(o)...)
		if o.code == opFix {
			f := b.fixes[o.a]
			pending = append(pending, f.next...)
			pending = append(pending, f.phis...)
		}
	}
}

// checkCode is how a check is evaluated.
type checkCode uint8

const (
	checkAcyclic     checkCode = iota // slot
	checkIrreflexive                  // slot
	checkEmpty                        // slot
	checkDisjoint                     // a ∩ b = ∅
	checkSubset                       // a ⊆ b
	checkIrreflSeq                    // a;b irreflexive
)

// prepare chooses the cheapest way to evaluate the check.
func (c *Check) prepare(b *builder) {
	c.a, c.b = noSlot, noSlot
	switch c.Pred {
	case Acyclic:
		c.code = checkAcyclic
		if b.is(c.slot, opPlus) {
			c.slot = b.ops[c.slot].a
		}
	case Irreflexive:
		c.code = checkIrreflexive
		switch o := b.ops[c.slot]; o.code {
		case opPlus:
			c.code, c.slot = checkAcyclic, o.a
		case opSeq:
			c.code, c.a, c.b = checkIrreflSeq, o.a, o.b
		}
	case Empty:
		c.code = checkEmpty
		switch o := b.ops[c.slot]; o.code {
		case opInter:
			c.code, c.a, c.b = checkDisjoint, o.a, o.b
		case opDiff:
			c.code, c.a, c.b = checkSubset, o.a, o.b
		case opPlus, opInverse:
			c.slot = o.a
		}
	}
}
