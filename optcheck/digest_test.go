package optcheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestDigestDecides: a kernel by itself is its test only if its digest decides that: not where a condition compares with a constant on
// whose sides no sample is.
func TestDigestDecides(t *testing.T) {
	for k, decided := range map[uint32]bool{0: true, 1: true, 7: true, 1 << 31: true, 1<<32 - 1: true, 8: false, 1000: false, 1 << 30: false} {
		x, err := litmus.Parse("conditional", fmt.Appendf(nil, `GPU_PTX conditional
{ 0:.reg .pred p; 0:.reg .s32 r0; 0:.reg .s32 r1; }
 T0                      ;
 ld.volatile.s32 r0, [y] ;
 setp.eq.s32 p, r0, %d   ;
 @p ld.volatile.s32 r1, [x] ;
ScopeTree(grid(cta(warp T0)))
x: global, y: global
exists (0:r0=1 /\ 0:r1=0)
`, int32(k)))
		require.NoError(t, err)
		s, err := spec.FromTest(x, 0, spec.Pointers)
		require.NoError(t, err)
		s.SetCode(&x.Threads[0], []spec.Value{{Offset: 24, Bytes: 4, Instr: -1, Reg: "r1"}})
		s.AddDigest()
		lits, err := s.Literals()
		require.NoError(t, err)
		body := addresses + "\nMOV R12, c[0x0][0x178]\nMOV R5, R12\nLDG.E.STRONG.SYS R4, [R2.64]\n" +
			fmt.Sprintf("ISETP.EQ.AND P0, PT, R4, 0x%x, PT\n@P0 LDG.E.STRONG.SYS R5, [R0.64]", k) + "\nMOV R8, c[0x0][0x170]\nMOV R9, c[0x0][0x174]"
		for i := range lits {
			from := "R12"
			if i < 2 {
				from = []string{"R4", "R5"}[i]
			}
			body += fmt.Sprintf("\nLOP3.LUT R13, %s, LIT%d, RZ, 0x3c, !PT\nSTG.E [R8.64+0x%x], R13", from, i, ResultStride*i)
		}
		fn := sassCode(t, s, body)
		r, err := NewChecker().CheckAgainst(fn, s)
		require.NoError(t, err)
		require.Equal(t, Preserved, r.Class, "%d: %v %s", k, r.Findings, r.Reason)
		r, err = NewChecker().Check(fn)
		require.NoError(t, err)
		require.Equal(t, decided, r.Class == Preserved, "%d: %v %s", k, r.Findings, r.Reason)
		if !decided {
			require.Contains(t, r.Reason, fmt.Sprintf("a condition compares with 0x%x", k))
		}
	}
}

// TestApart: in a kernel for devices no access of the harness stands between those of the test.
func TestApart(t *testing.T) {
	tried := map[string]int{}
	for _, s := range seekers(t) {
		if s.harness == nil {
			continue
		}
		fn := s.cell.Kernels[0].Func
		if !NewChecker().CheckHarness(fn, s.harness).Validated() {
			continue
		}
		l := mustLoops(t, fn, s.harness)
		for role := range s.harness.Specs {
			tr, err := NewChecker().specialise(fn, s.harness, l, role)
			require.NoError(t, err)
			tr.markers = slices.DeleteFunc(tr.markers, func(m marker) bool { return m.m.Thread != role })
			tr.recover(s.harness.Specs[role])
			for _, own := range tr.events {
				if !own.own {
					continue
				}
				for _, at := range []int{0, 1, 2} { // before, between, behind two accesses of the test
					r := &Checked{Result: &Result{Func: fn.Name, Thread: role, Spec: s.harness.Specs[role]}}
					r.pass, err = newPass(tr, r.Spec, r.Result, NewChecker())
					require.NoError(t, err)
					r.pass.matchAll()
					matched := slices.DeleteFunc(slices.Clone(r.pass.match), func(ev int) bool { return ev < 0 })
					if len(matched) < 2 || slices.Max(matched)-slices.Min(matched) != 1 {
						continue
					}
					lo := slices.Min(matched)
					moved := *tr
					moved.events = slices.Insert(slices.Clone(tr.events), lo+at, own)
					r.pass.tr, r.pass.owner = &moved, slices.Insert(r.pass.owner, lo+at, nil)
					for k, ev := range r.pass.match {
						if ev >= lo+at {
							r.pass.match[k]++
						}
					}
					r.pass.checkApart()
					what := "load"
					if moved.fn.Insts[own.inst].Role == isa.RoleStore {
						what = "store"
					}
					says := fmt.Sprint(r.Class, ids(r.Findings), ids(r.Notes))
					require.Equal(t, map[bool]string{true: map[string]string{"store": "preservedinterleaved", "load": "changedextra-access"}[what],
						false: "preserved"}[at == 1], strings.ReplaceAll(says, " ", ""))
					tried[what]++
				}
			}
		}
	}
	require.Positive(t, tried["load"])
	require.Positive(t, tried["store"])
}
