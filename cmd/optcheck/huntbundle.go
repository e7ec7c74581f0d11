package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"optcheck/audit"
	"optcheck/audit/hunt"
	"optcheck/bug"
	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/reduce"
	"optcheck/spec"
	"optcheck/toolchain"
)

// bundler reduces what a hunt has found and writes bundles.
type bundler struct {
	env  *environment
	f    *huntFlags
	o    *hunt.Options
	seen map[string]string // bundles, by what the smallest test shows
}

// all makes the bundles of the rows in their order. What cannot be bundled is said on
// standard error.
func (b *bundler) all(ctx context.Context, rows []*hunt.Row) error {
	n := 0
	for _, r := range rows {
		if r.Class == event.Unknown {
			continue
		}
		if n == b.f.most {
			b.env.tell("%s bundled, the others are not (--most)", plain.Count(n, "signature")+plain.Form(n, " is", " are"))
			return nil
		}
		name := fmt.Sprintf("%02d-%s-%s", n+1, r.Class, ruleOf(r))
		made, err := b.one(ctx, r, filepath.Join(b.f.bundles, name))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			b.env.tell("no bundle of %s: %v", r.Test, err)
		}
		if made {
			n++
		}
	}
	return nil
}

// ruleOf is the rule that a signature begins with.
func ruleOf(r *hunt.Row) string {
	rule, _, _ := strings.Cut(r.What[0], " ")
	return rule
}

// one reduces a signature and writes its bundle, unless one shows the same.
func (b *bundler) one(ctx context.Context, r *hunt.Row, dir string) (made bool, err error) {
	layout, err := spec.ParseLayout(r.Cell.Layout)
	if err != nil {
		return false, err
	}
	tcs, err := toolchain.Find(b.o.Audit.Toolchains, r.Cell.Toolchain)
	if err != nil {
		return false, err
	}
	base := audit.Options{Jobs: b.o.Audit.Jobs, Tool: version(), Model: b.o.Audit.Model, Source: b.o.Audit.Source}
	found := &reduce.Finding{Test: r.Example(), Toolchain: tcs[0], Target: r.Cell.Target, Level: r.Cell.Level, Layout: layout,
		Flags: b.o.Audit.Flags, Signature: reduce.Signature{Rule: ruleOf(r), Class: r.Class, RaceFree: r.Race == event.WordRaceFree}}
	res, err := reduce.Run(ctx, found, reduce.Options{Audit: base})
	if err != nil {
		return false, err
	}
	key := r.Class + r.Level + strings.Join(hunt.What(res.Min.Test.Canonical(), &res.Cell), "; ")
	if r.Bundle = b.seen[key]; r.Bundle != "" {
		return false, nil
	}
	in := &bug.Input{Result: res, Toolchains: b.o.Audit.Toolchains, Audit: base, Form: bug.FormOf(&res.Min), Tool: version(), Host: host()}
	if in.Where, err = reduce.Locate(ctx, &in.Min, in.Toolchains, base); err != nil {
		return false, err
	}
	out, err := bug.Build(ctx, in)
	if err != nil {
		return false, err
	}
	if err := out.WriteDir(dir); err != nil {
		return false, err
	}
	r.Bundle, b.seen[key] = dir, dir
	b.env.tell("%s: %s", dir, out.Title)
	return true, nil
}
