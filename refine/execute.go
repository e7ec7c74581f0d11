package refine

import (
	"errors"

	"optcheck/emu"
	"optcheck/ir"
)

// Execution is one run of a program.
type Execution struct {
	*emu.Grid
	Input *Input
	// Ended tells that all threads ended within the bound of steps.
	Ended bool
}

// Choose makes the input of a seed for a program: pointers where the program takes addresses, numbers that its
// comparisons compare with. grid and block fix the launch unless they are zero.
func Choose(p *ir.Program, grid, block [3]int, seed uint64) *Input {
	return ChooseIn(p, grid, block, seed, Small)
}

// ChooseIn chooses in another world.
func ChooseIn(p *ir.Program, grid, block [3]int, seed uint64, world World) *Input {
	in := choose(p, kinds(p), [2][3]int{grid, block}, seed, world)
	in.Vars = Place(p.Vars, p.SharedBase)
	return in
}

// launch is the launch of an input alone.
func (in *Input) launch() *emu.Launch {
	return &emu.Launch{Grid: in.Grid, Block: in.Block, Cluster: in.Cluster, Started: in.Started, Dynamic: in.Dynamic, Params: in.Params,
		Vars: in.Vars}
}

// Grid prepares a run of a program alone, in which weak loads see the newest content, as on one device.
func Grid(p *ir.Program, in *Input, policy emu.Policy, record bool) (*emu.Grid, error) {
	code, err := emu.Prepare(p)
	if err != nil {
		return nil, err
	}
	m := emu.NewMemory(in.first(policy.Fill))
	in.fill(m, p)
	g, err := emu.NewGrid(code, in.launch(), m, policy, record)
	if err != nil {
		return nil, err
	}
	g.Final, g.Kinds = true, kinds(p)
	return g, nil
}

// Execute runs a program alone. trace, if not nil, sees each instruction. The error is emu.ErrStuck, a *emu.Cannot
// or a *emu.Fault; the execution is as far as it came. It has no records, and its memory has no past: both grow with the run.
func Execute(p *ir.Program, in *Input, policy emu.Policy, trace func(w *emu.Warp, pc int32, act uint32)) (*Execution, error) {
	g, err := Grid(p, in, policy, false)
	if err != nil {
		return nil, err
	}
	g.Memory.Forget = true
	return execute(g, in, trace)
}

func execute(g *emu.Grid, in *Input, trace func(w *emu.Warp, pc int32, act uint32)) (*Execution, error) {
	for _, w := range g.Warps {
		w.Trace = trace
	}
	err := g.Run()
	x := &Execution{Grid: g, Input: in, Ended: err == nil}
	if errors.Is(err, emu.ErrSteps) {
		err = nil
	}
	return x, err
}

// Written lists the words of global memory that the run wrote, in order, with what they hold at its end.
func (x *Execution) Written() []Contents {
	var out []Contents
	for _, w := range x.Memory.Written() {
		if w.Shared() {
			continue
		}
		data := x.Memory.Bytes(w.Addr(), 4)
		if n := len(out); n > 0 && out[n-1].Addr+uint64(len(out[n-1].Data)) == w.Addr() {
			out[n-1].Data = append(out[n-1].Data, data...)
		} else {
			out = append(out, Contents{w.Addr(), data})
		}
	}
	return out
}
