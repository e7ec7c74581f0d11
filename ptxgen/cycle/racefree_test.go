package cycle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model"
	"optcheck/ptxgen/cycle"
)

// racy lists tests with a data race: all of the corpus and of quick, and one in each stride
// of the other presets.
func racy(t *testing.T, stride int) (list []*litmus.Test) {
	all := corpus.Tests()
	for _, p := range cycle.Presets() {
		g, err := cycle.Preset(p)
		require.NoError(t, err)
		n := 0
		for x := range g.Tests() {
			if n++; (p == "quick" || n%stride == 0) && !branches(x) && !x.Extended() { // those are refused
				all = append(all, x)
			}
		}
	}
	for _, x := range all {
		r, err := model.PTXRace(t.Context(), x, model.Options{})
		require.NoError(t, err, x.Name)
		if r != model.RaceNone {
			list = append(list, x)
		}
	}
	return list
}

func branches(x *litmus.Test) bool {
	return slices.ContainsFunc(x.Threads, func(th litmus.Thread) bool {
		return slices.ContainsFunc(th.Body, func(in litmus.Instr) bool { return in.Op == litmus.OpBra })
	})
}

// TestRaceFree: tests with a data race have a variant without one, by the model; in some
// execution of it every thread passes its guards, and the accesses of the test are all
// there, in order.
func TestRaceFree(t *testing.T) {
	ptx, err := model.Load("ptx")
	require.NoError(t, err)
	refused := 0
	list := racy(t, 50)
	for _, x := range list {
		before := x.String()
		y, err := cycle.RaceFree(x)
		require.Equal(t, before, x.String(), "the test was changed")
		if err != nil {
			t.Log(err)
			refused++
			continue
		}
		require.Equal(t, x.Name+"+race-free", y.Name)
		r, err := model.PTXRace(t.Context(), y, model.Options{})
		require.NoError(t, err, y.Name)
		require.Equal(t, model.RaceNone, r, y.String())
		again, err := cycle.RaceFree(x)
		require.NoError(t, err)
		require.Equal(t, y.String(), again.String())
		back, err := litmus.Parse(y.Name, []byte(y.String()))
		require.NoError(t, err)
		require.Equal(t, y.String(), back.String())

		passed := y.Clone()
		passed.Cond = litmus.Cond{Quant: litmus.Exists, Expr: guards(t, y)}
		v, err := ptx.Judge(t.Context(), passed, model.Options{StatesOnly: true})
		require.NoError(t, err)
		require.NotEqual(t, model.Never, v.Observation, "no execution passes the guards: %s", y)
		for i := range x.Threads {
			rest := y.Threads[i].Body
			for k := range x.Threads[i].Body {
				in := &x.Threads[i].Body[k]
				for len(rest) > 0 && rest[0].String() != in.String() {
					rest = rest[1:]
				}
				require.NotEmpty(t, rest, "%s is not in %s", in, y)
				rest = rest[1:]
			}
		}
	}
	t.Logf("%d tests with a race, %d of them refused", len(list), refused)
	require.Greater(t, len(list), 400)
	require.Less(t, 100*refused, len(list))
}

// guards returns what threads pass: every branch of the variant is not taken.
func guards(t *testing.T, y *litmus.Test) litmus.Expr {
	var list []litmus.Expr
	found := false
	for i := range y.Threads {
		for k := range y.Threads[i].Body {
			in := &y.Threads[i].Body[k]
			if in.Op != litmus.OpBra {
				continue
			}
			found = true
			src := in.Src
			if in.Guard != nil {
				require.Equal(t, litmus.OpSetp, y.Threads[i].Body[k-1].Op)
				src = y.Threads[i].Body[k-1].Src
			}
			if slices.ContainsFunc(y.Threads[i].Body[k:], func(in litmus.Instr) bool { return in.Dst == src[0].Name }) {
				continue // what was compared is not there in the end
			}
			list = append(list, litmus.Atom{Left: litmus.Term{Kind: litmus.TermReg, Thread: i, Name: src[0].Name}, Cmp: litmus.CmpEq,
				Right: litmus.Term{Kind: litmus.TermConst, Value: src[1].Value}})
		}
	}
	require.True(t, found, y.String())
	return litmus.And{List: append(list, litmus.True{}, litmus.True{})}
}

func raceTest(t *testing.T, threads ...string) *litmus.Test {
	t.Helper()
	var rows []string
	cells := make([][]string, len(threads))
	head, most := "", 0
	for i, th := range threads {
		head += fmt.Sprintf("| P%d@cta %d,gpu 0 ", i, i)
		cells[i] = strings.Split(th, "; ")
		most = max(most, len(cells[i]))
	}
	for k := range most {
		row := ""
		for i := range cells {
			cell := ""
			if k < len(cells[i]) {
				cell = cells[i][k]
			}
			row += "| " + cell + " "
		}
		rows = append(rows, row[1:]+";\n")
	}
	x, err := litmus.Parse("t.litmus", []byte("PTX t\n{ x=0; y=0; z=0; }\n"+head[1:]+";\n"+strings.Join(rows, "")+"exists (P1:r1 == 1)\n"))
	require.NoError(t, err)
	return x
}

// TestRaceFreeShapes: what is added to the shapes that it is for.
func TestRaceFreeShapes(t *testing.T) {
	for _, c := range []struct{ name, t0, t1, want0, want1 string }{
		{"guarded message passing", "st.weak x, 1; st.release.gpu y, 1", "ld.acquire.gpu r1, y; ld.weak r2, x",
			"st.weak x, 1; st.release.gpu y, 1", "ld.acquire.gpu r1, y; bne r1, 1, END1_0; ld.weak r2, x; END1_0:"},
		{"a load in front of the acquire and again behind it", "st.weak x, 1; st.release.gpu y, 1", "ld.weak r0, x; ld.acquire.gpu r1, y; ld.weak r2, x",
			"ld.acquire.gpu.s32 r100, ack0; bne r100, 1, END0_0; st.weak x, 1; st.release.gpu y, 1; END0_0:",
			"ld.weak r0, x; st.release.gpu.s32 ack0, 1; ld.acquire.gpu r1, y; bne r1, 1, END1_0; ld.weak r2, x; END1_0:"},
		{"two loads", "st.weak x, 1", "ld.weak r0, x; ld.weak r1, x",
			"ld.acquire.gpu.s32 r100, ack0; bne r100, 1, END0_0; st.weak x, 1; st.release.gpu.s32 ack1, 1; END0_0:",
			"ld.weak r0, x; st.release.gpu.s32 ack0, 1; ld.acquire.gpu.s32 r101, ack1; bne r101, 1, END1_0; ld.weak r1, x; END1_0:"},
		{"nothing to do", "st.relaxed.gpu x, 1; st.relaxed.gpu y, 1", "ld.relaxed.gpu r1, y; ld.relaxed.gpu r0, x",
			"st.relaxed.gpu x, 1; st.relaxed.gpu y, 1", "ld.relaxed.gpu r1, y; ld.relaxed.gpu r0, x"},
		{"load buffering", "ld.acquire.gpu r0, x; st.release.gpu y, 1; st.weak z, 1", "ld.acquire.gpu r1, y; ld.weak r2, z; st.release.gpu x, 1",
			"ld.acquire.gpu r0, x; st.release.gpu y, 1; ld.acquire.gpu.s32 r100, ack0; bne r100, 1, END0_0; st.weak z, 1; END0_0:",
			"ld.acquire.gpu r1, y; ld.weak r2, z; st.release.gpu.s32 ack0, 1; st.release.gpu x, 1"},
		{"fences", "st.weak x, 1; fence.acq_rel.gpu; st.relaxed.gpu y, 1", "ld.relaxed.gpu r1, y; fence.acq_rel.gpu; ld.weak r2, x",
			"st.weak x, 1; fence.acq_rel.gpu; st.relaxed.gpu y, 1", "ld.relaxed.gpu r1, y; fence.acq_rel.gpu; bne r1, 1, END1_0; ld.weak r2, x; END1_0:"},
	} {
		y, err := cycle.RaceFree(raceTest(t, c.t0, c.t1))
		require.NoError(t, err, c.name)
		for i, want := range []string{c.want0, c.want1} {
			var got []string
			for k := range y.Threads[i].Body {
				in := &y.Threads[i].Body[k]
				s := strings.NewReplacer("[", "", "]", "", ",", ", ").Replace(in.String())
				if len(in.Labels) > 0 {
					s = in.Labels[0] + ":"
				}
				got = append(got, s)
			}
			require.Equal(t, want, strings.Join(got, "; "), c.name)
		}
		r, err := model.PTXRace(t.Context(), y, model.Options{})
		require.NoError(t, err)
		require.Equal(t, model.RaceNone, r, c.name)
	}
	for want, x := range map[string]*litmus.Test{
		"it has asynchronous operations": raceTest(t, "st.weak x, 1; cp.async.wait_all", "ld.weak r0, x"),
		"it has branches":                raceTest(t, "st.weak x, 1", "ld.weak r0, x; bne r0, 1, LC0; ld.weak r1, x; LC0:"),
		"behind a guard":                 raceTest(t, "st.weak x, 1; st.release.gpu y, 1", "ld.acquire.gpu r1, y; bar.cta.sync 0; ld.weak r2, x"),
	} {
		_, err := cycle.RaceFree(x)
		require.ErrorContains(t, err, want)
	}
}
