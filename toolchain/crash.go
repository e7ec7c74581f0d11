package toolchain

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"optcheck/internal/keeper"
)

// A compiler that breaks down is run again before that is called its fault: what comes and goes
// may be the machine's.
const (
	crashTries = 3 // a crash costs little
	hangTries  = 2 // a hang costs the whole time limit
)

// Bounds within which a compiler that exceeds its time has hung.
const (
	// smallInput bounds the text, in bytes. Compilers take a second for a megabyte.
	smallInput = 64 << 10
	// leastTime is what a process must have been given: a compiler starts in 50 ms.
	leastTime = time.Second
)

// deadly are the signals by which a process ends through its own doing. Others, SIGKILL before
// all, come from outside.
var deadly = []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE, syscall.SIGABRT, syscall.SIGTRAP, syscall.SIGSYS}

// childOf is what a compiler says that drives others, when one of them dies.
var childOf = regexp.MustCompile(`died due to signal (\d+)`)

// internalError is what a compiler says that finds a fault of its own.
var internalError = regexp.MustCompile(`(?i)\binternal (compiler )?error\b|\bassertion\b.* failed|\berror in backend: `)

// childDied sets the signal of a process that says that its child died of one.
func (e *Error) childDied() {
	m := childOf.FindStringSubmatch(e.Stderr)
	if m == nil || e.Signal != "" {
		return
	}
	if n, err := strconv.Atoi(m[1]); err == nil {
		e.Signal = syscall.Signal(n).String()
	}
}

// broke reports whether a compiler ended by a fault of its own.
func (e *Error) broke() bool {
	died := slices.ContainsFunc(deadly, func(s syscall.Signal) bool { return s.String() == e.Signal })
	return died || errors.Is(e, ErrCompile) && internalError.MatchString(e.Stderr)
}

// hung reports whether a compiler exceeded its time, which was enough for a text of this size.
func (e *Error) hung(size int) bool {
	return e.Kind == ErrTimeout && size <= smallInput && e.limit >= leastTime
}

// Crash says how a compiler broke down, without what differs from run to run: crashes of
// which it says the same at the same place (At) are one. It is "" for other failures.
func (e *Error) Crash() string {
	if !errors.Is(e, ErrCrashed) {
		return ""
	}
	return e.breakdown()
}

func (e *Error) breakdown() string {
	how := "killed by signal: " + e.Signal
	switch {
	case errors.Is(e, ErrTimeout):
		how = "no end within the time limit"
	case e.Signal == "":
		how = e.Detail
	}
	said := e.Stderr
	if e.Input != "" {
		said = strings.ReplaceAll(said, e.Input, "…")
	}
	if said = gist(said); said != "" {
		return how + "; it says: " + said
	}
	return how + "; it says nothing"
}

// diesAt is where in its code the process crashes.
func (c command) diesAt() string {
	if c.env == nil {
		c.env = toolEnv(c.path)
	}
	return keeper.DiesAt(&keeper.Cmd{Path: c.path, Args: c.args, Dir: c.dir, Env: c.env}, c.timeout, deadly)
}

// confirmed compiles a unit again at which the compiler broke down or hung, and returns what that
// is: a fault of the compiler if the same happens each time.
func (b *bisection) confirmed(ctx context.Context, unit int, e *Error) (*Error, error) {
	tries, kind := crashTries, ErrCrashed
	switch {
	case e.hung(len(b.job.Header) + len(b.job.Units[unit].Text)):
		tries, kind = hangTries, ErrHung
	case !e.broke() || strings.Contains(e.Stderr, CannotSelect): // llc aborts where it refuses
		return e, nil
	}
	if b.job.OneTry {
		tries = 1
	}
	out := *e
	for range tries - 1 {
		_, err := b.compile(ctx, b.job, []int{unit})
		var again *Error
		switch {
		case errors.Is(err, ErrCancelled):
			return nil, err
		case err != nil && !errors.As(err, &again):
			return e, nil
		case again == nil || again.breakdown() != e.breakdown():
			comes := *e
			if comes.Detail += ", but not each time"; kind == ErrCrashed {
				comes.Kind = ErrInfrastructure
			}
			return &comes, nil
		case again.At != e.At:
			out.At = ""
		}
	}
	out.Kind = kind
	if kind == ErrCrashed {
		out.Detail = fmt.Sprintf("%s, %d times of %d", e.Detail, tries, tries)
	}
	return &out, nil
}
