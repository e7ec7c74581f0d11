package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/ptx"
	"optcheck/realcode"
)

// programs are the files of real code among arguments: PTX files, and those in
// folders that hold PTX and no tests. ok is false if there is none; both kinds of
// arguments at once are an error.
func programs(args []string) (files []string, ok bool, err error) {
	for _, a := range args {
		switch {
		case filepath.Ext(a) == ".ptx":
			files = append(files, a)
		case a != "-":
			found, err := ptxIn(a)
			if err != nil {
				return nil, false, err
			}
			files = append(files, found...)
		}
		if len(files) == 0 && ok || len(files) > 0 && !ok && a != args[0] {
			return nil, false, fmt.Errorf("%s: tests and PTX files cannot be audited in one run", a)
		}
		ok = len(files) > 0
	}
	return files, ok, nil
}

// ptxIn lists the PTX files of a folder; none if it has tests, or is no folder.
func ptxIn(dir string) (files []string, err error) {
	tests := false
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return fs.SkipAll // no folder: whoever takes it for a test says more
		case err != nil:
			return err
		case filepath.Ext(path) == ".litmus":
			tests = true
			return fs.SkipAll
		case filepath.Ext(path) == ".ptx" && d.Type().IsRegular() && path != dir:
			files = append(files, path)
		}
		return nil
	})
	if tests {
		return nil, err
	}
	slices.Sort(files)
	return files, err
}

// readPTX reads a module.
func readPTX(file string) (*ptx.Module, error) {
	data, err := input.ReadFile(file, ptx.MaxInput)
	if err != nil {
		return nil, err
	}
	return ptx.Parse(file, data)
}

// auditPrograms audits files of real code. A file that cannot be read is told at the
// end, and costs no other.
func auditPrograms(ctx context.Context, env *environment, f *auditFlags, files []string) error {
	fail, err := env.settings.fail()
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"text", "json"}, f.format) || len(f.reports) > 0 || f.store != "" || f.gen != "" || f.shard != "" {
		return fmt.Errorf("PTX files are audited with --format text or json, and without --report, --store, --gen and --shard")
	}
	o := realcode.Options{Targets: env.settings.targets, Levels: env.settings.levels, Jobs: env.settings.jobs}
	rep := &realcode.Report{Notes: f.text.Notes}
	out := json.NewEncoder(env.stdout)
	out.SetEscapeHTML(false)
	worst, failed := 0, 0
	for _, file := range files {
		m, err := readPTX(file)
		if err != nil {
			env.tell("%v", err)
			failed++
			continue
		}
		if o.Toolchains == nil {
			if o.Toolchains, err = discover(ctx, env); err != nil {
				return err
			} else if len(o.Toolchains) == 0 {
				return fmt.Errorf("no ptxas was found; optcheck toolchain install gets some")
			}
		}
		err = realcode.Audit(ctx, o, m, func(c *realcode.Cell) error {
			worst = max(worst, rankOf(c.Class))
			if f.format == "json" {
				return out.Encode(c)
			}
			kept := *c
			rep.Add(&kept)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if f.format == "text" && failed < len(files) {
		if err := writePlain(env, rep); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files could not be read", failed, len(files))
	}
	return failing(fail, worst)
}

// rankOf orders the classes of cells of real code.
func rankOf(class string) int {
	return slices.Index([]string{realcode.Unsupported, realcode.Preserved, realcode.Unknown, realcode.Changed}, class)
}

// failing is the error of the exit code: whatever differs may be miscompiled, for no
// model is asked of real code, and by default that is only told.
func failing(fail string, worst int) error {
	changed, unknown := rankOf(realcode.Changed), rankOf(realcode.Unknown)
	hit := false
	switch fail {
	case "optimised", "changed", "miscompiled":
		hit = worst == changed || worst == unknown
	case "unknown":
		hit = worst == unknown || worst == changed
	}
	if hit {
		return errFound
	}
	return nil
}

// checkProgram compares a cubin with the PTX that it was made of.
func checkProgram(ctx context.Context, env *environment, file, code string, asJSON bool) error {
	fail, err := env.settings.fail()
	if err != nil {
		return err
	}
	m, err := readPTX(file)
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
	tcs, err := discover(ctx, env)
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
		rep := &realcode.Report{}
		rep.Add(c)
		err = writePlain(env, rep)
	}
	if err != nil {
		return err
	}
	return failing(fail, rankOf(c.Class))
}

// writePlain writes a report, whatever names from outside are in it.
func writePlain(env *environment, rep *realcode.Report) error {
	w := plain.NewWriter(env.stdout)
	if err := rep.Write(w); err != nil {
		return err
	}
	return w.Flush()
}
