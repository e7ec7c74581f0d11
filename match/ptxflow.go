package match

import (
	"fmt"
	"slices"

	"optcheck/ptx"
)

// PTXAccess is one instruction that accesses memory or orders accesses. Loads of parameters do not
// count.
type PTXAccess struct {
	*ptx.Inst
	// Arg is the index of the parameter that the address comes from, -1 if there is none;
	// global is the variable that it comes from. offset is the constant part of the distance
	// from there, in bytes.
	Arg    int
	global string
	offset int64
	// maybe is set if some path through the kernel avoids it, or if it has a predicate.
	maybe bool
	// addr, data and cond list the accesses whose values flow into the address, into what is
	// stored or combined, and into the conditions under which it is performed.
	addr, data, cond []int

	block int
	guard []int
}

// Limits of what is read from one kernel.
const (
	maxAccesses = 1024
	maxBlocks   = 256
)

// value is what a register may hold: an address from one base, and the accesses
// that it was computed from.
type value struct {
	place
	konst bool // the offset is all there is
	from  []int
}

func nowhere() value { return value{place: place{arg: -1}} }

func (v value) based() bool { return v.arg >= 0 || v.global != "" }

// block is a basic block.
type block struct {
	next    []int // blocks that may follow; the number of blocks for the end
	cond    []int // accesses that decide between them
	jumps   []string
	falls   bool
	decided bool // ends with a conditional branch
}

// reader reads one kernel.
type reader struct {
	f      *ptx.Func
	regs   map[int]value
	acc    []PTXAccess
	blocks []block
	labels map[string]int
}

// accesses lists what a kernel does to memory in text order. The error is non-nil for branches that
// are not understood, and for a kernel that is too large.
func accesses(f *ptx.Func) ([]PTXAccess, error) {
	r := &reader{f: f, regs: map[int]value{}, labels: map[string]int{}, blocks: []block{{falls: true}}}
	for i := range f.Body {
		switch st := &f.Body[i]; st.Kind {
		case ptx.StmtLabel:
			r.open()
			r.labels[st.Name] = len(r.blocks) - 1
		case ptx.StmtInst:
			if err := r.statement(st.Inst); err != nil {
				return nil, err
			}
		}
		if len(r.acc) > maxAccesses || len(r.blocks) > maxBlocks {
			return nil, fmt.Errorf("entry %s: more than %d accesses or %d blocks", f.Name, maxAccesses, maxBlocks)
		}
	}
	return r.acc, r.conditions()
}

// open begins a basic block after one that may fall through.
func (r *reader) open() { r.blocks = append(r.blocks, block{falls: true}) }

// statement reads one instruction.
func (r *reader) statement(in *ptx.Inst) error {
	switch in.Name {
	case "bra":
		r.jump(in.Args[0].Name, in)
	case "ret", "exit":
		r.jump("", in)
	case "brx":
		return fmt.Errorf("indirect branch %q", in.Text)
	case "ld", "ldu", "st", "atom", "red", "fence", "membar", "bar", "barrier", "call", "cp", "multimem", "ldmatrix", "prefetch":
		r.access(in)
	default:
		r.compute(in)
	}
	return nil
}

// guard are the accesses that an instruction's predicate was computed from.
func (r *reader) guard(in *ptx.Inst) []int { return r.regs[in.Guard].from }

// jump ends a block with a branch to a label, or for "" to the end of the kernel.
func (r *reader) jump(label string, in *ptx.Inst) {
	b := &r.blocks[len(r.blocks)-1]
	b.jumps, b.falls = append(b.jumps, label), in.Guard >= 0
	if b.falls {
		b.decided, b.cond = true, r.guard(in)
	}
	r.open()
}

// operand evaluates a register, a constant, a name, or an address. Of several registers only what flows counts.
func (r *reader) operand(o *ptx.Operand) value {
	v := nowhere()
	switch {
	case o.Kind == ptx.Reg:
		if known, ok := r.regs[o.Reg]; ok {
			v = known
		}
	case o.Kind == ptx.Imm && o.Float == 0:
		v.offset, v.konst = o.Value, true
	case o.Kind == ptx.Sym && o.Name[0] != '%':
		v.global, v.offset = o.Name, o.Value
	case o.Kind == ptx.Mem && len(o.Elems) > 0:
		v = r.operand(&o.Elems[0])
		v.offset += o.Value
	default:
		for _, reg := range o.Registers(nil) {
			v.from = union(v.from, r.regs[reg].from)
		}
	}
	return v
}

func union(a, b []int) []int {
	if len(b) == 0 {
		return a
	}
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// compute sets the destination of an instruction that does not access memory.
func (r *reader) compute(in *ptx.Inst) {
	if len(in.Args) == 0 {
		return
	}
	v := nowhere()
	var from []value
	for i := range in.Args[1:] {
		x := r.operand(&in.Args[i+1])
		from, v.from = append(from, x), union(v.from, x.from)
	}
	switch op := in.Name; {
	case (op == "mov" || op == "cvta" || op == "cvt") && len(from) == 1:
		v.place, v.konst = from[0].place, from[0].konst
	case (op == "add" || op == "or" || op == "sub") && len(from) == 2:
		v = sum(op, v, from[0], from[1])
	}
	r.set(in, v)
}

// sum adds a constant, or a value of which only the flow counts, to an address.
func sum(op string, v, a, b value) value {
	if !a.based() && b.based() && op != "sub" {
		a, b = b, a
	}
	if b.based() {
		return v
	}
	v.place, v.konst = a.place, a.konst && b.konst
	switch {
	case b.konst && op == "add":
		v.offset += b.offset
	case b.konst && op == "sub":
		v.offset -= b.offset
	case b.konst && a.offset&b.offset == 0: // or
		v.offset += b.offset
	case b.konst:
		v.arg, v.global = -1, ""
	}
	return v
}

// set defines the registers of an instruction's first operand. One that is set more than once merges paths.
func (r *reader) set(in *ptx.Inst, v value) {
	if len(in.Args) == 0 {
		return
	}
	if in.Guard >= 0 {
		v.from = union(v.from, r.guard(in))
	}
	for _, reg := range in.Args[0].Registers(nil) {
		if old, ok := r.regs[reg]; ok {
			v.from = union(v.from, old.from)
			if old.place != v.place {
				v.arg, v.global, v.konst = -1, "", false
			}
		}
		r.regs[reg] = v
	}
}

// access reads an instruction that touches memory.
func (r *reader) access(in *ptx.Inst) {
	e := in.Effect()
	if in.Name == "ld" && e.Space == "param" {
		v := nowhere()
		if at := &in.Args[1]; at.Value == 0 {
			v.arg = slices.IndexFunc(r.f.Params, func(p ptx.Var) bool { return p.Name == at.Elems[0].Name })
		}
		r.set(in, v)
		return
	}
	a := PTXAccess{Inst: in, Arg: -1, block: len(r.blocks) - 1, maybe: in.Guard >= 0}
	if a.maybe {
		a.guard = r.guard(in)
	}
	for i := range in.Args {
		o := &in.Args[i]
		switch v := r.operand(o); {
		case o.Kind == ptx.Mem:
			a.Arg, a.global, a.offset, a.addr = v.arg, v.global, v.offset, v.from
		case i > 0 || in.Name == "st" || in.Name == "red":
			a.data = union(a.data, v.from)
		}
	}
	r.acc = append(r.acc, a)
	if in.Name == "ld" || in.Name == "ldu" || in.Name == "atom" {
		v := nowhere()
		v.from = []int{len(r.acc) - 1}
		r.set(in, v)
	}
}
