package hazard

import (
	"math/rand/v2"
	"slices"
	"testing"

	"optcheck/isa"
)

// exchanges are changes of two control codes at once.
var exchanges = map[string]func(a, b *isa.Control){
	"codes":          func(a, b *isa.Control) { *a, *b = *b, *a },
	"stalls":         func(a, b *isa.Control) { a.Stall, a.Yield, b.Stall, b.Yield = b.Stall, b.Yield, a.Stall, a.Yield },
	"waits":          func(a, b *isa.Control) { a.Wait, b.Wait = b.Wait, a.Wait },
	"write barriers": func(a, b *isa.Control) { a.Write, b.Write = b.Write, a.Write },
	"a later wait":   func(a, b *isa.Control) { a.Wait, b.Wait = 0, a.Wait|b.Wait },
	"an early wait":  func(a, b *isa.Control) { a.Wait, b.Wait = a.Wait|b.Wait, 0 },
}

// more are changes of all control codes that make instructions wait for more or longer.
var more = map[string]func(c *isa.Control){
	"stalls of 11":        func(c *isa.Control) { c.Stall = max(c.Stall, 11) },
	"stalls of 15":        func(c *isa.Control) { c.Stall, c.Yield = 15, true },
	"all waits, two each": func(c *isa.Control) { c.Stall, c.Wait = max(c.Stall, 2), 1<<scoreboards-1 },
}

// TestExchanges changes half as many kernels as TestMutants: what two neighbours exchange is noticed where it is needed; who waits for more than needed is not accused.
func TestExchanges(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 4))
	kernels, needed := 0, map[string]int{}
	load(t, *cubins, func(file string, fn *isa.Func) {
		table, _ := tableOf(fn)
		if 2*kernels >= *mutants || table == nil || len(fn.Insts) > 250 || len(Check(fn).Findings) > 0 {
			return
		}
		kernels++
		was := slices.Clone(fn.Insts)
		for name, change := range more {
			for i := range fn.Insts {
				change(&fn.Insts[i].Control)
			}
			for _, f := range Check(fn).Findings {
				t.Errorf("%s %s: %s: %s", file, fn.Name, name, f.Missing(fn))
			}
			copy(fn.Insts, was)
		}
		for i := range fn.Insts[1:] {
			for name, change := range exchanges {
				a, b := &fn.Insts[i].Control, &fn.Insts[i+1].Control
				change(a, b)
				if newOracle(fn, table).broken(r, 5) {
					needed[name]++
					if len(Check(fn).Findings) == 0 {
						t.Errorf("%s %s: %s at %04x %s: not noticed", file, fn.Name, name, fn.Insts[i].Addr, fn.Insts[i].Text)
					}
				}
				*a, *b = was[i].Control, was[i+1].Control
			}
		}
	})
	for name := range exchanges {
		if needed[name] == 0 {
			t.Errorf("%s: none is needed", name)
		}
	}
	t.Log(kernels, needed)
}
