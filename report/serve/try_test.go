package serve

import (
	"context"
	"errors"
	"fmt"
	entities "html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/browsertest"
	"optcheck/internal/patient"
	"optcheck/litmus"
	"optcheck/report/html"
)

// toyBench preserves every test; "hang" waits until it is told to end, and "bad" is refused.
type toyBench struct {
	tried chan html.Trial
	ended chan error
}

func newToyBench() *toyBench { return &toyBench{make(chan html.Trial, 100), make(chan error, 100)} }

func (*toyBench) Offers() []*html.Offer {
	return []*html.Offer{
		{What: "litmus", Name: "Litmus test", Label: "Test", Go: "Compile", Tests: []string{"mp"}, Levels: []string{"O0", "O3"}, Layouts: []string{"pointers"},
			Compilers: []html.Compiler{{Value: "a", Name: "ptxas a", Group: "PTX"}, {Value: "b", Name: "ptxas b", Group: "PTX"}},
			Targets:   []html.TargetChoice{{Vendor: "nvidia", Targets: []string{"sm_80", "sm_90"}}},
			First:     html.Trial{What: "litmus", Text: "first", Compilers: []string{"a"}, Targets: []string{"sm_90"}, Level: "O3", Layout: "pointers"}},
		{What: "cuda", Name: "CUDA C++", Label: "CUDA C++", Go: "Compile", One: true, Tool: "release", Levels: []string{"O3"},
			Compilers: []html.Compiler{{Value: "n", Name: "nvcc n"}, {Value: "o", Name: "nvcc o"}},
			Targets:   []html.TargetChoice{{Vendor: "nvidia", Targets: []string{"sm_80"}}},
			First:     html.Trial{What: "cuda", Text: "__global__ void k();", Compilers: []string{"n"}, Targets: []string{"sm_80"}, Level: "O3"}},
		{What: "model", Name: "Memory model", Label: "Test", Go: "Judge", One: true, Tool: "model",
			Compilers: []html.Compiler{{Value: "sc", Name: "sc"}}, First: html.Trial{What: "model", Text: "GPU_PTX", Compilers: []string{"sc"}}}}
}

func (*toyBench) Text(_, name string) (string, bool) { return "GPU_PTX mp", name == "mp" }

func (b *toyBench) Try(ctx context.Context, t html.Trial) (html.Outcome, error) {
	b.tried <- t
	switch t.Text {
	case "hang":
		<-ctx.Done()
		b.ended <- ctx.Err()
		return html.Outcome{}, ctx.Err()
	case "one\nbad":
		return html.Outcome{}, &litmus.Error{Pos: litmus.Pos{File: "test", Line: 2, Col: 1}, Msg: "no such thing"}
	}
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 40"><text y="20">a</text></svg>`)
	switch t.What {
	case "cuda":
		return html.Outcome{Codes: []html.TriedCode{{Toolchain: "nvcc n", Target: "sm_80", Level: "O3", Class: event.Changed,
			Findings: []html.TriedFinding{{Line: 2, Col: 3, Rule: "missing", Message: "no barrier </script>", Bad: true}, {Rule: "note", Message: "somewhere"}},
			Funcs: []html.TriedFunc{{Name: "k(int*)", Lines: []html.TriedLine{{At: "0000", Text: "S2R R0, SR_TID.X", Line: 2}, {At: "0010", Text: "LDG R1", Line: 3},
				{At: "0020", Text: "STG R1", Line: 2}, {At: "0030", Text: "EXIT"}}}},
			Between: []html.TriedLine{{At: "1", Text: "ld.global", Line: 3}}}}}, nil
	case "model":
		return html.Outcome{Judged: &html.Judged{Model: "sc", Asked: "exists (x=1)", Answer: "Never", Why: "cycle", Forbidden: &html.Picture{Caption: "no", SVG: svg},
			States: []html.JudgedState{{Values: "x=0;", Count: 2, Picture: &html.Picture{Caption: "one", SVG: svg}}, {Values: "x=2;", Count: 1, Note: "No picture."}}}}, nil
	}
	s := event.NewSet()
	err := errors.Join(s.Handle(event.Event{Test: &event.Test{Name: "t", Hash: "1", Text: t.Text}}),
		s.Handle(event.Event{Cell: &event.Cell{Test: "t", Hash: "1", Toolchain: "ptxas a", Target: "sm_90", Level: t.Level,
			Result: event.Result{Class: event.Preserved, Code: "1"}}}))
	return html.Outcome{Tried: []html.Tried{{Set: s}}}, err
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
	want := html.Trial{What: "litmus", Text: "a\nb", Compilers: []string{"b"}, Targets: []string{"sm_80"}, Level: "O0", Layout: "pointers"}
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
	require.Contains(t, w.Body.String(), "Line 2, column 1: </strong><span>no such thing")
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
		"nothing of that kind":    {http.StatusBadRequest, "nothing to try by the name of &#34;perl&#34;", url.Values{"test": {"x"}, "what": {"perl"}}, nil},
		"two where one is taken":  {http.StatusBadRequest, "2 choices of release, and one is taken", url.Values{"test": {"x"}, "what": {"cuda"}, "on": {"n", "o"}}, nil},
		"one of another kind":     {http.StatusBadRequest, "no compiler &#34;a&#34; (n, o)", url.Values{"test": {"x"}, "what": {"cuda"}, "on": {"a"}}, nil},
		"a level of a model":      {http.StatusBadRequest, "no level &#34;O3&#34;", url.Values{"test": {"x"}, "what": {"model"}, "on": {"sc"}, "level": {"O3"}}, nil},
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

// TestTryKinds: each kind of trial has its own choices, and its result beside the text.
func TestTryKinds(t *testing.T) {
	b := newToyBench()
	_, h := newServer(t, Options{Bench: b})
	for _, c := range []struct {
		form url.Values
		want html.Trial
		page []string
	}{
		{url.Values{"what": {"cuda"}, "test": {"a\nb\nc"}, "on": {"o"}, "target": {"sm_80"}, "level": {"O3"}},
			html.Trial{What: "cuda", Text: "a\nb\nc", Compilers: []string{"o"}, Targets: []string{"sm_80"}, Level: "O3"},
			[]string{`<li class="c0" data-of="2">`, `<li class="c1" data-of="3">`, `<li data-of="0">`, "S2R R0", "no barrier &lt;/script&gt;", `data-line="2" data-col="3"`, "The PTX between them"}},
		{url.Values{"what": {"model"}, "test": {"x"}, "on": {"sc"}}, html.Trial{What: "model", Text: "x", Compilers: []string{"sc"}},
			[]string{"exists (x=1)", "Never", `<details name="execution"`, "x=2;", "No picture.", "2 executions"}},
	} {
		w := post(h, "/try.html", c.form)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		require.Equal(t, c.want, <-b.tried)
		for _, want := range c.page {
			require.Contains(t, w.Body.String(), want)
		}
		link := "try.html?" + c.want.Values().Encode()
		require.Contains(t, w.Body.String(), strings.ReplaceAll(link, "&", "&amp;"))
		require.Contains(t, ask(t, h, "/"+link, http.StatusOK), "\n"+c.want.Text+"</textarea>")
	}
	require.Contains(t, ask(t, h, "/try.html?what=cuda", http.StatusOK), "\n__global__ void k();</textarea>")
	require.Contains(t, ask(t, h, "/try.html?what=perl", http.StatusBadRequest), "nothing to try by the name")
}

// TestTryInBrowser types, is shown what is wrong, compiles, and cancels.
func TestTryInBrowser(t *testing.T) {
	b := newToyBench()
	at := listen(t, Options{Bench: b})
	tab := browsertest.New(t)
	tab.Open(at)
	tab.Until(`location.pathname === "/try.html" && document.readyState === "complete"`)
	type_ := func(text string) {
		browsertest.Eval[bool](tab, fmt.Sprintf(`(() => { const v = optcheckEditor.of(document.querySelector(".cm-editor")); v.dispatch({ changes: { from: 0, to: v.state.doc.length, insert: %q } }); return true; })()`, text))
	}
	type_("one\nbad")
	tab.Click("form[data-try] button")
	tab.Until(`document.querySelector("#try-error") !== null`)
	require.Equal(t, "one\nbad", (<-b.tried).Text)
	require.Equal(t, "bad", browsertest.Eval[string](tab, `document.querySelector(".cm-activeLine").textContent`), "the place is shown")
	require.Equal(t, 1, tab.Count(".cm-lint-marker-error"), "and marked in the margin")
	type_("goo")
	tab.Click(".cm-content")
	tab.Press("d")
	browsertest.Eval[bool](tab, `(() => { document.querySelector(".cm-content").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true, bubbles: true})); return true })()`)
	tab.Until(`document.querySelector("details.try-cell .c-preserved") !== null`)
	require.Equal(t, "good", (<-b.tried).Text)
	tab.Click(`main a[href*="test=good"]`)
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

	shown := func(what, selector string) {
		tab.Open(at + "try.html?what=" + what)
		tab.Click("form[data-try] button")
		tab.Until(`document.querySelector("` + selector + `") !== null`)
		<-b.tried
		for _, width := range []int{1400, 390} {
			tab.Width(width)
			for _, dark := range []bool{false, true} {
				tab.Dark(dark)
				require.LessOrEqual(t, tab.Overflow(), 0, what)
				require.Empty(t, tab.Axe(), "%s %d %v", what, width, dark)
			}
		}
		tab.Width(1400)
	}
	shown("model", ".ce-state svg")
	tab.Click("h2 + .ce-state summary")
	tab.Until(`document.querySelectorAll(".ce-state[open]").length === 1`)
	require.Equal(t, 1, tab.Count("h2 + .ce-state[open]"), "one execution is open at a time")
	tab.Open(at + "try.html?what=cuda")
	type_("1\n2\n3\n4")
	tab.Click("form[data-try] button")
	tab.Until(`document.querySelector(".ce-lines") !== null`)
	<-b.tried
	require.Equal(t, []string{"c0:2", "c1:3"}, browsertest.Eval[[]string](tab,
		`Array.from(document.querySelectorAll(".cm-line[data-at]"), (e) => e.className.match(/c\d/)[0] + ":" + e.textContent)`), "lines wear the colours of their code")
	require.Equal(t, 1, tab.Count(".cm-lint-marker-error"))
	tab.Click(`li[data-of="3"]`)
	require.Equal(t, "3", browsertest.Eval[string](tab, `document.querySelector(".cm-activeLine").textContent`))
	require.Empty(t, slices.DeleteFunc(tab.Errors(), func(s string) bool { return strings.Contains(s, "status of 422") }), "its styles are let in")
	for _, r := range tab.Requests() {
		require.Regexp(t, `^(`+at+`|data:|about:blank)`, r)
	}
	shown("cuda", ".ce-lines")
	shown("litmus", "details.try-cell")

	tab.NoScript()
	tab.Open(at + "try.html?what=cuda")
	tab.Click("form[data-try] button")
	tab.Until(`document.querySelector(".ce-source .c0, .ce-source li") !== null && document.readyState === "complete"`)
	require.Positive(t, browsertest.Eval[int](tab, `document.querySelector("textarea").offsetHeight`), "without a script there is a plain field")
	<-b.tried
	tab.Open(at + "try.html?pick=mp")
	tab.Click("form[data-try] button")
	tab.Until(`document.querySelector("details.try-cell") !== null && document.readyState === "complete"`)
}
