package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"optcheck/internal/strictyaml"
)

// defaults are the settings that can come from a flag, the environment
// (OPTCHECK_NAME, dashes as underscores) or optcheck.yaml.
var defaults = map[string]any{
	"vendor":         "nvidia",
	"source":         "",
	"toolchain-dirs": []string{},
	"toolchains":     []string{},
	"targets":        []string{},
	"levels":         []string{},
	"layouts":        []string{},
	"jobs":           0,
	"timeout":        "60s",
	"fail-on":        "never",
	"known":          []string{},
	"new-only":       false,
}

// config is the effective configuration.
type config struct {
	v    *viper.Viper
	file string
	cmd  *cobra.Command
	env  func(string) string
}

func envName(key string) string {
	return "OPTCHECK_" + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

func loadConfig(env *environment, cmd *cobra.Command) (*config, error) {
	c := &config{v: viper.New(), cmd: cmd, env: env.getenv}
	for k, d := range defaults {
		c.v.SetDefault(k, d)
	}
	path, _ := cmd.Flags().GetString("config")
	if cmd.LocalNonPersistentFlags().Lookup("config") != nil {
		path = "" // the command's own flag of that name, which means something else
	}
	explicit := path != ""
	if !explicit {
		path = "optcheck.yaml"
	}
	if err := expect(path, wantSettings); err != nil {
		return nil, err
	}
	data, err := os.Open(path)
	switch {
	case err == nil:
		defer data.Close()
		c.file = path
		c.v.SetConfigType("yaml")
		if err := c.v.ReadConfig(data); err != nil {
			var bad viper.ConfigParseError
			if errors.As(err, &bad) {
				err = bad.Unwrap()
			}
			return nil, fmt.Errorf("%s: %w (%s)", path, strictyaml.Plain(err), wantSettings.hint)
		}
		for _, k := range c.v.AllKeys() {
			if _, ok := defaults[k]; !ok {
				return nil, fmt.Errorf("%s: unknown setting %q (known: %s)", path, k, strings.Join(settingNames(), ", "))
			}
		}
	case explicit || !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("configuration: %w", err)
	}
	for k := range defaults {
		if s := env.getenv(envName(k)); s != "" {
			if _, list := defaults[k].([]string); list {
				c.v.Set(k, splitList(s))
			} else {
				c.v.Set(k, s)
			}
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := defaults[f.Name]; ok && f.Changed {
			if s, ok := f.Value.(pflag.SliceValue); ok {
				c.v.Set(f.Name, s.GetSlice())
			} else {
				c.v.Set(f.Name, f.Value.String())
			}
		}
	})
	return c, nil
}

func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == os.PathListSeparator })
}

func settingNames() []string {
	var ks []string
	for k := range defaults {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return ks
}

// origin says where a setting's value came from.
func (c *config) origin(key string) string {
	if f := c.cmd.Flags().Lookup(key); f != nil && f.Changed {
		return "flag --" + key
	}
	if c.env(envName(key)) != "" {
		return "environment " + envName(key)
	}
	if c.file != "" && c.v.InConfig(key) {
		return c.file
	}
	return "default"
}

func (c *config) strings(key string) []string { return c.v.GetStringSlice(key) }

func newConfigCmd(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration and where each value came from",
		Long: `Print the effective configuration and where each value came from.

A setting is taken from the command line, else from the environment variable
OPTCHECK_NAME (dashes as underscores, lists separated by commas or colons), else from the
configuration file, else from the default.`,
		Example: `  optcheck config
  OPTCHECK_TARGETS=sm_80,sm_90 optcheck config --json`,
		Args: cobra.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			c := env.config
			if asJSON {
				type entry struct {
					Value  any    `json:"value"`
					Origin string `json:"origin"`
				}
				out := map[string]entry{}
				for _, k := range settingNames() {
					out[k] = entry{c.v.Get(k), c.origin(k)}
				}
				enc := json.NewEncoder(env.stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(out)
			}
			tw := tabwriter.NewWriter(env.stdout, 0, 8, 2, ' ', 0)
			for _, k := range settingNames() {
				fmt.Fprintf(tw, "%s\t%v\t%s\n", k, c.v.Get(k), c.origin(k))
			}
			return tw.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
