package html

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"unicode/utf8"

	"optcheck/event"
	"optcheck/internal/plain"
)

// Short returns a text on one line, visible whatever is in it, and cut to about n
// characters with the number of characters told.
func Short(s string, n int) string {
	total := utf8.RuneCountInString(s)
	if total > n {
		k := 0
		for i := range s {
			if k == n {
				s = s[:i]
				break
			}
			k++
		}
	}
	s = plain.Line(s)
	if total > n {
		s += fmt.Sprintf("… (%s characters)", plain.Number(total))
	}
	return s
}

// percent writes a share so that neither none nor all is claimed wrongly.
func percent(n, of int) string {
	switch {
	case of == 0 || n == 0:
		return "0 %"
	case n == of:
		return "100 %"
	}
	p := 100 * float64(n) / float64(of)
	switch {
	case p < 0.1:
		return "< 0.1 %"
	case p > 99.9:
		return "> 99.9 %"
	}
	return strconv.FormatFloat(math.Round(p*10)/10, 'f', 1, 64) + " %"
}

// classMark returns a class as every page shows it: colour, sign and word.
func classMark(class string) template.HTML {
	return template.HTML(fmt.Sprintf(`<span class="cls %s"><span class="sign" aria-hidden="true">%s</span> %s</span>`,
		classStyle(class), ClassSymbol(class), template.HTMLEscapeString(Short(class, 40))))
}

// classStyle returns the style of a class.
func classStyle(class string) string {
	for _, c := range event.Severities {
		if c == class {
			return "c-" + c
		}
	}
	return "c-" + event.Unknown
}

// ClassSymbol returns a sign for a class, so that classes differ without colour.
func ClassSymbol(class string) string {
	switch class {
	case event.Preserved:
		return "✓"
	case event.Optimised:
		return "≈"
	case event.Miscompiled:
		return "✗"
	case event.Changed:
		return "≠"
	case event.Crashed:
		return "!"
	case event.Invalid:
		return "⊘"
	case event.Unsupported:
		return "–"
	}
	return "?"
}

// funcs are what templates call.
var funcs = template.FuncMap{
	"visible": plain.Text, "plural": plural, "short": Short, "number": plain.Number[int], "percent": percent,
	"class": classMark, "style": classStyle, "sign": ClassSymbol,
}
