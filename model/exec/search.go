package exec

import (
	"context"
	"fmt"
	"math"

	"optcheck/litmus"
	"optcheck/model/cat"
	"optcheck/model/rel"
)

// worker holds the memory of one judgement, reused for the next.
type worker struct {
	e    *Engine
	pl   *plans
	m    *cat.Machine
	rare bool // the model needs the interpreter
	it   interp
	ctx  context.Context
	opt  Options
	p    *Program
	res  *Result
	dom  [][]int64
	err  error // ends the search
	stop bool  // enough is known, or a limit was reached

	g         graph
	pick      []*Path
	picked    []int // the numbers of the paths among those of their threads
	twins     []int // of a question of races: the thread before with the same code at the same place, -1
	rf        rel.Rel
	co        rel.Rel
	fr        rel.Rel
	sf        rel.Rel
	fw        rel.Set
	arena     rel.Arena
	src       []int16  // write that each event (a read) reads from, -1 none
	unread    []int16  // number of readers of each event (a write)
	val       []int64  // value of each event (a read), where known
	known     []uint64 // per thread: reads of its path with known values
	plain     bool     // all values are constants: nothing to propagate
	deep      bool     // many candidates: look at partial executions
	saturates bool     // very many: look what follows from partial executions
	multi     []int16  // locations with several writes besides the initial one
	class     []int16  // symmetry class of each event, -1 none
	weight    uint64   // executions that the current one represents
	buf       evalBuf
	state     []int64
	final     []int16 // last write of each location
	sols      [][]int64
	solved    bool
	index     map[string]int
	keyBuf    []byte
	ticks     uint64
	fault     string
	waits     bool // some thread stays at a barrier forever
	orders    []order
	left      []int16 // stack of the writes left to order
	mem       pathMem
	pairsSF   [][2]int16
	lazy      bool // the order of the fences is determined on demand
	fenceSearch
	observe []bool // locations whose final value is requested
	cand    Candidate
}

func (w *worker) judge(ctx context.Context, p *Program, o Options) (*Result, error) {
	w.ctx, w.opt, w.p, w.err, w.stop, w.ticks, w.dom = ctx, o, p, nil, false, 0, nil
	w.res = &Result{Terms: p.Terms}
	w.index = nil
	if w.m != nil {
		w.m.Ctx = ctx
	}
	defer func() {
		w.res, w.p, w.ctx, w.opt.Visit, w.dom = nil, nil, nil, nil, nil
		if w.m != nil {
			w.m.Ctx = nil
		}
	}()
	w.left = w.left[:0]
	w.mem.used = 0
	list, dom, err := p.paths(&o, &w.mem, p.mayWait())
	if err != nil {
		return nil, err
	}
	w.dom = dom
	w.observe = append(w.observe[:0], make([]bool, len(p.cells))...)
	for i, x := range p.Terms {
		if x.Kind == litmus.TermLoc {
			l := &p.locs[p.termIdx[i]]
			for k := range l.n {
				w.observe[l.first+k] = true
			}
		}
	}
	used := make([]bool, len(p.cells))
	for _, paths := range list {
		for _, path := range paths {
			w.res.Cut = w.res.Cut || path.Cut
			for i := range path.Events {
				if l := path.Events[i].Loc; l >= 0 {
					used[l] = true
				}
			}
		}
	}
	if len(w.pick) != len(list) {
		w.pick, w.picked = make([]*Path, len(list)), make([]int, len(list))
	}
	if w.twins = w.twins[:0]; o.Races {
		w.twins = p.twins(w.twins)
	}
	w.combine(list, used, 0)
	if w.err != nil {
		return nil, w.err
	}
	w.finish()
	return w.res, nil
}

// combine chooses a path for every thread.
func (w *worker) combine(list [][]*Path, used []bool, t int) {
	if w.stop {
		return
	}
	if t < len(list) {
		for i, path := range list[t] {
			if !path.Cut && !(path.Waits && w.opt.Blocked == BlockedDropped && w.res.Blocked) && w.needed(t, i, path) {
				w.pick[t], w.picked[t] = path, i
				w.combine(list, used, t+1)
			}
		}
		return
	}
	w.fault, w.waits = "", false
	for _, path := range w.pick {
		w.waits = w.waits || path.Waits
		if path.Fault != "" {
			w.fault = path.Fault
		}
	}
	w.tick()
	w.g.load(w.p, w.pick, used)
	if w.g.n > rel.MaxEvents {
		w.err = fmt.Errorf("test %s has %d events; at most %d can be judged", w.p.Test.Name, w.g.n, rel.MaxEvents)
		w.stop = true
		return
	}
	if !w.g.bars {
		w.g.bar = nil
		w.synchronised()
		return
	}
	phasings, complete := w.g.phasings()
	w.res.Blocked = w.res.Blocked || complete == w.waits
	if w.waits && w.opt.Blocked == BlockedDropped {
		return
	}
	if len(phasings) >= maxPhasings {
		w.undecided("more than %d ways to group the arrivals at barriers", maxPhasings)
	}
	for i, bar := range phasings {
		if w.stop {
			return
		}
		w.g.bar, w.g.inTime = bar, w.g.orders[i]
		w.synchronised()
	}
}

// synchronised judges the graph with each choice of the phases of mbarriers.
func (w *worker) synchronised() {
	if !w.g.syncs {
		w.graph()
		return
	}
	list, ok := w.g.synchronisations()
	if !ok {
		w.undecided("too many ways to group the operations of mbarriers")
	}
	for _, mb := range list {
		if w.stop {
			return
		}
		w.g.mb = mb
		w.graph()
	}
}

func (w *worker) undecided(format string, args ...any) {
	if w.res.Undecided == "" {
		w.res.Undecided = fmt.Sprintf(format, args...)
	}
	w.stop = true
}

// tick checks the limits now and then.
func (w *worker) tick() {
	w.ticks++
	if w.ticks>>3 > w.opt.MaxCandidates {
		w.undecided("limit of %d candidates reached: too many incomplete ones", w.opt.MaxCandidates)
	}
	if w.res.Candidates+w.res.Partial >= w.opt.MaxCandidates {
		w.undecided("limit of %d candidates reached", w.opt.MaxCandidates)
	}
	if w.ticks&127 == 0 && w.ctx.Err() != nil {
		w.undecided("stopped: %v", context.Cause(w.ctx))
	}
}

func grow[T any](s *[]T, n int) {
	if cap(*s) < n {
		*s = make([]T, n, 2*n)
	}
	*s = (*s)[:n]
}

// fences chooses the direction of the i-th pair of fence.sc.
func (w *worker) fences(i int) {
	if w.stop {
		return
	}
	if i < len(w.pairsSF) {
		a, b := int(w.pairsSF[i][0]), int(w.pairsSF[i][1])
		for range 2 {
			w.sf.Add(a, b)
			if rel.Acyclic(w.sf) {
				w.fences(i + 1)
			}
			w.sf.Remove(a, b)
			a, b = b, a
		}
		return
	}
	w.execute()
}

// execute enumerates the executions of a graph; the order of the fences is chosen, or will be.
func (w *worker) execute() {
	if !w.rare && w.opt.Visit == nil && w.run(w.pl.static) >= 0 {
		return
	}
	w.exchanged()
	if w.saturates {
		mark := w.arena.Mark()
		defer w.arena.Release(mark)
		saved := w.arena.Rel()
		copy(saved, w.co)
		defer func() { copy(w.co, saved) }()
		if !w.partial(w.pl.partRF) || !w.saturate() {
			return
		}
	}
	w.reads(0)
}

// run evaluates a plan. It returns the failed check or -1.
func (w *worker) run(pl *cat.Plan) int {
	i, err := w.m.Run(pl)
	if err != nil {
		w.broken(err)
		return math.MaxInt
	}
	return i
}

// broken ends the search after an error of an evaluation: an error of the context is a limit
// that was reached, others are the model's.
func (w *worker) broken(err error) {
	if w.ctx.Err() != nil {
		w.undecided("stopped: %v", context.Cause(w.ctx))
		return
	}
	w.err, w.stop = err, true
}

// reads chooses a write for the i-th read and those after it.
func (w *worker) reads(i int) {
	g := &w.g
	if i == len(g.reads) {
		w.allRead()
		return
	}
	r := int(g.reads[i])
	ws := g.writes[g.events[r].Loc]
	more := len(ws) > 2 || i+2 < len(g.reads) || len(w.multi) > 0
	saved := w.saveKnown()
	var co rel.Rel
	if w.saturates {
		mark := w.arena.Mark()
		defer w.arena.Release(mark)
		co = w.arena.Rel()
		copy(co, w.co)
	}
	for _, x := range ws {
		w.tick()
		if w.stop {
			return
		}
		w.rf.Add(int(x), r)
		copy(w.fr.Row(r), w.co.Row(int(x)))
		w.src[r] = x
		w.unread[x]++
		if (w.plain || w.propagate(r)) && (!w.deep || !more || w.rare || w.extensible(i+1)) && !w.refuted() {
			w.reads(i + 1)
		}
		w.unread[x]--
		w.src[r] = -1
		w.rf.Remove(int(x), r)
		rel.Clear(w.fr.Row(r))
		w.restoreKnown(saved)
		if co != nil && !rel.Equal(co, w.co) {
			copy(w.co, co)
			w.refresh()
		}
	}
}

// extensible reports whether the choices for the first i reads may be completable, as far as
// cheap checks show.
func (w *worker) extensible(i int) bool {
	if !w.pl.partRF.Empty() && !w.partial(w.pl.partRF) {
		return false
	}
	return !w.saturates || w.estimate(i) < w.e.saturateFrom || w.saturate()
}

// partial evaluates a plan on an incomplete execution.
func (w *worker) partial(pl *cat.Plan) bool {
	w.res.Partial++
	w.tick()
	return w.run(pl) < 0
}

// allRead continues with coherence once all reads have their writes.
func (w *worker) allRead() {
	w.solved, w.sols = false, w.sols[:0]
	if w.opt.StatesOnly && w.seen() {
		w.res.Skipped++
		return
	}
	if !w.rare && w.opt.Visit == nil && w.run(w.pl.afterRF) >= 0 {
		w.res.Candidates++
		w.tick()
		return
	}
	if w.e.co == CoPartial {
		w.partialOrders()
		return
	}
	w.order(0)
}

// seen reports whether rf determines the state and the state is already known.
func (w *worker) seen() bool {
	if w.fault != "" {
		return false
	}
	for l, o := range w.observe {
		if o && len(w.g.writes[l]) > 2 {
			return false
		}
	}
	if !w.plain && w.unknown() >= 0 {
		return false
	}
	w.lastWrites()
	w.valuesOf(nil)
	return w.find() >= 0
}

// lastWrites sets final for locations with at most one write.
func (w *worker) lastWrites() {
	for l, ws := range w.g.writes {
		if len(ws) > 0 {
			w.final[l] = ws[len(ws)-1]
		}
	}
}
