package device

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
)

func traitsFor(t *testing.T, name string) traits {
	x, ok := corpus.Lookup(name)
	require.True(t, ok, name)
	return traitsOf(x)
}

// TestShapes: synchronisation, family, threads in the same CTAs.
func TestShapes(t *testing.T) {
	x, y, z := traitsFor(t, "mp").shapes, traitsFor(t, "mp+relaxed.gpus").shapes, traitsFor(t, "mp+membar.gls").shapes
	require.Empty(t, x[0])
	require.NotEqual(t, x[1], y[1], "scopes")
	require.Equal(t, x[1]+"|WW+RR", x[2])
	require.Equal(t, x[2]+"|0+1", x[3])
	require.NotEqual(t, x[1], z[1], "fences")
}

// messages is mp with what stands in front of and in the instructions of the two threads.
func messages(t *testing.T, tree, store, between, load string) *litmus.Test {
	rows := [][2]string{{"st.relaxed.gpu.s32 [x],1", "ld." + load + ".s32 r0,[y]"}, {between, between},
		{"st." + store + ".s32 [y],1", "ld.relaxed.gpu.s32 r1,[x]"}}
	var b strings.Builder
	for _, r := range rows {
		if r[0] != "" {
			fmt.Fprintf(&b, " %s | %s ;\n", r[0], r[1])
		}
	}
	x, err := litmus.Parse("mp", []byte("GPU_PTX mp\n{\nx=0; y=0;\n1:.reg .s32 r0; 1:.reg .s32 r1;\n}\n T0 | T1 ;\n"+b.String()+
		"ScopeTree(grid"+tree+")\nx: global, y: global\nexists (1:r0=1 /\\ 1:r1=0)\n"))
	require.NoError(t, err)
	return x
}

const apart, together = "(cta(warp T0)) (cta(warp T1))", "(cta(warp T0) (warp T1))"

// TestRelatives: tests that differ in fences, orders and scopes alone are relatives; which is weaker.
func TestRelatives(t *testing.T) {
	of := func(store, between, load string) traits { return traitsOf(messages(t, apart, store, between, load)) }
	tests := []struct {
		name          string
		x, y          traits
		weaker, equal bool
	}{
		{"a fence", of("relaxed.gpu", "", "relaxed.gpu"), of("relaxed.gpu", "fence.acq_rel.cta", "relaxed.gpu"), true, false},
		{"its scope", of("relaxed.gpu", "fence.acq_rel.cta", "relaxed.gpu"), of("relaxed.gpu", "fence.acq_rel.gpu", "relaxed.gpu"), true, false},
		{"its kind", of("relaxed.gpu", "fence.acq_rel.gpu", "relaxed.gpu"), of("relaxed.gpu", "fence.sc.gpu", "relaxed.gpu"), true, false},
		{"a membar", of("relaxed.gpu", "fence.acq_rel.gpu", "relaxed.gpu"), of("relaxed.gpu", "membar.gl", "relaxed.gpu"), true, false},
		{"orders", of("relaxed.gpu", "", "relaxed.gpu"), of("release.gpu", "", "acquire.gpu"), true, false},
		{"orders and a fence", of("release.gpu", "", "acquire.gpu"), of("release.gpu", "fence.acq_rel.cta", "acquire.gpu"), true, false},
		{"a fence instead of orders", of("release.cta", "", "acquire.cta"), of("relaxed.gpu", "fence.acq_rel.gpu", "relaxed.gpu"), false, false},
		{"the scope of an access", of("relaxed.cta", "", "relaxed.gpu"), of("relaxed.gpu", "", "relaxed.gpu"), true, false},
		{"nothing", of("relaxed.gpu", "", "relaxed.gpu"), of("relaxed.gpu", "", "relaxed.gpu"), true, true},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			require.Equal(t, x.x.skeleton, x.y.skeleton)
			require.Equal(t, x.weaker, x.x.atMost(&x.y))
			require.Equal(t, x.equal, x.y.atMost(&x.x))
		})
	}
	require.NotEqual(t, of("relaxed.gpu", "", "relaxed.gpu").skeleton,
		traitsOf(messages(t, together, "relaxed.gpu", "", "relaxed.gpu")).skeleton, "places")
	require.NotEqual(t, traitsFor(t, "mp").skeleton, traitsFor(t, "lb").skeleton)
}

// TestChances: a test is less likely to show what a weaker relative has not shown, and certain to be able to
// show what a stronger one has shown.
func TestChances(t *testing.T) {
	b := newBandit(1, 1)
	add := func(tree, between string) *quest {
		return b.quest(messages(t, tree, "relaxed.gpu", between, "relaxed.gpu"))
	}
	weak, middle, strong := add(apart, ""), add(apart, "fence.acq_rel.cta"), add(apart, "fence.acq_rel.gpu")
	other := add(together, "fence.acq_rel.gpu")
	before := b.chance(strong)
	require.Equal(t, before, b.chance(other))
	for range 20 {
		b.learn(middle, 0, 0.1, false)
	}
	require.Less(t, b.chance(strong), 0.7*before)
	require.Less(t, b.chance(strong), b.chance(other), "it has no weaker relative that was tried")
	require.Greater(t, b.chance(weak), b.chance(strong))
	b.learn(middle, 0, 0.1, true)
	require.Equal(t, 1.0, b.chance(weak))
	require.Less(t, b.chance(strong), 1.0)
}

// TestChancesOfLikes: tests that are no relatives learn from each other by what they have in common: here
// nothing is seen where all threads are in one CTA.
func TestChancesOfLikes(t *testing.T) {
	b := newBandit(1, 1)
	at := func(family, place string) *quest {
		return b.add(traits{shapes: []string{""}, skeleton: family + place, features: []string{"", family, place}})
	}
	for n := range 30 {
		family := fmt.Sprint(n)
		b.learn(at(family, "apart"), 0, 0.1, true)
		for q := at(family, "together"); q.missed < 2; {
			b.learn(q, 0, 0.1, false)
		}
	}
	require.Greater(t, b.chance(at("new", "apart")), 0.8)
	require.Less(t, b.chance(at("new", "together")), 0.2)
}
