package device

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/runner/drive"
	"optcheck/runner/drive/tune"
)

// tunedStride is from one instance of an idiom to the next, in bytes: to stress at the
// locations that are searched, all instances lie alike.
const tunedStride = 4 * (tune.Distances + tune.Locations) * 2

// TuneOptions say how to tune a chip.
type TuneOptions struct {
	Session  runner.Session
	Compiler *Compiler
	Idioms   []*litmus.Test // as tune.Idioms
	Form     ptxgen.Form
	Tuning   drive.Tuning
	Count    uint64 // executions of each cell
	Seed     uint64
	// Unvalidated tunes by binaries that were not validated, too.
	Unvalidated bool
	// Known are cells that were measured before; Keep receives each new one.
	Known map[tune.Cell]tune.Count
	Keep  func(tune.Cell, tune.Count) error
}

// Measurer compiles the idioms and returns what measures cells.
func (o *TuneOptions) Measurer(ctx context.Context) (func(context.Context, tune.Cell) (tune.Count, error), error) {
	image, err := o.Compiler.Collector(ctx)
	if err != nil {
		return nil, err
	}
	collector, err := drive.LoadCollector(ctx, o.Session, image.Image)
	if err != nil {
		return nil, err
	}
	bins, err := o.Compiler.Build(ctx, o.Idioms, o.Form)
	if err != nil {
		return nil, err
	}
	var programs []*drive.Program
	for _, b := range bins {
		if b.Image == nil || !b.Validated && !o.Unvalidated {
			return nil, fmt.Errorf("%s cannot be tuned by: %s: %s", b.Test.Name, b.State, b.Why)
		}
		p, err := collector.Load(ctx, o.Session, b.Harness, b.Image.Image)
		if err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	mem := &drive.Memory{}
	return func(ctx context.Context, c tune.Cell) (tune.Count, error) {
		if n, ok := o.Known[c]; ok {
			return n, nil
		}
		n, err := o.measure(ctx, programs[c.Idiom], mem, c)
		if err == nil && o.Keep != nil {
			err = o.Keep(c, n)
		}
		return n, err
	}, nil
}

// measure runs a cell.
func (o *TuneOptions) measure(ctx context.Context, p *drive.Program, mem *drive.Memory, c tune.Cell) (n tune.Count, err error) {
	t := o.Tuning
	for name, v := range map[string]int{"distance": 4 * (c.Distance + 1), "stride": tunedStride, "stress-base": 4 * c.Location,
		"stress-lines": c.Spread, "stress-line": 4 * max(c.Step, 1), "stress-wrap": 4 * c.Wrap, "stress-lane": 0, "offset": 0,
		"instances": int(o.Count), "blocks": max(int(o.Count)/(32*int(t.Warps.Value)), 1)} {
		if err := t.Set(fmt.Sprintf("%s=%d", name, v)); err != nil {
			return n, err
		}
	}
	if err := t.Set("stress-pattern=" + strings.ReplaceAll(c.Sequence, " ", "-")); err != nil {
		return n, err
	}
	out, err := p.Run(ctx, o.Session, mem, drive.Job{Incantations: drive.Stress, Tuning: t, Seed: o.Seed, Instances: o.Count})
	if err != nil {
		return n, fmt.Errorf("%s at distance %d: %w", tune.Idioms[c.Idiom], c.Distance, err)
	}
	if ctx.Err() != nil {
		return n, ctx.Err()
	}
	for _, x := range out.Histogram.Outcomes() {
		if out.Histogram.Satisfies(o.Idioms[c.Idiom].Cond, x) {
			n.Weak += x.Count
		}
	}
	n.Instances = out.Instances()
	return n, nil
}

// Profile is what was found as parameters of launches.
func (o *TuneOptions) Profile(t *tune.Tuned, epsilon uint64) *drive.Profile {
	d := o.Session.Device()
	line := 4 * t.Patch
	return &drive.Profile{Device: d.Name, Driver: d.Driver, Compiler: o.Compiler.Name(), Target: o.Compiler.Target, Level: o.Compiler.Level,
		Patch: t.Patch, Agreed: t.Agreed, Sequence: t.Sequence, Spread: t.Spread, Rounds: t.Rounds, Epsilon: epsilon, Count: o.Count,
		Seconds: t.Took.Seconds(), Seed: o.Seed, Tuning: map[string]string{
			"stress-line": fmt.Sprint(line), "stress-lines": fmt.Sprint(t.Spread), "stress-wrap": fmt.Sprint(line * tune.MaxSpread),
			"stress-base": fmt.Sprintf("0..%d", line*(tune.MaxSpread-1)), "stress-lane": "0",
			"stress-pattern": strings.ReplaceAll(t.Sequence, " ", "-")}}
}

// tunedCell is a line of the file in which tuning keeps what it measured.
type tunedCell struct {
	tune.Cell
	tune.Count
}

// tunedFor is its first line: what the cells are of.
type tunedFor struct {
	Device, Driver, Compiler, Level, Form string
	Count, Seed                           uint64
}

func (o *TuneOptions) of() tunedFor {
	d := o.Session.Device()
	return tunedFor{d.Name, d.Driver, o.Compiler.Name(), o.Compiler.Level, o.Form.String(), o.Count, o.Seed}
}

// Resume reads what was measured before and keeps what will be in the same file. A torn
// last line is measured again.
func (o *TuneOptions) Resume(f *os.File) error {
	o.Known = map[tune.Cell]tune.Count{}
	lines, end := bufio.NewReader(io.LimitReader(f, maxTuneFile)), int64(0)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		var x tunedCell
		var of tunedFor
		switch {
		case end == 0 && (json.Unmarshal(line, &of) != nil || of != o.of()):
			return fmt.Errorf("%s is of another tuning: take another file or remove it", f.Name())
		case end == 0:
		case json.Unmarshal(line, &x) != nil:
			return fmt.Errorf("%s: %d bytes from its start stands no cell", f.Name(), end)
		default:
			o.Known[x.Cell] = x.Count
		}
		end += int64(len(line))
	}
	if err := f.Truncate(end); err != nil {
		return err
	}
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		return err
	}
	e := json.NewEncoder(f)
	o.Keep = func(c tune.Cell, n tune.Count) error { return e.Encode(tunedCell{c, n}) }
	if end == 0 {
		return e.Encode(o.of())
	}
	return nil
}

// maxTuneFile bounds what is read of a file of cells, in bytes.
const maxTuneFile = 256 << 20
