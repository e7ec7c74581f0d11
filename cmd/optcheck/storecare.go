package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

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
	s, err := store.Open(ctx, path, store.Read)
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
				s, err := store.Open(cmd.Context(), path, store.Write)
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

func newStoreGCCmd(env *environment) *cobra.Command {
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use:   "gc STORE",
		Short: "Remove what is superseded or not referred to",
		Long: `Remove from a store the cells of builds of optcheck that a later run replaced by
another build with otherwise the same setting, and of builds of a toolchain that a
later run replaced by another one of the same name; then results, tests, listings
and artefacts that nothing refers to. The space is given back. Audits that write
the store meanwhile are not harmed.`,
		Example: "  optcheck store gc all.store --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStoreGC(cmd.Context(), env, args[0], dry, asJSON)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runStoreGC(ctx context.Context, env *environment, path string, dry, asJSON bool) (err error) {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	s, err := store.Open(ctx, path, store.Write)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	g, err := s.GC(ctx, dry)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env, g)
	}
	did := "removed"
	if dry {
		did = "would remove"
	}
	for _, c := range g.Columns {
		fmt.Fprintf(env.text, "superseded: %s\n", c)
	}
	fmt.Fprintf(env.text, "%s %s\n", did, strings.Join([]string{plain.Count(g.Cells, "cell"), plain.Count(g.Results, "result"), plain.Count(g.Tests, "test"),
		plain.Count(g.Listings, "listing"), plain.Count(g.Artefacts, "artefact"), plain.Count(g.Runs, "run")}, ", "))
	if !dry {
		fmt.Fprintf(env.text, "%d bytes, before %d\n", g.After, g.Before)
	}
	return nil
}
