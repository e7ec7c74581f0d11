package refine

import (
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// search chooses inputs by what runs have not reached. Of each jump with one outcome, and each guarded instruction that nobody has
// performed, it knows what the comparison that decides has compared, and on what of the input that depends: the next input makes
// the operands equal, or lets one pass the other.
type search struct {
	*comparison
	numbers  map[int64]int // words of parameters, by offset: their numbers
	offsets  []int64
	constant map[bool]map[ir.Reg]uint64
	goals    map[spot]*goal
	order    []spot
	tried    map[string]bool
	shape    int
	// borders tell of the program's comparisons whether the operands were equal, or the first one less or greater by one: there a
	// comparison shows what it is. edges are goals of those of which that is not so.
	borders  map[int32]uint8
	edges    map[int32]*goal
	costs    map[*Input]int64 // instructions of lanes of the program's runs
	cheap    map[int32]*Input // the cheapest input on which the machine code makes a comparison
	launches int              // of shapes that were tried for themselves
	lead     lead
	scaled   map[int32][]uint64 // see scales
	last     int64              // what was spent when something was compared for the first time
}

// spot is an instruction of one of the two codes.
type spot struct {
	machine bool
	inst    int32
	slight  bool // to compare is worth it for its own sake if it is cheap
}

func newSearch(c *comparison) *search {
	return &search{comparison: c, numbers: map[int64]int{}, goals: map[spot]*goal{}, borders: map[int32]uint8{},
		edges: map[int32]*goal{}, costs: map[*Input]int64{}, cheap: map[int32]*Input{}, tried: map[string]bool{}, scaled: map[int32][]uint64{},
		constant: map[bool]map[ir.Reg]uint64{false: values(c.program), true: values(c.machine)}}
}

// params is the set of the words of a part of the parameters.
func (s *search) params(at int64, bytes int) (from words) {
	for end := at + int64(bytes); at < end; at += 4 {
		w := at &^ 3
		n, ok := s.numbers[w]
		if !ok {
			if n = len(s.offsets); n >= maxWords {
				continue
			}
			s.numbers[w] = n
			s.offsets = append(s.offsets, w)
		}
		from |= 1 << n
	}
	return from
}

// next is the input to try next, and for which goal; nil if there is none.
func (s *search) next() (*Input, spot) {
	for {
		var best *goal
		var of spot
		var first rank
		for _, at := range s.order {
			g := s.goals[at]
			if s.plan(g); len(g.todo) == 0 || g.tries >= mostTries || !s.isOpen(at) {
				continue
			}
			if r := s.rank(at, g); best == nil || r.compare(first) < 0 {
				best, of, first = g, at, r
			}
		}
		if best == nil {
			best = s.edge()
		}
		if best == nil {
			return s.launched(), spot{machine: true}
		}
		next := best.todo[0]
		best.todo = best.todo[1:]
		if s.fresh(next.in) {
			best.tries++
			best.cost += next.cost
			return next.in, of
		}
	}
}

// mostEdges bounds the inputs that are made for the border of one comparison.
const mostEdges = 6

// beside is told of a comparison whose border was not seen.
func (s *search) beside(x *seen) {
	if s.borders[x.at] == 7 {
		return
	}
	g := s.edges[x.at]
	if g == nil {
		g = newGoal()
		s.edges[x.at] = g
	}
	if g.tries < mostEdges {
		s.note(g, x)
	}
}

// edge is the comparison whose border is looked for next, nil if there is none.
func (s *search) edge() *goal {
	for _, at := range slices.Sorted(maps.Keys(s.edges)) {
		g := s.edges[at]
		if s.borders[at] == 7 || g.tries >= mostEdges {
			continue
		}
		if s.plan(g); len(g.todo) > 0 {
			return g
		}
	}
	return nil
}

// launched is an input with another launch, as long as an operation was not compared: what it writes may be defined then. Nil if there
// is none.
func (s *search) launched() *Input {
	if s.o.Block != ([3]int{}) || len(s.o.Inputs) > 0 {
		return nil
	}
	for ; s.launches < len(shapes) && s.unwritten() > 0; s.launches++ {
		if in := s.shaped(s.choose(s.o.Seed+uint64(s.launches), Small), s.launches); s.fresh(in) {
			return in
		}
	}
	return nil
}

// goesOn reports whether more is spent: what was asked for, and more as long as that leaves less to be compared, or, of the operations that write
// memory, may do so. That is more for blocks of many threads, of which each run costs more.
func (s *search) goesOn() bool {
	writes, outcomes, more := s.unwritten(), s.unshown(), s.o.Search*s.size()
	switch since := s.spent - s.last; {
	case s.spent < s.o.Search:
		return true
	case s.spent >= 4*more:
		return false
	default:
		return since < s.o.Search && writes+outcomes > 0 || since < 2*more && writes > 0
	}
}

// size is how large blocks are, 1 to 4: in units of 256 threads.
func (c *comparison) size() int64 {
	b := c.program.Block
	return int64(min(max(b[0]*b[1]*b[2]/256, 1), 4))
}

// unwritten counts the operations of both codes that write memory and were not compared.
func (c *comparison) unwritten() (n int) {
	for i := range c.program.Insts {
		if writes(c.program.Insts[i].Do) && (c.compared == nil || !c.compared[i]) {
			n++
		}
	}
	for i := range c.machine.Insts {
		if writes(c.machine.Insts[i].Do) && !c.machineCover.Insts[i] && !c.avoided[int32(i)] {
			n++
		}
	}
	return n
}

// shorter is an input that differs in one number, and on which the program ends and still does something that was not compared. Nil if
// there is none.
func (c *comparison) shorter(of *Input) (*Input, *run) {
	for _, at := range c.counts() {
		v := c.search.param(of, at, false)
		if v <= 2 || v > 1<<16 {
			continue
		}
		for _, to := range []uint64{1, v/16 + 1} {
			if c.shortened >= c.o.Search/2 {
				return nil, nil
			}
			in, spent := c.search.with(of, at, false, to), c.spent
			a, err := c.reference(in)
			if c.shortened += c.spent - spent; err == nil && !a.Cut && c.promises(a) {
				return in, a
			}
		}
	}
	return nil, nil
}

// counts are the words of the parameters on which conditions depend and that are no part of an address.
func (c *comparison) counts() (out []int64) {
	used := c.used
	address := func(at int64) bool {
		u, ok := used[at]
		return ok && (u.kind == emu.Pointer || u.kind == emu.Shared || u.kind == emu.Function)
	}
	for _, at := range c.search.offsets {
		if !address(at) && !address(at-4) {
			out = append(out, at)
		}
	}
	return out
}

// promises reports whether a run did something that was not compared, or shows an outcome that none has shown.
func (c *comparison) promises(r *run) bool { return c.uncompared(r.Cover) || r.news(c) }

// uncompared reports whether a run of the program performed an operation that writes memory and that was not compared.
func (c *comparison) uncompared(cover *emu.Coverage) bool {
	for i := range c.program.Insts {
		if cover.Insts[i] && writes(c.program.Insts[i].Do) && (c.compared == nil || !c.compared[i]) {
			return true
		}
	}
	return false
}

// unshown counts the outcomes that comparisons and conditions of the program have not shown.
func (c *comparison) unshown() (n int) {
	for i, s := range c.shown {
		n += bits.OnesCount8(c.needs()[i] &^ s &^ seenEqual)
	}
	return n
}

// fresh reports whether an input was not tried.
func (s *search) fresh(in *Input) bool {
	key := append([]byte(nil), in.Params...)
	for _, n := range slices.Concat([]int{int(in.Seed), int(in.World), int(in.Flag), in.Started}, in.Grid[:], in.Block[:]) {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	for _, x := range in.Memory {
		key = append(binary.LittleEndian.AppendUint64(key, x.Addr), x.Data...)
	}
	for _, x := range in.Swaps {
		key = binary.LittleEndian.AppendUint64(key, uint64(x.From)<<32|uint64(x.To))
	}
	if s.tried[string(key)] {
		return false
	}
	s.tried[string(key)] = true
	return true
}

// follow has the conditions of a grid's or a warp's code seen. It returns what is filled with what is seen: see run.
func (s *search) follow(in *Input, machine bool, warps ...*emu.Warp) (shows map[showing][]int, gained map[int32]uint8) {
	h := &shadow{search: s, in: in, p: s.program, cover: s.sourceCover, machine: machine,
		shows: map[showing][]int{}, gained: map[int32]uint8{}}
	if machine {
		h.p, h.cover = s.machine, s.machineCover
	}
	for i, w := range warps {
		h.follow(i, w)
	}
	return h.shows, h.gained
}
