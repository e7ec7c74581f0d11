package optcheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/internal/limits"
	"optcheck/internal/patient"
	"optcheck/isa"
	"optcheck/sass"
)

// flowByDefinition answers by searching paths what flow answers by dominators.
type flowByDefinition struct {
	*flow
	fn *isa.Func
}

// reach reports whether some block after the first one on a path from a, which
// passes none of some blocks, is wanted.
func (f *flowByDefinition) reach(a int, without []int, wanted func(int) bool) bool {
	seen := make([]bool, len(f.blocks))
	for _, b := range without {
		seen[b] = true
	}
	var from func(int) bool
	from = func(x int) bool {
		for _, s := range f.blocks[x].Succs {
			if !seen[s] {
				seen[s] = true
				if wanted(s) || from(s) {
					return true
				}
			}
		}
		return false
	}
	return from(a)
}

// avoidable reports whether the function can end on a path from a that misses b.
func (f *flowByDefinition) avoidable(a, b int) bool {
	exits := func(x int) bool { return f.exits(f.fn, x) }
	return a != b && (exits(a) || f.reach(a, []int{b}, exits))
}

// depends lists the branches that decide whether b runs.
func (f *flowByDefinition) depends(b int) (out []decision) {
	for _, a := range f.order {
		last := &f.fn.Insts[f.blocks[a].End-1]
		if last.Flow == isa.FlowNext || last.Guard.Reg.Class == isa.ClassNone && len(f.blocks[a].Succs) < 2 || a == b || !f.avoidable(a, b) {
			continue
		}
		for _, s := range f.blocks[a].Succs {
			if s == b || f.reach(s, nil, func(x int) bool { return x == b }) && !f.avoidable(s, b) {
				out = append(out, decision{int32(a), f.blocks[s].First != f.blocks[a].End})
				break
			}
		}
	}
	return out
}

// joins lists the blocks any of which decides by which way control comes to p
// and q, the predecessors of b, and by which of its ways it comes to p.
func (f *flowByDefinition) joins(b, p, q int) (out [][2]int) {
	for _, d := range f.order {
		if d == b || len(f.blocks[d].Succs) != 2 || d != 0 && f.reach(0, []int{d}, func(x int) bool { return x == b }) {
			continue
		}
		var to [2][2]bool
		for i, s := range f.blocks[d].Succs {
			for k, x := range []int{p, q} {
				switch {
				case s == b:
					to[i][k] = x == d
				case s != d && x != b && x != d:
					to[i][k] = s == x || f.reach(s, []int{b, d}, func(y int) bool { return y == x })
				}
			}
		}
		for i := range 2 {
			if to[i] == [2]bool{true, false} && to[1-i] == [2]bool{false, true} {
				out = append(out, [2]int{d, i})
			}
		}
	}
	return out
}

// anyFlow draws a function of one instruction per block whose edges lead anywhere.
func anyFlow(t *rapid.T) *isa.Func {
	n := rapid.IntRange(1, 14).Draw(t, "blocks")
	fn := &isa.Func{Arch: "sm_80", Insts: make([]isa.Inst, n), Blocks: make([]isa.Block, n)}
	for i := range n {
		in, b := &fn.Insts[i], &fn.Blocks[i]
		b.First, b.End = i, i+1
		in.Flow = rapid.SampledFrom([]isa.Flow{isa.FlowNext, isa.FlowJump, isa.FlowJump, isa.FlowExit}).Draw(t, "flow")
		if in.Flow == isa.FlowExit && rapid.Bool().Draw(t, "last") {
			continue
		}
		if rapid.Bool().Draw(t, "guarded") {
			in.Guard.Reg = isa.Reg{Class: isa.ClassPred}
		}
		in.Defs = []isa.Reg{{Class: isa.ClassGPR, Num: uint16(i)}}
		for range rapid.IntRange(0, 2).Draw(t, "ways") {
			if s := rapid.IntRange(0, n-1).Draw(t, "to"); !slices.Contains(b.Succs, s) {
				b.Succs = append(b.Succs, s)
				fn.Blocks[s].Preds = append(fn.Blocks[s].Preds, i)
			}
		}
	}
	return fn
}

// TestFlowByDefinition: on any control flow, what dominators answer is what the
// definitions say.
func TestFlowByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fn := anyFlow(t)
		f, err := newFlow(fn)
		require.NoError(t, err)
		def := &flowByDefinition{f, fn}
		if len(f.order) < 2 {
			return
		}
		for _, b := range f.order {
			require.Equal(t, def.depends(b), f.control[b], "control dependence of block %d", b)
			if ps := f.blocks[b].Preds; len(ps) == 2 && f.pos[ps[0]] >= 0 && f.pos[ps[1]] >= 0 && b != 0 {
				var fast [][2]int
				d := f.idom[b]
				p, q := f.ways(d, ps[0], b), f.ways(d, ps[1], b)
				for i := range 2 {
					if len(f.blocks[d].Succs) == 2 && p[i] && !p[1-i] && q[1-i] && !q[i] {
						fast = append(fast, [2]int{d, i})
					}
				}
				require.Equal(t, def.joins(b, ps[0], ps[1]), fast, "what decides how control comes to block %d", b)
			}
			require.Equal(t, def.carries(b), f.carried[b], "what the loop at block %d writes", b)
		}
	})
}

// carries lists the registers that the loops at a head write: one for each
// block, which has its number.
func (f *flowByDefinition) carries(head int) (out []int) {
	for _, b := range f.order {
		for _, from := range f.blocks[head].Preds {
			if f.pos[from] >= f.pos[head] && (b == head || b == from || from != head &&
				f.reach(b, []int{head}, func(x int) bool { return x == from })) {
				out = append(out, b)
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

// foreign returns a dump of n branches and an exit.
func foreign(n int, line func(i int) string) string {
	var b strings.Builder
	b.WriteString("\tcode for sm_80\n\t\tFunction : k\n")
	for i := range n {
		fmt.Fprintf(&b, "        /*%04x*/                   %s ;\n", 16*i, line(i))
	}
	fmt.Fprintf(&b, "        /*%04x*/                   EXIT ;\n", 16*n)
	return b.String()
}

// TestForeignBranches: the control flow of a large foreign dump is analysed in
// moments, or said to be too large.
func TestForeignBranches(t *testing.T) {
	for _, n := range []int{300, 5_500, 20_000} {
		for name, line := range map[string]func(int) string{
			"calls":    func(i int) string { return fmt.Sprintf("CALL.REL.NOINC 0x%x", 16*(13*i%n)) },
			"forward":  func(i int) string { return fmt.Sprintf("@P%d BRA 0x%x", i%7, 16*n) },
			"nested":   func(i int) string { return fmt.Sprintf("@P%d BRA 0x%x", i%7, 16*max(n-i, i)) },
			"loops":    func(i int) string { return fmt.Sprintf("@P0 BRA 0x%x", 16*max(0, n/2-i)) },
			"anywhere": func(i int) string { return fmt.Sprintf("@P%d BRA 0x%x", i%7, 16*(7919*i%n)) },
		} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				prog, err := sass.Parse("foreign", []byte(foreign(n, line)))
				require.NoError(t, err)
				start := time.Now()
				done := make(chan error, 1)
				var why string
				go func() {
					c := NewChecker()
					r, err := c.Check(prog.Funcs[0])
					why = r.Reason
					done <- err
				}()
				select {
				case <-done:
				case <-time.After(patient.Long):
					t.Fatal("the check does not end")
				}
				t.Log(time.Since(start), why)
				if n > limits.Default().Blocks {
					require.Contains(t, why, "more than 8192 blocks; --limits blocks=N allows more")
				}
			})
		}
	}
}
