package html

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/optcheck"
	"optcheck/report"
)

// Picture is the drawing of an execution.
type Picture struct {
	Caption string
	SVG     []byte // a whole SVG element; it is put into pages as it is
}

// KnownNote says what is known of a known finding.
type KnownNote struct{ ID, Note, Reason, Link string }

// Web reports whether the link leads somewhere from a page: a file of the one who
// wrote the list does not.
func (n KnownNote) Web() bool {
	return strings.HasPrefix(n.Link, "https://") || strings.HasPrefix(n.Link, "http://")
}

// FindingHooks give a finding's page what this package must not find out by
// itself. Any may be nil: the page then lacks that part.
type FindingHooks struct {
	// Pictures draws the executions that matter for a cell of a test. An error
	// is shown in their place.
	Pictures func(ctx context.Context, t *event.Test, r *event.Result) ([]Picture, error)
	// Known looks up a known finding.
	Known func(id string) (KnownNote, bool)
	// Link is the address of a group's page as seen from this one. Nil means
	// that pages lie beside each other: ID.html.
	Link func(g *report.Group) string
	// Kernel is the address of the page of the kernel that a test is; "" is none.
	Kernel func(test uint32) string
	// Try is the address of a page that tries the test where the cell is; "" is none.
	Try func(t *event.Test, c *event.Cell) string
}

//go:embed finding.tmpl
var findingText string

var findingTemplate = template.Must(template.New("finding").Funcs(funcs).Parse(findingText))

// Bounds of what one page shows: pages are made from files that anybody wrote.
const (
	maxPageFindings = 64
	maxPageListings = 4
	maxPageThreads  = 16
	maxPageLines    = 200
	maxPageOutcomes = 48
	maxPageText     = 64 << 10
)

// FindingBody returns the content of a group's page, below the page's header.
func FindingBody(ctx context.Context, gs *report.Groups, g *report.Group, h FindingHooks) (template.HTML, error) {
	p := newFindingPage(gs, g, h)
	if h.Pictures != nil && p.Verdict != nil {
		first := gs.Set.Cells[g.Cells[0]]
		pics, err := h.Pictures(ctx, &gs.Set.Tests[g.Test], &gs.Set.Results[first.Result])
		if err != nil {
			p.PictureError = clip(err.Error(), 400)
		}
		for _, x := range pics {
			p.picture(x)
		}
	}
	return execute(findingTemplate, p)
}

// execute makes a body. Whatever the template did not do itself is made visible
// here: nothing in a body can hide or turn the text around it.
func execute(t *template.Template, data any) (template.HTML, error) {
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("page %s: %w", t.Name(), err)
	}
	return template.HTML(plain.Text(b.String())), nil
}

// findingPage is what finding.tmpl shows.
type findingPage struct {
	Suffix    string // of the parts' ids: pages may show several
	Test      event.Test
	Class     string
	ClassText string
	Reason    string
	Cells     int
	Total     int // cells of the test in all
	Shown     place
	Findings  []findingItem
	Notes     []findingItem
	More      int // findings not shown
	Known     []KnownNote
	Listings  []listingView
	NoListing bool
	MoreCodes int
	Verdict   *verdictView
	Pictures  []pictureView
	// PictureError says why there are no pictures.
	PictureError string
	Matrix       []matrixView
	Commands     []report.Command
	Try          string // the address of a page that tries the test
	Others       []otherView
	// Kernel is the address of the page of the whole kernel, "" for none.
	Kernel string
	around *around
}

// picture adds a picture, which package model has drawn: it escapes. Its arrow heads get names
// of their own: a page may have several pictures.
func (p *findingPage) picture(x Picture) {
	p.Pictures = append(p.Pictures, newPictureView(x, fmt.Sprintf("p%s-%d-", p.Suffix, len(p.Pictures)+1)))
}

// newPictureView gives the arrow heads of a picture names that begin with as.
func newPictureView(x Picture, as string) pictureView {
	svg := strings.NewReplacer(`id="m`, `id="`+as+`m`, "url(#m", "url(#"+as+"m").Replace(string(x.SVG))
	return pictureView{x.Caption, template.HTML(svg)}
}

type pictureView struct {
	Caption string
	SVG     template.HTML
}

// place is a cell's place in the matrix.
type place struct{ Toolchain, Target, Level, Layout string }

// OfTest is the layout of a test; "" of a program, which has its own.
func (p place) OfTest() string { return strings.TrimPrefix(p.Layout, event.OwnLayout) }

// ReasonIs says what a cell's reason is: why nothing was decided, or something to know beside what was.
func (p *findingPage) ReasonIs() string {
	switch p.Class {
	case event.Preserved, event.Optimised, event.Changed, event.Miscompiled:
		return "Note"
	}
	return "Because"
}

// findingItem is a finding with its rule's explanation.
type findingItem struct {
	event.Finding
	Flown   *flightView // nil if no register is in flight
	Title   string
	Explain []string // paragraphs
	First   bool     // the first finding of its rule
	Where   string   // the author's line, or thread and access as far as Detail does not say it
	Line    string   // what stands in that line
	Anchor  string   // its line on the page, "" if that is not shown
}

type otherView struct {
	Link, Class, Rules string
	Cells              int
}

func newFindingPage(gs *report.Groups, g *report.Group, h FindingHooks) *findingPage {
	return newFindingPart(gs, g, h, "")
}

// newFindingPart is a part of a page that has several: suffix tells them apart.
func newFindingPart(gs *report.Groups, g *report.Group, h FindingHooks, suffix string) *findingPage {
	s := gs.Set
	first := s.Cell(int(g.Cells[0]))
	p := &findingPage{Test: s.Tests[g.Test], Class: g.Class, ClassText: classTexts[g.Class], Reason: first.Reason, Cells: len(g.Cells),
		Total: len(gs.TestCells(g.Test)), Shown: place{first.Toolchain, first.Target, first.Level, first.Layout}, Suffix: suffix, around: newAround(&s.Tests[g.Test])}
	if p.Test.Dialect == event.Program {
		p.ClassText = programTexts[g.Class]
	}
	p.Test.Text = clip(p.Test.Text, maxPageText)
	p.Findings, p.More = findingItems(&p.Test, first.Findings)
	p.Notes, _ = findingItems(&p.Test, first.Notes)
	for _, id := range first.Known {
		k := KnownNote{ID: id}
		if h.Known != nil {
			if found, ok := h.Known(id); ok {
				k = found
			}
		}
		p.Known = append(p.Known, k)
	}
	p.Verdict = newVerdictView(first.Verdict, g.Class)
	p.listings(gs, g)
	p.anchors()
	p.Matrix = newMatrix(gs, g)
	p.Commands = report.Commands(&s.Config, &s.Tests[g.Test], &first)
	if h.Kernel != nil {
		p.Kernel = h.Kernel(g.Test)
	}
	if h.Try != nil {
		p.Try = h.Try(tried(s.Tests[g.Test], first.Verdict), &first)
	}
	for _, o := range gs.OfTest(g.Test) {
		if o == g {
			continue
		}
		link := o.ID + ".html"
		if h.Link != nil {
			link = h.Link(o)
		}
		r := &s.Results[s.Cells[o.Cells[0]].Result]
		p.Others = append(p.Others, otherView{link, o.Class, strings.Join(ruleNames(r), ", "), len(o.Cells)})
	}
	return p
}

// ruleNames lists the rules that a result's findings break, each once; of an
// undecided one it is the reason.
func ruleNames(r *event.Result) []string {
	var out []string
	for _, f := range r.Findings {
		if !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	if len(out) == 0 && r.Reason != "" {
		out = append(out, clip(r.Reason, 120))
	}
	return out
}

func findingItems(t *event.Test, list []event.Finding) (out []findingItem, more int) {
	seen := map[string]bool{}
	for i, f := range list {
		if i == maxPageFindings {
			return out, len(list) - i
		}
		at := t.Tell(&f)
		where, detail := at.Place, at.Text
		if t.Dialect != event.Program {
			where, detail = fmt.Sprintf("T%d", f.Thread), f.Full()
			if f.Access >= 0 && !strings.HasPrefix(detail, "#") {
				where += fmt.Sprintf(" #%d", f.Access)
			}
		}
		f.Detail = clip(detail, 2000)
		item := findingItem{Finding: f, Flown: newFlightView(f.Flight), Title: "a rule that this version does not know"}
		if r, ok := optcheck.LookupRule(f.Rule); ok {
			item.Title, item.Explain = r.Title, strings.Split(r.Explain, "\n\n")
		}
		item.First, item.Where, item.Line = !seen[f.Rule], where, at.Line
		seen[f.Rule] = true
		out = append(out, item)
	}
	return out, 0
}

// classTexts say what each class means.
var classTexts = map[string]string{
	event.Preserved:   "The binary is the test: every access, fence and dependency was matched.",
	event.Optimised:   "The machine code is not the test, but the memory model allows no outcome of it that it forbids of the test.",
	event.Miscompiled: "The machine code allows an outcome that the test forbids.",
	event.Changed:     "The machine code is not the test. Whether that is legal was not asked, or could not be said.",
	event.Crashed:     "The compiler crashes at the test, or does not end, each time: there is no machine code.",
	event.Invalid:     "No target and no release takes the file, for a reason in the file.",
	event.Unsupported: "The target or the encoding lacks something that the test uses.",
	event.Unknown:     "It could not be decided whether the machine code is the test. That is never counted as good.",
}

// programTexts say what classes mean of programs, where that is something else.
var programTexts = map[string]string{
	event.Preserved:   "Every operation that was compared has its counterpart, in an order that the PTX has.",
	event.Miscompiled: "The machine code does what the PTX forbids: a litmus test of what was found, or an execution, shows it.",
	event.Changed:     "The machine code differs from the PTX, and there is no test of the model that says what that makes possible.",
	event.Crashed:     "The compiler crashes at the file, or does not end, each time: there is no machine code.",
	event.Unsupported: "The release or the target cannot compile the file; another one would.",
	event.Unknown:     "Something could not be decided. That is never counted as good.",
}

// listings chooses the machine codes to show: the first of the group in full,
// further ones that look different to be opened.
func (p *findingPage) listings(gs *report.Groups, g *report.Group) {
	s := gs.Set
	at := map[string]int{}    // by code; -1 is not shown
	looks := map[string]int{} // by what it looks like
	for _, i := range g.Cells {
		c := s.Cell(int(i))
		k, ok := at[cmp.Or(c.ListingKey(), c.Code)]
		if !ok {
			k = p.listing(cmp.Or(s.Listings[c.ListingKey()], s.Listings[c.Code]), &c, looks)
			at[cmp.Or(c.ListingKey(), c.Code)] = k
		}
		if k >= 0 {
			p.Listings[k].Cells++
		}
	}
	p.NoListing = len(p.Listings) == 0
}

// tried is the test that a reader may try: of a program its slice.
func tried(t event.Test, v *event.Verdict) *event.Test {
	if t.Dialect == event.Program {
		t.Text = ""
		if v != nil {
			t.Text = v.Slice
		}
	}
	return &t
}

// anchors leads from findings to their lines in the first listing.
func (p *findingPage) anchors() {
	if len(p.Listings) == 0 {
		return
	}
	has := map[string]bool{}
	for _, t := range p.Listings[0].Threads {
		for i := range t.Source {
			has[t.Source[i].ID] = true
		}
	}
	for i := range p.Findings {
		f := &p.Findings[i]
		if id := lineID("fp-at"+p.Suffix+"-0", f.Thread, f.Access); has[id] {
			f.Anchor = id
		}
	}
}

// listing adds a listing and returns its number, or that of one that looks the
// same.
func (p *findingPage) listing(l *event.Listing, c *event.Cell, looks map[string]int) int {
	if l == nil {
		return -1
	}
	look := l.Look()
	if k, ok := looks[look]; ok {
		return k
	}
	if len(p.Listings) == maxPageListings {
		p.MoreCodes++
		return -1
	}
	most := maxOperations
	if len(p.Listings) > 0 {
		most = maxOtherOperations
	}
	v := newListingView(l, c.Findings, p.around, fmt.Sprintf("fp-at%s-%d", p.Suffix, len(p.Listings)), most)
	v.Place = place{c.Toolchain, c.Target, c.Level, c.Layout}
	looks[look] = len(p.Listings)
	p.Listings = append(p.Listings, v)
	return looks[look]
}

// clip shortens a text to about n bytes, at the boundary of a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

var positionPattern = regexp.MustCompile(`#(\d{1,4})\b`)

// firstPosition returns the first access that a finding's detail names, -1 for none.
func firstPosition(detail string) int {
	m := positionPattern.FindStringSubmatch(detail)
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return -1
	}
	return n
}
