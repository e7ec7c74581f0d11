package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/program"
	"optcheck/report"
)

// orderingFlags are the flags of bench-ordering.
type orderingFlags struct {
	appFlags
	plots string
	one   bool
}

func newBenchOrderingCmd(env *environment) *cobra.Command {
	var f orderingFlags
	cmd := &cobra.Command{
		Use:   "bench-ordering [PROGRAM…]",
		Short: "Measure what order costs: the same work synchronised in several ways",
		Long: `Measure what order costs: the same work synchronised in several ways, at several
sizes. The programs are those of optcheck app list whose names begin with order-, after
G. Evtushenko, CUDA Memory Model (2021): interleaved words, reads of one word in shared
memory, message passing, prefix sums, sums, broadcast (docs/applications.md).

For each there are the median time of a run on the device with its 95 per cent
interval, how many runs were not right, and what its synchronisation became in the
machine code, which is compared with the PTX. Some are wrong on purpose: they show what
leaving order out saves, and whether that is seen.`,
		Example: `  optcheck bench-ordering
  optcheck bench-ordering order-mp-fences order-mp-word --runs 1000 --json
  optcheck bench-ordering --plots plots`,
		RunE: func(cmd *cobra.Command, args []string) error { return benchOrdering(cmd.Context(), env, &f, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", "", "device as listed by: optcheck devices (default: the first GPU, else the first device)")
	fl.StringVar(&f.toolchain, "toolchain", "", "the compiler: a ptxas release (default: the newest that has the target)")
	fl.StringVar(&f.level, "level", "O3", "optimisation level")
	fl.Uint64Var(&f.runs, "runs", 200, "runs of each size")
	fl.BoolVar(&f.one, "one-size", false, "only each program's default size")
	fl.StringVar(&f.plots, "plots", "", "draw the times by size into this folder, an SVG for each kind of work")
	jsonFlag(cmd, &f.asJSON, jsonLines)
	quietFlag(cmd, &f.quiet)
	return cmd
}

// ordering is a measurement of bench-ordering.
type ordering struct {
	Group string           `json:"group"`
	Size  map[string]int64 `json:"size"`
	*program.Cost
	// Error says why there is none.
	Error string `json:"error,omitempty"`
}

// orderingPrefix begins the names of the programs, then comes the kind of work.
const orderingPrefix = "order-"

func group(name string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(name, orderingPrefix), "-")
	return kind
}

// axis is the parameter that a program's sizes differ in.
func axis(size map[string]int64) string {
	if _, ok := size["n"]; ok {
		return "n"
	}
	return "blocks"
}

func benchOrdering(ctx context.Context, env *environment, f *orderingFlags, names []string) (err error) {
	if f.runs < 1 || f.runs > 1<<20 {
		return errors.New("--runs: want 1 to 1048576")
	}
	if len(names) == 0 {
		names = slices.DeleteFunc(program.Names(), func(n string) bool { return !strings.HasPrefix(n, orderingPrefix) })
	}
	f.length = 1 // nothing is stressed
	a, err := f.open(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = a.done(err) }()
	var all []*ordering
	failed := 0
	for _, name := range names {
		list, err := f.sweep(ctx, a, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, o := range list {
			if o.Error != "" {
				failed++
			}
		}
		all = append(all, list...)
	}
	if f.plots != "" {
		if err := drawOrderings(f.plots, a.s.Device().Name, all); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d sizes could not be measured", failed, len(all))
	}
	return nil
}

// sweep measures a program at all sizes.
func (f *orderingFlags) sweep(ctx context.Context, a *app, name string) (list []*ordering, err error) {
	if a.p, err = program.Load(name); err != nil {
		return nil, err
	}
	if a.road, err = a.roadOf(ctx); err != nil {
		return nil, err
	}
	sizes := a.p.Sizes
	if f.one || len(sizes) == 0 {
		sizes = []map[string]int64{nil}
	}
	for i, size := range sizes {
		p, err := a.p.With(size)
		if err != nil {
			return list, err
		}
		o := &ordering{Group: group(name), Size: p.Params}
		if o.Cost, err = measureOrder(ctx, a, p, int(f.runs)); ctx.Err() != nil {
			return list, ctx.Err()
		} else if err != nil {
			o.Cost, o.Error = &program.Cost{Program: name, Target: a.s.Device().Target}, err.Error()
		}
		list = append(list, o)
		if err := f.tell(a, o, i == 0); err != nil {
			return list, err
		}
	}
	return list, nil
}

// measureOrder measures a program of a size.
func measureOrder(ctx context.Context, a *app, p *program.Program, runs int) (*program.Cost, error) {
	m, err := program.NewMachine(ctx, p, a.s, a.road)
	if err != nil {
		return nil, err
	}
	list, err := m.Costs(ctx, []program.Priced{{Name: "as it is"}}, runs, 0)
	if e := m.Close(ctx); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// tell prints a measurement; before the first of a program, what its machine code has.
func (f *orderingFlags) tell(a *app, o *ordering, first bool) error {
	if f.asJSON {
		return a.env.lines().Encode(o)
	}
	w := a.env.text
	if first {
		fmt.Fprintf(w, "\n%s, %s\n", o.Program, a.road.Compiler())
		if o.Class != "" {
			var ops []string
			for _, op := range o.Sync {
				ops = append(ops, fmt.Sprintf("%d %s", op.Count, op.Op))
			}
			fmt.Fprintf(w, "  machine code %s: %s\n", o.Class, orDash(strings.Join(ops, ", ")))
		}
		fmt.Fprintf(w, "  %10s %12s %23s  %s\n", axis(o.Size), "median", "95 % interval", "not right")
	}
	if o.Error != "" {
		fmt.Fprintf(w, "  %10d not measured: %s\n", o.Size[axis(o.Size)], o.Error)
		return nil
	}
	wrong := fmt.Sprintf("0 of %d", o.Runs)
	if o.Wrong > 0 {
		wrong = fmt.Sprintf("%d of %d: %s", o.Wrong, o.Runs, o.First)
	}
	fmt.Fprintf(w, "  %10d %9.1f µs %9.1f … %8.1f µs  %s\n", o.Size[axis(o.Size)], o.Median, o.Low, o.High, wrong)
	return nil
}

// drawOrderings draws the times of each kind of work.
func drawOrderings(folder, device string, all []*ordering) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	curves, x := map[string][]report.Sweep{}, map[string]string{}
	var kinds []string
	for _, o := range all {
		if o.Error != "" || o.Median <= 0 {
			continue
		}
		if curves[o.Group] == nil {
			kinds = append(kinds, o.Group)
		}
		list := curves[o.Group]
		if len(list) == 0 || list[len(list)-1].Name != o.Program {
			list = append(list, report.Sweep{Name: o.Program})
		}
		s := &list[len(list)-1]
		x[o.Group] = axis(o.Size)
		s.X, s.Y = append(s.X, float64(o.Size[x[o.Group]])), append(s.Y, o.Median)
		curves[o.Group] = list
	}
	for _, kind := range kinds {
		err := writeWhole(filepath.Join(folder, kind+".svg"), func(w io.Writer) error {
			return report.WriteSweeps(w, kind+", "+device, x[kind], "median time of a run (µs)", curves[kind])
		})
		if err != nil {
			return err
		}
	}
	return nil
}
