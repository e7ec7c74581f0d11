package model

import (
	"context"
	"fmt"
	"sync"

	"optcheck/litmus"
)

// AsyncModel is the version of the vendor's model with accesses of several sizes, BytesModel
// its reading in which such accesses synchronise with each other.
const (
	AsyncModel = "ptx-async"
	BytesModel = "ptx-bytes"
)

// RaceModel is the built-in model that allows only executions with a data race.
const RaceModel = "ptx-race"

var raceInfo = Info{RaceModel, "the executions of ptx that have a data race", "PTX ISA 8.6 and later, Data-Race-Freedom", "as ptx"}

var (
	raceModel  = sync.OnceValues(func() (*Model, error) { return Load(RaceModel) })
	asyncRaces = sync.OnceValues(func() (*Model, error) { return races("~empty race as data-race") })
	mixedModel = sync.OnceValues(func() (*Model, error) { return races("~empty race \\ same-range as mixed-size-race") })
	cacheModel = sync.OnceValues(func() (*Model, error) { return races("~empty race & ((TEX * _) | (_ * TEX)) as non-coherent-race") })
)

// senseless are the races that take a test its meaning, with what asks for them and the tests that may have them.
var senseless = []struct {
	race  Race
	name  string
	why   string
	may   func(*litmus.Test) bool
	model func() (*Model, error)
}{
	{RaceMixed, "mixed-size-race", "a data race of accesses of different sizes, to which the axioms do not apply", (*litmus.Test).Mixed, mixedModel},
	{RaceCache, "non-coherent-race", "a load through a cache that is not coherent (.nc) of what is written meanwhile", (*litmus.Test).NonCoherent, cacheModel},
}

// races is the model of those executions of ptx-async that have such a race.
func races(check string) (*Model, error) {
	return Parse("ptx-async-race", "ptx-async-race.cat", "PTX \"ptx-async-race\"\ninclude \"ptx-async-race.cat\"\n"+check+"\n")
}

// Vendor names the version of the vendor's model that has all that a test uses: ptx, or
// ptx-async, which has accesses that overlap in part.
func Vendor(t *litmus.Test) string {
	if t.Mixed() || t.Parted() || t.Extended() {
		return AsyncModel
	}
	return "ptx"
}

// Race is what the PTX memory model says about the data races of a test.
type Race uint8

// The answers.
const (
	// RaceNone: no consistent execution has a data race.
	RaceNone Race = iota
	// RaceUniform: some has one, between operations that overlap completely. PTX
	// gives them a meaning.
	RaceUniform
	// RaceMixed: some has one between operations of different sizes, to which the
	// axioms do not apply (PTX ISA, Limitations on Mixed-size Data-races).
	RaceMixed
	// RaceCache: some has one of a load through a cache that is not coherent, whose data nobody may write (PTX ISA, ld.global.nc).
	RaceCache
)

// maxUnroll bounds the iterations of loops that do more than wait.
const maxUnroll = 16

// PTXRace returns whether a test has a data race in the PTX memory model: two overlapping
// operations of an execution, at least one of them a write, that causality order relates in
// neither direction and that are not morally strong. Executions in which a thread waits at a
// barrier forever count, too.
//
// The error wraps ErrUndecided if a limit was reached, or if a loop that does more than wait
// for a value may run more than 16 iterations: the answer is "race-free" only if all executions
// were examined, except those that differ from an examined one only in how often a thread
// polled in vain. The limits in o hold for each of at most five judgements; its other fields
// are ignored.
func PTXRace(ctx context.Context, t *litmus.Test, o Options) (Race, error) {
	ask := raceModel
	if Vendor(t) == AsyncModel {
		ask = asyncRaces
	}
	m, err := ask()
	if err != nil {
		return RaceNone, err
	}
	t = t.Clone()
	t.Cond, t.Observed = litmus.Cond{Quant: litmus.Exists, Expr: litmus.True{}}, nil // no outcome is asked for
	o.StatesOnly, o.First, o.Blocked, o.Co, o.Races = true, true, BlockedCounted, CoDefault, true
	for o.Unroll = 2; ; o.Unroll *= 2 {
		v, err := m.Judge(ctx, t, o)
		switch {
		case err != nil && o.Unroll > 2:
			return RaceNone, fmt.Errorf("test %s: %w: a loop may go round more often than %d times: %w", t.Name, ErrUndecided, o.Unroll/2, err)
		case err != nil:
			return RaceNone, err
		case len(v.States) > 0:
			return raced(ctx, t, o)
		case v.Undecided != "":
			return RaceNone, fmt.Errorf("test %s: %w: %s", t.Name, ErrUndecided, v.Undecided)
		case !v.Cut:
			return RaceNone, nil
		case o.Unroll >= maxUnroll:
			return RaceNone, fmt.Errorf("test %s: %w: a loop may go round more often than %d times", t.Name, ErrUndecided, maxUnroll)
		}
	}
}

// has reports whether a test has a race that a model allows.
func has(ctx context.Context, t *litmus.Test, races func() (*Model, error), o Options) (bool, error) {
	m, err := races()
	if err != nil {
		return false, err
	}
	t = t.Clone()
	t.Cond, t.Observed = litmus.Cond{Quant: litmus.Exists, Expr: litmus.True{}}, nil
	o.StatesOnly, o.First, o.Blocked, o.Co, o.Races = true, true, BlockedCounted, CoDefault, true
	v, err := m.Judge(ctx, t, o)
	switch {
	case err != nil:
		return false, err
	case len(v.States) == 0 && v.Undecided != "":
		return false, fmt.Errorf("test %s: %w: %s", t.Name, ErrUndecided, v.Undecided)
	}
	return len(v.States) > 0, nil
}

// raced returns the kind of race that a test has.
func raced(ctx context.Context, t *litmus.Test, o Options) (Race, error) {
	for i := range senseless {
		x := &senseless[i]
		if !x.may(t) {
			continue
		}
		if yes, err := has(ctx, t, x.model, o); yes || err != nil {
			return map[bool]Race{true: x.race, false: RaceUniform}[yes], err
		}
	}
	return RaceUniform, nil
}
