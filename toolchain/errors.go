package toolchain

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The kinds of failure. Every error of this package that stems from an
// external process matches exactly one of them under errors.Is, but for ErrHung, which is
// an ErrCrashed and an ErrTimeout.
var (
	// ErrInfrastructure: the tool could not be started, died of a signal, or
	// produced something that is not what it should produce. It says nothing
	// about the input.
	ErrInfrastructure = errors.New("tool failure")
	// ErrCompile: the tool ran and refused its input; its words are in
	// Error.Stderr.
	ErrCompile = errors.New("rejected by the tool")
	// ErrTimeout: the tool was killed because it exceeded its time limit.
	ErrTimeout = errors.New("time limit exceeded")
	// ErrCrashed: a compiler broke down at its input, alone with it and in the same way each
	// time. That is a fault of the compiler, whatever the input is.
	ErrCrashed = errors.New("crashed")
	// ErrHung: a compiler exceeded its time at a small input each time.
	ErrHung = fmt.Errorf("hung, which is as good as %w: %w", ErrCrashed, ErrTimeout)
	// ErrCancelled: the caller's context ended. errors.Is also matches the
	// context's own error.
	ErrCancelled = errors.New("cancelled")
)

// DistinctErrors leaves out errors whose text was there before: a broken tool is found by
// each search for compilers.
func DistinctErrors(errs []error) (out []error) {
	seen := map[string]bool{}
	for _, err := range errs {
		if text := err.Error(); !seen[text] {
			seen[text] = true
			out = append(out, err)
		}
	}
	return out
}

// Error describes one failed run of an external tool.
type Error struct {
	// Kind is one of the sentinels of this package.
	Kind error
	// Tool is the path of the executable.
	Tool string
	// Input names what was processed: a unit, a file; may be empty.
	Input string
	// Args are the arguments the tool was given.
	Args []string
	// ExitCode is the exit status, or -1 if there is none.
	ExitCode int
	// Signal names the signal that ended the process, or is empty.
	Signal string
	// At is where in its own code a compiler crashed, "ptxas+0x4fd2c0"; empty where that cannot
	// be found out.
	At string
	// Stderr is what the tool printed there, bounded.
	Stderr string
	// Diagnostics are the messages of Stderr that carry a line number, with
	// the line counted from the first line of the unit's own text (negative or
	// zero: in the header).
	Diagnostics []Diagnostic
	// Detail says what happened, in a few words.
	Detail string
	// Err is the underlying error, or nil.
	Err error

	limit time.Duration // of the time, of an ErrTimeout
	// notStarted: no process came to be, so no other input would fare better.
	notStarted bool
}

// Diagnostic is one message of a compiler that names a line or a unit.
type Diagnostic struct {
	Line     int
	Col      int    // from 1; 0 where the compiler does not say it
	Unit     string // the name of the unit, where the message has no line of it
	Severity string // "error", "fatal", "warning", "info"
	Message  string
}

// Error gives one line: input, position, tool, what happened.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.place())
	fmt.Fprintf(&b, "%s: %v", e.Tool, e.Kind)
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if d := e.first(); d != nil {
		b.WriteString(": " + d.Message)
	} else if s := firstLine(e.Stderr); s != "" {
		b.WriteString(": " + s)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Refusal is what a tool that refused its input says first of it, with the place; "" if none did.
func (e *Error) Refusal() string {
	d := e.first()
	if e.Kind != ErrCompile || d == nil {
		return ""
	}
	return e.place() + d.Message
}

// place is the input with the place of the first failure in it, and a colon and a blank behind it.
func (e *Error) place() string {
	if e.Input == "" {
		return ""
	}
	at := e.Input
	if d := e.first(); d != nil && d.Line > 0 {
		if at += fmt.Sprintf(":%d", d.Line); d.Col > 0 {
			at += fmt.Sprintf(":%d", d.Col)
		}
	}
	return at + ": "
}

// Unwrap lets errors.Is see the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// first is the first diagnostic that is a failure.
func (e *Error) first() *Diagnostic {
	for i := range e.Diagnostics {
		if e.Diagnostics[i].failure() {
			return &e.Diagnostics[i]
		}
	}
	return nil
}

func (d Diagnostic) failure() bool { return d.Severity == "error" || d.Severity == "fatal" }

// firstLine is the first line of s with something in it, shortened.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			if r := []rune(line); len(r) > 200 {
				line = string(r[:200]) + "…"
			}
			return line
		}
	}
	return ""
}
