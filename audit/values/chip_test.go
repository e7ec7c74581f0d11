package values

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/ptxgen/values"
	"optcheck/refine"
	"optcheck/runner"
	"optcheck/runner/cuda"
	"optcheck/sass/cubin"
	sasslower "optcheck/sass/lower"
	"optcheck/toolchain"
)

var (
	onChip     = flag.Int("chip", 0, "run so many random kernels on the device, too")
	chipSeed   = flag.Uint64("chip-seed", 1, "the seed of the kernels")
	chipTime   = flag.Duration("chip-time", 4*time.Minute, "end after that time")
	chipTarget = flag.String("chip-target", "sm_90", "the device's target")
	chipTools  = flag.String("chip-tools", "", "the ID of one toolchain (default: all)")
	chipDry    = flag.Bool("chip-dry", false, "without a device")
	chipForms  = flag.String("chip-forms", "", "write the forms of what agreed to FILE.sass and FILE.ptx")
)

// child makes this test's process one that drives a device for another one.
const child = "chip-device"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == child {
		if err := runner.ServeProcess(context.Background(), cuda.New()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestChip asserts of random kernels that three agree, bit for bit: the emulated PTX, the emulated machine code at -O0, and what a device
// stores. At -O3 the device must store what the emulated machine code does; where that is not what PTX says, the compiler is wrong.
// To judge a chip: CGO_ENABLED=0 go test -c ./audit/values, and there ./values.test -test.run TestChip -chip 10000 -test.v.
func TestChip(t *testing.T) {
	if *onChip == 0 {
		return
	}
	found, errs := toolchain.Discover(t.Context(), toolchain.Options{}) // a chip is asked about whatever compilers are beside it
	for _, err := range errs {
		t.Log(err)
	}
	d, err := newChip(t.Context())
	require.NoError(t, err)
	var cells []Cell
	for _, tc := range found {
		if !strings.HasPrefix(tc.ID, "ptxas") || !tc.HasTarget(*chipTarget) || *chipTools != "" && tc.ID != *chipTools {
			continue
		}
		cells = append(cells, Cell{tc, *chipTarget, "O0"})
	}
	require.NotEmpty(t, cells)
	for _, c := range slices.Clone(cells) {
		cells = append(cells, Cell{c.Toolchain, c.Target, "O3"})
	}
	ctx, cancel := context.WithTimeout(t.Context(), *chipTime)
	defer cancel()
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range cells {
		for first := 0; first < *onChip; first += batchKernels {
			g.Go(func() error {
				if ctx.Err() != nil {
					return nil
				}
				if err := d.batch(ctx, cells[i], first, min(batchKernels, *onChip-first)); err != nil && ctx.Err() == nil {
					d.count(cells[i], func(x *tally) { x.why[err.Error()]++ })
				}
				return nil
			})
		}
	}
	require.NoError(t, g.Wait())
	t.Logf("ended by the limit of time: %t", ctx.Err() != nil)
	d.report(t)
}

// chip is a device and what came of it.
type chip struct {
	mu      sync.Mutex
	session runner.Session
	in, out runner.Buffer
	counts  map[string]*tally
	forms   [2]map[string]bool // of PTX, of machine code
	bad     [2]map[string]bool // of kernels that do not agree
}

// tally is what came of the kernels of a cell.
type tally struct {
	kernels, launches, same, unknown int
	compiler                         int // kernels of which the machine code is not what PTX says, and the device does the same
	wrong                            []string
	why                              map[string]int
}

const chipBuffer = 1 << 20

func newChip(ctx context.Context) (*chip, error) {
	d := &chip{counts: map[string]*tally{}}
	for i := range d.forms {
		d.forms[i], d.bad[i] = map[string]bool{}, map[string]bool{}
	}
	if *chipDry {
		return d, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if d.session, err = runner.Isolated(runner.Isolation{Backend: "cuda", Command: []string{self, child}}).Open(ctx, 0); err != nil {
		return nil, err
	}
	if d.in, err = d.session.Alloc(ctx, 0, chipBuffer); err != nil {
		return nil, err
	}
	d.out, err = d.session.Alloc(ctx, 0, chipBuffer)
	return d, err
}

// batch compiles kernels in a cell, and compares them.
func (d *chip) batch(ctx context.Context, c Cell, first, n int) error {
	sm, _ := ptxgen.SM(c.Target)
	o := values.Options{PTX: int(version(c)), SM: sm}
	job := toolchain.Job{Target: c.Target, Level: c.Level, Header: ptxgen.Header(version(c), c.Target)}
	var list []*subject
	for i := range n {
		k := values.Generate(*chipSeed, first+i, o)
		s := newSubject(k, fmt.Sprintf("k%d", k.Number), Inputs(k, 3))
		list = append(list, s)
		job.Units = append(job.Units, toolchain.Unit{Name: s.name, Text: s.text})
	}
	res, err := c.Toolchain.Compile(ctx, job)
	if err != nil {
		return err
	}
	for _, err := range res.Failed {
		d.count(c, func(t *tally) { t.unknown++; t.why["refused: "+refusal(nil, err)]++ })
	}
	for _, b := range res.Batches {
		code, err := pipeline.Decode(ctx, c.Toolchain, "batch", c.Target, b.Cubin)
		if err != nil {
			return err
		}
		file, err := cubin.Parse(b.Cubin)
		if err != nil {
			return err
		}
		m, err := d.load(ctx, b.Cubin)
		if err != nil {
			return err
		}
		for _, u := range b.Units {
			s := list[u]
			machine, err := sasslower.Kernel(code.Program, file, s.name)
			if err == nil {
				err = d.kernel(ctx, c, s, machine, m)
			}
			if err != nil {
				d.count(c, func(t *tally) { t.unknown++; t.why[shortened(err.Error())]++ })
			}
		}
		if d.session != nil {
			d.mu.Lock()
			err = d.session.Unload(ctx, m)
			d.mu.Unlock()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *chip) load(ctx context.Context, data []byte) (m runner.Module, err error) {
	if d.session == nil {
		return m, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session.Load(ctx, runner.Image{Kind: runner.ImageCubin, Data: data})
}

// emulated is what a program stores, and what of it was performed.
func emulated(p *ir.Program, in *refine.Input, size int) ([]byte, *emu.Coverage, error) {
	x := refine.Choose(p, in.Grid, in.Block, in.Seed)
	x.Params, x.Memory = in.Params, in.Memory
	e, err := refine.Execute(p, x, emu.Policy{}, nil)
	switch {
	case err != nil:
		return nil, nil, err
	case !e.Ended:
		return nil, nil, emu.ErrSteps
	}
	return e.Memory.Bytes(outAddress, size), e.Cover, nil
}

// kernel compares one. The error is that it cannot be compared.
func (d *chip) kernel(ctx context.Context, c Cell, s *subject, machine *ir.Program, m runner.Module) error {
	if s.why != "" {
		return fmt.Errorf("PTX: %s", s.why)
	}
	wrong, differs := "", false
	var forms [2]map[string]bool
	forms[0], forms[1] = map[string]bool{}, map[string]bool{}
	for i, in := range s.inputs {
		size := s.kernel.OutBytes()
		want, cover, err := emulated(s.program, in, size)
		if err != nil {
			return fmt.Errorf("PTX: %w", err)
		}
		performed(forms[0], s.program, cover)
		got, cover, err := emulated(machine, in, size)
		if err != nil {
			return err
		}
		performed(forms[1], machine, cover)
		stored := got
		if d.session != nil {
			if stored, err = d.launch(ctx, s, i, in, m); err != nil {
				return fmt.Errorf("kernel %d input %d: %w", s.kernel.Number, i, err)
			}
		}
		differs = differs || string(want) != string(got)
		switch {
		case wrong != "":
		case string(stored) != string(got):
			at := first(stored, got)
			wrong = fmt.Sprintf("kernel %d input %d byte %d: the device stores %x, the machine code %x, PTX %x", s.kernel.Number, i, at, stored[at:at+4], got[at:at+4], want[at:at+4])
		case c.Level == "O0" && differs:
			at := first(want, got)
			wrong = fmt.Sprintf("kernel %d input %d byte %d: PTX %x, the machine code and the device %x", s.kernel.Number, i, at, want[at:at+4], got[at:at+4])
		}
	}
	d.count(c, func(t *tally) {
		t.kernels++
		t.launches += len(s.inputs)
		into := d.forms
		switch {
		case wrong != "":
			t.wrong = append(t.wrong, wrong)
			into = d.bad
		case differs:
			t.compiler++
			forms[0] = nil
		default:
			t.same++
		}
		for i := range into {
			maps.Copy(into[i], forms[i])
		}
	})
	return nil
}

func first(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i &^ 3
		}
	}
	return 0
}

func performed(forms map[string]bool, p *ir.Program, cover *emu.Coverage) {
	for i, on := range cover.Insts {
		if on {
			forms[p.Insts[i].Form] = true
		}
	}
}

// launch runs a kernel on the device.
func (d *chip) launch(ctx context.Context, s *subject, i int, in *refine.Input, m runner.Module) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, _, err := d.session.Kernel(ctx, m, s.name)
	if err != nil {
		return nil, err
	}
	data, number := s.kernel.Input(i)
	size := s.kernel.OutBytes()
	res, err := d.session.Run(ctx, &runner.Batch{Timeout: 3 * time.Second,
		Setup: []runner.Command{runner.Fill(d.out, 0, uint64(size+3)&^3, 0), runner.Write(d.in, 0, data)},
		Body: []runner.Command{runner.Launch(k, runner.Dim1(1, uint32(in.Block[0])), runner.BufArg(d.in), runner.BufArg(d.out),
			runner.U32(uint32(number)))},
		Final: []runner.Command{runner.Read(d.out, 0, uint64(size))}})
	if err != nil {
		return nil, err
	}
	return res.Reads[0], nil
}

func (d *chip) count(c Cell, do func(*tally)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.counts[c.String()]
	if t == nil {
		t = &tally{why: map[string]int{}}
		d.counts[c.String()] = t
	}
	do(t)
}

func (d *chip) report(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(d.counts)) {
		x := d.counts[name]
		t.Logf("%s: %d kernels, %d launches: %d agree, %d are compiled wrong, %d differ from the device or, at O0, from PTX, %d not compared", name, x.kernels, x.launches, x.same,
			x.compiler, len(x.wrong), x.unknown)
		slices.Sort(x.wrong)
		for _, w := range x.wrong[:min(len(x.wrong), 20)] {
			t.Errorf("%s: %s", name, w)
		}
		whys := slices.SortedFunc(maps.Keys(x.why), func(a, b string) int { return cmp.Or(cmp.Compare(x.why[b], x.why[a]), strings.Compare(a, b)) })
		for _, w := range whys[:min(len(whys), 20)] {
			t.Logf("%s: not compared, %d times: %s", name, x.why[w], w)
		}
	}
	for i, suffix := range []string{".ptx", ".sass"} {
		forms := slices.Sorted(maps.Keys(d.forms[i]))
		t.Logf("%d forms%s agree", len(forms), suffix)
		if *chipForms != "" {
			require.NoError(t, os.WriteFile(*chipForms+suffix, []byte(strings.Join(forms, "\n")+"\n"), 0o644))
		}
	}
}
