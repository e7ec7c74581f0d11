package cat

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// wide returns an execution of 16 events: four threads of three accesses on four
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
		if _, err := Compile(context.Background(), f, stdSig); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInterp(b *testing.B) {
	for _, c := range []struct{ name, src string }{{"sc", modelSC}, {"c11", modelC11}} {
		it, err := NewInterp(mustCompile(b, c.src, stdSig))
		require.NoError(b, err)
		g := mp(true, true)
		ex := &Execution{N: g.n, Sets: g.sets, Rels: g.rels}
		b.Run(c.name, func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				if _, err := it.Run(context.Background(), ex, RunOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
