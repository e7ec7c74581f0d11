package toolchain

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"

	"optcheck/target"
)

var (
	clangVersion = regexp.MustCompile(`(?m)^.*clang version (\d+\.\d+\.\d+).*$`)
	cpuLine      = regexp.MustCompile(`(?m)^\s+([a-z][a-z0-9-]*)\s*$`)
)

// introduce asks a tool of LLVM for its version. It returns also the whole answer
// and the way to ask for more.
func introduce(ctx context.Context, r *Runner, path, tool string, version *regexp.Regexp) (id identity, text []byte,
	ask func(args ...string) ([]byte, error), err error) {
	l := &LLVM{Clang: path, libraries: librariesOf(path)}
	c := command{path: path, timeout: r.askTimeout(), limit: 1 << 20, env: l.Environment()}
	ask = func(args ...string) ([]byte, error) {
		c.args = args
		out, err := r.run(ctx, c)
		return append(out.stdout, out.stderr...), err
	}
	if text, err = ask("--version"); err != nil {
		return identity{}, nil, nil, asInfrastructure(err)
	}
	m := version.FindSubmatch(text)
	if m == nil {
		return identity{}, nil, nil, c.fail(ErrInfrastructure, "cannot be identified: "+firstLine(string(bytes.ToValidUTF8(text, nil))), nil)
	}
	return identity{Tool: tool, Version: string(m[1]), Build: strings.TrimSpace(string(m[0]))}, text, ask, nil
}

// identifyClang asks a clang who it is and which AMD targets it knows. A clang
// that was built without AMD's back ends has no targets.
func identifyClang(ctx context.Context, r *Runner, path string) (identity, error) {
	id, _, ask, err := introduce(ctx, r, path, "clang", clangVersion)
	if err != nil {
		return identity{}, err
	}
	for _, t := range []struct {
		triple string
		list   *[]string
	}{{"amdgcn-amd-amdhsa", &id.Targets}, {"r600--", &id.R600}} {
		text, err := ask("-target", t.triple, "-nogpulib", "--print-supported-cpus")
		if err != nil && ctx.Err() != nil {
			return identity{}, err
		}
		if err == nil {
			*t.list = parseCPUs(text)
		}
	}
	return id, nil
}

// parseCPUs reads the list behind "Available CPUs", without the names that stand
// for no chip.
func parseCPUs(text []byte) []string {
	_, list, ok := bytes.Cut(text, []byte("Available CPUs"))
	if !ok {
		return nil
	}
	var cpus []string
	for _, m := range cpuLine.FindAllSubmatch(list, -1) {
		if s := string(m[1]); s != "generic" && s != "generic-hsa" {
			cpus = append(cpus, s)
		}
	}
	slices.SortFunc(cpus, target.Compare)
	return slices.Compact(cpus)
}
