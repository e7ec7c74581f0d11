package realcode

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/sass/patch"
)

// sassMutants are changes of machine code that take order from a function: fences,
// invalidations, barriers and waits that do nothing, or less, strong accesses that are
// weak, atomics that are not performed. Not those that order nothing: one of two
// fences side by side, a fence before which there is nothing, an invalidation that
// another one, or the end, follows before any weak load.
func sassMutants(f *isa.Func) (out []patch.Edit) {
	var insts []*isa.Inst
	for i := range f.Insts {
		in := &f.Insts[i]
		if in.Role != isa.RoleALU && in.Role != isa.RoleConst && in.Role != isa.RoleNop && in.Role != isa.RoleWait && !in.Guard.Never {
			insts = append(insts, in)
		}
	}
	needed := func(i int) bool {
		for _, in := range insts[i+1:] {
			if in.Mem.Invalidate {
				return false
			} else if in.Role == isa.RoleLoad && in.Mem.Strength == isa.Weak && in.Mem.Space != isa.SpaceShared {
				return true
			}
		}
		return false
	}
	lone := func(i int) bool {
		for _, k := range []int{i - 2, i - 1, i + 1, i + 2} {
			if k >= 0 && k < len(insts) && insts[k].Op == "MEMBAR" {
				return false
			}
		}
		return slices.ContainsFunc(insts[:i], func(in *isa.Inst) bool { return in.Role.IsAccess() })
	}
	nth := map[string]int{}
	for i, in := range insts {
		op := strings.Join(append([]string{in.Op}, in.Mods...), ".")
		nth[op]++
		add := func(to string) { out = append(out, patch.Edit{Opcode: op, Nth: nth[op], To: to}) }
		switch {
		case in.Op == "MEMBAR" && lone(i):
			add("NOP")
			if strings.HasSuffix(op, ".GPU") {
				add(strings.TrimSuffix(op, ".GPU") + ".CTA")
			}
		case in.Op == "CCTL" && in.Mem.Invalidate && needed(i), in.Op == "BAR", in.Op == "LDGDEPBAR", in.Op == "DEPBAR",
			in.Role == isa.RoleAtomic && in.Mem.Atom != "CAST":
			add("NOP")
		case (in.Role == isa.RoleLoad || in.Role == isa.RoleStore) && in.Mem.Strength == isa.Strong:
			add(strings.Replace(op, ".STRONG."+in.Mods[len(in.Mods)-1], "", 1))
		}
	}
	return out
}

// TestPatchedCode: what is taken from the machine code itself is missed there, too.
func TestPatchedCode(t *testing.T) {
	m := module(t, "testdata/patterns.ptx")
	tc := releases(t, "12.4")[0]
	data, err := compile(t.Context(), tc, m.Lined(lineFile, ""), "sm_80", "O3", nil)
	require.NoError(t, err)
	check := func(data []byte) (*isa.Program, map[string]bool) {
		code, err := pipeline.Decode(t.Context(), tc, m.File, "sm_80", data)
		require.NoError(t, err)
		res, found := Check(m, code.Program, 80), map[string]bool{}
		for _, f := range append(res.Findings, res.Unknown...) {
			found[f.Kernel+"\n"+f.at()+f.headline()] = true
		}
		return code.Program, found
	}
	prog, honest := check(data)
	tried, caught := 0, 0
	for round, more := 0, true; more; round++ { // one change of each kernel at a time
		more = false
		bad, what := data, map[string]patch.Edit{}
		for _, f := range prog.Funcs {
			if !slices.Contains([]string{"tails", "conditions", "called", "copies", "dropped"}, f.Name) {
				continue
			}
			if edits := sassMutants(f); round < len(edits) {
				more = true
				next, changes, err := patch.Apply(t.Context(), tc.DisassembleKnown, "sm_80", bad, func(name string) bool { return name == f.Name },
					edits[round])
				if err == nil && len(changes) > 0 { // else there is no such encoding
					bad, what[f.Name] = next, edits[round]
				}
			}
		}
		if !more {
			break
		}
		_, found := check(bad)
		for kernel, e := range what {
			tried++
			if slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(x string) bool { return !honest[x] && strings.HasPrefix(x, kernel+"\n") }) {
				caught++
			} else {
				t.Logf("missed: %s %s", kernel, e)
			}
		}
	}
	t.Logf("%d changes of machine code, %d caught", tried, caught)
	require.Greater(t, tried, 15)
	require.GreaterOrEqual(t, 100*caught, 99*tried)
}
