package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/depgen"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/model"
	"optcheck/ptxgen/cycle"
)

// genFlags are the flags of the gen command.
type genFlags struct {
	preset, config, out, shard, model string
	stdout, count, names, mutants     bool
}

func newGenCmd(env *environment) *cobra.Command {
	var f genFlags
	cmd := &cobra.Command{
		Use:   "gen",
		Short: "Generate litmus tests from cycles",
		Long: `Generate litmus tests from critical cycles of edges, in the manner of diy: every
test asks for an outcome that sequential consistency forbids.

The tests are those of a preset or of a configuration file. The same
configuration always gives the same tests, names and order.`,
		Example: `  optcheck gen --preset quick --out tests/
  optcheck gen --preset paper --count
  optcheck gen --config gen.yaml --shard 2/8 --stdout
  optcheck gen cycle "Membar.gldWW Rfe DpAddrdR Fre"
  optcheck gen name MP+membar.gl+addr-p0::p1-xgyg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runGen(cmd.Context(), env, &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.preset, "preset", "", "a built-in configuration: "+strings.Join(cycle.Presets(), ", "))
	fl.StringVar(&f.config, "config", "", "a configuration file (see gen presets)")
	fl.StringVar(&f.out, "out", "", "write the tests to this folder, one file each")
	fl.BoolVar(&f.stdout, "stdout", false, "print the tests")
	fl.BoolVar(&f.count, "count", false, "print only how many there are")
	fl.BoolVar(&f.names, "names", false, "print only the names")
	fl.BoolVar(&f.mutants, "mutants", false, "for each test also its neighbours with one edge weakened")
	fl.StringVar(&f.model, "forbidden-by", "", "with --mutants: only of tests whose outcome this model forbids (ptx, ptx-2015, a .cat file)")
	fl.StringVar(&f.shard, "shard", "", "only part i of n (2/8)")
	cmd.AddCommand(newGenCycleCmd(env), newGenNameCmd(env), newGenPresetsCmd(env))
	return cmd
}

// generator returns the generator that the flags ask for.
func (f *genFlags) generator(env *environment) (*cycle.Generator, error) {
	switch {
	case f.preset != "" && f.config != "":
		return nil, errors.New("--preset and --config exclude each other")
	case f.preset != "":
		return cycle.Preset(f.preset)
	case f.config != "":
		return readGenConfig(env, f.config)
	}
	return nil, fmt.Errorf("gen needs --preset (%s) or --config", strings.Join(cycle.Presets(), ", "))
}

func readGenConfig(env *environment, file string) (*cycle.Generator, error) {
	if err := expect(file, wantGen); err != nil {
		return nil, err
	}
	text, err := readInput(env, file)
	if err != nil {
		return nil, err
	}
	c, err := cycle.ReadConfig(file, text)
	if err != nil {
		return nil, err
	}
	return c.Generator()
}

// generated returns the tests of a preset; see generatorOf.
func generated(env *environment, preset string) ([]*litmus.Test, error) {
	g, err := generatorOf(env, preset)
	if err != nil {
		return nil, err
	}
	var tests []*litmus.Test
	for t := range g.Tests() {
		tests = append(tests, t)
	}
	return env.from(origin{preset: preset}, tests...), nil
}

// generatorOf returns the generator of a preset, or of a configuration file if
// there is no preset of that name, for commands that take tests.
func generatorOf(env *environment, preset string) (*cycle.Generator, error) {
	_, known := cycle.PresetText(preset)
	if known == nil {
		return cycle.Preset(preset)
	}
	if _, stat := os.Stat(preset); stat == nil {
		return readGenConfig(env, preset)
	}
	return nil, known
}

// shard is part i of n, counted from 1.
type shard struct{ i, n int }

func parseShard(s string) (shard, error) {
	if s == "" {
		return shard{1, 1}, nil
	}
	a, b, ok := strings.Cut(s, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || i < 1 || i > n {
		return shard{}, fmt.Errorf("--shard %q: must be i/n with 1 <= i <= n", s)
	}
	return shard{i, n}, nil
}

func runGen(ctx context.Context, env *environment, f *genFlags) error {
	g, err := f.generator(env)
	if err != nil {
		return err
	}
	sh, err := parseShard(f.shard)
	if err != nil {
		return err
	}
	sink, err := f.sink(env)
	if err != nil {
		return err
	}
	done, k := 0, 0
	for s := range g.Specs() {
		if k++; (k-1)%sh.n != sh.i-1 {
			continue
		}
		done++
		if err := sink.add(ctx, s); err != nil {
			return err
		}
	}
	if err := sink.close(); err != nil {
		return err
	}
	dropped := 0
	for _, n := range g.Dropped() {
		dropped += n
	}
	switch {
	case f.count:
		fmt.Fprintln(env.stdout, sink.tests)
	default:
		made := plain.Count(done, "test")
		if sink.tests > done {
			made += " and " + plain.Count(sink.tests-done, "mutant")
		}
		env.tell("%s", made)
	}
	if dropped > 0 {
		env.tell("%s dropped: their outcome does not imply the cycle, so sequential consistency might allow it", plain.Count(dropped, "cycle"))
	}
	return nil
}

// sink takes the generated tests.
type sink struct {
	put     func(name string, t func() *litmus.Test) error
	close   func() error
	mutants bool
	model   *model.Model // nil: mutants of every test
	tests   int
}

func (s *sink) add(ctx context.Context, sp *cycle.Spec) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.tests++
	if err := s.put(sp.Name(), sp.Test); err != nil {
		return err
	}
	if !s.mutants {
		return nil
	}
	if s.model != nil {
		v, err := s.model.Judge(ctx, sp.Test(), model.Options{StatesOnly: true})
		if err != nil {
			return err
		}
		if v.Undecided != "" {
			return fmt.Errorf("%s: %s is undecided: %s", sp.Name(), s.model.Name, v.Undecided)
		}
		if v.Observation != model.Never {
			return nil
		}
	}
	for _, m := range sp.Mutants() {
		s.tests++
		if err := s.put(m.Name(), m.Test); err != nil {
			return err
		}
	}
	return nil
}

// sink returns where tests go: nowhere, names, one stream, or a folder.
func (f *genFlags) sink(env *environment) (*sink, error) {
	s := &sink{mutants: f.mutants, close: func() error { return nil }}
	if f.model != "" {
		var err error
		if s.model, err = model.Load(f.model); err != nil {
			return nil, err
		}
		if !f.mutants {
			return nil, errors.New("--forbidden-by needs --mutants")
		}
	}
	w := bufio.NewWriterSize(env.stdout, 1<<16)
	n := 0
	for _, b := range []bool{f.count, f.names, f.stdout, f.out != ""} {
		if b {
			n++
		}
	}
	if n != 1 {
		return nil, errors.New("gen needs one of --out, --stdout, --names and --count")
	}
	switch {
	case f.count:
		s.put = func(string, func() *litmus.Test) error { return nil }
	case f.names:
		s.put, s.close = func(name string, _ func() *litmus.Test) error {
			_, err := fmt.Fprintln(w, name)
			return err
		}, w.Flush
	case f.stdout:
		s.put, s.close = func(_ string, t func() *litmus.Test) error { return printTest(w, t()) }, w.Flush
	default:
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return nil, err
		}
		s.put = func(name string, t func() *litmus.Test) error {
			return os.WriteFile(filepath.Join(f.out, name+".litmus"), t().Append(nil), 0o666)
		}
	}
	return s, nil
}

func printTest(w io.Writer, t *litmus.Test) error {
	_, err := fmt.Fprintf(w, "%s\n", t.Append(nil))
	return err
}

func newGenPresetsCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "presets [NAME]",
		Short: "List the built-in configurations with their numbers of tests, or print one",
		Example: `  optcheck gen presets
  optcheck gen presets quick > gen.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				text, err := cycle.PresetText(args[0])
				if err != nil {
					return err
				}
				_, err = env.stdout.Write(text)
				return err
			}
			for _, p := range cycle.Presets() {
				g, err := cycle.Preset(p)
				if err != nil {
					return err
				}
				fmt.Fprintf(env.stdout, "%s\t%d\n", p, g.Count())
			}
			return nil
		},
	}
}

func newGenCycleCmd(env *environment) *cobra.Command {
	var place, memory, scheme string
	var mutants bool
	cmd := &cobra.Command{
		Use:   "cycle EDGES",
		Short: "Make one test from a list of edges",
		Long: `Make one test from a list of edges with annotations of the accesses between them,
or say why the edges form no cycle:

  Rfe Rfi Fre Fri Coe Coi   communication, between threads (e) or within one (i)
  PodWR PosRR Pod**         program order, to another (d) or the same (s) location
  Membar.gldWW              membar.{cta,gl,sys} between the accesses
  Fence.sc.gpudWR           fence.{sc,acq_rel,acquire,release}.{cta,cluster,gpu,sys}
  BardWR                    bar.sync between the accesses
  DpAddrdR DpDatadW DpCtrldW, DpCtrlMembar.gldR   dependencies
  Amo.Exch Amo.Cas.acq.gpu  from the read to the write of one atomic

  annotations: weak vol ca cg cs lu cv wb wt rlx.gpu acq.sys rel.cta
               atom.add atom.exch atom.cas atom.cas.acq.gpu`,
		Example: `  optcheck gen cycle "PodWW rel.gpu Rfe acq.gpu PodRR Fre" --place p0::p1
  optcheck gen cycle "Pod** Rfe DpDatad* Rfe"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			sp, err := specOf(strings.Join(args, " "), place, memory, scheme)
			if err != nil {
				return err
			}
			if err := printTest(env.stdout, sp.Test()); err != nil {
				return err
			}
			if !mutants {
				return nil
			}
			for _, m := range sp.Mutants() {
				if err := printTest(env.stdout, m.Test()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&place, "place", "", "placement of the threads, as names have it (default: different CTAs, p0::p1)")
	cmd.Flags().StringVar(&memory, "map", "", "memory map, as names have it (default: global, xgyg)")
	cmd.Flags().StringVar(&scheme, "scheme", "", "how false dependencies are made (default: and-high-bit)")
	cmd.Flags().BoolVar(&mutants, "mutants", false, "also print the neighbours with one edge weakened")
	return cmd
}

func specOf(list, place, memory, scheme string) (*cycle.Spec, error) {
	c, err := cycle.Parse(list)
	if err != nil {
		return nil, err
	}
	var sch *depgen.Scheme
	if scheme != "" {
		if sch, err = depgen.Lookup(scheme); err != nil {
			return nil, err
		}
	}
	return cycle.PlacedSpec(c, place, memory, sch)
}

func newGenNameCmd(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "name TEST|DIR|NAME…",
		Short: "Classify tests back to their cycles",
		Long: `Print the canonical name and the cycle of each test: of a generated test's name, a
file, a folder, or a test of the corpus. A test whose condition is no cycle of
program order and communications is said to be none.`,
		Example: `  optcheck gen name MP+membar.gl+addr-p0::p1-xgyg
  optcheck gen name mp tests/ --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			found := true
			enc := env.lines()
			for _, a := range args {
				var tests []*litmus.Test
				if sp, err := cycle.ParseName(a); err == nil {
					tests = []*litmus.Test{sp.Test()}
				} else if tests, err = loadTests(env, []string{a}); err != nil {
					return err
				}
				for _, t := range tests {
					r, err := cycle.Classify(t)
					found = found && err == nil
					if err := printClass(env, enc, asJSON, t.Name, r, err); err != nil {
						return err
					}
				}
			}
			if !found {
				return errFound
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON, jsonLines)
	return cmd
}

func printClass(env *environment, enc *json.Encoder, asJSON bool, name string, r *cycle.Class, cause error) error {
	if asJSON {
		out := map[string]any{"test": name}
		if cause != nil {
			out["reason"] = cause.Error()
		} else {
			out["family"], out["name"], out["cycle"], out["exact"] = r.Spec.Cycle.Family(), r.Spec.Name(), r.Spec.Cycle.String(), r.Exact
		}
		return enc.Encode(out)
	}
	if cause != nil {
		_, err := fmt.Fprintf(env.stdout, "%s\tno cycle: %v\n", name, cause)
		return err
	}
	about := ""
	if !r.Exact {
		about = "\t(the cycle only: the test has more)"
	}
	_, err := fmt.Fprintf(env.stdout, "%s\t%s\t%s%s\n", name, r.Spec.Name(), r.Spec.Cycle, about)
	return err
}
