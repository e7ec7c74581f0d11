package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/reduce"
	"optcheck/verify"
)

// smallest is the first finding that counts, with its kernel made small.
type smallest struct {
	found *verify.Finding
	of    *verify.Result
	text  []byte
	insts int
	tried int
}

// small makes the kernel of the first finding that counts small, and writes the files of --reduce and --bundle.
func (v *verification) small(ctx context.Context, env *environment, l *toVerify, r *verify.Result) error {
	i := slices.IndexFunc(r.Found, func(f *verify.Finding) bool { return !f.Minor() && (v.fail != "race" || f.Rule == verify.DataRace) })
	if i >= 0 && !v.ran && (v.folder != "" || v.device != "") {
		v.ran = true
		if err := v.onDevice(ctx, env, l, r.Found[i]); err != nil {
			return err
		}
	}
	if v.reduce == "" && v.bundle == "" || i < 0 || v.reduced {
		return nil
	}
	v.reduced = true
	fault := &reduce.Fault{Module: l.module, Kernel: l.kernel, Options: l.o, Found: r.Found[i], All: r.Found}
	k, tried, err := reduce.RunFault(ctx, fault, v.limit)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("the kernel cannot be made small: %w", err)
	}
	s := &smallest{found: r.Found[i], of: r, insts: k.Len(), tried: tried}
	s.text = fmt.Appendf(nil, "// %s of %s, with this launch:\n//--gridDim=%s --blockDim=%s%s\n%s", s.found.Rule, plain.Line(r.Name),
		bracketed(r.Grid), bracketed(r.Block), clusterComment(l.o.Launch.Cluster), k)
	if v.reduce != "" {
		if err := v.writeReduced(env, s); err != nil {
			return err
		}
	}
	if v.bundle != "" {
		return v.writeBundle(env, s)
	}
	return nil
}

// writeReduced writes the file of --reduce.
func (v *verification) writeReduced(env *environment, s *smallest) error {
	if err := input.WriteFile(v.reduce, s.text); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.stderr, "%s: %s with this %s, of %d that were tried\n", plain.Line(v.reduce), plain.Count(s.insts, "instruction"), s.found.Rule, s.tried)
	return err
}

// picture is the drawing of a finding's execution, nil if there is none.
func picture(f *verify.Finding) ([]byte, error) {
	if f.Execution == nil {
		return nil, nil
	}
	var svg bytes.Buffer
	err := f.Execution.SVG(&svg)
	return svg.Bytes(), err
}

func bracketed(d [3]int) string { return fmt.Sprintf("[%d,%d,%d]", d[0], d[1], d[2]) }

// clusterComment is the part of a launch's comment that tells the size of clusters, if the flags said it.
func clusterComment(d [3]int) string {
	if d == [3]int{} {
		return ""
	}
	return " --clusterDim=" + bracketed(d)
}
