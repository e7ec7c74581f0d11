package main

import (
	le "encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/emu"
	"optcheck/internal/plain"
	"optcheck/ir"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/refine"
	"optcheck/sass/cubin"
	sasslower "optcheck/sass/lower"
	"optcheck/verify"
)

// emulation is what the flags of optcheck emulate say.
type emulation struct {
	kernel      string
	grid, block []int
	args        []string
	seed        uint64
	steps       int64
	trace       int
	asJSON      bool
}

func newEmulateCmd(env *environment) *cobra.Command {
	var e emulation
	cmd := &cobra.Command{
		Use:   "emulate FILE.ptx|FILE.cubin",
		Short: "Run a kernel without a GPU: memory, trace, coverage",
		Long: `Run a kernel of PTX, or the machine code of a cubin (sm_70 and later), in the
emulator: a grid of blocks, with divergence, barriers, atomics and operations of
warps. It prints what memory the kernel wrote, which of its instructions were
performed, and, with --trace, each step.

Parameters that are not given are chosen from --seed: an address for what the
kernel uses as an address, else a number that its comparisons make likely. Each
address can be read; what it holds follows from the seed.

The exit code is 1 if the kernel faults, waits for ever, or does not end within
--steps, and 2 if it has an instruction that the emulator does not understand.`,
		Example: `  optcheck emulate kernel.ptx --grid 2 --block 64
  optcheck emulate kernel.ptx --kernel scale --arg n=100 --arg factor=1.5 --trace 40
  optcheck emulate kernel.cubin --arg 2=100 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, env, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&e.kernel, "kernel", "", "the kernel, if the file has several")
	f.IntSliceVar(&e.grid, "grid", nil, "blocks: X,Y,Z (chosen if not given)")
	f.IntSliceVar(&e.block, "block", nil, "threads of a block: X,Y,Z")
	f.StringArrayVar(&e.args, "arg", nil, "a parameter, by name or number: NAME=VALUE; VALUE is a number, 1.5 of one that is used as f32 or f64")
	f.Uint64Var(&e.seed, "seed", 0, "what parameters and memory are made from")
	f.Int64Var(&e.steps, "steps", 1<<24, "how many instructions of threads at most, all together")
	f.IntVar(&e.trace, "trace", 0, "print the first N steps of warps")
	f.StringSlice("toolchains", nil, "disassemble cubins with these toolchains only")
	timeoutFlag(cmd, fileTimeout)
	jsonFlag(cmd, &e.asJSON, oneObject)
	return cmd
}

// place names instructions of a program for people.
type placer func(i int) string

func (e *emulation) run(cmd *cobra.Command, env *environment, file string) error {
	p, at, err := e.load(cmd, env, file)
	if err != nil {
		return err
	}
	grid, err := shape("grid", e.grid)
	if err != nil {
		return err
	}
	block, err := shape("block", e.block)
	if err != nil {
		return err
	}
	if (grid == [3]int{}) != (block == [3]int{}) {
		grid, block = orOne(grid), orOne(block)
	}
	in := refine.Choose(p, grid, block, e.seed)
	if err := e.setParams(p, in); err != nil {
		return err
	}
	var tracer func(w *emu.Warp, pc int32, act uint32)
	if e.trace > 0 {
		left := e.trace
		tracer = func(w *emu.Warp, pc int32, act uint32) {
			if left--; left >= 0 {
				fmt.Fprintf(env.stdout, "warp %d lanes %08x  %s\n", w.ID, act, at(int(pc)))
			}
		}
	}
	x, err := refine.Execute(p, in, emu.Policy{MaxSteps: e.steps, Products: true}, tracer)
	if x == nil {
		return err
	}
	var cannot *emu.Cannot
	if errors.As(err, &cannot) {
		return fmt.Errorf("%s: %w", plain.Line(file), err)
	}
	if e.asJSON {
		if err := env.printJSON(e.report(p, x, err)); err != nil {
			return err
		}
	} else if err := e.print(env.stdout, p, x, at, err); err != nil {
		return err
	}
	if err != nil || !x.Ended {
		return errFound
	}
	return nil
}

// load lowers the kernel that is meant.
func (e *emulation) load(cmd *cobra.Command, env *environment, file string) (*ir.Program, placer, error) {
	data, err := readInput(env, file)
	if err != nil {
		return nil, nil, err
	}
	if strings.HasPrefix(string(data), "\x7fELF") {
		return e.loadCubin(cmd, env, file, data)
	}
	m, err := ptx.Parse(file, data)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	pos := map[int]ptx.Pos{}
	for _, f := range m.Funcs {
		if f.Entry {
			names = append(names, f.Name)
		}
		for i := range f.Body {
			if in := f.Body[i].Inst; in != nil {
				pos[in.N] = in.Pos
			}
		}
	}
	name, err := e.chosen(file, names)
	if err != nil {
		return nil, nil, err
	}
	p, err := ptxlower.Kernel(m, name)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", plain.Line(file), err)
	}
	return p, func(i int) string {
		in := &p.Insts[i]
		return fmt.Sprintf("%s:%d: %s", plain.Line(file), pos[in.Source].Line, in.Text)
	}, nil
}

func (e *emulation) loadCubin(cmd *cobra.Command, env *environment, file string, data []byte) (*ir.Program, placer, error) {
	f, err := cubin.Parse(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", plain.Line(file), err)
	}
	code, err := loadCode(cmd.Context(), env, file)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, fn := range code.Program.Funcs {
		if !fn.Callable {
			names = append(names, fn.Name)
		}
	}
	name, err := e.chosen(file, names)
	if err != nil {
		return nil, nil, err
	}
	p, err := sasslower.Kernel(code.Program, f, name)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", plain.Line(file), err)
	}
	return p, func(i int) string { return fmt.Sprintf("/*%04x*/ %s", p.Insts[i].Addr, p.Insts[i].Text) }, nil
}

func (e *emulation) chosen(file string, names []string) (string, error) {
	switch {
	case len(names) == 0:
		return "", fmt.Errorf("%s: there is no kernel in it", plain.Line(file))
	case e.kernel == "" && len(names) == 1:
		return names[0], nil
	case e.kernel == "":
		return "", fmt.Errorf("%s: which kernel? --kernel is one of %s", plain.Line(file), plain.Line(strings.Join(names, ", ")))
	case !slices.Contains(names, e.kernel):
		return "", fmt.Errorf("%s: no kernel %s, but %s", plain.Line(file), plain.Line(e.kernel), plain.Line(strings.Join(names, ", ")))
	}
	return e.kernel, nil
}

// shape is a dimension of a launch: the ones that are not given are 1.
func shape(name string, given []int) (out [3]int, err error) {
	if len(given) == 0 {
		return out, nil
	}
	if len(given) > 3 {
		return out, fmt.Errorf("--%s has three numbers at most: X,Y,Z", name)
	}
	for _, n := range given {
		if n < 1 {
			return out, fmt.Errorf("--%s %d: numbers from 1 on", name, n)
		}
	}
	copy(out[:], given)
	return orOne(out), nil
}

func orOne(d [3]int) [3]int {
	for i := range d {
		if d[i] == 0 {
			d[i] = 1
		}
	}
	return d
}

// setParams puts the parameters that were given into the input.
func (e *emulation) setParams(p *ir.Program, in *refine.Input) error {
	for _, a := range e.args {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			return fmt.Errorf("--arg %s: NAME=VALUE is expected", plain.Line(a))
		}
		i := slices.IndexFunc(p.Params, func(v ir.Var) bool { return v.Name == name })
		if n, err := strconv.Atoi(name); i < 0 && err == nil && n >= 0 && n < len(p.Params) {
			i = n
		}
		if i < 0 {
			return fmt.Errorf("--arg %s: the kernel has no parameter %s", plain.Line(a), plain.Line(name))
		}
		v := &p.Params[i]
		if v.Size > 8 {
			return fmt.Errorf("--arg %s: the parameter has %d bytes; numbers have up to 8", plain.Line(a), v.Size)
		}
		n, err := verify.Number(value, v.Size)
		if err != nil {
			return fmt.Errorf("--arg %s: %w", plain.Line(a), err)
		}
		var word [8]byte
		le.LittleEndian.PutUint64(word[:], n)
		copy(in.Params[v.Offset:v.Offset+v.Size], word[:])
	}
	return nil
}

// emulated is the JSON form of an emulation.
type emulated struct {
	Kernel  string          `json:"kernel"`
	Input   *refine.Input   `json:"input"`
	Ended   bool            `json:"ended"`
	Failure string          `json:"failure,omitempty"`
	Steps   int64           `json:"steps"`
	Insts   int             `json:"instructions"`
	Done    int             `json:"performed"`
	Missed  []emulatedPlace `json:"missed,omitempty"`
	Memory  []emulatedWords `json:"memory,omitempty"`
}

type emulatedPlace struct {
	Index int    `json:"index"`
	Text  string `json:"text"`
}

type emulatedWords struct {
	Addr string `json:"addr"`
	Data string `json:"data"`
}

func (e *emulation) report(p *ir.Program, x *refine.Execution, failure error) *emulated {
	out := &emulated{Kernel: p.Kernel, Input: x.Input, Ended: x.Ended, Steps: x.Steps, Insts: len(p.Insts)}
	if failure != nil {
		out.Failure = failure.Error()
	}
	for i, done := range x.Cover.Insts {
		if done {
			out.Done++
		} else {
			out.Missed = append(out.Missed, emulatedPlace{i, p.Insts[i].Text})
		}
	}
	for _, c := range x.Written() {
		out.Memory = append(out.Memory, emulatedWords{fmt.Sprintf("%#x", c.Addr), hex.EncodeToString(c.Data)})
	}
	return out
}

// maxShown bounds the lines of memory and of instructions that are printed.
const maxShown = 64

func (e *emulation) print(w io.Writer, p *ir.Program, x *refine.Execution, at placer, failure error) error {
	in := x.Input
	fmt.Fprintf(w, "%s: grid %d,%d,%d, block %d,%d,%d, seed %d\n", plain.Line(p.Kernel), in.Grid[0], in.Grid[1], in.Grid[2],
		in.Block[0], in.Block[1], in.Block[2], in.Seed)
	for i, v := range p.Params {
		fmt.Fprintf(w, "  parameter %d %s = %s\n", i, plain.Line(v.Name), paramText(in.Params[v.Offset:v.Offset+v.Size]))
	}
	switch {
	case failure != nil:
		fmt.Fprintf(w, "failed after %d instructions of threads: %s\n", x.Steps, plain.Line(failure.Error()))
	case !x.Ended:
		fmt.Fprintf(w, "not at its end after %d instructions of threads (--steps)\n", x.Steps)
	default:
		fmt.Fprintf(w, "ended after %d instructions of threads\n", x.Steps)
	}
	r := e.report(p, x, failure)
	fmt.Fprintf(w, "%d of %d instructions were performed\n", r.Done, r.Insts)
	for i, m := range r.Missed {
		if i == maxShown {
			fmt.Fprintf(w, "  … and %d more\n", len(r.Missed)-i)
			break
		}
		fmt.Fprintf(w, "  not performed: %s\n", at(m.Index))
	}
	lines := 0
	for _, c := range x.Written() {
		for at := 0; at < len(c.Data); at += 32 {
			if lines++; lines > maxShown {
				_, err := fmt.Fprintln(w, "  … more is left out; --json has all")
				return err
			}
			fmt.Fprintf(w, "  %#x:%s\n", c.Addr+uint64(at), words(c.Data[at:min(at+32, len(c.Data))]))
		}
	}
	return nil
}

func words(b []byte) string {
	var s strings.Builder
	for ; len(b) >= 4; b = b[4:] {
		fmt.Fprintf(&s, " %08x", le.LittleEndian.Uint32(b))
	}
	return s.String()
}

func paramText(b []byte) string {
	switch len(b) {
	case 8:
		return fmt.Sprintf("%#x", le.LittleEndian.Uint64(b))
	case 4:
		return fmt.Sprint(le.LittleEndian.Uint32(b))
	}
	return hex.EncodeToString(b)
}
