package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"optcheck/internal/plain"
	"optcheck/isa"
	"optcheck/sass/hazard"
)

func newISACmd(env *environment) *cobra.Command {
	var asJSON, hazards bool
	cmd := &cobra.Command{
		Use:   "isa FILE…",
		Short: "Print the parsed machine code of any dump or cubin",
		Long: `Print the parsed machine code of a cubin or of a disassembly: functions, basic
blocks, instructions with their role, definitions, uses, state space and strength.
Every line that was not understood is listed on standard error, and the exit code
is 1 if there is one. Use - for standard input.

The dialect is told from the text:

  NVIDIA  cuobjdump -sass, nvdisasm
  AMD     clang -S and llvm-objdump -d (gfx6 to gfx12; r600: -S only), clrxdisasm,
          and the layouts of AMD's own tools for Southern Islands and later and for
          R600, Evergreen and Cayman (ALU and TEX clauses)

NVIDIA instructions show their control codes, where encodings are known
(cubins, cuobjdump, nvdisasm -hex). These are barriers waited for, barriers released
after reading operands (R) and writing the result (W), yield (Y), and stall cycles (S);
of Kepler the scheduling byte. AMD instructions also show the counters that they
increment and wait for.

With --hazards, NVIDIA's instructions (sm_70 and later) show what they wait for: scoreboards
and who set them, and results of fixed latency, with the cycles that lie between, those that
are needed, and the slack. What nothing waits for is marked HAZARD, and the exit code is 1.`,
		Example: `  optcheck isa kernel.cubin
  llvm-objdump -d kernel.o | optcheck isa -
  optcheck isa --json kernel.s`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bad := 0
			var errs []error
			for _, file := range args {
				code, err := loadCode(cmd.Context(), env, file)
				if err != nil {
					errs = append(errs, err)
					continue
				}
				write := isa.WriteText
				switch {
				case hazards:
					write = hazard.Write
				case asJSON:
					write = isa.WriteJSON
				}
				if err := write(env.stdout, code.Program); err != nil {
					return err
				}
				if hazards {
					bad += inFlight(code.Program)
				}
				bad += complain(env, file, code.Program)
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
			if bad > 0 {
				return errFound
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON, oneObject)
	cmd.Flags().BoolVar(&hazards, "hazards", false, "show what each instruction waits for, and what nothing waits for")
	cmd.MarkFlagsMutuallyExclusive("json", "hazards")
	cmd.Flags().StringSlice("toolchains", nil, "disassemble cubins with these toolchains only")
	timeoutFlag(cmd, fileTimeout)
	return cmd
}

// inFlight is the number of registers that are used while they are in flight.
func inFlight(prog *isa.Program) (n int) {
	for _, fn := range prog.Funcs {
		n += len(hazard.Check(fn).Findings)
	}
	return n
}

// complain lists what was not understood and returns how much that is.
func complain(env *environment, file string, prog *isa.Program) int {
	n := 0
	for _, p := range prog.Problems {
		n++
		fmt.Fprintf(env.stderr, "%s:%d: not understood: %s (%s)\n", plain.Line(file), p.Line, p.Text, p.Why)
	}
	for _, fn := range prog.Funcs {
		for i := range fn.Insts {
			if in := &fn.Insts[i]; in.Role == isa.RoleUnknown {
				n++
				fmt.Fprintf(env.stderr, "%s:%d: unknown instruction: %s\n", plain.Line(file), in.Line, in.Text)
			}
		}
	}
	return n
}
