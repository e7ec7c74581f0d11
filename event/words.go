package event

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/spec"
)

// The kinds of problems, but for KindIncomplete and KindMixed.
const (
	ProblemInput          = "input"          // a file that was named could not be read, or is refused
	ProblemInfrastructure = "infrastructure" // a tool failed without its input being to blame
	ProblemCompile        = "compile"        // a compiler refused its input
	ProblemCrash          = "crash"          // a compiler crashed or hung at its input
	ProblemTimeout        = "timeout"
	ProblemParse          = "parse" // output of a tool was not understood
	ProblemTool           = "tool"  // optcheck contradicts itself
	ProblemIR             = "llvm-ir"
)

// word is a field of the stream that may have one of a few values.
type word struct {
	field, value string
	values       []string
}

// The values of the fields of the stream that are words of a list. A value that is none of
// them, one damaged letter, would silently fall out of whatever counts and filters by it.
var (
	ruleWords = func() (out []string) {
		for _, r := range optcheck.Rules {
			out = append(out, r.ID)
		}
		return out
	}()
	raceWords   = []string{"", RaceFree, DataRace, FenceScope, MixedSize, NonCoherent, RaceUnknown}
	stageWords  = []string{"", "front end", "library", "IR passes", "back end", "llc", "ptxas", "nvcc", "clang-cuda"}
	otherWords  = []string{Optimised, Miscompiled}
	layoutWords = func() []string {
		out := []string{"", OwnLayout}
		for _, l := range spec.AllLayouts {
			out = append(out, l.String())
		}
		return out
	}()
	dialectWords = []string{litmus.GPUPTX.String(), litmus.PTX.String(), litmus.OpenCL.String(), Program}
	problemWords = []string{ProblemInput, ProblemInfrastructure, ProblemCompile, ProblemCrash, ProblemTimeout, ProblemParse, ProblemTool,
		ProblemIR, KindIncomplete, KindMixed}
	statusWords = []string{"", StatusDone, StatusInterrupted, StatusTimeout, StatusFault, StatusRefused, StatusUnsupported}
	// Effects are the words of Outcome.Effect; package audit/device says what they mean.
	Effects = []string{"", "sequentially consistent", "hardware, allowed", "hardware, forbidden", "hardware, undecided by the model",
		"compiler or hardware: binary not validated", "compiler, forbidden", "compiler, allowed", "hardware, forbidden by the machine code",
		"the patch, or hardware"}
)

// check refuses an event with a value that this version does not know.
func (e *Event) check() error {
	switch {
	case e.Config != nil && min(e.Config.Tests, e.Config.Cells) < 0:
		return fmt.Errorf("bad event: a run of %d tests and %d cells: neither may be negative", e.Config.Tests, e.Config.Cells)
	case e.Test != nil:
		return known(word{"dialect", e.Test.Dialect, dialectWords})
	case e.Cell != nil:
		if err := known(word{"layout", e.Cell.Layout, layoutWords}); err != nil {
			return err
		}
		return e.Cell.Check()
	case e.Problem != nil:
		return known(word{"kind", e.Problem.Kind, problemWords})
	case e.Histogram != nil:
		return e.Histogram.Check()
	}
	return nil
}

// Check refuses a result with a value that this version does not know.
func (c *Result) Check() error {
	list := []word{{"class", c.Class, Severities}}
	for _, f := range slices.Concat(c.Findings, c.Notes) {
		list = append(list, word{"rule", f.Rule, ruleWords}, word{"stage", f.Stage, stageWords})
	}
	if v := c.Verdict; v != nil {
		list = append(list, word{"race", v.Race, raceWords})
		for _, o := range v.Others {
			list = append(list, word{"class", o.Class, otherWords})
		}
	}
	return known(list...)
}

func (h *Histogram) words() error {
	list := []word{{"status", h.Status, statusWords}}
	for _, o := range h.Outcomes {
		list = append(list, word{"effect", o.Effect, Effects})
	}
	return known(list...)
}

func known(list ...word) error {
	for _, w := range list {
		if !slices.Contains(w.values, w.value) {
			return fmt.Errorf("bad event: unknown %s %q (%s)", w.field, plain.Clip(w.value, plain.MaxName),
				strings.Trim(strings.Join(w.values, ", "), ", "))
		}
	}
	return nil
}
