package model

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/model/cat"
	"optcheck/model/exec"
	"optcheck/model/rel"
)

// Execution is a candidate execution as data, for pictures and explanations.
type Execution struct {
	Test    *litmus.Test
	Events  []ExecEvent
	Edges   []ExecEdge
	Allowed bool
	// Check is the name of the violated check of a forbidden execution.
	Check string
	State []int64 // of the test's terms
}

// ExecEvent is an event.
type ExecEvent struct {
	Name   string // a, b, …; initial writes have their location's: ix
	Thread int    // -1 for initial writes
	Text   string // "W x=1"
	Instr  string // the instruction, "" for initial writes
	Row    int    // number in its thread's program order
}

// ExecEdge is a pair of a base relation.
type ExecEdge struct {
	From, To int
	Rel      string
	// Step is the place of the edge in the violated cycle, counted from 1; 0
	// if it is not part of it.
	Step int
}

// eventName counts a, b, …, z, a1, b1, …
func eventName(i int) string {
	s := string(rune('a' + i%26))
	if i >= 26 {
		s += fmt.Sprint(i / 26)
	}
	return s
}

// Add appends an event of a thread, the next in its program order, and returns its number.
func (x *Execution) Add(thread int, text, instr string) int {
	row := 0
	for i := range x.Events {
		if x.Events[i].Thread == thread {
			row++
		}
	}
	x.Events = append(x.Events, ExecEvent{Name: eventName(len(x.Events)), Thread: thread, Text: text, Instr: instr, Row: row})
	return len(x.Events) - 1
}

type drawnRel struct {
	name string
	thin bool // leave out what is transitive
}

// snapshot copies what a picture needs of a candidate.
func snapshot(c *exec.Candidate, check string, steps []cat.Edge) *Execution {
	x := &Execution{Test: c.Program.Test, Allowed: c.Failed < 0, Check: check, State: slices.Clone(c.State)}
	rows := map[int16]int{}
	named := 0
	for e := range c.Events {
		ev := &c.Events[e]
		out := ExecEvent{Thread: int(ev.Thread), Row: rows[ev.Thread]}
		rows[ev.Thread]++
		var loc string
		if ev.Loc >= 0 {
			loc = c.Program.CellName(int(ev.Loc))
		}
		if ev.Thread < 0 {
			out.Name = "i" + loc
		} else {
			out.Name = eventName(named)
			named++
			out.Instr = x.Test.Threads[ev.Thread].Body[ev.Instr].String()
		}
		switch ev.Kind {
		case exec.Write:
			out.Text = fmt.Sprintf("W %s=%d", loc, c.Value(e))
		case exec.Read:
			out.Text = fmt.Sprintf("R %s=%d", loc, c.Value(e))
		case exec.Fence:
			out.Text = "fence"
		case exec.Barrier:
			out.Text = "barrier"
		}
		x.Events = append(x.Events, out)
	}
	x.edges(c.Execution(), steps)
	return x
}

// drawn lists the relations that a picture shows, each without the pairs that follow from
// others.
var drawn = []drawnRel{{"po", true}, {"rf", false}, {"co", true}, {"fr", false}, {"rmw", false}, {"addr", false},
	{"data", false}, {"ctrl", false}, {"sync_fence", true}, {"syncbar", false}, {"race", false}}

func (x *Execution) edges(ex *cat.Execution, steps []cat.Edge) {
	add := func(from, to int, name string, step int) {
		for i := range x.Edges {
			if e := &x.Edges[i]; e.From == from && e.To == to && e.Rel == name {
				e.Step = max(e.Step, step)
				return
			}
		}
		x.Edges = append(x.Edges, ExecEdge{from, to, name, step})
	}
	for i, s := range steps {
		if s.Inverse {
			s.From, s.To = s.To, s.From
		}
		add(s.From, s.To, s.Rel, i+1)
	}
	for _, d := range drawn {
		r := ex.Rels[d.name]
		if r == nil {
			continue
		}
		if d.thin {
			r = reduced(r)
		}
		r.Each(func(i, j int) bool {
			if x.interesting(ex, d.name, i, j) {
				add(i, j, d.name, 0)
			}
			return true
		})
	}
}

// interesting reports whether a pair is worth drawing. Initial writes being first, and fr
// beyond the next write, only clutter.
func (x *Execution) interesting(ex *cat.Execution, name string, i, j int) bool {
	switch name {
	case "co":
		return x.Events[i].Thread >= 0
	case "fr":
		co := ex.Rels["co"]
		for k := range x.Events {
			if ex.Rels["fr"].Has(i, k) && co.Has(k, j) {
				return false
			}
		}
	}
	return true
}

// reduced removes pairs that follow by transitivity.
func reduced(r rel.Rel) rel.Rel {
	twice, out := rel.NewRel(r.N()), rel.NewRel(r.N())
	rel.Seq(twice, r, r)
	rel.Diff(out, r, twice)
	return out
}

// used reports whether an initial write takes part in any drawn edge.
func (x *Execution) used(e int) bool {
	if x.Events[e].Thread >= 0 {
		return true
	}
	return slices.ContainsFunc(x.Edges, func(d ExecEdge) bool { return d.From == e || d.To == e })
}

// Legend describes the events of a cycle in its order: "a: T0 W x=1 (st.cg.s32 [x],1)".
func (x *Execution) Legend(steps []cat.Edge) (out []string) {
	seen := map[int]bool{}
	for _, s := range steps {
		for _, i := range []int{s.From, s.To} {
			if seen[i] {
				continue
			}
			seen[i] = true
			e := x.Events[i]
			if e.Thread < 0 {
				out = append(out, e.Name+": the initial value, "+e.Text)
				continue
			}
			out = append(out, fmt.Sprintf("%s: T%d %s (%s)", e.Name, e.Thread, e.Text, e.Instr))
		}
	}
	return out
}

// Cycle returns the violated cycle in words: "a -rf-> b -po-> c -fr-> a".
func (x *Execution) Cycle(steps []cat.Edge) string {
	var b strings.Builder
	at := -1
	for _, s := range steps {
		if s.From != at {
			if at >= 0 {
				b.WriteString(", ")
			}
			b.WriteString(x.Events[s.From].Name)
		}
		arrow := "-" + s.Rel + "->"
		if s.Inverse {
			arrow = "<-" + s.Rel + "-"
		}
		fmt.Fprintf(&b, " %s %s", arrow, x.Events[s.To].Name)
		at = s.To
	}
	return b.String()
}
