package spec

import (
	"crypto/sha256"
	"fmt"
	"io"

	"optcheck/litmus"
)

// Value is a constant of the test that a kernel gets as a parameter, so that the compiler
// cannot know it.
type Value struct {
	Offset int64 // in bytes, among the entry's parameters
	Bytes  int   // 4 or 8
	Const  int64
	// The operand that it stands for: source Src of instruction Instr or, if Instr is -1, the
	// initial value of register Reg.
	Instr, Src int
	Reg        string
}

// Code is what a thread computes: the values that it stores and combines, and the conditions
// under which its instructions run, as functions of what it reads and of the parameters that
// stand for its constants. Markers do not express this.
type Code struct {
	entries []Entry
	steps   []step
	initial []Value // by register; Bytes 0 for none
	types   []litmus.Type
	consts  []uint32
	key     CodeKey
}

// step is an instruction with resolved operands.
type step struct {
	in     *litmus.Instr
	entry  int // position of the access or fence, -1 for none
	guard  int // register, -1 for none
	dst    int // register, -1 for none
	src    [3]source
	target int // of a jump: the step with its label
}

// source is an operand: a parameter, a register, or a constant.
type source struct {
	reg   int // -1 for none
	param Value
	k     int64
}

// SetCode sets the code that a test's kernel was made from in the specification of a thread;
// values are the parameters of that kernel. Branches go forward.
func (s *Spec) SetCode(th *litmus.Thread, values []Value) {
	c := &Code{entries: s.Entries}
	b := &coder{c: c, regs: map[string]int{}, params: map[[2]int]Value{}}
	h := sha256.New()
	for _, v := range values {
		if v.Instr < 0 {
			r := b.reg(v.Reg)
			c.initial[r] = v
			if d := th.Decl(v.Reg); d != nil {
				c.types[r] = d.Type
			}
		} else {
			b.params[[2]int{v.Instr, v.Src}] = v
		}
		fmt.Fprint(h, v.Offset, v.Bytes, v.Instr, v.Src, v.Reg, ";")
	}
	labels := map[string]int{}
	for i := range th.Body {
		for _, l := range th.Body[i].Labels {
			labels[l] = i
		}
	}
	for i, next := 0, 0; i < len(th.Body); i++ {
		in := &th.Body[i]
		st := step{in: in, entry: -1, guard: -1, dst: -1, target: labels[in.Target]}
		if next < len(c.entries) && c.entries[next].Instr == i {
			st.entry, next = next, next+1
		}
		if in.Guard != nil {
			st.guard = b.reg(in.Guard.Reg)
		}
		if in.Dst != "" {
			st.dst = b.reg(in.Dst)
		}
		for k := range st.src {
			st.src[k] = b.source(in, i, k)
		}
		c.steps = append(c.steps, st)
		b.hash(h, in, i)
	}
	h.Sum(c.key[:0])
	s.Code = c
}

// coder is the state of SetCode.
type coder struct {
	c      *Code
	regs   map[string]int
	params map[[2]int]Value // by instruction and source
}

func (b *coder) reg(name string) int {
	r, ok := b.regs[name]
	if !ok {
		r = len(b.regs)
		b.regs[name] = r
		b.c.initial, b.c.types = append(b.c.initial, Value{}), append(b.c.types, litmus.TypeNone)
	}
	return r
}

func (b *coder) source(in *litmus.Instr, i, k int) source {
	s := source{reg: -1}
	if k >= len(in.Src) {
		return s
	}
	if v, ok := b.params[[2]int{i, k}]; ok {
		s.param = v
		return s
	}
	switch o := in.Src[k]; o.Kind {
	case litmus.OperandConst:
		s.k = o.Value
		b.c.consts = append(b.c.consts, uint32(o.Value), uint32(uint64(o.Value)>>32))
	case litmus.OperandReg:
		s.reg = b.reg(o.Name)
	}
	return s
}

// hash adds an instruction to the key, without what a parameter stands for.
func (b *coder) hash(h io.Writer, in *litmus.Instr, i int) {
	same := *in
	same.Src = append([]litmus.Operand(nil), in.Src...)
	for k := range same.Src {
		if _, opaque := b.params[[2]int{i, k}]; opaque {
			same.Src[k].Value = 0
		}
	}
	fmt.Fprintln(h, same.Labels, &same)
}

// CodeKey identifies code: code with equal keys computes the same in the same way, so that a
// result for one is valid for the other.
type CodeKey [sha256.Size]byte

// Key returns the key of the code; zero if there is no code.
func (c *Code) Key() CodeKey {
	if c == nil {
		return CodeKey{}
	}
	return c.key
}

// Words provides the words that a thread's code does not compute itself.
type Words interface {
	// Read returns what the access at a position reads: its low word (0) or its high one (1).
	Read(pos, word int) uint32
	// Param returns the parameter word at a byte offset.
	Param(offset int64) uint32
}

// Action is what a thread does at one access or fence.
type Action struct {
	Runs bool
	// Operands are the values stored or combined; for a compare-and-swap the value compared
	// with, then the new one. Only the access's width counts.
	Operands []int64
	// Old is the content of the register that the access reads into if it does not run.
	Old int64
}

// Runner carries out code, as often as one likes in the same memory.
type Runner struct {
	c    *Code
	w    Words
	regs []int64
	out  []Action
	vals []int64 // operands, shared by the actions
}

// Runner returns a runner of the code.
func (c *Code) Runner() *Runner {
	return &Runner{c: c, regs: make([]int64, len(c.initial)), out: make([]Action, len(c.entries)), vals: make([]int64, 0, 2*len(c.entries))}
}

// Run returns what the thread does at each of its accesses and fences, by position. It is
// valid until the next run.
func (r *Runner) Run(w Words) []Action {
	c := r.c
	r.w, r.vals = w, r.vals[:0]
	clear(r.regs)
	clear(r.out)
	for i, v := range c.initial {
		if v.Bytes > 0 {
			r.regs[i] = c.types[i].Fit(r.param(v))
		}
	}
	for i := 0; i < len(c.steps); i++ {
		st := &c.steps[i]
		if st.guard >= 0 && (r.regs[st.guard] != 0) == st.in.Guard.Neg {
			if st.entry >= 0 && st.dst >= 0 {
				r.out[st.entry].Old = r.regs[st.dst]
			}
			continue
		}
		switch {
		case st.entry >= 0:
			r.action(st, &c.entries[st.entry])
		case st.in.Op == litmus.OpBra:
			if st.target > i && (st.in.Cmp == litmus.CmpNone || litmus.Compare(st.in.Cmp, litmus.S32, r.operand(st, 0), r.operand(st, 1))) {
				i = st.target - 1
			}
		case st.dst >= 0:
			r.regs[st.dst] = st.in.Apply(r.operand(st, 0), r.operand(st, 1), r.operand(st, 2))
		}
	}
	return r.out
}

func (r *Runner) param(v Value) int64 {
	x := uint64(r.w.Param(v.Offset))
	if v.Bytes == 8 {
		x |= uint64(r.w.Param(v.Offset+4)) << 32
	}
	return int64(x)
}

// operand returns the value of a source; addresses count as 0.
func (r *Runner) operand(st *step, k int) int64 {
	switch s := &st.src[k]; {
	case s.param.Bytes > 0:
		return st.in.Type.Fit(r.param(s.param))
	case s.reg >= 0:
		return r.regs[s.reg]
	default:
		return s.k
	}
}

// action records what an access or fence does, and reads.
func (r *Runner) action(st *step, e *Entry) {
	a := Action{Runs: true}
	if e.IsFence() {
		r.out[e.Pos] = a
		return
	}
	from := len(r.vals)
	for k := range st.in.Src {
		r.vals = append(r.vals, r.operand(st, k))
	}
	a.Operands = r.vals[from:len(r.vals):len(r.vals)]
	r.out[e.Pos] = a
	if st.dst >= 0 && e.Reads() {
		x := uint64(r.w.Read(e.Pos, 0))
		if e.Kind.Width == 8 {
			x |= uint64(r.w.Read(e.Pos, 1)) << 32
		}
		r.regs[st.dst] = st.in.Type.Fit(int64(x))
	}
}

// Consts returns the constants in the code that are not parameters: what values are compared
// and combined with.
func (c *Code) Consts() []uint32 { return c.consts }

// Plain returns the parameter that is an unmodified operand of the access at a position, if
// there is one.
func (c *Code) Plain(pos, src int) (Value, bool) {
	for i := range c.steps {
		if st := &c.steps[i]; st.entry == pos && src < len(st.src) {
			return st.src[src].param, st.src[src].param.Bytes > 0
		}
	}
	return Value{}, false
}
