package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/patient"
	"optcheck/report"
	"optcheck/report/html"
)

// growing is a source that grows when it is told to.
type growing struct {
	mu   sync.Mutex
	set  *event.Set
	new_ bool
	err  error
}

func (g *growing) Next(context.Context) (*event.Set, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return nil, g.err
	}
	if !g.new_ {
		return nil, nil
	}
	g.new_ = false
	return g.set, nil
}

func (g *growing) change(f func(*event.Set)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(g.set)
	g.new_ = true
}

func newServer(t testing.TB, o Options) (*Server, http.Handler) {
	s, err := New(context.Background(), o)
	require.NoError(t, err)
	return s, s.Handler()
}

func small(t testing.TB) (*event.Set, http.Handler) {
	set := million(40)
	_, h := newServer(t, Options{Source: &fixed{set}, Foot: "Foot."})
	return set, h
}

// ask returns the body of an answer that must have a status.
func ask(t testing.TB, h http.Handler, address string, status int) string {
	w := get(t, h, address)
	require.Equal(t, status, w.Code, "%s: %s", address, w.Body)
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
	require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
	return w.Body.String()
}

func asJSON[T any](t testing.TB, h http.Handler, address string) (v T) {
	d := json.NewDecoder(strings.NewReader(ask(t, h, address, http.StatusOK)))
	require.NoError(t, d.Decode(&v))
	return v
}

// count counts the cells of a set that a filter must choose.
func count(set *event.Set, f func(c *event.Cell) bool) (n int) {
	for _, c := range set.All() {
		if f(&c) {
			n++
		}
	}
	return n
}

func TestSummary(t *testing.T) {
	set, h := small(t)
	type summary struct {
		Cells   int
		Classes map[string]int
		Facets  map[string]map[string]int
		Matrix  []struct {
			Toolchain, Target string
			Classes           map[string]int
		}
	}
	for address, f := range map[string]func(c *event.Cell) bool{
		"/api/summary": func(*event.Cell) bool { return true },
		"/api/summary?class=miscompiled&class=unknown": func(c *event.Cell) bool {
			return c.Class == event.Miscompiled ||
				c.Class == event.Unknown
		},
		"/api/summary?rule=merged&target=sm_70": func(c *event.Cell) bool {
			return len(c.Findings) > 0 && c.Findings[0].Rule == "merged" && c.Target == "sm_70"
		},
		"/api/summary?release=ptxas+12.1&level=O3": func(c *event.Cell) bool { return c.Toolchain == "ptxas 12.1" && c.Level == "O3" },
		"/api/summary?known=known":                 func(c *event.Cell) bool { return len(c.Known) > 0 },
		"/api/summary?q=TEST7%2B":                  func(c *event.Cell) bool { return strings.HasPrefix(c.Test, "Test7+") },
		"/api/summary?q=no+such+text":              func(*event.Cell) bool { return false },
	} {
		s := asJSON[summary](t, h, address)
		require.Equal(t, count(set, f), s.Cells, address)
		sum := 0
		for _, n := range s.Classes {
			sum += n
		}
		require.Equal(t, s.Cells, sum)
		sum = 0
		for _, m := range s.Matrix {
			for _, n := range m.Classes {
				sum += n
			}
		}
		require.Equal(t, s.Cells, sum)
	}
	for _, p := range []string{"class=miscompild", "rule=megred", "target=sm_1", "release=ptxas+99", "level=O9", "layout=x"} {
		for _, resource := range []string{"summary", "cells", "findings"} {
			ask(t, h, "/api/"+resource+"?"+p, http.StatusBadRequest)
		}
	}
	s := asJSON[summary](t, h, "/api/summary?class=miscompiled")
	require.Equal(t, count(set, func(c *event.Cell) bool { return c.Class == event.Preserved }), s.Facets["class"][event.Preserved],
		"what another choice would give")
}

func TestCells(t *testing.T) {
	set, h := small(t)
	type answer struct {
		Total, Offset int
		Cells         []struct {
			event.Cell
			Finding string
		}
	}
	want := count(set, func(c *event.Cell) bool { return c.Class == event.Optimised && c.Target == "sm_80" })
	seen := map[string]bool{}
	for offset := 0; ; offset += 7 {
		a := asJSON[answer](t, h, fmt.Sprintf("/api/cells?class=optimised&target=sm_80&limit=7&offset=%d", offset))
		require.Equal(t, want, a.Total)
		for _, c := range a.Cells {
			require.Equal(t, event.Optimised, c.Class)
			key := strings.Join([]string{c.Test, c.Toolchain, c.Target, c.Level, c.Layout}, "|")
			require.False(t, seen[key], "%s twice", key)
			seen[key] = true
			page := ask(t, h, "/f/"+c.Finding+".html", http.StatusOK)
			require.Contains(t, page, strings.ReplaceAll(c.Test, "+", "&#43;"))
		}
		if len(a.Cells) == 0 {
			break
		}
	}
	require.Len(t, seen, want)
	for _, bad := range []string{"limit=0", "limit=1001", "limit=x", "offset=-1", "known=maybe", "q=" + strings.Repeat("x", 900),
		strings.Repeat("target=a&", 201), "q=%zz"} {
		require.Contains(t, ask(t, h, "/api/cells?"+bad, http.StatusBadRequest), `"error"`, bad)
		ask(t, h, "/?page=0&"+bad, http.StatusBadRequest)
	}
	ask(t, h, "/api/nothing", http.StatusNotFound)
}

func TestFindings(t *testing.T) {
	_, h := small(t)
	type answer struct {
		Total    int
		Findings []html.GroupAnswer
	}
	a := asJSON[answer](t, h, "/api/findings?rule=reordered&limit=3")
	require.Len(t, a.Findings, 3)
	require.Greater(t, a.Total, 3)
	one := asJSON[html.GroupAnswer](t, h, "/api/findings/"+a.Findings[0].ID)
	require.Len(t, one.Where, one.Cells)
	require.Equal(t, a.Findings[0].Findings, one.Findings)
	ask(t, h, "/api/findings/0123", http.StatusNotFound)
	ask(t, h, "/f/0123.html", http.StatusNotFound)
}

var linkPattern = regexp.MustCompile(`(?:href|src)="([^"#]*)"`)

// TestLinks: whatever pages lead to is there.
func TestLinks(t *testing.T) {
	set := million(40)
	set.Histograms = []event.Histogram{{Test: "mp", Device: event.TestedDevice{Name: "GPU"}, Setting: "none", Status: event.StatusDone}}
	_, h := newServer(t, Options{Source: &fixed{set}, Extra: []html.ExtraPage{{File: "dependencies.html", Title: "Dependencies",
		Body: "<h1>Deps</h1>"}}})
	done := map[string]bool{}
	todo := []string{"/"}
	for len(todo) > 0 && len(done) < 300 {
		at := todo[0]
		todo = todo[1:]
		if done[at] {
			continue
		}
		done[at] = true
		body := ask(t, h, at, http.StatusOK)
		base, err := url.Parse("http://h" + at)
		require.NoError(t, err)
		for _, m := range linkPattern.FindAllStringSubmatch(body, -1) {
			u, err := base.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
			require.NoError(t, err)
			if u.Host == "h" && u.Scheme == "http" {
				todo = append(todo, u.RequestURI())
			}
		}
	}
	for _, want := range []string{"/changes.html", "/runs.html", "/dependencies.html", "/assets/style.css", "/assets/app.js",
		"/assets/serve.js", "/index.html?page=2", "/index.html?sort=test"} {
		require.True(t, done[want], want)
	}
}

// TestWithoutScript: filter, paging and comparison are forms and links.
func TestWithoutScript(t *testing.T) {
	_, h := small(t)
	first := ask(t, h, "/?class=optimised", http.StatusOK)
	require.Contains(t, first, `value="optimised" checked`)
	require.Contains(t, first, `index.html?class=optimised&amp;page=2`)
	require.Contains(t, first, "<noscript><button>Filter</button></noscript>")
	require.Contains(t, first, `index.html?class=miscompiled&amp;page=1`, "another class")
	require.Contains(t, first, `class=optimised&amp;level=O3&amp;page=1&amp;release=ptxas&#43;12.1&amp;target=sm_70`, "a box of the matrix")
	require.Contains(t, ask(t, h, "/?level=O3&release=ptxas+12.1&target=sm_70", http.StatusOK), `aria-current="true"`)
	second := ask(t, h, "/?class=optimised&page=2", http.StatusOK)
	require.NotEqual(t, linkPattern.FindAllString(first, -1), linkPattern.FindAllString(second, -1))
	c := ask(t, h, "/changes.html?left=ptxas+12.0&right=ptxas+12.3", http.StatusOK)
	require.Contains(t, c, `<option selected>ptxas 12.3`)
	require.Contains(t, ask(t, h, "/api/cells?clas=miscompiled", http.StatusBadRequest), "no parameter")
	require.Contains(t, ask(t, h, "/api/summary?limit=3", http.StatusBadRequest), "no parameter")
	ask(t, h, "/changes.html?left=ptxas+12.0&right=nothing", http.StatusBadRequest)
	ask(t, h, "/changes.html?left=ptxas+12.0&right=ptxas+12.0", http.StatusBadRequest)
}

func TestGuard(t *testing.T) {
	_, h := newServer(t, Options{Source: &fixed{million(1)}, Hosts: []string{"gpubox.example.org"}})
	send := func(method, host, local string) int {
		r := httptest.NewRequest(method, "/", nil)
		r.Host = host
		if local != "" {
			a, err := net.ResolveTCPAddr("tcp", local)
			require.NoError(t, err)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(a)))
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, "DENY", w.Header().Get("X-Frame-Options"))
		return w.Code
	}
	const me = "127.0.0.1:7777"
	for host, want := range map[string]int{"127.0.0.1:7777": 200, "localhost:7777": 200, "LOCALHOST.": 200, "localhost": 200,
		"gpubox.example.org:80": 200, "GPUBOX.example.org": 200,
		"evil.example:7777": 421, "127.0.0.2:7777": 421, "localhost.evil.example": 421, "": 421, "10.0.0.1": 421, "[::1]:7777": 421,
		"127.0.0.1.evil.example": 421, "0x7f000001": 421} {
		require.Equal(t, want, send("GET", host, me), "%q", host)
	}
	require.Equal(t, 200, send("GET", "[::1]:7777", "[::1]:7777"))
	require.Equal(t, 200, send("HEAD", "192.0.2.7:7777", "192.0.2.7:7777"))
	require.Equal(t, 421, send("GET", "localhost", "192.0.2.7:7777"))
	require.Equal(t, 421, send("GET", "localhost", ""))
	for _, m := range []string{"POST", "PUT", "DELETE", "OPTIONS", "CONNECT"} {
		require.Equal(t, 405, send(m, "localhost", me), m)
	}
	w := get(t, h, "/assets/style.css")
	r := httptest.NewRequest("GET", "/assets/style.css", nil).WithContext(context.WithValue(context.Background(),
		http.LocalAddrContextKey, net.Addr(loopback{})))
	r.Host = "localhost"
	r.Header.Set("If-None-Match", w.Header().Get("ETag"))
	again := httptest.NewRecorder()
	h.ServeHTTP(again, r)
	require.Equal(t, 304, again.Code)
}

// TestHostileNames: names of a file that somebody else wrote do no harm.
func TestHostileNames(t *testing.T) {
	set := event.NewSet()
	names := []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "../../../etc/passwd", strings.Repeat("A", 10<<10),
		"a\x00b\x1b[31m\u202e", "javascript:alert(1)", "%2e%2e%2f", "{{.}}"}
	for _, n := range names {
		c := event.Cell{Test: n, Hash: n, Toolchain: n, Target: n, Level: n, Layout: n, Result: event.Result{Class: event.Miscompiled,
			Code: "c", Findings: []event.Finding{{Rule: n, Detail: n, Stage: n}}}}
		require.NoError(t, set.Handle(event.Event{Cell: &c}))
		require.NoError(t, set.Handle(event.Event{Cell: &event.Cell{Test: n, Result: event.Result{Class: n, Reason: n}}}))
	}
	_, h := newServer(t, Options{Source: &fixed{set}})
	var addresses []string
	for _, n := range names {
		q := url.QueryEscape(n)
		addresses = append(addresses, "/?q="+q, "/?class="+q+"&target="+q+"&rule="+q, "/changes.html?left="+q+"&right="+q,
			"/f/"+url.PathEscape(n)+".html", "/run/"+url.PathEscape(n), "/api/cells?target="+q, "/?sort="+q, "/?page="+q, "/"+url.PathEscape(n))
	}
	addresses = append(addresses, "/", "/changes.html", "/runs.html", "/api/findings", "/api/summary", "/f/../index.html",
		"/assets/../../etc/passwd")
	for _, g := range html.NewIndex(set).Groups.List {
		addresses = append(addresses, "/f/"+g.ID+".html")
	}
	for _, a := range addresses {
		if len(a) > 30<<10 {
			continue // longer than a server's header may be
		}
		w := get(t, h, a)
		require.Contains(t, []int{200, 301, 307, 400, 404}, w.Code, "%.80s", a)
		body := w.Body.String()
		require.NotContains(t, body, "<script>alert", "%.80s", a)
		require.NotContains(t, body, "<img", "%.80s", a)
		require.NotRegexp(t, `(?i)(href|src|action)="\s*javascript:`, body)
		require.NotContains(t, body, "root:x:")
		require.Less(t, len(body), 1<<20, "%.80s", a)
	}
}

// TestLive: what is added while the server runs is served, old answers stay
// whole, and a source that fails leaves what was there.
func TestLive(t *testing.T) {
	g := &growing{set: million(20), new_: true}
	s, h := newServer(t, Options{Source: g, Every: 5 * time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { s.Follow(ctx) })
	defer wait.Wait()
	defer cancel()
	cells := func() int { return asJSON[struct{ Cells int }](t, h, "/api/summary").Cells }
	require.Equal(t, 2000, cells())
	before := ask(t, h, "/", http.StatusOK)
	for i := range 5 {
		g.change(func(set *event.Set) {
			c := event.Cell{Test: fmt.Sprint("new", i), Hash: "h", Toolchain: "ptxas 12.0", Target: "sm_50", Level: "O0", Layout: "pointers",
				Result: event.Result{Class: event.Miscompiled, Code: fmt.Sprint("n", i), Findings: []event.Finding{{Rule: "missing", Detail: "x"}}}}
			require.NoError(t, set.Handle(event.Event{Listing: &event.Listing{Code: c.Code}}))
			require.NoError(t, set.Handle(event.Event{Cell: &c}))
		})
		require.Eventually(t, func() bool { return cells() == 2001+i }, patient.Long, 5*time.Millisecond)
		require.Contains(t, ask(t, h, "/?q="+fmt.Sprint("new", i), http.StatusOK), fmt.Sprint("new", i))
	}
	require.NotEqual(t, before, ask(t, h, "/", http.StatusOK))
	g.mu.Lock()
	g.err = errors.New("the file <is> gone")
	g.mu.Unlock()
	require.Eventually(t, func() bool { return strings.Contains(ask(t, h, "/", http.StatusOK), "the file &lt;is&gt; gone") },
		patient.Long, 5*time.Millisecond)
	require.Equal(t, 2005, cells())
	g.mu.Lock()
	g.err = nil
	g.mu.Unlock()
	require.Eventually(t, func() bool { return !strings.Contains(ask(t, h, "/", http.StatusOK), "is&gt; gone") },
		patient.Long, 5*time.Millisecond)
}

// TestServe: a server on a real connection answers many at once, and ends when
// it is told to without cutting off what has begun.
func TestServe(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s, err := New(context.Background(), Options{Source: &fixed{million(20)},
		Finding: html.FindingHooks{Known: func(string) (html.KnownNote, bool) {
			once.Do(func() { close(begun); <-finish })
			return html.KnownNote{}, false
		}}})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	at := "http://" + l.Addr().String()
	var wait sync.WaitGroup
	for i := range 40 {
		wait.Go(func() {
			r, err := http.Get(at + requests(i)[i%7])
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Body.Close()
			if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != 200 {
				t.Error(r.Status, err)
			}
		})
	}
	wait.Wait()
	groups := s.now.Load().index.Groups.List
	known := slices.IndexFunc(groups, func(g *report.Group) bool { return len(s.now.Load().index.Result(g).Known) > 0 })
	slow := make(chan error, 1)
	go func() {
		r, err := http.Get(at + "/f/" + groups[known].ID + ".html")
		if err == nil {
			var b bytes.Buffer
			_, err = b.ReadFrom(r.Body)
			r.Body.Close()
		}
		slow <- err
	}()
	<-begun
	cancel()
	close(finish)
	require.NoError(t, <-slow)
	require.NoError(t, <-done)
	_, err = http.Get(at)
	require.Error(t, err)
}

func TestCache(t *testing.T) {
	var c cache
	made := 0
	page := func(key string, size int) {
		body, err := c.get(key, func() (template.HTML, error) { made++; return template.HTML(strings.Repeat("x", size)), nil })
		require.NoError(t, err)
		require.Len(t, body, size)
		require.LessOrEqual(t, c.bytes, maxCache)
	}
	page("a", 10)
	page("a", 10)
	require.Equal(t, 1, made)
	for i := range 40 {
		page(fmt.Sprint(i), maxCache/10)
	}
	page("a", 10)
	require.Equal(t, 42, made, "what was not asked for has gone")
	page("big", maxCache)
	page("big", maxCache)
	require.Equal(t, 44, made, "one page does not drive out all others")
	_, err := c.get("error", func() (template.HTML, error) { return "", errors.New("no") })
	require.Error(t, err)
}

// TestStrict: what is misspelt is refused on pages too, and what means nothing to an answer.
func TestStrict(t *testing.T) {
	_, h := small(t)
	for _, address := range []string{"/?class=miscompild", "/?target=sm_9", "/?rule=nosuch", "/?tset=x", "/changes.html?class=miscompiled",
		"/runs.html?form=2", "/api/version?x=1", "/api/changes?left=ptxas+12.0&right=ptxas+12.4&class=miscompiled", "/api/summary?offset=1",
		"/api/findings/none?x=1"} {
		ask(t, h, address, http.StatusBadRequest)
	}
	for _, address := range []string{"/?class=miscompiled&sort=cells&page=1", "/api/changes?left=ptxas+12.0&right=ptxas+12.4"} {
		ask(t, h, address, http.StatusOK)
	}
}
