//input:allow a compiler for tests reads what tests have written

package fakeptxas

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Main returns the program: ptxas with the arguments of a real one.
func Main(args []string) int {
	self, err := os.Executable()
	if err != nil {
		return broken(err)
	}
	// A hard link's name is that of the folder it was started from.
	if p, err := filepath.Abs(os.Args[0]); err == nil && filepath.Base(p) == "ptxas" {
		self = p
	}
	c, err := readConfig(filepath.Dir(self))
	if err != nil {
		return broken(err)
	}
	i := slices.IndexFunc(args, func(a string) bool { return strings.HasSuffix(a, ".ptx") })
	if i < 0 {
		return broken(syscall.Exec(c.Real, append([]string{c.Real}, args...), os.Environ()))
	}
	data, err := os.ReadFile(args[i])
	if err != nil {
		return broken(err)
	}
	ptx := string(data)
	for _, k := range Kernels(ptx) {
		if f, ok := c.Faults[k]; ok {
			return c.fail(f, k, ptx, args)
		}
	}
	edits := c.Edits[target(args)]
	if edits == nil {
		edits = c.Edits[""]
	}
	if ptx, err = Apply(ptx, edits); err != nil {
		return broken(err)
	}
	if len(c.Optimise) > 0 {
		var did []Optimised
		if ptx, did, err = Optimise(ptx, c.Optimise); err != nil {
			return broken(err)
		}
		if err := note(filepath.Dir(self), target(args), did); err != nil {
			return broken(err)
		}
	}
	return c.compile(ptx, args)
}

// broken reports a fault of the fake itself: as a crash without a refusal's
// words, so that no test takes it for a finding.
func broken(err error) int {
	fmt.Fprintln(os.Stderr, "fake:", err)
	return 126
}

func target(args []string) string {
	for _, a := range args {
		if t, ok := strings.CutPrefix(a, "-arch="); ok {
			return t
		}
	}
	return ""
}

func output(args []string) string {
	if i := slices.Index(args, "-o"); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

// compile has the real compiler do the work on the changed text, which replaces
// the input: it lies in a folder made for this process.
func (c *Config) compile(ptx string, args []string) int {
	i := slices.IndexFunc(args, func(a string) bool { return strings.HasSuffix(a, ".ptx") })
	if err := os.WriteFile(args[i], []byte(ptx), 0o600); err != nil {
		return broken(err)
	}
	cmd := exec.Command(c.Real, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return broken(err)
	}
	if c.Hasty && err == nil {
		if err := hasten(output(args)); err != nil {
			return broken(err)
		}
	}
	return cmd.ProcessState.ExitCode()
}

// hasten has no instruction of a cubin wait for a scoreboard. An instruction has 16 bytes, in whose bits 116 to 121 it names those that it waits for.
func hasten(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	plain := bytes.Clone(data) // cubins have versions of their own
	plain[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	binary.LittleEndian.PutUint32(plain[20:], uint32(elf.EV_CURRENT))
	f, err := elf.NewFile(bytes.NewReader(plain))
	if err != nil {
		return err
	}
	for _, s := range f.Sections {
		if !strings.HasPrefix(s.Name, ".text.") {
			continue
		}
		for at := s.Offset; at+16 <= s.Offset+s.Size; at += 16 {
			data[at+14] &^= 0xf0
			data[at+15] &^= 0x03
		}
	}
	return os.WriteFile(path, data, 0o600)
}

// segfault dies as a compiler does that follows a wild pointer: Go itself would survive the signal.
func segfault() int {
	fmt.Fprintln(os.Stderr, "ptxas: wild pointer 0x7f3a5c at /tmp/build-4711/phase.c:123")
	return broken(syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -SEGV $$"}, os.Environ()))
}

// fail breaks down.
func (c *Config) fail(f Fault, kernel, ptx string, args []string) int {
	out := output(args)
	write := func(data string) int {
		if err := os.WriteFile(out, []byte(data), 0o600); err != nil {
			return broken(err)
		}
		return 0
	}
	switch f {
	case Crash:
		return segfault()
	case Flicker:
		if len(Kernels(ptx)) > 1 {
			return segfault()
		}
		was := filepath.Join(filepath.Dir(os.Args[0]), "flicker-"+kernel)
		if _, err := os.Stat(was); err == nil {
			return c.compile(ptx, args)
		}
		if err := os.WriteFile(was, nil, 0o600); err != nil {
			return broken(err)
		}
		return segfault()
	case Killed:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case Hang:
		time.Sleep(10 * time.Minute)
	case Garbage:
		fmt.Print(strings.Repeat("\x00\xff garbage\n", 100))
		return write(strings.Repeat("\x7fELF garbage\x00", 1000))
	case Truncated:
		if code := c.compile(ptx, args); code != 0 {
			return code
		}
		data, err := os.ReadFile(out)
		if err != nil {
			return broken(err)
		}
		return write(string(data[:len(data)/2]))
	case Empty:
		return write("")
	case NoOutput:
		return 0
	case Refusal:
		fmt.Fprintln(os.Stderr, "ptxas fatal   : not today")
		return 255
	case Lost:
		entry := regexp.MustCompile(`(?s)\.visible \.entry ` + regexp.QuoteMeta(kernel) + `\(.*?\n}\n`)
		other := ".visible .entry lost(.param .u64 a)\n{\n\tret;\n}\n"
		return c.compile(entry.ReplaceAllLiteralString(ptx, other), args)
	}
	return broken(fmt.Errorf("unknown fault %q", f))
}
