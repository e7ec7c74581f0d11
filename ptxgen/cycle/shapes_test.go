package cycle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/ptxgen/cycle"
)

// classics are the shapes of the literature: threads, then final values. Wx1
// stores 1 to x; Rx0 loads x and the outcome says 0; Rx a load of which it says
// nothing.
var classics = []struct{ name, edges, want string }{
	{"MP", "PodWW Rfe PodRR Fre", "Wx1 Wy1 | Ry1 Rx0"},
	{"SB", "PodWR Fre PodWR Fre", "Wx1 Ry0 | Wy1 Rx0"},
	{"LB", "PodRW Rfe PodRW Rfe", "Rx1 Wy1 | Ry1 Wx1"},
	{"S", "PodWW Rfe PodRW Coe", "Wx2 Wy1 | Ry1 Wx1 ; x=2"},
	{"R", "PodWW Coe PodWR Fre", "Wx1 Wy1 | Wy2 Rx0 ; y=2"},
	{"2+2W", "PodWW Coe PodWW Coe", "Wx2 Wy1 | Wy2 Wx1 ; x=2 y=2"},
	{"WRC", "Rfe PodRW Rfe PodRR Fre", "Wx1 | Rx1 Wy1 | Ry1 Rx0"},
	{"RWC", "Rfe PodRR Fre PodWR Fre", "Wx1 | Rx1 Ry0 | Wy1 Rx0"},
	{"WWC", "Rfe PodRW Rfe PodRW Coe", "Wx2 | Rx2 Wy1 | Ry1 Wx1 ; x=2"},
	{"WRW+WR", "Rfe PodRW Coe PodWR Fre", "Wx1 | Rx1 Wy1 | Wy2 Rx0 ; y=2"},
	{"WRR+2W", "Rfe PodRR Fre PodWW Coe", "Wx2 | Rx2 Ry0 | Wy1 Wx1 ; x=2"},
	{"WRW+2W", "Rfe PodRW Coe PodWW Coe", "Wx2 | Rx2 Wy1 | Wy2 Wx1 ; x=2 y=2"},
	{"ISA2", "PodWW Rfe PodRW Rfe PodRR Fre", "Wx1 Wy1 | Ry1 Wz1 | Rz1 Rx0"},
	{"W+RWC", "PodWW Rfe PodRR Fre PodWR Fre", "Wx1 Wy1 | Ry1 Rz0 | Wz1 Rx0"},
	{"Z6.0", "PodWW Rfe PodRW Coe PodWR Fre", "Wx1 Wy1 | Ry1 Wz1 | Wz2 Rx0 ; z=2"},
	{"Z6.1", "PodWW Coe PodWW Rfe PodRW Coe", "Wx2 Wy1 | Wy2 Wz1 | Rz1 Wx1 ; x=2 y=2"},
	{"Z6.2", "PodWW Rfe PodRW Rfe PodRW Coe", "Wx2 Wy1 | Ry1 Wz1 | Rz1 Wx1 ; x=2"},
	{"Z6.3", "PodWW Coe PodWW Rfe PodRR Fre", "Wx1 Wy1 | Wy2 Wz1 | Rz1 Rx0 ; y=2"},
	{"Z6.4", "PodWW Coe PodWR Fre PodWR Fre", "Wx1 Wy1 | Wy2 Rz0 | Wz1 Rx0 ; y=2"},
	{"Z6.5", "PodWW Coe PodWW Coe PodWR Fre", "Wx1 Wy1 | Wy2 Wz1 | Wz2 Rx0 ; y=2 z=2"},
	{"3.SB", "PodWR Fre PodWR Fre PodWR Fre", "Wx1 Ry0 | Wy1 Rz0 | Wz1 Rx0"},
	{"3.LB", "PodRW Rfe PodRW Rfe PodRW Rfe", "Rx1 Wy1 | Ry1 Wz1 | Rz1 Wx1"},
	{"3.2W", "PodWW Coe PodWW Coe PodWW Coe", "Wx2 Wy1 | Wy2 Wz1 | Wz2 Wx1 ; x=2 y=2 z=2"},
	{"IRIW", "Rfe PodRR Fre Rfe PodRR Fre", "Wx1 | Rx1 Ry0 | Wy1 | Ry1 Rx0"},
	{"IRRWIW", "Rfe PodRR Fre Rfe PodRW Coe", "Wx2 | Rx2 Ry0 | Wy1 | Ry1 Wx1 ; x=2"},
	{"IRWIW", "Rfe PodRW Coe Rfe PodRW Coe", "Wx2 | Rx2 Wy1 | Wy2 | Ry2 Wx1 ; x=2 y=2"},
	{"4.SB", "PodWR Fre PodWR Fre PodWR Fre PodWR Fre", "Wx1 Ry0 | Wy1 Rz0 | Wz1 Ra0 | Wa1 Rx0"},
	{"4.LB", "PodRW Rfe PodRW Rfe PodRW Rfe PodRW Rfe", "Rx1 Wy1 | Ry1 Wz1 | Rz1 Wa1 | Ra1 Wx1"},
	{"4.2W", "PodWW Coe PodWW Coe PodWW Coe PodWW Coe", "Wx2 Wy1 | Wy2 Wz1 | Wz2 Wa1 | Wa2 Wx1 ; x=2 y=2 z=2 a=2"},
	{"CoRR", "Rfe PosRR Fre", "Wx1 | Rx1 Rx0"},
	{"CoRW2", "Rfe PosRW Coe", "Wx2 | Rx2 Wx1 ; x=2"},
	{"CoWR", "Coe PosWR Fre", "Wx1 | Wx2 Rx0 ; x=2"},
	{"CoWW", "PosWW Coi", "Wx2 Wx1 ; x=2"},
	{"CoRW1", "PosRW Rfi", "Rx1 Wx1"},
	{"CoWR0", "PosWR Fri", "Wx1 Rx0"},
	// Threads with more than two accesses keep the family of their ends.
	{"SB+rfi-pos", "Rfi PodRR Fre Rfi PodRR Fre", "Wx1 Rx1 Ry0 | Wy1 Ry1 Rx0"},
	{"MP+po+addr-po", "PodWW Rfe DpAddrdR PodRR Fre", "Wx1 Wy1 | Ry1 Rz Rx0"},
	{"WW+RW+RW+RR", "PodWW Rfe PodRW Rfe PodRW Rfe PodRR Fre", "Wx1 Wy1 | Ry1 Wz1 | Rz1 Wa1 | Ra1 Rx0"},
}

// short writes a test in the notation of the table.
func short(t *litmus.Test) string {
	m := newMachine(t)
	said := map[litmus.Term]string{}
	var final []string
	for _, a := range atoms(t) {
		if a.Left.Kind == litmus.TermLoc {
			final = append(final, fmt.Sprintf("%s=%d", a.Left.Name, a.Right.Value))
		} else {
			said[a.Left] = fmt.Sprint(a.Right.Value)
		}
	}
	var threads []string
	for i := range t.Threads {
		var acc []string
		for m.local(i) {
			in, at := t.Threads[i].Body[m.pc[i]], m.loc[i][m.pc[i]]
			w, writes := m.access(i, 0)
			if writes {
				acc = append(acc, fmt.Sprintf("W%s%d", at, w))
			} else {
				acc = append(acc, "R"+at+said[litmus.Term{Kind: litmus.TermReg, Thread: i, Name: in.Dst}])
			}
		}
		threads = append(threads, strings.Join(acc, " "))
	}
	s := strings.Join(threads, " | ")
	if len(final) > 0 {
		s += " ; " + strings.Join(final, " ")
	}
	return s
}

func TestClassicShapes(t *testing.T) {
	for _, x := range classics {
		c, err := cycle.Parse(x.edges)
		require.NoError(t, err, x.name)
		s, err := cycle.NewSpec(c, nil, nil, nil)
		require.NoError(t, err, x.name)
		require.Equal(t, x.name, s.Cycle.Name())
		got := s.Test()
		require.NoError(t, got.Check(), x.name)
		require.Equal(t, x.want, short(got), x.name)
		require.False(t, interleaved(got), "%s can be seen under sequential consistency", x.name)
		require.True(t, conceivable(got), x.name)
		// The cycle may begin anywhere.
		words := strings.Fields(x.edges)
		for k := range words {
			c, err := cycle.Parse(strings.Join(append(slices.Clone(words[k:]), words[:k]...), " "))
			require.NoError(t, err)
			r, err := cycle.NewSpec(c, nil, nil, nil)
			require.NoError(t, err)
			require.Equal(t, got.String(), r.Test().String(), "%s begun at edge %d", x.name, k)
		}
	}
}

// TestInterleaved shows that the oracle of the other tests can say yes.
func TestInterleaved(t *testing.T) {
	sp, err := cycle.ParseName("MP-p0::p1-xgyg")
	require.NoError(t, err)
	for v, want := range map[[2]int64]bool{{0, 0}: true, {0, 1}: true, {1, 1}: true, {1, 0}: false} {
		x := sp.Test()
		e := x.Cond.Expr.(litmus.And)
		for i := range e.List {
			a := e.List[i].(litmus.Atom)
			a.Right.Value = v[i]
			e.List[i] = a
		}
		require.Equal(t, want, interleaved(x), "%v", v)
	}
}

func TestEdgeLists(t *testing.T) {
	for _, x := range []struct{ list, name string }{
		{"Pod** Rfe Pod** Fre", "MP"},
		{"Pod** Rfe DpDatad* Rfe", "LB+po+data"},
		{"Wse PodWW Wse PodWW", "2+2W"},
		{"PodWW rel.gpu Rfe acq.gpu PodRR Fre", "MP+po-rel.gpu+acq.gpu-po"},
		{"PodWW release.gpu Rfe acquire.gpu PodRR Fre", "MP+po-rel.gpu+acq.gpu-po"},
		{"PodRR cg Fre cg PodWW cg Rfe cg", "MP+all-cg"},
		{"cg PodWW cg Rfe ca PodRR ca Fre", "MP+all-ca-cg"},
		{"PodWW Rfe DpCtrlMembar.gldR Fre", "MP+po+ctrlmembar.gl"},
		{"BardWW Rfe BardRR Fre", "MP+bars"},
		{"Membar.gldWW Rfe DpAddrdR Fre", "MP+membar.gl+addr"},
		{"Fence.sc.syssWR Rfi PodRR Fre PodWR Fre", ""},
		{"Rfe Amo.Exch PodWW Rfe PodRR Fre", "WW+RR+W+atom.exch-po+po"},
		{"Rfe Amo.Cas.acq.gpu DpAddrdR Fre PodWW", "R+po+atom.cas.acq.gpu-addr"},
		{"Amo.Add PodWW Rfe PodRR Fre Rfe", "WW+RR+W+atom.add-po+po"},
	} {
		c, err := cycle.Parse(x.list)
		if x.name == "" {
			require.Error(t, err, x.list)
			continue
		}
		require.NoError(t, err, x.list)
		s, err := cycle.NewSpec(c, nil, nil, nil)
		require.NoError(t, err, x.list)
		if slices.Contains(strings.Fields(x.list), "BardWW") {
			s, err = cycle.PlacedSpec(c, "p0:p1", "", nil)
			require.NoError(t, err)
		}
		require.Equal(t, x.name, s.Cycle.Name(), x.list)
		require.False(t, interleaved(s.Test()), x.list)
		require.True(t, conceivable(s.Test()), x.list)
		again, err := cycle.Parse(s.Cycle.String())
		require.NoError(t, err, s.Cycle)
		require.Equal(t, s.Cycle.String(), again.String())
	}
}

func TestImpossibleCycles(t *testing.T) {
	for _, x := range []struct{ list, want string }{
		{"", "no edges"},
		{"PodWW", "2 to 64"},
		{"Foo Rfe", `unknown edge "Foo"`},
		{"PodXY Rfe", `unknown edge "PodXY"`},
		{"DpDatadR Rfe", "a data dependency ends in a write"},
		{"PodWW Rfe PodWR Fre", "edge 3 (PodWR): it cannot follow Rfe: it starts in a write where that ends in a read"},
		{"PodWW Rfe PosRR Fre", "edge 1 (PodWW): it is the only edge between locations"},
		{"PodWW Rfe PodRW PodWW", "edge 2 (Rfe): it is the only edge between threads"},
		{"PodWR PodRW", "edge 1 (PodWR): no edge leaves the thread"},
		{"Rfe Fre", "communications alone contradict each other"},
		{"Pod** Pod** Coe Coe", "can be read in several ways"},
		{"acq.gpu PodWW Rfe PodRR Fre", "a store cannot be acq.gpu"},
		{"PodWW Rfe atom.exch PodRR Fre", "an exchange overwrites"},
		{"cg cg PodWW Rfe PodRR Fre", "two annotations"},
		{"cg PodWW Rfe PodRR Fre ca", "annotated twice"},
		{"Coe PodWR Fre Coe Rfe PodRR Fre", ""},
		{"PodWW Coe Coe Coe PodWR Fre", "edge 2 (Coe): 4 writes go to one location"},
		{strings.Repeat("PodWR Fre ", 9), "edge 18 (Fre): it begins thread 9"},
		{"PodWW PodWW PodWW PodWW PodWW PodWW PodWW PodWW Coe PodWW Coe", "edge 10 (PodWW): it needs location 9"},
		{strings.Repeat("Pod** ", 70), "70 edges (at most 64)"},
	} {
		_, err := cycle.Parse(x.list)
		if x.want == "" {
			require.NoError(t, err, x.list)
			continue
		}
		require.ErrorContains(t, err, x.want, x.list)
	}
}
