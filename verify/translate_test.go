package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model"
	"optcheck/ptx"
	"optcheck/ptx/lower"
	"optcheck/ptxgen"
	"optcheck/spec"
)

// TestCorpus: the kernels of the corpus, translated, have the races and the outcomes of the tests that they were made of.
func TestCorpus(t *testing.T) {
	ptxModel, err := model.Load("ptx")
	require.NoError(t, err)
	all := corpus.Tests()
	done, refused := 0, map[string]int{}
	for _, c := range all {
		c = c.Canonical()
		back, outs, err := corpusTest(c)
		if err != nil {
			refused[err.Error()]++
			continue
		}
		o := model.Options{Timeout: 5 * time.Second}
		want, err := model.PTXRace(context.Background(), c, o)
		if err != nil {
			refused["model: undecided"]++
			continue
		}
		got, err := model.PTXRace(context.Background(), back, o)
		require.NoError(t, err, "%s: %s", c.Name, back.String())
		require.Equal(t, want, got, "%s:\n%s\n%s", c.Name, c.String(), back.String())
		if !sameOutcomes(t, ptxModel, c, back, outs) {
			refused["model: cut or undecided"]++
			continue
		}
		done++
	}
	t.Logf("%d of %d tests; refused: %v", done, len(all), refused)
	require.Greater(t, done, 100)
}

// corpusTest makes the kernels of a test and translates them. outs are, for each location and result of the test, the term
// that observes it there and here.
func corpusTest(c *litmus.Test) (back *litmus.Test, outs [][2]litmus.Term, err error) {
	u, err := ptxgen.Emit(c, ptxgen.Options{Target: "sm_90", Layout: spec.Pointers, Plain: true})
	if err != nil {
		return nil, nil, errors.New("ptxgen has no kernel")
	}
	m, err := ptx.Parse("t.ptx", []byte(ptxgen.Header(u.Version, "sm_90")+u.Text))
	if err != nil {
		return nil, nil, err
	}
	addr := func(i int) uint64 { return 0x1000 + uint64(i)*64 }
	out := func(thread int) uint64 { return 0x100000 + uint64(thread)*0x1000 }
	ctas := map[litmus.Place]int{}
	var actors []Actor
	for i, k := range u.Kernels {
		p, err := lower.Kernel(m, k.Name)
		if err != nil {
			return nil, nil, err
		}
		place := c.Threads[i].Place
		place.Warp = 0
		if _, ok := ctas[place]; !ok {
			ctas[place] = len(ctas)
		}
		params := make([]byte, 4096)
		for n := range c.Locations {
			binary.LittleEndian.PutUint64(params[8*n:], addr(n))
		}
		binary.LittleEndian.PutUint64(params[k.OutParam:], out(i))
		for _, v := range k.Values {
			var w [8]byte
			binary.LittleEndian.PutUint64(w[:], uint64(v.Const))
			copy(params[v.Offset:], w[:v.Bytes])
		}
		actors = append(actors, Actor{Program: p, Params: params, Grid: [3]int{len(u.Kernels), 1, 1}, Block: [3]int{1, 1, 1}, CTA: ctas[place], Place: place})
		for _, e := range k.Spec.Entries {
			if e.Instr < 0 || e.Back > 0 {
				continue
			}
			in := &c.Threads[i].Body[e.Instr]
			if n := written(&c.Threads[i], in.Dst); in.Dst != "" && n == 1 && in.Guard == nil {
				outs = append(outs, [2]litmus.Term{{Kind: litmus.TermReg, Thread: i, Name: in.Dst},
					{Kind: litmus.TermLoc, Name: spot{addr: out(i) + uint64(e.Pos)*ptxgen.ResultStride}.name()}})
			}
		}
	}
	back, err = Translate(actors, func(a uint64, _ int) int64 {
		if i := int(a-0x1000) / 64; i < len(c.Locations) {
			return c.Locations[i].Init
		}
		return 0
	}, true)
	if err != nil {
		return nil, nil, err
	}
	for n := range c.Locations {
		s := spot{addr: addr(n)}
		if c.Locations[n].Space == litmus.Shared {
			s.shared = true
			if len(ctas) > 1 {
				return nil, nil, errors.New("shared memory of several CTAs")
			}
		}
		if l := back.Location(s.name()); l != nil {
			l.Init = c.Locations[n].Init
			outs = append(outs, [2]litmus.Term{{Kind: litmus.TermLoc, Name: c.Locations[n].Name}, {Kind: litmus.TermLoc, Name: s.name()}})
		}
	}
	return back, outs, nil
}

func written(th *litmus.Thread, reg string) (n int) {
	for i := range th.Body {
		if th.Body[i].Dst == reg {
			n++
		}
	}
	return n
}

func sameOutcomes(t *testing.T, m *model.Model, c, back *litmus.Test, outs [][2]litmus.Term) bool {
	states := func(x *litmus.Test, side int) ([]string, bool) {
		x = x.Clone()
		x.Cond, x.Observed = litmus.Cond{Quant: litmus.Exists, Expr: litmus.True{}}, nil
		for _, o := range outs {
			if side == 1 && back.Location(o[1].Name) == nil {
				continue
			}
			x.Observed = append(x.Observed, o[side])
		}
		v, err := m.Judge(context.Background(), x, model.Options{Timeout: 5 * time.Second, Unroll: 4, StatesOnly: true})
		require.NoError(t, err, c.Name)
		var list []string
		for _, s := range v.States {
			at := map[litmus.Term]int64{}
			for i, term := range v.Terms {
				at[term] = s.Values[i]
			}
			var vals []string
			for _, o := range x.Observed {
				vals = append(vals, fmt.Sprint(uint32(at[o])))
			}
			list = append(list, fmt.Sprint(vals))
		}
		slices.Sort(list)
		return slices.Compact(list), v.Undecided == "" && !v.Cut
	}
	want, ok := states(c, 0)
	got, ok2 := states(back, 1)
	if ok && ok2 {
		require.Equal(t, want, got, "%s\n%s\n%s", c.String(), back.String(), fmt.Sprint(outs))
	}
	return ok && ok2
}

// TestAll: all executions of small launches have the races that runs of larger ones show.
func TestAll(t *testing.T) {
	m := module(t, "testdata/kernels.ptx")
	for kernel, want := range map[string]string{"flag_plain": AnswerRace, "flag_fenced": AnswerFree, "flag_block": AnswerRace, "lock_gpu": AnswerFree,
		"lock_block": AnswerRace, "last_block": AnswerFree, "warp_unsynced": AnswerFree} {
		o := &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{1, 1, 1}}}
		x, err := All(context.Background(), m, kernel, o, 30*time.Second)
		require.NoError(t, err)
		require.Equal(t, want, x.Answer, x.Text())
		require.Equal(t, want == AnswerRace, x.Execution != "")
	}
	x, err := All(context.Background(), m, "warp_synced", &Options{}, time.Second)
	require.NoError(t, err)
	require.Equal(t, AnswerUnknown, x.Answer, "operations of a warp are not looked at")
}
