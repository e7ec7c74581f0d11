package audit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/amdisa"
	"optcheck/isa"
	"optcheck/ptxgen"
	"optcheck/toolchain"
)

// amdLimits rejects what cannot be mapped for AMD: the back end r600 does not say
// which line an instruction of a clause is of, and at O0 an operation's waits are
// those for the private variables that it uses.
func (o *MapOptions) amdLimits() error {
	for _, t := range o.Targets {
		if ptxgen.IsTeraScale(t) {
			return fmt.Errorf("target %s of r600 is not mapped: it has no ordered atomics, fences or returning atomics", t)
		}
	}
	if slices.Contains(o.Levels, "O0") {
		return errors.New("O0 is not mapped for AMD: the waits there are for private variables")
	}
	return nil
}

// amdJob maps all operations for one release of LLVM, target and level: two
// batches, without and with libclc.
func (m *mapper) amdJob(ctx context.Context, j job) ([]MapCell, error) {
	cells := make([]MapCell, len(m.ops))
	var units [2][]toolchain.Unit
	var of [2][]int
	for i := range m.ops {
		op := &m.ops[i]
		cells[i] = MapCell{Op: op.Name, Group: op.Group, Toolchain: j.tc.ID, Target: j.target, Level: j.level, Status: MapUnknown, Reason: "not reached"}
		k := 0
		if op.cl.library {
			k = 1
		}
		name := fmt.Sprintf("m%d", i)
		units[k] = append(units[k], toolchain.Unit{Name: name, Text: op.clKernel(name)})
		of[k] = append(of[k], i)
	}
	for k := range units {
		if len(units[k]) == 0 {
			continue
		}
		res, err := j.tc.CompileLLVM(ctx, toolchain.LLVMJob{Job: toolchain.Job{Target: j.target, Level: j.level, LineInfo: true, Units: units[k]},
			Source: toolchain.OpenCLC, CL2: true, Library: k == 1})
		if err != nil {
			return nil, err
		}
		for u, e := range res.Failed {
			if errors.Is(e, toolchain.ErrCancelled) {
				return nil, e
			}
			amdRefusal(&cells[of[k][u]], e)
		}
		for _, b := range res.Batches {
			prog, err := amdisa.ParseFor(fmt.Sprintf("%s %s %s", j.tc.ID, j.target, j.level), b.Text, j.target)
			funcs, why := map[string]*isa.Func{}, map[*isa.Func]string{}
			if err == nil {
				why = problems(prog)
				for _, f := range prog.Funcs {
					funcs[f.Name] = f
				}
			}
			for _, u := range b.Units {
				amdCell(&cells[of[k][u]], &m.ops[of[k][u]], funcs[units[k][u].Name], why, err)
			}
		}
	}
	return cells, nil
}

// amdRefusal says why a probe has no code: what the compiler or its library
// lacks, in their words, is a refusal; that the compiler failed is none.
func amdRefusal(c *MapCell, e error) {
	c.Reason = kindOf(e) + ": " + firstLine(e.Error())
	if reason := lacks(e); reason != "" {
		c.Status, c.Reason = MapRefused, reason
	} else if errors.Is(e, toolchain.ErrCompile) {
		c.Status, c.Reason = MapRefused, refusalWords(e)
	}
}

func amdCell(c *MapCell, op *MapOp, fn *isa.Func, why map[*isa.Func]string, err error) {
	switch {
	case err != nil:
	case fn == nil:
		err = errors.New("the kernel is not in the machine code")
	case why[fn] != "":
		err = errors.New(why[fn])
	default:
		c.Sequence, err = amdSequence(fn, op)
	}
	if err != nil {
		c.Reason = firstLine(err.Error())
		return
	}
	c.Status, c.Reason, c.Machine = MapMapped, "", MapSequence(c.Sequence)
}

// amdSequence reads the memory-relevant instructions that the compiler
// attributes to the operation's line. If what stands around the operation is not there,
// nothing is known of the operation.
func amdSequence(fn *isa.Func, op *MapOp) ([]MapInst, error) {
	reach := fn.Reachable()
	list := []MapInst{}
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
				list = append(list, MapInst{Text: amdText(in), Sometimes: some, Repeated: loop >= 0, Block: b, loop: loop, role: in.Role})
			case in.Role == isa.RoleLoad:
				loads++
			case in.Role == isa.RoleStore:
				stores++
			}
		}
	}
	// Two of each before it, and a store behind it.
	if want := [2]int{2, 3}; !op.cl.alone && [2]int{loads, stores} != want || op.cl.alone && loads+stores > 1 {
		return nil, fmt.Errorf("the surroundings of the operation are not as written: %d loads and %d stores", loads, stores)
	}
	return list, nil
}

// amdKeeps tells what a sequence shows. Waits for expcnt alone are left out:
// they protect registers that stores of gfx6 have not read yet.
func amdKeeps(in *isa.Inst) bool {
	if in.Role == isa.RoleWait {
		return slices.ContainsFunc(in.Waits, func(w isa.Wait) bool { return w.Counter != isa.CountExp && w.Counter != isa.CountDepCtr })
	}
	return in.Role.IsAccess() || in.Role == isa.RoleFence || in.Role == isa.RoleBarrier || in.Role == isa.RoleCache
}

var amdBits = regexp.MustCompile(`\b(?:glc|slc|dlc|scc|sc0|sc1|nt|nv|scope:\w+|th:\w+)\b`)

// amdText spells an instruction without registers and addresses: waits and
// barriers as they are, others with their cache policy.
func amdText(in *isa.Inst) string {
	if in.Role == isa.RoleWait || in.Role == isa.RoleBarrier {
		return strings.Join(strings.Fields(in.Text), " ")
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(in.Text), " ")
	return strings.Join(append([]string{name}, amdBits.FindAllString(rest, -1)...), " ")
}
