package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// stamp and stampDate are the tag or commit that make built and the day of the commit.
var stamp, stampDate string

// version is the tag or the commit that the program was built from, with the day of the
// commit where that is known.
func version() string {
	v, date := stamp, stampDate
	if info, ok := debug.ReadBuildInfo(); ok {
		setting := map[string]string{}
		for _, s := range info.Settings {
			setting[s.Key] = s.Value
		}
		if m := info.Main.Version; m != "(devel)" {
			v = cmp.Or(v, m)
		}
		revision := setting["vcs.revision"]
		v = cmp.Or(v, revision[:min(12, len(revision))])
		day, _, _ := strings.Cut(setting["vcs.time"], "T")
		date = cmp.Or(date, day)
	}
	if v = cmp.Or(v, "unknown"); date != "" {
		v += " of " + date
	}
	return v
}

func newVersionCmd(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print what this program was built from",
		Example: "  optcheck version\n  optcheck version --json",
		Args:    cobra.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			build, err := buildID()
			if err != nil {
				return err
			}
			if asJSON {
				return env.printJSON(map[string]string{"version": version(), "build": build, "go": runtime.Version(),
					"platform": runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err = fmt.Fprintf(env.stdout, "optcheck %s, %s %s/%s\nbuild %s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, build)
			return err
		},
	}
	jsonFlag(cmd, &asJSON, oneObject)
	return cmd
}
