package event

import (
	"fmt"
	"strings"

	"optcheck/internal/plain"
)

// Matched counts what a comparison of a program with its machine code found.
type Matched struct {
	Functions int `json:"functions"`
	// Strong are synchronising and strong operations, Weak the others; Found those
	// that have an instruction.
	Strong      int `json:"strong"`
	StrongFound int `json:"strong_found"`
	Weak        int `json:"weak"`
	WeakFound   int `json:"weak_found"`
	// Warp are operations that lanes of a warp perform together.
	Warp      int `json:"warp"`
	WarpFound int `json:"warp_found"`
	// Pairs are ordered pairs that were compared, Open those of which an operation
	// has no instruction.
	Pairs int `json:"pairs"`
	Open  int `json:"open"`
	// Registers are the dependencies over registers that were judged by control codes.
	Registers int `json:"-"`
}

// Add adds what another comparison found.
func (c *Matched) Add(d Matched) {
	c.Functions += d.Functions
	c.Strong += d.Strong
	c.StrongFound += d.StrongFound
	c.Weak += d.Weak
	c.WeakFound += d.WeakFound
	c.Warp += d.Warp
	c.WarpFound += d.WarpFound
	c.Pairs += d.Pairs
	c.Open += d.Open
	c.Registers += d.Registers
}

// Limits says what a comparison that found everything as written is not about: "" if there is nothing to say.
func (c *Matched) Limits() string {
	var out []string
	if c.Strong+c.Warp == 0 {
		out = append(out, "nothing in it synchronises or is strong")
	}
	if n := c.Strong + c.Warp - c.StrongFound - c.WarpFound; n > 0 {
		out = append(out, fmt.Sprintf("%s without an instruction", plain.Count(n, "synchronising or strong operation")))
	}
	if n := c.Weak - c.WeakFound; n > 0 {
		out = append(out, fmt.Sprintf("%s without an instruction of %s own", plain.Count(n, "weak operation"), plain.Form(n, "its", "their")))
	}
	return strings.Join(out, ", ")
}

// Execution is how much of a kernel was executed, as PTX and as machine code.
type Execution struct {
	Runs int `json:"runs,omitempty"`
	// Cut are those of the runs that were ended before their kernel was.
	Cut int `json:"cut,omitempty"`
	// Forced counts the conditions that were given an outcome, in both codes, which no input shows.
	Forced int `json:"forced,omitempty"`
	// Source and Machine are the shares of the operations of both that a run performed, 0 to 1.
	Source  float64 `json:"source,omitempty"`
	Machine float64 `json:"machine,omitempty"`
	// Why is why no run was compared, "" if one was.
	Why string `json:"why,omitempty"`
	// Uncontracted tells that machine code was executed in which ptxas contracts no product and sum (--fmad=false).
	Uncontracted bool `json:"uncontracted,omitempty"`
	// Proved tells that machine code does what the kernel does, whatever the input; approximate functions are taken to be the machine's.
	Proved bool `json:"proved,omitempty"`
}

// Differs tells that the first run already differed, so that nothing is known of how much runs perform.
func (x *Execution) Differs() bool { return x.Why == "" && x.Runs+x.Cut == 0 }

// Text says in words whether a kernel is proved, and how much of it was executed.
func (x *Execution) Text() string {
	if x.Proved {
		return "proved for all inputs; " + x.runs()
	}
	return x.runs()
}

// runs says in words how much of a kernel was executed.
func (x *Execution) runs() string {
	if x.Why != "" {
		return "not executed: " + x.Why
	}
	if x.Differs() {
		return "executed until the first difference"
	}
	s := fmt.Sprintf("executed (%s, %.0f %% of the PTX, %.0f %% of the machine instructions), orders on all paths", plain.Count(x.Runs, "run"),
		100*x.Source, 100*x.Machine)
	if x.Cut > 0 {
		s += fmt.Sprintf("; %d of the runs were cut", x.Cut)
	}
	if x.Forced > 0 {
		s += "; " + plain.Count(x.Forced, "condition") + " forced, in both codes, to an outcome that no input shows"
	}
	if x.Uncontracted {
		s += "; compiled with --fmad=false, without which products and sums are contracted"
	}
	return s
}
