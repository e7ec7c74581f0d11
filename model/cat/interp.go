package cat

import (
	"context"
	"errors"

	"optcheck/model/rel"
)

// ErrLimit is the cause of the error when a compilation or an evaluation takes
// too many steps or makes too large values: nothing is known then.
var ErrLimit = errors.New("limit exceeded")

// DefaultSteps is the bound on the steps of one Interp.Run.
const DefaultSteps = 4_000_000

// Execution holds the base sets and relations of one candidate execution.
type Execution struct {
	N    int
	Sets map[string]rel.Set
	Rels map[string]rel.Rel
	// Locs maps each location's name to the accesses to it, for the primitive loc2events; it
	// may be nil.
	Locs map[string]rel.Set
}

// RunOptions bound and control an evaluation.
type RunOptions struct {
	Skip     map[string]bool // names of checks and calls to leave out
	MaxSteps int             // 0 means DefaultSteps
	// First ends the evaluation at the first branch that passes all checks.
	First bool
}

// Branch is one path through the model that passes all its checks. A model without "with …
// from" has at most one.
type Branch struct {
	Flags     []string // names of the flags that are set, in order, no duplicates
	Undefined []string // names of failed undefined_unless tests ("" if unnamed)
	Asserts   []string // names of failed assertions ("" if unnamed)
	Shows     []ShownValue
}

// ShownValue is a set or relation that the model asks to be drawn.
type ShownValue struct {
	Name string
	Set  rel.Set // nil for a relation
	Rel  rel.Rel // nil for a set
}

// Failure is a check that failed.
type Failure struct {
	Test  *Test
	Name  string
	Cycle []int    // acyclic, irreflexive: a shortest cycle
	Steps []Step   // its edges, or the first pair of a relation that is not empty
	Pairs [][2]int // empty: the pairs of the relation
	Elems []int    // empty: the members of the set
}

// Result is the result of an evaluation.
type Result struct {
	// Allowed reports whether some branch passes all checks.
	Allowed  bool
	Branches []Branch
	// Failed is the first failed check, nil if there is none.
	Failed *Failure
	Tried  int // number of branches examined
}

// Interp executes models directly from their text. It is immutable and safe
// for concurrent use. It knows the whole language; a Machine does the same
// for most models much faster.
type Interp struct {
	file    *File
	prelude *File
	sig     Signature
	variant map[string]bool
	sets    map[string]bool
	rels    map[string]bool
}

// NewInterp returns an interpreter of a compiled program's model.
func NewInterp(p *Program) (*Interp, error) {
	it := &Interp{file: p.File, sig: p.sig, variant: map[string]bool{}, sets: map[string]bool{}, rels: map[string]bool{}}
	if it.prelude = p.sig.Prelude; it.prelude == nil {
		var err error
		if it.prelude, err = stdlib(); err != nil {
			return nil, err
		}
	}
	for _, v := range p.sig.Variants {
		it.variant[v] = true
	}
	for _, s := range p.sig.Sets {
		it.sets[s] = true
	}
	for _, r := range p.sig.Rels {
		it.rels[r] = true
	}
	return it, nil
}

// Run evaluates the model on one execution. An error means that there is no
// verdict: a fault of the model (an *Error), a limit (ErrLimit) or the end of
// the context.
func (it *Interp) Run(ctx context.Context, ex *Execution, opt RunOptions) (*Result, error) {
	r := &run{it: it, ex: ex, ctx: ctx, opt: opt, left: opt.MaxSteps, res: &Result{}, tags: map[string]string{}, enums: map[string][]string{}}
	if r.left <= 0 {
		r.left = DefaultSteps
	}
	err := r.catch(func() {
		env := r.ground()
		r.exec(it.prelude.Body, env, nil, func(env *ienv, _ *istate) {
			r.exec(it.file.Body, env, nil, r.accept)
		})
	})
	if err == errStop {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return r.res, nil
}

var errStop = errors.New("enough")

// run is one evaluation. Faults travel as panics of type *Error, the end of
// the evaluation as panics of type stop.
type run struct {
	it    *Interp
	ex    *Execution
	ctx   context.Context
	opt   RunOptions
	left  int
	tick  int
	depth int
	open  []*ithunk // being computed, outermost first
	fatal bool      // the evaluation ends: nothing catches this
	res   *Result
	tags  map[string]string
	enums map[string][]string
	call  string
}

type stop struct{ err error }

func (r *run) catch(f func()) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *Error:
			err = x
		case stop:
			err = x.err
		default:
			panic(x)
		}
	}()
	f()
	return nil
}

// spend counts work; now and then it checks the context.
func (r *run) spend(pos Pos, k int) {
	if r.left -= k; r.left < 0 {
		r.fatal = true
		panic(stop{&Error{Pos: pos, Msg: "evaluation given up", Err: ErrLimit}})
	}
	if r.tick += k; r.tick > 10_000 {
		r.tick = 0
		if err := r.ctx.Err(); err != nil {
			r.fatal = true
			panic(stop{err})
		}
	}
}

// istate is what statements gather along one branch: a persistent list.
type istate struct {
	what  byte // 'f' flag, 'u' undefined, 'a' assert, 's' show, 'h' hide
	name  string
	value ShownValue
	next  *istate
}

// ground returns the environment of the primitives and base relations.
func (r *run) ground() *ienv {
	env := &ienv{ground: r}
	for _, name := range sortedKeys(r.it.sig.Enums) {
		env = r.enum(env, name, r.it.sig.Enums[name])
	}
	return env
}

// base returns the value of a name of the ground; a relation hides a set and
// that a primitive of the same name.
func (r *run) base(name string, pos Pos) (v ival, ok bool) {
	if r.it.rels[name] {
		return r.baseRel(name, pos), true
	}
	if r.it.sets[name] {
		return r.baseSet(name, pos), true
	}
	p := iprimByName[name]
	return ival{k: kPrim, prim: p}, p != nil
}

func (r *run) baseSet(name string, pos Pos) ival {
	s, ok := r.ex.Sets[name]
	if !ok {
		panic(errorf(pos, "the execution has no set %s", name))
	}
	return ival{k: kSet, set: s}
}

func (r *run) baseRel(name string, pos Pos) ival {
	s, ok := r.ex.Rels[name]
	if !ok {
		panic(errorf(pos, "the execution has no relation %s", name))
	}
	return ival{k: kRel, rel: s}
}

func (r *run) enum(env *ienv, name string, tags []string) *ienv {
	v := ival{k: kVals}
	for _, t := range tags {
		r.tags[t] = name
		v.vals, _ = addVal(v.vals, ival{k: kTag, tag: t, enum: name})
	}
	r.enums[name] = tags
	return env.bind(name, have(v))
}

// accept is called for a branch that has passed all checks.
func (r *run) accept(_ *ienv, st *istate) {
	r.res.Tried++
	r.res.Allowed = true
	var list []*istate
	for ; st != nil; st = st.next {
		list = append(list, st)
	}
	var b Branch
	for i := len(list) - 1; i >= 0; i-- {
		switch s := list[i]; s.what {
		case 'f':
			if !has(b.Flags, s.name) {
				b.Flags = append(b.Flags, s.name)
			}
		case 'u':
			b.Undefined = append(b.Undefined, s.name)
		case 'a':
			b.Asserts = append(b.Asserts, s.name)
		default:
			for k := range b.Shows {
				if b.Shows[k].Name == s.name {
					b.Shows = append(b.Shows[:k], b.Shows[k+1:]...)
					break
				}
			}
			if s.what == 's' {
				b.Shows = append(b.Shows, s.value)
			}
		}
	}
	r.res.Branches = append(r.res.Branches, b)
	if r.opt.First {
		panic(stop{errStop})
	}
}
