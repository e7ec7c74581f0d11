package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/internal/plain"
	"optcheck/program"
)

func newAppListCmd(env *environment) *cobra.Command {
	var asJSON, model bool
	cmd := &cobra.Command{
		Use:   "list [PROGRAM…]",
		Short: "List programs; of those named, where fences can stand in them, and where the memory model demands one",
		Long: `List programs; of those named, where fences can stand in them, and where the memory
model demands one.

With --orders: the orders of accesses that the memory model demands and that nothing in
the program gives, as app harden says them of its result (docs/internals/programs.md).
For each it names the places of which one with a fence is enough. No device is needed.
What the program has no need of, for reasons that a model of accesses does not see, is
demanded, too.`,
		Example: "  optcheck app list\n  optcheck app list cbe-dot\n  optcheck app list cbe-dot --orders",
		RunE: func(cmd *cobra.Command, args []string) error {
			names := args
			if len(args) == 0 {
				names = program.Names()
			}
			for _, name := range names {
				if err := listProgram(cmd.Context(), env, name, len(args) > 0, model, asJSON); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&model, "orders", false, "say which orders of accesses the memory model demands that nothing gives")
	jsonFlag(cmd, &asJSON, jsonLines)
	return cmd
}

// listProgram prints what a program is; if it was asked for by name, with its sites.
func listProgram(ctx context.Context, env *environment, name string, sites, model, asJSON bool) error {
	p, err := program.Load(name)
	if err != nil {
		return err
	}
	row := struct {
		Name  string         `json:"name"`
		About string         `json:"about"`
		Sites []program.Site `json:"sites,omitempty"`
		// Demands are null if the model was not asked; Open is of how many accesses it is
		// not known where they go.
		Demands []program.Demand `json:"demands"`
		Open    int              `json:"open,omitempty"`
	}{Name: p.Name, About: p.About}
	if sites {
		if row.Sites, err = p.Sites(); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if model {
		if row.Demands, row.Open, err = p.Demands(ctx); err != nil {
			return err
		}
		row.Demands = append([]program.Demand{}, row.Demands...) // none is not null
	}
	switch {
	case asJSON:
		return env.lines().Encode(row)
	case !sites:
		fmt.Fprintf(env.text, "%-28s %s\n", p.Name, firstSentence(p.About))
	default:
		fmt.Fprintf(env.text, "%s: %s\n", p.Name, p.About)
	}
	for _, s := range row.Sites {
		fmt.Fprintf(env.text, "%4d  %s, line %d: %s\n", s.N, s.Func, s.Pos.Line, plain.Line(s.Text))
	}
	if model {
		tellDemands(env.text, row.Demands, row.Open)
	}
	return nil
}

// tellDemands prints the orders that the model demands, and what gives them.
func tellDemands(w io.Writer, list []program.Demand, open int) {
	fmt.Fprintf(w, "the model demands %s of accesses:\n", plain.Count(len(list), "order"))
	for _, d := range list {
		by := fmt.Sprintf("fence %d", d.Site)
		if d.Site == 0 {
			by = fmt.Sprintf("given by nothing; a fence behind %s would", spanOf(d.By))
		}
		fmt.Fprintf(w, "  %d: %s, then %d: %s (%s): %s\n", d.First.Pos.Line, plain.Line(d.First.Text), d.Second.Pos.Line,
			plain.Line(d.Second.Text), d.Pattern, by)
	}
	if open > 0 {
		fmt.Fprintf(w, "  not asked: %s whose memory is not known\n", plain.Count(open, "access"))
	}
}

// firstSentence is what a text begins with, on one line.
func firstSentence(text string) string {
	first, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), ". ")
	return strings.TrimSuffix(first, ".")
}

// spanOf names one of sites that follow each other.
func spanOf(sites []int) string {
	if len(sites) < 2 {
		return brief(sites)
	}
	return fmt.Sprintf("one of %d to %d", slices.Min(sites), slices.Max(sites))
}
