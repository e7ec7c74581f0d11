package isa

import (
	"encoding/binary"
	"slices"

	"optcheck/internal/limits"
)

// matches reports whether a push can be the one that a pop refers to.
func matches(push, pop *Inst) bool { return kindOf(push) == kindOf(pop) }

// popKind is what pops that refer to the same pushes have in common.
type popKind struct {
	pair    Pair
	barrier Reg // of PairBarrier
}

func kindOf(in *Inst) popKind {
	k := popKind{pair: in.Pair}
	if in.Pair == PairBarrier {
		k.barrier = barrierOf(in)
	}
	return k
}

func barrierOf(in *Inst) Reg {
	for i := range in.Args {
		if in.Args[i].Reg.Class == ClassBarrier {
			return in.Args[i].Reg
		}
	}
	return Reg{}
}

// Bounds of the search for pop targets; code beyond them gets every target.
const (
	maxPushDepth  = 64
	statesPerInst = 16
	numBarriers   = 16
)

// pushState is what a thread has pushed on a path: the reconvergence stack of the older
// machines (instruction indices), and the barrier registers of the newer ones (instruction
// index plus one).
type pushState struct {
	stack []int32
	bars  [numBarriers]int32
	saved [4]savedBarrier
}

// savedBarrier is a barrier register that is kept in another one.
type savedBarrier struct {
	reg Reg
	bar int32
}

// move follows a move of a barrier register (BMOV): it is kept, and perhaps cleared, or
// restored. What is restored from elsewhere is not known.
func (s *pushState) move(in *Inst) {
	if len(in.Args) < 2 {
		return
	}
	to, from := in.Args[0].Reg, in.Args[1].Reg
	slot := func(r Reg) int { return slices.IndexFunc(s.saved[:], func(x savedBarrier) bool { return x.reg == r }) }
	switch {
	case from.Class == ClassBarrier && int(from.Num) < numBarriers:
		at := slot(to)
		if at < 0 {
			at = slot(Reg{})
		}
		if at >= 0 && to.Class == ClassGPR && !in.Args[0].Zero {
			s.saved[at] = savedBarrier{to, s.bars[from.Num]}
		}
		if slices.Contains(in.Mods, "CLEAR") {
			s.bars[from.Num] = 0
		}
	case to.Class == ClassBarrier && int(to.Num) < numBarriers:
		s.bars[to.Num] = 0
		if at := slot(from); at >= 0 && from.Class == ClassGPR {
			s.bars[to.Num], s.saved[at] = s.saved[at].bar, savedBarrier{}
		}
	}
}

func (s *pushState) key(at int) string {
	b := make([]byte, 0, 8+4*(len(s.stack)+numBarriers))
	b = binary.AppendVarint(b, int64(at))
	for _, x := range s.bars {
		b = binary.AppendVarint(b, int64(x))
	}
	for _, x := range s.saved {
		b = binary.AppendVarint(b, int64(x.reg.Num))
		b = binary.AppendVarint(b, int64(x.bar))
	}
	for _, x := range s.stack {
		b = binary.AppendVarint(b, int64(x))
	}
	return string(b)
}

// popTargets returns where each FlowPop instruction may continue.
func (f *Func) popTargets(lead []bool) map[int][]int {
	pops := false
	for i := range f.Insts {
		pops = pops || f.Insts[i].Flow == FlowPop
	}
	if !pops {
		return nil
	}
	w := popWalk{f: f, lead: lead, out: map[int][]int{}, seen: map[string]bool{}, steps: limits.Now().Steps}
	if !w.run() {
		w.out = map[int][]int{}
	}
	// Pops that were not reached, or all pops if the search was given up.
	edges := 0
	for i := range f.Insts {
		if in := &f.Insts[i]; in.Flow == FlowPop {
			if len(w.out[i]) == 0 {
				w.out[i] = w.all(i)
			}
			if edges += len(w.out[i]); edges > limits.Now().Edges {
				// Too many targets: treat it as a branch with unknown targets.
				in.Flow, in.Targets, w.out[i] = FlowIndirect, nil, nil
			}
			w.out[i] = slices.Sorted(slices.Values(w.out[i]))
		}
	}
	return w.out
}

// popWalk follows all paths together with their pushes.
type popWalk struct {
	f    *Func
	lead []bool
	out  map[int][]int
	seen map[string]bool
	todo []popItem
	// targets maps each kind of pop to its possible targets; steps is the remaining budget of
	// the search.
	targets map[popKind][]int
	steps   int
}

type popItem struct {
	at int
	st pushState
}

// all lists every target that a pop could have, or the next instruction.
func (w *popWalk) all(i int) []int {
	in := &w.f.Insts[i]
	if len(in.Targets) > 0 {
		return in.Targets
	}
	kind := kindOf(in)
	out, known := w.targets[kind]
	if !known {
		seen := make([]bool, len(w.f.Insts))
		for q := range w.f.Insts {
			p := &w.f.Insts[q]
			if p.Flow == FlowPush && p.Target >= 0 && p.Target < len(seen) && !seen[p.Target] && matches(p, in) {
				seen[p.Target] = true
				out = append(out, p.Target)
			}
		}
		if w.targets == nil {
			w.targets = map[popKind][]int{}
		}
		w.targets[kind] = out
	}
	if len(out) == 0 && i+1 < len(w.f.Insts) {
		out = []int{i + 1}
	}
	return out
}

// run reports false if it gave up.
func (w *popWalk) run() bool {
	w.push(0, pushState{})
	for len(w.todo) > 0 {
		it := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		if len(w.seen) > statesPerInst*len(w.f.Insts)+statesPerInst || !w.block(it) {
			return false
		}
	}
	return true
}

func (w *popWalk) push(at int, st pushState) {
	if at < 0 || at >= len(w.f.Insts) {
		return
	}
	if k := st.key(at); !w.seen[k] {
		w.seen[k] = true
		w.todo = append(w.todo, popItem{at: at, st: st})
	}
}

// block follows the instructions from it to the end of their block.
func (w *popWalk) block(it popItem) bool {
	st := it.st
	st.stack = append([]int32(nil), st.stack...)
	for i := it.at; i < len(w.f.Insts); i++ {
		if w.steps--; w.steps < 0 {
			return false
		}
		in := &w.f.Insts[i]
		if in.Flow == FlowTrap && in.Guard == (Guard{}) && slices.Contains(in.Mods, "TRAP") {
			return true // BPT.TRAP ends the grid: what stands behind it has not pushed what this path has
		}
		w.note(in, i, &st)
		if len(st.stack) > maxPushDepth {
			return false
		}
		if in.Flow == FlowPop {
			w.pop(i, st)
		}
		ends := i+1 == len(w.f.Insts) || w.lead[i+1]
		if !ends {
			continue
		}
		for _, t := range w.f.targets(i, nil) {
			w.push(t, st)
		}
		return true
	}
	return true
}

// note records what an instruction pushes.
func (w *popWalk) note(in *Inst, i int, st *pushState) {
	switch {
	case in.Flow == FlowPush && in.Pair == PairBarrier:
		if b := barrierOf(in).Num; int(b) < numBarriers && in.Target >= 0 {
			st.bars[b] = int32(i + 1)
		}
	case in.Flow == FlowPush && in.Target >= 0:
		st.stack = append(st.stack, int32(i))
	case in.Flow == FlowNext && in.Guard == (Guard{}) && barrierOf(in) != (Reg{}):
		st.move(in)
	default:
		// A barrier register written in another way: its target is not known.
		for _, d := range in.Defs {
			if d.Class == ClassBarrier && int(d.Num) < numBarriers {
				st.bars[d.Num] = 0
			}
		}
	}
}

// pop continues at the place that the pop refers to.
func (w *popWalk) pop(i int, st pushState) {
	in := &w.f.Insts[i]
	targets := in.Targets
	if len(targets) == 0 {
		if push := w.find(in, &st); push >= 0 {
			targets = []int{w.f.Insts[push].Target}
		} else {
			targets = w.all(i)
		}
	} else {
		w.find(in, &st)
	}
	w.steps -= len(targets) * (len(w.out[i]) + 10)
	if w.steps < 0 {
		return
	}
	for _, t := range targets {
		w.out[i] = appendOnce(w.out[i], t)
		w.push(t, st)
	}
}

// find returns the push that a pop refers to, taking it and what is above it off
// the stack; -1 if there is none.
func (w *popWalk) find(in *Inst, st *pushState) int {
	if in.Pair == PairBarrier {
		b := barrierOf(in).Num
		if int(b) >= numBarriers || st.bars[b] == 0 {
			return -1
		}
		push := int(st.bars[b]) - 1
		st.bars[b] = 0
		return push
	}
	for k := len(st.stack) - 1; k >= 0; k-- {
		if matches(&w.f.Insts[st.stack[k]], in) {
			push := int(st.stack[k])
			st.stack = append([]int32(nil), st.stack[:k]...)
			return push
		}
	}
	return -1
}
