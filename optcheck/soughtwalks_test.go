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

// walked is what the walk over code finds in it.
func walked(f *isa.Func, o walkOptions) string {
	tr, err := walk(followed(f), o)
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

// walksSay is what is said of code that is drawn as a seed has it.
func walksSay(splicers map[string]*splicer, kernel int, seed uint64) string {
	target := walkTargets[kernel]
	pool := splicers[strings.TrimSuffix(vendorOf(target), "86-")].pool
	last := isa.Inst{Op: "EXIT", Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1}
	c := &shuffledCode{pool: pool, f: &isa.Func{Name: "drawn", Arch: target, Insts: []isa.Inst{last}}}
	for _, s := range mutants.Rounds(seed) {
		c.rnd = rand.New(rand.NewPCG(s, uint64(kernel)))
		c.draw()
	}
	o := walkOptions{fold: c.rnd.IntN(2) == 0, literals: map[int64]uint32{0: 7, 8: 1 << 31}}
	if c.rnd.IntN(3) == 0 {
		o.unsettled = anyUnsettled(c.rnd, c.f)
	}
	return walked(c.f, o)
}

// TestDrawn: code of drawn instructions ends no walk, and the same code is always the same.
func TestDrawn(t *testing.T) {
	all, said := seekers(t)[0].splicers, 0
	for kernel, target := range walkTargets {
		for seed := range uint64(150) {
			one := walksSay(all, kernel, seed)
			require.Equal(t, one, walksSay(all, kernel, seed), fmt.Sprint(target, seed))
			said += strings.Count(one, "\n")
		}
	}
	require.Greater(t, said, 5_000)
}
