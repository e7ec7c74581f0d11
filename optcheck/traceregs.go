package optcheck

import (
	"maps"
	"sync"

	"optcheck/isa"
)

// Register numbering of the flat state.
const (
	regGPR     = 0
	regUGPR    = 256
	regPred    = 512
	regUPred   = 528
	regCC      = 544
	regBarrier = 545
	regSpecial = 577
	regCount   = 705
	// Only some architectures have the following.
	regHigh = 705  // vector registers from 256 on
	regAcc  = 1473 // accumulation registers
	regMax  = 1729
)

func regIndex(r isa.Reg) int {
	n := int(r.Num)
	switch r.Class {
	case isa.ClassGPR:
		if n > 255 {
			return regHigh + (n-256)%(regAcc-regHigh)
		}
		return regGPR + n
	case isa.ClassUGPR:
		return regUGPR + n&255
	case isa.ClassPred:
		return regPred + n&15
	case isa.ClassUPred:
		return regUPred + n&15
	case isa.ClassCC:
		return regCC
	case isa.ClassBarrier:
		return regBarrier + n&31
	case isa.ClassSpecial:
		return regSpecial + n&127
	case isa.ClassAcc:
		return regAcc + n&255
	}
	return -1
}

// regOf inverts regIndex for general registers and predicates.
func regOf(i int) isa.Reg {
	switch {
	case i < regUGPR:
		return isa.Reg{Class: isa.ClassGPR, Num: uint16(i)}
	case i < regPred:
		return isa.Reg{Class: isa.ClassUGPR, Num: uint16(i - regUGPR)}
	case i < regUPred:
		return isa.Reg{Class: isa.ClassPred, Num: uint16(i - regPred)}
	case i < regCC:
		return isa.Reg{Class: isa.ClassUPred, Num: uint16(i - regUPred)}
	case i == regCC:
		return isa.Reg{Class: isa.ClassCC}
	case i < regSpecial:
		return isa.Reg{Class: isa.ClassBarrier, Num: uint16(i - regBarrier)}
	case i >= regAcc:
		return isa.Reg{Class: isa.ClassAcc, Num: uint16(i - regAcc)}
	case i >= regHigh:
		return isa.Reg{Class: isa.ClassGPR, Num: uint16(i - regHigh + 256)}
	}
	return isa.Reg{Class: isa.ClassSpecial, Num: uint16(i - regSpecial)}
}

// state is the content of all registers at one point, and of private memory where the code uses it.
type state struct {
	v     []value
	t     []taint
	slots map[slot]cell
}

// states holds states that nobody needs any more.
var states = sync.Pool{New: func() any { return &state{} }}

// takeState returns a state with that many registers, of any content.
func takeState(regs int) *state {
	st := states.Get().(*state)
	if cap(st.v) < regs {
		st.v, st.t = make([]value, regs), make([]taint, regs)
	}
	st.v, st.t, st.slots = st.v[:regs], st.t[:regs], nil
	return st
}

// set makes st a copy of another state.
func (st *state) set(o *state) {
	copy(st.v, o.v)
	copy(st.t, o.t)
	st.slots = maps.Clone(o.slots)
}

// unwritten marks, in the imm of a kSpecial, the content of a register that was never written.
const unwritten = 1 << 40

// unwritten returns what a register holds at the entry of the function.
func (p *valuePool) unwritten(i int) value {
	return p.mk(node{kind: kSpecial, imm: unwritten | uint64(i), a: none, b: none, c: none})
}

func (m *machine) get(r isa.Reg) value {
	i := regIndex(r)
	if i < 0 {
		return m.tr.pool.constant(0)
	}
	if m.cur.v[i] == none {
		m.cur.v[i] = m.tr.pool.unwritten(i)
	}
	v := m.cur.v[i]
	// Under the predicate that selected it, a value is the selected one.
	for m.guardV != none && m.tr.pool.nodes[v].kind == kSel && m.tr.pool.nodes[v].c == m.guardV {
		if m.guardNeg {
			v = m.tr.pool.nodes[v].b
		} else {
			v = m.tr.pool.nodes[v].a
		}
	}
	return m.arch.content(m, v)
}

func (m *machine) taintOf(regs []isa.Reg) (t taint) {
	for _, r := range regs {
		if i := regIndex(r); i >= 0 {
			t |= m.regTaint(i)
		}
	}
	return t
}

// chosen is the taint of a register as seen by instructions under the same predicate as its definition: without the
// taint of the old content.
type chosen struct {
	guard value
	neg   bool
	t     taint
}

// regTaint returns the taint of a register for the current instruction.
func (m *machine) regTaint(i int) taint {
	if c, ok := m.chosen[i]; ok && c.guard == m.guardV && c.neg == m.guardNeg {
		return c.t
	}
	return m.cur.t[i]
}

// operand evaluates one 32-bit source.
func (m *machine) operand(o isa.Operand) (value, taint) {
	p := m.tr.pool
	var v value
	var t taint
	switch o.Kind {
	case isa.OpdReg, isa.OpdPred:
		if o.Zero {
			v = p.truth(o.Kind == isa.OpdPred) // PT
			break
		}
		v, t = m.half(m.get(o.Reg), o.Part), m.regTaint(regIndex(o.Reg))
	case isa.OpdImm, isa.OpdFloat:
		v = p.constant(uint32(o.Imm))
	case isa.OpdConst:
		off := o.Off
		if o.Reg.Class != isa.ClassNone {
			t = m.regTaint(regIndex(o.Reg))
			c, ok := p.isConst(m.get(o.Reg))
			if !ok {
				return p.mk(node{kind: kFun, imm: uint64(o.Bank)<<32 | 1<<48, a: m.get(o.Reg), b: p.constant(uint32(off)), c: none}), t
			}
			off += int64(int32(c))
		}
		v = m.arch.bank(m, o.Bank, off)
	case isa.OpdSym:
		part := value(0)
		if o.Part == "hi" {
			part = 1
		}
		v = p.mk(node{kind: kSym, imm: p.str(o.Sym), a: part, b: none, c: none})
	case isa.OpdSpecial:
		v = p.mk(node{kind: kSpecial, imm: p.str(o.Sym), a: none, b: none, c: none})
	default:
		v = p.mk(node{kind: kSpecial, imm: p.str("?" + o.Text), a: none, b: none, c: none})
	}
	if o.Not {
		v = p.bits(^uint8(lutA), v, none, none)
	}
	if o.Neg {
		if c, ok := p.isConst(v); ok {
			v = p.constant(-c)
		} else {
			v = p.mk(node{kind: kFun, imm: funNeg, a: v, b: none, c: none})
		}
	}
	return v, t
}

// isWordReg reports whether a register holds a word of data, as a load may
// write it.
func isWordReg(r isa.Reg) bool {
	switch r.Class {
	case isa.ClassGPR, isa.ClassUGPR, isa.ClassAcc:
		return true
	case isa.ClassSpecial: // AMD code loads into VCC
		return r.Num == isa.SpecVCCLo || r.Num == isa.SpecVCCHi
	}
	return false
}
