package amdisa

import (
	"strings"

	"optcheck/isa"
)

// The entry analysis tracks what scalar registers hold at the entry of a function (pointers to
// the arguments, the descriptor of scratch memory) through copies and additions, to distinguish
// parameters from program loads and spills from program stores.

// valKind says what a scalar register word is known to hold.
type valKind uint8

const (
	valTop   valKind = iota // not reached yet
	valNone                 // anything
	valEntry                // word n of the entry's scalar registers plus off
	valVar                  // word n of the entry's scalar registers plus something
	valConst                // off
	valSym                  // half n of the address of symbol off
)

type val struct {
	k   valKind
	n   uint16
	off int32
}

const trackedRegs = 128

// track is what is known at one place.
type track struct {
	s     [trackedRegs]val
	lanes map[uint32]val // vgpr<<8 | lane: scalar registers spilled to lanes
}

func (t *track) copyTo(u *track) {
	u.s = t.s
	u.lanes = nil
	for k, v := range t.lanes {
		u.setLane(k, v)
	}
}

func (t *track) setLane(k uint32, v val) {
	if t.lanes == nil {
		t.lanes = map[uint32]val{}
	}
	if len(t.lanes) < 1<<12 {
		t.lanes[k] = v
	}
}

// meet merges u into t and reports whether t changed.
func (t *track) meet(u *track) bool {
	changed := false
	for i := range t.s {
		v := meet(t.s[i], u.s[i])
		if v != t.s[i] {
			t.s[i], changed = v, true
		}
	}
	for k, v := range t.lanes {
		w, ok := u.lanes[k]
		if !ok || meet(v, w) != v {
			delete(t.lanes, k)
			changed = true
		}
	}
	return changed
}

func meet(a, b val) val {
	switch {
	case a == b || b.k == valTop:
		return a
	case a.k == valTop:
		return b
	}
	return val{k: valNone}
}

// analysis is the state of the entry analysis of one function.
type analysis struct {
	p    *gcn
	fn   *isa.Func
	abi  *abi
	in   []*track
	cur  track
	syms []string
	// The uses found: instruction → entry word and offset of the base.
	loads []baseUse
}

type baseUse struct {
	inst int
	base val
	desc bool
}

// entries completes the program: which functions are kernels, what their scalar loads read,
// which accesses are spills.
func (p *gcn) entries() {
	for _, fn := range p.prog.Funcs {
		a := p.kernels[fn.Name]
		if p.marked {
			fn.Callable = a == nil
		} else {
			fn.Callable = strings.HasPrefix(fn.Name, "__clang_ocl_kern_imp_") || !hasExit(fn)
		}
		if a == nil {
			a = &abi{}
		}
		if a.wave != 0 {
			fn.Wave = a.wave
		}
		if a.elems == nil {
			a.elems = elements(p.elems)
		}
		(&analysis{p: p, fn: fn, abi: a}).run()
	}
}

func hasExit(fn *isa.Func) bool {
	for i := range fn.Insts {
		if fn.Insts[i].Flow == isa.FlowExit {
			return true
		}
	}
	return false
}

// elements reads userElements[0] = IMM_CONST_BUFFER, 1, s[8:11].
func elements(lines []string) []element {
	var out []element
	for _, l := range lines {
		_, v, ok := strings.Cut(l, "=")
		f, _ := splitArgs(v, nil)
		if !ok || len(f) != 3 || len(out) >= 64 {
			continue
		}
		slot, okS := integer(f[1])
		o, okR := parseOperand(strings.TrimSuffix(f[2], ";"))
		if okS && okR && o.Kind == isa.OpdReg {
			out = append(out, element{f[0], int(slot), o.Reg.Num})
		}
	}
	return out
}

func (a *analysis) run() {
	if !a.needed() || len(a.fn.Blocks) > maxBlocks {
		return // scalar loads remain program loads: nothing is taken for harmless
	}
	a.in = make([]*track, len(a.fn.Blocks))
	first := &track{}
	for i := range first.s {
		first.s[i] = val{valEntry, uint16(i), 0}
	}
	a.in[0] = first
	work := []int{0}
	for steps := 0; len(work) > 0 && steps < 64*len(a.fn.Blocks)+64; steps++ {
		b := work[0]
		work = work[1:]
		a.in[b].copyTo(&a.cur)
		a.block(b, nil)
		for _, s := range a.fn.Blocks[b].Succs {
			if a.in[s] == nil {
				a.in[s] = &track{}
				a.cur.copyTo(a.in[s])
				work = append(work, s)
			} else if a.in[s].meet(&a.cur) {
				work = append(work, s)
			}
		}
	}
	for b := range a.fn.Blocks {
		if a.in[b] != nil {
			a.in[b].copyTo(&a.cur)
			a.block(b, a.visit)
		}
	}
	a.classify()
}

// needed reports whether a function has anything that the analysis could find.
func (a *analysis) needed() bool {
	for i := range a.fn.Insts {
		m := &a.fn.Insts[i].Mem
		if m.Scalar && a.fn.Insts[i].Role == isa.RoleLoad || m.Space == isa.SpaceGlobal && strings.HasPrefix(a.fn.Insts[i].Op, "buffer_") {
			return true
		}
	}
	return false
}

// block runs the transfer function over a block.
func (a *analysis) block(b int, visit func(int)) {
	var next []struct {
		r isa.Reg
		v val
	}
	for i := a.fn.Blocks[b].First; i < a.fn.Blocks[b].End; i++ {
		if visit != nil {
			visit(i)
		}
		in := &a.fn.Insts[i]
		next = next[:0]
		for k := range in.Micro {
			m := &in.Micro[k]
			switch {
			case m.Op == isa.MicroLaneSet:
				if l, ok := known(m.Src[2]); ok && l < 64 {
					a.cur.setLane(uint32(m.Dst.Num)<<8|l, a.value(m.Src[1]))
				}
			case m.Dst.Class == isa.ClassUGPR:
				next = append(next, struct {
					r isa.Reg
					v val
				}{m.Dst, a.micro(m)})
			}
		}
		for _, r := range in.Defs {
			switch r.Class {
			case isa.ClassUGPR:
				a.cur.s[r.Num&(trackedRegs-1)] = val{k: valNone}
			case isa.ClassGPR:
				if len(a.cur.lanes) > 0 && !strings.HasPrefix(in.Op, "v_writelane") {
					for k := range a.cur.lanes {
						if k>>8 == uint32(r.Num) {
							delete(a.cur.lanes, k)
						}
					}
				}
			}
		}
		if in.Flow == isa.FlowCall {
			a.clobber()
		}
		for _, x := range next {
			a.cur.s[x.r.Num&(trackedRegs-1)] = x.v
		}
	}
}

// clobber forgets what a callee may change. LLVM preserves roughly s[30:105] and the scratch
// descriptor s[0:3]; only the latter is used here.
func (a *analysis) clobber() {
	for i := 4; i < trackedRegs; i++ {
		a.cur.s[i] = val{k: valNone}
	}
	a.cur.lanes = nil
}

func (a *analysis) value(o isa.Operand) val {
	if o.Neg || o.Not {
		return val{k: valNone}
	}
	switch {
	case o.Kind == isa.OpdImm:
		return val{k: valConst, off: int32(uint32(o.Imm))}
	case o.Kind == isa.OpdReg && o.Reg.Class == isa.ClassUGPR:
		return a.cur.s[o.Reg.Num&(trackedRegs-1)]
	case o.Kind == isa.OpdSym && o.Off == 0:
		h := uint16(0)
		if o.Part == "hi" {
			h = 1
		}
		return val{valSym, h, a.sym(o.Sym)}
	}
	return val{k: valNone}
}

func (a *analysis) sym(s string) int32 {
	for i, t := range a.syms {
		if s == t {
			return int32(i)
		}
	}
	if len(a.syms) < 1<<10 {
		a.syms = append(a.syms, s)
		return int32(len(a.syms) - 1)
	}
	return -1
}

// micro evaluates one micro-operation.
func (a *analysis) micro(m *isa.Micro) val {
	none := val{k: valNone}
	v := func(i int) val { return a.value(m.Src[i]) }
	switch m.Op {
	case isa.MicroMov:
		return v(0)
	case isa.MicroAdd:
		if len(m.Src) != 2 {
			return none
		}
		return sum(v(0), v(1))
	case isa.MicroAddHi:
		if x, y := v(0), v(1); y.k == valConst && (y.off == 0 || y.off == -1) && (x.k == valEntry || x.k == valVar) {
			return x
		}
	case isa.MicroAddWide:
		if x, y := v(1), v(3); len(m.Src) == 4 && y.k == valConst && y.off == 0 && (x.k == valEntry || x.k == valVar) {
			return x
		}
	case isa.MicroFirst:
		if len(m.Src) == 2 && m.Src[0].Kind == isa.OpdReg && m.Src[0].Reg.Class == isa.ClassGPR {
			if l, ok := known(m.Src[1]); ok {
				if x, ok := a.cur.lanes[uint32(m.Src[0].Reg.Num)<<8|l]; ok {
					return x
				}
			}
		}
	case isa.MicroLop3: // or with 0, and with all ones
		if x, y := v(0), v(1); m.LUT == lutOr && y.k == valConst && y.off == 0 {
			return x
		}
	}
	return none
}

// sum adds constants to known pointers.
func sum(x, y val) val {
	if y.k == valEntry || y.k == valVar {
		x, y = y, x
	}
	switch {
	case x.k == valConst && y.k == valConst:
		return val{k: valConst, off: x.off + y.off}
	case x.k == valEntry && y.k == valConst:
		return val{valEntry, x.n, x.off + y.off}
	case x.k == valEntry || x.k == valVar:
		if (y.k == valEntry || y.k == valVar) && y.n < x.n {
			return val{valVar, y.n, 0}
		}
		return val{valVar, x.n, 0}
	}
	return val{k: valNone}
}
