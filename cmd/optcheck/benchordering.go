package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/program"
	"optcheck/report"
)

// orderingFlags are the flags of bench-ordering.
type orderingFlags struct {
	appFlags
	plots string
	from  string
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
memory, message passing, prefix sums, sums, broadcast (docs/internals/built-in-programs.md).

For each there are the median time of a run on the device with its 95 per cent interval,
and how many runs were not right. It also says what its synchronisation became in the
machine code, which is compared with the PTX. Some are wrong on purpose: they show what
leaving order out saves, and whether that is seen.`,
		Example: `  optcheck bench-ordering
  optcheck bench-ordering order-mp-fences order-mp-word --runs 1000 --json
  optcheck bench-ordering --plots plots
  optcheck bench-ordering --from saved.jsonl --plots plots`,
		RunE: func(cmd *cobra.Command, args []string) error { return benchOrdering(cmd.Context(), env, &f, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", "", "device as listed by: optcheck devices (default: the first GPU, else the first device)")
	fl.StringVar(&f.toolchain, "toolchain", "", "the compiler: a ptxas release (default: the newest that has the target)")
	fl.StringVar(&f.level, "level", "O3", "optimisation level")
	fl.Uint64Var(&f.runs, "runs", 200, "runs of each size")
	fl.BoolVar(&f.one, "one-size", false, "only each program's default size")
	fl.StringVar(&f.from, "from", "", "measure nothing: show what --json wrote into this file")
	fl.StringVar(&f.plots, "plots", "", "draw the times by size into this folder, an SVG for each kind of work")
	jsonFlag(cmd, &f.asJSON, jsonLines)
	quietFlag(cmd, &f.quiet)
	return cmd
}

// ordering is a measurement of bench-ordering.
type ordering struct {
	Device   string           `json:"device"`
	Compiler string           `json:"compiler"`
	Group    string           `json:"group"`
	Size     map[string]int64 `json:"size"`
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
	if f.from != "" {
		return f.show(env, names)
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
	for _, name := range names {
		list, err := f.sweep(ctx, a, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, list...)
	}
	return f.end(all)
}

// show shows measurements that were saved.
func (f *orderingFlags) show(env *environment, names []string) error {
	text, err := input.ReadFile(f.from, 64<<20)
	if err != nil {
		return err
	}
	var all []*ordering
	for n, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		o := &ordering{Cost: &program.Cost{}}
		if err := json.Unmarshal(line, o); err != nil {
			return fmt.Errorf("%s:%d: %w", f.from, n+1, err)
		}
		if len(names) > 0 && !slices.Contains(names, o.Program) {
			continue
		}
		first := len(all) == 0 || all[len(all)-1].Program != o.Program
		if all = append(all, o); f.tell(env, o, first) != nil {
			break // nobody reads
		}
	}
	return f.end(all)
}

// end draws, and says whether something could not be measured.
func (f *orderingFlags) end(all []*ordering) error {
	if f.plots != "" {
		if err := drawOrderings(f.plots, all); err != nil {
			return err
		}
	}
	failed := 0
	for _, o := range all {
		if o.Error != "" {
			failed++
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
		o := &ordering{Device: a.s.Device().Name, Compiler: a.road.Compiler(), Group: group(name), Size: p.Params}
		if o.Cost, err = measureOrder(ctx, a, p, int(f.runs)); ctx.Err() != nil {
			return list, ctx.Err()
		} else if err != nil {
			o.Cost, o.Error = &program.Cost{Program: name, Target: a.s.Device().Target}, err.Error()
		}
		list = append(list, o)
		if err := f.tell(a.env, o, i == 0); err != nil {
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
func (f *orderingFlags) tell(env *environment, o *ordering, first bool) error {
	if f.asJSON {
		return env.lines().Encode(o)
	}
	w := env.text
	if first {
		fmt.Fprintf(w, "\n%s on %s, %s\n", o.Program, orDash(plain.Line(o.Device)), orDash(plain.Line(o.Compiler)))
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
func drawOrderings(folder string, all []*ordering) error {
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
			return report.WriteSweeps(w, kind+", "+all[0].Device, x[kind], "median time of a run (µs)", curves[kind])
		})
		if err != nil {
			return err
		}
	}
	return nil
}
