// Package ptxgen turns litmus tests into kernels. In audit form each thread of a test becomes
// one PTX entry, straight-line except for the test's own loops. Its accesses are exactly the
// test's, the compiler cannot know its values and addresses, and it carries its own
// specification as xor markers.
//
// It neither compiles (toolchain does) nor checks (optcheck does).
package ptxgen

import (
	"fmt"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// Lines of the second witness: the access or fence at position p is attributed
// to line p+1 of the pseudo source, everything else to LineOther, and the code
// that keeps results alive to LineResult.
const (
	LineOther  = 1000
	LineResult = 2000
)

// SourceName is the file that .loc directives name.
const SourceName = "audit.litmus"

// ResultStride is the distance in bytes between two result slots: results far
// apart are not combined into wide stores.
const ResultStride = 16

// Options selects how a test is emitted.
type Options struct {
	Target string // sm_80
	Layout spec.Layout
	// Plain omits the markers; results are only kept alive. Such a kernel serves to show that
	// markers do not disturb the code.
	Plain bool
	// Lines attributes accesses to lines of the pseudo source in OpenCL C, too (PTX always
	// does), so that the compiler's messages name those lines.
	Lines bool
	// TypedIR requests typed pointers in LLVM IR.
	TypedIR bool
	// Unit is the prefix of all names; by default UnitName(test, layout).
	Unit string
}

// Unit is the PTX of one test: module-scope variables and one entry per thread.
type Unit struct {
	Name    string
	Text    string
	Globals string  // the part of Text that declares module-scope variables, one per line
	Version Version // lowest PTX version that has everything used, and the target
	// Needs is the lowest version that has everything used, regardless of the target.
	Needs   Version
	Kernels []Kernel
	// Program is set if the kernels have no markers, because no marker says what the test does: the PTX is what the machine code
	// is compared with, as that of a program.
	Program bool
}

// Kernel is one entry of a unit.
type Kernel struct {
	Name   string
	Thread int
	Spec   *spec.Spec
	// OutParam is the byte offset, among the entry's parameters, of the pointer
	// to the results.
	OutParam int64
	// Values says which of the test's constants the parameters stand for that the compiler
	// cannot know.
	Values []spec.Value
	Text   string // the part of the unit's text that is this entry
	// Lines are, if the text was given a line for each instruction (pipeline.Lined), those that the emitter gave, by those.
	Lines map[int]int
	// CL2 and Library say what an OpenCL kernel needs: OpenCL C 2.0, and a
	// library of OpenCL's built-in functions.
	CL2, Library bool
}

// UnitName returns the default prefix of a test's kernels: readable, unique by the
// test's hash and the layout.
func UnitName(t *litmus.Test, l spec.Layout) string { return UnitNameOf(t.Name, t.Hash(), l) }

// UnitNameOf is UnitName for a test whose name and hash are known.
func UnitNameOf(test, hash string, l spec.Layout) string {
	var b strings.Builder
	for _, c := range test {
		if b.Len() >= 40 {
			break
		}
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			b.WriteRune(c)
		} else {
			b.WriteByte('_')
		}
	}
	return fmt.Sprintf("t_%s_%s_%c", b.String(), hash[:12], l.String()[0])
}

// Header returns the directives that open a module for the given version and target, and name
// the pseudo source of the line information.
func Header(v Version, target string) string {
	return fmt.Sprintf(".version %v\n.target %s\n.address_size 64\n.file 1 \"%s\"\n\n", v, target, SourceName)
}

// Emit returns the unit of a test. Tests with the same hash and name have the same unit: this
// and all other emitters begin with the test's canonical form. The error is a *spec.Unsupported
// if the target or the encoding lacks something that the test uses.
func Emit(t *litmus.Test, o Options) (*Unit, error) {
	sm, err := SM(o.Target)
	if err != nil {
		return nil, err
	}
	if t.Dialect == litmus.OpenCL {
		return nil, unsupported("a test in OpenCL C has no PTX")
	}
	t = t.Canonical()
	u := &Unit{Name: o.Unit, Program: Program(t)}
	if u.Name == "" {
		u.Name = UnitName(t, o.Layout)
	}
	for i := range t.Locations {
		if t.Locations[i].Alias != "" {
			return nil, unsupported("location %s is an alias; kernels in audit form have no virtual aliases", t.Locations[i].Name)
		}
	}
	e, err := newEmitter(t, u, o)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	e.sm, e.b = sm, &b
	if o.Layout.Named() || u.Program {
		e.symbols()
		u.Globals = b.String()
	}
	for i := range t.Threads {
		begin := b.Len()
		if err := e.kernel(i); err != nil {
			return nil, err
		}
		u.Kernels[i].Text = b.String()[begin:]
	}
	u.Text = b.String()
	u.Version = max(u.Needs, minVersion(o.Target, sm))
	return u, nil
}

type emitter struct {
	t *litmus.Test
	// flat is the test without loops; origin is as returned by litmus.Test.Unrolled.
	flat   *litmus.Test
	origin [][]int

	o  Options
	u  *Unit
	sm int
	b  *strings.Builder
	// located, if not nil, loads a location's address instead of address.
	located func(dst string, loc, bits int) string
}

func newEmitter(t *litmus.Test, u *Unit, o Options) (*emitter, error) {
	flat, origin, err := unrolled(t)
	if err != nil {
		return nil, err
	}
	return &emitter{t: t, flat: flat, origin: origin, o: o, u: u}, nil
}

// body begins the code of a thread.
func (e *emitter) body(thread int) (*body, error) {
	s, err := spec.FromTest(e.t, thread, e.o.Layout)
	if err != nil {
		return nil, err
	}
	k := &body{e: e, th: &e.t.Threads[thread], spec: s, regs: map[string]litmus.Type{}}
	if e.origin != nil {
		k.loops(e.origin[thread])
		if err := k.count(); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (e *emitter) f(format string, args ...any) { fmt.Fprintf(e.b, format, args...) }

func (e *emitter) space(loc int) litmus.Space {
	if e.t.Locations[loc].Space == litmus.Shared {
		return litmus.Shared
	}
	return litmus.Global
}

// named reports whether a location is addressed by the name of a variable. Shared memory of kernels without markers always is, as that of
// programs: no parameter is an address of it.
func (e *emitter) named(loc int) bool {
	return e.o.Layout.Named() || e.u.Program && e.located == nil && e.space(loc) == litmus.Shared
}

// symbols declares the variables that contain the locations.
func (e *emitter) symbols() {
	s, size := spec.Spec{Layout: e.o.Layout, Parts: spec.PartsOf(e.t)}, spec.SharedStride
	if e.o.Layout == spec.Adjacent {
		size = spec.AdjacentBytes
	}
	declared := map[string]bool{}
	for i := range e.t.Locations {
		name := e.u.Name + s.Symbol(i, e.space(i))
		if !e.named(i) || declared[name] {
			continue
		}
		declared[name] = true
		vis := ".visible "
		if e.space(i) == litmus.Shared {
			vis = ""
		}
		e.f("%s.%s .align %d .b8 %s[%d];\n", vis, e.space(i), size, name, size)
	}
}

// kernel emits one thread's entry. It builds the body first, which decides what parameters the
// entry needs.
func (e *emitter) kernel(thread int) error {
	k, err := e.body(thread)
	if err != nil {
		return err
	}
	s := k.spec
	if err := k.run(); err != nil {
		return err
	}
	values := k.copied(k.opaqueValues())
	var lits []uint32
	if !e.u.Program {
		s.SetCode(&e.flat.Threads[thread], values)
		s.AddDigest()
		if lits, err = s.Literals(); err != nil {
			return unsupported("%v", err)
		}
	}
	name := fmt.Sprintf("%s_T%d", e.u.Name, thread)
	e.u.Kernels = append(e.u.Kernels, Kernel{Name: name, Thread: thread, Spec: s, OutParam: k.outParam(), Values: values})
	e.f("%s.visible .entry %s(", k.called.String(), name)
	for i, p := range k.params() {
		if i > 0 {
			e.f(", ")
		}
		e.f(".param .%s %s", p.typ, p.name)
	}
	e.f(")\n")
	if e.t.Registers > 0 {
		e.f(".maxnreg %d\n", e.t.Registers)
	}
	if n := e.ranks(); e.u.Program && n > 1 {
		if e.sm < 90 {
			return unsupported("clusters need sm_90 or higher")
		}
		e.f(".reqnctapercluster %d, 1, 1\n", n)
		e.u.Needs = max(e.u.Needs, 78)
	}
	e.f("{\n")
	k.declare()
	e.f("\t.loc 1 %d 0\n", LineOther)
	e.f("%s", k.prologue.String())
	e.f("%s", k.code.String())
	e.f("\t.loc 1 %d 0\n", LineResult)
	switch {
	case k.lanes == 0:
	case k.lanes < 1<<(ResultStride/4): // each lane has a word of each result
		e.f("\tmul.wide.u32 %%rel64, %%me, 4;\n\tadd.s64 %%out, %%out, %%rel64;\n")
	default: // the results are those of the thread
		e.f("\tsetp.ne.u32 %%other, %%me, %d;\n\t@%%other bra $NONE;\n", k.lane())
	}
	k.results(lits)
	if e.u.Program {
		e.f("$NONE:\n")
	}
	// Nobody ends before, so that masks that name more lanes than they should wait for them.
	if k.lanes != 0 {
		e.f("\tbar.warp.sync 0xffffffff;\n")
	}
	e.f("\tret;\n}\n")
	return nil
}
