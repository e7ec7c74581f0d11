package cat

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/model/rel"
)

// stdSig is the signature that the tests use: base names as an engine offers
// them.
var stdSig = Signature{
	Sets: []string{"M", "R", "W", "F", "IW", "FW", "B", "RMW", "SC", "ACQ", "REL", "A"},
	Rels: []string{"po", "loc", "int", "ext", "id", "rf", "co", "fr", "addr", "data", "ctrl", "rmw",
		"membar.cta", "membar.gl", "membar.sys", "cta", "gl", "sys", "sr", "sync_fence", "sync_barrier"},
}

const modelSC = `SC "sequential consistency"
let com = rf | co | fr
acyclic po | com as sc
empty rmw & (fre ; coe) as atom
`

const modelTSO = `TSO
let com-tso = rfe | co | fr
let po-tso = po & (W*W | R*M)
let mfence = try fencerel(MFENCE) with fencerel(F)
let implied = po & (W * R) & ((M * domain rmw) | (range rmw * M))
acyclic po-loc | rf | fr | co as uniproc
empty rmw & (fre ; coe) as atom
acyclic implied | mfence | po-tso | com-tso as tso
`

// The model of the 2015 paper, Figures 15 and 16.
const modelPTX2015 = `PTX2015
let com = rf | co | fr
let po-loc-llh = WW(po-loc) | WR(po-loc) | RW(po-loc)
acyclic (po-loc-llh | com) as sc-per-loc-llh
let dp = addr | data | ctrl
acyclic (dp | rf) as no-thin-air
let rmo(fence) = dp | fence | rfe | co | fr
let sys-fence = membar.sys
let gl-fence = membar.gl | sys-fence
let cta-fence = membar.cta | gl-fence
let rmo-cta = rmo(cta-fence) & cta
let rmo-gl = rmo(gl-fence) & gl
let rmo-sys = rmo(sys-fence) & sys
acyclic rmo-cta as cta-constraint
acyclic rmo-gl as gl-constraint
acyclic rmo-sys as sys-constraint
`

// A model in the style of C11 with coherence enumerated by the model itself.
const modelC11 = `C "C11-like"
let orders(S, p) = linearisations(S, p)
let rec per-loc (p, classes) = match classes with
|| {} -> {}
|| c ++ cs -> orders(c, p) ++ per-loc(p, cs)
end
let product = 
  let rec go (k, acc, todo) = match todo with
  || {} -> acc ++ k
  || os ++ rest ->
     let rec each (k, os) = match os with
     || {} -> k
     || o ++ os -> each (go (k, acc | o, rest), os)
     end in
     each (k, os)
  end in
  fun todo -> go ({}, 0, todo)
with mo from product (per-loc (co0, partition W))
let fr = (rf^-1 ; mo) \ id
let sw = [REL & W] ; rf ; [ACQ & R]
let hb = (po | sw)+
irreflexive hb ; (rf | mo | fr)? as coherence
empty rmw & (fr ; mo) as atomicity
let race = ((W * M | M * W) & loc & ext) \ (hb | hb^-1 | A * A | IW * _ | _ * IW)
undefined_unless empty race as Dr
`

// A model of the shape of the present-day PTX model: scopes, partial coherence,
// release and acquire patterns.
const modelPTXLike = `PTX "ptx-like"
let co = co+
let fr = rf^-1 ; co
let strong = M & A | F
let ms = ((po | po^-1) | ([strong] ; sr ; [strong])) & (loc | (_ * _) \ (M * M)) \ id
let obs = (ms & rf) | rmw
let po-loc = po & loc
let release = ([W & REL] ; po-loc? ; [W & A]) | ([F & REL] ; po ; [W & A])
let acquire = ([R & A] ; po-loc? ; [R & ACQ]) | ([R & A] ; po ; [F & ACQ])
let sync = ms & (release ; obs ; acquire)
let base = (po? ; (sync | sync_fence | sync_barrier) ; po?)+ | po
let cause = base | obs ; (base | po-loc)
empty ([W] ; cause ; [W]) & loc \ co as coherence
empty ([F & SC] ; cause ; [F & SC]) \ sync_fence as fence-sc
empty ((ms & fr) ; (ms & co)) & rmw as atomicity
acyclic rf | addr | data | ctrl as no-thin-air
acyclic (ms & (rf | co | fr)) | po-loc as sc-per-loc
irreflexive (rf | fr) ; cause as causality
`

func mustCompile(t testing.TB, src string, sig Signature) *Program {
	t.Helper()
	f, err := Parse("m.cat", src, NewLoader(false, Library()))
	require.NoError(t, err)
	p, err := Compile(f, sig)
	require.NoError(t, err)
	return p
}

// graph is an execution given by hand.
type graph struct {
	n    int
	sets map[string]rel.Set
	rels map[string]rel.Rel
}

func newGraph(n int, sig Signature) *graph {
	g := &graph{n, map[string]rel.Set{}, map[string]rel.Rel{}}
	for _, s := range sig.Sets {
		g.sets[s] = rel.NewSet(n)
	}
	for _, r := range sig.Rels {
		g.rels[r] = rel.NewRel(n)
	}
	return g
}

// evt describes an event of a hand-made execution: thread -1 are initial
// writes.
type evt struct {
	thread int
	kind   byte // 'W', 'R', 'F'
	loc    int
}

// makeGraph builds the static part of an execution.
func makeGraph(evts []evt, sig Signature) *graph {
	g := newGraph(len(evts), sig)
	for i, e := range evts {
		switch e.kind {
		case 'W':
			g.sets["W"].Add(i)
			g.sets["M"].Add(i)
			if e.thread < 0 {
				g.sets["IW"].Add(i)
			}
		case 'R':
			g.sets["R"].Add(i)
			g.sets["M"].Add(i)
		case 'F':
			g.sets["F"].Add(i)
		}
		g.rels["id"].Add(i, i)
		for j, f := range evts {
			same := e.thread == f.thread && e.thread >= 0
			if same && i < j {
				g.rels["po"].Add(i, j)
			}
			if same {
				g.rels["int"].Add(i, j)
			} else {
				g.rels["ext"].Add(i, j)
			}
			if e.kind != 'F' && f.kind != 'F' && e.loc == f.loc {
				g.rels["loc"].Add(i, j)
			}
			g.rels["sys"].Add(i, j)
			g.rels["gl"].Add(i, j)
		}
	}
	return g
}

func (g *graph) machine(t testing.TB, p *Program) *Machine {
	t.Helper()
	m, err := p.NewMachine(g.n)
	require.NoError(t, err)
	for i, in := range p.Inputs() {
		if in.IsSet {
			m.SetSet(i, g.sets[in.Name])
		} else {
			m.SetRel(i, g.rels[in.Name])
		}
	}
	return m
}

// sb is store buffering with both reads from the initial writes.
func sb() *graph {
	g := makeGraph([]evt{{-1, 'W', 0}, {-1, 'W', 1}, {0, 'W', 0}, {0, 'R', 1}, {1, 'W', 1}, {1, 'R', 0}}, stdSig)
	g.rels["rf"].Add(0, 5)
	g.rels["rf"].Add(1, 3)
	g.rels["co"].Add(0, 2)
	g.rels["co"].Add(1, 4)
	g.rels["fr"].Add(5, 2)
	g.rels["fr"].Add(3, 4)
	return g
}

func (p *Program) everything() *Plan {
	return p.Plan(PlanOptions{Changed: p.AllInputs(), Known: p.AllInputs()})
}

func TestModels(t *testing.T) {
	for _, c := range []struct {
		name, src, fails string
	}{
		{"sc", modelSC, "sc"},
		{"tso", modelTSO, ""},
		{"ptx-2015", modelPTX2015, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustCompile(t, c.src, stdSig)
			require.True(t, p.Flat(), "%v", p.Rare)
			require.Empty(t, p.Warnings)
			m := sb().machine(t, p)
			i, err := m.Run(p.everything())
			require.NoError(t, err)
			got := ""
			if i >= 0 {
				got = p.Checks()[i].Name
			}
			require.Equal(t, c.fails, got)
		})
	}
}

// wide is an execution of 16 events: four threads of three accesses on four
// locations, every read from another thread's write.
func wide() *graph {
	var evts []evt
	for l := 0; l < 4; l++ {
		evts = append(evts, evt{-1, 'W', l})
	}
	for th := 0; th < 4; th++ {
		evts = append(evts, evt{th, 'W', th}, evt{th, 'R', (th + 1) % 4}, evt{th, 'R', (th + 2) % 4})
	}
	g := makeGraph(evts, stdSig)
	for i := range evts {
		g.sets["A"].Add(i)
		for j := range evts {
			g.rels["sr"].Add(i, j)
		}
	}
	for th := 0; th < 4; th++ {
		w := 4 + 3*th
		g.rels["co"].Add(th, w)
		g.rels["rf"].Add(4+3*((th+1)%4), w+1)
		g.rels["rf"].Add((th+2)%4, w+2)
		g.rels["fr"].Add(w+2, 4+3*((th+2)%4))
	}
	return g
}

func BenchmarkRun(b *testing.B) {
	for _, c := range []struct{ name, src string }{
		{"sc", modelSC}, {"tso", modelTSO}, {"ptx-2015", modelPTX2015}, {"ptx-like", modelPTXLike},
	} {
		p := mustCompile(b, c.src, stdSig)
		m := wide().machine(b, p)
		pl := p.Plan(PlanOptions{Changed: p.MaskOf("rf", "co", "fr"), Known: p.AllInputs()})
		if err := m.RunAll(p.everything()); err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				if err := m.RunAll(pl); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(pl.NumOps()), "ops")
		})
		b.Run(c.name+"/reset+static", func(b *testing.B) {
			st := p.Plan(PlanOptions{Changed: p.AllInputs(), Known: p.AllInputs().Without(p.MaskOf("rf", "co", "fr"))})
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				if err := m.Reset(16); err != nil {
					b.Fatal(err)
				}
				if err := m.RunAll(st); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	f, err := Parse("m", modelPTXLike, nil)
	require.NoError(b, err)
	for i := 0; i < b.N; i++ {
		if _, err := Compile(f, stdSig); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRunDoesNotAllocate(t *testing.T) {
	for _, src := range []string{modelSC, modelPTX2015, modelPTXLike, "let rec r = po | rf | r ; r acyclic r"} {
		p := mustCompile(t, src, stdSig)
		m := wide().machine(t, p)
		pl := p.everything()
		require.Zero(t, testing.AllocsPerRun(20, func() {
			if err := m.RunAll(pl); err != nil {
				t.Fatal(err)
			}
		}))
	}
}

// runInterp evaluates a model with the interpreter.
func runInterp(t *testing.T, src string, g *graph, opt RunOptions) (*Result, error) {
	t.Helper()
	it, err := NewInterp(mustCompile(t, src, stdSig))
	require.NoError(t, err)
	return it.Run(context.Background(), &Execution{N: g.n, Sets: g.sets, Rels: g.rels}, opt)
}

// mp is message passing: x=1; y=1 || r=y; s=x, reading the flag and, if stale
// is set, the old data. The writes and reads of the flag release and acquire
// if sync is set.
func mp(stale, sync bool) *graph {
	g := makeGraph([]evt{{-1, 'W', 0}, {-1, 'W', 1}, {0, 'W', 0}, {0, 'W', 1}, {1, 'R', 1}, {1, 'R', 0}}, stdSig)
	g.rels["rf"].Add(3, 4)
	if stale {
		g.rels["rf"].Add(0, 5)
	} else {
		g.rels["rf"].Add(2, 5)
	}
	g.rels["co"].Add(0, 2)
	g.rels["co"].Add(1, 3)
	if sync {
		g.sets["REL"].Add(3)
		g.sets["ACQ"].Add(4)
		g.sets["A"].Add(3)
		g.sets["A"].Add(4)
	}
	return g
}

func TestC11(t *testing.T) {
	for _, c := range []struct {
		stale, sync bool
		allowed     bool
		undefined   []string
	}{
		{true, true, false, nil},
		{false, true, true, nil},
		{true, false, true, []string{"Dr"}},
		{false, false, true, []string{"Dr"}},
	} {
		res, err := runInterp(t, modelC11, mp(c.stale, c.sync), RunOptions{})
		require.NoError(t, err)
		require.Equal(t, c.allowed, res.Allowed, "%+v", c)
		if !c.allowed {
			require.Equal(t, "coherence", res.Failed.Name)
			continue
		}
		require.Len(t, res.Branches, 1)
		require.Equal(t, c.undefined, res.Branches[0].Undefined)
	}
}

// TestForks counts the orders that a model goes through.
func TestForks(t *testing.T) {
	g := makeGraph([]evt{{-1, 'W', 0}, {0, 'W', 0}, {1, 'W', 0}, {2, 'W', 0}}, stdSig)
	src := "with o from linearisations(W, co0)\nflag ~empty o & po as never\nacyclic o as total"
	res, err := runInterp(t, src, g, RunOptions{})
	require.NoError(t, err)
	require.Len(t, res.Branches, 6)
	require.Equal(t, 6, res.Tried)
	res, err = runInterp(t, src, g, RunOptions{First: true})
	require.NoError(t, err)
	require.Len(t, res.Branches, 1)
	_, err = runInterp(t, src, g, RunOptions{MaxSteps: 100})
	require.ErrorIs(t, err, ErrLimit)
	res, err = runInterp(t, "with o from {}", g, RunOptions{})
	require.NoError(t, err)
	require.False(t, res.Allowed)
}

// TestGenerateCos checks the replacement of herd's enumeration of coherence.
func TestGenerateCos(t *testing.T) {
	for demand, want := range map[string]bool{"co0": true, "0": true, "co^-1": false, "po": true, "_": false} {
		src := "include \"cross.cat\"\nwith mo from generate_cos(" + demand + ")\nempty mo \\ co as c"
		g := mp(false, false)
		res, err := runInterp(t, src, g, RunOptions{})
		require.NoError(t, err)
		require.Equal(t, want, res.Allowed, demand)
		p := mustCompile(t, src, stdSig)
		require.True(t, p.Flat())
		i, err := g.machine(t, p).Run(p.everything())
		require.NoError(t, err)
		require.Equal(t, want, i < 0, demand)
	}
}

func TestSkippedCalls(t *testing.T) {
	p := mustCompile(t, "procedure p() = empty po as inner empty rf end\ncall p() as q", stdSig)
	cs := p.Checks()
	require.Equal(t, []string{"inner", "q"}, []string{cs[0].Name, cs[1].Name})
	require.True(t, cs[0].Skipped(map[string]bool{"q": true}))
	require.True(t, cs[0].Skipped(map[string]bool{"inner": true}))
	require.True(t, cs[1].Skipped(map[string]bool{"p": true}))
	require.False(t, cs[1].Skipped(map[string]bool{"inner": true}))
}

// TestInspect checks the access that engines have to a machine's memory.
func TestInspect(t *testing.T) {
	p := mustCompile(t, "empty po \\ co+ as a\nempty rf & loc \\ (co | co^-1) as b\nempty (po \\ co) \\ co as c\nacyclic (po | rf)+ as d\nempty W as e", stdSig)
	growing := p.MaskOf("rf", "co")
	require.Equal(t, InInput, p.Inclusion(0, "co", growing))
	require.Equal(t, InEitherOrder, p.Inclusion(1, "co", growing))
	require.Equal(t, NoInclusion, p.Inclusion(2, "co", growing))
	require.Equal(t, NoInclusion, p.Inclusion(3, "co", growing))
	require.Equal(t, NoInclusion, p.Inclusion(0, "data", growing))
	m, err := p.NewMachine(3)
	require.NoError(t, err)
	m.InputRel(p.Input("po")).Add(0, 1)
	m.InputRel(p.Input("rf")).Add(1, 0)
	m.InputSet(p.Input("W")).Add(2)
	require.Nil(t, m.InputRel(p.Input("data")))
	require.NoError(t, m.RunAll(p.everything()))
	require.False(t, m.Holds(0))
	require.False(t, m.Holds(3))
	require.False(t, m.Holds(4))
	a, b := m.CheckValue(0)
	require.Equal(t, [][2]int{{0, 1}}, a.Pairs())
	require.Empty(t, b.Pairs())
	a, b = m.CheckValue(3)
	require.Equal(t, [][2]int{{0, 1}, {1, 0}}, a.Pairs())
	require.Nil(t, b)
	a, _ = m.CheckValue(4)
	require.Nil(t, a)
}

func TestInterpContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	it, err := NewInterp(mustCompile(t, "let rec f S = match S with || {} -> 0 || e ++ es -> f es | f es end\nempty f M", stdSig))
	require.NoError(t, err)
	g := wide()
	_, err = it.Run(ctx, &Execution{N: g.n, Sets: g.sets, Rels: g.rels}, RunOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestInterpSkipAndShow(t *testing.T) {
	src := "acyclic po | po^-1 as bad\nlet x = po & loc\nshow rf, x\nshow po | rf as both\nshow W\nunshow rf\nprocedure p() = empty po end\ncall p() as q"
	res, err := runInterp(t, src, sb(), RunOptions{Skip: map[string]bool{"bad": true, "q": true}})
	require.NoError(t, err)
	require.Len(t, res.Branches, 1)
	var names []string
	for _, s := range res.Branches[0].Shows {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"x", "both", "W"}, names)
	res, err = runInterp(t, src, sb(), RunOptions{Skip: map[string]bool{"bad": true}})
	require.NoError(t, err)
	require.Equal(t, "q", res.Failed.Name)
	res, err = runInterp(t, src, sb(), RunOptions{})
	require.NoError(t, err)
	require.Equal(t, "bad", res.Failed.Name)
	require.Len(t, res.Failed.Cycle, 2)
}
