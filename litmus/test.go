// Package litmus represents GPU litmus tests as data: threads, instructions, registers,
// locations, memory map, scope tree and final condition, with the parsers and printers of the
// dialects in which such tests are written.
//
// It does not give tests a meaning: package model computes outcomes, ptxgen emits code.
//
// Stable: the types and the printed form, and that a test which is printed and parsed again is
// the same test. Enumerations grow at their end.
package litmus

import "slices"

// Dialect names a concrete syntax of litmus tests.
type Dialect uint8

// The dialects that this package reads and prints.
const (
	// GPUPTX is the dialect of the 2015 paper: header GPU_PTX, register
	// declarations, scope tree and memory map (Alglave et al., ASPLOS 2015, Fig. 12).
	GPUPTX Dialect = iota
	// PTX is the dialect of present-day model checkers: header PTX, placement
	// after @ in the thread's name, locations named directly.
	PTX
	// OpenCL is the dialect of OpenCL C tests: header GPU_OPENCL, cells in C,
	// otherwise as GPU_PTX; see opencl.go.
	OpenCL
)

// Pos is a place in a file. Line and Col count from 1; Line 0 means unknown.
type Pos struct {
	File string
	Line int
	Col  int
}

// Test is one litmus test.
type Test struct {
	Dialect Dialect
	Name    string
	Doc     string // the doc string between quotes, without them; may span lines
	Meta    []Meta // "Key=value" lines between the header and the initial state
	// Locations are in the order of CompareLocations if the test was parsed; whoever builds a
	// test must use that order, or the test's Canonical form.
	Locations []Location
	Threads   []Thread
	Cond      Cond
	// Observed lists the terms of a locations clause, in order.
	Observed []Term
	// Results says which results of accesses a program observes.
	Results Results
	// Registers is the line Registers=N: the maximum number of 32-bit registers for the machine
	// code, so that others are spilled; 0 without the line.
	Registers uint8
}

// Results says which results of accesses a program observes: a compiler has more freedom with a
// load whose result nobody reads.
type Results uint8

// The values of Results.
const (
	// ResultsAll is the default: everything that an access reads is observed, as if it were
	// stored right after the access.
	ResultsAll Results = iota
	// ResultsFinal is the line Results=final: only the final values of the registers that the
	// condition and the locations clause name are observed. Whatever does not reach one of them
	// is unread.
	ResultsFinal
)

// resultsKey is the Key=Value line that says it.
const resultsKey = "Results"

// registersKey is the Key=Value line of Test.Registers, which is at least minRegisters.
const (
	registersKey = "Registers"
	minRegisters = 16
)

// Meta is one line of the form Key=Value that generators write into a test.
type Meta struct{ Key, Value string }

// Location is one shared variable of a test, or (Alias != "") a virtual
// address that aliases another location through a proxy.
type Location struct {
	Name  string
	Space Space // Global or Shared; Generic means "not written", which is global
	Init  int64
	Alias string // name of the location that this one aliases, or ""
	Proxy Proxy  // proxy through which an alias (or the location) is accessed
	// Of is the name of the location that this one is a part of, or ""; it begins Offset bytes
	// behind its beginning, and has no initial value of its own.
	Of     string
	Offset int64
	// Homed is set if the memory map says on which device the location lies: Device, a
	// number in the order in which the threads' devices appear, 0 for the first thread's.
	// A number beyond those is a device without threads.
	Homed  bool
	Device int
	Pos    Pos
}

// MaxDevices is the number of devices that a test can name.
const MaxDevices = 8

// Thread is one thread of a test with its place in the execution hierarchy.
type Thread struct {
	Name  string // as printed in the table's first row: T0, P0
	ID    int    // index in Test.Threads, which conditions use
	Regs  []RegDecl
	Place Place
	// Placed is false if the test says nothing about the thread's place.
	Placed bool
	Body   []Instr
	Pos    Pos
}

// Place locates a thread in the execution hierarchy. Each number is local to
// its parent: two threads are in the same CTA if GPU, Grid, Cluster and CTA
// are all equal. A test without clusters has each CTA alone in a cluster.
// Such a CTA is number 0 of its cluster, so that dialect PTX's "cta 3" without
// cluster is Place{Cluster: 3}. Parse numbers a scope tree in the order of the
// threads. Warp is information only: PTX does not make it a scope.
type Place struct{ GPU, Grid, Cluster, CTA, Warp int }

// SameScope reports whether two places are within one instance of scope s.
// ScopeNone is treated as the single thread's own place and is false.
func (p Place) SameScope(q Place, s Scope) bool {
	switch s {
	case ScopeSys:
		return true
	case ScopeGPU:
		return p.GPU == q.GPU
	case ScopeCluster:
		return p.GPU == q.GPU && p.Grid == q.Grid && p.Cluster == q.Cluster
	case ScopeCTA:
		return p.GPU == q.GPU && p.Grid == q.Grid && p.Cluster == q.Cluster && p.CTA == q.CTA
	}
	return false
}

// OnSeveralDevices reports whether the scope tree puts threads, or the memory map
// locations, on different devices.
func (t *Test) OnSeveralDevices() bool {
	return slices.ContainsFunc(t.Threads, func(x Thread) bool { return x.Place.GPU != t.Threads[0].Place.GPU }) ||
		slices.ContainsFunc(t.Locations, func(l Location) bool { return l.Device > 0 })
}

// SameGrid reports whether two places are in one grid (the relation gl of the
// 2015 model).
func (p Place) SameGrid(q Place) bool { return p.GPU == q.GPU && p.Grid == q.Grid }

// SameWarp reports whether two places are in one warp.
func (p Place) SameWarp(q Place) bool { return p == q }

// RegDecl declares a register of a thread or, in dialect PTX, its initial value. Init is an
// Operand of kind OperandNone if there is none; kind OperandLoc means that the register holds a
// location's address.
type RegDecl struct {
	Name string
	Type Type
	Init Operand
	Pos  Pos
}

// Instr is one instruction of a thread.
//
// Which fields are used depends on Op:
//
//	OpLd    Dst, Addr, Sem, Scope, Space, Cache, Type
//	OpSt    Addr, Src[0], Sem, Scope, Space, Cache, Type
//	OpAtom  Dst, Addr, Src (value; for CAS expected, new), Atom, Sem, Scope, Space, Type
//	OpRed   Addr, Src[0], Atom, Sem, Scope, Space, Type
//	OpFence Sem, Scope              (fence.SEM.SCOPE); in dialect OpenCL without
//	        scope mem_fence and its kin, with Space saying which memory is meant
//	OpMembar Scope                  (membar.cta/gl/sys: ScopeCTA/GPU/Sys)
//	OpFenceProxy Proxy
//	OpBar   Barrier
//	OpMov   Dst, Src[0], Type
//	OpCvt   Dst, Src[0], Type (to), FromType
//	OpAdd … OpXor, OpShl, OpShr   Dst, Src[0], Src[1], Type
//	OpNot   Dst, Src[0], Type
//	OpSetp  Dst (predicate), Src[0], Src[1], Cmp, Type
//	OpSelp  Dst, Src[0], Src[1], Src[2] (predicate), Type
//	OpBra   Target; with Cmp != CmpNone a compare-and-branch of Src[0], Src[1]
//	OpNop   nothing: an empty cell that carries a label
//
// In dialect PTX the Proxy of an access may also be texture, surface or
// constant (tld, suld, cold, sust, suatom, sured).
type Instr struct {
	Labels   []string // labels that stand before the instruction
	Guard    *Guard   // @p or @!p, or nil
	Call     bool     // "call": an access, fence or barrier in a function of its own, which the thread calls
	Prefetch uint8    // "prefetch.L1", "prefetch.L2": the level into which an access's location is fetched before it; 0 for none
	Op       Op
	Atom     AtomOp
	Cmp      Cmp
	Sem      Sem
	Scope    Scope
	Space    Space
	Cache    CacheOp
	Type     Type
	FromType Type
	Proxy    Proxy
	Dst      string
	Addr     Addr
	More     []Addr // further addresses; OpAsync only
	Src      []Operand
	Async    *AsyncForm // OpAsync only; one of AsyncForms, shared
	Word     *Word      // of an access that only the table of words has; one of Words, shared
	Part     uint8      // of such an access, which of its registers this is
	Barrier  Barrier
	Target   string
	Pos      Pos
}

// Guard is the predicate of a guarded instruction.
type Guard struct {
	Reg string
	Neg bool
}

// Addr is an address operand: a register or a location, and a byte offset.
// Exactly one of Reg and Loc is set.
type Addr struct {
	Reg    string
	Loc    string
	Offset int64
}

// Barrier holds the operands of bar.sync and bar.arrive. Resource and Quorum
// are of kind OperandNone when absent.
type Barrier struct {
	Arrive               bool
	ID, Resource, Quorum Operand
}

// OperandKind is the kind of an Operand.
type OperandKind uint8

// The kinds of operand.
const (
	OperandNone OperandKind = iota
	OperandConst
	OperandReg
	OperandLoc // the address of a location
)

// Operand is a source operand.
type Operand struct {
	Kind  OperandKind
	Value int64  // OperandConst
	Name  string // OperandReg, OperandLoc
}

// Const returns a constant operand.
func Const(v int64) Operand { return Operand{Kind: OperandConst, Value: v} }

// Reg returns a register operand.
func Reg(name string) Operand { return Operand{Kind: OperandReg, Name: name} }

// Loc returns an operand that is the address of a location.
func Loc(name string) Operand { return Operand{Kind: OperandLoc, Name: name} }

// Quantifier is the quantifier of a final condition.
type Quantifier uint8

// The quantifiers.
const (
	Exists    Quantifier = iota
	NotExists            // ~exists, not exists
	Forall
)

// Cond is the final condition of a test. Expr nil means true.
type Cond struct {
	Quant Quantifier
	Expr  Expr
	Pos   Pos
}

// Expr is a boolean expression over final states: And, Or, Not, Atom or True.
type Expr interface{ isExpr() }

// And is a conjunction of two or more expressions.
type And struct{ List []Expr }

// Or is a disjunction of two or more expressions.
type Or struct{ List []Expr }

// Not is a negation.
type Not struct{ X Expr }

// True always holds.
type True struct{}

// GobEncode implements gob.GobEncoder, which types without fields need.
func (True) GobEncode() ([]byte, error) { return nil, nil }

// GobDecode implements gob.GobDecoder.
func (*True) GobDecode([]byte) error { return nil }

// Atom compares two terms of a final state. Cmp is one of CmpEq, CmpNe, CmpLt,
// CmpLe, CmpGt, CmpGe; values compare as signed 64-bit integers.
type Atom struct {
	Left, Right Term
	Cmp         Cmp
}

func (And) isExpr()  {}
func (Or) isExpr()   {}
func (Not) isExpr()  {}
func (True) isExpr() {}
func (Atom) isExpr() {}

// TermKind is the kind of a Term.
type TermKind uint8

// The kinds of term.
const (
	TermConst TermKind = iota
	TermReg            // the final value of a thread's register
	TermLoc            // the final value of a location
)

// Term is one side of an Atom, or an observed item.
type Term struct {
	Kind   TermKind
	Value  int64  // TermConst
	Thread int    // TermReg
	Name   string // TermReg: register; TermLoc: location
}
