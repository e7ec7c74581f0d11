package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// bisection compiles one batch and isolates the units that spoil it.
type bisection struct {
	compiler
	job     *Job
	probe   *headerProbe
	batches []Batch
	failed  map[int]error
	hangs   int
}

// headerProbe remembers how a module with the job's header and no unit fared:
// if that fails, no unit is to blame.
type headerProbe struct {
	once sync.Once
	err  error
}

func (h *headerProbe) ask(ctx context.Context, c compiler, job *Job) error {
	h.once.Do(func() { _, h.err = c.compile(ctx, job, nil) })
	return h.err
}

// compiler is one way to turn units into machine code.
type compiler interface {
	// compile compiles some units of a job in one process.
	compile(ctx context.Context, job *Job, units []int) (Batch, error)
	// tool is the path of the compiler.
	tool() string
	// diagnose reads the messages of the compiler, with lines counted in the
	// file that it was given, or the name of the unit that they are about.
	diagnose(stderr string) []Diagnostic
}

// sequential is a compiler that works on one unit after the other and may give
// up the whole file at one of them.
type sequential interface {
	// gaveUp returns the name of the unit at which it gave up, by its messages.
	gaveUp(stderr string) string
}

// sorted are the batches by their first units.
func (b *bisection) sorted() []Batch {
	slices.SortFunc(b.batches, func(x, y Batch) int { return x.Units[0] - y.Units[0] })
	return b.batches
}

// compile compiles the units together, or as nearly together as it goes. The
// error is non-nil only if ctx ended.
func (b *bisection) all(ctx context.Context, units []int) error {
	if len(units) == 0 {
		return nil
	}
	maxHangs := b.job.MaxHangs
	if maxHangs <= 0 {
		maxHangs = DefaultMaxHangs
	}
	if b.hangs >= maxHangs {
		b.failAll(units, &Error{Kind: ErrTimeout, Tool: b.tool(), ExitCode: -1,
			Detail: fmt.Sprintf("not tried: %d other units of its batch hung the compiler", b.hangs)})
		return nil
	}
	batch, err := b.compile(ctx, b.job, units)
	var e *Error
	switch {
	case err == nil:
		batch.Units = units
		b.batches = append(b.batches, batch)
		return nil
	case errors.Is(err, ErrCancelled):
		return err
	case !errors.As(err, &e) || e.notStarted:
		b.failAll(units, err)
		return nil
	case len(units) == 1:
		return b.single(ctx, units[0], e)
	}
	return b.isolate(ctx, units, e)
}

// single records the failure of a unit that was compiled alone.
func (b *bisection) single(ctx context.Context, unit int, e *Error) error {
	if errors.Is(e, ErrTimeout) {
		b.hangs++
	}
	e, err := b.confirmed(ctx, unit, e)
	if err != nil {
		return err
	}
	b.failAll([]int{unit}, e)
	return ctxCancelled(ctx, e)
}

// ctxCancelled is e if it came about because ctx ended.
func ctxCancelled(ctx context.Context, e *Error) error {
	if ctx.Err() != nil && errors.Is(e, ErrCancelled) {
		return e
	}
	return nil
}

// isolate deals with units that failed together.
func (b *bisection) isolate(ctx context.Context, units []int, e *Error) error {
	if s, ok := b.compiler.(sequential); ok && errors.Is(e, ErrCompile) {
		if done, err := b.skip(ctx, s, units, e); done || err != nil {
			return err
		}
	}
	suspects, rest := b.blamed(units, e)
	if len(suspects) > 0 && b.job.TrustMessages {
		b.refuse(units, e)
		return b.all(ctx, rest)
	}
	if len(suspects) > 0 {
		for _, u := range suspects {
			if err := b.all(ctx, []int{u}); err != nil {
				return err
			}
		}
		return b.all(ctx, rest)
	}
	if err := b.probe.ask(ctx, b.compiler, b.job); err != nil {
		if errors.Is(err, ErrCancelled) {
			return err
		}
		b.failAll(units, err)
		return nil
	}
	half := len(units) / 2
	if err := b.all(ctx, units[:half:half]); err != nil {
		return err
	}
	return b.all(ctx, units[half:])
}

// skip takes out unit after unit at which the compiler gave up, and goes on
// behind it: what stands in front was compiled, and is compiled again when all
// is known. The messages are trusted, since they are about one unit only. done
// is false if they name none.
func (b *bisection) skip(ctx context.Context, s sequential, units []int, e *Error) (done bool, err error) {
	good, rest := []int(nil), units
	for {
		at := slices.IndexFunc(rest, func(u int) bool { return b.job.Units[u].Name == s.gaveUp(e.Stderr) })
		if at < 0 || !errors.Is(e, ErrCompile) {
			break
		}
		b.failAll(rest[at:at+1], e)
		done, good, rest = true, append(good, rest[:at]...), rest[at+1:]
		if len(rest) == 0 {
			break
		}
		batch, err := b.compile(ctx, b.job, rest)
		if err == nil {
			batch.Units = rest
			b.batches = append(b.batches, batch)
			rest = nil
			break
		}
		if errors.Is(err, ErrCancelled) {
			return true, err
		}
		if !errors.As(err, &e) || e.notStarted {
			b.failAll(rest, err)
			rest = nil
			break
		}
	}
	if !done {
		return false, nil
	}
	return true, b.all(ctx, append(good, rest...))
}

// blamed splits units into those at which a message of the compiler points, and the
// others. A crash or a hang blames nobody, whatever was printed before.
func (b *bisection) blamed(units []int, e *Error) (suspects, rest []int) {
	if !errors.Is(e, ErrCompile) {
		return nil, units
	}
	starts := b.lines(units)
	blame := make([]bool, len(units))
	for _, d := range b.diagnose(e.Stderr) {
		if d.Unit != "" {
			for i, u := range units {
				blame[i] = blame[i] || b.job.Units[u].Name == d.Unit
			}
			continue
		}
		if i := sort.SearchInts(starts, d.Line+1) - 1; d.failure() && i >= 0 {
			blame[i] = true
		}
	}
	for i, u := range units {
		if blame[i] {
			suspects = append(suspects, u)
		} else {
			rest = append(rest, u)
		}
	}
	return suspects, rest
}

// refuse records, for each of the units that messages point at, those messages
// as its failure.
func (b *bisection) refuse(units []int, e *Error) {
	starts := b.lines(units)
	for _, d := range b.diagnose(e.Stderr) {
		i := sort.SearchInts(starts, d.Line+1) - 1
		if i < 0 || !d.failure() {
			continue
		}
		u := units[i]
		own, ok := b.failed[u].(*Error)
		if !ok {
			own = &Error{}
			*own = *e
			own.Input, own.Stderr = b.job.Units[u].Name, ""
			b.failed[u] = own
		}
		own.Stderr += fmt.Sprintf("ptxas batch.ptx, line %d; %s   : %s\n", d.Line-starts[i]+1, d.Severity, d.Message)
		d.Line -= starts[i] - 1
		own.Diagnostics = append(own.Diagnostics, d)
	}
}

// lines gives for each unit the line at which it starts in a file of them.
func (b *bisection) lines(units []int) []int {
	starts := make([]int, len(units))
	line := 1 + strings.Count(b.job.Header, "\n")
	for i, u := range units {
		starts[i] = line
		line += strings.Count(endLine(b.job.Units[u].Text), "\n")
	}
	return starts
}

// failAll records err as the failure of each of the units, under its name and
// with lines counted in its own text.
func (b *bisection) failAll(units []int, err error) {
	header := strings.Count(b.job.Header, "\n")
	for _, u := range units {
		var e *Error
		if !errors.As(err, &e) {
			b.failed[u] = &Error{Kind: ErrInfrastructure, Tool: b.tool(), Input: b.job.Units[u].Name, ExitCode: -1, Err: err}
			continue
		}
		own := *e
		own.Input = b.job.Units[u].Name
		own.Diagnostics = b.diagnose(e.Stderr)
		for i := range own.Diagnostics {
			own.Diagnostics[i].Line -= header
		}
		b.failed[u] = &own
	}
}

// ptxas says "ptxas FILE, line 12; error   : Unknown symbol".
var diagnosticLine = regexp.MustCompile(`(?m)^ptxas .*?batch\.ptx, line (\d+); (\w+)\s*: (.*)$`)

// parseDiagnostics reads the messages that carry a line number, which counts
// from 1 in the file given to ptxas.
func parseDiagnostics(stderr string) []Diagnostic {
	var out []Diagnostic
	for _, m := range diagnosticLine.FindAllSubmatch([]byte(stderr), -1) {
		line, err := strconv.Atoi(string(m[1]))
		if err != nil {
			continue
		}
		out = append(out, Diagnostic{Line: line, Severity: string(m[2]), Message: string(bytes.TrimSpace(m[3]))})
	}
	return out
}
