package refine

import (
	"optcheck/emu"
)

// undefined says what of a thread's record depends on undefined content.
type undefined struct {
	all bool
	// path tells that the way of the thread's warp does: where its threads store, or how much it performs.
	path   bool
	values map[int]bool // events whose value does
	inputs map[int]bool // read-modify-writes whose operands do
	words  map[emu.Word]uint32
}

func (u *undefined) value(i int) bool { return u.values[i] }

func (u *undefined) operand(i int) bool { return u.inputs[i] }

// opened compares two runs of the program with the same schedule and other undefined content.
func opened(a, b *emu.Grid) []*undefined {
	out := make([]*undefined, len(a.Records))
	for i := range out {
		u := &undefined{values: map[int]bool{}, inputs: map[int]bool{}, words: map[emu.Word]uint32{}}
		out[i] = u
		x, y := a.Records[i], b.Records[i]
		if len(x.Events) != len(y.Events) || len(x.Epochs) != len(y.Epochs) {
			u.all = true
			continue
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
	for i, w := range a.Warps {
		lanes := a.Of(w)
		path := w.Turns != b.Warps[i].Turns
		for _, n := range lanes {
			path = path || out[n].path
		}
		for _, n := range lanes {
			out[n].path = path
		}
	}
	return out
}

// differ marks words that two epochs store differently.
func (u *undefined) differ(x, y emu.Epoch) {
	for w, s := range x {
		if (s.Value^y[w].Value)&s.Mask != 0 || s.Mask&^y[w].Mask != 0 {
			u.words[w] |= s.Mask // bits that agree may do so by chance
			u.path = u.path || s.Mask&^y[w].Mask != 0
		}
	}
}
