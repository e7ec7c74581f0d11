package amdisa

import (
	"strings"

	"optcheck/isa"
)

// lds decodes an LDS operation:
//
//	LDS_WRITE * T0.W, T1.X,
//	LDS_READ_RET * OQAP, T0.W
func (x *tsGroup) lds(s *slot) bool {
	if x.in.Role != isa.RoleALU {
		x.why = "two memory operations in one group"
		return false
	}
	x.pending = x.pending[:0]
	src, ok := x.ldsOperands(s)
	if !ok {
		return false
	}
	op, ret := strings.CutSuffix(strings.TrimPrefix(s.op, "LDS_"), "_RET")
	in := &x.in
	in.Op = s.op
	in.Mem.Space, in.Mem.Width = isa.SpaceShared, 4
	values, ok := x.ldsKind(op, ret)
	if !ok {
		return false
	}
	if len(src) < 1+values {
		x.why = "number of operands"
		return false
	}
	src = src[:1+values]
	addr, ok := x.ldsAddress(src[0])
	if !ok || (ret || in.Role == isa.RoleLoad) && !x.ldsResults(op) {
		return false
	}
	in.Args = append(in.Args, addr)
	for _, o := range src[1:] {
		each(&o, func(r isa.Reg) {
			in.Uses = appendReg(in.Uses, r)
			in.Data = append(in.Data, r)
		})
		in.Args = append(in.Args, o)
	}
	return true
}

// ldsOperands reads the sources of an LDS operation: address and values.
func (x *tsGroup) ldsOperands(s *slot) (src []isa.Operand, ok bool) {
	for _, a := range s.args {
		w, _ := cutWord(a)
		if w == "" || w == "OQAP" || w == "QA" || w == "QAB" || w == "____" || w == "QA.x" {
			continue
		}
		o, ok := x.operand(a, s)
		if !ok {
			x.why = "operand not understood: " + a
			return nil, false
		}
		if o.Kind != isa.OpdNone {
			src = append(src, o)
		}
	}
	return src, true
}

// ldsKind sets role, width and atomic of an LDS operation, and returns the number of values it
// takes after the address.
func (x *tsGroup) ldsKind(op string, ret bool) (values int, ok bool) {
	in := &x.in
	values = 1
	switch op {
	case "READ", "READ_REL", "READ2", "UBYTE_READ", "BYTE_READ", "USHORT_READ", "SHORT_READ":
		in.Role, values = isa.RoleLoad, 0
		if op == "READ2" {
			in.Mem.Width, values = 8, 1
		}
	case "WRITE", "BYTE_WRITE", "SHORT_WRITE":
		in.Role = isa.RoleStore
	case "WRITE_REL", "WRITE2":
		in.Role, values, in.Mem.Width = isa.RoleStore, 2, 8
	default:
		atom := strings.TrimPrefix(op, "ATOMIC_")
		name, ok := ratAtoms[atom]
		switch atom {
		case "WRXCHG", "XCHG":
			name, ok = "EXCH", true
		case "CMP_STORE", "CMP_XCHG", "CMPST":
			name, ok = "CAS", true
		}
		if !ok {
			x.why = "unknown opcode"
			return 0, false
		}
		in.Mem.Atom, in.Mem.Type, in.Role = name, atomType(name), isa.RoleReduction
		if ret {
			in.Role = isa.RoleAtomic
		}
		if name == "CAS" || name == "MSKOR" {
			values = 2
		}
	}
	switch {
	case strings.Contains(op, "BYTE"):
		in.Mem.Width = 1
	case strings.Contains(op, "SHORT"):
		in.Mem.Width = 2
	}
	return values, true
}

// ldsAddress returns the address operand of an LDS operation.
func (x *tsGroup) ldsAddress(src isa.Operand) (addr isa.Operand, ok bool) {
	in := &x.in
	addr = isa.Operand{Kind: isa.OpdMem, Words: 1, Text: src.Text}
	switch src.Kind {
	case isa.OpdReg:
		addr.Reg = src.Reg
		in.Addrs = []isa.Reg{addr.Reg}
		in.Uses = appendReg(in.Uses, addr.Reg)
	case isa.OpdImm:
		addr.Off = src.Imm
	default:
		x.why = "address not understood"
		return addr, false
	}
	return addr, true
}

// ldsResults pushes the results of an LDS operation onto the queue.
func (x *tsGroup) ldsResults(op string) bool {
	in := &x.in
	n := 1
	if op == "READ2" {
		n = 2
	}
	for i := 0; i < n; i++ {
		if x.b.oqPush >= oqCount {
			x.why = "lds queue overflows"
			return false
		}
		r := isa.Reg{Class: isa.ClassGPR, Num: uint16(oqFirst + x.b.oqPush)}
		x.b.oqPush++
		in.Defs = appendReg(in.Defs, r)
		x.load = append(x.load, r)
		in.Args = append(in.Args, regOpd(r))
	}
	return true
}
