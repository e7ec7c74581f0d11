// Package optcheck checks machine code against the specification that it carries: whether every access, its order,
// kind and strength, every fence and every dependency of a litmus test's thread survived the compiler.
//
// It reads the specification out of the code itself (xor markers; Alglave et al., GPU Concurrency, ASPLOS 2015, Sec.
// 4.4), matches each marker to its access by data flow, and compares that with the line information as a second,
// independent witness. It does not decide whether a change is legal: that needs a memory model, for which it lifts
// the code (Checked.Lift).
//
// The interface arch hides what differs between architectures, with one file or group of files for each: nv*.go,
// amd*.go, x86*.go.
package optcheck

import (
	"cmp"
	"errors"
	"fmt"

	"optcheck/internal/limits"
	"optcheck/isa"
	"optcheck/spec"
)

// Class is the classification of a cell, or of one kernel.
type Class uint8

// The classes, from best to worst. Unknown is never counted as good.
const (
	Preserved        Class = iota // the binary is the test
	Changed                       // at least one finding
	UnsupportedClass              // the target or the encoding lacks something the test uses
	Unknown                       // could not be decided; Reason says why
)

var classNames = [...]string{"preserved", "changed", "unsupported", "unknown"}

// String returns the class's name.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// Finding is one broken rule (or, for a note, one remark) at one place.
type Finding struct {
	Rule   string // rule ID
	Thread int
	// Access is the position of the access or fence in its thread, -1 if the finding is about an instruction that the
	// test does not have.
	Access int
	Detail string
	// Addr is the byte address of the machine instruction concerned, or -1.
	Addr int64
	// Order tells that an access is there, and what it orders is not ordered.
	Order bool
}

// Line is one line of a side-by-side listing. Pos is the position of the access or fence that it stands for, or -1.
type Line struct {
	Pos  int
	Text string
	// Part marks instructions that belong to a fence or a synchronising access (error barriers, cache invalidation)
	// instead of standing for themselves.
	Part bool
	// Addr is the address of the instruction in its function.
	Addr uint64
}

// Result is the outcome of checking one kernel.
type Result struct {
	Func     string
	Thread   int
	Spec     *spec.Spec
	Class    Class
	Findings []Finding
	Notes    []Finding
	Reason   string // why the class is Unknown
	// Undecided says what could not be compared in a kernel without findings, "" if everything was. If set, only a
	// model can say whether the kernel is the test.
	Undecided string
	Source    []Line // accesses and fences in source order
	Machine   []Line // the same in machine order, including what the test does not have
	// Lines is set if line information was present and compared.
	Lines bool
}

// Checker checks kernels; any number of goroutines may use it.
type Checker struct {
	// Consts maps byte offsets of constant bank 4 to the names of the symbols
	// whose addresses they hold; nil when not known.
	Consts map[int64]string
	// Literals holds the words of the kernel's constant bank 2, in which
	// compilers before sm_70 keep constants, by byte offset; nil when not known.
	Literals map[int64]uint32
	// Locations names the test's locations for messages; nil when only their
	// numbers are known.
	Locations []string
	// Unsettled are registers that may hold anything when an instruction reads them, or behind it; nil for none.
	Unsettled []Unsettled
}

// NewChecker returns a Checker without information about symbols, literals or names.
func NewChecker() *Checker { return &Checker{} }

// Checked is a checked kernel, with what is needed to lift it.
type Checked struct {
	*Result
	pass *pass // nil if nothing was compared
}

// Release lets later checks reuse the memory that Lift needs. Calling it is optional; a
// released kernel can no longer be lifted.
func (c *Checked) Release() {
	if c.pass != nil {
		pools.Put(c.pass.tr.pool)
		c.pass = nil
	}
}

// Check checks one kernel against the specification that its own code carries.
// A kernel that cannot be decided has class Unknown and a reason. The error is
// spec.ErrNoSpec if the kernel carries no specification at all.
//
// Values, conditions and types are compared with the digest in the code: a kernel
// whose digest differs, or does not decide, is Unknown. So is a kernel that is stronger
// than its test, because only a model can tell what it allows.
func (c *Checker) Check(fn *isa.Func) (*Checked, error) {
	r, err := c.check(fn, nil)
	if err == nil && r.Class == Preserved {
		r.Undecided = cmp.Or(r.Undecided, r.pass.tr.arch.beyond(r))
	}
	r.decide()
	return r, err
}

// decide makes a kernel Unknown that has no findings but was not compared in full.
func (r *Result) decide() {
	if r.Undecided != "" {
		r.Class, r.Reason = Unknown, r.Undecided
	}
}

// check is Check; want, if not nil, adds what only the test knows.
func (c *Checker) check(fn *isa.Func, want *spec.Spec) (*Checked, error) {
	r := &Checked{Result: &Result{Func: fn.Name, Thread: -1}}
	tr, err := c.traceOf(fn, want)
	if err != nil {
		return r.unknown(err.Error()), nil
	}
	if want != nil {
		tr.recover(want)
	}
	s, err := tr.specification()
	if errors.Is(err, spec.ErrNoSpec) {
		return r.unknown(err.Error()), err
	}
	if err != nil {
		return r.unknown(err.Error()), nil
	}
	r.Spec, r.Thread = s, s.Thread
	if want != nil && s.Equal(want) {
		s = want // has more: values, conditions, types
	}
	if why := tr.undecidable(); why != "" {
		return r.unknown(why), nil
	}
	r.pass, err = newPass(tr, s, r.Result, c)
	if err != nil {
		return r.unknown(err.Error()), nil
	}
	r.pass.run()
	return r, nil
}

// specification decodes the markers in the code.
func (tr *trace) specification() (*spec.Spec, error) {
	lits := make([]uint32, 0, len(tr.markers))
	for _, m := range tr.markers {
		lits = append(lits, m.m.Literal)
	}
	return spec.Decode(lits)
}

// CheckAgainst is Check with a specification from outside. It also requires that the specification in the code is the
// same, so that a compiler which alters a literal consistently is caught.
func (c *Checker) CheckAgainst(fn *isa.Func, want *spec.Spec) (*Checked, error) {
	r, err := c.check(fn, want)
	if r.Spec != nil && !r.Spec.Equal(want) {
		return r.unknown("the specification in the machine code is not the one that was emitted"), nil
	}
	return r, err
}

// trace evaluates a function.
func (c *Checker) trace(fn *isa.Func, o walkOptions) (*trace, error) {
	if len(fn.Insts) == 0 {
		return nil, errors.New("function without instructions")
	}
	if err := limits.Check("instructions", len(fn.Insts), limits.Now().Instructions); err != nil {
		return nil, err
	}
	if len(fn.Blocks) == 0 {
		return nil, errors.New("function without control flow")
	}
	o.literals, o.unsettled = c.Literals, c.Unsettled
	fn, err := followed(fn)
	if err != nil {
		return nil, err
	}
	return walk(fn, o)
}

// traceOf is trace with the loops of the specification unrolled, if there is one.
func (c *Checker) traceOf(fn *isa.Func, want *spec.Spec) (*trace, error) {
	if want == nil || want.Rounds() == 1 {
		return c.trace(fn, walkOptions{})
	}
	return c.unroll(fn, want)
}

func (tr *trace) undecidable() string {
	if len(tr.unknown) > 0 {
		in := &tr.fn.Insts[tr.unknown[0]]
		return fmt.Sprintf("unknown instruction at 0x%x: %s", in.Addr, in.Text)
	}
	if tr.indirect {
		return "an indirect branch whose targets are not known"
	}
	if tr.tooMany {
		return fmt.Sprintf("more than %d reads in one kernel", maxReads)
	}
	return ""
}

func (r *Result) unknown(reason string) *Result {
	r.Class, r.Reason = Unknown, reason
	r.Findings, r.Notes = nil, nil
	return r
}

func (c *Checked) unknown(reason string) *Checked {
	c.Result.unknown(reason)
	return c
}
