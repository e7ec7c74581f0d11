package main

import (
	"bytes"
	"fmt"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"optcheck/event"
	"optcheck/internal/whole"
	"optcheck/known"
)

func knownFlags(cmd *cobra.Command) {
	cmd.Flags().StringSlice("known", nil, "further lists of known findings (YAML; see optcheck known)")
	cmd.Flags().Bool("new-only", false, "known findings are neither shown nor counted for --fail-on")
}

// knownList reads the built-in list and those of the configuration; own is the
// number of filters in the built-in list, which come first.
func knownList(env *environment) (list *known.List, own int, err error) {
	list = known.Builtin()
	own = len(list.Filters)
	for _, file := range env.settings.known {
		if err := expect(file, wantKnown); err != nil {
			return nil, 0, err
		}
		more, err := known.ReadFile(file)
		if err != nil {
			return nil, 0, err
		}
		if err := list.Append(more); err != nil {
			return nil, 0, err
		}
	}
	return list, own, nil
}

// counted is the part of a run that --fail-on looks at.
func counted(env *environment, r *event.Run) *event.Run {
	if env.settings.newOnly {
		return r.WithoutKnown()
	}
	return r
}

// reportUnused names the user's filters that matched nothing in a run that
// they speak of: they may be misspelt, or the finding is gone. The built-in
// ones are for whole runs of the corpus.
func reportUnused(env *environment, list *known.List, own int, r *event.Run) {
	user := known.List{Filters: list.Filters[own:]}
	for _, f := range user.Unused(&r.Config) {
		env.tell("%s: known finding %s matched nothing in this run", f.Origin, f.ID)
	}
}

// baselineFile is the file of --write-known, which must not be there yet: it may have reasons that somebody wrote.
func baselineFile(file string) error {
	if file == "" {
		return nil
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s is there already: name another file for what is new", file)
	}
	return nil
}

// writeBaseline writes what cells have found and no filter knows as a list of known findings; file may be "": then it does nothing.
func writeBaseline(env *environment, file string, cells iter.Seq2[int, *event.Cell]) error {
	if file == "" {
		return nil
	}
	var b bytes.Buffer
	if err := known.WriteBaseline(&b, cells); err != nil {
		return err
	}
	if err := whole.Write(file, b.Bytes(), 0o666); err != nil {
		return err
	}
	env.tell("%s: what was found; --known %s --new-only shows what is new", file, file)
	return nil
}

func newKnownCmd(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "known",
		Example: "  optcheck known list\n  optcheck audit kernel.ptx --write-known known.yaml\n  optcheck audit kernel.ptx --known known.yaml --new-only",
		Short:   "Known findings: what audits mark as seen before",
		Long: `Known findings are filters with reasons. A cell is known if a filter matches each
of its findings; audit and report then mark it, and with --new-only neither show
it nor count it for --fail-on.

A list is a YAML file; only id, rule, note and reason must be there:

  known:
    - id: kepler-membar-gl
      rule: fence-weakened          # rules: [a, b] for several
      classes: [changed, optimised] # the default: never miscompiled unasked
      releases: {from: "11.2", to: "11.8"}   # both inclusive
      targets: [sm_35, sm_37]
      levels: [O1, O2, O3]
      layouts: [offsets]
      stages: [llc]                 # where it arose, as audit prints it
      tests: ["mp+*"]               # patterns on the test's name
      shapes: [mp]                  # the same on the name before the first +
      detail: 'membar\.gl became'   # RE2 on the finding's detail
      with: [merged]                # rules that the same access must break, too
      beside: [fence-removed]       # rules that any access of the cell must break, too
      note: what is known, in a line
      reason: why it is accepted, or what was concluded
      link: where to read more

Lists are given with --known, OPTCHECK_KNOWN or the setting known; the built-in
list always applies. A filter of yours that matches nothing is reported. optcheck
audit --write-known FILE writes a first list, of all that was found.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKnownListCmd(env))
	return cmd
}
