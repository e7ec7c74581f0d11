package bug

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"

	"optcheck/audit"
	"optcheck/match"
	"optcheck/optcheck"
	"optcheck/report"
	"optcheck/toolchain"
)

// code is a disassembly of the smallest program.
type code struct {
	tc     *toolchain.Toolchain
	target string
	level  string
	text   []byte
	lines  []access // accesses and fences of the thread with the finding
	// checked is the checker's result for AMD code, nil for NVIDIA's; ptx is the thread with
	// the finding in llc's PTX, nil for machine code.
	checked *optcheck.Result
	ptx     *match.PTXKernel
}

// access is one machine instruction that touches memory or orders it.
type access struct {
	class    string // LD, ST, ATOM, RED, MEMBAR, BAR, AUX; others for AMD
	mnemonic string
	text     string
}

// classes maps the first part of a mnemonic to its class. Others are not accesses of the test:
// constants, private memory, arithmetic.
var classes = map[string]string{"LD": "LD", "LDG": "LD", "LDS": "LD", "LDSLK": "LD", "ST": "ST", "STG": "ST", "STS": "ST", "STSCUL": "ST",
	"ATOM": "ATOM", "ATOMG": "ATOM", "ATOMS": "ATOM", "RED": "RED", "REDG": "RED", "MEMBAR": "MEMBAR", "FENCE": "MEMBAR", "BAR": "BAR",
	"CCTL": "AUX"}

var (
	machineLine = regexp.MustCompile(`^[ \t]*/\*[0-9a-f]+\*/(.*)$`)
	predicate   = regexp.MustCompile(`^@!?[UPT0-9]+[ \t]+`)
	blanks      = regexp.MustCompile(`[ \t]+`)
)

// parseAccess reads the text of an instruction; ok is false if it does not count as an access.
// It mirrors the script check.awk.
func parseAccess(text string, ambiguous bool) (a access, ok bool) {
	text = strings.TrimSpace(strings.NewReplacer("{", " ", "}", " ", ";", " ").Replace(text))
	text = predicate.ReplaceAllString(text, "")
	a.mnemonic, _, _ = strings.Cut(text, " ")
	a.mnemonic = strings.TrimSuffix(a.mnemonic, ".S")
	op, _, _ := strings.Cut(a.mnemonic, ".")
	a.class, a.text = classes[op], blanks.ReplaceAllString(text, " ")
	if a.class == "ST" && !ambiguous && (strings.Contains(a.mnemonic, ".CS") || strings.Contains(a.mnemonic, ".EF")) {
		return a, false
	}
	return a, a.class != ""
}

// accesses lists the accesses of a kernel in nvdisasm's output.
func accesses(text []byte, kernel string, ambiguous bool) []access {
	var list []access
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, ".text."):
			inside = line == ".text."+kernel+":"
		case strings.HasPrefix(strings.TrimSpace(line), ".section"):
			inside = false
		case inside:
			if m := machineLine.FindStringSubmatch(line); m != nil {
				if a, ok := parseAccess(m[1], ambiguous); ok {
					list = append(list, a)
				}
			}
		}
	}
	return list
}

// views lists the ways to look at a sequence of accesses, from coarse to fine.
var views = []string{"class", "mnemonic", "text"}

// view returns the sequence in one of the views.
func view(list []access, how string) []string {
	var out []string
	for _, a := range list {
		switch how {
		case "class":
			if a.class != "AUX" && a.class != "WAIT" {
				out = append(out, a.class)
			}
		case "mnemonic":
			out = append(out, a.mnemonic)
		default:
			out = append(out, a.text)
		}
	}
	return out
}

// compile compiles and disassembles the program as the bundle's Makefile does.
func (b *ptxRoad) compile(ctx context.Context, p *program, tc *toolchain.Toolchain, level string) (*code, error) {
	res, err := tc.Compile(ctx, toolchain.Job{Target: b.f.Target, Level: level, Header: p.header,
		Units: []toolchain.Unit{{Name: unit, Text: p.body}}, Flags: b.f.Flags})
	if err != nil {
		return nil, err
	}
	if e := res.Failed[0]; e != nil {
		return nil, e
	}
	text, err := tc.Disassemble(ctx, res.Batches[0].Cubin, toolchain.DisasmOptions{Input: unit})
	if err != nil {
		return nil, err
	}
	return &code{tc: tc, target: b.f.Target, level: level, text: text, lines: accesses(text, kernel(b.find.Thread), p.ambiguous)}, nil
}

// code finds the program and the machine code to show: bad code, which must show the finding,
// and good code.
func (b *bundler) code(ctx context.Context) error {
	for _, markers := range []bool{false, true} {
		p, err := b.road.emit(ctx, b.f.Toolchain, b.f.Level, markers)
		if err != nil {
			return err
		}
		bad, err := b.road.compile(ctx, p, b.f.Toolchain, b.f.Level)
		if err != nil {
			return err
		}
		if b.road.shows(p, bad) {
			b.prog, b.bad = p, bad
			break
		}
	}
	if b.bad == nil {
		return fmt.Errorf("%w: %s", ErrNotStandalone, b.f.Address())
	}
	tc, level := b.goodPlace()
	if tc == nil {
		return nil
	}
	p, err := b.road.emit(ctx, tc, level, b.prog.markers)
	if err != nil {
		return err
	}
	good, err := b.road.compile(ctx, p, tc, level)
	if err != nil {
		return err
	}
	if slices.Equal(view(good.lines, "text"), view(b.bad.lines, "text")) || good.ptx != nil && b.road.shows(p, good) {
		return nil // another thread's difference: nothing to compare
	}
	b.good = good
	return nil
}

// shows reports whether a program has the accesses that the audit saw.
func (b *ptxRoad) shows(p *program, bad *code) bool {
	return slices.Equal(view(bad.lines, "mnemonic"), b.listed()) || p.ambiguous && p.markers
}

// listed returns the sequence of mnemonics that the audit saw in the thread.
func (b *bundler) listed() []string {
	var list []access
	for _, t := range b.in.Listing.Threads {
		if t.Thread != b.find.Thread {
			continue
		}
		for _, l := range t.Machine {
			if a, ok := parseAccess(l.Text, true); ok {
				list = append(list, a)
			}
		}
	}
	return view(list, "mnemonic")
}

// goodPlace finds a place without the finding: the last good release, else the next one, at the
// same level; else the same release at the highest level at which the test is preserved.
func (b *bundler) goodPlace() (*toolchain.Toolchain, string) {
	w := b.in.Where
	if w == nil {
		return nil, ""
	}
	for _, id := range []string{w.Range.LastGood, w.Range.NextGood} {
		if p := w.At(id, b.f.Target, b.f.Level); id != "" && p != nil && p.Class == report.Preserved {
			if at := slices.IndexFunc(b.in.Toolchains, func(tc *toolchain.Toolchain) bool { return tc.ID == id }); at >= 0 {
				return b.in.Toolchains[at], b.f.Level
			}
		}
	}
	for _, level := range slices.Backward(audit.Levels) {
		if p := w.At(b.f.Toolchain.ID, b.f.Target, level); p != nil && p.Class == report.Preserved {
			return b.f.Toolchain, level
		}
	}
	return nil, ""
}

// view returns the coarsest view that distinguishes bad from good; for rules about strength it
// is at least the view by mnemonics.
func (b *bundler) view() string {
	least := "class"
	switch b.find.Rule {
	case "missing", "merged", "reordered", "duplicated", "extra-access", "kind-changed":
	default:
		least = "mnemonic"
	}
	if b.prog.ambiguous {
		return "text"
	}
	for _, v := range views[slices.Index(views, least):] {
		if b.good == nil || !slices.Equal(view(b.bad.lines, v), view(b.good.lines, v)) {
			return v
		}
	}
	return "text"
}

// diff compares good and bad code by their accesses, one per line.
func (b *bundler) diff() string {
	join := func(c *code) string { return strings.Join(b.road.listing(c), "\n") + "\n" }
	var out strings.Builder
	w := b.road.words()
	fmt.Fprintf(&out, "--- %s: %s, %s -%s, accesses and fences of %s\n", w.good, b.good.tc.ID, b.good.target,
		b.good.level, kernel(b.find.Thread))
	fmt.Fprintf(&out, "+++ %s: %s, %s -%s, accesses and fences of %s\n", w.bad, b.bad.tc.ID, b.bad.target, b.bad.level, kernel(b.find.Thread))
	d := diffmatchpatch.New()
	x, y, lines := d.DiffLinesToRunes(join(b.good), join(b.bad))
	for _, part := range d.DiffCharsToLines(d.DiffMainRunes(x, y, false), lines) {
		mark := map[diffmatchpatch.Operation]string{diffmatchpatch.DiffDelete: "-", diffmatchpatch.DiffInsert: "+",
			diffmatchpatch.DiffEqual: " "}[part.Type]
		for l := range strings.Lines(part.Text) {
			out.WriteString(mark + l)
		}
	}
	return out.String()
}
