package realcode

import "optcheck/ptx"

// never tells of each operation whether nothing comes to it, because of what is known of numbers or of
// conditions: a compiler that knows it, too, leaves it out.
func (s *source) never(entry int32) []bool {
	var in [][]int32
	if g, err := unroll(s.steps, entry, len(s.conds.ids), everyCondition(len(s.conds.ids)), maxNodes()); err == nil {
		in = nodesOf(g, len(s.ops), func(n int) int32 { return g.letter[n] })
	}
	out := make([]bool, len(s.ops))
	for k, op := range s.ops {
		out[k] = len(in) > 0 && len(in[k]) == 0 || !s.numbers.performs(op.Func, op.at)
	}
	return out
}

func bit(b bool) uint64 { return uint64(b2i(b)) }

// numbers finds what is known of the values that the PTX computes, and where control comes. Each call of a function has
// a frame of its own: what is passed there is known there.
type numbers struct {
	*source
	reach  map[*ptx.Func]*reach
	frames map[*ptx.Func][]*frame
	shared map[*ptx.Func]*frame // of calls that have no frame of their own
	total  int                  // steps of all frames
	work   []spot
}

// frame is a call of a function.
type frame struct {
	f      *ptx.Func
	base   int32
	caller *frame // nil where nothing is known of it
	at     int32  // the call, a step of the caller
	back   []spot // all calls
	ended  bool   // something returns from it
	depth  int
	known  map[int32]knownBits // what a step leaves in its register, or in its parameter
	seen   []bool
	calls  map[int32][]*frame
}

// spot is a step of a frame.
type spot struct {
	*frame
	step int32
}

// maxFrameSteps bounds the steps of all frames.
const maxFrameSteps = 200_000

// findNumbers follows a function and all that it calls.
func (s *source) findNumbers(root *ptx.Func) *numbers {
	n := &numbers{source: s, reach: map[*ptx.Func]*reach{}, frames: map[*ptx.Func][]*frame{}, shared: map[*ptx.Func]*frame{}}
	for f := range s.entries {
		n.reach[f] = newReach(s, f)
	}
	for f := range s.entries {
		n.readers(f)
	}
	n.come(n.frame(root, nil, 0), 0)
	for len(n.work) > 0 {
		p := n.work[len(n.work)-1]
		n.work = n.work[:len(n.work)-1]
		n.step(p)
	}
	return n
}

// frame begins a call. One too many, or too deep, has a frame that all such calls share.
func (n *numbers) frame(f *ptx.Func, caller *frame, at int32) *frame {
	depth := 0
	if caller != nil {
		depth = caller.depth + 1
	}
	own := caller == nil || depth <= maxDepth && n.total+len(f.Body) <= maxFrameSteps
	if !own {
		if fr := n.shared[f]; fr != nil {
			return fr
		}
		caller = nil
	}
	fr := &frame{f: f, base: n.entries[f], caller: caller, at: at, depth: depth, known: map[int32]knownBits{},
		seen: make([]bool, len(f.Body)+1), calls: map[int32][]*frame{}}
	if !own {
		n.shared[f] = fr
	}
	n.total += len(f.Body)
	n.frames[f] = append(n.frames[f], fr)
	return fr
}

func (n *numbers) come(fr *frame, i int32) {
	if i >= 0 && int(i) < len(fr.seen) && !fr.seen[i] {
		fr.seen[i] = true
		n.work = append(n.work, spot{fr, i})
	}
}

// inst is the instruction of a place, nil for a label.
func (p spot) inst() *ptx.Inst {
	if int(p.step) < len(p.f.Body) {
		return p.f.Body[p.step].Inst
	}
	return nil
}

// performs reports whether something may come to a step of a function, and its condition may hold there.
func (n *numbers) performs(f *ptx.Func, at int32) bool {
	for _, fr := range n.frames[f] {
		if done, _ := n.guarded(spot{fr, at}); fr.seen[at] && done {
			return true
		}
	}
	return false
}

// guarded tells whether an instruction may be performed, and whether it may not be.
func (n *numbers) guarded(p spot) (done, not bool) {
	in := p.inst()
	if in == nil || in.Guard < 0 {
		return true, false
	}
	g := n.reg(p, in.Guard)
	return g.may(bit(!in.Neg)), g.may(bit(in.Neg))
}

// constant reports whether what a step leaves is one number wherever its function is called.
func (n *numbers) constant(f *ptx.Func, at int32) bool {
	found := false
	for _, fr := range n.frames[f] {
		if !fr.seen[at] {
			continue
		}
		v, ok := fr.known[at]
		if found = ok && v.open == 0; !found {
			return false
		}
	}
	return found
}

// step follows one step, and tells those whom it concerns what is new.
func (n *numbers) step(p spot) {
	st, in := &n.source.steps[p.base+p.step], p.inst()
	done, not := n.guarded(p)
	not = not || st.cond >= 0
	if done && in != nil {
		n.write(p, in)
	}
	switch {
	case !done:
	case len(st.call) > 0: // what is behind it is come to when something returns
		n.call(p, in)
	case st.ret:
		n.returns(p.frame)
	default:
		for k, to := range st.next {
			if in == nil || in.Name != "brx" || n.operand(p, &in.Args[0], 32).may(uint64(k)) {
				n.come(p.frame, to-p.base)
			}
		}
	}
	if not {
		n.come(p.frame, p.step+1)
	}
}

// call begins the functions that a call may go to.
func (n *numbers) call(p spot, in *ptx.Inst) {
	if p.calls[p.step] != nil {
		return
	}
	for _, g := range n.callees(p.f, in) {
		fr := n.frame(g, p.frame, p.step)
		p.calls[p.step] = append(p.calls[p.step], fr)
		fr.back = append(fr.back, p)
		n.come(fr, 0)
		if fr.ended {
			n.come(p.frame, p.step+1)
		}
	}
}

// returns goes on behind the calls of a frame.
func (n *numbers) returns(fr *frame) {
	fr.ended = true
	for _, p := range fr.back {
		n.come(p.frame, p.step+1)
		n.again(p.frame, n.reach[p.f].readers[p.step])
	}
}

// again has steps done again that were come to.
func (n *numbers) again(fr *frame, steps []int32) {
	for _, at := range steps {
		if fr.seen[at] {
			n.work = append(n.work, spot{fr, at})
		}
	}
}

// write notes what an instruction leaves in its register or parameter.
func (n *numbers) write(p spot, in *ptx.Inst) {
	var v knownBits
	switch _, _, isStore := paramAt(in, "st"); {
	case isStore:
		v = n.operand(p, &in.Args[1], 8*in.Effect().Width)
	case len(defined(in)) != 1 || in.Name == "call":
		return
	default:
		v = n.result(p, in)
	}
	old, had := p.known[p.step]
	if had {
		v = v.or(old)
	}
	if had && v == old {
		return
	}
	p.known[p.step] = v
	n.tell(p)
}

// tell has those done again that read what a step has written.
func (n *numbers) tell(p spot) {
	r := n.reach[p.f]
	n.again(p.frame, r.readers[p.step])
	for _, at := range r.readers[p.step] {
		for _, fr := range p.calls[at] { // a parameter that is passed
			n.again(fr, n.reach[fr.f].readers[entry])
		}
	}
	if r.returns[p.step] {
		for _, c := range p.back {
			n.again(c.frame, n.reach[c.f].readers[c.step])
		}
	}
}

// readers lists who reads what each step of a function writes, and what is passed to it.
func (n *numbers) readers(f *ptx.Func) {
	r := n.reach[f]
	r.readers, r.returns = map[int32][]int32{}, map[int32]bool{}
	for i := range f.Body {
		in := f.Body[i].Inst
		if in == nil {
			continue
		}
		add := func(cell int, want extent) {
			for _, d := range r.defs(int32(i), cell, want) {
				r.readers[d] = append(r.readers[d], int32(i))
			}
		}
		for _, x := range used(in) {
			if d := r.writes[x]; len(d) > 0 || r.passed(x) {
				add(x, one)
			}
		}
		if name, at, ok := paramAt(in, "ld"); ok {
			add(r.name(name), at)
		}
		if in.Name == "call" {
			_, _, args := callOperands(in)
			for k := range args {
				if args[k].Kind == ptx.Sym {
					add(r.name(args[k].Name), whole)
				}
			}
		}
	}
	for _, v := range f.Returns {
		if c := r.cell(v); c >= 0 {
			for _, at := range r.writes[c] {
				r.returns[at] = true
			}
		}
	}
}
