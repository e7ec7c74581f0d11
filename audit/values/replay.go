package values

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"optcheck/refine"
)

var (
	moduleHead = regexp.MustCompile(`(?m)^\.(version|target|address_size|file)\b.*\n`)
	entry      = regexp.MustCompile(`(?m)^\.visible \.entry ([A-Za-z_][A-Za-z0-9_]*)\(`)
)

// Replay judges a kept cause again in cells, on its input.
func Replay(ctx context.Context, dir string, cells []Cell) (out []Again, err error) {
	e, err := readKept(dir)
	if err != nil {
		return nil, err
	}
	m := entry.FindStringSubmatch(e.PTX)
	if m == nil {
		return nil, fmt.Errorf("%s: the kernel is not one of a hunt", dir)
	}
	s := &subject{name: m[1], text: strings.TrimLeft(moduleHead.ReplaceAllString(e.PTX, ""), "\n"), inputs: []*refine.Input{e.Finding.Input}}
	s.read()
	for _, c := range cells {
		v, err := judge(ctx, c, []*subject{s})
		if err != nil {
			return nil, err
		}
		a := Again{Cell: c.String(), Wrong: v[0].outcome == Wrong, Why: v[0].why, Finding: v[0].finding}
		if a.Finding != nil {
			a.Why = fmt.Sprintf("%s: %s", a.Finding.Rule, a.Finding.Why)
		}
		out = append(out, a)
	}
	return out, nil
}
