package verify

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/ptx"
	"optcheck/ptx/lower"
	"optcheck/refine"
)

// Result is what was found out about a kernel.
type Result struct {
	File   string `json:"file,omitempty"`
	Kernel string `json:"kernel"`
	Grid   [3]int `json:"grid"`
	Block  [3]int `json:"block"`
	// Chose says what of the launch was chosen.
	Chose []string   `json:"chosen,omitempty"`
	Runs  []Run      `json:"runs"`
	Found []*Finding `json:"findings"`
	// Unknown are the reasons why less than asked for is known; none if all runs came to their end.
	Unknown []string `json:"unknown,omitempty"`
	// Missed are instructions that no run performed: nothing is known of them.
	Missed []int `json:"missed,omitempty"`
	// Unchecked are sides of what the engine does not know.
	Steps int64 `json:"steps"`
}

// Run is one run of a launch.
type Run struct {
	Name   string `json:"name"`
	Params string `json:"params"`
	Steps  int64  `json:"steps"`
	Ended  bool   `json:"ended"`
	Why    string `json:"why,omitempty"`
}

// Kernel verifies a kernel of a module.
func Kernel(m *ptx.Module, kernel string, o *Options) (*Result, error) {
	p, err := lower.Kernel(m, kernel)
	if err != nil {
		return nil, err
	}
	return program(p, LinesOf(m), o)
}

// outcome is what a run showed.
type outcome struct {
	run     Run
	found   *findings
	unknown string
	cover   *emu.Coverage
	grid    [2][3]int
	// senseless tells that the chosen values led to a wild or misaligned address or jump: others may not.
	senseless bool
	// null are the instructions that accessed an address near 0, with that address.
	null map[int]uint64
}

func program(p *ir.Program, lines Lines, o *Options) (*Result, error) {
	if c := p.Cluster; c[0]*c[1]*c[2] > 1 {
		return nil, fmt.Errorf("clusters of several blocks are not verified yet")
	}
	set := *o
	set.Inputs, set.Schedules, set.Steps = cmp.Or(o.Inputs, 2), cmp.Or(o.Schedules, 4), cmp.Or(o.Steps, 1<<24)
	if set.given(p) {
		set.Inputs = 1
	}
	outs := make([]*outcome, set.Inputs*set.Schedules)
	errs := make([]error, len(outs))
	worlds, nulls := make([]refine.World, set.Inputs), make([][]map[int]uint64, set.Inputs)
	each(set.Inputs, func(i int) {
		for ; ; worlds[i]++ {
			k := i * set.Schedules
			outs[k], errs[k] = set.one(p, lines, i, 0, worlds[i])
			if errs[k] != nil {
				break
			}
			nulls[i] = append(nulls[i], outs[k].null)
			if !outs[k].senseless || worlds[i] == refine.Worlds-1 {
				break
			}
		}
	})
	each(len(outs), func(i int) {
		if input, schedule := i/set.Schedules, i%set.Schedules; schedule > 0 && errs[input*set.Schedules] == nil {
			outs[i], errs[i] = set.one(p, lines, input, schedule, worlds[input])
		}
	})
	if i := slices.IndexFunc(errs, func(e error) bool { return e != nil }); i >= 0 {
		return nil, errs[i]
	}
	r := merge(p, outs)
	r.Chose = set.chosen(p)
	r.null(p, lines, slices.Concat(nulls...))
	if !set.Unmended {
		set.mend(p, lines, r)
	}
	return r, nil
}

// each calls do for numbers from 0 up to n, on all processors.
func each(n int, do func(i int)) {
	work := make(chan int)
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wait.Go(func() {
			for i := range work {
				do(i)
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wait.Wait()
}

// merge puts the outcomes of all runs together.
func merge(p *ir.Program, outs []*outcome) *Result {
	r := &Result{Kernel: p.Kernel, Grid: outs[0].grid[0], Block: outs[0].grid[1]}
	all := &findings{of: map[findingKey]*Finding{}}
	done := make([]bool, len(p.Insts))
	for _, x := range outs {
		r.Runs = append(r.Runs, x.run)
		r.Steps += x.run.Steps
		for k, f := range x.found.of {
			if y := all.of[k]; y != nil {
				y.Count += f.Count
				y.SameValue = y.SameValue && f.SameValue
				y.Chosen = y.Chosen && f.Chosen
			}
		}
		for _, f := range x.found.list {
			if k := x.found.keyOf(f); all.of[k] == nil {
				all.of[k] = f
				all.list = append(all.list, f)
			}
		}
		if x.unknown != "" && !slices.Contains(r.Unknown, x.unknown) {
			r.Unknown = append(r.Unknown, x.unknown)
		}
		for i, d := range x.cover.Insts {
			done[i] = done[i] || d
		}
	}
	for i := range done {
		if !done[i] {
			r.Missed = append(r.Missed, i)
		}
	}
	r.Found = all.sorted()
	return r
}

// null notes accesses to one address near 0 in all inputs: what was chosen did not lead there.
func (r *Result) null(p *ir.Program, lines Lines, runs []map[int]uint64) {
	f := &findings{program: p, lines: lines, block: r.Block, grid: r.Grid}
	for i := range p.Insts {
		addr, ok := runs[0][i]
		for _, x := range runs {
			at, same := x[i]
			ok = ok && same && at == addr
		}
		if ok && len(runs) > 1 {
			r.Found = append(r.Found, &Finding{Rule: OutOfBounds, First: f.side(int32(i), id{}, 1), Where: fmt.Sprintf("address %#x", addr),
				Why: "a null pointer", Count: len(runs), Run: "all inputs"})
			r.Unknown = slices.DeleteFunc(r.Unknown, func(s string) bool { return s == wildValues })
		}
	}
}

func (f *findings) keyOf(x *Finding) findingKey {
	for k, y := range f.of {
		if y == x {
			return k
		}
	}
	return findingKey{}
}

// policy is how the threads of a schedule take turns: in order, in the opposite order, or at random.
func (o *Options) policy(schedule int) (emu.Policy, string) {
	switch schedule {
	case 0:
		return emu.Policy{Quantum: 97}, "in order"
	case 1:
		return emu.Policy{Quantum: 97, Reverse: true}, "in the opposite order"
	}
	s := o.Seed + uint64(schedule)
	return emu.Policy{Quantum: 31, Shuffle: s, Reverse: schedule%2 == 1}, fmt.Sprintf("at random, seed %d", s)
}

// one makes a run.
func (o *Options) one(p *ir.Program, lines Lines, input, schedule int, world refine.World) (*outcome, error) {
	in, buffers, err := o.input(p, o.Seed+uint64(input), world)
	if err != nil {
		return nil, err
	}
	policy, name := o.policy(schedule)
	policy.Fill = uint64(schedule&1) * 0xa5a5a5a5a5a5a5a5
	g, err := refine.Grid(p, in, policy, false)
	if err != nil {
		return nil, err
	}
	y := newLayout(p, in.Vars, &o.Launch)
	y.buffers = buffers
	f := &findings{options: o, program: p, lines: lines, of: map[findingKey]*Finding{}, run: fmt.Sprintf("input %d, %s", in.Seed, name),
		chosen: o.numbers(p, in), block: in.Block, grid: in.Grid}
	g.Memory.Forget, g.Memory.First = true, f.first(g.Memory.First)
	m := newMonitor(g, y, f)
	x := &outcome{found: f, cover: g.Cover, run: Run{Name: f.run, Params: paramsText(p, in)}, grid: [2][3]int{in.Grid, in.Block}}
	err = m.run(o.Steps)
	x.run.Steps, x.run.Ended = g.Steps, err == nil
	m.asserted()
	if err != nil {
		x.run.Why, x.unknown = m.failed(err)
	}
	var cannot *emu.Cannot
	x.senseless = f.chosen && (errors.As(err, &cannot) && cannot.Input || f.has(Misaligned) || f.has(wild))
	x.null = m.null
	if f.has(wild) && f.chosen && x.unknown == "" {
		x.unknown = wildValues
	}
	f.drop()
	return x, nil
}

// wildValues is why little is known of a run with a wild address.
const wildValues = "with the chosen values an address is none of memory; --arg gives others"

// failed says why a run did not come to its end: either it is a finding, or unknown.
func (m *monitor) failed(err error) (why, unknown string) {
	var cannot *emu.Cannot
	var fault *emu.Fault
	switch {
	case errors.As(err, &cannot):
		why = err.Error()
		if cannot.Inst >= 0 {
			why = m.found.place(cannot.Inst) + why
		}
		return why, why
	case errors.As(err, &fault):
		rule := Misaligned
		switch {
		case fault.Why == "trap":
			rule = Trap
		case strings.Contains(fault.Why, "barrier"):
			rule = BarrierCount
		}
		m.at(rule, int32(fault.Inst), id{0, int32(fault.Thread / emu.Lanes), uint8(fault.Thread % emu.Lanes)}, emu.Place{}, fault.Why)
		if m.found.chosen {
			return err.Error(), "with the chosen values: " + m.found.place(fault.Inst) + err.Error()
		}
		return err.Error(), ""
	case errors.Is(err, emu.ErrStuck):
		m.stuck()
		return err.Error(), ""
	}
	return err.Error(), fmt.Sprintf("a run was not at its end after %d instructions of threads (--steps)", m.grid.Steps)
}

// place is the line of an instruction, for a message.
func (f *findings) place(inst int) string {
	if l := f.lines.at(f.program.Insts[inst].Source); l.Line > 0 {
		return fmt.Sprintf("line %d: ", l.Line)
	}
	return ""
}

// asserted notes the assertions that failed: the calls that end a thread.
func (m *monitor) asserted() {
	for i := range m.found.program.Insts {
		if in := &m.found.program.Insts[i]; m.grid.Cover.Insts[i] && strings.HasPrefix(in.Text, "call") && strings.Contains(in.Text, "__assertfail") {
			m.at(Assertion, int32(i), id{}, emu.Place{}, "")
		}
	}
}

func paramsText(p *ir.Program, in *refine.Input) string {
	var out []string
	for _, v := range p.Params {
		if b := in.Params[v.Offset:min(v.Offset+v.Size, int64(len(in.Params)))]; len(b) <= 8 {
			out = append(out, fmt.Sprintf("%s=%#x", v.Name, emu.Number(b)))
		}
	}
	return strings.Join(out, " ")
}
