// Package limits bounds what an input may cost, in one place: how much of it is read, how large
// its parts may be, and how long they may be analysed. An analysis that reaches a limit ends
// with an Error, which is a reason for `unknown`, never a verdict.
//
// The defaults admit the largest kernels of vendors' libraries, and keep any input of a
// megabyte below half a gigabyte of memory and five seconds. They are settings of the program
// (--limits, OPTCHECK_LIMITS, optcheck.yaml).
package limits

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Limits are the bounds. No limit is derived from another.
type Limits struct {
	Bytes        int64         // of one file that is read as a whole
	Instructions int           // of one function of machine code
	Blocks       int           // basic blocks of one function
	Edges        int           // of the control flow of one function
	Events       int           // accesses, fences and the like of one function
	Values       int           // expressions that one function's registers hold
	Steps        int           // of each analysis of one function's control flow
	Judge        time.Duration // of all verdicts of one cell
}

// Default returns the default bounds.
func Default() Limits {
	return Limits{
		Bytes:        128 << 20,
		Instructions: 200_000,
		Blocks:       8_192,
		Edges:        200_000,
		Events:       20_000,
		Values:       1_000_000,
		Steps:        20_000_000,
		Judge:        time.Minute,
	}
}

// bound is one of the limits: its name, what it counts, and where it is.
type bound struct {
	name, what string
	number     func(*Limits) *int
	size       func(*Limits) *int64
	time       func(*Limits) *time.Duration
}

var bounds = []bound{
	{name: "bytes", what: "bytes of one file that is read as a whole", size: func(l *Limits) *int64 { return &l.Bytes }},
	{name: "instructions", what: "instructions of one function", number: func(l *Limits) *int { return &l.Instructions }},
	{name: "blocks", what: "basic blocks of one function", number: func(l *Limits) *int { return &l.Blocks }},
	{name: "edges", what: "edges of one function's control flow", number: func(l *Limits) *int { return &l.Edges }},
	{name: "events", what: "accesses, fences and barriers of one function", number: func(l *Limits) *int { return &l.Events }},
	{name: "values", what: "expressions that one function's registers hold", number: func(l *Limits) *int { return &l.Values }},
	{name: "steps", what: "steps of an analysis of one function's control flow", number: func(l *Limits) *int { return &l.Steps }},
	{name: "judge", what: "time for all verdicts of one cell", time: func(l *Limits) *time.Duration { return &l.Judge }},
}

var current atomic.Pointer[Limits]

// Now returns the bounds in force.
func Now() Limits {
	if l := current.Load(); l != nil {
		return *l
	}
	return Default()
}

// Use sets the bounds for the whole process; it is called once, before any analysis.
func Use(l Limits) { current.Store(&l) }

// Parse changes bounds according to texts of the form NAME=VALUE. Numbers may end in k, M or G
// (factors of 1024 for bytes, else of 1000).
func (l Limits) Parse(settings []string) (Limits, error) {
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		i := slices.IndexFunc(bounds, func(b bound) bool { return b.name == strings.TrimSpace(name) })
		if i < 0 {
			return l, fmt.Errorf("no limit %q (known: %s)", name, strings.Join(Names(), ", "))
		}
		if err := bounds[i].set(&l, strings.TrimSpace(value)); err != nil {
			return l, fmt.Errorf("limit %s: %w", bounds[i].name, err)
		}
	}
	return l, nil
}

func (b *bound) set(l *Limits, value string) error {
	if b.time != nil {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is no time, such as 90s", value)
		}
		*b.time(l) = d
		return nil
	}
	base, factor := int64(1000), int64(1)
	if b.size != nil {
		base = 1024
	}
	digits := value
	for i, unit := range []string{"k", "M", "G"} {
		if n, ok := strings.CutSuffix(value, unit); ok {
			digits = n
			for range i + 1 {
				factor *= base
			}
		}
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n <= 0 || b.number != nil && n*factor > 1<<31-1 {
		return fmt.Errorf("%q is no number, such as 20k", value)
	}
	if b.size != nil {
		*b.size(l) = n * factor
	} else {
		*b.number(l) = int(n * factor)
	}
	return nil
}

// Names lists the names of the limits.
func Names() []string {
	var names []string
	for _, b := range bounds {
		names = append(names, b.name)
	}
	return names
}

// Table lists the limits with their values and what they bound.
func (l Limits) Table() [][3]string {
	var rows [][3]string
	for _, b := range bounds {
		value := ""
		switch {
		case b.number != nil:
			value = strconv.Itoa(*b.number(&l))
		case b.size != nil:
			value = strconv.FormatInt(*b.size(&l), 10)
		default:
			value = b.time(&l).String()
		}
		rows = append(rows, [3]string{b.name, value, b.what})
	}
	return rows
}

// Error reports the limit that an input reached.
type Error struct {
	Name string // of the limit: "blocks"
	At   int64  // its value
}

// Error also says what to do about it.
func (e *Error) Error() string {
	return fmt.Sprintf("more than %d %s; --limits %s=N allows more", e.At, e.Name, e.Name)
}

// Slow reports that judging took longer than permitted.
type Slow struct{ Limit time.Duration }

// Error also says what to do about it.
func (e *Slow) Error() string {
	return fmt.Sprintf("judging takes longer than %v; --limits judge=TIME allows more", e.Limit)
}

// Judging returns a context for all verdicts of one cell; its cause is Slow when the time is
// up.
func Judging(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := Now().Judge
	return context.WithTimeoutCause(ctx, limit, &Slow{limit})
}

// Check returns an Error if n exceeds the limit with a name.
func Check(name string, n, limit int) error {
	if n <= limit {
		return nil
	}
	return &Error{name, int64(limit)}
}
