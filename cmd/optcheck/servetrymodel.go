package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model"
	"optcheck/report/html"
)

// Bounds of a test that a model judges here.
const (
	tryJudge  = 8 * time.Second
	tryStates = 64 // that are listed
	tryDrawn  = 12 // of which an execution is drawn
)

func modelOffer() *html.Offer {
	o := &html.Offer{What: tryModel, Name: "Memory model", Label: "Test", Tool: "model", Go: "Judge", One: true,
		Lead:   "Type a litmus test and choose a model: which final states does it allow, by which executions, and why does it forbid the one that is asked for? No compiler works here.",
		Result: "Here the final states will stand, each with an execution.",
		First:  html.Trial{What: tryModel, Compilers: []string{"ptx"}}}
	for _, m := range model.Builtin() {
		o.Compilers = append(o.Compilers, html.Compiler{Value: m.Name, Name: m.Name + ": " + m.Title})
	}
	for _, t := range append(corpus.Tests(), corpus.OpenCL()...) {
		o.Tests = append(o.Tests, t.Name)
	}
	o.First.Text, _ = (&workbench{}).Text(tryLitmus, "mp")
	return o
}

// judge asks a model about a test.
func (w *workbench) judge(ctx context.Context, t html.Trial) (out html.Outcome, err error) {
	test, err := checkedTest(t.Text)
	if err != nil {
		return out, err
	}
	m, err := w.models.model(t.Compilers[0])
	if err != nil {
		return out, err
	}
	v, err := m.Judge(ctx, test, model.Options{MaxCandidates: pictureCandidates, Timeout: tryJudge})
	if err != nil {
		return out, err
	}
	j := &html.Judged{Model: m.Name}
	if info, err := model.Lookup(m.Name); err == nil {
		j.About = info.Title
		j.Notes = append(j.Notes, "Not covered: "+info.Limits+".")
	}
	j.Notes = append(j.Notes, remarks(v)...)
	w.asked(ctx, j, m, v)
	w.states(ctx, j, v)
	out.Judged = j
	return out, nil
}

// remarks say what restricts a verdict.
func remarks(v *model.Verdict) (out []string) {
	if v.Undecided != "" {
		out = append(out, "Not decided: "+v.Undecided+". What is shown is not all.")
	}
	if v.Undefined != "" {
		out = append(out, "The test has no meaning by the vendor's text: "+v.Undefined+". Any state is possible.")
	}
	if v.Cut {
		out = append(out, "Executions with more iterations of a loop exist; they are no outcomes here.")
	}
	if v.Blocked {
		out = append(out, "In some executions threads wait at a barrier for ever.")
	}
	for _, f := range v.Flags {
		out = append(out, "The model raises the flag "+f+".")
	}
	return out
}

// asked answers the condition of a test.
func (w *workbench) asked(ctx context.Context, j *html.Judged, m *model.Model, v *model.Verdict) {
	switch {
	case v.Test.Cond.Expr == nil:
		j.Answer = "The test asks for nothing: all that the model allows is below."
		return
	case v.Undecided != "":
		j.Answer = "Not decided."
	default:
		j.Answer = fmt.Sprintf("%s: %s allows it in %s.", v.Observation, m.Name, count64(v.Positive, v.Positive+v.Negative))
	}
	j.Asked = v.Test.Cond.String()
	x, err := m.Explain(ctx, v.Test, model.Options{MaxCandidates: pictureCandidates, Timeout: tryJudge})
	if err != nil {
		j.Notes = append(j.Notes, "No reason could be found: "+err.Error()+".")
		return
	}
	var why strings.Builder
	if x.WriteText(&why) == nil {
		j.Why = why.String()
	}
	if v.Positive == 0 && x.Drawable() {
		var svg bytes.Buffer
		if x.SVG(&svg) == nil {
			caption := m.Name + " forbids this execution"
			if x.Execution != nil && x.Execution.Check != "" {
				caption += ", by " + x.Execution.Check
			}
			j.Forbidden = &html.Picture{Caption: caption + ".", SVG: svg.Bytes()}
		}
	}
}

func count64(n, of uint64) string { return fmt.Sprintf("%d of %d executions", n, of) }

// states lists what a model allows, and draws an execution of each, as far as there is room and time.
func (w *workbench) states(ctx context.Context, j *html.Judged, v *model.Verdict) {
	for i, s := range v.States {
		if i == tryStates {
			j.More = len(v.States) - i
			return
		}
		x := html.JudgedState{Values: outcomeOf(v.Terms, s.Values), Asked: s.Satisfies && v.Test.Cond.Expr != nil, Count: s.Count}
		switch pic, err := w.execution(ctx, j, v, x.Values, i); {
		case err != nil:
			x.Note = "No picture: " + err.Error() + "."
		case pic == nil:
			x.Note = "This model draws no execution."
		default:
			x.Picture = &html.Picture{Caption: "An execution that ends in " + x.Values, SVG: pic}
		}
		j.States = append(j.States, x)
	}
}

var errEnoughDrawn = errors.New("enough are drawn; make it the condition of the test to see this one")

func (w *workbench) execution(ctx context.Context, j *html.Judged, v *model.Verdict, outcome string, i int) ([]byte, error) {
	if i >= tryDrawn {
		return nil, errEnoughDrawn
	}
	ctx, cancel := context.WithTimeout(ctx, pictureTime)
	defer cancel()
	pic, _, err := w.models.draw(ctx, v.Test, j.Model, outcome)
	return pic, err
}

// outcomeOf writes a state as audit.Asking reads it.
func outcomeOf(terms []litmus.Term, values []int64) string {
	var b strings.Builder
	for i, t := range terms {
		fmt.Fprintf(&b, "%s=%d; ", t, values[i])
	}
	return strings.TrimSuffix(b.String(), " ")
}
