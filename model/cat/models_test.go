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
  let rec go (k, acc, pending) = match pending with
  || {} -> acc ++ k
  || os ++ rest ->
     let rec each (k, os) = match os with
     || {} -> k
     || o ++ os -> each (go (k, acc | o, rest), os)
     end in
     each (k, os)
  end in
  fun pending -> go ({}, 0, pending)
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
	p, err := Compile(context.Background(), f, sig)
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
