package model

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"optcheck/litmus"
	"optcheck/model/cat"
	"optcheck/model/exec"
	"optcheck/model/rel"
)

// Explanation says why a test's proposition can or cannot hold.
type Explanation struct {
	Verdict *Verdict
	// Execution satisfies the proposition: an allowed one if there is one, else the forbidden
	// one that passes most of the model's checks and has a short reason; nil if no candidate
	// satisfies it under any model.
	Execution *Execution
	Steps     []cat.Edge // the violated cycle, as edges of base relations
	// Violations counts, by check, the candidates that satisfy the
	// proposition and fail that check first.
	Violations map[string]int
	// Schedule is how a machine reaches the outcome, nil if it does not or if the model is
	// axiomatic; Machine is set for machines.
	Schedule []Step
	Machine  bool
}

// maxShown bounds the number of forbidden candidates that are searched for the shortest reason.
const maxShown = 5000

// Explain judges a test and finds an execution that shows why its proposition
// (the condition without its quantifier) can or cannot hold.
func (m *Model) Explain(ctx context.Context, t *litmus.Test, o Options) (*Explanation, error) {
	ctx, cancel := o.limited(ctx)
	defer cancel()
	o.Timeout = -1
	v, err := m.Judge(ctx, t, o)
	if err != nil {
		return nil, err
	}
	p, err := exec.Compile(t)
	if err != nil {
		return nil, err
	}
	x := &Explanation{Verdict: v, Violations: map[string]int{}}
	if err := m.explain(ctx, x, p, o); err != nil {
		return nil, err
	}
	return x, nil
}

func (a *axioms) explain(ctx context.Context, x *Explanation, p *exec.Program, o Options) error {
	v, t := x.Verdict, p.Test
	best, last, seen := 0, -1, 0
	var inner error
	visit := func(c *exec.Candidate) bool {
		if !Satisfies(t, v.Terms, c.State) {
			return true
		}
		if c.Failed < 0 {
			x.Execution, x.Steps = snapshot(c, "", nil), nil
			return false
		}
		if v.Positive > 0 {
			return true // an allowed one will come
		}
		check, steps, err := c.Explain()
		if err != nil {
			inner = err
			return false
		}
		x.Violations[check]++
		steps = concrete(steps, c.Execution())
		// The candidate that passes most checks is the most informative: the others fail for
		// reasons unrelated to the question.
		if k := rank(steps); x.Execution == nil || c.Failed > last || c.Failed == last && k < best {
			best, last = k, c.Failed
			x.Execution, x.Steps = snapshot(c, check, steps), steps
		}
		seen++
		return seen < maxShown
	}
	for _, all := range []bool{false, true} {
		r, err := a.with(o).Run(ctx, p, exec.Options{Unroll: o.Unroll, MaxCandidates: o.MaxCandidates, Visit: visit,
			AllOrders: all, Blocked: o.Blocked, Races: o.Races})
		switch {
		case err != nil:
			return err
		case inner != nil:
			return inner
		case x.Execution != nil:
			return nil
		case r.Undecided != "":
			return fmt.Errorf("test %s: %w: %s", t.Name, ErrUndecided, r.Undecided)
		}
	}
	return nil
}

// rank orders reasons: closed cycles before open paths, short ones before long ones.
func rank(steps []cat.Edge) int {
	if len(steps) == 0 {
		return 1 << 20
	}
	if steps[0].From == steps[len(steps)-1].To {
		return len(steps)
	}
	return 1000 + len(steps)
}

// concrete replaces steps through uninformative relations (same scope, same address) by paths
// through program order and communication.
func concrete(steps []cat.Edge, ex *cat.Execution) []cat.Edge {
	if len(steps) == 1 && steps[0].Rel == "rmw" {
		for a, b, k := steps[0].From, steps[0].To, 0; k < ex.N; k++ {
			if ex.Rels["fr"].Has(a, k) && ex.Rels["co"].Has(k, b) {
				return []cat.Edge{{From: a, To: k, Rel: "fr"}, {From: k, To: b, Rel: "co"}, steps[0]}
			}
		}
	}
	var out []cat.Edge
	for _, s := range steps {
		known := slices.ContainsFunc(drawn, func(d drawnRel) bool { return d.name == s.Rel })
		if p := basePath(ex, s.From, s.To, "po", "rf", "rmw", "syncbar", "sync_fence"); !known && p != nil {
			out = append(out, p...)
			continue
		}
		out = append(out, s)
	}
	return out
}

// basePath returns a shortest path through the named relations, nil if there is
// none.
func basePath(ex *cat.Execution, from, to int, names ...string) []cat.Edge {
	all := rel.NewRel(ex.N)
	for _, n := range names {
		rel.Union(all, all, ex.Rels[n])
	}
	path := rel.Path(all, from, to)
	var out []cat.Edge
	for i := 1; i < len(path); i++ {
		for _, n := range names {
			if ex.Rels[n].Has(path[i-1], path[i]) {
				out = append(out, cat.Edge{From: path[i-1], To: path[i], Rel: n})
				break
			}
		}
	}
	return out
}

// WriteText writes the explanation for people.
func (x *Explanation) WriteText(w io.Writer) error {
	var b strings.Builder
	v, t := x.Verdict, x.Verdict.Test
	prop := conditionOf(t)
	if _, rest, ok := strings.Cut(prop, " "); ok {
		prop = rest
	}
	switch {
	case x.Machine:
		x.schedule(&b, prop)
	case x.Execution == nil:
		fmt.Fprintf(&b, "%s: no execution ends in %s, whatever the model: the values do not fit together.\n", t.Name, prop)
	case x.Execution.Allowed:
		fmt.Fprintf(&b, "%s: %s allows %s, for example so:\n", t.Name, v.Model, prop)
	default:
		fmt.Fprintf(&b, "%s: %s forbids %s: check %s is violated.\n", t.Name, v.Model, prop, x.Execution.Check)
		if c := x.Execution.Cycle(x.Steps); c != "" {
			fmt.Fprintf(&b, "  %s\n", c)
		}
		b.WriteString(x.others())
	}
	if x.Execution != nil {
		x.Execution.list(&b)
	}
	if v.Undecided != "" {
		fmt.Fprintf(&b, "The verdict is undecided: %s.\n", v.Undecided)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// others lists the checks that forbid the other candidates with that outcome.
func (x *Explanation) others() string {
	var names []string
	total := 0
	for n, k := range x.Violations {
		names = append(names, n)
		total += k
	}
	if total < 2 {
		return ""
	}
	sort.Strings(names)
	var parts []string
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%s %d", n, x.Violations[n]))
	}
	more := ""
	if total >= maxShown {
		more = " or more"
	}
	return fmt.Sprintf("  (%d%s candidate executions end so; forbidden first by: %s)\n", total, more, strings.Join(parts, ", "))
}

// Text lists the events by thread and the edges, a line each.
func (x *Execution) Text() string {
	var b strings.Builder
	x.list(&b)
	return b.String()
}

// list prints the events by thread and the edges.
func (x *Execution) list(b *strings.Builder) {
	for e := range x.Events {
		if ev := &x.Events[e]; ev.Thread < 0 && x.used(e) {
			fmt.Fprintf(b, "  init  %-4s %s\n", ev.Name, ev.Text)
		}
	}
	for i := range x.Test.Threads {
		for _, ev := range x.Events {
			if ev.Thread == i {
				fmt.Fprintf(b, "  %-5s %-4s %-10s %s\n", x.Test.Threads[i].Name, ev.Name, ev.Text, ev.Instr)
			}
		}
	}
	for _, d := range drawn {
		var parts []string
		for _, e := range x.Edges {
			if e.Rel == d.name && d.name != "po" {
				parts = append(parts, x.Events[e.From].Name+"→"+x.Events[e.To].Name)
			}
		}
		if len(parts) > 0 {
			fmt.Fprintf(b, "  %s: %s\n", d.name, strings.Join(parts, " "))
		}
	}
}
