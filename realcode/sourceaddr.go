package realcode

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"optcheck/ptx"
)

// address is where an access goes: a constant number of bytes from something that
// has a name, or from a value that is not known ("").
type address struct {
	root   string
	offset int64
	width  int
}

// walk knows what the registers of a function are that are written once.
type walk struct {
	f    *ptx.Func
	def  []*ptx.Inst // by register; nil if there is none, or more than one
	memo map[int]address
}

func newWalk(f *ptx.Func) *walk {
	w := &walk{f: f, def: make([]*ptx.Inst, len(f.Regs)), memo: map[int]address{}}
	n := make([]int, len(f.Regs))
	var insts []*ptx.Inst
	for _, st := range f.Body {
		if st.Inst != nil {
			insts = append(insts, st.Inst)
		}
	}
	for _, in := range insts {
		for _, r := range defined(in) {
			n[r]++
			w.def[r] = in
		}
	}
	for r, k := range n {
		if k != 1 {
			w.def[r] = nil
		}
	}
	return w
}

// The registers that an instruction writes, and those that it reads.
var defined, used = (*ptx.Inst).Defines, (*ptx.Inst).Uses

// addressOf is where an access goes.
func (w *walk) addressOf(in *ptx.Inst) (a address) {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == ptx.Mem {
			a = w.base(&o.Elems[0], 0)
			a.offset += o.Value
			break
		}
	}
	a.width = in.Effect().Width
	return a
}

// unlimited reports whether an increment starts again behind the greatest number, as any addition does.
func (w *walk) unlimited(in *ptx.Inst) bool {
	i := slices.IndexFunc(in.Args, func(o ptx.Operand) bool { return o.Kind == ptx.Mem })
	if i < 0 || i+1 >= len(in.Args) {
		return false
	}
	limit := w.base(&in.Args[i+1], 0)
	return limit.root == "0" && uint32(limit.offset) == math.MaxUint32
}

// barrierOf is the mbarrier that an operation is about.
func (w *walk) barrierOf(in *ptx.Inst) address {
	switch e := in.Effect(); {
	case e.Kind == ptx.Mbarrier || e.Kind == ptx.MbarArrive || e.Kind == ptx.MbarWait || e.Kind == ptx.CopyArrive:
		return w.addressOf(in)
	case e.Kind != ptx.Bulk || !in.Has("mbarrier::complete_tx::bytes"):
		return address{}
	}
	for _, o := range slices.Backward(in.Args) {
		if o.Kind == ptx.Mem && len(o.Elems) == 1 {
			a := w.base(&o.Elems[0], 0)
			a.offset += o.Value
			return a
		}
	}
	return address{}
}

// ownRoot is the base of an address of which only its register is known.
func ownRoot(f *ptx.Func, reg int) string { return fmt.Sprintf("?%s.%d", f.Name, reg) }

// base follows a value through additions of constants.
func (w *walk) base(o *ptx.Operand, depth int) address {
	switch o.Kind {
	case ptx.Sym:
		return address{root: o.Name}
	case ptx.Imm:
		return address{root: "0", offset: o.Value}
	case ptx.Reg:
	default:
		return address{}
	}
	if a, ok := w.memo[o.Reg]; ok {
		return a
	}
	own := address{root: ownRoot(w.f, o.Reg)}
	in := w.def[o.Reg]
	if in == nil || in.Guard >= 0 || depth > 64 {
		return own
	}
	a := own
	switch {
	case in.Name == "ld" && in.Has("param") && in.Args[0].Kind == ptx.Reg && in.Args[1].Elems[0].Kind == ptx.Sym:
		if name := in.Args[1].Elems[0].Name; slices.ContainsFunc(w.f.Params, func(v ptx.Var) bool { return v.Name == name }) {
			a = address{root: fmt.Sprintf("[%s.%s+%d]", w.f.Name, name, in.Args[1].Value)}
		}
	case (in.Name == "mov" || in.Name == "cvta") && len(in.Args) == 2 && !changes(in.Args[1].Name):
		a = w.base(&in.Args[1], depth+1)
		a.offset += in.Args[1].Value * b2i(in.Args[1].Kind == ptx.Sym)
	case in.Name == "mapa" && len(in.Args) == 3 && in.Args[1].Kind != ptx.Imm:
		a = w.base(&in.Args[1], depth+1)
		a.offset += in.Args[1].Value * b2i(in.Args[1].Kind == ptx.Sym)
		a.root = remote + w.rank(&in.Args[2]) + " " + a.root
	case in.Name == "cvt" && len(in.Args) == 2 && (in.Op == "cvt.u32.u64" || in.Op == "cvt.u64.u32"):
		a = w.base(&in.Args[1], depth+1)
	case in.Name == "add" && len(in.Args) == 3 && (in.Args[1].Kind == ptx.Imm || in.Args[2].Kind == ptx.Imm):
		for i := 1; i <= 2; i++ {
			if in.Args[i].Kind == ptx.Imm {
				a = w.base(&in.Args[3-i], depth+1)
				a.offset += in.Args[i].Value
			}
		}
	case slices.Contains(computes, in.Name):
		a = w.function(in, depth)
	}
	if a.root == "" {
		a = own
	}
	w.memo[o.Reg] = a
	return a
}

// remote begins addresses in the shared memory of a CTA of the cluster, with its rank: that of a register or
// a number. Of its own rank a CTA may know that it is its own.
const remote = "%mapa "

func (w *walk) rank(o *ptx.Operand) string {
	if o.Kind != ptx.Reg {
		return fmt.Sprint(o.Value)
	}
	if in := w.def[o.Reg]; in != nil && in.Name == "mov" && in.Args[1].Kind == ptx.Sym {
		return in.Args[1].Name
	}
	return fmt.Sprintf("%%%d", o.Reg)
}

// changes reports whether a name is that of a special register that may be read twice with two values.
func changes(name string) bool {
	return strings.HasPrefix(name, "%") && !slices.ContainsFunc([]string{"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%lanemask"},
		func(p string) bool { return strings.HasPrefix(name, p) })
}

// computes are the instructions whose result is a function of their operands alone.
var computes = []string{"add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "not", "neg", "cvt", "bfe", "min", "max", "rem", "div"}

// function is the value that an instruction computes of values that never change: whatever register has it,
// it is the same.
func (w *walk) function(in *ptx.Inst, depth int) address {
	parts := []string{in.Op}
	for i := range in.Args[1:] {
		o := &in.Args[1+i]
		v := w.base(o, depth+1)
		if !v.fixed() || o.Kind == ptx.Sym || o.Neg {
			return address{}
		}
		parts = append(parts, v.String())
	}
	v := hash(parts...)
	v.root = "[" + v.root + "]"
	return v
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
