package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optcheck/event"
)

// printed is standard output. It remembers what went wrong with it: whoever prints need not look.
type printed struct {
	io.Writer
	mu  sync.Mutex
	err error
}

// Write implements io.Writer.
func (o *printed) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.err = cmp.Or(o.err, err)
	}
	return n, err
}

// ended is the end of a command: what could not be printed is an error, and more than that something
// was found.
func (o *printed) ended(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err == nil, err != nil && !errors.Is(err, errFound):
		return err
	}
	return fmt.Errorf("standard output: %w", o.err)
}

// What --json prints.
const (
	oneObject = "print JSON"
	jsonLines = "print JSON lines"
)

// jsonFlag adds --json to a command. what says what it prints.
func jsonFlag(cmd *cobra.Command, on *bool, what string) {
	cmd.Flags().BoolVar(on, "json", false, what)
}

// quietFlag adds --quiet to a command that shows its progress.
func quietFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVarP(on, "quiet", "q", false, "no progress")
}

// streamFlag adds --output to a command that makes an event stream.
func streamFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "output", "o", "", "write the event stream to this file")
}

// failOnFlag adds --fail-on to a command that reports on cells.
func failOnFlag(cmd *cobra.Command) {
	cmd.Flags().String("fail-on", string(event.FailNew), "which cells make the exit code 1: new (miscompiled or crashed, and not known), "+
		"miscompiled (known or not, and undecided ones), changed (these too), optimised (these too), unknown (undecided ones alone), never")
}

// allowUnknownFlag adds --allow-unknown to a command that is to decide cells.
func allowUnknownFlag(cmd *cobra.Command) {
	cmd.Flags().Int("allow-unknown", 0, "how many cells may be undecided: with more the exit code is 2, or 1 if --fail-on counts them")
}

// modelFlag adds --model to a command whose cells are judged by one model.
func modelFlag(cmd *cobra.Command, model *string) {
	cmd.Flags().StringVar(model, "model", "", "judge all targets under this model: a built-in one (optcheck models) or a .cat file")
}

// lines returns what prints values as JSON lines.
func (env *environment) lines() *json.Encoder {
	enc := json.NewEncoder(env.stdout)
	enc.SetEscapeHTML(false)
	return enc
}

// printJSON prints a value as indented JSON.
func (env *environment) printJSON(v any) error {
	enc := env.lines()
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// plurals are the flags that choose among several things, in the one spelling that help
// and settings have.
var plurals = []string{"toolchains", "targets", "levels", "layouts", "classes", "rules", "presets", "races"}

// single is the value of such a flag of a command that takes one thing: two are an error,
// instead of a name that nobody knows, or of the last one.
type single struct {
	pflag.Value
	what string
	set  bool
}

// Set implements pflag.Value.
func (s *single) Set(v string) error {
	if s.set || strings.Contains(v, ",") {
		return fmt.Errorf("this command takes one of the %s", s.what)
	}
	s.set = true
	return s.Value.Set(v)
}

// oneOf makes flags that choose one thing refuse two, in a command and those below it.
func oneOf(cmd *cobra.Command) {
	for _, name := range plurals {
		f := cmd.Flags().Lookup(name)
		if f == nil || f.Value.Type() != "string" {
			continue
		}
		if _, more := f.Annotations[several]; !more {
			f.Value = &single{Value: f.Value, what: name}
		}
	}
	for _, c := range cmd.Commands() {
		oneOf(c)
	}
}

// several marks a flag that is one text for several things.
const several = "several"

// plural accepts such a flag in either number, whether the command takes one thing or
// several: --target is --targets.
func plural(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	for _, p := range plurals {
		if name+"s" == p || name+"es" == p {
			return pflag.NormalizedName(p)
		}
	}
	switch name {
	case "models":
		return "model"
	case "out":
		return "output"
	}
	return pflag.NormalizedName(name)
}

// former are the names that flags of single commands had: now a name means one thing in all commands. The old ones go on
// working there.
var former = map[string]map[string]string{
	"optcheck app harden":    {"iterations": "runs", "keep": "resume"},
	"optcheck app list":      {"model": "orders"},
	"optcheck app test":      {"keep": "resume"},
	"optcheck bug":           {"form": "format"},
	"optcheck convert":       {"mapping": "table"},
	"optcheck lift":          {"svg": "plots"},
	"optcheck model compare": {"limit": "most"},
	"optcheck model search":  {"limit": "most"},
	"optcheck models":        {"source": "print"},
	"optcheck run":           {"block": "unit"},
	"optcheck tune":          {"count": "runs", "keep": "resume"},
	"optcheck verify":        {"limit": "for"},
}

// oldNames lets the commands of the program take the former names of their flags.
func oldNames(cmd *cobra.Command) {
	if names := former[cmd.CommandPath()]; names != nil {
		cmd.SetGlobalNormalizationFunc(func(set *pflag.FlagSet, name string) pflag.NormalizedName {
			return plural(set, cmp.Or(names[name], name))
		})
	}
	for _, c := range cmd.Commands() {
		oldNames(c)
	}
}
