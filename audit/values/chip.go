package values

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/ptxgen"
	"optcheck/refine"
	"optcheck/runner"
	"optcheck/toolchain"
)

// Chip is a device on which counterexamples are run.
type Chip struct {
	Session runner.Session
	mu      sync.Mutex
}

// Said is what a device says of a counterexample.
type Said string

// What devices say.
const (
	// Confirmed: the device does what the program says, as compiled without optimising, and something else as optimised: where the
	// finding is, or where else it shows.
	Confirmed Said = "confirmed"
	// Refuted: as optimised it does what the program says.
	Refuted Said = "refuted"
	// Doubtful: without optimising it does not do what the program says; optcheck or the compiler is wrong.
	Doubtful Said = "doubtful"
	// Raced: several threads store to the word of the finding, so that its last content says nothing.
	Raced Said = "raced"
	// Failed: a launch of the optimised code fails, that of the other does not.
	Failed Said = "fails"
)

// Replayed is a counterexample as a device ran it, compiled twice.
type Replayed struct {
	Said   Said   `json:"said"`
	Device string `json:"device"`
	Driver string `json:"driver"`
	// Words differ from what the program stores, in the order of their addresses: those that the code without optimisation stores, and
	// those that the optimised code stores.
	Plain []Word `json:"plain,omitempty"`
	Words []Word `json:"words,omitempty"`
	// Error is that of the launch of the optimised code.
	Error string `json:"error,omitempty"`
}

// Word is a word of memory that holds something else at the end.
type Word struct {
	Addr uint64 `json:"addr"`
	Want uint32 `json:"want"`
	Got  uint32 `json:"got"`
}

// maxWords bounds the words that are told.
const maxWords = 64

// counterexample is a program with an input on which a cell is wrong.
type counterexample struct {
	text, name string // PTX without the head of its module; the kernel
	program    *ir.Program
	finding    *refine.Finding
}

// run runs a counterexample on the device, compiled without optimising and as the cell does.
func (c *Chip) run(ctx context.Context, cell Cell, x counterexample) (*Replayed, error) {
	in, did, err := refine.Explicit(x.program, x.finding.Input)
	if err != nil {
		return nil, fmt.Errorf("the input cannot be given to a device: %w", err)
	}
	want := contents(in, did)
	dev := c.Session.Device()
	out := &Replayed{Device: dev.Name, Driver: dev.Driver}
	for _, level := range []string{"O0", cell.Level} {
		code, err := machineCode(ctx, cell, level, x.text, x.name)
		if err != nil {
			return nil, err
		}
		got, err := c.launch(ctx, code, x, in)
		switch {
		case ctx.Err() != nil:
			return nil, err
		case err != nil && level == "O0":
			return nil, fmt.Errorf("as compiled without optimising: %w", err)
		case err != nil:
			out.Said, out.Error = Failed, err.Error()
			return out, nil
		}
		words := differences(in, want, got)
		if level == "O0" {
			out.Plain = words
		} else {
			out.Words = words
		}
		if cell.Level == "O0" {
			out.Words = words
			break
		}
	}
	out.judge(x.finding)
	if raced(did, x.finding) {
		out.Said = Raced
	}
	return out, nil
}

// contents are what the buffers of an input hold at the end of a run.
func contents(in *refine.Input, did *refine.Execution) [][]byte {
	want := make([][]byte, len(in.Memory))
	written := did.Written()
	for i, m := range in.Memory {
		want[i] = slices.Clone(m.Data)
		for _, w := range written {
			if w.Addr >= m.Addr && w.Addr < m.Addr+uint64(len(m.Data)) {
				copy(want[i][w.Addr-m.Addr:], w.Data)
			}
		}
	}
	return want
}

// raced reports whether several threads write the word of a finding without synchronisation: which one of them is last is open.
func raced(did *refine.Execution, f *refine.Finding) bool {
	writers := 0
	for _, r := range did.Records {
		if slices.ContainsFunc(r.Epochs, func(e *emu.Epoch) bool {
			return e.Get(emu.Word(f.Address>>2)) != nil
		}) {
			writers++
		}
	}
	return f.Address != 0 && writers > 1
}

// judge says who is right at the place of a finding; a finding that names none is about any.
func (r *Replayed) judge(f *refine.Finding) {
	at := func(list []Word) bool {
		if f.Rule != refine.WrongValue || f.Address == 0 {
			return len(list) > 0
		}
		return slices.ContainsFunc(list, func(w Word) bool { return w.Addr == f.Address&^3 })
	}
	switch {
	case at(r.Plain):
		r.Said = Doubtful
	case at(r.Words), slices.ContainsFunc(r.Words, func(w Word) bool { return !slices.Contains(r.Plain, w) }): // there, or where it shows
		r.Said = Confirmed
	default:
		r.Said = Refuted
	}
	r.Plain, r.Words = r.Plain[:min(len(r.Plain), maxWords)], r.Words[:min(len(r.Words), maxWords)]
}

// differences are the words of buffers that hold something else than is wanted.
func differences(in *refine.Input, want, got [][]byte) (out []Word) {
	for i, m := range in.Memory {
		for at := 0; at+4 <= len(want[i]); at += 4 {
			if w, g := want[i][at:at+4], got[i][at:at+4]; !bytes.Equal(w, g) {
				out = append(out, Word{m.Addr + uint64(at), binary.LittleEndian.Uint32(w), binary.LittleEndian.Uint32(g)})
			}
		}
	}
	return out
}

// machineCode is a cubin with the kernel.
func machineCode(ctx context.Context, c Cell, level, text, name string) ([]byte, error) {
	res, err := c.Toolchain.Compile(ctx, toolchain.Job{Target: c.Target, Level: level, Header: ptxgen.Header(version(c), c.Target), Units: []toolchain.Unit{{Name: name, Text: text}}})
	if err != nil {
		return nil, err
	}
	if err := res.Failed[0]; err != nil {
		return nil, err
	}
	return res.Batches[0].Cubin, nil
}

// launch runs a kernel once on an input that is written out, and returns what its buffers hold afterwards.
func (c *Chip) launch(ctx context.Context, code []byte, x counterexample, in *refine.Input) (out [][]byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.Session
	m, err := s.Load(ctx, runner.Image{Kind: runner.ImageCubin, Data: code})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Unload(ctx, m)) }()
	k, _, err := s.Kernel(ctx, m, x.name)
	if err != nil {
		return nil, err
	}
	b := &runner.Batch{}
	var buffers []runner.Buffer
	defer func() {
		for _, x := range buffers {
			err = errors.Join(err, s.Free(ctx, x))
		}
	}()
	for _, m := range in.Memory {
		at, err := s.Alloc(ctx, 0, uint64(len(m.Data)))
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, at)
		b.Setup = append(b.Setup, runner.Write(at, 0, m.Data))
		b.Final = append(b.Final, runner.Read(at, 0, uint64(len(m.Data))))
	}
	args, err := arguments(x.program, in, buffers)
	if err != nil {
		return nil, err
	}
	dims := runner.Dims{}
	for i := range 3 {
		dims.Grid[i], dims.Block[i] = uint32(in.Grid[i]), uint32(in.Block[i])
	}
	b.Body = []runner.Command{runner.Launch(k, dims, args...)}
	res, err := s.Run(ctx, b)
	if err != nil {
		return nil, err
	}
	return res.Reads, nil
}

// arguments are the parameters of a launch: those that are addresses of buffers become those of the device's.
func arguments(p *ir.Program, in *refine.Input, buffers []runner.Buffer) (out []runner.Arg, err error) {
	for _, v := range p.Params {
		if v.Offset+v.Size > int64(len(in.Params)) {
			return nil, fmt.Errorf("parameter %s is not in the input", v.Name)
		}
		data := in.Params[v.Offset : v.Offset+v.Size]
		switch v.Size {
		case 8:
			value := binary.LittleEndian.Uint64(data)
			if at := slices.IndexFunc(in.Memory, func(m refine.Contents) bool { return m.Addr == value }); at >= 0 {
				out = append(out, runner.BufArg(buffers[at]))
			} else {
				out = append(out, runner.U64(value))
			}
		case 4:
			out = append(out, runner.U32(binary.LittleEndian.Uint32(data)))
		default:
			return nil, fmt.Errorf("parameter %s has %d bytes: only numbers of 4 and 8 can be given to a device", v.Name, v.Size)
		}
	}
	return out, nil
}
