package realcode

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/ptx"
	"optcheck/refine"
	"optcheck/toolchain"
)

// TestCells: which cells an audit has of a module.
func TestCells(t *testing.T) {
	a, b := &toolchain.Toolchain{ID: "a"}, &toolchain.Toolchain{ID: "b"}
	m := func(target string) *ptx.Module { return &ptx.Module{File: "k.ptx", Target: target} }
	own, whole := m("sm_70"), m("sm_70")
	of := map[*ptx.Module]Own{own: {Toolchains: []*toolchain.Toolchain{b}, Targets: []string{"sm_75"}},
		whole: {Toolchains: []*toolchain.Toolchain{b}}}
	for _, x := range []struct {
		name            string
		m               *ptx.Module
		targets, levels []string
		want            string
	}{
		{"all", m("sm_70"), nil, nil, "a: sm_70 sm_80 sm_90 O0 O1 O2 O3, b: sm_70 sm_80 sm_90 O0 O1 O2 O3"},
		{"those that it allows", m("sm_80"), nil, []string{"O3"}, "a: sm_80 sm_90 O3, b: sm_80 sm_90 O3"},
		{"between two", m("sm_75"), nil, []string{"O3"}, "a: sm_80 sm_90 O3, b: sm_80 sm_90 O3"},
		{"of one architecture", m("sm_90a"), nil, []string{"O3"}, "a: sm_90 O3, b: sm_90 O3"},
		{"newer than all", m("sm_120"), nil, []string{"O3"}, "a: sm_120 O3, b: sm_120 O3"},
		{"named ones", m("sm_80"), []string{"sm_70"}, []string{"O1"}, "a: sm_70 O1, b: sm_70 O1"},
		{"a front end's", own, []string{"sm_80"}, []string{"O1"}, "b: sm_75 O1"},
		{"a front end's, for all", whole, []string{"sm_80"}, []string{"O1"}, "b: sm_80 O1"},
	} {
		o := Options{Toolchains: []*toolchain.Toolchain{a, b}, Of: of, Targets: x.targets, Levels: x.levels, Execute: 3,
			Inputs: make([]*refine.Input, 1)}
		var got []string
		by := map[string][]string{}
		cells := o.cells(x.m)
		for _, c := range cells {
			require.Equal(t, c.tc.ID, c.Toolchain)
			require.Equal(t, []any{"k.ptx", 3, 1}, []any{c.File, c.execute, len(c.inputs)}, x.name)
			if !slices.Contains(got, c.Toolchain) {
				got = append(got, c.Toolchain)
			}
			for _, w := range []string{c.Target, c.Level} {
				if !slices.Contains(by[c.Toolchain], w) {
					by[c.Toolchain] = append(by[c.Toolchain], w)
				}
			}
		}
		for i, id := range got {
			slices.Sort(by[id])
			level := slices.IndexFunc(by[id], func(w string) bool { return w[0] == 's' })
			require.Equal(t, len(cells), len(got)*level*(len(by[id])-level), x.name)
			got[i] = id + ": " + strings.Join(append(slices.Clone(by[id][level:]), by[id][:level]...), " ")
		}
		require.Equal(t, strings.Split(x.want, ", "), got, x.name)
	}
}

// TestKnownCells: a cell that is known needs no work, and nothing else is left out.
func TestKnownCells(t *testing.T) {
	failed := errors.New("no front end")
	modules := []*ptx.Module{{File: "a.ptx"}, {File: "b.ptx"}}
	o := Options{Toolchains: []*toolchain.Toolchain{{ID: "x"}}, Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"},
		Of: map[*ptx.Module]Own{}}
	for _, m := range modules {
		o.Of[m] = Own{Toolchains: o.Toolchains, Failed: failed}
	}
	audited := func() (got []string) {
		require.NoError(t, AuditAll(t.Context(), o, modules, func(i int, c *Cell) error {
			require.Equal(t, modules[i].File, c.File)
			require.Equal(t, []string{Unknown, failed.Error()}, []string{c.Class, c.Reason})
			got = append(got, c.File+" "+c.Level)
			return nil
		}))
		return got
	}
	require.Equal(t, []string{"a.ptx O0", "a.ptx O3", "b.ptx O0", "b.ptx O3"}, audited())
	o.Have = func(m *ptx.Module, c *Cell) bool { return m == modules[0] && c.Level == "O3" }
	require.Equal(t, []string{"a.ptx O0", "b.ptx O0", "b.ptx O3"}, audited())
	enough := errors.New("enough")
	require.ErrorIs(t, AuditAll(t.Context(), o, modules, func(int, *Cell) error { return enough }), enough)
}

// TestTargetFor: for which target a module is compiled, or why it cannot be.
func TestTargetFor(t *testing.T) {
	tc := &toolchain.Toolchain{ID: "x", Targets: []string{"sm_70", "sm_80", "sm_90", "sm_90a", "sm_100f"}}
	for _, x := range [][3]string{
		{"sm_70", "sm_80", "sm_80"}, {"sm_80", "sm_80", "sm_80"}, {"sm_90a", "sm_90", "sm_90a"}, {"sm_90a", "sm_90a", "sm_90a"},
		{"sm_100f", "sm_100", "sm_100f"},
		{"sm_90a", "sm_80", "unsupported: the module is for sm_90a alone"}, {"sm_80", "sm_70", "unsupported: the module is for sm_80 and newer"},
		{"sm_70", "sm_75", "unsupported: x does not know sm_75"}, {"", "sm_80", "unsupported: the module is for  and newer"},
	} {
		got, err := targetFor(tc, &ptx.Module{Target: x[0]}, x[1])
		if err != nil {
			require.ErrorIs(t, err, ErrUnsupported)
			got = err.Error()
		}
		require.Equal(t, x[2], got, x)
	}
}

// TestRefusal: what a compiler says of a line is said of the module's own.
func TestRefusal(t *testing.T) {
	m, err := ptx.Parse("k.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 r;\n\nL:\n  mov.u32 r, 1;\n  add.u32 r, r, 1;\n  ret;\n}\n"))
	require.NoError(t, err)
	lined := m.Lined(lineFile, "")
	of := func(text string) int {
		return 1 + slices.IndexFunc(strings.Split(lined, "\n"), func(l string) bool { return strings.Contains(l, text) })
	}
	say := func(list ...toolchain.Diagnostic) error {
		return &toolchain.Error{Kind: toolchain.ErrCompile, Diagnostics: list}
	}
	plain := errors.New("plain")
	for _, x := range []struct {
		err  error
		want string
	}{
		{plain, "plain"}, {say(), say().Error()},
		{say(toolchain.Diagnostic{Line: of("mov.u32"), Message: "no"}), "unsupported: k.ptx:9:3: no"},
		{say(toolchain.Diagnostic{Line: of("add.u32"), Message: "no"}, toolchain.Diagnostic{Line: of("mov.u32"), Message: "also"}),
			"unsupported: k.ptx:10:3: no"},
		{say(toolchain.Diagnostic{Line: 1, Message: "no"}), "unsupported: no"},
	} {
		got := refusal(m, lined, x.err)
		require.EqualError(t, got, x.want)
		require.Equal(t, strings.HasPrefix(x.want, "unsupported"), errors.Is(got, errRefused))
	}
	require.True(t, unresolved(fmt.Errorf("x: %w", &toolchain.Error{Stderr: "ptxas fatal: Unresolved extern function 'f'"})))
	require.False(t, unresolved(&toolchain.Error{Stderr: "syntax error"}))
	require.False(t, unresolved(errors.New("Unresolved extern")))
	require.False(t, unresolved(nil))
}

// TestCompilesSomewhere: a toolchain that does not know a module's PTX, or fails, may compile it all the same; one without a target for it does not.
func TestCompilesSomewhere(t *testing.T) {
	m, err := ptx.Parse("k.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n"))
	require.NoError(t, err)
	for _, x := range []struct {
		tc   toolchain.Toolchain
		want bool
	}{
		{toolchain.Toolchain{MaxPTX: "6.0"}, true}, {toolchain.Toolchain{MaxPTX: "7.0"}, false},
		{toolchain.Toolchain{MaxPTX: "7.0", Targets: []string{"sm_60"}}, false},
		{toolchain.Toolchain{MaxPTX: "7.0", Targets: []string{"sm_70"}}, true}, // which has no program to ask
	} {
		require.Equal(t, x.want, compiles(t.Context(), &x.tc, m, "O3"), "%+v", x.tc)
	}
}

// TestLongExcerpts: an excerpt has no more lines than its bound, and says how many are left out.
func TestLongExcerpts(t *testing.T) {
	const more = 5
	m, err := ptx.Parse("k.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 d;\nld.param.u64 d, [p];\n"+
		strings.Repeat("st.global.u32 [d], 1;\n", maxLines+more)+"ret;\n}\n"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(NewProgram(m, Origin{}).Tests[0].Text), "\n")
	require.Len(t, lines, maxLines+1)
	require.Equal(t, "… 7", lines[maxLines])
}

// TestCut: a text is cut where it is too long, not within a letter.
func TestCut(t *testing.T) {
	for _, x := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"", 0, ""}, {"aäb", 2, "a…"}} {
		require.Equal(t, x.want, cut(x.s, x.n))
	}
}

// TestOrigins: a kernel that was made of another file names the lines of that, as far as it is at hand.
func TestOrigins(t *testing.T) {
	const text = `.version 7.0
.target sm_70
.address_size 64
.file 1 "dir/own.cu"
.file 2 "other.h"
.visible .entry k(.param .u64 p)
{
	.reg .b64 d;
	ld.param.u64 d, [p];
	.loc 1 2 5
	st.global.u32 [d], 1;
	.loc 1 9 1
	st.global.u32 [d+4], 1;
	.loc 2 1 1
	st.global.u32 [d+8], 1;
	.loc 2 1 7
	st.global.u32 [d+12], 1;
	ret;
}
`
	m, err := ptx.Parse("k.ptx", []byte(text))
	require.NoError(t, err)
	own := Origin{File: "src/own.cu", Text: "first\n  second  \nthird"}
	p := NewProgram(m, own, "sm_70", "sm_80")
	require.Len(t, p.Tests, 1)
	x := p.Tests[0]
	require.Equal(t, []any{"k.ptx:k", "k.ptx", "src/own.cu", []int{2, 9, 0, 0}, []string{"sm_70", "sm_80"}},
		[]any{x.Name, x.File, x.Origin, x.OriginLines, x.Targets})
	require.Equal(t, [][]int{{11, 13, 15, 17}}, x.Lines)
	var made []string
	for line := range strings.Lines(x.Text) {
		if strings.HasPrefix(line, "// ") {
			made = append(made, strings.TrimSpace(line))
		}
	}
	require.Equal(t, []string{"// own.cu:2: second", "// own.cu:9:", "// other.h:1:"}, made)
	last := NewProgram(m, Origin{File: "own.cu", Text: strings.Repeat("x\n", 8) + "ninth"}).Tests[0]
	require.Contains(t, last.Text, "// own.cu:9: ninth\n")
	alone := NewProgram(m, Origin{}).Tests[0]
	require.Empty(t, alone.Origin)
	require.Nil(t, alone.OriginLines)
	require.Contains(t, alone.Text, "// own.cu:2: \n")
	require.NotEqual(t, x.Hash, NewFailed(m, own).Tests[0].Hash)
}

// TestProgramEvents: what the events of a cell say of a program: of each kernel, of a crash, and of what was compiled as older PTX.
func TestProgramEvents(t *testing.T) {
	m, err := ptx.Parse("k.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 d;\nld.param.u64 d, [p];\nst.volatile.global.u32 [d], 1;\nret;\n}\n"))
	require.NoError(t, err)
	p := NewProgram(m, Origin{})
	events := func(c Cell) (cells []*event.Cell, listings, problems int) {
		c.File, c.Toolchain, c.Target, c.Level = "k.ptx", "x", "sm_70", "O3"
		require.NoError(t, p.Events(&c, func(e event.Event) error {
			if e.Cell != nil {
				cells = append(cells, e.Cell)
			}
			listings += map[bool]int{true: 1}[e.Listing != nil]
			problems += map[bool]int{true: 1}[e.Problem != nil]
			return nil
		}))
		return cells, listings, problems
	}
	found := Result{Findings: []Finding{{Rule: Missing, Kernel: "k"}}}
	unknown := Result{Unknown: []Finding{{Rule: Missing, Kernel: "k", Detail: "why"}}}
	at := func(r Result, as string) Cell {
		c := Cell{Result: gather([]Kernel{{Name: "k", Result: r}}), CompiledAs: as}
		c.Class, c.Reason = c.Result.Class()
		return c
	}
	all := Result{Count: event.Matched{Strong: 1, StrongFound: 1}}
	const as = "compiled as PTX 6.0, its newest"
	for _, x := range []struct {
		name          string
		c             Cell
		class, reason string
		listings      int
	}{
		{"preserved", at(all, ""), Preserved, "", 1}, {"preserved, as older PTX", at(all, "6.0"), Preserved, as, 1},
		{"with limits", at(Result{}, "6.0"), Preserved, "nothing in it synchronises or is strong; " + as, 1},
		{"changed", at(found, "6.0"), Changed, as, 1}, {"unknown", at(unknown, "6.0"), Unknown, " missing: k: why", 1},
		{"without a result", Cell{Class: Unsupported, Reason: "no"}, Unsupported, "no", 0},
	} {
		cells, listings, problems := events(x.c)
		require.Len(t, cells, 1, x.name)
		require.Equal(t, []any{x.class, x.reason, x.listings, 0}, []any{cells[0].Class, cells[0].Reason, listings, problems}, x.name)
		require.Equal(t, x.c.Class == Changed, cells[0].Class == Changed && len(cells[0].Findings) == 1)
	}
	p.ops["k"] = make([]Place, maxShown+1)
	_, listings, _ := events(at(all, ""))
	require.Zero(t, listings, "there is no room for it")
	require.NoError(t, p.Events(&Cell{Class: Preserved, Result: gather([]Kernel{{Name: "k", Result: all}})}, func(e event.Event) error {
		require.NotNil(t, e.Cell)
		return nil
	}))
	crash := &event.Finding{Rule: event.RuleCrash, Detail: "ptxas: signal 11", Access: -1}
	cells, _, _ := events(Cell{Class: Crashed, Crash: crash})
	require.Equal(t, []event.Finding{*crash}, cells[0].Findings)
	require.Equal(t, crash.Full(), (&Cell{Crash: crash, Reason: "r"}).why())
	require.Equal(t, "r", (&Cell{Reason: "r"}).why())
	stopped := errors.New("stop")
	c := at(found, "")
	require.ErrorIs(t, p.Events(&c, func(e event.Event) error { return stopped }), stopped)
	require.False(t, p.Known(&c, func(*event.Cell) bool { return false }))
	require.True(t, p.Known(&c, func(*event.Cell) bool { return true }))
	none := &Program{m: m}
	require.False(t, none.Known(&c, func(*event.Cell) bool { return true }), "a module without kernels")
	for class, kind := range map[string]string{Invalid: event.ProblemInput, Crashed: event.ProblemCrash, Unknown: event.ProblemInfrastructure,
		Unsupported: "", Preserved: ""} {
		var got []*event.Problem
		require.NoError(t, none.Events(&Cell{File: "k.ptx", Class: class, Reason: "r"},
			func(e event.Event) error { got = append(got, e.Problem); return nil }))
		if kind == "" {
			require.Empty(t, got)
			continue
		}
		require.Len(t, got, 1)
		require.Equal(t, []string{kind, "k.ptx: r"}, []string{got[0].Kind, got[0].Detail})
	}
}

// TestLargeListings: of a kernel with many operations those near its findings are shown, and none if it has no findings.
func TestLargeListings(t *testing.T) {
	kernel := func(n int) (*Program, *Kernel) {
		p := &Program{ops: map[string][]Place{}, Tests: make([]event.Test, 1)}
		for i := range n {
			p.ops["k"] = append(p.ops["k"], Place{Func: "k", Text: fmt.Sprint("op ", i), Pos: ptx.Pos{Line: i + 1}})
		}
		return p, &Kernel{Name: "k"}
	}
	for _, x := range []struct {
		n       int
		found   []int // operations with findings; nil: none
		visible int   // -1: there is no listing
	}{
		{maxShown, nil, maxShown}, {maxShown + 1, nil, -1}, {maxShown, []int{5}, maxShown}, {maxShown + 1, []int{1000}, 2*beyondShown + 1},
		{maxShown + 1, []int{1000, 2000}, 2 * (2*beyondShown + 1)}, {maxShown + 1, []int{0}, beyondShown + 1},
	} {
		p, k := kernel(x.n)
		r := &event.Result{Class: Preserved, Code: "code"}
		for _, at := range x.found {
			r.Class = Changed
			r.Findings = append(r.Findings, event.Finding{Access: at})
		}
		l := p.listing(k, r)
		if x.visible < 0 {
			require.Nil(t, l)
			continue
		}
		require.Len(t, l.Threads[0].Source, x.visible, "%+v", x)
		require.Equal(t, r.ListingKey(), l.Code)
	}
	many := make([]event.Finding, maxShown)
	require.LessOrEqual(t, len(accesses(many))*(2*beyondShown+1), maxShown)
	require.Equal(t, []int{3, 1}, accesses([]event.Finding{{Access: 3}, {Access: 1}}))
}
