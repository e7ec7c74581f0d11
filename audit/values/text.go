package values

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/internal/whole"
)

// Line is the progress in one line.
func (p Progress) Line() string {
	return fmt.Sprintf("%.0f s: %s (%.1f/s), %s: %d wrong, %d unknown, %d refused, %d doubtful; %s", p.Seconds, plain.Count(p.Kernels, "kernel"),
		float64(p.Kernels)/max(p.Seconds, 0.001), plain.Count(p.Cells, "cell"), p.Wrong, p.Unknown, p.Refused, p.Doubts, plain.Count(p.Causes, "cause"))
}

// WriteText writes the report for people. Nothing in it depends on the machine.
func (r *Report) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "seed %d: %s, %s: %d wrong, %d unknown, %d refused, %d doubtful; %s\n", r.Seed, plain.Count(r.Kernels, "kernel"),
		plain.Count(r.Cells, "cell"), r.Wrong, r.Unknown, r.Refused, r.Doubts, plain.Count(len(r.Causes), "cause"))
	for _, said := range slices.Sorted(maps.Keys(r.Device)) {
		fmt.Fprintf(b, "run on a device: %d %s\n", r.Device[said], said)
	}
	for i, c := range r.Causes {
		fmt.Fprintf(b, "\n%d. %s\n", i+1, c.Signature)
		c.write(b)
	}
	for _, list := range []struct {
		title string
		of    map[string]int
	}{{"not understood", r.NotUnderstood}, {"refused", r.Messages}} {
		if len(list.of) > 0 {
			fmt.Fprintf(b, "\n%s:\n", list.title)
		}
		for _, why := range slices.Sorted(maps.Keys(list.of)) {
			fmt.Fprintf(b, "  %s: %s\n", plain.Count(list.of[why], "cell"), plain.Line(why))
		}
	}
	if len(r.Doubtful) > 0 {
		fmt.Fprintf(b, "\ndoubtful (wrong at O0):\n")
	}
	for _, d := range r.Doubtful {
		fmt.Fprintf(b, "  kernel %d in %s: %s\n", d.Kernel, d.Cell, d.Why)
	}
	return b.Flush()
}

func (c *Cause) write(b *bufio.Writer) {
	e := c.Example
	fmt.Fprintf(b, "  %s, the first was kernel %d\n", plain.Count(len(c.Kernels), "kernel"), c.Kernels[0])
	for _, w := range c.Where {
		fmt.Fprintf(b, "  in %s\n", w)
	}
	fmt.Fprintf(b, "  %s: %s (thread %d, %s)\n", e.Finding.Rule, e.Finding.Why, e.Finding.Warp*32+e.Finding.Lane, e.Cell)
	for _, line := range e.lines() {
		fmt.Fprintf(b, "    %s\n", line)
	}
}

// frame are the lines that every kernel has.
var frame = regexp.MustCompile(`^\.(version|target|address_size|file|visible)|^\s*(\.reg |ret;|[{}]|mov\.u32 %tid0|ld\.param|cvta|mad\.wide\.u32 %a[01]|$)`)

// lines are those of the kernel that are its own.
func (e *Example) lines() (out []string) {
	for line := range strings.Lines(e.PTX) {
		if line = strings.TrimRight(line, "\n"); !frame.MatchString(line) {
			out = append(out, strings.TrimPrefix(line, "\t"))
		}
	}
	return out
}

// The files of a kept cause.
const (
	kernelFile  = "kernel.ptx"
	findingFile = "finding.json"
	machineFile = "machine.sass"
)

// Keep writes a folder for a cause: the reduced kernel, its machine code, the input with what is expected, and what to run.
func (c *Cause) Keep(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	finding, err := json.MarshalIndent(c.Example, "", "  ")
	if err != nil {
		return err
	}
	for _, f := range []struct{ name, text string }{{kernelFile, c.Example.PTX}, {machineFile, strings.Join(c.Example.Machine, "\n") + "\n"},
		{findingFile, string(finding) + "\n"}, {"README.md", c.readme(dir)}} {
		if err := whole.Write(filepath.Join(dir, f.name), []byte(f.text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cause) readme(dir string) string {
	e, f := c.Example, c.Example.Finding
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n`%s` is compiled wrongly by %s.\n\n", c.Signature, kernelFile, strings.Join(c.Where, ", "))
	fmt.Fprintf(&b, "- compile: `ptxas -arch=%s -%s %s -o kernel.cubin` (`%s` shows what came of it)\n", e.Target, e.Level, kernelFile, machineFile)
	fmt.Fprintf(&b, "- launch: grid %v, block %v, parameters and buffers as `%s` says (base64)\n", f.Input.Grid, f.Input.Block, findingFile)
	fmt.Fprintf(&b, "- %s: %s (thread %d)\n", f.Rule, f.Why, f.Warp*32+f.Lane)
	fmt.Fprintf(&b, "- judge it again, in any release: `optcheck replay %s`; run it on a GPU: `optcheck replay %[1]s --device`\n", filepath.Base(dir))
	return b.String()
}

// maxKept bounds the file of a kept cause.
const maxKept = 16 << 20

// readKept reads what Keep has written.
func readKept(dir string) (*Example, error) {
	path := filepath.Join(dir, findingFile)
	data, err := input.ReadFile(path, maxKept)
	if err != nil {
		return nil, err
	}
	e := &Example{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if e.Finding == nil || e.Finding.Input == nil || e.PTX == "" {
		return nil, fmt.Errorf("%s: this is no kept cause: it has no kernel or no input", path)
	}
	return e, nil
}
