package serve

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/browsertest"
	"optcheck/report"
	"optcheck/report/html"
)

// listen serves a source until the test ends and returns the address.
func listen(t *testing.T, o Options) string {
	s, err := New(context.Background(), o)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return "http://" + l.Addr().String() + "/"
}

// drawn gives a set a listing and a verdict, so that pages of findings have all
// their parts, and runs on a device.
func drawn(t testing.TB) *event.Set {
	set := million(40)
	for i := range set.Results {
		r := &set.Results[i]
		if r.Class != event.Miscompiled {
			continue
		}
		r.Code = "drawn"
		r.Verdict = &event.Verdict{Model: "ptx", Source: 3, Machine: 4, New: []string{"0:r1=0; x=2;"}, Check: "causality", Cycle: "a -po-> b",
			Lifted: "GPU_PTX lifted"}
	}
	require.NoError(t, set.Handle(event.Event{Listing: &event.Listing{Code: "drawn", Threads: []event.ThreadListing{
		{Thread: 0, Source: []event.Line{{Pos: 0, Text: "#0 st [x]"}, {Pos: 1, Text: "#1 ld [y]"}},
			Machine: []event.Line{{Pos: 1, Text: "LDG R0"}, {Pos: 0, Text: "STG R1"}}},
		{Thread: 1, Source: []event.Line{{Pos: 0, Text: "#0 ld [x]"}}, Machine: []event.Line{{Pos: 0, Text: "LDG R2"}}}}}}))
	set.Histograms = []event.Histogram{{Test: "mp", Device: event.TestedDevice{Name: "GPU"}, Setting: "none", Status: event.StatusDone,
		Validated: true, Instances: 100, Weak: 4,
		Terms: []string{"0:r0"}, Outcomes: []event.Outcome{{Values: []int64{0}, Count: 96}, {Values: []int64{1}, Count: 4,
			Weak: true}}, Rate: &event.Rate{Rate: 0.04, Low: 0.01, High: 0.1, Reproducibility: 0.98}}}
	return set
}

// quiet fails if a page complained, such as of what its policy forbids, or asked
// another host for something.
func quiet(t *testing.T, b *browsertest.Tab, at string) {
	require.Empty(t, b.Errors())
	for _, r := range b.Requests() {
		require.Regexp(t, `^(`+at+`|data:,|about:blank)`, r)
	}
}

func TestBrowser(t *testing.T) {
	g := &growing{set: drawn(t), new_: true}
	pic := []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40" viewBox="0 0 90 40"><rect width="90" height="40" fill="#eee"/></svg>`)
	at := listen(t, Options{Source: g, Every: 20 * time.Millisecond, Foot: "Foot.", Finding: html.FindingHooks{
		Pictures: func(context.Context, *event.Test, *event.Result) ([]html.Picture, error) {
			return []html.Picture{{Caption: "An execution", SVG: pic}}, nil
		}}})
	b := browsertest.New(t)

	// A filter answers at once, and is in the address.
	b.Open(at)
	b.Until(`document.querySelector("form[data-filter]").offsetHeight > 0`)
	b.Click(`details.facet[data-key="class"] summary`)
	b.Click(`input[name="class"][value="miscompiled"]`)
	b.Until(`location.search === "?class=miscompiled" && document.readyState === "complete"`)
	b.Until(`document.querySelector('details.facet[data-key="class"]').open`)
	require.Positive(t, b.Count(`[data-list] tbody tr`))
	require.Equal(t, b.Count(`[data-list] tbody tr`), b.Count(`[data-list] .c-miscompiled`))
	b.Screenshot("serve-filter")

	// Pages and orders of the list are links.
	b.Click(`nav.pager a`)
	b.Until(`new URLSearchParams(location.search).get("page") === "2" && document.readyState === "complete"`)
	require.Equal(t, "miscompiled", browsertest.Eval[string](b, `new URLSearchParams(location.search).get("class")`))

	// A finding with all its parts; the keyboard reaches what scrolls.
	b.Click(`[data-list] tbody a`)
	b.Until(`location.pathname.includes("/f/") && document.querySelector("h1.fp-name") !== null && document.readyState === "complete"`)
	require.Equal(t, 1, b.Count(".fp-picture svg"))
	require.Equal(t, 2, b.Count(".fp-arrows"))
	require.Positive(t, b.Count(".fp-here"))
	require.Positive(t, b.Count(".fp .scroll[tabindex]"))
	same := `(() => { const f = document.querySelector(".fp-thread"); const li = f.querySelectorAll(".fp-lines")[0].children[1].getBoundingClientRect(); const p = f.querySelector("svg").getBoundingClientRect(); return Math.abs(li.top + li.height / 2 - (p.top + 3 * p.height / 4)) })()`
	require.Less(t, browsertest.Eval[float64](b, same), 3.0, "an arrow begins at the middle of its line")
	b.Screenshot("serve-finding")
	b.Phone()
	require.Zero(t, b.Overflow())
	b.Screenshot("serve-finding-phone")
	b.Dark(true)
	require.NotEqual(t, "rgb(251, 251, 250)", browsertest.Eval[string](b, `getComputedStyle(document.body).backgroundColor`))
	b.Dark(false)

	for _, page := range []string{"changes.html", "runs.html", "", "?q=no+such+test"} {
		b.Open(at + page)
		require.LessOrEqual(t, b.Overflow(), 0, page)
	}
	b.Desktop()

	// Two releases are compared as soon as they are chosen.
	b.Open(at + "changes.html")
	require.Equal(t, 1, browsertest.Eval[int](b, `Array.from(document.querySelectorAll("form")).filter((f) => f.offsetHeight > 0).length`))
	browsertest.Eval[bool](b,
		`(() => { const s = document.querySelector('form[data-autosubmit] select[name="left"]'); s.value = "ptxas 12.0"; s.dispatchEvent(new Event("change", { bubbles: true })); return true })()`)
	b.Until(`new URLSearchParams(location.search).get("left") === "ptxas 12.0" && document.readyState === "complete"`)
	require.Contains(t, b.Text("main"), "ptxas 12.0 → ptxas 12.4")
	b.Screenshot("serve-changes")
	b.Open(at + "runs.html")
	b.Click(`.fp-runs a`)
	b.Until(`document.querySelector(".fp-plot") !== null`)

	// What comes later is announced.
	b.Open(at)
	g.change(func(set *event.Set) {
		require.NoError(t, set.Handle(event.Event{Cell: &event.Cell{Test: "late", Toolchain: "ptxas 12.0",
			Result: event.Result{Class: event.Unknown, Reason: "x"}}}))
	})
	b.Until(`document.querySelector(".newer a") !== null`)
	b.Click(".newer a")
	b.Until(`document.querySelector(".newer") === null && document.readyState === "complete"`)
	quiet(t, b, at)
}

// TestBrowserWithoutScript: the same without JavaScript.
func TestBrowserWithoutScript(t *testing.T) {
	at := listen(t, Options{Source: &fixed{drawn(t)}})
	b := browsertest.New(t)
	b.NoScript()
	b.Open(at + "?class=miscompiled")
	require.Positive(t, browsertest.Eval[int](b, `document.querySelector("form[data-filter]").offsetHeight`))
	b.Click(`details.facet[data-key="target"] summary`)
	b.Click(`input[name="target"][value="sm_70"]`)
	b.Click(`form[data-filter] noscript button, form[data-filter] button:not([hidden])`)
	b.Until(`new URLSearchParams(location.search).get("target") === "sm_70" && document.readyState === "complete"`)
	require.Equal(t, "miscompiled", browsertest.Eval[string](b, `new URLSearchParams(location.search).get("class")`))
	b.Open(at + "changes.html")
	b.Click("form[data-autosubmit] button")
	b.Until(`new URLSearchParams(location.search).get("right") === "ptxas 12.4" && document.readyState === "complete"`)
	quiet(t, b, at)
}

// TestBrowserHostile: hostile names run nothing.
func TestBrowserHostile(t *testing.T) {
	set := event.NewSet()
	for _, n := range []string{`<script>alert(1)</script>`, `"><svg onload=alert(1)>`, `'); alert(1); ('`,
		"\u202e</title><script>alert(1)</script>"} {
		require.NoError(t, set.Handle(event.Event{Cell: &event.Cell{Test: n, Hash: n, Toolchain: n, Target: n, Level: n, Layout: n,
			Result: event.Result{Class: event.Miscompiled, Code: n, Findings: []event.Finding{{Rule: n, Detail: n, Stage: n}}}}}))
		require.NoError(t, set.Handle(event.Event{Listing: &event.Listing{Code: n,
			Threads: []event.ThreadListing{{Source: []event.Line{{Text: n}}, Machine: []event.Line{{Text: n}}}}}}))
	}
	at := listen(t, Options{Source: &fixed{set}})
	b := browsertest.New(t)
	pages := []string{"", "changes.html", "?q=%3Cscript%3Ealert(1)%3C/script%3E"}
	for _, g := range report.NewGroups(set).List {
		pages = append(pages, "f/"+g.ID+".html")
	}
	for _, p := range pages {
		b.Open(at + p)
		require.Zero(t, b.Count("script:not([src])"), p)
		require.Zero(t, b.Count("[onload], [onerror]"), p)
	}
	quiet(t, b, at)
}
