package optcheck

import (
	"fmt"
	"strings"

	"optcheck/isa"
	"optcheck/target"
)

// x86 is x86-64 as PoCL compiles OpenCL C for it. The function of a kernel gets the address of an array of argument
// addresses, the address of a context, and the number of the work-group. It visits the work-items of a group in
// loops, one iteration of which, the last, is checked. Spills are on its stack.
type x86 struct{ plain }

var _ = register(target.X86, func(target.Target) arch { return x86{} })

func (x86) predicated() bool { return false }

// Symbols of the calling convention (PoCL, lib/llvmopencl/Workgroup.cc: arguments,
// context, group numbers, in the registers of the System V ABI).
const (
	x86Stack     = "stack"
	x86Arguments = "arguments"
	x86Argument  = "argument " // followed by its number
	x86Context   = "context"
)

func (x86) launch(m *machine, st *state) {
	for _, x := range []held{{isa.X86RSP, x86Stack}, {isa.X86RDI, x86Arguments}, {isa.X86RSI, x86Context}} {
		for w := range 2 {
			st.v[regIndex(isa.X86Word(x.reg, w))] = m.symbol(x.name, w)
		}
	}
	for _, x := range []held{{isa.X86RDX, "group x"}, {isa.X86RCX, "group y"}, {isa.X86R8, "group z"}} {
		st.v[regIndex(isa.X86Word(x.reg, 0))] = m.special(x.name)
	}
}

// held is what a register holds at the entry of a kernel.
type held struct {
	reg  int
	name string
}

// symbol returns a word of the address of something with a name.
func (m *machine) symbol(name string, word int) value {
	p := m.tr.pool
	return p.mk(node{kind: kSym, imm: p.str(name), a: value(word), b: none, c: none})
}

// special returns a word of which only the name is known.
func (m *machine) special(name string) value {
	p := m.tr.pool
	return p.mk(node{kind: kSpecial, imm: p.str(name), a: none, b: none, c: none})
}

// instruction evaluates accesses to the stack, and loads of arguments and of the context.
func (a x86) instruction(m *machine, i int, in *isa.Inst, guard value, t taint) bool {
	if in.Role != isa.RoleLoad && in.Role != isa.RoleStore {
		return false
	}
	at, k := m.arch.address(m, in)
	switch {
	case k.base != baseSym:
		return false
	case k.name == x86Stack && in.Role == isa.RoleStore:
		m.private(i, in, at, extension{zero: true}, guard, t)
		return true
	case in.Role == isa.RoleStore:
		return false
	case k.name == x86Stack:
		one := *in
		one.Defs = in.Defs[:min((in.Mem.Width+3)/4, len(in.Defs))]
		m.private(i, &one, at, extension{zero: true}, guard, t)
	}
	var out []assign
	for w, d := range in.Defs {
		v := m.tr.pool.constant(0)
		switch {
		case 4*w >= in.Mem.Width:
		case k.name == x86Stack:
			continue
		default:
			var ok bool
			if v, ok = a.handed(m, k, w, in.Mem.Width); !ok {
				return false
			}
		}
		out = append(out, assign{regIndex(d), v, 0})
	}
	m.commit(out, guard, in.Guard.Neg, t)
	return true
}

// PoCL's context holds the size of a work-group in three words of eight bytes.
const (
	x86LocalSize    = 0x30
	x86LocalSizeEnd = 0x48
	localSize       = "size of the work-group"
)

// handed returns a word that the caller passes.
func (x86) handed(m *machine, k key, word, width int) (value, bool) {
	p, off := m.tr.pool, k.off+int64(4*word)
	var n int64
	switch {
	case k.name == x86Arguments && width == 8 && k.off >= 0 && k.off%8 == 0:
		return m.symbol(fmt.Sprint(x86Argument, k.off/8), word), true
	case k.name == x86Context:
		if k.off >= x86LocalSize && k.off < x86LocalSizeEnd && k.off%8 == 0 && word == 0 {
			return m.special(localSize), true
		}
		return m.special(fmt.Sprintf("context+%#x", off)), true
	case strings.HasPrefix(k.name, x86Argument):
		if _, err := fmt.Sscan(k.name[len(x86Argument):], &n); err != nil || off < 0 || off >= 8 || off%4 != 0 {
			return none, false
		}
		return p.bits(lutAnd, p.param(8*n+off), p.constant(1<<(8*width)-1), none), true
	}
	return none, false
}

// micro uses that the last work-item of a group is checked: a count of work-items that is compared with their number
// equals that number.
func (x86) micro(m *machine, _, _ int, mi *isa.Micro, src operands) (value, bool) {
	wide := mi.Op == isa.MicroSetpWide
	if m.view == nil || m.view.learns() || mi.Cmp != "EQ" || !wide && mi.Op != isa.MicroSetp {
		return none, false
	}
	p, by := m.tr.pool, m.special(localSize)
	a, b := src[0], src[1]
	if wide {
		b = src[2]
	}
	for range 2 {
		if _, constant := p.isConst(b); p.mentions(a, by) && !p.mentions(b, by) && !constant {
			return p.truth(true), true
		}
		a, b = b, a
	}
	return none, false
}

func (x86) effect(in *isa.Inst) bool { return in.Flow == isa.FlowTrap }
