package cat

import (
	"context"
	"embed"
	"io/fs"
	"sync"
)

//go:embed lib/*.cat
var libFS embed.FS

// Library returns the embedded files that models may include: stdlib.cat
// (executed before every model anyway), and under the names that public models
// include, files that add nothing to what the engine offers.
func Library() fs.FS {
	sub, err := fs.Sub(libFS, "lib")
	if err != nil {
		panic(err) // the folder is part of the binary
	}
	return sub
}

var stdlib = sync.OnceValues(func() (*File, error) {
	src, err := libFS.ReadFile("lib/stdlib.cat")
	if err != nil {
		return nil, err
	}
	return Parse(LibraryPrefix+"stdlib.cat", string(src), nil)
})

// Input is a base set or relation that a program uses.
type Input struct {
	Name  string
	IsSet bool
	slot  int32
}

// Check is a test of a compiled model.
type Check struct {
	Name    string // "" if the model gives it none
	Pos     Pos
	Kind    TestKind
	Pred    Predicate
	Negated bool
	X       Expr // the tested expression
	// Calls are the names of the procedure calls around the check, outermost
	// first; skipping one of them skips the check.
	Calls []string

	// Deps are the inputs that the tested value depends on; the value may
	// grow when an input of Up grows and shrink when one of Down grows.
	Deps, Up, Down Mask

	isSet bool
	slot  int32
	code  checkCode
	a, b  int32
}

// Label returns the check's name, or its text if it has none.
func (c *Check) Label() string {
	if c.Name != "" {
		return c.Name
	}
	s := c.Pred.String() + " " + Format(c.X)
	if c.Negated {
		s = "~" + s
	}
	return s
}

// Skipped reports whether the check is left out when the given names of
// checks and calls are skipped.
func (c *Check) Skipped(names map[string]bool) bool {
	if c.Name != "" && names[c.Name] {
		return true
	}
	for _, n := range c.Calls {
		if names[n] {
			return true
		}
	}
	return false
}

// FailsForever reports whether a failed check stays failed however much the
// given inputs grow: then a partial execution may be given up. For a flag it
// says that it stays unset.
func (c *Check) FailsForever(growing Mask) bool {
	if c.Negated {
		return !c.Up.Meets(growing)
	}
	return !c.Down.Meets(growing)
}

// HoldsForever reports whether a check that holds goes on holding however
// much the given inputs grow.
func (c *Check) HoldsForever(growing Mask) bool {
	if c.Negated {
		return !c.Down.Meets(growing)
	}
	return !c.Up.Meets(growing)
}

// Program is a compiled model. It is immutable and safe for concurrent use.
type Program struct {
	File     *File
	Warnings []Warning
	// Rare is not nil if the model uses a construct that only Interp executes; the program then
	// has no operations, and its checks are those found in the text.
	Rare *Rare

	sig     Signature
	ops     []op
	fixes   []*fix
	inputs  []Input
	checks  []Check
	static  []int32 // operations that depend on no input
	results []int32 // results of recursive definitions
}

// Flat reports whether the model runs on a Machine.
func (p *Program) Flat() bool { return p.Rare == nil }

// Inputs returns the base sets and relations that the program uses; a Mask refers to them by
// their index here.
func (p *Program) Inputs() []Input { return p.inputs }

// Input returns the index of a base set or relation, -1 if the program does
// not use it.
func (p *Program) Input(name string) int {
	for i := range p.inputs {
		if p.inputs[i].Name == name {
			return i
		}
	}
	return -1
}

// MaskOf returns the inputs of the given names; names that the program does
// not use are left out.
func (p *Program) MaskOf(names ...string) Mask {
	var m Mask
	for _, n := range names {
		if i := p.Input(n); i >= 0 {
			m = m.Or(MaskOf(i))
		}
	}
	return m
}

// AllInputs returns the mask of all inputs.
func (p *Program) AllInputs() Mask {
	var m Mask
	for i := range p.inputs {
		m = m.Or(MaskOf(i))
	}
	return m
}

// Checks returns the model's tests in the order of the text. Flags are among
// them (Kind KindFlag).
func (p *Program) Checks() []Check { return p.checks }

// NumOps returns the number of operations, for tests and reports.
func (p *Program) NumOps() int { return len(p.ops) }

// Compile checks the kinds of a model and turns it into a program. Errors are
// *Error values with the place of the first problem, or where the end of ctx
// stopped the compilation.
func Compile(ctx context.Context, f *File, sig Signature) (*Program, error) {
	prelude := sig.Prelude
	if prelude == nil {
		var err error
		if prelude, err = stdlib(); err != nil {
			return nil, err
		}
	}
	l := &lowerer{
		ctx: ctx, b: newBuilder(), sig: sig, variants: map[string]bool{}, tags: map[string]string{},
		enums: map[string][]string{}, active: map[*Fun]int{}, applied: map[*Fun]bool{}, warned: map[Pos]bool{},
		called: map[*ProcedureStmt]bool{}, activeProc: map[*ProcedureStmt]int{},
	}
	for _, v := range sig.Variants {
		l.variants[v] = true
	}
	if err := catch(func() { l.model(prelude, f) }); err != nil {
		return nil, err
	}
	for _, c := range l.checks {
		if c.slot == noSlot {
			l.setRare(c.Pos, "a value that the compiler cannot follow")
		}
	}
	p := &Program{File: f, Warnings: l.warnings, Rare: l.rare, sig: sig, checks: l.checks}
	if l.rare != nil {
		return p, nil
	}
	if l.never {
		l.checks = append(l.checks, Check{Name: "with-from-empty-set", Kind: KindCheck, Pred: Empty, Negated: true,
			X: &Const{}, slot: l.b.empty(false)})
	}
	p.link(l)
	return p, nil
}

// catch runs f and returns the *Error that it panics with, if any.
func catch(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	f()
	return nil
}

// model executes the prelude and the model and then evaluates what neither uses, for the sake
// of its errors.
func (l *lowerer) model(prelude, f *File) {
	env := l.stmts(prelude.Body, l.initial())
	l.closures = nil
	l.fromUser = true
	l.stmts(f.Body, env)
	rare := l.rare
	for i := 0; i < len(l.lets); i++ {
		l.unused(func() { l.lets[i].force(l) })
	}
	checks, never := l.checks, l.never
	for _, p := range l.procs {
		if !l.called[p.def] {
			arg := unknownArg(p.def.Param)
			l.unused(func() { l.stmts(p.def.Body, l.bindPattern(p.env, p.def.Param, ready(arg), p.def.Pos)) })
		}
	}
	l.checks, l.never = checks, never
	for i := 0; i < len(l.closures); i++ {
		f := l.closures[i]
		if l.applied[f.def] {
			continue
		}
		arg := unknownArg(f.def.Param)
		l.unused(func() { l.apply(sval{k: kFun, slot: noSlot, fun: f}, arg, f.def.Pos, f.def.Name) })
	}
	l.rare = rare // unused code needs no interpreter
}

// unknownArg returns an argument that fits a parameter and of which nothing is known.
func unknownArg(p Pattern) sval {
	if !p.Tuple {
		return anyVal
	}
	arg := sval{k: kTuple, slot: noSlot}
	for range p.Names {
		arg.elems = append(arg.elems, anyVal)
	}
	return arg
}

// unused evaluates something that has no effect on the model. An undefined name only causes a
// warning there; anything else is an error.
func (l *lowerer) unused(f func()) {
	if err := l.try(f); err != nil {
		if err.Err != errUnbound {
			panic(err)
		}
		l.warn(err.Pos, "%s; the definition is not used", err.Msg)
	}
}
