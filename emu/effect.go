package emu

import (
	"encoding/binary"
	"fmt"
	"slices"

	"optcheck/ir"
)

// effect performs what an instruction does besides computing. The lanes of act pass its guard, those of mask are at
// it. stop tells that the group does not go on as it is.
func (w *Warp) effect(pc int32, in *inst, act, mask uint32) (next int32, stop bool, err error) {
	next = pc + 1
	if f, ok := in.do.(*ir.Flow); ok {
		return w.flow(pc, f, act, mask)
	}
	if act == 0 {
		return next, false, nil
	}
	switch do := in.do.(type) {
	case *ir.Access:
		if len(do.Fragments) > 0 && !w.Code.P.Machine {
			return w.waitFor(pc, ir.None, act, mask)
		}
		err = w.access(pc, do, act)
	case *ir.Special:
		err = w.special(do, act)
	case *ir.Fence:
		err = w.env.Fence(w, pc, do, act)
	case *ir.Copy:
		if do.Warp() && !w.Code.P.Machine {
			return w.waitFor(pc, ir.None, act, mask)
		}
		err = w.copy(pc, do, act)
	case *ir.Warp:
		if !w.Code.P.Machine && do.Mask >= 0 {
			return w.waitFor(pc, do.Mask, act, mask)
		}
		w.warpOp(do, act)
	case *ir.Barrier:
		return w.barrier(pc, do, act, mask)
	default:
		err = &Cannot{Inst: int(pc), Why: fmt.Sprintf("an effect %T", do)}
	}
	if err != nil {
		return next, false, err
	}
	w.exec(in.post, act)
	return next, false, nil
}

// leave lets lanes go on at a place, if there are any.
func (w *Warp) leave(mask uint32, pc int32) {
	if mask != 0 {
		w.groups = append(w.groups, group{pc, mask})
	}
}

func (w *Warp) barrier(pc int32, b *ir.Barrier, act, mask uint32) (next int32, stop bool, err error) {
	next = pc + 1
	if b.Kind == ir.BarrierWarp && w.Code.P.Machine { // the lanes are together already
		return next, false, w.env.WarpBarrier(w, pc, b, act)
	}
	if b.Kind == ir.BarrierWarp {
		return w.waitFor(pc, b.Count, act, mask)
	}
	for x := act; x != 0; x &= x - 1 { // before they are released, which may be at once
		w.st[lowest(x)], w.next[lowest(x)] = barrier, next
	}
	wait, err := w.env.Barrier(w, pc, b, act)
	if err != nil {
		return next, false, err
	}
	if wait {
		w.leave(mask&^act, next)
		return next, true, nil
	}
	for x := act; x != 0; x &= x - 1 {
		w.st[lowest(x)] = running
	}
	return next, false, nil
}

func (w *Warp) flow(pc int32, f *ir.Flow, act, mask uint32) (next int32, stop bool, err error) {
	next = pc + 1
	on := act
	if f.Cond >= 0 {
		on &= w.bits(int32(f.Cond), f.Not)
	}
	if on != 0 {
		w.Cover.Taken[pc] = true
	}
	if on != mask {
		w.Cover.Passed[pc] = true
	}
	if on == 0 {
		return next, false, nil
	}
	switch f.Kind {
	case ir.Jump:
		if on == mask {
			return f.Target, false, nil
		}
		w.leave(on, f.Target)
		w.leave(mask&^on, next)
		return next, true, nil
	case ir.JumpAny, ir.JumpTogether, ir.JumpApart:
		if l, ok := w.stranger(f, on); ok {
			return next, false, &Fault{int(pc), w.Threads[l].Index, "a lane that is none of those whose meeting it asks for"}
		}
		jumps := w.alike(f, act, on)
		if first := mask & -mask; jumps == (f.Kind == ir.JumpTogether) && f.Kind != ir.JumpAny && w.policy.Apart && on == mask && first != mask {
			if !jumps {
				next = f.Target
			}
			w.leave(first, next)
			w.leave(mask&^first, next)
			return next, true, nil
		}
		if jumps {
			return f.Target, false, nil
		}
		return next, false, nil
	case ir.BarrierSet:
		n := w.newSet(on, f.Target)
		for x := on; x != 0; x &= x - 1 {
			w.SetReg(f.Bar, lowest(x), n)
		}
		return next, false, nil
	case ir.BarrierLeave:
		return next, false, w.each(on, f.Bar, func(l, n int) { w.sets[n].mask &^= 1 << l })
	case ir.Trap:
		if w.policy.TrapEnds {
			w.leave(mask&^on, next)
			w.exit(on)
			return next, true, nil
		}
		return next, false, &Fault{int(pc), w.Threads[lowest(on)].Index, "trap"}
	}
	// From here on the lanes go elsewhere, each by itself.
	w.leave(mask&^on, next)
	switch f.Kind {
	case ir.BarrierWait:
		err = w.each(on, f.Bar, func(l, n int) { w.st[l], w.wait[l] = meeting, uint32(n) })
		if err == nil && len(w.groups) == 0 {
			w.releaseSets()
		}
	case ir.WarpSync, ir.WarpCollective:
		err = w.sync(pc, f, on)
	case ir.CollectiveEnd:
		w.part(on)
	case ir.Exit:
		w.exit(on)
	case ir.Yield:
		w.groups = append([]group{{next, on}}, w.groups...)
	case ir.Call:
		err = w.call(pc, f.Target, on)
	case ir.Return:
		w.ret(on)
	default:
		err = w.indirect(pc, f, on)
	}
	return next, true, err
}

// stranger finds a lane that asks for the lanes of a mask which does not name it.
func (w *Warp) stranger(f *ir.Flow, on uint32) (lane int, ok bool) {
	if f.Kind == ir.JumpAny || f.Mask < 0 {
		return 0, false
	}
	for x := on; x != 0; x &= x - 1 {
		if l := lowest(x); w.regs[f.Mask][l]>>l&1 == 0 {
			return l, true
		}
	}
	return 0, false
}

// alike decides a jump that all lanes of a group make or none. Who is there are those that pass the guard: in front of a ballot whose lanes name
// different lanes, ptxas has only some of them pass that of BRA.DIV.
func (w *Warp) alike(f *ir.Flow, act, on uint32) bool {
	if f.Kind == ir.JumpAny {
		return on != 0
	}
	want := w.live
	if f.Mask >= 0 {
		want &= uint32(w.regs[f.Mask][lowest(act)])
	}
	return on != 0 && (want&^on == 0) == (f.Kind == ir.JumpTogether)
}

// each calls do for each lane with the set that its convergence barrier names.
func (w *Warp) each(mask uint32, bar ir.Reg, do func(lane, set int)) error {
	for x := mask; x != 0; x &= x - 1 {
		l := lowest(x)
		n := w.regs[bar][l]
		if n == 0 || n > uint64(len(w.sets)) {
			return &Cannot{Inst: -1, Why: "a convergence barrier that nobody has set"}
		}
		do(l, int(n-1))
	}
	return nil
}

func (w *Warp) sync(pc int32, f *ir.Flow, on uint32) error {
	for x := on; x != 0; x &= x - 1 {
		l := lowest(x)
		w.wait[l] = ^uint32(0)
		if f.Mask >= 0 {
			w.wait[l] = uint32(w.regs[f.Mask][l])
		}
		w.st[l], w.next[l], w.home[l] = syncing, pc+1, f.Target
	}
	if len(w.groups) > 0 {
		return nil
	}
	_, err := w.releaseSyncs()
	return err
}

// maxDepth bounds calls.
const maxDepth = 1 << 12

func (w *Warp) call(pc, target int32, on uint32) error {
	f := w.Code.funcAt(pc)
	for x := on; x != 0; x &= x - 1 {
		l := lowest(x)
		if len(w.Threads[l].stack) >= maxDepth {
			return &Cannot{Inst: int(pc), Why: fmt.Sprintf("more than %d calls inside each other", maxDepth)}
		}
		fr := frame{ret: pc + 1}
		if f != nil && w.Code.recursive(f) {
			for r := f.RegFirst; r < f.RegEnd; r++ {
				fr.save = append(fr.save, w.regs[r][l])
			}
		}
		w.Threads[l].stack = append(w.Threads[l].stack, fr)
	}
	w.leave(on, target)
	return nil
}

func (w *Warp) ret(on uint32) {
	for x := on; x != 0; x &= x - 1 {
		l := lowest(x)
		t := w.Threads[l]
		n := len(t.stack)
		if n == 0 {
			w.exit(1 << l)
			continue
		}
		fr := t.stack[n-1]
		t.stack = t.stack[:n-1]
		if f := w.Code.funcAt(fr.ret - 1); f != nil {
			for i, v := range fr.save {
				w.regs[int(f.RegFirst)+i][l] = v
			}
		}
		w.exec(w.Code.insts[fr.ret-1].post, 1<<l) // it takes what the function returned
		w.join(l, fr.ret)
	}
}

// join lets a lane go on at a place, with those that are there.
func (w *Warp) join(lane int, pc int32) {
	for i := range w.groups {
		if w.groups[i].pc == pc && !w.Code.P.Machine {
			w.groups[i].mask |= 1 << lane
			return
		}
	}
	if n := len(w.groups); n > 0 && w.groups[n-1].pc == pc {
		w.groups[n-1].mask |= 1 << lane
		return
	}
	w.leave(1<<lane, pc)
}

// indirect sends each lane to where a register says.
func (w *Warp) indirect(pc int32, f *ir.Flow, on uint32) error {
	p := w.Code.P
	byTarget := map[int32]uint32{}
	var order []int32
	for x := on; x != 0; x &= x - 1 {
		l := lowest(x)
		v := w.regs[f.Addr][l]
		var to int32
		ok := false
		switch {
		case f.Kind == ir.Indirect && f.Targets != nil:
			if ok = v < uint64(len(f.Targets)); ok {
				to = f.Targets[v]
			}
		case p.Code != nil:
			to, ok = p.Code[v]
		default:
			to, ok = w.Code.called(v, f.Signature)
		}
		if !ok {
			return &Cannot{Inst: int(pc), Why: fmt.Sprintf("a jump to %#x, which is no code that is known", v), Input: true}
		}
		if byTarget[to] == 0 {
			order = append(order, to)
		}
		byTarget[to] |= 1 << l
	}
	for _, to := range order {
		if f.Kind != ir.CallAt {
			w.leave(byTarget[to], to)
		} else if err := w.call(pc, to, byTarget[to]); err != nil {
			return err
		}
	}
	return nil
}

// special reads special registers.
func (w *Warp) special(s *ir.Special, act uint32) error {
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		v, err := w.specialOf(s, l)
		if err != nil {
			return err
		}
		w.SetReg(s.Dst, l, v)
		if w.Code.uniform[s.Dst] {
			break
		}
	}
	return nil
}

func (w *Warp) specialOf(s *ir.Special, l int) (uint64, error) {
	t := w.Threads[l]
	switch r := s.Reg; r {
	case ir.TidX, ir.TidY, ir.TidZ:
		return uint64(t.Tid[r-ir.TidX]), nil
	case ir.CtaidX, ir.CtaidY, ir.CtaidZ:
		return uint64(t.Ctaid[r-ir.CtaidX]), nil
	case ir.ClusterIDX, ir.ClusterIDY, ir.ClusterIDZ:
		return uint64(t.Ctaid[r-ir.ClusterIDX] / w.Launch.cluster()[r-ir.ClusterIDX]), nil
	case ir.ClusterCtaidX, ir.ClusterCtaidY, ir.ClusterCtaidZ:
		return uint64(t.Ctaid[r-ir.ClusterCtaidX] % w.Launch.cluster()[r-ir.ClusterCtaidX]), nil
	case ir.ClusterCtarank:
		return uint64(w.Launch.rank(t.Block)), nil
	case ir.LaneID:
		return uint64(l), nil
	case ir.WarpID:
		return uint64(w.ID), nil
	case ir.VirtualID:
		return uint64(w.ID) << 8, nil
	case ir.LaneMaskEQ:
		return 1 << l, nil
	case ir.LaneMaskLT:
		return 1<<l - 1, nil
	case ir.LaneMaskLE:
		return 2<<l - 1, nil
	case ir.LaneMaskGT:
		return 0xffffffff &^ (2<<l - 1), nil
	case ir.LaneMaskGE:
		return 0xffffffff &^ (1<<l - 1), nil
	case ir.Clock, ir.Clock64, ir.GlobalTimer:
		return w.env.Clock(w, l, r), nil
	case ir.BarrierResult:
		return t.result, nil
	case ir.Undefined:
		return w.policy.Fill, nil
	case ir.SymbolAddr:
		v, ok := w.Launch.Vars[s.Symbol]
		if !ok {
			return 0, &Cannot{Inst: -1, Why: "the address of " + s.Symbol + " is not known"}
		}
		v += uint64(s.Offset)
		if s.Generic {
			v |= SharedWindow
		}
		return v, nil
	default:
		return w.Launch.special(r), nil
	}
}

// Place is the address of an access of a lane, as its registers are.
func (w *Warp) Place(a *ir.Access, lane int) Place { return w.place(a, lane) }

// Nearest is the address in front of that of an access, or at its, at which a lane may perform it: one that is aligned and, in parameters and
// constant memory, inside.
func (w *Warp) Nearest(a *ir.Access, p Place) uint64 {
	size, to := uint64(a.Bytes*a.Elems), p.Addr
	if base, bank := w.bank(a, p); p.Space == ir.Param || p.Space == ir.ConstBank {
		if n := uint64(len(bank)); base+size > n && n >= size {
			to -= base + size - n
		}
	}
	if beyond(p) {
		to -= p.Addr&0xffffffff - sharedEnd + size
	}
	if misaligned(to, size) {
		to &^= size - 1
	}
	return to
}

// sharedEnd is above the shared memory of a block of any target: of sm_90 it has 228 KiB.
const sharedEnd = 1 << 18

// beyond reports whether a place is of no block's shared memory.
func beyond(p Place) bool { return p.Space == ir.Shared && p.Addr&0xffffffff >= sharedEnd }

// stray reports whether an access of a program to constant memory, or to a thread's own, is to none of its variables: nothing tells then what is
// there.
func (w *Warp) stray(a *ir.Access, p Place, size uint64) bool {
	constant := a.Space == ir.ConstBank && p.Space == ir.Global
	return !w.Code.P.Machine && (constant || p.Space == ir.Local) && !slices.ContainsFunc(w.Code.inside, func(v *ir.Var) bool {
		at := uint64(v.Offset)
		if constant {
			at = w.Launch.Vars[v.Name]
		}
		return (v.Space == ir.ConstBank) == constant && (v.Size == 0 || p.Addr >= at && p.Addr+size <= at+uint64(v.Size))
	})
}

// misaligned reports whether an address is none of an access of so many bytes.
func misaligned(addr, size uint64) bool { return addr&(size-1) != 0 && size&(size-1) == 0 }

// bank is where in a constant bank a place lies, and what the bank holds.
func (w *Warp) bank(a *ir.Access, p Place) (uint64, []byte) {
	if p.Space == ir.Param {
		return p.Addr + uint64(w.Code.P.ParamBase), w.banks[0]
	}
	return p.Addr, w.banks[a.Bank]
}

// place is the address of an access of a lane.
func (w *Warp) place(a *ir.Access, l int) Place {
	return w.at(a.Space, a.Addr, a.Offset, a.AddrBits, l)
}

func (w *Warp) at(space ir.Space, base ir.Reg, offset int64, bits, l int) Place {
	v := uint64(offset)
	if base >= 0 {
		v += w.regs[base][l]
	}
	if bits == 32 {
		v &= 0xffffffff
	}
	if space == ir.Generic {
		switch v & windowMask {
		case SharedWindow:
			return Place{ir.Shared, w.Launch.shared(v&^windowMask, w.Threads[l].Block)}
		case LocalWindow:
			return Place{ir.Local, v &^ windowMask}
		case ParamWindow:
			return Place{ir.Param, v &^ windowMask}
		}
		return Place{ir.Global, v}
	}
	if space == ir.Shared && w.Launch.clustered() {
		v &= 1<<rankShift - 1
	}
	if space == ir.ConstBank && !w.Code.P.Machine {
		space = ir.Global
	}
	return Place{space, v}
}

// access performs an access of the lanes, or of matrices that they share.
func (w *Warp) access(pc int32, a *ir.Access, act uint32) error {
	switch {
	case a.Tile != nil:
		return w.tile(pc, a, act)
	case len(a.Fragments) > 0:
		return w.matrices(pc, a, act)
	}
	return w.perform(pc, a, act)
}

// perform performs an access: private and constant memory here, the rest by the environment.
func (w *Warp) perform(pc int32, a *ir.Access, act uint32) error {
	var at [Lanes]Place
	outside, size := uint32(0), uint64(a.Bytes*a.Elems)
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		p := w.place(a, l)
		if a.OnlyGlobal && p.Space != ir.Global {
			w.SetReg(a.Done, l, 0)
			continue
		}
		if misaligned(p.Addr, size) && !w.policy.Anywhere {
			return &Fault{int(pc), w.Threads[l].Index, fmt.Sprintf("an access of %d bytes to %s address %#x, which is misaligned", size, p.Space, p.Addr)}
		}
		if beyond(p) && !w.policy.Anywhere {
			return &Fault{int(pc), w.Threads[l].Index, fmt.Sprintf("an access of %d bytes to shared address %#x, where no block has memory", size, p.Addr)}
		}
		if w.stray(a, p, size) && !w.policy.Anywhere {
			why := fmt.Sprintf("an access of %d bytes to %s address %#x, where no variable is", size, a.Space, p.Addr)
			return &Fault{int(pc), w.Threads[l].Index, why}
		}
		at[l] = p
		switch p.Space {
		case ir.Global, ir.Shared:
			outside |= 1 << l
		default:
			if err := w.private(pc, a, l, p); err != nil {
				return err
			}
		}
	}
	if outside == 0 {
		return nil
	}
	if err := w.env.Access(w, pc, a, outside, &at); err != nil || !a.OnlyGlobal {
		return err
	}
	for x := outside; x != 0; x &= x - 1 {
		w.SetReg(a.Done, lowest(x), 1)
	}
	return nil
}

const localPage = 256

// byteAt is a byte of a thread's own memory; nil if it was never written and is not to be made.
func (t *Thread) byteAt(addr uint64, fill uint64, make bool) *byte {
	p := t.local[addr/localPage]
	if p == nil {
		if !make {
			return nil
		}
		if t.local == nil {
			t.local = map[uint64]*[localPage]byte{}
		}
		p = new([localPage]byte)
		for i := range p {
			p[i] = byte(fill)
		}
		t.local[addr/localPage] = p
	}
	return &p[addr%localPage]
}

// funcParams is where parameters of called functions lie in a thread's own memory.
const funcParams = 1 << 40

// private performs an access to memory that is a thread's own, or constant.
func (w *Warp) private(pc int32, a *ir.Access, l int, p Place) error {
	t := w.Threads[l]
	n := uint64(a.Bytes * a.Elems)
	var buf [64]byte
	if n > uint64(len(buf)) {
		return &Cannot{Inst: int(pc), Why: "an access of more than 64 bytes"}
	}
	switch p.Space {
	case ir.Local, ir.FuncParam:
		base := p.Addr
		if p.Space == ir.FuncParam {
			base += funcParams
		}
		if a.Kind == ir.Atomic {
			return &Cannot{Inst: int(pc), Why: "an atomic on local memory"}
		}
		if a.Kind == ir.Store {
			w.Stored(a, l, buf[:n])
			for i := range n {
				*t.byteAt(base+i, w.policy.Fill, true) = buf[i]
			}
			return nil
		}
		for i := range n {
			buf[i] = byte(w.policy.Fill)
			if b := t.byteAt(base+i, w.policy.Fill, false); b != nil {
				buf[i] = *b
			}
		}
	default:
		base, b := w.bank(a, p)
		if a.Kind != ir.Load || base > uint64(len(b)) || base+n > uint64(len(b)) {
			if from := uint64(w.Code.P.ParamBase); w.policy.Anywhere && a.Kind == ir.Load && base >= from && (p.Space == ir.Param || a.Bank == 0) {
				for i := range n {
					buf[i] = byte((base - from + i) * 0x9e3779b97f4a7c15 >> 56)
				}
				break
			}
			return &Cannot{Inst: int(pc), Why: fmt.Sprintf("an access to constant bank %d at %#x, which has %#x bytes", a.Bank, base, len(b)), Input: true}
		}
		copy(buf[:n], b[base:])
	}
	w.Loaded(a, l, buf[:n])
	return nil
}

// Loaded writes what a load has read to its registers.
func (w *Warp) Loaded(a *ir.Access, lane int, b []byte) {
	w.values(a.Data, a, lane, b)
}

// Old writes what a read-modify-write has read.
func (w *Warp) Old(a *ir.Access, lane int, b []byte) { w.values(a.Dst, a, lane, b) }

func (w *Warp) values(regs []ir.Reg, a *ir.Access, lane int, b []byte) {
	for i, r := range regs {
		n := min(a.Bytes, 8)
		if (i+1)*n > len(b) {
			return
		}
		var word [8]byte
		copy(word[:], b[i*n:(i+1)*n])
		v := binary.LittleEndian.Uint64(word[:])
		if a.Type.Signed() && n < 4 {
			v = uint64(uint32(int32(v<<(64-8*n)>>(64-8*n)<<(32-8*n)) >> (32 - 8*n)))
		}
		w.SetReg(r, lane, v)
	}
}

// Stored has the bytes that a store, or the operand of a read-modify-write, consists of.
func (w *Warp) Stored(a *ir.Access, lane int, b []byte) { w.collect(a.Data, a, lane, b) }

// Compared has the bytes that a compare-and-swap compares with.
func (w *Warp) Compared(a *ir.Access, lane int, b []byte) { w.collect(a.Compare, a, lane, b) }

func (w *Warp) collect(regs []ir.Reg, a *ir.Access, lane int, b []byte) {
	n := min(a.Bytes, 8)
	for i, r := range regs {
		if (i+1)*n > len(b) {
			return
		}
		var word [8]byte
		if r >= 0 {
			binary.LittleEndian.PutUint64(word[:], w.regs[r][lane])
		}
		copy(b[i*n:(i+1)*n], word[:])
	}
}
