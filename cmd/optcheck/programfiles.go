package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/ptxgen/named"
)

// programs are the files of real code among arguments: files of PTX and CUDA C++, and
// those in folders that hold no tests. ok is false if there is none; both kinds of
// arguments at once are an error.
func programs(env *environment, args []string) (files []string, ok bool, err error) {
	for i, a := range args {
		found := []string{a}
		if st, failed := os.Stat(a); failed == nil && st.IsDir() {
			if found, err = programsIn(env, a); err != nil {
				return nil, false, err
			}
		} else if !isProgram(a) {
			found = nil
		}
		if some := len(found) > 0; i > 0 && some != ok {
			return nil, false, fmt.Errorf("%s: tests and programs cannot be audited in one run", a)
		}
		files, ok = append(files, found...), len(found) > 0
	}
	return files, ok, nil
}

func isProgram(file string) bool { return filepath.Ext(file) == ".ptx" || isCUDA(file) }

// programsIn lists the programs in a folder; none if it has tests. A folder without either
// is an error.
func programsIn(env *environment, dir string) (files []string, err error) {
	files, links, err := input.Files(dir, func(name string) bool { return isProgram(name) || named.IsTest(name) })
	if err != nil {
		return nil, err
	}
	n := len(files)
	if n == 0 && len(links) > 0 {
		return nil, fmt.Errorf("%s: no .litmus, .ptx or .cu files, but links, which are not followed: name them, as %s", dir, links[0])
	} else if n == 0 {
		return nil, fmt.Errorf("%s: no .litmus, .ptx or .cu files", dir)
	}
	if len(links) > 0 {
		env.tell("%s: %s not followed, such as %s", dir, plain.Count(len(links), "link")+plain.Form(len(links), " is", " are"), links[0])
	}
	files = slices.DeleteFunc(files, named.IsTest)
	if len(files) == n {
		return files, nil
	}
	if len(files) > 0 {
		env.tell("%s has tests, and only they are audited: without %s and the like", dir, files[0])
	}
	return nil, nil
}

// programFlags and cubinFlags are the flags of audit that mean something to programs, and to a cubin.
var (
	cubinFlags   = []string{"toolchains", "timeout", "disassembler", "fail-on", "allow-unknown", "format", "notes", "cells", "explain-claims", "quiet"}
	programFlags = append([]string{"targets", "levels", "jobs", "known", "new-only", "write-known", "keep-code", "output", "report", "html", "front-flags",
		"store", "unsupported", "execute", "verify", "watch"}, cubinFlags...)
)

// onlyFlags refuses flags that would be ignored.
func onlyFlags(cmd *cobra.Command, why string, allowed []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && cmd.InheritedFlags().Lookup(f.Name) == nil && !slices.Contains(allowed, f.Name) {
			err = fmt.Errorf("--%s: %s", f.Name, why)
		}
	})
	return err
}

// noFlags refuses flags that would be ignored, which are these.
func noFlags(cmd *cobra.Command, why string, refused ...string) error {
	for _, name := range refused {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s: %s", name, why)
		}
	}
	return nil
}
