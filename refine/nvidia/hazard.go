package nvidia

import (
	"context"
	"fmt"
	"slices"

	"optcheck/ir"
	"optcheck/isa"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/refine"
	"optcheck/sass/cubin"
	"optcheck/sass/hazard"
	sasslower "optcheck/sass/lower"
)

var (
	uses  = map[hazard.Kind]refine.Use{hazard.RAW: refine.ReadsOld, hazard.WAW: refine.OldStays, hazard.WAR: refine.ReadsNew}
	kinds = map[refine.Use]hazard.Kind{refine.ReadsOld: hazard.RAW, refine.OldStays: hazard.WAW, refine.ReadsNew: hazard.WAR}
)

// Hazard executes a kernel of a module and its machine code, in which a finding in one of its functions is performed: findings are what that
// changes. The error is that one of the two cannot be lowered, or that ctx ended.
func Hazard(ctx context.Context, m *ptx.Module, prog *isa.Program, file *cubin.File, kernel, fn string, f hazard.Finding, o refine.Options) (*refine.Result, error) {
	program, err := ptxlower.Kernel(m, kernel)
	if err != nil {
		return nil, err
	}
	machine, err := sasslower.Kernel(prog, file, kernel)
	if err != nil {
		return nil, err
	}
	at, code := functionOf(prog, machine, fn)
	if code == nil {
		return nil, fmt.Errorf("%s is not executed by %s", fn, kernel)
	}
	out := &refine.Result{}
	for _, g := range hazard.Effects(code, f) {
		e := &refine.Early{Use: uses[g.Kind], From: at.First + int32(g.From), To: at.First + int32(g.To)}
		if o.Early, err = Early(prog, machine, e); err != nil {
			return nil, err
		}
		if out, err = refine.Compare(ctx, program, machine, o); err != nil || len(out.Findings) > 0 {
			break
		}
	}
	return out, err
}

// Early makes a use of registers that was found ready to be executed with machine code. The error is that the code has no such instructions.
func Early(prog *isa.Program, machine *ir.Program, e *refine.Early) (*refine.Early, error) {
	if e == nil {
		return nil, nil
	}
	for i := range machine.Funcs {
		at := &machine.Funcs[i]
		_, code := functionOf(prog, machine, at.Name)
		kind, known := kinds[e.Use]
		if code == nil || !known || e.From < at.First || e.From >= at.End || e.To < at.First || e.To >= at.End {
			continue
		}
		p := hazard.NewPath(code, hazard.Finding{Kind: kind, From: int(e.From - at.First)})
		if p == nil {
			break
		}
		ready := *e
		ready.Path = func() refine.Path { return &path{p.Clone(), machine, at, e.To} }
		return &ready, nil
	}
	return nil, fmt.Errorf("nothing is known of what instructions %d and %d wait for", e.From, e.To)
}

// functionOf finds a function that machine code has as instructions and as a program.
func functionOf(prog *isa.Program, machine *ir.Program, name string) (*ir.Func, *isa.Func) {
	i := slices.IndexFunc(machine.Funcs, func(f ir.Func) bool { return f.Name == name })
	k := slices.IndexFunc(prog.Funcs, func(f *isa.Func) bool { return f.Name == name })
	if i < 0 || k < 0 {
		return nil, nil
	}
	return &machine.Funcs[i], prog.Funcs[k]
}

// path is a path through machine code, as far as it is in one function.
type path struct {
	*hazard.Path
	machine *ir.Program
	at      *ir.Func
	to      int32
}

// Step implements refine.Path.
func (p *path) Step(pc int32) (regs []ir.Reg) {
	if pc < p.at.First || pc >= p.at.End {
		p.Reset()
		return nil
	}
	for _, r := range p.Path.Step(int(pc - p.at.First)) {
		if x, ok := p.machine.Names[r.String()]; ok && pc == p.to {
			regs = append(regs, x)
		}
	}
	return regs
}

// Clone implements refine.Path.
func (p *path) Clone() refine.Path {
	q := *p
	q.Path = p.Path.Clone()
	return &q
}
