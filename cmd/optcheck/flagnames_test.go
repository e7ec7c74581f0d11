package main

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// kindOfFlag is what a flag's value is, one thing or several alike.
func kindOfFlag(f *pflag.Flag) string {
	switch t := f.Value.Type(); t {
	case "stringSlice", "stringArray", "stringToInt64", "duration": // time limits of a run are in files of settings, too, as words
		return "string"
	default:
		return t
	}
}

// TestFlagNames: a flag means the same in all commands: whether it has a value, and of which kind; and its one letter.
func TestFlagNames(t *testing.T) {
	kinds, letters := map[string]map[string][]string{}, map[string]map[string]bool{}
	for _, c := range visible(newRootCmd(&environment{getenv: func(string) string { return "" }})) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if kinds[f.Name] == nil {
				kinds[f.Name], letters[f.Name] = map[string][]string{}, map[string]bool{}
			}
			kinds[f.Name][kindOfFlag(f)] = append(kinds[f.Name][kindOfFlag(f)], c.CommandPath())
			letters[f.Name][f.Shorthand] = true
		})
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if len(kinds[name]) > 1 {
			t.Errorf("--%s is of several kinds: %v", name, kinds[name])
		}
		if len(letters[name]) > 1 {
			t.Errorf("--%s has several letters: %v", name, letters[name])
		}
	}
}

// TestFormerNames: what a flag was called works in its command, says so nowhere, and is refused elsewhere.
func TestFormerNames(t *testing.T) {
	root := newRootCmd(&environment{getenv: func(string) string { return "" }})
	for path, names := range former {
		c, _, err := root.Find(strings.Fields(path)[1:])
		require.NoError(t, err)
		for old, name := range names {
			f := c.Flags().Lookup(old)
			require.NotNil(t, f, "%s --%s", path, old)
			require.Equal(t, name, f.Name, path)
			var out bytes.Buffer
			c.SetOut(&out)
			require.NoError(t, c.Usage())
			require.NotContains(t, out.String(), "--"+old+" ", path)
		}
	}
	audit, _, err := root.Find([]string{"audit"})
	require.NoError(t, err)
	require.Equal(t, "output", audit.Flags().Lookup("out").Name)
	require.Nil(t, audit.Flags().Lookup("limit"))
}
