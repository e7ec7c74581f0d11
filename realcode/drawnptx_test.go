package realcode

import (
	"cmp"
	"fmt"
	"math/bits"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawnPTX draws a kernel of integers whose jumps lead forward, and knows what each of its instructions computes.
type drawnPTX struct {
	*rapid.T
	text  strings.Builder
	insts []drawnInst
	// callee is a function of a word and a double word, which has no accesses; nil in itself.
	callee *drawnPTX
}

// drawnInst is an instruction: what it leaves in its register, or where it jumps.
type drawnInst struct {
	dst   string
	guard string
	neg   bool
	eval  func(x []uint64) uint64
	src   []string // registers, or numbers
	jump  int      // the number of an instruction, 0 for none
	addr  string   // the register of a store's address
	load  string   // the name of what a load reads
	calls bool
	part  bool // of what it writes
	first int  // of those of a call
}

func (d *drawnPTX) below(n int) int { return rapid.IntRange(0, n-1).Draw(d.T, "n") }

func (d *drawnPTX) emit(text string, in drawnInst) {
	guard := ""
	if in.guard == "" && len(d.insts) > 10 && d.below(4) == 0 {
		in.guard, in.neg = d.reg(1), d.below(2) == 0
	}
	if in.guard != "" {
		guard = "@" + map[bool]string{true: "!"}[in.neg] + in.guard + " "
	}
	fmt.Fprintf(&d.text, "L%d: %s%s;\n", len(d.insts), guard, text)
	d.insts = append(d.insts, in)
}

// reg is a register of some width.
func (d *drawnPTX) reg(width int) string {
	switch width {
	case 1:
		return "%p" + fmt.Sprint(d.below(2))
	case 64:
		return "%d" + fmt.Sprint(d.below(3))
	}
	return "%r" + fmt.Sprint(d.below(4))
}

// operand is a register or a number.
func (d *drawnPTX) operand(width int) string {
	if d.below(3) == 0 {
		return fmt.Sprint(rapid.SampledFrom([]uint32{0, 1, 2, 3, 5, 8, 31, 32, 63, 64, 0xff, 1 << 31, 1<<32 - 1}).Draw(d.T, "k"))
	}
	return d.reg(width)
}

func signed(v uint64, width int) int64 { return int64(v<<(64-width)) >> (64 - width) }

// operations2 are instructions of two operands, of some types.
var operations2 = map[string]func(typ string, w int, a, b uint64) uint64{
	"add":    func(_ string, _ int, a, b uint64) uint64 { return a + b },
	"sub":    func(_ string, _ int, a, b uint64) uint64 { return a - b },
	"mul.lo": func(_ string, _ int, a, b uint64) uint64 { return a * b },
	"and":    func(_ string, _ int, a, b uint64) uint64 { return a & b },
	"or":     func(_ string, _ int, a, b uint64) uint64 { return a | b },
	"xor":    func(_ string, _ int, a, b uint64) uint64 { return a ^ b },
	"shl":    func(_ string, _ int, a, b uint64) uint64 { return a << (b & mask(32)) },
	"shr": func(typ string, w int, a, b uint64) uint64 {
		if typ[0] == 's' {
			return uint64(signed(a, w) >> min(b&mask(32), 63))
		}
		return a >> (b & mask(32))
	},
	"min": func(typ string, w int, a, b uint64) uint64 {
		if typ[0] == 's' && signed(a, w) < signed(b, w) || typ[0] != 's' && a < b {
			return a
		}
		return b
	},
	"max": func(typ string, w int, a, b uint64) uint64 {
		if typ[0] == 's' && signed(a, w) > signed(b, w) || typ[0] != 's' && a > b {
			return a
		}
		return b
	},
	"rem": func(_ string, _ int, a, b uint64) uint64 { return a % max(b, 1) },
	"div": func(_ string, _ int, a, b uint64) uint64 { return a / max(b, 1) },
}

// relations are comparisons.
var relations = map[string]func(a, b int64, x, y uint64) bool{
	"eq": func(_, _ int64, x, y uint64) bool { return x == y }, "ne": func(_, _ int64, x, y uint64) bool { return x != y },
	"lt": func(a, b int64, _, _ uint64) bool { return a < b }, "le": func(a, b int64, _, _ uint64) bool { return a <= b },
	"gt": func(a, b int64, _, _ uint64) bool { return a > b }, "ge": func(a, b int64, _, _ uint64) bool { return a >= b },
	"lo": func(_, _ int64, x, y uint64) bool { return x < y }, "ls": func(_, _ int64, x, y uint64) bool { return x <= y },
	"hi": func(_, _ int64, x, y uint64) bool { return x > y }, "hs": func(_, _ int64, x, y uint64) bool { return x >= y },
}

// inst draws an instruction; n is the number of the last one.
func (d *drawnPTX) inst(n int) {
	if d.callee != nil && d.below(8) == 0 {
		d.call()
		return
	}
	w := 32 << d.below(2)
	u, b := fmt.Sprint("u", w), fmt.Sprint("b", w)
	typ := map[bool]string{true: "s", false: "u"}[d.below(3) == 0] + fmt.Sprint(w)
	dst, x, y, z := d.reg(w), d.reg(w), d.operand(w), d.operand(w)
	two := func(op, typ string) {
		k, _, _ := strings.Cut(op, "#")
		f := operations2[k]
		d.emit(fmt.Sprintf("%s.%s %s, %s, %s", k, typ, dst, x, y), drawnInst{dst: dst, src: []string{x, y},
			eval: func(v []uint64) uint64 { return f(typ, w, v[0], v[1]) }})
	}
	kinds := 16
	if d.callee == nil {
		kinds = 14
	}
	switch d.below(kinds) {
	case 0:
		d.emit(fmt.Sprintf("mov.%s %s, %s", u, dst, y), drawnInst{dst: dst, src: []string{y}, eval: func(v []uint64) uint64 { return v[0] }})
	case 1, 2, 3:
		two(rapid.SampledFrom([]string{"add", "sub", "mul.lo"}).Draw(d.T, "op"), typ)
	case 4, 5:
		two(rapid.SampledFrom([]string{"and", "or", "xor"}).Draw(d.T, "op"), b)
	case 6:
		y = fmt.Sprint(d.below(70))
		if d.below(2) == 0 {
			two("shl", b)
		} else {
			two("shr", typ)
		}
	case 7:
		two(rapid.SampledFrom([]string{"min", "max"}).Draw(d.T, "op"), typ)
	case 8:
		if y[0] != '%' && y != "0" {
			two(rapid.SampledFrom([]string{"rem", "div"}).Draw(d.T, "op"), u)
		}
	case 9:
		p, q := d.reg(1), "1"
		cmp := rapid.SampledFrom([]string{"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"}).Draw(d.T, "cmp")
		kind := typ
		if cmp[0] == 'h' || cmp == "lo" || cmp == "ls" {
			kind = u
		}
		f, more, text := relations[cmp], rapid.SampledFrom([]string{"", "and", "or", "xor"}).Draw(d.T, "more"), ""
		if more != "" {
			q = d.reg(1)
			text = ", " + q
			more = "." + more
		}
		d.emit(fmt.Sprintf("setp.%s%s.%s %s, %s, %s%s", cmp, more, kind, p, x, y, text), drawnInst{dst: p, src: []string{x, y, q},
			eval: func(v []uint64) uint64 {
				a, b := int64(v[0]^1<<63), int64(v[1]^1<<63) // unsigned numbers are in the order of signed ones with another sign
				if kind[0] == 's' {
					a, b = signed(v[0], w), signed(v[1], w)
				}
				is := bit(f(a, b, v[0], v[1]))
				return map[string]uint64{"": is, ".and": is & v[2], ".or": is | v[2], ".xor": is ^ v[2]}[more]
			}})
	case 10:
		p := d.reg(1)
		d.emit(fmt.Sprintf("selp.%s %s, %s, %s, %s", b, dst, x, y, p), drawnInst{dst: dst, src: []string{x, y, p},
			eval: func(v []uint64) uint64 { return v[1-v[2]] }})
	case 11:
		d.emit(fmt.Sprintf("mad.lo.%s %s, %s, %s, %s", typ, dst, x, y, z), drawnInst{dst: dst, src: []string{x, y, z},
			eval: func(v []uint64) uint64 { return v[0]*v[1] + v[2] }})
	case 12:
		at, size := d.below(40), 1+d.below(40)
		d.emit(fmt.Sprintf("bfe.%s %s, %s, %d, %d", u, dst, x, at, size), drawnInst{dst: dst, src: []string{x},
			eval: func(v []uint64) uint64 { return v[0] >> at & mask(size) }})
	case 13:
		d.other(w, dst, x, y, z)
	case 14:
		if a := d.reg(64); d.below(2) == 0 {
			name, to := fmt.Sprint("loaded", len(d.insts)), d.reg(32)
			d.emit(fmt.Sprintf("ld.global.u32 %s, [%s]", to, a), drawnInst{dst: to, src: []string{name}, load: name,
				eval: func(v []uint64) uint64 { return v[0] }})
			return
		}
		a := d.reg(64)
		d.emit(fmt.Sprintf("st.global.u32 [%s+%d], %%r0", a, 4*d.below(3)), drawnInst{addr: a})
	case 15:
		to := min(len(d.insts)+1+d.below(5), n)
		d.emit(fmt.Sprintf("bra L%d", to), drawnInst{jump: to, guard: d.reg(1), neg: d.below(2) == 0})
	}
}

// other draws a less common instruction.
func (d *drawnPTX) other(w int, dst, x, y, z string) {
	switch d.below(8) {
	case 0:
		table := d.below(256)
		a, b, c := d.reg(32), d.reg(32), d.reg(32)
		d.emit(fmt.Sprintf("lop3.b32 %%r0, %s, %s, %s, %d", a, b, c, table), drawnInst{dst: "%r0", src: []string{a, b, c},
			eval: func(v []uint64) (out uint64) {
				for i := range 32 {
					out |= uint64(table) >> (v[0]>>i&1<<2 | v[1]>>i&1<<1 | v[2]>>i&1) & 1 << i
				}
				return out
			}})
	case 1:
		d.emit(fmt.Sprintf("not.b%d %s, %s", w, dst, x), drawnInst{dst: dst, src: []string{x}, eval: func(v []uint64) uint64 { return ^v[0] }})
	case 2:
		d.emit(fmt.Sprintf("neg.s%d %s, %s", w, dst, x), drawnInst{dst: dst, src: []string{x}, eval: func(v []uint64) uint64 { return -v[0] }})
	case 3:
		d.emit(fmt.Sprintf("popc.b%d %%r1, %s", w, x), drawnInst{dst: "%r1", src: []string{x},
			eval: func(v []uint64) uint64 { return uint64(bits.OnesCount64(v[0])) }})
	case 4:
		d.emit(fmt.Sprintf("clz.b%d %%r1, %s", w, x), drawnInst{dst: "%r1", src: []string{x},
			eval: func(v []uint64) uint64 { return uint64(bits.LeadingZeros64(v[0]) - 64 + w) }})
	case 5:
		a, b := d.reg(32), d.operand(32)
		if typ := rapid.SampledFrom([]string{"u32", "s32"}).Draw(d.T, "typ"); typ == "u32" {
			d.emit(fmt.Sprintf("mul.wide.u32 %%d1, %s, %s", a, b), drawnInst{dst: "%d1", src: []string{a, b},
				eval: func(v []uint64) uint64 { return v[0] * (v[1] & mask(32)) }})
		} else {
			d.emit(fmt.Sprintf("mul.wide.s32 %%d1, %s, %s", a, b), drawnInst{dst: "%d1", src: []string{a, b}, eval: func(v []uint64) uint64 {
				return uint64(signed(v[0], 32) * signed(v[1], 32))
			}})
		}
	case 6:
		a := d.reg(32)
		if d.below(2) == 0 {
			d.emit(fmt.Sprintf("cvt.u64.u32 %%d2, %s", a), drawnInst{dst: "%d2", src: []string{a}, eval: func(v []uint64) uint64 { return v[0] }})
		} else {
			d.emit(fmt.Sprintf("cvt.s64.s32 %%d2, %s", a), drawnInst{dst: "%d2", src: []string{a},
				eval: func(v []uint64) uint64 { return uint64(signed(v[0], 32)) }})
		}
	case 7:
		a := d.reg(64)
		d.emit(fmt.Sprintf("cvt.u32.u64 %%r2, %s", a), drawnInst{dst: "%r2", src: []string{a}, eval: func(v []uint64) uint64 { return v[0] }})
	}
}

// call passes two registers, or a number, and takes what comes back.
func (d *drawnPTX) call() {
	pass := func(text, dst, src string) {
		fmt.Fprintf(&d.text, "%s;\n", text)
		d.insts = append(d.insts, drawnInst{dst: dst, src: []string{src}, eval: func(v []uint64) uint64 { return v[0] }})
	}
	x, y, to := d.operand(32), d.reg(64), d.reg(32)
	first := len(d.insts)
	for i := range 5 { // jumps to any of them lead to the first
		fmt.Fprintf(&d.text, "L%d: ", first+i)
	}
	fmt.Fprintln(&d.text)
	pass("st.param.b32 [pa], "+x, "#r:a", x)
	if d.below(2) == 0 {
		pass("st.param.b64 [pb], "+y, "#d:b", y)
	} else { // in parts
		pass("st.param.b32 [pb], 8", "#d:b", "8")
		fmt.Fprintf(&d.text, "st.param.b32 [pb+4], 1;\n")
		d.insts = append(d.insts, drawnInst{dst: "#d:b", src: []string{"#d:b"}, eval: func(v []uint64) uint64 { return v[0] | 1<<32 },
			part: true})
	}
	fmt.Fprintf(&d.text, "call (q), f, (pa, pb);\n")
	d.insts = append(d.insts, drawnInst{dst: "#r:q", calls: true})
	pass("ld.param.b32 "+to+", [q]", to, "#r:q")
	if len(d.insts) == first+4 {
		pass("mov.b32 "+to+", "+to, to, to)
	}
	for i := range 5 {
		d.insts[first+i].first = first
	}
}

func widthOf(reg string) int { return map[byte]int{'p': 1, 'r': 32, 'd': 64}[reg[1]] }

// function is the text of the function that is called.
func (d *drawnPTX) function() string {
	d.body()
	return ".func (.param .b32 r) f(.param .u32 a, .param .u64 b) {\n.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<3>;\n" +
		d.text.String() + "st.param.b32 [r], %r0;\nret;\n}\n"
}

// kernel draws a kernel.
func (d *drawnPTX) kernel() string {
	d.callee = &drawnPTX{T: d.T}
	f := d.callee.function()
	d.body()
	d.emit("st.global.u32 [%d0], %r0", drawnInst{addr: "%d0", guard: "%p0"})
	return ".version 7.8\n.target sm_80\n.address_size 64\n" + f + ".visible .entry k(.param .u32 a, .param .u64 b) {\n" +
		".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<3>; .param .b32 pa; .param .b64 pb; .param .b32 q;\n" + d.text.String() + "ret;\n}\n"
}

func (d *drawnPTX) body() {
	first := func(text, dst, src string) {
		d.emit(text, drawnInst{dst: dst, src: []string{src}, eval: func(v []uint64) uint64 { return v[0] }})
	}
	first("ld.param.u32 %r0, [a]", "%r0", "a")
	first("mov.u32 %r1, %tid.x", "%r1", "%tid.x")
	first("mov.u32 %r2, 6", "%r2", "6")
	first("mov.u32 %r3, %laneid", "%r3", "%laneid")
	first("ld.param.u64 %d0, [b]", "%d0", "b")
	first("mov.u64 %d1, 24", "%d1", "24")
	first("ld.param.u64 %d2, [b]", "%d2", "b")
	for p := range 2 {
		x, y := "%r"+fmt.Sprint(p), "%r"+fmt.Sprint(2+p)
		d.emit(fmt.Sprintf("setp.eq.u32 %%p%d, %s, %s", p, x, y), drawnInst{dst: "%p" + fmt.Sprint(p), src: []string{x, y},
			eval: func(v []uint64) uint64 { return bit(v[0] == v[1]) }})
	}
	n := 12 + d.below(20)
	for len(d.insts) < n {
		d.inst(n + 5)
	}
	for len(d.insts) < n+5 { // jumps lead here at most
		d.emit("mov.u32 %r1, 3", drawnInst{dst: "%r1", src: []string{"3"}, eval: func(v []uint64) uint64 { return v[0] }})
	}
}

// run executes the kernel: of each instruction that is performed, what it leaves in its register, or the address of its store; and of
// stores, what they store.
func (d *drawnPTX) run(inputs map[string]uint64) (out, stored map[int]uint64, regs map[string]uint64) {
	regs = map[string]uint64{}
	out, stored = map[int]uint64{}, map[int]uint64{}
	for at := 0; at < len(d.insts); at++ {
		in := &d.insts[at]
		if in.guard != "" && (regs[in.guard] != 0) == in.neg {
			continue
		}
		switch {
		case in.calls:
			_, _, ends := d.callee.run(map[string]uint64{"a": regs["#r:a"], "b": regs["#d:b"], "%tid.x": inputs["%tid.x"],
				"%laneid": inputs["%laneid"]})
			regs[in.dst] = ends["%r0"]
			continue
		case in.jump > 0:
			out[at] = 0
			at = cmp.Or(d.insts[in.jump].first, in.jump) - 1
			continue
		case in.addr != "":
			out[at], stored[at] = regs[in.addr], regs["%r0"]
			continue
		}
		var src []uint64
		for _, s := range in.src {
			v, ok := regs[s]
			if k, given := inputs[s]; given {
				v, ok = k, true
			}
			if strings.HasPrefix(s, "loaded") && !ok { // some word
				v, ok = 5, true
			}
			if !ok {
				_, err := fmt.Sscan(s, &v)
				require.NoError(d, err, s)
				if widthOf(in.dst) == 32 {
					v &= mask(32)
				}
			}
			src = append(src, v)
		}
		regs[in.dst] = in.eval(src) & mask(widthOf(in.dst))
		if out[at] = regs[in.dst]; in.part {
			out[at] >>= 32
		}
	}
	return out, stored, regs
}

// addresses are those of the stores that are performed.
func (d *drawnPTX) addresses(out map[int]uint64) map[int]uint64 {
	list := map[int]uint64{}
	for i, v := range out {
		if d.insts[i].addr != "" {
			list[i] = v
		}
	}
	return list
}

func bit(b bool) uint64 { return uint64(b2i(b)) }

func mask(width int) uint64 { return 1<<width - 1 }
