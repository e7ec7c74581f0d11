// Package keeper starts programs that do not outlive this process, however it ends, nor does
// what they start: not even a process in a session of its own whose parents have ended.
//
// On Linux a second process of this program, the keeper, starts them. It is a subreaper: whatever
// loses its parent below it becomes its child. When this process ends, by SIGKILL too, the keeper
// reads the end of its socket, kills all its descendants and ends. It has a session of its own, so
// that a signal for the terminal's process group does not reach it. Out of its reach are processes
// of other users (setuid programs) and what a service that ran before starts on request.
package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Cmd is a program to start, in a process group of its own.
type Cmd struct {
	Path string   // a name without a slash is looked up in PATH
	Args []string // without the program's name
	Name string   // Args[0] for the program; "": Path
	Env  []string // nil: that of this process
	Dir  string   // "": that of this process

	// Stdout and Stderr take what the program prints; nil: nobody. A file is
	// handed to the program itself.
	Stdout, Stderr io.Writer
	// Files are the program's descriptors from 3 on.
	Files []*os.File

	// Grace is how long the program may take to end by itself, after SIGTERM, when
	// this process has ended or the context of Run has; 0: it is killed.
	Grace time.Duration
}

// drainLimit bounds the wait for pipes that a process holds that cannot be killed.
const drainLimit = 2 * time.Second

// startTries is how often a program is started that somebody is still writing: one that was
// copied a moment ago can be "busy" for an instant.
const startTries = 6

// Start starts a program.
func Start(c *Cmd) (*Process, error) {
	for try := 0; ; try++ {
		p, err := start(c)
		if err == nil || try+1 == startTries || !errors.Is(err, syscall.ETXTBSY) {
			return p, err
		}
		time.Sleep(time.Duration(10<<try) * time.Millisecond)
	}
}

func start(c *Cmd) (*Process, error) {
	path, dir, err := c.place()
	if err != nil {
		return nil, err
	}
	s := &streams{}
	defer s.release()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0) //input:allow the null device
	if err != nil {
		return nil, err
	}
	s.given = append(s.given, null)
	files := []*os.File{null}
	for _, w := range []io.Writer{c.Stdout, c.Stderr} {
		f, err := s.file(w, null)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	name := c.Name
	if name == "" {
		name = c.Path
	}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	p, err := launch(order{Path: path, Args: append([]string{name}, c.Args...), Env: env, Dir: dir, Grace: c.Grace}, append(files, c.Files...))
	if err != nil {
		return nil, &os.PathError{Op: "start", Path: c.Path, Err: err}
	}
	s.copy()
	go func() {
		p.state, p.err = p.await()
		s.drain(drainLimit)
		close(p.done)
	}()
	return p, nil
}

// place is the program's file and its folder, neither of which depends on the keeper's folder.
func (c *Cmd) place() (path, dir string, err error) {
	path = c.Path
	if !strings.Contains(path, "/") {
		if path, err = exec.LookPath(path); err != nil {
			return "", "", err
		}
	}
	if dir = c.Dir; !strings.HasPrefix(dir, "/") {
		here, err := os.Getwd()
		if err != nil {
			return "", "", err
		}
		dir = here + "/" + dir
	}
	return path, dir, nil
}

// streams carry what a program prints to writers that are no files.
type streams struct {
	given []*os.File // the program's ends
	ours  []*os.File
	to    []io.Writer
	done  chan struct{}
}

// file is the file that a program writes to so that w gets it.
func (s *streams) file(w io.Writer, null *os.File) (*os.File, error) {
	if w == nil {
		return null, nil
	}
	if f, ok := w.(*os.File); ok {
		return f, nil
	}
	for i, other := range s.to {
		if other == w {
			return s.given[i+1], nil // behind /dev/null
		}
	}
	r, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.given, s.ours, s.to = append(s.given, theirs), append(s.ours, r), append(s.to, w)
	return theirs, nil
}

// release closes this process's copies of the program's ends.
func (s *streams) release() {
	for _, f := range s.given {
		f.Close()
	}
	if s.done == nil { // it did not start
		for _, f := range s.ours {
			f.Close()
		}
	}
}

// copy begins to copy.
func (s *streams) copy() {
	s.done = make(chan struct{}, len(s.ours))
	for i, r := range s.ours {
		go func() {
			_, _ = io.Copy(s.to[i], r)
			_, _ = io.Copy(io.Discard, r) // a writer that fails must not stop the program
			r.Close()
			s.done <- struct{}{}
		}()
	}
}

// drain waits until everything is copied; after a limit nothing more is read.
func (s *streams) drain(limit time.Duration) {
	timer := time.AfterFunc(limit, func() {
		for _, r := range s.ours {
			r.Close()
		}
	})
	defer timer.Stop()
	for range s.ours {
		<-s.done
	}
}

// Process is a program that was started.
type Process struct {
	Pid   int
	done  chan struct{}
	state State
	err   error
	link  // what tells the keeper
}

// Done is closed when the program has ended, what it printed is copied, and what it started has
// been killed.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until Done. An error is no failure of the program: its end is not known.
func (p *Process) Wait() (State, error) {
	<-p.done
	return p.state, p.err
}

// Run starts a program and waits for it. When ctx ends, the program gets SIGTERM, and after its
// grace it is killed. The error says why it did not end with status 0.
func Run(ctx context.Context, c *Cmd) error {
	p, err := Start(c)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		if c.Grace > 0 {
			p.Signal(syscall.SIGTERM)
			select {
			case <-p.Done():
			case <-time.After(c.Grace):
			}
		}
		p.Kill()
	}
	s, err := p.Wait()
	if err == nil && !s.Success() {
		err = errors.New(s.String())
	}
	return err
}

// State is how a program ended and what it cost.
type State struct {
	Status       syscall.WaitStatus
	User, System time.Duration // with children that it waited for
	MaxRSS       int64         // in bytes
}

// Success reports whether the program ended with status 0.
func (s State) Success() bool { return s.Status == 0 }

// Signal is the signal that killed the program, 0 if none did.
func (s State) Signal() syscall.Signal {
	if s.Status.Signaled() {
		return s.Status.Signal()
	}
	return 0
}

// ExitCode is the exit status, -1 of a program that was killed.
func (s State) ExitCode() int { return s.Status.ExitStatus() }

func (s State) String() string {
	if sig := s.Signal(); sig != 0 {
		return "signal: " + sig.String()
	}
	return fmt.Sprintf("exit status %d", s.ExitCode())
}
