package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"optcheck/internal/keeper"
	"optcheck/internal/plain"
	"optcheck/internal/scratch"
	"optcheck/litmus"
	"optcheck/llvmir"
	"optcheck/ptxgen/named"
)

// Exit codes.
const (
	exitOK          = 0   // all that was asked for was done, and nothing that --fail-on counts was found
	exitFound       = 1   // something that --fail-on counts was found
	exitUsage       = 2   // wrong usage, or not everything could be done
	exitInterrupted = 130 // as a shell reports SIGINT
)

// errFound makes the exit code 1 without a message of its own.
var errFound = errors.New("found")

// environment is what a command may use of the world.
type environment struct {
	getenv         func(string) string
	args           []string // of the command line
	stdin          io.Reader
	stdout, stderr io.Writer       // what goes to stderr is made visible
	text           io.Writer       // stdout for people: what goes to it is made visible
	bar            io.Writer       // stderr as it is, for a progress bar
	ctx            context.Context // of the command
	config         *config
	settings       settings
	origins        map[*litmus.Test]named.Origin // where tests are from
	refused        []error                       // why tests that were asked for are left out
	renamed        []string                      // tests that are told apart by their files
	quiet          bool                          // no progress
}

// Main runs the program and returns its exit code. The first interrupt or
// termination signal cancels the context. What does not end then in the time that
// its command has is left where it is, as it is at once by a second signal: the
// caller exits, and the processes that the program started end with it.
func Main(ctx context.Context, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer, args []string) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer scratch.Close()
	defer keeper.Close() // first: who lives writes there
	done := make(chan error, 1)
	go func() { done <- run(ctx, getenv, stdin, stdout, stderr, args) }()
	select {
	case err := <-done:
		return exitCode(ctx, stderr, args, err)
	case <-signals:
		cancel()
	}
	select {
	case err := <-done:
		return exitCode(ctx, stderr, args, err)
	case <-signals:
	case <-time.After(patience(args)):
	}
	fmt.Fprintln(stderr, "optcheck: interrupted")
	return exitInterrupted
}

// keepers are the commands that keep results in files.
var keepers = []string{"app", "audit", "bug", "campaign", "hunt", "merge", "reduce", "run", "serve", "store", "toolchain", "tune"}

// patience is how long a command has to end when it is asked to: those that keep
// results in files have some to write down.
func patience(args []string) time.Duration {
	cmd, _, err := newRootCmd(&environment{}).Find(args)
	for ; err == nil && cmd.HasParent(); cmd = cmd.Parent() {
		if slices.Contains(keepers, cmd.Name()) {
			return 10 * time.Second
		}
	}
	return 500 * time.Millisecond
}

func exitCode(ctx context.Context, stderr io.Writer, args []string, err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFound):
		return exitFound
	case errors.Is(err, errDetached):
		return exitInterrupted
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "optcheck: interrupted; what was finished has been written")
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "optcheck: %s\n", message(err, args))
	return exitUsage
}

// run executes one command line.
func run(ctx context.Context, getenv func(string) string, stdin io.Reader, to, stderr io.Writer, args []string) error {
	stdout := &printed{Writer: to}
	env := &environment{getenv: getenv, args: args, stdin: stdin, stdout: stdout, stderr: plain.NewWriter(stderr),
		text: plain.NewWriter(stdout), bar: stderr}
	if len(args) == 3 && args[0] == llvmir.ChildCommand {
		return llvmir.Run(args[1:], to) // our own child; see the package
	}
	root := newRootCmd(env)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	return stdout.ended(env.ended(vendorMistake(cmd, groupMistake(err))))
}

func newRootCmd(env *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "optcheck",
		Short: "Tells whether a GPU compiler kept a concurrent program as it was written",
		Long: `optcheck tells whether a GPU compiler kept a concurrent program as it was written.

It compiles PTX, CUDA C++ and litmus tests with real compilers, reads the machine code,
and checks that what the program says is still there: its accesses, their order and
strength, fences and barriers. Litmus tests become kernels that carry their own
specification; of these it also checks every dependency.

Machine-readable output goes to standard output, everything else to standard
error. Exit codes: 0 all was done, and nothing that --fail-on counts was found; 1
something was; 2 wrong usage, or not everything could be done; 130 interrupted
(docs/reference/exit-codes.md).`,
		Example: `  optcheck toolchain install cuda-12.4 nvcc-12.4
  optcheck audit kernel.cu
  optcheck audit coRR mp`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadConfig(env, cmd)
			if err != nil {
				return err
			}
			env.ctx, env.config, env.settings = cmd.Context(), c, c.settings()
			return nil
		},
	}
	root.SetGlobalNormalizationFunc(plural)
	root.AddCommand(newReduceCmd(env), newBugCmd(env), newKnownCmd(env))
	root.PersistentFlags().String("config", "", "configuration file (default: optcheck.yaml in this folder, if it is there)")
	root.PersistentFlags().StringSlice("limits", nil,
		"bounds of what one input may cost, such as blocks=20k (optcheck config --help lists them)")
	root.PersistentFlags().StringSlice("toolchain-dirs", nil, "further folders that hold compilers")
	root.AddCommand(newAuditCmd(env), newHuntCmd(env), newCheckCmd(env), newEmitCmd(env), newISACmd(env), newEmulateCmd(env), newVerifyCmd(env), newReplayCmd(env), newToolchainCmd(env),
		newReportCmd(env), newServeCmd(env), newDiffCmd(env), newExplainCmd(env), newConfigCmd(env), newTestsCmd(env),
		newModelCmd(env), newModelsCmd(env), newLogCmd(env), newConvertCmd(env), newGenCmd(env), newDepsCmd(env), newDisturbanceCmd(env),
		newDevicesCmd(env), newDeviceProcessCmd(), newMappingCmd(env))
	root.AddCommand(newRunCmd(env), newBenchGPUCmd(env), newTuneCmd(env), newIssuesCmd(env), newLiftCmd(env), newAppCmd(env),
		newBenchOrderingCmd(env))
	root.AddCommand(newDriverCompilerCmd(env))
	root.AddCommand(newTrustCmd(env), newStoreCmd(env), newMergeCmd(env), newCampaignCmd(env), newVersionCmd(env), newManualCmd())
	grouped(root)
	helpful(root)
	oneOf(root)
	oldNames(root)
	return root
}
