package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"optcheck/target"
)

// Sources that LLVM compiles.
const (
	OpenCLC = "cl"
	LLVMIR  = "ll"
)

// LLVMJob is a set of independent kernels to compile for one AMD target. Of the
// embedded Job, Target is the -mcpu name, Header is put before the first unit,
// Flags are further arguments of the compiler; LineInfo asks for
// -gline-tables-only. A unit's name is that of its kernel.
type LLVMJob struct {
	Job
	// Source is OpenCLC, which clang compiles, or LLVMIR, which llc compiles.
	Source string
	// CL2 asks for OpenCL C 2.0 instead of 1.2.
	CL2 bool
	// Library links libclc. A release without libclc for the target fails all
	// units with ErrNoLibrary.
	Library bool
	// Object asks for an object file instead of an assembly listing.
	Object bool
	// Emit asks for LLVM IR instead of machine code, as text: after the front
	// end (FrontEnd) or after the optimiser of the level (Middle).
	Emit Stage
}

// Stage is a stage of LLVM whose output can be looked at.
type Stage uint8

// The stages.
const (
	Machine  Stage = iota // the back end's output
	FrontEnd              // LLVM IR as clang generated it, before any pass
	Middle                // LLVM IR after the optimiser, as the back end gets it
)

// ErrNoLibrary: there is no libclc of this release for this target.
var ErrNoLibrary = errors.New("no libclc for this target")

var validAMD = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// LibclcFile is the bitcode that a kernel for the target links, "" if the
// release has none.
func (t *Toolchain) LibclcFile(target string) string {
	l, ok := t.Kind.(*LLVM)
	if !ok || l.Libclc == "" {
		return ""
	}
	for _, suffix := range clcNames(target) {
		file := filepath.Join(l.Libclc, suffix+".bc")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

func clcNames(name string) []string {
	switch g, _ := target.Of(name); g.Family {
	case target.TeraScale:
		return []string{name + "-r600--"}
	case target.GFX6:
		// All of gfx6 have the same bitcode under several names.
		return []string{name + "-amdgcn-mesa-mesa3d", "tahiti-amdgcn-mesa-mesa3d"}
	}
	return []string{"amdgcn-amd-amdhsa", "amdgcn--amdhsa"}
}

// Triple is the target triple under which a target of AMD's is compiled: that of Mesa
// for gfx6, which has no flat instructions, which HSA is built on.
func Triple(name string) string {
	switch g, _ := target.Of(name); g.Family {
	case target.TeraScale:
		return "r600--"
	case target.GFX6:
		return "amdgcn-mesa-mesa3d"
	}
	return "amdgcn-amd-amdhsa"
}

// CompileLLVM compiles the units of a job, many per process, as Compile does
// for PTX. Results are assembly listings, or objects where Object asks for them.
// A listing whose target is not the one asked for, and a kernel that calls a
// function instead of containing it, are failures.
func (t *Toolchain) CompileLLVM(ctx context.Context, job LLVMJob) (*Result, error) {
	l, ok := t.Kind.(*LLVM)
	if !ok {
		return nil, fmt.Errorf("compile: %s is no LLVM", t.ID)
	}
	if !validAMD.MatchString(job.Target) {
		return nil, fmt.Errorf("compile: bad target %q", job.Target)
	}
	if !validLevel.MatchString(job.Level) {
		return nil, fmt.Errorf("compile: bad level %q, want O0 to O3", job.Level)
	}
	c := &clang{t: t, tools: l, job: &job}
	if job.Source == LLVMIR && (job.Emit != Machine || job.Library) {
		return nil, errors.New("compile: LLVM IR goes to the back end only")
	}
	if c.tool() == "" {
		return nil, fmt.Errorf("compile: %s has no llc", t.ID)
	}
	if job.Library {
		if c.library = t.LibclcFile(job.Target); c.library == "" {
			res := &Result{Failed: map[int]error{}}
			for i, u := range job.Units {
				res.Failed[i] = &Error{Kind: ErrInfrastructure, Tool: l.Clang, Input: u.Name, ExitCode: -1,
					Detail: fmt.Sprintf("%s has no libclc for %s", t.ID, job.Target), Err: ErrNoLibrary}
			}
			return res, nil
		}
	}
	job.Header = endLine(job.Header)
	res, err := compileAll(ctx, c, &job.Job)
	if err != nil || job.Object || job.Emit != Machine {
		return res, err
	}
	return res, res.dropCalls(c.tool(), &job)
}

// clang is the compiler of OpenCL C and LLVM IR.
type clang struct {
	t       *Toolchain
	tools   *LLVM
	job     *LLVMJob
	library string
}

// tool is clang, or llc for LLVM IR, which shall meet the back end only.
func (c *clang) tool() string {
	if c.job.Source == LLVMIR {
		return c.tools.LLC
	}
	return c.tools.Clang
}

// ArgsLLVM are the arguments with which a job's compiler compiles a file: what
// CompileLLVM uses, for people to repeat it. library is the file of libclc, if the job
// asks for it.
func (t *Toolchain) ArgsLLVM(job LLVMJob, input, output, library string) []string {
	c := &clang{t: t, job: &job}
	if job.Library {
		c.library = library
	}
	args := c.args()
	n := len(args)
	return append(args[:n-3], input, "-o", output) // instead of batch.…
}

// args are relative to the process's own folder; the last three are input and output.
func (c *clang) args() []string {
	j := c.job
	if j.Source == LLVMIR {
		args := []string{"-mtriple=" + Triple(j.Target), "-mcpu=" + j.Target, "-" + j.Level, "-filetype=asm"}
		if j.Object {
			args[3] = "-filetype=obj"
		}
		return append(append(args, j.Flags...), c.input(), "-o", "batch.out")
	}
	args := []string{"-target", Triple(j.Target), "-mcpu=" + j.Target, "-" + j.Level, "-nogpulib",
		"-fno-crash-diagnostics", "-fno-color-diagnostics", "-fno-caret-diagnostics", "-ferror-limit=0"}
	std := "CL1.2"
	if j.CL2 {
		std = "CL2.0"
	}
	args = append(args, "-x", "cl", "-cl-std="+std)
	if j.LineInfo {
		args = append(args, "-gline-tables-only")
	}
	if c.library != "" {
		args = append(args, "-Xclang", "-mlink-builtin-bitcode", "-Xclang", c.library, "-Wno-linker-warnings")
		if c.t.Major() >= 20 {
			// libclc's functions are no longer always_inline: at O0 kernels would
			// call them. Devices without calls have them inlined.
			args = append(args, "-mllvm", "-amdgpu-function-calls=false")
		}
	}
	switch {
	case j.Emit == FrontEnd:
		args = append(args, "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm")
	case j.Emit == Middle:
		args = append(args, "-S", "-emit-llvm")
	case j.Object:
		args = append(args, "-c")
	default:
		args = append(args, "-S")
	}
	if j.Emit != Machine && c.t.Major() == 15 {
		args = append(args, "-Xclang", "-no-opaque-pointers")
	}
	args = append(args, j.Flags...)
	return append(args, c.input(), "-o", "batch.out")
}

func (c *clang) input() string { return "batch." + c.job.Source }

func (c *clang) compile(ctx context.Context, job *Job, units []int) (Batch, error) {
	p := process{command: command{path: c.tool(), args: c.args(), env: c.tools.Environment()}, folder: "cl",
		source: c.input(), result: "batch.out", what: "output", failure: llvmFailure}
	if !c.job.Object && c.job.Emit == Machine && len(units) > 0 {
		p.check = func(text []byte) error { return checkTarget(text, c.job.Target) }
	}
	out, warnings, err := p.compile(ctx, c.t.Runner(), job, units)
	switch {
	case err != nil:
		return Batch{}, err
	case c.job.Object:
		return Batch{Object: out, Warnings: warnings}, nil
	}
	return Batch{Text: out, Warnings: warnings}, nil
}

var targetLine = regexp.MustCompile(`(?m)^\s*\.(?:amdgcn_target|amd_amdgpu_isa) "([^"]*)"`)

// checkTarget demands that a listing is for the target: LLVM takes an unknown
// processor for gfx600 under some triples and says nothing. Listings for r600
// do not name their target.
func checkTarget(text []byte, name string) error {
	want, _ := target.Of(name)
	if want.Family == target.TeraScale {
		return nil
	}
	m := targetLine.FindSubmatch(text)
	if m == nil {
		return errors.New("the listing does not name its target")
	}
	isa := string(m[1])
	for _, env := range []string{"--", "-unknown-"} { // an environment that the triple does not name, before LLVM 23 and since
		if _, chip, ok := strings.Cut(isa, env); ok {
			isa = chip
		}
	}
	isa, _, _ = strings.Cut(isa, ":")
	if isa != want.Chip {
		return fmt.Errorf("the listing is for %s, not for %s", isa, name)
	}
	return nil
}

var (
	clangRefusal = regexp.MustCompile(`(?m)(^|: )(fatal )?error: `)
	clangLine    = regexp.MustCompile(`(?m)batch\.\w+:(\d+):\d+: (?:fatal )?(error|warning): (.*)$`)
	clangFunc    = regexp.MustCompile(`(?m)^(?:<unknown>:0:0|batch\.\w+(?::\d+)*|[^\s:]*): ?in function (\w+)[^:]*: (.*)$|^error: .*?in function (\w+)[^:]*: (.*)$`)
	clangBackEnd = regexp.MustCompile(`(?m)^(?:fatal error: error in backend|LLVM ERROR): (.*)$`)
	clangInFunc  = regexp.MustCompile(`(?m)^In function: (\w+)|Instruction Selection' on function '@(\w+)'|on function '@(\w+)'`)
)

// diagnose reads clang's messages: of the front end with lines, of the back end
// with the function that it worked on.
func (c *clang) diagnose(stderr string) []Diagnostic {
	var out []Diagnostic
	for _, m := range clangLine.FindAllStringSubmatch(stderr, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			out = append(out, Diagnostic{Line: n, Severity: m[2], Message: strings.TrimSpace(m[3])})
		}
	}
	for _, m := range clangFunc.FindAllStringSubmatch(stderr, -1) {
		name, msg := m[1]+m[3], m[2]+m[4]
		out = append(out, Diagnostic{Unit: plainKernel(name), Severity: "error", Message: strings.TrimSpace(msg)})
	}
	if m := clangBackEnd.FindStringSubmatch(stderr); m != nil {
		d := Diagnostic{Severity: "fatal", Message: strings.TrimSpace(m[1])}
		if f := clangInFunc.FindStringSubmatch(stderr); f != nil {
			d.Unit = plainKernel(f[1] + f[2] + f[3])
			out = append(out, d)
		}
	}
	return out
}

func plainKernel(name string) string { return strings.TrimPrefix(name, KernelBody) }

var (
	functionStart = regexp.MustCompile(`^([A-Za-z_$][\w$.]*):\s*; @`)
	callLine      = regexp.MustCompile(`^\s+s_swappc_b64|^\s+s_call_b64`)
	symbolUse     = regexp.MustCompile(`([A-Za-z_][\w$.]*)@(?:gotpcrel32|rel32)@lo`)
)

// dropCalls turns kernels that call functions into failures: whatever the
// function does, it is not in the kernel.
func (r *Result) dropCalls(tool string, job *LLVMJob) error {
	for i := range r.Batches {
		b := &r.Batches[i]
		if !bytes.Contains(b.Text, []byte("s_swappc_b64")) && !bytes.Contains(b.Text, []byte("s_call_b64")) {
			continue
		}
		calls := callers(b.Text)
		keep := b.Units[:0]
		for _, u := range b.Units {
			name := job.Units[u].Name
			callee, bad := calls[name]
			if !bad {
				keep = append(keep, u)
				continue
			}
			detail := "the kernel calls a function"
			if callee != "" {
				detail = "the kernel calls " + callee + " instead of containing it"
			}
			r.Failed[u] = &Error{Kind: ErrCompile, Tool: tool, Input: name, ExitCode: 0, Detail: detail}
		}
		b.Units = keep
	}
	return nil
}

// callers finds the functions of a listing that call others, and the symbol
// named last before the call.
func callers(text []byte) map[string]string {
	out := map[string]string{}
	cur, last := "", ""
	for line := range bytes.Lines(text) {
		if m := functionStart.FindSubmatch(line); m != nil {
			cur, last = string(m[1]), ""
		} else if m := symbolUse.FindSubmatch(line); m != nil {
			last = string(m[1])
		} else if callLine.Match(line) && cur != "" {
			if _, seen := out[cur]; !seen {
				out[cur] = last
			}
		}
	}
	return out
}
