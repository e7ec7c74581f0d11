package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optcheck/audit/values"
	"optcheck/internal/input"
	"optcheck/internal/plain"
	ptxvalues "optcheck/ptxgen/values"
	"optcheck/target"
)

// valuesFlags are the flags of a hunt for wrong values.
type valuesFlags struct {
	on      bool
	without []string
	output  string
	device  string
}

// valuesTarget is the target of a hunt for values unless others are named.
const valuesTarget = "sm_90"

// notOfValues are the flags that say nothing to a hunt for values.
var notOfValues = []string{"bases", "store", "model", "ptxas-flags", "races", "html", "layouts", "source", "vendor", "known", "disassembler"}

func (v *valuesFlags) add(fl *pflag.FlagSet) {
	fl.BoolVar(&v.on, "values", false, "hunt for wrong values: random kernels, executed in the emulator, and so is their machine code")
	fl.StringSliceVar(&v.without, "without", nil, "with --values: kinds of statements that kernels do not contain ("+strings.Join(ptxvalues.Features(), ",")+")")
	fl.StringVarP(&v.output, "output", "o", "", "with --values: write what --json prints to this file")
	fl.StringVar(&v.device, "device", "", "with --values: run each wrong kernel on this device, as compiled without and with optimising (cuda:0)")
}

// check refuses flags of the other kind of hunt.
func (v *valuesFlags) check(cmd *cobra.Command) error {
	if !v.on {
		for _, name := range []string{"without", "output", "device"} {
			if cmd.Flags().Changed(name) {
				return fmt.Errorf("--%s needs --values", name)
			}
		}
		return nil
	}
	for _, name := range notOfValues {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--values takes no --%s", name)
		}
	}
	for _, w := range v.without {
		if !slices.Contains(ptxvalues.Features(), w) {
			return fmt.Errorf("--without: %q must be one of %s", w, strings.Join(ptxvalues.Features(), ", "))
		}
	}
	return nil
}

// valuesCells are the compilers, targets and levels to hunt in.
func valuesCells(ctx context.Context, env *environment) (cells []values.Cell, err error) {
	targets, levels := env.settings.targets, env.settings.levels
	if len(targets) == 0 {
		targets = []string{valuesTarget}
	}
	if len(levels) == 0 {
		levels = []string{"O3"}
	}
	for _, t := range targets {
		if sm, ok := target.SM(t); !ok || sm < 70 {
			return nil, fmt.Errorf("--targets: --values needs sm_70 or later, not %s", t)
		}
	}
	tcs, err := discover(ctx, env)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		for _, tc := range tcs {
			for _, l := range levels {
				if tc.HasTarget(t) && tc.Ptxas != "" {
					cells = append(cells, values.Cell{Toolchain: tc, Target: t, Level: l})
				}
			}
		}
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("no compiler for %s (optcheck toolchain list)", strings.Join(targets, ", "))
	}
	return cells, nil
}

// valuesEvent is a line of JSON: one of its fields is given.
type valuesEvent struct {
	Seed     uint64           `json:"seed,omitempty"`
	Found    *values.Cause    `json:"found,omitempty"`
	Progress *values.Progress `json:"progress,omitempty"`
	Report   *values.Report   `json:"report,omitempty"`
}

// valuesShow shows how a hunt for values goes on.
type valuesShow struct {
	env  *environment
	f    *huntFlags
	to   []*json.Encoder
	last time.Time
}

func (s *valuesShow) event(e valuesEvent) error {
	var err error
	for _, to := range s.to {
		err = errors.Join(err, to.Encode(e))
	}
	return err
}

func runHuntValues(ctx context.Context, env *environment, f *huntFlags) (err error) {
	defer roomy(env, testMemory())()
	cells, err := valuesCells(ctx, env)
	if err != nil {
		return err
	}
	show := &valuesShow{env: env, f: f, last: time.Now()}
	if f.asJSON {
		show.to = append(show.to, env.lines())
	}
	if f.values.output != "" {
		file, err := input.Create(f.values.output)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		show.to = append(show.to, encoder(file))
	}
	o := values.Options{Cells: cells, Seed: f.seed, Kernels: f.tests, For: f.limit, Jobs: env.settings.jobs,
		Generate: ptxvalues.Options{Without: f.values.without}, Found: show.found, Progress: show.progress}
	if f.values.device != "" {
		s, err := openDevice(ctx, env, f.values.device)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		o.Chip = &values.Chip{Session: s}
	}
	for o.Seed == 0 {
		o.Seed = uint64(rand.Uint32())
	}
	if o.Kernels == 0 && o.For == 0 {
		o.For = 10 * time.Minute
	}
	if !f.quiet {
		env.tell("seed %d", o.Seed)
	}
	if err := show.event(valuesEvent{Seed: o.Seed}); err != nil {
		return err
	}
	rep, runErr := values.Run(ctx, o)
	if rep == nil {
		return runErr
	}
	switch {
	case runErr != nil:
	case rep.Cells == 0:
		runErr = errors.New("no kernel was tried in the time of --for")
	case rep.Unknown+rep.Refused == rep.Cells:
		runErr = fmt.Errorf("of %s none could be decided", plain.Count(rep.Cells, "cell"))
	}
	return errors.Join(f.report(env, show, rep), runErr)
}

// report writes what a hunt for values has found.
func (f *huntFlags) report(env *environment, show *valuesShow, rep *values.Report) error {
	if err := show.event(valuesEvent{Report: rep}); err != nil {
		return err
	}
	if f.bundles != "" {
		for i, c := range rep.Causes[:min(len(rep.Causes), f.most)] {
			if err := c.Keep(filepath.Join(f.bundles, fmt.Sprintf("%02d-%s", i+1, c.Name()))); err != nil {
				return err
			}
		}
	}
	if f.asJSON {
		return nil
	}
	return rep.WriteText(env.text)
}

func encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

func (s *valuesShow) found(c *values.Cause) error {
	if !s.f.quiet && !s.f.asJSON {
		s.env.tell("new in kernel %d: %s", c.Kernels[0], c.Signature)
	}
	return s.event(valuesEvent{Found: c})
}

func (s *valuesShow) progress(p values.Progress) {
	if s.f.quiet || time.Since(s.last) < progressEvery {
		return
	}
	s.last = time.Now()
	s.env.tell("%s", p.Line())
}
