package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"optcheck/optcheck"
)

// joined is a text of the program, whose lines are cut for a terminal, with a line for each paragraph; lines that are
// indented are tables.
func joined(text string) string {
	text = regexp.MustCompile(`(?m)^ .*$`).ReplaceAllString(text, "")
	return regexp.MustCompile(`([^\n])\n([^\n])`).ReplaceAllString(text, "$1 $2")
}

// TestHelpProse: what the program itself says has sentences as short as those of its documents, and no private word. A page of
// help begins with an example.
func TestHelpProse(t *testing.T) {
	say := func(where, text string) {
		for _, s := range sentences(joined(text)) {
			if n := len(strings.Fields(s)); n > maxSentence {
				t.Errorf("%s: a sentence of %d words: %s", where, n, s)
			}
			for word := range private {
				if m := regexp.MustCompile(`(?i)\b` + word + `\b`).FindString(s); m != "" {
					t.Errorf("%s: %q is a private word: %s", where, m, s)
				}
			}
		}
	}
	for _, c := range visible(newRootCmd(&environment{getenv: func(string) string { return "" }})) {
		path := c.CommandPath()
		if c.Runnable() && path != "optcheck" && !c.HasSubCommands() {
			require.NotEmpty(t, c.Example, path)
		}
		say(path, c.Short)
		say(path, c.Long)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { say(path+" --"+f.Name, f.Usage) })
	}
	for _, r := range optcheck.Rules {
		say(r.ID, r.Title)
		say(r.ID, r.Explain)
	}
}
