package refine

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"optcheck/emu"
	"optcheck/ir"
)

// Place gives variables addresses: those of shared memory one behind the other from base on, in the order of the list,
// then those without a size.
func Place(vars []ir.Var, base int64) map[string]uint64 {
	out := map[string]uint64{}
	shared, other := base, int64(global)
	for _, dynamic := range []bool{false, true} {
		for _, v := range vars {
			align := max(v.Align, 1)
			if v.Space == ir.Shared {
				if (v.Size == 0) == dynamic {
					shared = base + (shared-base+align-1)/align*align
					out[v.Name] = uint64(shared)
					shared += v.Size
				}
			} else if !dynamic && v.Space != ir.Local && v.Space != ir.Param {
				other = (other + max(align, 16) - 1) / max(align, 16) * max(align, 16)
				out[v.Name] = uint64(other)
				other += v.Size + 256
			}
		}
	}
	return out
}

// Constants is where the variables of constant memory begin.
const Constants = emu.ConstWindow

// Addresses are those of a program's variables, in the layout of its machine code: that has the variables of constant memory in the order of
// their section.
func Addresses(program, machine *ir.Program) map[string]uint64 {
	out := Place(program.Vars, machine.SharedBase)
	for _, v := range machine.Vars {
		if _, ok := out[v.Name]; ok && v.Space == ir.ConstBank {
			out[v.Name] = Constants + uint64(v.Offset)
		}
	}
	return out
}

// address is what a place of an initialiser holds: the address of a variable or of a function.
func (in *Input) address(prog *ir.Program, p *ir.Pointer) uint64 {
	v, ok := in.Vars[p.Symbol]
	if !ok {
		v = prog.Functions[p.Symbol]
	}
	if v += uint64(p.Addend); p.Generic && v < 1<<32 {
		v |= emu.SharedWindow
	}
	return v >> p.Shift
}

// content is what a variable of a program holds before the first thread runs, and after what its file says, zeros.
func (in *Input) content(prog *ir.Program, v *ir.Var) []byte {
	data := make([]byte, min(max(v.Size, 0), mostContent))
	copy(data, v.Init)
	for _, p := range v.Inits {
		if p.Offset >= 0 && p.Offset+int64(p.Bytes) <= int64(len(data)) && p.Bytes <= 8 {
			var w [8]byte
			binary.LittleEndian.PutUint64(w[:], in.address(prog, &p))
			copy(data[p.Offset:p.Offset+int64(p.Bytes)], w[:])
		}
	}
	return data
}

// mostContent is the most of a variable that is filled.
const mostContent = 1 << 20

// fill puts the first content of variables and buffers into memory.
func (in *Input) fill(m *emu.Memory, prog *ir.Program) {
	for i := range prog.Vars {
		if v := &prog.Vars[i]; v.Space == ir.Global || v.Space == ir.ConstBank {
			m.Fill(in.Vars[v.Name], in.content(prog, v))
		}
	}
	for _, v := range hosted(prog) {
		if data := in.given(&v); data != nil {
			m.Fill(in.Vars[v.Name], data)
		}
	}
	for _, c := range in.Memory {
		m.Fill(c.Addr, c.Data)
	}
}

// begins compares what variables hold before the first thread runs: a file of machine code brings its own content along. It says of a byte that
// differs; nil if none does. A variable that the machine code does without is none of its file's.
func (c *comparison) begins(in *Input) *Finding {
	for i := range c.program.Vars {
		v := &c.program.Vars[i]
		for k := range c.machine.Vars {
			w := &c.machine.Vars[k]
			if w.Name != v.Name || w.Space != v.Space || v.Space != ir.Global && v.Space != ir.ConstBank {
				continue
			}
			want, got := in.content(c.program, v), in.content(c.machine, w)
			n := min(len(want), len(got))
			if bytes.Equal(want[:n], got[:n]) {
				continue
			}
			for n = 0; want[n] == got[n]; n++ {
			}
			return &Finding{Rule: WrongValue, Why: fmt.Sprintf("variable %s begins with another byte at %d", v.Name, n), Input: in,
				Source: -1, Machine: -1, Want: uint64(want[n]), Got: uint64(got[n]), Address: in.Vars[v.Name] + uint64(n), Both: true}
		}
	}
	return nil
}
