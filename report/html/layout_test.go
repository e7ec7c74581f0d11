package html

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/browsertest"
)

// cutOff lists elements that cannot be seen as a whole: that stick out of the window or of
// an element that hides what sticks out, where nothing between lets one scroll to them.
const cutOff = `(() => {
	const out = [];
	for (const e of document.body.querySelectorAll("*")) {
		if (e.closest(".hidden-text, [hidden], svg svg, svg *, .skip, option, head") || !e.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
		const r = e.getBoundingClientRect();
		if (r.width === 0 || r.height === 0) continue;
		let scrolls = false, hidden = null;
		for (let p = e.parentElement; p && !scrolls && !hidden; p = p.parentElement) {
			const s = getComputedStyle(p), b = p.getBoundingClientRect();
			if (b.width <= 1 && s.overflowX === "hidden") scrolls = true; // for readers of screens alone
			else if (["auto", "scroll"].includes(s.overflowX) && p !== document.documentElement && p !== document.body) scrolls = true;
			else if (["hidden", "clip"].includes(s.overflowX) && (r.right > b.right + 1 || r.left < b.left - 1)) hidden = p;
		}
		if (hidden) out.push("cut by " + hidden.tagName + "." + hidden.className + ": " + e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 40));
		else if (!scrolls && r.right > document.documentElement.clientWidth + 1) out.push("beyond the window: " + e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 40));
	}
	return Array.from(new Set(out)).slice(0, 12);
})()`

// faults lists what makes a page hard to use without eyes or mouse: the serious rules of
// accessibility that a program can check.
const faults = `(() => {
	const out = [], name = (e) => (e.getAttribute("aria-label") || (e.getAttribute("aria-labelledby") || "").split(" ").map((i) => i && document.getElementById(i)?.textContent).join("") ||
		Array.from(e.labels || []).map((l) => l.textContent).join("") || e.getAttribute("title") || e.alt || e.textContent || e.value || e.placeholder || "").trim();
	const say = (what, e) => out.push(what + ": " + e.outerHTML.slice(0, 80));
	if (!document.documentElement.lang) out.push("no language");
	if (!document.title.trim()) out.push("no title");
	if (document.querySelectorAll("main").length !== 1) out.push("not one main");
	if (document.querySelectorAll("h1").length !== 1) out.push("not one h1");
	const ids = Array.from(document.querySelectorAll("[id]"), (e) => e.id);
	for (const id of new Set(ids)) if (ids.filter((x) => x === id).length > 1) out.push("id twice: " + id);
	for (const e of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=img]")) if (!name(e)) say("no name", e);
	for (const e of document.querySelectorAll("img")) if (!e.hasAttribute("alt")) say("no text for a picture", e);
	for (const e of document.querySelectorAll("svg")) if (!e.closest("[aria-hidden=true]") && !(e.getAttribute("role") === "img" && (e.querySelector("title") || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby"))) && !e.closest("figure")) say("no text for a drawing", e);
	for (const e of document.querySelectorAll("[aria-labelledby], [aria-describedby], [aria-controls]")) for (const a of ["aria-labelledby", "aria-describedby", "aria-controls"])
		for (const id of (e.getAttribute(a) || "").split(" ").filter(Boolean)) if (!document.getElementById(id)) say(a + " leads nowhere", e);
	for (const e of document.querySelectorAll("[tabindex]")) if (e.tabIndex > 0) say("own order of tabs", e);
	for (const e of document.querySelectorAll("table")) if (!e.querySelector("th")) say("table without heads", e);
	for (const e of document.querySelectorAll("*")) { // what scrolls must be reached by keys
		const s = getComputedStyle(e);
		if (["auto", "scroll"].includes(s.overflowX) && e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0 && !e.querySelector("a[href], button, input, summary") && e.tagName !== "HTML" && e.tagName !== "BODY") say("scrolls without keys", e);
	}
	let last = 1;
	for (const e of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) { const n = Number(e.tagName[1]); if (n > last + 1) say("a level of heads is left out", e); last = n; }
	return out.slice(0, 12);
})()`

// folderOf is the folder of a page in a file.
func folderOf(at string) string { return filepath.Dir(strings.TrimPrefix(at, "file://")) }

// TestLayout: at the widths of a desk, a tablet and a phone, light and dark, no element is
// cut, and no page has a serious fault of accessibility.
func TestLayout(t *testing.T) {
	b, x, at := opened(t, 40)
	all := append(pages(x), editorFiles(t, folderOf(at))...)
	var bad []string
	for _, width := range []int{1400, 820, 390} {
		b.Width(width)
		for _, dark := range []bool{false, true} {
			b.Dark(dark)
			for _, name := range all {
				b.Open(strings.TrimSuffix(at, "index.html") + name)
				b.Do(script(`document.querySelectorAll(".try-cell").forEach((e) => { e.open = true; })`))
				for _, check := range []string{cutOff, faults} {
					for _, s := range browsertest.Eval[[]string](b, check) {
						bad = append(bad, fmt.Sprintf("%s at %d: %s", name, width, s))
					}
				}
			}
		}
	}
	require.Empty(t, bad)
	b.Do(script(`document.querySelector("h1").style.cssText = "width: 3000px"`))
	require.NotEmpty(t, browsertest.Eval[[]string](b, cutOff), "the check sees what it should")
	b.Do(script(`document.querySelector("a").textContent = ""; document.title = ""`))
	require.Len(t, browsertest.Eval[[]string](b, faults), 2)
}
