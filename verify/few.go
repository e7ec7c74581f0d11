package verify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"optcheck/litmus"
)

// Few threads are enough for most races. What some threads do while the others have not begun is the beginning of an execution of all:
// those that come later order nothing that is over. Threads that wait for each other at a barrier of their block are taken together.

const (
	// maxFew bounds the threads, or blocks, that are looked at alone, maxTries how often.
	maxFew   = 3
	maxTries = 12
	// fewTime is what part of the time for all threads is for a few.
	fewTime = 8
)

// few looks for a race among few threads of a test; what it finds is an answer for all.
func (x *Exhaustive) few(ctx context.Context, t *litmus.Test, limit time.Duration) (bool, error) {
	seen := map[string]bool{}
	for n := 2; n <= maxFew; n++ {
		for _, list := range parties(t, n) {
			some, like := among(t, list)
			if len(some.Threads) == len(t.Threads) || seen[like] || len(seen) == maxTries {
				continue
			}
			seen[like] = true
			y := *x
			if err := y.judge(ctx, some, limit/fewTime); err != nil {
				return false, err
			}
			if y.Answer == AnswerRace || y.Answer == AnswerMixed {
				*x = y
				x.Note = fmt.Sprintf("by %d of the %d threads: the others may come later", len(some.Threads), len(t.Threads))
				return true, nil
			}
		}
	}
	return false, nil
}

// parties are the ways to take n threads of a test, or n blocks if threads meet at barriers: those with the lowest numbers first.
func parties(t *litmus.Test, n int) (out [][]int) {
	meet := slices.ContainsFunc(t.Threads, func(th litmus.Thread) bool {
		return slices.ContainsFunc(th.Body, func(in litmus.Instr) bool { return in.Op == litmus.OpBar })
	})
	var groups [][]int
	for i, th := range t.Threads {
		if k := len(groups) - 1; meet && k >= 0 && t.Threads[groups[k][0]].Place == th.Place {
			groups[k] = append(groups[k], i)
		} else {
			groups = append(groups, []int{i})
		}
	}
	var add func(from int, list []int, left int)
	add = func(from int, list []int, left int) {
		if left == 0 {
			out = append(out, list)
			return
		}
		for i := from; i+left <= len(groups); i++ {
			add(i+1, slices.Concat(list, groups[i]), left-1)
		}
	}
	add(0, nil, n)
	return out
}

// among is a test of some threads, and what tells it from others of threads that do the same.
func among(t *litmus.Test, list []int) (some *litmus.Test, like string) {
	out := *t
	out.Threads = nil
	for _, i := range list {
		th := t.Threads[i]
		th.ID = len(out.Threads)
		out.Threads = append(out.Threads, th)
		like += fmt.Sprint(th.Body, slices.IndexFunc(out.Threads, func(o litmus.Thread) bool { return o.Place == th.Place }), ";")
	}
	return &out, like
}
