package hazard

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/gob"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"optcheck/isa"
	"optcheck/ptxgen/values"
	"optcheck/runner"
	"optcheck/runner/cuda"
	"optcheck/sass/cubin"
)

var (
	writeChip = flag.String("write-chip", "", "write machine code for sm_90 with changed control codes to this file")
	onChip    = flag.String("chip", "", "run the machine code of this file on a device of sm_90")
	chipFor   = flag.Duration("chip-for", 400*time.Second, "how long -chip may take")
	worker    = flag.String("chip-worker", "", "run jobs N, N+M, …, as N,M; for -chip alone")
	random    = flag.Int("chip-random", 0, "how many changes of each kernel -write-chip takes at random, instead of some of each pair")
	kernels   = flag.Int("chip-kernels", 200, "how many kernels -write-chip takes")
)

// chipKernel is a kernel whose results PTX defines; each block has outputs of its own.
type chipKernel struct {
	Cubin   []byte
	Threads int
	Input   []byte
	N       uint32
	Out     int // bytes of a block
}

// chipJob is one changed control code.
type chipJob struct {
	Kernel, At int    // where in the file
	Word       uint64 // the upper word of the instruction
	Edit       string
	// Noticed tells that Check has findings; Key is the only pair that they are about, with the cycles that are left, and Needs
	// what the table says; Text the instructions.
	Noticed       bool
	Key           string
	Cycles, Needs int
	Text          string
}

type chipFile struct {
	Kernels []chipKernel
	Jobs    []chipJob
}

// chipResult is what became of a job.
type chipResult struct {
	Job  int
	What string // right, wrong, fault, hang, unstable
}

// TestChip asks a chip what it needs. To judge one: go test -c ./sass/hazard; with compilers, ./hazard.test -test.run TestChip
// -write-chip FILE; where the chip is, ./hazard.test -test.run TestChip -chip FILE, which writes FILE.json.
func TestChip(t *testing.T) {
	switch {
	case *writeChip != "":
		writeJobs(t, *writeChip)
	case *worker != "":
		work(t)
	case *onChip != "":
		judgeChip(t, *onChip)
	}
}

const lanes = 1 << 20

func writeJobs(t *testing.T, name string) {
	tc := newest(t)
	r := rand.New(rand.NewPCG(35, 2))
	var out chipFile
	instances := map[string]int{}
	for n := 0; len(out.Kernels) < *kernels && n < 4**kernels; n++ {
		k := values.Generate(35, n, values.Options{PTX: 70, SM: 70})
		k.Threads = 32
		text := k.Text("k")
		const cvta = "cvta.to.global.u64 %a1, %a1;"
		text = strings.Replace(text, cvta, fmt.Sprintf("%s\n\t{ .reg .u32 %%blk; mov.u32 %%blk, %%ctaid.x; mad.wide.u32 %%a1, %%blk, %d, %%a1; }",
			cvta, k.OutBytes()), 1)
		data := slices.Clone(compile(t, tc, "sm_90", text))
		f, prog := decode(t, tc, "k", data)
		i := slices.IndexFunc(prog.Funcs, func(fn *isa.Func) bool { return fn.Name == "k" })
		if i < 0 {
			continue
		}
		fn := prog.Funcs[i]
		if len(Check(fn).Findings) > 0 || len(fn.Insts) > 600 {
			continue
		}
		at := slices.IndexFunc(f.Funcs, func(fn cubin.Func) bool { return fn.Name == "k" })
		code := f.Funcs[at].Code
		base := offsetOf(data, code)
		input, count := k.Input(1)
		out.Kernels = append(out.Kernels, chipKernel{data, k.Threads, input, count, k.OutBytes()})
		jobsOf(fn, len(out.Kernels)-1, base, r, instances, &out.Jobs)
	}
	slices.SortStableFunc(out.Jobs, func(a, b chipJob) int { return cmp.Compare(rank(&a), rank(&b)) })
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	if err := gob.NewEncoder(z).Encode(out); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kernels, %d jobs, %d pairs", len(out.Kernels), len(out.Jobs), len(instances))
}

// rank puts jobs about one pair before others.
func rank(j *chipJob) int {
	if j.Key != "" {
		return 0
	}
	return 1
}

// offsetOf is the place of code in the file that it is a part of.
func offsetOf(data, code []byte) int { return bytes.Index(data, code) }

// jobsOf changes each control code of a kernel, and takes changes that are about one pair alone, a few of each, and some others.
func jobsOf(fn *isa.Func, kernel, base int, r *rand.Rand, instances map[string]int, out *[]chipJob) {
	table, _ := tableOf(fn)
	choices, chosen := 0, map[int]bool{}
	for range *random {
		chosen[r.IntN(3*len(fn.Insts))] = true
	}
	for i := range fn.Insts {
		was := fn.Insts[i].Control
		try := func(name string, c isa.Control) {
			if choices++; *random > 0 && !chosen[choices] {
				return
			}
			fn.Insts[i].Control = c
			res := Check(fn)
			fn.Insts[i].Control = was
			in := &fn.Insts[i]
			word := in.Code[1]&^(uint64(1<<21-1)<<41) | uint64(c.Bits())<<41
			j := chipJob{Kernel: kernel, At: base + int(in.Addr) + 8, Word: word, Edit: name, Noticed: len(res.Findings) > 0, Text: in.Text}
			for n, f := range res.Findings {
				key := fmt.Sprint(f.Kind)
				if f.Kind != SetWait {
					p, c := table.keys(f.Kind, &fn.Insts[f.From], &fn.Insts[f.To], f.Reg)
					key += " " + p + " " + c
				}
				if n > 0 && key != j.Key {
					j.Key = ""
					break
				}
				if n == 0 || f.Cycles < j.Cycles {
					j.Key, j.Cycles, j.Needs = key, f.Cycles, f.Need
					j.Text = fn.Insts[f.From].Text + " → " + fn.Insts[f.To].Text
				}
			}
			id := fmt.Sprint(j.Key, j.Cycles, j.Noticed, name[:4])
			limit := 6
			if *random > 0 {
				*out = append(*out, j)
				return
			}
			if j.Key == "" {
				limit = 400
				if r.IntN(6) > 0 {
					return
				}
			}
			if instances[id]++; instances[id] <= limit {
				*out = append(*out, j)
			}
		}
		for s := int(was.Stall) - 1; s >= 1; s-- {
			c := was
			c.Stall = uint8(s)
			try("stall="+strconv.Itoa(s), c)
		}
		for _, e := range edits {
			c := was
			if !strings.HasPrefix(e.name, "stall") && e.make(&c) {
				try(e.name, c)
			}
		}
	}
}

// judgeChip runs all jobs in processes that may die, and writes what became of them.
func judgeChip(t *testing.T, name string) {
	jobs := readJobs(t, name)
	const processes = 8
	until := time.Now().Add(*chipFor)
	var mu sync.Mutex
	results := map[int]string{}
	var all sync.WaitGroup
	for w := range processes {
		all.Add(1)
		go func() {
			defer all.Done()
			for next := w; next < len(jobs.Jobs) && time.Now().Before(until); {
				next = life(name, next, processes, until, func(r chipResult) {
					mu.Lock()
					defer mu.Unlock()
					if r.Job < len(jobs.Jobs) {
						results[r.Job] = r.What
					}
				})
			}
		}()
	}
	all.Wait()
	type line struct {
		chipJob
		Result string
	}
	var lines []line
	for _, i := range slices.Sorted(maps.Keys(results)) {
		lines = append(lines, line{jobs.Jobs[i], results[i]})
	}
	text, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name+".json", text, 0o644); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, l := range lines {
		counts[fmt.Sprint(l.Result, " noticed=", l.Noticed)]++
	}
	t.Log(len(lines), "of", len(jobs.Jobs), counts)
}

// life starts a process that does jobs from one on, and returns the next job when it ends: the one that it died of is done.
func life(file string, from, step int, until time.Time, tell func(chipResult)) int {
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], "-test.run", "TestChip", "-chip", file, "-chip-worker", fmt.Sprintf("%d,%d", from, step))
	out, err := c.StdoutPipe()
	if err != nil || c.Start() != nil {
		return 1 << 30
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	next, begun := from, false
	for patience := 60 * time.Second; ; patience = 3 * time.Second {
		select {
		case l, ok := <-lines:
			if !ok {
				_ = c.Wait()
				if begun {
					tell(chipResult{next, "fault"})
				}
				if begun || next == from {
					next += step
				}
				return next
			}
			f := strings.Fields(l)
			switch {
			case len(f) == 2 && f[0] == "begin":
				begun = true
			case len(f) == 3 && f[0] == "job":
				n, _ := strconv.Atoi(f[1])
				tell(chipResult{n, f[2]})
				begun, next = false, n+step
			}
		case <-time.After(patience):
			_ = c.Process.Kill()
			for range lines {
			}
			_ = c.Wait()
			tell(chipResult{next, "hang"})
			return next + step
		}
	}
}

func readJobs(t *testing.T, name string) (jobs chipFile) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = gob.NewDecoder(z).Decode(&jobs)
	}
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// diffText counts the words in which the outputs of blocks differ from those of a reference.
const diffText = `.version 7.0
.target sm_80
.address_size 64
.visible .entry diff(.param .u64 out, .param .u64 ref, .param .u32 words, .param .u64 count)
{
	.reg .u64 %o, %r, %c, %t, %s;
	.reg .u32 %b, %i, %n, %w, %x, %y, %z;
	.reg .pred %p;
	ld.param.u64 %o, [out];
	ld.param.u64 %r, [ref];
	ld.param.u32 %w, [words];
	ld.param.u64 %c, [count];
	mov.u32 %b, %ctaid.x;
	mov.u32 %i, %tid.x;
	mov.u32 %n, %ntid.x;
	mul.wide.u32 %t, %b, %w;
	shl.b64 %t, %t, 2;
	add.u64 %o, %o, %t;
	mov.u32 %z, 0;
loop:
	setp.ge.u32 %p, %i, %w;
	@%p bra end;
	mul.wide.u32 %t, %i, 4;
	add.u64 %s, %o, %t;
	ld.global.u32 %x, [%s];
	add.u64 %s, %r, %t;
	ld.global.u32 %y, [%s];
	setp.ne.u32 %p, %x, %y;
	@%p add.u32 %z, %z, 1;
	add.u32 %i, %i, %n;
	bra loop;
end:
	setp.eq.u32 %p, %z, 0;
	@%p ret;
	red.global.add.u32 [%c], %z;
	ret;
}
`

// work does jobs and prints what becomes of them; the driver ends it when a job faults.
func work(t *testing.T) {
	jobs := readJobs(t, *onChip)
	var from, step int
	if _, err := fmt.Sscanf(*worker, "%d,%d", &from, &step); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := cuda.New().Open(ctx, 0)
	must(err)
	defer s.Close()
	most := 0
	for _, k := range jobs.Kernels {
		most = max(most, lanes/k.Threads*k.Out)
	}
	out, err := s.Alloc(ctx, 0, uint64(most))
	must(err)
	in, err := s.Alloc(ctx, 0, 1<<16)
	must(err)
	ref, err := s.Alloc(ctx, 0, 1<<20)
	must(err)
	count, err := s.Alloc(ctx, 0, 256)
	must(err)
	m, err := s.Load(ctx, runner.Image{Kind: runner.ImagePTX, Data: []byte(diffText)})
	must(err)
	diff, _, err := s.Kernel(ctx, m, "diff")
	must(err)
	// run launches a kernel and returns how many words differ from the reference, and the output of the first block.
	run := func(k *chipKernel, data []byte) (int, []byte, error) {
		m, err := s.Load(ctx, runner.Image{Kind: runner.ImageCubin, Data: data})
		if err != nil {
			return 0, nil, err
		}
		defer func() { _ = s.Unload(ctx, m) }()
		h, _, err := s.Kernel(ctx, m, "k")
		if err != nil {
			return 0, nil, err
		}
		blocks := uint32(lanes / k.Threads)
		res, err := s.Run(ctx, &runner.Batch{Timeout: 2 * time.Second,
			Setup: []runner.Command{runner.Fill(out, 0, uint64(k.Out)*uint64(blocks), 0), runner.Fill(count, 0, 256, 0), runner.Write(in, 0, k.Input)},
			Body: []runner.Command{runner.Launch(h, runner.Dim1(blocks, uint32(k.Threads)), runner.BufArg(in), runner.BufArg(out), runner.U32(k.N)),
				runner.Launch(diff, runner.Dim1(blocks, 128), runner.BufArg(out), runner.BufArg(ref), runner.U32(uint32(k.Out/4)), runner.BufArg(count))},
			Final: []runner.Command{runner.Read(count, 0, 4), runner.Read(out, 0, uint64(k.Out))}})
		if err != nil {
			return 0, nil, err
		}
		c := res.Reads[0]
		return int(c[0]) | int(c[1])<<8 | int(c[2])<<16 | int(c[3])<<24, res.Reads[1], nil
	}
	last, stable := -1, false
	for i := from; i < len(jobs.Jobs); i += step {
		j := &jobs.Jobs[i]
		k := &jobs.Kernels[j.Kernel]
		if j.Kernel != last {
			last = j.Kernel
			_, first, err := run(k, k.Cubin)
			must(err)
			_, err = s.Run(ctx, &runner.Batch{Setup: []runner.Command{runner.Write(ref, 0, first)}})
			must(err)
			n, _, err := run(k, k.Cubin)
			must(err)
			stable = n == 0
		}
		if !stable {
			fmt.Println("job", i, "unstable")
			continue
		}
		data := slices.Clone(k.Cubin)
		for b := range 8 {
			data[j.At+b] = byte(j.Word >> (8 * b))
		}
		fmt.Println("begin", i)
		n, _, err := run(k, data)
		switch {
		case err != nil:
			t.Fatal(err)
		case n > 0:
			fmt.Println("job", i, "wrong")
		default:
			fmt.Println("job", i, "right")
		}
	}
}
