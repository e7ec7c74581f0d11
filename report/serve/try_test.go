package serve

import (
	"context"
	"errors"
	entities "html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/browsertest"
	"optcheck/internal/patient"
	"optcheck/litmus"
	"optcheck/report"
	"optcheck/report/html"
)

// toyBench preserves every test; "hang" waits until it is told to end, and "bad" is refused.
type toyBench struct {
	tried chan html.Trial
	ended chan error
}

func newToyBench() *toyBench { return &toyBench{make(chan html.Trial, 100), make(chan error, 100)} }

func (*toyBench) Offer() *html.Offer {
	return &html.Offer{Tests: []string{"mp"}, Levels: []string{"O0", "O3"}, Layouts: []string{"pointers"},
		Compilers: []html.Compiler{{Value: "a", Name: "ptxas a", Group: "PTX"}, {Value: "b", Name: "ptxas b", Group: "PTX"}},
		Targets:   []html.TargetChoice{{Vendor: "nvidia", Targets: []string{"sm_80", "sm_90"}}},
		First:     html.Trial{Text: "first", Compilers: []string{"a"}, Targets: []string{"sm_90"}, Level: "O3", Layout: "pointers"}}
}

func (*toyBench) Text(name string) (string, bool) { return "GPU_PTX mp", name == "mp" }

func (b *toyBench) Try(ctx context.Context, t html.Trial) ([]html.Tried, []string, error) {
	b.tried <- t
	switch t.Text {
	case "hang":
		<-ctx.Done()
		b.ended <- ctx.Err()
		return nil, nil, ctx.Err()
	case "one\nbad":
		return nil, nil, &litmus.Error{Pos: litmus.Pos{File: "test", Line: 2, Col: 1}, Msg: "no such thing"}
	}
	s := report.NewSet()
	err := errors.Join(s.Handle(report.Event{Test: &report.Test{Name: "t", Hash: "1", Text: t.Text}}),
		s.Handle(report.Event{Cell: &report.Cell{Test: "t", Hash: "1", Toolchain: "ptxas a", Target: "sm_90", Level: t.Level,
			Result: report.Result{Class: report.Preserved, Code: "1"}}}))
	return []html.Tried{{Set: s}}, nil, err
}

// post sends a form, with headers in pairs.
func post(h http.Handler, address string, form url.Values, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", address, strings.NewReader(form.Encode()))
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, loopback{}))
	r.Host = "127.0.0.1:7777"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestTry: what a form asks for is tried, and its link asks for the same.
func TestTry(t *testing.T) {
	b := newToyBench()
	_, h := newServer(t, Options{Source: &fixed{million(4)}, Bench: b})
	require.Contains(t, ask(t, h, "/", http.StatusOK), `href="try.html"`)
	require.Contains(t, ask(t, h, "/try.html", http.StatusOK), "\nfirst</textarea>")
	require.Contains(t, ask(t, h, "/try.html?pick=mp", http.StatusOK), "GPU_PTX mp</textarea>")
	form := url.Values{"test": {"a\r\nb"}, "on": {"b", "b"}, "target": {"sm_80"}, "level": {"O0"}, "layout": {"pointers"}}
	w := post(h, "/try.html", form)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	want := html.Trial{Text: "a\nb", Compilers: []string{"b"}, Targets: []string{"sm_80"}, Level: "O0", Layout: "pointers"}
	require.Equal(t, want, <-b.tried)
	link := `try.html?` + want.Values().Encode()
	require.Contains(t, w.Body.String(), strings.ReplaceAll(link, "&", "&amp;"))
	page := ask(t, h, "/"+link, http.StatusOK)
	require.Contains(t, page, "\na\nb</textarea>")
	require.Contains(t, page, `value="b" checked`)
	require.NotContains(t, page, `value="a" checked`)
	require.Contains(t, page, "<option selected>sm_80")
	require.Empty(t, b.tried, "reading an address compiles nothing")

	w = post(h, "/try.html", url.Values{"test": {"one\nbad"}})
	require.Equal(t, http.StatusUnprocessableEntity, w.Code)
	require.Contains(t, w.Body.String(), "Line 2, column 1: </strong>no such thing")
	require.Contains(t, w.Body.String(), `data-line="2" data-col="1"`)
	require.Equal(t, []string{"a"}, (<-b.tried).Compilers, "what is not said is as at first")
}

// TestTryFinding: a finding's page leads to its test, at the place of its cell.
func TestTryFinding(t *testing.T) {
	set := drawn(t)
	for i := range set.Tests {
		set.Tests[i].Text = "GPU_PTX text of " + set.Tests[i].Name
	}
	_, h := newServer(t, Options{Source: &fixed{set}, Bench: newToyBench()})
	g := html.NewIndex(set).Groups.List[0]
	page := ask(t, h, "/f/"+g.ID+".html", http.StatusOK)
	_, link, ok := strings.Cut(page, `<a href="../try.html?`)
	require.True(t, ok)
	link, _, _ = strings.Cut(link, `"`)
	form := ask(t, h, "/try.html?"+entities.UnescapeString(link), http.StatusOK)
	require.Contains(t, entities.UnescapeString(form), "GPU_PTX text of "+html.NewIndex(set).Set.Tests[g.Test].Name+"</textarea>")
	_, without := newServer(t, Options{Source: &fixed{set}})
	require.NotContains(t, ask(t, without, "/f/"+g.ID+".html", http.StatusOK), "try.html")
}

// TestTryRefuses: other sites, other names, unknown choices, and too much.
func TestTryRefuses(t *testing.T) {
	b := newToyBench()
	_, h := newServer(t, Options{Bench: b})
	ok := url.Values{"test": {"x"}}
	for name, c := range map[string]struct {
		code   int
		says   string
		form   url.Values
		header []string
	}{
		"a form of another site":  {http.StatusForbidden, "own page only", ok, []string{"Sec-Fetch-Site", "cross-site"}},
		"one of the same machine": {http.StatusForbidden, "own page only", ok, []string{"Sec-Fetch-Site", "same-site"}},
		"an older browser":        {http.StatusForbidden, "own page only", ok, []string{"Origin", "http://127.0.0.1:8888"}},
		"a sandboxed frame":       {http.StatusForbidden, "own page only", ok, []string{"Origin", "null"}},
		"a name that points here": {http.StatusMisdirectedRequest, "does not go by that name", ok, []string{"Host", "evil.example:7777", "Sec-Fetch-Site", "same-origin"}},
		"no such compiler":        {http.StatusBadRequest, "no compiler &#34;c&#34; (a, b)", url.Values{"test": {"x"}, "on": {"c"}}, nil},
		"no such target":          {http.StatusBadRequest, "no target", url.Values{"test": {"x"}, "on": {"a"}, "target": {"../x"}}, nil},
		"no such level":           {http.StatusBadRequest, "no level", url.Values{"test": {"x"}, "on": {"a"}, "level": {"O9"}}, nil},
		"a long test":             {http.StatusBadRequest, "65536 bytes", url.Values{"test": {strings.Repeat("x", maxTrialText+1)}}, nil},
		"a very long form":        {http.StatusRequestEntityTooLarge, "cannot be read", url.Values{"x": {strings.Repeat("x", maxTrialForm)}}, nil},
	} {
		w := post(h, "/try.html", c.form, c.header...)
		require.Equal(t, c.code, w.Code, name)
		require.Contains(t, w.Body.String(), c.says, name)
	}
	require.Empty(t, b.tried)
	for _, own := range [][]string{nil, {"Sec-Fetch-Site", "same-origin"}, {"Origin", "http://127.0.0.1:7777"}} {
		require.Equal(t, http.StatusOK, post(h, "/try.html", ok, own...).Code, own)
	}
	require.Equal(t, http.StatusMethodNotAllowed, post(h, "/index.html", ok).Code)
	require.Equal(t, "try.html", get(t, h, "/").Header().Get("Location"), "without results there is this page alone")
	ask(t, h, "/try.html?pick=../../etc/passwd", http.StatusBadRequest)
	ask(t, h, "/try.html?tset=x", http.StatusBadRequest)
	_, without := newServer(t, Options{Source: &fixed{million(4)}})
	require.Equal(t, http.StatusMethodNotAllowed, post(without, "/try.html", ok).Code)
	ask(t, without, "/try.html", http.StatusNotFound)
}

// TestTryCrowd: what hangs is ended, what its reader left too; those who come meanwhile are
// told to wait, keep what they typed, and read pages all the same.
func TestTryCrowd(t *testing.T) {
	b := newToyBench()
	s, h := newServer(t, Options{Source: &fixed{million(4)}, Bench: b})
	s.bench.limit = time.Hour
	s.bench.queue.free = 1
	hang := url.Values{"test": {"hang"}}
	ctx, leave := context.WithCancel(t.Context())
	var list []chan *httptest.ResponseRecorder
	for i := range maxTrials {
		done := make(chan *httptest.ResponseRecorder, 1)
		list = append(list, done)
		go func() {
			r := httptest.NewRequest("POST", "/try.html", strings.NewReader(hang.Encode()))
			r = r.WithContext(context.WithValue(ctx, http.LocalAddrContextKey, loopback{}))
			r.Host = "127.0.0.1:7777"
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			done <- w
		}()
		if i == 0 {
			<-b.tried
		}
	}
	require.Eventually(t, func() bool { return len(s.bench.room) == maxTrials }, patient.Long, time.Millisecond)
	w := post(h, "/try.html", url.Values{"test": {"mine"}})
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), "try again in a moment")
	require.Contains(t, w.Body.String(), "\nmine</textarea>")
	ask(t, h, "/", http.StatusOK)
	leave()
	for _, done := range list {
		<-done
	}
	require.ErrorIs(t, <-b.ended, context.Canceled)
	for len(b.ended) > 0 {
		require.ErrorIs(t, <-b.ended, context.Canceled)
	}
	require.Empty(t, s.bench.room)

	s.bench.limit = time.Millisecond
	w = post(h, "/try.html", hang)
	require.ErrorIs(t, <-b.ended, context.DeadlineExceeded)
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "took longer than 1ms")
	require.Contains(t, w.Body.String(), "\nhang</textarea>")
}

// TestTryHeavy: a trial that takes long turns nobody away, also where there is but one place. Of too
// many such trials the first one ends, and says why.
func TestTryHeavy(t *testing.T) {
	b := newToyBench()
	s, h := newServer(t, Options{Bench: b})
	s.bench.limit, s.bench.share = time.Hour, 10*time.Millisecond
	s.bench.queue.free, s.bench.long.most = 1, 2
	heavy := make(chan *httptest.ResponseRecorder, 3)
	try := func(text string) *httptest.ResponseRecorder { return post(h, "/try.html", url.Values{"test": {text}}) }
	go func() { heavy <- try("hang") }()
	require.Equal(t, "hang", (<-b.tried).Text)
	light := make(chan *httptest.ResponseRecorder, 29)
	for range cap(light) {
		go func() { light <- try("light") }()
	}
	for range cap(light) {
		w := <-light
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		require.NotContains(t, w.Body.String(), "was ended")
	}
	require.Empty(t, heavy, "it goes on beside them")
	for range 2 {
		go func() { heavy <- try("hang") }()
	}
	w := <-heavy
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "took longer than others that were waiting and was ended; what is shown is not all")
	require.ErrorIs(t, <-b.ended, context.Canceled)
	require.Empty(t, b.ended)
	s.bench.long.mu.Lock()
	for _, x := range s.bench.long.all {
		x.end(nil)
	}
	s.bench.long.mu.Unlock()
	for range 2 {
		<-heavy
	}
	require.Empty(t, s.bench.long.all)
}

// TestTryInBrowser types, is shown what is wrong, compiles, and cancels.
func TestTryInBrowser(t *testing.T) {
	b := newToyBench()
	at := listen(t, Options{Bench: b})
	tab := browsertest.New(t)
	tab.Open(at)
	tab.Until(`location.pathname === "/try.html" && document.readyState === "complete"`)
	type_ := func(text string) {
		browsertest.Eval[bool](tab, `(() => { document.querySelector("textarea").value = `+"`"+text+"`"+`; return true })()`)
	}
	type_("one\nbad")
	tab.Click("form[data-try] button")
	tab.Until(`document.querySelector("#try-error") !== null`)
	require.Equal(t, "bad", browsertest.Eval[string](tab,
		`(() => { const t = document.activeElement; return t.value.slice(t.selectionStart, t.selectionStart + 3) })()`), "the place is selected")
	<-b.tried
	type_("good")
	browsertest.Eval[bool](tab, `(() => { document.querySelector("textarea").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true, bubbles: true})); return true })()`)
	tab.Until(`document.querySelector("details.try-cell .c-preserved") !== null`)
	require.Equal(t, "good", (<-b.tried).Text)
	tab.Click(`section a[href*="test=good"]`)
	tab.Until(`location.search.includes("test=good") && document.readyState === "complete"`)
	require.Equal(t, "good", browsertest.Eval[string](tab, `document.querySelector("textarea").value`))
	require.Empty(t, b.tried)

	type_("hang")
	tab.Click("form[data-try] button")
	<-b.tried
	tab.Until(`document.querySelector("[data-cancel]").offsetHeight > 0`)
	tab.Click("[data-cancel]")
	require.ErrorIs(t, <-b.ended, context.Canceled, "the server ends what its reader left")
	tab.Until(`document.querySelector("[data-cancel]").hidden && !document.querySelector("form[data-try] button").disabled`)
	require.Equal(t, "hang", browsertest.Eval[string](tab, `document.querySelector("textarea").value`))

	tab.NoScript()
	tab.Open(at + "try.html?pick=mp")
	tab.Click("form[data-try] button")
	tab.Until(`document.querySelector("details.try-cell") !== null && document.readyState === "complete"`)
}
