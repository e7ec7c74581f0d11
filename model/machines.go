package model

import (
	"context"
	"fmt"
	"hash"
	"io"
	"strings"

	"optcheck/model/exec"
	"optcheck/model/explore"
	"optcheck/model/machine"
)

// Step is one thing that happens in a machine's schedule.
type Step = explore.Step

// ErrOutside is wrapped by errors for tests with features that the model does not cover.
var ErrOutside = machine.ErrOutside

// machines are the built-in operational models.
var machines = map[string]*machine.Model{
	"ugpu":            machine.UGPU(),
	"ugpu-coherent":   coherent(),
	"ptx-2015-op":     machine.Levels("ptx-2015-op", false),
	"ptx-op":          machine.Settling("ptx-op"),
	"ptx-async-op":    machine.Asynchronous("ptx-async-op"),
	"ptx-2015-rmw-op": machine.Levels("ptx-2015-rmw-op", true),
}

// coherent is UGPU without the load array, which its authors propose for GPUs that
// keep the loads of an address in order.
func coherent() *machine.Model {
	m, err := machine.UGPU().Without("load-array")
	if err != nil {
		panic(err) // the rule exists
	}
	m.Name = "ugpu-coherent"
	return m
}

// rules lists the rules of an operational model.
func rules(m *machine.Model) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: an operational model\n", m.Name)
	for _, r := range m.InForce() {
		fmt.Fprintf(&b, "\n%s: %s.\n    (%s)\n", r.Name, r.Text, r.Source)
	}
	return b.String()
}

// runs is an operational model.
type runs struct{ m *machine.Model }

func (r *runs) hash(h hash.Hash) { io.WriteString(h, rules(r.m)) }

func (r *runs) run(ctx context.Context, p *exec.Program, o Options) (*exec.Result, error) {
	if o.Co != CoDefault {
		return nil, fmt.Errorf("%s is a machine: its stores have the order that it gives them; leave the coherence option out", r.m.Name)
	}
	return r.m.Run(ctx, p, r.options(o))
}

// options returns the options of a machine: its states correspond to candidates.
func (r *runs) options(o Options) machine.Options {
	out := machine.Options{Unroll: o.Unroll}
	if o.MaxCandidates > 0 && o.MaxCandidates < machine.DefaultStates {
		out.MaxStates = int(o.MaxCandidates)
	}
	return out
}

// explain finds a schedule that leads to the outcome.
func (r *runs) explain(ctx context.Context, x *Explanation, p *exec.Program, o Options) error {
	x.Machine = true
	if x.Verdict.Positive == 0 {
		return nil
	}
	mo := r.options(o)
	mo.End = func(values []int64, schedule func() []Step) bool {
		if Satisfies(p.Test, x.Verdict.Terms, values) {
			x.Schedule = schedule()
		}
		return x.Schedule == nil
	}
	_, err := r.m.Run(ctx, p, mo)
	return err
}

// schedule describes how a machine reaches an outcome, or that it does not.
func (x *Explanation) schedule(b *strings.Builder, prop string) {
	v, t := x.Verdict, x.Verdict.Test
	if x.Schedule == nil {
		fmt.Fprintf(b, "%s: %s forbids %s: none of its runs ends so (%d states).\n", t.Name, v.Model, prop, v.Candidates)
		return
	}
	fmt.Fprintf(b, "%s: %s allows %s, for example so:\n", t.Name, v.Model, prop)
	for i, s := range x.Schedule {
		fmt.Fprintf(b, "  %2d. %-6s %s\n", i+1, x.who(s), s.Text)
	}
}

// who returns the name of whoever performs a step.
func (x *Explanation) who(s Step) string {
	if s.Thread < 0 {
		return "memory"
	}
	return x.Verdict.Test.Threads[s.Thread].Name
}
