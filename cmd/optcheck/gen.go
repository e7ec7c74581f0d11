package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/model"
	"optcheck/ptxgen/cycle"
	"optcheck/ptxgen/named"
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
		Example: `  optcheck gen --preset quick --output tests/
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
	fl.StringVarP(&f.out, "output", "o", "", "write the tests to this folder, one file each")
	fl.BoolVar(&f.stdout, "stdout", false, "print the tests")
	fl.BoolVar(&f.count, "count", false, "print only how many there are")
	fl.BoolVar(&f.names, "names", false, "print only the names")
	fl.BoolVar(&f.mutants, "mutants", false, "for each test also its neighbours with one edge weakened")
	fl.StringVar(&f.model, "forbidden-by", "", "with --mutants: only of tests whose outcome this model forbids (ptx, ptx-2015, a .cat file)")
	fl.StringVar(&f.shard, "shard", "", "only part i of n (2/8)")
	cmd.AddCommand(newGenCycleCmd(env), newGenNameCmd(env), newGenPresetsCmd(env), newGenKindsCmd(env))
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
	return env.from(named.Origin{Preset: preset}, tests...), nil
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
		return nil, errors.New("gen needs one of --output, --stdout, --names and --count")
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
		root, err := os.OpenRoot(f.out) // links in it lead nowhere else
		if err != nil {
			return nil, err
		}
		s.close = root.Close
		s.put = func(name string, t func() *litmus.Test) error {
			return input.WriteFileIn(root, name+".litmus", t().Append(nil), 0o666)
		}
	}
	return s, nil
}

func printTest(w io.Writer, t *litmus.Test) error {
	_, err := fmt.Fprintf(w, "%s\n", t.Append(nil))
	return err
}
