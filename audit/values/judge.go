package values

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/ptxgen"
	"optcheck/ptxgen/values"
	"optcheck/refine"
	"optcheck/refine/nvidia"
	"optcheck/sass/cubin"
	sasslower "optcheck/sass/lower"
	"optcheck/toolchain"
)

// Cell is a compiler, what it compiles for, and how much it optimises.
type Cell struct {
	Toolchain *toolchain.Toolchain
	Target    string
	Level     string
}

// String names the cell.
func (c Cell) String() string { return fmt.Sprintf("%s %s at %s", c.Toolchain.ID, c.Target, c.Level) }

// Outcome is what comes of a kernel in a cell.
type Outcome uint8

// The outcomes.
const (
	Same    Outcome = iota // the machine code does what the program does, on all inputs
	Wrong                  // it does not
	Unknown                // something is not understood
	Refused                // the compiler does not compile it
)

// verdict is the outcome of a kernel in a cell.
type verdict struct {
	outcome Outcome
	why     string
	finding *refine.Finding
	machine *ir.Program
}

// reason says why a verdict is not the wanted one.
func (v *verdict) reason() string {
	if v.finding != nil {
		return fmt.Sprintf("%s: %s", v.finding.Rule, v.finding.Why)
	}
	return v.why
}

// subject is a kernel to be judged.
type subject struct {
	kernel  *values.Kernel
	name    string
	text    string
	program *ir.Program
	inputs  []*refine.Input
	early   *refine.Early // what the machine code is executed with, nil for nothing
	why     string        // it is not understood
}

// The places of the buffers.
const (
	inAddress  = 0x7f00_0000_0000
	outAddress = 0x7f00_0100_0000
)

// newSubject reads a kernel back.
func newSubject(k *values.Kernel, name string, inputs []*refine.Input) *subject {
	s := &subject{kernel: k, name: name, text: k.Text(name), inputs: inputs}
	s.read()
	return s
}

// newest is the version of PTX as which kernels are read.
const newest = ptxgen.Version(84)

// read makes a program of the text.
func (s *subject) read() {
	m, err := ptx.Parse(s.name+".ptx", []byte(ptxgen.Header(newest, "sm_90")+s.text))
	if err == nil {
		s.program, err = ptxlower.Kernel(m, s.name)
	}
	if err != nil {
		s.why = err.Error()
		return
	}
	s.why = opaque(s.program)
}

// opaque is what a program has that is not understood.
func opaque(p *ir.Program) string {
	i := slices.IndexFunc(p.Insts, func(in ir.Inst) bool { return in.Opaque != "" })
	if i < 0 {
		return ""
	}
	return p.Insts[i].Form + ": " + p.Insts[i].Opaque
}

// Inputs are launches of a kernel.
func Inputs(k *values.Kernel, n int) (out []*refine.Input) {
	for i := range n {
		data, number := k.Input(i)
		params := binary.LittleEndian.AppendUint64(nil, inAddress)
		params = binary.LittleEndian.AppendUint64(params, outAddress)
		params = binary.LittleEndian.AppendUint64(params, uint64(number))
		out = append(out, &refine.Input{Seed: k.Seed + uint64(i), Grid: [3]int{1, 1, 1}, Block: [3]int{k.Threads, 1, 1}, Params: params[:24],
			Memory: []refine.Contents{{Addr: inAddress, Data: data}, {Addr: outAddress, Data: make([]byte, k.OutBytes())}}})
	}
	return out
}

// judge compiles subjects in a cell and compares each with its machine code.
func judge(ctx context.Context, c Cell, list []*subject) ([]verdict, error) {
	out := make([]verdict, len(list))
	job := toolchain.Job{Target: c.Target, Level: c.Level, Header: ptxgen.Header(version(c), c.Target)}
	var at []int
	for i, s := range list {
		if s.why != "" {
			out[i] = verdict{outcome: Unknown, why: "PTX: " + s.why}
			continue
		}
		at = append(at, i)
		job.Units = append(job.Units, toolchain.Unit{Name: s.name, Text: s.text})
	}
	if len(at) == 0 {
		return out, nil
	}
	res, err := c.Toolchain.Compile(ctx, job)
	if err != nil {
		return nil, err
	}
	for i, err := range res.Failed {
		var failed *toolchain.Error
		errors.As(err, &failed)
		out[at[i]] = verdict{outcome: Refused, why: refusal(failed, err)}
	}
	for _, b := range res.Batches {
		if err := judgeBatch(ctx, c, &b, list, at, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// refusal is what a compiler says of a kernel, in one line.
func refusal(e *toolchain.Error, err error) string {
	text := err.Error()
	if e != nil && len(e.Diagnostics) > 0 {
		text = e.Diagnostics[0].Message
	}
	first, _, _ := strings.Cut(text, "\n")
	return first
}

func judgeBatch(ctx context.Context, c Cell, b *toolchain.Batch, list []*subject, at []int, out []verdict) error {
	code, err := pipeline.Decode(ctx, c.Toolchain, "batch", c.Target, b.Cubin)
	var file *cubin.File
	if err == nil {
		file, err = cubin.Parse(b.Cubin)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		for _, u := range b.Units {
			out[at[u]] = verdict{outcome: Unknown, why: "the machine code cannot be read: " + err.Error()}
		}
		return nil
	}
	for _, u := range b.Units {
		s := list[at[u]]
		v := verdict{}
		if v.machine, err = sasslower.Kernel(code.Program, file, s.name); err != nil {
			v.outcome, v.why = Unknown, err.Error()
		} else if err := v.compare(ctx, s, code.Program); err != nil {
			return err
		}
		out[at[u]] = v
	}
	return nil
}

// compare executes both codes.
func (v *verdict) compare(ctx context.Context, s *subject, prog *isa.Program) error {
	early, err := nvidia.Early(prog, v.machine, s.early)
	res := &refine.Result{}
	if err == nil {
		res, err = refine.Compare(ctx, s.program, v.machine, refine.Options{Inputs: s.inputs, Early: early})
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		v.outcome, v.why = Unknown, err.Error()
	case len(res.Findings) > 0:
		v.outcome, v.finding = Wrong, &res.Findings[0]
		why := v.finding.Doubt()
		if why == "" {
			why = v.hidden(s)
		}
		if why != "" {
			v.outcome, v.why, v.finding = Unknown, why+": "+string(v.finding.Rule), nil
		}
	case len(res.Cannot) > 0:
		v.outcome, v.why = Unknown, shortened(slices.Min(slices.Collect(maps.Keys(res.Cannot))))
	}
	return nil
}

// hidden says why a difference is not to be seen in memory, "" if it is: the machine code runs alone, with diverged lanes in both
// orders, and a word that the program defines holds something else at the end. Results of generated kernels are defined,
// so that what is not seen there is none: an operand of an atomic that changes nothing, say.
func (v *verdict) hidden(s *subject) string {
	if s.kernel == nil {
		return "" // no generated kernel
	}
	in, did, err := refine.Explicit(s.program, v.finding.Input)
	if err != nil {
		return ""
	}
	want := contents(in, did)
	for _, reverse := range []bool{false, true} {
		alone := *in
		alone.Vars = nil
		x, err := refine.Execute(v.machine, &alone, emu.Policy{Reverse: reverse, Fill: 0x5a5a5a5a5a5a5a5a}, nil)
		if err != nil || !x.Ended {
			return ""
		}
		got := make([][]byte, len(want))
		for i, m := range in.Memory {
			got[i] = x.Memory.Bytes(m.Addr, len(m.Data))
		}
		if len(differences(in, want, got)) > 0 {
			return ""
		}
	}
	return "a difference that memory does not show"
}

// instructionText is a machine instruction at the end of a reason.
var instructionText = regexp.MustCompile(`: (?:@!?U?P[0-9T]+ )?([A-Z][A-Z0-9_.]*) [^:]*$`)

// shortened is a reason without the operands of the instruction that it names.
func shortened(why string) string { return instructionText.ReplaceAllString(why, ": $1") }

// version is the version of PTX that a compiler is given.
func version(c Cell) ptxgen.Version {
	major, minor, _ := strings.Cut(c.Toolchain.MaxPTX, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return ptxgen.Version(10*a + b)
}
