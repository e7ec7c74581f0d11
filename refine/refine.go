package refine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// Rule is what machine code does that its program does not allow.
type Rule string

// The rules.
const (
	WrongValue   Rule = "wrong-value"   // another value is stored
	WrongAddress Rule = "wrong-address" // the value goes elsewhere
	NotPerformed Rule = "not-performed" // an operation of the program is not there
	ExtraAccess  Rule = "extra-access"  // something is stored, or synchronised with, that the program does not touch
	DoesNotEnd   Rule = "does-not-end"  // the program ends
)

// Finding is a difference with its counterexample.
type Finding struct {
	Rule  Rule   `json:"rule"`
	Why   string `json:"why"`
	Input *Input `json:"input"`
	// Block, Warp and Lane name the thread; Reverse is the order of diverged lanes with which it shows, Both that it
	// shows with either, and with other undefined content.
	Block   int  `json:"block"`
	Warp    int  `json:"warp"`
	Lane    int  `json:"lane"`
	Reverse bool `json:"reverse,omitempty"`
	Both    bool `json:"both"`
	// Source is the instruction of the program, Machine that of the machine code: indices of Insts, -1 if there is none.
	Source  int `json:"source"`
	Machine int `json:"machine"`
	// SourceNumber is ir.Inst.Source of the former, MachineAddr the address of the latter; the texts are theirs.
	SourceNumber int    `json:"source_number,omitempty"`
	SourceText   string `json:"source_text,omitempty"`
	MachineAddr  uint64 `json:"machine_addr,omitempty"`
	MachineText  string `json:"machine_text,omitempty"`
	Address      uint64 `json:"address,omitempty"`
	Want         uint64 `json:"want"`
	Got          uint64 `json:"got"`
	// Approximate tells that approximate functions were performed before it: the difference need not be a wrong one.
	Approximate bool `json:"approximate,omitempty"`
	// Unproved are the forms of instructions on which it may rest, and whose meaning no chip has confirmed: alone they
	// prove nothing.
	Unproved []string `json:"unproved,omitempty"`
	// Apart tells that it shows only if a lane goes ahead of others where machine code asks whether lanes are apart. They may be together
	// whenever it asks.
	Apart bool `json:"apart,omitempty"`
	// Early is the use of a register of which it is the harm.
	Early *Early `json:"early,omitempty"`
}

// Options say how much is tried.
type Options struct {
	Runs int    // inputs; 0: 8
	Seed uint64 // of the first one
	// Grid and Block fix the launch; zero: chosen.
	Grid, Block [3]int
	MaxSteps    int64 // of the program, a run; 0: 4096 a thread, at least 1 << 20
	// Shared gives shared memory a first content.
	Shared bool
	// Enough ends the runs, of which there are at least two, with the first one that reaches nothing new.
	Enough bool
	// Search is how many instructions of lanes, of both codes, are performed at most for inputs that reach what those before
	// have not: as long as an outcome of a condition is open.
	Search int64
	// Inputs are tried instead of chosen ones.
	Inputs []*Input
	// Early, if there is one, is performed by machine code that does without it what the program does: the findings are what it changes.
	Early *Early
}

// Result is what execution says of a kernel.
type Result struct {
	Findings []Finding `json:"findings,omitempty"`
	// Runs were compared to their end, Cut ones as far as the bound of steps let them; Compared counts events and words
	// that were compared.
	Runs int `json:"runs"`
	Cut  int `json:"cut,omitempty"`
	// Forced counts the conditions that got an outcome that no input had shown, in both codes, which then did the same.
	Forced   int `json:"forced,omitempty"`
	Compared int `json:"compared"`
	// Early is how often a register had another content because it was used too early.
	Early int `json:"early,omitempty"`
	// Cannot are the reasons why runs could not be compared, with how many.
	Cannot map[string]int `json:"cannot,omitempty"`
	// Source and Machine say what the compared runs performed.
	Source  Covered `json:"source"`
	Machine Covered `json:"machine"`
	// Unseen are the operations of the program that write memory, or are not understood, and that no run compared, by
	// ir.Inst.Source; Unwritten those of the machine code that no run performed.
	Unseen []int `json:"-"`
	// Undefined are those of them that were performed, but always with what the program leaves undefined.
	Undefined []int `json:"-"`
	// Undecided are the comparisons of the program that may be others in the machine code, by ir.Inst.Source.
	Undecided []int  `json:"-"`
	Unwritten []Code `json:"-"`
}

// Code is an instruction of the machine code.
type Code struct {
	Addr uint64
	Text string
}

// Covered says how much of a code was performed.
type Covered struct {
	Insts, Of int
	// Outcomes of OutcomesOf: those of its conditional jumps.
	Outcomes, OutcomesOf int
}

// Share is the part that was performed, from 0 to 1.
func (c Covered) Share() float64 {
	if c.Of == 0 {
		return 1
	}
	return float64(c.Insts) / float64(c.Of)
}

// Compare executes a program and the machine code that was made of it.
func Compare(ctx context.Context, program, machine *ir.Program, o Options) (*Result, error) {
	machine = placed(program, machine)
	if program.Mbarriers != machine.Mbarriers {
		p := *program
		p.Mbarriers, program = machine.Mbarriers, &p
	}
	c, err := newComparison(program, machine, o)
	if err != nil {
		return nil, err
	}
	if c.explore(ctx); c.searches() {
		c.force(ctx)
		c.lookAgain(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.conclude()
	return c.Result, nil
}

func newComparison(program, machine *ir.Program, o Options) (*comparison, error) {
	c := &comparison{Result: &Result{Cannot: map[string]int{}}, o: o, program: program, machine: machine, deaths: map[occurrence]*death{},
		shown: map[int32]uint8{}, flips: map[showing]int{}, policies: policiesOf(machine), made: map[showing]making{},
		attempts: map[attempt]bool{}, allowance: new(int64), flipEnd: flipSteps}
	var err error
	if c.source, err = emu.Prepare(program); err != nil {
		return nil, err
	}
	if c.code, err = emu.Prepare(machine); err != nil {
		return nil, err
	}
	c.sourceCover, c.machineCover = emu.NewCoverage(c.source), emu.NewCoverage(c.code)
	c.kinds = kinds(program)
	c.search = newSearch(c)
	*c.allowance = 3 * o.Search * c.size()
	return c, nil
}

// searches reports whether inputs are searched for: none were given, and nothing was found.
func (c *comparison) searches() bool {
	return c.o.Search > 0 && len(c.Findings) == 0 && len(c.o.Inputs) == 0
}

// explore compares the codes on the inputs that were asked for, and on those that the search finds.
func (c *comparison) explore(ctx context.Context) {
	for i := range c.asked() {
		reached := c.reached()
		if ctx.Err() != nil {
			return
		}
		if c.run(c.input(i)); len(c.Findings) > 0 || c.o.Enough && c.reached() == reached {
			break
		}
	}
	if c.searches() {
		c.wild()
	}
	c.spent, c.short = 0, true
	c.seek(ctx)
}

// seek compares the codes on inputs that the search finds.
func (c *comparison) seek(ctx context.Context) {
	for len(c.Findings) == 0 && c.search.goesOn() && ctx.Err() == nil {
		in, of := c.search.next()
		if in == nil {
			break
		}
		c.try(in, of)
	}
}

// placed is machine code that takes its parameters from where the program has them.
func placed(program, machine *ir.Program) *ir.Program {
	var from []int64
	moved := false
	for i := range program.Params {
		from = append(from, program.Params[i].Offset)
		moved = moved || i < len(machine.Params) && machine.Params[i].Offset != from[i]
	}
	if !moved || len(program.Params) != len(machine.Params) {
		return machine
	}
	m := *machine
	m.ParamFrom = from
	return &m
}

type comparison struct {
	*Result
	o                         Options
	program, machine          *ir.Program
	source, code              *emu.Code
	sourceCover, machineCover *emu.Coverage
	kinds                     map[int32]emu.Kind
	deaths                    map[occurrence]*death
	reading                   reading // that with which machine code did last what the program does
	again                     []int32 // the comparisons that are looked at a second time
	shortened                 int64   // instructions of lanes that were performed to find shorter runs: at most half of what a search may spend
	short                     bool    // inputs are searched for: those that do not end soon are cut earlier
	longest                   int64   // instructions of the longest run before that ended
	tried                     int64   // instructions of lanes that were performed to find what is dead
	spent                     int64   // all of them
	compared                  []bool  // instructions of the program whose effects were compared
	undefined                 []bool  // those that wrote what the program leaves undefined
	search                    *search
	unread                    []bool             // see unread
	shown                     map[int32]uint8    // what compared runs showed of the program's comparisons
	made                      map[showing]making // inputs that show something of comparisons
	policies                  []emu.Policy
	flips                     map[showing]int // how often it was tried whether something depends on what one shows
	flipped                   int64           // instructions of lanes that were performed for it
	flipEnd                   int64           // the bound of flipped
	good                      []*Input        // some on which the codes agreed
	defs                      map[ir.Reg][]site
	// attempts are the outcomes that were forced, allowance is what may be spent for that, in instructions of lanes; subs are the comparisons
	// with forced outcomes that found more to agree, depth is how many are forced at once.
	attempts  map[attempt]bool
	allowance *int64
	subs      []*comparison
	depth     int
}

// occurrence is an instruction as an event of a thread: the same one of all threads. Of a loop's loads only that of the last
// iteration may matter.
type occurrence struct {
	inst  int32
	event int
}

// death is what was found of the loads of an occurrence: how many were tried, and whether something depended on one.
type death struct {
	tried int
	used  bool
}

// tries is how many loads of an occurrence are tried; occurrences how many of these there are: what comes later is used.
const (
	tries       = 3
	occurrences = 256
	trialSteps  = 1 << 23 // of all of them together
)

// dead reports whether nothing that a thread does depends on what one of its strong loads reads: the program is run
// again with another value.
func (c *comparison) dead(in *Input, l *emu.Launch, was *emu.Grid, thread, event int) bool {
	at := occurrence{was.Records[thread].Events[event].Inst, event}
	if c.unread == nil {
		c.unread = unread(c.program)
	}
	if c.unread[at.inst] {
		return true
	}
	d := c.deaths[at]
	if d == nil {
		d = &death{used: len(c.deaths) >= occurrences}
		c.deaths[at] = d
	}
	if d.used || d.tried >= tries {
		return !d.used
	}
	d.tried++
	for _, flip := range []byte{1, 0xa6} {
		if c.tried > trialSteps*c.size() {
			return false
		}
		if c.depends(in, l, was.Records[thread], &emu.Change{Thread: thread, Event: event, Flip: flip}) {
			d.used = true
			break
		}
	}
	return !d.used
}

// depends reports whether a thread does something else if one of its loads reads another value. The run ends where that shows.
func (c *comparison) depends(in *Input, l *emu.Launch, was *emu.Record, change *emu.Change) bool {
	g, err := c.prepared(c.source, in, l, fills[0])
	if err != nil {
		return true
	}
	g.Changed = change
	most, now := g.Policy.MaxSteps, g.Records[change.Thread]
	for g.Policy.MaxSteps = min(most, 1<<13); ; g.Policy.MaxSteps = min(most, 2*g.Policy.MaxSteps) {
		before := g.Steps
		err = g.Run()
		c.tried += g.Steps - before
		c.spent += g.Steps - before
		if !errors.Is(err, emu.ErrSteps) || g.Policy.MaxSteps == most || !began(was, now, change.Event) {
			break
		}
		g.Cut = false
	}
	return err != nil && !errors.Is(err, emu.ErrSteps) || !same(was, now, change.Event)
}

// began reports whether a record is the beginning of another one, but for what one load has read.
func began(all, now *emu.Record, but int) bool {
	n, k := len(now.Events), len(now.Epochs)-1
	if n > len(all.Events) || k >= len(all.Epochs) {
		return false
	}
	return same(&emu.Record{Events: all.Events[:n], Epochs: all.Epochs[:k]}, &emu.Record{Events: now.Events, Epochs: now.Epochs[:k]}, but)
}

// same reports whether two records are equal but for what one load has read.
func same(a, b *emu.Record, but int) bool {
	if len(a.Events) != len(b.Events) {
		return false
	}
	for i := range a.Events {
		x, y := a.Events[i], b.Events[i]
		x.Time, y.Time, x.Step, y.Step = 0, 0, 0, 0
		if i == but {
			x.Value, y.Value = 0, 0
		}
		if x != y {
			return false
		}
	}
	return slices.EqualFunc(a.Epochs, b.Epochs, func(x, y emu.Epoch) bool { return maps.Equal(x, y) })
}

// reached counts the instructions and outcomes of branches that a run has performed.
func (c *comparison) reached() (n int) {
	for _, cover := range []*emu.Coverage{c.sourceCover, c.machineCover} {
		for i := range cover.Insts {
			for _, yes := range [...]bool{cover.Insts[i], cover.Taken[i], cover.Passed[i]} {
				if yes {
					n++
				}
			}
		}
	}
	return n
}

// asked is on how many inputs a kernel is executed.
func (c *comparison) asked() int {
	switch {
	case len(c.o.Inputs) > 0:
		return len(c.o.Inputs)
	case c.o.Runs == 0:
		return 8
	}
	return c.o.Runs
}

// input is one of those asked for.
func (c *comparison) input(i int) *Input {
	if len(c.o.Inputs) > 0 {
		return c.o.Inputs[i]
	}
	return c.choose(c.o.Seed+uint64(i), Small)
}

func (c *comparison) choose(seed uint64, w World) *Input {
	in := choose(c.program, c.kinds, [2][3]int{c.o.Grid, c.o.Block}, seed, w)
	in.Shared = c.o.Shared
	return in
}

// fills are two contents for what nothing defines: the same for both codes, so that what hides one hides it in both.
var fills = [2]uint64{0, 0x5a5a5a5a5a5a5a5a}

// reference runs the program.
func (c *comparison) reference(in *Input, l *emu.Launch, fill uint64, change *emu.Change) (*emu.Grid, error) {
	g, err := c.prepared(c.source, in, l, fill)
	if err != nil {
		return nil, err
	}
	g.Changed = change
	if change == nil && fill == fills[0] && c.o.Search > 0 {
		c.search.follow(in, false, g.Warps...)
	}
	return g, c.ran(g)
}

// racy says of a difference that it is none once it is open what weak loads read of other threads' stores that nothing orders.
func racy(f *Finding) string {
	return "a data race of the program decides what this does: " + f.SourceText
}

// mostGood bounds the inputs that are kept to be tried with forced conditions.
const mostGood = 6

// openRun runs the program again as a run of it, with other content for what is open: what nothing defines, and what is read as constant
// though it is written meanwhile (PTX ISA, ld.global.nc: through a cache that is not coherent). With races, what weak loads read of stores that
// race with them is open, too.
func (c *comparison) openRun(in *Input, l *emu.Launch, a *emu.Grid, races bool) (*emu.Grid, error) {
	g, err := c.prepared(c.source, in, l, fills[1])
	if err != nil {
		return nil, err
	}
	g.Meanwhile, g.Races = a, races
	return g, c.ran(g)
}

// prepared is a run of the program, or of one that was made of it, that has not begun.
func (c *comparison) prepared(code *emu.Code, in *Input, l *emu.Launch, fill uint64) (*emu.Grid, error) {
	m := emu.NewMemory(in.first(fill))
	in.fill(m, c.program)
	steps := c.o.MaxSteps
	if steps == 0 {
		steps = max(1<<20, int64(l.Blocks()*l.Threads())<<12)
		if c.short {
			steps = min(steps, max(1<<18, 2*c.longest, int64(l.Blocks()*l.Threads())<<10))
		}
	}
	quantum := []int{97, 5, 31}[in.Seed%3]
	g, err := emu.NewGrid(code, l, m, emu.Policy{Quantum: quantum, Reverse: in.Seed%2 == 1, Fill: fill, MaxSteps: steps, TrapEnds: true, Anywhere: c.depth > 0}, true)
	if err != nil {
		return nil, err
	}
	g.Kinds = c.kinds
	g.Outside = append([]uint64{0, 1, 2, 3, 0xffffffff, 4, 5, 7, 8}, constants(c.program)...)
	return g, nil
}

// ran runs a prepared grid. The bound of steps is no error.
func (c *comparison) ran(g *emu.Grid) error {
	err := g.Run()
	if c.spent += g.Steps; errors.Is(err, emu.ErrSteps) {
		return nil
	}
	if err == nil && !c.short {
		c.longest = max(c.longest, g.Steps)
	}
	return err
}

// launch is the launch of an input.
func (c *comparison) launch(in *Input) *emu.Launch {
	if in.Vars == nil {
		in.Vars = Place(c.program.Vars, c.machine.SharedBase)
	}
	return &emu.Launch{Grid: in.Grid, Block: in.Block, Cluster: in.Cluster, Dynamic: in.Dynamic, Params: in.Params, Vars: in.Vars}
}

// faulty reports whether a program has come to an end by what its input makes it do: an access that no memory allows, a trap.
func faulty(err error) bool {
	var f *emu.Fault
	var c *emu.Cannot
	return errors.As(err, &f) || errors.As(err, &c) && c.Input
}

// run compares the two codes on one input, or, where the program faults on it, on another one of its seed. Why it cannot is kept.
func (c *comparison) run(in *Input) {
	a, err := c.reference(in, c.launch(in), fills[0], nil)
	for w := in.World + 1; faulty(err) && w < Worlds && len(c.o.Inputs) == 0; w++ {
		in = c.choose(in.Seed, w)
		a, err = c.reference(in, c.launch(in), fills[0], nil)
	}
	if err == nil && a.Cut && c.o.Block == ([3]int{}) && in.Grid != [3]int{1, 1, 1} {
		in.Grid = [3]int{1, 1, 1} // it may end
		a, err = c.reference(in, c.launch(in), fills[0], nil)
	}
	if err == nil {
		err = c.compare(in, a)
	} else {
		err = fmt.Errorf("the program: %w", err)
	}
	if err != nil {
		c.Cannot[err.Error()]++
	}
}

// try compares the two codes on an input that may say nothing. of is what it is tried for; the machine code is executed only
// if it is for its sake, or if the program reaches something new.
func (c *comparison) try(in *Input, of spot) {
	a, err := c.reference(in, c.launch(in), fills[0], nil)
	if err == nil && a.Cut && c.o.Block == ([3]int{}) && in.Cluster == ([3]int{}) && in.Grid != [3]int{1, 1, 1} {
		small := *in
		small.Grid = [3]int{1, 1, 1} // it may end, with all that is new
		if b, err := c.reference(&small, c.launch(&small), fills[0], nil); err == nil && !b.Cut && (news(c.sourceCover, b.Cover) || !news(c.sourceCover, a.Cover)) {
			in, a = &small, b
		}
	}
	c.lacks(err)
	if err == nil && a.Cut && c.lacking(a.Cover) {
		if short, b := c.shorter(in); b != nil {
			in, a = short, b
		}
	}
	if err == nil && (of.machine || len(c.search.gained) > 0 || news(c.sourceCover, a.Cover)) {
		before := c.unwritten() + c.unshown()
		if c.lacks(c.compare(in, a)); c.unwritten()+c.unshown() < before {
			c.search.last = c.spent
		}
	}
}

// lacks keeps why a searched input says nothing, if that is no fault of the input: something is not understood.
func (c *comparison) lacks(err error) {
	var cannot *emu.Cannot
	if errors.As(err, &cannot) && !cannot.Input {
		c.Cannot[err.Error()]++
	}
}

// wild compares the two codes on inputs whose numbers have bits anywhere: what small ones hide shows. They say nothing where the program
// does not end, or faults.
func (c *comparison) wild() {
	for n := 0; n < 2 && len(c.Findings) == 0 && (n == 0 || c.spent < c.o.Search/2); n++ {
		in := c.wilder(n)
		a, err := c.reference(in, c.launch(in), fills[0], nil)
		if err == nil && !a.Cut {
			_ = c.compare(in, a)
		}
	}
}

// wilder is an input with numbers of any size, and a launch of as many dimensions as the program asks for.
func (c *comparison) wilder(n int) *Input {
	seed := (c.o.Seed+uint64(c.asked()))/3*3 + 2 + 3*uint64(n)
	in := c.choose(seed, Small)
	if c.o.Block != ([3]int{}) || c.program.Block != ([3]int{}) {
		return in
	}
	uses := uses(c.program)
	for axis := 1; axis < 3; axis++ {
		if uses>>axis&1 == 1 {
			in.Block[0], in.Block[axis] = max(in.Block[0]/2, 16), 2+2*n
		}
		if uses>>(3+axis)&1 == 1 && in.Cluster == ([3]int{}) {
			in.Grid[axis] = 2
		}
	}
	return in
}

// uses tells which numbers of its place in the launch a program asks for: tid and ctaid, a bit each.
func uses(p *ir.Program) (axes words) {
	for i := range p.Insts {
		if s, ok := p.Insts[i].Do.(*ir.Special); ok {
			at := ofSpecial(s.Reg)
			axes |= (at>>extents | at>>positions) & 0x3f
		}
	}
	return axes
}

// news reports whether a run performed something that those before have not.
func news(was, now *emu.Coverage) bool {
	for i := range now.Insts {
		if now.Insts[i] && !was.Insts[i] || now.Taken[i] && !was.Taken[i] || now.Passed[i] && !was.Passed[i] {
			return true
		}
	}
	return false
}

// compare compares the two codes on an input of which a is the program's run. What a run that says something performs is
// counted; the error is why it says nothing.
func (c *comparison) compare(in *Input, a *emu.Grid) error {
	l := c.launch(in)
	b, err := c.openRun(in, l, a, false)
	if err != nil {
		return fmt.Errorf("the program: %w", err)
	}
	open := opened(a, b)
	cover := emu.NewCoverage(c.code)
	f, ends, err := c.warps(in, a, open, cover, nil)
	if f != nil {
		if b, err = c.openRun(in, l, a, true); err != nil {
			return fmt.Errorf("the program: %s: %w", racy(f), err)
		}
		was := f
		open, cover = opened(a, b), emu.NewCoverage(c.code)
		if f, ends, err = c.warps(in, a, open, cover, nil); f == nil && err == nil {
			c.Cannot[racy(was)]++
		}
	}
	if early := c.o.Early; err == nil && early != nil {
		if f != nil {
			return errors.New("the machine code: it does something else without that, too")
		}
		f, _, err = c.warps(in, a, open, emu.NewCoverage(c.code), early)
	}
	if err != nil {
		return err
	}
	if f != nil {
		c.Findings = append(c.Findings, *f)
		return nil
	}
	if news(c.sourceCover, a.Cover) {
		c.good = append(c.good[:min(len(c.good), mostGood-1)], in)
	}
	var agree []bool
	if !defined(open) { // what a jump decides may be open
		agree = c.agree(in, [2]*emu.Grid{a, b}, ends)
	}
	if c.o.Search > 0 {
		c.show(in, a, agree)
		for at, is := range c.search.gained {
			c.search.borders[at] |= is
		}
	}
	if agree != nil {
		a.Cover.Taken, a.Cover.Passed = nil, nil
	}
	merge(c.sourceCover, a.Cover)
	if a.Cut {
		c.forget(cover, ends)
	}
	merge(c.machineCover, cover)
	c.take(a, ends)
	if a.Cut {
		c.Cut++
	} else {
		c.Runs++
	}
	return nil
}

// warps compares the warps of the machine code with a run of the program, one after the other, until one does something else.
func (c *comparison) warps(in *Input, a *emu.Grid, open []*undefined, cover *emu.Coverage, early *Early) (*Finding, []*lane, error) {
	var ends []*lane
	l := c.launch(in)
	for w, ref := range a.Warps {
		block, id := blockOf(a, l, w), ref.ID
		f, lanes, err := c.replayBoth(a, open, l, in, block, id, ref, cover, early)
		if err != nil {
			return nil, nil, fmt.Errorf("the machine code: %w", err)
		}
		if f != nil && c.tried > trialSteps*c.size() {
			return nil, nil, errors.New("the program: which of its loads matter takes too long to find out")
		}
		if f != nil {
			return f, nil, nil
		}
		ends = append(ends, lanes...)
	}
	return nil, ends, nil
}

// agree closes what is open in warps that do the same in both codes whichever of two contents nothing defines. What such a warp stores is
// compared, though PTX leaves it undefined: it is the same function of that content. ends are the lanes of all warps; the result tells which
// warps do.
func (c *comparison) agree(in *Input, runs [2]*emu.Grid, ends []*lane) (warps []bool) {
	l := c.launch(in)
	for w, lanes := 0, ends; len(lanes) >= emu.Lanes; w, lanes = w+1, lanes[emu.Lanes:] {
		agrees := true
		for i := 0; agrees && i < len(runs); i++ {
			g, p := runs[i], emu.Policy{Fill: fills[i], Reverse: i == 1, TrapEnds: true, Anywhere: c.depth > 0}
			r := c.newReplay(in, g, closed(g), c.code, l, blockOf(g, l, w), g.Warps[w].ID, p, reading{})
			agrees = r.run(c, g.Warps[w]) == nil
			c.spent += r.w.Steps
		}
		for _, th := range lanes[:emu.Lanes] {
			if agrees && th != nil {
				th.open = &undefined{}
			}
		}
		warps = append(warps, agrees)
	}
	return warps
}

// blockOf is the number of the block of a warp of a run.
func blockOf(g *emu.Grid, l *emu.Launch, warp int) int { return warp / max(1, len(g.Warps)/l.Blocks()) }

// closed says of a run that nothing is open in it.
func closed(g *emu.Grid) []*undefined {
	out := make([]*undefined, len(g.Records))
	for i := range out {
		out[i] = &undefined{}
	}
	return out
}

// defined reports whether all that a run of the program did is.
func defined(open []*undefined) bool {
	return !slices.ContainsFunc(open, func(u *undefined) bool { return u.all || len(u.values)+len(u.inputs)+len(u.words) > 0 })
}

func merge(to, from *emu.Coverage) {
	for i := range to.Insts {
		to.Insts[i] = to.Insts[i] || from.Insts[i]
	}
	for i := range from.Taken {
		to.Taken[i] = to.Taken[i] || from.Taken[i]
		to.Passed[i] = to.Passed[i] || from.Passed[i]
	}
}

// policies are both orders of diverged lanes, with two contents for what nothing defines. With the last one lanes come apart wherever machine
// code asks whether they are.
var policies = [...]emu.Policy{{Fill: fills[1], TrapEnds: true}, {Fill: fills[0], Reverse: true, TrapEnds: true}, {Fill: fills[1], Apart: true, TrapEnds: true}}

// policiesOf are those that machine code is executed with: all that may differ.
func policiesOf(machine *ir.Program) []emu.Policy {
	asks := slices.ContainsFunc(machine.Insts, func(in ir.Inst) bool {
		f, ok := in.Do.(*ir.Flow)
		return ok && (f.Kind == ir.JumpApart || f.Kind == ir.JumpTogether)
	})
	if !asks {
		return policies[:2]
	}
	return policies[:]
}

// reading is how machine code is read where it may perform one of several operations of the record: late loads are the first ones on which
// something depends, not the first ones that they can be; eager read-modify-writes are those of as many lanes as they can be, not of those that
// performed it together; where a barrier of the warp needs no instruction, a lane has met the others behind it when it reads what another warp
// has stored.
type reading struct{ late, eager, met bool }

var readings = [...]reading{{}, {late: true}, {eager: true}, {late: true, eager: true}, {met: true}, {late: true, met: true}, {eager: true, met: true},
	{late: true, eager: true, met: true}}

// inOrder are the readings, the one that was right last first.
func (c *comparison) inOrder() []reading {
	rest := slices.DeleteFunc(slices.Clone(readings[:]), func(r reading) bool { return r == c.reading })
	return append([]reading{c.reading}, rest...)
}

// replayBoth replays a warp with both orders of diverged lanes and two undefined contents. The code is right if it performs
// the record in one of the readings. The error is that nothing can be said.
func (c *comparison) replayBoth(g *emu.Grid, open []*undefined, l *emu.Launch, in *Input, block, id int, ref *emu.Warp,
	cover *emu.Coverage, early *Early) (*Finding, []*lane, error) {
	var found [len(policies)]*accuse
	var ends []*lane
	var last [len(policies)]*emu.Coverage
	var held [len(policies)]*otherwise
	again := func(i int) func(*emu.Grid, []*undefined, *emu.Code) error {
		return func(g *emu.Grid, open []*undefined, code *emu.Code) error {
			return c.newReplay(in, g, open, code, l, block, id, c.policies[i], readings[len(readings)-1]).run(c, ref)
		}
	}
	for i, p := range c.policies {
		for n, how := range c.inOrder() {
			begin := func() *replay { return c.newReplay(in, g, open, c.code, l, block, id, p, how) }
			r, seen := begin(), &otherwise{}
			if early != nil {
				r, seen = early.perform(c, ref, begin)
			}
			if c.o.Search > 0 && i == 0 && n == 0 && early == nil {
				c.search.follow(in, true, r.w)
			}
			err := r.run(c, ref)
			c.spent += r.w.Steps
			merge(cover, r.w.Cover)
			last[i] = r.w.Cover
			var a *accuse
			if err != nil && !errors.As(err, &a) {
				return nil, nil, err
			}
			if a != nil && !grouped(ref, r.w) {
				return nil, nil, &emu.Cannot{Inst: -1, Why: "the program asks which lanes are active, and others are"}
			}
			ends = r.lanes[:]
			c.Compared += r.compared()
			c.Early += seen.count
			if early == nil || a == nil || found[i] == nil { // what another content changes shows best as the code is written
				found[i], held[i] = a, seen
			}
			if a == nil {
				c.reading = how
				break
			}
		}
	}
	for i, a := range found {
		if a == nil {
			continue
		}
		f := &Finding{Rule: a.Rule, Why: a.Why, Input: in, Block: block, Warp: id, Lane: a.Lane, Reverse: i == 1, Both: found[0] != nil && found[1] != nil,
			Apart:  policies[i].Apart,
			Source: -1, Machine: int(a.Pc), Want: a.Want, Got: a.Got, Address: a.Word.Addr(), Early: early}
		if a.Event != nil {
			f.Source = int(a.Event.Inst)
			if a.Word == 0 { // an event has a place, a weak store its words
				f.Address = a.Event.Place.Addr
			}
		}
		if f.Source >= 0 {
			f.SourceNumber, f.SourceText = c.program.Insts[f.Source].Source, c.program.Insts[f.Source].Text
		}
		if f.Machine >= 0 {
			f.MachineAddr, f.MachineText = c.machine.Insts[f.Machine].Addr, c.machine.Insts[f.Machine].Text
		}
		if early != nil { // without it there is no difference
			shown := *early
			shown.Held, f.Early = held[i].in(f.Lane), &shown
			return f, nil, nil
		}
		approximate := approximates(c.program, g.Cover)
		forms := append(unproved(c.program, g.Cover), unproved(c.machine, last[i])...)
		if (approximate || len(forms) > 0) && c.restsOn(a, approximate, in, g, open, last[i], again(i)) {
			f.Approximate, f.Unproved = approximate, forms
		}
		return f, nil, nil
	}
	return nil, ends, nil
}

// grouped reports whether the lanes of a warp were told of the machine code what they were of the program: which of them are active. Machine code
// may ask again.
func grouped(program, machine *emu.Warp) bool {
	for l, told := range program.Together {
		at := 0
		for _, mask := range machine.Together[l] {
			switch {
			case at < len(told) && told[at] == mask:
				at++
			case len(told) > 0 && (at == 0 || told[at-1] != mask):
				return false
			}
		}
	}
	return true
}

// approximates reports whether a program performed an approximate function. Those that machine code begins exact divisions
// and roots with are refined until the result is exact.
func approximates(p *ir.Program, cover *emu.Coverage) bool {
	for i := range p.Insts {
		if cover.Insts[i] && p.Insts[i].Approximate() {
			return true
		}
	}
	return false
}

// run executes the warp and compares what is left at its end.
func (r *replay) run(c *comparison, ref *emu.Warp) error {
	most := 40*ref.Turns + 4096
	if r.grid.Cut {
		most = 2*ref.Turns + 2000 // behind the record nothing is compared
	}
	for !r.w.Done() {
		progress, err := r.w.Run(4096)
		var cut beyond
		switch fault := (*emu.Fault)(nil); {
		case errors.As(err, &cut):
			return nil
		case errors.As(err, &fault) && r.behind(fault.Thread%emu.Lanes):
			return nil
		case errors.As(err, &fault):
			a := &accuse{Rule: WrongAddress, Lane: max(0, fault.Thread%emu.Lanes), Pc: int32(fault.Inst), Why: fault.Why}
			if _, flows := r.w.Code.P.Insts[fault.Inst].Do.(*ir.Flow); flows {
				a.Rule = NotPerformed // a barrier of the warp
			}
			return a
		case err != nil:
			return err
		case !progress:
			return &emu.Cannot{Inst: -1, Why: "lanes wait for each other, where nobody waits for other warps"}
		case r.w.Turns > most && r.grid.Cut:
			return nil
		case r.w.Turns > most:
			return &accuse{Rule: DoesNotEnd, Pc: -1, Why: fmt.Sprintf("more than %d instructions where the program performs %d", most, ref.Turns)}
		}
	}
	for i, th := range r.lanes {
		if th == nil {
			continue
		}
		if err := th.end(i); err != nil {
			return err
		}
	}
	return nil
}

// behind reports whether a lane has come to the end of the record of a run that was cut: the program may have faulted there, too.
func (r *replay) behind(l int) bool {
	return l >= 0 && r.lanes[l] != nil && r.lanes[l].over()
}

func (r *replay) compared() (n int) {
	for _, th := range r.lanes {
		if th == nil {
			continue
		}
		n += th.at
		for _, e := range th.epochs {
			n += len(e)
		}
	}
	return n
}

// end compares what is left of the record, and the weak stores of all epochs.
func (l *lane) end(n int) error {
	if l.open.all {
		return &emu.Cannot{Inst: -1, Why: "what the program does depends on undefined content"}
	}
	if !l.cut {
		for i := l.at; i < len(l.rec.Events); i++ {
			e := &l.rec.Events[i]
			if l.skippable(i) || e.Kind == emu.EventFence {
				continue
			}
			return &accuse{Rule: NotPerformed, Lane: n, Pc: -1, Event: e, Want: e.Value, Why: "the machine code does not perform it"}
		}
	}
	err := l.compareRegions(n, func(k int) bool { return free(&l.rec.Events[k]) })
	if err != nil { // a dropped acquire separates nothing; that is asked only now, since it takes runs of the program
		err = l.compareRegions(n, func(k int) bool { return free(&l.rec.Events[k]) || l.dropped(k) })
	}
	return err
}

// compareRegions compares the weak stores of the regions that remain if some synchronisations separate nothing.
func (l *lane) compareRegions(n int, joins func(event int) bool) error {
	want, got := l.regions(l.rec.Epochs, joins), l.regions(l.epochs, joins)
	for i := range want {
		var g emu.Epoch
		if i < len(got) {
			g = got[i]
		}
		if l.cut && i >= len(got)-1 {
			break
		}
		if err := l.compareStores(n, i, want[i], g); err != nil {
			return err
		}
	}
	return nil
}

// regions joins the epochs between which the machine needs no instruction.
func (l *lane) regions(epochs []emu.Epoch, joins func(event int) bool) (out []emu.Epoch) {
	now := emu.Epoch{}
	k := 0
	for _, e := range epochs {
		for w, s := range e {
			t := now[w]
			now[w] = emu.Stored{Mask: t.Mask | s.Mask, Value: t.Value&^s.Mask | s.Value&s.Mask, Inst: s.Inst}
		}
		for k < len(l.rec.Events) && !l.rec.Events[k].Sync() {
			k++
		}
		if k < len(l.rec.Events) && !joins(k) {
			out = append(out, now)
			now = emu.Epoch{}
		}
		k++
	}
	return append(out, now)
}

// compareStores compares the weak stores of a region.
func (l *lane) compareStores(n, region int, want, got emu.Epoch) error {
	if sameStores(want, got) {
		return nil
	}
	for _, w := range sorted(want) {
		x, y := want[w], got[w]
		open := l.open.words[w]
		if d := (x.Mask ^ y.Mask) &^ open; d != 0 && x.Mask&^y.Mask&^open != 0 {
			return &accuse{Rule: NotPerformed, Lane: n, Pc: -1, Event: source(x), Word: w, Want: uint64(x.Value & x.Mask), Got: uint64(y.Value & y.Mask), Known: true,
				Why: fmt.Sprintf("%s: the program stores %#x, the machine code nothing", name(w), x.Value&x.Mask)}
		}
		if d := (x.Value ^ y.Value) & x.Mask & y.Mask &^ open; d != 0 {
			return &accuse{Rule: WrongValue, Lane: n, Pc: y.Inst, Event: source(x), Word: w, Want: uint64(x.Value & x.Mask), Got: uint64(y.Value & x.Mask), Known: true,
				Why: fmt.Sprintf("%s: the program stores %#x, the machine code %#x", name(w), x.Value&x.Mask, y.Value&x.Mask)}
		}
	}
	for _, w := range sorted(got) {
		if x, y := want[w], got[w]; y.Mask&^x.Mask&^l.open.words[w] != 0 {
			return &accuse{Rule: ExtraAccess, Lane: n, Pc: y.Inst, Word: w, Got: uint64(y.Value & y.Mask),
				Why: fmt.Sprintf("%s: the machine code stores %#x, the program nothing", name(w), y.Value&y.Mask)}
		}
	}
	return nil
}

// sameStores reports whether two regions store the same, whoever does.
func sameStores(a, b emu.Epoch) bool {
	return maps.EqualFunc(a, b, func(x, y emu.Stored) bool { return x.Mask == y.Mask && x.Value == y.Value })
}

func source(s emu.Stored) *emu.Event { return &emu.Event{Inst: s.Inst, Kind: emu.EventStore} }

func name(w emu.Word) string {
	if w.Shared() {
		return fmt.Sprintf("shared %#x", w.Addr())
	}
	return fmt.Sprintf("%#x", w.Addr())
}

func sorted(e emu.Epoch) []emu.Word { return slices.Sorted(maps.Keys(e)) }

// undefined says what of a thread's record depends on undefined content.
type undefined struct {
	all    bool
	values map[int]bool // events whose value does
	inputs map[int]bool // read-modify-writes whose operands do
	words  map[emu.Word]uint32
}

func (u *undefined) value(i int) bool   { return u.values[i] }
func (u *undefined) operand(i int) bool { return u.inputs[i] }

// opened compares two runs of the program with the same schedule and other undefined content.
func opened(a, b *emu.Grid) []*undefined {
	out := make([]*undefined, len(a.Records))
	for i := range out {
		u := &undefined{values: map[int]bool{}, inputs: map[int]bool{}, words: map[emu.Word]uint32{}}
		out[i] = u
		x, y := a.Records[i], b.Records[i]
		if len(x.Events) != len(y.Events) {
			u.all = true
			continue
		}
		for k := range x.Events {
			p, q := x.Events[k], y.Events[k]
			if p.Value != q.Value || p.High != q.High {
				u.values[k] = true
			}
			if p.Operand != q.Operand || p.Compare != q.Compare || p.Upper != q.Upper {
				u.inputs[k] = true
			}
			if p.Kind != q.Kind || p.Place != q.Place || p.Inst != q.Inst {
				u.all = true
			}
		}
		for k := range x.Epochs {
			u.differ(x.Epochs[k], y.Epochs[k])
			u.differ(y.Epochs[k], x.Epochs[k])
		}
	}
	return out
}

// differ marks words that two epochs store differently.
func (u *undefined) differ(x, y emu.Epoch) {
	for w, s := range x {
		if (s.Value^y[w].Value)&s.Mask != 0 || s.Mask&^y[w].Mask != 0 {
			u.words[w] |= s.Mask // bits that agree may do so by chance
		}
	}
}
