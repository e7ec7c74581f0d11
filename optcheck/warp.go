package optcheck

import (
	"iter"
	"math/bits"

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
		if d := p.tr.events[ev].data[0]; d == want || p.selection(want, d) || p.selection(d, want) {
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
}

func newWarp(p *pass, active uint32, words laneWords) *warp {
	w := &warp{p: p, active: active, words: words}
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

// differs says in what the lanes differ from the test, "" if in nothing, or if no lane acts.
func (w *warp) differs(k, ev int, want value) string {
	x := &w.p.tr.events[ev]
	// If which lanes act is wrong, that is a finding of its own, which the model judges:
	// each lane must then be ready to add for all, and what it is told depends on who acts.
	elected := !w.p.found(ControlChanged, k)
	var sum, operand, n, acting uint32
	for l := range w.each() {
		acts, known := l.acts(x.when)
		d, ok := l.eval(x.data[0], 0)
		v, ok2 := l.eval(want, 0)
		if !known || !ok || !ok2 {
			return notComputed
		}
		if acts && elected {
			sum, acting = sum+d, acting+1
		} else if !elected && d != v*uint32(bits.OnesCount32(w.active)) {
			return otherSum
		}
		operand, n = v, n+1
	}
	switch {
	case elected && acting == 0 && w.p.s.Entries[k].Guarded:
		return ""
	case elected && sum != n*operand:
		return otherSum
	case !elected || w.p.s.Entries[k].Unread || w.p.oper[k] < 0:
		return ""
	}
	told := map[uint32]bool{}
	var old uint32
	for l := range w.each() {
		r, ok := l.eval(w.p.oper[k], 0)
		if !ok {
			return notComputed
		}
		told[r], old = true, w.words.Read(l.position(x.read), 0)
	}
	for i := range n {
		if !told[old+i*operand] {
			return "what the lanes of a warp are told is not what their atomics return one after the other"
		}
	}
	return ""
}

// otherSum is said of code that adds something else.
const otherSum = "what the lanes of a warp add together is not the sum of what each adds in the test"

// notComputed is said of code whose lanes exchange more than is known here.
const notComputed = "what the lanes of a warp combine, or are told, could not be computed"

// each are the active lanes.
func (w *warp) each() iter.Seq[*evaluator] {
	return func(yield func(*evaluator) bool) {
		for _, l := range w.lanes {
			if l != nil && !yield(l) {
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

// exchanged computes what lanes exchange; in is the instruction, list its operands, the last one first.
func (e *evaluator) exchanged(in *isa.Inst, list value, depth int) (uint32, bool) {
	p := e.p.tr.pool
	var args []value
	for ; list >= 0 && len(args) < 4; list = p.nodes[list].b {
		args = append(args, p.nodes[list].a)
	}
	mode := ""
	if len(in.Mods) > 0 {
		mode = in.Mods[0]
	}
	switch {
	case (in.Op == "VOTE" || in.Op == "VOTEU") && alwaysVotes(in):
		return e.warp.active, true
	case in.Op == "SHFL" && mode == "IDX" && len(args) >= 2: // a destination that is a source, too, comes third
		i, ok := e.eval(args[0], depth)
		if !ok || i > 31 || e.warp.lanes[i] == nil {
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
