package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"optcheck/realcode"
	"optcheck/report"
)

// auditFlags are the flags of the audit command.
type auditFlags struct {
	output, format string
	html           string // folder of pages
	reports        []string
	gen, model     string
	store, shard   string
	artefacts      string
	quiet          bool
	noVerdict      bool
	hardware       bool
	keepCode       string
	execute        uint
	verify         bool
	controlCodes   bool
	flags          []string
	frontFlags     []string
	text           report.TextOptions
	writeKnown     string
	watch          bool
	engine         engineFlags
}

func newAuditCmd(env *environment) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "audit [FILE.ptx|FILE.cu|FILE.cubin|TEST|DIR|corpus…]",
		Short: "Compile PTX, CUDA C++ and tests with every compiler found and check the machine code",
		Long: `Compile with every compiler found, for every target and level, and check that the
machine code keeps what was written.

Files of PTX, and folders of them, are read whole (docs/audit.md). Each synchronising
instruction is looked for in the machine code of ptxas, and the order of all that was
found is compared over the control flow. Targets are sm_70, sm_80 and sm_90, as far as
the file allows. A cubin is compared with the PTX of its name beside it. Of a file of
CUDA C++ each front end found (nvcc, clang) makes PTX for each target, as nvcc -gencode
does, which is audited for that target; toolchains are the pairs, as --toolchains
nvcc-12.4+11.8. A file may include what lies below its folder and the folders of
--front-flags -I. A cell (file × toolchain × target × level) is preserved, changed,
miscompiled, crashed, unknown, unsupported or invalid.

Litmus tests are audited in each layout, too, more strictly. Without arguments these
are the corpus and the generated tests of the presets quick and opportunities-quick.

With --source llvm-ir kernels for NVIDIA are LLVM IR: llc of each release of LLVM
found makes PTX of them, and each ptxas machine code of that, both at the level of
the cell. Toolchains are the pairs; --toolchains 22,12.4 is one of them, 12.4 that
ptxas behind every llc. What LLVM IR cannot say (cache operators, volatile,
membar, barriers) is unsupported.

With --vendor amd the compilers are releases of clang, and kernels are OpenCL C.
Tests in OpenCL C (the corpus has some, named cl-…, which are the default) are
taken as they are, tests in PTX translated where they have a meaning (optcheck
convert --table). Targets are one of each generation unless --targets says
others, or all.

A test's cell (test × toolchain × target × level × layout) may also be optimised. Machine
code that is not the test is lifted back to a litmus test. A memory model says whether it
allows an outcome that the test forbids: ptx from sm_70 on, ptx-2015 before, or the one
of --model. If it does, the cell is miscompiled, and otherwise optimised. Without an
answer it stays changed: with --no-verdict, or if the language gives the test no meaning. With --output, the event stream is written to a file as JSON lines;
optcheck report renders it again.

` + formatsHelp + `
An interrupted audit writes its reports, too; they say that cells are missing.

With --store, results go into a store, and what it knows already is not audited
again: an audit that was interrupted, or killed, goes on where it was; reports are
of the whole matrix. A cell is known only if everything that decides it is the
same: the test, the compiler's build, target, level, layout, flags, models, and
this very program. --shard does one part of n; parts can be done on any machine,
in any order, and be merged (optcheck merge).

With --engine slurm the shards become a job array of Slurm, with a job after it that
merges them into the store; failed tasks are submitted again. Ctrl-C ends only the
following (optcheck campaign attach). See optcheck campaign for larger plans.`,
		Example: `  optcheck audit kernel.ptx --toolchains 11.8,12.4 --targets sm_80
  optcheck audit kernel.cu --toolchains 12.4 --front-flags -Iinclude
  optcheck audit src/ --fail-on changed --output run.jsonl --html pages
  optcheck audit kernel.cu --targets sm_80 --levels O3 --watch
  optcheck audit coRR mp --targets sm_80,sm_90 --levels O3
  optcheck audit corpus --output run.jsonl
  optcheck audit tests/ --toolchains 12.4 --format json
  optcheck audit --gen paper --store campaign.store
  optcheck audit corpus --store part2.store --shard 2/8
  optcheck audit --gen paper --store paper.store --engine slurm --shards 64 --slurm partition=batch --slurm time=2:00:00
  optcheck audit tests/ --new-only --fail-on miscompiled --format github --report sarif=optcheck.sarif,junit=junit.xml
  optcheck audit exch-sl+release.gpu+acquire.gpu --source llvm-ir --toolchains 22,12.4
  optcheck audit --vendor amd cl-coRR cl-mp+mem_fences --targets tahiti,gfx900`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !f.watch {
				return f.run(cmd, env, args)
			}
			if len(args) == 0 || f.engine.engine != "" || f.writeKnown != "" {
				return errors.New("--watch goes with files and folders, and not with --engine or --write-known")
			}
			return watch(cmd.Context(), env, args, func() error { return f.run(cmd, env, args) })
		},
	}
	f.add(cmd)
	return cmd
}

// run audits what is named once.
func (f *auditFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	if f.engine.engine != "" {
		if _, ok, err := programs(env, args); err != nil {
			return err
		} else if ok {
			return fmt.Errorf("%s: programs are audited without --engine", args[0])
		}
		return f.engine.run(cmd.Context(), env, f, args)
	}
	for _, name := range []string{"shards", "folder", "slurm", "detach", "poll"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s goes with --engine", name)
		}
	}
	if slices.ContainsFunc(args, isCubin) {
		if err := onlyFlags(cmd, "a cubin is compared alone", cubinFlags); err != nil {
			return err
		}
		return auditCubin(cmd.Context(), env, f, args)
	}
	if files, ok, err := programs(env, args); err != nil || ok {
		if err == nil {
			err = onlyFlags(cmd, "audits of PTX and CUDA C++ do not have it", programFlags)
		}
		if err == nil && !slices.ContainsFunc(files, isCUDA) {
			err = noFlags(cmd, "none of the files is CUDA C++", "front-flags")
		}
		if err != nil {
			return err
		}
		env := env.forSource("")
		return runAudit(cmd.Context(), env, f, newProgramRun(env, f, files))
	}
	return runAudit(cmd.Context(), env, f, &testRun{env: env, f: f, args: args})
}

func (f *auditFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	vendorFlag(cmd)
	matrixFlags(cmd)
	failOnFlag(cmd)
	allowUnknownFlag(cmd)
	modelFlag(cmd, &f.model)
	fl.BoolVar(&f.noVerdict, "no-verdict", false, "ask no model: what differs from the test is just changed")
	fl.BoolVar(&f.hardware, "hardware", false, "also ask the model of the hardware (nvhw) what the machine code of sm_70 and newer can do")
	sourceFlag(cmd)
	fl.StringVar(&f.gen, "gen", "", "audit the generated tests of this preset or configuration file (see optcheck gen)")
	fl.BoolVar(&f.controlCodes, "control-codes", false, controlCodesHelp)
	fl.StringVar(&f.keepCode, "keep-code", "",
		"keep what ptxas makes in this folder, and take it from there: judging again compiles nothing; of programs, the PTX of front ends")
	fl.BoolVar(&f.verify, "verify", false, "of programs, also look whether each kernel itself has data races, wrong barriers or endless waits (see optcheck verify)")
	fl.UintVar(&f.execute, "execute", realcode.Runs,
		"execute each kernel and its machine code on this many inputs, and compare what they store (sm_70 and later; 0: not at all)")
	streamFlag(cmd, &f.output)
	formatFlags(cmd, &f.format, &f.reports, auditFormats)
	htmlFlag(cmd, &f.html)
	quietFlag(cmd, &f.quiet)
	fl.StringSliceVar(&f.flags, "ptxas-flags", nil, "further arguments for the compiler")
	fl.StringSliceVar(&f.frontFlags, "front-flags", nil, "further arguments for the compilers of CUDA C++ (-Iinclude,-DN=4)")
	fl.StringVar(&f.store, "store", "", "keep the results in this store, and audit only what it does not know yet (see optcheck store)")
	fl.StringVar(&f.artefacts, "artefacts", "findings", "of which cells the store keeps kernels and machine code: none, findings, all")
	fl.StringVar(&f.shard, "shard", "", "only part i of n of the matrix (2/8); merge the stores of the parts")
	f.engine.add(cmd)
	textFlags(cmd, &f.text)
	knownFlags(cmd)
	fl.BoolVar(&f.watch, "watch", false, "audit again whenever a file changes, until Ctrl-C: for editing; with --store only what changed is compiled")
	fl.StringVar(&f.writeKnown, "write-known", "", "write what is found, and not known, into this new list of known findings")
}

func textFlags(cmd *cobra.Command, o *report.TextOptions) {
	cmd.Flags().BoolVar(&o.Cells, "cells", false, "show each changed cell on its own instead of the first ten findings; of programs all findings")
	claimsFlag(cmd, &o.Claims)
	cmd.Flags().BoolVar(&o.Unsupported, "unsupported", false, "also show why cells are unsupported")
	cmd.Flags().BoolVar(&o.Notes, "notes", false, "also count the notes, machine codes that toolchains have in common, and findings by data races; of programs how much of each kernel was executed")
}

func claimsFlag(cmd *cobra.Command, claims *bool) {
	cmd.Flags().BoolVar(claims, "explain-claims", false, "also say what a report on programs claims, and what it does not")
}
