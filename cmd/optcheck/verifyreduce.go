package main

import (
	"context"
	"fmt"
	"slices"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/reduce"
	"optcheck/verify"
)

// small writes the kernel of the first finding that counts, made small, into the file of --reduce.
func (v *verification) small(ctx context.Context, env *environment, l *toVerify, r *verify.Result) error {
	i := slices.IndexFunc(r.Found, func(f *verify.Finding) bool { return !f.Minor() && (v.fail != "race" || f.Rule == verify.DataRace) })
	if v.reduce == "" || i < 0 || v.reduced {
		return nil
	}
	v.reduced = true
	limited, cancel := context.WithTimeout(ctx, v.limit)
	defer cancel()
	k, tried, err := reduce.RunFault(limited, &reduce.Fault{Module: l.module, Kernel: l.kernel, Options: l.o, Found: r.Found[i], All: r.Found})
	if err != nil {
		return fmt.Errorf("--reduce: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	out, err := input.Create(v.reduce)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "// %s of %s, with this launch:\n//--gridDim=[%d,%d,%d] --blockDim=[%d,%d,%d]\n%s", r.Found[i].Rule, plain.Line(r.Name),
		r.Grid[0], r.Grid[1], r.Grid[2], r.Block[0], r.Block[1], r.Block[2], k)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.stderr, "%s: %s with this %s, of %d that were tried\n", plain.Line(v.reduce), plain.Count(k.Len(), "instruction"), r.Found[i].Rule, tried)
	return err
}
