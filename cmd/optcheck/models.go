package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"optcheck/model"
)

func newModelsCmd(env *environment) *cobra.Command {
	var asJSON, source bool
	cmd := &cobra.Command{
		Use:   "models [NAME…]",
		Short: "List the built-in memory models with their sources and limits",
		Example: `  optcheck models
  optcheck models ptx --print`,
		RunE: func(_ *cobra.Command, args []string) error {
			list := model.Builtin()
			if len(args) > 0 {
				list = nil
				for _, a := range args {
					i, err := model.Lookup(a)
					if err != nil {
						return err
					}
					list = append(list, i)
				}
			}
			enc := env.lines()
			for _, i := range list {
				switch {
				case source:
					text, err := model.Source(i.Name)
					if err != nil {
						return err
					}
					fmt.Fprint(env.stdout, text)
				case asJSON:
					if err := enc.Encode(map[string]string{"name": i.Name, "title": i.Title, "source": i.Source, "limits": i.Limits}); err != nil {
						return err
					}
				default:
					fmt.Fprintf(env.stdout, "%-13s %s\n%14ssource: %s\n%14slimits: %s\n", i.Name, i.Title, "", i.Source, "", i.Limits)
				}
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON, jsonLines)
	cmd.Flags().BoolVar(&source, "print", false, "print the models' text")
	cmd.MarkFlagsMutuallyExclusive("json", "print")
	return cmd
}
