// Package spec defines what a litmus test's thread requires of its machine code: its accesses
// in order, their kinds and locations, its fences and its dependencies. It encodes that
// specification as the literals of xor markers (Alglave et al., GPU Concurrency, ASPLOS 2015,
// Sec. 4.4), so that a kernel carries its own specification, and decodes it from the literals
// found in machine code.
//
// It neither emits code (ptxgen does) nor judges code (optcheck does).
//
// Stable: a literal keeps its meaning as long as Version does, so that kernels that were
// emitted once can be checked later.
package spec

import (
	"fmt"

	"optcheck/litmus"
)

// Limits of the encoding. A test beyond them cannot be audited.
const (
	MaxThreads   = 8  // threads per test
	MaxPositions = 32 // accesses and fences per thread
	MaxLocations = 8  // locations per test
	MaxMarkers   = 63 // entries per thread
)

// Layout says how a kernel addresses the locations of its test. Compilers reorder only what
// they can prove disjoint, and each layout lets them prove something else.
type Layout uint8

// The layouts.
const (
	Pointers Layout = iota // one pointer parameter per location: may alias
	Symbols                // distinct module-scope variables: disjoint
	Offsets                // one base parameter per space, constant offsets: disjoint
	Adjacent               // one module-scope variable per space, without gaps: one access can span neighbours
)

// Layouts lists the default layouts of an audit, in order; AllLayouts lists all.
var (
	Layouts    = []Layout{Pointers, Symbols, Offsets}
	AllLayouts = []Layout{Pointers, Symbols, Offsets, Adjacent}
)

var layoutNames = [...]string{"pointers", "symbols", "offsets", "adjacent"}

// Named reports whether locations are addressed by the names of variables.
func (l Layout) Named() bool { return l == Symbols || l == Adjacent }

// String returns the layout's name as the command line spells it.
func (l Layout) String() string {
	if int(l) < len(layoutNames) {
		return layoutNames[l]
	}
	return fmt.Sprintf("layout(%d)", uint8(l))
}

// ParseLayout returns the layout with a name.
func ParseLayout(s string) (Layout, error) {
	for i, n := range layoutNames {
		if n == s {
			return Layout(i), nil
		}
	}
	return 0, fmt.Errorf("unknown layout %q (pointers, symbols, offsets, adjacent)", s)
}

// Stride is the distance in bytes between two locations in the layout Offsets,
// and the alignment and size of a shared variable in the layout Symbols.
const (
	Stride       = 64
	SharedStride = 16
)

// Kind is the kind of an access or fence in the source.
type Kind struct {
	Op    litmus.Op // OpLd, OpSt, OpAtom, OpRed, OpFence, OpMembar, OpFenceProxy, OpBar
	Atom  litmus.AtomOp
	Sem   litmus.Sem
	Scope litmus.Scope
	Cache litmus.CacheOp
	// Space is Global or Shared for accesses. For the fences of OpenCL 1.2 it is the memory
	// that they order (Generic: both), for other fences Generic.
	Space litmus.Space
	Width int          // bytes; 0 for fences
	Proxy litmus.Proxy // OpFenceProxy only
	// Barrier is the number of the barrier; Arrive is set for bar.arrive. OpBar only.
	Barrier int
	Arrive  bool
}

// HighWord is the index that Operands uses for the high word of a 64-bit value that an access
// reads or writes.
const HighWord = 2

// coded returns the kind whose code stands for an access: the widths of bytes and 16-bit words
// are those of their locations.
func (k Kind) coded() Kind {
	if k.Width > 0 && k.Width < 4 && (k.Op == litmus.OpLd || k.Op == litmus.OpSt) {
		k.Width = 4
	}
	return k
}

// Cut returns the part of an operand that an access of the kind moves.
func (k Kind) Cut(x int64) uint64 {
	if k.Width <= 0 || k.Width >= 8 {
		return uint64(x)
	}
	return uint64(x) & (1<<uint(8*k.Width) - 1)
}

// unreadMark is the index that OperandMarkers uses for an access that is Unread.
const unreadMark = 3

// Operands lists the other registers of an access that have a marker of their own: the operands
// of a returning atomic (0, and 1 for the new value of a compare-and-swap), and HighWord for
// 64-bit loads and stores.
func (e Entry) Operands() []int {
	switch {
	case e.Kind.Op == litmus.OpAtom && e.Kind.Atom == litmus.AtomCAS:
		return []int{0, 1}
	case e.Kind.Op == litmus.OpAtom && e.Kind.Atom >= litmus.AtomIncOne:
		return nil
	case e.Kind.Op == litmus.OpAtom:
		return []int{0}
	case !e.IsFence() && e.Kind.Width == 8 && e.Kind.Op != litmus.OpRed && !e.Unread:
		return []int{HighWord}
	}
	return nil
}

// Entry is one access or fence of a thread.
type Entry struct {
	Pos  int // position in the thread's sequence of accesses and fences, from 0
	Kind Kind
	Loc  int // index of the location in the test; 0 for fences
	// Instr is the index of the instruction in the thread's body, -1 if the specification was
	// decoded from machine code.
	Instr int
	// Guarded is set if the instruction may be skipped.
	Guarded bool
	// Signed is set if a minimum or maximum compares signed numbers. Threads is the number of
	// threads that a barrier waits for (0: all of the CTA). Both are part of the digest, and
	// known only if the specification comes from a test.
	Signed  bool
	Threads int
	// Unread is set if nobody observes what the access reads (litmus.Test.Unread): its marker
	// says nothing about the value, which the compiler may drop.
	Unread bool
	// Back is how many positions earlier the first copy of the same instruction is, if a loop
	// performs it more than once (litmus.Test.Unrolled), else 0. It is known only if the
	// specification comes from a test.
	Back int
}

// Line returns the line to which the instruction is attributed: all copies have that of the
// first.
func (e Entry) Line() int { return e.Pos - e.Back + 1 }

// DepKind is the kind of a dependency.
type DepKind uint8

// The kinds of dependency.
const (
	DepAddr DepKind = iota
	DepData
	DepCtrl
)

var depNames = [...]string{"address", "data", "control"}

// String returns the kind's full name: address, data or control.
func (k DepKind) String() string {
	if int(k) < len(depNames) {
		return depNames[k]
	}
	return "dependency"
}

// Dep is a dependency from the access at position From, which reads, to the
// access or fence at position To.
type Dep struct {
	From, To int
	Kind     DepKind
}

// Spec is the specification of one thread.
type Spec struct {
	Thread int
	Layout Layout
	// Locations is the number of locations of the test. In the layout Pointers it says which
	// parameters do not belong to the test.
	Locations int
	// Wide is the set of locations that are 64-bit words: bit l for location l. It is set only
	// in the layout Adjacent, where it decides the addresses of locations.
	Wide uint8
	// Narrow holds the sets of locations that are bytes, and that are 16-bit words. All accesses
	// of one have its width.
	Narrow [2]uint8
	// Parts says by location of which other one it is a part.
	Parts   [MaxLocations]Part
	Entries []Entry // by position
	Deps    []Dep   // sorted by From, To, Kind
	// Code is what the thread computes, nil if only the markers are known.
	Code *Code
	// Digest is a hash of what the code does beyond the markers, 0 if there is none; see
	// Digester.
	Digest uint32
}

// Part places a location in another one: Offset bytes behind its beginning. The zero value is no
// part.
type Part struct {
	Is     bool
	Of     int // index of the other location
	Offset int64
}

// whole returns the location whose variable, or place behind a base, contains a location, and
// where it lies in it.
func (s *Spec) whole(loc int) (int, int64) {
	if loc >= 0 && loc < MaxLocations && s.Parts[loc].Is {
		return s.Parts[loc].Of, s.Parts[loc].Offset
	}
	return loc, 0
}

// Whole returns the location of which a location is a part, or itself.
func (s *Spec) Whole(loc int) int {
	loc, _ = s.whole(loc)
	return loc
}

// LocationIn returns the location at an offset in another one, which is no part; ok is false if
// there is none.
func (s *Spec) LocationIn(whole int, offset int64) (loc int, ok bool) {
	if offset == 0 {
		return whole, true
	}
	for l, p := range s.Parts {
		if p.Is && p.Of == whole && p.Offset == offset {
			return l, true
		}
	}
	return -1, false
}

// SamePlace reports whether two locations have one address because one is the beginning of the
// other.
func (s *Spec) SamePlace(a, b int) bool {
	if a == b || s.Layout == Pointers {
		return a == b
	}
	x, i := s.whole(a)
	y, j := s.whole(b)
	return x == y && i == j
}

// ResultParam returns the byte offset, among the entry's parameters, of the pointer through
// which results are kept alive: it follows the pointers to locations.
func (s *Spec) ResultParam() int64 {
	switch s.Layout {
	case Pointers:
		return int64(8 * s.Locations)
	case Offsets:
		return 16
	}
	return 0
}

// AdjacentBytes is the size and alignment of the variables of the layout Adjacent.
const AdjacentBytes = 8 * MaxLocations

// Symbol returns the variable that contains a location, without the unit's name, in a layout
// that is Named; Offset returns the location's place in it.
func (s *Spec) Symbol(loc int, space litmus.Space) string {
	switch {
	case s.Layout != Adjacent:
		return fmt.Sprintf("_L%d", s.Whole(loc))
	case space == litmus.Shared:
		return "_LS"
	}
	return "_LG"
}

// width returns the size of a location in bytes, in a layout where sizes decide addresses.
func (s *Spec) width(loc int) int64 {
	switch bit := uint8(1) << uint(loc); {
	case s.Wide&bit != 0:
		return 8
	case s.Narrow[0]&bit != 0:
		return 1
	case s.Narrow[1]&bit != 0:
		return 2
	}
	return 4
}

// Offset returns the offset of a location in bytes, from its base or in its variable. Adjacent
// puts the widest words first, so that all are aligned.
func (s *Spec) Offset(loc int) int64 {
	switch whole, in := s.whole(loc); s.Layout {
	case Pointers:
		return 0
	case Symbols:
		return in
	case Offsets:
		return int64(whole)*Stride + in
	}
	off, own := int64(0), s.width(loc)
	for l := range s.Locations {
		if w := s.width(l); w > own || w == own && l < loc {
			off += w
		}
	}
	return off
}

// LocationAt returns the location at an offset from a base, or in a variable of the layout
// Adjacent; ok is false if there is none.
func (s *Spec) LocationAt(offset int64) (loc int, ok bool) {
	for l := range s.Locations {
		if s.Offset(l) == offset {
			return l, true
		}
	}
	return -1, false
}

// Copies returns how many entries belong to the instruction on a line (Entry.Line).
func (s *Spec) Copies(line int) (n int) {
	for _, e := range s.Entries {
		if e.Line() == line {
			n++
		}
	}
	return n
}

// Rounds returns the maximum number of times that loops perform an instruction, 1 without
// loops.
func (s *Spec) Rounds() int {
	most := 1
	for _, e := range s.Entries {
		if e.Back > 0 {
			most = max(most, s.Copies(e.Line()))
		}
	}
	return most
}

// IsFence reports whether the entry is a fence or barrier.
func (e Entry) IsFence() bool { return !e.Kind.Op.IsAccess() }

// Reads reports whether the entry yields a value: a load or a returning atomic.
func (e Entry) Reads() bool { return e.Kind.Op == litmus.OpLd || e.Kind.Op == litmus.OpAtom }

// Writes reports whether the entry may write memory.
func (e Entry) Writes() bool {
	return e.Kind.Op == litmus.OpSt || e.Kind.Op == litmus.OpAtom || e.Kind.Op == litmus.OpRed
}

// Equal reports whether the markers of two specifications say the same about the machine code.
func (s *Spec) Equal(o *Spec) bool {
	if s.Thread != o.Thread || s.Layout != o.Layout || s.Locations != o.Locations || s.Wide != o.Wide || s.Narrow != o.Narrow || s.Parts != o.Parts || len(s.Entries) != len(o.Entries) ||
		len(s.Deps) != len(o.Deps) {
		return false
	}
	for i, e := range s.Entries {
		f := o.Entries[i]
		if e.Pos != f.Pos || e.Kind != f.Kind || e.Loc != f.Loc || e.Guarded != f.Guarded || e.Unread != f.Unread {
			return false
		}
	}
	for i, d := range s.Deps {
		if d != o.Deps[i] {
			return false
		}
	}
	return true
}
