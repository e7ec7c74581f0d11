package toolchain

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	clangVersion = regexp.MustCompile(`(?m)^.*clang version (\d+\.\d+\.\d+).*$`)
	cpuLine      = regexp.MustCompile(`(?m)^\s+([a-z][a-z0-9-]*)\s*$`)
)

// introduce asks a tool of LLVM for its version. It returns also the whole answer
// and the way to ask for more.
func introduce(ctx context.Context, r *Runner, path, tool string, version *regexp.Regexp) (id identity, text []byte, ask func(args ...string) ([]byte, error), err error) {
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
	slices.SortFunc(cpus, CompareTargets)
	return slices.Compact(cpus)
}

// gfxNames gives the gfx number of AMD's code names (LLVM, AMDGPUUsage,
// Processors).
var gfxNames = map[string]string{
	"tahiti": "gfx600", "pitcairn": "gfx601", "verde": "gfx601", "hainan": "gfx602", "oland": "gfx602",
	"kaveri": "gfx700", "hawaii": "gfx701", "kabini": "gfx703", "mullins": "gfx703", "bonaire": "gfx704",
	"carrizo": "gfx801", "iceland": "gfx802", "tonga": "gfx802", "fiji": "gfx803", "polaris10": "gfx803",
	"polaris11": "gfx803", "tongapro": "gfx805", "stoney": "gfx810",
}

// GFX is the name under which LLVM's output speaks of an AMD target: gfx600 for
// tahiti, the name itself if it has no other.
func GFX(target string) string {
	if g, ok := gfxNames[target]; ok {
		return g
	}
	return target
}

// amdOrder is the key by which AMD's targets are sorted: TeraScale by name, then
// gfx numbers (of which the last two digits are hexadecimal). ok is false for
// targets that are not AMD's.
func amdOrder(t string) (major, minor int, ok bool) {
	g, isGFX := strings.CutPrefix(GFX(t), "gfx")
	if !isGFX {
		return 0, 0, t != "" && !strings.HasPrefix(t, "sm_")
	}
	if base, generic := strings.CutSuffix(g, "-generic"); generic {
		a, b, _ := strings.Cut(base, "-")
		major, _ = strconv.Atoi(a)
		return major, hexNumber(b)*16 + 15, true
	}
	if len(g) < 3 {
		return 0, 0, false
	}
	major = 0
	for _, c := range g[:len(g)-2] {
		major = major*10 + int(c-'0')
	}
	return major, hexNumber(g[len(g)-2:]), true
}

func hexNumber(s string) int {
	n := 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			n = n*16 + int(c-'0')
		case c >= 'a' && c <= 'f':
			n = n*16 + int(c-'a') + 10
		}
	}
	return n
}
