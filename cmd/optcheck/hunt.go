package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"optcheck/audit/hunt"
	"optcheck/audit/store"
	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/internal/scratch"
	"optcheck/known"
	"optcheck/spec"
	"optcheck/toolchain"
)

// huntFlags are the flags of the hunt command.
type huntFlags struct {
	seed    uint64
	tests   int
	limit   time.Duration
	bases   []string
	store   string
	model   string
	flags   []string
	races   []string
	bundles string
	html    string // folder of pages
	most    int
	asJSON  bool
	quiet   bool
	values  valuesFlags
}

func newHuntCmd(env *environment) *cobra.Command {
	var f huntFlags
	cmd := &cobra.Command{
		Use:   "hunt",
		Short: "Look for what compilers do to concurrent code that has no known name yet",
		Long: `Compose tests at random, by a seed, and audit them, until the time is over, the
tests are done, or Ctrl-C. A test is a base, of the corpus or a preset, with one to
three opportunities for a compiler (optcheck gen), every fourth one made race-free.
All pairs of an opportunity and the synchronisation that it crosses are covered before
one comes again; every third is one near what yielded something new.

What is found is put together by signature: rule, kinds and orders of the accesses,
what synchronisation stands between them, at O0 or above. Findings that are known
(optcheck known) are set aside. With --bundles, new signatures are reduced and written
as reports that reproduce themselves (optcheck bug), miscompiled and race-free ones first.

The same seed and --tests give the same tests and the same report, whatever the number
of cores; times go to standard error. With --store, results are kept, and a hunt that
was stopped goes on from there, with the store's seed. optcheck report and optcheck
serve show the store, also while the hunt goes on.

With --values the kernels are random ones whose results PTX defines, of NVIDIA's
compilers alone; they and their machine code are executed on the same inputs. What
differs is reduced, put together by cause, and, with --bundles, kept with the input
that shows it (docs/internals/hunting.md).`,
		Example: `  optcheck hunt --for 10m --store hunt.store
  optcheck hunt --seed 7 --tests 500 --toolchains 12.4 --targets sm_80 --levels O3
  optcheck hunt --for 1h --races race-free --bundles bundles/
  optcheck hunt --values --for 5m --toolchains 12.4 --targets sm_90 --bundles wrong/`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.values.check(cmd); err != nil {
				return err
			}
			if f.values.on {
				return runHuntValues(cmd.Context(), env, &f)
			}
			return runHunt(cmd.Context(), env, &f)
		},
	}
	fl := cmd.Flags()
	f.values.add(fl)
	vendorFlag(cmd)
	matrixFlags(cmd)
	sourceFlag(cmd)
	fl.StringSlice("known", nil, "further lists of known findings (YAML; see optcheck known)")
	fl.Uint64Var(&f.seed, "seed", 0, "of the choices; 0: that of the store, or a random one, which is printed")
	fl.IntVar(&f.tests, "tests", 0, "stop after so many tests")
	fl.DurationVar(&f.limit, "for", 0, "stop after this time (default 10m, if there is no --tests)")
	fl.StringSliceVar(&f.bases, "bases", []string{"corpus", "opportunities", "ptx", "scopes"},
		"what tests are composed of: corpus, presets, configuration files (optcheck gen)")
	fl.StringVar(&f.store, "store", "", "keep the results in this store, and go on from it")
	modelFlag(cmd, &f.model)
	fl.StringSliceVar(&f.flags, "ptxas-flags", nil, "further arguments for the compiler")
	fl.StringSliceVar(&f.races, "races", nil,
		"report only signatures seen in tests of which the language says so ("+strings.Join(event.RaceWords(), ",")+")")
	fl.StringVar(&f.bundles, "bundles", "", "reduce new signatures and write bundles into this folder")
	fl.IntVar(&f.most, "most", 20, "with --bundles: at most so many")
	htmlFlag(cmd, &f.html)
	jsonFlag(cmd, &f.asJSON, jsonLines+": seed, each new signature, progress, report")
	quietFlag(cmd, &f.quiet)
	return cmd
}

// huntTargets are the targets of NVIDIA's that are hunted on unless others are named:
// one of each way to say orders and scopes.
var huntTargets = []string{"sm_70", "sm_80", "sm_90"}

// options gathers the matrix and the bases.
func (f *huntFlags) options(ctx context.Context, env *environment) (o hunt.Options, err error) {
	if err := matrix(ctx, env, &o.Audit); err != nil {
		return o, err
	}
	a := &o.Audit
	if len(a.Targets) == 0 && !env.settings.amd() {
		for _, t := range huntTargets {
			if slices.ContainsFunc(a.Toolchains, func(tc *toolchain.Toolchain) bool { return tc.HasTarget(t) }) {
				a.Targets = append(a.Targets, t)
			}
		}
	} else if slices.Equal(a.Targets, []string{"all"}) {
		a.Targets = nil
	}
	if len(a.Levels) == 0 {
		a.Levels = []string{"O0", "O3"}
	}
	if len(a.Layouts) == 0 {
		a.Layouts = huntLayouts()
	}
	a.Source, a.Model, a.Flags = env.settings.kernels(), f.model, f.flags
	a.Toolchains = thatCompile(env, a.Toolchains, a.Source)
	if a.Build, err = buildID(); err != nil {
		return o, err
	}
	for _, name := range f.bases {
		if name == "corpus" {
			o.Bases = append(o.Bases, hunt.CorpusBases()...)
			continue
		}
		g, err := generatorOf(env, name)
		if err != nil {
			return o, err
		}
		list, err := hunt.PresetBases(g)
		if err != nil {
			return o, err
		}
		o.Bases = append(o.Bases, list...)
	}
	o.Tests, o.For, o.Seed = f.tests, f.limit, f.seed
	if o.Tests == 0 && o.For == 0 {
		o.For = 10 * time.Minute
	}
	return o, nil
}

// huntLayouts are the layouts of a hunt: those in which a compiler knows least, and
// most, of where locations are.
func huntLayouts() (out []spec.Layout) {
	for _, name := range []string{"pointers", "adjacent"} {
		if l, err := spec.ParseLayout(name); err == nil {
			out = append(out, l)
		}
	}
	return out
}

// seedLabel is the name under which a store keeps the seed of its hunt.
const seedLabel = "hunt/seed"

// seedOf settles the seed of a hunt and keeps it in its store.
func seedOf(ctx context.Context, o *hunt.Options) error {
	if s := o.Store; s != nil && o.Seed == 0 {
		data, _, err := s.Get(ctx, seedLabel)
		if err == nil {
			o.Seed, err = strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
		}
		if err != nil && !errors.Is(err, store.ErrNoLabel) {
			return fmt.Errorf("%s: the seed of its hunt: %w", s.Path(), err)
		}
	}
	for o.Seed == 0 {
		o.Seed = uint64(rand.Uint32())
	}
	if s := o.Store; s != nil {
		return s.Put(ctx, seedLabel, "text", fmt.Appendf(nil, "%d\n", o.Seed))
	}
	return nil
}

// huntEvent is a line of JSON: one of its fields is given.
type huntEvent struct {
	Seed     uint64         `json:"seed,omitempty"`
	Found    *hunt.Row      `json:"found,omitempty"`
	Progress *hunt.Progress `json:"progress,omitempty"`
	Report   *hunt.Report   `json:"report,omitempty"`
}

func runHunt(ctx context.Context, env *environment, f *huntFlags) (err error) {
	defer roomy(env, testMemory())()
	for _, w := range f.races {
		if !slices.Contains(event.RaceWords(), w) {
			return fmt.Errorf("--races: %q must be one of %s", w, strings.Join(event.RaceWords(), ", "))
		}
	}
	o, err := f.options(ctx, env)
	if err != nil {
		return err
	}
	list, _, err := knownList(env)
	if err != nil {
		return err
	}
	o.Known = list.IDs
	kept := f.store
	if kept == "" && f.html != "" { // pages are made of what is kept
		dir, err := scratch.Dir("hunt")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		kept = filepath.Join(dir, "hunt.store")
	}
	if kept != "" {
		if o.Store, err = storeAt(ctx, kept, store.Create); err != nil {
			return err
		}
		defer func() { err = o.Store.End(err) }()
	}
	if err := seedOf(ctx, &o); err != nil {
		return err
	}
	show := f.show(env, &o)
	if err := show.event(huntEvent{Seed: o.Seed}); err != nil {
		return err
	}
	rep, runErr := hunt.Run(ctx, o)
	show.done()
	if rep == nil {
		return runErr
	}
	if len(f.races) > 0 {
		rep.Rows = slices.DeleteFunc(rep.Rows, func(r *hunt.Row) bool { return !slices.Contains(f.races, r.Race) })
	}
	if runErr == nil && rep.Tests == 0 {
		runErr = errors.New("no test was tried in the time of --for")
	}
	if runErr == nil && rep.Decided == 0 {
		runErr = fmt.Errorf("of %s none could be decided", plain.Count(rep.Cells, "cell"))
	}
	if runErr == nil && f.bundles != "" {
		b := &bundler{env: env, f: f, o: &o, seen: map[string]string{}}
		runErr = b.all(ctx, rep.Rows)
	}
	if err := show.report(rep); err != nil || f.html == "" {
		return errors.Join(err, runErr)
	}
	return errors.Join(f.pages(context.WithoutCancel(ctx), env, kept, list), runErr)
}

// pages writes the pages of all that a hunt has audited, also of one that was stopped.
func (f *huntFlags) pages(ctx context.Context, env *environment, kept string, list *known.List) error {
	sub := *env
	sub.ctx, sub.quiet = ctx, f.quiet
	set, err := readAll(&sub, []string{kept}, 0, list)
	if err != nil {
		return err
	}
	return writePages(ctx, &sub, set, list, f.html, defaultHTMLLimit, nil)
}

// huntShow shows how a hunt goes on.
type huntShow struct {
	env    *environment
	f      *huntFlags
	tty    bool
	last   time.Time // that a line was written
	told   time.Time // that an event was
	drawn  bool
	errors error
}

// show has the events of a hunt shown.
func (f *huntFlags) show(env *environment, o *hunt.Options) *huntShow {
	s := &huntShow{env: env, f: f, tty: isTerminal(env.bar), last: time.Now()}
	o.Found = func(r *hunt.Row) error {
		if !f.quiet && !f.asJSON {
			s.done()
			env.tell("%s", fmt.Sprintf("new after %d tests, %.0f s: %s at %s: %s", r.After, r.Seconds, r.Class, r.Level, strings.Join(r.What, "; ")))
		}
		return s.event(huntEvent{Found: r})
	}
	o.Progress = s.progress
	return s
}

// event prints an event, if events are asked for.
func (s *huntShow) event(e huntEvent) error {
	if !s.f.asJSON {
		if e.Seed != 0 && !s.f.quiet {
			s.env.tell("seed %d", e.Seed)
		}
		return nil
	}
	return s.env.lines().Encode(e)
}

// progressEvery is how often a line says how far a hunt is, where it is no terminal.
const progressEvery = 5 * time.Second

func (s *huntShow) progress(p hunt.Progress) {
	now := time.Now()
	if s.f.asJSON && (p.UnderWay == 0 || now.Sub(s.told) >= time.Second) {
		s.errors, s.told = errors.Join(s.errors, s.event(huntEvent{Progress: &p})), now
	}
	switch {
	case s.f.quiet:
	case s.tty:
		fmt.Fprintf(s.env.bar, "\r%s\x1b[K", p.Line())
		s.drawn = true
	case now.Sub(s.last) >= progressEvery:
		s.last = now
		s.env.tell("%s", p.Line())
	}
}

// done takes the live line away.
func (s *huntShow) done() {
	if s.drawn {
		fmt.Fprint(s.env.bar, "\r\x1b[K")
		s.drawn = false
	}
}

func (s *huntShow) report(r *hunt.Report) error {
	if s.f.asJSON {
		return errors.Join(s.errors, s.event(huntEvent{Report: r}))
	}
	if !s.f.quiet {
		if err := r.WriteTimes(s.env.stderr); err != nil {
			return err
		}
	}
	return r.WriteText(s.env.text)
}
