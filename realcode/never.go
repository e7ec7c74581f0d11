package realcode

import "optcheck/ptx"

// never tells of each operation whether nothing comes to it, because of what is known of numbers or of
// conditions: a compiler that knows it, too, leaves it out. A register is what all that write it leave
// there, wherever they stand.
func (s *source) never(entry int32) []bool {
	n := &numbers{source: s, known: map[*ptx.Func][]knownBits{}, has: map[*ptx.Func][]bool{}, users: map[*ptx.Func]map[int][]int32{},
		seen: make([]bool, len(s.steps)), at: make([]*ptx.Func, len(s.steps))}
	for f, base := range s.entries {
		n.known[f], n.has[f], n.users[f] = make([]knownBits, len(f.Regs)), make([]bool, len(f.Regs)), map[int][]int32{}
		for i := range f.Body {
			n.at[base+int32(i)] = f
			if in := f.Body[i].Inst; in != nil {
				for _, r := range used(in) {
					n.users[f][r] = append(n.users[f][r], base+int32(i))
				}
			}
		}
	}
	n.come(entry)
	for len(n.work) > 0 {
		i := n.work[len(n.work)-1]
		n.work = n.work[:len(n.work)-1]
		n.step(i)
	}
	var in [][]int32
	if g, err := unroll(s.steps, entry, len(s.conds.ids), everyCondition(len(s.conds.ids)), maxNodes()); err == nil {
		in = nodesOf(g, len(s.ops), func(n int) int32 { return g.letter[n] })
	}
	out := make([]bool, len(s.ops))
	for i, st := range s.steps {
		if st.letter >= 0 {
			out[st.letter] = len(in) > 0 && len(in[st.letter]) == 0 || !n.seen[i] || st.guard >= 0 && !n.guard(int32(i)).may(bit(!st.guardNeg))
		}
	}
	return out
}

func bit(b bool) uint64 { return uint64(b2i(b)) }

// numbers finds what is known of the registers of the PTX, and where control comes.
type numbers struct {
	*source
	known map[*ptx.Func][]knownBits
	has   map[*ptx.Func][]bool // whether something that writes a register was come to
	users map[*ptx.Func]map[int][]int32
	seen  []bool
	at    []*ptx.Func // of each step its function, nil at the end of one
	work  []int32
}

func (n *numbers) come(i int32) {
	if i >= 0 && int(i) < len(n.steps) && !n.seen[i] {
		n.seen[i] = true
		n.work = append(n.work, i)
	}
}

func (n *numbers) inst(i int32) *ptx.Inst {
	if f := n.at[i]; f != nil {
		return f.Body[i-n.entries[f]].Inst
	}
	return nil
}

// guard is what is known of the condition of a step.
func (n *numbers) guard(i int32) knownBits { return n.reg(n.at[i], n.inst(i).Guard) }

func (n *numbers) reg(f *ptx.Func, r int) knownBits {
	width := widths[f.Regs[r].Type]
	if width == 0 {
		width = 64
	}
	if !n.has[f][r] {
		return open(width)
	}
	return n.known[f][r].cut(width)
}

// step follows one step, and tells those whom it concerns what is new.
func (n *numbers) step(i int32) {
	st, in := &n.steps[i], n.inst(i)
	done, not := true, st.cond >= 0 || len(st.call) > 0
	if st.guard >= 0 {
		g := n.guard(i)
		done, not = g.may(bit(!st.guardNeg)), not || g.may(bit(st.guardNeg))
	}
	if done && in != nil {
		for _, r := range defined(in) {
			n.set(n.at[i], r, n.result(n.at[i], in))
		}
		for k, to := range st.next {
			if in.Name != "brx" || n.operand(n.at[i], &in.Args[0], 32).may(uint64(k)) {
				n.come(to)
			}
		}
	} else if done {
		for _, to := range st.next {
			n.come(to)
		}
	}
	if done {
		for _, to := range st.call {
			n.come(to)
		}
	}
	if not {
		n.come(i + 1)
	}
}

func (n *numbers) set(f *ptx.Func, r int, v knownBits) {
	old := n.known[f][r]
	if n.has[f][r] {
		v = v.or(old)
	}
	if n.has[f][r] && v == old {
		return
	}
	n.known[f][r], n.has[f][r] = v, true
	for _, i := range n.users[f][r] {
		if n.seen[i] {
			n.work = append(n.work, i)
		}
	}
}

var widths = map[string]int{"pred": 1, "b8": 8, "u8": 8, "s8": 8, "b16": 16, "u16": 16, "s16": 16, "b32": 32, "u32": 32, "s32": 32,
	"b64": 64, "u64": 64, "s64": 64}

// special bounds special registers: numbers of threads, and of lanes.
func special(name string) knownBits {
	switch name {
	case "%laneid":
		return open(5)
	case "%tid.x", "%tid.y":
		return open(10)
	case "%tid.z":
		return open(6)
	case "%ntid.x", "%ntid.y":
		return open(11)
	case "%ntid.z":
		return open(7)
	}
	return open(64)
}

func (n *numbers) operand(f *ptx.Func, o *ptx.Operand, width int) knownBits {
	switch o.Kind {
	case ptx.Reg:
		v := n.reg(f, o.Reg)
		if o.Neg {
			v = v.plus(constant(1)) // of a predicate
		}
		return v.cut(width)
	case ptx.Imm:
		return constant(uint64(o.Value)).cut(width)
	case ptx.Sym:
		return special(o.Name).cut(width)
	}
	return open(width)
}

// result is what an instruction leaves in its register.
func (n *numbers) result(f *ptx.Func, in *ptx.Inst) knownBits {
	args, mods := len(in.Args), in.Mods
	if len(mods) == 0 || args < 2 || in.Args[0].Kind != ptx.Reg || in.Has("sat", "cc", "hi") {
		return open(64)
	}
	typ := mods[len(mods)-1]
	width := widths[typ]
	if width == 0 {
		return open(64)
	}
	arg := func(k int) knownBits { return n.operand(f, &in.Args[k], width) }
	switch in.Name {
	case "mov":
		return arg(1)
	case "not":
		return constant(mask(width)).minus(arg(1)).cut(width)
	case "cvt":
		if a, to := arg(1), widths[mods[max(0, len(mods)-2)]]; to > 0 && (to <= width || typ[0] != 's' || a.most() < 1<<(width-1)) {
			return a.cut(to)
		}
		return open(64)
	}
	if args < 3 {
		return open(64)
	}
	a, b := arg(1), arg(2)
	switch in.Name {
	case "setp":
		if args == 3 && len(mods) == 2 {
			return comparedAs(mods[0], typ, width, a, b, same(in))
		}
	case "selp":
		return a.or(b)
	case "mul":
		return mul(in, a, b, width)
	case "mad":
		if in.Has("wide") {
			width *= 2
		}
		if args == 4 {
			return mul(in, a, b, widths[typ]).plus(n.operand(f, &in.Args[3], width)).cut(width)
		}
	case "xor", "sub":
		if same(in) {
			return constant(0)
		}
		fallthrough
	case "add", "and", "or", "shl", "shr":
		return combination(in.Name, typ, a, b, width).cut(width)
	}
	return open(64)
}

// same reports whether both operands are one register.
func same(in *ptx.Inst) bool {
	if len(in.Args) != 3 {
		return false
	}
	a, b := &in.Args[1], &in.Args[2]
	return a.Kind == ptx.Reg && b.Kind == ptx.Reg && a.Reg == b.Reg && a.Neg == b.Neg
}
