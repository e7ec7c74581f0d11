package optcheck

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestStress: a kernel for devices whose stress lacks an access, or does not count what it does, is not validated.
func TestStress(t *testing.T) {
	tried := map[isa.Role]int{}
	for _, s := range seekers(t) {
		if s.harness == nil || s.harness.Sequences == 0 {
			continue
		}
		fn := s.cell.Kernels[0].Func
		honest := NewChecker().CheckHarness(fn, s.harness)
		if !honest.Validated() {
			continue
		}
		require.Equal(t, s.harness.Sequences*spec.MaxSequence, honest.StressLoads)
		require.NoError(t, honest.LiftErr)
		require.Len(t, honest.Lifted, len(s.harness.Specs))
		for i, r := range honest.Threads {
			require.Equal(t, i, r.Thread)
		}
		tr, err := NewChecker().specialise(fn, s.harness, mustLoops(t, fn, s.harness), stressRole)
		require.NoError(t, err)
		for i := range tr.events {
			x := &tr.events[i]
			addr := tr.fn.Insts[x.inst].Addr
			at := slices.IndexFunc(fn.Insts, func(in isa.Inst) bool { return in.Addr == addr })
			stress := x.addr.base == baseParam && x.addr.num == s.harness.Scratch && x.loop
			counts := x.addr.base == baseParam && x.addr.num == s.harness.Counters && x.addr.off == 16 && fn.Insts[at].Role == isa.RoleReduction
			if !x.own || !stress && !counts || tried[fn.Insts[at].Role] == 5 {
				continue
			}
			tried[fn.Insts[at].Role]++
			bare := *fn
			bare.Insts = slices.Clone(fn.Insts)
			require.True(t, leftOut(bare.Insts, at))
			r := NewChecker().CheckHarness(&bare, s.harness)
			require.False(t, r.Validated(), fn.Insts[at].Text)
			if counts {
				require.Equal(t, "the counter of the stress is not in the machine code", r.Reason)
			} else {
				require.Contains(t, r.Reason, "the stress has ")
			}
		}
	}
	for _, role := range []isa.Role{isa.RoleLoad, isa.RoleStore, isa.RoleReduction} {
		require.Positive(t, tried[role], "%v", role)
	}
}

func mustLoops(t *testing.T, fn *isa.Func, h *spec.Harness) *loops {
	t.Helper()
	l, err := NewChecker().loopsOf(fn, h)
	require.NoError(t, err)
	return l
}

// TestAdjacentLocation: in the layout of neighbours an access is of a location only in the variable of its space.
func TestAdjacentLocation(t *testing.T) {
	x, err := litmus.Parse("adjacent", []byte("GPU_PTX adjacent\n{ x=0; y=0; 0:.reg .b32 r0; }\n T0 ;\n ld.u32 r0,[x] ;\n st.u32 [y],1 ;\nScopeTree(grid(cta(warp T0)))\n"+
		"x: global, y: global\nexists (x=1)\n"))
	require.NoError(t, err)
	s, err := spec.FromTest(x, 0, spec.Adjacent)
	require.NoError(t, err)
	p := &pass{s: s, tr: &trace{arch: nvidia{}}}
	for _, c := range []struct {
		base   base
		name   string
		shared bool
		ok     bool
	}{
		{baseSym, "t_LG", false, true}, {baseSym, "t_LS", true, true}, {baseSym, "t_LG", true, false}, {baseSym, "t_LS", false, false},
		{baseSym, "other", true, false}, {baseSym, "other", false, false}, {baseNone, "", true, true}, {baseNone, "", false, false},
		{baseBank, "", false, true}, {baseBank, "", true, false}, {baseParam, "", false, false}, {baseUnknown, "", true, false},
	} {
		ev := &event{mem: isa.Mem{Space: isa.SpaceGlobal}}
		k := key{base: c.base, name: c.name}
		if c.shared {
			ev.mem.Space = isa.SpaceShared
		}
		if c.base == baseNone {
			k.off = p.tr.arch.shared()
		}
		_, ok := p.adjacentLocation(ev, k)
		require.Equal(t, c.ok, ok, "%+v", c)
	}
	for name, want := range map[string]int{"t_L0": 0, "t_L12": 12, "_L3": 3, "t": -1, "t_Lx": 0, "": -1} {
		n, ok := symbolLocation(name)
		require.Equal(t, want, n, name)
		require.Equal(t, want >= 0 && name != "t_Lx", ok, name)
	}
}
