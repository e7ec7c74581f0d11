package toolchain

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// gone tells whether a process has ended (a zombie that nobody reaps has).
func gone(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return true
	}
	after := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
	return strings.HasPrefix(after, " Z") || strings.HasPrefix(after, " X")
}

// Whether the tool hangs or ends first, what it started dies with it, and its
// hold on the output delays nobody.
func TestGrandchildrenDie(t *testing.T) {
	for mode, kind := range map[string]error{"spawn": ErrTimeout, "orphan": nil} {
		dir := fakeTools(t, "10.1.7", mode)
		var pid []byte
		patient.Limits(t, 2*time.Second, func(t *patient.Trial, limit time.Duration) {
			r := NewRunner(1, limit)
			_, err := r.run(context.Background(), command{path: filepath.Join(dir, "ptxas")})
			if kind == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, kind)
			}
			pid, err = os.ReadFile(filepath.Join(dir, "pid"))
			require.NoError(t, err, "the grandchild was started")
		})
		require.Eventually(t, func() bool { return gone(string(pid)) }, patient.Long, 10*time.Millisecond, mode)
	}
}

func TestFloodIsBounded(t *testing.T) {
	dir := fakeTools(t, "10.1.7", "flood")
	r := NewRunner(1, patient.Long)
	out, err := r.run(context.Background(), command{path: filepath.Join(dir, "ptxas"), limit: 1 << 20})
	assert.ErrorIs(t, err, ErrInfrastructure)
	assert.ErrorIs(t, err, errOverflow)
	assert.Len(t, out.stdout, 1<<20)
}

func TestStats(t *testing.T) {
	r := NewRunner(2, patient.Long)
	_, err := r.run(context.Background(), command{path: "/bin/sh",
		args: []string{"-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo fatal >&2; exit 255"}})
	assert.ErrorIs(t, err, ErrCompile)
	assert.Equal(t, 255, err.(*Error).ExitCode)
	assert.Equal(t, "fatal\n", err.(*Error).Stderr)
	s := r.Stats()
	assert.Equal(t, int64(1), s.Processes)
	assert.Equal(t, int64(1), s.Failed)
	assert.Greater(t, s.CPU(), 5*time.Millisecond)
	assert.LessOrEqual(t, s.CPU(), 2*s.Wall)
	assert.Greater(t, s.MaxRSS, int64(100<<10))
}

// The CPU time of grandchildren that the tool waits for is counted.
func TestStatsOfGrandchildren(t *testing.T) {
	r := NewRunner(1, patient.Long)
	_, err := r.run(context.Background(), command{path: "/bin/sh",
		args: []string{"-c", "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); true"}})
	require.NoError(t, err)
	assert.Greater(t, r.Stats().CPU(), 20*time.Millisecond)
}

func TestParallelIsBounded(t *testing.T) {
	r := NewRunner(2, patient.Long)
	start := time.Now()
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			_, err := r.run(context.Background(), command{path: "/bin/sleep", args: []string{"0.2"}})
			assert.NoError(t, err)
		})
	}
	group.Wait()
	assert.GreaterOrEqual(t, time.Since(start), 600*time.Millisecond, "six of 0.2 s, two at a time")
}

func TestStdinIsClosedAndEnvironmentClean(t *testing.T) {
	t.Setenv("NVDISASM_PATH", "/elsewhere")
	t.Setenv("PTXAS_FLAGS", "-O0")
	r := NewRunner(1, patient.Long)
	out, err := r.run(context.Background(), command{path: "/bin/sh", args: []string{"-c", "cat; env"}})
	require.NoError(t, err)
	assert.Contains(t, string(out.stdout), "NVDISASM_PATH=/bin\n")
	assert.NotContains(t, string(out.stdout), "PTXAS_FLAGS")
}

func TestErrorText(t *testing.T) {
	e := &Error{Kind: ErrCompile, Tool: "/x/ptxas", Input: "mp", ExitCode: 255, Detail: "exit status 255",
		Stderr:      "ptxas warning : old\nptxas batch.ptx, line 9; error   : Unknown symbol\n",
		Diagnostics: []Diagnostic{{Line: 7, Severity: "warning", Message: "odd"}, {Line: 3, Severity: "error", Message: "Unknown symbol"}}}
	assert.Equal(t, "mp:3: /x/ptxas: rejected by the tool: exit status 255: Unknown symbol", e.Error())
	e.Diagnostics = nil
	assert.Equal(t, "mp: /x/ptxas: rejected by the tool: exit status 255: ptxas warning : old", e.Error())
}

// What a tool says when it lacks memory or space is no word on its input, whatever
// its exit status.
func TestStarved(t *testing.T) {
	for text, kind := range map[string]error{
		"LLVM ERROR: IO failure on output stream: No space left on device":                    ErrInfrastructure,
		"fatal error: error in backend: IO failure on output stream: Input/output error":      ErrInfrastructure,
		"error: unable to open output file 'batch.out': 'Disk quota exceeded'":                ErrInfrastructure,
		"ptxas fatal   : Memory allocation failure":                                           ErrInfrastructure,
		"ptxas fatal   : Could not open output file 'batch.cubin'":                            ErrInfrastructure,
		"ptxas error   : Entry function uses too much shared data":                            ErrCompile,
		"error: ran out of registers during register allocation in function 'k'":              ErrCompile,
		"LLVM ERROR: Cannot select: 0x55d0: i32,ch = AtomicLoad<(load acquire (s32))> 0x1234": ErrCompile,
	} {
		_, err := NewRunner(1, patient.Long).run(context.Background(), command{path: "/bin/sh", args: []string{"-c", `echo "$0" >&2; exit 1`, text}})
		assert.ErrorIs(t, err, kind, text)
	}
}

// TestRunnerMemory: what a disassembler makes of a file has a bound.
func TestRunnerMemory(t *testing.T) {
	out, err := NewRunner(1, patient.Long).run(t.Context(), command{path: "/bin/sh", args: []string{"-c", "ulimit -v"}, memory: 1 << 30})
	require.NoError(t, err)
	require.Equal(t, "1048576\n", string(out.stdout))
}
