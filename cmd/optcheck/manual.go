package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optcheck/internal/input"
)

// visible lists a command and those below it that people are shown, in order.
func visible(cmd *cobra.Command) (out []*cobra.Command) {
	if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
		return nil
	}
	out = append(out, cmd)
	for _, c := range cmd.Commands() {
		out = append(out, visible(c)...)
	}
	return out
}

// flagsOf lists a command's own flags that people are shown.
func flagsOf(cmd *cobra.Command) (out []*pflag.Flag) {
	cmd.InitDefaultHelpFlag()
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && f.Name != "version" && (cmd.HasParent() == (cmd.Root().PersistentFlags().Lookup(f.Name) == nil)) {
			out = append(out, f)
		}
	})
	return out
}

// spelling is a flag as it is written on a command line: -q, --quiet.
func spelling(f *pflag.Flag) string {
	name, _ := pflag.UnquoteUsage(f)
	s := "--" + f.Name
	if f.Shorthand != "" {
		s = "-" + f.Shorthand + ", " + s
	}
	if name != "" {
		s += " " + name
	}
	return s
}

// defaultOf is what a flag is if it is not given, "" if that is nothing.
func defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "[]", "0", "0s":
		return ""
	}
	return f.DefValue
}

func newManualCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "manual FOLDER",
		Short:  "Write the manual pages of all commands into a folder",
		Args:   cobra.ExactArgs(1),
		Hidden: true, // make install calls it
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			for _, c := range visible(cmd.Root()) {
				var b strings.Builder
				manualPage(&b, c)
				name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
				if err := input.WriteFile(filepath.Join(args[0], name), []byte(b.String())); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// manualPage writes the page of a command in the language of man.
func manualPage(w io.Writer, cmd *cobra.Command) {
	dashed := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(w, ".TH %s 1 \"\" \"optcheck %s\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(dashed), version(), dashed, roff(cmd.Short))
	fmt.Fprintf(w, ".SH SYNOPSIS\n.B %s\n.SH DESCRIPTION\n.nf\n%s\n.fi\n", roff(cmd.UseLine()), roff(long(cmd)))
	if list := flagsOf(cmd); len(list) > 0 {
		fmt.Fprintln(w, ".SH OPTIONS")
		for _, f := range list {
			_, usage := pflag.UnquoteUsage(f)
			if d := defaultOf(f); d != "" {
				usage += " (default " + d + ")"
			}
			fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(spelling(f)), roff(usage))
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-")+"(1)")
	}
	for _, c := range cmd.Commands() {
		if len(visible(c)) > 0 {
			also = append(also, strings.ReplaceAll(c.CommandPath(), " ", "-")+"(1)")
		}
	}
	if len(also) > 0 {
		fmt.Fprintf(w, ".SH SEE ALSO\n%s\n", roff(strings.Join(also, ", ")))
	}
}

// long is the whole description of a command.
func long(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return strings.TrimSpace(cmd.Long)
	}
	return cmd.Short + "."
}

// roff makes a text stand for itself.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
