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
// false dependency of Alglave et al., ASPLOS 2015, Sec. 4.5), and what moves, conversions, sums,
// products and shifts make of zeros. The mask is zero only as long as the
// test's values are small; Check rejects tests in which they may not be.
func (th *Thread) AddrLoc(in *Instr) string {
	f := flow{th: th}
	return f.addrLoc(in)
}

// flow answers questions about the values of one thread's registers.
type flow struct {
	th      *Thread
	pending []string // registers whose location is being determined
	zeroing []string // registers that are being tested for zero
	mask    *Instr   // a mask that an answer relied on, or nil
	steps   int      // spent on the current question

	// Filled by index, which pays off for more than a few questions.
	writers map[string][]int
	known   map[string]answer
}

// answer is what the writes of a register say about the address it holds.
type answer struct {
	loc  string
	mask *Instr
}

// maxSteps bounds the work for one question; beyond it the answer is unknown.
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

// loc returns the location whose address the register holds wherever the thread reads it; limit
// is the index of a reader. ok is false if it is unknown. The name "" means that all its values
// come from a register that is already being determined.
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

// set reports whether the register is certainly written before index limit.
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
		return true // zero if everything else that goes into it is
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
