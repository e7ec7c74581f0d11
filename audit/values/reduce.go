package values

import (
	"context"
	"fmt"

	"optcheck/ptxgen/values"
	"optcheck/refine"
)

// reducer makes a kernel small while a cell still computes something else of it.
type reducer struct {
	cell   Cell
	inputs []*refine.Input
	best   *values.Kernel
	found  verdict
	tried  int
}

// maxTries bounds the kernels that a reduction compiles.
const maxTries = 1500

// batchTries is how many kernels are compiled together.
const batchTries = 48

// reduce reduces a kernel of which a cell is wrong on an input.
func reduce(ctx context.Context, c Cell, k *values.Kernel, v verdict) (*values.Kernel, verdict, error) {
	r := &reducer{cell: c, inputs: []*refine.Input{v.finding.Input}, best: k, found: v}
	for again := true; again && r.tried < maxTries; {
		before := r.best
		for kind := range values.Kinds {
			if err := r.edits(ctx, kind); err != nil {
				return nil, v, err
			}
		}
		again = r.best != before && r.best.Count() < before.Count()
	}
	return r.best, r.found, nil
}

// edits makes as many edits of a kind as can be made: first in large parts, then one by one.
func (r *reducer) edits(ctx context.Context, kind values.Kind) error {
	all := r.best.Edits(kind)
	for size := max(1, (len(all)+7)/8); len(all) > 0; size = (size + 1) / 2 {
		var parts [][]values.Edit
		for i := 0; i < len(all); i += size {
			parts = append(parts, all[i:min(i+size, len(all))])
		}
		good, err := r.each(ctx, parts)
		if err != nil {
			return err
		}
		if err := r.together(ctx, good); err != nil {
			return err
		}
		if all = r.best.Edits(kind); size == 1 || r.tried >= maxTries {
			return nil
		}
	}
	return nil
}

// each tries sets of edits one by one, and returns those that can be made.
func (r *reducer) each(ctx context.Context, parts [][]values.Edit) (good [][]values.Edit, err error) {
	kernels := make([]*values.Kernel, len(parts))
	for i, p := range parts {
		kernels[i] = r.best.Apply(p)
	}
	ok, err := r.wrong(ctx, kernels)
	for i := range ok {
		if ok[i] != nil {
			good = append(good, parts[i])
		}
	}
	return good, err
}

// together makes the edits that can be made alone: all, or as many of the first ones as can be made together.
func (r *reducer) together(ctx context.Context, good [][]values.Edit) error {
	var edits []values.Edit
	var kernels []*values.Kernel
	for _, p := range good {
		edits = append(edits, p...)
		kernels = append(kernels, r.best.Apply(edits))
	}
	ok, err := r.wrong(ctx, kernels)
	for i := len(ok) - 1; i >= 0; i-- {
		if ok[i] != nil {
			r.best, r.found = kernels[i], *ok[i]
			break
		}
	}
	return err
}

// wrong says of which kernels the cell is wrong, but not the same compiler at O0. A kernel may be nil.
func (r *reducer) wrong(ctx context.Context, kernels []*values.Kernel) ([]*verdict, error) {
	out := make([]*verdict, len(kernels))
	for first := 0; first < len(kernels); first += batchTries {
		var list []*subject
		var at []int
		for i := first; i < min(first+batchTries, len(kernels)); i++ {
			if kernels[i] != nil {
				at = append(at, i)
				list = append(list, newSubject(kernels[i], fmt.Sprintf("k%d", i), r.inputs))
			}
		}
		r.tried += len(list)
		found, err := judge(ctx, r.cell, list)
		if err != nil {
			return nil, err
		}
		if err := r.acquit(ctx, list, found); err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].outcome == Wrong {
				out[at[i]] = &found[i]
			}
		}
	}
	return out, nil
}

// acquit takes away what O0 does as well.
func (r *reducer) acquit(ctx context.Context, list []*subject, found []verdict) error {
	if r.cell.Level == "O0" {
		return nil
	}
	var suspects []*subject
	var at []int
	for i := range found {
		if found[i].outcome == Wrong {
			suspects, at = append(suspects, list[i]), append(at, i)
		}
	}
	base := r.cell
	base.Level = "O0"
	plain, err := judge(ctx, base, suspects)
	for i := range plain {
		if plain[i].outcome != Same {
			found[at[i]].outcome = Unknown
		}
	}
	return err
}
