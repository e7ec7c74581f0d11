package html

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/browsertest"
)

// programSet is a run of a kernel with a number of operations, each on the third of three lines.
// In one release the second of two is missing, with a verdict, in the other one nothing.
func programSet(t require.TestingT, name string, ops, missing int) *event.Set {
	s := event.NewSet()
	add := func(e event.Event) { require.NoError(t, s.Handle(e)) }
	add(event.Event{Config: &event.Config{Schema: event.Schema, Toolchains: []event.Toolchain{{ID: "ptxas 11.8.89"}, {ID: "ptxas 12.4.131"}},
		Targets: []string{"sm_80"}, Levels: []string{"O3"}, Layouts: []string{"own"},
		Claims: "What is claimed: this.\nWhat is not claimed: that."}})
	test := &event.Test{Name: name, Hash: "h", Dialect: event.Program, File: "k.cu@nvcc-12.4.131.ptx", Lines: [][]int{{}}}
	var text strings.Builder
	var thread event.ThreadListing
	for i := range ops {
		line := 4*i + 4
		fmt.Fprintf(&text, "… 1\n%d: add.s64 %%rd1, %%rd2, %d;\n// k.cu:%d: x[%d] = <i>;\n%d: st.global.u32 [%%rd1], %d;\n", line-1, i, i+1, i, line, i)
		test.Lines[0] = append(test.Lines[0], line)
		thread.Source = append(thread.Source, event.Line{Pos: i, At: line, Text: fmt.Sprintf("st.global.u32 [%%rd1], %d // %d", i, line)})
		thread.Machine = append(thread.Machine, event.Line{Pos: i, At: 16 * i, Text: fmt.Sprintf("STG.E [R%d], R4", i)})
	}
	test.Text = text.String()
	add(event.Event{Test: test})
	whole := &event.Listing{Code: "whole", Threads: []event.ThreadListing{thread}}
	add(event.Event{Listing: whole})
	cell := event.Cell{Test: name, Hash: "h", Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: "own",
		Result: event.Result{Class: event.Preserved, Code: "c0", Look: "whole"}}
	add(event.Event{Cell: &cell})
	bad := cell
	bad.Toolchain, bad.Result = "ptxas 11.8.89", event.Result{Class: event.Miscompiled, Code: "c1",
		Findings: []event.Finding{{Rule: "missing", Access: missing, Detail: "nothing of it"}},
		Verdict: &event.Verdict{Model: "ptx", Source: 3, Machine: 4, New: []string{"1:r1=1; 1:r2=0;"}, Slice: "GPU_PTX source",
			Lifted: "GPU_PTX machine", Check: "causality", Cycle: "a -po-> b"}}
	less := thread
	less.Machine = append(append([]event.Line{}, thread.Machine[:missing]...), thread.Machine[missing+1:]...)
	add(event.Event{Listing: &event.Listing{Code: "c1", Threads: []event.ThreadListing{less}}})
	add(event.Event{Cell: &bad})
	return s
}

// TestKernelPage: PTX, what it was made of, and machine code stand side by side; what was found
// leads to its line; verdicts have their slices and executions, and nothing in a name or a text
// does harm.
func TestKernelPage(t *testing.T) {
	ks := NewKernels(NewIndex(programSet(t, "<k>.ptx:<b>main</b>", 6, 4)))
	require.Len(t, ks.List, 1)
	require.Equal(t, "<b>main</b>", ks.List[0].Name)
	body, err := ks.Body(context.Background(), &ks.List[0], FindingHooks{
		Pictures: func(_ context.Context, _ *event.Test, r *event.Result) ([]Picture, error) {
			return []Picture{{"Drawn of " + r.Verdict.Slice, []byte(`<svg class="drawn"></svg>`)}}, nil
		}}, PageOf)
	require.NoError(t, err)
	list, text := parsePage(t, string(body))
	harmless(t, list)
	for _, want := range []string{"<b>main</b>", "k.cu:5: x[4] = <i>;", "add.s64 %rd1, %rd2, 4;", "… 1 lines", "0050", "STG.E [R5], R4",
		"GPU_PTX source", "GPU_PTX machine", "Drawn of GPU_PTX source", "not in the machine code", "Every operation that was compared"} {
		require.Contains(t, text, want)
	}
	require.Len(t, classed(list, "fp-l-broken"), 1)
	require.Contains(t, string(body), `href="#fp-at-1-0-0-4"`)
	require.Contains(t, string(body), `id="fp-at-1-0-0-4"`)
	require.Contains(t, string(body), `data-class="miscompiled" data-rule="missing"`)
	require.Contains(t, string(body), `data-class="preserved" data-rule=""`)
	index, err := ks.Index(KernelFileName)
	require.NoError(t, err)
	list, text = parsePage(t, string(index))
	harmless(t, list)
	require.Contains(t, text, "k.cu@nvcc-12.4.131.ptx")
	require.Contains(t, string(index), `data-class="miscompiled|preserved" data-rule="missing"`)
	require.Contains(t, string(index), `href="`+KernelFileName(&ks.List[0])+`"`)
}

// TestKernelBounds: of a kernel of 20,000 lines the page shows what was found, and is no larger
// than others.
func TestKernelBounds(t *testing.T) {
	ks := NewKernels(NewIndex(programSet(t, "big.ptx:k", 5000, 4321)))
	body, err := ks.Body(context.Background(), &ks.List[0], FindingHooks{}, PageOf)
	require.NoError(t, err)
	require.Less(t, len(body), maxKernelPage)
	_, text := parsePage(t, string(body))
	require.Contains(t, text, "k.cu:4322: x[4321]")
	require.NotContains(t, text, "k.cu:4222: x[4221]")
	require.Contains(t, text, "more operations are not shown")
	require.Contains(t, text, "k.cu:1: x[0]", "the beginning of what is preserved")
}

// TestKernelText: a text that does not hold the operations shows them alone.
func TestKernelText(t *testing.T) {
	s := programSet(t, "k.ptx:k", 3, 1)
	s.Tests[0].Text = "1: nothing\n"
	ks := NewKernels(NewIndex(s))
	body, err := ks.Body(context.Background(), &ks.List[0], FindingHooks{}, PageOf)
	require.NoError(t, err)
	_, text := parsePage(t, string(body))
	require.Contains(t, text, "st.global.u32 [%rd1], 1")
}

// TestKernelsInBrowser: pages of kernels are whole on a desk and on a phone, light and dark; rows
// can be chosen, and a link to a line opens what holds it.
func TestKernelsInBrowser(t *testing.T) {
	b := browsertest.New(t)
	dir := t.TempDir()
	s := programSet(t, "k.ptx:"+strings.Repeat("mangled", 20), 30, 20)
	writeSet(t, dir, s)
	ks := NewKernels(NewIndex(s))
	at := func(name string) string { return browsertest.FileURL(filepath.Join(dir, name)) }
	for _, name := range []string{KernelsFile, KernelFileName(&ks.List[0])} {
		b.Open(at(name))
		for _, width := range []int{1400, 390} {
			b.Width(width)
			for _, dark := range []bool{false, true} {
				b.Dark(dark)
				require.Empty(t, append(b.Cut(), b.Faults()...), "%s at %d, dark: %v", name, width, dark)
			}
		}
		require.Empty(t, b.LowContrast(), name)
		require.Contains(t, b.Text("footer"), "What is not claimed: that.")
	}
	const parts = `document.querySelectorAll("[data-row]:not([hidden])").length`
	require.Equal(t, 2, browsertest.Eval[int](b, parts))
	choose := func(key, value string) {
		browsertest.Eval[bool](b, fmt.Sprintf(`(() => { const s = document.querySelector("select[name=%s]"); s.value = %q;
			s.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`, key, value))
	}
	choose("rule", "missing")
	require.Equal(t, 1, browsertest.Eval[int](b, parts))
	choose("class", "preserved")
	require.Zero(t, browsertest.Eval[int](b, parts))
	require.Contains(t, b.Text("form [role=status]"), "0 of 2 shown")
	choose("class", "")
	browsertest.Eval[bool](b, `document.querySelectorAll("details").forEach((e) => { e.open = false; }) === undefined`)
	browsertest.Eval[bool](b, `(location.hash = "#fp-at-1-0-0-20") !== ""`)
	b.Until(`document.getElementById("fp-at-1-0-0-20").closest("details").open`)
	quiet(t, b)
}
