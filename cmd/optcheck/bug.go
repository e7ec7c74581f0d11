package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/bug"
	"optcheck/internal/input"
)

// bugFlags are the flags of the bug command.
type bugFlags struct {
	findingFlags
	out, txtar, zip, form string
	stamp                 string
	gpu, driver, log      string
	run                   *bug.HardwareRun // of these
	noReduce              bool
}

func newBugCmd(env *environment) *cobra.Command {
	var f bugFlags
	cmd := &cobra.Command{
		Use:   "bug FINDING",
		Short: "Write a bug report that reproduces itself",
		Long: `Reduce a finding and write a bundle that can be sent to the compiler's makers:

  report.md        in the order that the form asks for: summary, what is claimed
                   and what is not, smallest source, the wrong machine line,
                   expected and actual, why, steps, versions, releases, workarounds
  test.litmus, min.ptx, good.sass, bad.sass, sass.diff, machine.litmus
  execution.svg    the execution that goes wrong
  Makefile         reproduces with ptxas and nvdisasm alone; exit status 0 says so
  interesting.sh   the same with optcheck, for cvise and other reducers
  manifest.json    hashes, versions, flags

The same finding gives the same files; a date gets in with --stamp only. Of a finding of
clang for AMD (--vendor amd) the program is min.cl in OpenCL C, the machine code bad.s
and good.s, and the Makefile needs clang, make and awk only. With --source llvm-ir it is
min.ll, and llc is needed.

Of kernels in LLVM IR for NVIDIA (--source llvm-ir, or a toolchain written 22+12.4) a
finding arose in llc or in ptxas. For llc the program is min.ll, what is shown is PTX
(bad.ptx), and the Makefile needs llc, make and awk only. For ptxas the program is the
PTX that llc wrote, min.ll is beside it, and the Makefile needs ptxas and nvdisasm.

Of a finding in real PTX (FILE.ptx) there are min.ptx and original.ptx, bad.sass beside
good.sass of a release without it, and control.ptx and control.sass, which differ in one
thing. A miscompilation has source.litmus and machine.litmus, too. make and make control
need ptxas and nvdisasm only.

Of a compiler that crashes or hangs there is the smallest program, in whatever language
that compiler reads, and the Makefile looks at how it ends.

` + findingHelp,
		Example: `  optcheck bug mp+membar.gls@11.8/sm_35/O3/pointers --output bundle/
  optcheck bug run.jsonl#17 --zip bundle.zip --format llvm --keep modifiers
  optcheck bug kernel.ptx@11.8/sm_80/O3:22 --output bundle/
  optcheck bug --vendor amd cl-coRR@22/gfx900/O2/pointers --output bundle/
  optcheck bug 'exch-sl+release.gpu+acquire.gpu@22+12.4/sm_80/O3' --output bundle/
  make -C bundle PTXAS=/usr/local/cuda/bin/ptxas NVDISASM=/usr/local/cuda/bin/nvdisasm`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runBug(cmd, env, &f, args[0]) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "write the bundle into this folder")
	fl.StringVar(&f.txtar, "txtar", "", "write it as a txtar archive (- for standard output)")
	fl.StringVar(&f.zip, "zip", "", "write it as a zip archive")
	fl.StringVar(&f.form, "format", "nvidia", "form of the report: "+strings.Join(bug.Forms, ", ")+" (llvm by default for findings of LLVM)")
	fl.BoolVar(&f.noReduce, "no-reduce", false, "take the test as it is")
	fl.StringVar(&f.stamp, "stamp", "", "a date, or another text, for report and manifest")
	fl.StringVar(&f.gpu, "gpu", "", "the GPU, if the program was run")
	fl.StringVar(&f.driver, "driver", "", "the driver, if the program was run")
	fl.StringVar(&f.log, "log", "", "a log of that run (herd's or litmus's format), which is attached")
	return cmd
}

func runBug(cmd *cobra.Command, env *environment, f *bugFlags, arg string) error {
	ctx := cmd.Context()
	if f.out == "" && f.txtar == "" && f.zip == "" {
		return errors.New("bug needs one of --output, --txtar and --zip")
	}
	if !slices.Contains(bug.Forms, f.form) {
		return fmt.Errorf("unknown form %q (%s)", f.form, strings.Join(bug.Forms, ", "))
	}
	s, err := f.reducible(cmd, env, arg)
	if err != nil {
		return err
	}
	if f.run, err = f.hardware(env); err != nil {
		return err
	}
	if err := s.look(ctx, env); err != nil {
		return err
	}
	if err := s.smallest(ctx, env, f.noReduce); err != nil {
		return err
	}
	where, err := s.locate(ctx, env)
	if err != nil {
		return err
	}
	b, note, err := s.bundle(ctx, env, f, where)
	if err != nil {
		return err
	}
	if note != "" {
		env.tell("%s", note)
	}
	return f.write(env, b)
}

// hardware gathers what was given of a run.
func (f *bugFlags) hardware(env *environment) (*bug.HardwareRun, error) {
	if f.gpu == "" && f.driver == "" && f.log == "" {
		return nil, nil
	}
	r := &bug.HardwareRun{GPU: f.gpu, Driver: f.driver}
	if f.gpu == "" || f.driver == "" {
		return nil, errors.New("a run needs both --gpu and --driver")
	}
	if f.log != "" {
		var err error
		if r.Log, err = readInput(env, f.log); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (f *bugFlags) write(env *environment, b *bug.Bundle) error {
	if f.out != "" {
		if err := b.WriteDir(f.out); err != nil {
			return err
		}
		env.tell("%s: %s", f.out, b.Title)
	}
	if f.txtar != "" {
		text, err := b.Txtar()
		if err != nil {
			return err
		}
		if f.txtar == "-" {
			_, err = env.stdout.Write(text)
		} else {
			err = input.WriteFile(f.txtar, text)
		}
		if err != nil {
			return err
		}
	}
	if f.zip == "" {
		return nil
	}
	out, err := input.Create(f.zip)
	if err != nil {
		return err
	}
	return errors.Join(b.WriteZip(out), out.Close())
}

// host describes this machine: the distribution's name, architecture and CPU.
func host() bug.Host {
	h := bug.Host{OS: runtime.GOOS, Arch: runtime.GOARCH}
	if s := valueIn("/etc/os-release", "PRETTY_NAME", "="); s != "" {
		h.OS = strings.Trim(s, `"`)
	}
	h.CPU = valueIn("/proc/cpuinfo", "model name", ":")
	return h
}

// valueIn returns the first value of a key in a file of lines KEY SEP VALUE.
func valueIn(file, key, sep string) string {
	text, err := input.ReadFile(file, 64<<20)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, sep); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
