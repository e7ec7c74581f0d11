package reduce

import (
	"fmt"
	"strings"

	"optcheck/spec"
)

// Address names a cell, and optionally a broken rule, in words. Each part but the test may be
// empty; then the caller's own setting applies.
type Address struct {
	Test      string // a name or a file
	Toolchain string // a release, version, name or ID: 12.4, 12.4.131, cuda-12.4, ptxas-12.4.131
	Target    string
	Level     string
	Layout    string
	Rule      string
}

// ParseAddress reads TEST[@TOOLCHAIN/TARGET/LEVEL/LAYOUT][:RULE], for example
// coRR@12.4/sm_80/O3/offsets:merged. Trailing parts after the @ may be omitted. The last @
// counts, so that a file name may contain one.
func ParseAddress(s string) (Address, error) {
	a := Address{Test: s}
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return a, nil
	}
	a.Test = s[:at]
	place, rule, _ := strings.Cut(s[at+1:], ":")
	a.Rule = rule
	parts := strings.Split(place, "/")
	if a.Test == "" || len(parts) > 4 || strings.HasSuffix(s, ":") {
		return a, fmt.Errorf("finding %q: expected TEST@TOOLCHAIN/TARGET/LEVEL/LAYOUT:RULE", s)
	}
	for i, p := range []*string{&a.Toolchain, &a.Target, &a.Level, &a.Layout} {
		if i < len(parts) {
			*p = parts[i]
		}
	}
	if a.Layout != "" {
		if _, err := spec.ParseLayout(a.Layout); err != nil {
			return a, fmt.Errorf("finding %q: %w", s, err)
		}
	}
	return a, nil
}
