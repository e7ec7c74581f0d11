// Package machine contains operational models of GPU memory: abstract machines that run a
// litmus test step by step. Package explore explores what they can do.
//
// There are three. UGPU is the machine of Sorensen and others (ICS 2013). Levels and
// Asynchronous are equivalent to the axioms ptx-2015 and ptx-async, but formulated
// differently and sharing no code with them: each is the other's second opinion. Settling
// is Asynchronous with the rules that the axioms ptx have.
//
// A machine gets one path through each thread's code, as package exec unfolds it, and gives up
// a run as soon as a value contradicts that path. Registers, arithmetic and addresses are thus
// exec's; what memory does is the machine's alone.
package machine

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/model/exec"
	"optcheck/model/explore"
)

// ErrOutside is wrapped by errors for tests with features that a model does not cover.
var ErrOutside = errors.New("outside the model")

// Rule is a move of a model, or a guard of one.
type Rule struct {
	Name   string
	Text   string
	Source string
}

// Model is an operational model.
type Model struct {
	Name  string
	Rules []Rule
	// numbers are the machine's numbers of Rules; nil if they are those of the list.
	numbers []int
	// without is the set of disabled rules, by the machine's numbers; mutant tells that Without was called.
	without uint64
	mutant  bool
	// plain disables everything that makes the state space smaller.
	plain bool
	// divided tells that locations are divided into cells, and that there are asynchronous operations.
	divided bool
	// accepts says why an event is outside the model, nil if it is not.
	accepts func(p *Program, e *Event) error
	// run visits the runs of a program and calls end for each final state.
	run func(ctx context.Context, m *Model, p *Program, max int, end func(end) error) (int, error)
}

// Without returns the model without one of its rules.
func (m *Model) Without(rule string) (*Model, error) {
	i := slices.IndexFunc(m.Rules, func(r Rule) bool { return r.Name == rule })
	if i < 0 {
		return nil, fmt.Errorf("%s has no rule %q", m.Name, rule)
	}
	c := *m
	c.Name += " without " + rule
	c.without |= 1 << m.number(i)
	c.mutant = true
	return &c, nil
}

// InForce lists the enabled rules.
func (m *Model) InForce() (list []Rule) {
	for i, r := range m.Rules {
		if m.has(m.number(i)) {
			list = append(list, r)
		}
	}
	return list
}

// number is the machine's number of a rule of the list.
func (m *Model) number(i int) int {
	if m.numbers == nil {
		return i
	}
	return m.numbers[i]
}

// has reports whether a rule is enabled, by the machine's number.
func (m *Model) has(rule int) bool { return m.without>>rule&1 == 0 }

// end is a final state.
type end struct {
	vals   []int64 // by event, what reads got
	memory []int64 // by location
	// images is set if threads may be exchanged.
	images bool
	// schedule returns the steps that led to this state.
	schedule func() []explore.Step
}

// Event is an event of a program.
type Event struct {
	*exec.Event
	thread int
	local  int    // number on its thread's path
	deps   uint64 // reads that decide address, data or whether it is performed
	text   string
}

// Program is one path through each thread's code.
type Program struct {
	exec   *exec.Program
	paths  []*exec.Path
	events []Event
	first  []int // by thread its first event, and the number of events
	init   []int64
	place  []litmus.Place
	// By location, sets of events.
	reads, writes []uint64
	all           uint64
	// equal lists groups of interchangeable threads: the same code, on the same path, and alone
	// in their CTAs.
	equal [][]int
}

const maxEvents = 63

// newProgram numbers the events of the paths.
func newProgram(p *exec.Program, paths []*exec.Path) (*Program, error) {
	q := &Program{exec: p, paths: paths, init: p.Init()}
	q.reads, q.writes = make([]uint64, len(q.init)), make([]uint64, len(q.init))
	for t, path := range paths {
		q.first = append(q.first, len(q.events))
		q.place = append(q.place, p.Place(t))
		for i := range path.Events {
			e := &path.Events[i]
			addr, data, ctrl := e.Deps()
			n := uint(len(q.events) - i)
			in := &p.Test.Threads[t].Body[e.Instr]
			q.events = append(q.events, Event{Event: e, thread: t, local: i, deps: (addr | data | ctrl) << n, text: in.String()})
		}
	}
	q.first = append(q.first, len(q.events))
	if len(q.events) > maxEvents {
		return nil, fmt.Errorf("%w: %d events; at most %d", ErrOutside, len(q.events), maxEvents)
	}
	for i := range q.events {
		switch e := &q.events[i]; e.Kind {
		case exec.Read:
			q.reads[e.Loc] |= 1 << i
		case exec.Write:
			q.writes[e.Loc] |= 1 << i
		}
		q.all |= 1 << i
	}
	q.symmetry()
	return q, nil
}

// symmetry finds interchangeable threads.
func (p *Program) symmetry() {
	byCode := map[string]int{}
	for t := range p.paths {
		if slices.ContainsFunc(p.place, func(q litmus.Place) bool { return q != p.place[t] && q.SameScope(p.place[t], litmus.ScopeCTA) }) ||
			slices.IndexFunc(p.place, func(q litmus.Place) bool { return q == p.place[t] }) != t {
			continue
		}
		th := &p.exec.Test.Threads[t]
		var b strings.Builder
		fmt.Fprint(&b, p.place[t].GPU, p.place[t].Grid)
		for i := range th.Body {
			fmt.Fprintln(&b, th.Body[i].String(), th.Body[i].Labels)
		}
		for _, r := range th.Regs {
			fmt.Fprintln(&b, r.Name, r.Type, r.Init)
		}
		for i := range p.paths[t].Events {
			fmt.Fprintln(&b, p.paths[t].Events[i].Instr, p.paths[t].Events[i].Loc)
		}
		k, ok := byCode[b.String()]
		if !ok {
			k = len(p.equal)
			byCode[b.String()] = k
			p.equal = append(p.equal, nil)
		}
		p.equal[k] = append(p.equal[k], t)
	}
	p.equal = slices.DeleteFunc(p.equal, func(g []int) bool { return len(g) < 2 })
}

// images calls f with each way to exchange equal threads: as says whose part each thread plays.
func (p *Program) images(f func(as []int) error) error {
	as := make([]int, len(p.paths))
	for t := range as {
		as[t] = t
	}
	var next func(g, k int) error
	next = func(g, k int) error {
		switch {
		case g == len(p.equal):
			return f(as)
		case k == len(p.equal[g]):
			return next(g+1, 0)
		}
		list := p.equal[g]
		for i := k; i < len(list); i++ {
			as[list[k]], as[list[i]] = as[list[i]], as[list[k]]
			err := next(g, k+1)
			as[list[k]], as[list[i]] = as[list[i]], as[list[k]]
			if err != nil {
				return err
			}
		}
		return nil
	}
	return next(0, 0)
}

// before returns the set of events of i's thread that come before it.
func (p *Program) before(i int) uint64 {
	return below(i) &^ below(p.first[p.events[i].thread])
}

// partner returns the other half of a read-modify-write, -1 if there is none.
func (p *Program) partner(i int) int {
	if k := p.events[i].Partner; k >= 0 {
		return p.first[p.events[i].thread] + int(k)
	}
	return -1
}

// of returns the set of a thread's events.
func (p *Program) of(t int) uint64 { return below(p.first[t+1]) &^ below(p.first[t]) }

// below returns the set of the events with numbers less than i.
func below(i int) uint64 { return 1<<i - 1 }

// value returns what a write stores; vals holds the values of reads, by event.
func (p *Program) value(i int, vals []int64) int64 {
	t := p.events[i].thread
	return p.paths[t].Value(p.events[i].local, vals[p.first[t]:p.first[t+1]])
}

// holds reports whether a thread follows its chosen path, as far as its known reads decide.
func (p *Program) holds(t int, known uint64, vals []int64) bool {
	return p.paths[t].Holds(known>>p.first[t], vals[p.first[t]:p.first[t+1]])
}

// outcome returns the final state of the test's terms if each thread has played the part given
// by as; nil means its own.
func (p *Program) outcome(e end, as []int) []int64 {
	reads := make([][]int64, len(p.paths))
	for t := range reads {
		u := t
		if as != nil {
			u = as[t]
		}
		reads[t] = e.vals[p.first[u]:p.first[u+1]]
	}
	return p.exec.Outcome(p.paths, reads, e.memory)
}

// each calls f with the members of a set, in order.
func each(set uint64, f func(i int) bool) bool {
	for ; set != 0; set &= set - 1 {
		if !f(bits.TrailingZeros64(set)) {
			return false
		}
	}
	return true
}

// told returns a function that describes a step, so that its text is formatted only on demand.
func told(thread int, format string, args ...any) func() explore.Step {
	return func() explore.Step { return explore.Step{Thread: thread, Text: fmt.Sprintf(format, args...)} }
}
