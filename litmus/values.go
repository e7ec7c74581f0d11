package litmus

import "slices"

// addresses returns, for each thread, the registers that may hold a location's address, and
// whether memory may hold an address.
func (t *Test) addresses() (regs []map[string]bool, memory bool) {
	regs = make([]map[string]bool, len(t.Threads))
	for i := range t.Threads {
		regs[i] = map[string]bool{}
		for _, d := range t.Threads[i].Regs {
			if d.Init.Kind == OperandLoc {
				regs[i][d.Name] = true
			}
		}
	}
	readers := make([]map[string][]int, len(t.Threads))
	work := []ref{}
	for i := range t.Threads {
		readers[i] = map[string][]int{}
		for j := range t.Threads[i].Body {
			work = append(work, ref{i, j})
			for _, o := range t.Threads[i].Body[j].Src {
				if o.Kind == OperandReg {
					readers[i][o.Name] = append(readers[i][o.Name], j)
				}
			}
		}
	}
	all := slices.Clone(work)
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		in := &t.Threads[at.thread].Body[at.instr]
		from := in.carries(regs[at.thread])
		if in.IsWrite() && from && !memory {
			memory = true
			work = append(work, all...)
		}
		if in.IsAccess() {
			from = memory
		}
		if from && in.Dst != "" && in.Op != OpSetp && !regs[at.thread][in.Dst] {
			regs[at.thread][in.Dst] = true
			for _, j := range readers[at.thread][in.Dst] {
				work = append(work, ref{at.thread, j})
			}
		}
	}
	return regs, memory
}

// ref identifies an instruction of a test.
type ref struct{ thread, instr int }

// carries reports whether a source operand may be an address.
func (in *Instr) carries(regs map[string]bool) bool {
	for _, o := range in.Src {
		if o.Kind == OperandLoc || o.Kind == OperandReg && regs[o.Name] {
			return true
		}
	}
	return false
}

// smallValues reports whether every value that the test computes, except addresses, certainly
// lies in [0, 2^31): only then does a mask of the highest bit yield zero. Additions are
// counted, in a bounded loop once for each iteration; no other loop may contain one.
func (t *Test) smallValues(regs []map[string]bool, memory bool) bool {
	if memory {
		return false
	}
	if flat, _, err := t.Unrolled(); err == nil {
		t = flat
	}
	v := valueBound{}
	for i := range t.Locations {
		v.constant(t.Locations[i].Init)
	}
	for i := range t.Threads {
		th := &t.Threads[i]
		for _, d := range th.Regs {
			if d.Init.Kind == OperandConst {
				v.constant(d.Init.Value)
			}
		}
		for j := range th.Body {
			if in := &th.Body[j]; !regs[i][in.Dst] || in.IsAccess() {
				v.instr(in)
			}
		}
		v.loops = v.loops || th.loops()
	}
	return !v.wild && (!v.loops || v.sum == 0 && v.doubles == 0) &&
		v.doubles < 16 && (v.most+v.sum)<<v.doubles < 1<<31
}

// valueBound collects what bounds the values of a test: no instruction runs twice, or its
// copies are counted, so a value is at most (most + sum) · 2^doubles.
type valueBound struct {
	most, sum   int64
	doubles     int
	wild, loops bool
}

func (v *valueBound) constant(c int64) {
	if c < 0 || c >= 1<<31 {
		v.wild = true
		return
	}
	v.most = max(v.most, c)
}

func (v *valueBound) instr(in *Instr) {
	if in.Type.Signed() && in.Type.Bits() < 32 || in.Op == OpCvt && in.FromType.Signed() && in.FromType.Bits() < 32 {
		v.wild = true // sign extension
	}
	switch in.Op {
	case OpLd, OpFence, OpMembar, OpFenceProxy, OpBar, OpSetp, OpBra, OpNop, OpShr, OpAnd, OpDiv:
		return
	case OpSub, OpMul, OpShl, OpNot:
		v.wild = v.wild || !(len(in.Src) == 2 && in.Op == OpSub && in.Src[0] == in.Src[1])
		return
	}
	if in.Async != nil && in.Async.Together() {
		v.wild = v.wild || in.Dst != ""
		return
	}
	sums := in.Op == OpAdd || in.Op == OpOr || in.Op == OpXor
	switch in.Atom {
	case AtomAdd, AtomInc, AtomOr, AtomXor:
		sums = true
	}
	constants := 0
	switch in.Atom {
	case AtomIncOne:
		constants, sums = 1, true
		v.constant(1)
		v.sum++
	case AtomDecOne:
		v.wild = true
	}
	for _, o := range in.Src {
		if o.Kind == OperandConst {
			constants++
			v.constant(o.Value)
			if sums {
				v.sum += min(max(o.Value, 0), 1<<31)
			}
		}
	}
	if sums && constants == 0 {
		v.doubles++
	}
	v.wild = v.wild || v.sum >= 1<<40
}
