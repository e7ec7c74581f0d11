package toolchain

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"optcheck/internal/input"
	"optcheck/internal/scratch"
	"optcheck/target"
)

// identifyTimeout bounds each process that asks a tool who it is, unless the
// Runner's own limit is lower; real tools answer within milliseconds, but for
// the first time, when the disk is slow and the machine busy.
const identifyTimeout = time.Minute

func (r *Runner) askTimeout() time.Duration { return min(identifyTimeout, r.timeout) }

// identity is what a tool says of itself.
type identity struct {
	Tool    string   `json:"tool"` // the name in the first line of --version
	Version string   `json:"version"`
	Build   string   `json:"build"`
	Targets []string `json:"targets,omitempty"` // compilers only
	MaxPTX  string   `json:"max_ptx,omitempty"` // ptxas and nvcc only
	R600    []string `json:"r600,omitempty"`    // clang only
	PTX     []string `json:"ptx,omitempty"`     // llc only
}

var (
	versionName  = regexp.MustCompile(`(?m)^(\w+): NVIDIA \(R\)`)
	versionLine  = regexp.MustCompile(`(?m)^Cuda compilation tools, release (\d+\.\d+), V(\d+\.\d+\.\d+)\s*$`)
	buildLine    = regexp.MustCompile(`(?m)^Build (\S+)\s*$`)
	gpuNameHelp  = regexp.MustCompile(`(?ms)^--gpu-name\b.*?Default value`)
	targetName   = regexp.MustCompile(`'(sm_\d+[a-z]*)'`)
	ptxSupported = regexp.MustCompile(`Unsupported \.version 99\.9; current version is '(\d+\.\d+)'`)
)

// identify asks the tool at path, which should be called name, who it is.
func identify(ctx context.Context, r *Runner, path, name string) (identity, error) {
	switch name {
	case "clang":
		return identifyClang(ctx, r, path)
	case "llc":
		return identifyLLC(ctx, r, path)
	}
	c := command{path: path, args: []string{"--version"}, timeout: r.askTimeout(), limit: 1 << 20}
	out, err := r.run(ctx, c)
	if err != nil {
		return identity{}, asInfrastructure(err)
	}
	id, err := parseVersion(out.stdout, name)
	if err != nil {
		return identity{}, c.fail(ErrInfrastructure, "cannot be identified", err)
	}
	switch name {
	case "nvcc":
		return identifyNvcc(ctx, r, path, id)
	case "ptxas":
	default:
		return id, nil
	}
	if id.Targets, err = askTargets(ctx, r, path); err != nil {
		return identity{}, err
	}
	id.MaxPTX, err = askMaxPTX(ctx, r, path, id.Targets[len(id.Targets)-1])
	return id, err
}

// asInfrastructure: whatever a tool answers to a question about itself, a
// refusal is a fault of the tool.
func asInfrastructure(err error) error {
	if e, ok := err.(*Error); ok && e.Kind == ErrCompile {
		e.Kind = ErrInfrastructure
	}
	return err
}

// parseVersion reads the output of --version of any of the three tools.
func parseVersion(text []byte, name string) (identity, error) {
	n := versionName.FindSubmatch(text)
	v := versionLine.FindSubmatch(text)
	if n == nil || v == nil {
		return identity{}, fmt.Errorf("unexpected --version output %q", firstLine(string(bytes.ToValidUTF8(text, nil))))
	}
	id := identity{Tool: string(n[1]), Version: string(v[2])}
	if id.Tool != name {
		return identity{}, fmt.Errorf("it says it is %s, not %s", id.Tool, name)
	}
	if release(id.Version) != string(v[1]) {
		return identity{}, fmt.Errorf("release %s and version %s disagree", v[1], v[2])
	}
	if b := buildLine.FindSubmatch(text); b != nil {
		id.Build = string(b[1]) // toolkits before 11.0 print none
	}
	return id, nil
}

// askTargets reads the architectures that ptxas lists as values of --gpu-name.
func askTargets(ctx context.Context, r *Runner, path string) ([]string, error) {
	c := command{path: path, args: []string{"--help"}, timeout: r.askTimeout(), limit: 1 << 20}
	out, err := r.run(ctx, c)
	if err != nil {
		return nil, asInfrastructure(err)
	}
	targets := parseTargets(out.stdout)
	if len(targets) == 0 {
		return nil, c.fail(ErrInfrastructure, "lists no sm_ target in --help", nil)
	}
	return targets, nil
}

func parseTargets(help []byte) []string {
	var targets []string
	for _, m := range targetName.FindAllSubmatch(gpuNameHelp.Find(help), -1) {
		targets = append(targets, string(m[1]))
	}
	slices.SortFunc(targets, target.Compare)
	return slices.Compact(targets)
}

// askMaxPTX has ptxas refuse a module of an impossible version: the refusal
// names the highest version it accepts.
func askMaxPTX(ctx context.Context, r *Runner, path, target string) (string, error) {
	dir, err := scratch.Dir("probe")
	if err != nil {
		return "", fmt.Errorf("probe %s: %w", path, err)
	}
	defer os.RemoveAll(dir)
	text := ".version 99.9\n.target " + target + "\n.address_size 64\n"
	if err := input.WriteFile(filepath.Join(dir, "probe.ptx"), []byte(text)); err != nil {
		return "", fmt.Errorf("probe %s: %w", path, err)
	}
	c := command{path: path, dir: dir, timeout: r.askTimeout(), limit: 1 << 20,
		args: []string{"-arch=" + target, "probe.ptx", "-o", "probe.cubin"}}
	out, err := r.run(ctx, c)
	if m := ptxSupported.FindSubmatch(out.stderr); m != nil {
		return string(m[1]), nil
	}
	if err == nil {
		return "", c.fail(ErrInfrastructure, "accepts the PTX version 99.9", nil)
	}
	return "", asInfrastructure(err)
}
