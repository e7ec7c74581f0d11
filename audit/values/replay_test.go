package values

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/pipeline"
	"optcheck/ptxgen/values"
	"optcheck/refine"
	"optcheck/runner"
	"optcheck/sass/cubin"
	sasslower "optcheck/sass/lower"
)

// emulatedDevice is a device that emulates the machine code of a cell.
type emulatedDevice struct {
	runner.Session
	cell    Cell
	code    *pipeline.Code
	program *ir.Program
	buffers [][]byte
	spoilt  bool // it stores zeros
}

func (e *emulatedDevice) Device() runner.Device { return runner.Device{Name: "emulated", Driver: "1"} }

func (e *emulatedDevice) Load(ctx context.Context, i runner.Image) (m runner.Module, err error) {
	if e.code, err = pipeline.Decode(ctx, e.cell.Toolchain, "k", e.cell.Target, i.Data); err == nil && e.code.File == nil {
		e.code.File, err = cubin.Parse(i.Data)
	}
	return 1, err
}

func (e *emulatedDevice) Unload(context.Context, runner.Module) error { return nil }

func (e *emulatedDevice) Kernel(_ context.Context, _ runner.Module, name string) (k runner.Kernel, i runner.KernelInfo, err error) {
	e.program, err = sasslower.Kernel(e.code.Program, e.code.File, name)
	return 1, i, err
}

func (e *emulatedDevice) Alloc(_ context.Context, _ int, n uint64) (runner.Buffer, error) {
	e.buffers = append(e.buffers, make([]byte, n))
	return runner.Buffer(len(e.buffers) - 1), nil
}

func (e *emulatedDevice) Free(_ context.Context, b runner.Buffer) error {
	e.buffers[b] = nil
	return nil
}

func (e *emulatedDevice) Run(_ context.Context, b *runner.Batch) (*runner.Result, error) {
	at := func(x runner.Buffer) uint64 { return 0x7000_0000_0000 + uint64(x)<<24 }
	for _, c := range b.Setup {
		copy(e.buffers[c.Buffer][c.Offset:], c.Data)
	}
	launch := b.Body[0]
	in := &refine.Input{}
	for i := range 3 {
		in.Grid[i], in.Block[i] = int(launch.Dims.Grid[i]), int(launch.Dims.Block[i])
	}
	for _, a := range launch.Args {
		switch a.Kind {
		case runner.ArgBuffer:
			in.Params = binary.LittleEndian.AppendUint64(in.Params, at(a.Buffer))
		case runner.ArgU32:
			in.Params = binary.LittleEndian.AppendUint32(in.Params, uint32(a.Value))
		}
	}
	in.Params = append(in.Params, make([]byte, 8)...)
	for i, data := range e.buffers {
		if data == nil {
			continue
		}
		in.Memory = append(in.Memory, refine.Contents{Addr: at(runner.Buffer(i)), Data: data})
	}
	x, err := refine.Execute(e.program, in, emu.Policy{}, nil)
	if err != nil {
		return nil, err
	}
	out := &runner.Result{}
	for _, c := range b.Final {
		data := x.Memory.Bytes(at(c.Buffer)+c.Offset, int(c.Bytes))
		if e.spoilt {
			clear(data)
		}
		out.Reads = append(out.Reads, data)
	}
	return out, nil
}

// TestReplay runs a hunt with a device that does what machine code does, where each finding is confirmed; with one
// that does not, where each is doubtful; and replays what was found with code that is right, which refutes it.
func TestReplay(t *testing.T) {
	c := cell(t, "12.4", "O3")
	o := Options{Cells: []Cell{c}, Seed: 1, Kernels: 24, Generate: values.Options{Only: []string{"halfword", "range"}}, Jobs: 1, Inputs: 2,
		Chip: &Chip{Session: &emulatedDevice{cell: c}}}
	r := run(t, o)
	require.NotEmpty(t, r.Causes, "%+v %v", r.Progress, r.NotUnderstood)
	require.Zero(t, r.Device[Refuted])
	require.Zero(t, r.Device[Doubtful], r.Doubtful)
	require.Greater(t, r.Device[Confirmed], r.Wrong-1)
	e := r.Causes[0].Example
	require.Equal(t, Confirmed, e.Run.Said)
	require.Empty(t, e.Run.Plain)
	require.NotEmpty(t, e.Run.Words)

	dir := t.TempDir()
	require.NoError(t, r.Causes[0].Keep(dir))
	f, err := Kept(dir)
	require.NoError(t, err)
	for said, chip := range map[Said]*Chip{Confirmed: o.Chip, Doubtful: {Session: &emulatedDevice{cell: c, spoilt: true}}} {
		again, err := Replay(t.Context(), f, []Cell{c}, chip)
		require.NoError(t, err)
		require.True(t, again[0].Wrong)
		require.Equal(t, said, again[0].Device.Said)
	}
	c.Level = "O0"
	again, err := Replay(t.Context(), f, []Cell{c}, o.Chip)
	require.NoError(t, err)
	require.False(t, again[0].Wrong)
	require.Equal(t, Refuted, again[0].Device.Said)

	o.Chip = &Chip{Session: &emulatedDevice{cell: cell(t, "12.4", "O3"), spoilt: true}}
	r = run(t, o)
	require.Empty(t, r.Causes)
	require.NotZero(t, r.Doubts)
}
