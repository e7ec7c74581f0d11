package hazard

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"optcheck/isa"
)

var mutants = flag.Int("mutants", 6, "kernels whose control codes are changed one at a time")

// edit is one change of a control code.
type edit struct {
	name string
	make func(c *isa.Control) bool // false if there is nothing to change
}

var edits = func() (list []edit) {
	for b := range scoreboards {
		list = append(list, edit{"wait", func(c *isa.Control) bool { had := c.Wait>>b&1 != 0; c.Wait &^= 1 << b; return had }})
	}
	drop := func(to *uint8, _ *isa.Control) bool { had := *to < scoreboards; *to = isa.NoBarrier; return had }
	list = append(list,
		edit{"write", func(c *isa.Control) bool { return drop(&c.Write, c) }},
		edit{"read", func(c *isa.Control) bool { return drop(&c.Read, c) }},
		edit{"stall-1", func(c *isa.Control) bool { had := c.Stall > 1; c.Stall = max(1, c.Stall-1); return had }},
		edit{"stall=1", func(c *isa.Control) bool { had := c.Stall > 2; c.Stall = 1; return had }})
	return list
}()

// oracle walks along random paths, with counters of scoreboards as the chip has them, and looks for an instruction that uses a
// register too early. It shares only the table with Check.
func oracle(fn *isa.Func, t *table, r *rand.Rand, paths int) bool {
	type flight struct {
		inst, at   int
		write, use bool // not yet certain
	}
	for range paths {
		var out []flight
		now, block := 0, 0
		for steps := 0; steps < 400; steps++ {
			b := &fn.Blocks[block]
			for i := b.First; i < b.End; i++ {
				in := &fn.Insts[i]
				e := t.effectOf(in)
				if e.skip {
					now += max(1, int(in.Control.Stall))
					continue
				}
				_, _, all := depbar(in)
				wait := in.Control.Wait | all
				for k := range out {
					f := &out[k]
					own := fn.Insts[f.inst].Control
					if own.Write < scoreboards && wait>>own.Write&1 != 0 || own.Read < scoreboards && wait>>own.Read&1 != 0 {
						if now-f.at < t.setWait {
							return true
						}
						fe := t.effectOf(&fn.Insts[f.inst])
						written := own.Write < scoreboards && wait>>own.Write&1 != 0
						for j := range out[:k+1] { // what the same unit did before is done, too
							g := &out[j]
							ge := t.effectOf(&fn.Insts[g.inst])
							if j == k && written || written && fe.inOrder != "" && fe.inOrder == ge.inOrder {
								g.write, g.use = false, false
							}
							if j == k || fe.queue != "" && fe.queue == ge.queue {
								g.use = false
							}
						}
					}
				}
				for _, f := range out {
					from := &fn.Insts[f.inst]
					fe := t.effectOf(from)
					if in.Guard.Reg != (isa.Reg{}) && in.Guard.Reg == from.Guard.Reg && in.Guard.Neg != from.Guard.Neg {
						continue
					}
					for _, d := range fe.defs {
						open := f.write
						if d.Class == isa.ClassPred && fe.early {
							open = f.use
						}
						for kind, list := range map[Kind][]isa.Reg{RAW: e.uses, WAW: e.defs} {
							if !slices.Contains(list, d) || kind == WAW && fe.inOrder != "" && fe.inOrder == e.inOrder {
								continue
							}
							need, known := t.need(kind, from, in, d)
							if open || !fe.variable && known && now-f.at < need && (kind == RAW || !e.variable) {
								return true
							}
						}
					}
					if f.use && fe.class != e.class && (fe.queue == "" || fe.queue != e.queue) {
						for _, u := range fe.uses {
							if slices.Contains(e.defs, u) && u.Class == isa.ClassGPR {
								if need, known := t.need(WAR, from, in, u); !known || now-f.at < need {
									return true
								}
							}
						}
					}
				}
				if e.drains {
					for k := range out {
						out[k].use = out[k].use && t.effectOf(&fn.Insts[out[k].inst]).queue == ""
					}
				}
				out = slices.DeleteFunc(out, func(f flight) bool { return f.inst == i || !f.write && !f.use && now-f.at > horizon })
				out = append(out, flight{inst: i, at: now, write: e.variable && len(e.defs) > 0, use: e.reads && len(e.uses) > 0})
				now += max(1, int(in.Control.Stall))
			}
			if last := &fn.Insts[b.End-1]; len(b.Succs) == 0 || last.Flow == isa.FlowCall || last.Flow == isa.FlowReturn {
				break
			}
			block = b.Succs[r.IntN(len(b.Succs))]
		}
	}
	return false
}

// TestMutants changes control codes of -mutants kernels one at a time: Check must notice what the oracle shows to be needed.
func TestMutants(t *testing.T) {
	type score struct{ all, noticed, missed int }
	scores := map[string]*score{}
	r := rand.New(rand.NewPCG(35, 1))
	kernels := 0
	load(t, *cubins, func(file string, fn *isa.Func) {
		table, _ := tableOf(fn)
		if kernels >= *mutants || table == nil || len(fn.Insts) > 1500 || len(Check(fn).Findings) > 0 {
			return
		}
		kernels++
		for i := range fn.Insts {
			for _, e := range edits {
				was := fn.Insts[i].Control
				c := was
				if !e.make(&c) {
					continue
				}
				fn.Insts[i].Control = c
				s := scores[e.name]
				if s == nil {
					s = &score{}
					scores[e.name] = s
				}
				s.all++
				if len(Check(fn).Findings) > 0 {
					s.noticed++
				} else if len(fn.Insts) < 400 && oracle(fn, table, r, 20) {
					s.missed++
					if s.missed < 5 {
						t.Errorf("%s %s: %s at %04x %s: not noticed", file, fn.Name, e.name, fn.Insts[i].Addr, strings.TrimSpace(fn.Insts[i].Text))
					}
				}
				fn.Insts[i].Control = was
			}
		}
	})
	for name, s := range scores {
		t.Logf("%s: %+v of %d kernels", name, *s, kernels)
	}
}
