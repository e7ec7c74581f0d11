package cat

import (
	"context"
	"errors"
	"fmt"
)

// Signature says which base sets and relations there are, by name, and which
// tags are known before the model's own enum declarations.
type Signature struct {
	Sets  []string
	Rels  []string
	Enums map[string][]string // enumeration → its tags
	// Variants are the names that hold in if "name".
	Variants []string
	// Prelude is executed before the model; nil stands for the embedded
	// standard library. A file without statements turns it off.
	Prelude *File
}

// Limits of compilation: models come from outside.
const (
	maxSteps  = 3_000_000 // expressions and bindings looked at
	maxOps    = 60_000
	maxCalls  = 150    // nested calls of one function
	maxNested = 1000   // names of procedure calls around a statement
	maxDeep   = 30_000 // nested evaluations
	maxTuple  = 4096   // parts of a tuple or of a known set of values
)

// errUnbound is wrapped by the error for a name that is not defined.
var errUnbound = errors.New("no such name")

// Rare is a construct of a model that only the general interpreter executes.
type Rare struct {
	Pos  Pos
	What string
}

// lowerer executes a model symbolically.
type lowerer struct {
	b        *builder
	sig      Signature
	variants map[string]bool
	tags     map[string]string // tag → enumeration
	enums    map[string][]string
	rare     *Rare
	steps    int
	depth    int
	active   map[*Fun]int
	applied  map[*Fun]bool
	closures []*sfun
	checks   []Check
	warnings []Warning
	warned   map[Pos]bool
	lets     []*thunk
	open     []*thunk // being computed, outermost first
	ctx      context.Context
	look     int  // number of steps at which ctx is checked next
	fatal    bool // a limit was reached: nothing catches this
	procs    []*sproc
	called   map[*ProcedureStmt]bool

	activeProc map[*ProcedureStmt]int
	callName   string   // name given to unnamed checks by "call … as name"
	calls      []string // names of the calls around the present statement
	fromUser   bool     // outside the prelude
	never      bool     // a with over an empty set: no execution at all
}

// Warning is something odd about a model that does not change its meaning.
type Warning struct {
	Pos Pos
	Msg string
}

func (w Warning) String() string { return w.Pos.String() + ": " + w.Msg }

func (l *lowerer) step(pos Pos) {
	if l.steps++; l.steps > maxSteps {
		l.giveUp(limitf(pos, "the model is too large to compile (more than %d steps)", maxSteps))
	}
	if len(l.b.ops) > maxOps {
		l.giveUp(limitf(pos, "the model is too large to compile (more than %d operations)", maxOps))
	}
	if l.steps >= l.look {
		l.look = l.steps + 1000
		if l.ctx.Err() != nil {
			l.giveUp(&Error{Pos: pos, Msg: "compilation of the model stopped", Err: context.Cause(l.ctx)})
		}
	}
}

// giveUp ends the compilation. Deferred functions must not recover from it only to panic again:
// thousands of nested ones take minutes.
func (l *lowerer) giveUp(err *Error) {
	l.fatal = true
	panic(err)
}

func (l *lowerer) setRare(pos Pos, format string, args ...any) {
	if l.rare == nil {
		l.rare = &Rare{pos, fmt.Sprintf(format, args...)}
	}
}

func (l *lowerer) warn(pos Pos, format string, args ...any) {
	if l.warned[pos] {
		return
	}
	l.warned[pos] = true
	l.warnings = append(l.warnings, Warning{pos, fmt.Sprintf(format, args...)})
}

func bind(env *senv, name string, t *thunk) *senv {
	if name == "_" {
		return env
	}
	return &senv{name, t, env}
}

// initial returns the environment before the first statement.
func (l *lowerer) initial() *senv {
	var env *senv
	for _, p := range primitives {
		p := p
		env = bind(env, p.name, ready(sval{k: kPrim, slot: noSlot, prim: &p}))
	}
	for _, list := range []struct {
		names []string
		isSet bool
	}{{l.sig.Sets, true}, {l.sig.Rels, false}} {
		for _, name := range list.names {
			env = bind(env, name, &thunk{name: name, eval: func() sval {
				s := l.b.input(name, list.isSet, Pos{})
				if list.isSet {
					return setVal(s)
				}
				return relVal(s)
			}})
		}
	}
	for _, name := range sortedKeys(l.sig.Enums) {
		env = l.enum(env, name, l.sig.Enums[name])
	}
	return env
}

func (l *lowerer) enum(env *senv, name string, tags []string) *senv {
	var elems []sval
	for _, t := range tags {
		l.tags[t] = name
		elems = append(elems, sval{k: kTag, slot: noSlot, tag: t, enum: name})
	}
	l.enums[name] = tags
	return bind(env, name, ready(tagSet(elems)))
}

func (l *lowerer) stmts(list []Stmt, env *senv) *senv {
	for _, s := range list {
		l.step(s.Position())
		env = l.stmt(s, env)
	}
	return env
}

func (l *lowerer) stmt(s Stmt, env *senv) *senv {
	switch s := s.(type) {
	case *LetStmt:
		return l.letStmt(s, env)
	case *TestStmt:
		l.test(&s.Test, s.Kind, env)
	case *ShowStmt:
		l.show(s, env)
	case *ShowAsStmt:
		l.showValue(s.Name, func() sval { return l.eval(s.X, env) })
	case *IncludeStmt:
		if s.Err != nil {
			panic(s.Err)
		}
		l.enter(s.Pos)
		defer l.leave()
		return l.stmts(s.File.Body, env)
	case *ProcedureStmt:
		p := &sproc{def: s}
		p.env = env
		env = bind(env, s.Name, ready(sval{k: kProc, slot: noSlot, proc: p}))
		if s.Rec {
			p.env = env
		}
		if l.fromUser {
			l.procs = append(l.procs, p)
		}
	case *CallStmt:
		l.call(s, env)
	case *EnumStmt:
		var tags []string
		for _, t := range s.Tags {
			tags = append(tags, t.Name)
		}
		return l.enum(env, s.Name, tags)
	case *ForallStmt:
		l.forall(s, env)
	case *WithStmt:
		return l.with(s, env)
	case *MatchStmt:
		return l.matchStmt(s, env)
	case *IfStmt:
		return l.ifStmt(s, env)
	case *InstructionsStmt:
		l.warn(s.Pos, "declarations of instructions have no effect on the model")
	}
	return env
}

func (l *lowerer) letStmt(s *LetStmt, env *senv) *senv {
	out := l.bindLet(s.Binds, s.Rec, env, true)
	if s.When != nil {
		if !l.fixMonotone(s, out) {
			l.setRare(s.When.Pos, "a test in a recursive definition that is not monotone")
		}
		l.test(s.When, KindCheck, out)
	}
	return out
}

// fixMonotone reports whether the recursive values of s are least fixpoints
// of monotone rounds: only then is it enough to test the final value.
func (l *lowerer) fixMonotone(s *LetStmt, env *senv) bool {
	for _, b := range s.Binds {
		for _, id := range b.Pat.Names {
			if id.Name == "_" {
				continue
			}
			v := l.lookup(env, id.Name, id.Pos)
			if (v.k != kSet && v.k != kRel) || v.slot == noSlot {
				continue
			}
			if o := &l.b.ops[v.slot]; o.code == opFixResult && !l.b.fixes[l.b.ops[o.a].a].mono {
				return false
			}
		}
	}
	return true
}

func (l *lowerer) test(t *Test, kind TestKind, env *senv) {
	v := l.eval(t.X, env)
	c := Check{Name: t.Name, Pos: t.Pos, Kind: kind, Pred: t.Pred, Negated: t.Negated, X: t.X, slot: noSlot, Calls: l.calls}
	if c.Name == "" {
		c.Name = l.callName
	}
	switch v.k {
	case kEmpty:
		c.slot = l.b.empty(false)
	case kUniv:
		c.slot = l.b.all(false)
	case kRel, kSet:
		c.slot, c.isSet = v.slot, v.k == kSet
		if c.isSet && t.Pred != Empty {
			panic(errorf(t.X.Position(), "%s needs a relation, this is a set of events", t.Pred))
		}
	case kAny, kPair:
	case kEvent:
		if t.Pred != Empty {
			panic(errorf(t.X.Position(), "%s needs a relation, this is an event", t.Pred))
		}
	default:
		panic(errorf(t.X.Position(), "%s needs a relation or a set of events, this is a %s", t.Pred, v.describe()))
	}
	l.checks = append(l.checks, c)
}

func (l *lowerer) show(s *ShowStmt, env *senv) {
	for _, id := range s.Names {
		if !s.Unshow {
			l.showValue(id.Name, func() sval { return l.lookup(env, id.Name, id.Pos) })
		}
	}
}

// showValue warns of a relation or set that cannot be shown, since it cannot be evaluated: show has no effect on the verdict. Only
// Interp has the values of the others.
func (l *lowerer) showValue(name string, f func() sval) {
	rare := l.rare
	if err := l.try(func() { f() }); err != nil {
		l.rare = rare
		l.warn(err.Pos, "%s is not shown: %s", name, err.Msg)
	}
}

// try runs f and returns the error that it fails with, if any. The definitions on the way keep
// the error for later uses.
func (l *lowerer) try(f func()) (err *Error) {
	depth, stack, open := l.depth, len(l.b.stack), len(l.open)
	defer func() {
		if l.fatal {
			return
		}
		r := recover()
		if r == nil {
			return
		}
		e, ok := r.(*Error)
		if !ok || e.Err == ErrLimit {
			l.fatal = true
			panic(r)
		}
		err = e
		l.failed(open, e)
		l.depth, l.b.stack = depth, l.b.stack[:stack]
	}()
	f()
	return nil
}

// failed records an error for the definitions that were being computed.
func (l *lowerer) failed(from int, err *Error) {
	for _, t := range l.open[from:] {
		t.state, t.err = 3, err
	}
	l.open = l.open[:from]
}

func (l *lowerer) enter(pos Pos) {
	if l.depth++; l.depth > maxDeep {
		l.giveUp(limitf(pos, "evaluations nested more than %d deep", maxDeep))
	}
}

func (l *lowerer) leave() { l.depth-- }
