package cat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/model/rel"
)

// progGen writes random well-typed models.
type progGen struct {
	t    *rapid.T
	sets []string
	rels []string
	b    strings.Builder
	n    int
}

func (g *progGen) pick(list ...string) string { return rapid.SampledFrom(list).Draw(g.t, "pick") }

func (g *progGen) set(d int) string {
	if d <= 0 {
		return g.pick(g.sets...)
	}
	switch rapid.IntRange(0, 11).Draw(g.t, "set") {
	case 0:
		return "(" + g.set(d-1) + " | " + g.set(d-1) + ")"
	case 1:
		return "(" + g.set(d-1) + " & " + g.set(d-1) + ")"
	case 2:
		return "(" + g.set(d-1) + " \\ " + g.set(d-1) + ")"
	case 3:
		return "(~" + g.set(d-1) + ")"
	case 4, 5:
		return g.pick("domain", "range") + "(" + g.rel(d-1) + ")"
	case 6:
		return g.pick("(S1 | _)", "(_ \\ S1)", "(S1 | {})", "({} | S2)")
	case 7:
		return "(if \"" + g.pick("on", "off") + "\" then " + g.set(d-1) + " else " + g.set(d-1) + ")"
	case 8:
		return "f-set(" + g.set(d-1) + ", " + g.rel(d-1) + ")"
	default:
		return g.pick(g.sets...)
	}
}

func (g *progGen) rel(d int) string {
	if d <= 0 {
		return g.pick(g.rels...)
	}
	sub := func() string { return g.rel(d - 1) }
	switch rapid.IntRange(0, 19).Draw(g.t, "rel") {
	case 0, 1:
		return "(" + sub() + " | " + sub() + ")"
	case 2:
		return "(" + sub() + " & " + sub() + ")"
	case 3:
		return "(" + sub() + " \\ " + sub() + ")"
	case 4, 5, 6:
		return "(" + sub() + " ; " + sub() + ")"
	case 7:
		return "(" + sub() + g.pick("+", "*", "?", "^-1") + ")"
	case 8:
		return "(~" + sub() + ")"
	case 9:
		return "([" + g.set(d-1) + "] ; " + sub() + " ; [" + g.set(d-1) + "])"
	case 10:
		return "[" + g.set(d-1) + "]"
	case 11:
		return "(" + g.set(d-1) + " * " + g.set(d-1) + ")"
	case 12:
		return "(" + sub() + " & (" + g.set(d-1) + " * " + g.set(d-1) + "))"
	case 13:
		return "f-rel(" + sub() + ", " + g.set(d-1) + ")"
	case 14:
		return "(let v = " + sub() + " and w = " + sub() + " in v ; w? | " + sub() + ")"
	case 15:
		return "(match '" + g.pick("a", "b", "c") + " with || 'a -> " + sub() + " || _ -> " + sub() + " end)"
	case 16:
		return "(try " + g.pick("nothing", sub()) + " with " + sub() + ")"
	case 17:
		return "(twice (fun r -> r | " + sub() + ") (" + sub() + "))"
	case 18:
		return g.pick("(r1 ; _)", "(_ & r1)", "(_ \\ r2)", "(0 | r1)", "(r1 \\ {})", "(0 ; r1 | r2)", "(0?)", "(_ ; [S1])", "(~0 & r1)")
	}
	return g.pick(g.rels...)
}

func (g *progGen) line(format string, args ...any) { fmt.Fprintf(&g.b, format+"\n", args...) }

// program writes a model whose tests are flags with the names t0, t1, …
func (g *progGen) program() string {
	g.line("enum tags = 'a || 'b || 'c")
	g.line("let f-rel(r, s) = [s] ; r | r ; [s]")
	g.line("let f-set(s, r) = s & domain(r)")
	g.line("let twice f = fun x -> f (f x)")
	for i := 0; i < rapid.IntRange(1, 5).Draw(g.t, "lets"); i++ {
		name := fmt.Sprintf("x%d", i)
		switch rapid.IntRange(0, 4).Draw(g.t, "let") {
		case 0:
			g.line("let S%s = %s", name, g.set(3))
			g.sets = append(g.sets, "S"+name)
		case 1, 2:
			g.line("let %s = %s", name, g.rel(3))
			g.rels = append(g.rels, name)
		case 3:
			old := g.rels
			g.rels = append(append([]string{}, old...), name, name)
			g.line("let rec %s = %s", name, g.rel(3))
			g.rels = append(old, name)
		case 4:
			oldR, oldS := g.rels, g.sets
			g.rels = append(append([]string{}, oldR...), name, name)
			g.sets = append(append([]string{}, oldS...), "S"+name)
			g.line("let rec %s = %s and S%s = %s", name, g.rel(2), name, g.set(2))
			g.rels, g.sets = append(oldR, name), append(oldS, "S"+name)
		}
	}
	for i := 0; i < rapid.IntRange(1, 4).Draw(g.t, "tests"); i++ {
		neg := g.pick("", "~")
		if rapid.IntRange(0, 3).Draw(g.t, "set test") == 0 {
			g.line("flag %sempty %s as t%d", neg, g.set(3), i)
		} else {
			g.line("flag %s%s %s as t%d", neg, g.pick("acyclic", "irreflexive", "empty"), g.rel(3), i)
		}
		g.n++
	}
	return g.b.String()
}

func drawExecution(t *rapid.T, sig Signature) *Execution {
	n := rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 6, 65, 130}).Draw(t, "n")
	ex := &Execution{N: n, Sets: map[string]rel.Set{}, Rels: map[string]rel.Rel{}}
	for _, name := range sig.Sets {
		s := rel.NewSet(n)
		for i := 0; i < n; i++ {
			if rapid.Bool().Draw(t, "in") {
				s.Add(i)
			}
		}
		ex.Sets[name] = s
	}
	for _, name := range sig.Rels {
		r := rel.NewRel(n)
		for k := rapid.IntRange(0, 2*min(n, 6)).Draw(t, "pairs"); k > 0; k-- {
			r.Add(rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j"))
		}
		ex.Rels[name] = r
	}
	return ex
}

func bindAll(m *Machine, ex *Execution) {
	for i, in := range m.p.Inputs() {
		if in.IsSet {
			m.BindSet(i, ex.Sets[in.Name])
		} else {
			m.BindRel(i, ex.Rels[in.Name])
		}
	}
}

var diffSig = Signature{Sets: []string{"S1", "S2", "S3"}, Rels: []string{"r1", "r2", "r3"}, Variants: []string{"on"}}

// TestMachineAgreesWithInterpreter evaluates random models both ways.
func TestMachineAgreesWithInterpreter(t *testing.T) {
	noFix := 0
	rapid.Check(t, func(t *rapid.T) {
		g := &progGen{t: t, sets: []string{"S1", "S2", "S3"}, rels: []string{"r1", "r2", "r3"}}
		src := g.program()
		f, err := Parse("gen", src, nil)
		require.NoError(t, err, src)
		p, err := Compile(context.Background(), f, diffSig)
		require.NoError(t, err, src)
		if !p.Flat() {
			require.Equal(t, "recursion on a value without kind", p.Rare.What, src)
			return
		}
		it, err := NewInterp(p)
		require.NoError(t, err)
		for k := 0; k < 2; k++ {
			ex := drawExecution(t, diffSig)
			m, err := p.NewMachine(ex.N)
			require.NoError(t, err)
			bindAll(m, ex)
			err = m.RunAll(p.everything())
			res, err2 := it.Run(context.Background(), ex, RunOptions{})
			if errors.Is(err2, ErrLimit) {
				continue // many rounds over many events
			}
			if errors.Is(err, ErrNoFixpoint) || errors.Is(err2, ErrNoFixpoint) {
				// The compiler may find out that a recursion has no influence;
				// the interpreter never fails less than the machine.
				require.ErrorIs(t, err2, ErrNoFixpoint, src)
				noFix++
				continue
			}
			require.NoError(t, err, src)
			require.NoError(t, err2, src)
			require.Len(t, res.Branches, 1)
			for i, c := range p.Checks() {
				require.Equal(t, has(res.Branches[0].Flags, c.Name), m.Holds(i), "%s\n%s", src, c.Label())
			}
		}
	})
	t.Logf("%d without fixpoint", noFix)
}

// TestPolarity checks what programs say of the direction in which their
// checks move: adding pairs to an input never contradicts it.
func TestPolarity(t *testing.T) {
	claims := 0
	rapid.Check(t, func(t *rapid.T) {
		g := &progGen{t: t, sets: []string{"S1", "S2", "S3"}, rels: []string{"r1", "r2", "r3"}}
		src := g.program()
		f, err := Parse("gen", src, nil)
		require.NoError(t, err, src)
		p, err := Compile(context.Background(), f, diffSig)
		require.NoError(t, err, src)
		if !p.Flat() {
			return
		}
		ex := drawExecution(t, diffSig)
		if ex.N == 0 {
			return
		}
		m, err := p.NewMachine(ex.N)
		require.NoError(t, err)
		bindAll(m, ex)
		if m.RunAll(p.everything()) != nil {
			return
		}
		before := append([]bool{}, m.holds...)
		var grown Mask
		for i, in := range p.Inputs() {
			if !rapid.Bool().Draw(t, "grow") {
				continue
			}
			grown = grown.Or(MaskOf(i))
			for k := 0; k < 2; k++ {
				a, b := rapid.IntRange(0, ex.N-1).Draw(t, "a"), rapid.IntRange(0, ex.N-1).Draw(t, "b")
				if in.IsSet {
					ex.Sets[in.Name].Add(a)
				} else {
					ex.Rels[in.Name].Add(a, b)
				}
			}
		}
		if m.RunAll(p.everything()) != nil {
			return
		}
		for i, c := range p.Checks() {
			if !before[i] && c.FailsForever(grown) {
				claims++
				require.False(t, m.Holds(i), "%s\n%s", src, c.Label())
			}
			if before[i] && c.HoldsForever(grown) {
				claims++
				require.True(t, m.Holds(i), "%s\n%s", src, c.Label())
			}
		}
	})
	require.NotZero(t, claims)
}

// TestPlans checks that computing in stages gives the same as at once.
func TestPlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &progGen{t: t, sets: []string{"S1", "S2", "S3"}, rels: []string{"r1", "r2", "r3"}}
		src := g.program()
		f, err := Parse("gen", src, nil)
		require.NoError(t, err, src)
		p, err := Compile(context.Background(), f, diffSig)
		require.NoError(t, err, src)
		if !p.Flat() {
			return
		}
		ex := drawExecution(t, diffSig)
		want, err := p.NewMachine(ex.N)
		require.NoError(t, err)
		bindAll(want, ex)
		if want.RunAll(p.everything()) != nil {
			return
		}
		m, err := p.NewMachine(ex.N)
		require.NoError(t, err)
		other := drawExecution(t, diffSig)
		for other.N != ex.N {
			other = &Execution{N: ex.N, Sets: ex.Sets, Rels: map[string]rel.Rel{"r1": ex.Rels["r2"], "r2": ex.Rels["r3"], "r3": ex.Rels["r1"]}}
		}
		bindAll(m, other)
		_ = m.RunAll(p.everything()) // old values are to be overwritten
		dyn := p.MaskOf("r2", "r3")
		static := p.AllInputs().Without(dyn)
		bindAll(m, ex)
		require.NoError(t, m.RunAll(p.Plan(PlanOptions{Changed: p.AllInputs(), Known: static})))
		require.NoError(t, m.RunAll(p.Plan(PlanOptions{Changed: p.MaskOf("r2"), Known: static.Or(p.MaskOf("r2"))})))
		require.NoError(t, m.RunAll(p.Plan(PlanOptions{Changed: p.MaskOf("r3"), Known: p.AllInputs()})))
		require.Equal(t, want.holds, m.holds)
	})
}
