package verify

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/emu"
	"optcheck/internal/plain"
	"optcheck/ir"
	"optcheck/refine"
)

// A kernel is written for some shapes of its launch, and for numbers that fit each other: rows of a matrix overlap where it is narrower
// than the block. Where nobody has said how a kernel is launched, a race that another launch with the same operations does not have is a
// question.

// maxDoubting bounds the instructions of threads that the search for other launches executes, maxAttempt those of one.
const (
	maxDoubting = 1 << 25
	maxAttempt  = 1 << 22
)

// doubt looks for launches without the races, endless waits and reads of nothing of a result whose launch was chosen. chosen are the
// choices of the inputs.
func (o *Options) doubt(p *ir.Program, lines Lines, r *Result, chosen []choice) error {
	left := slices.DeleteFunc(slices.Clone(r.Found), func(f *Finding) bool {
		return f.Minor() || f.Rule != DataRace && f.Rule != Stuck && f.Rule != Uninitialised
	})
	if o.Launch.Block != ([3]int{}) {
		for _, f := range r.Found {
			f.astray = false
		}
		return nil
	}
	all, steps, oneBlock := len(left), int64(maxDoubting), !asksForBlock(p)
	shown := map[*Finding]bool{} // by inputs that are not directed to a number
	for _, t := range o.others(p, chosen, left) {
		if len(left) == 0 || steps <= 0 {
			break
		}
		x, did, err := o.other(p, lines, t, left)
		if err != nil {
			return err
		}
		if !t.whole {
			steps -= x.run.Steps
		}
		if did == nil {
			continue
		}
		shows := map[sourceKey]bool{}
		for _, f := range x.found.list {
			shows[keyOf(p, f)] = true
		}
		for _, f := range left {
			shown[f] = shown[f] || t.with.number == nil && shows[keyOf(p, f)]
		}
		left = slices.DeleteFunc(left, func(f *Finding) bool {
			if shows[keyOf(p, f)] || !x.run.Ended && (f.Rule != Stuck || !x.cannot) || !did.both(f, x.cover, oneBlock) {
				return false
			}
			with := append([]string{"grid " + commas(x.grid[0]), "block " + commas(x.grid[1])}, o.numbersText(p, x.input)...)
			if t.with.content != anyhow {
				with = append(with, t.with.content.String())
			}
			f.Unless = strings.Join(with, ", ")
			return true
		})
	}
	left = slices.DeleteFunc(left, func(f *Finding) bool {
		f.astray = f.astray || f.made.with.number != nil && !shown[f]
		return f.astray
	})
	if n := all - len(left); n > 0 {
		r.Unknown = append(r.Unknown, plain.Count(n, "finding")+" may be the chosen launch's: another launch, or other numbers, do the same without; give --grid, --block and --arg")
	}
	return nil
}

// attempt is a choice of an input; whole tells that it was run before, and may take as long as then.
type attempt struct {
	input int
	with  choice
	whole bool
}

// others are other choices than those that were made first: those of the other inputs, then other shapes and numbers that fit each
// other, with the values to which inputs were directed that show a finding, and memory whose integers are zero or count up: what threads
// do at places that they find in memory says little if two places there are the same by chance.
func (o *Options) others(p *ir.Program, chosen []choice, of []*Finding) (out []attempt) {
	for i, c := range chosen[:o.Inputs] {
		out = append(out, attempt{i, c, true})
	}
	numbers := []*number{nil}
	for _, f := range of {
		if n := f.made.with.number; !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	for _, s := range shapes(p) {
		for _, w := range []refine.World{refine.Alike, refine.Rising, chosen[0].world} {
			for _, n := range numbers {
				out = append(out, attempt{0, choice{world: w, pointers: chosen[0].pointers, number: n, shape: s}, false})
			}
		}
	}
	for _, s := range shapes(p) {
		for _, c := range []content{zeros, rising} {
			out = append(out, attempt{0, choice{world: refine.Alike, pointers: chosen[0].pointers, shape: s, content: c}, false})
		}
	}
	return out
}

// other runs another choice, and tells who performed the operations of findings; nobody does if the run says nothing. One that stops at
// what is not understood, shows that its threads do not wait for ever.
func (o *Options) other(p *ir.Program, lines Lines, t attempt, of []*Finding) (*outcome, *doers, error) {
	did := &doers{}
	again := *o
	if !t.whole {
		again.Steps = min(o.Steps, maxAttempt)
	}
	again.watch = func(m *monitor) {
		did.monitor, did.of = m, map[int32]*doer{}
		for _, f := range of {
			if f.Second != nil {
				did.of[int32(f.First.Inst)], did.of[int32(f.Second.Inst)] = &doer{}, &doer{}
			}
		}
		m.grid.Through(did)
	}
	x, err := again.once(p, lines, t.input, 0, t.with, false)
	if err != nil || len(x.suspect) > 0 || x.run.Ended && len(x.unknown) > 0 {
		return x, nil, err
	}
	return x, did, err
}

// shapes are launches of a kernel: blocks of as many dimensions as it asks for.
func shapes(p *ir.Program) (out []shaped) {
	grid := [3]int{2, 1, 1}
	if !asksForBlock(p) {
		grid[0] = 1
	}
	for d := range grid {
		if d > 0 && reads(p, ir.CtaidX+ir.SpecialReg(d), ir.CtaidX+ir.SpecialReg(d)) {
			grid[d] = 2
		}
		grid[d] *= max(p.Cluster[d], 1)
	}
	blocks := [][3]int{{emu.Lanes, 1, 1}, {64, 1, 1}, {128, 1, 1}, {256, 1, 1}, {512, 1, 1}, {1024, 1, 1}}
	switch {
	case p.Block != [3]int{}:
		blocks = [][3]int{p.Block}
	case reads(p, ir.TidZ, ir.TidZ):
		blocks = [][3]int{{4, 4, 4}, {8, 8, 8}}
	case reads(p, ir.TidY, ir.TidY):
		blocks = [][3]int{{16, 16, 1}, {32, 32, 1}, {32, 8, 1}, {8, 8, 1}}
	}
	for _, b := range blocks {
		out = append(out, shaped{grid, b})
	}
	return out
}

// unequal looks whether racing writes that stored the same store something else if buffers that are zero hold other numbers.
func (o *Options) unequal(p *ir.Program, lines Lines, r *Result, chosen []choice) error {
	zeros := slices.ContainsFunc(o.Launch.Args, func(a Arg) bool { return a.Buffer && len(a.Data) == 0 })
	if !zeros || !slices.ContainsFunc(r.Found, func(f *Finding) bool { return f.SameValue }) {
		return nil
	}
	with := chosen[0]
	with.filled = true
	x, err := o.once(p, lines, 0, 0, with, false)
	if err != nil {
		return err
	}
	for _, f := range r.Found {
		for _, y := range x.found.list {
			f.SameValue = f.SameValue && (keyOf(p, f) != keyOf(p, y) || y.SameValue)
		}
	}
	return nil
}

// asksForBlock reports whether a kernel asks in which block a thread is: one that does not is seldom meant for several.
func asksForBlock(p *ir.Program) bool {
	return reads(p, ir.CtaidX, ir.CtaidZ) || reads(p, ir.ClusterIDX, ir.ClusterCtarank) || reads(p, ir.SMID, ir.SMID) || reads(p, ir.VirtualID, ir.VirtualID)
}

// reads reports whether a program reads one of some special registers.
func reads(p *ir.Program, from, to ir.SpecialReg) bool {
	return slices.ContainsFunc(p.Insts, func(in ir.Inst) bool {
		s, ok := in.Do.(*ir.Special)
		return ok && s.Reg >= from && s.Reg <= to
	})
}

// doers keep which threads perform some instructions.
type doers struct {
	*monitor
	of map[int32]*doer
}

// doer is a thread that performs an instruction, and how far from it others do.
type doer struct {
	one   id
	any   bool
	reach distance
}

// distance is how far apart two threads are.
type distance uint8

const (
	itself distance = iota
	inWarp
	inBlock
	elsewhere
)

func farness(a, b id) distance {
	switch {
	case a.block != b.block:
		return elsewhere
	case a.warp != b.warp:
		return inBlock
	case a.lane != b.lane:
		return inWarp
	}
	return itself
}

func (d *doer) add(by id) {
	if !d.any {
		d.one, d.any = by, true
	}
	d.reach = max(d.reach, farness(by, d.one))
}

func (d *doers) note(w *emu.Warp, pc int32, act uint32) {
	if x := d.of[pc]; x != nil {
		lanes(act, func(l int) { x.add(d.id(w, l)) })
	}
}

// Access notes who does it.
func (d *doers) Access(w *emu.Warp, pc int32, a *ir.Access, act uint32, at *[emu.Lanes]emu.Place) error {
	d.note(w, pc, act)
	return d.monitor.Access(w, pc, a, act, at)
}

// Copy notes who does it.
func (d *doers) Copy(w *emu.Warp, pc int32, c *ir.Copy, act uint32, to, from *[emu.Lanes]emu.Place) error {
	d.note(w, pc, act)
	return d.monitor.Copy(w, pc, c, act, to, from)
}

// both reports whether the operations of a finding were performed by threads as far apart as the finding's; those of a kernel that is
// for one block, by threads of it.
func (d *doers) both(f *Finding, cover *emu.Coverage, oneBlock bool) bool {
	if f.Second == nil {
		return cover.Insts[f.First.Inst]
	}
	a, b := d.of[int32(f.First.Inst)], d.of[int32(f.Second.Inst)]
	was := farness(f.First.Thread.id(), f.Second.Thread.id())
	switch {
	case !a.any || !b.any:
		return false
	case was == elsewhere && oneBlock:
		return true
	}
	return max(a.reach, b.reach, farness(a.one, b.one)) >= was
}

func (t Thread) id() id {
	return id{int32(t.Block), int32(t.Thread / emu.Lanes), uint8(t.Thread % emu.Lanes)}
}

func commas(d [3]int) string { return fmt.Sprintf("%d,%d,%d", d[0], d[1], d[2]) }

// numbersText are the parameters of an input that are numbers and were chosen.
func (o *Options) numbersText(p *ir.Program, in *refine.Input) (out []string) {
	for i, v := range p.Params {
		b := in.Params[v.Offset:min(v.Offset+v.Size, int64(len(in.Params)))]
		if n := emu.Number(b[:min(len(b), slotBytes)]); len(b) <= slotBytes && n < 1<<32 && !o.isGiven(p, i) {
			out = append(out, fmt.Sprintf("%s %d", parameter(o.param(p, i)), n))
		}
	}
	return out
}
