package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"optcheck/event"
	"optcheck/report/html"
)

// Bench compiles tests and programs that readers type, and judges tests. It must be safe for concurrent use.
type Bench interface {
	// Offers are the kinds of trials, with what they may ask for: at least one. That of litmus tests is the first.
	Offers() []*html.Offer
	// Text is a text of Offer.Tests.
	Text(what, name string) (string, bool)
	// Try does a trial that asks for nothing beyond its offer. An error is one of the trial;
	// what was left out is told in notes. When ctx ends it stops, and what it started with it.
	Try(ctx context.Context, t html.Trial) (html.Outcome, error)
}

// Limits of trials.
const (
	maxTrialText  = 64 << 10
	maxTrialForm  = 4 * maxTrialText // encoded
	maxTrialLink  = 16 << 10
	maxTrials     = 64 // at once, those that wait among them
	trialPatience = time.Minute
	trialTime     = 20 * time.Second
	trialShare    = 2 * time.Second // for which a trial has a place to itself
	trialDrawTime = 5 * time.Second
)

// bench is what a server needs to have tests tried.
type bench struct {
	Bench
	queue queue
	long  long
	room  chan struct{}
	limit time.Duration
	share time.Duration
	same  *http.CrossOriginProtection
}

func newBench(b Bench) *bench {
	cores := runtime.GOMAXPROCS(0)
	return &bench{Bench: b, queue: queue{free: max(1, cores/2)}, long: long{most: 4 * cores}, room: make(chan struct{}, maxTrials),
		limit: trialTime, share: trialShare, same: http.NewCrossOriginProtection()}
}

// address is where the form has the test of a finding, for the place of one of its cells as far
// as that can be had.
func (b *bench) address(t *event.Test, c *event.Cell) string {
	o := b.Offers()[0]
	x := o.First
	x.Text = t.Text
	for _, k := range o.Compilers {
		if k.Name == c.Toolchain {
			x.Compilers = []string{k.Value}
			break
		}
	}
	if slices.Contains(o.Levels, c.Level) {
		x.Level = c.Level
	}
	if slices.Contains(o.Layouts, c.Layout) {
		x.Layout = c.Layout
	}
	for _, v := range o.Targets {
		if slices.Contains(v.Targets, c.Target) {
			x.Targets = []string{c.Target}
		}
	}
	if link := linkOf(x); t.Text != "" && link != "" {
		return "../" + link
	}
	return ""
}

// linkOf is the address of a trial, "" if it is too long for one.
func linkOf(t html.Trial) string {
	link := html.TryFile + "?" + t.Values().Encode()
	if len(link) > maxTrialLink {
		return ""
	}
	return link
}

// posted reports whether a request is a trial.
func (s *Server) posted(r *http.Request) bool {
	return s.bench != nil && r.Method == http.MethodPost && r.URL.Path == "/"+html.TryFile
}

// post does a trial. It has places of its own: pages do not wait for compilers.
func (s *Server) post(w http.ResponseWriter, r *http.Request, c *client) {
	a := &answer{header: w.Header()}
	defer s.send(w, c, a)
	if err := s.bench.same.Check(r); err != nil {
		http.Error(a, "tests are taken from this server's own page only", http.StatusForbidden)
		return
	}
	rc := http.NewResponseController(w)
	r.Body = http.MaxBytesReader(a, r.Body, maxTrialForm)
	e := s.bench.editor()
	if err := r.ParseForm(); err != nil {
		s.edited(a, r, e, http.StatusRequestEntityTooLarge, fmt.Errorf("the form cannot be read: %w", err))
		return
	}
	// What takes longer than reading may: else the end of its time would look like a reader who left.
	_ = rc.SetReadDeadline(time.Time{})
	_ = rc.SetWriteDeadline(time.Time{})
	var err error
	if err = e.fill(r.PostForm); err != nil {
		s.edited(a, r, e, http.StatusBadRequest, err)
		return
	}
	s.tried(a, r, c, e)
}

var errBusy = errors.New("other tests are being compiled; try again in a moment")

// tried does a trial when it is its turn.
func (s *Server) tried(a *answer, r *http.Request, c *client, e *editor) {
	busy := func() {
		a.Header().Set("Retry-After", "2")
		s.edited(a, r, e, http.StatusServiceUnavailable, errBusy)
	}
	select {
	case s.bench.room <- struct{}{}:
		defer func() { <-s.bench.room }()
	default:
		busy()
		return
	}
	c.work.Store(true)
	defer c.work.Store(false)
	if !s.bench.queue.enter(r.Context(), c, trialPatience) {
		busy()
		return
	}
	start := time.Now()
	defer func() {
		c.spent.Add(int64(time.Since(start)))
		c.moved()
	}()
	var err error
	ended := s.bench.work(r.Context(), func(ctx context.Context) { e.Outcome, err = s.bench.Try(ctx, e.Trial) })
	if ended != nil {
		e.Notes = append(e.Notes, fmt.Sprintf("This %v and was ended; what is shown is not all.", ended))
		err = nil
	}
	e.Link = linkOf(e.Trial)
	status := http.StatusOK
	if err != nil {
		status = http.StatusUnprocessableEntity
	}
	s.edited(a, r, e, status, err)
}

// editor is the page for a request.
type editor struct{ html.Editor }

func (b *bench) editor() *editor {
	e := &editor{html.Editor{Offers: b.Offers()}}
	e.choose(e.Offers[0])
	return e
}

func (e *editor) choose(o *html.Offer) { e.Offer, e.Trial = o, o.First }

// what takes the kind of trial from a form, without which it is the first.
func (e *editor) what(v url.Values) error {
	if !v.Has(html.TryWhat) {
		return nil
	}
	for _, o := range e.Offers {
		if o.What == v.Get(html.TryWhat) {
			e.choose(o)
			return nil
		}
	}
	return fmt.Errorf("nothing to try by the name of %q", html.Short(v.Get(html.TryWhat), 60))
}

// fill takes in a form; what it does not say is as the offer has it at first.
func (e *editor) fill(v url.Values) error {
	if err := e.what(v); err != nil {
		return err
	}
	t := &e.Trial
	t.Text = strings.ReplaceAll(v.Get(html.TryTest), "\r\n", "\n")
	if v.Has(html.TryCompiler) || v.Has(html.TryTarget) || v.Has(html.TryLevel) || v.Has(html.TryLayout) {
		t.Compilers, t.Targets, t.Level, t.Layout = v[html.TryCompiler], v[html.TryTarget], v.Get(html.TryLevel), v.Get(html.TryLayout)
	}
	if len(t.Text) > maxTrialText {
		t.Text = ""
		return fmt.Errorf("a text may have %d bytes here", maxTrialText)
	}
	return offered(e.Offer, t)
}

// offered refuses a trial that asks for something that is not there, and leaves that out.
func offered(o *html.Offer, t *html.Trial) error {
	var errs []error
	check := func(what string, asked, there []string) (kept []string) {
		for _, x := range asked {
			if !slices.Contains(there, x) {
				errs = append(errs, fmt.Errorf("no %s %q (%s)", what, html.Short(x, 60), html.Short(strings.Join(there, ", "), 300)))
			} else if !slices.Contains(kept, x) {
				kept = append(kept, x)
			}
		}
		return kept
	}
	var compilers, targets []string
	for _, c := range o.Compilers {
		compilers = append(compilers, c.Value)
	}
	for _, c := range o.Targets {
		targets = append(targets, c.Targets...)
	}
	first := func(list []string, otherwise string) string {
		if len(list) == 0 {
			return otherwise
		}
		return list[0]
	}
	t.Compilers, t.Targets = check("compiler", t.Compilers, compilers), check("target", t.Targets, targets)
	t.Level = first(check("level", chosen(t.Level), o.Levels), o.First.Level)
	t.Layout = first(check("layout", chosen(t.Layout), o.Layouts), o.First.Layout)
	if o.One && len(t.Compilers) > 1 {
		errs = append(errs, fmt.Errorf("%d choices of %s, and one is taken", len(t.Compilers), o.Tool))
		t.Compilers = t.Compilers[:1]
	}
	return errors.Join(errs...)
}

// chosen is a choice of a form, none if it is empty.
func chosen(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// edit answers with the form: filled in by the address, nothing is compiled.
func (s *Server) edit(w http.ResponseWriter, r *http.Request) {
	e := s.bench.editor()
	v, err := url.ParseQuery(r.URL.RawQuery)
	keys := []string{html.TryWhat, html.TryTest, html.TryCompiler, html.TryTarget, html.TryLevel, html.TryLayout, html.TryPick}
	if err == nil {
		err = only(v, keys...)
	}
	if err == nil {
		err = e.what(v)
	}
	if err == nil && v.Has(html.TryTest) {
		err = e.fill(v)
	}
	if err == nil && v.Has(html.TryPick) {
		text, ok := s.bench.Text(e.Offer.What, v.Get(html.TryPick))
		if ok {
			e.Trial.Text = text
		} else {
			err = fmt.Errorf("no test %q to begin with", html.Short(v.Get(html.TryPick), 60))
		}
	}
	status := http.StatusOK
	if err != nil {
		status = http.StatusBadRequest
	}
	s.edited(w, r, e, status, err)
}

// edited writes the page; err, if not nil, is shown on it.
func (s *Server) edited(w http.ResponseWriter, r *http.Request, e *editor, status int, err error) {
	e.Err, e.Nonce = err, rand.Text()
	w.Header().Set("Content-Security-Policy", strings.Replace(policy, "style-src 'self'", "style-src 'self' 'nonce-"+e.Nonce+"'", 1))
	ctx, cancel := context.WithTimeout(r.Context(), trialDrawTime)
	defer cancel()
	body, err := html.EditorBody(ctx, &e.Editor, s.o.Finding)
	if err != nil {
		s.fail(w, err)
		return
	}
	s.pageWith(w, r, s.now.Load(), &html.Page{Title: "Try it: " + e.Offer.Name, Here: html.TryFile, Body: template.HTML(body),
		Scripts: []string{html.EditorScriptFile}}, status)
}
