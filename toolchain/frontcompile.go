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
)

// CUDAJob is a set of pieces of CUDA C++ to compile to PTX. Of the embedded Job, Header is
// put before the first unit, Flags are further arguments of the compiler; Level and Version
// are not used: the front ends optimise fully, or not at all.
type CUDAJob struct {
	Job
	// Folder is that of the file that the only unit is: where it looks for its own headers.
	Folder string
	// Confined has a program that includes a file fail, unless that lies below Folder, a
	// folder of an -I among Flags, or is a header of the compiler or the system.
	Confined bool
	// AsWritten has the front end optimise nothing: the PTX has the accesses of the source, in their order.
	AsWritten bool

	includes []string // the folders of -I
}

// frontMemory bounds the address space of a front end, in KiB: what a program makes of
// its templates is up to the program.
const frontMemory = 8 << 20

// CompileCUDA compiles the units of a job, many per process, as Compile does PTX. Results
// are PTX modules (Batch.Text) with the lines of the units (.loc). A program that the compiler
// refuses is a failure of its unit, with places in its own text as far as the messages
// tell them.
func (t *Toolchain) CompileCUDA(ctx context.Context, job CUDAJob) (*Result, error) {
	f, ok := t.Kind.(*Front)
	if !ok {
		return nil, fmt.Errorf("compile: %s does not compile CUDA C++", t.ID)
	}
	if !validTarget.MatchString(job.Target) {
		return nil, fmt.Errorf("compile: bad target %q", job.Target)
	}
	if job.Folder != "" {
		dir, err := filepath.Abs(job.Folder)
		if err != nil {
			return nil, err
		}
		job.Folder = dir
	}
	var err error
	if job.Flags, job.includes, err = absoluteIncludes(job.Flags); err != nil {
		return nil, err
	}
	job.Header = endLine(job.Header)
	return compileAll(ctx, &front{f, t, &job}, &job.Job)
}

// absoluteIncludes makes the folders of -I, given in one word or two, mean the same in the
// compiler's folder, and lists them.
func absoluteIncludes(flags []string) (out, dirs []string, err error) {
	next := false
	for _, flag := range flags {
		prefix, dir := "", flag
		if !next {
			rest, is := strings.CutPrefix(flag, "-I")
			if next = is && rest == ""; !is || next {
				out = append(out, flag)
				continue
			}
			prefix, dir = "-I", rest
		}
		next = false
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, nil, err
		}
		out, dirs = append(out, prefix+dir), append(dirs, dir)
	}
	return out, dirs, nil
}

// front is the compiler of CUDA C++.
type front struct {
	kind *Front
	t    *Toolchain
	job  *CUDAJob
}

func (f *front) tool() string { return f.kind.Path }

// cudaSource is the name of the file that a front end gets. It names it by here, which is the
// same wherever the folder is: compilers make names of it.
const (
	cudaSource = "batch.cu"
	here       = "/proc/self/cwd/"
)

func (f *front) diagnose(stderr string) []Diagnostic { return diagnoseCUDA(stderr) }

// process is a run of the front end; prepared with what its arguments name.
func (f *front) process(preprocess bool) *process {
	result := "batch.ptx"
	if preprocess {
		result = "batch.ii"
	}
	args := f.kind.driver.args(f.job.Target, preprocess)
	if f.job.AsWritten {
		args = append(args, f.kind.driver.asWritten()...)
	}
	if f.job.Folder != "" {
		args = append(args, "-I", f.job.Folder)
	}
	args = append(append(args, f.job.Flags...), here+cudaSource, "-o", result)
	limited := append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, frontMemory), f.kind.Path}, args...)
	p := &process{command: command{path: "/bin/sh", args: limited, env: f.kind.driver.env()}, folder: "cu", source: cudaSource,
		result: result, what: "output", driver: true, failure: func(err error) error { return f.refused(err, args) }}
	if l, ok := f.kind.driver.(interface{ links() map[string]string }); ok {
		p.prepare = func(dir string) error {
			for name, to := range l.links() {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
					return err
				}
				if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return p
}

var frontRefusal = regexp.MustCompile(`(?m)\berror\b.*: `)

// refused names the front end instead of the shell that limits it, and tells refusals
// from breakdowns: a program that is wrong has a message.
func (f *front) refused(err error, args []string) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	e.Tool, e.Args = f.kind.Path, args
	if e.Kind == ErrCompile && !frontRefusal.MatchString(e.Stderr) {
		e.Kind = ErrInfrastructure
	}
	return e
}

func (f *front) compile(ctx context.Context, job *Job, units []int) (Batch, error) {
	if f.job.Confined && len(units) > 0 {
		if err := f.confined(ctx, job, units); err != nil {
			return Batch{}, err
		}
	}
	p := f.process(false)
	text, warnings, err := p.compile(ctx, f.t.Runner(), job, units)
	if err != nil {
		return Batch{}, err
	}
	name := cudaSource
	if len(units) == 1 {
		name = filepath.Base(job.Units[units[0]].Name)
	}
	text = bytes.ReplaceAll(text, []byte(here+cudaSource), []byte(name))
	text = internalName.ReplaceAll(bytes.ReplaceAll(text, []byte(here), nil), []byte("_00000000$1"))
	text = internalBytes.ReplaceAll(text, []byte("${1}48,48,48,48,48,48,48,48,95,"))
	return Batch{Text: text, Warnings: warnings}, nil
}

// internalName has the number by which nvcc tells the names of one file from those of
// another, which is another one each time; internalBytes has it as debug information.
var (
	internalName  = regexp.MustCompile(`_[0-9a-f]{8}(_\d+_batch_cu_)`)
	internalBytes = regexp.MustCompile(`(95,73,78,84,69,82,78,65,76,95,)(?:\d{2,3},){8}95,`)
)

// confined preprocesses units and looks at which files they include.
func (f *front) confined(ctx context.Context, job *Job, units []int) error {
	p := f.process(true)
	var inc *inclusion
	p.check = func(text []byte) error { // while what the compiler was given is still there
		if f.kind.driver.rereads() {
			inc = made(text)
		}
		if inc == nil {
			inc = outside(text, p.dir, f.within(p.dir))
		}
		if inc == nil {
			inc = embedded(p.dir, f.within(p.dir))
		}
		return nil
	}
	p.reads = true
	_, _, err := p.compile(ctx, f.t.Runner(), job, units)
	var failed *Error
	switch {
	case errors.Is(err, errWaits):
		inc = &inclusion{from: cudaSource, line: 1, why: "what it includes never comes: a pipe, perhaps"}
	case errors.As(err, &failed):
		failed.limit = 0 // files that include themselves again and again are no fault of the compiler
		return err
	case err != nil || inc == nil:
		return err
	}
	e := p.fail(ErrCompile, "includes a file that is not its own", nil)
	switch {
	case inc.why != "":
		e.Detail = "includes what cannot be looked at"
	case inc.file == "":
		e.Detail = "embeds a file that is not there"
		inc.file = "what it embeds"
	}
	if inc.why == "" {
		inc.why = inc.file + " lies outside of the program's folder and of the folders of -I (--front-flags -IFOLDER adds one)"
	}
	e.Tool = f.kind.Path
	e.Stderr = fmt.Sprintf("%s:%d: error: %s\n", inc.from, inc.line, inc.why)
	return e
}

var (
	placedMessage = regexp.MustCompile(`^(\S.*?)(?::(\d+)(?::(\d+))?|\((\d+)\)): (fatal error|error|catastrophic error|warning|note)\b[^:]*: (.*)$`)
	ownLine       = regexp.MustCompile(`\bat line (\d+) of "?(?:\S*/)?` + regexp.QuoteMeta(cudaSource) + `|\b` + regexp.QuoteMeta(cudaSource) + `(?:\((\d+)\): here|:(\d+)[:,])`)
)

// diagnoseCUDA reads the messages of nvcc, of the host compiler that preprocesses for it,
// and of clang. A message about a header is one about the line of the program that leads
// there.
func diagnoseCUDA(stderr string) []Diagnostic {
	var out []Diagnostic
	includedAt := 0   // of the program, for the next message
	inHeader := false // the latest message is about one: who instantiates it is named later
	for text := range strings.Lines(stderr) {
		text = strings.TrimRight(text, "\r\n")
		m := placedMessage.FindStringSubmatch(text)
		if m == nil || m[5] == "note" {
			own := ownLine.FindStringSubmatch(text)
			if own == nil {
				continue
			}
			n, _ := strconv.Atoi(own[1] + own[2] + own[3]) // one of them
			if strings.Contains(text, "included from") {
				includedAt = n
			} else if inHeader {
				out[len(out)-1].Line, inHeader = n, false
			}
			continue
		}
		d := Diagnostic{Severity: "error", Message: m[6]}
		if m[5] == "warning" {
			d.Severity = m[5]
		}
		n, _ := strconv.Atoi(m[2] + m[4])
		if inHeader = filepath.Base(m[1]) != cudaSource; !inHeader {
			d.Line = n
			d.Col, _ = strconv.Atoi(m[3]) // 0 where there is none
		} else {
			d.Line, d.Message = includedAt, fmt.Sprintf("%s:%d: %s", filepath.Base(m[1]), n, m[6])
		}
		includedAt = 0
		out = append(out, d)
	}
	return out
}
