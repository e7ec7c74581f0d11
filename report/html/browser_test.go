package html

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/browsertest"

	"optcheck/internal/plain"
)

// quiet asserts that pages complained of nothing and asked for files alone.
func quiet(t *testing.T, b *browsertest.Tab) {
	t.Helper()
	require.Empty(t, b.Errors())
	for _, r := range b.Requests() {
		require.Truef(t, strings.HasPrefix(r, "file://") || strings.HasPrefix(r, "data:") || r == "about:blank", "asked for %s", r)
	}
}

// opened returns a report of the sample in a browser.
func opened(t *testing.T, tests int) (*browsertest.Tab, *Index, string) {
	b := browsertest.New(t)
	dir := t.TempDir()
	s := sample(tests)
	writeSet(t, dir, s)
	at := browsertest.FileURL(filepath.Join(dir, "index.html"))
	open(b, at)
	return b, NewIndex(s), at
}

// open goes to a page and waits until it is drawn.
func open(b *browsertest.Tab, at string) {
	b.Open(at)
	b.Until(ready)
	b.Do(script(`window.seen = location.hash; addEventListener("hashchange", () => { window.seen = location.hash; })`))
}

// shows waits until the page has drawn what its address says, and that is what a
// condition asks for. The address alone is not enough: it changes before the
// page does, whose parts of before may still be found and clicked on.
func shows(b *browsertest.Tab, condition string) {
	b.Until("window.seen === location.hash && (" + condition + ")")
}

const ready = `document.documentElement.dataset.ready === "yes"`

// shown is what an overview shows: totals by class, the number of findings and
// rows.
type shown struct {
	Classes map[string]string
	Status  string
	Rows    []string
	Boxes   []string
	Facets  map[string]string
}

const readShown = `(() => {
	const text = (s) => Array.from(document.querySelectorAll(s)).map((e) => e.innerText.replace(/\s+/g, " ").trim());
	const o = {Classes: {}, Facets: {}, Status: text("[data-status]")[0], Rows: text("[data-list] tbody tr"),
		Boxes: Array.from(document.querySelectorAll(".box[aria-label]")).map((e) => e.getAttribute("aria-label"))};
	document.querySelectorAll("[data-class]").forEach((li) => { o.Classes[li.dataset.class] = li.querySelector(".count").innerText; });
	document.querySelectorAll(".facet label").forEach((l) => { const i = l.querySelector("input"), v = l.querySelector("output"); if (v) o.Facets[i.name + "=" + i.value] = v.textContent; });
	return o;
})()`

func look(b *browsertest.Tab) shown { return browsertest.Eval[shown](b, readShown) }

// wanted returns what the overview without the script shows of a filter.
func wanted(t *testing.T, x *Index, f Filter) shown {
	sel := x.Select(f)
	want := shown{Classes: map[string]string{}, Facets: map[string]string{}, Rows: []string{}}
	all := x.Select(Filter{})
	for k, n := range sel.Total {
		if all.Total[k] > 0 {
			want.Classes[event.Severities[k]] = plain.Number(n)
		}
	}
	blocks, _ := x.blocks(sel.Columns)
	for _, b := range blocks {
		for _, r := range b.Rows {
			for _, sq := range r.Squares {
				for _, box := range sq {
					if box.Label != "" {
						want.Boxes = append(want.Boxes, box.Label)
					}
				}
			}
		}
	}
	for _, fc := range x.facets(f, sel) {
		for _, v := range fc.Values {
			want.Facets[fc.Key+"="+v.Value] = plain.Number(v.Cells)
		}
	}
	l := x.List(View{Filter: f}, sel)
	for _, r := range l.Rows {
		text := ClassSymbol(r.Class) + " " + r.Class + " " + r.Test + " " + strings.Join(r.Known, " ") + " " + r.Race
		for _, f := range r.Findings {
			text += fmt.Sprintf(" %s %s %s", f.Rule, f.Place, f.Detail)
		}
		text += " " + r.Reason + " " + strings.Join(r.Where, " ") + " " + plain.Number(r.Cells)
		want.Rows = append(want.Rows, strings.Join(strings.Fields(text), " "))
	}
	want.Status = plural(l.Groups, "finding") + " in " + plural(l.Cells, "cell")
	if l.Pages > 1 {
		want.Status += fmt.Sprintf("; page 1 of %d", l.Pages)
	}
	want.Status += "."
	return want
}

// TestFilterInBrowser asks script and program the same questions.
func TestFilterInBrowser(t *testing.T) {
	b, x, _ := opened(t, 90)
	require.Equal(t, wanted(t, x, Filter{}), look(b))
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 25 {
		f := someFilter(x, rnd)
		b.Do(setHash(f.Values()))
		shows(b, "true")
		require.Equal(t, wanted(t, x, f), look(b), "%+v", f)
	}
	quiet(t, b)
}

// TestOverviewInBrowser does what a reader does.
func TestOverviewInBrowser(t *testing.T) {
	b, x, at := opened(t, 90)
	b.Screenshot("sample-light")
	rows := b.Count("[data-list] tbody tr")
	require.Equal(t, perPage, rows)

	// Choose a rule.
	b.Click(`[data-key="rule"] summary`)
	b.Click(`[data-key="rule"] input[value="fence-weakened"]`)
	shows(b, `location.hash === "#rule=fence-weakened"`)
	want := x.Select(Filter{Rule: []string{"fence-weakened"}})
	b.Until(fmt.Sprintf(`document.querySelector('[data-class="miscompiled"] .count').innerText === %q`,
		plain.Number(want.Total[classMiscompiled])))
	b.Until(fmt.Sprintf(`document.querySelectorAll("[data-list] tbody tr").length < %d`, rows))
	// Back again.
	b.Do(back())
	b.Until(fmt.Sprintf(`document.querySelectorAll("[data-list] tbody tr").length === %d`, rows))
	require.Empty(t, browsertest.Eval[string](b, "location.hash"))

	// A class by its key, words, the next page.
	b.Press(kb.Escape)
	b.Click(`[data-class="optimised"] button`)
	shows(b, `location.hash === "#class=optimised"`)
	b.Press("/")
	b.Until(`document.activeElement.name === "q"`)
	b.Press(kb.Backspace) // the keys that are sent are typed even if the page takes them
	b.Press("merged 13")
	shows(b, `location.hash === "#class=optimised&q=merged+13"`)
	b.Do(back())
	shows(b, `location.hash === "#class=optimised"`)
	b.Until(`document.querySelector("[data-reset]").disabled === false`)
	b.Click("[data-reset]")
	shows(b, `location.hash === "" || location.hash === "#"`)
	b.Click(`[data-sort="cells"] button`)
	shows(b, `location.hash === "#sort=cells"`)
	b.Click(`[data-pager] a[rel="next"]`)
	shows(b, `location.hash === "#sort=cells&page=2"`)

	// A box of the matrix.
	open(b, at)
	b.Click("a.box.c-miscompiled")
	shows(b, `new URLSearchParams(location.hash.slice(1)).get("target") === "sm_35"`)
	require.Equal(t, 1, b.Count(`a.box[aria-current="true"]`))

	// A finding, and back to the same filter.
	hash := browsertest.Eval[string](b, "location.hash")
	b.Click("[data-list] tbody a")
	b.Until(`location.pathname.includes("/f/") && document.readyState === "complete"`)
	require.Contains(t, b.Text("main"), "fence-weakened")
	b.Do(back())
	b.Until(ready + " && location.hash === " + fmt.Sprintf("%q", hash))
	require.Equal(t, hash, browsertest.Eval[string](b, "location.hash"))
	quiet(t, b)
}

// TestChangesInBrowser compares what the script says of two releases with what
// the page without it says.
func TestChangesInBrowser(t *testing.T) {
	b, x, at := opened(t, 60)
	open(b, strings.TrimSuffix(at, "index.html")+ChangesFile)
	const text = `Array.from(document.querySelectorAll(%q)).map((e) => e.textContent.replace(/\s+/g, " ").trim().replaceAll(" <", "<")).join("\n")`
	section := func(s string) string { return browsertest.Eval[string](b, fmt.Sprintf(text, s)) }
	changes := 0
	for _, p := range x.Neighbours() {
		own := fmt.Sprintf(`[data-pair="%d.%d"] `, p[0], p[1])
		want := []string{section(own + "h2"), section(own + ".summary"), section(own + ".changes tbody tr"), section(own + "details td"),
			section(own + "details th")}
		changes += len(want[2])
		b.Do(setHash(url.Values{"left": {x.Toolchains[p[0]]}, "right": {x.Toolchains[p[1]]}}))
		shows(b, "true")
		const shown = "[data-pairs] + div "
		got := []string{section(shown + "h2"), section(shown + ".summary"), section(shown + ".changes tbody tr"), section(shown + "details td"),
			section(shown + "details th")}
		require.Equal(t, want, got)
	}
	require.Positive(t, changes)
	// Any two, by the form.
	b.Do(script(`const s = document.querySelector('[name=left]'); s.selectedIndex = 2; s.dispatchEvent(new Event("change", {bubbles: true}));`))
	shows(b, `location.hash.includes("12.4.131")`)
	c := x.Compare(2, 2, maxChanges)
	require.Zero(t, c.OnlyLeft+c.OnlyRight+c.Class+c.Found+c.Code)
	b.Do(script(`const s = document.querySelector('[name=right]'); s.selectedIndex = 0; s.dispatchEvent(new Event("change", {bubbles: true}));`))
	shows(b, `location.hash.includes("right=ptxas+9.2.1")`)
	require.Equal(t, x.Compare(2, 0, maxChanges).Summary(), section("[data-pairs] + div .summary"))
	quiet(t, b)
}

func TestKeyboard(t *testing.T) {
	b, _, _ := opened(t, 20)
	focus := func() string {
		return browsertest.Eval[string](b,
			`document.activeElement.className + "|" + document.activeElement.tagName + "|" + document.activeElement.innerText.trim()`)
	}
	b.Press(kb.Tab)
	require.Equal(t, "skip|A|Skip to the content", focus())
	b.Until(`document.querySelector(".skip").getBoundingClientRect().top >= 0`)
	require.NotEqual(t, "none", browsertest.Eval[string](b, "getComputedStyle(document.activeElement).outlineStyle"),
		"what has the focus is seen")
	b.Press(kb.Enter)
	b.Until(`document.activeElement.id === "main"`)
	require.Empty(t, browsertest.Eval[string](b, "location.hash"))
	// Every stop can be seen, and the matrix is one of them.
	seen := map[string]bool{}
	for range 60 {
		b.Press(kb.Tab)
		f := focus()
		if strings.Contains(f, "BODY") {
			break
		}
		seen[strings.Split(f, "|")[0]] = true
		require.NotEqual(t, "none", browsertest.Eval[string](b, "getComputedStyle(document.activeElement).outlineStyle"), f)
		if strings.HasPrefix(f, "box") {
			break
		}
	}
	require.True(t, strings.HasPrefix(focus(), "box"), "%v", seen)
	first := browsertest.Eval[string](b, "document.activeElement.dataset.at")
	b.Press(kb.ArrowRight, kb.ArrowDown)
	b.Until(fmt.Sprintf("document.activeElement.dataset.at !== %q", first))
	b.Press(kb.Enter)
	shows(b, `location.hash.includes("level=")`)
	// A part of the filter opens with the keyboard, and Escape leaves it.
	b.Do(script(`document.querySelector('[data-key="class"] summary').focus()`))
	b.Press(kb.Enter)
	b.Until(`document.querySelector('[data-key="class"]').open`)
	b.Press(kb.Tab, " ")
	shows(b, `location.hash.includes("class=preserved")`)
	b.Press(kb.Escape)
	b.Until(`!document.querySelector('[data-key="class"]').open && document.activeElement.tagName === "SUMMARY"`)
	quiet(t, b)
}

func TestThemes(t *testing.T) {
	b, _, at := opened(t, 10)
	background := func() string { return browsertest.Eval[string](b, "getComputedStyle(document.body).backgroundColor") }
	b.Dark(false)
	light := background()
	b.Dark(true)
	dark := background()
	require.NotEqual(t, light, dark)
	b.Screenshot("sample-dark")
	require.Equal(t, "Theme: system", b.Text("[data-theme-toggle]"))
	b.Click("[data-theme-toggle]")
	becomes := func(colour string) {
		b.Until(fmt.Sprintf("getComputedStyle(document.body).backgroundColor === %q", colour))
	}
	becomes(light) // the reader's choice wins
	open(b, at)
	require.Equal(t, light, background(), "and is kept")
	b.Click("[data-theme-toggle]")
	b.Dark(false)
	becomes(dark)
	quiet(t, b)
}

// pages returns one page of each kind.
func pages(x *Index) []string {
	return []string{"index.html", PageOf(x.Groups.List[0]), PageOf(x.Groups.List[len(x.Groups.List)-1]), listFile("optimised", 1), ChangesFile}
}

func TestPhone(t *testing.T) {
	b, x, at := opened(t, 40)
	b.Phone()
	for _, name := range pages(x) {
		b.Open(strings.TrimSuffix(at, "index.html") + name)
		require.LessOrEqual(t, b.Overflow(), 0, name)
		b.Screenshot("phone-" + strings.NewReplacer("/", "-", ".html", "").Replace(name))
	}
	b.Open(at)
	b.Click(`[data-key="target"] summary`)
	require.LessOrEqual(t, b.Overflow(), 0)
	quiet(t, b)
}

func TestPrint(t *testing.T) {
	b, x, at := opened(t, 40)
	b.Dark(true)
	for _, name := range pages(x) {
		b.Open(strings.TrimSuffix(at, "index.html") + name)
		pdf := b.PDF()
		require.True(t, strings.HasPrefix(string(pdf), "%PDF-"), name)
		require.Greater(t, len(pdf), 5000, name)
	}
	quiet(t, b)
}

func TestWithoutScript(t *testing.T) {
	b, x, at := opened(t, 90)
	b.NoScript()
	b.Open(at + "?plain")
	require.Equal(t, "none", browsertest.Eval[string](b, `getComputedStyle(document.querySelector("[data-filter]")).display`),
		"a filter that does nothing is not shown")
	require.Equal(t, perPage, b.Count("[data-list] tbody tr"))
	require.Equal(t, 0, b.Count("a.box"))
	b.Click(fmt.Sprintf(`a[href=%q]`, listFile("optimised", 1)))
	b.Until(`location.pathname.includes("list-optimised") && document.readyState === "complete"`)
	require.Equal(t, min(perList, x.List(View{}, x.Select(Filter{Class: []string{"optimised"}})).Groups), b.Count("tbody tr"))
	b.Click("tbody a")
	b.Until(`location.pathname.includes("/f/") && document.readyState === "complete"`)
	require.Contains(t, b.Text("main"), "merged")
	quiet(t, b)
}

func TestHostileInBrowser(t *testing.T) {
	b := browsertest.New(t)
	dir := t.TempDir()
	out := writeSet(t, dir, hostile())
	b.Phone()
	for name := range out {
		if strings.HasSuffix(name, ".html") {
			b.Open(browsertest.FileURL(filepath.Join(dir, name)))
			require.LessOrEqual(t, b.Overflow(), 0, name)
			require.Zero(t, b.Count("img, main script, iframe, object"), name)
		}
	}
	b.Desktop()
	open(b, browsertest.FileURL(filepath.Join(dir, "index.html")))
	x := NewIndex(hostile())
	require.Equal(t, wanted(t, x, Filter{}).Classes, look(b).Classes)
	for _, preset := range x.Presets {
		f := Filter{Preset: []string{preset}}
		b.Do(setHash(f.Values()))
		shows(b, "true")
		require.Equal(t, wanted(t, x, f).Classes, look(b).Classes, preset)
	}
	quiet(t, b)
}

// setHash sets the filter.
func setHash(v url.Values) action {
	h, err := json.Marshal("#" + v.Encode())
	if err != nil {
		panic(err)
	}
	return script(fmt.Sprintf("location.hash = %s", h))
}

func back() action { return script("history.back()") }
