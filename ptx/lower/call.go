package lower

import (
	"fmt"

	"optcheck/ir"
	"optcheck/ptx"
)

// Bounds of parameters of functions: of one in bytes (PTX ISA 5.1.6 allows 4352 in all), of a call's arguments and their
// registers, and of the registers of all parameters of a program.
const (
	maxParam = 8192
	maxArgs  = 256
	maxWords = 4096
	maxSlots = 1 << 20
)

// param is a variable of .param space as registers of 64 bits, or a parameter that is a register.
type param struct {
	words []ir.Reg
	size  int64
}

func words(size int64) int { return int((size + 7) / 8) }

// newParam gives a variable its registers; nil if it is not understood.
func (f *function) newParam(v *ptx.Var) *param {
	if v.Size <= 0 || v.Size > maxParam || f.paramWords > maxSlots {
		return nil
	}
	p := &param{size: v.Size}
	f.paramWords += words(v.Size)
	for range words(v.Size) {
		p.words = append(p.words, f.b.Reg())
	}
	return p
}

// word is where bytes of a parameter are: the register, and the first bit in it.
func (x *inst) word(p *param, offset int64, t ir.Type) (i int, bit uint64) {
	n := int64(t.Bits() / 8)
	if offset < 0 || offset+n > p.size || offset%n != 0 {
		x.fail("this place of a parameter is not understood")
	}
	return int(offset / 8), uint64(offset%8) * 8
}

// storeParam is st.param: PTX ISA 5.1.6.2.
func (x *inst) storeParam(p *param, list []ptx.Operand) {
	t, off := x.t(), x.in.Args[0].Value
	for k := range list {
		i, bit := x.word(p, off+int64(k*t.Bits()/8), t)
		data := x.data(&list[k], t)
		switch {
		case t.Bits() >= 64:
			for j, r := range data {
				x.to(p.words[i+j], ir.Mov, ir.U64, r)
			}
		default:
			w := p.words[i]
			x.to(w, ir.Bfi, ir.U64, data[0], w, x.imm(bit), x.imm(uint64(t.Bits())))
		}
	}
}

// loadParam is ld.param of a function's parameter, or of what a call returned.
func (x *inst) loadParam(p *param, list []ptx.Operand) {
	t, off := x.t(), x.in.Args[1].Value
	for k := range list {
		i, bit := x.word(p, off+int64(k*t.Bits()/8), t)
		if t == ir.B128 {
			r := x.write(&list[k], t)
			x.to(r, ir.Mov, ir.U64, p.words[i])
			x.to(r+1, ir.Mov, ir.U64, p.words[i+1])
			continue
		}
		r := p.words[i]
		if bit > 0 {
			r = x.op(ir.Shr, ir.U64, r, x.imm(bit))
		}
		x.extended(&list[k], t, r)
	}
}

// functions is where the addresses of functions begin that no machine code says.
const functions = 0x7f30_0000_0000

// signature is what a call and a function must have alike: the sizes of results and arguments, in bits.
func signature(results, args []int) string { return fmt.Sprint(results, args) }

// formalSizes are those of a function's results or parameters.
func formalSizes(vars []ptx.Var) []int {
	out := make([]int, len(vars))
	for i := range vars {
		if out[i] = int(8 * vars[i].Size); vars[i].Space == "reg" {
			out[i] = types[vars[i].Type].Bits()
		}
	}
	return out
}

// argumentSizes are those of what a call receives or passes on.
func (x *inst) argumentSizes(list []ptx.Operand) []int {
	out := make([]int, len(list))
	for i := range list {
		if p := x.param(&list[i]); p != nil {
			out[i] = int(8 * p.size)
		} else if list[i].Kind == ptx.Reg {
			out[i] = x.width(list[i].Reg)
		}
	}
	return out
}

// formals are the registers of a function's parameters, or of what it returns.
func (f *function) formals(vars []ptx.Var) (out []ir.Reg) {
	for i := range vars {
		if p := f.params[vars[i].Name]; p != nil {
			out = append(out, p.words...)
		} else {
			out = append(out, ir.None)
		}
	}
	return out
}

// carriers are the first n registers that carry arguments and results.
func (p *program) carriers(n int) []ir.Reg {
	for len(p.words) < n {
		p.words = append(p.words, p.b.Reg())
	}
	return p.words[:n]
}

// enter makes the first instruction of a function that is called.
func (f *function) enter() {
	x := &inst{function: f, out: f.b.Begin()}
	x.out.Form, x.out.Text = "entry", "entry"
	x.try(func() { x.copy(f.formals(f.f.Params), nil) })
}

// copy moves registers that carry arguments to registers, or the other way.
func (x *inst) copy(to, from []ir.Reg) {
	n := max(len(to), len(from))
	if c := x.carriers(n); to == nil {
		to = c
	} else {
		from = c
	}
	for i := range n {
		if to[i] == ir.None || from[i] == ir.None {
			x.fail("a parameter of this kind is not understood")
		}
		x.to(to[i], ir.Mov, ir.U64, from[i])
	}
}

// ret leaves a function: PTX ISA 9.7.12.6.
func (x *inst) ret() {
	if x.f.Entry {
		x.do(flow(ir.Exit))
		return
	}
	x.copy(nil, x.formals(x.f.Returns))
	x.do(flow(ir.Return))
}

func flow(k ir.FlowKind) *ir.Flow {
	return &ir.Flow{Kind: k, Cond: ir.None, Addr: ir.None, Mask: ir.None}
}
