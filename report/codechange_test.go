package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/event"
)

func TestMeaning(t *testing.T) {
	for _, c := range []struct {
		left, right []string
		want        string
	}{
		{[]string{"MEMBAR.CTA", "MEMBAR.SC.GPU", "ERRBAR"}, []string{"MEMBAR.ALL.CTA", "MEMBAR.SC.GPU"}, "equal"},
		{[]string{"MEMBAR.CTA", "CCTL.IVALL"}, []string{"MEMBAR.GL"}, "another strength"},
		{[]string{"MEMBAR.SC.CTA"}, []string{"MEMBAR.SC.GPU"}, "stronger by the scope of the fence"},
		{[]string{"MEMBAR.SC.GPU"}, []string{"MEMBAR.ALL.GPU"}, "weaker by the kind of the fence"},
		{[]string{"MEMBAR.ALL.GPU"}, []string{"MEMBAR.SC.CTA"}, "another strength"},
		{[]string{"LDG.E.STRONG.GPU"}, []string{"LDG.E"}, "weaker by the strength of the access and the scope of the access"},
		{[]string{"LDG.E.STRONG.GPU"}, []string{"LDG.E.STRONG.SYS", "CCTL.IVALL"}, "stronger by the scope of the access and the invalidation of the L1"},
		{[]string{"LDG.E"}, nil, "another: nothing is left"},
		{nil, []string{"LDG.E"}, "another: instructions where there were none"},
		{[]string{"UTMALDG"}, []string{"LDG.E"}, "another sequence"},
		{[]string{"BAR.SYNC"}, []string{"BAR.SYNC.DEFER_BLOCKING"}, "equal"},
		{[]string{"MEMBAR.ALL.SYS"}, []string{"MEMBAR.ALL.SYS", "MEMBAR.SC.CTA"}, "equal"}, // the widest fence counts
		{[]string{"MEMBAR.ALL.GPU"}, []string{"MEMBAR.ALL.GPU", "MEMBAR.SC.GPU"}, "stronger by the kind of the fence"},
		{[]string{"MEMBAR.SC.GPU"}, []string{"MEMBAR.SC.GPU", "MEMBAR.ALL.GPU"}, "equal"},
		{[]string{"MEMBAR.SC.GPU"}, []string{"MEMBAR.SC.GPU.IVALLD"}, "stronger by the invalidation of the L1"},
		{[]string{"CCTL.IVALLP"}, []string{"CCTL.RML2"}, "weaker by the invalidation of the L1"},
		{[]string{"STS"}, []string{"STS", "UTMALDG"}, "another sequence"},
	} {
		assert.Contains(t, meaningOf("ld", c.left, c.right), c.want)
	}
}

// TestMnemonic: an instruction is its name without registers; AMD's has the words that say how it goes through the caches, and
// what it waits for, whatever names its registers have.
func TestMnemonic(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "@P0": "@P0",
		"@!P0 @P1 LDG.E.STRONG.GPU R7, [R4.64]":          "LDG.E.STRONG.GPU",
		"global_load_dword v1, v[2:3], off glc slc":      "global_load_dword glc slc",
		"global_load_b32 v1, v[2:3], off offset:4":       "global_load_b32",
		"global_store_b32 v0, v1, s[2:3] scope:SCOPE_SE": "global_store_b32 scope:SCOPE_SE",
		"global_load_b32 v0, v1 th:TH_LOAD_NT":           "global_load_b32 th:TH_LOAD_NT",
		"buffer_wbl2 sc0 sc1":                            "buffer_wbl2 sc0 sc1",
		"s_waitcnt vmcnt(0) lgkmcnt(0)":                  "s_waitcnt vmcnt(0) lgkmcnt(0)",
		"LDG.E R7, [R4] nt":                              "LDG.E",
	} {
		assert.Equal(t, want, mnemonic(text), text)
	}
}

// TestCodeChanges: what differs in registers alone is no change, one change of many cells
// is one, and what moved is said.
func TestCodeChanges(t *testing.T) {
	source := []event.Line{{Pos: 0, Text: "#0 st.cg [x]"}, {Pos: 1, Text: "#1 membar.gl"}, {Pos: 2, Text: "#2 ld.cg [y]"}}
	listing := func(code string, machine ...event.Line) *event.Listing {
		return &event.Listing{Code: code, Threads: []event.ThreadListing{{Source: source, Machine: machine}}}
	}
	st, ld := event.Line{Pos: 0, Text: "STG.E.STRONG.GPU [R2.64], R5"}, event.Line{Pos: 2, Text: "@P0 LDG.E.STRONG.GPU R7, [R4.64]"}
	a := listing("a", st, event.Line{Pos: -1, Text: "MEMBAR.CTA"}, event.Line{Pos: 1, Text: "MEMBAR.SC.GPU"}, event.Line{Pos: -1, Text: "CCTL.IVALL"}, ld)
	same := listing("b", event.Line{Pos: 0, Text: "STG.E.STRONG.GPU [R8.64], R0"}, event.Line{Pos: -1, Text: "MEMBAR.CTA"}, event.Line{Pos: 1, Text: "MEMBAR.SC.GPU"},
		event.Line{Pos: -1, Text: "CCTL.IVALL"}, ld)
	newer := listing("c", st, event.Line{Pos: -1, Text: "MEMBAR.ALL.CTA"}, event.Line{Pos: 1, Text: "MEMBAR.SC.GPU"}, event.Line{Pos: -1, Text: "CCTL.IVALL"}, ld)
	moved := listing("d", ld, st, event.Line{Pos: 1, Text: "MEMBAR.SC.GPU"})
	x := NewCodeChanges()
	cell := func(test, target string) *event.Cell {
		return &event.Cell{Test: test, Target: target, Level: "O3", Layout: "pointers"}
	}
	x.Add(cell("mp", "sm_80"), a, same)
	x.Add(cell("mp", "sm_80"), a, nil)
	x.Add(cell("mp", "sm_90"), a, newer)
	x.Add(cell("sb", "sm_90"), same, newer)
	x.Add(cell("sb", "sm_70"), newer, moved)
	assert.Equal(t, 1, x.Same)
	assert.Equal(t, 1, x.Silent)
	list := x.List()
	require.Len(t, list, 3)
	assert.Equal(t, "membar.gl", list[0].Source)
	assert.Equal(t, []string{"MEMBAR.SC.GPU"}, list[0].Right)
	assert.Contains(t, list[0].Meaning, "weaker by the invalidation of the L1")
	assert.Equal(t, Order, list[1].Source)
	assert.Equal(t, []string{"#2 ld.cg [y]", "#0 st.cg [x]", "#1 membar.gl"}, list[1].Right)
	assert.Equal(t, []string{"MEMBAR.CTA", "MEMBAR.SC.GPU", "CCTL.IVALL"}, list[2].Left)
	assert.Equal(t, []string{"MEMBAR.ALL.CTA", "MEMBAR.SC.GPU", "CCTL.IVALL"}, list[2].Right)
	assert.Equal(t, 2, list[2].Cells)
	assert.Equal(t, []string{"mp", "sb"}, list[2].Tests)
	var out bytes.Buffer
	require.NoError(t, WriteComparison(&out, &Comparison{Instructions: x}, false))
	assert.Contains(t, out.String(), "#1 membar.gl | MEMBAR.CTA                    | MEMBAR.ALL.CTA\n")
}
