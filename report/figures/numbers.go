package figures

import (
	"regexp"
	"slices"
	"strings"
)

// Pages are the pages of results, in whose texts each count has a source.
var Pages = []string{"docs/results/*.md", "docs/results/*/*.md"}

// Whole are pages that are computed as a whole.
var Whole = map[string]func(Tree) (string, error){h200x2 + "corpus.md": placements}

// Loose is a paragraph of a page with numbers that nothing computes and no mark explains.
type Loose struct {
	Line      int // of its beginning
	Paragraph string
	Numbers   []string
}

var (
	tableMark = regexp.MustCompile(`(?m)^<!-- figures: .* -->\n(\|.*\n)*`)
	// onceMark says that what nothing computes between a heading and the next one was measured once, and how. The commit and the
	// date are those of the text: which build was measured is not known.
	onceMark = regexp.MustCompile("^\\*Measured once, by (`[^`]+`|the commands? (shown|of this page))[^*]*; text of [0-9a-f]{8}, \\d{4}-\\d\\d-\\d\\d\\.\\*$")
	heading  = regexp.MustCompile(`^(#+) `)
	noCount  = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)|\\b(sm_|gfx|O|H|T|K)[0-9][\\w-]*|\\b\\d+(\\.\\d+){2,}\\b|\\b20\\d\\d(-\\d\\d-\\d\\d)?\\b")
	count    = regexp.MustCompile(`\d+(?:,\d{3})*(?:\.\d+)?(?:·10\^\d+)?(?: %| per cent)?`)
)

// FindLoose finds what nothing accounts for in a page: counts of three digits and more, percentages and powers of ten, but for
// those in tables that are computed and in sentences that say.
func FindLoose(page string, say []string) (list []Loose) {
	page = tableMark.ReplaceAllStringFunc(page, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	line, marked := 1, false
	for _, part := range strings.SplitAfter(page, "\n\n") {
		at := line
		line += strings.Count(part, "\n")
		if heading.MatchString(part) {
			marked = false
		}
		text := strings.Join(strings.Fields(prose(part)), " ")
		marked = marked || onceMark.MatchString(text)
		for _, s := range say {
			text = strings.ReplaceAll(text, s, "")
		}
		if numbers := counts(text); len(numbers) > 0 && !marked {
			list = append(list, Loose{at, text, numbers})
		}
	}
	return list
}

// prose is a paragraph without its headings and its lines of commands.
func prose(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.HasPrefix(l, "    ") || heading.MatchString(l) }), "\n")
}

// counts are the numbers of a text that are measurements: what is small, a version, a target or a year is none.
func counts(text string) (out []string) {
	for _, n := range count.FindAllString(noCount.ReplaceAllString(text, " "), -1) {
		digits := strings.Count(n, "") - 1
		for _, x := range []string{",", "."} {
			digits -= strings.Count(n, x)
		}
		if strings.ContainsAny(n, "%·c") || digits >= 3 && !strings.Contains(n, ".") || strings.Contains(n, ",") {
			out = append(out, n)
		}
	}
	return out
}
