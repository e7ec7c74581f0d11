package main

import (
	"github.com/spf13/cobra"
)

func newStoreCmd(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "store",
		Example: "  optcheck store info run.store\n  optcheck store gc run.store --dry-run",
		Short:   "Look after a store of results",
		Long: `Look after a store: the file in which audits with --store keep their results.

A store is an SQLite database. Several processes of one machine may write it at
once; one that is killed loses what it was just working on and nothing else. On a
network's file system, give each machine a store of its own and merge them.

Whatever reads a saved run (report, diff, reduce, bug) reads a store, too.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStoreInfoCmd(env), newStoreExportCmd(env), newStoreImportCmd(env), newMergeCmd(env),
		newStoreCheckCmd(env), newStoreGCCmd(env), newStoreArtefactCmd(env))
	return cmd
}
