package realcode

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/fakeptxas"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/toolchain"
)

// mutant is a change of one kernel on its way into the compiler, which the model
// forbids.
type mutant struct {
	kernel, what string
	edit         fakeptxas.Edit
}

// weakenings are the words that make an operation less than it was.
var weakenings = []struct{ from, to string }{
	{".gpu", ".cta"}, {".sys", ".cta"}, {"membar.gl", "membar.cta"}, {"membar.sys", "membar.cta"}, {".volatile", ""}, {"fence.sc",
		"fence.acq_rel"},
	{".acquire", ".relaxed"}, {".release", ".relaxed"}, {".acq_rel", ".relaxed"},
}

// mutants lists the changes of a module: operations dropped, made twice, weakened,
// and accesses moved to the other side of what stands next to them and synchronises.
func mutants(m *ptx.Module) (out []mutant) {
	for _, f := range m.Funcs {
		if !f.Entry {
			continue
		}
		var before *ptx.Inst // in the same block
		for i, st := range f.Body {
			if st.Inst == nil {
				before = nil
				continue
			}
			in := st.Inst
			e := in.Effect()
			op := Op{Inst: in, Effect: e}
			add := func(what string, edit fakeptxas.Edit) {
				edit.Pos = in.N - 1
				out = append(out, mutant{f.Name, fmt.Sprintf("%s %d: %s", what, in.Pos.Line, in.Text), edit})
			}
			if compared(&e) && op.strong() && e.Kind != ptx.WarpSync {
				if e.Kind == ptx.Fence || e.Kind == ptx.Barrier || e.Kind == ptx.Store || e.Kind == ptx.Reduction {
					add("drop", fakeptxas.Edit{Op: fakeptxas.Delete})
				}
				if e.Kind == ptx.Atomic || e.Kind == ptx.Reduction || e.Kind == ptx.Barrier {
					add("duplicate", fakeptxas.Edit{Op: fakeptxas.Twice})
				}
				for _, w := range weakenings {
					if strings.Contains(in.Op, w.from) && e.Space != "shared" && !same(f, i, before, w.from) {
						add("weaken", fakeptxas.Edit{Op: fakeptxas.Respell, From: w.from, To: w.to})
					}
				}
			}
			if compared(&e) && !op.strong() && before != nil {
				b := before.Effect()
				if b.Kind == ptx.Fence || b.Kind == ptx.Barrier || b.Kind == ptx.Load && b.Acquires() {
					add("move", fakeptxas.Edit{Op: fakeptxas.Move, Before: before.N - 1})
				}
			}
			before = in
		}
	}
	return out
}

// same reports whether a weaker operation orders the same, because of its neighbour:
// an acq_rel fence of less scope in front of an acq_rel atomic of the full one, and
// a relaxed store or reduction behind a fence that is a release by itself.
func same(f *ptx.Func, i int, before *ptx.Inst, from string) bool {
	e := f.Body[i].Inst.Effect()
	if e.Kind == ptx.Fence && e.Sem == "acq_rel" && i+1 < len(f.Body) && f.Body[i+1].Inst != nil {
		n := f.Body[i+1].Inst.Effect()
		return n.Kind == ptx.Atomic && n.Sem == "acq_rel" && scopes[n.Scope] >= scopes[e.Scope]
	}
	if from != ".release" || before == nil {
		return false
	}
	b := before.Effect()
	return b.Kind == ptx.Fence && b.Releases() && scopes[b.Scope] >= scopes[e.Scope]
}

// controls applies every mutant of a module, or each stride-th, and counts those
// that are caught. The module itself must be clean.
func controls(t *testing.T, tc *toolchain.Toolchain, m *ptx.Module, target, level string, stride int) (tried, caught, unknown int) {
	t.Helper()
	version := ""
	if toolchain.CompareVersions(m.Version, tc.MaxPTX) > 0 {
		version = tc.MaxPTX
	}
	text := m.Lined(lineFile, version)
	run := func(text string) ([]byte, *Result) {
		data, err := compile(t.Context(), tc, text, target, level, nil)
		if err != nil {
			return nil, nil
		}
		code, err := pipeline.Decode(t.Context(), tc, m.File, target, data)
		require.NoError(t, err)
		return data, Check(m, code.Program, number(target))
	}
	honest, res := run(text)
	if honest == nil {
		t.Logf("%s is not for %s", m.File, target)
		return
	}
	found := map[string]bool{}
	for i := range res.Findings {
		found[res.Findings[i].at()+res.Findings[i].headline()] = true
	}
	for i, x := range mutants(m) {
		if i%stride != 0 {
			continue
		}
		bad, err := fakeptxas.Apply(text, map[string][]fakeptxas.Edit{x.kernel: {x.edit}})
		if err != nil {
			continue // does not fit: several instructions in a line
		}
		data, res := run(bad)
		if data == nil || equal(honest, data) == nil {
			continue // refused, or nothing changed: no control
		}
		tried++
		news := 0
		for i := range res.Findings {
			if !found[res.Findings[i].at()+res.Findings[i].headline()] {
				news++
			}
		}
		switch {
		case news > 0:
			caught++
		case len(res.Unknown) > 0:
			unknown++
		default:
			t.Logf("%s %s %s %s: missed: %s: %s", filepath.Base(m.File), tc.ID, target, level, x.kernel, x.what)
		}
	}
	return tried, caught, unknown
}

// TestControls: what a compiler does wrong with the patterns is found. With
// OPTCHECK_REAL, a folder of real files, also with those, every OPTCHECK_STRIDE-th
// change of each.
func TestControls(t *testing.T) {
	files, stride := []string{"testdata/patterns.ptx"}, 1
	targets, levels := []string{"sm_80"}, []string{"O3"}
	if dir := os.Getenv("OPTCHECK_REAL"); dir != "" {
		var err error
		files, err = filepath.Glob(filepath.Join(dir, "*.ptx"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		stride, _ = strconv.Atoi(os.Getenv("OPTCHECK_STRIDE"))
		stride = max(stride, 1)
	}
	for _, tc := range releases(t) {
		tried, caught, unknown := 0, 0, 0
		for _, file := range files {
			for _, target := range targets {
				for _, level := range levels {
					a, b, c := controls(t, tc, module(t, file), target, level, stride)
					tried, caught, unknown = tried+a, caught+b, unknown+c
				}
			}
		}
		t.Logf("%s: %d changes, %d caught, %d unknown", tc.ID, tried, caught, unknown)
		require.Positive(t, tried)
		require.GreaterOrEqual(t, 100*(caught+unknown), 99*tried, "%s", tc.ID)
	}
}
