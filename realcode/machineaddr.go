package realcode

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"optcheck/isa"
)

// follow follows the registers of a function: where each instruction that touches
// memory goes, and what compares with the number of the lane.
func follow(f *isa.Func, from int32) *regWalk {
	w := &regWalk{f: f, from: from, in: make([]values, len(f.Blocks)), out: make([]address, len(f.Insts)), behind: make([]address, len(f.Insts)),
		lane: map[int]bool{}, calls: map[int]address{}, number: map[isa.Reg]int{}, made: make([][]address, len(f.Insts)),
		phis: map[[2]int]string{}}
	if len(f.Blocks) == 0 {
		return w
	}
	for i := range f.Insts {
		for _, r := range f.Insts[i].Defs {
			if _, ok := w.number[r]; !ok {
				w.number[r] = len(w.regs)
				w.regs = append(w.regs, r)
			}
		}
	}
	w.in[0], w.state = make(values, len(w.regs)), make(values, len(w.regs))
	work, rounds := []int{0}, 0
	queued := make([]bool, len(f.Blocks))
	for len(work) > 0 && rounds < 64*len(f.Blocks) {
		rounds++
		b := work[0]
		work = work[1:]
		queued[b] = false
		w.block(b)
		for _, s := range f.Blocks[b].Succs {
			if w.meet(s) && !queued[s] {
				queued[s] = true
				work = append(work, s)
			}
		}
	}
	return w
}

type regWalk struct {
	f    *isa.Func
	from int32
	// regs are the registers that are written, number their places in values; in has what is
	// in them where a block begins, state at the instruction that is looked at.
	regs   []isa.Reg
	number map[isa.Reg]int
	in     []values
	state  values
	phis   map[[2]int]string
	made   [][]address // by instructions, for each register that it writes, when it is needed
	out    []address
	// behind is, of copies, the other address: what stands in the register behind the first.
	behind []address
	// lane are the instructions that compare with the number of the lane.
	lane map[int]bool
	// calls are what registers hold that are called, by instruction.
	calls map[int]address
}

// values are those of registers, without root where it is that at the beginning.
type values []address

// String gives an address, or any other value, as text.
func (a address) String() string { return fmt.Sprintf("%s+%d", a.root, a.offset) }

// fixed reports whether a value is the same whenever the thread computes it: one
// that is made of parameters, constants and the thread's place. Roots that are none
// begin with a question mark.
func (a address) fixed() bool { return a.root != "" && a.root[0] != '?' }

// meet takes the state over to a block, and reports whether that is news.
func (w *regWalk) meet(b int) bool {
	if w.in[b] == nil {
		w.in[b] = slices.Clone(w.state)
		return true
	}
	news := false
	for n, v := range w.in[b] {
		if w.state[n] == v {
			continue
		}
		if phi := w.phi(b, n); v != phi {
			w.in[b][n] = phi
			news = true
		}
	}
	return news
}

// phi is what paths bring together in a register where a block begins.
func (w *regWalk) phi(b, n int) address {
	root, ok := w.phis[[2]int{b, n}]
	if !ok {
		root = fmt.Sprintf("?phi%d.%v", w.from+int32(w.f.Blocks[b].First), w.regs[n])
		w.phis[[2]int{b, n}] = root
	}
	return address{root: root}
}

// made is the root of what an instruction leaves in a register.
func made(at int32, r isa.Reg) string { return fmt.Sprintf("?v%d.%v", at, r) }

func (w *regWalk) value(o *isa.Operand) address {
	switch o.Kind {
	case isa.OpdImm:
		return address{root: "0", offset: o.Imm}
	case isa.OpdConst:
		at := address{root: "0"}
		if o.Reg.Class != isa.ClassNone {
			at = w.reg(o.Reg)
		}
		if at.root == "0" && !o.Neg && !o.Abs {
			return wordOf(o.Bank, o.Off+at.offset)
		}
	case isa.OpdSym:
		return address{root: o.Sym + "." + o.Part}
	case isa.OpdReg:
		if o.Zero {
			return address{root: "0"}
		}
		v := w.reg(o.Reg)
		switch {
		case !o.Neg && !o.Not && !o.Abs:
			return v
		case v.fixed():
			return hash("modified", fmt.Sprint(o.Neg, o.Not, o.Abs), v.String())
		}
	}
	return address{}
}

// wordOf is a word of a constant bank.
func wordOf(bank int, at int64) address { return address{root: fmt.Sprintf("c%d.%d", bank, at)} }

// hash is the value of a function of values that never change.
func hash(parts ...string) address {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return address{root: fmt.Sprintf("f%x", h.Sum64())}
}

// steady are the special registers that a thread always reads alike.
func steady(name string) bool {
	for _, p := range []string{"SR_TID", "SR_CTAID", "SR_NTID", "SR_NCTAID", "SR_LANEID", "SR_LTMASK", "SR_LEMASK", "SR_GTMASK",
		"SR_GEMASK", "SR_EQMASK", "SR_CgaCtaId"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func (w *regWalk) reg(r isa.Reg) address {
	if n, ok := w.number[r]; ok && w.state[n].root != "" {
		return w.state[n]
	}
	return address{root: fmt.Sprintf("?in%d.%v", w.from, r)}
}

// block follows a block, and leaves the state behind it.
func (w *regWalk) block(b int) {
	copy(w.state, w.in[b])
	var defs []address
	for i := w.f.Blocks[b].First; i < w.f.Blocks[b].End; i++ {
		in := &w.f.Insts[i]
		if in.Role.IsAccess() || in.Role == isa.RoleCache && in.Op == "SYNCS" {
			w.out[i] = w.access(in)
		}
		w.behind[i] = w.next(in)
		if in.CallsRegister() {
			w.called(i, in)
		}
		w.compared(i, in)
		defs = append(defs[:0], w.makes(i, in)...)
		for n, r := range in.Defs {
			for k := range in.Micro {
				if in.Micro[k].Dst == r && in.Guard == (isa.Guard{}) {
					if x := w.micro(&in.Micro[k]); x.root != "" {
						defs[n] = x
					}
				}
			}
		}
		for n, r := range in.Defs {
			w.state[w.number[r]] = defs[n]
		}
	}
}

// makes gives what an instruction leaves in its registers as values of its own.
func (w *regWalk) makes(i int, in *isa.Inst) []address {
	if w.made[i] == nil {
		for _, r := range in.Defs {
			w.made[i] = append(w.made[i], address{root: made(w.from+int32(i), r)})
		}
	}
	return w.made[i]
}

// compared notes a comparison with the number of the lane.
func (w *regWalk) compared(i int, in *isa.Inst) {
	for k := range in.Micro {
		for n := range in.Micro[k].Src {
			if in.Micro[k].Op == isa.MicroSetp && w.value(&in.Micro[k].Src[n]) == (address{root: "SR_LANEID"}) {
				w.lane[i] = true
			}
		}
	}
}

func (w *regWalk) micro(mi *isa.Micro) address {
	switch mi.Op {
	case isa.MicroMov:
		return w.value(&mi.Src[0])
	case isa.MicroAdd:
		sum := address{root: "0"}
		for i := range mi.Src {
			v := w.value(&mi.Src[i])
			switch {
			case v.root == "":
				return address{}
			case sum.root != "0" && v.root != "0" && sum.fixed() && v.fixed():
				a, b := sum, v
				a.offset, b.offset = 0, 0
				if b.root < a.root {
					a, b = b, a
				}
				off := sum.offset + v.offset
				sum = hash("sum", a.root, b.root)
				sum.offset = off
			case sum.root == "0":
				v.offset += sum.offset
				sum = v
			case v.root == "0":
				sum.offset += v.offset
			default:
				return address{}
			}
		}
		sum.offset = int64(int32(sum.offset))
		return sum
	case isa.MicroSpecial:
		if steady(mi.Sym) {
			return address{root: mi.Sym}
		}
		return address{}
	case isa.MicroOpaque, isa.MicroFirst:
		return address{}
	case isa.MicroPrmt:
		if mi.Src[1].Imm == inCluster {
			return w.window(w.value(&mi.Src[0]), w.value(&mi.Src[2]))
		}
	}
	if mi.Op.IsPredicate() {
		return address{}
	}
	parts := []string{fmt.Sprint(mi.Op, mi.LUT, mi.Signed, mi.Cmp, mi.Bool, mi.Sym)}
	for i := range mi.Src {
		v := w.value(&mi.Src[i])
		if !v.fixed() {
			return address{}
		}
		parts = append(parts, v.String())
	}
	if commutes(mi.Op) && parts[2] < parts[1] {
		parts[1], parts[2] = parts[2], parts[1]
	}
	return hash(parts...)
}

// inCluster are the bytes that make an address in the shared memory of a CTA one in that of its cluster: the
// number of the CTA becomes the highest.
const inCluster = 0x654

// ownCTA begins the addresses in the shared memory of the CTA itself.
const ownCTA = "cta SR_CgaCtaId+0 "

// window is an address in the shared memory of a CTA of the cluster.
func (w *regWalk) window(cta, at address) address {
	if cta.root == "" || at.root == "" {
		return address{}
	}
	changes := map[bool]string{true: "?"}[!cta.fixed() || !at.fixed()]
	if i := strings.LastIndexByte(at.root, ' '); strings.HasPrefix(strings.TrimPrefix(at.root, "?"), "cta ") {
		at.root = at.root[i+1:]
	}
	at.root = fmt.Sprintf("%scta %v %s", changes, cta, at.root)
	return at
}

func commutes(op isa.MicroOp) bool {
	return op == isa.MicroMul || op == isa.MicroMulHi || op == isa.MicroMad
}

// next is what stands in the register behind the first that has an address: the mbarrier of a copy.
func (w *regWalk) next(in *isa.Inst) address {
	if len(in.Args) == 0 || in.Args[0].Kind != isa.OpdMem {
		return address{}
	}
	r := in.Args[0].Reg
	if r.Class == isa.ClassNone {
		r = in.Args[0].Base2
	}
	if r.Class == isa.ClassNone {
		return address{}
	}
	r.Num++
	return w.reg(r)
}

// access is the address of an access.
func (w *regWalk) access(in *isa.Inst) address {
	for i := range in.Args {
		o := &in.Args[i]
		if o.Kind != isa.OpdMem {
			continue
		}
		a := address{root: "0"}
		if o.Reg.Class != isa.ClassNone {
			a = w.reg(o.Reg)
		}
		if o.Base2.Class != isa.ClassNone {
			b := w.reg(o.Base2)
			switch {
			case a.root == "0":
				b.offset += a.offset
				a = b
			case b.root == "0":
				a.offset += b.offset
			default:
				a = address{root: a.root + "+" + b.root, offset: a.offset + b.offset}
			}
		}
		switch {
		case o.Sym == "":
		case a.root == "0":
			a.root = o.Sym
		default:
			a.root += "+" + o.Sym
		}
		a.offset += o.Off
		a.width = in.Mem.Width
		return a
	}
	return address{width: in.Mem.Width}
}
