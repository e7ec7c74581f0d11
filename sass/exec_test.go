package sass

import (
	"fmt"

	"optcheck/isa"
)

// machine executes micro-operations on concrete values, for tests. A register
// that is not in vals is unknown, and so is everything computed from it.
type machine struct {
	vals   map[isa.Reg]uint32
	consts func(bank int, off int64) (uint32, bool)
	stores map[uint64]uint32 // word address → value; unknown values are absent
	opaque int               // stores of unknown values or to unknown addresses
}

// word returns the value of a source before truncation to 32 bits.
func (m *machine) word(o isa.Operand) (uint64, bool) {
	var v uint32
	ok := true
	switch o.Kind {
	case isa.OpdImm:
		return uint64(o.Imm), true
	case isa.OpdReg:
		v, ok = m.vals[o.Reg]
	case isa.OpdPred:
		if o.Zero {
			v = 1
		} else {
			v, ok = m.vals[o.Reg]
		}
		if o.Not {
			v ^= 1
		}
		return uint64(v), ok
	case isa.OpdConst:
		off := o.Off
		if o.Reg.Class != isa.ClassNone {
			r, known := m.vals[o.Reg]
			if !known {
				return 0, false
			}
			off += int64(int32(r))
		}
		v, ok = m.consts(o.Bank, off)
	default:
		return 0, false
	}
	if o.Not {
		v = ^v
	}
	if o.Neg {
		return 1<<32 - uint64(v), ok
	}
	return uint64(v), ok
}

// eval computes one micro-operation.
func (m *machine) eval(mi *isa.Micro) (uint32, bool) {
	full := make([]uint64, len(mi.Src))
	for i, o := range mi.Src {
		var ok bool
		if full[i], ok = m.word(o); !ok {
			return 0, false
		}
	}
	return mi.Eval(full)
}

// step executes an instruction. It fails when control flow depends on it.
func (m *machine) step(in *isa.Inst) error {
	if in.Role == isa.RoleUnknown {
		clear(m.vals)
		return nil
	}
	taken, known := uint32(1), true
	if in.Guard.Never {
		return nil
	}
	if in.Guard.Reg.Class != isa.ClassNone {
		taken, known = m.vals[in.Guard.Reg]
		if in.Guard.Neg {
			taken ^= 1
		}
	}
	if known && taken == 0 {
		return nil
	}
	if in.Role == isa.RoleStore {
		m.store(in, known)
		return nil
	}
	type result struct {
		v  uint32
		ok bool
	}
	res := map[isa.Reg]result{}
	for i := range in.Micro {
		v, ok := m.eval(&in.Micro[i])
		res[in.Micro[i].Dst] = result{v, ok && known}
	}
	for _, d := range in.Defs {
		if r := res[d]; r.ok {
			m.vals[d] = r.v
		} else {
			delete(m.vals, d)
		}
	}
	for d := range res {
		found := false
		for _, x := range in.Defs {
			found = found || x == d
		}
		if !found {
			return fmt.Errorf("%s: micro writes %s, which is no definition", in.Text, d)
		}
	}
	return nil
}

// store records a global store word by word.
func (m *machine) store(in *isa.Inst, known bool) {
	// Before sm_50 all global stores are generic.
	if in.Mem.Space != isa.SpaceGlobal && in.Mem.Space != isa.SpaceGeneric {
		return
	}
	o := in.Args[0]
	addr := uint64(o.Off)
	for n, part := range []struct {
		r     isa.Reg
		words int
	}{{o.Reg, o.Words}, {o.Base2, 2}} {
		for k := 0; k < part.words && part.r.Class != isa.ClassNone; k++ {
			v, ok := m.vals[isa.Reg{Class: part.r.Class, Num: part.r.Num + uint16(k)}]
			known = known && ok && n < 2
			addr += uint64(v) << (32 * k)
		}
	}
	if !known {
		m.opaque++
		return
	}
	for k := 0; k < max(1, in.Mem.Width/4); k++ {
		v := uint32(0)
		ok := true
		if d := in.Args[1]; !d.Zero {
			v, ok = m.vals[isa.Reg{Class: d.Reg.Class, Num: d.Reg.Num + uint16(k)}]
		}
		if !ok {
			delete(m.stores, addr+uint64(4*k))
			m.opaque++
			continue
		}
		m.stores[addr+uint64(4*k)] = v
	}
}

// newMachine starts with nothing known but the kernel's parameters.
func newMachine(params map[int64]uint32, base int64) *machine {
	return &machine{
		vals:   map[isa.Reg]uint32{},
		stores: map[uint64]uint32{},
		consts: func(bank int, off int64) (uint32, bool) {
			v, ok := params[off-base]
			return v, ok && bank == 0
		},
	}
}
