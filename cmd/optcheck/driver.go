package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/internal/whole"
	"optcheck/toolchain"
)

// driverCompiler is the hidden command that answers like ptxas and compiles
// with the compiler inside the CUDA driver.
const driverCompiler = "driver-ptxas"

func newToolchainDriverCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "driver [FOLDER]",
		Short: "Make the compiler inside the CUDA driver a toolchain",
		Long: `Make the compiler inside this machine's CUDA driver a toolchain like the others:
a file ptxas is written that calls this program, which has the driver compile
and takes the cubin. It needs the GPU. Without FOLDER it is put where toolchains
are found by themselves. After an update of the driver, run this again: the file
refuses to speak for another driver than the one it was made for.

A disassembler is taken from a toolchain of the same CUDA release.`,
		Example: "  optcheck toolchain driver\n  optcheck audit corpus --toolchains 13.0",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := filepath.Join(toolchain.ManagedDir(env.getenv), "driver", "root", "usr", "bin")
			if len(args) == 1 {
				dir = args[0]
			}
			return writeDriverCompiler(cmd.Context(), env, dir)
		},
	}
}

func writeDriverCompiler(ctx context.Context, env *environment, dir string) error {
	s, err := openDevice(ctx, env, "cuda")
	if err != nil {
		return err
	}
	defer s.Close()
	version, err := driverVersion(ctx, s)
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program's own file: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\n# The compiler inside the CUDA driver %s (%s).\nexec '%s' %s %s \"$@\"\n",
		s.Device().Driver, version, strings.ReplaceAll(exe, "'", `'\''`), driverCompiler, s.Device().Driver)
	path := filepath.Join(dir, "ptxas")
	if err := whole.Write(path, []byte(script), 0o755); err != nil {
		return err
	}
	env.tell("%s is the compiler of driver %s, CUDA %s", path, s.Device().Driver, version)
	return nil
}
