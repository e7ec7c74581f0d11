package optcheck

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/mutants"
	"optcheck/isa"
	"optcheck/litmus/corpus"
	"optcheck/spec"
)

// wordTargets are those whose micro-operations are composed at random.
var wordTargets = []string{"sm_90", "sm_52", "gfx90a", "gfx1030", "x86-64"}

// drawnCells is how many cells stand for composed words, and for drawn instructions: the search draws cells.
const drawnCells = 100

// composer composes expressions as machine code does, at random, and asks all that can be asked of them.
type composer struct {
	rnd      *rand.Rand
	m        *machine
	p        *valuePool
	vals     []value
	said     strings.Builder
	literals []uint32 // of markers
}

// constants are those at which words, masks, halves and shifts differ.
var constants = []uint32{0, 0, 1, 2, 4, 8, 16, 31, 32, 0xff, 0xffff, 0xff00, 0xffff0000, 0x7fffffff, 1 << 31, 1<<32 - 1, 1<<32 - 1,
	0x3210, 0x5410, 0x7632, 0x64}

// newComposer has some words: what is read, parameters, constants, symbols, and what nobody knows.
func newComposer(t *testing.T, target string) *composer {
	a, err := archOf(target)
	require.NoError(t, err)
	p := newValuePool()
	fn := &isa.Func{Arch: target, Insts: []isa.Inst{{Op: "LD", Role: isa.RoleLoad, Mods: []string{"U8"}, Mem: isa.Mem{Width: 1}},
		{Op: "LD", Role: isa.RoleLoad, Mods: []string{"U16"}, Mem: isa.Mem{Width: 2}}, {Op: "LD", Role: isa.RoleLoad, Mem: isa.Mem{Width: 4}},
		{Op: "LD", Role: isa.RoleLoad, Mods: []string{"S8"}, Mem: isa.Mem{Width: 1}}, {Op: "s_getpc_b64"}, {Op: "s_add_u32"}}}
	tr := &trace{pool: p, fn: fn, arch: a, joins: map[value]join{}}
	x, ok := corpus.Lookup("mp+membar.gls")
	require.True(t, ok)
	s, err := spec.FromTest(x, 0, spec.Pointers)
	require.NoError(t, err)
	literals, err := s.Literals()
	require.NoError(t, err)
	c := &composer{p: p, literals: literals, m: &machine{tr: tr, arch: a, guardV: none, laneT: map[value]taint{}}}
	for i := range 4 {
		in := &fn.Insts[i]
		tr.events, tr.reads = append(tr.events, event{inst: i, role: in.Role, mem: in.Mem, read: i, lo: none}), append(tr.reads, i)
		c.vals = append(c.vals, p.mk(node{kind: kLoad, a: value(i), b: value(i % 3 / 2), c: none}))
	}
	for _, s := range []string{"lanes", "laneLO", "tid.x", "lan", "src_private_base", "group x"} {
		c.vals = append(c.vals, p.mk(node{kind: kSpecial, imm: p.str(s), a: none, b: none, c: none}))
	}
	for w := range value(2) {
		c.vals = append(c.vals, p.param(8*int64(w)), p.param(4), p.unwritten(int(w)), p.mk(node{kind: kSym, imm: p.str("sym"), a: w, b: none,
			c: none}),
			p.mk(node{kind: kBank, imm: 4<<32 | uint64(8+4*w), a: none, b: none, c: none}), p.mk(node{kind: kOpaque, a: 5, b: 100 + w, c: none}))
	}
	return c
}

func (c *composer) say(list ...any) { fmt.Fprintln(&c.said, list...) }

// pick is some value, often a constant or one of the latest.
func (c *composer) pick() value {
	switch c.rnd.IntN(4) {
	case 0:
		return c.p.constant(anyOf(c.rnd, constants))
	case 1:
		return c.vals[len(c.vals)-1-c.rnd.IntN(min(4, len(c.vals)))]
	}
	return anyOf(c.rnd, c.vals)
}

// flag is some predicate.
func (c *composer) flag() value {
	for range 8 {
		if v := c.pick(); c.p.isBool(v) && c.p.nodes[v].kind != kConst {
			return v
		}
	}
	return c.p.mk(node{kind: kCmp, imm: uint64(c.rnd.IntN(len(cmpCodes))) | uint64(c.rnd.IntN(2))*cmpSigned, a: c.pick(), b: c.pick(),
		c: none})
}

// text is an expression in full.
func (c *composer) text(v value, depth int) string {
	if v < 0 || depth > 6 {
		return fmt.Sprint(v < 0)
	}
	n := c.p.nodes[v]
	name := ""
	if mi, ok := c.p.microOf(n.imm); n.kind == kFun && ok {
		n.imm, name = 0, fmt.Sprint(mi.Op, mi.LUT, mi.Cmp, mi.Bool, mi.Signed)
	}
	if n.imm < uint64(len(c.p.names)) && (n.kind == kSpecial || n.kind == kSym) {
		name = c.p.names[n.imm]
		n.imm = 0
	}
	if n.kind == kLoad || n.kind == kSym || n.kind == kOpaque { // whose numbers are no values
		return fmt.Sprintf("(%d %s%x %d %d %s)", n.kind, name, n.imm, n.a, n.b, c.text(n.c, depth+1))
	}
	return fmt.Sprintf("(%d %s%x %s %s %s)", n.kind, name, n.imm, c.text(n.a, depth+1), c.text(n.b, depth+1), c.text(n.c, depth+1))
}

// compose adds some words: what micro-operations, joins and accesses to parts of words make of others.
func (c *composer) compose() {
	for k := range 2 + c.rnd.IntN(8) {
		v, rnd := none, c.rnd
		switch rnd.IntN(10) {
		case 0:
			v = c.p.mk(node{kind: kPhi, imm: uint64(rnd.IntN(3)<<40 | rnd.IntN(2)<<16), a: c.pick(), b: c.pick(), c: none})
			if rnd.IntN(2) == 0 {
				c.m.tr.joins[v] = join{c.flag(), rnd.IntN(2) == 0}
			}
		case 1:
			v = anyOf(rnd, []func() value{
				func() value { return c.m.half(c.pick(), anyOf(rnd, []string{"l", "h", ""})) },
				func() value { return c.m.halved(c.pick(), c.pick(), anyOf(rnd, []string{"l", "h", ""})) },
				func() value { return c.m.low(c.pick(), 1+rnd.IntN(2)) },
				func() value { return c.p.cut(c.pick(), rnd.IntN(6)) },
				func() value { return c.m.unmasked(c.pick()) },
				func() value { return c.p.decided(c.pick(), anyOf(rnd, constants)) },
			})()
		case 2:
			v = c.p.flat(uint8(rnd.Uint32()), c.flag(), c.flag(), anyOf(rnd, []value{none, c.flag()}))
		case 3:
			v = c.p.mk(node{kind: kFun, imm: funLane | uint64(rnd.IntN(3)), a: c.pick(), b: c.pick(), c: none})
			c.m.laneT[v] = taint(1) << rnd.IntN(4)
		default:
			v = c.micro(k)
		}
		c.vals = append(c.vals, v)
		c.say(c.text(v, 0))
	}
}

// micro is what a micro-operation makes of some values.
func (c *composer) micro(k int) value {
	rnd := c.rnd
	mi := &isa.Micro{Op: isa.MicroOp(1 + rnd.IntN(int(isa.MicroLaneSet))), LUT: uint8(rnd.Uint32()), Signed: rnd.IntN(3) == 0,
		Cmp: anyOf(rnd, []string{"EQ", "NE", "LT", "LE", "GT", "GE", "NUM"}), Bool: anyOf(rnd, []string{"", "AND", "OR", "XOR", "NAND"}),
		Sym: anyOf(rnd, []string{"LO", "HI", "tid.x"})}
	if rnd.IntN(3) == 0 {
		mi.Op = anyOf(rnd, []isa.MicroOp{isa.MicroLop3, isa.MicroSetp, isa.MicroSel, isa.MicroPrmt, isa.MicroAdd, isa.MicroPlop})
	}
	if rnd.IntN(2) == 0 {
		mi.LUT = anyOf(rnd, []uint8{lutAnd, lutOr, lutXor, lutA ^ lutC, lutB ^ lutC, ^uint8(lutA), lutMerge})
	}
	src := operands{none, none, none, none, none}
	for i := range anyOf(rnd, []int{1, 2, 2, 3, 3, 3, 4, 4, 5}) {
		o := isa.Operand{Kind: anyOf(rnd, []isa.OperandKind{isa.OpdReg, isa.OpdReg, isa.OpdPred, isa.OpdImm, isa.OpdSym})}
		switch src[i] = c.pick(); {
		case o.Kind == isa.OpdReg && rnd.IntN(3) == 0:
			o.Reg = isa.RegSCC
		case o.Kind == isa.OpdSym:
			o.Part, o.Off = anyOf(rnd, []string{"lo", "hi"}), int64(4*rnd.IntN(3))
		case rnd.IntN(12) == 0:
			src[i] = c.p.constant(anyOf(rnd, c.literals))
		case o.Kind == isa.OpdPred || rnd.IntN(4) == 0:
			src[i] = c.flag()
		}
		mi.Src = append(mi.Src, o)
	}
	if least, ok := map[isa.MicroOp]int{isa.MicroMov: 1, isa.MicroLop3: 1,
		isa.MicroPlop: 1}[mi.Op]; !ok && len(mi.Src) < 3 || len(mi.Src) < least {
		mi.Op = anyOf(rnd, []isa.MicroOp{isa.MicroMov, isa.MicroLop3, isa.MicroPlop})
	}
	v, ok := c.m.arch.micro(c.m, 5, k, mi, src)
	if !ok && len(mi.Src) <= maxOperands {
		v, ok = c.m.compute(5, mi, src)
	}
	if !ok {
		if src[3] != none {
			src[2] = c.p.mk(node{kind: kFun, imm: funPair, a: src[2], b: src[3], c: none})
		}
		v = c.p.mk(node{kind: kFun, imm: c.m.funCode(mi), a: src[0], b: src[1], c: src[2]})
	}
	c.m.findMarker(5, v, 1)
	return v
}

// someWords are words that are chosen by position and by offset.
type someWords []uint32

func (w someWords) Read(pos, word int) uint32 { return w[(pos+word)%len(w)] }
func (w someWords) Param(off int64) uint32    { return w[int(off/4)%len(w)] }

// ask says what is known of some of the words.
func (c *composer) ask() {
	p, m, rnd := c.p, c.m, c.rnd
	e := newEvaluator(&pass{tr: m.tr, s: &spec.Spec{}, owner: make([][]int, len(m.tr.events))})
	for range 3 {
		v, w, f := c.vals[len(c.vals)-1-rnd.IntN(min(6, len(c.vals)))], c.pick(), c.flag()
		c.say(p.isPredicate(v), p.garbage(v), p.lane(v), p.shuffled(v), p.isBool(v), p.isLaneNumber(v))
		c.say(p.falseDependency(p.nodes[v]), p.vanishes(v), p.mentions(v, w), p.joinedAt(v, rnd.IntN(3)), p.implies(f, c.flag()))
		x, k, ok := p.xorConst(v)
		c.say(ok, k, ok && x >= 0)
		for _, space := range []isa.Space{isa.SpaceGlobal, isa.SpaceShared} {
			c.say(m.normalise(v, space), m.located(v, w, space))
		}
		lane, ok := m.laneOf(v, uint64(rnd.IntN(3)))
		c.say(ok, ok && lane.v >= 0, lane.t, m.privateBase(w, v), c.text(m.bytes(v), 0))
		s := &cases{tr: m.tr, known: make([]word, len(p.nodes)), left: maxCaseValues}
		c.say(c.text(s.settled(f), 0), c.text(s.settled(v), 0), c.text(p.anyOf([][]sense{{{f, true}, {c.flag(), false}}, {{c.flag(), true}}}),
			0))
		for range 3 {
			words := someWords{rnd.Uint32(), anyOf(rnd, constants), anyOf(rnd, constants), rnd.Uint32(), anyOf(rnd, constants)}
			e.set(words)
			for _, x := range []value{v, f} {
				got, ok := e.eval(x, 0)
				c.say(got, ok)
			}
			c.say(e.stuck >= 0)
		}
	}
	for range 3 {
		f, g, v := c.flag(), c.flag(), c.pick()
		c.say(m.implied(none, f), m.implied(f, g), m.implied(c.p.flat(lutAnd, f, g, none), f), c.text(m.asBool(v), 0), c.text(m.maskBit(v), 0))
	}
	c.stores()
	for _, k := range m.tr.markers {
		c.say(k.m.Literal, c.text(k.oper, 0), k.t)
	}
}

// wordsSay is what is said of words that are composed as a seed has it.
func wordsSay(t *testing.T, kernel int, seed uint64) string {
	c := newComposer(t, wordTargets[kernel])
	for _, s := range mutants.Rounds(seed) {
		c.rnd = rand.New(rand.NewPCG(s, uint64(kernel)))
		c.m.fold = c.rnd.IntN(2) == 0
		c.compose()
	}
	c.ask()
	return c.said.String()
}

// TestComposed: no expression that machine code may compose ends the checker, and the evaluation of one is that of the words it stands
// for.
func TestComposed(t *testing.T) {
	long := 0
	for seed := range uint64(200) {
		for k := range wordTargets {
			long += len(slices.Collect(strings.Lines(wordsSay(t, k, seed))))
		}
	}
	require.Greater(t, long, 10_000)
}
