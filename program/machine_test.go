package program

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/runner"
	"optcheck/runner/drive"
	"optcheck/runner/fake"
	"optcheck/runner/opencl"
)

// TestMain lets the tests start this binary as a device process.
func TestMain(m *testing.M) {
	if name := os.Getenv("OPTCHECK_TEST_DEVICE"); name != "" {
		var b runner.Backend = opencl.New()
		if name == "fake" {
			b = fake.New()
		}
		if err := runner.ServeProcess(context.Background(), b); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// isolated opens a device that a process of its own drives.
func isolated(t *testing.T, backend string) runner.Session {
	t.Helper()
	b := runner.Isolated(runner.Isolation{Backend: backend, Command: []string{os.Args[0]}, LockDir: t.TempDir(),
		Env: append([]string{"OPTCHECK_TEST_DEVICE=" + backend}, opencl.Env...), Notify: func(err error) { t.Log("lost: ", err) }})
	list, err := b.Devices(t.Context())
	if err != nil || len(list) == 0 {
		required.Missing(t, "no device of %v %v", backend, err)
	}
	s, err := b.Open(t.Context(), 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// cl makes a program of OpenCL C.
func cl(t *testing.T, yaml, source string) *Program {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.cl"), []byte(source), 0o600))
	file := filepath.Join(dir, "p.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: p\nopencl: p.cl\ntimeout: 1m\n"+yaml), 0o600))
	p, err := Read(file)
	require.NoError(t, err)
	return p
}

func machine(t *testing.T, s runner.Session, p *Program) (*Machine, error) {
	t.Helper()
	road, err := NewCLRoad(p, s.Device())
	require.NoError(t, err)
	m, err := NewMachine(t.Context(), p, s, road)
	if err == nil {
		t.Cleanup(func() { require.NoError(t, m.Close(context.Background())) })
	}
	return m, err
}

const oneBuffer = `buffers: {a: {type: u32, count: 64}}
launches: [{kernel: k, grid: 4, block: 16, args: [a]}]
check: [{buffer: a, equals: 1}]
`

// TestRun: in each environment each thread of a program runs once, with the ids that it
// would have, in one, two and three dimensions.
func TestRun(t *testing.T) {
	s := isolated(t, "opencl")
	for grid, block := range map[string]string{"12": "32", "[3, 2, 2]": "[8, 2, 4]", "[5, 3]": "7", "[2, 2, 1]": "[33, 2]"} {
		p := cl(t, fmt.Sprintf(`buffers:
  hits: {type: u32, count: 4096}
  wide: {type: u64, count: 2, init: {fill: 5}}
  errors: {type: u32, count: 1}
launches: [{kernel: k, grid: %s, block: %s, args: [hits, wide, {u32: 7}, {u64: 4294967303}]}]
check: [{kernel: verify, grid: 1, block: 1, args: [hits, wide, errors], errors: errors}]
`, grid, block), `
kernel void k(global uint *hits, global ulong *wide, uint seven, ulong more) // (a comment)
{
	size_t n = get_global_size(0) * get_global_size(1) * get_global_size(2);
	size_t i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
	barrier(CLK_LOCAL_MEM_FENCE);
	atomic_inc(hits + i);
	if (i == 0) { hits[4095] = (uint)n; wide[0] = more + seven; }
}
kernel void verify(global uint *hits, global ulong *wide, global uint *errors)
{
	uint wrong = hits[4095] == 0 || wide[0] != 4294967310ul || wide[1] != 5 || get_num_groups(0) != 1;
	for (uint i = 0; i < 4095; i++)
		wrong += hits[i] != (i < hits[4095]);
	*errors = wrong;
}
`)
		m, err := machine(t, s, p)
		require.NoError(t, err)
		stressed, err := m.Load(t.Context(), nil, true)
		require.NoError(t, err)
		for _, e := range Environments(s.Device(), drive.DefaultTuning(s.Device())) {
			v := m.checks
			if !e.Native() {
				v = stressed
			}
			c, err := m.Run(t.Context(), v, &e, Setting{1, 3}, Limit{Runs: 20}, Count{}, nil)
			require.NoError(t, err)
			c.Seconds = 0
			require.Equal(t, Count{Runs: 20}, c, "%s %s %s", grid, block, e.Name)
		}
		require.NoError(t, m.Unload(t.Context(), stressed))
	}
}

// TestWrong: what becomes of runs is told apart, and a lost process costs the runs
// beside it only.
func TestWrong(t *testing.T) {
	s := isolated(t, "opencl")
	for source, want := range map[string]Count{
		"*a = 1;":                      {Runs: 4, Wrong: 4, First: "a[1] is 0, not 1"},
		"a[get_global_id(0)] = 1;":     {Runs: 4},
		"a[get_global_id(0) + 1] = 1;": {Runs: 4, Overruns: 4, First: "a: 0x1 is written 0 bytes behind its end"},
		"a[get_global_id(0)] = 1; a[get_global_id(0) << 28] = 1;": {Runs: 1, Faults: 1},
		"while (*(volatile global uint *)a == 0) ;":               {Runs: 1, Timeouts: 1, First: "a run did not end in time"},
	} {
		p := cl(t, oneBuffer, "kernel void k(global uint *a) { "+source+" }")
		m, err := machine(t, s, p)
		require.NoError(t, err)
		if want.Timeouts > 0 { // it never ends: how long is waited for that matters to nothing else
			p.Timeout = time.Second
		}
		e := Environment{Name: "no-str+", IDs: true}
		v, err := m.Load(t.Context(), nil, true)
		require.NoError(t, err)
		c, err := m.Run(t.Context(), v, &e, Setting{Seed: 1}, Limit{Runs: want.Runs}, Count{}, nil)
		require.NoError(t, err, source)
		if c.Seconds = 0; want.Faults > 0 {
			require.NotEmpty(t, c.First)
			c.First = ""
		}
		require.Equal(t, want, c, source)
		if want.Faults+want.Timeouts == 0 {
			continue
		}
		// The device goes on.
		good, err := machine(t, s, cl(t, oneBuffer, "kernel void k(global uint *a) { a[get_global_id(0)] = 1; }"))
		require.NoError(t, err)
		v, err = good.Load(t.Context(), nil, false)
		require.NoError(t, err)
		times, out, err := good.Timed(t.Context(), v, 3)
		require.NoError(t, err)
		require.Equal(t, []Outcome{{}, {}, {}}, out)
		require.Positive(t, times[2])
	}
}

// TestPostCondition: one that says nothing, writes where it must not or does not end is
// refused before anything is measured.
func TestPostCondition(t *testing.T) {
	s := isolated(t, "opencl")
	const yaml = `buffers: {a: {type: u32, count: 64}, errors: {type: u32, count: 1}}
launches: [{kernel: k, grid: 4, block: 16, args: [a]}]
check: [{kernel: v, grid: 1, block: 1, args: [a, errors], errors: errors}]
`
	for body, want := range map[string]string{
		"":                           "holds before the program has run",
		"errors[0] = a[0] == 0;":     "",
		"errors[1] = errors[0] = 1;": "writes beyond a buffer",
		"while (*(volatile global uint *)a == 0) ;": "before the program has run: batch: device hung",
	} {
		p := cl(t, yaml, "kernel void k(global uint *a) { a[get_global_id(0)] = 1; }\nkernel void v(global uint *a, global uint *errors) { "+body+" }")
		if strings.Contains(body, "while") {
			p.Timeout = time.Second
		}
		_, err := machine(t, s, p)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want, body)
	}
	_, err := machine(t, s, cl(t, oneBuffer, "kernel void other(global uint *a) { }"))
	require.ErrorContains(t, err, "kernel k")
	_, err = machine(t, s, cl(t, oneBuffer, "kernel void k(global uint *a, uint n) { }"))
	require.ErrorContains(t, err, "takes 2 arguments, its launch has 1")
}

// flaky is a session some of whose batches are lost.
type flaky struct {
	runner.Session
	fail map[int]error // by number of the batch
	runs int
}

func (f *flaky) Run(ctx context.Context, b *runner.Batch) (*runner.Result, error) {
	f.runs++
	if err := f.fail[f.runs]; err != nil {
		return nil, err
	}
	return f.Session.Run(ctx, b)
}

// TestLost: of a batch that is lost one run is an error, and nothing is known of the
// others; the next batch is of one run.
func TestLost(t *testing.T) {
	f := &flaky{Session: isolated(t, "opencl")}
	m, err := machine(t, f, cl(t, oneBuffer, "kernel void k(global uint *a) { a[get_global_id(0)] = 1; }"))
	require.NoError(t, err)
	v, err := m.Load(t.Context(), nil, false)
	require.NoError(t, err)
	hung := runner.Errorf(runner.ErrTimeout, "batch", "hung")
	f.runs, f.fail = 0, map[int]error{3: hung, 5: runner.Errorf(runner.ErrChild, "batch", "died")}
	var sizes []uint64
	last := Count{}
	c, err := m.Run(t.Context(), v, &Environment{}, Setting{}, Limit{Runs: 64}, Count{}, func(c Count) {
		sizes = append(sizes, c.next()-last.next())
		last = c
	})
	require.NoError(t, err)
	require.EqualValues(t, 64, c.Runs)
	require.EqualValues(t, 1, c.Timeouts)
	require.EqualValues(t, 1, c.Faults)
	require.EqualValues(t, sizes[2]-1+sizes[4]-1, c.Lost)
	require.EqualValues(t, 1, sizes[3], "after a hang one run")
	require.Equal(t, "a run did not end in time", c.First)
	f.runs, f.fail = 0, map[int]error{2: runner.Errorf(runner.ErrUsage, "batch", "no")}
	c, err = m.Run(t.Context(), v, &Environment{}, Setting{}, Limit{Runs: 64}, Count{}, nil)
	require.ErrorIs(t, err, runner.ErrUsage, "a mistake of ours is no error of the program")
	require.Positive(t, c.Runs)
}

// scripted is a road to the fake device.
type scripted string

func (scripted) Compiler() string { return "fake" }
func (scripted) Sites() []Site    { return nil }
func (scripted) Fence() string    { return "" }

func (text scripted) Build(context.Context, Fences, bool) (*Build, error) {
	return &Build{Image: runner.Image{Kind: runner.ImageFake, Data: []byte(text)}}, nil
}

// TestFaults: however a device or its process fails, that is an error of the run, and
// the runs go on.
func TestFaults(t *testing.T) {
	s := isolated(t, "fake")
	zero := int64(0)
	p := &Program{Name: "p", Timeout: 300 * time.Millisecond, Buffers: []Buffer{{Name: "a", Type: U32, Count: 4, Init: Init{Fill: &zero}}},
		Launches: []Launch{{Kernel: "k", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}, Args: []Arg{{Buffer: "a"}, {Type: U32, Word: 1}}}},
		Check:    []Check{{Buffer: "a", At: 0, Value: 1}}}
	for script, want := range map[string]Kind{"k sleep=1ms": Wrong, "k add": Overrun, "k fault": Fault, "k lost": Fault, "k hang": Timeout,
		"k exit": Fault, "k kill": Fault, "k panic": Fault, "k garbage": Fault} {
		m, err := NewMachine(t.Context(), p, s, scripted(script))
		require.NoError(t, err, script)
		v, err := m.Load(t.Context(), nil, false)
		require.NoError(t, err)
		c, err := m.Run(t.Context(), v, &Environment{}, Setting{}, Limit{Runs: 2}, Count{}, nil)
		require.NoError(t, err, script)
		got := map[Kind]uint64{Wrong: c.Wrong, Overrun: c.Overruns, Timeout: c.Timeouts, Fault: c.Faults}
		require.EqualValues(t, 2, got[want], "%s: %+v", script, c)
		require.EqualValues(t, 2, c.Errors())
		require.NoError(t, m.Close(t.Context()))
	}
}

// TestDraw: whatever is drawn, each of the program's blocks and warps runs once, and
// 15 to 50 per cent of the blocks stress.
func TestDraw(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	d := runner.Device{Type: "gpu", L2: 50 << 20}
	for n := range 300 {
		l := &Launch{Grid: [3]uint32{1 + rnd.Uint32N(300), 1 + rnd.Uint32N(3), 1}, Block: [3]uint32{1 + rnd.Uint32N(256), 1, 1}}
		if n%100 == 0 {
			l.Grid[0] = 100000
		}
		for _, e := range Environments(d, drive.DefaultTuning(d)) {
			if e.Native() {
				continue
			}
			inside := n%2 == 1
			blocks, args := e.draw(rnd, l, 64<<20, 100, inside)
			v := map[string]uint32{}
			for i, p := range Params[1:] {
				v[p.Name] = args[i]
			}
			own := uint32(l.Blocks())
			if e.Stress && inside {
				require.Equal(t, own, blocks)
				require.GreaterOrEqual(t, v["share"], uint32(stressLow))
			} else if e.Stress {
				require.GreaterOrEqual(t, 100*(blocks-own)+100, 15*own)
				require.LessOrEqual(t, 100*(blocks-own), max(50*own, 100))
			} else {
				require.Equal(t, own, blocks)
			}
			if e.Stress {
				require.EqualValues(t, 100, v["rounds"])
				require.LessOrEqual(t, v["base"]+128, v["mask"])
			}
			once(t, v["ba"], v["bb"], blocks)
			once(t, v["wa"], v["wb"], max(1, l.Block[0]/32))
			if !e.IDs {
				for i := range min(own, 100) { // in order, behind those that stress
					require.Equal(t, i, (v["ba"]*(blocks-own+i)+v["bb"])%blocks)
				}
			}
		}
	}
}

// TestDrawCTAs: stress-ctas says how many blocks stress, whatever the program's are, and
// measurements under another stress have another key.
func TestDrawCTAs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	d := runner.Device{Type: "gpu", L2: 50 << 20}
	tuning := drive.DefaultTuning(d)
	require.NoError(t, tuning.Keep("stress-ctas=200..300"))
	before, keys := Environments(d, drive.DefaultTuning(d)), map[string]bool{}
	for i, e := range Environments(d, tuning) {
		require.Equal(t, e.Stress, e.Stressing(10) != before[i].Stressing(10), e.Name)
		require.Equal(t, e.Stress, e.Stressing(10) != e.Stressing(30), e.Name)
		keys[e.Name+e.Stressing(10)] = true
		for _, own := range []uint32{1, 64, 10000} {
			blocks, args := e.draw(rnd, &Launch{Grid: [3]uint32{own, 1, 1}, Block: [3]uint32{64, 1, 1}}, 64<<20, 100, false)
			if !e.Stress {
				require.Equal(t, own, blocks)
				continue
			}
			require.GreaterOrEqual(t, blocks-own, uint32(200))
			require.LessOrEqual(t, blocks-own, uint32(300))
			require.LessOrEqual(t, args[len(args)-1], uint32(100)) // the share of the program's own
		}
	}
	require.Len(t, keys, 8)
}

// once requires that n ↦ a·n + b is a permutation, in 32 bits as the kernel computes it.
func once(t *testing.T, a, b, size uint32) {
	t.Helper()
	seen := make([]bool, size)
	for n := range size {
		at := (a*n + b) % size
		require.False(t, seen[at], "%d·n + %d mod %d", a, b, size)
		seen[at] = true
	}
}
