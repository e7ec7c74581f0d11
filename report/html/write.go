package html

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/report"
)

// Options are what Write needs beside the set.
type Options struct {
	// Finding is what the pages of findings need from elsewhere.
	Finding FindingHooks
	// Limit bounds the bytes of all pages of findings together: when it would be
	// passed, those of less severe findings are short ones. 0 is 24 MB, less
	// than 0 no limit.
	Limit int64
	// Extra are further pages, such as those of runs on devices.
	Extra []ExtraPage
	// Progress is told how many of how many pages are written; it may be nil.
	Progress func(done, all int)
}

// ExtraPage is a page beside the overview.
type ExtraPage struct {
	File  string // a plain name, ending in .html
	Title string // also the entry of the navigation
	Body  template.HTML
	// Make makes the body if Body is empty: many pages need not be in memory
	// together.
	Make func() (template.HTML, error)
	// Under is the File of the page that leads here; such a page has no entry of
	// its own.
	Under string
}

// Stats says what Write wrote.
type Stats struct {
	Cells, Groups, Files int
	Short                int // pages of findings that are short ones
	Bytes                int64
}

// ErrForeign says that a folder holds something else than a report.
var ErrForeign = errors.New("the folder is not empty and holds no report of optcheck; give an empty or new one")

// Write makes the report of a set in a folder, which is created if needed. A
// folder with an older report is made the new one's; any other folder that is
// not empty is refused with ErrForeign. The same set gives the same files.
func Write(ctx context.Context, dir string, s *event.Set, o Options) (Stats, error) {
	root, err := openFolder(dir)
	if err != nil {
		return Stats{}, fmt.Errorf("%s: %w", dir, err)
	}
	defer root.Close()
	w := &writer{ctx: ctx, root: root, x: NewIndex(s), o: o, wrote: map[string]int64{}}
	if err := w.all(); err != nil {
		return w.stats, fmt.Errorf("%s: %w", dir, err)
	}
	w.stats.Cells, w.stats.Groups = len(w.x.cells), len(w.x.groups)
	return w.stats, nil
}

// generator is how a report's pages say what made them.
const generator = `<meta name="generator" content="optcheck">`

// openFolder opens a folder that may be written to.
func openFolder(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := ours(root); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// ours reports whether a folder is empty or holds a report, whole or not.
func ours(root *os.Root) error {
	entries, err := input.ReadDirIn(root, ".")
	if err != nil || len(entries) == 0 {
		return err
	}
	f, err := input.OpenIn(root, "index.html")
	if errors.Is(err, fs.ErrNotExist) {
		return ErrForeign
	} else if err != nil {
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return err
	}
	if !strings.Contains(string(head), generator) {
		return ErrForeign
	}
	return nil
}

// writer writes one report.
type writer struct {
	ctx   context.Context
	root  *os.Root
	x     *Index
	o     Options
	nav   []Link
	lists []Link
	wrote map[string]int64 // sizes
	stats Stats
}

func (w *writer) all() error {
	w.kernels()
	w.nav = []Link{{"Overview", "index.html"}}
	if len(w.x.Toolchains) > 1 {
		w.nav = append(w.nav, Link{"Changes", ChangesFile})
	}
	for _, e := range w.o.Extra {
		if !extraFile.MatchString(e.File) {
			return fmt.Errorf("page %q: no plain name", e.File)
		}
		if e.Under == "" {
			w.nav = append(w.nav, Link{e.Title, e.File})
		}
	}
	for _, d := range []string{"assets", "f"} {
		if err := w.root.Mkdir(d, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	// The overview comes first, so that a report cut short is known to be one,
	// and again last, when what it leads to is there.
	for _, step := range []func() error{w.overview, w.assets, w.findings, w.classLists, w.changes, w.extra, w.overview, w.clean} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// kernels adds the pages of programs.
func (w *writer) kernels() {
	pages := KernelPages(w.ctx, w.x, w.o.Finding)
	if pages == nil {
		return
	}
	w.o.Extra = append(pages, w.o.Extra...)
	ks := NewKernels(w.x)
	w.o.Finding.Kernel = func(test uint32) string {
		if k, ok := ks.Of(test); ok {
			return "../" + KernelFileName(k)
		}
		return ""
	}
}

var extraFile = regexp.MustCompile(`^[a-z][a-z0-9-]{0,60}\.html$`)

// file writes one file and counts it.
func (w *writer) file(name string, write func(io.Writer) error) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	f, err := input.CreateIn(w.root, filepath.FromSlash(name), 0o666)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	err = errors.Join(write(b), b.Flush())
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		return err
	}
	w.stats.Bytes += info.Size() - w.wrote[name]
	w.wrote[name] = info.Size()
	w.stats.Files = len(w.wrote)
	return nil
}

func (w *writer) bytes(name string, data []byte) error {
	return w.file(name, func(out io.Writer) error {
		_, err := out.Write(data)
		return err
	})
}

// page writes a page of the report.
func (w *writer) page(name string, p *Page) error {
	p.Nav, p.Claims = w.nav, Claims(&w.x.Set.Config)
	p.Here = cmp.Or(p.Here, name)
	p.Foot = cmp.Or(p.Foot, "Made by optcheck "+Short(w.x.Set.Config.Tool, 80)+".")
	return w.file(name, p.Write)
}

func (w *writer) assets() error {
	data, err := w.x.Data()
	return errors.Join(err, w.bytes(StyleFile, Style()), w.bytes(ScriptFile, Script()), w.bytes(DataFile, data))
}

func (w *writer) overview() error {
	body, err := w.x.Overview(View{Lists: w.lists})
	if err != nil {
		return err
	}
	return w.page("index.html", &Page{Title: w.x.headline(w.x.Select(Filter{}).Total), Scripts: []string{DataFile}, Body: body})
}

// findings writes the page of each group.
func (w *writer) findings() error {
	limit, used := w.limit(), int64(0)
	for n, g := range w.x.Groups.List {
		left := int64(len(w.x.Groups.List) - n - 1)
		// Room is kept for the short pages of the others, but the worst findings
		// have whole pages however many there are.
		body, err := w.finding(g, limit-used-min(left*shortPage, limit*3/4))
		if err != nil {
			return err
		}
		used += int64(len(body)) + framePage
		name := w.x.Set.Tests[g.Test].Title()
		list := listFile(g.Class, 1)
		p := &Page{Title: name + ": " + g.Class, Root: "../", Here: "index.html",
			Crumbs: []Link{{g.Class, list}, {name, ""}}, Body: body}
		if err := w.page(PageOf(g), p); err != nil {
			return err
		}
		if w.o.Progress != nil {
			w.o.Progress(n+1, len(w.x.Groups.List))
		}
	}
	return nil
}

// What a short page and the frame of a page take, about.
const (
	shortPage = 3 << 10
	framePage = 2 << 10
)

func (w *writer) limit() int64 {
	switch {
	case w.o.Limit < 0:
		return 1 << 60
	case w.o.Limit > 0:
		return w.o.Limit
	}
	return 24_000_000
}

// finding makes the body of a page: a short one if the whole one has more bytes
// than may be used.
func (w *writer) finding(g *report.Group, room int64) (template.HTML, error) {
	if room > framePage+shortPage {
		body, err := FindingBody(w.ctx, w.x.Groups, g, w.o.Finding)
		if err != nil || int64(len(body))+framePage <= room {
			return body, err
		}
	}
	w.stats.Short++
	return w.x.ShortFinding(g)
}

// perList is the number of groups on a page that lists them.
const perList = 200

func listFile(class string, page int) string { return fmt.Sprintf("list-%s-%d.html", class, page) }

// classLists writes pages with all groups of each class.
func (w *writer) classLists() error {
	for _, class := range event.Severities {
		v := View{Filter: Filter{Class: []string{class}}, Sort: "test", Per: perList}
		sel := w.x.Select(v.Filter)
		for v.Page = 1; ; v.Page++ {
			l := w.x.List(v, sel)
			if l.Groups == 0 {
				break
			}
			body, err := classList(class, l)
			if err != nil {
				return err
			}
			if err := w.page(listFile(class, v.Page), &Page{Title: fmt.Sprintf("%s, page %d of %d", class, l.Page, l.Pages),
				Here: "index.html", Crumbs: []Link{{class, ""}}, Body: body}); err != nil {
				return err
			}
			if v.Page == l.Pages {
				w.lists = append(w.lists, Link{fmt.Sprintf("%s (%s)", class, plain.Number(l.Groups)), listFile(class, 1)})
				break
			}
		}
	}
	return nil
}

func classList(class string, l List) (template.HTML, error) {
	var pages []Link
	for p := 1; p <= l.Pages && l.Pages > 1; p++ {
		text := plain.Number(p)
		if p == l.Page {
			text = ""
		}
		pages = append(pages, Link{text, listFile(class, p)})
	}
	var b strings.Builder
	err := overviewTemplate.ExecuteTemplate(&b, "list", map[string]any{"Class": class, "List": l, "Links": pages})
	return template.HTML(b.String()), err
}

func (w *writer) changes() error {
	if len(w.x.Toolchains) < 2 {
		return nil
	}
	body, err := w.x.Changes(w.x.Neighbours())
	if err != nil {
		return err
	}
	return w.page(ChangesFile, &Page{Title: "What changed between releases", Scripts: []string{DataFile}, Body: body})
}

func (w *writer) extra() error {
	for _, e := range w.o.Extra {
		p := &Page{Title: e.Title, Body: e.Body, Here: cmp.Or(e.Under, e.File)}
		if p.Body == "" && e.Make != nil {
			var err error
			if p.Body, err = e.Make(); err != nil {
				return err
			}
		}
		for _, l := range w.nav {
			if e.Under != "" && l.Href == e.Under {
				p.Crumbs = []Link{l, {e.Title, ""}}
			}
		}
		if err := w.page(e.File, p); err != nil {
			return err
		}
	}
	return nil
}

var ownFiles = []*regexp.Regexp{regexp.MustCompile(`^f/[0-9a-f]{20}\.html$`), regexp.MustCompile(`^list-[a-z]+-[0-9]+\.html$`),
	regexp.MustCompile(`^(run-[0-9a-f]{20}|kernel-[0-9a-f]{20}|kernels|runs|dependencies|mapping)\.html$`)}

// clean removes the pages of an older report that this one does not have.
func (w *writer) clean() error {
	var old []string
	for _, dir := range []string{".", "f"} {
		entries, err := input.ReadDirIn(w.root, dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := strings.TrimPrefix(dir+"/"+e.Name(), "./")
			if _, now := w.wrote[name]; !now && slices.ContainsFunc(ownFiles, func(p *regexp.Regexp) bool { return p.MatchString(name) }) {
				old = append(old, name)
			}
		}
	}
	for _, name := range old {
		if err := w.root.Remove(filepath.FromSlash(name)); err != nil {
			return err
		}
	}
	return nil
}
