package sass

import (
	"fmt"
	"math/bits"

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

// word gives the value of a source before truncation to 32 bits.
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
	var full []uint64
	var w []uint32
	for _, o := range mi.Src {
		v, ok := m.word(o)
		if !ok {
			return 0, false
		}
		full, w = append(full, v), append(w, uint32(v))
	}
	var sum uint64
	for _, v := range full {
		sum += v
	}
	b := func(x bool) uint32 {
		if x {
			return 1
		}
		return 0
	}
	switch mi.Op {
	case isa.MicroMov:
		return w[0], true
	case isa.MicroAdd, isa.MicroAddHi:
		return uint32(sum), true
	case isa.MicroCarry:
		return b(sum >= 1<<32), true
	case isa.MicroCarry2:
		return b(sum >= 2<<32), true
	case isa.MicroLop3:
		var r uint32
		for i := 0; i < 32; i++ {
			k := w[0]>>i&1<<2 | w[1]>>i&1<<1 | w[2]>>i&1
			r |= uint32(mi.LUT>>k&1) << i
		}
		return r, true
	case isa.MicroPlop:
		return uint32(mi.LUT >> (w[0]<<2 | w[1]<<1 | w[2]) & 1), true
	case isa.MicroMul:
		return w[0] * w[1], true
	case isa.MicroMad:
		return w[0]*w[1] + w[2], true
	case isa.MicroMulHi, isa.MicroMadHi:
		p := uint64(w[0]) * uint64(w[1])
		if mi.Signed {
			p = uint64(int64(int32(w[0])) * int64(int32(w[1])))
		}
		if mi.Op == isa.MicroMadHi {
			p += uint64(w[3])<<32 | uint64(w[2])
		}
		return uint32(p >> 32), true
	case isa.MicroShl:
		return uint32(uint64(w[0]) << min(w[1], 32)), true
	case isa.MicroShr:
		if mi.Signed {
			return uint32(int64(int32(w[0])) >> min(w[1], 32)), true
		}
		return uint32(uint64(w[0]) >> min(w[1], 32)), true
	case isa.MicroShfHi:
		return uint32((uint64(w[1])<<32 | uint64(w[0])) << w[2] >> 32), true
	case isa.MicroShfLo:
		return uint32((uint64(w[1])<<32 | uint64(w[0])) >> w[2]), true
	case isa.MicroSel:
		if w[2] != 0 {
			return w[0], true
		}
		return w[1], true
	case isa.MicroSetp:
		return b(m.setp(mi, w)), true
	case isa.MicroLea:
		return w[0]<<w[1] + w[2], true
	case isa.MicroLeaCarry:
		_, c := bits.Add32(w[0]<<w[1], w[2], 0)
		return c, true
	case isa.MicroLeaHi:
		x := uint64(w[1])<<32 | uint64(w[0])
		if mi.Signed {
			x = uint64(int64(int32(w[0])))
		}
		r := uint32(x<<w[2]>>32) + w[3]
		if len(w) > 4 {
			r += w[4]
		}
		return r, true
	case isa.MicroPrmt:
		var r uint32
		both := uint64(w[2])<<32 | uint64(w[0])
		for i := 0; i < 4; i++ {
			r |= uint32(both>>(8*(w[1]>>(4*i)&7))&0xff) << (8 * i)
		}
		return r, true
	case isa.MicroAddWide:
		return uint32((uint64(w[1])<<32 + uint64(w[0]) + uint64(w[3])<<32 + uint64(w[2])) >> 32), true
	}
	return 0, false
}

func (m *machine) setp(mi *isa.Micro, w []uint32) bool {
	x, y := int64(w[0]), int64(w[1])
	if mi.Signed {
		x, y = int64(int32(w[0])), int64(int32(w[1]))
	}
	var r bool
	switch mi.Cmp {
	case "EQ":
		r = x == y
	case "NE":
		r = x != y
	case "LT":
		r = x < y
	case "LE":
		r = x <= y
	case "GT":
		r = x > y
	case "GE":
		r = x >= y
	}
	if len(w) > 3 && x == y {
		r = w[3] != 0
	}
	switch c := w[2] != 0; mi.Bool {
	case "AND":
		return r && c
	case "OR":
		return r || c
	}
	return r != (w[2] != 0)
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
