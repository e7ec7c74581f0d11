package keeper

import (
	"encoding/json"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// init makes this process a keeper if it was started as one: any program that uses this package
// can be one, tests as well, before it does anything else.
func init() {
	if len(os.Args) == 1 && strings.HasPrefix(os.Args[0], keeperName) {
		runtime.LockOSThread() // PR_SET_PDEATHSIG is about the thread that starts a program
		keep()
		os.Exit(0)
	}
}

// controlFD is the keeper's end of the control socket.
const controlFD = 3

// keeping is the state of a keeper. One goroutine has it.
type keeping struct {
	programs map[int]*program // that run, by process
	orders   chan *program
	signals  chan sent
}

// program is one that the keeper starts.
type program struct {
	order order
	files []int
	conn  *os.File
	pid   int
}

// sent is a signal for a program.
type sent struct {
	to  *program
	sig syscall.Signal
}

// keep starts programs until the control socket ends, then ends them all.
func keep() {
	unix.CloseOnExec(controlFD)
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	// Signals are for who works. They are caught: programs would inherit that they are ignored.
	caught, children := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGPIPE, unix.SIGTSTP, unix.SIGUSR1, unix.SIGUSR2)
	signal.Notify(children, unix.SIGCHLD)
	k := &keeping{programs: map[int]*program{}, orders: make(chan *program), signals: make(chan sent)}
	go k.listen()
	for {
		select {
		case p := <-k.orders:
			if p == nil {
				k.end(children)
				return
			}
			k.start(p)
		case s := <-k.signals:
			k.signal(s)
		case <-children:
			if k.reap() && len(k.programs) == 0 { // what is left is nobody's
				kill(descendants(os.Getpid()))
			}
		}
	}
}

// listen takes sockets with files from the control socket, until it ends.
func (k *keeping) listen() {
	defer func() { k.orders <- nil }()
	one, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4*maxFiles))
	for {
		n, m, _, _, err := unix.Recvmsg(controlFD, one, oob, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		messages, err := unix.ParseSocketControlMessage(oob[:m])
		if err != nil || len(messages) != 1 {
			return
		}
		fds, err := unix.ParseUnixRights(&messages[0])
		if err != nil {
			return
		}
		_ = unix.SetNonblock(fds[0], true) // so that closing it ends reading
		go k.serve(&program{conn: os.NewFile(uintptr(fds[0]), "program"), files: fds[1:]})
	}
}

// serve reads a program's order and then signals for it, until the program or who started it has
// ended.
func (k *keeping) serve(p *program) {
	in := json.NewDecoder(p.conn)
	if in.Decode(&p.order) != nil {
		p.close()
		return
	}
	k.orders <- p
	for {
		var sig int
		if in.Decode(&sig) != nil {
			return
		}
		k.signals <- sent{p, syscall.Signal(sig)}
	}
}

// close gives a program's files back.
func (p *program) close() {
	for _, fd := range p.files {
		unix.Close(fd)
	}
	p.files = nil
}

func (p *program) tell(v any) { _ = json.NewEncoder(p.conn).Encode(v) }

// start starts a program at the head of its own process group.
func (k *keeping) start(p *program) {
	attr := &syscall.ProcAttr{Dir: p.order.Dir, Env: p.order.Env, Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}}
	for _, fd := range p.files {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	pid, err := syscall.ForkExec(p.order.Path, p.order.Args, attr)
	p.close()
	if err != nil {
		errno, ok := err.(syscall.Errno)
		if !ok {
			errno = syscall.EINVAL
		}
		p.tell(receipt{Errno: int(errno)})
		p.conn.Close()
		return
	}
	p.pid = pid
	k.programs[pid] = p
	p.tell(receipt{Pid: pid})
}

// signal sends a signal to a program that has not been reaped.
func (k *keeping) signal(s sent) {
	switch {
	case k.programs[s.to.pid] != s.to:
	case s.sig == unix.SIGKILL:
		kill(append([]int{s.to.pid}, descendants(s.to.pid)...))
	default:
		_ = unix.Kill(s.to.pid, s.sig)
	}
}

// reap takes in whoever has ended, and kills the group of a program while its number is its own.
// It reports whether there are children left.
func (k *keeping) reap() bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		pid := whose(&info)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid == 0 {
			return err == nil
		}
		p := k.programs[pid]
		if p != nil {
			_ = unix.Kill(-pid, unix.SIGKILL)
		}
		var status unix.WaitStatus
		var used unix.Rusage
		if _, err := unix.Wait4(pid, &status, 0, &used); err != nil || p == nil {
			continue
		}
		delete(k.programs, pid)
		p.tell(end{Status: uint32(status), User: time.Duration(used.Utime.Nano()), System: time.Duration(used.Stime.Nano()), MaxRSS: used.Maxrss << 10})
		p.conn.Close()
	}
}

// whose is the process of a siginfo: the first field behind three numbers, aligned as a pointer.
func whose(info *unix.Siginfo) int {
	const at = (3*4 + unsafe.Sizeof(uintptr(0)) - 1) &^ (unsafe.Sizeof(uintptr(0)) - 1)
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(info), at)))
}

// Times of a keeper's own end.
const (
	endPoll  = 5 * time.Millisecond
	endLimit = 30 * time.Second // for who cannot be killed
)

// end kills all descendants, those that may end by themselves when their time is over.
func (k *keeping) end(children <-chan os.Signal) {
	start := time.Now()
	for _, p := range k.programs {
		if p.order.Grace > 0 {
			_ = unix.Kill(p.pid, unix.SIGTERM)
		}
	}
	for longest := endLimit; time.Since(start) < longest; {
		k.reap()
		left := descendants(os.Getpid())
		if len(left) == 0 {
			return
		}
		spared := map[int]bool{}
		for _, p := range k.programs {
			if g := p.order.Grace; time.Since(start) < g {
				longest = max(longest, g+endLimit)
				for _, pid := range append(descendants(p.pid), p.pid) {
					spared[pid] = true
				}
			}
		}
		var now []int
		for _, pid := range left {
			if !spared[pid] {
				now = append(now, pid)
			}
		}
		kill(now)
		select {
		case <-children:
		case <-time.After(endPoll):
		}
	}
}
