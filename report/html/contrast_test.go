package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/browsertest"
)

// lowContrast lists texts whose contrast with what lies below them is less than
// what WCAG 2 asks for at level AA, 4.5 to 1. What cannot be used is left out.
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

func TestContrast(t *testing.T) {
	b, x, at := opened(t, 40)
	all := append(append(pages(x), editorFiles(t, folderOf(at))...), "index.html#class=optimised&level=O3")
	for _, dark := range []bool{false, true} {
		b.Dark(dark)
		for _, name := range all {
			b.Open(strings.TrimSuffix(at, "index.html") + name)
			require.Empty(t, browsertest.Eval[[]string](b, lowContrast), "%s, dark: %v", name, dark)
		}
	}
	b.Do(script(`document.querySelector("h1").style.color = "#777"`))
	require.NotEmpty(t, browsertest.Eval[[]string](b, lowContrast), "the check sees what it should")
}
