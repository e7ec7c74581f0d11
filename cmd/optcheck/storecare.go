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

func newStoreUpgradeCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "upgrade STORE…",
		Short: "Bring stores of older versions to the present schema",
		Long: `Bring stores of older versions of optcheck to the present schema. Whatever writes to a
store does so by itself; what only reads leaves files as they are and asks for it. A
store that is damaged is not touched. Older versions cannot read the store afterwards.`,
		Example: "  optcheck store upgrade all.store",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, path := range args {
				s, err := storeAt(cmd.Context(), path, store.Write)
				if err != nil {
					return err
				}
				info, err := s.Info(cmd.Context())
				if err := errors.Join(err, s.Close()); err != nil {
					return err
				}
				fmt.Fprintf(env.text, "%s: schema %d, %s\n", plain.Line(path), info.Schema, plain.Count(info.Cells, "cell"))
			}
			return nil
		},
	}
}
