package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"optcheck/audit/store"
	"optcheck/internal/plain"
)

func newStoreCheckCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "check STORE",
		Short: "Look for damage in a store",
		Long: `Look for damage in a store: the database's own check, contents that are not what
their hash or checksum says or cannot be read, references to what is not there. Exit
code 1 says that something was found. Nothing repairs a store: take a copy of it, or
audit again into a new one.`,
		Example: "  optcheck store check all.store",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runStoreCheck(cmd.Context(), env, args[0]) },
	}
}

func runStoreCheck(ctx context.Context, env *environment, path string) error {
	s, err := storeAt(ctx, path, store.Read)
	if errors.Is(err, store.ErrDamaged) {
		fmt.Fprintln(env.text, err)
		return errFound
	}
	if err != nil {
		return err
	}
	defer s.Close()
	faults, err := s.Check(ctx)
	if err != nil {
		return err
	}
	for _, f := range faults {
		fmt.Fprintln(env.text, f)
	}
	if len(faults) > 0 {
		return errFound
	}
	info, err := s.Info(ctx)
	if err == nil {
		fmt.Fprintf(env.text, "%s: %s, no fault\n", plain.Line(path), plain.Count(info.Cells, "cell"))
	}
	return err
}
