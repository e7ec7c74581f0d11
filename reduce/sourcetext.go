package reduce

import (
	"fmt"
	"regexp"
	"strings"
)

// text is a program as words, each with the blanks behind it. Numbers stay the same when others go.
type text []word

type word struct {
	number int
	text   string
}

type textStep = stepOf[text]

var words = regexp.MustCompile(`(?s)(?://[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\d[\w.]*|\s+|.)\s*`)

func readText(s string) (t text) {
	for i, w := range words.FindAllString(s, -1) {
		t = append(t, word{i, w})
	}
	return t
}

func (t text) String() string {
	var b strings.Builder
	for _, w := range t {
		b.WriteString(w.text)
	}
	return b.String()
}

// without is the text without the words that a step removes.
func (t text) without(s textStep) (left text) {
	left = append(text(nil), t...)
	if !s.apply(left) {
		return t
	}
	n := 0
	for _, w := range left {
		if w.number >= 0 {
			left[n] = w
			n++
		}
	}
	return left[:n]
}

// removal is the step that removes words of the text: those of which the positions are from, and those
// behind them up to another one, which stays.
func (t text) removal(what string, from, to int) textStep {
	first, last := t[from].number, t[to-1].number
	return textStep{name: fmt.Sprintf("remove %s %s", what, short(t[from:to].String())), apply: func(t text) bool {
		some := false
		for i := range t {
			if first <= t[i].number && t[i].number <= last {
				t[i].number, some = -1, true
			}
		}
		return some
	}}
}

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

// lines lists the removals of n lines each.
func (t text) lines(n int) (out []textStep) {
	from, ends := 0, 0
	for i, w := range t {
		if strings.Contains(w.text, "\n") || i == len(t)-1 {
			ends++
		}
		if ends == n || ends > 0 && i == len(t)-1 {
			out = append(out, t.removal("lines", from, i+1))
			from, ends = i+1, 0
		}
	}
	return out
}

// words lists the removals of n words each.
func (t text) words(n int) (out []textStep) {
	for from := 0; from < len(t); from += n {
		out = append(out, t.removal("words", from, min(from+n, len(t))))
	}
	return out
}

// brackets lists the removals of what stands in brackets, with and without these, and of statements.
func (t text) brackets() (out []textStep) {
	type open struct{ at, statement int }
	stack := []open{{-1, 0}}
	for i, w := range t {
		top := &stack[len(stack)-1]
		switch strings.TrimSpace(w.text) {
		case "(", "[", "{":
			stack = append(stack, open{i, i + 1})
			continue
		case ")", "]", "}":
			if len(stack) == 1 {
				continue
			}
			if top.at+1 < i {
				out = append(out, t.removal("what is in brackets:", top.at+1, i))
			}
			out = append(out, t.removal("brackets", top.at, i+1))
			stack = stack[:len(stack)-1]
			if top = &stack[len(stack)-1]; strings.TrimSpace(w.text) != "}" {
				continue
			}
		case ";":
		default:
			continue
		}
		if top.statement < i {
			out = append(out, t.removal("statement", top.statement, i+1))
		}
		top.statement = i + 1
	}
	return out
}
