package html

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/report"
)

// KernelsFile is the page that lists the kernels of programs.
const KernelsFile = "kernels.html"

// maxKernelPage bounds a kernel's page, in bytes: findings beyond it have their own pages alone.
const maxKernelPage = 1 << 20

// Kernels are the programs of an index.
type Kernels struct {
	x    *Index
	List []Kernel
	byID map[string]int
	of   map[uint32]int // by test
}

// Kernel is a kernel of a program.
type Kernel struct {
	ID         string
	File, Name string
	test       uint32 // index into the set's tests
}

// NewKernels finds the kernels of an index, by file and name.
func NewKernels(x *Index) *Kernels {
	ks := &Kernels{x: x, byID: map[string]int{}, of: map[uint32]int{}}
	for _, i := range x.tests {
		t := &x.Set.Tests[i]
		if t.Dialect != event.Program {
			continue
		}
		sum := sha256.Sum256([]byte(t.Name + "\x00" + t.Hash))
		k := Kernel{ID: hex.EncodeToString(sum[:10]), File: t.FileTitle(), Name: t.Kernel(), test: i}
		ks.byID[k.ID], ks.of[i] = len(ks.List), len(ks.List)
		ks.List = append(ks.List, k)
	}
	return ks
}

// ByID returns a kernel.
func (ks *Kernels) ByID(id string) (*Kernel, bool) {
	i, ok := ks.byID[id]
	if !ok {
		return nil, false
	}
	return &ks.List[i], true
}

// Of is the kernel that a test is; false if it is none.
func (ks *Kernels) Of(test uint32) (*Kernel, bool) {
	i, ok := ks.of[test]
	if !ok {
		return nil, false
	}
	return &ks.List[i], true
}

//go:embed kernel.tmpl
var kernelText string

var kernelTemplate = template.Must(template.Must(findingTemplate.Clone()).New("kernel").Parse(kernelText))

// kernelPage is what kernel.tmpl shows before the parts.
type kernelPage struct {
	*Kernel
	Matrix  []matrixView
	Classes []string // for the filter
	Rules   []string
	Parts   []kernelPart
}

// kernelPart is what some cells have in common: findings, or that there are none.
type kernelPart struct {
	*findingPage
	Where []string
	Rules []string
	Link  string        // the finding's own page
	Body  template.HTML // "" if there is no room for it
	Open  bool
}

// RuleList is the rules as the filter reads them.
func (p kernelPart) RuleList() string { return strings.Join(p.Rules, "|") }

// Body returns the page of a kernel: all that was found in it, each beside the machine code that
// shows it, and what is preserved. link is the address of a finding's page.
func (ks *Kernels) Body(ctx context.Context, k *Kernel, h FindingHooks, link func(*report.Group) string) (template.HTML, error) {
	gs := ks.x.Groups
	p := kernelPage{Kernel: k,
		Matrix: newMatrix(gs, &report.Group{Test: k.test})}
	groups := slices.Clone(gs.OfTest(k.test))
	found := len(groups)
	groups = append(groups, ks.rest(k)...)
	size := 0
	for i, g := range groups {
		part := kernelPart{findingPage: newFindingPart(gs, g, h, fmt.Sprintf("-%d", i+1)), Open: i == 0}
		for _, c := range report.Places(gs.InFull(g)) {
			part.Where = append(part.Where, c.Toolchain+" "+strings.Join(c.Targets, " ")+" at "+strings.Join(c.Levels, " "))
		}
		if g.Class != event.Preserved {
			part.Rules = ruleNames(gs.Result(g))
		}
		if i < found {
			part.Link = link(g)
		}
		for _, r := range part.Rules {
			if len(part.Findings) > 0 && !slices.Contains(p.Rules, r) {
				p.Rules = append(p.Rules, r)
			}
		}
		if !slices.Contains(p.Classes, g.Class) {
			p.Classes = append(p.Classes, g.Class)
		}
		if size < maxKernelPage && g.Class != event.Unsupported {
			part.draw(ctx, gs, g, h)
			body, err := execute(kernelTemplate.Lookup("part"), part)
			if err != nil {
				return "", err
			}
			if size += len(body); size < maxKernelPage || i == 0 {
				part.Body = body
			}
		}
		p.Parts = append(p.Parts, part)
	}
	return execute(kernelTemplate, p)
}

// rest are the cells of a kernel in which nothing was found, as a group for each class.
func (ks *Kernels) rest(k *Kernel) (out []*report.Group) {
	s := ks.x.Set
	for _, class := range []string{event.Preserved, event.Unsupported} {
		g := &report.Group{Test: k.test, Class: class}
		for _, i := range ks.x.Groups.TestCells(k.test) {
			if s.Results[s.Cells[i].Result].Class == class {
				g.Cells = append(g.Cells, i)
			}
		}
		if len(g.Cells) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// draw adds the executions of the slice that a verdict is of.
func (p *kernelPart) draw(ctx context.Context, gs *report.Groups, g *report.Group, h FindingHooks) {
	if h.Pictures == nil || p.Verdict == nil {
		return
	}
	pics, err := h.Pictures(ctx, &gs.Set.Tests[g.Test], gs.Result(g))
	if err != nil {
		p.PictureError = clip(err.Error(), 400)
	}
	for _, x := range pics {
		p.picture(x)
	}
}
