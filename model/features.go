package model

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/model/exec"
)

// Features lists the features by which tests can be selected.
var Features = []string{"dependencies", "atomics", "fences", "barriers"}

// ParseFeatures checks a list of features.
func ParseFeatures(list []string) error {
	for _, f := range list {
		if !slices.Contains(Features, f) {
			return fmt.Errorf("%q is no feature of tests; there are %s", f, strings.Join(Features, ", "))
		}
	}
	return nil
}

// Without removes the tests that have one of some features. A dependency is one of an access on
// an earlier load.
func Without(tests []*litmus.Test, features []string) ([]*litmus.Test, error) {
	if len(features) == 0 {
		return tests, nil
	}
	var out []*litmus.Test
	for _, t := range tests {
		has, err := featuresOf(t)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(features, func(f string) bool { return has[f] }) {
			out = append(out, t)
		}
	}
	return out, nil
}

func featuresOf(t *litmus.Test) (map[string]bool, error) {
	p, err := exec.Compile(t)
	if err != nil {
		return nil, err
	}
	list, err := p.Unfold(1)
	if err != nil {
		return nil, fmt.Errorf("test %s: %w", t.Name, err)
	}
	has := map[string]bool{}
	for _, paths := range list {
		for _, path := range paths {
			for i := range path.Events {
				e := &path.Events[i]
				addr, data, ctrl := e.Deps()
				if e.Kind == exec.Write && e.Partner >= 0 {
					data &^= 1 << e.Partner // an atomic's own load
				}
				has["dependencies"] = has["dependencies"] || addr|data|ctrl != 0
				has["atomics"] = has["atomics"] || e.Partner >= 0
				has["fences"] = has["fences"] || e.Kind == exec.Fence
				has["barriers"] = has["barriers"] || e.Kind == exec.Barrier
			}
		}
	}
	return has, nil
}
