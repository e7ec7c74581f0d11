package html

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/event"
	"optcheck/report"
)

// element is what a page holds: its tags and attributes in order, and its text.
type element struct {
	name  string
	attrs map[string]string
}

// parsePage takes a page apart and fails if its tags do not match.
func parsePage(t require.TestingT, s string) (list []element, text string) {
	d := xml.NewDecoder(strings.NewReader("<body>" + s + "</body>"))
	d.Entity = xml.HTMLEntity
	var b strings.Builder
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list, b.String()
		}
		require.NoError(t, err)
		switch x := tok.(type) {
		case xml.StartElement:
			e := element{x.Name.Local, map[string]string{}}
			for _, a := range x.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			list = append(list, e)
		case xml.CharData:
			b.Write(x)
		}
	}
}

// harmless fails if a page holds anything that runs, loads or leads elsewhere.
func harmless(t require.TestingT, list []element) {
	allowed := strings.Fields("body div span p h1 h2 h3 header section figure figcaption details summary ol ul li a b strong em code pre table caption thead tbody tr th td dl dt dd " +
		"svg g path line rect circle text tspan defs marker title br form label input select option button nav")
	for _, e := range list {
		require.Contains(t, allowed, e.name)
		for k, v := range e.attrs {
			require.Falsef(t, strings.HasPrefix(strings.ToLower(k), "on"), "<%s %s>", e.name, k)
			require.NotEqual(t, "style", k)
			if k == "href" || k == "src" || k == "action" {
				low := strings.ToLower(v)
				require.Falsef(t, strings.Contains(low, "javascript:") || strings.Contains(low, "data:"), "%s=%q", k, v)
			}
		}
	}
}

func classed(list []element, class string) (out []element) {
	for _, e := range list {
		if slices.Contains(strings.Fields(e.attrs["class"]), class) {
			out = append(out, e)
		}
	}
	return out
}

// swapped returns a set with one test, whose store and load are swapped at O3, and
// kept at O0.
func swapped(t require.TestingT, name string) *event.Set {
	s := event.NewSet()
	add := func(e event.Event) { require.NoError(t, s.Handle(e)) }
	add(event.Event{Config: &event.Config{Schema: event.Schema, Toolchains: []event.Toolchain{{ID: "ptxas 12.4.131"}},
		Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}, Layouts: []string{"offsets"}}})
	add(event.Event{Test: &event.Test{Name: name, Hash: "h", Dialect: "GPU_PTX", Text: "GPU_PTX " + name, Preset: "corpus"}})
	add(event.Event{Listing: &event.Listing{Code: "c1", Threads: []event.ThreadListing{
		{Thread: 0, Source: []event.Line{{Pos: 0, Text: "#0 st [x]"}, {Pos: 1, Text: "#1 ld [y]"}},
			Machine: []event.Line{{Pos: 1, Text: "LDG R0"}, {Pos: 0, Text: "STG R1"}}},
		{Thread: 1, Source: []event.Line{{Pos: 0, Text: "#0 ld [x]"}}, Machine: []event.Line{{Pos: 0, Text: "LDG R2"}}}}}})
	place := event.Cell{Test: name, Hash: "h", Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O0", Layout: "offsets",
		Result: event.Result{Class: event.Preserved, Code: "c0"}}
	add(event.Event{Cell: &place})
	bad := place
	bad.Level, bad.Result = "O3", event.Result{Class: event.Miscompiled, Code: "c1",
		Findings: []event.Finding{{Rule: "reordered", Thread: 0, Access: 1, Detail: "#1 ld [y] is performed before #0 st [x]"}},
		Verdict: &event.Verdict{Model: "ptx", Source: 3, Machine: 4, New: []string{"0:r1=0; x=2;"}, Lost: []string{"0:r1=1; x=2;"},
			Check: "causality", Cycle: "a -po-> b -fr-> a", Lifted: "GPU_PTX lifted",
			Others: []event.OtherVerdict{{Model: "ptx-2015", Class: event.Optimised}}}, Known: []string{"k1"}}
	add(event.Event{Cell: &bad})
	return s
}

func TestFindingBody(t *testing.T) {
	gs := report.NewGroups(swapped(t, "mp"))
	require.Len(t, gs.List, 1)
	body, err := FindingBody(context.Background(), gs, gs.List[0], FindingHooks{
		Known: func(id string) (KnownNote, bool) {
			return KnownNote{ID: id, Note: "a note", Reason: "a reason", Link: "https://example.org/"}, true
		},
		Pictures: func(_ context.Context, x *event.Test, r *event.Result) ([]Picture, error) {
			require.Equal(t, "mp", x.Name)
			return []Picture{{"Drawn of " + r.Verdict.Model, []byte(`<svg class="drawn"></svg>`)}}, nil
		}})
	require.NoError(t, err)
	list, text := parsePage(t, string(body))
	harmless(t, list)
	for _, want := range []string{"mp", "miscompiled", "#1 ld [y] is performed before #0 st [x]", "accesses are not in the order as written",
		"causality", "a -po-> b -fr-> a",
		"GPU_PTX mp", "GPU_PTX lifted", "a note", "a reason", "Drawn of ptx", "ptx-2015", "gained", "lost", "STG R1",
		"optcheck audit mp --toolchains 12.4.131 --targets sm_80 --levels O3 --layouts offsets",
		"optcheck bug mp@12.4.131/sm_80/O3/offsets:reordered --output bundle", "is line 1 of the machine code, crosses line 1"} {
		require.Contains(t, text, want)
	}
	require.Len(t, classed(list, "drawn"), 1)
	require.Len(t, classed(list, "fp-here"), 1)
	require.Len(t, classed(list, "fp-m"), 2)
	require.Len(t, classed(list, "fp-l-moved"), 2, "the access in the source and in the machine code")
	require.Len(t, classed(list, "fp-arrows"), 2)
}

// TestHostilePage: names and texts of a file that somebody else wrote do no
// harm to the page.
func TestHostilePage(t *testing.T) {
	for _, name := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "../../etc/passwd",
		strings.Repeat("A", 10<<10), "a\x00b\x1b[31m", "javascript:alert(1)", "\u202eevil", "'; rm -rf /; '", "{{.Test}}", "</svg><script>"} {
		s := swapped(t, name)
		for i := range s.Results {
			r := &s.Results[i]
			r.Known = []string{name}
			for k := range r.Findings {
				r.Findings[k].Detail, r.Findings[k].Rule, r.Findings[k].Stage = name, name, name
			}
			if r.Verdict != nil {
				r.Verdict.New, r.Verdict.Check, r.Verdict.Cycle, r.Verdict.Lifted = []string{name + "=" + name + "; x=1;"}, name, name, name
			}
		}
		for _, l := range s.Listings {
			for k := range l.Threads {
				l.Threads[k].Source[0].Text, l.Threads[k].Machine[0].Text = name, name
			}
		}
		gs := report.NewGroups(s)
		for _, g := range gs.List {
			require.Regexp(t, `^[0-9a-f]{20}$`, g.ID)
			body, err := FindingBody(context.Background(), gs, g, FindingHooks{Known: func(id string) (KnownNote, bool) {
				return KnownNote{id,
					name, name, name}, true
			}})
			require.NoError(t, err)
			list, _ := parsePage(t, string(body))
			harmless(t, list)
			require.Less(t, len(body), 400<<10)
			require.NotContains(t, string(body), "\x00")
		}
	}
}

func TestThreadView(t *testing.T) {
	src := []event.Line{{Pos: 0, Text: "st x"}, {Pos: 1, Text: "fence"}, {Pos: 2, Text: "ld y"},
		{Pos: 3, Text: "ld y"}, {Pos: 4, Text: "st z"}}
	v := newThreadView(event.ThreadListing{Source: src, Machine: []event.Line{{Pos: 0, Text: "STG"}, {Pos: 1, Text: "MEMBAR"},
		{Pos: 1, Text: "ERRBAR", Part: true}, {Pos: 2, Text: "LDG"}, {Pos: -1, Text: "STG q"}}},
		[]event.Finding{{Rule: "merged", Access: 3, Detail: "#2 ld y and #3 ld y are one instruction: LDG"},
			{Rule: "fence-weakened", Access: 1}, {Rule: "missing", Access: 4}, {Rule: "missing", Thread: 7, Access: 0}}, nil, "", 0)
	var got []string
	for _, l := range append(slices.Clone(v.Source), v.Machine...) {
		got = append(got, strings.TrimSpace(l.Text+"|"+l.Mark+"|"+strings.Join(l.Tags, " ")))
	}
	require.Equal(t, []string{"st x||", "fence|broken|fence-weakened", "ld y||", "ld y|merged|merged", "st z|lost|missing",
		"STG||", "MEMBAR|broken|fence-weakened", "ERRBAR|part|", "LDG||merged", "STG q|added|not in the test"}, got)
	list, _ := parsePage(t, string(v.Arrows))
	require.Len(t, classed(list, "fp-merged"), 2) // a line and its head
	require.Len(t, classed(list, "fp-kept"), 6)
	require.Len(t, classed(list, "fp-part"), 1)
	require.Len(t, classed(list, "fp-lost"), 1)
}

// TestShellLine: whatever words hold, a shell passes on exactly them.
func TestShellLine(t *testing.T) {
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune("a'\"\\$`!*?[]{}()<>|&;#~ \n\t=%@:,-é\x01"))), 1, 4).Draw(t, "words")
		out, err := exec.Command(sh, "-c", report.ShellLine(append([]string{"printf", `%s\001\002`}, words...)...)).Output()
		require.NoError(t, err)
		require.Equal(t, strings.Join(words, "\x01\x02")+"\x01\x02", string(out))
	})
}

func TestCommands(t *testing.T) {
	c := event.Cell{Toolchain: "clang 19.1.7", Target: "gfx900", Level: "O2", Layout: "pointers",
		Result: event.Result{Findings: []event.Finding{{Rule: "merged"}}}}
	got := report.Commands(&event.Config{Source: "llvm-ir", Flags: []string{"-mattr=+a,-b", "-O1"}}, &event.Test{Name: "x y", Preset: "corpus"}, &c)
	require.Equal(t,
		`optcheck audit 'x y' --toolchains 19.1.7 --targets gfx900 --levels O2 --layouts pointers --vendor amd --source llvm-ir --ptxas-flags '"-mattr=+a,-b",-O1'`, got[0].Line)
	// Flags of a foreign stream are not put into anybody's mouth.
	for source, flags := range map[string][]string{"": {"-O1", "-fplugin=evil.so"}, "llvm-ir": {"-load=evil.so"}} {
		evil := report.Commands(&event.Config{Source: source, Flags: flags}, &event.Test{Name: "x y", Preset: "corpus"}, &c)
		require.NotContains(t, evil[0].Line, "flags")
		require.Contains(t, evil[0].What, "which are not repeated here")
	}
	require.Len(t, got, 2)
	require.Contains(t, got[1].Line, "optcheck reduce 'x y@19.1.7/gfx900/O2/pointers:merged'")
	require.Empty(t, report.Commands(&event.Config{}, &event.Test{Name: "a\x00"}, &c))
	pair := event.Cell{Test: "x", Toolchain: "llc 22.1.8 + ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: "pointers",
		Result: event.Result{Findings: []event.Finding{{Rule: "fence-removed"}}}}
	two := report.Commands(&event.Config{Source: "llvm-ir"}, &event.Test{Name: "x", Preset: "corpus"}, &pair)
	require.Len(t, two, 2) // bundles are for ptxas alone
	require.Equal(t,
		"optcheck audit x --toolchains 22.1.8+12.4.131 --targets sm_80 --levels O3 --layouts pointers --source llvm-ir", two[0].Line)
	require.Equal(t, "optcheck reduce x@22.1.8+12.4.131/sm_80/O3/pointers:fence-removed --source llvm-ir", two[1].Line)
	require.True(t, strings.HasPrefix(report.Commands(&event.Config{}, &event.Test{File: "-x.litmus"}, &c)[0].Line, "optcheck audit ./-x.litmus "))
}
