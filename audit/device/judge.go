package device

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"optcheck/litmus"
	"optcheck/model"
)

// Verdicts of a model on an outcome.
const (
	Allowed   = "allowed"
	Forbidden = "forbidden"
	Undecided = "undecided"
)

// Judgement is what the models say of a test.
type Judgement struct {
	Models []string // names, the machine's own model first
	allows []map[string]bool
	why    []string // why a model has no verdict, "" if it has one
	terms  []litmus.Term
	// What the machine code allows by the machine's own model and by sc, nil where it is
	// the test or nothing is known of it; Unjudged says why.
	code, codeSC map[string]bool
	Unjudged     string
	cond         []string // what each model says of the condition's proposition
}

// Judge holds loaded models. Its methods may be used concurrently.
type Judge struct {
	Asked  []string // the models that were asked for, the machine's own first
	models []*model.Model
}

// sc is the name of the model of sequential consistency.
const sc = "sc"

// NewJudge loads models; the first is the machine's own. sc is always added.
func NewJudge(names ...string) (*Judge, error) {
	j := &Judge{Asked: names}
	if !slices.Contains(names, sc) {
		names = append(slices.Clone(names), sc)
	}
	for _, n := range names {
		m, err := model.Load(n)
		if err != nil {
			return nil, err
		}
		j.models = append(j.models, m)
	}
	return j, nil
}

// maxCandidates bounds the work for one test and model.
const maxCandidates = 2_000_000

// Test judges a test by all models.
func (j *Judge) Test(ctx context.Context, t *litmus.Test) *Judgement {
	r := &Judgement{terms: t.Terms()}
	for _, m := range j.models {
		r.Models = append(r.Models, m.Name)
		states, never, err := r.ask(ctx, m, t)
		switch {
		case err != nil:
			r.add(nil, err.Error(), Undecided)
		case never:
			r.add(states, "", Forbidden)
		default:
			r.add(states, "", Allowed)
		}
	}
	return r
}

// ask lists what a model allows in the terms of the judgement; never tells that none of it
// satisfies the condition.
func (r *Judgement) ask(ctx context.Context, m *model.Model, t *litmus.Test) (states map[string]bool, never bool, err error) {
	if err := ctx.Err(); err != nil { // a small test is judged before the context is looked at
		return nil, false, err
	}
	v, err := m.Judge(ctx, t, model.Options{StatesOnly: true, MaxCandidates: maxCandidates})
	switch {
	case err != nil:
		return nil, false, err
	case v.Undecided != "":
		return nil, false, errors.New(v.Undecided)
	}
	states = map[string]bool{}
	for _, s := range v.States {
		vals := make([]int64, len(r.terms))
		for i, x := range r.terms {
			if k := slices.Index(v.Terms, x); k >= 0 {
				vals[i] = s.Values[k]
			}
		}
		states[key(vals)] = true
	}
	return states, v.Observation == model.Never, nil
}

// Binary judges a test, and its machine code where that is known to differ, so that it is
// known which of the two allows an outcome.
func (j *Judge) Binary(ctx context.Context, b *Binary) *Judgement {
	r := j.Test(ctx, b.Test)
	switch {
	case b.State != stateChanged:
		return r
	case b.Machine == nil:
		r.Unjudged = b.Unlifted
		return r
	}
	own, sequential := map[string]bool{}, map[string]bool{}
	for _, t := range b.Machine {
		for _, x := range []struct {
			m   *model.Model
			all map[string]bool
		}{{j.models[0], own}, {j.models[r.index(sc)], sequential}} {
			states, _, err := r.ask(ctx, x.m, t.Test)
			if err != nil {
				r.Unjudged = x.m.Name + ": " + err.Error()
				return r
			}
			maps.Copy(x.all, states)
		}
	}
	r.code, r.codeSC = own, sequential
	return r
}

func (r *Judgement) add(states map[string]bool, why, cond string) {
	r.allows, r.why, r.cond = append(r.allows, states), append(r.why, why), append(r.cond, cond)
}

func key(values []int64) string { return fmt.Sprint(values) }

// Says is a model's verdict on an outcome.
func (r *Judgement) Says(m int, values []int64) string {
	switch {
	case r.allows[m] == nil:
		return Undecided
	case r.allows[m][key(values)]:
		return Allowed
	}
	return Forbidden
}

// index is the place of a model, -1 if it is none of the judgement's.
func (r *Judgement) index(name string) int { return slices.Index(r.Models, name) }

// Domain lists the values that the models know for each term.
func (r *Judgement) Domain() [][]int64 {
	out := make([][]int64, len(r.terms))
	for _, states := range append(slices.Clone(r.allows), r.code) {
		for _, k := range sortedKeys(states) {
			for i, v := range parse(k) {
				if !slices.Contains(out[i], v) {
					out[i] = append(out[i], v)
				}
			}
		}
	}
	return out
}

func sortedKeys(m map[string]bool) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// parse inverts key.
func parse(k string) []int64 {
	var out []int64
	var v int64
	neg, in := false, false
	for i := range len(k) {
		switch c := k[i]; {
		case c == '-':
			neg, in = true, true
		case c >= '0' && c <= '9':
			v, in = v*10+int64(c-'0'), true
		case in:
			if neg {
				v = -v
			}
			out = append(out, v)
			v, neg, in = 0, false, false
		}
	}
	return out
}

// Whose effects an outcome is.
const (
	EffectNone     = "sequentially consistent"
	EffectAllowed  = "hardware, allowed"
	EffectForbid   = "hardware, forbidden"
	EffectUnknown  = "hardware, undecided by the model"
	EffectCompiler = "compiler or hardware: binary not validated"
	// Of a changed binary whose machine code was judged: the test forbids the outcome
	// and the machine code allows it; the test allows it, and the machine code shows it
	// under sequential consistency; the test allows it, and the machine code does not.
	EffectCompilerForbid = "compiler, forbidden"
	EffectCompilerAllow  = "compiler, allowed"
	EffectCodeForbid     = "hardware, forbidden by the machine code"
	// Of a binary that was patched.
	EffectPatch = "the patch, or hardware"
)

// CodeSays is what the machine's own model says of an outcome of machine code that is not
// the test, "" if that is not known.
func (r *Judgement) CodeSays(values []int64) string {
	switch {
	case r.code == nil:
		return ""
	case r.code[key(values)]:
		return Allowed
	}
	return Forbidden
}

// ByHardware reports whether an effect is that a chip did what it must not do.
func ByHardware(effect string) bool { return effect == EffectForbid || effect == EffectCodeForbid }

// changed says whose effect an outcome of a binary is that is not the test. What the test
// forbids and the machine code allows is the compiler's, what both forbid the chip's. What
// both allow is the compiler's if the machine code shows it without any weakness of the chip.
func (r *Judgement) changed(main, outcome string) string {
	switch {
	case r.code == nil || main == Undecided:
		return EffectCompiler
	case main == Forbidden && r.code[outcome]:
		return EffectCompilerForbid
	case main == Forbidden:
		return EffectForbid
	case r.codeSC[outcome]:
		return EffectCompilerAllow
	case r.code[outcome]:
		return EffectAllowed
	}
	return EffectCodeForbid
}

// Effect says whose effect an outcome is. In a validated binary the compiler
// has changed nothing: what sequential consistency does not allow is the
// hardware's.
func (r *Judgement) Effect(values []int64, validated bool) string {
	s := r.Says(r.index(sc), values)
	switch main := r.Says(0, values); {
	case s == Allowed:
		return EffectNone
	case main == Forbidden && s == Undecided:
		return EffectUnknown
	case !validated:
		return r.changed(main, key(values))
	case main == Allowed:
		return EffectAllowed
	case main == Forbidden:
		return EffectForbid
	}
	return EffectUnknown
}
