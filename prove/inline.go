package prove

import (
	"maps"
	"slices"

	"optcheck/ir"
)

// inlined are the instructions of a program whose functions stand where they are called, and are copied for each call.
type inlined struct {
	p      *ir.Program
	insts  []ir.Inst
	of     []int32           // by instruction: the one of the program that it is a copy of
	backs  []back            // what has to hold
	at     map[int32]uint64  // addresses of instructions, as registers hold them
	failed bool              // what is called is not known, or calls itself, or it is too much
	inside []int32           // the functions that are being copied, by their first instruction
	within map[int32][]int32 // the instructions that follow others without a call
}

// back is a return of machine code, and the address that a register must hold there: that behind the call.
type back struct {
	inst int32
	reg  ir.Reg
	to   uint64
}

// inline follows all calls; false if it cannot. Machine code calls by jumps, of which the front end says what they are meant for: where a return
// leads holds if backs do.
func inline(p *ir.Program) (*inlined, bool) {
	x := &inlined{p: p, at: map[int32]uint64{}, within: map[int32][]int32{}}
	for v, i := range p.Code {
		x.at[i] = v
	}
	x.copy(0, -1, 0)
	return x, !x.failed
}

// copy adds the instructions of a function that begins at one, and of what it calls. It returns to an instruction that has an address in machine
// code.
func (x *inlined) copy(entry, ret int32, address uint64) (first int32) {
	list := x.reached(entry)
	if x.failed = x.failed || len(x.insts)+len(list) > mostSteps || slices.Contains(x.inside, entry); x.failed {
		return 0
	}
	x.inside = append(x.inside, entry)
	to, begin := map[int32]int32{}, len(x.insts)
	for _, i := range list {
		to[i] = int32(len(x.insts))
		x.insts, x.of = append(x.insts, x.p.Insts[i]), append(x.of, i)
	}
	for k, i := range list {
		if f, ok := x.p.Insts[i].Do.(*ir.Flow); ok {
			x.transfer(int32(begin+k), i, *f, to, back{to: address, inst: ret})
		}
	}
	x.inside = x.inside[:len(x.inside)-1]
	return to[entry]
}

// reached are the instructions that control comes to from one, where what is called comes back; in their order.
func (x *inlined) reached(entry int32) []int32 {
	if list, ok := x.within[entry]; ok {
		return list
	}
	seen, work := map[int32]bool{}, []int32{entry}
	for len(work) > 0 {
		i := work[len(work)-1]
		if work = work[:len(work)-1]; i < 0 || int(i) >= len(x.p.Insts) || seen[i] {
			continue
		}
		seen[i] = true
		if f, ok := x.p.Insts[i].Do.(*ir.Flow); ok && (f.Calls || f.Kind == ir.Call) {
			work = append(work, i+1)
		} else if work = append(work, x.p.After(i)...); ok && f.Kind == ir.WarpCollective {
			work = append(work, f.Target)
		}
	}
	x.within[entry] = slices.Sorted(maps.Keys(seen))
	return x.within[entry]
}

// transfer makes the copy of a transfer of control of the program one to the copies of where it leads, or to those of what it calls.
func (x *inlined) transfer(at, i int32, f ir.Flow, to map[int32]int32, ret back) {
	targets := f.Targets
	switch {
	case f.Kind == ir.Call:
		f.Kind, f.Target = ir.Jump, x.copy(f.Target, x.behind(at, to[i+1]), 0)
	case f.Kind == ir.CallAt:
		f.Kind, f.Addr, f.Targets = ir.Indirect, ir.None, []int32{}
		behind := x.behind(at, to[i+1])
		for k := range x.p.Funcs {
			if fn := &x.p.Funcs[k]; fn.Signature == f.Signature {
				f.Targets = append(f.Targets, x.copy(fn.First, behind, 0))
			}
		}
	case f.Kind == ir.Return && ret.inst >= 0:
		f.Kind, f.Target = ir.Jump, ret.inst
	case f.Kind == ir.Jump && f.Calls:
		f.Target = x.copy(f.Target, to[i+1], x.at[i+1])
	case f.Kind == ir.Indirect && targets == nil && f.Returns && ret.inst >= 0:
		x.backs = append(x.backs, back{at, f.Addr, ret.to})
		f.Kind, f.Target = ir.Jump, ret.inst
	case f.Kind == ir.Indirect && targets == nil:
		x.failed = true
	default:
		f.Target = to[f.Target]
		f.Targets = slices.Clone(targets)
		for k, t := range targets {
			f.Targets[k] = to[t]
		}
	}
	x.insts[at].Do = &f
}

// behind moves what a call of PTX takes from the function that returned to an instruction of its own.
func (x *inlined) behind(at, next int32) int32 {
	jump := &ir.Flow{Kind: ir.Jump, Target: next, Cond: ir.None, Addr: ir.None, Bar: ir.None, Mask: ir.None}
	x.insts = append(x.insts, ir.Inst{Guard: ir.None, Pre: x.insts[at].Post, Do: jump})
	x.of = append(x.of, -1)
	x.insts[at].Post = nil
	return int32(len(x.insts)) - 1
}
