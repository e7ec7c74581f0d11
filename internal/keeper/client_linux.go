package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keeperName is how the keeper's name begins, by which it knows what it is.
const keeperName = "keeper-of-"

// The keeper of this process, started with the first program.
var mine struct {
	sync.Mutex
	control *os.File // nil: none runs
	ended   chan struct{}
}

// maxFiles bounds the files that one message may carry (the kernel's SCM_MAX_FD).
const maxFiles = 253

// send gives the keeper a socket and files; a keeper that has died is replaced.
func send(files []*os.File) error {
	if len(files) > maxFiles {
		return fmt.Errorf("%d files, at most %d can be handed over", len(files), maxFiles)
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	mine.Lock()
	defer mine.Unlock()
	for again := false; ; again = true {
		if mine.control == nil {
			if err := startKeeper(); err != nil {
				return fmt.Errorf("start the process that ends what this one starts: %w", err)
			}
		}
		err := unix.Sendmsg(int(mine.control.Fd()), []byte{0}, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
		if err == nil || again || !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
			return err
		}
		mine.control.Close()
		mine.control = nil
	}
}

// startKeeper starts the keeper, when an earlier one has ended. mine is locked.
func startKeeper() error {
	awaitEnd()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "keeper"), os.NewFile(uintptr(pair[1]), "control")
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0) //input:allow the null device
	if err != nil {
		ours.Close()
		return err
	}
	defer null.Close()
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // if the keeper is killed, this process adopts whom it leaves
	p, err := os.StartProcess("/proc/self/exe", []string{keeperName + strconv.Itoa(os.Getpid())},
		&os.ProcAttr{Dir: "/", Files: []*os.File{null, null, null, theirs}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		ours.Close()
		return err
	}
	ended := make(chan struct{})
	go func() {
		if s, err := p.Wait(); err != nil || !s.Success() {
			endAdopted()
		}
		close(ended)
	}()
	mine.control, mine.ended = ours, ended
	return nil
}

// endAdopted ends whom a keeper that was killed has left to this process. All others are the keeper's.
func endAdopted() {
	for range 200 {
		left := descendants(os.Getpid())
		if len(left) == 0 {
			return
		}
		kill(left)
		for _, pid := range left {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// closeLimit bounds the wait for what cannot be killed.
const closeLimit = 2 * time.Second

// Close ends all programs that run, and what they started, and waits until they have ended.
func Close() {
	mine.Lock()
	defer mine.Unlock()
	if mine.control == nil {
		return
	}
	mine.control.Close()
	mine.control = nil
	awaitEnd()
}

// awaitEnd waits until the last keeper has ended. mine is locked.
func awaitEnd() {
	if mine.ended == nil {
		return
	}
	select {
	case <-mine.ended:
	case <-time.After(closeLimit):
	}
}

// link is the socket of a program.
type link struct {
	conn *os.File
	mu   sync.Mutex
	in   *json.Decoder
}

// launch has the keeper start a program.
func launch(o order, files []*os.File) (*Process, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), o.Path), os.NewFile(uintptr(pair[1]), o.Path)
	err = send(append([]*os.File{theirs}, files...))
	theirs.Close()
	var r receipt
	in := json.NewDecoder(ours)
	if err == nil {
		if err = json.NewEncoder(ours).Encode(o); err == nil {
			err = in.Decode(&r)
		}
		if err != nil {
			err = died(err)
		}
	}
	if err == nil && r.Errno != 0 {
		err = syscall.Errno(r.Errno)
	}
	if err != nil {
		ours.Close()
		return nil, err
	}
	return &Process{Pid: r.Pid, done: make(chan struct{}), link: link{conn: ours, in: in}}, nil
}

// died says that the keeper has ended, when whom it left has ended, too.
func died(err error) error {
	mine.Lock()
	defer mine.Unlock()
	awaitEnd()
	return fmt.Errorf("the process that starts programs died: %w", err)
}

// await waits for the program's end.
func (l *link) await() (State, error) {
	var e end
	err := l.in.Decode(&e)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn.Close()
	if err != nil {
		return State{Status: syscall.WaitStatus(unix.SIGKILL)}, died(err)
	}
	return State{Status: syscall.WaitStatus(e.Status), User: e.User, System: e.System, MaxRSS: e.MaxRSS}, nil
}

// Signal sends a signal to the program, unless it has ended. SIGKILL goes to all that it
// started, too.
func (l *link) Signal(s syscall.Signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = json.NewEncoder(l.conn).Encode(int(s)) // whoever has ended needs none
}

// Kill ends the program and all that it started.
func (l *link) Kill() { l.Signal(syscall.SIGKILL) }
