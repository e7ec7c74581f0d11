package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"optcheck/emu"
	"optcheck/litmus"
	"optcheck/model"
	"optcheck/ptx"
	"optcheck/ptx/lower"
	"optcheck/refine"
)

// Exhaustive is what all executions of a small launch show.
type Exhaustive struct {
	File   string `json:"file,omitempty"`
	Kernel string `json:"kernel"`
	Grid   [3]int `json:"grid"`
	Block  [3]int `json:"block"`
	// Threads are those that do something with memory that others see.
	Threads int `json:"threads"`
	// Answer is race-free, data-race, mixed-size or unknown; Why says why it is unknown.
	Answer string `json:"answer"`
	Why    string `json:"why,omitempty"`
	Note   string `json:"note,omitempty"`
	// Execution is an execution with a race, as text; Test the litmus test that the launch is for the model.
	Execution string   `json:"execution,omitempty"`
	Test      string   `json:"test,omitempty"`
	Chose     []string `json:"chosen,omitempty"`
}

// The answers.
const (
	AnswerFree    = "race-free"
	AnswerRace    = "data-race"
	AnswerMixed   = "mixed-size"
	AnswerUnknown = "unknown"
)

// maxActors bounds the threads of a launch of which all executions are looked at.
const maxActors = 16

// All looks at all executions of a launch that model ptx allows, whatever the schedule and whatever a load may read; loops at
// most 16 times, but for those that only wait. limit bounds the time of each judgement. The parameters that were not given,
// have values of the seed; memory that was not given is zero.
func All(ctx context.Context, m *ptx.Module, kernel string, o *Options, limit time.Duration) (*Exhaustive, error) {
	p, err := lower.Kernel(m, kernel)
	if err != nil {
		return nil, err
	}
	if err := o.Launch.cluster(p); err != nil {
		return nil, err
	}
	if c := p.Cluster; c[0]*c[1]*c[2] > 1 {
		return nil, fmt.Errorf("clusters of several blocks are not verified yet")
	}
	set := *o
	if set.Launch.Block == ([3]int{}) {
		set.Launch.Grid, set.Launch.Block = [3]int{2, 1, 1}, [3]int{1, 1, 1}
	}
	in, _, err := set.input(p, o.Seed, choice{})
	if err != nil {
		return nil, err
	}
	x := &Exhaustive{Kernel: kernel, Grid: in.Grid, Block: in.Block, Chose: o.chosen(p)}
	g, err := refine.Grid(p, in, emu.Policy{}, false)
	if err != nil {
		return nil, err
	}
	g.Memory.First = func(emu.Word, emu.Kind) uint32 { return 0 }
	var actors []Actor
	for block := range g.Launch.Blocks() {
		for thread := range g.Launch.Threads() {
			if len(actors) == maxActors {
				x.Answer, x.Why = AnswerUnknown, fmt.Sprintf("more than %d threads", maxActors)
				return x, nil
			}
			actors = append(actors, Actor{Program: p, Params: in.Params, Vars: in.Vars, Grid: in.Grid, Block: in.Block, CTA: block, Thread: thread,
				Place: litmus.Place{Cluster: block}})
		}
	}
	t, err := Translate(actors, func(addr uint64, n int) int64 { return int64(emu.Number(g.Memory.Bytes(addr, n))) }, false)
	if err != nil {
		x.Answer, x.Why = AnswerUnknown, err.Error()
		return x, nil
	}
	t = withoutIdle(t)
	x.Threads, x.Test = len(t.Threads), t.String()
	if found, err := x.few(ctx, t, limit); found || err != nil {
		return x, err
	}
	return x, x.judge(ctx, t, limit)
}

// wholeModel allows the executions with a race, where a read-modify-write is one operation: what is ordered with its write is
// ordered with it.
var wholeModel = sync.OnceValues(func() (*model.Model, error) {
	return model.Parse("ptx-race-whole", "ptx-race-whole.cat", `PTX "ptx-race-whole"
include "ptx-race.cat"
~empty race \ (rmw ; causality) \ ((rmw ; causality)^-1) as race-of-whole-operations
`)
})

// withoutIdle leaves out the threads that do nothing with memory.
func withoutIdle(t *litmus.Test) *litmus.Test {
	acts := func(th litmus.Thread) bool {
		return slices.ContainsFunc(th.Body, func(in litmus.Instr) bool { return in.Op.IsAccess() || in.Op == litmus.OpBar })
	}
	out := *t
	out.Threads = nil
	for _, th := range t.Threads {
		if acts(th) {
			th.ID = len(out.Threads)
			out.Threads = append(out.Threads, th)
		}
	}
	return &out
}

func (x *Exhaustive) judge(ctx context.Context, t *litmus.Test, limit time.Duration) error {
	if len(t.Threads) < 2 {
		x.Answer = AnswerFree
		return nil
	}
	o := model.Options{Timeout: limit}
	race, err := model.PTXRace(ctx, t, o)
	switch {
	case errors.Is(err, model.ErrUndecided):
		x.Answer, x.Why = AnswerUnknown, err.Error()
		return nil
	case err != nil:
		return err
	case race == model.RaceNone:
		x.Answer = AnswerFree
		return nil
	case race == model.RaceMixed:
		x.Answer = AnswerMixed
	default:
		x.Answer = AnswerRace
	}
	m, err := wholeModel()
	if err != nil {
		return err
	}
	o.First, o.Blocked, o.Unroll, o.Races = true, model.BlockedCounted, 4, true
	why, err := m.Explain(ctx, t, o)
	switch {
	case err != nil:
		return err
	case len(why.Verdict.States) > 0 && why.Execution != nil:
	case why.Verdict.Undecided != "" || why.Verdict.Cut:
		x.Answer, x.Why = AnswerUnknown, "the read of a read-modify-write races by itself; whether the whole operation does is undecided"
		return nil
	default:
		x.Answer, x.Note = AnswerFree, "taken as an operation of its own, the read of a read-modify-write would race"
		return nil
	}
	var b strings.Builder
	if err := why.WriteText(&b); err != nil {
		return err
	}
	_, x.Execution, _ = strings.Cut(b.String(), "\n")
	return nil
}

// Text is for people.
func (x *Exhaustive) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, grid %d,%d,%d, block %d,%d,%d, all executions: ", x.File, x.Kernel, x.Grid[0], x.Grid[1], x.Grid[2], x.Block[0], x.Block[1], x.Block[2])
	switch x.Answer {
	case AnswerFree:
		fmt.Fprintf(&b, "no race in any execution of this launch, loops at most 16 times\n")
	case AnswerUnknown:
		fmt.Fprintf(&b, "unknown: %s\n", x.Why)
	default:
		fmt.Fprintf(&b, "%s, for example in this execution\n%s", x.Answer, x.Execution)
	}
	if x.Note != "" {
		fmt.Fprintf(&b, "  %s\n", x.Note)
	}
	if len(x.Chose) > 0 {
		fmt.Fprintf(&b, "  chosen: %s\n", strings.Join(x.Chose, ", "))
	}
	return b.String()
}
