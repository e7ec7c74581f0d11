package main

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"
)

func init() { cobra.EnableCommandSorting = false } // groups say the order

// groups are the commands by what they are for: help lists them so.
var groups = []struct {
	id, title string
	commands  []string
}{
	{"audit", "Audit code, and follow what was found:", []string{"audit", "check", "verify", "hunt", "mapping", "reduce", "bug", "replay", "explain", "emulate", "isa"}},
	{"litmus", "Litmus tests and memory models:", []string{"tests", "gen", "model", "models", "lift", "emit", "convert", "log", "deps", "disturbance"}},
	{"devices", "Devices:", []string{"devices", "run", "tune", "app", "bench-gpu", "bench-ordering", "issues"}},
	{"results", "Results:", []string{"report", "diff", "serve", "known", "store", "merge", "campaign"}},
	{"set-up", "Set-up:", []string{"toolchain", "config", "trust", "version"}},
}

// helpTemplate begins a page of help with examples.
const helpTemplate = `{{with .Example}}Examples:
{{.}}

{{end}}{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`

// usageTemplate is cobra's without the examples, which the help has shown.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasAvailableSubCommands}}{{$all := .Commands}}{{if eq (len .Groups) 0}}

Commands:{{range $all}}{{if or .IsAvailableCommand (eq .Name "help")}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{else}}{{range $group := .Groups}}

{{.Title}}{{range $all}}{{if and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Global flags:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" says more about a command.{{end}}
`

// grouped puts the commands of the program into groups, and gives their pages of help their form.
func grouped(root *cobra.Command) {
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
	}
	root.SetHelpCommandGroupID("set-up")
	root.SetCompletionCommandGroupID("set-up")
	list := root.Commands()
	at := map[string]int{}
	for _, g := range groups {
		for _, name := range g.commands {
			at[name] = len(at) + 1
			if i := slices.IndexFunc(list, func(c *cobra.Command) bool { return c.Name() == name }); i >= 0 {
				list[i].GroupID = g.id
			}
		}
	}
	root.ResetCommands()
	slices.SortStableFunc(list, func(x, y *cobra.Command) int { return cmp.Compare(at[x.Name()], at[y.Name()]) })
	root.AddCommand(list...)
}
