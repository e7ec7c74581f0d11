package optcheck

import (
	"fmt"

	"optcheck/litmus"
	"optcheck/model/explore"
)

// MachineState returns the final state of a run of NewMachine in terms of the test: the values of t.Terms(), in their
// order. It computes registers as the test does, from what the machine code read in place of the test's accesses.
func MachineState(t *litmus.Test, threads []LiftedThread, f *explore.Final) ([]int64, error) {
	var out []int64
	regs := make([]map[string]wordReg, len(t.Threads))
	for _, term := range t.Terms() {
		switch term.Kind {
		case litmus.TermReg:
			if regs[term.Thread] == nil {
				r, err := machineRegisters(t, term.Thread, &threads[term.Thread], f)
				if err != nil {
					return nil, err
				}
				regs[term.Thread] = r
			}
			r := regs[term.Thread][term.Name]
			if r.lost {
				return nil, fmt.Errorf("what T%d:%s holds is not known", term.Thread, term.Name)
			}
			out = append(out, r.v)
		case litmus.TermLoc:
			for i := range t.Locations {
				if t.Locations[i].Name == term.Name {
					out = append(out, int64(int32(f.Memory[i])))
				}
			}
		default:
			return nil, fmt.Errorf("a term of another kind")
		}
	}
	if len(out) != len(t.Terms()) {
		return nil, fmt.Errorf("a term names no location of the test")
	}
	return out, nil
}

// wordReg is the content of a register of the test; lost is set if it is not known.
type wordReg struct {
	v    int64
	lost bool
}

// machineRegisters executes the instructions of a thread that are not accesses.
func machineRegisters(t *litmus.Test, i int, in *LiftedThread, f *explore.Final) (map[string]wordReg, error) {
	code, err := in.operations()
	if err != nil {
		return nil, err
	}
	th := &t.Threads[i]
	regs := map[string]wordReg{}
	for _, d := range th.Regs {
		regs[d.Name] = wordReg{v: d.Init.Value}
	}
	entry := map[int]int{}
	for _, e := range in.Spec.Entries {
		entry[e.Instr] = e.Pos
	}
	params := paramsOf(in.Values)
	read := func(r int) (uint32, bool) {
		if !f.Done[i][r] {
			return 0, false
		}
		return f.Read[i][r], true
	}
	for k := range th.Body {
		x := &th.Body[k]
		if x.Guard != nil {
			g := regs[x.Guard.Reg]
			if g.lost {
				return nil, fmt.Errorf("whether T%d performs %s is not known", i, x)
			}
			if (g.v != 0) == x.Guard.Neg {
				continue
			}
		}
		if x.Op == litmus.OpBra {
			return nil, fmt.Errorf("thread %d has a branch", i)
		}
		if x.Dst == "" || x.Dst == "_" {
			continue
		}
		var r wordReg
		if x.Op.IsAccess() {
			e := code.values()[entry[k]]
			if e == nil {
				r.lost = true
			} else if w, ok := e.eval(params, read); ok {
				r.v = x.Type.Fit(int64(w))
			} else {
				r.lost = true
			}
		} else {
			r = computeWord(x, regs)
		}
		regs[x.Dst] = r
	}
	return regs, nil
}

// computeWord executes an instruction that is not an access.
func computeWord(x *litmus.Instr, regs map[string]wordReg) wordReg {
	a := make([]wordReg, max(3, len(x.Src)))
	for i, o := range x.Src {
		switch o.Kind {
		case litmus.OperandConst:
			a[i].v = o.Value
		case litmus.OperandReg:
			a[i] = regs[o.Name]
		default:
			return wordReg{lost: true}
		}
	}
	switch {
	case x.Op == litmus.OpSelp && !a[2].lost && a[2].v != 0:
		a[1].lost = false
	case x.Op == litmus.OpSelp && !a[2].lost:
		a[0].lost = false
	case x.Op == litmus.OpShl && (a[1].v < 0 || a[1].v > 31) || x.Type.Bits() == 64 && len(x.Src) > 1:
		return wordReg{lost: true} // OpenCL and PTX differ, or only one word of each is known
	}
	if a[0].lost || a[1].lost || a[2].lost {
		return wordReg{lost: true}
	}
	return wordReg{v: x.Apply(a[0].v, a[1].v, a[2].v)}
}
