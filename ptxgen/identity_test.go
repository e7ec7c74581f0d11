package ptxgen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/spec"
)

// emitted returns all that any emitter makes of a test, as text: kernels, what goes
// with them, or why there are none. Names are fixed, since a kernel's name carries
// that of its test and the hash.
func emitted(t *litmus.Test) string {
	var b strings.Builder
	for _, s := range []struct {
		emit    func(*litmus.Test, Options) (*Unit, error)
		targets []string
	}{
		{Emit, []string{"sm_35", "sm_90"}},
		{EmitOpenCL, []string{"gfx942", "cypress"}},
		{EmitLLVMIR, []string{"gfx942", "sm_90"}},
	} {
		for _, target := range s.targets {
			for _, l := range spec.AllLayouts {
				u, err := s.emit(t, Options{Target: target, Layout: l, Unit: "u", Lines: true})
				fmt.Fprintf(&b, "%s %v: %v\n", target, l, err)
				if err != nil {
					continue
				}
				fmt.Fprintf(&b, "%s %s %v\n", u.Globals, u.Text, u.Version)
				for _, k := range u.Kernels {
					fmt.Fprintf(&b, "%s %d %d %+v %t %t\n%s", k.Name, k.Thread, k.OutParam, k.Values, k.CL2, k.Library, k.Text)
				}
			}
		}
	}
	gpu, err := EmitHarness(t, "sm_90", FormFast, spec.Pointers)
	harness(&b, gpu, err)
	cl, err := EmitHarnessOpenCL(t, FormFast, spec.Pointers)
	harness(&b, cl, err)
	return b.String()
}

func harness(b *strings.Builder, h *Harness, err error) {
	if err != nil {
		fmt.Fprintf(b, "harness: %v\n", err)
		return
	}
	text := strings.ReplaceAll(h.Text, h.Name, "NAME")
	fmt.Fprintf(b, "harness: %s %v %+v %+v %d %+v %v %+v\n", text, h.Version, h.Params, h.Shape, h.Slots, h.Terms, h.Widths, h.Check.Roles)
}

// requireSame compares what was emitted and shows the first line that differs.
func requireSame(t *rapid.T, want, got string, lt *litmus.Test) {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		require.Equal(t, a[i], b[i], "line %d of what is emitted for\n%s", i+1, lt)
	}
	require.Len(t, b, len(a), "%s", lt)
}

// anyTest draws a test of the corpus, changed in a few random places or not.
func anyTest(t *rapid.T) *litmus.Test {
	all := sync.OnceValue(func() []*litmus.Test { return append(corpus.Tests(), corpus.OpenCL()...) })()
	lt := all[rapid.IntRange(0, len(all)-1).Draw(t, "test")].Clone()
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		mutate(t, lt)
	}
	return lt
}

// respelled returns the test with everything drawn anew that its hash leaves out.
func respelled(t *rapid.T, lt *litmus.Test) *litmus.Test {
	c := lt.Clone()
	c.Doc, c.Meta = "another", []litmus.Meta{{Key: "K", Value: "v"}}
	c.Locations = rapid.Permutation(c.Locations).Draw(t, "locations")
	for i := range c.Locations {
		if l := &c.Locations[i]; l.Space != litmus.Shared {
			l.Space = rapid.SampledFrom([]litmus.Space{litmus.Generic, litmus.Global}).Draw(t, "spelling")
		}
	}
	up, prefix := rapid.IntRange(0, 3).Draw(t, "up"), rapid.SampledFrom([]string{"T", "P", "th"}).Draw(t, "prefix")
	for i := range c.Threads {
		th := &c.Threads[i]
		th.Name = prefix + strconv.Itoa(i)
		th.Regs = rapid.Permutation(th.Regs).Draw(t, "registers")
		if th.Placed {
			p := &th.Place
			*p = litmus.Place{GPU: p.GPU + up, Grid: 2*p.Grid + up, Cluster: 3*p.Cluster + up, CTA: p.CTA + up, Warp: p.Warp + up}
		}
		for j := range th.Body {
			th.Body[j].Pos = litmus.Pos{File: "other.litmus", Line: j + 1, Col: 1}
		}
	}
	return c
}

// TestHashDecidesKernels: tests of one hash have the same kernels, byte by byte,
// in every source and layout, whatever the order of their declarations, and
// whether they come from a file or not.
func TestHashDecidesKernels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lt := anyTest(t)
		other := respelled(t, lt)
		want := emitted(lt)
		require.Equal(t, lt.Hash(), other.Hash())
		requireSame(t, want, emitted(other), other)
		for _, x := range []*litmus.Test{lt, other} {
			read, err := litmus.Parse("file", []byte(x.String()))
			require.NoError(t, err, "%s", x)
			require.Equal(t, lt.Hash(), read.Hash(), "%s", x)
			requireSame(t, want, emitted(read), x)
		}
	})
}

// TestKernelsDecideHash: whoever changes a test so that a kernel or the condition
// is another one has changed its hash.
func TestKernelsDecideHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lt := anyTest(t)
		other := lt.Clone()
		what := mutate(t, other)
		if lt.Hash() == other.Hash() {
			require.Equal(t, lt.Cond.String(), other.Cond.String(), what)
			requireSame(t, emitted(lt), emitted(other), other)
		}
	})
}

// mutations change one thing of a test; they return false where they find nothing
// to change.
var mutations = map[string]func(*rapid.T, *litmus.Test) bool{
	"initial value": func(t *rapid.T, lt *litmus.Test) bool {
		l := one(t, lt.Locations)
		if l == nil || l.Alias != "" {
			return false
		}
		l.Init += rapid.SampledFrom([]int64{1, -1, 1 << 32}).Draw(t, "by")
		return true
	},
	"space": func(t *rapid.T, lt *litmus.Test) bool {
		l := one(t, lt.Locations)
		if l == nil {
			return false
		}
		l.Space = rapid.SampledFrom([]litmus.Space{litmus.Generic, litmus.Global, litmus.Shared}).Draw(t, "space")
		return true
	},
	"proxy": func(t *rapid.T, lt *litmus.Test) bool {
		l := one(t, lt.Locations)
		if l == nil || l.Alias == "" {
			return false
		}
		l.Proxy = litmus.Proxy(rapid.IntRange(int(litmus.ProxyGeneric), int(litmus.ProxyConstant)).Draw(t, "proxy"))
		return true
	},
	"unused location": func(t *rapid.T, lt *litmus.Test) bool {
		name := rapid.SampledFrom([]string{"a", "k", "w", "unused"}).Draw(t, "name")
		if lt.Location(name) != nil {
			return false
		}
		lt.Locations = append(lt.Locations, litmus.Location{Name: name})
		return true
	},
	"unused register": func(t *rapid.T, lt *litmus.Test) bool {
		th := one(t, lt.Threads)
		if th.Decl("q77") != nil {
			return false
		}
		d := litmus.RegDecl{Name: "q77", Type: litmus.B64, Init: litmus.Loc(lt.Locations[0].Name)}
		if rapid.Bool().Draw(t, "constant") {
			d.Type, d.Init = litmus.S32, litmus.Const(3)
		}
		th.Regs = append(th.Regs, d)
		return true
	},
	"register's type": func(t *rapid.T, lt *litmus.Test) bool {
		d := one(t, one(t, lt.Threads).Regs)
		if d == nil || lt.Dialect == litmus.OpenCL {
			return false
		}
		d.Type = rapid.SampledFrom([]litmus.Type{litmus.B8, litmus.B32, litmus.S32, litmus.U32, litmus.B64, litmus.U64, litmus.Pred}).Draw(t, "type")
		return true
	},
	"register's value": func(t *rapid.T, lt *litmus.Test) bool {
		d := one(t, one(t, lt.Threads).Regs)
		if d == nil {
			return false
		}
		d.Init = litmus.Loc(one(t, lt.Locations).Name)
		if rapid.Bool().Draw(t, "constant") {
			d.Init = litmus.Const(rapid.Int64Range(-2, 2).Draw(t, "value"))
		}
		return true
	},
	"place": func(t *rapid.T, lt *litmus.Test) bool {
		th := one(t, lt.Threads)
		small := rapid.IntRange(0, 2)
		th.Place = litmus.Place{Grid: small.Draw(t, "grid"), Cluster: small.Draw(t, "cluster"), CTA: small.Draw(t, "cta"), Warp: small.Draw(t, "warp")}
		th.Placed = true
		return true
	},
	"threads swapped": func(t *rapid.T, lt *litmus.Test) bool {
		a, b := rapid.IntRange(0, len(lt.Threads)-1).Draw(t, "a"), rapid.IntRange(0, len(lt.Threads)-1).Draw(t, "b")
		x, y := &lt.Threads[a], &lt.Threads[b]
		x.Body, y.Body, x.Regs, y.Regs = y.Body, x.Body, y.Regs, x.Regs
		return true
	},
	"instructions swapped": func(t *rapid.T, lt *litmus.Test) bool {
		th := one(t, lt.Threads)
		if len(th.Body) < 2 {
			return false
		}
		i := rapid.IntRange(0, len(th.Body)-2).Draw(t, "i")
		th.Body[i], th.Body[i+1] = th.Body[i+1], th.Body[i]
		return true
	},
	"instruction dropped": func(t *rapid.T, lt *litmus.Test) bool {
		th := one(t, lt.Threads)
		if len(th.Body) < 2 {
			return false
		}
		i := rapid.IntRange(0, len(th.Body)-1).Draw(t, "i")
		th.Body = slices.Delete(th.Body, i, i+1)
		return true
	},
	"instruction": func(t *rapid.T, lt *litmus.Test) bool {
		in := one(t, one(t, lt.Threads).Body)
		return in != nil && lt.Dialect != litmus.OpenCL && mutateInstr(t, lt, in)
	},
	"condition": func(t *rapid.T, lt *litmus.Test) bool {
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			lt.Cond.Quant = rapid.SampledFrom([]litmus.Quantifier{litmus.Exists, litmus.NotExists, litmus.Forall}).Draw(t, "quantifier")
		case 1:
			lt.Cond.Expr = litmus.Or{List: []litmus.Expr{lt.Cond.Expr, litmus.Atom{Left: litmus.Term{Kind: litmus.TermLoc, Name: lt.Locations[0].Name},
				Right: litmus.Term{Kind: litmus.TermConst, Value: 5}, Cmp: litmus.CmpNe}}}
		default:
			lt.Observed = append(lt.Observed, litmus.Term{Kind: litmus.TermLoc, Name: one(t, lt.Locations).Name})
		}
		return true
	},
}

func mutateInstr(t *rapid.T, lt *litmus.Test, in *litmus.Instr) bool {
	switch rapid.IntRange(0, 7).Draw(t, "part") {
	case 0:
		in.Sem = litmus.Sem(rapid.IntRange(0, int(litmus.SemSC)).Draw(t, "sem"))
	case 1:
		in.Scope = litmus.Scope(rapid.IntRange(0, int(litmus.ScopeSys)).Draw(t, "scope"))
	case 2:
		in.Cache = litmus.CacheOp(rapid.IntRange(0, int(litmus.CacheWT)).Draw(t, "cache"))
	case 3:
		in.Type = litmus.Type(rapid.IntRange(0, int(litmus.Pred)).Draw(t, "type"))
	case 4:
		in.Space = rapid.SampledFrom([]litmus.Space{litmus.Generic, litmus.Global, litmus.Shared}).Draw(t, "space")
	case 5:
		in.Addr.Offset += 4
	case 6:
		if in.Guard == nil {
			return false
		}
		in.Guard.Neg = !in.Guard.Neg
	default:
		o := one(t, in.Src)
		if o == nil {
			return false
		}
		*o = rapid.SampledFrom([]litmus.Operand{litmus.Const(7), litmus.Const(-1), litmus.Const(1 << 32), litmus.Loc(lt.Locations[0].Name)}).Draw(t, "operand")
	}
	return true
}

// one draws an element, nil if there is none.
func one[T any](t *rapid.T, list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[rapid.IntRange(0, len(list)-1).Draw(t, "index")]
}

// mutate changes one thing of a test and says what. The result is what a file can
// say of it: what the test as data could hold beyond that is gone.
func mutate(t *rapid.T, lt *litmus.Test) string {
	names := make([]string, 0, len(mutations))
	for n := range mutations {
		names = append(names, n)
	}
	slices.Sort(names)
	for {
		what := rapid.SampledFrom(names).Draw(t, "what")
		c := lt.Clone()
		if !mutations[what](t, c) {
			continue
		}
		again, err := litmus.Parse("mutant", []byte(c.String()))
		if err != nil {
			continue
		}
		*lt = *again
		return what
	}
}
