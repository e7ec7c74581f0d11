package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/known"
	"optcheck/verify"
)

// verification is what the flags of optcheck verify say.
type verification struct {
	kernels     []string
	grid, block []int
	cluster     []int
	args        []string
	shared      int64
	o           verify.Options
	front       []string
	fail        string
	needed      bool
	all         bool
	limit       time.Duration
	asJSON      bool
	sarif, html string
	reduce      string
	bundle      string
	folder      string // of --program
	device      string
	each        time.Duration
	ran         bool // something on a device
	quiet       bool
	resume      string
	kept        *input.Journal[verified]
	had         map[string]*verify.Result
	reduced     bool
	cuda        bool
	writeKnown  string
	results     []*verify.Result
	sources     sourceFiles
	// asked are the kernels that were verified, counted what --fail-on counts of them, unknown those of which not everything is known.
	asked, counted, unknown int
}

// verifyFails are the values of verify's --fail-on.
var verifyFails = []string{"all", "any", "race", "never"}

func newVerifyCmd(env *environment) *cobra.Command {
	v := verification{sources: sourceFiles{}}
	cmd := &cobra.Command{
		Use:   "verify FILE.ptx|FILE.cu|PROGRAM.yaml|PROGRAM…",
		Short: "Look for data races, wrong barriers and endless waits of kernels",
		Long: `Emulate launches of kernels and report what the program itself does wrong. It finds data
races as the PTX memory model defines them (scopes, releases and acquires, fences,
barriers, asynchronous copies), barriers that threads reach differently, and waits that
nothing ends. It also reports accesses out of bounds or misaligned, reads of shared
memory that nobody wrote, traps and failed assertions. It needs no GPU.

A race is found in every run in which the accesses are not ordered, whether they
happen next to each other or not. Several inputs and schedules are run; that nothing
was found is no proof, and what a run could not tell is said. --all-executions looks
at every execution of a small launch that the memory model allows instead, loops at
most 16 times: that there is no race in any is a proof for that launch and input.

The launch is that of the flags, of a comment of the source
(//--blockDim=64 --gridDim=2), of a program as optcheck app has them, or chosen: the
report says what was chosen. A parameter is a number, or a buffer of so many bytes
that begin with zeros, or of the numbers that are listed: then accesses outside of it
are reported.

The exit code is 1 if something was found that --fail-on counts, and 2 if nothing was
found but not everything could be told.`,
		Example: `  optcheck verify kernel.ptx
  optcheck verify kernel.cu --kernel scan --grid 4 --block 128 --arg n=512 --arg out=buffer:2048
  optcheck verify kernel.cu --schedules 20 --fail-on race --json
  optcheck verify kernel.ptx --kernel lock --grid 2 --block 1 --all-executions
  optcheck verify program.yaml
  optcheck verify order-mp-volatile`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), env, args) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&v.kernels, "kernel", nil, "a kernel, if not all of the file: its symbol, its name in the source, or that without a template's arguments")
	f.IntSliceVar(&v.grid, "grid", nil, "blocks: X,Y,Z (chosen if not given)")
	f.IntSliceVar(&v.block, "block", nil, "threads of a block: X,Y,Z")
	f.IntSliceVar(&v.cluster, "cluster", nil, "blocks of a cluster: X,Y,Z (what the kernel asks for if not given)")
	f.Int64Var(&v.shared, "shared", 0, "dynamic shared memory of a block in bytes")
	f.StringArrayVar(&v.args, "arg", nil, "a parameter, by name or number: NAME=VALUE (1.5 of one that is f32 or f64), NAME=buffer:BYTES (zeros), or NAME=i32:1,2,3 "+
		"(a buffer with these numbers; also i8 to u64, f32, f64). NAME=tensor:BYTES is the map of a tensor whose boxes have so many bytes. "+
		"NAME+OFFSET is a part of a struct")
	f.Uint64Var(&v.o.Seed, "seed", 0, "what parameters, memory and schedules are made from")
	f.IntVar(&v.o.Inputs, "inputs", 2, "how many inputs are tried, where parameters are chosen")
	f.IntVar(&v.o.Schedules, "schedules", 4, "how many schedules of each are run")
	f.Int64Var(&v.o.Steps, "steps", 0, "how many instructions of threads a run has at most (default 16 million, 67 million if no value is chosen)")
	f.BoolVar(&v.o.CUDA, "uniform", false, "a barrier without a number of threads must be reached by all threads of a block alike, as CUDA C++ and "+
		"OpenCL C demand (of .cu files: always)")
	f.BoolVar(&v.o.Unmended, "no-mend", false, "do not look for what would mend a race: that takes most of the time")
	f.BoolVar(&v.o.Executions, "executions", false, "show what the two threads of a race did, in the run that showed it first")
	f.BoolVar(&v.needed, "needed", false, "leave out each synchronisation, and say whether that is noticed")
	f.BoolVar(&v.all, "all-executions", false, "look at all executions of a small launch that the model ptx allows, not at some runs")
	f.DurationVar(&v.limit, "for", time.Minute, "how long one kernel may take; with --reduce, again to make it small")
	f.StringVar(&v.fail, "fail-on", "any", "exit with 1 if this was found: all (also what rests on chosen values, and races that change no value), any, race, never")
	f.StringSliceVar(&v.front, "front-flags", nil, "further arguments for the compiler of CUDA C++, separated by commas")
	f.StringSlice("toolchains", nil, "compile CUDA C++ with these toolchains only")
	f.StringSlice("targets", nil, "compile CUDA C++ for the first of these targets (sm_80)")
	f.StringVar(&v.sarif, "sarif", "", "also write what was found to this file, as SARIF with the lines of the source")
	f.StringVar(&v.html, "html", "", "also write what was found into this folder, as a page with the source and a picture of each race")
	f.StringVar(&v.reduce, "reduce", "", "also write the kernel of the first finding that counts into this new PTX file, without what the finding does not need")
	f.StringVar(&v.bundle, "bundle", "", "also write the first finding that counts into this folder, as a report that shows it again: the small kernel, the picture, a script")
	f.StringVar(&v.folder, "program", "", "also write the launch of the first finding that counts into this folder, as a program for optcheck app")
	f.StringVar(&v.device, "device", "", "also run the launch of the first finding that counts under stress on this device (--device alone: the first one), and say how often it went wrong")
	f.Lookup("device").NoOptDefVal = "cuda"
	f.StringVar(&v.resume, "resume", "", "keep what is found out about each kernel in this file, and go on from what it holds")
	quietFlag(cmd, &v.quiet)
	f.DurationVar(&v.each, "each", 5*time.Second, "with --device: time in each environment of stress")
	knownFlags(cmd)
	f.StringVar(&v.writeKnown, "write-known", "", "write what is found, and not known, into this new list of known findings")
	jsonFlag(cmd, &v.asJSON, "one JSON object a kernel")
	return cmd
}

func (v *verification) run(ctx context.Context, env *environment, files []string) (err error) {
	if !slices.Contains(verifyFails, v.fail) {
		return fmt.Errorf("--fail-on %q: must be all, any, race or never", v.fail)
	}
	if (v.sarif != "" || v.writeKnown != "" || v.html != "" || v.reduce != "" || v.bundle != "" || v.folder != "" || v.device != "") && v.all {
		return fmt.Errorf("--sarif, --html, --reduce, --bundle, --program, --device and --write-known: --all-executions has none")
	}
	v.o.Executions = v.o.Executions || v.html != "" || v.bundle != ""
	if v.o.Inputs < 1 || v.o.Schedules < 1 || v.o.Steps < 0 || v.shared < 0 {
		return fmt.Errorf("--inputs and --schedules are 1 or more, --steps and --shared 0 or more")
	}
	if v.resume != "" && (v.all || v.html != "" || v.reduce != "" || v.bundle != "" || v.folder != "" || v.device != "") {
		return fmt.Errorf("--resume: what it keeps is too little for --all-executions, --html, --reduce, --bundle, --program and --device")
	}
	for _, f := range []string{v.writeKnown, v.reduce} {
		if err := baselineFile(f); err != nil {
			return err
		}
	}
	if err := v.resumed(); err != nil {
		return err
	}
	if v.kept != nil {
		defer func() { err = errors.Join(err, v.kept.Close()) }()
	}
	list, _, err := knownList(env)
	if err != nil {
		return err
	}
	for _, file := range files {
		launches, err := v.launches(ctx, env, file)
		if err != nil {
			return err
		}
		for _, l := range launches {
			ask := v.kernel
			if v.all {
				ask = v.every
			}
			if err := ask(ctx, env, file, &l, list); err != nil {
				return err
			}
			v.asked++
		}
	}
	if !v.asJSON {
		fmt.Fprint(env.stdout, verify.Conclusion(v.results))
	}
	if err := v.write(ctx, env); err != nil {
		return err
	}
	switch {
	case v.asked == 0:
		return fmt.Errorf("there is no kernel to verify")
	case v.fail == "never":
	case v.counted > 0:
		return errFound
	case v.unknown > 0:
		return fmt.Errorf("%s could not be verified to the end", plain.Count(v.unknown, "kernel"))
	}
	return nil
}

// kernel makes runs of a launch, and prints what they show.
func (v *verification) kernel(ctx context.Context, env *environment, file string, l *toVerify, list *known.List) error {
	bar := newProgress(env.stderr, v.quiet)
	bar.what = "runs"
	l.o.Progress = bar.update
	r, err := v.result(l)
	bar.done()
	if err != nil {
		return fmt.Errorf("%s: kernel %s: %w", plain.Line(file), plain.Line(l.kernel), err)
	}
	r.File = file
	v.sources.repeat(r)
	v.mark(list, env.settings.newOnly, r)
	v.results = append(v.results, r)
	if v.asJSON {
		err = env.printJSON(r)
	} else {
		err = onScreen(env, env.stdout, func(w io.Writer) error {
			_, err := io.WriteString(w, r.Text())
			return err
		})
	}
	if err != nil {
		return err
	}
	if v.needed {
		if err := v.need(env, l); err != nil {
			return err
		}
	}
	if v.counted += r.Count(v.fail == "race"); v.fail == "all" {
		v.counted += len(r.Found)
	}
	if len(r.Unknown) > 0 {
		v.unknown++
	}
	return v.small(ctx, env, l, r)
}

// write writes the files that flags ask for.
func (v *verification) write(ctx context.Context, env *environment) error {
	if v.sarif != "" {
		if err := v.writeSARIF(env); err != nil {
			return err
		}
	}
	if v.html != "" {
		if err := v.writeHTML(ctx); err != nil {
			return err
		}
	}
	return writeBaseline(env, v.writeKnown, v.cells)
}

// need says of each synchronisation of a kernel whether it is noticed when it is left out or made weaker.
func (v *verification) need(env *environment, l *toVerify) error {
	needs, _, err := verify.Needed(l.module, l.kernel, v.timed(l))
	if err != nil {
		return err
	}
	if v.asJSON {
		return env.printJSON(needs)
	}
	for _, n := range needs {
		_, err = fmt.Fprint(env.stdout, n.Text())
	}
	return err
}

// every looks at all executions of a launch, and prints the answer.
func (v *verification) every(ctx context.Context, env *environment, file string, l *toVerify, _ *known.List) error {
	x, err := verify.All(ctx, l.module, l.kernel, &l.o, v.limit)
	if err != nil {
		return fmt.Errorf("%s: kernel %s: %w", plain.Line(file), plain.Line(l.kernel), err)
	}
	switch x.Answer {
	case verify.AnswerFree:
	case verify.AnswerUnknown:
		v.unknown++
	default:
		v.counted++
	}
	if x.File = file; v.asJSON {
		return env.printJSON(x)
	}
	_, err = fmt.Fprint(env.stdout, x.Text())
	return err
}
