package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/fakeptxas"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/spec"
)

// killShapes has for each wrong optimisation a test that exposes it, written by
// hand: what a generator must come by itself to. Threads are separated by ||; by
// default each is in a CTA of its own.
var killShapes = []struct{ pass, threads string }{
	{"load-across-acquire", "ld.weak r0, x; ld.acquire.gpu r1, f; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"load-across-fence.acq_rel", "ld.weak r0, x; ld.relaxed.gpu r1, f; fence.acq_rel.gpu; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"load-across-fence.sc", "ld.weak r0, x; ld.relaxed.gpu r1, f; fence.sc.gpu; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"load-across-barrier", "ld.weak r0, x; bar.sync 0; ld.weak r1, x || st.weak x, 1; bar.sync 0"},
	{"load-across-atomic", "ld.weak r0, x; atom.acquire.gpu.exch r1, f, 2; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"strong-load-across-any", "ld.relaxed.gpu r0, x; ld.acquire.gpu r1, f; ld.relaxed.gpu r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"store-across-release", "st.weak x, 1; st.release.gpu f, 1; st.weak x, 2 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"store-across-fence.acq_rel", "st.weak x, 1; fence.acq_rel.gpu; st.relaxed.gpu f, 1; st.weak x, 2 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"store-across-fence.sc", "st.weak x, 1; fence.sc.gpu; st.relaxed.gpu f, 1; st.weak x, 2 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"store-across-barrier", "st.weak x, 1; bar.sync 0; st.weak x, 2 || bar.sync 0; ld.weak r1, x"},
	{"store-across-atomic", "st.weak x, 1; atom.release.gpu.exch r0, f, 1; st.weak x, 2 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"strong-store-across-any", "st.relaxed.gpu x, 1; st.release.gpu f, 1; st.relaxed.gpu x, 2 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"forward-across-acquire", "st.weak x, 1; st.release.gpu g, 1; ld.acquire.gpu r0, f; ld.weak r1, x || ld.acquire.gpu r0, g; st.weak x, 2; st.release.gpu f, 1"},
	{"forward-across-fence.acq_rel", "st.weak x, 1; fence.acq_rel.gpu; st.relaxed.gpu g, 1; ld.relaxed.gpu r0, f; fence.acq_rel.gpu; ld.weak r1, x || ld.acquire.gpu r0, g; st.weak x, 2; st.release.gpu f, 1"},
	{"forward-across-fence.sc", "st.weak x, 1; fence.sc.gpu; st.relaxed.gpu g, 1; ld.relaxed.gpu r0, f; fence.sc.gpu; ld.weak r1, x || ld.acquire.gpu r0, g; st.weak x, 2; st.release.gpu f, 1"},
	{"forward-across-barrier", "st.weak x, 1; bar.sync 0; bar.sync 0; ld.weak r1, x || bar.sync 0; st.weak x, 2; bar.sync 0"},
	{"forward-across-atomic", "st.weak x, 1; st.release.gpu g, 1; atom.acquire.gpu.exch r0, f, 2; ld.weak r1, x || ld.acquire.gpu r0, g; st.weak x, 2; st.release.gpu f, 1"},
	{"strong-forward-across-any", "st.relaxed.gpu x, 1; ld.acquire.gpu r0, f; ld.relaxed.gpu r1, x || st.relaxed.gpu x, 2; st.release.gpu f, 1"},
	{"silent-store", "ld.weak r0, x; ld.acquire.gpu r1, f; st.weak x, r0 || st.weak x, 2; st.release.gpu f, 1"},
	{"repeated-store", "mov r5, 1; st.weak x, r5; ld.acquire.gpu r1, f; st.weak x, r5 || st.weak x, 2; st.release.gpu f, 1"},
	{"branch-value", "ld.relaxed.gpu r0, x; bne r0, 1, LC; ld.acquire.gpu r1, g; ld.relaxed.gpu r2, x; LC: || st.relaxed.gpu x, 1; st.relaxed.gpu x, 2; st.release.gpu g, 1"},
	{"hoist-load-atomic", "atom.acquire.gpu.exch r1, f, 2; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"unroll", "ld.relaxed.gpu r0, f; fence.acq_rel.gpu; ld.relaxed.gpu r1, f; fence.acq_rel.gpu; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"unroll", "xor r9, r9, r9; LC: ld.relaxed.gpu r0, f; fence.acq_rel.gpu; ld.weak r1, x; add r9, r9, 1; blt r9, 4, LC || st.weak x, 1; st.release.gpu f, 1"},
	{"move-over-call", "ld.relaxed.gpu r1, f; call fence.acq_rel.gpu; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"move-over-call", "call ld.acquire.gpu r1, f; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"invariant-load", "xor r9, r9, r9; LC: ld.acquire.gpu r0, f; ld.weak r1, x; add r9, r9, 1; blt r9, 4, LC || st.weak x, 1; st.release.gpu f, 1"},
	{"sink-store-from-loop", "xor r9, r9, r9; LC: st.weak x, 1; st.release.gpu f, 1; add r9, r9, 1; blt r9, 4, LC || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"if-convert-store", "ld.relaxed.gpu r0, f; bne r0, 1, LC; st.weak x, 2; LC: || st.weak x, 1; st.release.gpu f, 1"},
	{"fence-of-one-location", "ld.relaxed.gpu r0, f; fence.acq_rel.gpu; ld.relaxed.gpu r1, f; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"merge-fences", "st.relaxed.gpu x, 1; fence.sc.gpu; fence.acq_rel.gpu; ld.relaxed.gpu r0, y || st.relaxed.gpu y, 1; fence.sc.gpu; ld.relaxed.gpu r0, x"},
	{"redundant-barrier", "bar.sync 0; st.weak x, 1; bar.sync 0 || bar.sync 0; bar.sync 0; ld.weak r1, x"},
	{"hoist-load-acquire", "ld.acquire.gpu r1, f; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"hoist-load-fence", "ld.relaxed.gpu r1, f; fence.acq_rel.gpu; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"hoist-load-barrier", "bar.sync 0; ld.weak r2, x || st.weak x, 1; bar.sync 0"},
	{"hoist-strong-load", "ld.acquire.gpu r1, f; ld.relaxed.gpu r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"hoist-store-acquire", "ld.acquire.gpu r1, f; st.weak x, 1 || ld.weak r0, x; st.release.gpu f, 1"},
	{"sink-store-release", "st.weak x, 1; st.release.gpu f, 1 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"sink-store-fence", "st.weak x, 1; fence.acq_rel.gpu; st.relaxed.gpu f, 1 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"sink-store-barrier", "st.weak x, 1; bar.sync 0 || bar.sync 0; ld.weak r0, x"},
	{"sink-store-atomic", "st.weak x, 1; atom.release.gpu.exch r5, f, 1 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"sink-strong-store", "st.relaxed.gpu x, 1; st.release.gpu f, 1 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"sink-load-release", "ld.weak r0, x; st.release.gpu f, 1 || ld.acquire.gpu r0, f; st.weak x, 1"},
	{"speculate-store", "ld.relaxed.gpu r0, f; bne r0, 1, LC; st.weak x, 2; LC: || ld.relaxed.gpu r0, x; st.relaxed.gpu f, 1"},
	{"speculate-atomic", "ld.relaxed.gpu r0, f; bne r0, 1, LC; atom.relaxed.gpu.add r1, x, 1; LC: || ld.relaxed.gpu r0, x; st.release.gpu f, 1"},
	{"speculate-load", "ld.acquire.gpu r0, f; bne r0, 1, LC; ld.weak r1, x; LC: || st.weak x, 1; st.release.gpu f, 1"},
	{"load-again", "ld.weak r0, x; st.weak y, r0 || st.weak x, 1"},
	{"store-twice", "st.weak x, 1; st.release.gpu f, 1 || ld.acquire.gpu r0, f; st.weak x, 2"},
	{"fence-for-stores", "st.relaxed.gpu x, 1; fence.sc.gpu; st.relaxed.gpu y, 1 || st.relaxed.gpu y, 2; fence.sc.gpu; ld.relaxed.gpu r0, x"},
	{"fence-of-neighbour", "st.relaxed.cta x, 1; fence.acq_rel.gpu; st.relaxed.gpu f, 1 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"fence-without-store", "ld.relaxed.gpu r1, f; fence.acq_rel.gpu; ld.weak r2, x || st.weak x, 1; st.release.gpu f, 1"},
	{"last-barrier", "st.weak x, 1; bar.sync 0 || bar.sync 0; ld.weak r0, x"},
	{"acquire-without-load", "ld.acquire.gpu r0, f; st.weak x, 1 || ld.weak r0, x; st.release.gpu f, 1"},
	{"acquire-by-control", "ld.acquire.gpu r0, f; bne r0, 1, LC; ld.weak r1, x; LC: || st.weak x, 1; st.release.gpu f, 1"},
	{"release-without-store", "ld.weak r0, x; st.release.gpu f, 1 || ld.acquire.gpu r0, f; st.weak x, 1"},
	{"cache-volatile", "ld.volatile r0, x; ld.volatile r1, x || st.volatile x, 1"},
	{"non-negative", "lb+datas"},
	{"tail-merge", "st.weak x, 1; ld.relaxed.gpu r0, g; setp.eq p0, r0, 0; @p0 st.release.gpu f, 1; @!p0 st.relaxed.gpu f, 1 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"split-load", "ld.relaxed.gpu.b64 r0, x || st.relaxed.gpu.b64 x, 4294967297"},
	{"split-store", "st.relaxed.gpu.b64 x, 4294967297 || ld.relaxed.gpu.b64 r0, x"},
	{"vector-loads", "ld.weak r0, x; ld.acquire.gpu r1, f; ld.weak r2, y || st.weak y, 1; st.release.gpu f, 1"},
	{"vector-stores", "st.weak x, 1; st.release.gpu f, 1; st.weak y, 1 || ld.acquire.gpu r0, f; ld.weak r1, x; ld.weak r2, y"},
	{"vector-strong-loads", "ld.relaxed.gpu r0, x; ld.relaxed.gpu r1, y; fence.acq_rel.gpu; ld.weak r2, z || st.weak z, 1; st.release.gpu y, 1; st.relaxed.gpu x, 1"},
	{"vector-strong-stores", "st.weak z, 1; fence.acq_rel.gpu; st.relaxed.gpu x, 1; st.relaxed.gpu y, 1 || ld.acquire.gpu r0, y; ld.weak r1, z; ld.relaxed.gpu r2, x"},
	{"combine-atomics", "atom.relaxed.gpu.add _, x, 1; st.release.gpu f, 1; atom.relaxed.gpu.add _, x, 1 || ld.acquire.gpu r0, f; ld.relaxed.gpu r1, x"},
	{"dead-acquire", "ld.relaxed.gpu r0, f; ld.acquire.gpu _, f; ld.weak r1, x || st.weak x, 1; st.release.gpu f, 1"},
	{"dead-acquire-relaxed", "ld.relaxed.gpu r0, f; ld.acquire.gpu _, f; ld.weak r1, x || st.weak x, 1; st.release.gpu f, 1"},
	{"dead-acquire-weak", "ld.relaxed.gpu r0, f; ld.acquire.gpu _, f; ld.weak r1, x || st.weak x, 1; st.release.gpu f, 1"},
	{"dead-acquire-scope", "ld.relaxed.gpu r0, f; ld.acquire.gpu _, f; ld.weak r1, x || st.weak x, 1; st.release.gpu f, 1"},
	{"dead-atomic", "atom.relaxed.gpu.exch _, f, 1 || ld.relaxed.gpu r0, f"},
	{"dead-atomic-relaxed", "st.weak x, 1; atom.release.gpu.add _, f, 1 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"dead-exchange", "st.weak x, 1; atom.release.gpu.exch _, f, 1 || ld.acquire.gpu r0, f; ld.weak r1, x"},
	{"dead-atomic-scope", "st.weak x, 1; atom.release.gpu.add _, f, 1 || ld.acquire.gpu r0, f; ld.weak r1, x"},

	{"legal-load", "ld.weak r0, x; ld.weak r1, x || st.weak x, 1"},
	{"legal-load-across-release", "ld.weak r0, x; st.release.gpu f, 1; ld.weak r1, x || ld.acquire.gpu r0, f; st.weak x, 1"},
	{"legal-store", "st.weak x, 1; st.weak x, 2 || ld.weak r0, x"},
	{"legal-store-across-acquire", "st.weak x, 1; ld.acquire.gpu r0, f; st.weak x, 2 || ld.weak r1, x; st.release.gpu f, 1"},
	{"legal-forward", "st.weak x, 1; ld.weak r0, x || st.weak x, 2"},
	{"legal-sink-store-acquire", "st.weak x, 1; ld.acquire.gpu r0, f || ld.weak r1, x; st.release.gpu f, 1"},
	{"legal-hoist-load-release", "st.release.gpu f, 1; ld.weak r0, x || ld.acquire.gpu r0, f; st.weak x, 1"},
}

// killShape makes a test of a shape: all registers and locations are observed.
func killShape(t *testing.T, pass, threads string) *litmus.Test {
	t.Helper()
	if x, ok := corpus.Lookup(threads); ok {
		return x.ObserveAll()
	}
	var columns [][]string
	rows := 0
	for _, th := range strings.Split(threads, "||") {
		var c []string
		for _, s := range strings.Split(th, ";") {
			c = append(c, strings.TrimSpace(s))
		}
		columns = append(columns, c)
		rows = max(rows, len(c))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "PTX kill-%s\n{\n}\n", pass)
	for row := -1; row < rows; row++ {
		for k, c := range columns {
			cta := k
			if strings.Contains(threads, "bar.sync") {
				cta = 0
			}
			switch {
			case row < 0:
				fmt.Fprintf(&b, " P%d@cta %d,gpu 0", k, cta)
			case row < len(c):
				b.WriteString(" " + c[row])
			}
			b.WriteString(map[bool]string{true: " ;\n", false: " |"}[k == len(columns)-1])
		}
	}
	loc := "x"
	if !strings.Contains(threads, " x") {
		loc = "f"
	}
	b.WriteString("exists (" + loc + " == 9)\n")
	x, err := litmus.Parse("kill", []byte(b.String()))
	require.NoError(t, err, b.String())
	x = x.ObserveAll()
	if x.Loops() {
		x.Name, x.Results = x.Name+"-loop", litmus.ResultsFinal
	}
	return x
}

// killShapesScore: each pass is exposed by the test that was written for it, so
// that one which a generator does not expose is the generator's fault. The pass
// runs over the first thread. Tests share kernels: one of which a kernel is
// changed for another test waits for the next round.
func killShapesScore(t *testing.T) {
	var tests []*litmus.Test
	own := map[string]string{}
	for _, x := range killShapes {
		test := killShape(t, x.pass, x.threads)
		tests, own[test.Name] = append(tests, test), x.pass
	}
	r := newKillRun(t, tests, "sm_80", spec.AllLayouts, "12.4")
	every := make([]int, len(r.tests))
	for i := range every {
		every[i] = i
	}
	base := r.base("12.4", every)
	var kills []*kill
	for left := every; len(left) > 0; {
		var round map[string]*kill
		round, left = r.round(own, left)
		for at, c := range r.audit(r.fakes["12.4"], every) {
			if k := round[at.test]; k != nil {
				k.count(at, c, base[at], "12.4")
			}
		}
		kills = slices.AppendSeq(kills, maps.Values(round))
	}
	slices.SortFunc(kills, func(a, b *kill) int { return cmp.Compare(a.pass.Name, b.pass.Name) })
	r.report(kills)
	for _, k := range kills {
		if !k.pass.Legal {
			require.Positive(t, k.exposed, "%v", k)
		}
	}
}

// round configures the fake such that it optimises the first thread of as many
// tests as do not get in each other's way, each by its own pass.
func (r *killRun) round(own map[string]string, tests []int) (taken map[string]*kill, later []int) {
	optimise, used := map[string][]string{}, map[string]bool{}
	taken = map[string]*kill{}
	for _, i := range tests {
		pass, all := own[r.tests[i].Name], slices.Concat(r.kernels[i]...)
		require.Contains(r.t, r.of[pass], i, "%s does nothing in its own test", pass)
		if slices.ContainsFunc(all, func(k string) bool { return optimise[k] != nil }) ||
			slices.ContainsFunc(r.kernels[i][0], func(k string) bool { return used[k] }) {
			later = append(later, i)
			continue
		}
		taken[r.tests[i].Name] = newKill(pass)
		for _, k := range all {
			used[k] = true
		}
		for _, k := range r.kernels[i][0] {
			optimise[k] = []string{pass}
		}
	}
	release := sortedKeys(r.tcs)[0]
	require.NoError(r.t, (&fakeptxas.Config{Real: r.tcs[release].Ptxas, Optimise: optimise}).Write(r.dirs[release]))
	return taken, later
}
