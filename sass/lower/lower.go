// Package lower turns NVIDIA's machine code, sm_70 and later, into package ir: what each instruction computes and
// does, and what the file tells of constants, variables and parameters.
//
// It executes nothing and does not judge. The table of opcodes says how each reading is known. An opcode,
// modifier or form of an operand that is not understood makes its instruction opaque: nothing is ignored.
package lower

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/ir"
	"optcheck/isa"
	"optcheck/sass/cubin"
)

// codeBase is the distance of the functions in the space of code addresses.
const codeBase = 1 << 32

// unit lowers one kernel.
type unit struct {
	b     *ir.Builder
	file  *cubin.File
	arch  generation
	funcs []function
	// names finds functions, and those that lie in the code of others.
	names map[string]place
	regs  map[isa.Reg]ir.Reg
}

// function is a code section.
type function struct {
	*isa.Func
	code  *cubin.Func
	first int32
	// system is what the function does that the file names and CUDA provides; its code is one instruction.
	system ir.System
	// relocs are the places of the code that a linker fills in.
	relocs map[uint64]cubin.Reloc
}

// place is an address in a function.
type place struct {
	fn   int
	addr uint64
}

// address is the value of a register that holds a place.
func (p place) address() uint64 { return uint64(p.fn+1)*codeBase + p.addr }

// Kernel lowers a kernel with all the functions that it calls. file is the cubin that prog was disassembled from; a File serves
// one caller at a time.
func Kernel(prog *isa.Program, file *cubin.File, kernel string) (*ir.Program, error) {
	arch, err := generationOf(file.SM)
	if err != nil {
		return nil, err
	}
	u := &unit{b: ir.NewBuilder(kernel), file: file, arch: arch, names: map[string]place{}, regs: map[isa.Reg]ir.Reg{}}
	if err := u.collect(prog, kernel); err != nil {
		return nil, err
	}
	p := &u.b.P
	p.Machine, p.Code = true, map[uint64]int32{}
	if file.SM < 90 {
		p.Mbarriers = ir.Narrow
	}
	u.data(kernel)
	for i := range u.funcs {
		fn := &u.funcs[i]
		for k := range fn.Insts {
			p.Code[place{i, fn.Insts[k].Addr}.address()] = fn.first + int32(k)
			if fn.system != ir.NoSystem {
				u.system(fn)
				continue
			}
			u.inst(i, k)
		}
		p.Funcs = append(p.Funcs, ir.Func{Name: fn.Name, First: fn.first, End: fn.first + int32(len(fn.Insts))})
	}
	p.Names = map[string]ir.Reg{}
	for r, x := range u.regs {
		p.Names[r.String()] = x
	}
	return p, nil
}

// collect finds the functions of a kernel: what it names, and, if it calls what a register holds, all whose addresses
// the data of the file contain.
func (u *unit) collect(prog *isa.Program, kernel string) error {
	if !slices.ContainsFunc(prog.Funcs, func(f *isa.Func) bool { return f.Name == kernel }) {
		return fmt.Errorf("kernel %s is not in the machine code", kernel)
	}
	next, tried := int32(0), map[string]bool{}
	add := func(name string) {
		if _, ok := u.names[name]; ok || tried[name] || strings.HasPrefix(name, ".L") {
			return
		}
		tried[name] = true
		f, c := u.find(prog, name)
		if f == nil {
			if s := ir.SystemOf(name); s != ir.NoSystem {
				u.names[name] = place{fn: len(u.funcs)}
				u.funcs = append(u.funcs, function{Func: &isa.Func{Name: name, Insts: make([]isa.Inst, 1)}, first: next, system: s})
				next++
			}
			return
		}
		fn := function{Func: f, code: c, first: next, relocs: map[uint64]cubin.Reloc{}}
		for _, r := range u.file.Relocations(c) {
			fn.relocs[r.Offset&^15] = r
		}
		u.names[f.Name] = place{fn: len(u.funcs)}
		for addr, in := range u.file.Inner(c) {
			u.names[in] = place{len(u.funcs), addr}
		}
		u.funcs = append(u.funcs, fn)
		next += int32(len(f.Insts))
	}
	if add(kernel); len(u.funcs) == 0 {
		return fmt.Errorf("kernel %s is not in the cubin", kernel)
	}
	for i := 0; i < len(u.funcs); i++ {
		indirect := false
		for k := range u.funcs[i].Insts {
			in := &u.funcs[i].Insts[k]
			indirect = indirect || in.CallsRegister()
			for a := range in.Args {
				if o := &in.Args[a]; o.Kind == isa.OpdLabel || o.Kind == isa.OpdSym {
					add(symbolName(o.Sym))
				}
			}
		}
		if !indirect {
			continue
		}
		for _, name := range u.file.Addressed() {
			add(name)
		}
	}
	return nil
}

// find finds a function by its name, or by that of one that lies in its code.
func (u *unit) find(prog *isa.Program, name string) (*isa.Func, *cubin.Func) {
	at := slices.IndexFunc(u.file.Funcs, func(f cubin.Func) bool { return f.Name == name })
	for i := 0; at < 0 && i < len(u.file.Funcs); i++ {
		for _, in := range u.file.Inner(&u.file.Funcs[i]) {
			if in == name {
				at = i
			}
		}
	}
	if at < 0 {
		return nil, nil
	}
	c := &u.file.Funcs[at]
	i := slices.IndexFunc(prog.Funcs, func(f *isa.Func) bool { return f.Name == c.Name })
	if i < 0 {
		return nil, nil
	}
	return prog.Funcs[i], c
}

// The registers by which a function returns (PTX Writer's Guide to Interoperability: the machine's ABI): what, and where to.
const (
	resultReg = 4
	returnReg = 20
)

// system makes the one instruction of a function of the CUDA system.
func (u *unit) system(fn *function) {
	reg := func(n uint16) ir.Reg { return u.reg(isa.Reg{Class: isa.ClassGPR, Num: n}) }
	out := u.b.Begin()
	out.Text, out.Form = fn.Name, "system"
	if fn.system == ir.EndsThread {
		out.Do = flow(ir.Exit)
		return
	}
	out.System = true
	u.b.To(&out.Pre, reg(resultReg), ir.Mov, ir.U64, u.b.Const(0))
	u.b.To(&out.Pre, reg(resultReg+1), ir.Mov, ir.U64, u.b.Const(0))
	high := u.b.Op(&out.Pre, ir.Shl, ir.U64, reg(returnReg+1), u.b.Const(32))
	back := flow(ir.Indirect)
	back.Addr = u.b.Op(&out.Pre, ir.Or, ir.U64, high, u.b.Op(&out.Pre, ir.Ext, ir.U32, reg(returnReg)))
	back.Returns = true
	out.Do = back
}

// inst lowers an instruction.
func (u *unit) inst(fn, k int) {
	in := &u.funcs[fn].Insts[k]
	out := u.b.Begin()
	out.Source, out.Addr, out.Text, out.Form = k, in.Addr, in.Text, form(in)
	s := &step{u: u, in: in, out: out, fn: fn, mods: append([]string(nil), in.Mods...), args: in.Args, list: &out.Pre}
	s.lower()
	out.Unproved = out.Opaque == "" && HowKnown(out.Form) == Documented
}
