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
	"optcheck/reduce"
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
	"SYNCS": "MBAR", "ARRIVES": "MBAR", "LDGSTS": "COPY", "LDGDEPBAR": "GROUP", "UBLKCP": "COPY", "UTMACMDFLUSH": "GROUP", "UCGABAR_ARV": "BAR",
	"UCGABAR_WAIT": "BAR", "CCTL": "AUX"}

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

func (b *ptxRoad) compile(ctx context.Context, p *program, tc *toolchain.Toolchain, level string) (*code, error) {
	return recipe{tc, b.f.Target, level, b.f.Flags}.compile(ctx, p, kernel(b.find.Thread))
}

// compile compiles and disassembles a program as the bundle's Makefile does, and lists the
// accesses of a kernel.
func (r recipe) compile(ctx context.Context, p *program, kernel string) (*code, error) {
	res, err := r.tc.Compile(ctx, toolchain.Job{Target: r.target, Level: r.level, Header: p.header,
		Units: []toolchain.Unit{{Name: unit, Text: p.body}}, Flags: r.flags})
	if err != nil {
		return nil, err
	}
	if e := res.Failed[0]; e != nil {
		return nil, e
	}
	text, err := r.tc.Disassemble(ctx, res.Batches[0].Cubin, toolchain.DisasmOptions{Input: unit})
	if err != nil {
		return nil, err
	}
	return &code{tc: r.tc, target: r.target, level: r.level, text: text, lines: accesses(text, kernel, p.ambiguous)}, nil
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
	tc, level := goodPlace(b.in.Where, b.in.Toolchains, b.f.Toolchain, b.f.Target, b.f.Level)
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
func goodPlace(w *reduce.Where, all []*toolchain.Toolchain, own *toolchain.Toolchain, target, level string) (*toolchain.Toolchain, string) {
	if w == nil {
		return nil, ""
	}
	for _, id := range []string{w.Range.LastGood, w.Range.NextGood} {
		if p := w.At(id, target, level); id != "" && p != nil && p.Class == report.Preserved {
			if at := slices.IndexFunc(all, func(tc *toolchain.Toolchain) bool { return tc.ID == id }); at >= 0 {
				return all[at], level
			}
		}
	}
	for _, level := range slices.Backward(audit.Levels) {
		if p := w.At(own.ID, target, level); p != nil && p.Class == report.Preserved {
			return own, level
		}
	}
	return nil, ""
}

func (b *bundler) view() string { return viewOf(b.find.Rule, b.prog.ambiguous, b.bad, b.good) }

// viewOf returns the coarsest view that distinguishes bad from good code; for rules about
// strength it is at least the view by mnemonics.
func viewOf(rule string, ambiguous bool, bad, good *code) string {
	least := "class"
	switch rule {
	case "missing", "merged", "reordered", "duplicated", "extra-access", "kind-changed":
	default:
		least = "mnemonic"
	}
	if ambiguous {
		return "text"
	}
	for _, v := range views[slices.Index(views, least):] {
		if good == nil || !slices.Equal(view(bad.lines, v), view(good.lines, v)) {
			return v
		}
	}
	return "text"
}

func (b *bundler) diff() string {
	w := b.road.words()
	return diffOf(w.good, w.bad, kernel(b.find.Thread), b.good, b.bad, b.road.listing)
}

// diffOf compares good and bad code of a kernel by their accesses, one per line.
func diffOf(goodFile, badFile, kernel string, good, bad *code, listing func(*code) []string) string {
	join := func(c *code) string { return strings.Join(listing(c), "\n") + "\n" }
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s: %s, %s -%s, accesses and fences of %s\n", goodFile, good.tc.ID, good.target, good.level, kernel)
	fmt.Fprintf(&out, "+++ %s: %s, %s -%s, accesses and fences of %s\n", badFile, bad.tc.ID, bad.target, bad.level, kernel)
	d := diffmatchpatch.New()
	x, y, lines := d.DiffLinesToRunes(join(good), join(bad))
	for _, part := range d.DiffCharsToLines(d.DiffMainRunes(x, y, false), lines) {
		mark := map[diffmatchpatch.Operation]string{diffmatchpatch.DiffDelete: "-", diffmatchpatch.DiffInsert: "+",
			diffmatchpatch.DiffEqual: " "}[part.Type]
		for l := range strings.Lines(part.Text) {
			out.WriteString(mark + l)
		}
	}
	return out.String()
}
