package lower

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"optcheck/ir"
	"optcheck/ptx"
)

// program is a module that is being lowered.
type program struct {
	m      *ptx.Module
	b      *ir.Builder
	shapes shapes
	funcs  []*function
	byName map[string]*function
	vars   map[string]*variable // of the module, those that have been asked for
	names  map[string]bool      // of variables
	// words carry the arguments and results of calls.
	words []ir.Reg
	// paramWords counts the registers of parameters.
	paramWords int
}

// function is a function of the program.
type function struct {
	*program
	f     *ptx.Func
	entry int32    // its first instruction
	regs  []ir.Reg // of the module's registers; those of 128 bits have two
	carry ir.Reg
	// vars and slots are its variables, by their numbers in ptx.Func.Vars: those of memory, and those of .param space.
	vars  []*variable
	slots []*param
	// params are the parameters of a function that is no kernel, and what it returns; kernel those of a kernel.
	params map[string]*param
	kernel map[string]*variable
	labels map[string]int32
	// tables are those of indirect branches, and targets the instructions of those that have been asked for.
	tables  map[string][]string
	targets map[string][]int32
	// recursive tells that it may call itself.
	recursive bool
	callees   []*function
}

// variable is one of memory.
type variable struct {
	name  string // in the program
	space ir.Space
	// offset is that of a kernel's parameter.
	offset int64
}

// maxParams bounds the parameters of a kernel, in bytes: PTX ISA 5.1.6.3.
const maxParams = 32764

// Kernel lowers a kernel with all the functions it can reach.
func Kernel(m *ptx.Module, kernel string) (*ir.Program, error) {
	f := m.Func(kernel)
	if f == nil || !f.Entry {
		return nil, fmt.Errorf("%s: there is no kernel %s", m.File, kernel)
	}
	if slices.ContainsFunc(f.Params, func(v ptx.Var) bool { return v.Offset < 0 || v.Size < 0 || v.Offset > maxParams-v.Size }) {
		return nil, fmt.Errorf("%s: kernel %s has more than %d bytes of parameters", m.File, kernel, maxParams)
	}
	p := &program{m: m, b: ir.NewBuilder(kernel), shapes: shapes{}, byName: map[string]*function{},
		vars: map[string]*variable{}, names: map[string]bool{}}
	p.b.P.Cluster = cluster(m.Directives(f))
	p.reach(f)
	at := int32(0)
	for _, f := range p.funcs {
		at = f.layout(at)
	}
	for _, f := range p.funcs {
		f.lower()
	}
	p.pointedTo()
	p.inOrder()
	p.b.P.Block, p.b.P.BlockFixed = block(m.Directives(f))
	return &p.b.P, nil
}

var clusters = regexp.MustCompile(`\.reqnctapercluster\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?`)

// cluster is the size of clusters that a kernel's directives ask for: PTX ISA 11.7.
func cluster(directives string) (size [3]int) {
	m := clusters.FindStringSubmatch(directives)
	if m == nil {
		return size
	}
	for i := range size {
		size[i] = 1
		if n, err := strconv.Atoi(m[i+1]); err == nil && n > 0 {
			size[i] = n
		}
	}
	return size
}

var launchBounds = regexp.MustCompile(`\.(maxntid|reqntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?`)

// block is the number of threads that the directives of a kernel declare, and whether it is that of every launch.
func block(directives string) (n [3]int, fixed bool) {
	m := launchBounds.FindStringSubmatch(directives)
	if m == nil {
		return n, false
	}
	for i := range n {
		n[i] = 1
		if m[2+i] != "" {
			n[i], _ = strconv.Atoi(m[2+i])
		}
	}
	if n[0] < 1 || n[1] < 1 || n[2] < 1 || n[0] > 1024 || n[1] > 1024 || n[2] > 1024 || n[0]*n[1]*n[2] > 1024 {
		return [3]int{}, false
	}
	return n, m[1] == "reqntid"
}

// reach adds a function and those whose names it has.
func (p *program) reach(first *ptx.Func) {
	add := func(f *ptx.Func) *function {
		n := p.byName[f.Name]
		if n == nil {
			n = &function{program: p, f: f}
			p.funcs = append(p.funcs, n)
			p.byName[f.Name] = n
		}
		return n
	}
	add(first)
	for i := 0; i < len(p.funcs); i++ {
		f := p.funcs[i]
		visit := func(name string) {
			if to := p.m.Func(name); to != nil && !to.Entry {
				f.callees = append(f.callees, add(to))
			}
		}
		if eachName(f.f, visit) {
			p.stored(visit)
		}
	}
	p.cycles()
}

// stored visits the names in initialisers of variables: what stands there can be called by whoever calls through a register.
func (p *program) stored(visit func(string)) {
	for i := range p.m.Vars {
		_, at, err := p.m.Init(&p.m.Vars[i])
		for k := range at {
			if err == nil {
				visit(at[k].Symbol)
			}
		}
	}
}

// cycles finds the functions that may call themselves: those that are left when whoever calls nobody that is left, or is
// called by nobody that is left, is taken away.
func (p *program) cycles() {
	out, in, callers := map[*function]int{}, map[*function]int{}, map[*function][]*function{}
	for _, f := range p.funcs {
		f.recursive = true
		out[f] = len(f.callees)
		for _, c := range f.callees {
			in[c]++
			callers[c] = append(callers[c], f)
		}
	}
	work := slices.Clone(p.funcs)
	for len(work) > 0 {
		f := work[len(work)-1]
		if work = work[:len(work)-1]; !f.recursive || out[f] > 0 && in[f] > 0 {
			continue
		}
		f.recursive = false
		for _, c := range f.callees {
			in[c]--
		}
		for _, c := range callers[f] {
			out[c]--
		}
		work = append(append(work, f.callees...), callers[f]...)
	}
}

// eachName visits the names of symbols in the operands of a function, and reports whether it calls through a register.
func eachName(f *ptx.Func, visit func(string)) (indirect bool) {
	var walk func(list []ptx.Operand)
	walk = func(list []ptx.Operand) {
		for i := range list {
			if list[i].Kind == ptx.Sym {
				visit(list[i].Name)
			}
			walk(list[i].Elems)
		}
	}
	for _, s := range f.Body {
		if s.Inst != nil {
			walk(s.Inst.Args)
			indirect = indirect || s.Inst.Name == "call" && slices.ContainsFunc(s.Inst.Args, func(o ptx.Operand) bool { return o.Kind == ptx.Reg })
		}
	}
	return indirect
}

// layout gives a function its registers, variables and instructions, from a number of instruction on.
func (f *function) layout(at int32) int32 {
	first := ir.Reg(f.b.P.Regs)
	f.regs = make([]ir.Reg, len(f.f.Regs))
	for i, r := range f.f.Regs {
		if r.Name == "" { // of a range, never named
			continue
		}
		f.regs[i] = f.b.Reg()
		if r.Type == "b128" {
			f.b.Reg()
		}
	}
	f.carry = f.b.Reg()
	f.functionVars()
	f.entry = at
	f.labels, f.tables, f.targets = map[string]int32{}, map[string][]string{}, map[string][]int32{}
	n := at
	if !f.f.Entry {
		n++
	}
	for _, s := range f.f.Body {
		switch s.Kind {
		case ptx.StmtInst:
			n++
		case ptx.StmtLabel:
			f.labels[s.Name] = n
		case ptx.StmtTable:
			f.tables[s.Name] = s.Labels
		}
	}
	if f.falls() {
		n++
	}
	f.b.P.Functions[f.f.Name] = functions + uint64(len(f.b.P.Funcs))*16
	f.b.P.Funcs = append(f.b.P.Funcs, ir.Func{Name: f.f.Name, First: at, End: n, RegFirst: first, RegEnd: ir.Reg(f.b.P.Regs),
		Signature: signature(formalSizes(f.f.Returns), formalSizes(f.f.Params))})
	return n
}

// lower makes a function's instructions.
func (f *function) lower() {
	if !f.f.Entry {
		f.enter()
	}
	for _, s := range f.f.Body {
		if s.Inst != nil {
			f.inst(s.Inst)
		}
	}
	if f.falls() {
		x := &inst{function: f, out: f.b.Begin(), in: &ptx.Inst{Guard: -1}}
		x.out.Form, x.out.Text = "ret", "ret"
		x.try(x.ret)
	}
}

// falls reports whether control may come to the end of the function's text, where it returns.
func (f *function) falls() bool {
	for _, s := range slices.Backward(f.f.Body) {
		switch {
		case s.Kind == ptx.StmtLabel:
			return true
		case s.Inst != nil:
			return s.Inst.Guard >= 0 || !slices.Contains([]string{"ret", "exit", "trap", "bra", "brx"}, s.Inst.Name)
		}
	}
	return true
}

// opaque is thrown where an instruction is not understood.
type opaque string

// inst is an instruction that is being lowered.
type inst struct {
	*function
	in   *ptx.Inst
	out  *ir.Inst
	mods map[string]string
}

func (x *inst) fail(format string, args ...any) { panic(opaque(fmt.Sprintf(format, args...))) }

// try makes the instruction opaque if it is not understood.
func (x *inst) try(lower func()) {
	defer func() {
		if r := recover(); r != nil {
			why, ok := r.(opaque)
			if !ok {
				panic(r)
			}
			x.out.Pre, x.out.Do, x.out.Post, x.out.Opaque, x.out.Results = nil, nil, nil, string(why), x.results()
		}
	}()
	lower()
}

// fetches are the instructions that read textures, and what is known of them: they do nothing but write registers.
var fetches = []string{"tex", "tld4", "txq", "suq"}

// results are the registers that a fetch writes; nil if the instruction is none.
func (x *inst) results() (out []ir.Reg) {
	if x.in == nil || !slices.Contains(fetches, x.in.Name) || len(x.in.Args) == 0 {
		return nil
	}
	for _, r := range x.in.Args[0].Registers(nil) {
		if x.f.Regs[r].Type == "pred" {
			return nil
		}
		out = append(out, x.regs[r])
	}
	return out
}

// inst lowers one instruction.
func (f *function) inst(in *ptx.Inst) {
	x := &inst{function: f, in: in, out: f.b.Begin()}
	x.out.Form, x.out.Source, x.out.Text = in.Op, in.N, in.Text
	if in.Guard >= 0 && f.f.Regs[in.Guard].Type == "pred" {
		x.out.Guard, x.out.Not = f.regs[in.Guard], in.Neg
	}
	x.try(func() { x.lower(in) })
}

// lower finds the instruction's row, and does what it says.
func (x *inst) lower(in *ptx.Inst) {
	s := x.shapes.of(in)
	if in.Guard >= 0 && x.out.Guard == ir.None {
		x.fail("a guard that is no predicate is not understood")
	}
	if s.form == nil {
		x.fail("%s", s.why)
	}
	if n := len(in.Args); n < s.form.min || n > s.form.max {
		x.fail("%s with %d operands is not understood", in.Op, n)
	}
	x.mods = s.mods
	s.form.do(x)
	_, rows := chipForms()
	x.out.Unproved = len(x.out.Pre) > 0 && x.out.Do == nil && !rows[s.form]
}

// is reports whether the instruction has a modifier.
func (x *inst) is(mod string) bool { return x.mods[mod] != "" }

// t is the type of the instruction.
func (x *inst) t() ir.Type { return types[x.mods["t"]] }

// do gives the instruction its effect.
func (x *inst) do(e ir.Effect) {
	if x.out.Do != nil {
		x.fail("a special register beside another effect is not understood")
	}
	x.out.Do = e
}

// list is where operations go: before the effect, or behind it.
func (x *inst) list() *[]ir.Op {
	if x.out.Do != nil {
		return &x.out.Post
	}
	return &x.out.Pre
}

// op appends an operation, and returns where its result is.
func (x *inst) op(code ir.Code, t ir.Type, src ...ir.Reg) ir.Reg {
	return x.b.Op(x.list(), code, t, src...)
}

// to appends an operation with a destination.
func (x *inst) to(dst ir.Reg, code ir.Code, t ir.Type, src ...ir.Reg) *ir.Op {
	return x.b.To(x.list(), dst, code, t, src...)
}

// with appends an operation, and returns it for what else is to be set.
func (x *inst) with(code ir.Code, t ir.Type, src ...ir.Reg) *ir.Op {
	return x.to(x.b.Temp(), code, t, src...)
}

// ext extends a number of one type to another.
func (x *inst) ext(from, to ir.Type, r ir.Reg) ir.Reg {
	o := x.with(ir.Ext, from, r)
	o.To = to
	return o.Dst
}

// imm is a constant.
func (x *inst) imm(v uint64) ir.Reg { return x.b.Const(v) }
