package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/internal/input"
	"optcheck/internal/scratch"
	"optcheck/ptx"
	"optcheck/runner"
)

func newDriverCompilerCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:                driverCompiler + " DRIVER ARGUMENTS OF PTXAS",
		Short:              "Answer like ptxas by way of the CUDA driver",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("this command is started by the file that optcheck toolchain driver writes")
			}
			// Compiling needs the driver and not the device to itself: the lock
			// is one that nobody else takes.
			locks, err := scratch.Dir("driver")
			if err != nil {
				return err
			}
			defer os.RemoveAll(locks)
			b, err := lockedIn(env, "cuda", locks)
			if err != nil {
				return err
			}
			s, err := b.Open(cmd.Context(), 0)
			if err != nil {
				return err
			}
			defer s.Close()
			if have := s.Device().Driver; have != args[0] {
				return fmt.Errorf("this is driver %s, not %s: run optcheck toolchain driver again", have, args[0])
			}
			return actAsPtxas(cmd.Context(), env, s, args[1:])
		},
	}
}

// request is what ptxas was asked for.
type request struct {
	options []string
	in, out string
	version bool
	help    bool
}

// parsePtxas understands the arguments that package toolchain gives to ptxas.
func parsePtxas(args []string) (request, error) {
	r := request{}
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--version":
			r.version = true
		case a == "--help":
			r.help = true
		case a == "-o" && i+1 < len(args):
			i++
			r.out = args[i]
		case strings.HasPrefix(a, "-"):
			r.options = append(r.options, a)
		case r.in == "":
			r.in = a
		default:
			return r, fmt.Errorf("a second input %q", a)
		}
	}
	if !r.version && !r.help && (r.in == "" || r.out == "") {
		return r, errors.New("no input or no output named")
	}
	return r, nil
}

func actAsPtxas(ctx context.Context, env *environment, s runner.Session, args []string) error {
	r, err := parsePtxas(args)
	if err != nil {
		return err
	}
	switch {
	case r.version:
		v, err := driverVersion(ctx, s)
		if err != nil {
			return err
		}
		release := strings.Join(strings.SplitN(v, ".", 3)[:2], ".")
		_, err = fmt.Fprintf(env.stdout,
			"ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release %s, V%s\nBuild driver_%s\n", release, v, s.Device().Driver)
		return err
	case r.help:
		// Only the device's own target is what the driver compiles for.
		_, err := fmt.Fprintf(env.stdout,
			"--gpu-name <gpu name>\n        Allowed values:  '%s'\n        Default value:  '%[1]s'.\n", s.Device().Target)
		return err
	}
	text, err := input.ReadFile(r.in, ptx.MaxInput)
	if err != nil {
		return err
	}
	c, err := s.Compile(ctx, runner.Image{Kind: runner.ImagePTX, Data: text, Options: strings.Join(r.options, " ")})
	var refused *runner.Error
	if errors.As(err, &refused) && refused.Kind == runner.ErrCompile {
		fmt.Fprintln(env.stderr, asPtxas(refused, filepath.Base(r.in)))
		return errFound // the message has been printed, in ptxas's words
	}
	if err != nil {
		return err
	}
	return input.WriteFile(r.out, c.Binary)
}

// asPtxas gives a refusal the form of ptxas's own messages: with the file's
// name, and with the prefix in any case.
func asPtxas(e *runner.Error, file string) string {
	text := strings.ReplaceAll(e.Detail, "ptxas application ptx input,", "ptxas "+file+",")
	if !strings.Contains(text, "ptxas") {
		text = fmt.Sprintf("ptxas fatal   : %s %s", e.Code, text)
	}
	return text
}

var toolsVersion = regexp.MustCompile(`Cuda compilation tools, release \d+\.\d+, V(\d+\.\d+\.\d+)`)

// driverVersion compiles a kernel and reads which compiler the cubin names.
func driverVersion(ctx context.Context, s runner.Session) (string, error) {
	const empty = ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry nothing() { ret; }\n"
	for _, target := range []string{"sm_30", s.Device().Target} {
		text := strings.Replace(empty, "sm_30", target, 1)
		if target != "sm_30" {
			text = strings.Replace(text, "6.0", "7.8", 1)
		}
		c, err := s.Compile(ctx, runner.Image{Kind: runner.ImagePTX, Data: []byte(text)})
		if err != nil {
			continue
		}
		if m := toolsVersion.FindSubmatch(bytes.ReplaceAll(c.Binary, []byte{0}, []byte{'\n'})); m != nil {
			return string(m[1]), nil
		}
	}
	return "", fmt.Errorf("the compiler of driver %s does not say its version", s.Device().Driver)
}
