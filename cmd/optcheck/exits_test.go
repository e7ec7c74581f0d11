package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// fullDevice is a disk without space.
type fullDevice struct{}

func (fullDevice) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestExits: every command has a row in the table of exit codes, and the table no other. Of each the same is true of what
// they have in common: help is 0, and 2 if it cannot be written; wrong usage is 2.
func TestExits(t *testing.T) {
	no := func(string) string { return "" }
	rows := 0
	for _, c := range visible(newRootCmd(&environment{getenv: no})) {
		path := c.CommandPath()
		row, ok := exits[path]
		require.True(t, ok, "%s has no row in exits", path)
		require.NotEmpty(t, row.zero, path)
		rows++
		args := strings.Fields(path)[1:]
		end := func(to interface{ Write([]byte) (int, error) }, more ...string) int {
			var stderr bytes.Buffer
			return Main(context.Background(), no, strings.NewReader(""), to, &stderr, append(args[:len(args):len(args)], more...))
		}
		require.Equal(t, exitOK, end(&bytes.Buffer{}, "--help"), path)
		require.Equal(t, exitUsage, end(fullDevice{}, "--help"), path)
		require.Equal(t, exitUsage, end(&bytes.Buffer{}, "--no-such-flag"), path)
	}
	require.Len(t, exits, rows, "a row is of no command")
}

// TestExitsWithoutTools walks through the table for the commands that need neither compilers nor devices. What they print
// they must have printed: on a full disk each ends with 2.
func TestExitsWithoutTools(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o666)) }
	write("plain.s", "\t.section\t.text.k\n")
	write("known.yaml", "known:\n- {id: cannot-tell, rule: undecided, class: unknown, note: n, reason: r}\n")
	write("crash.yaml", "known:\n- {id: dies, rule: crash, class: crashed, note: n, reason: r}\n")
	stream := func(name string, cells int, classes ...string) {
		var b bytes.Buffer
		r := event.NewRun()
		r.Config = event.Config{Schema: event.Schema, Tool: "t", Tests: 1, Cells: cells, Toolchains: []event.Toolchain{{ID: "ptxas 12.4.131"}},
			Targets: []string{"sm_80"}, Levels: []string{"O0", "O1", "O2", "O3"}, Layouts: []string{"pointers"}}
		for i, class := range classes {
			c := event.Cell{Test: "mp", Hash: "h", Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: r.Config.Levels[i], Layout: "pointers",
				Result: event.Result{Class: class}}
			switch class {
			case event.Crashed:
				c.Findings = []event.Finding{{Rule: event.RuleCrash, Thread: 0, Access: -1, Detail: "ptxas: dies"}}
			case event.Changed, event.Miscompiled:
				c.Findings = []event.Finding{{Rule: "merged", Thread: 0, Access: 0, Detail: "d"}}
			case event.Unknown:
				c.Reason = "nobody knows"
			}
			r.Cells = append(r.Cells, c)
		}
		require.NoError(t, r.Replay(event.NewJSONLines(&b)))
		write(name, b.String())
	}
	stream("good.jsonl", 2, event.Preserved, event.Optimised)
	stream("bad.jsonl", 1, event.Miscompiled)
	stream("none.jsonl", 0)
	write("k.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\t.reg .b64 %rd1;\n"+
		"\tld.param.u64 %rd1, [out];\n\tst.global.u32 [%rd1], 1;\n\tret;\n}\n")
	stream("changed.jsonl", 1, event.Changed)
	stream("crashed.jsonl", 2, event.Crashed, event.Preserved)
	stream("unknown.jsonl", 2, event.Unknown, event.Preserved)
	stream("short.jsonl", 3, event.Preserved)
	damaged, err := os.ReadFile("bad.jsonl")
	require.NoError(t, err)
	write("damaged.jsonl", strings.Replace(string(damaged), "miscompiled", "miscompilee", 1))

	run := func(to interface{ Write([]byte) (int, error) }, args ...string) (int, string) {
		var stderr bytes.Buffer
		code := Main(context.Background(), func(string) string { return "" }, strings.NewReader(""), to, &stderr, args)
		return code, stderr.String()
	}
	for line, want := range map[string]int{
		"": 0, "app": 0, "app list": 0, "campaign": 0, "campaign init": 0, "config": 0, "convert mp --to lisa": 0, "explain": 0, "explain crash": 0,
		"explain nothing-of-the-kind": 2, "gen presets": 0, "gen kinds": 0, "gen cycle PodWW Rfe PodRR Fre": 0, "known": 0, "known list": 0,
		"known list --known known.yaml": 0, "known list --known no.yaml": 2, "log": 0, "lift --meanings": 0, "models": 0, "models nothing": 2,
		"model mp": 0, "model no-such-test": 2, "tests": 0, "tests mp --print": 0, "tests no-such-test": 2, "version": 0, "toolchain": 0, "store": 0,
		"store artefact": 0, "issues good.jsonl": 0, "issues damaged.jsonl": 2, "isa plain.s": 2, "emit mp --targets sm_80": 0,
		"model compare ptx ptx mp": 0, "model compare ptx-2015 ptx corpus": 1,

		"report good.jsonl": 0, "report good.jsonl --fail-on changed": 0, "report good.jsonl --fail-on optimised": 1, "report bad.jsonl": 1, "report bad.jsonl --fail-on never": 0,
		"report changed.jsonl": 0, "report changed.jsonl --fail-on miscompiled": 0, "report changed.jsonl --fail-on changed": 1,
		"report changed.jsonl --fail-on optimised": 1, "report bad.jsonl --fail-on miscompiled": 1, "report bad.jsonl --fail-on unknown": 0,
		"report crashed.jsonl": 1, "report crashed.jsonl --fail-on never": 0, "report crashed.jsonl --fail-on unknown": 0,
		"report crashed.jsonl --known crash.yaml": 0, "report crashed.jsonl --known crash.yaml --fail-on miscompiled": 1,
		"report crashed.jsonl --known crash.yaml --fail-on miscompiled --new-only": 0,
		"report unknown.jsonl": 0, "report unknown.jsonl --fail-on unknown": 1, "report unknown.jsonl --fail-on unknown --allow-unknown 1": 0,
		"report unknown.jsonl --fail-on changed": 1, "report unknown.jsonl --fail-on miscompiled --known known.yaml": 0,
		"report unknown.jsonl --allow-unknown -1": 2,
		"report short.jsonl":                      0, "report short.jsonl --fail-on unknown": 2, "report damaged.jsonl": 2, "report no.jsonl": 2,
		"diff good.jsonl good.jsonl": 0, "diff good.jsonl changed.jsonl": 0, "diff good.jsonl changed.jsonl --fail-on miscompiled": 0,
		"diff good.jsonl changed.jsonl --fail-on changed": 1, "diff good.jsonl unknown.jsonl --fail-on changed": 1, "diff good.jsonl unknown.jsonl": 0, "diff good.jsonl bad.jsonl": 1, "diff good.jsonl crashed.jsonl": 1, "diff good.jsonl damaged.jsonl": 2,
		"diff good.jsonl none.jsonl": 2, "diff none.jsonl none.jsonl": 2, "diff none.jsonl bad.jsonl": 1,
		"emulate --grid 0 k.ptx": 2, "emulate k.ptx": 0,
		"merge out.store good.jsonl": 0, "merge damaged.store damaged.jsonl": 2, "store merge more.store good.jsonl": 0,
		"store import new.store good.jsonl": 0, "store import new2.store damaged.jsonl": 2, "store info out.store": 0, "store check out.store": 0,
		"store export out.store": 0, "store gc out.store": 0, "store artefact list out.store": 0, "store check good.jsonl": 2,
	} {
		if strings.HasPrefix(line, "store ") || strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "report ") {
			if _, err := os.Stat("out.store"); err != nil { // the order of a map is any
				code, told := run(&bytes.Buffer{}, "merge", "out.store", "good.jsonl")
				require.Zero(t, code, told)
			}
		}
		var out bytes.Buffer
		code, told := run(&out, strings.Fields(line)...)
		require.Equal(t, want, code, "%s: %s", line, told)
		if code == exitUsage {
			require.Contains(t, told, "optcheck: ", line)
		}
		if out.Len() > 0 && code != exitUsage {
			for _, made := range []string{"new.store", "more.store"} {
				_ = os.Remove(made)
			}
			code, told = run(fullDevice{}, strings.Fields(line)...)
			require.Equal(t, exitUsage, code, "%s > /dev/full", line)
			require.Contains(t, told, "no space left on device", line)
		}
	}
}

// TestExitsOfRuns: what a run that was to be done makes of the exit code.
func TestExitsOfRuns(t *testing.T) {
	cells := func(classes ...string) *event.Run {
		r := event.NewRun()
		for _, c := range classes {
			r.Cells = append(r.Cells, event.Cell{Result: event.Result{Class: c, Reason: "because"}})
		}
		return r
	}
	broken := cells(event.Preserved)
	broken.Problems = []event.Problem{{Kind: event.ProblemInput, Detail: "k.ptx"}}
	loose := cells(event.Preserved)
	loose.Problems = []event.Problem{{Kind: event.ProblemCrash, Detail: "k.ptx"}}
	short := cells(event.Preserved)
	short.Config.Cells = 2
	covered := cells(event.Unknown, event.Preserved)
	covered.Cells[0].Known = []string{"mine"}
	for name, x := range map[string]struct {
		run   *event.Run
		gate  gate
		found bool
		why   string
	}{
		"good":                 {cells(event.Preserved, event.Optimised, event.Unsupported), gate{"new", 0}, false, ""},
		"miscompiled":          {cells(event.Miscompiled, event.Unknown), gate{"new", 0}, true, ""},
		"crashed":              {cells(event.Crashed), gate{"new", 0}, true, ""},
		"crashed without cell": {loose, gate{"new", 0}, true, ""},
		"one undecided":        {cells(event.Unknown, event.Preserved), gate{"new", 0}, false, "1 cell could not be decided: because"},
		"only undecided":       {cells(event.Unknown), gate{"new", 0}, false, "1 cell could not be decided"},
		"undecided, never":     {cells(event.Unknown), gate{"never", 0}, false, "1 cell could not be decided"},
		"undecided, allowed":   {cells(event.Unknown, event.Preserved), gate{"changed", 1}, false, ""},
		"too many undecided":   {cells(event.Unknown, event.Unknown), gate{"new", 1}, false, "2 cells could not be decided"},
		"undecided and known":  {covered, gate{"unknown", 0}, false, ""},
		"counted":              {cells(event.Unknown), gate{"unknown", 0}, true, ""},
		"invalid":              {cells(event.Invalid, event.Preserved), gate{"never", 9}, false, "1 cell is invalid: because"},
		"invalid and found":    {cells(event.Invalid, event.Miscompiled), gate{"new", 0}, false, "invalid"},
		"nothing":              {cells(event.Unsupported), gate{"new", 0}, false, "no cell could be decided: because"},
		"unread":               {broken, gate{"new", 0}, false, "1 file could not be read: k.ptx"},
		"short":                {short, gate{"never", 0}, false, "incomplete"},
	} {
		err := x.gate.done(x.run)
		require.Equal(t, x.found, errors.Is(err, errFound), name)
		if x.why == "" && !x.found {
			require.NoError(t, err, name)
		} else if x.why != "" {
			require.ErrorContains(t, err, x.why, name)
		}
	}
}

// TestFilesOnFullDevice: a file that is named for output and cannot be written is 2.
func TestFilesOnFullDevice(t *testing.T) {
	t.Chdir(t.TempDir())
	file, err := filepath.Abs("good.jsonl")
	require.NoError(t, err)
	var b bytes.Buffer
	r := event.NewRun()
	r.Config = event.Config{Schema: event.Schema, Tests: 1, Cells: 1}
	r.Cells = []event.Cell{{Test: "mp", Hash: "h", Result: event.Result{Class: event.Preserved}}}
	require.NoError(t, r.Replay(event.NewJSONLines(&b)))
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o666))
	for _, line := range []string{"report good.jsonl --report sarif=/dev/full", "report good.jsonl --report junit=/dev/full"} {
		var stderr bytes.Buffer
		code := Main(context.Background(), func(string) string { return "" }, strings.NewReader(""), &bytes.Buffer{}, &stderr, strings.Fields(line))
		require.Equal(t, exitUsage, code, line)
		require.Contains(t, stderr.String(), "no space left on device", line)
	}
}
