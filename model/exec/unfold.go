package exec

import (
	"optcheck/litmus"
	"optcheck/model/rel"
)

// Unfold lists the paths through each thread's code, for models that run programs instead of
// judging executions. unroll is as in Options. Paths that need more iterations are in the list,
// with Cut set; they have no end.
func (p *Program) Unfold(unroll int) ([][]*Path, error) {
	if unroll <= 0 {
		unroll = 2
	}
	if err := p.shared(); err != nil {
		return nil, err
	}
	if !p.divided {
		if err := p.entire(); err != nil {
			return nil, err
		}
	}
	list, _, err := p.paths(&Options{Unroll: unroll}, &pathMem{}, false)
	return list, err
}

// Divided is the program with its locations divided into cells, for models that know accesses of several sizes, and asynchronous operations.
func (p *Program) Divided() *Program { return p.split() }

// MaxEvents is the largest number of events of an execution.
const MaxEvents = rel.MaxEvents

// Place returns where a thread runs. A thread that the test places nowhere is alone in
// its CTA.
func (p *Program) Place(thread int) litmus.Place { return p.threads[thread].place }

// Init lists the initial values of the cells: of the locations, where they are not divided. An alias has its own entry,
// which nothing uses.
func (p *Program) Init() []int64 {
	out := make([]int64, len(p.cells))
	for l := range p.cells {
		out[l] = p.init(l)
	}
	return out
}

// InShared reports whether a cell lies in shared memory.
func (p *Program) InShared(cell int) bool { return p.space(int16(cell)) == litmus.Shared }

// SameRange reports whether two accesses are to the same bytes.
func (p *Program) SameRange(a, b *Event) bool {
	return p.cells[a.Loc].loc == p.cells[b.Loc].loc && a.Bits == b.Bits && a.Off == b.Off
}

// Arrivals is how many an mbarrier expects in its first phase.
func (p *Program) Arrivals(object int16) int64 { return p.locs[object].init }

// Covers reports whether a fence may order an event: it may be restricted to accesses of some objects. An mbarrier is one, the barrier of a
// cluster lies nowhere.
func (p *Program) Covers(e, fence *Event) bool {
	root := e.Obj
	if e.Loc >= 0 {
		root = p.cells[e.Loc].loc
	}
	switch {
	case fence.Kind != Fence || fence.Only == litmus.AllObjects:
		return true
	case e.Kind == Sync && e.Obj < 0:
		return true
	case e.Kind != Sync && e.Loc < 0:
		return false
	}
	return p.in(root, fence.Only, p.threads[fence.Thread].place)
}

// Async lists the orders of a path's asynchronous operations, as pairs of events.
func (p *Path) Async() [][2]int16 { return p.async }

// Deps returns the reads of its path, as bits, that decide an event's address, its
// data, and whether it is performed.
func (e *Event) Deps() (addr, data, ctrl uint64) { return e.addr, e.data, e.ctrl }

// Value returns what a write event stores when reads holds the values that the path's reads, by
// number of event, got from memory. All values that it depends on must be known.
func (p *Path) Value(event int, reads []int64) int64 {
	return p.now(p.Events[event].val, reads)
}

// Holds reports whether those conditions of the path hold that the known reads decide; known is
// a set of events.
func (p *Path) Holds(known uint64, reads []int64) bool {
	for i := range p.conds {
		c := &p.conds[i]
		if p.support(c.v)&^known == 0 && (p.now(c.v, reads) == c.want) != c.eq {
			return false
		}
	}
	return true
}

func (p *Path) now(v value, reads []int64) int64 {
	if v.isConst() {
		return v.k
	}
	var buf evalBuf
	k, _ := p.eval(v, ^uint64(0), reads, &buf)
	return k
}

// Outcome returns the final state of a run: one path per thread, the values of its reads,
// and what memory holds at the end, by cell.
func (p *Program) Outcome(paths []*Path, reads [][]int64, memory []int64) []int64 {
	out := make([]int64, len(p.Terms))
	for i, x := range p.Terms {
		k := p.termIdx[i]
		if x.Kind == litmus.TermReg {
			out[i] = paths[x.Thread].now(paths[x.Thread].finals[k], reads[x.Thread])
		} else {
			out[i] = p.content(k, memory)
		}
	}
	return out
}

// content is what a location holds.
func (p *Program) content(k int16, memory []int64) (v int64) {
	l := &p.locs[k]
	if l.n == 1 {
		return memory[l.first]
	}
	for c := l.first; c < l.first+l.n; c++ {
		v |= shifted(memory[c], 8*(p.cells[c].off-l.off))
	}
	if l.size == 4 && l.of < 0 {
		v = litmus.S32.Fit(v)
	}
	return v
}
