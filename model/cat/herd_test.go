package cat

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/internal/patient"
	"optcheck/internal/required"
	"optcheck/model/internal/herd"
)

// findHerd returns the herd7 binary.
func findHerd(t *testing.T) string {
	t.Helper()
	p, err := herd.Find()
	if err != nil {
		required.Missing(t, "%v", err)
	}
	return p
}

const herdLitmus = `X86_64 one
{ }
 P0 ;
 movl $1,(x) ;
 movl $2,(y) ;
 movl (x),%eax ;
exists (true)
`

// herdGraph returns the execution of that test that reads the thread's own write.
func herdGraph() *graph {
	g := makeGraph([]evt{{-1, 'W', 0}, {-1, 'W', 1}, {0, 'W', 0}, {0, 'W', 1}, {0, 'R', 0}}, stdSig)
	g.rels["rf"].Add(2, 4)
	g.rels["co"].Add(0, 2)
	g.rels["co"].Add(1, 3)
	return g
}

// runHerd returns the flags that herd7 reports for a model, which must leave
// one execution of the test; ok is false if it does not finish within a limit.
func runHerd(t require.TestingT, bin, dir, model string, limit time.Duration) (flags map[string]bool, ok bool) {
	file := filepath.Join(dir, "gen.cat")
	require.NoError(t, os.WriteFile(file, []byte(model), 0o600))
	litmus := filepath.Join(dir, "one.litmus")
	require.NoError(t, os.WriteFile(litmus, []byte(herdLitmus), 0o600))
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-model", file, litmus)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil || strings.Contains(string(out), "Assertion failed") ||
		strings.Contains(string(out), "illegal recursion") ||
		strings.Contains(string(out), "unbound var: nothing") {
		// No fixpoint; one of herd's own faults (recursion through (r+)+ or
		// through the universe); a function that mentions an
		// unbound name under try, which herd rejects where it is defined.
		return nil, false
	}
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "Positive: 1 Negative: 0", model)
	flags = map[string]bool{}
	for _, l := range strings.Split(string(out), "\n") {
		if f, found := strings.CutPrefix(l, "Flag "); found {
			flags[strings.TrimSpace(f)] = true
		}
	}
	return flags, true
}

const herdPrelude = "\"gen\"\ninclude \"cos.cat\"\nempty rf & (IW * R)\n" +
	"let S1 = W and S2 = R and S3 = IW and r1 = po and r2 = rf and r3 = co\n"

// TestAgainstHerd evaluates random models with herd7, with the machine and
// with the interpreter on the same execution.
func TestAgainstHerd(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	bin, dir := findHerd(t), t.TempDir()
	gen := rapid.Custom(func(t *rapid.T) [2]string {
		g := &progGen{t: t, sets: []string{"S1", "S2", "S3"}, rels: []string{"r1", "r2", "r3"}}
		return [2]string{g.program(), strings.Repeat("x", g.n)}
	})
	runs := 80
	if s := os.Getenv("OPTCHECK_HERD_RUNS"); s != "" {
		var err error
		runs, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	flagsSeen, slow := 0, 0
	for i := 0; i < runs; i++ {
		ex := gen.Example(i)
		body := strings.ReplaceAll(strings.ReplaceAll(ex[0], `"on"`, `not "off"`), `"off"`, `"mixed"`)
		want, ok := runHerd(t, bin, dir, herdPrelude+body, 2*time.Second)
		if !ok {
			slow++
			continue
		}
		compareFlags(t, herdPrelude+body, herdGraph(), want, false)
		flagsSeen += len(ex[1])
	}
	t.Logf("%d flags compared, %d runs of herd7 did not end", flagsSeen, slow)
	require.NotZero(t, flagsSeen)
}

// compareFlags evaluates a model both ways on an execution and compares the
// flags.
func compareFlags(t require.TestingT, src string, g *graph, want map[string]bool, rare bool) {
	f, err := Parse("gen", src, NewLoader(false, Library()))
	require.NoError(t, err, src)
	p, err := Compile(context.Background(), f, stdSig)
	require.NoError(t, err, src)
	require.Equal(t, rare, !p.Flat() && !strings.Contains(p.Rare.What, "without kind"), "%s\n%v", src, p.Rare)
	it, err := NewInterp(p)
	require.NoError(t, err)
	res, err := it.Run(context.Background(), &Execution{N: g.n, Sets: g.sets, Rels: g.rels}, RunOptions{})
	require.NoError(t, err, src)
	require.NotEmpty(t, res.Branches, src)
	got := map[string]bool{}
	for _, b := range res.Branches {
		for _, n := range b.Flags {
			got[n] = true
		}
	}
	require.Equal(t, want, got, "interpreter\n%s", src)
	if !p.Flat() {
		return
	}
	m, err := p.NewMachine(g.n)
	require.NoError(t, err)
	bindAll(m, &Execution{N: g.n, Sets: g.sets, Rels: g.rels})
	require.NoError(t, m.RunAll(p.everything()), src)
	got = map[string]bool{}
	for i, c := range p.Checks() {
		if c.Kind == KindFlag && m.Holds(i) {
			got[c.Name] = true
		}
	}
	require.Equal(t, want, got, "machine\n%s", src)
}

// TestRareAgainstHerd compares constructs of the interpreter with herd7.
func TestRareAgainstHerd(t *testing.T) {
	bin, dir := findHerd(t), t.TempDir()
	for _, src := range rareModels {
		model := herdPrelude + src
		want, ok := runHerd(t, bin, dir, model, patient.Long)
		require.True(t, ok, src)
		compareFlags(t, model, herdGraph(), want, strings.Contains(src, "rare"))
	}
}

// rareModels exercise the constructs that no random model has. Those with the
// word rare in a comment need the interpreter.
var rareModels = []string{
	`(* rare *) let rec count S = match S with || {} -> 0 || e ++ es -> [{e}] | count es end
	 flag ~empty (count W \ [W]) as more
	 flag ~empty ([W] \ count W) as fewer
	 flag empty count W as none`,
	`(* rare *) let firsts r = match r with || {} -> {} || p ++ ps -> p ++ 0 end
	 flag empty firsts po as none
	 flag ~empty (firsts po \ po) as other
	 let two = match po with || {} -> 0 || p ++ ps -> ps end
	 flag ~empty two as rest
	 flag empty (po \ two) as all`,
	`(* rare *) let orders = linearisations (W \ IW, po)
	 let rec union S = match S with || {} -> 0 || r ++ rs -> r | union rs end
	 flag ~empty (union orders \ po) as beyond
	 flag empty union orders as none
	 let free = linearisations (W, 0)
	 flag ~empty (W * W) \ (union free | id) as partial
	 flag ~empty (union free) & id as reflexive
	 flag ~empty union (linearisations (W, po | po^-1)) as cyclic`,
	`(* rare *) let parts = classes-loc M
	 let rec squares S = match S with || {} -> 0 || s ++ ss -> (s * s) | squares ss end
	 flag ~empty (squares parts \ loc) as toomuch
	 flag ~empty (loc \ squares parts) as toolittle`,
	`(* rare *) let rec squares S = match S with || {} -> 0 || s ++ ss -> (s * s) | squares ss end
	 let cl = classes (loc | id)
	 flag ~empty (squares cl \ loc) as toomuch
	 flag ~empty (loc \ squares cl) as toolittle`,
	`(* rare *) let same = if po = po then W else R
	 flag ~empty (same & R) as eq
	 let other = if po = rf then W else R
	 flag ~empty (other & R) as ne`,
	`(* rare *) let e-in = match R with || {} -> 0 || e ++ es -> (if e in W then po else rf) end
	 flag ~empty (e-in & po) as inw
	 flag ~empty (e-in & rf) as inr
	 let p-in = match rf with || {} -> {} || p ++ ps -> (if p in po then W else R) end
	 flag ~empty (p-in & W) as rfpo`,
	`enum colours = 'red || 'green || 'blue
	 let next c = match c with || 'red -> 'green || 'green -> 'blue || _ -> 'red end
	 let code c = match c with || 'red -> po || 'green -> rf || 'blue -> co end
	 forall c in {'red, 'green} do flag ~empty (code (next c) & rf) as hit end
	 flag ~empty (code(next(next 'red)) \ co) as wrong
	 let rest = colours \ {'red}
	 let t = if 'red in rest then po else 0
	 flag ~empty t as redin
	 let u = if rest = ('green | 'blue) then 0 else po
	 flag ~empty u as seteq
	 let v = if ~rest = {'red} then 0 else po
	 flag ~empty v as complement`,
	`let rec r = po \ r and s = r | rf
	 flag ~empty r as r
	 flag ~empty (s & po) as s`,
	`let rec r = po | (r ; r) and s = (r & loc) | (rf \ s)
	 flag ~empty (r \ po) as r
	 flag ~empty (s & rf) as s
	 flag ~empty (s \ rf) as t`,
	`let rec r = po \ (s ; id) and s = rf | (r & loc)
	 flag ~empty (r & loc) as r
	 flag ~empty (s & po) as s`,
	`let f (a, b) = a \ b
	 let pair = (po, loc)
	 let g x = let (a, b) = x in b \ a
	 flag ~empty f pair as f
	 flag ~empty g pair as g
	 procedure check (x, y) = flag ~empty (x & y) as p  let x = 0 end
	 call check (po, loc)
	 call check (rf, co)`,
	`let h = fun x -> fun y -> x \ y
	 flag ~empty h po loc as curried`,
	`flag ~empty (try nosuch with po) as caught
	 flag ~empty (try (po | W) with 0) as kinds
	 flag ~empty (try rf with 0) as fine`,
	`(* rare *) let both = {po, rf, po}
	 let rec union S = match S with || {} -> 0 || r ++ rs -> r | union rs end
	 flag ~empty (union both \ (po | rf)) as more
	 flag ~empty ((po | rf) \ union both) as fewer
	 let three = co ++ both
	 flag ~empty (union three & co) as three
	 forall r in three do flag acyclic r as acy end`,
	`(* rare *) let mid S = match S with || {} -> 0 || a | x ++ b -> (a * {x}) | ({x} * b) | (a * b) end
	 flag ~empty (mid M & mid M ^-1) as symmetric
	 flag empty mid M as none`,
}
