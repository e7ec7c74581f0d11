package drive

import (
	"context"
	"encoding/binary"
	"slices"

	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
)

// Memory is the device memory that runs of programs share. The zero value is
// empty; it grows as needed.
type Memory struct {
	// By device: locations, those that lie in one arena, what is stressed.
	locations [runner.MaxDevices][ptxgen.MaxLocations]area
	arena     [runner.MaxDevices]area
	scratch   [runner.MaxDevices]area
	// Of the first device.
	results, counters,
	hist, samples, table, out area
}

// location is the memory of a location in a launch.
func (m *Memory) location(l *launch, i int) runner.Buffer {
	if l.arena {
		return m.arena[l.homes[i]].buf
	}
	return m.locations[l.homes[i]][i].buf
}

type area struct {
	buf  runner.Buffer
	size uint64
}

// need makes an area of a device at least so large.
func (a *area) need(ctx context.Context, s runner.Session, device int, size uint64) error {
	size = max(size, 64)
	if a.size >= size {
		return nil
	}
	if a.buf != 0 {
		if err := s.Free(ctx, a.buf); err != nil {
			return err
		}
		*a = area{}
	}
	b, err := s.Alloc(ctx, device, size)
	if err != nil {
		return err
	}
	*a = area{b, size}
	return nil
}

// footprint is how many bytes launches need.
type footprint struct {
	cells                             []uint64 // by location; 0 if it is shared, or in the arena
	arena, results, scratch, counters uint64
}

// add takes in a launch.
func (f *footprint) add(h *ptxgen.Harness, l *launch) {
	for i := range h.Widths {
		size := l.size(i)
		switch {
		case h.Shape.Shared[i] >= 0 || h.Root(i) != i:
		case l.arena:
			f.arena = max(f.arena, size)
		default:
			f.cells[i] = max(f.cells[i], size)
		}
	}
	f.results = max(f.results, 4*uint64(l.instances)*uint64(max(h.Slots, 1)))
	f.counters = max(f.counters, ptxgen.CounterSync+ptxgen.SyncStride*uint64(l.syncWords))
	if l.own >= 0 {
		return
	}
	lines := uint64(l.set["stress_line"])*uint64(l.set["stress_lines"]) + uint64(l.set["stress_base"])
	f.scratch = max(f.scratch, min(lines, uint64(l.set["stress_wrap"]))+32*uint64(max(l.set["stress_lane"], l.set["bank_step"]))+64)
}

// locations makes the memory of the test's locations, with what they begin with.
func (r *run) locations(ctx context.Context, homes []int, need *footprint) error {
	h := r.p.H
	for i, size := range need.cells {
		if size == 0 {
			continue
		}
		if err := r.cells(ctx, homes[i], &r.m.locations[homes[i]][i], size, r.initial(i)); err != nil {
			return err
		}
	}
	if need.arena == 0 {
		return nil
	}
	pattern, first := r.initial(0), slices.IndexFunc(h.Shape.Shared, func(cta int) bool { return cta < 0 })
	if h.Layout == spec.Adjacent { // each cell has all of them
		pattern = make([]byte, h.Check.Cell)
		for i := range h.Widths {
			copy(pattern[h.Place(i):], r.initial(i))
		}
	}
	return r.cells(ctx, homes[first], &r.m.arena[homes[first]], need.arena, pattern)
}

// initial is what a location begins with.
func (r *run) initial(i int) []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 16), uint64(r.p.H.Test.Locations[i].Init))
	return b[:16][:r.p.H.Cells[i]]
}

// cells makes an area for the cells of locations and sets it to a pattern, which has a
// power of two of bytes, over and over.
func (r *run) cells(ctx context.Context, device int, a *area, size uint64, pattern []byte) error {
	size = (size + 255) &^ 255
	if err := a.need(ctx, r.s, device, size); err != nil {
		return err
	}
	if len(slices.Compact(words(pattern))) == 1 {
		r.setup = append(r.setup, runner.Fill(a.buf, 0, size, words(pattern)[0]))
		return nil
	}
	r.setup = append(r.setup, runner.Write(a.buf, 0, pattern))
	for done := uint64(len(pattern)); done < size; done *= 2 {
		r.setup = append(r.setup, runner.Copy(a.buf, done, a.buf, 0, min(done, size-done)))
	}
	return nil
}

func words(b []byte) (list []uint32) {
	for ; len(b) >= 4; b = b[4:] {
		list = append(list, binary.LittleEndian.Uint32(b))
	}
	return list
}

// working makes the memory that the harness itself needs.
func (r *run) working(ctx context.Context, devices int, need *footprint) error {
	table, hist, samples := r.bins.table(), uint64(8*(r.bins.total+1)), uint64(4*ptxgen.SampleWords*(ptxgen.MaxSamples+1))
	for d := range devices {
		if err := r.m.scratch[d].need(ctx, r.s, d, need.scratch); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		a    *area
		size uint64
		zero bool
	}{{&r.m.results, need.results, false}, {&r.m.counters, need.counters, true}, {&r.m.hist, hist, true},
		{&r.m.samples, samples, true}, {&r.m.table, uint64(len(table)), false}, {&r.m.out, 1 << 12, false}} {
		if err := x.a.need(ctx, r.s, 0, x.size); err != nil {
			return err
		}
		if x.zero {
			r.setup = append(r.setup, runner.Fill(x.a.buf, 0, x.size, 0))
		}
	}
	if len(table) > 0 {
		r.setup = append(r.setup, runner.Write(r.m.table.buf, 0, table))
	}
	r.final = []runner.Command{runner.Read(r.m.hist.buf, 0, hist), runner.Read(r.m.samples.buf, 0, samples),
		runner.Read(r.m.counters.buf, 0, 64)}
	return nil
}
