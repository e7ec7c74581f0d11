package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"optcheck/audit/values"
	"optcheck/internal/plain"
	"optcheck/realcode"
	"optcheck/reduce"
	"optcheck/toolchain"
)

// replayFlags are the flags of the replay command.
type replayFlags struct {
	findingFlags
	device string
	asJSON bool
}

func newReplayCmd(env *environment) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay FOLDER|FINDING",
		Short: "Show a wrong value again, also on a GPU",
		Long: `Execute the counterexample of a finding again: the kernel and its machine code
on the input of the finding. FOLDER is one that optcheck hunt --values --bundles or
optcheck bug has written; --toolchains, --targets and --levels choose other compilers
than the one of the finding. FINDING is one in PTX whose kernels were executed
(wrong-value, wrong-address, not-performed, extra-access, does-not-end; hazard-raw,
hazard-waw and hazard-war, of which the machine code uses the register too early again).

With --device the kernel is compiled twice, without optimising and as in the finding,
and both run on the GPU, on the same input:

  confirmed  without optimising the GPU stores what the PTX says, optimised it does not
  refuted    optimised it stores what the PTX says: optcheck is wrong
  doubtful   it does not even without optimising: optcheck or the compiler is wrong
  raced      several threads store to the word of the finding: its last content says nothing
  fails      the optimised code does not run to its end

The exit code is 1 if a value is wrong. Variables in global memory and pointers in
memory cannot be given to a device.

` + findingHelp,
		Example: `  optcheck replay wrong/01-sum-sum-sat-isetp-sel --toolchains 11.8,12.4
  optcheck replay wrong/01-sum-sum-sat-isetp-sel --device=cuda:0
  optcheck replay kernel.ptx@12.4/sm_90/O3:wrong-value --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.replay(cmd, env, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringSlice("toolchains", nil, "the compilers (default: that of the finding)")
	fl.StringSlice("targets", nil, "the targets (default: that of the finding)")
	fl.StringSlice("levels", nil, "the optimisation levels (default: that of the finding)")
	fl.StringVar(&f.finding, "finding", "", "in PTX: the rule, or the line of an operation, if FINDING names none")
	fl.StringVar(&f.device, "device", "", "run it on this device, too (--device alone: the first one; optcheck devices lists them)")
	fl.Lookup("device").NoOptDefVal = "cuda"
	jsonFlag(cmd, &f.asJSON, oneObject)
	return cmd
}

func (f *replayFlags) replay(cmd *cobra.Command, env *environment, arg string) (err error) {
	ctx := cmd.Context()
	find, cells, err := f.counterexample(cmd, env, arg)
	if err != nil {
		return err
	}
	var chip *values.Chip
	if f.device != "" {
		s, err := openDevice(ctx, env, f.device)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		chip = &values.Chip{Session: s}
	}
	list, err := values.Replay(ctx, find, cells, chip)
	if err != nil {
		return err
	}
	if f.asJSON {
		err = env.printJSON(list)
	} else {
		err = writeReplay(env.text, list)
	}
	for i := range list {
		if err == nil && list[i].Wrong {
			err = errFound
		}
	}
	return err
}

// counterexample is what is meant by an argument: a folder, or a finding in PTX.
func (f *replayFlags) counterexample(cmd *cobra.Command, env *environment, arg string) (*values.Finding, []values.Cell, error) {
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		find, err := values.Kept(arg)
		if err != nil {
			return nil, nil, err
		}
		cells, err := f.cells(cmd.Context(), env, find)
		return find, cells, err
	}
	ctx := cmd.Context()
	a, ok, err := f.programAddress(cmd, env, arg)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, nil, fmt.Errorf("%s: neither a folder with a counterexample nor a finding in PTX", arg)
	}
	x, _, err := f.program(ctx, env, a)
	if err != nil {
		return nil, nil, err
	}
	found, err := executedOf(ctx, x)
	if err != nil {
		return nil, nil, err
	}
	return &values.Finding{PTX: string(x.Module.Apply()), Kernel: found.Kernel, Finding: found.Execution},
		[]values.Cell{{Toolchain: x.Toolchain, Target: x.Target, Level: x.Level}}, nil
}

// executedOf is the finding, which must be one of an execution.
func executedOf(ctx context.Context, x *reduce.KernelFinding) (*realcode.Finding, error) {
	_, found, err := x.Confirm(ctx)
	if err == nil && found.Execution == nil {
		err = fmt.Errorf("%s: there is no counterexample: the finding comes from comparing operations", x.Address())
	}
	return found, err
}

// cells are the compilers that flags name, or else the one of the folder.
func (f *replayFlags) cells(ctx context.Context, env *environment, find *values.Finding) ([]values.Cell, error) {
	set := &env.settings
	if len(set.toolchains)+len(set.targets)+len(set.levels) > 0 || find.Toolchain == "" {
		return valuesCells(ctx, env)
	}
	all, err := discoverAll(ctx, env)
	if err != nil {
		return nil, err
	}
	tcs, err := toolchain.Find(all, find.Toolchain)
	if err != nil {
		return nil, fmt.Errorf("the compiler of the finding: %w", err)
	}
	return []values.Cell{{Toolchain: tcs[0], Target: find.Target, Level: find.Level}}, nil
}

func writeReplay(w io.Writer, list []values.Again) error {
	for i := range list {
		a := &list[i]
		what := "right"
		switch {
		case a.Wrong:
			what = "WRONG: " + a.Why
		case a.Why != "":
			what = "unknown: " + a.Why
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", a.Cell, plain.Line(what)); err != nil {
			return err
		}
		if a.NotRun != "" {
			fmt.Fprintf(w, "  not run on a device: %s\n", plain.Line(a.NotRun))
		}
		if d := a.Device; d != nil {
			fmt.Fprintf(w, "  %s (driver %s): %s: %s differ as optimised, %s without optimising\n", d.Device, d.Driver, d.Said,
				plain.Count(len(d.Words), "word"), plain.Count(len(d.Plain), "word"))
			for _, x := range d.Words[:min(len(d.Words), 4)] {
				fmt.Fprintf(w, "    %#x: the PTX says %#x, the device stores %#x\n", x.Addr, x.Want, x.Got)
			}
		}
	}
	return nil
}
