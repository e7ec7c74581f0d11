package report

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTell: a finding is told where its author finds it: in CUDA C++ with what stands there if PTX was made of it, else in the
// file that was read, else nowhere.
func TestTell(t *testing.T) {
	const excerpt = "// k.cu:3: x = *p;\n10: ld.global.u32 %r1, [%rd1];\n// dir/other.h:7: y = 1;\n12: st.global.u32 [%rd1], %r1;\n"
	ptx := Test{Name: "k.ptx:f", Dialect: Program, File: "k.ptx", Lines: [][]int{{10, 12}}, Columns: [][]int{{2, 5}}}
	cu := ptx
	cu.File, cu.Origin, cu.Text = "k.cu@nvcc-12.4.131.ptx", "src/k.cu", excerpt
	lone := ptx
	lone.File = ""
	f := func(access int) *Finding {
		return &Finding{Rule: "missing", Thread: 0, Access: access, Detail: fmt.Sprintf("%d:%d gone", []int{10, 12, 0}[access], []int{2, 5, 0}[access])}
	}
	for _, x := range []struct {
		name        string
		t           Test
		f           *Finding
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
	list := []Finding{*f(0)}
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

// TestFileTitle: a program's file is its author's, with the front end that made PTX of it if one did.
func TestFileTitle(t *testing.T) {
	for want, x := range map[string]Test{
		"k.ptx":                       {File: "k.ptx"},
		"k@v.ptx":                     {File: "k@v.ptx"},
		"k.cu (PTX by nvcc-12.4.131)": {File: "k.cu@nvcc-12.4.131.ptx", Origin: "k.cu"},
		"made.ptx":                    {File: "made.ptx", Origin: "k.cu"},
	} {
		require.Equal(t, want, x.FileTitle())
	}
	for want, x := range map[string]Test{"mp": {Name: "mp"}, "f in k.cu": {Name: "k.cu:f", Dialect: Program, File: "k.ptx", Origin: "k.cu"},
		"f(int) in k.ptx": {Name: "k.ptx:_Z1fi", Dialect: Program, File: "k.ptx"}} {
		require.Equal(t, want, x.Title())
	}
}

// TestFailOn: which cells fail a run, by what was asked for.
func TestFailOn(t *testing.T) {
	classes := []string{Preserved, Unsupported, Optimised, Changed, Miscompiled, Crashed, Unknown}
	for f, want := range map[FailOn]string{FailNew: "miscompiled crashed", FailMiscompiled: "miscompiled crashed unknown", FailChanged: "changed miscompiled crashed unknown",
		FailOptimised: "optimised changed miscompiled crashed unknown", FailUnknown: "unknown", FailNever: ""} {
		var names []string
		for _, class := range classes {
			if f.Names(class) {
				names = append(names, class)
			}
			c := &Cell{Result: Result{Class: class}}
			assert.Equal(t, f.Names(class) && class != Unknown, f.Counts(c), "%s %s", f, class)
			c.Known = []string{"k"}
			assert.Equal(t, f.Names(class) && class != Unknown && f != FailNew, f.Counts(c), "known, %s %s", f, class)
		}
		assert.Equal(t, want, strings.Join(names, " "), f)
	}
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
		{"crash", "k.ptx", "", nil, nil, RuleCrash, "k.ptx@12.4.131/sm_80/O3:crash", 0, "ptxas 12.4.131"},
		{"hang", "k.ptx", "", nil, nil, RuleHang, "k.ptx@12.4.131/sm_80/O3:hang", 0, "ptxas 12.4.131"},
		{"crash of a front end", made, "k.cu", nil, []int{3}, RuleCrash, "", 0, "nvcc 12.4.131 + ptxas 12.4.131"},
	} {
		test := &Test{Name: "k:f", Dialect: Program, File: x.file, Origin: x.origin, OriginLines: x.ofOrigin}
		if x.lines != nil {
			test.Lines = [][]int{x.lines}
		}
		c := &Cell{Toolchain: x.toolchain, Target: "sm_80", Level: "O3", Layout: OwnLayout}
		c.Findings = []Finding{{Rule: x.rule, Access: x.access}}
		assert.Equal(t, x.want, Address(test, c), x.name)
	}
}

// TestNext: a reader goes on from a miscompilation with a report, from what is else found with a reduction, from what is undecided with the
// audit again; from a known finding and from a name that no line can show, not at all.
func TestNext(t *testing.T) {
	test := &Test{Name: "mp", Dialect: "PTX", Preset: "mp"}
	for _, x := range []struct{ class, known, name, want string }{
		{Miscompiled, "", "mp", "optcheck bug "}, {Changed, "", "mp", "optcheck reduce "}, {Optimised, "", "mp", "optcheck reduce "},
		{Unknown, "", "mp", "optcheck audit "}, {Miscompiled, "k", "mp", ""}, {Miscompiled, "", "m\x00p", ""}, {Miscompiled, "", "m\x1bp", ""},
	} {
		test.Name = x.name
		c := &Cell{Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: "pointers"}
		c.Class, c.Findings = x.class, []Finding{{Rule: "missing"}}
		if x.known != "" {
			c.Known = []string{x.known}
		}
		got := Next(&Config{}, test, c)
		require.True(t, strings.HasPrefix(got, x.want) && (got == "") == (x.want == ""), "%+v: %s", x, got)
	}
}
