package hazard

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"optcheck/isa"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/ptxgen"
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
	random    = flag.Int("chip-random", 0, "how many changes of each kernel -write-chip takes at random, instead of some of each pair; of the corpus' tests, too")
	skipped   = flag.String("chip-skip", "", "kernels that do not end as they are, separated by commas; for -chip alone")
	chipOp    = flag.String("chip-op", "", "the opcode that -write-chip changes alone, at all its places")
	kernels   = flag.Int("chip-kernels", 200, "how many kernels -write-chip takes of either kind")
	chipSeed  = flag.Uint64("chip-seed", 35, "seed of the kernels and changes")
)

// chipKernel is a kernel whose results are known: a random one, which PTX defines, of which each block has outputs of its own,
// or a thread of a test, which runs alone.
type chipKernel struct {
	Cubin           []byte
	Name            string
	Blocks, Threads int
	Input           []byte
	Out             int // bytes of a block
	Args            []chipArg
}

// chipArg is an argument: a place in the input, the output, or a word.
type chipArg struct {
	Kind  string // in, out, u32, u64
	Value uint64
}

// chipJob is one changed control code.
type chipJob struct {
	Kernel, At int    // where in the file
	Word       uint64 // the upper word of the instruction
	Edit       string
	// Noticed tells that Check has findings that are sure, or that the test's own check has; Doubt that Check has any. Key is the only pair that they are about, with the cycles that are left, and Needs
	// what the table says; Text the instructions.
	Noticed       bool
	Doubt         bool
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
	var out chipFile
	instances := map[string]int{}
	r := rand.New(rand.NewPCG(*chipSeed, 2))
	add := func(k chipKernel, fn *isa.Func, base int, own func(*isa.Func) bool) {
		out.Kernels = append(out.Kernels, k)
		jobsOf(fn, len(out.Kernels)-1, base, r, instances, own, &out.Jobs)
	}
	switch {
	case *chipQuestions:
		out = questionKernels(t)
	case *chipMatrix:
		matrixKernels(t, add)
	case *chipGroups:
		groupKernels(t, add)
	default:
		randomKernels(t, add)
	}
	if *random > 0 && !*chipGroups && !*chipQuestions {
		testKernels(t, add)
		r.Shuffle(len(out.Jobs), func(i, k int) { out.Jobs[i], out.Jobs[k] = out.Jobs[k], out.Jobs[i] })
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
	noticed := 0
	for _, j := range out.Jobs {
		if j.Noticed {
			noticed++
		}
	}
	t.Logf("%d kernels, %d jobs of which %d are noticed, %d pairs", len(out.Kernels), len(out.Jobs), noticed, len(instances))
}

// adder takes a kernel with its code, the place of that in the cubin, and a check besides Check that tells whether a change of
// the code is noticed.
type adder func(k chipKernel, fn *isa.Func, base int, own func(*isa.Func) bool)

// randomKernels makes random kernels, each block of which adds its outputs behind those of the blocks before.
func randomKernels(t *testing.T, add adder) {
	tc := newest(t)
	for n, had := 0, 0; had < *kernels && n < 4**kernels; n++ {
		k := values.Generate(*chipSeed, n, values.Options{PTX: 70, SM: 70})
		k.Threads = 32
		text := k.Text("k")
		const cvta = "cvta.to.global.u64 %a1, %a1;"
		text = strings.Replace(text, cvta, fmt.Sprintf("%s\n\t{ .reg .u32 %%blk; mov.u32 %%blk, %%ctaid.x; mad.wide.u32 %%a1, %%blk, %d, %%a1; }",
			cvta, k.OutBytes()), 1)
		data := slices.Clone(compile(t, tc, "sm_90", text))
		fn, base := codeOf(data, decode(t, tc, "k", data), "k")
		if fn == nil || len(Check(fn).Findings) > 0 || len(fn.Insts) > 600 {
			continue
		}
		had++
		input, count := k.Input(1)
		add(chipKernel{Cubin: data, Name: "k", Blocks: lanes / k.Threads, Threads: k.Threads, Input: input, Out: k.OutBytes(),
			Args: []chipArg{{"in", 0}, {"out", 0}, {"u32", uint64(count)}}}, fn, base, nil)
	}
}

// codeOf returns a function of a cubin and the place of its code in the file; nil if it has none.
func codeOf(data []byte, code decoded, name string) (*isa.Func, int) {
	i := slices.IndexFunc(code.prog.Funcs, func(fn *isa.Func) bool { return fn.Name == name })
	at := slices.IndexFunc(code.file.Funcs, func(fn cubin.Func) bool { return fn.Name == name })
	if i < 0 || at < 0 {
		return nil, 0
	}
	return code.prog.Funcs[i], bytes.Index(data, code.file.Funcs[at].Code)
}

var parameter = regexp.MustCompile(`\.param \.(u32|u64) (\w+)`)

const (
	placeSize   = 256      // bytes of a location
	resultsSize = 16 << 10 // bytes of a thread's results
)

// testKernels makes the threads of the corpus' tests, whose specification their machine code keeps and which neither wait for
// each other nor share memory. Each runs alone, from random content of all locations.
func testKernels(t *testing.T, add adder) {
	tc := newest(t)
	r := rand.New(rand.NewPCG(*chipSeed, 3))
	tests := corpus.Tests()
	r.Shuffle(len(tests), func(i, k int) { tests[i], tests[k] = tests[k], tests[i] })
	had := 0
	for _, x := range tests {
		u, err := ptxgen.Emit(x, ptxgen.Options{Target: "sm_90"})
		if err != nil || u.Needs > headerVersion || strings.Contains(u.Text, "shared") || strings.Contains(u.Text, "bar") || had >= *kernels {
			continue
		}
		data := slices.Clone(compile(t, tc, "sm_90", u.Text))
		code := decode(t, tc, x.Name, data)
		for _, k := range u.Kernels {
			fn, base := codeOf(data, code, k.Name)
			if fn == nil || repeats(fn) {
				continue
			}
			own := func(fn *isa.Func) bool {
				c := optcheck.NewChecker()
				c.Consts, c.Literals = code.file.Constants(), code.file.Literals()[k.Name]
				res, err := c.CheckAgainst(fn, k.Spec)
				return err != nil || res.Class != optcheck.Preserved
			}
			if own(fn) || len(Check(fn).Findings) > 0 {
				continue
			}
			had++
			add(testKernel(k, data, r), fn, base, own)
		}
	}
}

func testKernel(k ptxgen.Kernel, data []byte, r *rand.Rand) chipKernel {
	out := chipKernel{Cubin: data, Name: k.Name, Blocks: 1, Threads: 1, Out: resultsSize}
	head, _, _ := strings.Cut(k.Text, "{")
	for _, p := range parameter.FindAllStringSubmatch(head, -1) {
		switch {
		case p[2] == "out":
			out.Args = append(out.Args, chipArg{"out", 0})
		case p[2][0] == 'p':
			out.Args = append(out.Args, chipArg{"in", uint64(len(out.Input))})
			for range placeSize / 4 {
				out.Input = binary.LittleEndian.AppendUint32(out.Input, r.Uint32()>>1)
			}
		default:
			out.Args = append(out.Args, chipArg{p[1], uint64(r.Uint32() >> 1)})
		}
	}
	return out
}

// repeats tells whether a function has a loop, but for the one behind its end.
func repeats(fn *isa.Func) bool {
	for i := range fn.Insts {
		if in := &fn.Insts[i]; in.Role == isa.RoleBranch && in.Target >= 0 && in.Target < i {
			return true
		}
	}
	return false
}

// rank puts jobs about one pair before others, but random ones.
func rank(j *chipJob) int {
	if j.Key != "" || *random > 0 {
		return 0
	}
	return 1
}

// jobsOf changes each control code of a kernel, and takes changes that are about one pair alone, a few of each, and some others;
// or -chip-random changes at random.
func jobsOf(fn *isa.Func, kernel, base int, r *rand.Rand, instances map[string]int, own func(*isa.Func) bool, out *[]chipJob) {
	type change struct {
		at   int
		name string
		c    isa.Control
	}
	var all []change
	for i := range fn.Insts {
		if *chipOp != "" && fn.Insts[i].Op != *chipOp {
			continue
		}
		was := fn.Insts[i].Control
		for s := int(was.Stall) - 1; s >= 1; s-- {
			c := was
			c.Stall = uint8(s)
			all = append(all, change{i, "stall=" + strconv.Itoa(s), c})
		}
		for _, e := range edits {
			in := fn.Insts[i]
			if !strings.HasPrefix(e.name, "stall") && e.make(&in) && in.Control != was {
				all = append(all, change{i, e.name, in.Control})
			}
		}
	}
	if *random > 0 && *chipOp == "" {
		r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		all = all[:min(len(all), *random)]
	}
	for _, x := range all {
		in := &fn.Insts[x.at]
		was := in.Control
		in.Control = x.c
		res := Check(fn)
		sure := slices.ContainsFunc(res.Findings, func(f Finding) bool { return f.Sure }) || own != nil && own(fn)
		in.Control = was
		word := in.Code[1]&^(uint64(1<<21-1)<<41) | uint64(x.c.Bits())<<41
		j := chipJob{Kernel: kernel, At: base + int(in.Addr) + 8, Word: word, Edit: x.name, Noticed: sure, Doubt: len(res.Findings) > 0, Text: in.Text}
		for n, f := range res.Findings {
			key := named(fn, f)
			if n > 0 && key != j.Key {
				j.Key = ""
				break
			}
			if n == 0 || f.Cycles < j.Cycles {
				j.Key, j.Cycles, j.Needs = key, f.Cycles, f.Need
				j.Text = fn.Insts[f.From].Text + " → " + fn.Insts[f.To].Text
			}
		}
		if *random > 0 || *chipOp != "" || takes(&j, r, instances) {
			*out = append(*out, j)
		}
	}
}

// takes tells whether a change is one of the first few of its kind.
func takes(j *chipJob, r *rand.Rand, instances map[string]int) bool {
	limit := 6
	if j.Key == "" {
		if limit = 400; r.IntN(6) > 0 {
			return false
		}
	}
	id := fmt.Sprint(j.Key, j.Cycles, j.Noticed, j.Edit[:4])
	instances[id]++
	return instances[id] <= limit
}

// chipProcesses share a chip.
const chipProcesses = 8

// judgeChip runs all jobs in processes that may die, and writes what became of them.
func judgeChip(t *testing.T, name string) {
	jobs := readJobs(t, name)
	d := driver{file: name, step: chipProcesses, until: time.Now().Add(*chipFor), bad: map[int]bool{}}
	var mu sync.Mutex
	results := map[int]string{}
	var all sync.WaitGroup
	for w := range chipProcesses {
		all.Add(1)
		go func() {
			defer all.Done()
			for next := w; next < len(jobs.Jobs) && time.Now().Before(d.until); {
				next = d.life(next, func(r chipResult) {
					mu.Lock()
					defer mu.Unlock()
					if r.What == "unstable" {
						d.bad[jobs.Jobs[r.Job].Kernel] = true
					}
					results[r.Job] = r.What
				}, func() string {
					mu.Lock()
					defer mu.Unlock()
					return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(slices.Sorted(maps.Keys(d.bad)))), ","), "[]")
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
		counts[fmt.Sprint(l.Result, " noticed=", l.Noticed, " doubt=", !l.Noticed && l.Doubt)]++
	}
	t.Log(len(lines), "of", len(jobs.Jobs), counts)
}

// driver runs jobs in processes.
type driver struct {
	file  string
	step  int
	until time.Time
	bad   map[int]bool // kernels that do not give one result, or none, as they are
}

// life starts a process that does jobs from one on, and returns the next job when it ends: the one that it died of is done. A job
// whose kernel does not end as it is, is unstable.
func (d *driver) life(from int, tell func(chipResult), skip func() string) int {
	ctx, cancel := context.WithDeadline(context.Background(), d.until)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], "-test.run", "TestChip", "-chip", d.file, "-chip-skip", skip(),
		"-chip-worker", fmt.Sprintf("%d,%d", from, d.step))
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
	next, doing := from, ""
	died := func(how string) int {
		if doing == "refer" {
			how = "unstable"
		}
		if doing != "" && ctx.Err() == nil {
			tell(chipResult{next, how})
		}
		return next + d.step
	}
	for patience := 60 * time.Second; ; patience = 4 * time.Second {
		select {
		case l, ok := <-lines:
			if !ok {
				_ = c.Wait()
				return died("fault")
			}
			f := strings.Fields(l)
			switch {
			case len(f) == 2 && (f[0] == "begin" || f[0] == "refer"):
				doing = f[0]
				next, _ = strconv.Atoi(f[1])
			case len(f) == 3 && f[0] == "job":
				n, _ := strconv.Atoi(f[1])
				tell(chipResult{n, f[2]})
				doing, next = "", n+d.step
			}
		case <-time.After(patience):
			_ = c.Process.Kill()
			for range lines {
			}
			_ = c.Wait()
			return died("hang")
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
		most = max(most, k.Blocks*k.Out)
	}
	alloc := func(n int) runner.Buffer {
		b, err := s.Alloc(ctx, 0, uint64(n))
		must(err)
		return b
	}
	out, ref, count := alloc(most), alloc(1<<20), alloc(256)
	var in []runner.Buffer // of which the first has the input, or each one location
	for range 16 {
		in = append(in, alloc(1<<16))
	}
	m, err := s.Load(ctx, runner.Image{Kind: runner.ImagePTX, Data: []byte(diffText)})
	must(err)
	diff, _, err := s.Kernel(ctx, m, "diff")
	must(err)
	// run launches a kernel and returns how many words of its outputs differ from the reference, and the output of the first
	// block with what became of the input.
	run := func(k *chipKernel, data []byte) (int, []byte, error) {
		m, err := s.Load(ctx, runner.Image{Kind: runner.ImageCubin, Data: data})
		if err != nil {
			return 0, nil, err
		}
		defer func() { _ = s.Unload(ctx, m) }()
		h, _, err := s.Kernel(ctx, m, k.Name)
		if err != nil {
			return 0, nil, err
		}
		b := runner.Batch{Timeout: 2 * time.Second, Setup: []runner.Command{runner.Fill(out, 0, uint64(k.Out*k.Blocks), 0), runner.Fill(count, 0, 256, 0)}}
		final := []runner.Command{runner.Read(count, 0, 4), runner.Read(out, 0, uint64(k.Out))}
		var args []runner.Arg
		for _, a := range k.Args {
			switch a.Kind {
			case "in":
				from := in[a.Value/placeSize]
				part := k.Input[a.Value:]
				if k.Blocks == 1 {
					part = part[:placeSize]
				}
				b.Setup = append(b.Setup, runner.Write(from, 0, part))
				final = append(final, runner.Read(from, 0, uint64(len(part))))
				args = append(args, runner.BufArg(from))
			case "out":
				args = append(args, runner.BufArg(out))
			case "u32":
				args = append(args, runner.U32(uint32(a.Value)))
			default:
				args = append(args, runner.U64(a.Value))
			}
		}
		b.Body = []runner.Command{runner.Launch(h, runner.Dim1(uint32(k.Blocks), uint32(k.Threads)), args...)}
		if k.Blocks > 1 {
			b.Body = append(b.Body, runner.Launch(diff, runner.Dim1(uint32(k.Blocks), 128), runner.BufArg(out), runner.BufArg(ref),
				runner.U32(uint32(k.Out/4)), runner.BufArg(count)))
		}
		b.Final = final
		res, err := s.Run(ctx, &b)
		if err != nil {
			return 0, nil, err
		}
		return int(binary.LittleEndian.Uint32(res.Reads[0])), bytes.Join(res.Reads[1:], nil), nil
	}
	// differs tells whether one of a few runs shows another result than the first of the kernel.
	differs := func(k *chipKernel, data, first []byte) bool {
		for range max(1, 4-k.Blocks) {
			n, got, err := run(k, data)
			if err != nil {
				t.Fatal(err)
			}
			if n > 0 || !bytes.Equal(got, first) {
				return true
			}
		}
		return false
	}
	var first []byte
	last, stable := -1, false
	for i := from; i < len(jobs.Jobs); i += step {
		j := &jobs.Jobs[i]
		k := &jobs.Kernels[j.Kernel]
		if slices.Contains(strings.Split(*skipped, ","), strconv.Itoa(j.Kernel)) {
			fmt.Println("job", i, "unstable")
			continue
		}
		if j.Kernel != last {
			last = j.Kernel
			fmt.Println("refer", i)
			_, first, err = run(k, k.Cubin)
			must(err)
			_, err = s.Run(ctx, &runner.Batch{Setup: []runner.Command{runner.Write(ref, 0, first[:k.Out])}})
			must(err)
			stable = !differs(k, k.Cubin, first)
		}
		if !stable {
			fmt.Println("job", i, "unstable")
			continue
		}
		data := slices.Clone(k.Cubin)
		binary.LittleEndian.PutUint64(data[j.At:], j.Word)
		fmt.Println("begin", i)
		what := "right"
		if differs(k, data, first) {
			what = "wrong"
		}
		fmt.Println("job", i, what)
	}
}
