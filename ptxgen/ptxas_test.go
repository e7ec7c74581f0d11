package ptxgen

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/litmus"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// instructionTests returns a test for every access and fence that PTX has, in both
// state spaces, with types of 32 and 64 bits and without.
func instructionTests(t *testing.T) (tests []*litmus.Test) {
	add := func(in litmus.Instr, space litmus.Space) {
		in.Addr, in.Pos = litmus.Addr{Loc: "x"}, litmus.Pos{Line: 1}
		if !in.Op.IsAccess() {
			in.Addr = litmus.Addr{}
		}
		if in.Illegal() != "" {
			return
		}
		typ := in.Type
		if typ == litmus.TypeNone {
			typ = litmus.B32
		}
		if in.Op == litmus.OpLd || in.Op == litmus.OpAtom {
			in.Dst = "r0"
		}
		if in.Op.IsAccess() && in.Op != litmus.OpLd {
			in.Src = []litmus.Operand{litmus.Const(1)}
		}
		if in.Atom == litmus.AtomCAS {
			in.Src = append(in.Src, litmus.Const(2))
		}
		x := &litmus.Test{Name: in.Mnemonic() + space.String(), Locations: []litmus.Location{{Name: "x", Space: space}},
			Threads: []litmus.Thread{{Name: "T0", Placed: true, Regs: []litmus.RegDecl{{Name: "r0", Type: typ}}, Body: []litmus.Instr{in,
				{Op: litmus.OpSt, Addr: litmus.Addr{Loc: "x"}, Src: []litmus.Operand{litmus.Const(1)}, Type: typ}}}}}
		require.NoError(t, x.Check())
		tests = append(tests, x)
	}
	types := []litmus.Type{litmus.TypeNone, litmus.B32, litmus.U32, litmus.S32, litmus.B64, litmus.U64, litmus.S64}
	for _, space := range []litmus.Space{litmus.Global, litmus.Shared} {
		for sem := litmus.SemNone; sem <= litmus.SemSC; sem++ {
			for scope := litmus.ScopeNone; scope <= litmus.ScopeSys; scope++ {
				for _, typ := range types {
					for cache := litmus.CacheNone; cache <= litmus.CacheWT; cache++ {
						add(litmus.Instr{Op: litmus.OpLd, Sem: sem, Scope: scope, Cache: cache, Type: typ}, space)
						add(litmus.Instr{Op: litmus.OpSt, Sem: sem, Scope: scope, Cache: cache, Type: typ}, space)
					}
					for atom := litmus.AtomAdd; atom <= litmus.AtomMax; atom++ {
						add(litmus.Instr{Op: litmus.OpAtom, Sem: sem, Scope: scope, Atom: atom, Type: typ}, space)
						add(litmus.Instr{Op: litmus.OpRed, Sem: sem, Scope: scope, Atom: atom, Type: typ}, space)
					}
				}
				add(litmus.Instr{Op: litmus.OpFence, Sem: sem, Scope: scope}, space)
			}
		}
		for scope := litmus.ScopeCTA; scope <= litmus.ScopeSys; scope++ {
			add(litmus.Instr{Op: litmus.OpMembar, Scope: scope}, space)
		}
	}
	return tests
}

// TestEmittedAgainstPtxas: a kernel of every access and fence is refused here, with
// the reason, or every release of ptxas takes it in the lowest version and on every
// target that it is said to need. Without OPTCHECK_FULL=1, a fifth of the targets and
// an eighth of the instructions.
func TestEmittedAgainstPtxas(t *testing.T) {
	found, _ := tested.CUDA(t.Context(), toolchain.Options{})
	if len(found) == 0 {
		required.Missing(t, "no toolchain found; make toolchains installs some")
	}
	full := os.Getenv("OPTCHECK_FULL") == "1"
	tests := instructionTests(t)
	require.Greater(t, len(tests), 3000)
	for n, tc := range found {
		newest, err := ParseVersion(tc.MaxPTX)
		require.NoError(t, err)
		for i, target := range tc.Targets {
			if !full && i%5 != n {
				continue
			}
			units := map[Version][]toolchain.Unit{}
			refused, newer := 0, 0
			for j, x := range tests {
				if !full && (j+n+i)%8 != 0 {
					continue
				}
				u, err := Emit(x, Options{Target: target})
				if err != nil {
					var why *spec.Unsupported
					require.ErrorAs(t, err, &why)
					require.True(t, strings.Contains(why.Reason, "needs sm_") || strings.Contains(why.Reason, "mmio"), "%s %s: %v", x.Name, target, err)
					refused++
				} else if u.Version > newest {
					newer++
				} else {
					units[u.Version] = append(units[u.Version], toolchain.Unit{Name: x.Name, Text: u.Text})
				}
			}
			taken := 0
			for v, list := range units {
				res, err := tc.Compile(t.Context(), toolchain.Job{Target: target, Level: "O0", Header: Header(v, target), Units: list, BatchUnits: 500})
				require.NoError(t, err)
				for k, err := range res.Failed {
					t.Errorf("%s %s PTX %v: %s: %v", tc.ID, target, v, list[k].Name, err)
				}
				taken += len(list) - len(res.Failed)
			}
			t.Logf("%s %s: %d kernels taken, %d not emitted, %d of a newer PTX", tc.ID, target, taken, refused, newer)
		}
	}
}

// TestFencesAsWritten: a fence is emitted as the test has it; without an order it is
// .acq_rel to the specification.
func TestFencesAsWritten(t *testing.T) {
	for code, kind := range map[string]string{"fence.gpu": "fence.acq_rel.gpu", "fence.sc.cta": "fence.sc.cta", "membar.gl": "membar.gl", "membar.sys": "membar.sys"} {
		x, err := litmus.Parse("f", []byte("GPU_PTX t\n{ x=0; 0:.reg .b64 r = x; }\nT0 ;\nst.s32 [r],1 ;\n"+code+" ;\nst.s32 [r],2 ;\n(cta T0)\nexists (x=1)"))
		require.NoError(t, err)
		u, err := Emit(x, Options{Target: "sm_80"})
		require.NoError(t, err)
		require.Contains(t, u.Text, "\t"+code+";\n")
		require.Equal(t, kind, u.Kernels[0].Spec.Entries[1].Kind.String())
		if strings.HasPrefix(code, "fence") {
			ir, err := EmitLLVMIR(x, Options{Target: "sm_80"})
			require.NoError(t, err)
			require.Contains(t, ir.Text, map[string]string{"fence.gpu": `fence syncscope("device") acq_rel`, "fence.sc.cta": `fence syncscope("block") seq_cst`}[code])
		}
		cl, err := litmus.ToOpenCL(x)
		require.NoError(t, err)
		require.Contains(t, cl.String(), "memory_order_"+map[bool]string{true: "acq_rel", false: "seq_cst"}[code == "fence.gpu"])
	}
}

// TestNotEmitted: what has no PTX, or none for the location, is refused and never
// rewritten.
func TestNotEmitted(t *testing.T) {
	for _, c := range []struct{ dialect, code, why string }{
		{"PTX", "bar.cta.sync 0, 1", "a barrier with a resource"},
		{"PTX", "bar.sync 0, r0", "a barrier whose number of threads is not constant"},
		{"PTX", "tld.weak r0, x", "of memory models only"},
		{"PTX", "fence.proxy.surface", "fence.proxy.surface has no meaning"},
		{"PTX", "ld.mmio.relaxed.sys r0, s", "leave out"},
	} {
		x, err := litmus.Parse("f", []byte("PTX t\n{ x=0; s=0; }\nP0@cta 0,gpu 0 ;\nld.weak r0, x ;\n"+c.code+" ;\n\ns: shared\nexists (x=1)"))
		require.NoError(t, err, c.code)
		_, err = Emit(x, Options{Target: "sm_90"})
		var u *spec.Unsupported
		require.ErrorAs(t, err, &u, c.code)
		require.Contains(t, u.Reason, c.why)
	}
}
