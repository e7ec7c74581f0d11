package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"optcheck/audit"
	"optcheck/bug"
	"optcheck/event"
	"optcheck/known"
	"optcheck/litmus"
	"optcheck/model"
	"optcheck/report/html"
)

// Bounds of one picture: pages are made for tests that anybody wrote.
const (
	pictureTime       = 5 * time.Second
	pictureCandidates = 500_000
	pictureText       = 64 << 10
)

// painter draws the executions on the pages of findings. It may be used
// concurrently.
type painter struct {
	mu     sync.Mutex
	models map[string]*model.Model
}

func newPainter() *painter { return &painter{models: map[string]*model.Model{}} }

// model returns a built-in model. Names come from a file, so that none is
// opened.
func (p *painter) model(name string) (*model.Model, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.models[name]; m != nil {
		return m, nil
	}
	if !slices.Contains(model.Names(), name) {
		return nil, fmt.Errorf("the model %q is not built in", name)
	}
	m, err := model.Load(name)
	if err == nil {
		p.models[name] = m
	}
	return m, err
}

// pictures draws what matters of a finding: a new outcome as the test forbids
// it and as the machine code shows it; else an outcome that the machine code has
// lost; else one that sequential consistency forbids only in the test; else what
// the test asks for.
func (p *painter) pictures(ctx context.Context, t *event.Test, r *event.Result) ([]html.Picture, error) {
	v := r.Verdict
	if v == nil {
		return nil, nil
	}
	text := cmp.Or(v.Slice, t.Text)
	if text == "" || v.Lifted == "" || max(len(text), len(v.Lifted)) > pictureText {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, pictureTime)
	defer cancel()
	source, err := parseChecked(t.Name, text)
	if err != nil {
		return nil, err
	}
	machine, err := parseChecked("machine code", v.Lifted)
	if err != nil {
		return nil, err
	}
	var out []html.Picture
	add := func(of *litmus.Test, modelName, outcome, caption string) error {
		pic, _, err := p.draw(ctx, of, modelName, outcome)
		if err != nil || pic == nil {
			return err
		}
		out = append(out, html.Picture{Caption: caption, SVG: pic})
		return nil
	}
	switch {
	case v.Slice != "" && len(v.New) > 0: // made to end in what is new
		if err = add(source, v.Model, "", "The PTX: "+v.Model+" forbids "+v.Shown()[0]); err == nil {
			err = add(machine, v.Model, "", "The machine code: "+v.Model+" allows "+v.Shown()[0])
		}
	case len(v.New) > 0:
		o := bug.Asked(source, v.New)
		if err = add(source, v.Model, o, "The test: "+v.Model+" forbids "+o); err == nil {
			err = add(machine, v.Model, o, "The machine code: "+v.Model+" allows "+o)
		}
	case len(v.Lost) > 0:
		o := bug.Asked(source, v.Lost)
		err = add(source, v.Model, o, "The test can end in "+o+" under "+v.Model+"; its machine code cannot any more")
	case len(v.SCNew) > 0:
		o := bug.Asked(source, v.SCNew)
		if err = add(source, "sc", o, "The test: sequential consistency forbids "+o); err == nil {
			err = add(machine, "sc", o, "The machine code: "+o+" even under sequential consistency")
		}
	case source.Cond.Expr != nil:
		pic, allowed, err := p.draw(ctx, source, v.Model, "")
		if err != nil || pic == nil {
			return out, err
		}
		caption := "What the test asks for: " + source.Cond.String() + ". " + v.Model
		switch {
		case allowed:
			caption += " allows it."
		case v.Source > 0: // the machine code has no new outcome
			caption += " forbids it, to the test and to its machine code alike."
		default:
			caption += " forbids it."
		}
		out = append(out, html.Picture{Caption: caption, SVG: pic})
	}
	return out, err
}

func parseChecked(file, text string) (*litmus.Test, error) {
	t, err := litmus.Parse(file, []byte(text))
	if err != nil {
		return nil, err
	}
	return t, t.Check()
}

// draw explains an outcome of a test, or without one its condition, and tells whether the
// model allows it; nil if no execution ends in it.
func (p *painter) draw(ctx context.Context, t *litmus.Test, modelName, outcome string) (pic []byte, allowed bool, err error) {
	m, err := p.model(modelName)
	if err != nil {
		return nil, false, err
	}
	if outcome != "" {
		if t, err = audit.Asking(t, outcome); err != nil {
			return nil, false, err
		}
	}
	x, err := m.Explain(ctx, t, model.Options{MaxCandidates: pictureCandidates})
	if err != nil || !x.Drawable() {
		return nil, false, err
	}
	var svg bytes.Buffer
	if err := x.SVG(&svg); err != nil {
		return nil, false, err
	}
	return svg.Bytes(), x.Schedule != nil || x.Execution.Allowed, nil
}

// findingHooks are what the pages of findings need of the other rooms.
func findingHooks(list *known.List) html.FindingHooks {
	return html.FindingHooks{Pictures: newPainter().pictures, Known: func(id string) (html.KnownNote, bool) {
		for _, f := range list.Filters {
			if f.ID == id {
				return html.KnownNote{ID: id, Note: f.Note, Reason: f.Reason, Link: f.Link}, true
			}
		}
		return html.KnownNote{}, false
	}}
}
