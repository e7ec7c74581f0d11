package model

import (
	"fmt"

	"optcheck/litmus"
)

// annotation returns the LISA annotation of an access.
func annotation(in *litmus.Instr) string {
	sem, ok := map[litmus.Sem]string{litmus.SemRelaxed: "relaxed", litmus.SemAcquire: "acquire",
		litmus.SemRelease: "release", litmus.SemAcqRel: "acqrel",
		litmus.SemVolatile: "relaxed", litmus.SemMMIO: "relaxed"}[in.Sem]
	atomic := in.Op == litmus.OpAtom || in.Op == litmus.OpRed
	switch {
	case in.Sem == litmus.SemVolatile || in.Sem == litmus.SemMMIO:
		return "relaxed,ssys"
	case !ok && atomic:
		sem = "relaxed"
	case !ok:
		return "weak"
	}
	return sem + "," + lisaScope[in.Scope]
}

var lisaScope = map[litmus.Scope]string{litmus.ScopeCTA: "scta", litmus.ScopeCluster: "scluster",
	litmus.ScopeGPU: "sgpu", litmus.ScopeSys: "ssys", litmus.ScopeNone: "sgpu"}

var lisaFence = map[litmus.Sem]string{litmus.SemAcqRel: "acqrelfence", litmus.SemNone: "acqrelfence",
	litmus.SemAcquire: "acquirefence", litmus.SemRelease: "releasefence"}

var lisaMembar = map[litmus.Scope]string{litmus.ScopeCTA: "membarcta", litmus.ScopeGPU: "membargl",
	litmus.ScopeSys: "membarsys", litmus.ScopeNone: "membargl"}

var lisaOp = map[litmus.Op]string{litmus.OpAdd: "add", litmus.OpAnd: "and", litmus.OpXor: "xor"}

func (w *lisaWriter) instr(t int, in *litmus.Instr) ([]string, error) {
	if in.Guard != nil {
		return nil, w.no(in.Pos, "the guarded instruction %s", in)
	}
	if in.Addr.Offset != 0 {
		return nil, w.no(in.Pos, "the address offset of %s", in)
	}
	src := func(i int) string { return w.operand(t, in.Src[i]) }
	switch in.Op {
	case litmus.OpNop:
		return nil, nil
	case litmus.OpLd:
		return one("r[%s] %s %s", annotation(in), w.reg(t, in.Dst), w.addr(t, in.Addr))
	case litmus.OpSt:
		return one("w[%s] %s %s", annotation(in), w.addr(t, in.Addr), src(0))
	case litmus.OpAtom, litmus.OpRed:
		return w.atomic(t, in)
	case litmus.OpMembar:
		return one("f[%s]", lisaMembar[in.Scope])
	case litmus.OpFence:
		if in.Sem == litmus.SemSC {
			if in.Scope == litmus.ScopeCluster {
				return nil, w.no(in.Pos, "%s", in)
			}
			return one("f[%s]", lisaMembar[in.Scope])
		}
		return one("f[%s,%s]", lisaFence[in.Sem], lisaScope[in.Scope])
	case litmus.OpMov:
		return one("mov %s %s", w.reg(t, in.Dst), src(0))
	case litmus.OpAdd, litmus.OpAnd, litmus.OpXor:
		return one("mov %s (%s %s %s)", w.reg(t, in.Dst), lisaOp[in.Op], src(0), src(1))
	case litmus.OpSetp:
		if op, ok := map[litmus.Cmp]string{litmus.CmpEq: "eq", litmus.CmpNe: "neq"}[in.Cmp]; ok {
			return one("mov %s (%s %s %s)", w.reg(t, in.Dst), op, src(0), src(1))
		}
	case litmus.OpBra:
		return w.branch(t, in)
	}
	return nil, w.no(in.Pos, "%s", in)
}

func one(format string, args ...any) ([]string, error) {
	return []string{fmt.Sprintf(format, args...)}, nil
}

func (w *lisaWriter) atomic(t int, in *litmus.Instr) ([]string, error) {
	dst := in.Dst
	if dst == "" {
		w.tmp++
		dst = fmt.Sprintf("unused%d", w.tmp)
	}
	d, a := w.reg(t, dst), w.addr(t, in.Addr)
	switch in.Atom {
	case litmus.AtomExch:
		return one("rmw[%s] %s %s %s", annotation(in), d, w.operand(t, in.Src[0]), a)
	case litmus.AtomAdd, litmus.AtomAnd, litmus.AtomXor:
		op := map[litmus.AtomOp]string{litmus.AtomAdd: "add", litmus.AtomAnd: "and", litmus.AtomXor: "xor"}[in.Atom]
		return one("rmw[%s] %s (%s %s %s) %s", annotation(in), d, op, d, w.operand(t, in.Src[0]), a)
	}
	return nil, w.no(in.Pos, "%s", in)
}

func (w *lisaWriter) branch(t int, in *litmus.Instr) ([]string, error) {
	if in.Cmp == litmus.CmpNone {
		return one("b[] %s", in.Target)
	}
	op, ok := map[litmus.Cmp]string{litmus.CmpEq: "eq", litmus.CmpNe: "neq"}[in.Cmp]
	if !ok {
		return nil, w.no(in.Pos, "%s", in)
	}
	w.tmp++
	r := w.reg(t, fmt.Sprintf("branch%d", w.tmp))
	return []string{
		fmt.Sprintf("mov %s (%s %s %s)", r, op, w.operand(t, in.Src[0]), w.operand(t, in.Src[1])),
		fmt.Sprintf("b[] %s %s", r, in.Target),
	}, nil
}
