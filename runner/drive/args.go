package drive

import (
	"fmt"

	"optcheck/ptxgen"
	"optcheck/runner"
)

// commands are the launches of one iteration: the test, on each device, and the
// collector.
func (p *Program) commands(m *Memory, l *launch, b *bins) ([]runner.Command, error) {
	dims := runner.Dim1(l.ctas, l.threads)
	if p.H.Shape.Clusters {
		dims.Cluster = [3]uint32{uint32(p.H.Shape.Ranks), 1, 1}
	}
	dims.Shared = l.shared
	threads := uint32(256)
	cdims := runner.Dim1(min((l.instances+threads-1)/threads, 1056), threads)
	cargs := p.collectArgs(m, l, b)
	size := uint32(4 * (b.total + 1))
	if p.opencl {
		cargs = append(cargs, runner.LocalArg(uint64(size)))
	} else {
		cdims.Shared = size
	}
	var out []runner.Command
	for d := range l.active {
		args := make([]runner.Arg, 0, len(p.H.Params))
		for i := range p.H.Params {
			a, err := p.arg(&p.H.Params[i], m, l, d)
			if err != nil {
				return nil, err
			}
			args = append(args, a)
		}
		out = append(out, runner.Launch(p.test, dims, args...).On(d, d > 0))
	}
	return append(out, runner.Launch(p.collect, cdims, cargs...)), nil
}

// arg is the argument for a parameter on a device.
func (p *Program) arg(q *ptxgen.HarnessParam, m *Memory, l *launch, device int) (runner.Arg, error) {
	switch q.Kind {
	case ptxgen.ParamLocation:
		if q.Index >= len(p.H.Widths) || p.H.Shape.Shared[q.Index] >= 0 {
			return runner.U64(0), nil
		}
		return runner.BufArg(m.location(l, p.H.Root(q.Index))), nil
	case ptxgen.ParamOut:
		return runner.BufArg(m.out.buf), nil
	case ptxgen.ParamResults:
		return runner.BufArg(m.results.buf), nil
	case ptxgen.ParamScratch:
		if l.own >= 0 {
			return runner.BufArg(m.location(l, l.own)), nil
		}
		return runner.BufArg(m.scratch[device].buf), nil
	case ptxgen.ParamCounters:
		return runner.BufArg(m.counters.buf), nil
	case ptxgen.ParamWindow:
		return runner.U32(l.offset[q.Index]), nil
	case ptxgen.ParamOffset: // of a cell of neighbours
		return runner.U32(l.offset[q.Index] - p.H.Place(q.Index)), nil
	case ptxgen.ParamMul:
		return runner.U32(l.mul[q.Index]), nil
	case ptxgen.ParamStride:
		return runner.U32(l.stride[q.Index]), nil
	case ptxgen.ParamSetting:
		if q.Name == activeSetting {
			return runner.U32(l.active[device]), nil
		}
		return runner.U32(l.set[q.Name]), nil
	case ptxgen.ParamValue, ptxgen.ParamRole, ptxgen.ParamInitial, ptxgen.ParamToken:
		if q.Wide {
			return runner.U64(uint64(q.Value)), nil
		}
		return runner.U32(uint32(q.Value)), nil
	}
	return runner.Arg{}, fmt.Errorf("parameter %s of kind %d", q.Name, q.Kind)
}

// activeSetting differs between devices.
const activeSetting = "active"

// collectArgs are the collector's arguments.
func (p *Program) collectArgs(m *Memory, l *launch, b *bins) []runner.Arg {
	// Shared locations are none of the collector's: it is given the others only.
	var locs []int
	for i := range p.H.Widths {
		if p.H.Shape.Shared[i] < 0 && p.H.Root(i) == i {
			locs = append(locs, i)
		}
	}
	var args []runner.Arg
	for k := range ptxgen.MaxLocations {
		buf := m.results.buf // any, for parameters that are not used
		if k < len(locs) {
			buf = m.location(l, locs[k])
		}
		args = append(args, runner.BufArg(buf))
	}
	for _, a := range []area{m.results, m.hist, m.samples, m.table, m.counters} {
		args = append(args, runner.BufArg(a.buf))
	}
	for _, v := range []uint32{l.instances, l.set["inst_mask"], uint32(len(b.words)), uint32(b.total), l.set["result_step"],
		uint32(len(locs)), l.syncWords} {
		args = append(args, runner.U32(v))
	}
	slot := map[int]uint32{}
	for _, s := range p.H.Terms {
		if s.Loc >= 0 {
			slot[s.Loc] = uint32(s.Slot)
		}
	}
	for _, name := range ptxgen.CollectLocation {
		for k := range ptxgen.MaxLocations {
			v := uint32(0)
			if k < len(locs) {
				i := locs[k]
				init := uint64(p.H.Test.Locations[i].Init)
				s, isTerm := slot[i]
				if !isTerm {
					s = ptxgen.NoSlot
				}
				v = map[string]uint32{"mul": l.mul[i], "stride": l.stride[i], "offset": l.offset[i], "initial": uint32(init),
					"high": uint32(init >> 32), "width": uint32(p.H.Widths[i]), "slot": s, "cell": uint32(p.H.Cells[i])}[name]
			}
			args = append(args, runner.U32(v))
		}
	}
	return args
}
