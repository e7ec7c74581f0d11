package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/internal/input"
	"optcheck/internal/whole"
)

// configName is the name of a configuration file.
const configName = "optcheck.yaml"

// userDir is the folder of the user's own configuration, "" if there is none.
func userDir(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "optcheck")
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "optcheck")
	}
	return ""
}

// trustFile holds the folders that the user trusts, a line each.
func trustFile(getenv func(string) string) (string, error) {
	dir := userDir(getenv)
	if dir == "" {
		return "", errors.New("no folder for the user's own configuration: neither XDG_CONFIG_HOME nor HOME is set")
	}
	return filepath.Join(dir, "trusted"), nil
}

// trusted lists the folders that the user trusts.
func (env *environment) trusted() ([]string, error) {
	file, err := trustFile(env.getenv)
	if err != nil {
		return nil, err
	}
	text, err := input.ReadFile(file, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), nil
}

// trusts reports whether the user trusts a folder. If that cannot be told, not.
func (env *environment) trusts(dir string) bool {
	dir, err := realFolder(dir)
	if err != nil {
		return false
	}
	all, err := env.trusted()
	return err == nil && slices.Contains(all, dir)
}

// realFolder is the one path of a folder that holds no link.
func realFolder(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() || strings.Contains(dir, "\n") {
		return "", errors.Join(err, fmt.Errorf("%s is no folder that can be trusted", dir))
	}
	return dir, nil
}

func newTrustCmd(env *environment) *cobra.Command {
	var list, remove bool
	cmd := &cobra.Command{
		Use:   "trust FOLDER…",
		Short: "Let configuration in a folder name programs to run",
		Long: `Let the files optcheck.yaml and campaign files of a folder (not those of folders in
it) name folders whose compilers are run, arguments of sbatch and of compilers, paths
outside of the folder, and limits. Nobody but the user should be able to write there:
whoever can has programs run as this user.

Without that, such settings come only from a flag, the environment, or the user's own
configuration; those of a folder are ignored, and of a campaign file refused. Nothing
but this command grants trust.`,
		Example: `  optcheck trust .
  optcheck trust --list
  optcheck trust --remove ../old`,
		Args: func(cmd *cobra.Command, args []string) error {
			if list {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := env.trusted()
			if err != nil {
				return err
			}
			if list {
				if len(all) == 0 {
					env.tell("no folder is trusted")
				}
				for _, dir := range all {
					fmt.Fprintln(env.text, dir)
				}
				return nil
			}
			for _, arg := range args {
				dir, err := realFolder(arg)
				if err != nil && !remove {
					return err
				}
				n := len(all)
				all = slices.DeleteFunc(all, func(d string) bool { return d == dir || remove && d == arg })
				if remove && len(all) == n {
					return fmt.Errorf("%s is not trusted", arg)
				}
				if !remove {
					all = append(all, dir)
				}
			}
			return env.writeTrusted(all)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the folders that are trusted")
	cmd.Flags().BoolVar(&remove, "remove", false, "trust these folders no more")
	return cmd
}

// writeTrusted replaces the list: who reads it sees the old or the new one.
func (env *environment) writeTrusted(all []string) error {
	file, err := trustFile(env.getenv)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	var list strings.Builder
	for _, dir := range all {
		fmt.Fprintln(&list, dir)
	}
	return whole.Write(file, []byte(list.String()), 0o600)
}
