package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"optcheck/internal/keeper"
)

// Limits of one external process unless asked otherwise.
const (
	// DefaultTimeout bounds the wall time of a process.
	DefaultTimeout = time.Minute
	// maxStdout bounds what is kept of a tool's output, in bytes; more is
	// garbage, because 1,000 kernels give 5 MB.
	maxStdout = 256 << 20
	// maxStderr bounds what is kept of a tool's messages, in bytes.
	maxStderr = 1 << 20
)

// Stats counts what the external processes of a Runner cost.
type Stats struct {
	// Processes is the number of processes started.
	Processes int64 `json:"processes"`
	// Failed is how many of them did not end with status 0.
	Failed int64 `json:"failed"`
	// User and System are the CPU time of the processes and of the children
	// they waited for.
	User   time.Duration `json:"user_ns"`
	System time.Duration `json:"system_ns"`
	// Wall is the sum of the processes' wall times.
	Wall time.Duration `json:"wall_ns"`
	// Disassembly is the part of User and System that nvdisasm and cuobjdump took.
	Disassembly time.Duration `json:"disassembly_ns"`
	// MaxRSS is the largest resident set of any one process, in bytes.
	MaxRSS int64 `json:"max_rss_bytes"`
}

// CPU is the processor time of all processes together.
func (s Stats) CPU() time.Duration { return s.User + s.System }

// Runner starts external processes, a bounded number at a time, and keeps
// count of what they cost. It is safe for concurrent use.
type Runner struct {
	sem     *semaphore.Weighted
	timeout time.Duration

	processes, failed  atomic.Int64
	user, system, wall atomic.Int64
	disassembly        atomic.Int64
	rss                atomic.Int64
}

// NewRunner returns a Runner for at most parallel processes at a time (0: one
// per core), each limited to timeout of wall time (0: DefaultTimeout) unless
// the work it does asks for more.
func NewRunner(parallel int, timeout time.Duration) *Runner {
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	return &Runner{sem: semaphore.NewWeighted(int64(parallel)), timeout: timeout}
}

// DefaultRunner is the Runner shared by everything that was not given another.
var DefaultRunner = sync.OnceValue(func() *Runner { return NewRunner(0, 0) })

// Stats returns the counts so far.
func (r *Runner) Stats() Stats {
	return Stats{
		Processes: r.processes.Load(), Failed: r.failed.Load(),
		User: time.Duration(r.user.Load()), System: time.Duration(r.system.Load()),
		Disassembly: time.Duration(r.disassembly.Load()), Wall: time.Duration(r.wall.Load()), MaxRSS: r.rss.Load(),
	}
}

// command is one process to run.
type command struct {
	path    string
	args    []string
	dir     string
	input   string        // names the input in errors
	timeout time.Duration // 0: the runner's
	env     []string      // nil: toolEnv of path
	stdout  io.Writer     // nil: captured
	limit   int           // bytes of stdout to keep; 0: maxStdout
	reads   bool          // all that it could wait for is a file
	memory  int           // bytes of address space; 0: any number
}

// output is what a process left behind.
type output struct {
	stdout, stderr []byte
	overflow       bool // there was more on stdout than is kept
}

// toolEnv is the environment of a compiler process: nothing that could steer
// it, and its own folder first on PATH, because cuobjdump starts the nvdisasm
// it finds there, which must be the one of its own release.
func toolEnv(path string) []string {
	dir := filepath.Dir(path)
	return []string{
		"PATH=" + dir + ":/usr/bin:/bin",
		"NVDISASM_PATH=" + dir,
		"LC_ALL=C", "LANG=C", "TZ=UTC",
		"TMPDIR=" + os.TempDir(),
		"HOME=/nonexistent", // where nobody leaves a configuration for a tool
	}
}

// run executes one process to its end. Its stdin is closed. The error, if any,
// is an *Error; output is returned with it as far as there was any.
func (r *Runner) run(ctx context.Context, c command) (output, error) {
	if !canRun {
		e := c.fail(ErrInfrastructure, "external tools run on linux only", nil)
		e.notStarted = true
		return output{}, e
	}
	if err := r.sem.Acquire(ctx, 1); err != nil {
		return output{}, c.fail(ErrCancelled, "before it started", ctxErr(ctx))
	}
	defer r.sem.Release(1)
	if ctx.Err() != nil {
		return output{}, c.fail(ErrCancelled, "before it started", ctxErr(ctx))
	}
	if c.timeout <= 0 {
		c.timeout = r.timeout
	}
	return r.exec(ctx, c)
}

func (r *Runner) exec(ctx context.Context, c command) (output, error) {
	if c.limit <= 0 {
		c.limit = maxStdout
	}
	stdout, stderr := &boundedBuffer{limit: c.limit}, &boundedBuffer{limit: maxStderr}
	cmd := &keeper.Cmd{Path: c.path, Args: c.args, Dir: c.dir, Env: c.env, Stdout: stdout, Stderr: stderr}
	if c.memory > 0 {
		cmd.Path = "/bin/sh"
		cmd.Args = append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, c.memory>>10), c.path}, c.args...)
	}
	if cmd.Env == nil {
		cmd.Env = toolEnv(c.path)
	}
	if c.stdout != nil {
		cmd.Stdout = c.stdout
	}
	start := time.Now()
	p, err := keeper.Start(cmd)
	if err != nil {
		e := c.fail(ErrInfrastructure, "cannot start", err)
		e.notStarted = true
		return output{}, e
	}
	stopped := r.watch(ctx, p, &c, stdout)
	state, err := p.Wait()
	r.account(c.path, state, time.Since(start))
	out := output{stdout: stdout.data, stderr: stderr.data, overflow: stdout.full}
	return out, c.classify(state, err, stopped, out)
}

// Reasons for which watch ends a process early.
var (
	errTimeLimit = errors.New("time limit")
	errOverflow  = errors.New("too much output")
	errWaits     = errors.New("waits for what does not come")
)

// restLimit is how long a process that only reads files may wait without using a processor.
const restLimit = 4 * time.Second

// watch returns when the process has ended, having killed it if the context or
// the time ended first or its output overflowed; what it started is gone then.
func (r *Runner) watch(ctx context.Context, p *keeper.Process, c *command, out *boundedBuffer) error {
	out.onOverflow(p.Kill)
	defer out.onOverflow(nil)
	timer := time.NewTimer(c.timeout)
	defer timer.Stop()
	rests := make(<-chan time.Time)
	if c.reads {
		ticker := time.NewTicker(restLimit / 4)
		defer ticker.Stop()
		rests = ticker.C
	}
	var why error
	for used, times := 0, 0; why == nil; {
		select {
		case <-p.Done():
			return nil
		case <-ctx.Done():
			why = ctxErr(ctx)
		case <-timer.C:
			why = errTimeLimit
		case <-rests:
			now, all := p.Sleeps()
			if times++; !all || now != used {
				used, times = now, 0
			}
			if times == 4 {
				why = errWaits
			}
		}
	}
	p.Kill()
	<-p.Done()
	return why
}

func (r *Runner) account(tool string, s keeper.State, wall time.Duration) {
	r.processes.Add(1)
	r.wall.Add(int64(wall))
	if !s.Success() {
		r.failed.Add(1)
	}
	r.user.Add(int64(s.User))
	r.system.Add(int64(s.System))
	if name := filepath.Base(tool); name == "nvdisasm" || name == "cuobjdump" {
		r.disassembly.Add(int64(s.User + s.System))
	}
	for {
		old := r.rss.Load()
		if s.MaxRSS <= old || r.rss.CompareAndSwap(old, s.MaxRSS) {
			return
		}
	}
}

// classify turns the end of a process into an error, or nil.
func (c command) classify(s keeper.State, err, stopped error, out output) error {
	var e *Error
	switch {
	case errors.Is(stopped, errTimeLimit):
		e = c.fail(ErrTimeout, fmt.Sprintf("killed after %v; --timeout allows more", c.timeout), nil)
		e.limit = c.timeout
	case errors.Is(stopped, errWaits):
		e = c.fail(ErrCompile, "", errWaits)
	case stopped != nil:
		e = c.fail(ErrCancelled, "killed", stopped)
	case out.overflow:
		e = c.fail(ErrInfrastructure, "", errOverflow)
	case err != nil:
		e = c.fail(ErrInfrastructure, "", err)
	case s.Success():
		return nil
	default:
		e = c.exitError(s)
	}
	e.ExitCode = s.ExitCode()
	e.Stderr = string(bytes.ToValidUTF8(out.stderr, []byte("\uFFFD")))
	e.childDied()
	if starved.MatchString(e.Stderr) {
		e.Signal = ""
		if e.Kind == ErrCompile {
			e.Kind = ErrInfrastructure
		}
	}
	return e
}

// starved are the messages of tools that lack memory or space. They say nothing
// about the input, although the tools refuse it as if they did.
var starved = regexp.MustCompile(`(?i)No space left on device|Disk quota exceeded|Read-only file system|Input/output error|Too many open files|` +
	`Cannot allocate memory|Memory allocation failure|out of memory|bad.alloc|allocation failed|IO failure on output stream|` +
	`(could not|failed to|unable to) (open|make|create) (in|out|temporary )(put )?file|unable to execute command`)

// exitError tells a refusal from a breakdown. Status 126 and 127 are the
// loader's and the shell's, 128+n is a wrapper script's word for signal n;
// ptxas itself refuses with 255.
func (c command) exitError(s keeper.State) *Error {
	if signal := s.Signal(); signal != 0 {
		e := c.fail(ErrInfrastructure, "killed by signal: "+signal.String(), nil)
		e.Signal = signal.String()
		return e
	}
	code := s.ExitCode()
	if code == 126 || code == 127 || (code > 128 && code < 160) {
		e := c.fail(ErrInfrastructure, fmt.Sprintf("exit status %d", code), nil)
		if code > 128 {
			e.Signal = syscall.Signal(code - 128).String()
		}
		return e
	}
	return c.fail(ErrCompile, fmt.Sprintf("exit status %d", code), nil)
}

// ctxErr is why ctx ended: its own error, and the cause if it was given one.
func ctxErr(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

func (c command) fail(kind error, detail string, err error) *Error {
	return &Error{Kind: kind, Tool: c.path, Input: c.input, Args: c.args, ExitCode: -1, Detail: detail, Err: err}
}

// boundedBuffer keeps the first limit bytes written to it and calls a hook
// when there are more.
type boundedBuffer struct {
	mu    sync.Mutex
	data  []byte
	limit int
	full  bool
	hook  func()
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(p)
	if room := b.limit - len(b.data); n > room {
		p = p[:room]
		if !b.full {
			b.full = true
			if b.hook != nil {
				b.hook()
			}
		}
	}
	b.data = append(b.data, p...)
	return n, nil
}

func (b *boundedBuffer) onOverflow(hook func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hook = hook
	if b.full && hook != nil {
		hook()
	}
}
