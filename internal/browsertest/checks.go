package browsertest

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"

	"optcheck/internal/input"
)

// Cut lists elements of a page that are not fully visible, at most a dozen.
func (b *Tab) Cut() []string { return Eval[[]string](b, cut) }

// Faults lists what makes a page hard to use without sight or mouse, at most a dozen.
func (b *Tab) Faults() []string { return Eval[[]string](b, faults) }

// LowContrast lists texts whose contrast with their background is below WCAG 2's requirement.
func (b *Tab) LowContrast() []string { return Eval[[]string](b, lowContrast) }

// cut lists elements that are not fully visible: that extend beyond the window, or beyond an
// element that hides what extends beyond it, if nothing between lets one scroll to them.
const cut = `(() => {
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

// faults lists what makes a page hard to use without sight or mouse: the serious rules of
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
		if (["auto", "scroll"].includes(s.overflowX) && e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0 && !e.querySelector("a[href], button, input, summary, [contenteditable=true]") && e.tagName !== "HTML" && e.tagName !== "BODY") say("scrolls without keys", e);
	}
	let last = 1;
	for (const e of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) { const n = Number(e.tagName[1]); if (n > last + 1) say("a level of heads is left out", e); last = n; }
	return out.slice(0, 12);
})()`

// lowContrast lists texts whose contrast with their background is below WCAG 2's requirement at
// level AA, 4.5 to 1. It skips disabled elements.
const lowContrast = `(() => {
	const g = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const rgba = (c) => { g.clearRect(0, 0, 1, 1); g.fillStyle = c; g.fillRect(0, 0, 1, 1); return Array.from(g.getImageData(0, 0, 1, 1).data); };
	const over = (a, b) => { const t = a[3] / 255; return [0, 1, 2].map((i) => a[i] * t + b[i] * (1 - t)).concat(255); };
	const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const below = (e) => { const stack = []; for (; e; e = e.parentElement) stack.push(rgba(getComputedStyle(e).backgroundColor)); return stack.reverse().reduce((b, a) => over(a, b), [255, 255, 255, 255]); };
	const out = [];
	for (const e of document.body.querySelectorAll("*")) {
		if (!Array.from(e.childNodes).some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
		if (e.closest(".hidden-text, [hidden], :disabled, svg, option") || !e.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
		const ground = below(e), c = rgba(getComputedStyle(e).color);
		let opacity = 1;
		for (let p = e; p; p = p.parentElement) opacity *= Number(getComputedStyle(p).opacity);
		c[3] *= opacity;
		const a = light(over(c, ground)), b = light(ground), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) out.push(ratio.toFixed(2) + " " + e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 40));
	}
	return Array.from(new Set(out));
})()`

// maxAxe bounds axe-core, in bytes.
const maxAxe = 4 << 20

// AxeFile is where make axe puts axe-core.
func AxeFile() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "optcheck", "axe-core", "axe.min.js"), err
}

// Axe lists what axe-core finds wrong with the page, at most a dozen. Where make axe could not
// fetch it the test is skipped, whatever is required: no other check is left out for it.
func (b *Tab) Axe() []string {
	b.t.Helper()
	file, err := AxeFile()
	require.NoError(b.t, err)
	code, err := input.ReadFile(file, maxAxe)
	if err != nil {
		b.t.Skip("no axe-core: make axe fetches it")
	}
	Eval[bool](b, "(() => {"+string(code)+"; window.axed = null; axe.run({resultTypes: ['violations'], preload: false}).then((r) => { window.axed = r; }); return true; })()")
	b.Until("window.axed !== null")
	return Eval[[]string](b, `window.axed.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 200) + " " + n.failureSummary)).slice(0, 12)`)
}
