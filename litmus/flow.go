package litmus

import "slices"

// AddrLoc returns the location that an access of the thread goes to, or "" if
// that is not known for certain from the text.
//
// The rule: an address without offset that names a location goes there. A
// register goes to location L if L is its declared initial value, or an
// unconditional move ahead of the access in a thread without branches sets it,
// and everything else written to it in the thread keeps L: moves and cvt of
// registers that hold L, and sums of such a register with a register or
// constant that is always zero. Always zero are 0, r xor r, r - r, an and with
// zero or with a mask of just the highest bit of a 32 or 64-bit type (the
// false dependency of seed 000, Sec. 4.5), and what moves, conversions, sums,
// products and shifts make of zeros. The mask is zero only as long as the
// test's values are small; Check rejects tests in which they may not be.
func (th *Thread) AddrLoc(in *Instr) string {
	f := flow{th: th}
	return f.addrLoc(in)
}

// flow answers questions on the values of one thread's registers.
type flow struct {
	th      *Thread
	pending []string // registers whose location is being asked
	zeroing []string // registers of which it is being asked whether they are zero
	mask    *Instr   // a mask that an answer relied on, or nil
	steps   int      // spent on the current question

	// Filled by index, which pays off for more than a few questions.
	writers map[string][]int
	known   map[string]answer
}

// answer is what the writes of a register say of the address it holds.
type answer struct {
	loc  string
	mask *Instr
}

// maxSteps bounds the work on one question; beyond it the answer is not known.
const maxSteps = 1000

func (f *flow) index() {
	f.known = map[string]answer{}
	f.writers = map[string][]int{}
	for i := range f.th.Body {
		if r := f.th.Body[i].Dst; r != "" {
			f.writers[r] = append(f.writers[r], i)
		}
	}
}

// writes calls visit for each instruction that writes the register, until it
// returns false, and reports whether it never did.
func (f *flow) writes(reg string, visit func(in *Instr, i int) bool) bool {
	if f.writers != nil {
		for _, i := range f.writers[reg] {
			if f.steps++; f.steps > maxSteps || !visit(&f.th.Body[i], i) {
				return false
			}
		}
		return true
	}
	for i := range f.th.Body {
		if f.th.Body[i].Dst != reg {
			continue
		}
		if f.steps++; f.steps > maxSteps || !visit(&f.th.Body[i], i) {
			return false
		}
	}
	return true
}

func (f *flow) addrLoc(in *Instr) string {
	if in.Addr.Offset != 0 {
		return ""
	}
	return f.base(in)
}

// base is addrLoc for the address without its offset.
func (f *flow) base(in *Instr) (result string) {
	if in.Addr.Loc != "" || in.Addr.Reg == "" {
		return in.Addr.Loc
	}
	f.steps, f.mask = 0, nil
	limit := len(f.th.Body)
	if d := f.th.Decl(in.Addr.Reg); d == nil || d.Init.Kind != OperandLoc {
		for i := range f.th.Body {
			if &f.th.Body[i] == in {
				limit = i
			}
		}
	} else if a, ok := f.known[in.Addr.Reg]; ok {
		f.mask = a.mask
		return a.loc
	} else if f.known != nil {
		defer func() { f.known[in.Addr.Reg] = answer{loc: result, mask: f.mask} }()
	}
	loc, ok := f.loc(in.Addr.Reg, limit)
	if !ok {
		return ""
	}
	return loc
}

// loc returns the location whose address the register holds wherever the
// thread reads it; limit is the index of a reader. ok is false if it is not
// known, and the name "" means that all it holds comes from a register of which
// the question is being asked already.
func (f *flow) loc(reg string, limit int) (loc string, ok bool) {
	if slices.Contains(f.pending, reg) {
		return "", true
	}
	if d := f.th.Decl(reg); d != nil && d.Init.Kind == OperandLoc {
		loc = d.Init.Name
	} else if d != nil && d.Init.Kind == OperandConst || !f.set(reg, limit) {
		return "", false
	}
	f.pending = append(f.pending, reg)
	defer func() { f.pending = f.pending[:len(f.pending)-1] }()
	ok = f.writes(reg, func(in *Instr, i int) bool {
		l, ok := f.locWritten(in, i)
		if !ok || l != "" && loc != "" && l != loc {
			return false
		}
		if loc == "" {
			loc = l
		}
		return true
	})
	return loc, ok
}

// set reports whether the register is written for certain before index limit.
func (f *flow) set(reg string, limit int) bool {
	found := false
	for i := range f.th.Body {
		in := &f.th.Body[i]
		if in.Op == OpBra {
			return false
		}
		found = found || i < limit && in.Dst == reg && in.Guard == nil
	}
	return found
}

func (f *flow) locWritten(in *Instr, i int) (string, bool) {
	operand := func(o Operand) (string, bool) {
		switch o.Kind {
		case OperandLoc:
			return o.Name, true
		case OperandReg:
			return f.loc(o.Name, i)
		}
		return "", false
	}
	switch in.Op {
	case OpMov:
		if len(in.Src) == 1 {
			return operand(in.Src[0])
		}
	case OpCvt:
		if len(in.Src) == 1 && in.Type.Bits() == 64 && in.FromType.Bits() == 64 {
			return operand(in.Src[0])
		}
	case OpAdd, OpOr, OpXor:
		if len(in.Src) != 2 {
			break
		}
		if f.zero(in.Src[1]) {
			return operand(in.Src[0])
		}
		if f.zero(in.Src[0]) {
			return operand(in.Src[1])
		}
	case OpSub:
		if len(in.Src) == 2 && f.zero(in.Src[1]) {
			return operand(in.Src[0])
		}
	}
	return "", false
}

// zero reports whether an operand is always zero.
func (f *flow) zero(o Operand) bool {
	switch o.Kind {
	case OperandConst:
		return o.Value == 0
	case OperandReg:
		return f.zeroReg(o.Name)
	}
	return false
}

func (f *flow) zeroReg(reg string) bool {
	if slices.Contains(f.zeroing, reg) {
		return true // zero if all else that goes into it is
	}
	if d := f.th.Decl(reg); d != nil && d.Init != (Operand{}) && d.Init != Const(0) {
		return false
	}
	f.zeroing = append(f.zeroing, reg)
	defer func() { f.zeroing = f.zeroing[:len(f.zeroing)-1] }()
	written := false
	return f.writes(reg, func(in *Instr, _ int) bool {
		written = true
		return f.zeroWritten(in)
	}) && written
}

func (f *flow) zeroWritten(in *Instr) bool {
	if len(in.Src) == 1 && (in.Op == OpMov || in.Op == OpCvt) {
		return f.zero(in.Src[0])
	}
	if len(in.Src) != 2 {
		return false
	}
	a, b := in.Src[0], in.Src[1]
	switch in.Op {
	case OpXor, OpSub:
		return a.Kind == OperandReg && a == b || f.zero(a) && f.zero(b)
	case OpAdd, OpOr:
		return f.zero(a) && f.zero(b)
	case OpAnd:
		if in.highMask(a) || in.highMask(b) {
			f.mask = in
			return true
		}
		return f.zero(a) || f.zero(b)
	case OpMul:
		return f.zero(a) || f.zero(b)
	case OpShl, OpShr:
		return f.zero(a)
	}
	return false
}

// highMask reports whether the operand is a constant with just the highest
// bit of the instruction's type set.
func (in *Instr) highMask(o Operand) bool {
	if o.Kind != OperandConst {
		return false
	}
	switch in.Type.Bits() {
	case 32:
		return o.Value == 1<<31 || o.Value == -1<<31
	case 64:
		return o.Value == -1<<63
	}
	return false
}

// addresses returns, for each thread, the registers that may hold a location's
// address, and whether an address may stand in memory.
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

// ref names an instruction of a test.
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

// smallValues reports whether every value that the test computes, addresses
// apart, is certain to lie in [0, 2^31): the ground on which a mask of the
// highest bit gives zero. Additions are counted: no loop may hold one.
func (t *Test) smallValues(regs []map[string]bool, memory bool) bool {
	if memory {
		return false
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
		v.loops = v.loops || th.hasLoop()
	}
	return !v.wild && (!v.loops || v.sum == 0 && v.doubles == 0) &&
		v.doubles < 16 && (v.most+v.sum)<<v.doubles < 1<<31
}

// hasLoop reports whether some branch goes backwards.
func (th *Thread) hasLoop() bool {
	seen := map[string]bool{}
	for i := range th.Body {
		for _, l := range th.Body[i].Labels {
			seen[l] = true
		}
		if th.Body[i].Op == OpBra && seen[th.Body[i].Target] {
			return true
		}
	}
	return false
}

// valueBound gathers what bounds the values of a test: no instruction runs
// twice, so that a value is at most (most + sum) · 2^doubles.
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
	sums := in.Op == OpAdd || in.Op == OpOr || in.Op == OpXor
	switch in.Atom {
	case AtomAdd, AtomInc, AtomOr, AtomXor:
		sums = true
	}
	constants := 0
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
