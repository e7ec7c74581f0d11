package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// otherVariables are the variables of the environment that are no settings.
var otherVariables = map[string]string{
	"OPTCHECK_LOCK_DIR": "folder of the locks that keep two runs off one device; default: the system's temporary folder",
}

// testVariables steer the tests of the program itself, which start it.
var testVariables = []string{"REQUIRE_TOOLS", "FULL", "SEED", "SCREENSHOTS", "HOSTILE", "REPORT", "SILENT", "TESTS",
	"STRIDE", "REAL",
	"FLIPS", "HERD_RUNS", "DEVICE_PROCESS", "NAME"}

// testPrefixes begin the names of more of them.
var testPrefixes = []string{"TEST_", "KILL_", "CONTROLS_", "TOKENS", "FAKE_", "MODEL_"}

// unknownVariables refuses variables that begin like the program's own and mean nothing: what
// is misspelt must not be ignored.
func unknownVariables(environ []string) error {
	var names []string
	for k := range defaults {
		names = append(names, envName(k))
	}
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		rest, ours := strings.CutPrefix(name, "OPTCHECK_")
		test := slices.Contains(testVariables, rest) || slices.ContainsFunc(testPrefixes,
			func(p string) bool { return strings.HasPrefix(rest, p) })
		if !ours || test || otherVariables[name] != "" || slices.Contains(names, name) {
			continue
		}
		hint := ""
		if n := nearest(name, names); n != "" {
			hint = "; did you mean " + n + "?"
		}
		return fmt.Errorf("the environment has %s, which is no setting%s (optcheck config lists them)", name, hint)
	}
	return nil
}

// kinds checks that settings which are numbers or switches are some, wherever they are from.
func (c *config) kinds() error {
	for _, k := range settingNames() {
		value := strings.TrimSpace(fmt.Sprint(c.v.Get(k)))
		switch defaults[k].(type) {
		case int:
			if n, err := strconv.Atoi(value); err != nil || n < 0 {
				return fmt.Errorf("%s is %q, which is no number (from %s)", k, value, c.origin(k))
			}
		case bool:
			if _, err := strconv.ParseBool(value); err != nil {
				return fmt.Errorf("%s is %q, neither true nor false (from %s)", k, value, c.origin(k))
			}
		}
	}
	return nil
}
