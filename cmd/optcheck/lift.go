package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/model"
	"optcheck/optcheck"
	"optcheck/report"
)

type liftFlags struct {
	audit    auditFlags
	json     bool
	meanings bool
	svg      string
}

func newLiftCmd(env *environment) *cobra.Command {
	var f liftFlags
	cmd := &cobra.Command{
		Use:   "lift TEST|DIR…",
		Short: "Turn the machine code of tests back into litmus tests and judge them",
		Long: `Compile tests, turn the machine code of every cell back into a litmus test, and
compare what a memory model allows of it with what it allows of the test. Cells
whose machine code says the same are shown together.

How strong each machine instruction is taken to be says --meanings. An
instruction that satisfies its source instruction is lifted to exactly that one.

With --plots, the folder gets a picture for each miscompiled test: the execution of
the machine code that shows the new outcome, and why the test forbids it.`,
		Example: `  optcheck lift coRR --targets sm_80 --levels O3
  optcheck lift mp+membar.gls --targets sm_35 --plots pictures
  optcheck lift --meanings`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.meanings {
				return writeMeanings(env, f.json)
			}
			if len(args) == 0 {
				return fmt.Errorf("no test named; optcheck tests lists the corpus")
			}
			return runLift(cmd.Context(), env, &f, args)
		},
	}
	fl := cmd.Flags()
	matrixFlags(cmd)
	allowUnknownFlag(cmd)
	modelFlag(cmd, &f.audit.model)
	quietFlag(cmd, &f.audit.quiet)
	jsonFlag(cmd, &f.json, jsonLines+", one per distinct lifted test")
	fl.BoolVar(&f.meanings, "meanings", false, "print the table of what machine instructions mean instead")
	fl.StringVar(&f.svg, "plots", "", "write pictures of miscompilations to this folder")
	return cmd
}

// liftGroup is the cells of a test whose machine code lifts to the same test.
type liftGroup struct {
	Test    string         `json:"test"`
	Class   string         `json:"class"`
	Reason  string         `json:"reason,omitempty"`
	Cells   []string       `json:"cells"`
	Verdict *event.Verdict `json:"verdict,omitempty"`
}

func runLift(ctx context.Context, env *environment, f *liftFlags, args []string) error {
	gate, err := env.settings.gate()
	if err != nil {
		return err
	}
	gate.fail = event.FailNever // what was found is what is asked for
	o, err := f.audit.options(ctx, env, args)
	if err != nil {
		return err
	}
	o.KeepVerdicts = true
	bar := newProgress(env.bar, f.audit.quiet)
	o.Progress = bar.update
	run := event.NewRun()
	err = audit.Run(ctx, o, run)
	bar.done()
	if err != nil {
		return err
	}
	groups := liftGroups(run)
	for _, g := range groups {
		if f.json {
			if err := env.lines().Encode(g); err != nil {
				return err
			}
			continue
		}
		g.write(env)
	}
	if f.svg != "" {
		tests, err := o.Packed.Tests()
		if err != nil {
			return err
		}
		if err := writePictures(ctx, env, f.svg, tests, groups); err != nil {
			return err
		}
	}
	return gate.done(run)
}

func liftGroups(run *event.Run) []*liftGroup {
	by := map[string]*liftGroup{}
	var out []*liftGroup
	for i := range run.Cells {
		c := &run.Cells[i]
		if c.Class == event.Unsupported {
			continue
		}
		key := c.Test + "\x00" + c.Class + "\x00" + c.Reason
		if c.Verdict != nil {
			key += c.Verdict.Model + c.Verdict.Lifted
		}
		g := by[key]
		if g == nil {
			g = &liftGroup{Test: c.Test, Class: c.Class, Reason: c.Reason, Verdict: c.Verdict}
			by[key] = g
			out = append(out, g)
		}
		g.Cells = append(g.Cells, strings.Join([]string{c.Toolchain, c.Target, c.Level, c.Layout}, " "))
	}
	return out
}

func (g *liftGroup) write(env *environment) {
	w := env.text
	fmt.Fprintf(w, "%s: %s in %s: %s", plain.Line(g.Test), g.Class, plain.Count(len(g.Cells), "cell"), g.Cells[0])
	if n := len(g.Cells); n > 1 {
		fmt.Fprintf(w, " … %s", g.Cells[n-1])
	}
	fmt.Fprintln(w)
	if g.Reason != "" {
		fmt.Fprintf(w, "  because %s\n", g.Reason)
	}
	if g.Verdict != nil {
		report.WriteVerdict(w, g.Verdict)
		for line := range strings.Lines(g.Verdict.Lifted) {
			fmt.Fprint(w, "    "+line)
		}
	}
	fmt.Fprintln(w)
}

// writePictures draws, for every miscompiled group, the execution of the
// machine code that shows the first new outcome, and why the test forbids it.
func writePictures(ctx context.Context, env *environment, dir string, tests []*litmus.Test, groups []*liftGroup) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	n, drawn := 0, 0
	for _, g := range groups {
		if g.Class != event.Miscompiled || g.Verdict.Lifted == "" {
			continue // machine code of AMD's is no litmus test
		}
		n++
		for _, t := range tests {
			if t.Name != g.Test {
				continue
			}
			lifted, err := litmus.Parse("lifted", []byte(g.Verdict.Lifted))
			if err != nil {
				return err
			}
			for what, x := range map[string]*litmus.Test{"machine": lifted, "source": t} {
				ok, err := drawOutcome(ctx, x, g.Verdict, dir, fmt.Sprintf("%02d-%s.svg", n, what))
				if err != nil {
					return err
				}
				if ok {
					drawn++
				}
			}
		}
	}
	env.tell("%s in %s", plain.Count(drawn, "picture"), dir)
	return nil
}

// drawOutcome draws the first new outcome in one test; false if there is no
// execution that ends in it.
func drawOutcome(ctx context.Context, t *litmus.Test, v *event.Verdict, dir, file string) (bool, error) {
	m, err := model.Load(v.Model)
	if err != nil {
		return false, err
	}
	asked, err := audit.Asking(t, v.New[0])
	if err != nil {
		return false, err
	}
	x, err := m.Explain(ctx, asked, model.Options{})
	if err != nil || !x.Drawable() {
		return false, err
	}
	var b strings.Builder
	if err := x.SVG(&b); err != nil {
		return false, err
	}
	return true, writeInto(dir, file, []byte(b.String()))
}

func writeMeanings(env *environment, asJSON bool) error {
	if asJSON {
		for _, m := range optcheck.Meanings {
			row := map[string]string{"targets": meaningTargets(&m), "machine": m.Machine, "means": m.Means, "source": m.Source}
			if err := env.lines().Encode(row); err != nil {
				return err
			}
		}
		return nil
	}
	tw := tabwriter.NewWriter(env.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "targets\tmachine code\tis taken as\tbecause")
	for _, m := range optcheck.Meanings {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", meaningTargets(&m), m.Machine, m.Means, m.Source)
	}
	return tw.Flush()
}

func meaningTargets(m *optcheck.Meaning) string {
	if m.Until > 0 {
		return fmt.Sprintf("below sm_%d", m.Until+1)
	}
	return fmt.Sprintf("from sm_%d", m.From)
}
