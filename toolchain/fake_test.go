package toolchain

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/sass/cubin"
	"optcheck/sass/cubin/cubintest"
)

// The test binary is its own faulty compiler: called by the name of a tool, it
// plays that tool, with the faults that the file "mode" beside the tool (for
// its whole life) or comments in the PTX (for one unit) ask for.
func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); slices.Contains(toolNames, name) {
		// Not os.Exit: under the race detector that sleeps for a second.
		syscall.Exit(fakeTool(name, os.Args[1:]))
	}
	if dir := os.Getenv(childVariable); dir != "" {
		syscall.Exit(installChild(dir))
	}
	os.Exit(m.Run())
}

// fakeTools makes a folder with the three tools of an invented release.
func fakeTools(t testing.TB, version, mode string) string {
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	for _, tool := range toolNames {
		require.NoError(t, os.Symlink(self, filepath.Join(dir, tool)))
	}
	setMode(t, dir, mode)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "version"), []byte(version), 0o600))
	return dir
}

func setMode(t testing.TB, dir, mode string) {
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mode"), []byte(mode), 0o600))
}

// fake is a toolchain of fake tools, with its own runner.
func fake(t testing.TB, timeout time.Duration) *Toolchain {
	dir := fakeTools(t, "10.1.7", "")
	return &Toolchain{Kind: CUDA{}, ID: "ptxas 10.1.7", Name: "cuda-10.1", Version: "10.1.7", Ptxas: filepath.Join(dir, "ptxas"),
		Nvdisasm: filepath.Join(dir, "nvdisasm"), Cuobjdump: filepath.Join(dir, "cuobjdump"),
		Targets: []string{"sm_70"}, MaxPTX: "6.4", runner: NewRunner(4, timeout)}
}

func fakeTool(name string, args []string) int {
	dir := filepath.Dir(os.Args[0])
	mode, _ := os.ReadFile(filepath.Join(dir, "mode"))
	version, _ := os.ReadFile(filepath.Join(dir, "version"))
	if code, done := misbehave(string(mode)); done {
		return code
	}
	switch {
	case slices.Contains(args, "--version"):
		v := string(version)
		fmt.Printf("%s: NVIDIA (R) fake\nCuda compilation tools, release %s, V%s\nBuild cuda_%s.fake/compiler.1_0\n",
			name, release(v), v, release(v))
		return 0
	case slices.Contains(args, "--help"):
		fmt.Print("--gpu-name <gpu name> (-arch)\n 'compute_70','sm_90a','sm_90','sm_100',\n 'sm_70'.\n Default value: 'sm_52'\n 'sm_1'\n")
		return 0
	case name == "ptxas":
		return fakePtxas(args)
	default:
		return fakeDisasm(name, string(mode), args[len(args)-1])
	}
}

// misbehave does what needs no input; done tells whether that was all.
func misbehave(mode string) (code int, done bool) {
	switch mode {
	case "crash":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // Go would survive a SIGSEGV
		time.Sleep(time.Minute)
	case "segv":
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -SEGV $$"}, os.Environ())
	case "once": // crashes the first time
		was := filepath.Join(filepath.Dir(os.Args[0]), "was")
		if _, err := os.Stat(was); err == nil {
			return 0, false
		}
		_ = os.WriteFile(was, nil, 0o600)
		return misbehave("segv")
	case "hang":
		time.Sleep(time.Hour)
	case "babble":
		fmt.Print(strings.Repeat("\x00\xff garbage\n", 1000))
		return 0, true
	case "flood":
		for {
			fmt.Print(strings.Repeat("all work and no play\n", 1000))
		}
	case "spawn": // leaves a grandchild that holds the output, and hangs
		startSleeper()
		time.Sleep(time.Hour)
	case "orphan": // leaves a grandchild that holds the output, and ends
		startSleeper()
		return 0, true
	case "panic":
		panic("a breakdown with words of its own")
	case "loader":
		fmt.Fprintln(os.Stderr, "error while loading shared libraries")
		return 127, true
	default:
		return 0, false
	}
	return 1, true
}

func startSleeper() {
	cmd := exec.Command("/bin/sleep", "3600") // only a kill ends it in time
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Start() == nil {
		pid := filepath.Join(filepath.Dir(os.Args[0]), "pid")
		_ = os.WriteFile(pid, []byte(fmt.Sprint(cmd.Process.Pid)), 0o600)
	}
}

var (
	fakeMark  = regexp.MustCompile(`// fake: (\w+)`)
	fakeEntry = regexp.MustCompile(`\.entry (\w+)`)
)

// fakePtxas makes a cubin with a section per kernel, unless a unit objects.
func fakePtxas(args []string) int {
	input, out := args[len(args)-3], args[len(args)-1]
	text, err := os.ReadFile(input)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ptxas fatal   : cannot open")
		return 255
	}
	if bytes.Contains(text, []byte(".version 99.9")) {
		fmt.Fprintf(os.Stderr, "ptxas %s, line 1; fatal   : Unsupported .version 99.9; current version is '6.4'\n", input)
		return 255
	}
	refused, fault := false, ""
	for i, line := range strings.Split(string(text), "\n") {
		m := fakeMark.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		switch m[1] {
		case "refuse":
			fmt.Fprintf(os.Stderr, "ptxas %s, line %d; error   : refused by unit\n", input, i+1)
			refused = true
		case "syntax": // the parser stops at the first
			fmt.Fprintf(os.Stderr, "ptxas %s, line %d; fatal   : Parsing error\n", input, i+1)
			return 255
		default:
			fault = m[1]
		}
	}
	if refused {
		return 255
	}
	var names []string
	for _, m := range fakeEntry.FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	cubin := makeCubin(names)
	switch fault {
	case "noline":
		fmt.Fprintln(os.Stderr, "ptxas fatal   : (C7907) Internal compiler error")
		return 255
	case "empty":
		cubin = nil
	case "garbage":
		cubin = []byte("this is no ELF file")
	case "truncated":
		cubin = cubin[:len(cubin)-100]
	case "nofile":
		return 0
	case "crash", "hang", "segv", "once":
		_ = os.WriteFile(out, cubin, 0o600)
		misbehave(fault)
	}
	if os.WriteFile(out, cubin, 0o600) != nil {
		return 1
	}
	return 0
}

func fakeDisasm(name, mode, file string) int {
	data, err := os.ReadFile(file)
	if err != nil {
		return 1
	}
	functions, _ := cubin.Functions(data)
	if mode == "short" {
		functions = functions[1:]
	}
	for _, f := range functions {
		if name == "nvdisasm" {
			fmt.Printf("\n\t.section\t.text.%s,\"ax\",@progbits\n", f)
		} else {
			fmt.Printf("\n\t\tFunction : %s\n", f)
		}
	}
	if mode == "refuse" {
		fmt.Fprintln(os.Stderr, "nvdisasm fatal   : does not contain Cuda architecture information")
		return 1
	}
	return 0
}

func makeCubin(names []string) []byte { return cubintest.Make(names) }
