package prove

import (
	"optcheck/ir"
	"optcheck/prove/sat"
)

// counted are the gates of operations that look for bits of a word, or count them; false for other operations.
func (b *blaster) counted(n *node, args [][]sat.Lit) ([]sat.Lit, bool) {
	o := &b.x.ops[n.value]
	if o.Type.Float() || o.Code != ir.Find && o.Code != ir.Clz && o.Code != ir.Popc {
		return nil, false
	}
	w := o.Type.Bits()
	a := append([]sat.Lit(nil), args[0][:w]...)
	if o.Code == ir.Find && o.Type.Signed() {
		for i, l := range a {
			a[i] = b.g.xor(l, args[0][w-1])
		}
	}
	out := b.constant(0, int(n.w))
	switch o.Code {
	case ir.Find:
		out = b.constant(1<<32-1, int(n.w))
	case ir.Clz:
		out = b.constant(uint64(w), int(n.w))
	}
	for i, l := range a {
		at := uint64(i)
		if o.Code == ir.Clz || o.Mode&ir.High != 0 {
			at = uint64(w - 1 - i)
		}
		if o.Code == ir.Popc {
			one := b.constant(0, int(n.w))
			one[0] = l
			out, _ = b.g.sum(out, one, low)
			continue
		}
		for k, v := range b.constant(at, int(n.w)) {
			out[k] = b.g.mux(l, v, out[k])
		}
	}
	return out, true
}
