package refine

import (
	"slices"

	"optcheck/emu"
	"optcheck/ir/fp"
)

// undefined says what of a thread's record depends on undefined content.
type undefined struct {
	all bool
	// path tells that the way of the thread's warp does: where its threads store, or how much it performs.
	path   bool
	values map[int]bool // events whose value does
	inputs map[int]bool // read-modify-writes whose operands do
	words  map[emu.Word]uint32
	// nans are words of NaNs of which PTX leaves the sign and the payload open: true if the word tells that it is one, false if it is the
	// low one of f64.
	nans map[emu.Word]bool
}

func (u *undefined) value(i int) bool { return u.values[i] }

func (u *undefined) operand(i int) bool { return u.inputs[i] }

// opened compares a run of the program with others that have the same schedule and other undefined content.
func opened(a *emu.Grid, others ...*emu.Grid) []*undefined {
	out := make([]*undefined, len(a.Records))
	for i := range out {
		out[i] = &undefined{values: map[int]bool{}, inputs: map[int]bool{}, words: map[emu.Word]uint32{}, nans: map[emu.Word]bool{}}
		for _, b := range others {
			out[i].records(a.Records[i], b.Records[i])
		}
	}
	for i, w := range a.Warps {
		lanes := a.Of(w)
		path := slices.ContainsFunc(others, func(b *emu.Grid) bool { return w.Turns != b.Warps[i].Turns }) ||
			slices.ContainsFunc(lanes, func(n int) bool { return out[n].path })
		for _, n := range lanes {
			out[n].path = path
		}
	}
	return out
}

// records marks what two records of a thread differ in.
func (u *undefined) records(x, y *emu.Record) {
	if len(x.Events) != len(y.Events) || len(x.Epochs) != len(y.Epochs) {
		u.all = true
		return
	}
	for k := range x.Events {
		p, q := x.Events[k], y.Events[k]
		if p.Value != q.Value || p.High != q.High {
			u.values[k] = true
		}
		if p.Operand != q.Operand || p.Compare != q.Compare || p.Upper != q.Upper {
			u.inputs[k] = true
		}
		if p.Kind != q.Kind || p.Place != q.Place || p.Inst != q.Inst {
			u.all = true
		}
	}
	for k := range x.Epochs {
		u.differ(x.Epochs[k], y.Epochs[k])
		u.differ(y.Epochs[k], x.Epochs[k])
	}
}

// differ marks words that two epochs store differently.
func (u *undefined) differ(x, y *emu.Epoch) {
	for w, s := range x.All() {
		if is, ok := otherNaN(x, y, w); ok {
			u.nans[w] = is
		} else if z := y.Of(w); (s.Value^z.Value)&s.Mask != 0 || s.Mask&^z.Mask != 0 {
			u.words[w] |= s.Mask // bits that agree may do so by chance
			u.path = u.path || s.Mask&^z.Mask != 0
		}
	}
}

// otherNaN reports whether a word is part of a NaN in two epochs of which one has made it another one, and whether the word alone tells so: each
// but the low one of f64 does.
func otherNaN(x, y *emu.Epoch, w emu.Word) (is, ok bool) {
	const sign = 1 << 31
	differs := func(w emu.Word) bool {
		a, b := x.Of(w), y.Of(w)
		return a.Value != b.Value && a.Mask&b.Mask == ^uint32(0)
	}
	other := func(w emu.Word, of uint64) bool {
		a, b := x.Of(w).Value|sign, y.Of(w).Value|sign
		return differs(w) && nan(uint64(a)) && nan(uint64(b)) && (a == uint32(of) || b == uint32(of))
	}
	wide := fp.F64.OtherNaN()
	if other(w, fp.F32.OtherNaN()) || other(w, wide>>32) {
		return true, true
	}
	low := x.Of(w).Value == uint32(wide) || y.Of(w).Value == uint32(wide)
	return false, low && differs(w) && other(w+1, wide>>32)
}
