package cat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

func compileSrc(src string, sig Signature) (*Program, error) {
	f, err := Parse("m", src, NewLoader(false, Library()))
	if err != nil {
		return nil, err
	}
	return Compile(context.Background(), f, sig)
}

func TestKindErrors(t *testing.T) {
	sig := stdSig
	sig.Enums = map[string][]string{"scopes": {"cta", "gpu"}}
	for _, c := range []struct{ src, want string }{
		{"acyclic po | rg", "m:1:14: rg is not defined"},
		{"let a = R | po\nempty a", "m:1:13: \"|\" mixes a set of events and a relation"},
		{"let a = R & po", "m:1:13: \"&\" mixes a set of events and a relation"},
		{"let a = po \\ R", "m:1:14: \"\\\\\" mixes a relation and a set of events"},
		{"let a = R ; po", "m:1:9: \";\" needs relations, this is a set of events (write [R] for its identity)"},
		{"let a = R+", "m:1:9: \"+\" needs a relation, this is a set of events"},
		{"let a = R^-1", "m:1:9: \"^-1\" needs a relation, this is a set of events"},
		{"let a = [po]", "m:1:10: [ ] needs a set of events, this is a relation"},
		{"let a = po * R", "m:1:9: the product needs a set of events, this is a relation"},
		{"acyclic R", "m:1:9: acyclic needs a relation, this is a set of events"},
		{"empty fencerel", "m:1:7: empty needs a relation or a set of events, this is a function"},
		{"empty 'cta", "m:1:7: empty needs a relation or a set of events, this is a tag 'cta"},
		{"empty 'warp", "m:1:7: tag 'warp is not declared by an enum"},
		{"let f(x, y) = x | y\nempty f(po)", "m:2:7: 2 values expected, found a relation"},
		{"let f(x, y) = x | y\nempty f(po, rf, co)", "m:2:7: 2 values expected, found a tuple of 3"},
		{"let f x = x ; x\nempty f R", "m:1:11: \";\" needs relations, this is a set of events (write [x] for its identity)"},
		{"empty po rf", "m:1:7: po is a relation, not a function"},
		{"let (a, b) = po\nempty a", "m:1:5: 2 values expected, found a relation"},
		{"let rec r = po | [r]\nacyclic r", "m:1:19: [ ] needs a set of events, this is a relation"},
		{"let a = a | po\nempty a", "m:1:9: a is not defined"},
		{"let x = match po with || 'cta -> po end", "m:1:15: match needs a tag, this is a relation"},
		{"let x = match 'gpu with || 'cta -> po end", "m:1:9: no clause matches 'gpu"},
		{"let x = match 'cta with || {} -> po || y ++ ys -> po end", "m:1:15: match with {} needs a set, this is a tag 'cta"},
		{"call po(rf)", "m:1:1: po is a relation, not a procedure"},
		{"procedure p(a, b) = empty a \\ b end call p(po)", "m:1:37: 2 values expected, found a relation"},
		{"forall x in po do empty x end", "m:1:13: forall needs a set of values, this is a relation"},
		{"with x from po", "m:1:13: with needs a set of values, this is a relation"},
		{"let x = {po, R}", "m:1:14: a set cannot hold a relation and a set of events"},
		{"let x = {_}", "m:1:10: the universe cannot be an element of a set"},
		{"let x = po ++ rf", "m:1:9: only a pair of events can be put into a relation, this is a relation"},
		{"let x = 'cta ++ R", "m:1:9: only an event can be put into a set of events, this is a tag 'cta"},
		{"let x = if po = R then po else rf", "m:1:17: a relation is compared with a set of events"},
		{"let x = if po in R then po else rf", "m:1:18: a relation cannot be an element of a set of events"},
		{"let x = linearisations(po, R)", "m:1:9: linearisations needs a set of events, this is a relation"},
		{"let x = linearisations po", "m:1:9: linearisations needs a set of events and a relation, this is a relation"},
		{"let x = lift(po, R)\nempty x", "m:1:9: primitive lift is not supported"},
		{"empty domain R", "m:1:7: domain needs a relation, this is a set of events"},
		{"empty tag2events('cta) | R", "m:1:7: there is no set of the events with tag 'cta (Cta, CTA)"},
		{"empty tag2scope('gpu)", "m:1:7: there is no scope relation gpu"},
		{"let rec f x = f x\nempty f po", ""}, // no error of kinds: only the interpreter finds out
		{"let unused(x) = x ; R", "m:1:21: \";\" needs relations, this is a set of events (write [R] for its identity)"},
		{"let unused = R ; po", "m:1:14: \";\" needs relations, this is a set of events (write [R] for its identity)"},
		{"procedure unused(x) = acyclic [po] | x end", "m:1:32: [ ] needs a set of events, this is a relation"},
		{"let rec r = R | s and s = po | r\nempty r", "m:1:32: \"|\" mixes a relation and a set of events"},
		{"let rec t = {'cta} | t\nforall x in t do empty po end", ""},
	} {
		_, err := compileSrc(c.src, sig)
		if c.want == "" {
			require.NoError(t, err, c.src)
			continue
		}
		require.Error(t, err, c.src)
		var e *Error
		require.True(t, errors.As(err, &e))
		require.Equal(t, c.want, strings.TrimSuffix(err.Error(), ": no such name"), c.src)
	}
}

func TestMissingBaseRelation(t *testing.T) {
	_, err := compileSrc("acyclic fre | po as x", Signature{Sets: []string{"R"}, Rels: []string{"po", "rf"}})
	require.EqualError(t, err, "m:1:9: fre cannot be used: co is not defined: no such name")
}

func TestWarnings(t *testing.T) {
	p, err := compileSrc("let a = nothing | po\nlet f x = x | nowhere\nlet rec r = po \\ r\nshow some\nempty r\ninstructions R[{}]", stdSig)
	require.NoError(t, err)
	var got []string
	for _, w := range p.Warnings {
		got = append(got, w.String())
	}
	require.Equal(t, []string{
		"m:4:6: some is not shown: some is not defined",
		"m:6:1: declarations of instructions have no effect on the model",
		"m:1:9: nothing is not defined; the definition is not used",
		"m:2:15: nowhere is not defined; the definition is not used",
		"m:3:9: the recursive definition of r is not monotone: its value depends on the order of evaluation",
	}, got)
}

// TestRare checks that what needs the interpreter is named with its place.
func TestRare(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"acyclic po", ""},
		{"let x = match R with || {} -> 0 || e ++ es -> [es] end acyclic x", "m:1:9: match on a set of events"},
		{"let x = match po with || {} -> 0 || e ++ es -> es end acyclic x", "m:1:9: match on a relation"},
		{"let f x = match R with || {} -> 0 || e ++ es -> [es] end acyclic po", ""}, // not used
		{"with o from linearisations(W, 0) acyclic o", "m:1:13: primitive linearisations"},
		{"let x = if po = rf then po else rf acyclic x", "m:1:9: if on values of the execution"},
		{"let x = {po, rf} forall r in x do acyclic r end", "m:1:9: a set of sets or relations"},
		{"let rec f x = f x empty f po", "m:1:15: recursive function f"},
		{"let rec s = po | (po;s) when acyclic s as w", ""},
		{"let rec s = po \\ s when acyclic s as w", "m:1:25: a test in a recursive definition that is not monotone"},
		{"forall c in partition W do empty po end", "m:1:13: primitive partition"},
		{"let t = enum-free forall x in {} do empty po end", ""},
	} {
		p, err := compileSrc(c.src, stdSig)
		require.NoError(t, err, c.src)
		if c.want == "" {
			require.True(t, p.Flat(), "%s: %v", c.src, p.Rare)
			continue
		}
		require.NotNil(t, p.Rare, c.src)
		require.Equal(t, c.want, p.Rare.Pos.String()+": "+p.Rare.What, c.src)
		_, err = p.NewMachine(3)
		require.ErrorContains(t, err, "needs the interpreter")
	}
}

func TestSignatureOfProgram(t *testing.T) {
	p, err := compileSrc("let com = rf | fr let dead = addr acyclic po | com as c\nempty W \\ W as d", stdSig)
	require.NoError(t, err)
	var names []string
	for _, in := range p.Inputs() {
		names = append(names, in.Name)
	}
	require.Equal(t, []string{"po", "rf", "fr"}, sorted(names, p))
	require.Equal(t, 2, len(p.Checks()))
	c := p.Checks()[0]
	require.Equal(t, p.MaskOf("po", "rf", "fr"), c.Deps)
	require.True(t, c.FailsForever(p.MaskOf("rf", "fr")))
	require.False(t, c.HoldsForever(p.MaskOf("rf")))
	require.True(t, p.Checks()[1].Deps.IsZero())
	require.Equal(t, -1, p.Input("addr"))
}

// sorted returns the names in the order in which this test lists them.
func sorted(names []string, p *Program) []string {
	var out []string
	for _, n := range []string{"po", "rf", "fr", "addr", "W"} {
		if has(names, n) && p.Input(n) >= 0 {
			out = append(out, n)
		}
	}
	return out
}

// TestPolarityOfDifference spells out when a check can only get worse.
func TestPolarityOfDifference(t *testing.T) {
	p, err := compileSrc("empty co \\ rf as a\n~empty co as b\nacyclic (rf ; co)+ \\ id as c\nacyclic ~~rf as d", stdSig)
	require.NoError(t, err)
	rf, co := p.MaskOf("rf"), p.MaskOf("co")
	cs := p.Checks()
	require.True(t, cs[0].FailsForever(co))
	require.False(t, cs[0].FailsForever(rf))
	require.True(t, cs[0].HoldsForever(rf))
	require.False(t, cs[1].FailsForever(co))
	require.True(t, cs[1].HoldsForever(co))
	require.True(t, cs[2].FailsForever(rf.Or(co)))
	require.True(t, cs[3].FailsForever(rf))
}

func TestSkippableChecks(t *testing.T) {
	p := mustCompile(t, modelSC, stdSig)
	m := sb().machine(t, p)
	i, err := m.Run(p.Plan(PlanOptions{Changed: p.AllInputs(), Known: p.AllInputs(), Checks: []int{1}}))
	require.NoError(t, err)
	require.Equal(t, -1, i)
}

// TestNoFixpoint runs a token around a cycle for ever.
func TestNoFixpoint(t *testing.T) {
	p, err := compileSrc("let rec r = (r ; rf) | (co \\ (_ ; r ; _))\nempty r as x", stdSig)
	require.NoError(t, err)
	g := newGraph(2, stdSig)
	g.rels["rf"].Add(0, 1)
	g.rels["rf"].Add(1, 0)
	g.rels["co"].Add(0, 0)
	err = g.machine(t, p).RunAll(p.everything())
	require.ErrorIs(t, err, ErrNoFixpoint)
	require.ErrorContains(t, err, "m:1:9: recursive definition of r did not settle in ")

	it, err := NewInterp(p)
	require.NoError(t, err)
	_, err = it.Run(context.Background(), &Execution{N: 2, Sets: g.sets, Rels: g.rels}, RunOptions{})
	require.ErrorIs(t, err, ErrNoFixpoint)

	// Without the restart it dies out: not monotone, but it settles.
	p, err = compileSrc("let rec r = po \\ (r ; id)\nacyclic r as x", stdSig)
	require.NoError(t, err)
	require.NoError(t, sb().machine(t, p).RunAll(p.everything()))
}

// TestLimits checks that models that grow without end are given up, also
// under try.
func TestLimits(t *testing.T) {
	double := "let x0 = ('a, 'a)\n"
	for i := 1; i < 40; i++ {
		double += fmt.Sprintf("let x%d = (x%d, x%d)\n", i, i-1, i-1)
	}
	for _, src := range []string{
		"enum t = 'a\n" + double + "let y = if x39 = x39 then po else rf\nempty y",
		"let rec f (x, y) = f (f (x, y), f (y, x))\nempty try f (po, rf) with po",
		"let f0 = fun x -> x\n" + functions(60) + "empty f60 po",
	} {
		start := time.Now()
		p, err := compileSrc(src, stdSig)
		if err == nil {
			require.False(t, p.Flat(), src)
			it, err2 := NewInterp(p)
			require.NoError(t, err2)
			g := sb()
			_, err = it.Run(context.Background(), &Execution{N: g.n, Sets: g.sets, Rels: g.rels}, RunOptions{})
		}
		require.ErrorIs(t, err, ErrLimit, src)
		require.Less(t, time.Since(start), patient.Long)
	}
}

// functions defines n functions, each calling the one before twice.
func functions(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "let f%d = fun x -> f%d (f%d x)\n", i, i-1, i-1)
	}
	return b.String()
}
