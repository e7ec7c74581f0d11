package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// What an input of the corpus may cost.
const (
	hostileTime   = 5 * time.Second
	hostileMemory = 512 << 20
	hostileInputs = 1_000 // at least, and twice that with OPTCHECK_FULL=1
	hostileHang   = time.Minute
	hostileWait   = 10 * time.Second // what somebody waits for a foreign folder
)

// trial is a command line for the hostile worker, and outcome what came of it.
type (
	trial struct {
		Name string
		Args []string
		Dir  string // to be done in, "" for where the worker is
		Full bool   // standard output takes nothing
		Must bool   // it must fail
		// Tools is a folder of compilers, "" for none.
		Tools string
	}
	outcome struct {
		Code    int
		CPU     time.Duration
		Wall    time.Duration
		Memory  int64 // the largest resident set, in bytes
		Printed int64 // bytes on standard output
		Errors  string
	}
)

// hostileWorker runs command lines of the program, a line of JSON each, in one
// process, and tells what each has cost.
func hostileWorker() {
	os.Unsetenv("GOGC") // what a user has, whatever the tests have
	debug.SetGCPercent(100)
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var t trial
		if err := json.Unmarshal(line, &t); err != nil {
			panic(err)
		}
		debug.FreeOSMemory()
		_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the largest resident set begins anew
		before := cpuTime()
		var errs bytes.Buffer
		if t.Dir != "" {
			if err := os.Chdir(t.Dir); err != nil {
				panic(err)
			}
		}
		var printed tally
		var stdout io.Writer = &printed
		if t.Full {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				panic(err)
			}
			stdout = full
		}
		start := time.Now()
		getenv := func(name string) string {
			if name == "OPTCHECK_TOOLCHAIN_DIRS" && t.Tools != "" {
				return t.Tools
			}
			return os.Getenv(name)
		}
		err = run(context.Background(), getenv, strings.NewReader(""), stdout, &errs, t.Args)
		o := outcome{Code: exitCode(context.Background(), &errs, t.Args, err), CPU: cpuTime() - before, Memory: peak(), Wall: time.Since(start),
			Printed: int64(printed)}
		o.Errors = string(errs.Bytes()[max(0, errs.Len()-400):])
		if err := out.Encode(o); err != nil {
			return
		}
	}
}

// tally counts what is written.
type tally int64

func (n *tally) Write(b []byte) (int, error) {
	*n += tally(len(b))
	return len(b), nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak is the largest resident set of this process, in bytes.
func peak() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(v)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

// hostileTrials writes the corpus into a folder and lists what is to be done with
// it. It depends on the seed alone.
func hostileTrials(t *testing.T, dir string, seed uint64) (trials []trial) {
	r := rand.New(rand.NewPCG(seed, 22))
	n := 0
	stream := filepath.Join(dir, "run.jsonl")
	require.NoError(t, os.WriteFile(stream, []byte(fmt.Sprintf(oneConfig, 0, 0)), 0o600))
	for _, rd := range readers(t) {
		add := func(kind string, data []byte) {
			n++
			file := filepath.Join(dir, fmt.Sprintf("%04d", n))
			require.NoError(t, os.WriteFile(file, data, 0o600))
			words := strings.Fields(rd.commands[n%len(rd.commands)])
			for i, w := range words {
				words[i] = map[string]string{"@": file, "@new": file + ".new", "@run": stream}[w]
				if words[i] == "" {
					words[i] = w
				}
			}
			trials = append(trials, trial{Name: fmt.Sprintf("%s, %s", rd.name, kind), Args: words})
		}
		for i, shape := range rd.shapes {
			for _, size := range []int{3_000, 60_000, maxHostile} {
				add(fmt.Sprintf("shape %d of %d bytes", i, size), []byte(shape(size)))
			}
		}
		mutations := 20
		if full() {
			mutations = 60
		}
		for i := range mutations {
			sample := rd.samples[r.IntN(len(rd.samples))]
			add(fmt.Sprint("mutation ", i), mutate(r, sample, min(maxHostile, 1<<(10+r.IntN(11)))))
		}
	}
	return trials
}

// hostileEnv is the environment of a worker: no compilers, no devices, and a folder of its own.
func hostileEnv(dir string) []string {
	return []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH"), "OPTCHECK_TOOLCHAIN_DIRS=", "OCL_ICD_VENDORS=" + dir}
}

// TestHostileCorpus: whatever a reader is given, it ends in time, within memory,
// and without a panic. OPTCHECK_SEED chooses another corpus, OPTCHECK_FULL=1 a
// larger one, OPTCHECK_HOSTILE a folder in which it is left.
func TestHostileCorpus(t *testing.T) {
	seed := uint64(20150314)
	if s := os.Getenv("OPTCHECK_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("seed %d", seed)
	dir := os.Getenv("OPTCHECK_HOSTILE")
	if dir == "" {
		dir = t.TempDir()
	}
	trials := slices.Concat(hostileTrials(t, dir, seed), specialTrials(t, dir, seed), modelTrials(t, dir, rand.New(rand.NewPCG(seed, 312))),
		storeTrials(t, dir, rand.New(rand.NewPCG(seed, 313))), toolTrials(t, dir, rand.New(rand.NewPCG(seed, 314))))
	require.True(t, len(trials) > 2*hostileInputs || !full() && len(trials) > hostileInputs, "%d inputs", len(trials))
	results := make([]outcome, len(trials))
	var wg sync.WaitGroup
	workers := max(2, runtime.GOMAXPROCS(0))
	for w := range workers {
		wg.Go(func() {
			for next := w; next < len(trials); {
				next = hostileBatch(t, dir, hostileEnv(dir), trials, results, next, workers)
			}
		})
	}
	wg.Wait()
	var slowest, largest int
	codes := map[int]int{}
	for i, o := range results {
		if o.CPU > hostileTime || o.Memory > hostileMemory || o.Code > 2 {
			t.Errorf("%s: optcheck %s: %v of CPU, %d MiB, exit code %d: %s", trials[i].Name, strings.Join(trials[i].Args, " "), o.CPU,
				o.Memory>>20, o.Code, o.Errors)
		}
		if trials[i].Must && o.Code == 0 {
			t.Errorf("%s: optcheck %s: exit code 0", trials[i].Name, strings.Join(trials[i].Args, " "))
		}
		codes[o.Code]++
		if o.CPU > results[slowest].CPU {
			slowest = i
		}
		if o.Memory > results[largest].Memory {
			largest = i
		}
	}
	t.Logf("%d inputs; exit codes %v; the slowest took %v of CPU (%s), the largest %d MiB (%s)", len(trials), codes, results[slowest].CPU,
		trials[slowest].Name, results[largest].Memory>>20, trials[largest].Name)
	hostileSignals(t, dir, trials, results)
}

// hostileBatch has a worker do every step-th trial from first on, until it ends. It
// returns the one that is next.
func hostileBatch(t *testing.T, dir string, env []string, trials []trial, results []outcome, first, step int) int {
	cmd := exec.Command("hostile-worker")
	cmd.Env, cmd.Dir = env, dir
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err != nil || err2 != nil || cmd.Start() != nil {
		t.Error("the worker does not start")
		return len(trials)
	}
	defer func() { in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	replies := bufio.NewReader(out)
	for i := first; i < len(trials); i += step {
		line, _ := json.Marshal(trials[i])
		_, _ = in.Write(append(line, '\n'))
		hung := time.AfterFunc(hostileHang, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
		reply, err := replies.ReadBytes('\n')
		hung.Stop()
		if err != nil || json.Unmarshal(reply, &results[i]) != nil {
			_ = cmd.Wait()
			t.Errorf("%s: optcheck %s: it does not end, or breaks down: %.2000s", trials[i].Name, strings.Join(trials[i].Args, " "), errs.String())
			return i + step
		}
	}
	return len(trials)
}

// hostileSignals: those that took longest, and some others, end with a signal.
func hostileSignals(t *testing.T, dir string, trials []trial, results []outcome) {
	order := make([]int, len(trials))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(results[b].CPU - results[a].CPU) })
	sample := order[:12]
	for i := 12; i < len(order); i += len(order) / 12 {
		sample = append(sample, order[i])
	}
	var longest time.Duration
	if os.Getenv("OPTCHECK_FULL") != "" {
		sample = order
	}
	for _, i := range sample {
		if strings.Contains(strings.Join(trials[i].Args, ""), "\x00") {
			continue // no process can be given that
		}
		best := time.Hour
		for try := 0; try < 3 && best > time.Second; try++ { // the machine may be busy
			best = min(best, signalled(t, dir, trials[i]))
		}
		longest = max(longest, best)
		if best > time.Second {
			t.Errorf("%s: optcheck %s: %v until it ended after SIGTERM", trials[i].Name, strings.Join(trials[i].Args, " "), best)
		}
	}
	t.Logf("%d of them with SIGTERM: the last one ended after %v", len(sample), longest)
}

// signalled runs the program and returns how long it takes to end after SIGTERM.
func signalled(t *testing.T, dir string, c trial) time.Duration {
	cmd := exec.Command("optcheck", c.Args...)
	cmd.Env, cmd.Dir = hostileEnv(dir), dir
	require.NoError(t, cmd.Start())
	hung := time.AfterFunc(patient.Long, func() { _ = cmd.Process.Kill() })
	defer hung.Stop()
	time.Sleep(80 * time.Millisecond)
	start := time.Now()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	return time.Since(start)
}
