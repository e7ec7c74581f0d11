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
	// careful tells that each kernel is also judged as the same compiler makes it without optimising.
	careful bool
}

// maxTries bounds the kernels that a reduction compiles.
const maxTries = 800

// batchTries is how many kernels are compiled together.
const batchTries = 48

// moreInputs is on how many inputs more than that of its finding a kernel is executed: what is left of it may
// compute wrongly on others.
const moreInputs = 3

// reduce reduces a kernel of which a cell is wrong on an input. The kernel is nil if the same compiler is wrong without
// optimising, or what it makes then is not understood.
func reduce(ctx context.Context, c Cell, k *values.Kernel, v verdict) (*values.Kernel, verdict, error) {
	inputs := append([]*refine.Input{v.finding.Input}, Inputs(k, moreInputs+1)[1:]...)
	for _, careful := range []bool{false, true} {
		r := &reducer{cell: c, inputs: inputs, best: k, found: v, careful: careful}
		if err := r.all(ctx); err != nil {
			return nil, v, err
		}
		ok, err := r.plain(ctx, []*subject{newSubject(r.best, "k", []*refine.Input{r.found.finding.Input})})
		if err != nil || ok[0].outcome == Same {
			return r.best, r.found, err
		}
		if careful || r.best == k {
			return nil, ok[0], nil
		}
	}
	return nil, v, nil // not reached
}

// all takes away what can be.
func (r *reducer) all(ctx context.Context) error {
	if err := r.slice(ctx); err != nil {
		return err
	}
	for again := true; again && r.tried < maxTries; {
		before := r.best
		for kind := range values.Kinds {
			if err := r.edits(ctx, kind); err != nil {
				return err
			}
		}
		again = r.best != before && r.best.Count() < before.Count()
	}
	return nil
}

// slice takes what the wrong value depends on, if that is wrong alone.
func (r *reducer) slice(ctx context.Context) error {
	store := r.found.finding.SourceText + ";"
	var list []*values.Kernel
	for _, memory := range []bool{false, true} {
		if k := r.best.Slice(store, memory); k != nil {
			list = append(list, k)
		}
	}
	ok, err := r.wrong(ctx, list)
	for i := range ok {
		if ok[i] != nil {
			r.best, r.found = list[i], *ok[i]
			break
		}
	}
	return err
}

// edits makes as many edits of a kind as can be made: first in large parts, then one by one.
func (r *reducer) edits(ctx context.Context, kind values.Kind) error {
	all := r.best.Edits(kind)
	size := (len(all) + 7) / 8
	if len(all) <= batchTries/2 {
		size = 1
	}
	for ; len(all) > 0; size = (size + 1) / 2 {
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

// wrong says of which kernels the cell is wrong. A kernel may be nil.
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

// acquit takes away what the compiler does without optimising as well, if that is asked for.
func (r *reducer) acquit(ctx context.Context, list []*subject, found []verdict) error {
	if !r.careful {
		return nil
	}
	var suspects []*subject
	var at []int
	for i := range found {
		if found[i].outcome == Wrong {
			suspects, at = append(suspects, list[i]), append(at, i)
		}
	}
	plain, err := r.plain(ctx, suspects)
	for i := range plain {
		if plain[i].outcome != Same {
			found[at[i]].outcome = Unknown
		}
	}
	return err
}

// plain judges what the compiler makes of kernels without optimising.
func (r *reducer) plain(ctx context.Context, list []*subject) ([]verdict, error) {
	base := r.cell
	base.Level = "O0"
	if r.cell.Level == base.Level {
		return make([]verdict, len(list)), nil // all Same
	}
	return judge(ctx, base, list)
}
