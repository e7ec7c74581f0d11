package optcheck

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"optcheck/isa"
	"optcheck/litmus"
)

// A warp's atomics are combined into one: a lane is elected (VOTE, FLO), adds the operand times the number of lanes
// (POPC), and tells the others what it returned (SHFL), to which each adds the operand for every lane before it. What
// is added and what lanes are told is compared by computing it for all lanes of a few warps.

// warps are the active lanes that are tried: all, one, and others that tell lanes apart.
var warps = []uint32{1<<32 - 1, 1, 1 << 31, 0x00ff00f0, 0x80000001, 0xa5c39617}

// checkLanes compares what the lanes of a warp add and are told with the test's atomic.
func checkLanes(p *pass) {
	for k, e := range p.s.Entries {
		ev := p.match[k]
		want, ok := p.extra[[2]int{k, 0}]
		if ev < 0 || !ok || e.Kind.Atom != litmus.AtomAdd || e.Kind.Width != 4 || p.tr.events[ev].mem.Locked || len(p.tr.events[ev].data) == 0 {
			continue
		}
		if d := p.tr.events[ev].data[0]; p.selection(want, d) || p.selection(d, want) {
			continue // each lane adds its own
		}
		if why := p.lanesDiffer(k, ev, want); why != "" {
			p.report(ValueChanged, k, ev, "%s: %s: %s", p.name(k), why, p.text(ev))
		}
	}
}

// lanesDiffer says in what some warp differs from the test.
func (p *pass) lanesDiffer(k, ev int, want value) string {
	for _, active := range warps {
		for _, read := range []uint32{0x9e3779b1, 0, 1} {
			if why := newWarp(p, active, laneWords{read}).differs(k, ev, want); why != "" {
				return why
			}
		}
	}
	return ""
}

// warp computes for each active lane.
type warp struct {
	p      *pass
	active uint32
	words  laneWords
	lanes  [32]*evaluator
	parts  map[int]part // by block
}

// part are the lanes of a warp that run a block; known is false if what parts them could not be computed.
type part struct {
	lanes uint32
	known bool
}

func newWarp(p *pass, active uint32, words laneWords) *warp {
	w := &warp{p: p, active: active, words: words, parts: map[int]part{}}
	for i := range w.lanes {
		if active>>i&1 != 0 {
			w.lanes[i] = &evaluator{p: p, warp: w, lane: i}
			w.lanes[i].set(words)
		}
	}
	return w
}

// laneWords are the words of a warp, alike in all lanes; reads are zero, one or some word, so that conditions hold.
type laneWords struct{ read uint32 }

func (l laneWords) Read(pos, word int) uint32 { return l.read * uint32(pos*2+word+1) }
func (laneWords) Param(off int64) uint32      { return uint32(off+3) * 0x85ebca6b }

// differs says in what the lanes that perform the test's atomic differ from it, "" if in nothing, or if there is none.
func (w *warp) differs(k, ev int, want value) string {
	x := &w.p.tr.events[ev]
	// If which lanes act is wrong, that is a finding of its own, which the model judges:
	// each lane must then be ready to add for all, and what it is told depends on who acts.
	elected := !w.p.found(ControlChanged, k)
	perform, elect := w.p.elects(x.when)
	lanes, known := w.holds(w.active, perform)
	n := uint32(bits.OnesCount32(lanes))
	var sum, operand uint32
	for l := range w.each(lanes) {
		acts, ok := l.acts(elect)
		d, ok1 := l.eval(x.data[0], 0)
		v, ok2 := l.eval(want, 0)
		if known = known && ok && ok1 && ok2; !known {
			break
		}
		if acts && elected {
			sum += d
		} else if !elected && d != v*n {
			return otherSum
		}
		operand = v
	}
	switch {
	case !known:
		return notComputed
	case elected && sum != n*operand:
		return otherSum
	case !elected || w.p.s.Entries[k].Unread || w.p.oper[k] == none:
		return ""
	}
	return w.toldWrong(w.p.oper[k], x.read, lanes, operand)
}

// toldWrong says in what the results of lanes differ from those of their atomics, performed one after the other.
func (w *warp) toldWrong(result value, read int, lanes, operand uint32) string {
	told := map[uint32]bool{}
	var old uint32
	for l := range w.each(lanes) {
		r, ok := l.eval(result, 0)
		if !ok {
			return notComputed
		}
		told[r], old = true, w.words.Read(l.position(read), 0)
	}
	for i := range uint32(bits.OnesCount32(lanes)) {
		if !told[old+i*operand] {
			return "what the lanes of a warp are told is not what their atomics return one after the other"
		}
	}
	return ""
}

// elects divides the conditions of an atomic into those under which a lane performs it, and those that elect the one
// that does so for its warp.
func (p *pass) elects(when []sense) (perform, elect []sense) {
	for _, s := range when {
		if p.tr.pool.lane(s.pred) {
			elect = append(elect, s)
		} else {
			perform = append(perform, s)
		}
	}
	return perform, elect
}

// holds returns those of some lanes for which conditions hold.
func (w *warp) holds(lanes uint32, when []sense) (out uint32, known bool) {
	for l := range w.each(lanes) {
		holds, ok := l.acts(when)
		if !ok {
			return 0, false
		}
		if holds {
			out |= 1 << l.lane
		}
	}
	return out, true
}

// at returns the lanes that perform an instruction together: the others have branched around it, and neither vote nor
// exchange anything there.
func (w *warp) at(inst int) (lanes uint32, known bool) {
	tr := w.p.tr
	if tr.fn.Insts[inst].Guard.Reg.Class != isa.ClassNone {
		return 0, false
	}
	b := tr.block(inst)
	if _, ok := w.parts[b]; !ok {
		var x part
		x.lanes, x.known = w.holds(w.active, tr.when[b])
		w.parts[b] = x
	}
	return w.parts[b].lanes, w.parts[b].known
}

// otherSum is said of code that adds something else.
const otherSum = "what the lanes of a warp add together is not the sum of what each adds in the test"

// notComputed is said of code whose lanes exchange more than is known here.
const notComputed = "what the lanes of a warp combine, or are told, could not be computed"

// each are the evaluators of lanes.
func (w *warp) each(lanes uint32) iter.Seq[*evaluator] {
	return func(yield func(*evaluator) bool) {
		for _, l := range w.lanes {
			if l != nil && lanes>>l.lane&1 != 0 && !yield(l) {
				return
			}
		}
	}
}

// acts reports whether conditions hold for a lane.
func (e *evaluator) acts(when []sense) (acts, known bool) {
	acts = true
	for _, s := range when {
		c, ok := e.eval(s.pred, 0)
		if !ok {
			return false, false
		}
		acts = acts && (c != 0) == s.want
	}
	return acts, true
}

// exchanged computes what lanes exchange by an instruction; list are its operands, the last one first.
func (e *evaluator) exchanged(inst int, list value, depth int) (uint32, bool) {
	p, in := e.p.tr.pool, &e.p.tr.fn.Insts[inst]
	var args []value
	for ; list != none && len(args) < 4; list = p.nodes[list].b {
		args = append(args, p.nodes[list].a)
	}
	mode := ""
	if len(in.Mods) > 0 {
		mode = in.Mods[0]
	}
	switch {
	case (in.Op == "VOTE" || in.Op == "VOTEU") && alwaysVotes(in):
		return e.warp.at(inst)
	case in.Op == "SHFL" && mode == "IDX" && len(args) >= 2: // a destination that is a source, too, comes third
		i, ok := e.eval(args[0], depth)
		lanes, known := e.warp.at(inst)
		if !ok || !known || i > 31 || lanes>>i&1 == 0 {
			return 0, false
		}
		return e.warp.lanes[i].eval(args[1], depth)
	case len(args) == 0:
		return 0, false
	}
	a, ok := e.eval(args[0], depth)
	switch in.Op {
	case "POPC", "UPOPC":
		return uint32(bits.OnesCount32(a)), ok
	case "FLO", "UFLO":
		return uint32(bits.Len32(a)) - 1, ok && mode == "U32"
	case "R2UR":
		return a, ok
	}
	return 0, false
}

// alwaysVotes reports whether all active lanes vote for what is true.
func alwaysVotes(in *isa.Inst) bool {
	o := &in.Args[len(in.Args)-1]
	return o.Kind == isa.OpdPred && o.Zero && !o.Not
}

// place computes which lane of its warp one is.
func (e *evaluator) place(name string) (uint32, bool) {
	switch name {
	case "SR_LANEID":
		return uint32(e.lane), true
	case "SR_LTMASK":
		return 1<<e.lane - 1, true
	}
	return 0, false
}

// block returns the block of an instruction, -1 for none.
func (t *trace) block(inst int) int {
	b, found := slices.BinarySearchFunc(t.fn.Blocks, inst, func(b isa.Block, i int) int { return cmp.Compare(b.First, i) })
	if !found {
		b--
	}
	return b
}
