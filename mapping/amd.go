package mapping

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/target"
	"optcheck/toolchain"
)

// clProber maps the operations of OpenCL C for AMD's targets.
type clProber struct{}

func (clProber) ops() []Op { return CLOps() }

// levels returns O2 alone: O0 shows the back end only.
func (clProber) levels() []string { return []string{"O2"} }

// job compiles two batches, without and with libclc.
func (clProber) job(ctx context.Context, ops []Op, place pipeline.Place, _ map[int]string) ([]Cell, map[int]string, error) {
	p := &amdProbes{place: place, r600: target.IsTeraScale(place.Target), ops: ops, cells: make([]Cell, len(ops))}
	of := map[bool][]int{}
	for i := range ops {
		p.cells[i] = newCell(&ops[i], place)
		of[ops[i].cl.library] = append(of[ops[i].cl.library], i)
	}
	for _, library := range []bool{false, true} {
		if len(of[library]) == 0 {
			continue
		}
		if err := p.compile(ctx, of[library], library); err != nil {
			return nil, nil, err
		}
	}
	return p.cells, nil, nil
}

// amdProbes holds the probes of a job and their results.
type amdProbes struct {
	place pipeline.Place
	r600  bool
	ops   []Op
	cells []Cell
}

// compile compiles the probes of some operations.
func (p *amdProbes) compile(ctx context.Context, of []int, library bool) error {
	var units []toolchain.Unit
	for _, i := range of {
		name := fmt.Sprintf("m%d", i)
		text := p.ops[i].clKernel(name)
		if p.r600 {
			text = p.ops[i].clKernelR600(name)
		}
		units = append(units, toolchain.Unit{Name: name, Text: text})
	}
	job := toolchain.LLVMJob{Job: toolchain.Job{Target: p.place.Target, Level: p.place.Level, LineInfo: true,
		Units: units}, Source: toolchain.OpenCLC, CL2: true, Library: library}
	unoptimised := p.place.Level == "O0" && !p.r600 // r600 keeps private variables in registers and has no waits
	if unoptimised {
		if _, err := pipeline.Of(p.place.Toolchain, pipeline.LLVMIR); err != nil {
			for _, i := range of {
				p.cells[i].fail(failure{Refused, p.place.Toolchain.ID + " has no llc"})
			}
			return nil
		}
		job.Level, job.Emit = "O1", toolchain.Middle
	}
	if p.r600 {
		job.BatchUnits = 1 // most are refused, and clang stops at the first
	}
	res, err := p.place.Toolchain.CompileLLVM(ctx, job)
	if err != nil {
		return err
	}
	if err := p.refused(res, of); err != nil {
		return err
	}
	if !unoptimised {
		p.read(ctx, res.Batches, units, of)
		return nil
	}
	return p.backEnd(ctx, job, res.Batches, units, of)
}

// backEnd compiles IR at O0. Before, the passes of O1 have removed the private variables in
// which the front end keeps values. One kernel can make the back end reject a module: the
// kernels of such a module get modules of their own.
func (p *amdProbes) backEnd(ctx context.Context, front toolchain.LLVMJob, modules []toolchain.Batch,
	units []toolchain.Unit, of []int) error {
	back := toolchain.LLVMJob{Job: toolchain.Job{Target: p.place.Target, Level: "O0", BatchUnits: 1}, Source: toolchain.LLVMIR}
	for i, b := range modules {
		back.Units = append(back.Units, toolchain.Unit{Name: fmt.Sprintf("module%d", i), Text: string(b.Text)})
	}
	res, err := p.place.Toolchain.CompileLLVM(ctx, back)
	if err != nil {
		return err
	}
	for i := range res.Batches {
		b := &res.Batches[i]
		b.Units = modules[b.Units[0]].Units
	}
	p.read(ctx, res.Batches, units, of)
	front.Units = nil
	var again []int
	for i := range modules {
		e := res.Failed[i]
		switch {
		case e == nil:
		case errors.Is(e, toolchain.ErrCancelled):
			return e
		case len(modules[i].Units) == 1:
			p.cells[of[modules[i].Units[0]]].fail(failed(e, p.place.Toolchain))
		default:
			for _, u := range modules[i].Units {
				front.Units, again = append(front.Units, units[u]), append(again, of[u])
			}
		}
	}
	if len(again) == 0 {
		return nil
	}
	front.BatchUnits = 1
	if res, err = p.place.Toolchain.CompileLLVM(ctx, front); err != nil {
		return err
	}
	if err := p.refused(res, again); err != nil {
		return err
	}
	return p.backEnd(ctx, front, res.Batches, front.Units, again)
}

// refused records why units have no code.
func (p *amdProbes) refused(res *toolchain.Result, of []int) error {
	for u, e := range res.Failed {
		if errors.Is(e, toolchain.ErrCancelled) {
			return e
		}
		p.cells[of[u]].fail(failed(e, p.place.Toolchain))
	}
	return nil
}

// read reads listings.
func (p *amdProbes) read(ctx context.Context, batches []toolchain.Batch, units []toolchain.Unit, of []int) {
	sequence := amdSequence
	if p.r600 {
		sequence = r600Sequence
	}
	for i := range batches {
		code, err := decode(ctx, p.place, &batches[i])
		for _, u := range batches[i].Units {
			p.cells[of[u]].read(code, err, units[u].Name, &p.ops[of[u]], func(fn *isa.Func, op *Op) ([]Inst, error) {
				if err := whole(fn); err != nil {
					return nil, err
				}
				return sequence(fn, op)
			})
		}
	}
}

// whole returns a refusal if a kernel does not contain its operation, or shows waits that are
// not the operation's.
func whole(fn *isa.Func) error {
	switch {
	case slices.ContainsFunc(fn.Insts, func(in isa.Inst) bool { return in.Flow == isa.FlowCall }):
		return &refusal{"the kernel calls a function instead of containing it"} // which the release's library lacks
	case slices.ContainsFunc(fn.Insts, func(in isa.Inst) bool { return in.Role.IsAccess() && in.Mem.Space == isa.SpaceLocal }):
		return &refusal{"registers are spilled: the waits for them cannot be told from the operation's"}
	}
	return nil
}

// amdSequence reads the memory-relevant instructions that the compiler attributes to the
// operation's line. If the operation's surroundings are missing, the operation is unknown.
func amdSequence(fn *isa.Func, op *Op) ([]Inst, error) {
	reach := fn.Reachable()
	list := []Inst{}
	loads, stores := 0, 0
	for b, blk := range fn.Blocks {
		if !reach[b] {
			continue
		}
		some, loop := avoidable(fn, b), loopOf(fn, b)
		for i := blk.First; i < blk.End; i++ {
			switch in := &fn.Insts[i]; {
			case in.Role == isa.RoleUnknown:
				return nil, fmt.Errorf("unknown instruction in line %d: %s", in.Line, in.Text)
			case !amdKeeps(in):
			case in.Src.Line == clOperation:
				list = append(list, Inst{Text: amdText(in), Sometimes: some, Repeated: loop >= 0, Block: b, loop: loop, role: in.Role})
			case in.Role == isa.RoleLoad:
				loads++
			case in.Role == isa.RoleStore:
				stores++
			}
		}
	}
	// Two of each before it, and a store after it.
	if want := [2]int{2, 3}; !op.cl.alone && [2]int{loads, stores} != want || op.cl.alone && loads+stores > 1 {
		return nil, fmt.Errorf("the surroundings of the operation are not as written: %d loads and %d stores", loads, stores)
	}
	return list, nil
}

// r600Sequence reads the memory-relevant instructions of a probe, without those that
// clKernelR600 put around the operation. Clauses are separate from the control flow, and LLVM
// does not give the lines of their instructions.
func r600Sequence(fn *isa.Func, op *Op) ([]Inst, error) {
	lead, trail := op.aroundR600()
	reach := fn.Reachable()
	list := []Inst{}
	for b, blk := range fn.Blocks {
		if !reach[b] {
			continue
		}
		some, loop := avoidable(fn, b), loopOf(fn, b)
		for i := blk.First; i < blk.End; i++ {
			in := &fn.Insts[i]
			if in.Role == isa.RoleUnknown {
				return nil, fmt.Errorf("unknown instruction in line %d: %s", in.Line, in.Text)
			}
			if amdKeeps(in) {
				list = append(list, Inst{Text: r600Text(in), Sometimes: some, Repeated: loop >= 0, Block: b, loop: loop, role: in.Role})
			}
		}
	}
	isStore := func(k int) bool { return k >= 0 && k < len(list) && list[k].role == isa.RoleStore }
	if len(list) < lead+trail || lead > 0 && !isStore(0) || trail > 0 && !isStore(len(list)-1) {
		return nil, errors.New("the surroundings of the operation are not as written")
	}
	return list[lead : len(list)-trail], nil
}

// r600Text formats an instruction of a clause without its registers.
func r600Text(in *isa.Inst) string {
	words := strings.Fields(strings.TrimSpace(in.Text))
	var keep []string
	for _, w := range words {
		if w == "*" {
			continue
		}
		if strings.ContainsAny(w, "0123456789,:") && len(keep) > 0 {
			break
		}
		keep = append(keep, strings.TrimRight(w, ",*"))
	}
	return strings.Join(keep, " ")
}

// amdKeeps reports whether a sequence shows an instruction. Waits for expcnt alone are omitted:
// they protect registers that stores of gfx6 have not read yet.
func amdKeeps(in *isa.Inst) bool {
	if in.Role == isa.RoleWait {
		return slices.ContainsFunc(in.Waits, func(w isa.Wait) bool { return w.Counter != isa.CountExp && w.Counter != isa.CountDepCtr })
	}
	return in.Role.IsAccess() || in.Role == isa.RoleFence || in.Role == isa.RoleBarrier || in.Role == isa.RoleCache
}

var amdBits = regexp.MustCompile(`\b(?:glc|slc|dlc|scc|sc0|sc1|nt|nv|scope:\w+|th:\w+)\b`)

// amdText formats an instruction without registers and addresses: waits and barriers unchanged,
// others with their cache policy.
func amdText(in *isa.Inst) string {
	if in.Role == isa.RoleWait || in.Role == isa.RoleBarrier {
		return strings.Join(strings.Fields(in.Text), " ")
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(in.Text), " ")
	return strings.Join(append([]string{name}, amdBits.FindAllString(rest, -1)...), " ")
}
