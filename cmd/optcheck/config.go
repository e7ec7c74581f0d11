package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"optcheck/internal/input"
	"optcheck/internal/limits"
	"optcheck/internal/strictyaml"
)

// defaults are the settings that can come from a flag, the environment
// (OPTCHECK_NAME, dashes as underscores) or a configuration file.
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
	"disassembler":   "dictionary",
	"fail-on":        "new",
	"allow-unknown":  0,
	"known":          []string{},
	"new-only":       false,
	"limits":         []string{},
}

// guarded are the settings that a configuration file in the current folder may
// not have unless the user trusts that folder, with what they could do.
var guarded = map[string]string{
	"toolchain-dirs": "it names programs to run",
	"limits":         "it protects this machine",
	"timeout":        "it protects this machine",
	"jobs":           "it protects this machine",
}

// maxConfig bounds a configuration file, in bytes.
const maxConfig = 1 << 20

// config is the effective configuration.
type config struct {
	v     *viper.Viper
	files map[string]string // setting → the file that it is from
	cmd   *cobra.Command
	env   func(string) string
}

func envName(key string) string {
	return "OPTCHECK_" + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// loadConfig reads the user's own configuration and that of the current folder,
// or the one that a flag names, and what environment and flags say beside.
func loadConfig(env *environment, cmd *cobra.Command) (*config, error) {
	c := &config{v: viper.New(), cmd: cmd, env: env.getenv, files: map[string]string{}}
	for k, d := range defaults {
		c.v.SetDefault(k, d)
	}
	if dir := userDir(env.getenv); dir != "" {
		if err := c.read(filepath.Join(dir, configName), false, nil); err != nil {
			return nil, err
		}
	}
	path, _ := cmd.Flags().GetString("config")
	if cmd.LocalNonPersistentFlags().Lookup("config") != nil {
		path = "" // the command's own flag of that name, which means something else
	}
	var err error
	if path != "" {
		err = c.read(path, true, nil)
	} else {
		err = c.read(configName, false, func(key string) bool { return c.accept(env, key) })
	}
	if err != nil {
		return nil, err
	}
	if err := unknownVariables(os.Environ()); err != nil {
		return nil, err
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
	if err := c.kinds(); err != nil {
		return nil, err
	}
	lim, err := limits.Default().Parse(c.strings("limits"))
	if err != nil {
		return nil, fmt.Errorf("%w (from %s)", err, c.origin("limits"))
	}
	limits.Use(lim)
	return c, nil
}

// read takes the settings of a file, those that it may have: accept, if not nil,
// says which of the guarded ones. A file that must not be there may be missing.
func (c *config) read(path string, must bool, accept func(key string) bool) error {
	if err := expect(path, wantSettings); err != nil {
		return err
	}
	text, err := input.ReadFile(path, maxConfig)
	switch {
	case !must && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("configuration: %w", err)
	}
	if err := strictyaml.Check(text); err != nil {
		return fmt.Errorf("%s: %w (%s)", path, err, wantSettings.hint)
	}
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(text)); err != nil {
		var bad viper.ConfigParseError
		if errors.As(err, &bad) {
			err = bad.Unwrap()
		}
		return fmt.Errorf("%s: %w (%s)", path, strictyaml.Plain(err), wantSettings.hint)
	}
	keys := v.AllKeys()
	slices.Sort(keys)
	for _, k := range keys {
		if _, ok := defaults[k]; !ok {
			return fmt.Errorf("%s: unknown setting %q (known: %s)", path, k, strings.Join(settingNames(), ", "))
		}
		if guarded[k] != "" && accept != nil && !accept(k) {
			continue
		}
		c.v.Set(k, v.Get(k))
		c.files[k] = path
	}
	return nil
}

// accept reports whether the configuration of the current folder may have a
// guarded setting, and says so if not.
func (c *config) accept(env *environment, key string) bool {
	if env.trusts(".") {
		return true
	}
	if c.cmd.Name() != "trust" {
		env.tell("%s: %s is ignored: %s (optcheck trust . if this folder is yours)", configName, key, guarded[key])
	}
	return false
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
	if file := c.files[key]; file != "" {
		return file
	}
	return "default"
}

// given reports whether a flag is on the command line.
func (c *config) given(flag string) bool { return c.cmd.Flags().Changed(flag) }

func (c *config) strings(key string) []string { return c.v.GetStringSlice(key) }

func newConfigCmd(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration and where each value came from",
		Long: `Print the effective configuration and where each value came from.

A setting is taken from the command line, else from the environment variable
OPTCHECK_NAME (dashes as underscores, lists separated by commas or colons), else from a
configuration file. That is optcheck.yaml of this folder (or --config FILE), else the
user's own (${XDG_CONFIG_HOME:-~/.config}/optcheck/optcheck.yaml). Without any, the
default holds. What names programs to run, or protects this machine, is not taken from a
folder that the user does not trust (see optcheck trust).

Limits of what one input may cost are settings, too: limits, a list of NAME=VALUE. Whoever
reaches one gets unknown with the reason, or an error.

` + limitTable(),
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
				return env.printJSON(out)
			}
			tw := tabwriter.NewWriter(env.stdout, 0, 8, 2, ' ', 0)
			for _, k := range settingNames() {
				fmt.Fprintf(tw, "%s\t%v\t%s\n", k, c.v.Get(k), c.origin(k))
			}
			return tw.Flush()
		},
	}
	jsonFlag(cmd, &asJSON, oneObject)
	return cmd
}

// limitTable lists the limits with their defaults.
func limitTable() string {
	var b strings.Builder
	for _, row := range limits.Default().Table() {
		fmt.Fprintf(&b, "  %-13s %-11s %s\n", row[0], row[1], row[2])
	}
	return b.String()
}
