package values

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"optcheck/ptx"
	"optcheck/refine"
)

// moduleHead are the lines that a compiler is given anew.
var moduleHead = regexp.MustCompile(`(?m)^[ \t]*\.(version|target|address_size|file|loc)\b.*$`)

// Finding is a difference in a kernel, with what it takes to see it again.
type Finding struct {
	PTX    string // a module
	File   string // that it is in
	Kernel string
	// Toolchain, Target and Level name the cell that it was found in.
	Toolchain, Target, Level string
	*refine.Finding
}

// Kept reads the finding of a folder that Keep has written.
func Kept(dir string) (*Finding, error) {
	e, err := readKept(dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, kernelFile)
	if _, err := os.Stat(file); err != nil {
		file = filepath.Join(dir, "min.ptx") // of a bundle of package bug
	}
	m, err := ptx.Parse(file, []byte(e.PTX))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for _, f := range m.Funcs {
		if f.Entry {
			return &Finding{PTX: e.PTX, File: file, Kernel: f.Name, Toolchain: e.Toolchain, Target: e.Target, Level: e.Level, Finding: e.Finding}, nil
		}
	}
	return nil, fmt.Errorf("%s: there is no kernel in %s", dir, kernelFile)
}

// Again is what a cell makes of a finding.
type Again struct {
	Cell    string          `json:"cell"`
	Wrong   bool            `json:"wrong"`
	Why     string          `json:"why,omitempty"`
	Finding *refine.Finding `json:"finding,omitempty"`
	// Device is what a device did; NotRun is why none did.
	Device *Replayed `json:"device,omitempty"`
	NotRun string    `json:"not_run,omitempty"`
}

// Replay judges a finding again in cells, on its input; on a device, too, unless chip is nil: there also where the emulator sees no
// difference.
func Replay(ctx context.Context, f *Finding, cells []Cell, chip *Chip) (out []Again, err error) {
	s := &subject{name: f.Kernel, text: strings.TrimLeft(moduleHead.ReplaceAllString(f.PTX, ""), "\n"), inputs: []*refine.Input{f.Input}, early: f.Early}
	s.read()
	for _, c := range cells {
		v, err := judge(ctx, c, []*subject{s})
		if err != nil {
			return nil, err
		}
		a := Again{Cell: c.String(), Wrong: v[0].outcome == Wrong, Why: v[0].reason(), Finding: v[0].finding}
		if chip != nil && v[0].outcome != Refused && s.program != nil {
			x := counterexample{s.text, s.name, s.program, v[0].finding}
			if x.finding == nil {
				x.finding = f.Finding
			}
			if a.Device, err = chip.run(ctx, c, x); err != nil {
				if ctx.Err() != nil {
					return nil, err
				}
				a.NotRun = err.Error()
			}
		}
		out = append(out, a)
	}
	return out, nil
}
