package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"optcheck/internal/plain"
	"optcheck/mapping"
	"optcheck/report/html"
	"optcheck/toolchain"
)

func newMappingCmd(env *environment) *cobra.Command {
	var f mappingFlags
	cmd := &cobra.Command{
		Use:   "mapping [OPERATION…]",
		Short: "Show what each operation of PTX, CUDA C++, LLVM IR or OpenCL becomes, and judge it",
		Long: `Compile a kernel for each PTX operation with every compiler found, for every target, at
O0 and O3. Show the machine instructions that matter to memory: accesses with their
modifiers, fences, cache control, error barriers, barriers and guards. Registers and
address computation are left out.

OPERATION is a pattern (ld.relaxed.*, membar.*, atom.shared.cas.b32) or a group:
loads, stores, fences, atomics, reductions, barriers, copies, mbarriers, warps.
Without one, all are shown.

With --vendor amd the compilers are releases of clang and the operations those of
OpenCL C: load.acquire.device.global, fence.release.agent, mem_fence.both,
fetch_add.*; reductions are atomics whose result is not used. A store and a load of
global and of local memory are outstanding before each, so that its waits show; on
targets of r600 nothing stands around it. At O0 the back end alone works at that
level: the passes of O1 remove private variables before, whose waits would hide those
of the operation. What the release or its libclc lacks is shown as –.

With --source cuda the operations are those of CUDA C++: cuda::atomic_ref, fences,
CUDA's own functions, and volatile. Their groups are loads, stores, fences, atomics,
reductions, barriers, and asplos-2015: the table of CUDA's mapping, and the locks and
the deque of that study. With --source llvm-ir they are LLVM's atomic instructions. A
row has the PTX, then the machine instructions; unless named, each front end is taken
with the newest ptxas, for sm_60, sm_70, sm_80 and sm_90. Each operation is judged by
litmus tests around it, in terms of C++ (model opencl), against the same tests of the
PTX it became (model ptx; ptx-2015-rmw before sm_70). Its machine code is compared with
the PTX as that of programs is. LOST marks an operation whose PTX allows an outcome that
the language forbids (--lost shows those alone, --summary counts, and prints the tests).

An operation that a compiler refuses is shown as –; the JSON form has the
compiler's words. CRASHED marks one at which a compiler crashes or hangs.`,
		Example: `  optcheck mapping fences
  optcheck mapping 'ld.acquire.*' 'st.release.*' --targets sm_70,sm_90 --levels O3
  optcheck mapping --diff --toolchains 11.8,12.4
  optcheck mapping --vendor amd 'load.acquire.*' --targets gfx942
  optcheck mapping --source cuda asplos-2015 --toolchains 12.4 --targets sm_80
  optcheck mapping --source llvm-ir --lost --targets sm_70
  optcheck mapping --source cuda --html mapping/
  optcheck mapping --markdown > mapping.md`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), env, args) },
	}
	f.add(cmd)
	return cmd
}

// mappingFlags are the flags of the mapping command.
type mappingFlags struct {
	json, markdown, diff, lost, summary bool
	dir                                 string // folder of a page
}

func (f *mappingFlags) add(cmd *cobra.Command) {
	vendorFlag(cmd)
	sourceFlag(cmd)
	fl := cmd.Flags()
	fl.StringSlice("toolchains", nil, "only these toolchains, by ID, name or a piece of them (12.4)")
	fl.StringSlice("targets", nil, "only these targets (sm_80,sm_90; of AMD one of each generation by default, or all)")
	fl.StringSlice("levels", nil, "only these optimisation levels (default O0,O3; of AMD O2)")
	toolFlags(cmd)
	jsonFlag(cmd, &f.json, jsonLines+", one per operation and compilation")
	htmlFlag(cmd, &f.dir)
	fl.BoolVar(&f.markdown, "markdown", false, "print Markdown tables")
	fl.BoolVar(&f.lost, "lost", false, "only operations that lose on their way what the language promises")
	fl.BoolVar(&f.summary, "summary", false, "count what is kept and lost, and print a test for each way of losing")
	fl.BoolVar(&f.diff, "diff", false, "show what each release does differently from the one before it")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "summary", "html")
	cmd.MarkFlagsMutuallyExclusive("diff", "html")
	cmd.MarkFlagsMutuallyExclusive("diff", "summary", "lost")
}

// run compiles, and writes what was asked for.
func (f *mappingFlags) run(ctx context.Context, env *environment, args []string) error {
	all, err := runMapping(ctx, env, args)
	if err != nil {
		return err
	}
	cells := all
	if f.lost {
		if cells = mapping.Broken(all); len(cells) == 0 {
			env.tell("nothing is lost in %s", plain.Count(len(all), "cell"))
		}
	}
	if n := mapping.Releases(all); f.diff && n < 2 {
		return fmt.Errorf("--diff compares releases, and here there is %d: --toolchains 11.8,12.4 names two", n)
	}
	write := mapping.WriteText
	switch {
	case f.summary:
		write, cells = mapping.WriteSummary, all
	case f.diff && f.json:
		write = mapping.WriteDiffJSON
	case f.diff && f.markdown:
		return errors.New("--diff has no Markdown form")
	case f.diff:
		write = mapping.WriteDiffText
	case f.json:
		write = mapping.WriteJSON
	case f.markdown:
		write = mapping.WriteMarkdown
	}
	if f.dir != "" {
		if err := writeMappingPage(ctx, f.dir, cells); err != nil {
			return err
		}
		env.tell("open %s", filepath.Join(f.dir, "index.html"))
	} else if err := write(env.stdout, cells); err != nil {
		return err
	}
	return mappingDone(env, all)
}

// writeMappingPage writes the tables as a page.
func writeMappingPage(ctx context.Context, dir string, cells []mapping.Cell) error {
	body, err := mappingPage(cells)
	if err != nil {
		return err
	}
	return html.WriteMapping(ctx, dir, body)
}

func runMapping(ctx context.Context, env *environment, ops []string) ([]mapping.Cell, error) {
	tcs, err := discover(ctx, env)
	if err != nil {
		return nil, err
	}
	env.leftOut(tcs, env.settings.targets, map[string]bool{})
	o := mapping.Options{Toolchains: tcs, Targets: targets(env, tcs), Levels: env.settings.levels, Ops: ops}
	if len(tcs) > 0 && len(tcs[0].Compilers()) > 1 {
		if len(env.settings.toolchains) == 0 {
			o.Toolchains = newestBehind(tcs)
		}
		if len(o.Targets) == 0 {
			o.Targets = thatAnyHas(frontTargets, o.Toolchains)
		}
	}
	return mapping.Run(ctx, o)
}

// frontTargets are those that a mapping of a language in front of PTX shows unless others
// are named: one of each generation of Debian's releases.
var frontTargets = []string{"sm_60", "sm_70", "sm_80", "sm_90"}

// newestBehind keeps of the toolchains of each first compiler the one with the newest ptxas.
func newestBehind(tcs []*toolchain.Toolchain) (out []*toolchain.Toolchain) {
	for i, t := range tcs {
		if i+1 == len(tcs) || tcs[i+1].Compilers()[0].Path != t.Compilers()[0].Path {
			out = append(out, t)
		}
	}
	return out
}

// thatAnyHas keeps the targets that one of the toolchains knows.
func thatAnyHas(targets []string, tcs []*toolchain.Toolchain) (out []string) {
	for _, t := range targets {
		if slices.ContainsFunc(tcs, func(tc *toolchain.Toolchain) bool { return tc.HasTarget(t) }) {
			out = append(out, t)
		}
	}
	return out
}

// mappingDone is how a mapping ends: a crash of a compiler is found, and cells without an answer are no good news.
func mappingDone(env *environment, cells []mapping.Cell) error {
	crashed, n := 0, 0
	for i := range cells {
		c := &cells[i]
		why := c.Undecided()
		switch c.Status {
		case mapping.Crashed:
			crashed++
		case mapping.Unknown:
			why = c.Reason
		}
		if why != "" {
			if n++; n <= 5 {
				env.tell("%s, %s %s %s: %s", c.Op, c.Toolchain, c.Target, c.Level, why)
			}
		}
	}
	if crashed > 0 {
		env.tell("a compiler crashes or hangs in %s", plain.Count(crashed, "cell"))
		return errFound
	}
	if n > 0 {
		return fmt.Errorf("%s of the mapping %s unknown", plain.Count(n, "cell"), plain.Form(n, "is", "are"))
	}
	return nil
}
