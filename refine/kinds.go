package refine

import (
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// kinds finds what loads and parameters are used for: what becomes an address should be one, and what becomes a part of
// an address should be small. Keys are instructions of loads.
func kinds(p *ir.Program) map[int32]emu.Kind {
	to := flows(p)
	out := map[int32]emu.Kind{}
	for i := range p.Insts {
		if c, ok := p.Insts[i].Do.(*ir.Copy); ok && to.staged > 0 && (c.Kind == ir.CopyAsync || c.Kind == ir.CopyBulk) {
			out[int32(i)] = floating(to.staged, to.staged/8)
		}
		a, ok := p.Insts[i].Do.(*ir.Access)
		if !ok || a.Kind == ir.Store || a.Type.Float() {
			continue
		}
		if a.Kind == ir.Atomic || a.Sem != ir.Weak {
			out[int32(i)] = emu.Flag
		}
		for _, r := range loaded(&p.Insts[i], a) {
			r = to.own(i, r)
			switch {
			case to.functions[r] && a.Bytes == 8:
				out[int32(i)] = emu.Function
			case to.pointers[r] && a.Bytes == 8:
				out[int32(i)] = emu.Pointer
			case to.shared[r]:
				out[int32(i)] = emu.Shared
			case to.pointers[r] && out[int32(i)] == emu.Integer:
				out[int32(i)] = emu.Offset
			case to.indices[r] && out[int32(i)] == emu.Integer:
				out[int32(i)] = emu.Index
				if a.Bytes == 8 {
					out[int32(i)] = emu.Index64
				}
			case a.Kind == ir.Load && a.Sem == ir.Weak && to.floats[r] > 0 && out[int32(i)] == emu.Integer:
				out[int32(i)] = floating(to.floats[r], a.Bytes)
			}
		}
	}
	return out
}

// floating is the kind of floating-point number that an access of so many bytes loads, if it becomes one of so many bits.
func floating(bits, bytes int) emu.Kind {
	switch {
	case bytes == 8 && bits == 64:
		return emu.Float64
	case bytes >= 4 && bits >= 32:
		return emu.Float32
	case bytes == 1:
		return emu.Bytes8
	}
	return emu.Float16
}

// loaded are the registers that hold what an access has read, as it is or extended.
func loaded(in *ir.Inst, a *ir.Access) []ir.Reg {
	regs := append([]ir.Reg(nil), a.Data...)
	if a.Kind == ir.Atomic {
		regs = append([]ir.Reg(nil), a.Dst...)
	}
	for i := range in.Post {
		regs = append(regs, in.Post[i].Dst)
	}
	return regs
}

// addresses are the registers whose value becomes an address of global or of shared memory (by copies, sums and choices),
// and those that become a part of one by any computation; functions are those that become the address of one. floats are those that become floating-point numbers, with their bits (16: one
// of two in a word, too).
type addresses struct {
	pointers, shared, indices map[ir.Reg]bool
	functions                 map[ir.Reg]bool
	floats                    map[ir.Reg]int
	own                       func(i int, r ir.Reg) ir.Reg
	// staged are the bits of the numbers that the program loads from shared memory, if they are floating-point numbers: those of what is brought there,
	// too. 0 if not, or if some become addresses.
	staged int
}

// flows finds what becomes an address.
func flows(p *ir.Program) addresses {
	own := owned(p)
	to := addresses{map[ir.Reg]bool{}, map[ir.Reg]bool{}, map[ir.Reg]bool{}, map[ir.Reg]bool{}, map[ir.Reg]int{}, own, 0}
	fixed, value := map[ir.Reg]bool{}, values(p)
	for _, c := range p.Consts {
		fixed[c.Reg] = true
	}
	var ops []ir.Op
	for i := range p.Insts {
		in := &p.Insts[i]
		for _, o := range slices.Concat(in.Pre, in.Post) {
			o.Dst = own(i, o.Dst)
			for n, r := range o.Src {
				o.Src[n] = own(i, r)
			}
			ops = append(ops, o)
		}
		switch do := in.Do.(type) {
		case *ir.Access:
			switch do.Space {
			case ir.Global, ir.Generic:
				to.pointers[own(i, do.Addr)] = true
			case ir.Shared:
				to.shared[own(i, do.Addr)] = true
			default:
				to.indices[own(i, do.Addr)] = true
			}
		case *ir.Copy:
			if do.From >= 0 {
				to.pointers[own(i, do.From)] = true
			}
			to.shared[own(i, do.To)] = true
		case *ir.Flow:
			if do.Kind == ir.CallAt {
				to.functions[own(i, do.Addr)] = true
			}
		case *ir.Warp:
			ops = append(ops, ir.Op{Code: ir.Mov, Type: ir.U32, Dst: own(i, do.Dst), Src: [4]ir.Reg{own(i, do.Src), ir.None, ir.None, ir.None}})
		}
	}
	to.all(ops, fixed, value)
	if to.stage(p) {
		to.all(ops, fixed, value)
	}
	return to
}

// all takes what is known of results for operands until that is nothing new.
func (to *addresses) all(ops []ir.Op, fixed map[ir.Reg]bool, value map[ir.Reg]uint64) {
	for again := true; again; {
		again = false
		for k := range ops {
			if o := &ops[k]; o.Type.Float() {
				for _, s := range o.Src {
					again = to.float(s, width(o.Type)) || again
				}
			} else {
				again = to.through(o, fixed, value) || again
			}
		}
	}
}

// stage finds what numbers shared memory holds, and takes them for what is stored there. It reports whether that is new.
func (to *addresses) stage(p *ir.Program) (again bool) {
	for i := range p.Insts {
		a, ok := p.Insts[i].Do.(*ir.Access)
		if !ok || a.Space != ir.Shared || a.Kind != ir.Load || a.Mbarrier {
			continue
		}
		bits := width(a.Type)
		if len(a.Fragments) > 0 {
			bits = 16
		}
		for _, r := range loaded(&p.Insts[i], a) {
			if r = to.own(i, r); to.pointers[r] || to.shared[r] || to.indices[r] || to.functions[r] {
				to.staged = 0
				return false
			}
			bits = max(bits, to.floats[r])
		}
		if bits > 0 && (to.staged == 0 || bits < to.staged) {
			to.staged = bits
		}
	}
	for i := range p.Insts {
		if a, ok := p.Insts[i].Do.(*ir.Access); ok && a.Space == ir.Shared && a.Kind == ir.Store && to.staged > 0 {
			for _, r := range a.Data {
				again = to.float(to.own(i, r), to.staged) || again
			}
		}
	}
	return again
}

// through takes what is known of the result of an operation for its operands. It reports whether that is new.
func (to *addresses) through(o *ir.Op, fixed map[ir.Reg]bool, value map[ir.Reg]uint64) (again bool) {
	add := func(set map[ir.Reg]bool, r ir.Reg) {
		if r >= 0 && !fixed[r] && !set[r] {
			set[r], again = true, true
		}
	}
	for n, s := range o.Src {
		if bits := to.floats[o.Dst]; bits > 0 && s >= 0 && to.floats[s] == 0 && (Carries(o, n) || o.Code == ir.Bfi && n < 2) {
			to.floats[s], again = bits, true
		}
		switch {
		case to.pointers[o.Dst] && (o.Type.Bits() == 64 || o.Code == ir.Ext || o.Code == ir.Join) && Carries(o, n):
			add(to.pointers, s)
		case to.functions[o.Dst] && o.Type.Bits() == 64 && Carries(o, n):
			add(to.functions, s)
		case to.shared[o.Dst] && o.Type.Bits() >= 32 && Carries(o, n):
			add(to.shared, s)
		case (to.pointers[o.Dst] || to.shared[o.Dst] || to.indices[o.Dst]) && !bounded(o, value):
			add(to.indices, s)
		}
	}
	return again
}

// owned numbers registers so that temporary ones, which each instruction that reads them has written, are those of one instruction.
func owned(p *ir.Program) func(i int, r ir.Reg) ir.Reg {
	lasts := make([]bool, p.Regs+1)
	for i := range p.Insts {
		in := &p.Insts[i]
		var written []ir.Reg
		read := func(list ...ir.Reg) {
			for _, r := range list {
				if r >= 0 && !slices.Contains(written, r) {
					lasts[r] = true
				}
			}
		}
		read(in.Guard)
		for k := range in.Pre {
			read(in.Pre[k].Src[:]...)
			written = append(written, in.Pre[k].Dst)
		}
		switch do := in.Do.(type) {
		case *ir.Access:
			read(do.Addr)
			if do.Kind == ir.Load {
				written = append(written, do.Data...)
			} else {
				read(do.Data...)
			}
			written = append(append(written, do.Dst...), do.Done)
		case *ir.Warp:
			read(do.Src, do.Lane, do.Clamp, do.Mask)
			written = append(append(written, do.Dst, do.Pred), do.Dsts...)
		case *ir.Flow:
			read(do.Cond, do.Addr)
		case *ir.Special:
			written = append(written, do.Dst)
		}
		for k := range in.Post {
			read(in.Post[k].Src[:]...)
			written = append(written, in.Post[k].Dst)
		}
	}
	type temporary struct {
		inst int
		reg  ir.Reg
	}
	numbers := map[temporary]ir.Reg{}
	return func(i int, r ir.Reg) ir.Reg {
		if r < 0 || lasts[r] {
			return r
		}
		n, ok := numbers[temporary{i, r}]
		if !ok {
			n = ir.Reg(p.Regs + 1 + len(numbers))
			numbers[temporary{i, r}] = n
		}
		return n
	}
}

// bounded reports whether the result of an operation is small whatever its operand is: a part of one that a mask cuts out.
func bounded(o *ir.Op, value map[ir.Reg]uint64) bool {
	switch o.Code {
	case ir.And, ir.Rem:
		m, ok := value[o.Src[1]]
		if !ok && o.Code == ir.And {
			m, ok = value[o.Src[0]]
		}
		return ok && m < 1<<16
	case ir.Ext:
		return o.Type.Bits() < 32
	}
	return false
}

// float notes that a register holds floating-point numbers of so many bits.
func (to *addresses) float(r ir.Reg, bits int) bool {
	if r < 0 || to.floats[r] > 0 {
		return false
	}
	to.floats[r] = bits
	return true
}

// width is how many bits a floating-point number of a type has, of packed ones each; 0 of other types.
func width(t ir.Type) int {
	switch {
	case t == ir.F16x2 || t == ir.BF16x2:
		return 16
	case t.Float():
		return t.Bits()
	}
	return 0
}

// Carries reports whether source n of an operation reaches the result as an address does.
func Carries(o *ir.Op, n int) bool {
	switch o.Code {
	case ir.Mov, ir.Add, ir.Or, ir.Ext:
		return true
	case ir.Sub, ir.Join:
		return n == 0
	case ir.Bfi:
		return n == 1
	case ir.Sel:
		return n > 0
	}
	return false
}
