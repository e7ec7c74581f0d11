package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"optcheck/ptxgen/cycle"
)

func newGenPresetsCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "presets [NAME]",
		Short: "List the built-in configurations with their numbers of tests, or print one",
		Example: `  optcheck gen presets
  optcheck gen presets quick > gen.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				text, err := cycle.PresetText(args[0])
				if err != nil {
					return err
				}
				_, err = env.stdout.Write(text)
				return err
			}
			for _, p := range cycle.Presets() {
				g, err := cycle.Preset(p)
				if err != nil {
					return err
				}
				fmt.Fprintf(env.stdout, "%s\t%d\n", p, g.Count())
			}
			return nil
		},
	}
}
