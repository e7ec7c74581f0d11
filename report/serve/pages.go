package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"optcheck/event"
	"optcheck/report/html"
)

func (s *Server) routes() {
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("/{$}", s.overview)
	s.mux.HandleFunc("/index.html", s.overview)
	s.mux.HandleFunc("/f/{page}", s.finding)
	s.mux.HandleFunc("/"+html.ChangesFile, s.changes)
	s.mux.HandleFunc("/"+html.RunsFile, s.runs)
	s.mux.HandleFunc("/"+html.KernelsFile, s.kernels)
	s.mux.HandleFunc("/kernel/{page}", s.kernel)
	s.mux.HandleFunc("/run/{page}", s.run)
	if s.bench != nil {
		s.mux.HandleFunc("/"+html.TryFile, s.edit)
		s.mux.HandleFunc("/"+html.EditorScriptFile, asset("text/javascript; charset=utf-8", html.EditorScript()))
	}
	for _, e := range s.o.Extra {
		s.mux.HandleFunc("/"+e.File, func(w http.ResponseWriter, r *http.Request) {
			s.page(w, r, s.now.Load(), &html.Page{Title: e.Title, Here: e.File, Body: e.Body})
		})
	}
	s.mux.HandleFunc("/"+html.StyleFile, asset("text/css; charset=utf-8", html.Style()))
	s.mux.HandleFunc("/"+html.ScriptFile, asset("text/javascript; charset=utf-8", html.Script()))
	s.mux.HandleFunc("/"+html.ServeScriptFile, asset("text/javascript; charset=utf-8", html.ServeScript()))
	s.apiRoutes()
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.missing(w, r, "There is no such page.") })
}

// asset serves what never changes while the server runs.
func asset(kind string, data []byte) http.HandlerFunc {
	sum := sha256.Sum256(data)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		write(w, r, http.StatusOK, data)
	}
}

func write(w http.ResponseWriter, r *http.Request, status int, data []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // the reader has gone: nobody to tell
	}
}

// nav is the navigation of all pages.
func (s *Server) nav(n *snapshot) []html.Link {
	var links []html.Link
	if s.o.Source != nil {
		links = append(links, html.Link{Text: "Overview", Href: "index.html"})
	}
	if len(n.index.Toolchains) > 1 {
		links = append(links, html.Link{Text: "Changes", Href: html.ChangesFile})
	}
	if len(n.kernels.List) > 0 {
		links = append(links, html.Link{Text: "Kernels", Href: html.KernelsFile})
	}
	if len(n.runs.List) > 0 {
		links = append(links, html.Link{Text: "Runs on devices", Href: html.RunsFile})
	}
	for _, e := range s.o.Extra {
		links = append(links, html.Link{Text: e.Title, Href: e.File})
	}
	if s.bench != nil {
		links = append(links, html.Link{Text: "Try it", Href: html.TryFile})
	}
	return links
}

// page writes a page.
func (s *Server) page(w http.ResponseWriter, r *http.Request, n *snapshot, p *html.Page) {
	s.pageWith(w, r, n, p, http.StatusOK)
}

func (s *Server) pageWith(w http.ResponseWriter, r *http.Request, n *snapshot, p *html.Page, status int) {
	p.Nav, p.Scripts, p.Foot = s.nav(n), append(p.Scripts, html.ServeScriptFile), s.foot(n)
	p.Claims = html.Claims(&n.index.Set.Config)
	if n.stale != "" {
		p.Body = template.HTML(`<div class="note bad" role="alert"><p><strong>These are not the newest results.</strong> They could not be read: `+
			template.HTMLEscapeString(html.Short(n.stale, 400))+`</p></div>`) + p.Body
	}
	p.Body = template.HTML(fmt.Sprintf(`<div data-version="%d" hidden="hidden"></div>`, n.version)) + p.Body
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	write(w, r, status, b.Bytes())
}

func (s *Server) foot(n *snapshot) string {
	if s.o.Source == nil {
		return s.o.Foot
	}
	return fmt.Sprintf("%s Results of %s.", s.o.Foot, n.at.Format("2006-01-02 15:04:05"))
}

func (s *Server) fail(w http.ResponseWriter, err error) {
	s.logf("%v", err)
	http.Error(w, "the page could not be made", http.StatusInternalServerError)
}

func (s *Server) missing(w http.ResponseWriter, r *http.Request, why string) {
	body := template.HTML("<h1>Not found</h1><p>" + template.HTMLEscapeString(why) + `</p>`)
	s.pageWith(w, r, s.now.Load(), &html.Page{Title: "Not found", Root: root(r), Body: body}, http.StatusNotFound)
}

// root leads from a request's path to the root.
func root(r *http.Request) string {
	return strings.Repeat("../", min(8, strings.Count(strings.TrimPrefix(r.URL.Path, "/"), "/")))
}

// maxValues bounds the values that one part of a filter may have.
const maxValues = 200

// query reads the parameters of a request.
func query(r *http.Request) (html.Filter, url.Values, error) {
	v, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return html.Filter{}, nil, err
	}
	for k, list := range v {
		if len(list) > maxValues {
			return html.Filter{}, nil, fmt.Errorf("%s has %d values, at most %d are looked for", html.Short(k, 40), len(list), maxValues)
		}
	}
	f, err := html.ParseFilter(v)
	return f, v, err
}

// whole reads a number of a request; what is none or less than low is an error.
func whole(v url.Values, key string, otherwise, low, high int) (int, error) {
	text := v.Get(key)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s=%s: must be a number from %d to %d", key, html.Short(text, 20), low, high)
	}
	return n, nil
}

func (s *Server) bad(w http.ResponseWriter, r *http.Request, err error) {
	body := template.HTML("<h1>That cannot be answered</h1><p>" + template.HTMLEscapeString(html.Short(err.Error(), 400)) + "</p>")
	s.pageWith(w, r, s.now.Load(), &html.Page{Title: "Bad request", Root: root(r), Body: body}, http.StatusBadRequest)
}

const maxPage = 1_000_000_000

func (s *Server) overview(w http.ResponseWriter, r *http.Request) {
	if s.o.Source == nil {
		w.Header().Set("Location", html.TryFile)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	f, v, err := query(r)
	if err != nil {
		s.bad(w, r, err)
		return
	}
	view := html.View{Filter: f, Sort: v.Get("sort"), Live: true}
	n := s.now.Load()
	if err = errors.Join(onlyKnown(v, "sort", "page"), n.index.Check(f)); err != nil {
		s.bad(w, r, err)
		return
	}
	if view.Page, err = whole(v, "page", 1, 1, maxPage); err == nil && view.Sort != "" && !slices.Contains(html.Sorts, view.Sort) {
		err = fmt.Errorf("sort=%s: must be one of %s", html.Short(view.Sort, 20), strings.Join(html.Sorts, ", "))
	}
	if err != nil {
		s.bad(w, r, err)
		return
	}
	body, err := s.pages.get(fmt.Sprintf("o/%d/%s/%s/%d", n.version, f.Values().Encode(), view.Sort, view.Page),
		func() (template.HTML, error) { return n.index.Overview(view) })
	if err != nil {
		s.fail(w, err)
		return
	}
	s.page(w, r, n, &html.Page{Title: "Overview", Here: "index.html", Body: body})
}

// drawPatience is how long a page waits until its pictures can be drawn.
const drawPatience = 300 * time.Millisecond

var errCrowded = errors.New("pictures for others are being drawn; load this page again")

// hooks are what the page of a finding needs for a request. crowded tells afterwards that pictures
// are missing, because others are being drawn.
func (s *Server) hooks(r *http.Request) (h html.FindingHooks, crowded *bool) {
	h, crowded = s.o.Finding, new(bool)
	if s.bench != nil {
		h.Try = s.bench.address
	}
	if draw := h.Pictures; draw != nil {
		h.Pictures = func(ctx context.Context, t *event.Test, x *event.Result) ([]html.Picture, error) {
			if *crowded = !s.drawing.enter(ctx, clientOf(r.Context()), drawPatience); *crowded {
				return nil, errCrowded
			}
			defer s.drawing.leave()
			return draw(ctx, t, x)
		}
	}
	return h, crowded
}

func (s *Server) finding(w http.ResponseWriter, r *http.Request) {
	id, _ := strings.CutSuffix(r.PathValue("page"), ".html")
	n := s.now.Load()
	g, ok := n.index.Groups.ByID(id)
	if !ok {
		s.missing(w, r, "There is no such finding. It may have been superseded since; look for its test in the overview.")
		return
	}
	h, crowded := s.hooks(r)
	h.Kernel = func(test uint32) string {
		if k, ok := n.kernels.Of(test); ok {
			return "../kernel/" + k.ID + ".html"
		}
		return ""
	}
	body, err := s.drawn(fmt.Sprintf("f/%d/%s", n.version, g.ID), crowded, func() (template.HTML, error) {
		return html.FindingBody(r.Context(), n.index.Groups, g, h)
	})
	if err != nil {
		s.fail(w, err)
		return
	}
	name := n.index.Set.Tests[g.Test].Title()
	s.page(w, r, n, &html.Page{Title: name + ": " + g.Class, Root: "../", Here: "index.html", Body: body,
		Crumbs: []html.Link{{Text: g.Class, Href: "index.html?class=" + url.QueryEscape(g.Class)}, {Text: name}}})
}

// drawn gives the body of a page with pictures. It is not kept while some of them could not
// be drawn, which crowded tells.
func (s *Server) drawn(key string, crowded *bool, draw func() (template.HTML, error)) (template.HTML, error) {
	body, err := s.pages.get(key, func() (template.HTML, error) {
		body, err := draw()
		if err == nil && *crowded {
			err = errCrowded
		}
		return body, err
	})
	if errors.Is(err, errCrowded) {
		err = nil
	}
	return body, err
}

func (s *Server) changes(w http.ResponseWriter, r *http.Request) {
	v, err := url.ParseQuery(r.URL.RawQuery)
	if err == nil {
		err = only(v, "left", "right")
	}
	if err != nil {
		s.bad(w, r, err)
		return
	}
	n := s.now.Load()
	pairs := n.index.Neighbours()
	if v.Has("left") || v.Has("right") {
		p, err := pair(n.index, v)
		if err != nil {
			s.bad(w, r, err)
			return
		}
		pairs = [][2]int{p}
	}
	// The newest releases come first; each pair is a scan over all cells.
	slices.Reverse(pairs)
	if len(pairs) > maxPairs {
		pairs = pairs[:maxPairs]
	}
	body, err := s.pages.get(fmt.Sprintf("c/%d/%v", n.version, pairs), func() (template.HTML, error) { return n.index.Changes(pairs) })
	if err != nil {
		s.fail(w, err)
		return
	}
	form, err := pickForm(n.index.Toolchains, v.Get("left"), v.Get("right"))
	if err != nil {
		s.fail(w, err)
		return
	}
	body = template.HTML(strings.Replace(string(body), "</h1>", "</h1>"+string(form), 1))
	s.page(w, r, n, &html.Page{Title: "Changes", Here: html.ChangesFile, Body: body})
}

// maxPairs bounds the comparisons of one page.
const maxPairs = 3

// pair reads which releases are to be compared.
func pair(x *html.Index, v url.Values) (p [2]int, err error) {
	for i, key := range []string{"left", "right"} {
		if p[i] = slices.Index(x.Toolchains, v.Get(key)); p[i] < 0 {
			return p, fmt.Errorf("%s=%q: must be one of the releases %s", key, html.Short(v.Get(key), 80),
				html.Short(strings.Join(x.Toolchains, ", "), 300))
		}
	}
	if p[0] == p[1] {
		return p, fmt.Errorf("left and right are the same release")
	}
	return p, nil
}

var pickTemplate = template.Must(template.New("pick").Parse(`<form method="get" class="pick no-print" data-autosubmit><label>from <select name="left">{{range .All}}<option{{if eq . $.Left}} selected{{end}}>{{.}}</option>{{end}}</select></label> ` +
	`<label>to <select name="right">{{range .All}}<option{{if eq . $.Right}} selected{{end}}>{{.}}</option>{{end}}</select></label> <button>Compare</button></form>`))

// pickForm chooses two releases, also without JavaScript.
func pickForm(all []string, left, right string) (template.HTML, error) {
	if len(all) < 2 {
		return "", nil
	}
	if left == "" && right == "" {
		left, right = all[len(all)-2], all[len(all)-1]
	}
	var b bytes.Buffer
	err := pickTemplate.Execute(&b, map[string]any{"All": all, "Left": left, "Right": right})
	return template.HTML(b.String()), err
}

// runsPerPage is the number of runs on a page of the list.
const runsPerPage = 200

func (s *Server) runs(w http.ResponseWriter, r *http.Request) {
	from, err := whole(r.URL.Query(), "from", 0, 0, maxPage)
	if err == nil {
		err = only(r.URL.Query(), "from")
	}
	if err != nil {
		s.bad(w, r, err)
		return
	}
	n := s.now.Load()
	o := html.RunsOptions{From: from, Limit: runsPerPage, Link: func(x *html.Run) string { return "run/" + x.ID + ".html" }}
	if from > 0 {
		o.Before = fmt.Sprintf("?from=%d", max(0, from-runsPerPage))
	}
	if from+runsPerPage < len(n.runs.List) {
		o.Next = fmt.Sprintf("?from=%d", from+runsPerPage)
	}
	body, err := html.RunsBody(n.runs, o)
	if err != nil {
		s.fail(w, err)
		return
	}
	s.page(w, r, n, &html.Page{Title: "Runs on devices", Here: html.RunsFile, Body: body})
}

func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	id, _ := strings.CutSuffix(r.PathValue("page"), ".html")
	n := s.now.Load()
	x, ok := n.runs.ByID(id)
	if !ok {
		s.missing(w, r, "There is no such run.")
		return
	}
	body, err := html.RunBody(n.runs, x)
	if err != nil {
		s.fail(w, err)
		return
	}
	name := n.runs.First(x).Test
	s.page(w, r, n, &html.Page{Title: name, Root: "../", Here: html.RunsFile, Body: body,
		Crumbs: []html.Link{{Text: "Runs on devices", Href: html.RunsFile}, {Text: name}}})
}
