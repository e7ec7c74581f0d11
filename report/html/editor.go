package html

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/report"
)

// TryFile is the page on which tests and programs are tried.
const TryFile = "try.html"

// Trial is what is to be tried, and where.
type Trial struct {
	What      string   // Offer.What
	Text      string   // of the test or program
	Compilers []string // by Compiler.Value
	Targets   []string // at most one of each vendor
	Level     string
	Layout    string
}

// Keys of a trial in addresses and forms.
const (
	TryWhat, TryTest, TryCompiler, TryTarget, TryLevel, TryLayout = "what", "test", "on", "target", "level", "layout"
	// TryPick names a test to begin with.
	TryPick = "pick"
)

// Values are the parameters of an address that holds the trial: what it does not choose is left out.
func (t Trial) Values() url.Values {
	v := url.Values{TryTest: {t.Text}}
	for key, list := range map[string][]string{TryWhat: {t.What}, TryCompiler: t.Compilers, TryTarget: t.Targets, TryLevel: {t.Level}, TryLayout: {t.Layout}} {
		if list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" }); len(list) > 0 {
			v[key] = list
		}
	}
	return v
}

// Compiler is what a test may be tried on: a compiler, or a memory model.
type Compiler struct {
	Value string // unique
	Name  string // for readers: ptxas 12.4.131
	Group string // what it compiles
}

// TargetChoice lists the targets of a vendor.
type TargetChoice struct {
	Vendor  string
	Targets []string
}

// Offer is what trials of one kind may ask for, and what they ask for at first. A choice that such
// a trial does not have is empty.
type Offer struct {
	What      string   // unique, and the language of the editor: litmus, ptx, cuda, model
	Name      string   // for readers, on the tab: CUDA C++
	Label     string   // of the text: Test
	Lead      string   // what it is good for
	Tool      string   // of the choice of a compiler, if there is One: release
	Result    string   // what stands beside the text before there is a result, if there is One
	Go        string   // on the button
	Tests     []string // names of texts to begin with
	Compilers []Compiler
	// One is that a trial has one compiler, and its result stands beside the text.
	One     bool
	Targets []TargetChoice
	Levels  []string
	Layouts []string
	First   Trial
	// Missing says why there are no compilers.
	Missing string
}

// Tried is what became of a trial on compilers of one kind.
type Tried struct {
	Set *event.Set
	// Texts has, by cell of the set, what was compiled and the machine code.
	Texts map[int][]event.Artefact
}

// Outcome is what became of a trial, as far as it came. A field that its kind does not have is empty.
type Outcome struct {
	Tried  []Tried
	Codes  []TriedCode
	Judged *Judged
	// Notes say what was left out.
	Notes []string
}

// Editor is what the page shows.
type Editor struct {
	Offers []*Offer
	Offer  *Offer // the one of the trial
	Trial  Trial
	// Err is why the trial could not be done; the places that a litmus.Error
	// or a PlacedError names are shown.
	Err error
	Outcome
	// Link is the address of the trial, "" if it is too long for one.
	Link string
	// Nonce lets the editor's own style sheets in, where a policy keeps others out.
	Nonce string
}

// PlacedError is what is wrong with a text at a place.
type PlacedError struct {
	Line, Col int // from 1; 0 is unknown
	Message   string
}

func (e *PlacedError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Message) }

//go:embed editor.tmpl
var editorText string

//go:embed trycode.tmpl
var tryCodeText string

var editorTemplate = template.Must(template.Must(template.Must(findingTemplate.Clone()).New("editor").Parse(tryCodeText)).Parse(editorText))

// Bounds of what the page shows.
const (
	maxTriedText  = 32 << 10 // of one thread
	maxTriedDrawn = 4        // cells with pictures of their own
	maxTriedFault = 12
)

// faultView is a fault of a test with the line that it is in.
type faultView struct {
	Line, Col int
	Message   string
	Text      string // of the line
	Caret     string // what stands before the place, blank
}

// triedView is a cell with the parts of a finding's page.
type triedView struct {
	*findingPage
	Open  bool
	Texts []textView
	// As is the place of the cell whose pictures this one would repeat.
	As *place
}

type textView struct{ What, Text string }

// EditorBody is the content of the page, below its header.
func EditorBody(ctx context.Context, e *Editor, h FindingHooks) (template.HTML, error) {
	groups := map[string][]Compiler{}
	var order []string
	for _, c := range e.Offer.Compilers {
		if groups[c.Group] == nil {
			order = append(order, c.Group)
		}
		groups[c.Group] = append(groups[c.Group], c)
	}
	faults, other := faultsOf(e.Err, e.Trial.Text)
	return execute(editorTemplate, map[string]any{"E": e, "Order": order, "Groups": groups, "Cells": triedCells(ctx, e.Tried, h),
		"Codes": codeViews(e.Codes, e.Trial.Text), "Judged": newJudgedView(e.Judged), "Done": len(e.Tried) > 0 || len(e.Codes) > 0 || e.Judged != nil,
		"Faults": faults, "Error": other, "Rows": min(40, max(12, strings.Count(e.Trial.Text, "\n")+2)),
		"On": func(list []string, x string) bool { return slices.Contains(list, x) }})
}

// faultsOf are the faults of a test with their places; what has none is returned as a text.
func faultsOf(err error, text string) (faults []faultView, other string) {
	if err == nil {
		return nil, ""
	}
	list := litmus.ErrorList{}
	var one *litmus.Error
	var placed *PlacedError
	if errors.As(err, &placed) {
		one = &litmus.Error{Pos: litmus.Pos{Line: placed.Line, Col: placed.Col}, Msg: placed.Message}
	}
	if !errors.As(err, &list) && (one != nil || errors.As(err, &one)) {
		list = litmus.ErrorList{one}
	}
	lines := strings.Split(text, "\n")
	for _, f := range list[:min(len(list), maxTriedFault)] {
		v := faultView{Line: f.Pos.Line, Col: f.Pos.Col, Message: clip(f.Msg, 1000)}
		if v.Line > 0 && v.Line <= len(lines) && len(lines[v.Line-1]) <= 400 {
			v.Text = strings.TrimRight(lines[v.Line-1], "\r")
			if v.Col > 0 && v.Col <= len(v.Text)+1 {
				v.Caret = blank(v.Text[:v.Col-1])
			}
		}
		faults = append(faults, v)
	}
	if len(faults) == 0 {
		other = clip(err.Error(), 2000)
	}
	return faults, other
}

// blank is as wide as a text in a fixed font.
func blank(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, s)
}

// triedCells are the cells of all sets.
func triedCells(ctx context.Context, tried []Tried, h FindingHooks) (out []triedView) {
	drawn := map[string]*place{}
	for _, t := range tried {
		gs := report.NewGroups(t.Set)
		for i := range t.Set.Cells {
			g := &report.Group{Test: t.Set.Cells[i].Test, Class: t.Set.Cell(i).Class, Cells: []uint32{uint32(i)}}
			v := triedView{findingPage: newFindingPart(gs, g, h, fmt.Sprintf("-%d", len(out)+1)), Open: len(out) == 0}
			for k := range v.Listings {
				for j := range v.Listings[k].Threads {
					v.Listings[k].Threads[j].Found = true // nothing is folded away: a reader came to see it
				}
			}
			v.draw(ctx, &t.Set.Tests[g.Test], &t.Set.Results[t.Set.Cells[i].Result], drawn, h)
			for _, x := range t.Texts[i] {
				v.Texts = append(v.Texts, textView{textTitle(x), clip(x.Text, maxTriedText)})
			}
			out = append(out, v)
		}
	}
	return out
}

// draw adds the pictures of a cell, unless one before has the same.
func (v *triedView) draw(ctx context.Context, t *event.Test, r *event.Result, drawn map[string]*place, h FindingHooks) {
	if h.Pictures == nil || r.Verdict == nil {
		return
	}
	x := r.Verdict
	key := fmt.Sprintf("%q", []any{x.Model, x.New, x.Lost, x.SCNew, map[bool]string{true: x.Lifted}[len(x.New)+len(x.SCNew) > 0]})
	if v.As = drawn[key]; v.As != nil || len(drawn) == maxTriedDrawn {
		return
	}
	drawn[key] = &v.Shown
	pics, err := h.Pictures(ctx, t, r)
	if err != nil {
		v.PictureError = clip(err.Error(), 400)
	}
	for _, p := range pics {
		v.picture(p)
	}
}

func textTitle(x event.Artefact) string {
	names := map[string]string{event.ArtefactPTX: "PTX", event.ArtefactOpenCL: "OpenCL C", event.ArtefactLLVMIR: "LLVM IR",
		event.ArtefactMachine: "Whole machine code"}
	name := names[x.Kind]
	if name == "" {
		name = Short(x.Kind, 20)
	}
	return fmt.Sprintf("%s of thread T%d", name, x.Thread)
}
