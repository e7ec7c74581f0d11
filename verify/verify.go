package verify

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/ptx"
	"optcheck/refine"
)

// Result is what was found out about a kernel.
type Result struct {
	File   string `json:"file,omitempty"`
	Kernel string `json:"kernel"`
	// Name is that of the kernel in its source.
	Name  string `json:"name"`
	Grid  [3]int `json:"grid"`
	Block [3]int `json:"block"`
	// Chose says what of the launch was chosen.
	Chose []string   `json:"chosen,omitempty"`
	Runs  []Run      `json:"runs"`
	Found []*Finding `json:"findings"`
	// Unknown are the reasons why less than asked for is known; none if all runs came to their end.
	Unknown []string `json:"unknown,omitempty"`
	// Every tells that every schedule of the values that were run does the same, so that what was not found is not there.
	Every bool `json:"every_schedule,omitempty"`
	// Hidden is how many known findings were taken out.
	Hidden int `json:"known_not_shown,omitempty"`
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
	p, err := lowered(m, kernel, &o.Launch)
	if err != nil {
		return nil, err
	}
	return program(p, LinesOf(m), o)
}

// outcome is what a run showed.
type outcome struct {
	run     Run
	found   *findings
	unknown []string
	cover   *emu.Coverage
	grid    [2][3]int
	// suspect are the instructions with an address that was wrong because of what was chosen.
	suspect map[int32]trail
	input   *refine.Input
	// cannot tells that the run stopped at what is not understood.
	cannot bool
	// boxes are sizes of boxes of tensors that the run did not know, as far as they could be told, unboxed says where it did not know them.
	boxes   map[emu.Place]uint64
	unboxed []string
	// fixed tells that another schedule would have done the same.
	fixed bool
}

// The instructions of threads that a run has at most: one of given values ends if the program does, one of chosen values may go on for long.
const (
	givenSteps  = 1 << 26
	chosenSteps = 1 << 24
)

// maxSolved is how often sizes of boxes of tensors are told from what a run shows.
const maxSolved = 3

func program(p *ir.Program, lines Lines, o *Options) (*Result, error) {
	set := o.complete(p)
	r, chosen, err := set.found(p, lines)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(set.unequal(p, lines, r, chosen), set.doubt(p, lines, r, chosen)); err != nil {
		return nil, err
	}
	for _, f := range r.Found {
		f.Counts = !f.Minor()
	}
	if set.Executions {
		set.witnesses(p, lines, r)
	}
	if !set.Unmended {
		set.mend(p, lines, r)
	}
	if set.late() {
		r.Unknown = append(r.Unknown, errLate.Error())
	}
	return r, nil
}

// complete returns options that say how much is tried where o does not.
func (o *Options) complete(p *ir.Program) *Options {
	set := *o
	set.Inputs, set.Schedules = cmp.Or(o.Inputs, 2), cmp.Or(o.Schedules, 4)
	steps := int64(chosenSteps)
	if set.given(p) {
		set.Inputs, steps = 1, givenSteps
	}
	set.Steps = cmp.Or(o.Steps, steps)
	return &set
}

// found makes all runs of complete options and returns what they show, and what was chosen for each input.
func (o *Options) found(p *ir.Program, lines Lines) (*Result, []choice, error) {
	numbers := o.directed(p)
	inputs := o.Inputs + len(numbers)
	outs := make([]*outcome, inputs*o.Schedules)
	errs := make([]error, len(outs))
	chosen := make([]choice, inputs)
	var done atomic.Int64
	ran := func() {
		if n := int(done.Add(1)); o.Progress != nil && n <= len(outs) {
			o.Progress(n, len(outs))
		}
	}
	each(inputs, func(i int) {
		defer ran()
		var c choice
		if i >= o.Inputs {
			c.number = &numbers[i-o.Inputs]
		}
		k := i * o.Schedules
		outs[k], chosen[i], errs[k] = o.choose(p, lines, i, 0, c)
	})
	for settled := false; !settled; {
		each(len(outs), func(k int) {
			i := k / o.Schedules
			if directed := i >= o.Inputs && k%o.Schedules > 0; outs[k] == nil && errs[i*o.Schedules] == nil && !directed {
				outs[k], errs[k] = o.one(p, lines, i, k%o.Schedules, chosen[i])
				ran()
			}
		})
		settled = true
		for i := range chosen { // another schedule may come to an address that the first one did not
			runs := outs[i*o.Schedules : (i+1)*o.Schedules]
			k := slices.IndexFunc(runs, func(x *outcome) bool { return x != nil && len(x.suspect) > 0 })
			if k < 1 || chosen[i].world == refine.Worlds-1 {
				continue
			}
			x, c, err := o.choose(p, lines, i, k, chosen[i])
			if err != nil {
				return nil, nil, err
			}
			clear(runs)
			runs[k], chosen[i], settled = x, c, false
		}
	}
	for i := range numbers { // what a directed input leads to in vain, says nothing of the program
		if x := &outs[(o.Inputs+i)*o.Schedules]; *x != nil && len((*x).suspect)+len((*x).unknown) > 0 {
			*x = nil
		}
	}
	outs = slices.DeleteFunc(outs, func(x *outcome) bool { return x == nil })
	if i := slices.IndexFunc(errs, func(e error) bool { return e != nil }); i >= 0 {
		return nil, nil, errs[i]
	}
	r := merge(p, outs)
	r.Chose = append(o.chosen(p), o.chosenBoxes(p, outs)...)
	return r, chosen, nil
}

// choose makes a run of an input: with other choices than c as long as those that were made lead to wrong addresses. A
// parameter that becomes a wrong address is taken for a pointer if the address is right then; the next ones are other worlds.
func (o *Options) choose(p *ir.Program, lines Lines, input, schedule int, first choice) (x *outcome, c choice, err error) {
	if x, err = o.one(p, lines, input, schedule, first); err != nil {
		return nil, first, err
	}
	for c = first; x.suspect != nil; {
		y, with, err := o.better(p, lines, input, schedule, x, c)
		if err != nil {
			return nil, c, err
		}
		if y == nil && c.world >= refine.Worlds-1 {
			break
		}
		if y == nil {
			with = c
			with.world++
			if y, err = o.one(p, lines, input, schedule, with); err != nil {
				return nil, c, err
			}
		}
		x, c = y, with
	}
	return x, c, nil
}

// better looks for a parameter that must be a pointer, so that an address which was wrong is right.
func (o *Options) better(p *ir.Program, lines Lines, input, schedule int, x *outcome, c choice) (*outcome, choice, error) {
	for _, pc := range slices.Sorted(maps.Keys(x.suspect)) {
		for _, at := range pointers(x.input, x.suspect[pc]) {
			with := c
			with.pointers = append(slices.Clip(c.pointers), at)
			y, err := o.one(p, lines, input, schedule, with)
			if err != nil {
				return nil, c, err
			}
			if _, still := y.suspect[pc]; !still {
				return y, with, nil
			}
		}
	}
	return nil, c, nil
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
	r := &Result{Kernel: p.Kernel, Name: Plain(p.Kernel), Grid: outs[0].grid[0], Block: outs[0].grid[1]}
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
				y.astray = y.astray && len(x.suspect) > 0
			}
		}
		for _, f := range x.found.list {
			if k := x.found.keyOf(f); all.of[k] == nil {
				f.astray = len(x.suspect) > 0
				all.of[k] = f
				all.list = append(all.list, f)
			}
		}
		for _, u := range x.unknown {
			if !slices.Contains(r.Unknown, u) {
				r.Unknown = append(r.Unknown, u)
			}
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
	r.Every = len(r.Found) == 0 && len(r.Unknown) == 0 && !slices.ContainsFunc(outs, func(x *outcome) bool { return !x.fixed })
	return r
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
		return emu.Policy{Quantum: 97}, "threads in the order of their numbers"
	case 1:
		return emu.Policy{Quantum: 97, Reverse: true}, "threads in the opposite order of their numbers"
	}
	s := o.Seed + uint64(schedule)
	if readsOld(schedule) {
		return emu.Policy{Quantum: 31, Shuffle: s, Reverse: true}, fmt.Sprintf("threads in a random order, seed %d, strong loads may read old values", s)
	}
	return emu.Policy{Quantum: 31, Shuffle: s}, fmt.Sprintf("threads in a random order, seed %d", s)
}

// readsOld reports whether strong loads may read old values in a schedule.
func readsOld(schedule int) bool { return schedule > 2 && schedule%2 == 1 }

// one makes a run, and another one like it, which follows what addresses depend on, if one of them was wrong.
func (o *Options) one(p *ir.Program, lines Lines, input, schedule int, c choice) (*outcome, error) {
	x, err := o.once(p, lines, input, schedule, c, false)
	if err == nil && x.suspect != nil {
		x, err = o.once(p, lines, input, schedule, c, true)
	}
	if err == nil {
		x.unknown = append(x.unknown, x.found.drop(p, x.input)...)
	}
	return x, err
}

// once makes a run, again with the sizes of boxes of tensors that it shows.
func (o *Options) once(p *ir.Program, lines Lines, input, schedule int, c choice, follow bool) (*outcome, error) {
	x, err := o.run(p, lines, input, schedule, c, follow)
	for n := 0; n < maxSolved && err == nil && x.boxes != nil; n++ {
		maps.Copy(x.boxes, c.boxes)
		c.boxes = x.boxes
		x, err = o.run(p, lines, input, schedule, c, follow)
	}
	if err == nil {
		x.unknown = append(x.unknown, x.unboxed...)
	}
	return x, err
}

func (o *Options) run(p *ir.Program, lines Lines, input, schedule int, c choice, follow bool) (*outcome, error) {
	if c.number != nil {
		input = 0
	}
	in, buffers, err := o.input(p, o.Seed+uint64(input), c)
	if err != nil {
		return nil, err
	}
	policy, name := o.policy(schedule)
	policy.Products, policy.Fill = true, uint64(schedule&1)*0xa5a5a5a5a5a5a5a5
	g, err := refine.Grid(p, in, policy, false)
	if err != nil {
		return nil, err
	}
	g.Launch.Boxes = o.boxes(p, c)
	y := newLayout(p, in.Vars, &o.Launch)
	y.buffers, y.pointed = buffers, o.pointed(p, in)
	f := &findings{options: o, program: p, lines: lines, of: map[findingKey]*Finding{}, run: fmt.Sprintf("input %d%s, %s", in.Seed, c.with(o, p), name),
		made: made{input: input, schedule: schedule, with: c}, chosen: o.numbers(p, in), block: in.Block, grid: in.Grid}
	g.Memory.Forget, g.Memory.First = true, f.first(c.content.first(g.Memory.First))
	m := newMonitor(g, y, f)
	if readsOld(schedule) {
		m.old = newOld((o.Seed+uint64(schedule))*0x9e3779b97f4a7c15, m.shape)
	}
	if follow {
		m.origins = newOrigins(o, p, in, g, buffers)
	}
	if o.watch != nil {
		o.watch(m)
	}
	x := &outcome{found: f, cover: g.Cover, run: Run{Name: f.run, Params: o.paramsText(p, in)}, grid: [2][3]int{in.Grid, in.Block}, input: in}
	err = m.run(o.Steps)
	x.run.Steps, x.run.Ended = g.Steps, err == nil
	m.asserted()
	if m.boxes != nil {
		x.boxes, x.unboxed = m.boxes.solve(m), m.boxes.unsolved(f)
		x.found.list, x.found.of = nil, map[findingKey]*Finding{} // copies were left out
		return x, nil
	}
	if err == nil {
		m.left()
		m.outlived()
	} else {
		var unknown string
		if x.run.Why, unknown = m.failed(err); unknown != "" {
			x.unknown = append(x.unknown, unknown)
		}
		x.cannot = errors.As(err, new(*emu.Cannot))
	}
	x.suspect, x.fixed = m.suspects(err, follow), err == nil && !m.contested
	return x, nil
}

// suspects are the instructions with wrong addresses; if followed, those which depend on what was chosen.
func (m *monitor) suspects(err error, follow bool) (out map[int32]trail) {
	note := func(pc int32, t trail) {
		if follow && t.any == 0 {
			return
		}
		if out == nil {
			out = map[int32]trail{}
		}
		out[pc] = out[pc].with(t)
	}
	for _, f := range m.found.list {
		if f.suspicious() {
			note(int32(f.First.Inst), f.from)
		}
	}
	var cannot *emu.Cannot
	if errors.As(err, &cannot) && cannot.Input && cannot.Inst >= 0 {
		t, _ := m.origins.here(int32(cannot.Inst))
		note(int32(cannot.Inst), t)
	}
	return out
}

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
		by, rule := id{0, int32(fault.Thread / emu.Lanes), uint8(fault.Thread % emu.Lanes)}, Misaligned
		switch {
		case fault.Why == "trap":
			rule = Trap
		case strings.Contains(fault.Why, "barrier"):
			rule = BarrierCount
		}
		m.suspect(rule, int32(fault.Inst), by, emu.Place{}, fault.Why)
		if rule != Misaligned && m.found.chosen {
			return err.Error(), "with the chosen values: " + m.found.place(fault.Inst) + err.Error()
		}
		return err.Error(), ""
	case errors.Is(err, errLate):
		return err.Error(), "" // program says so
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

func (o *Options) paramsText(p *ir.Program, in *refine.Input) string {
	var out []string
	for i, v := range p.Params {
		if b := in.Params[v.Offset:min(v.Offset+v.Size, int64(len(in.Params)))]; len(b) <= 8 {
			out = append(out, fmt.Sprintf("%s=%#x", o.param(p, i), emu.Number(b)))
		}
	}
	return strings.Join(out, " ")
}
