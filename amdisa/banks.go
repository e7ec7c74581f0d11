package amdisa

import (
	"strings"

	"optcheck/isa"
)

// visit processes one instruction with the state before it.
func (a *analysis) visit(i int) {
	in := &a.fn.Insts[i]
	if in.Role == isa.RoleConst || !in.Role.IsAccess() || in.Mem.Space != isa.SpaceGlobal {
		return
	}
	var o *isa.Operand
	for k := range in.Args {
		if in.Args[k].Kind == isa.OpdMem {
			o = &in.Args[k]
		}
	}
	if o == nil {
		return
	}
	at := func(r isa.Reg, k int) val {
		if r.Class != isa.ClassUGPR || int(r.Num)+k >= trackedRegs {
			return val{k: valNone}
		}
		return a.cur.s[int(r.Num)+k]
	}
	switch {
	case in.Mem.Scalar && in.Role == isa.RoleLoad && o.Desc.Class != isa.ClassNone:
		if b := at(o.Desc, 0); b.k == valEntry && b.off == 0 && at(o.Desc, 3) == (val{valEntry, b.n + 3, 0}) {
			a.loads = append(a.loads, baseUse{i, b, true})
		}
	case in.Mem.Scalar && in.Role == isa.RoleLoad:
		lo, hi := at(o.Reg, 0), at(o.Reg, 1)
		switch {
		case lo.k == valEntry && hi == (val{valEntry, lo.n + 1, 0}):
			a.loads = append(a.loads, baseUse{i, lo, false})
		case lo.k == valSym && hi.k == valSym && lo.n == 0 && hi.n == 1 && lo.off == hi.off:
			a.gotLoad(i, o, lo.off)
		}
	case !in.Mem.Scalar && o.Desc.Class != isa.ClassNone:
		if a.scratchDesc(at(o.Desc, 0), at(o.Desc, 1), at(o.Desc, 2), at(o.Desc, 3)) {
			in.Mem.Space = isa.SpaceLocal
		}
	}
}

// scratchDesc reports whether four words are the descriptor of scratch memory: s[0:3] of the
// entry, with the wave's offset added, or the symbols that mesa patches.
func (a *analysis) scratchDesc(w0, w1, w2, w3 val) bool {
	if w0.k == valSym && int(w0.off) < len(a.syms) && w0.off >= 0 && strings.HasPrefix(a.syms[w0.off], "SCRATCH_RSRC_DWORD") {
		return true
	}
	if a.abi.known && !a.abi.buffer && !a.fn.Callable {
		return false
	}
	word0 := (w0.k == valEntry || w0.k == valVar) && w0.n == 0
	return word0 && w1 == (val{valEntry, 1, 0}) && w2 == (val{valEntry, 2, 0}) && w3 == (val{valEntry, 3, 0})
}

// gotLoad turns a load from the global offset table into the symbol's address.
func (a *analysis) gotLoad(i int, o *isa.Operand, sym int32) {
	name, got := strings.CutSuffix(a.syms[sym], "@got")
	in := &a.fn.Insts[i]
	if !got || o.Off != 0 || len(in.Args) == 0 || in.Args[0].Words != 2 {
		return
	}
	in.Role, in.Mem = isa.RoleConst, isa.Mem{Space: isa.SpaceConst, Width: 8, Scalar: true}
	in.Micro = nil
	for w, part := range []string{"lo", "hi"} {
		in.Micro = append(in.Micro, isa.Micro{Op: isa.MicroMov, Dst: dst(in.Args[0], w),
			Src: []isa.Operand{{Kind: isa.OpdSym, Sym: name, Part: part, Words: 1}}})
	}
}

// classify decides which bank each pointer of the entry leads to.
func (a *analysis) classify() {
	if len(a.loads) == 0 {
		return
	}
	_, dispatch, queue, kernarg, _ := a.abi.pointers()
	buffers := false
	last := -1
	for _, l := range a.loads {
		if l.desc {
			buffers = true
		} else if int(l.base.n) > last {
			last = int(l.base.n)
		}
	}
	for _, l := range a.loads {
		n := int(l.base.n)
		bank := -1
		switch {
		case l.desc:
			bank = isa.ConstBuffer + a.slot(n)
		case buffers:
			bank = isa.ConstTable
		case a.fn.Callable: // LLVM's calling convention
			switch n {
			case 4:
				bank = isa.ConstDispatch
			case 6:
				bank = isa.ConstQueue
			case 8:
				bank = isa.ConstTable // implicit arguments, whose offset only the caller knows
			}
		case a.abi.known:
			switch n {
			case kernarg:
				bank = isa.ConstKernarg
			case dispatch:
				bank = isa.ConstDispatch
			case queue:
				bank = isa.ConstQueue
			}
		case n == last:
			bank = isa.ConstKernarg
		case a.fn.Insts[l.inst].Args[1].Off+int64(l.base.off) >= 64:
			bank = isa.ConstQueue // the dispatch packet has 64 bytes
		default:
			bank = isa.ConstDispatch
		}
		if bank >= 0 {
			a.constLoad(l.inst, bank, int64(l.base.off))
		}
	}
}

// slot returns the number of the constant buffer whose descriptor is in s[n:n+3].
func (a *analysis) slot(n int) int {
	for _, e := range a.abi.elems {
		if int(e.reg) == n && strings.Contains(e.kind, "CONST_BUFFER") {
			return e.slot
		}
	}
	return max(0, (n-4)/4)
}

// constLoad turns a scalar load into a read of a constant bank.
func (a *analysis) constLoad(i, bank int, off int64) {
	in := &a.fn.Insts[i]
	in.Role = isa.RoleConst
	in.Mem.Space = isa.SpaceConst
	o := in.Args[1]
	for k := range in.Args {
		if in.Args[k].Kind == isa.OpdMem {
			o = in.Args[k]
		}
	}
	off += o.Off
	if o.Base2.Class != isa.ClassNone || in.Mem.Width < 4 {
		return // at a variable offset, or less than a word
	}
	words := in.Mem.Width / 4
	micros := make([]isa.Micro, 0, words)
	for w := 0; w < words; w++ {
		micros = append(micros, isa.Micro{Op: isa.MicroMov, Dst: dst(in.Args[0], w),
			Src: []isa.Operand{{Kind: isa.OpdConst, Bank: bank, Off: off + int64(4*w), Words: 1, Text: in.Args[0].Text}}})
	}
	in.Micro = micros
}
