package main

import (
	"github.com/spf13/cobra"

	"optcheck/runner"
	"optcheck/runner/cuda"
	"optcheck/runner/opencl"
)

// newDeviceProcessCmd is the hidden command that drives one device for another
// process of this program.
func newDeviceProcessCmd() *cobra.Command {
	return &cobra.Command{
		Use:       deviceProcess + " BACKEND",
		Short:     "Drive a device for another process of this program",
		Hidden:    true,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: backendNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			var b runner.Backend = opencl.New()
			if args[0] == "cuda" {
				b = cuda.New()
			}
			return runner.ServeProcess(cmd.Context(), b)
		},
	}
}

// deviceListing is the output of devices --json.
type deviceListing struct {
	Devices []deviceStatus `json:"devices"`
	// Unavailable gives, by back end, why it cannot be used here.
	Unavailable map[string]string `json:"unavailable,omitempty"`
}

type deviceStatus struct {
	ID string `json:"id"` // for --device
	runner.Device
	State *runner.State `json:"state,omitempty"` // only with --state
}
