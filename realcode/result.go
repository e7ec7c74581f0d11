package realcode

import (
	"fmt"
	"slices"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/ptx"
	"optcheck/refine"
	"optcheck/sass/hazard"
)

// Rule is what a finding breaks.
type Rule string

// The rules.
const (
	Missing     Rule = "missing"      // an operation has no image, an acquire no invalidation, a release no fence
	Weakened    Rule = "weakened"     // less scope, strength, or another operation or type
	Reordered   Rule = "reordered"    // two operations in an order that the PTX does not have
	Duplicated  Rule = "duplicated"   // more often on a path than in the PTX
	Convergence Rule = "convergence"  // a barrier under a condition that the PTX does not have
	Merged      Rule = "merged"       // one access for two with something between that keeps them apart
	Extra       Rule = "extra-access" // a store or an atomic that the PTX does not have
	Uncompared  Rule = "uncompared"   // a store of which nothing was found, and that no run performed
)

// Place is an instruction of the PTX.
type Place struct {
	Func string  `json:"function"`
	Pos  ptx.Pos `json:"pos"`
	Text string  `json:"text"`
	// Made is the line that it was made of, of CUDA C++ for example, if the PTX says that.
	Made ptx.Loc `json:"made_of,omitzero"`
}

func placeIn(function string, in *ptx.Inst) Place { return Place{function, in.Pos, in.Text, in.Loc} }

// Code is an instruction of the machine code.
type Code struct {
	Func string `json:"function"`
	Addr uint64 `json:"addr"`
	Text string `json:"text"`
}

// Finding is a rule that is broken at one place, or something that could not be
// decided there.
type Finding struct {
	Rule Rule `json:"rule"`
	// Kernel is the entry or function that was looked at, with all that it calls.
	Kernel string `json:"kernel"`
	// First and Second are the operations that it is about; Second may be nil.
	First  *Place `json:"first,omitempty"`
	Second *Place `json:"second,omitempty"`
	// Code are instructions of the machine code that show it.
	Code []Code `json:"code,omitempty"`
	// Word is a path: a for the first operation, b for the second, in the order of
	// the machine code.
	Word   string `json:"word,omitempty"`
	Detail string `json:"detail"`
	// Verdict is what the memory model says, nil if no test could be made of it; NoTest
	// says why, if something is known.
	Verdict *Verdict `json:"verdict,omitempty"`
	NoTest  string   `json:"no_test,omitempty"`
	// Order tells that what is lost is the order that the first operation makes alone: nobody
	// uses what it returns, so that it need not be performed, or waits for it.
	Order bool `json:"order,omitempty"`

	// Together tells that one wider access performs both operations.
	Together bool `json:"together,omitempty"`

	// Execution is the counterexample of a finding that execution made, or, of a register in flight, what its content there changes.
	Execution *refine.Finding `json:"execution,omitempty"`
	// Hazard is the store, access or branch that a register decides whose content is wrong; empty if there is none.
	Hazard string `json:"hazard,omitempty"`
	// Flight is the machine code around such a register.
	Flight *hazard.Excerpt `json:"flight,omitempty"`

	// computed tells that runs compare what the finding is about: what a weak store stores, which barrier object is meant, what depends on a
	// load, or what one reads.
	computed bool

	// Fence is what the machine code has in place of a fence, of Kind None if it has nothing; nil for other operations.
	Fence *ptx.Effect `json:"-"`

	slice *slice
	claim *claim
}

// at is the place of a finding, with a colon and a blank behind it.
func (f *Finding) at() string {
	if f.First == nil {
		return " "
	}
	return fmt.Sprintf("%d:%d: ", f.First.Pos.Line, f.First.Pos.Col)
}

// headline is a finding in a line.
func (f *Finding) headline() string {
	s := string(f.Rule) + ": " + plain.Demangled(f.Kernel) + ": "
	if f.First != nil {
		s += f.First.Text + ": "
	}
	if f.Second != nil {
		s += fmt.Sprintf("and %d:%d %s: ", f.Second.Pos.Line, f.Second.Pos.Col, f.Second.Text)
	}
	return s + f.Detail
}

// Count counts what was compared.
type Count = event.Matched

// Result is what a comparison of a module with machine code says.
type Result struct {
	Findings []Finding `json:"findings"`
	// Unknown are what could not be decided: none of it is good news.
	Unknown []Finding `json:"unknown"`
	// Notes are differences that the model allows.
	Notes []Finding `json:"notes"`
	Count Count     `json:"count"`
	// Executed is what execution says of the kernels; empty if none was asked for.
	Executed []Executed `json:"executed,omitempty"`
	// Kernels are the parts of it, by function.
	Kernels []Kernel `json:"-"`
}

// gather is what is said of all kernels together.
func gather(kernels []Kernel) *Result {
	r := &Result{Kernels: kernels}
	for i := range kernels {
		r.add(&kernels[i].Result)
	}
	return r
}

func (r *Result) add(o *Result) {
	r.Findings = append(r.Findings, o.Findings...)
	r.Unknown = append(r.Unknown, o.Unknown...)
	r.Notes = append(r.Notes, o.Notes...)
	r.Count.Add(o.Count)
}

// Class is what a result makes of a cell, with the reason if it is unknown.
func (r *Result) Class() (class, reason string) {
	shown := func(f Finding) bool {
		return f.Execution != nil || f.Hazard != "" || f.Verdict != nil && f.Verdict.Class == Miscompiled
	}
	switch {
	case slices.ContainsFunc(r.Findings, shown):
		return Miscompiled, ""
	case len(r.Findings) > 0:
		return Changed, ""
	case len(r.Unknown) > 0:
		return Unknown, r.Unknown[0].Detail
	}
	return Preserved, ""
}

// Kernel is what is said of one function, with all that it calls.
type Kernel struct {
	Name string
	Result
	// Machine is what of the machine code is shown beside the operations; Op is the
	// number of the operation that it is of, -1 for none. Hash is that of all of the
	// machine code.
	Machine []Shown
	Hash    string

	writes []write
	shapes []shape
}

// Shown is an instruction of the machine code. Part marks the invalidation of an
// acquire and the fence of a release. At is its address in its function.
type Shown struct {
	Op   int
	Text string
	Part bool
	At   uint64
}
