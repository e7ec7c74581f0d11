package optcheck

import (
	"fmt"

	"optcheck/litmus"
	"optcheck/model/amdhw"
)

// AMDState is the final state of a run of AMDProgram in terms of the test: the
// values of t.Terms(), in their order. Registers are computed as the test says from
// what the machine code read in place of its accesses.
func AMDState(t *litmus.Test, threads []LiftedThread, f *amdhw.Final) ([]int64, error) {
	var out []int64
	regs := make([]map[string]amdReg, len(t.Threads))
	for _, term := range t.Terms() {
		switch term.Kind {
		case litmus.TermReg:
			if regs[term.Thread] == nil {
				r, err := amdRegisters(t, term.Thread, &threads[term.Thread], f)
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

// amdReg is the content of a register of the test; lost if it is not known.
type amdReg struct {
	v    int64
	lost bool
}

// amdRegisters runs the instructions of a thread that are no accesses.
func amdRegisters(t *litmus.Test, i int, in *LiftedThread, f *amdhw.Final) (map[string]amdReg, error) {
	code, err := in.amd()
	if err != nil {
		return nil, err
	}
	th := &t.Threads[i]
	regs := map[string]amdReg{}
	for _, d := range th.Regs {
		if d.Init.Kind == litmus.OperandConst {
			regs[d.Name] = amdReg{v: d.Init.Value}
		}
	}
	entry := map[int]int{}
	for _, e := range in.Spec.Entries {
		entry[e.Instr] = e.Pos
	}
	params := paramsOf(in.Values)
	read := func(r int) (uint32, bool) {
		if r < 0 || r >= len(f.Read[i]) || !f.Done[i][r] {
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
		var r amdReg
		if x.Op.IsAccess() {
			e := code.regs[entry[k]]
			if e == nil {
				r.lost = true
			} else if w, ok := e.eval(params, read); ok {
				r.v = fitWord(int64(w), x.Type)
			} else {
				r.lost = true
			}
		} else {
			r = amdCompute(x, regs)
		}
		regs[x.Dst] = r
	}
	return regs, nil
}

// fitWord writes a word as a value of a type.
func fitWord(k int64, t litmus.Type) int64 {
	switch t {
	case litmus.B32, litmus.U32:
		return int64(uint32(k))
	case litmus.Pred:
		if k != 0 {
			return 1
		}
		return 0
	case litmus.B64, litmus.U64, litmus.S64:
		return k
	}
	return int64(int32(k))
}

// amdCompute computes an instruction that is no access.
func amdCompute(x *litmus.Instr, regs map[string]amdReg) amdReg {
	var a []int64
	for _, o := range x.Src {
		switch o.Kind {
		case litmus.OperandConst:
			a = append(a, o.Value)
		case litmus.OperandReg:
			r := regs[o.Name]
			if r.lost && x.Op != litmus.OpSelp {
				return r
			}
			a = append(a, r.v)
		default:
			return amdReg{lost: true}
		}
	}
	fit := func(k int64) amdReg { return amdReg{v: fitWord(k, x.Type)} }
	if len(a) == 1 {
		switch {
		case x.Op == litmus.OpCvt && x.FromType != litmus.TypeNone:
			return fit(fitWord(a[0], x.FromType))
		case x.Op == litmus.OpMov || x.Op == litmus.OpCvt:
			return fit(a[0])
		case x.Op == litmus.OpNot && x.Type == litmus.Pred:
			return fit(a[0] ^ 1)
		case x.Op == litmus.OpNot:
			return fit(^a[0])
		}
		return amdReg{lost: true}
	}
	if len(a) < 2 {
		return amdReg{lost: true}
	}
	if x.Type.Bits() == 64 {
		return amdReg{lost: true}
	}
	u, w := fitWord(a[0], x.Type), fitWord(a[1], x.Type)
	switch x.Op {
	case litmus.OpAdd:
		return fit(u + w)
	case litmus.OpSub:
		return fit(u - w)
	case litmus.OpMul:
		return fit(u * w)
	case litmus.OpAnd:
		return fit(u & w)
	case litmus.OpOr:
		return fit(u | w)
	case litmus.OpXor:
		return fit(u ^ w)
	case litmus.OpShl:
		if w >= 0 && w < 32 { // OpenCL and PTX differ beyond
			return fit(u << w)
		}
	case litmus.OpSelp:
		if len(x.Src) == 3 && x.Src[2].Kind == litmus.OperandReg && !regs[x.Src[2].Name].lost {
			pick := x.Src[1]
			if regs[x.Src[2].Name].v != 0 {
				pick = x.Src[0]
			}
			if pick.Kind == litmus.OperandReg {
				return regs[pick.Name]
			}
			return fit(pick.Value)
		}
	case litmus.OpSetp:
		return amdCompare(x.Cmp, u, w)
	}
	return amdReg{lost: true}
}

// amdCompare is the predicate of a comparison.
func amdCompare(cmp litmus.Cmp, u, w int64) amdReg {
	holds := map[litmus.Cmp]bool{litmus.CmpEq: u == w, litmus.CmpNe: u != w, litmus.CmpLt: u < w, litmus.CmpLe: u <= w, litmus.CmpGt: u > w, litmus.CmpGe: u >= w}
	b, ok := holds[cmp]
	switch {
	case !ok:
		return amdReg{lost: true}
	case b:
		return amdReg{v: 1}
	}
	return amdReg{}
}
