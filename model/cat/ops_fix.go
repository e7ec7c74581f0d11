package cat

// openFix begins a recursive definition and returns its variables' slots.
func (b *builder) openFix(pos Pos, names []string, isSet []bool) (int32, []int32) {
	r := int32(len(b.fixes))
	f := &fix{pos: pos, names: names, parent: -1}
	if n := len(b.stack); n > 0 {
		f.parent = b.stack[n-1]
	}
	b.fixes = append(b.fixes, f)
	b.stack = append(b.stack, r)
	for i := range names {
		o := op{code: opPhi, isSet: isSet[i], a: r, b: int32(i), c: noSlot, region: r, name: names[i]}
		f.phis = append(f.phis, b.push(opKey{opPhi, isSet[i], r, int32(i), noSlot}, o))
	}
	return r, f.phis
}

// closeFix ends it, given the new values, and returns the results' slots.
func (b *builder) closeFix(r int32, next []int32) []int32 {
	f := b.fixes[r]
	b.stack = b.stack[:len(b.stack)-1]
	f.next = next
	o := op{code: opFix, a: r, b: noSlot, c: noSlot, region: -1}
	for i := range b.ops {
		x := &b.ops[i]
		if x.region != r || x.code == opPhi {
			continue
		}
		f.ops = append(f.ops, int32(i))
		for _, a := range b.operands(x) {
			if y := &b.ops[a]; y.region != r {
				o.region = b.deeper(o.region, y.region)
			}
		}
	}
	for _, s := range next {
		if y := &b.ops[s]; y.region != r {
			o.region = b.deeper(o.region, y.region)
		}
	}
	b.fixPolarity(f, &o)
	f.op = b.push(opKey{opFix, false, r, noSlot, noSlot}, o)
	out := make([]int32, len(next))
	for i := range next {
		res := o
		res.code, res.a, res.b = opFixResult, f.op, int32(i)
		res.isSet = b.ops[f.phis[i]].isSet
		res.name = f.names[i]
		out[i] = b.push(opKey{opFixResult, res.isSet, res.a, res.b, noSlot}, res)
	}
	return out
}

// operands returns the slots that an operation reads.
func (b *builder) operands(o *op) []int32 {
	switch o.code {
	case opInput, opConstEmpty, opConstAll, opConstID, opPhi:
		return nil
	case opFix:
		f := b.fixes[o.a]
		var out []int32
		for _, i := range f.ops {
			for _, a := range b.operands(&b.ops[i]) {
				if b.ops[a].region != o.a {
					out = append(out, a)
				}
			}
		}
		for _, s := range f.next {
			if b.ops[s].region != o.a {
				out = append(out, s)
			}
		}
		return out
	case opFixResult:
		return []int32{o.a}
	}
	var out []int32
	for _, a := range []int32{o.a, o.b, o.c} {
		if a != noSlot {
			out = append(out, a)
		}
	}
	return out
}

// polarity says how a value depends on the variables of a recursion.
type polarity struct{ up, down bool }

// fixPolarity computes how the results of a recursive definition depend on
// the inputs. If the rounds are monotone in the variables, the result is their
// least fixpoint, and grows with whatever makes one round's values grow. If
// not, nothing is known.
func (b *builder) fixPolarity(f *fix, o *op) {
	at := map[int32]polarity{}
	for _, p := range f.phis {
		at[p] = polarity{up: true}
	}
	b.trace(f.ops, at)
	f.mono = true
	for _, s := range f.next {
		f.mono = f.mono && !at[s].down
		x := &b.ops[s]
		o.deps = o.deps.Or(x.deps)
		o.up = o.up.Or(x.up)
		o.down = o.down.Or(x.down)
	}
	for _, i := range f.ops {
		o.deps = o.deps.Or(b.ops[i].deps)
	}
	if !f.mono {
		o.up, o.down = o.deps, o.deps
	}
}

// trace computes the polarity of operations from those of their operands.
func (b *builder) trace(ops []int32, at map[int32]polarity) {
	for _, i := range ops {
		x := &b.ops[i]
		if x.code == opFix {
			at[i] = b.traceFix(b.fixes[x.a], at)
			continue
		}
		var p polarity
		for k, a := range b.operands(x) {
			q := at[a]
			if x.code == opComplement || x.code == opDiff && k == 1 {
				q.up, q.down = q.down, q.up
			}
			p.up, p.down = p.up || q.up, p.down || q.down
		}
		at[i] = p
	}
}

// traceFix does so for a recursive definition inside another one.
func (b *builder) traceFix(f *fix, at map[int32]polarity) polarity {
	var sum polarity
	for {
		for _, p := range f.phis {
			at[p] = sum
		}
		b.trace(f.ops, at)
		next := sum
		for _, s := range f.next {
			next.up, next.down = next.up || at[s].up, next.down || at[s].down
		}
		if next == sum {
			break
		}
		sum = next
	}
	if !f.mono && (sum.up || sum.down) {
		return polarity{true, true}
	}
	return sum
}
