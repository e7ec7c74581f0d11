package html

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/browsertest"
	"optcheck/litmus"
)

var sampleOffer = &Offer{What: "litmus", Name: "Litmus test", Label: "Test", Go: "Compile", Tests: []string{"mp", "coRR"}, Levels: []string{"O0", "O3"}, Layouts: []string{"pointers"},
	Compilers: []Compiler{{"ptx a", "ptxas 11.8.89", "PTX for nvidia"}, {"ptx b", "ptxas 12.4.131", "PTX for nvidia"},
		{"opencl c", "clang 22.1.8", "OpenCL C for amd"}},
	Targets: []TargetChoice{{"nvidia", []string{"sm_80", "sm_90"}}, {"amd", []string{"gfx90a"}}}}

// triedSample is the trial of a test that is miscompiled, and preserved elsewhere.
func triedSample(t *testing.T) *Editor {
	s := event.NewSet()
	test := event.Test{Name: "mp", Hash: "1", Dialect: "GPU_PTX", Text: "GPU_PTX mp"}
	require.NoError(t, s.Handle(event.Event{Test: &test}))
	bad := sampleResult(1, 0, 0, 1, 0)
	require.Equal(t, event.Miscompiled, bad.Class)
	good := event.Result{Class: event.Preserved, Code: "good", Verdict: &event.Verdict{Model: "ptx", Source: 3, Machine: 3, Lifted: "x"}}
	texts := map[int][]event.Artefact{}
	for i, r := range []event.Result{bad, good, good} {
		require.NoError(t, s.Handle(event.Event{Listing: &event.Listing{Code: r.Code, Threads: []event.ThreadListing{{Thread: 1,
			Source:  []event.Line{{Pos: 0, Text: "#0 st.global.release.gpu.u32 [x], 1"}, {Pos: 1, Text: "#1 ld [y]"}},
			Machine: []event.Line{{Pos: 1, Text: "LDG.E.STRONG.GPU R0, desc[UR4][R2.64+0x100000]"}, {Pos: 0, Text: "STG R1"}}}}}}))
		require.NoError(t, s.Handle(event.Event{Cell: &event.Cell{Test: "mp", Hash: "1", Toolchain: "ptxas 12.4.131",
			Target: []string{"sm_35", "sm_80", "sm_90"}[i], Level: "O3", Layout: "pointers", Result: r}}))
		texts[i] = []event.Artefact{{Thread: 0, Kind: event.ArtefactPTX, Text: strings.Repeat("ld.global ", 60) + "</pre><script>"},
			{Thread: 0, Kind: event.ArtefactMachine, Text: "EXIT"}}
	}
	return &Editor{Offer: sampleOffer, Trial: Trial{Text: "GPU_PTX mp\n" + strings.Repeat("long ", 80), Compilers: []string{"ptx b"},
		Targets: []string{"sm_90"}, Level: "O3", Layout: "pointers"}, Outcome: Outcome{Tried: []Tried{{s, texts}}, Notes: []string{"clang is left out."}},
		Link: "try.html?test=x"}
}

// editorFiles are the states of the page to try tests, as files of a report.
func editorFiles(t *testing.T, dir string) (names []string) {
	refused := &Editor{Offer: sampleOffer, Trial: Trial{Text: "GPU_PTX x\n{ x=0 }\n\tst.fo</textarea><script> x | ld;"},
		Err: litmus.ErrorList{{Pos: litmus.Pos{Line: 3, Col: 2}, Msg: "unknown modifier .fo"}, {Msg: "nothing else"}}}
	h := FindingHooks{Pictures: func(context.Context, *event.Test, *event.Result) ([]Picture, error) {
		return []Picture{{"An execution", []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 40"><text y="20">a</text></svg>`)}}, nil
	}}
	for name, e := range map[string]*Editor{"try.html": {Offer: sampleOffer, Trial: Trial{Text: "GPU_PTX mp"}}, "try-refused.html": refused,
		"try-done.html": triedSample(t), "try-none.html": {Offer: &Offer{What: "litmus", Label: "Test", Go: "Compile", Missing: "No compiler was found."}}} {
		body, err := EditorBody(t.Context(), e, h)
		require.NoError(t, err)
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		p := Page{Title: "Try a test", Nav: []Link{{"Try a test", TryFile}}, Here: TryFile, Body: body}
		require.NoError(t, p.Write(f))
		require.NoError(t, f.Close())
		names = append(names, name)
	}
	return names
}

// TestEditorPage: the page shows all there is of a trial, and where a test is refused; what
// comes from a reader stays text.
func TestEditorPage(t *testing.T) {
	dir := t.TempDir()
	writeSet(t, dir, sample(2))
	names := editorFiles(t, dir)
	b := browsertest.New(t)
	b.Open(browsertest.FileURL(filepath.Join(dir, "try-done.html")))
	require.Equal(t, 3, b.Count("details.try-cell"))
	require.Equal(t, 1, b.Count("details.try-cell[open]"))
	require.Equal(t, 3, b.Count(".fp-arrows"), "arrows in every cell, preserved ones too")
	require.Equal(t, 2, b.Count(".fp-picture"), "the third would be the same as the second")
	require.Equal(t, []string{"PTX of thread T0", "Whole machine code of thread T0"},
		browsertest.Eval[[]string](b, `Array.from(document.querySelectorAll("#cell-1 > .fp-fold > summary"), (e) => e.textContent)`))
	require.Equal(t, []string{"ptx b"}, browsertest.Eval[[]string](b, `Array.from(document.querySelectorAll("[name=on]:checked"), (e) => e.value)`))
	b.Open(browsertest.FileURL(filepath.Join(dir, "try-refused.html")))
	require.Contains(t, browsertest.Eval[string](b, `document.querySelector("textarea").value`), "st.fo</textarea><script> x")
	require.Contains(t, b.Text("#try-error"), "Line 3, column 2: unknown modifier .fo")
	require.Contains(t, b.Text("#try-error"), "nothing else")
	for _, name := range names {
		b.Open(browsertest.FileURL(filepath.Join(dir, name)))
		require.Zero(t, b.Count("main script, img, iframe"), name)
	}
	quiet(t, b)
}
