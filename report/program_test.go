package report

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestTell: a finding is told where its author finds it: in CUDA C++ with what stands there if PTX was made of it, else in the
// file that was read, else nowhere.
func TestTell(t *testing.T) {
	const excerpt = "// k.cu:3: x = *p;\n10: ld.global.u32 %r1, [%rd1];\n// dir/other.h:7: y = 1;\n12: st.global.u32 [%rd1], %r1;\n"
	ptx := event.Test{Name: "k.ptx:f", Dialect: event.Program, File: "k.ptx", Lines: [][]int{{10, 12}}, Columns: [][]int{{2, 5}}}
	cu := ptx
	cu.File, cu.Origin, cu.Text = "k.cu@nvcc-12.4.131.ptx", "src/k.cu", excerpt
	lone := ptx
	lone.File = ""
	f := func(access int) *event.Finding {
		return &event.Finding{Rule: "missing", Thread: 0, Access: access, Detail: fmt.Sprintf("%d:%d gone", []int{10, 12, 0}[access], []int{2, 5, 0}[access])}
	}
	for _, x := range []struct {
		name        string
		t           event.Test
		f           *event.Finding
		place, line string
		text        string
	}{
		{"PTX", ptx, f(0), "k.ptx:10:2", "", "gone"},
		{"CUDA C++", cu, f(0), "src/k.cu:3", "x = *p;", "gone"},
		{"a header", cu, f(1), "dir/other.h:7", "y = 1;", "gone"},
		{"no file", lone, f(0), "", "", "gone"},
		{"another access", ptx, f(2), "", "", "gone"},
	} {
		got := x.t.Tell(x.f)
		assert.Equal(t, x.place, got.Place, x.name)
		assert.Equal(t, x.line, got.Line, x.name)
		assert.Equal(t, x.text, got.Text, x.name)
	}
	var b strings.Builder
	w := bufio.NewWriter(&b)
	long := cu
	long.Text = strings.Replace(excerpt, "x = *p;", strings.Repeat("x", maxSourceLine+1), 1)
	list := []event.Finding{*f(0)}
	for range MaxTold + 2 {
		list = append(list, *f(1))
	}
	writeFindings(w, &long, list, "")
	require.NoError(t, w.Flush())
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	require.Equal(t, []string{"  src/k.cu:3: missing: gone", "    | " + strings.Repeat("x", maxSourceLine) + "…", "  dir/other.h:7: missing: gone", "    | y = 1;"}, lines[:4])
	require.Equal(t, fmt.Sprintf("  and 3 more of %d", MaxTold+3), lines[len(lines)-1])
	require.Equal(t, strings.Repeat("x", maxSourceLine), begin(strings.Repeat("x", maxSourceLine), maxSourceLine))
}

// TestAddressOfProgram: what names a finding in a program: its line if PTX has it, the rule if there is no line, nothing if no command could find it.
func TestAddressOfProgram(t *testing.T) {
	const made = "k.cu@nvcc-12.4.131.ptx"
	for _, x := range []struct {
		name            string
		file, origin    string
		lines, ofOrigin []int
		rule, want      string
		access          int
		toolchain       string
	}{
		{"PTX", "k.ptx", "", []int{7}, nil, "missing", "k.ptx@12.4.131/sm_80/O3:7", 0, "ptxas 12.4.131"},
		{"PTX without a line", "k.ptx", "", nil, nil, "missing", "", 0, "ptxas 12.4.131"},
		{"another access", "k.ptx", "", []int{7}, nil, "missing", "", 1, "ptxas 12.4.131"},
		{"no PTX", "k.txt", "", []int{7}, nil, "missing", "", 0, "ptxas 12.4.131"},
		{"CUDA C++", made, "k.cu", []int{7}, []int{3}, "missing", "k.cu@nvcc-12.4.131+12.4.131/sm_80/O3:3", 0, "nvcc 12.4.131 + ptxas 12.4.131"},
		{"CUDA C++ without a line", made, "k.cu", []int{7}, nil, "missing", "k.cu@nvcc-12.4.131+12.4.131/sm_80/O3:missing", 0, "nvcc 12.4.131 + ptxas 12.4.131"},
		{"CUDA C++ of nobody", made, "", []int{7}, nil, "missing", "", 0, "nvcc 12.4.131 + ptxas 12.4.131"},
		{"one compiler", made, "", []int{7}, nil, "missing", "k.cu@nvcc-12.4.131.ptx@12.4.131/sm_80/O3:7", 0, "ptxas 12.4.131"},
		{"crash", "k.ptx", "", nil, nil, event.RuleCrash, "k.ptx@12.4.131/sm_80/O3:crash", 0, "ptxas 12.4.131"},
		{"hang", "k.ptx", "", nil, nil, event.RuleHang, "k.ptx@12.4.131/sm_80/O3:hang", 0, "ptxas 12.4.131"},
		{"crash of a front end", made, "k.cu", nil, []int{3}, event.RuleCrash, "", 0, "nvcc 12.4.131 + ptxas 12.4.131"},
	} {
		test := &event.Test{Name: "k:f", Dialect: event.Program, File: x.file, Origin: x.origin, OriginLines: x.ofOrigin}
		if x.lines != nil {
			test.Lines = [][]int{x.lines}
		}
		c := &event.Cell{Toolchain: x.toolchain, Target: "sm_80", Level: "O3", Layout: event.OwnLayout}
		c.Findings = []event.Finding{{Rule: x.rule, Access: x.access}}
		assert.Equal(t, x.want, Address(test, c), x.name)
	}
}

// TestNext: a reader goes on from a miscompilation with a report, from what is else found with a reduction, from what is undecided with the
// audit again; from a known finding and from a name that no line can show, not at all.
func TestNext(t *testing.T) {
	test := &event.Test{Name: "mp", Dialect: "PTX", Preset: "mp"}
	for _, x := range []struct{ class, known, name, want string }{
		{event.Miscompiled, "", "mp", "optcheck bug "}, {event.Changed, "", "mp", "optcheck reduce "}, {event.Optimised, "", "mp", "optcheck reduce "},
		{event.Unknown, "", "mp", "optcheck audit "}, {event.Miscompiled, "k", "mp", ""}, {event.Miscompiled, "", "m\x00p", ""}, {event.Miscompiled, "", "m\x1bp", ""},
	} {
		test.Name = x.name
		c := &event.Cell{Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: "pointers"}
		c.Class, c.Findings = x.class, []event.Finding{{Rule: "missing"}}
		if x.known != "" {
			c.Known = []string{x.known}
		}
		got := Next(&event.Config{}, test, c)
		require.True(t, strings.HasPrefix(got, x.want) && (got == "") == (x.want == ""), "%+v: %s", x, got)
	}
}
