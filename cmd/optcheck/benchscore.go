package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"optcheck/audit"
	"optcheck/audit/device"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/model"
	"optcheck/runner/drive"
)

// scoredTests are the mutants of a preset's tests that a model allows where it
// forbids their parents: each test once.
func scoredTests(ctx context.Context, env *environment, preset, modelName string) ([]*litmus.Test, error) {
	g, err := generatorOf(env, preset)
	if err != nil {
		return nil, err
	}
	m, err := model.Load(modelName)
	if err != nil {
		return nil, err
	}
	never := func(t *litmus.Test) (bool, error) {
		v, err := m.Judge(ctx, t, model.Options{StatesOnly: true})
		return err == nil && v.Undecided == "" && v.Observation == model.Never, err
	}
	var out []*litmus.Test
	have := map[string]bool{}
	for s := range g.Specs() {
		if forbidden, err := never(s.Test()); err != nil || !forbidden {
			if err != nil {
				return nil, err
			}
			continue
		}
		for _, x := range s.Mutants() {
			t := x.Test()
			if have[t.Hash()] {
				continue
			}
			have[t.Hash()] = true
			forbidden, err := never(t)
			if err != nil {
				return nil, err
			}
			if !forbidden {
				out = append(out, t)
			}
		}
	}
	return out, nil
}

// contenders are the ways to run tests that are compared: each environment that was
// named, or the fast form, the permuted one, and what adaptive runs begin with.
func (f *benchFlags) contenders(t drive.Tuning, o *device.Options) ([]device.Contender, error) {
	d := o.Session.Device()
	if f.usedProfile != nil {
		return f.beside(t, o)
	}
	if f.environments != "" {
		list, err := drive.Find(drive.Environments(d, t), f.environments)
		var out []device.Contender
		for _, s := range list {
			out = append(out, device.Contender{Name: s.Name, Settings: []drive.Setting{s}})
		}
		return out, err
	}
	sets, err := drive.ParseIncantations("none,random,sync+random,stress+sync+random")
	if err != nil {
		return nil, err
	}
	var out []device.Contender
	forms, err := drive.ParseForms("both")
	if err != nil {
		return nil, err
	}
	for _, form := range forms {
		c := device.Contender{Name: form.String()}
		for _, i := range sets {
			c.Settings = append(c.Settings, drive.Setting{Form: form, Incantations: i, Tuning: t})
		}
		out = append(out, c)
	}
	list, err := drive.Find(drive.Environments(d, t), drive.Hunt)
	return append(out, device.Contender{Name: drive.Hunt, Settings: list}), err
}

// beside are the same settings without and with what the profile says.
func (f *benchFlags) beside(tuned drive.Tuning, o *device.Options) ([]device.Contender, error) {
	untuned := *f
	untuned.useProfile = ""
	t, err := untuned.tuning(o.Session.Device())
	if err != nil {
		return nil, err
	}
	var out []device.Contender
	for _, names := range []string{cmp.Or(f.environments, "sys-str-,sys-str+"), "all"} {
		for _, x := range []struct {
			what string
			t    drive.Tuning
		}{{"untuned ", t}, {"tuned ", tuned}} {
			list, err := drive.Find(drive.Environments(o.Session.Device(), x.t), names)
			if err != nil {
				return nil, err
			}
			out = append(out, device.Contender{Name: x.what + names, Settings: list})
		}
	}
	return out, nil
}

// score measures what share of allowed outcomes is seen, and how soon.
func (b *bench) score(ctx context.Context, comp *device.Compiler) error {
	o := device.Options{Session: b.s, Compiler: comp, Seed: b.f.seed, Unvalidated: b.f.unvalidated}
	models := audit.ModelsFor(comp.Target)
	var err error
	if o.Judge, err = device.NewJudge(models...); err != nil {
		return err
	}
	if o.Tests, err = scoredTests(ctx, b.env, b.f.gen, models[0]); err != nil {
		return err
	}
	if o.Tuning, err = b.f.tuning(b.s.Device()); err != nil {
		return err
	}
	list, err := b.f.contenders(o.Tuning, &o)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.env.stdout, "%s of preset %s that %s allows; seed %d; at most %v for each contender, %v in all\n",
		plain.Count(len(o.Tests), "mutant"),
		b.f.gen, models[0], o.Seed, b.f.each, b.f.each*time.Duration(len(list)))
	fmt.Fprintf(b.env.stdout, "%-26s %7s %7s %7s %9s %9s %12s\n", "contender", "score", "seen", "of", "half in", "seconds", "seen/second")
	return device.RunScore(ctx, o, list, b.f.each, func(s *device.Score) {
		half := "-"
		if n := s.Open / 2; n > 0 && len(s.Firsts) >= n {
			half = fmt.Sprintf("%.2f s", s.Firsts[n-1].After.Seconds())
		}
		fmt.Fprintf(b.env.stdout, "%-26s %5.1f %% %7d %7d %9s %9.1f %12.2f%s\n", s.Contender, 100*s.Share(), len(s.Firsts), s.Open, half,
			s.Elapsed.Seconds(), s.PerSecond(), map[bool]string{true: "  interrupted"}[s.Interrupted])
		if b.out != nil {
			if data, err := json.Marshal(map[string]any{"event": "score", "contender": s.Contender, "seen": len(s.Firsts), "of": s.Open,
				"seconds": s.Elapsed.Seconds(), "seed": o.Seed, "first": s.Firsts}); err == nil {
				fmt.Fprintf(b.out, "%s\n", data)
			}
		}
	})
}
