package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"optcheck/audit"
	"optcheck/audit/store"
	"optcheck/audit/values"
	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/match"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen/cycle"
	"optcheck/reduce"
	"optcheck/spec"
	"optcheck/toolchain"
)

// findingHelp explains how commands are told a finding.
const findingHelp = `FINDING is a cell and a rule that is broken in it, written in one of these ways:

  run.jsonl#17     the cell in line 17 of a saved run (optcheck audit --output);
                   run.jsonl#17:merged names one of several rules
  all.store#17     cell 17 of a store (optcheck store export --format csv lists
                   the numbers)
  TEST@TOOLCHAIN/TARGET/LEVEL/LAYOUT:RULE
                   coRR@12.4/sm_80/O3/offsets:merged. TEST is a file, a test of the
                   corpus or the name of a generated test; parts can be left out
                   from the end and be given by flags. Without a rule, the cell's
                   first finding is meant, in the order of optcheck explain.
  FOLDER           a counterexample that optcheck hunt --values --bundles or
                   optcheck bug has written
  FILE.ptx@TOOLCHAIN/TARGET/LEVEL:RULE
                   real PTX (optcheck audit FILE.ptx); in the place of RULE may stand
                   the line of an operation. Without a toolchain the newest is meant
                   that shows it; without a rule a miscompilation, else the first
                   finding.
  FILE.cu@FRONT+PTXAS/TARGET/LEVEL:RULE
                   CUDA C++: kernel.cu@nvcc-12.4+11.8/sm_80/O3:17. In the place of
                   RULE may stand a line of FILE.cu. The finding is in the PTX that
                   the front end makes; that PTX is reduced.
  FILE.cu@FRONT/TARGET:crash
                   a front end that crashes at CUDA C++, or hangs (:hang).`

// findingFlags complete a FINDING.
type findingFlags struct {
	rule, class, stage string
	source, model      string
	noVerdict          bool
	ptxasFlags         []string
	keep               []string
	finding            string // in PTX: a rule or a line
	frontFlags         []string
	limit              time.Duration // of a reduction of PTX
	quiet              bool
	saved              *event.Test     // of the cell in a saved run
	kept               *values.Finding // of a folder with a counterexample
}

func (f *findingFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.String("toolchains", "", "the toolchain, if FINDING names none")
	fl.String("targets", "", "the target, if FINDING names none")
	fl.String("levels", "", "the optimisation level, if FINDING names none (default: O3)")
	fl.String("layouts", "", "the layout, if FINDING names none (default: pointers)")
	vendorFlag(cmd)
	sourceFlag(cmd)
	fl.StringVar(&f.rule, "rule", "", "the rule, if FINDING names none")
	fl.StringVar(&f.class, "class", "", "the class that the cell must have (default: the one that it has)")
	fl.StringVar(&f.stage, "stage", "", "where it must have arisen, of kernels in LLVM IR for NVIDIA: llc or ptxas (default: where it did)")
	fl.StringVar(&f.model, "model", "", "judge under this model: a built-in one (optcheck models) or a .cat file")
	fl.BoolVar(&f.noVerdict, "no-verdict", false, "ask no model: what differs from the test is just changed")
	fl.StringVar(&f.source, "test", "", "the test's file, if its name in FINDING is not enough")
	fl.StringSliceVar(&f.ptxasFlags, "ptxas-flags", nil, "further arguments for ptxas")
	fl.StringSliceVar(&f.keep, "keep", nil, "parts that stay as they are: "+strings.Join(reduce.Parts, ", "))
	fl.StringSliceVar(&f.frontFlags, "front-flags", nil, "of CUDA C++: further arguments for its compiler (-Iinclude,-DN=4)")
	fl.StringVar(&f.finding, "finding", "", "in PTX: the rule, or the line of an operation, if FINDING names none")
	fl.DurationVar(&f.limit, "for", 0, "stop a reduction of PTX or CUDA C++ after this time; the result is what was reached")
	jobFlags(cmd)
	quietFlag(cmd, &f.quiet)
}

// options returns what all audits of a command share.
func (f *findingFlags) options(env *environment) audit.Options {
	return audit.Options{Jobs: env.settings.jobs, Tool: version(), Model: f.model, NoVerdict: f.noVerdict, Source: env.settings.kernels()}
}

// resolve finds test and toolchain of a FINDING, and lists all toolchains.
func (f *findingFlags) resolve(ctx context.Context, env *environment, arg string) (*reduce.Finding, []*toolchain.Toolchain, error) {
	a, hash, err := f.address(env, arg)
	if err != nil {
		return nil, nil, err
	}
	out := &reduce.Finding{Target: a.Target, Level: a.Level, Flags: f.ptxasFlags, Signature: reduce.Signature{Rule: a.Rule,
		Class: f.class, Stage: f.stage}}
	if err := checkSignature(out.Signature); err != nil {
		return nil, nil, err
	}
	if out.Layout, err = spec.ParseLayout(a.Layout); err != nil {
		return nil, nil, err
	}
	if out.Test, err = f.test(env, a.Test, hash != ""); err != nil {
		return nil, nil, err
	}
	if err := checkTests([]*litmus.Test{out.Test}); err != nil {
		return nil, nil, err
	}
	if hash != "" && out.Test.Hash() != hash {
		return nil, nil, fmt.Errorf("%s: the test %s found here (hash %s) is not the one of that run (%s); give its file with --test", arg,
			a.Test, out.Test.Hash(), hash)
	}
	all, err := discoverAll(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	if len(all) == 0 {
		return nil, nil, errors.New("no toolchain found; try: optcheck toolchain install")
	}
	all = thatCompile(env, all, env.settings.kernels())
	if out.Toolchain, err = pick(ctx, env, all, a.Toolchain, out.Target); err != nil {
		return nil, nil, err
	}
	if out.Target == "" {
		return nil, nil, fmt.Errorf("%s names no target (%s)", arg, strings.Join(out.Toolchain.Targets, ", "))
	}
	return out, all, nil
}

func checkSignature(s reduce.Signature) error {
	if r, ok := optcheck.LookupRule(s.Rule); s.Rule != "" && (!ok || !r.Breakable()) {
		return fmt.Errorf("no rule %q that a finding can break; see optcheck explain", s.Rule)
	}
	if s.Stage != "" && s.Stage != match.StageLLC && s.Stage != match.StagePtxas {
		return fmt.Errorf("a finding arises in %s or %s, not in %q", match.StageLLC, match.StagePtxas, s.Stage)
	}
	if s.Class != "" && !(&event.Result{Class: s.Class}).HasFindings() {
		return fmt.Errorf("a finding's class is %s, %s, %s or %s, not %q", event.Miscompiled, event.Optimised, event.Changed, event.Crashed, s.Class)
	}
	return nil
}

// pick returns the toolchain of a name, the newest if several are meant, or
// without a name the newest that knows the target.
func pick(ctx context.Context, env *environment, all []*toolchain.Toolchain, name, target string) (*toolchain.Toolchain, error) {
	found := all
	if name != "" {
		var err error
		if found, err = env.named(ctx, all, name); err != nil {
			return nil, err
		}
	}
	for _, tc := range slices.Backward(found) {
		if target == "" || tc.HasTarget(target) {
			return tc, nil
		}
	}
	return nil, fmt.Errorf("no such toolchain knows target %q", target)
}

// discoverAll finds every toolchain of the vendor, whatever toolchains the
// settings name.
func discoverAll(ctx context.Context, env *environment) ([]*toolchain.Toolchain, error) {
	all := *env
	all.settings.toolchains = nil
	return discover(ctx, &all)
}

// address reads a FINDING and fills it up from the flags; of a cell in a saved
// run it also returns the test's hash.
func (f *findingFlags) address(env *environment, arg string) (a reduce.Address, hash string, err error) {
	if file, line, rule, ok := savedCell(arg); ok {
		c, err := f.readCell(env, file, line)
		if err != nil {
			return a, "", err
		}
		if !c.HasFindings() {
			return a, "", fmt.Errorf("%s: %s in %s %s %s %s is %s: nothing was found in it", arg, c.Test, c.Toolchain, c.Target,
				c.Level, c.Layout, c.Class)
		}
		if c.Hash == "" {
			return a, "", fmt.Errorf("%s: the cell has no hash of its test", arg)
		}
		if r := pipeline.RoadOf(c.Toolchain); r != nil {
			if !env.config.given("vendor") {
				env.settings.vendor = r.Vendor
			}
			if r != pipeline.Usual(r.Vendor) && !env.config.given("source") {
				env.settings.source = r.Source
			}
		}
		a = reduce.Address{Test: c.Test, Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Layout: c.Layout, Rule: rule}
		hash = c.Hash
	} else if k, err := kindOf(arg); err == nil && (k == aStream || k == aStore) {
		return a, "", fmt.Errorf("%s is %s: name a cell of it, such as %s#17", arg, k, arg)
	} else if a, err = reduce.ParseAddress(arg); err != nil {
		return a, "", err
	} else if strings.Contains(a.Toolchain, "+") && !env.config.given("source") {
		env.settings.source = pipeline.LLVMIR
	}
	set := &env.settings
	for p, choices := range map[*string][]string{&a.Toolchain: set.toolchains, &a.Target: set.targets,
		&a.Level:  append(slices.Clone(set.levels), "O3"),
		&a.Layout: append(slices.Clone(set.layouts), "pointers"), &a.Rule: {f.rule}} {
		if *p == "" && len(choices) > 0 {
			*p = choices[0]
		}
	}
	return a, hash, nil
}

// savedCell splits FILE#LINE[:RULE].
func savedCell(arg string) (file string, line int, rule string, ok bool) {
	at := strings.LastIndexByte(arg, '#')
	if at <= 0 {
		return "", 0, "", false
	}
	number, rule, _ := strings.Cut(arg[at+1:], ":")
	n, err := strconv.Atoi(number)
	return arg[:at], n, rule, err == nil && n > 0
}

// readCell reads the cell in a line of a saved run, or of a number in a store,
// and its test as far as it is told there.
func (f *findingFlags) readCell(env *environment, file string, line int) (cell *event.Cell, err error) {
	ctx := env.ctx
	if store.Is(file) {
		err = withStore(ctx, file, store.Read, func(s *store.Store) error {
			c, err := s.Cell(ctx, int64(line))
			if err == nil {
				cell = &c
				f.saved, err = s.Test(ctx, c.Test, c.Hash)
			}
			return err
		})
		return cell, err
	}
	in, done, err := openStream(env, file)
	if err != nil {
		return nil, err
	}
	defer done()
	n := 0
	tests := map[string]*event.Test{}
	err = event.ReadLines(file, in, func(at int, e event.Event) error {
		if e.Test != nil {
			tests[e.Test.Name+" "+e.Test.Hash] = e.Test
		}
		if n = at; at == line {
			cell = e.Cell
			if cell == nil {
				return fmt.Errorf("%s:%d: this line is no cell", file, line)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if cell == nil {
		return nil, fmt.Errorf("%s: no cell in line %d (the file has %s)", file, line, plain.Count(n, "line"))
	}
	f.saved = tests[cell.Test+" "+cell.Hash]
	return cell, nil
}

// test finds a test by file, name in the corpus, or generated name. A name from
// a saved run stands for no file.
func (f *findingFlags) test(env *environment, name string, saved bool) (*litmus.Test, error) {
	if f.source != "" {
		name, saved = f.source, false
	}
	if sp, err := cycle.ParseName(name); err == nil && f.source == "" {
		return sp.Test(), nil
	}
	if saved {
		if t, ok := corpus.Lookup(name); ok {
			return t, nil
		}
		if f.saved != nil && f.saved.Text != "" {
			return litmus.Parse(name, []byte(f.saved.Text))
		}
		return nil, fmt.Errorf("%q is no test of the corpus and no generated name; give its file with --test", name)
	}
	tests, err := loadTests(env, []string{name})
	if err != nil {
		return nil, err
	}
	if len(tests) != 1 {
		return nil, fmt.Errorf("%s: a finding is in one test, not in %d", name, len(tests))
	}
	return tests[0], nil
}
