package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"optcheck/internal/plain"
	"optcheck/toolchain"
)

func newToolchainVerifyCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "verify [NAME…]",
		Short: "Compare installed compilers with what was installed",
		Long: `Read all files of installed compilers and compare them with the hashes that were noted
when they were installed. The exit code is 1 if something has changed, is missing or
was added. Every use of an installed compiler does the same for files whose state is new.`,
		Example: "  optcheck toolchain verify\n  optcheck toolchain verify cuda-12.4",
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := toolchain.Verify(cmd.Context(), toolchain.ManagedDir(env.getenv), args)
			bad := false
			for _, v := range list {
				text := plain.Count(v.Files, "file") + " as installed"
				switch {
				case errors.Is(v.Err, fs.ErrNotExist):
					text = "no hashes were kept of it: optcheck toolchain install takes down what is there"
				case v.Err != nil:
					text = fmt.Sprintf("%v: optcheck toolchain install %s puts it right", v.Err, v.Name)
				}
				bad = bad || v.Err != nil
				fmt.Fprintf(env.text, "%s: %s\n", v.Name, text)
			}
			switch {
			case err != nil:
			case bad:
				err = errFound
			case len(list) == 0:
				err = errors.New("no compiler is installed (optcheck toolchain install)")
			}
			return err
		},
	}
}
