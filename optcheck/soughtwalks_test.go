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
	"optcheck/spec"
)

// walkTargets are those for which code is put together of single instructions.
var walkTargets = []string{"sm_90", "sm_70", "sm_52", "sm_35", "gfx90a", "gfx1030", "gfx1200", "tahiti", "cypress", "x86-64"}

// shuffled is code of instructions that were drawn, whose registers are each other's.
type shuffledCode struct {
	rnd  *rand.Rand
	pool []*isa.Inst
	f    *isa.Func
}

// draw adds instructions, and makes registers of what is there others of theirs.
func (c *shuffledCode) draw() {
	for range 3 + c.rnd.IntN(8) {
		in := *anyOf(c.rnd, c.pool)
		if in.Flow == isa.FlowIndirect || in.Flow == isa.FlowExit && c.rnd.IntN(4) > 0 || in.Role == isa.RoleNop {
			continue
		}
		in.Targets = nil
		at := c.rnd.IntN(len(c.f.Insts)) // the last one ends the code
		c.f.Insts = slices.Insert(c.f.Insts, at, in)
	}
	var regs []isa.Reg
	for i := range c.f.Insts {
		in := &c.f.Insts[i]
		in.Addr = uint64(16 * i)
		if in.Target >= 0 {
			in.Target = c.rnd.IntN(len(c.f.Insts))
		}
		regs = append(append(regs, in.Defs...), in.Uses...)
	}
	for i := range c.f.Insts {
		in := &c.f.Insts[i]
		for _, r := range append(slices.Clone(in.Uses), in.Defs...) {
			if to := anyOf(c.rnd, regs); to.Class == r.Class && to != r && c.rnd.IntN(2) == 0 {
				renamed(in, r, to)
			}
		}
		if g := anyOf(c.rnd, c.f.Insts).Guard; c.rnd.IntN(8) == 0 && g.Reg.Class != isa.ClassNone {
			in.Guard, in.Uses = g, append(slices.Clone(in.Uses), g.Reg)
		}
	}
	c.f.BuildCFG()
}

// walked is what a walk over code has found in it.
func walked(tr *trace, err error) string {
	if err != nil {
		return err.Error()
	}
	c := &composer{p: tr.pool, m: &machine{tr: tr}}
	for i := range tr.events {
		x := &tr.events[i]
		c.say(x.inst, x.role, x.mem, x.read, x.addr, x.addrT, x.dataT, x.condT, x.cond, x.loop, x.result, x.partner)
		for _, v := range x.data {
			c.say(c.text(v, 0))
		}
		c.senses(x.when)
	}
	for _, k := range tr.markers {
		c.say(k.m.Literal, c.text(k.oper, 0), k.t, k.inst)
	}
	c.say(tr.calls, tr.effects, tr.unknown, tr.reads, tr.wild, tr.indirect, tr.loops, tr.order, len(tr.folded), len(tr.joins))
	for _, b := range tr.order {
		c.senses(tr.when[b])
	}
	for i := range tr.fn.Insts {
		if g, ok := tr.guards[i]; ok {
			c.say(i, c.text(g, 0))
		}
	}
	return c.said.String()
}

func (c *composer) senses(list []sense) {
	for _, s := range list {
		c.say(s.want, c.text(s.pred, 0))
	}
}

// drawn is code that is drawn as a seed has it.
func drawn(splicers map[string]*splicer, kernel int, seed uint64) (*isa.Func, *rand.Rand) {
	target := walkTargets[kernel]
	pool := splicers[strings.TrimSuffix(vendorOf(target), "86-")].pool
	last := isa.Inst{Op: "EXIT", Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1}
	c := &shuffledCode{pool: pool, f: &isa.Func{Name: "drawn", Arch: target, Insts: []isa.Inst{last}}}
	for _, s := range mutants.Rounds(seed) {
		c.rnd = rand.New(rand.NewPCG(s, uint64(kernel)))
		c.draw()
	}
	return c.f, c.rnd
}

// walksSay is what is said of code that is drawn.
func walksSay(splicers map[string]*splicer, kernel int, seed uint64) string {
	f, rnd := drawn(splicers, kernel, seed)
	o := walkOptions{fold: rnd.IntN(2) == 0, literals: map[int64]uint32{0: 7, 8: 1 << 31}}
	if rnd.IntN(3) == 0 {
		o.unsettled = anyUnsettled(rnd, f)
	}
	fn, err := followed(f)
	if err != nil {
		return err.Error()
	}
	return walked(walk(fn, o))
}

// viewsSay is what is said of drawn code as a kernel for devices: of what its loops change, and of each role.
func viewsSay(splicers map[string]*splicer, kernel int, seed uint64) string {
	f, rnd := drawn(splicers, kernel, seed)
	offsets := []int64{0, 8, 16, 20, 24, 32, 40, 48, 52, 56}
	for i := range f.Insts {
		in := &f.Insts[i]
		in.Args, in.Micro = slices.Clone(in.Args), slices.Clone(in.Micro)
		lists := [][]isa.Operand{in.Args}
		for k := range in.Micro {
			in.Micro[k].Src = slices.Clone(in.Micro[k].Src)
			lists = append(lists, in.Micro[k].Src)
		}
		for _, list := range lists {
			for k := range list {
				if o := &list[k]; o.Kind == isa.OpdConst && rnd.IntN(2) == 0 {
					o.Off = o.Off&^0xff | 0x60 + anyOf(rnd, offsets)
				}
			}
		}
	}
	h := &spec.Harness{Specs: []*spec.Spec{{Locations: 2}, {Locations: 2, Thread: 1, Entries: []spec.Entry{{}, {Pos: 1,
		Back: rnd.IntN(2)}}}}, Locations: []int64{0, 8},
		Cell: anyOf(rnd, []int64{0, 64, 256}), Roles: []int64{16, 20}, Stress: 24, Memory: []int64{32,
			40}, Scratch: 32, Counters: 40, Counted: 8,
		Offsets: []int64{48, 52}, Rounds: anyOf(rnd, []int64{0, 56}), Items: rnd.IntN(2) == 0, Sequences: 1}
	check := NewChecker()
	l, err := check.loopsOf(f, h)
	said := fmt.Sprint(err, harnessSays(check.CheckHarness(f, h)))
	if err != nil {
		return said
	}
	for role := stressRole; role < 2; role++ {
		said += walked(check.specialise(f, h, l, role))
	}
	return said
}

// TestDrawn: code of drawn instructions ends no walk, and the same code is always the same.
func TestDrawn(t *testing.T) {
	all, said := seekers(t)[0].splicers, 0
	for kernel, target := range walkTargets {
		for seed := range uint64(150) {
			one := walksSay(all, kernel, seed)
			require.Equal(t, one, walksSay(all, kernel, seed), fmt.Sprint(target, seed))
			said += strings.Count(one, "\n")
			one = viewsSay(all, kernel, seed)
			require.Equal(t, one, viewsSay(all, kernel, seed), fmt.Sprint(target, seed))
		}
	}
	require.Greater(t, said, 5_000)
}
