package main

import (
	"github.com/spf13/cobra"
)

func newMergeCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "merge OUT IN…",
		Short: "Merge stores and event streams into a store",
		Long: `Merge stores, and event streams (audit --output; - for standard input; also compressed
by gzip), into the store OUT, which is made if it is not there. Each input is taken in
as a whole or not at all. Merging an input again changes nothing, and their order
matters only for which run is the latest: that of the last input. Its setting is shown
unless another one is asked for, and its build is what optcheck store gc takes for the
newest. Two results for one cell are an error that names it; the result of a failed
attempt (a timeout, a process that could not be run) gives way to any other.`,
		Example: `  optcheck merge all.store shard-1.store shard-2.store
  optcheck merge all.store run.jsonl`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return merge(cmd.Context(), env, args[0], args[1:]) },
	}
}
