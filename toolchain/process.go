package toolchain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"optcheck/internal/input"
	"optcheck/internal/scratch"
)

// process is one run of a compiler in a folder of its own: a file of units goes
// in, one file comes out.
type process struct {
	command
	folder         string                 // how the folder's name begins
	source, result string                 // the names of the files
	what           string                 // what errors call the result
	failure        func(error) error      // tells refusals from breakdowns
	check          func([]byte) error     // of the result; nil: none
	prepare        func(dir string) error // of the folder; nil: none
	driver         bool                   // the compiler starts others
}

// compile compiles the given units of a job.
func (p *process) compile(ctx context.Context, r *Runner, job *Job, units []int) (result []byte, warnings string, err error) {
	if p.timeout = job.Timeout; p.timeout <= 0 {
		p.timeout = r.timeout
	}
	p.timeout += time.Duration(max(0, len(units)-1)) * 100 * time.Millisecond
	if len(units) == 1 {
		p.input = job.Units[units[0]].Name
	}
	if p.dir, err = scratch.Dir(p.folder); err != nil {
		return nil, "", p.hopeless(err)
	}
	defer os.RemoveAll(p.dir)
	if err := job.write(filepath.Join(p.dir, p.source), units); err != nil {
		return nil, "", p.hopeless(err)
	}
	if p.prepare != nil {
		if err := p.prepare(p.dir); err != nil {
			return nil, "", p.hopeless(err)
		}
	}
	out, err := r.run(ctx, p.command)
	if err != nil {
		var e *Error
		if errors.As(err, &e) && e.broke() && len(units) == 1 && !p.driver {
			e.At = p.diesAt()
		}
		return nil, "", p.failure(err)
	}
	result, err = p.read()
	if err == nil && p.check != nil {
		err = p.check(result)
	}
	if err != nil {
		e := p.fail(ErrInfrastructure, "exit status 0", err)
		e.ExitCode, e.Stderr = 0, string(out.stderr)
		return nil, "", e
	}
	return result, string(out.stderr), nil
}

// read reads what the compiler wrote.
func (p *process) read() ([]byte, error) {
	path := filepath.Join(p.dir, p.result)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("no %s was written", p.what)
	}
	if !info.Mode().IsRegular() || info.Size() > maxCubin {
		return nil, fmt.Errorf("%s of %d bytes, at most %d are read", p.what, info.Size(), maxCubin)
	}
	return input.ReadFile(path, maxCubin)
}

// maxCubin bounds a cubin, in bytes; 1,000 kernels at O0 make 3.3 MB. Other
// results of compilers have the same bound.
const maxCubin = 512 << 20

// hopeless is the error of a process that cannot be started whatever its input.
func (c command) hopeless(err error) *Error {
	e := c.fail(ErrInfrastructure, "cannot start", err)
	e.notStarted = true
	return e
}

func (job *Job) write(path string, units []int) error {
	n := len(job.Header)
	for _, u := range units {
		n += len(job.Units[u].Text) + 1
	}
	text := make([]byte, 0, n)
	text = append(text, job.Header...)
	for _, u := range units {
		text = append(text, job.Units[u].Text...)
		if text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
	}
	return input.WriteFile(path, text)
}
