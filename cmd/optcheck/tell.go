package main

import (
	"fmt"
	"io"
	"io/fs"
	"strings"

	"optcheck/internal/plain"
	"optcheck/litmus"
)

// tell writes a message for people to standard error: a line that begins with
// the program's name. Strings and errors may hold names of anything: they can
// neither act on a terminal nor end the line and pose as another message.
func (env *environment) tell(format string, args ...any) {
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = plain.Line(a)
		case error:
			args[i] = message(a, env.args)
		}
	}
	fmt.Fprintf(env.stderr, "optcheck: "+format+"\n", args...)
}

// out is standard output: for programs as it is, for people made visible.
func (env *environment) out(programs bool) io.Writer {
	if programs {
		return env.stdout
	}
	return env.text
}

// message is the text of an error for people. Several errors stand on lines of
// their own, all but the first indented; names of files, which may hold line
// ends, too, do not make lines.
func message(err error, names []string) string {
	text := err.Error()
	for _, name := range append(fileNames(err), names...) {
		if line := plain.Line(name); line != name {
			text = strings.ReplaceAll(text, name, line)
		}
	}
	return strings.ReplaceAll(plain.Text(strings.TrimRight(text, "\n")), "\n", "\n  ")
}

// fileNames lists the files that an error, or one that it wraps, speaks of.
func fileNames(err error) (names []string) {
	switch e := err.(type) {
	case *fs.PathError:
		names = append(names, e.Path)
	case *litmus.Error:
		names = append(names, e.Pos.File)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			names = append(names, fileNames(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			names = append(names, fileNames(inner)...)
		}
	}
	return names
}
