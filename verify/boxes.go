package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// How many bytes a copy of a box of a tensor has stands in the tensor's map, which the host makes. If nobody has given it, the bytes that barrier
// objects expect tell it: a run performs none of the copies whose boxes are not known, and notes where they go and what is expected for them.

// leastBox is the size of the smallest box: PTX ISA, Tensor copies.
const leastBox = 16

// maxLoads bounds the copies of a run that are looked at.
const maxLoads = 4096

// boxes are the copies of a run whose boxes are not known.
type boxes struct {
	loads  []boxLoad
	stores map[emu.Place]int32 // a store's instruction, by the map
	expect map[emu.Word]int64  // the most bytes that the first phase of an object has waited for
	maps   map[emu.Place]int32 // a load's instruction
}

// boxLoad is one copy in the first phase of a barrier object.
type boxLoad struct {
	tensor emu.Place
	object emu.Word
	to     uint64
}

// unknownBox reports whether the size of a copy is not known, and notes the copy then.
func (m *monitor) unknownBox(w *emu.Warp, pc int32, c *ir.Copy, l int, to emu.Place) (bool, error) {
	if !c.Tensor {
		return false, nil
	}
	tensor := w.TensorMap(c, l)
	if _, ok := m.grid.Launch.Boxes[tensor]; ok {
		return false, nil
	}
	b := m.boxes
	if b == nil {
		b = &boxes{stores: map[emu.Place]int32{}, expect: map[emu.Word]int64{}, maps: map[emu.Place]int32{}}
		m.boxes = b
	}
	if c.Mbarrier < 0 {
		b.stores[tensor] = pc
		return true, nil
	}
	b.maps[tensor] = pc
	for _, part := range w.Parts(c, l, to, emu.Event{Result: w.ObjectOf(c, l).Addr}) {
		x, err := m.object(part.Object, pc, m.id(w, l))
		if err != nil {
			return true, err
		}
		if x.phase == 0 && len(b.loads) < maxLoads {
			b.loads = append(b.loads, boxLoad{tensor, x.at, part.To.Addr & (1<<32 - 1)})
		}
	}
	return true, nil
}

// expected notes what an object waits for.
func (b *boxes) expected(m *monitor, x *object) {
	if b == nil || x.phase > 0 {
		return
	}
	_, bytes := m.grid.Code.P.Mbarriers.Waits(m.value(x))
	b.expect[x.at] = max(b.expect[x.at], bytes)
}

// solve gives sizes of boxes: those that make each object's copies as many bytes as it expects. nil: there are none.
func (b *boxes) solve(m *monitor) map[emu.Place]uint64 {
	for _, x := range m.objects {
		b.expected(m, x)
	}
	out := map[emu.Place]uint64{}
	byObject := map[emu.Word][]boxLoad{}
	for _, l := range b.loads {
		byObject[l.object] = append(byObject[l.object], l)
	}
	for _, at := range slices.Sorted(maps.Keys(byObject)) {
		b.share(byObject[at], b.expect[at], out)
	}
	for tensor := range b.stores {
		if _, ok := b.maps[tensor]; !ok {
			out[tensor] = leastBox
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// share divides the bytes that an object expects among the copies to it: copies by one map alike; else each fills what is between it and the
// next one if that leaves some for the last; those that are left alike.
func (b *boxes) share(list []boxLoad, bytes int64, out map[emu.Place]uint64) {
	slices.SortFunc(list, func(x, y boxLoad) int { return cmp.Compare(x.to, y.to) })
	open := map[emu.Place]int64{}
	for _, l := range list {
		if n, ok := out[l.tensor]; ok {
			bytes -= int64(n)
		} else {
			open[l.tensor]++
		}
	}
	if len(open) == 0 || bytes <= 0 {
		return
	}
	if len(open) > 1 {
		bytes = b.gaps(list, bytes, open, out)
	}
	all := int64(0)
	for _, n := range open {
		all += n
	}
	if bytes <= 0 || bytes%(all*leastBox) != 0 {
		return
	}
	for tensor := range open {
		out[tensor] = uint64(bytes / all)
	}
}

// gaps gives the maps of all copies but the last the size of the room up to the next copy of the run, and gives what is left of the bytes.
func (b *boxes) gaps(list []boxLoad, bytes int64, open map[emu.Place]int64, out map[emu.Place]uint64) int64 {
	last := list[len(list)-1].tensor
	for _, l := range list[:len(list)-1] {
		gap := int64(0)
		for _, n := range b.loads {
			if d := int64(n.to - l.to); n.to > l.to && (gap == 0 || d < gap) {
				gap = d
			}
		}
		if l.tensor != last && open[l.tensor] > 0 && gap > 0 && gap*open[l.tensor] < bytes {
			bytes -= gap * open[l.tensor]
			out[l.tensor] = uint64(gap)
			delete(open, l.tensor)
		}
	}
	return bytes
}

// unsolved says of which copies the boxes stay unknown.
func (b *boxes) unsolved(f *findings) (out []string) {
	all := maps.Clone(b.stores)
	maps.Copy(all, b.maps)
	for _, tensor := range slices.SortedFunc(maps.Keys(all), func(x, y emu.Place) int { return cmp.Compare(x.Addr, y.Addr) }) {
		out = append(out, fmt.Sprintf("%sthe size of the tensor's box is not known: give --arg %s=tensor:BYTES", f.place(int(all[tensor])), f.options.tensorName(f.program, tensor)))
	}
	return out
}

// tensorName is the parameter that is a tensor's map, or has one so many bytes behind its beginning.
func (o *Options) tensorName(p *ir.Program, tensor emu.Place) string {
	for i, v := range p.Params {
		if off := int64(tensor.Addr) - v.Offset; tensor.Space == ir.Param && off == 0 {
			return o.param(p, i)
		} else if tensor.Space == ir.Param && off > 0 && off < v.Size {
			return fmt.Sprintf("%s+%d", o.param(p, i), off)
		}
	}
	return "NAME"
}

// chosenBoxes says which sizes of boxes runs have taken from what barrier objects expect.
func (o *Options) chosenBoxes(p *ir.Program, outs []*outcome) (out []string) {
	for _, x := range outs {
		for tensor, n := range x.found.made.with.boxes {
			if s := fmt.Sprintf("boxes of the tensor %s (%d bytes)", o.tensorName(p, tensor), n); !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	slices.Sort(out)
	return out
}
