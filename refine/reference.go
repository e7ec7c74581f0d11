package refine

import (
	"context"
	"errors"

	"optcheck/emu"
)

// fills are two contents for what nothing defines: the same for both codes, so that what hides one hides it in both.
var fills = [2]uint64{0, 0x5a5a5a5a5a5a5a5a}

// run is a run of the program, what it shows of comparisons and conditions, and warps that do, and of which borders it has operands
// that none before has had.
type run struct {
	*emu.Grid
	shows  map[showing][]int
	gained map[int32]uint8
}

// reference runs the program.
func (c *comparison) reference(in *Input) (*run, error) {
	g, err := c.prepared(c.source, in, c.launch(in), fills[0])
	if err != nil {
		return nil, err
	}
	r := &run{Grid: g}
	if c.o.Search > 0 {
		r.shows, r.gained = c.search.follow(in, false, g.Warps...)
	}
	err = c.ran(g)
	c.search.costs[in] = g.Steps
	return r, err
}

// reachesMore reports whether a run performs something that none has performed, or shows an outcome that none has shown.
func (c *comparison) reachesMore(r *run) bool { return news(c.sourceCover, r.Cover) || r.news(c) }

// news reports whether a run shows an outcome of a condition that none has shown.
func (r *run) news(c *comparison) bool {
	for at := range r.shows {
		if at.what&c.lacks(at.inst) != 0 {
			return true
		}
	}
	return false
}

// racy says of a difference that it is none once it is open what weak loads read of other threads' stores that nothing orders.
func racy(f *Finding) string {
	return "a data race of the program decides what this does: " + f.SourceText
}

// shuffled is the first seed of inputs on which warps run in random order, and clocks at several speeds.
const shuffled = 1 << 16

// ticks are by how much clocks are later each time that a thread reads them: who waits for a time polls often, or once.
var ticks = [...]uint64{64, 1 << 16, 1 << 24}

// shuffle compares the codes on inputs on which warps run in random order: one may wait for another.
func (c *comparison) shuffle(ctx context.Context) {
	for n := uint64(0); n < 6 && c.lacking() > 0 && len(c.Findings) == 0 && ctx.Err() == nil; n++ {
		c.try(c.choose(c.o.Seed+shuffled+n, Small), spot{machine: true})
	}
}

// mostGood bounds the inputs that are kept to be tried with forced conditions.
const mostGood = 6

// reopened says what another run of the program has other content for: what nothing defines; what is read as constant though it is written
// meanwhile (PTX ISA, ld.global.nc: through a cache that is not coherent); and, with races, what weak loads read of stores that race with them.
type reopened struct {
	fill             uint64
	meanwhile, races bool
}

// causes are what a difference is looked at with once more, each of its own, too: where two show at once, one may hide the other. The last one
// has all of them.
var causes = [...]reopened{{fill: fills[1]}, {fill: fills[0], meanwhile: true}, {fill: fills[1], meanwhile: true, races: true}}

// openRun runs the program again, as another run of what is open in a run of it.
func (c *comparison) openRun(in *Input, l *emu.Launch, a *emu.Grid, how reopened) (*emu.Grid, error) {
	g, err := c.prepared(c.source, in, l, how.fill)
	if err != nil {
		return nil, err
	}
	if g.Races = how.races; how.meanwhile {
		g.Meanwhile = a
	}
	return g, c.ran(g)
}

// prepared is a run of the program, or of one that was made of it, that has not begun.
func (c *comparison) prepared(code *emu.Code, in *Input, l *emu.Launch, fill uint64) (*emu.Grid, error) {
	m := emu.NewMemory(in.first(fill))
	in.fill(m, c.program)
	steps := c.o.MaxSteps
	if steps == 0 {
		steps = max(1<<20, int64(in.threads())<<12)
		if c.short {
			steps = min(steps, max(1<<18, 2*c.longest, int64(in.threads())<<10))
		}
	}
	quantum := []int{97, 5, 31}[in.Seed%3]
	var shuffle, tick uint64
	if in.Seed >= shuffled {
		shuffle, tick = in.Seed, ticks[in.Seed%uint64(len(ticks))]
	}
	g, err := emu.NewGrid(code, l, m, emu.Policy{Shuffle: shuffle, Tick: tick, Quantum: quantum, Reverse: in.Seed%2 == 1, Fill: fill,
		MaxSteps: steps, Done: c.done, TrapEnds: true, Anywhere: c.depth > 0}, true)
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

// threads is how many threads run on an input.
func (in *Input) threads() int {
	l := in.launch()
	return l.Blocks() * l.Threads()
}

// launch is the launch of an input.
func (c *comparison) launch(in *Input) *emu.Launch {
	if in.Vars == nil {
		in.Vars = Addresses(c.program, c.machine)
	}
	l := in.launch()
	l.Params, l.Constants = in.Params[:min(int64(len(in.Params)), size(c.program.Params))], c.constants(in)
	return l
}
