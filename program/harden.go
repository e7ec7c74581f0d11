package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Hardening is empirical fence insertion: Algorithm 1 of Sorensen and Donaldson (PLDI
// 2016, Sec. 5.1). It begins with a fence at each site, takes away halves as long as no
// run is wrong, then single fences, and at last looks for a longer time whether the
// program is stable; if it is not, all begins again with twice the runs. Where the
// paper's pseudo-code checks the program with F1, its text checks it without F1: that is
// what is done here.
type Hardening struct {
	// Check runs the program with fences until the limit, or the first error.
	Check func(ctx context.Context, fences []int, what string, limit Limit) (*Result, error)
	// Iterations is I, the runs of a check in the first round; Stable is how long the
	// result must do without an error.
	Iterations uint64
	Stable     Limit
	// Rounds is how often all begins again, at most.
	Rounds int
	// Told, if not nil, gets each step.
	Told func(Step)
}

// Step is a check.
type Step struct {
	Round int    `json:"round"`
	Phase string `json:"phase"` // all, halves, singles, stability
	// Fences are the sites of the program that ran, Without those that it lacks of what
	// was there before.
	Fences  []int   `json:"fences"`
	Without []int   `json:"without,omitempty"`
	Runs    uint64  `json:"runs"`
	Errors  uint64  `json:"errors"`
	Seconds float64 `json:"seconds"`
	First   string  `json:"first,omitempty"`
}

// Hardened is the result.
type Hardened struct {
	Fences []int  `json:"fences"` // sites
	Stable bool   `json:"stable"` // the last check showed no error
	Runs   uint64 `json:"iterations"`
	Rounds int    `json:"rounds"`
	// Needed are, for each fence, the runs and errors without it, of the last round.
	Needed map[int]Step `json:"needed"`
	// Seconds is the time of all checks, StableSeconds that of the last.
	Seconds       float64 `json:"seconds"`
	StableSeconds float64 `json:"stable_seconds"`
	StableRuns    uint64  `json:"stable_runs"`
}

// hardening is a run of it.
type hardening struct {
	*Hardening
	out   *Hardened
	round int
	n     int
	i     uint64
}

// Run takes fences away from sites. The error is ErrUnstable if the program is wrong
// with all of them, or if no round gives a stable set.
func (h *Hardening) Run(ctx context.Context, sites []int) (*Hardened, error) {
	r := &hardening{Hardening: h, out: &Hardened{Runs: h.Iterations}, i: h.Iterations}
	ok, s, err := r.check(ctx, "all", sites, nil, Limit{Runs: r.i, Stop: true})
	if err == nil && !ok {
		err = fmt.Errorf("%w: with a fence at each of %d sites a run was wrong (%s): fences do not help", ErrUnstable, len(sites), s.First)
	}
	for r.round = 1; err == nil; r.round++ {
		r.out.Rounds, r.out.Runs, r.out.Needed = r.round, r.i, map[int]Step{}
		fences := sites
		if fences, err = r.halves(ctx, fences); err != nil {
			break
		}
		if fences, err = r.singles(ctx, fences); err != nil {
			break
		}
		r.out.Fences = fences
		if ok, s, err = r.check(ctx, "stability", fences, nil, Limit{Runs: h.Stable.Runs, Time: h.Stable.Time, Stop: true}); err != nil {
			break
		}
		r.out.StableRuns, r.out.StableSeconds, r.out.Stable = s.Runs, s.Seconds, ok
		if ok {
			break
		}
		if r.round == h.Rounds {
			err = fmt.Errorf("%w: after %d rounds, the last with %d runs a check, a run with fences at %v was wrong (%s)", ErrUnstable,
				h.Rounds, r.i, fences, s.First)
			break
		}
		r.i *= 2
	}
	return r.out, err
}

// ErrUnstable is that a program stays wrong.
var ErrUnstable = errors.New("not hardened")

// check runs the program with fences, and reports whether no run was wrong.
func (r *hardening) check(ctx context.Context, phase string, fences, without []int, limit Limit) (bool, Step, error) {
	r.n++
	res, err := r.Check(ctx, fences, fmt.Sprintf("harden %d: %s", r.n, phase), limit)
	if err != nil {
		return false, Step{}, err
	}
	s := Step{r.round, phase, fences, without, res.Runs, res.Errors(), res.Seconds, res.First}
	r.out.Seconds += s.Seconds
	if r.Told != nil {
		r.Told(s)
	}
	return s.Errors == 0, s, nil
}

// halves is the paper's BinaryReduction.
func (r *hardening) halves(ctx context.Context, f []int) ([]int, error) {
	for len(f) > 1 {
		removed := false
		for _, half := range [][]int{f[:len(f)/2], f[len(f)/2:]} {
			rest := without(f, half)
			ok, _, err := r.check(ctx, "halves", rest, half, Limit{Runs: r.i, Stop: true})
			if err != nil {
				return nil, err
			}
			if ok {
				f, removed = rest, true
				break
			}
		}
		if !removed {
			break
		}
	}
	return f, nil
}

// singles is its LinearReduction.
func (r *hardening) singles(ctx context.Context, f []int) ([]int, error) {
	for _, one := range slices.Clone(f) {
		rest := without(f, []int{one})
		ok, s, err := r.check(ctx, "singles", rest, []int{one}, Limit{Runs: r.i, Stop: true})
		if err != nil {
			return nil, err
		}
		if ok {
			f = rest
		} else {
			r.out.Needed[one] = s
		}
	}
	return f, nil
}

func without(f, some []int) []int {
	out := []int{}
	for _, n := range f {
		if !slices.Contains(some, n) {
			out = append(out, n)
		}
	}
	return out
}

// Harden looks for the fewest full fences in an environment, of those in front of
// accesses, behind them, or both.
func (l *Lab) Harden(ctx context.Context, e *Environment, h Hardening, before, after bool) (*Hardened, error) {
	var sites []int
	for _, s := range l.Road.Sites() {
		if before {
			sites = append(sites, -s.N)
		}
		if after {
			sites = append(sites, s.N)
		}
	}
	h.Check = func(ctx context.Context, fences []int, what string, limit Limit) (*Result, error) {
		return l.Measure(ctx, e, l.full(fences), what, limit)
	}
	return h.Run(ctx, sites)
}

// full are full fences at sites.
func (l *Lab) full(sites []int) Fences {
	if len(sites) == 0 {
		return nil
	}
	f := Fences{}
	for _, n := range sites {
		f[n] = l.Road.Fence()
	}
	return f
}

// Best is the environment in which most runs are wrong, by a survey; the paper takes
// sys-str+. ok is false if no run was.
func (l *Lab) Best(ctx context.Context, each time.Duration, told func(*Result) error) (best *Environment, ok bool, err error) {
	most := 0.0
	for i := range l.Environments {
		r, err := l.Measure(ctx, &l.Environments[i], nil, "survey", Limit{Time: each})
		if err == nil {
			err = told(r)
		}
		if err != nil {
			return nil, false, err
		}
		if r.Low > most || best == nil {
			best, most = &l.Environments[i], r.Low
		}
		ok = ok || r.Errors() > 0
	}
	return best, ok, nil
}
