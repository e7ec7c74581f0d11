package audit

import (
	"fmt"
	"math"

	"optcheck/litmus"
)

// together is the i-th instruction of a thread and the k-th, which are accesses of neighbouring words, as one access of both, where the
// former stands.
func together(t *litmus.Test, th *litmus.Thread, i, k int) ([]litmus.Instr, error) {
	a, b := &th.Body[i], &th.Body[k]
	refuse := func(why string) ([]litmus.Instr, error) {
		return nil, fmt.Errorf("%s and %s are one access: %s", a, b, why)
	}
	for n := min(i, k) + 1; n < max(i, k); n++ {
		if in := &th.Body[n]; in.IsFence() || in.Op == litmus.OpBar || in.Async != nil || in.IsAccess() || in.Op == litmus.OpBra || len(in.Labels) > 0 {
			return refuse(fmt.Sprintf("%s stands between", in))
		}
	}
	place := func(in *litmus.Instr) (base string, at int64) {
		l := t.Location(th.AddrLoc(in))
		if l == nil {
			return "", 0
		}
		if base = l.Name; l.Of != "" {
			base = l.Of
		}
		return base, l.Offset + in.Addr.Offset
	}
	base, at := place(a)
	other, next := place(b)
	plain := func(in *litmus.Instr) bool {
		return (in.Op == litmus.OpLd || in.Op == litmus.OpSt) && in.Guard == nil && in.Word == nil && in.Type.Bits() == 32
	}
	low, high := a, b
	if at > next {
		low, high, at, next = b, a, next, at
	}
	if base == "" || base != other || !plain(a) || !plain(b) || a.Op != b.Op || next != at+4 || at%8 != 0 {
		return refuse("no two words of 32 bits in one of 64")
	}
	wide := *a
	wide.Type, wide.Addr, wide.Dst, wide.Src = litmus.U64, low.Addr, "", nil
	if a.Op == litmus.OpSt {
		x, y := low.Src[0], high.Src[0]
		if x.Kind != litmus.OperandConst || y.Kind != litmus.OperandConst {
			return refuse("what they store is computed")
		}
		wide.Src = []litmus.Operand{litmus.Const(y.Value<<32 | x.Value&math.MaxUint32)}
		return []litmus.Instr{wide}, nil
	}
	register := func(role string) string {
		name := "w" + role + low.Dst
		for th.Decl(name) != nil || t.Location(name) != nil {
			name += "0"
		}
		if t.Dialect != litmus.PTX {
			th.Regs = append(th.Regs, litmus.RegDecl{Name: name, Type: litmus.U64})
		}
		return name
	}
	wide.Dst = register("")
	upper := register("h")
	word := func(to, from string) litmus.Instr {
		return litmus.Instr{Op: litmus.OpCvt, Type: litmus.U32, FromType: litmus.U64, Dst: to, Src: []litmus.Operand{litmus.Reg(from)}}
	}
	shift := litmus.Instr{Op: litmus.OpShr, Type: litmus.U64, Dst: upper, Src: []litmus.Operand{litmus.Reg(wide.Dst), litmus.Const(32)}}
	return []litmus.Instr{wide, word(low.Dst, wide.Dst), shift, word(high.Dst, upper)}, nil
}
