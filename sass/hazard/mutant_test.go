package hazard

import (
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"optcheck/isa"
)

var mutants = flag.Int("mutants", 8, "kernels whose control codes are changed one at a time, those of -cubins, or of testdata and random ones")

// edit is one change of a control code, or of the count of a wait.
type edit struct {
	name string
	make func(in *isa.Inst) bool // false if there is nothing to change
}

var edits = func() (list []edit) {
	for b := range scoreboards {
		list = append(list, edit{"wait", func(in *isa.Inst) bool {
			had := in.Control.Wait>>b&1 != 0
			in.Control.Wait &^= 1 << b
			return had
		}})
	}
	drop := func(to *uint8) bool { had := *to < scoreboards; *to = isa.NoBarrier; return had }
	stall := func(f func(c *isa.Control) bool) func(*isa.Inst) bool {
		return func(in *isa.Inst) bool { return f(&in.Control) }
	}
	list = append(list,
		edit{"write", func(in *isa.Inst) bool { return drop(&in.Control.Write) }},
		edit{"read", func(in *isa.Inst) bool { return drop(&in.Control.Read) }},
		edit{"stall-1", stall(func(c *isa.Control) bool { had := c.Stall > 1; c.Stall = max(1, c.Stall-1); return had })},
		edit{"stall=1", stall(func(c *isa.Control) bool { had := c.Stall > 2; c.Stall = 1; return had })},
		edit{"yield", stall(func(c *isa.Control) bool {
			had := c.Yield && (c.Stall == 0 || c.Stall > 11)
			c.Yield = false
			return had
		})},
		edit{"depbar+1", func(in *isa.Inst) bool {
			bar, _, all := depbar(in)
			at := slices.IndexFunc(in.Args, func(o isa.Operand) bool { return o.Kind == isa.OpdImm })
			if at < 0 || bar|all == 0 && !waitsForGroups(in) {
				return false
			}
			in.Args = slices.Clone(in.Args)
			in.Args[at].Imm++
			return true
		}})
	return list
}()

// oracle walks along random paths of a function, with counters of scoreboards as the chip has them, and looks for an
// instruction that uses a register too early. It shares only the table with Check.
type oracle struct {
	fn      *isa.Func
	t       *table
	effects []effect
	out     []flight
	back    []int // blocks where the functions that were called return
	now     int
}

// flight is an instruction that was issued.
type flight struct {
	inst, at   int
	write, use bool // not yet certain
	drained    int  // when its operands have been read for all that a barrier tells; 0 if none did
	settled    int  // when its results are there for all that a DEPBAR tells; 0 if none did
}

func newOracle(fn *isa.Func, t *table) *oracle {
	o := &oracle{fn: fn, t: t}
	for i := range fn.Insts {
		o.effects = append(o.effects, t.effectOf(&fn.Insts[i]))
	}
	return o
}

// broken tells whether one of some random paths breaks a dependency.
func (o *oracle) broken(r *rand.Rand, paths int) bool {
	if !slices.ContainsFunc(o.fn.Blocks, func(b isa.Block) bool { return len(b.Succs) > 1 }) {
		paths = 1
	}
	for range paths {
		o.out, o.now, o.back = o.out[:0], 0, o.back[:0]
		for block, steps := 0, 0; block >= 0 && steps < 400; steps++ {
			b := &o.fn.Blocks[block]
			for i := b.First; i < b.End; i++ {
				if o.step(i) {
					return true
				}
			}
			block = o.next(r, b)
		}
	}
	return false
}

// next chooses the block that follows one, into functions of the section and back; -1 where the path ends.
func (o *oracle) next(r *rand.Rand, b *isa.Block) int {
	at := func(inst int) int {
		return slices.IndexFunc(o.fn.Blocks, func(x isa.Block) bool { return x.First == inst })
	}
	switch last := &o.fn.Insts[b.End-1]; {
	case last.Flow == isa.FlowCall:
		o.back = append(o.back, at(b.End))
		return at(last.Target)
	case last.Flow == isa.FlowReturn && len(o.back) == 0:
		return -1
	case last.Flow == isa.FlowReturn && (last.Guard == (isa.Guard{}) || r.IntN(2) == 0):
		to := o.back[len(o.back)-1]
		o.back = o.back[:len(o.back)-1]
		return to
	case last.Flow == isa.FlowReturn:
		return at(b.End)
	case len(b.Succs) == 0:
		return -1
	}
	return b.Succs[r.IntN(len(b.Succs))]
}

// step issues an instruction.
func (o *oracle) step(i int) bool {
	in, e := &o.fn.Insts[i], &o.effects[i]
	stall := int(stallOf(in))
	if o.await(in) {
		return true
	}
	if e.skip {
		o.now += stall
		return false
	}
	for _, f := range o.out {
		if o.early(f, i) {
			return true
		}
	}
	for k := range o.out {
		if f := &o.out[k]; e.drains.after > 0 && f.drained == 0 && o.effects[f.inst].queue != "" && stallOf(&o.fn.Insts[f.inst]) >= e.drains.stall {
			f.drained = o.now + int(e.drains.after)
		}
	}
	o.out = slices.DeleteFunc(o.out, func(f flight) bool { return f.inst == i || !f.write && !f.use && o.now-f.at > horizon })
	o.out = append(o.out, flight{inst: i, at: o.now, write: e.variable && len(e.defs) > 0, use: e.reads && len(e.uses) > 0})
	o.now += stall
	return false
}

// await ends what an instruction waits for; it reports a scoreboard that is waited for too early.
func (o *oracle) await(in *isa.Inst) bool {
	bar, left, all := depbar(in)
	o.settle()
	wait := in.Control.Wait
	for k := range o.out {
		f := &o.out[k]
		if waitsForGroups(in) && o.effects[f.inst].has(grouped) && o.groups(k) > left {
			f.write, f.use = false, false
		}
		own := o.fn.Insts[f.inst].Control
		if (board(own.Write)|board(own.Read))&in.Control.Wait != 0 && (f.write || f.use) && o.now-f.at < o.t.setWait {
			return true
		}
		done, counted := wait, all
		if bar&board(own.Write) != 0 && o.effects[f.inst].inOrder != "" && o.since(k, bar) >= left {
			counted |= bar
		}
		written, read := board(own.Write)&(done|counted) != 0, board(own.Read)&(done|counted) != 0
		at := 0
		if board(own.Write)&done == 0 {
			at = o.now + int(o.t.countWait)
		}
		if !written && !read {
			continue
		}
		fe := &o.effects[f.inst]
		for j := range o.out[:k+1] { // what the same unit did before is done, too
			g := &o.out[j]
			ge := &o.effects[g.inst]
			if written && (j == k || fe.inOrder != "" && fe.inOrder == ge.inOrder) {
				g.settle(at)
			}
			if j == k || fe.queue != "" && fe.queue == ge.queue {
				g.use = false
			}
		}
	}
	return false
}

// settle ends what a wait has told: at once, or at some time.
func (f *flight) settle(at int) {
	f.use = false
	if at == 0 {
		f.write, f.settled = false, 0
	} else if f.settled == 0 {
		f.settled = at
	}
}

// settle ends what has settled by now.
func (o *oracle) settle() {
	for k := range o.out {
		f := &o.out[k]
		f.write = f.write && (f.settled == 0 || o.now < f.settled)
		f.use = f.use && (f.drained == 0 || o.now < f.drained)
	}
}

// since counts the instructions behind one in flight that answer behind it and set a scoreboard.
func (o *oracle) since(k int, bar uint8) (n int) {
	unit := o.effects[o.out[k].inst].inOrder
	for _, f := range o.out[k+1:] {
		if in := &o.fn.Insts[f.inst]; board(in.Control.Write)&bar != 0 && in.Guard == (isa.Guard{}) && o.effects[f.inst].inOrder == unit {
			n++
		}
	}
	return n
}

// groups counts the groups of asynchronous instructions that ended from one in flight on.
func (o *oracle) groups(k int) (n int) {
	for _, f := range o.out[k:] {
		if o.effects[f.inst].has(grouped) && commits(&o.fn.Insts[f.inst]) {
			n++
		}
	}
	return n
}

// early tells whether an instruction uses a register of an earlier one too soon.
func (o *oracle) early(f flight, i int) bool {
	from, in := &o.fn.Insts[f.inst], &o.fn.Insts[i]
	fe, e := &o.effects[f.inst], &o.effects[i]
	g := in.Guard.Reg
	other := g != (isa.Reg{}) && g == from.Guard.Reg && in.Guard.Neg != from.Guard.Neg // no thread performs both
	for _, d := range fe.defs {
		if other && (d == g || d.Class == isa.ClassGPR || d.Class == isa.ClassPred || g.Class == isa.ClassUPred) {
			continue
		}
		open := f.write
		if d.Class == isa.ClassPred && fe.has(early) {
			open = f.use
		}
		for kind, list := range map[Kind][]isa.Reg{RAW: e.uses, WAW: e.defs} {
			if kind == RAW && fe.has(grouped) && e.has(grouped) && slices.Contains(e.defs, d) {
				continue
			}
			if !slices.Contains(list, d) || kind == WAW && fe.inOrder != "" && fe.inOrder == e.inOrder {
				continue
			}
			need, _, known := o.t.need(kind, from, in, d)
			if d == group {
				if kind == RAW && known && o.now-f.at < need {
					return true
				}
				continue
			}
			if open || !fe.variable && known && o.now-f.at < need && (kind == RAW || !e.variable && fe.class != e.class) {
				return true
			}
		}
	}
	if fe.has(lags) && fe.unit != e.unit {
		for _, u := range fe.uses {
			if need, _, known := o.t.need(WAR, from, in, u); u.Class == isa.ClassUGPR && slices.Contains(e.defs, u) && known && o.now-f.at < need {
				return true
			}
		}
	}
	if !f.use || other || o.t.unit(from) == o.t.unit(in) || fe.queue != "" && fe.queue == e.queue {
		return false
	}
	for _, u := range fe.uses {
		if slices.Contains(e.defs, u) && u.Class == isa.ClassGPR {
			if need, _, known := o.t.need(WAR, from, in, u); !known || o.now-f.at < need {
				return true
			}
		}
	}
	return false
}

// score counts mutants of one kind: those that the oracle shows to be needed, and those of them that Check notices.
type score struct{ all, needed, noticed, others int }

// TestMutants changes every control code of -mutants kernels, at most five of a file, one at a time: Check must notice what the
// oracle shows to be needed.
func TestMutants(t *testing.T) {
	scores := map[string]*score{}
	r := rand.New(rand.NewPCG(35, 1))
	kernels, of := 0, map[string]int{}
	load(t, *cubins, func(file string, fn *isa.Func) {
		table, _ := tableOf(fn)
		if kernels >= *mutants || of[file] >= 5 || table == nil || len(fn.Insts) > 250 || len(Check(fn).Findings) > 0 {
			return
		}
		if newOracle(fn, table).broken(r, 20) {
			t.Errorf("%s %s: the oracle finds something in honest code", file, fn.Name)
			return
		}
		kernels++
		of[file]++
		for i := range fn.Insts {
			in := &fn.Insts[i]
			for _, e := range edits {
				was := *in
				if !e.make(in) {
					*in = was
					continue
				}
				s := scores[e.name]
				if s == nil {
					s = &score{}
					scores[e.name] = s
				}
				s.all++
				noticed, needed := len(Check(fn).Findings) > 0, newOracle(fn, table).broken(r, 20)
				switch {
				case needed && noticed:
					s.needed++
					s.noticed++
				case needed:
					s.needed++
					t.Errorf("%s %s: %s at %04x %s: not noticed", file, fn.Name, e.name, in.Addr, strings.TrimSpace(in.Text))
				case noticed:
					s.others++
				}
				*in = was
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		s := scores[name]
		if s.needed == 0 {
			t.Errorf("%s: none of %d is needed", name, s.all)
		}
		t.Logf("%s: of %d in %d kernels %d are needed, of which %d are noticed; %d others are noticed", name, s.all, kernels, s.needed, s.noticed, s.others)
	}
}
