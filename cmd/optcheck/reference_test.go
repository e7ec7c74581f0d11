package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/limits"
	"optcheck/optcheck"
)

var update = flag.Bool("update", false, "write the reference pages anew")

// writtenBy ends each page.
const writtenBy = "\n<!-- Written by: go test ./cmd/optcheck -run Reference -update -->\n"

// TestReference: the reference pages say what the program has.
func TestReference(t *testing.T) {
	for name, page := range map[string]func(*bytes.Buffer){"commands": commandsPage, "settings": settingsPage, "rules": rulesPage,
		"exit-codes": exitPage, "events": func(b *bytes.Buffer) { eventsPage(t, b) }} {
		var b bytes.Buffer
		page(&b)
		b.WriteString(writtenBy)
		file := filepath.Join("..", "..", "docs", "reference", name+".md")
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
		}
		have, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, b.String(), string(have), "%s: go test ./cmd/optcheck -run Reference -update writes it anew", file)
	}
}

func cellText(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", " ")
}

func commandsPage(b *bytes.Buffer) {
	root := newRootCmd(&environment{getenv: func(string) string { return "" }})
	b.WriteString("# Commands\n\nFlags that choose (`--targets`, `--toolchains`, `--levels`, `--layouts`, `--classes`, `--rules`, `--presets`, `--races`) are\n" +
		"taken in either number by every command that has them. `optcheck COMMAND --help` prints the same.\n\n")
	all := visible(root)
	for _, g := range groups {
		fmt.Fprintf(b, "**%s**\n\n", strings.TrimSuffix(g.title, ":"))
		for _, name := range g.commands {
			for _, c := range all[1:] {
				if path := c.CommandPath(); strings.Fields(path)[1] == name {
					fmt.Fprintf(b, "- [%s](#%s): %s\n", path, strings.ReplaceAll(path, " ", "-"), c.Short)
				}
			}
		}
		b.WriteByte('\n')
	}
	for _, c := range all {
		fmt.Fprintf(b, "\n## %s\n\n```\n%s\n```\n", c.CommandPath(), c.UseLine())
		if c.Example != "" {
			fmt.Fprintf(b, "\n```console\n%s\n```\n", c.Example)
		}
		fmt.Fprintf(b, "\n```text\n%s\n```\n", long(c))
		if list := flagsOf(c); len(list) > 0 {
			b.WriteString("\n| flag | meaning | default |\n|---|---|---|\n")
			for _, f := range list {
				_, usage := pflag.UnquoteUsage(f)
				fmt.Fprintf(b, "| `%s` | %s | %s |\n", spelling(f), cellText(usage), cellText(defaultOf(f)))
			}
		}
	}
}

// settingHelp says what a setting is: the usage of its flag in audit, else in the first command that has it.
func settingHelp(name string) (usage string) {
	commands := visible(newRootCmd(&environment{getenv: func(string) string { return "" }}))
	first := slices.IndexFunc(commands, func(c *cobra.Command) bool { return c.Name() == "audit" })
	for _, c := range append(commands[first:first+1:first+1], commands...) {
		if f := c.Flags().Lookup(name); f != nil && usage == "" {
			usage = f.Usage
		}
		if f := c.PersistentFlags().Lookup(name); f != nil && usage == "" {
			usage = f.Usage
		}
	}
	return usage
}

func settingsPage(b *bytes.Buffer) {
	b.WriteString("# Settings and environment\n\nA setting is taken from the command line, else from the environment, else from `optcheck.yaml` of the current folder (or\n" +
		"`--config FILE`), else from the user's own (`${XDG_CONFIG_HOME:-~/.config}/optcheck/optcheck.yaml`), else it has its default.\n" +
		"`optcheck config` prints which value is from where. Lists are separated by commas in flags, and by commas, blanks or colons\n" +
		"in variables. A variable that begins with `OPTCHECK_` and is none of these is an error.\n\n" +
		"| in `optcheck.yaml` | flag | variable | default | meaning |\n|---|---|---|---|---|\n")
	for _, k := range settingNames() {
		d := fmt.Sprint(defaults[k])
		if d == "[]" {
			d = ""
		}
		fmt.Fprintf(b, "| `%s` | `--%s` | `%s` | %s | %s |\n", k, k, envName(k), d, cellText(settingHelp(k)))
	}
	fmt.Fprintf(b, "\n`isa`, `check` and `audit FILE.cubin` read what others compiled: there `timeout` is %s unless you set it.\n", fileTimeout)
	b.WriteString("\nNot taken from a folder that the user does not trust (`optcheck trust`):")
	for _, k := range settingNames() {
		if why := guarded[k]; why != "" {
			fmt.Fprintf(b, " `%s` (%s)", k, why)
		}
	}
	b.WriteString(".\n\n## Limits\n\n`--limits NAME=VALUE,…` and `limits:` bound what one input may cost.\n\n| name | default | bounds |\n|---|---|---|\n")
	for _, row := range limits.Default().Table() {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", row[0], row[1], cellText(row[2]))
	}
	b.WriteString("\n## Other variables\n\n| variable | meaning |\n|---|---|\n")
	for name, what := range otherVariables {
		fmt.Fprintf(b, "| `%s` | %s |\n", name, what)
	}
	b.WriteString("| `NO_COLOR` | if not empty, no colours on terminals |\n| `COLUMNS` | how wide a text report is; 0 breaks no line. Default: the width of the terminal, or 100 |\n| `XDG_CACHE_HOME`, `XDG_CONFIG_HOME` | folders of installed compilers and of the user's configuration |\n" +
		"| `GOMEMLIMIT`, `GOGC` | override how much memory an audit takes before it collects garbage |\n")
}

func rulesPage(b *bytes.Buffer) {
	b.WriteString("# Rules\n\nWhat can be broken in machine code, and what each rule means. `optcheck explain RULE` prints the same.\n\n")
	for _, r := range optcheck.Rules {
		fmt.Fprintf(b, "## %s\n\n%s\n\n```text\n%s\n```\n\n", r.ID, r.Title, strings.TrimSpace(r.Explain))
	}
}

func exitPage(b *bytes.Buffer) {
	b.WriteString("# Exit codes\n\n0 is only for a command that has done all that it was asked for. A test walks through this table.\n\n" +
		"| code | meaning |\n|---|---|\n")
	for _, x := range []struct {
		code int
		what string
	}{{exitOK, "all was done, see below"}, {exitFound, "something was found, see below"},
		{exitUsage, "wrong usage; or what was asked for is missing, broken or not done, all of it or a part: a file that cannot be read or that no compiler takes " +
			"(`invalid`), a cell that could not be decided, output that could not be written. Broken input is told before what was found elsewhere"},
		{exitInterrupted, "interrupted; what was finished has been written"}} {
		fmt.Fprintf(b, "| %d | %s |\n", x.code, x.what)
	}
	b.WriteString("\n| command | 0 | 1 |\n|---|---|---|\n")
	for _, c := range visible(newRootCmd(&environment{getenv: func(string) string { return "" }})) {
		x := exits[c.CommandPath()]
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", c.CommandPath(), x.zero, x.one)
	}
	b.WriteString("\n`--fail-on` is one of\n\n| value | exit code 1 if there is |\n|---|---|\n")
	for _, x := range event.FailOns {
		fmt.Fprintf(b, "| `%s` | %s |\n", x.Value, x.Cells)
	}
	b.WriteString("\n[Known findings](../results/known.md) are those that a list with reasons explains.\n\n" +
		"A cell is *undecided* if it is `unknown`, no known finding (`rule: undecided`, `class: unknown`) explains it, and there are more such cells than " +
		"`--allow-unknown` says (0). With `new` and `never` undecided cells make 2 of commands that were to decide them: `audit`, `check`, `lift`, `campaign`. " +
		"They also make `executionSuccessful` in SARIF false. `report` shows what was done before: with `new` and `never` it ends with 0 " +
		"though cells are undecided or missing.\n\n" +
		"With `--new-only` no value counts known findings. `diff` counts findings of the right side that the left one lacks, or has in a milder class. Those in cells that only the right side has count, too.\n\n" +
		"JUnit's failures are the same cells; undecided ones are its errors ([forms](../ci.md#forms)).\n")
}

// eventsPage describes the types of the event stream by their Go declarations.
func eventsPage(t *testing.T, b *bytes.Buffer) {
	docs := map[string]*ast.StructType{}
	about := map[string]string{}
	files, err := filepath.Glob(filepath.Join("..", "..", "event", "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if g, ok := n.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					if ts, ok := s.(*ast.TypeSpec); ok {
						if st, ok := ts.Type.(*ast.StructType); ok {
							docs[ts.Name.Name], about[ts.Name.Name] = st, g.Doc.Text()
						}
					}
				}
			}
			return true
		})
	}
	fmt.Fprintf(b, "# The event stream\n\nWhat `audit --output`, `audit --format json` and `run --output` write: JSON lines, each an object with exactly one key, which\n"+
		"names its kind. The first is a `config`. This is schema %d; a stream of another one is refused or read as documented in\n"+
		"`event`. Fields without a value are left out.\n", event.Schema)
	seen := map[reflect.Type]bool{}
	queue := []reflect.Type{reflect.TypeFor[event.Event]()}
	for len(queue) > 0 {
		typ := queue[0]
		queue = queue[1:]
		if seen[typ] || docs[typ.Name()] == nil {
			continue
		}
		seen[typ] = true
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n| field | type | meaning |\n|---|---|---|\n", typ.Name(), strings.TrimSpace(about[typ.Name()]))
		queue = append(queue, fieldRows(b, typ, docs)...)
	}
}

// fieldRows writes the fields of a struct, those of embedded ones as its own, and returns
// the types that they refer to.
func fieldRows(b *bytes.Buffer, typ reflect.Type, docs map[string]*ast.StructType) (more []reflect.Type) {
	comments := map[string]string{}
	last := ""
	for _, f := range docs[typ.Name()].Fields.List {
		text := strings.TrimSpace(f.Doc.Text() + f.Comment.Text())
		switch {
		case text == "":
			text = last // fields under one comment
		case f.Doc != nil && f.Comment == nil:
			last = text
		default:
			last = ""
		}
		for _, n := range f.Names {
			comments[n.Name] = text
		}
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Anonymous {
			more = append(more, fieldRows(b, f.Type, docs)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		inner, word := f.Type, ""
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			if inner.Kind() == reflect.Slice {
				word += "list of "
			}
			inner = inner.Elem()
		}
		if docs[inner.Name()] != nil {
			word += fmt.Sprintf("[%s](#%s)", inner.Name(), strings.ToLower(inner.Name()))
			more = append(more, inner)
		} else {
			word += jsonWord(inner)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, word, cellText(comments[f.Name]))
	}
	return more
}

func jsonWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Map, reflect.Struct:
		return "object"
	}
	return "number"
}
