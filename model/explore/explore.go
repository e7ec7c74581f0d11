// Package explore visits all runs of an operational model: its states, the moves possible in
// them, and the final states, each with a schedule that leads there.
//
// It is for machines whose runs are finite: every move makes progress. It knows nothing about
// memory, threads or tests; packages amdhw and machine model memory systems. A bound that is
// reached is an error, never an answer.
package explore

import (
	"context"
	"crypto/sha256"
	"errors"
)

// Step is one event in a schedule.
type Step struct {
	Thread int // whose it is; -1: the memory system's
	Text   string
}

// Machine is an operational model that runs one program. S is a state; the machine never
// changes a state once it has returned it.
//
// Partial-order reduction is the machine's job: Moves may omit moves that some move which it
// yields neither disables nor affects, and a state may be one in which all moves that commute
// with everything have been made.
//
// So is symmetry: states that are images of each other under an exchange of equal threads may
// share a key. Only one of them is visited, and whoever looks at its final state must also
// consider the images.
type Machine[S any] interface {
	// Start returns the state in which a run begins.
	Start() (S, error)
	// Key identifies a state by everything that determines its future and its outcome.
	Key(s S) string
	// Moves calls yield for each possible next move, with a function that describes it (nil if
	// there is nothing to describe). It returns the first error, its own or that of yield.
	Moves(s S, yield func(next S, step func() Step) error) error
}

// ErrLimit is the error of Run if there are more states than it may visit.
var ErrLimit = errors.New("too many states")

// ErrStop, returned from end, makes Run stop without an error.
var ErrStop = errors.New("stop")

// Run calls end for every state without further moves, once for each key, with the schedule
// that led there. It visits at most max states; one more is ErrLimit. visited is the number of
// states visited.
func Run[S any](ctx context.Context, m Machine[S], max int, end func(s S, schedule func() []Step) error) (visited int, err error) {
	e := &explorer[S]{m: m, ctx: ctx, max: max, end: end, seen: map[digest]struct{}{}}
	s, err := m.Start()
	if err == nil {
		err = e.from(s)
	}
	if errors.Is(err, ErrStop) {
		err = nil
	}
	return len(e.seen), err
}

// digest stands for a key: 128 bits of its SHA-256, so that millions of states need little
// memory. The chance that two of a million states share a digest is one in 10^26.
type digest [16]byte

type explorer[S any] struct {
	m     Machine[S]
	ctx   context.Context
	max   int
	end   func(S, func() []Step) error
	seen  map[digest]struct{}
	trail []func() Step
}

func (e *explorer[S]) from(s S) error {
	sum := sha256.Sum256([]byte(e.m.Key(s)))
	k := digest(sum[:16])
	if _, ok := e.seen[k]; ok {
		return nil
	}
	if len(e.seen) >= e.max {
		return ErrLimit
	}
	if len(e.seen)%1024 == 0 && e.ctx.Err() != nil {
		return context.Cause(e.ctx)
	}
	e.seen[k] = struct{}{}
	moved := false
	err := e.m.Moves(s, func(next S, step func() Step) error {
		moved = true
		e.trail = append(e.trail, step)
		err := e.from(next)
		e.trail = e.trail[:len(e.trail)-1]
		return err
	})
	if err != nil || moved {
		return err
	}
	return e.end(s, e.schedule)
}

// schedule returns the steps so far.
func (e *explorer[S]) schedule() []Step {
	var out []Step
	for _, f := range e.trail {
		if f != nil {
			out = append(out, f())
		}
	}
	return out
}
