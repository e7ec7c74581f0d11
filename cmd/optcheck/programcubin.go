package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"optcheck/event"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/report"
)

func isCubin(file string) bool { return filepath.Ext(file) == ".cubin" }

// auditCubin compares a cubin with the PTX of its name beside it.
func auditCubin(ctx context.Context, env *environment, f *auditFlags, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s: one cubin at a time", strings.Join(args, " "))
	}
	if err := checkFormat(f.format, []string{"text", "json"}); err != nil {
		return err
	}
	file := args[0]
	source := strings.TrimSuffix(file, ".cubin") + ".ptx"
	if _, err := os.Stat(source); err != nil {
		return fmt.Errorf("%s: a cubin is compared with the PTX that it was made of, and there is no %s: optcheck check FILE.ptx %s names another one",
			file, source, filepath.Base(file))
	}
	return checkProgram(ctx, env, source, file, f.format == "json", f.text)
}

// checkProgram compares a cubin with the PTX that it was made of.
func checkProgram(ctx context.Context, env *environment, file, code string, asJSON bool, text report.TextOptions) error {
	gate, err := env.settings.gate()
	if err != nil {
		return err
	}
	m, err := readPTX(file, 0)
	if err != nil {
		return err
	}
	data, err := readInput(env, code)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(data[:min(4, len(data))]), "\x7fELF") {
		return fmt.Errorf("%s: not a cubin, which is what PTX is compared with", code)
	}
	tcs, err := discover(ctx, env.forFile())
	if err != nil {
		return err
	}
	c, err := realcode.CheckCubin(ctx, tcs, m, code, data)
	if err != nil {
		return err
	}
	if asJSON {
		err = json.NewEncoder(env.stdout).Encode(c)
	} else {
		err = writeProgram(env, m, c, text)
	}
	if err != nil {
		return err
	}
	return gate.one(event.Result{Class: c.Class, Reason: c.Reason})
}

// writeProgram writes what a cell says of a module for people.
func writeProgram(env *environment, m *ptx.Module, c *realcode.Cell, text report.TextOptions) error {
	run, p := event.NewRun(), realcode.NewProgram(m, realcode.Origin{})
	run.Config = event.Config{Tests: len(p.Tests), Cells: len(p.Tests), Layouts: []string{event.OwnLayout}, Levels: []string{c.Level},
		Toolchains: []event.Toolchain{{ID: c.Toolchain}}, Claims: realcode.Statement(realcode.Runs)}
	for i := range p.Tests {
		if err := run.Handle(event.Event{Test: &p.Tests[i]}); err != nil {
			return err
		}
	}
	if err := p.Events(c, run.Handle); err != nil {
		return err
	}
	return renderers["text"](&rendering{env: env, text: text}, env.stdout, run)
}
