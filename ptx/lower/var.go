package lower

import (
	"cmp"
	"fmt"
	"slices"

	"optcheck/ir"
	"optcheck/ptx"
)

// maxVar bounds a variable, in bytes.
const maxVar = 1 << 32

// variable finds a variable of the module, and makes it when it is asked for first; nil if there is none that is understood.
func (p *program) variable(name string) *variable {
	v, ok := p.vars[name]
	if m := p.m.Var(name); !ok && m != nil {
		v = p.newVar(m, name, "")
		p.vars[name] = v
	}
	return v
}

// pointedTo makes the variables whose addresses stand in others.
func (p *program) pointedTo() {
	for i := 0; i < len(p.b.P.Vars); i++ {
		for _, at := range p.b.P.Vars[i].Inits {
			p.variable(at.Symbol)
		}
	}
}

// inOrder puts the variables into the order in which ptxas lays out shared memory, whatever refers to them first: those of functions that
// other modules can call, then those of the module, then those of other functions, each as they are declared. What nobody names has no place
// there.
func (p *program) inOrder() {
	at, declared := map[string]int{}, p.m.Declared()
	for i := range p.m.Vars {
		at[p.m.Vars[i].Name] = i + 1
	}
	place := func(v *ir.Var) (kind, n int) {
		f := p.m.Func(v.Func)
		switch {
		case v.Func == "" || f == nil:
			return 1, at[v.Name]
		case f.Visible:
			return 0, declared[v.Func]
		}
		return 2, declared[v.Func]
	}
	used := map[string]bool{}
	for i := range p.b.P.Consts {
		used[p.b.P.Consts[i].Symbol] = true
	}
	p.b.P.Vars = slices.DeleteFunc(p.b.P.Vars, func(v ir.Var) bool { return v.Space == ir.Shared && v.Func != "" && !used[v.Name] })
	slices.SortStableFunc(p.b.P.Vars, func(a, b ir.Var) int {
		m, i := place(&a)
		n, k := place(&b)
		return cmp.Or(m-n, i-k)
	})
}

// newVar makes a variable of memory; nil if it is not understood. Variables of .local space have their
// addresses at once; a launch chooses those of the others.
func (p *program) newVar(v *ptx.Var, name, fn string) *variable {
	space, ok := spaces[v.Space]
	if !ok || v.Space == "param" || v.Size < 0 || v.Size > maxVar || v.Align < 0 || v.Align > maxVar {
		return nil
	}
	init, at, err := p.m.Init(v)
	if err != nil {
		return nil
	}
	n := ir.Var{Name: name, Space: space, Size: v.Size, Align: v.Align, Init: init, Func: fn}
	if n.Size == 0 {
		n.Size = int64(len(init))
	}
	for _, a := range at {
		n.Inits = append(n.Inits, ir.Pointer{Offset: a.Offset, Symbol: a.Symbol, Addend: a.Addend, Bytes: a.Bytes,
			Generic: a.Generic, Shift: a.Shift})
	}
	out := &variable{name: name, space: space}
	if space == ir.Local {
		n.Offset = aligned(p.b.P.LocalBytes, n.Align)
		out.offset, p.b.P.LocalBytes = n.Offset, n.Offset+n.Size
	}
	p.b.P.Vars = append(p.b.P.Vars, n)
	return out
}

func aligned(at, align int64) int64 { return (at + max(align, 1) - 1) / max(align, 1) * max(align, 1) }

// functionVars makes the variables and parameters of a function.
func (f *function) functionVars() {
	f.params, f.kernel = map[string]*param{}, map[string]*variable{}
	if f.f.Entry {
		for i := range f.f.Params {
			v := &f.f.Params[i]
			f.b.P.Params = append(f.b.P.Params, ir.Var{Name: v.Name, Space: ir.Param, Size: v.Size, Align: v.Align, Offset: v.Offset})
			f.kernel[v.Name] = &variable{name: v.Name, space: ir.Param, offset: v.Offset}
		}
	}
	reg := 0 // those that are registers are the function's first ones: PTX ISA 5.1.6.4
	for _, list := range [][]ptx.Var{f.f.Params, f.f.Returns} {
		for i := range list {
			switch v := &list[i]; {
			case f.f.Entry:
			case v.Space == "param":
				f.params[v.Name] = f.newParam(v)
			case f.f.Regs[reg].Type == "b128":
				f.params[v.Name] = &param{words: []ir.Reg{f.regs[reg], f.regs[reg] + 1}}
				reg++
			default:
				f.params[v.Name] = &param{words: f.regs[reg : reg+1]}
				reg++
			}
		}
	}
	f.vars = make([]*variable, len(f.f.Vars))
	f.slots = make([]*param, len(f.f.Vars))
	for i := range f.f.Vars {
		switch v := &f.f.Vars[i]; {
		case v.Space == "param":
			f.slots[i] = f.newParam(v)
		case v.Space == "local" && f.recursive: // it would need an address of its own in each call
		default:
			f.vars[i] = f.newVar(v, f.unique(v.Name), f.f.Name)
		}
	}
}

// unique is a name that no other variable of the program has.
func (f *function) unique(name string) string {
	if f.m.Var(name) != nil || f.names[name] {
		name = fmt.Sprintf("%s.%s.%d", f.f.Name, name, len(f.names))
	}
	f.names[name] = true
	return name
}

// variable finds the variable of memory that a symbol stands for; nil if there is none that is understood.
func (f *function) variable(o *ptx.Operand) *variable {
	if o.Reg > 0 {
		return f.vars[o.Reg-1]
	}
	if v := f.kernel[o.Name]; v != nil {
		return v
	}
	return f.program.variable(o.Name)
}

// param finds the parameter, of the function or of a call, that a symbol stands for; nil if there is none that is understood.
func (f *function) param(o *ptx.Operand) *param {
	switch {
	case o.Kind != ptx.Sym:
		return nil
	case o.Reg > 0:
		return f.slots[o.Reg-1]
	}
	return f.params[o.Name]
}
