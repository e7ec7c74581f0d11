package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"optcheck/internal/input"
	"optcheck/internal/plain"
)

// watchPause is how long a watch waits before it looks at its files again.
const watchPause = 300 * time.Millisecond

// watched are the ends of names of files that an audit may read: programs, tests, and what CUDA C++ includes.
var watched = []string{".ptx", ".cu", ".cubin", ".litmus", ".h", ".hpp", ".cuh", ".inc", ".yaml"}

// watch audits again whenever a file that is named, or one beside or below it that it may include, changes, until the context ends.
// What is wrong with a round, such as a file that does not compile, is told, and the next change is waited for.
func watch(ctx context.Context, env *environment, names []string, audit func() error) error {
	for {
		seen, n, err := stateOf(names)
		if err != nil {
			return err
		}
		err = audit()
		if ctx.Err() != nil {
			return cmp.Or(err, context.Cause(ctx))
		}
		if err != nil && !errors.Is(err, errFound) {
			env.tell("%v", err)
		}
		env.tell("%s %s watched; Ctrl-C ends", plain.Count(n, "file"), plain.Form(n, "is", "are"))
		for now := seen; now == seen; {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(watchPause):
			}
			if now, _, err = stateOf(names); err != nil { // an editor is just replacing one
				now = seen
			}
		}
	}
}

// stateOf identifies what files hold, by sizes and times, of those that are named and of those beside or below them. n is how many they are.
func stateOf(names []string) (state string, n int, err error) {
	var list []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return "", 0, err
		}
		dir := name
		if !info.IsDir() {
			list, dir = append(list, filepath.Clean(name)), filepath.Dir(name)
		}
		more, _, err := input.Files(dir, func(name string) bool { return slices.Contains(watched, filepath.Ext(name)) })
		if err != nil {
			return "", 0, err
		}
		for _, f := range more {
			list = append(list, filepath.Clean(f))
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	var b strings.Builder
	for _, f := range list {
		if info, err := os.Stat(f); err == nil {
			fmt.Fprintln(&b, f, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String(), len(list), nil
}
