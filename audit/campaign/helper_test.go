package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus/corpus"
)

// TestMain lets the test's own program do tasks: a task's result is a file with
// its name. The environment says what goes wrong: FAULT_<stage>_<index> is a
// number of tries that fail, HOLD a file that shards from HOLD_FROM on wait for.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == programFile { // never the tests: they would start themselves
		if err := task(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// task does a task in the manner of the real program.
func task(args []string) error {
	if len(args) != 6 || args[5] != "--begun" || args[0] != "campaign" || args[1] != "task" {
		return fmt.Errorf("unexpected arguments %q", args)
	}
	t := Task{Stage: Stage(args[3]), Index: number(args[4])}
	c, err := Open(args[2])
	if err != nil {
		return err
	}
	a, err := c.Begin(t)
	if errors.Is(err, ErrDone) {
		return nil
	}
	if err != nil {
		return err
	}
	if hold := os.Getenv("HOLD"); hold != "" && t.Stage == Shards && t.Index >= number(cmp.Or(os.Getenv("HOLD_FROM"), "1")) {
		for _, err := os.Stat(hold); err != nil; _, err = os.Stat(hold) {
			time.Sleep(20 * time.Millisecond)
		}
	}
	try := number(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(a.Store), tryPrefix), storeSuffix))
	if n := os.Getenv(fmt.Sprintf("FAULT_%s_%d", t.Stage, t.Index)); n != "" && try <= number(n) {
		return fmt.Errorf("fault in try %d", try)
	}
	text := fmt.Sprintln(t)
	switch t.Stage {
	case Device:
		if _, err := c.Result(Task{Shards, t.Index}); err != nil {
			return err
		}
	case Merge:
		text = ""
		for _, s := range []Stage{Shards, Device} {
			for i := 1; i <= c.Tasks(s); i++ {
				file, err := c.Result(Task{s, i})
				if err != nil {
					return mergeLater(c, err)
				}
				data, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				text += string(data)
			}
		}
	}
	a.Progress(1, 1)
	if err := os.WriteFile(a.Store, []byte(text), 0o644); err != nil {
		return err
	}
	return a.Finish(1, true)
}

// mergeLater submits what is missing, as the real merging does.
func mergeLater(c *Campaign, cause error) error {
	d, release, err := NewDriver(c)
	if err != nil {
		return err
	}
	defer release()
	d.Self, d.Grace = &Task{Merge, 1}, testGrace
	if d.Detaches() {
		_, err = d.Settle(context.Background())
	}
	return errors.Join(cause, err)
}

const testGrace = 3 * time.Second

// hold keeps shards from the first one named on from ending, until release is
// called.
func hold(t *testing.T, from int) (release func()) {
	file := filepath.Join(t.TempDir(), "go on")
	t.Setenv("HOLD", file)
	t.Setenv("HOLD_FROM", strconv.Itoa(from))
	return func() { require.NoError(t, os.WriteFile(file, nil, 0o644)) }
}

// create makes a campaign of the corpus.
func create(t *testing.T, text string) *Campaign {
	t.Helper()
	s, err := Parse("c.yaml", []byte(text))
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	p := &Plan{Tool: "test", Spec: s, Cells: s.Shards, Store: filepath.Join(t.TempDir(), "out.db"),
		Parts: []Part{{Vendor: "nvidia", Toolchains: []event.Toolchain{{ID: "ptxas 12.4", Build: "b"}}, Cells: s.Shards}}}
	// A name that has to be quoted, wherever it goes.
	c, err := Create(filepath.Join(t.TempDir(), `a "b" $(touch x) '%j'`), exe, p, [][]Test{tests()})
	require.NoError(t, err)
	return c
}

func tests() (out []Test) {
	for _, t := range corpus.Tests() {
		out = append(out, Test{Test: t, Preset: "corpus"})
	}
	return out
}

// want returns what the merging must leave.
func want(c *Campaign) string {
	text := ""
	for _, s := range []Stage{Shards, Device} {
		for i := 1; i <= c.Tasks(s); i++ {
			text += fmt.Sprintln(Task{s, i})
		}
	}
	return text
}

func merged(t *testing.T, c *Campaign) string {
	t.Helper()
	file, err := c.Result(Task{Merge, 1})
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

func source(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}
