package verify

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/ptx"
	"optcheck/refine"
)

// Setup is a launch written out, so that a device can run it: what its buffers hold before, and what all emulated schedules leave there.
type Setup struct {
	Grid, Block [3]int
	Dynamic     int64
	Args        []SetupArg
	Buffers     []SetupBuffer
}

// SetupArg is an argument: the address of a buffer, if Buffer is its number, else (-1) a number of so many bytes.
type SetupArg struct {
	Buffer int
	Value  uint64
	Bytes  int64
}

// SetupBuffer is memory of a launch.
type SetupBuffer struct {
	Name string
	// Data is what it holds before, End what it holds behind every schedule that was emulated; nil if that depends on the schedule.
	Data, End []byte
}

// Setup writes out the launch of the run that showed a finding. The error is that the launch cannot be given to a device: it has clusters or
// variables in global memory, a parameter of another size than 4 or 8 bytes, or memory to which no parameter points.
func (o *Options) Setup(m *ptx.Module, kernel string, f *Finding) (*Setup, error) {
	p, err := lowered(m, kernel, &o.Launch)
	if err != nil {
		return nil, err
	}
	set := *o
	set.Steps = max(o.Steps, givenSteps)
	in, given, err := set.input(p, o.Seed+uint64(f.made.input), f.made.with)
	if err != nil {
		return nil, err
	}
	s := &Setup{Grid: in.Grid, Block: in.Block, Dynamic: in.Dynamic}
	at, err := s.arguments(&set, p, in)
	if err != nil {
		return nil, err
	}
	for schedule := range max(o.Schedules, 4) {
		policy, _ := set.policy(schedule)
		policy.Products = true
		g, err := refine.Grid(p, in, policy, false)
		if err != nil {
			return nil, err
		}
		x := &findings{options: &set, program: p, of: map[findingKey]*Finding{}}
		g.Memory.First = x.first(g.Memory.First)
		if err := g.Run(); err != nil {
			return nil, fmt.Errorf("the launch does not end as it is emulated: %w", err)
		}
		if err := s.take(g, at, given, schedule == 0); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// arguments gives the parameters, and where the buffers lie that they point to.
func (s *Setup) arguments(o *Options, p *ir.Program, in *refine.Input) (at []uint64, err error) {
	switch {
	case p.Cluster != [3]int{}:
		return nil, fmt.Errorf("a launch with clusters cannot be given to a device")
	case slices.ContainsFunc(p.Vars, func(v ir.Var) bool { return v.Space == ir.Global }):
		return nil, fmt.Errorf("a kernel with variables in global memory cannot be given to a device: only buffers of parameters can be written out")
	}
	for i, v := range p.Params {
		if v.Size != 4 && v.Size != 8 || v.Offset+v.Size > int64(len(in.Params)) {
			return nil, fmt.Errorf("parameter %s has %d bytes: only numbers of 4 and 8 can be given to a device", o.param(p, i), v.Size)
		}
		value := emu.Number(in.Params[v.Offset : v.Offset+v.Size])
		a := SetupArg{-1, value, v.Size}
		if v.Size == 8 && value>>32 != 0 {
			if a.Buffer = slices.Index(at, value); a.Buffer < 0 {
				a.Buffer, at = len(at), append(at, value)
				s.Buffers = append(s.Buffers, SetupBuffer{Name: fmt.Sprintf("p%d", i)})
			}
		}
		s.Args = append(s.Args, a)
	}
	return at, nil
}

// take takes over what the buffers of a run held before and behind it.
func (s *Setup) take(g *emu.Grid, at []uint64, given []region, first bool) error {
	touched := g.Memory.Touched()
	ends := map[uint64]uint64{}
	for _, r := range given {
		ends[r.from] = r.to
	}
	for _, w := range slices.Sorted(maps.Keys(touched)) {
		if w.Shared() {
			continue
		}
		base := uint64(0)
		for _, a := range at {
			if a <= w.Addr() && a > base {
				base = a
			}
		}
		if base == 0 || w.Addr()-base >= nearBuffer {
			return fmt.Errorf("the kernel touches %#x, to which no parameter points", w.Addr())
		}
		ends[base] = max(ends[base], w.Addr()+4)
	}
	for i := range s.Buffers {
		b := &s.Buffers[i]
		n := int(max(ends[at[i]], at[i]+4) - at[i])
		end := g.Memory.Bytes(at[i], n)
		if first {
			b.Data, b.End = slices.Clone(end), end
		} else if !bytes.Equal(b.End, end) {
			b.End = nil
		}
		for k := 0; k+4 <= min(n, len(b.Data)); k += 4 {
			v, ok := touched[emu.Word((at[i]+uint64(k))>>2)]
			switch {
			case ok && !first && v != binary.LittleEndian.Uint32(b.Data[k:]):
				binary.LittleEndian.PutUint32(b.Data[k:], 0) // a flag for those that read it first: it is not set
			case ok && first:
				binary.LittleEndian.PutUint32(b.Data[k:], v)
			}
		}
	}
	return nil
}
