package realcode

import (
	"slices"

	"optcheck/ptx"
)

// reach finds the reaching definitions of one function: which of its instructions may have written what another one
// reads, a register or bytes of a parameter in the state space .param.
type reach struct {
	f     *ptx.Func
	names map[string]int // cells of parameters, behind those of the registers
	// writes are the steps that write a cell, in the order of the text.
	writes map[int][]int32
	block  []int32   // of each step
	first  []int32   // of each block: its first step
	before [][]int32 // of each block
	memo   map[reachKey][]int32
	effort int     // blocks that were looked at
	seen   []int32 // blocks, by the question of which they were looked at
	loops  []bool  // blocks that lead to themselves
	// deciding are the blocks whose jumps decide about each; free those whose jump does nothing but decide.
	deciding [][]int32
	// above are the immediate dominators of the blocks.
	above []int32
	free  []bool
}

// extent are bytes of a cell; registers have one.
type extent struct{ lo, hi int64 }

var (
	one   = extent{0, 1}
	whole = extent{0, 1 << 40}
)

type reachKey struct {
	block int32
	cell  int
	want  extent
}

// entry stands among definitions for what a cell has when the function begins.
const entry = int32(-1)

// maxEffort bounds the blocks that are looked at for one function. Beyond, whatever writes a cell may have written it.
const maxEffort = 1_000_000

func (r *reach) tired() bool { return r.effort > maxEffort }

// newReach lays out a function whose steps begin at base.
func newReach(s *source, f *ptx.Func) *reach {
	r := &reach{f: f, names: map[string]int{}, writes: map[int][]int32{}, memo: map[reachKey][]int32{}}
	for _, v := range slices.Concat(f.Params, f.Returns) {
		if v.Space != "reg" {
			r.name(v.Name)
		}
	}
	base, n := s.entries[f], int32(len(f.Body))
	leads := make([]bool, n+1)
	leads[0] = true
	for i := range n {
		for _, to := range following(s.steps, base+i) {
			if to != base+i+1 && to >= base && to <= base+n {
				leads[to-base] = true
				leads[i+1] = true
			}
		}
	}
	for i := range n + 1 {
		if leads[i] {
			r.first = append(r.first, i)
		}
		r.block = append(r.block, int32(len(r.first)-1))
	}
	r.before = make([][]int32, len(r.first))
	next := make([][]int32, len(r.first))
	for i := range n {
		for _, to := range following(s.steps, base+i) {
			if to >= base && to <= base+n && leads[to-base] {
				b := r.block[to-base]
				r.before[b], next[r.block[i]] = append(r.before[b], r.block[i]), append(next[r.block[i]], b)
			}
		}
		if in := f.Body[i].Inst; in != nil {
			for _, c := range r.written(in) {
				r.writes[c] = append(r.writes[c], i)
			}
		}
	}
	r.loops, r.free = (&graph{next: next}).components(), make([]bool, len(r.first))
	ends := make([]bool, len(r.first))
	for i := range n + 1 {
		st := &s.steps[base+i]
		ends[r.block[i]] = ends[r.block[i]] || st.ret || slices.Contains(st.next, end)
	}
	r.decided(next, ends)
	return r
}

// name is the cell of a parameter.
func (r *reach) name(s string) int {
	c, ok := r.names[s]
	if !ok {
		c = len(r.f.Regs) + len(r.names)
		r.names[s] = c
	}
	return c
}

// written lists the cells that an instruction writes.
func (r *reach) written(in *ptx.Inst) []int {
	out := defined(in)
	if name, _, ok := paramAt(in, "st"); ok {
		return append(slices.Clone(out), r.name(name))
	}
	if in.Name == "call" {
		rets, _, _ := callOperands(in)
		for i := range rets {
			if rets[i].Kind == ptx.Sym {
				out = append(slices.Clone(out), r.name(rets[i].Name))
			}
		}
	}
	return out
}

// paramAt gives the parameter, and its bytes, that ld.param or st.param is about.
func paramAt(in *ptx.Inst, what string) (name string, at extent, ok bool) {
	if in.Name != what || !in.Has("param") || len(in.Args) != 2 {
		return "", at, false
	}
	o := &in.Args[map[string]int{"ld": 1, "st": 0}[what]]
	if o.Kind != ptx.Mem || len(o.Elems) != 1 || o.Elems[0].Kind != ptx.Sym {
		return "", at, false
	}
	return o.Elems[0].Name, extent{o.Value, o.Value + int64(in.Effect().Width)}, true
}

// callOperands are the parts of a call: what it returns into, what it calls, and what it passes.
func callOperands(in *ptx.Inst) (rets []ptx.Operand, target *ptx.Operand, args []ptx.Operand) {
	rest := in.Args
	if len(rest) > 0 && rest[0].Kind == ptx.List {
		rets, rest = rest[0].Elems, rest[1:]
	}
	if len(rest) > 0 {
		target, rest = &rest[0], rest[1:]
	}
	if len(rest) > 0 && rest[0].Kind == ptx.List {
		args = rest[0].Elems
	}
	return rets, target, args
}

// defs lists the steps that may have written what a step reads of a cell, with entry, if nothing may have.
func (r *reach) defs(at int32, cell int, want extent) []int32 {
	if all := r.writes[cell]; len(all) == 0 {
		return []int32{entry}
	} else if len(all) == 1 && cell < len(r.f.Regs) && !r.passed(cell) {
		return all
	}
	if r.tired() {
		return append([]int32{entry}, r.writes[cell]...)
	}
	b := r.block[at]
	out, done := r.within(nil, r.first[b], at, cell, want)
	if !done {
		out = append(out, r.into(b, cell, want)...)
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}

// passed reports whether a register is a parameter.
func (r *reach) passed(reg int) bool {
	return slices.ContainsFunc(r.f.Params, func(v ptx.Var) bool { return v.Space == "reg" && v.Name == r.f.Regs[reg].Name })
}

// within adds the definitions of a stretch, the last one first; done tells that nothing in front of it counts.
func (r *reach) within(out []int32, from, to int32, cell int, want extent) (_ []int32, done bool) {
	all := r.writes[cell]
	i, _ := slices.BinarySearch(all, to)
	for i--; i >= 0 && all[i] >= from; i-- {
		in := r.f.Body[all[i]].Inst
		name, at, isStore := paramAt(in, "st")
		isStore = isStore && r.names[name] == cell && cell >= len(r.f.Regs)
		if isStore && (at.hi <= want.lo || want.hi <= at.lo) {
			continue
		}
		if out = append(out, all[i]); in.Guard < 0 && (!isStore || at.lo <= want.lo && want.hi <= at.hi) {
			return out, true
		}
	}
	return out, false
}

// into lists the definitions that come to the beginning of a block.
func (r *reach) into(block int32, cell int, want extent) (out []int32) {
	key := reachKey{block, cell, want}
	if out, ok := r.memo[key]; ok {
		return out
	}
	if r.seen == nil {
		r.seen = make([]int32, len(r.first))
	}
	question := int32(len(r.memo) + 1)
	work := []int32{block}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		r.effort++
		if b == 0 {
			out = append(out, entry)
		}
		for _, p := range r.before[b] {
			if r.seen[p] == question {
				continue
			}
			r.seen[p] = question
			to := int32(len(r.f.Body)) + 1
			if int(p)+1 < len(r.first) {
				to = r.first[p+1]
			}
			var done bool
			if out, done = r.within(out, r.first[p], to, cell, want); !done {
				work = append(work, p)
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	r.memo[key] = out
	return out
}
