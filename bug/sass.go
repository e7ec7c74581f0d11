package bug

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/match"
	"optcheck/optcheck"
	"optcheck/reduce"
	"optcheck/sass/hazard"
	"optcheck/toolchain"
)

// code is a disassembly of the smallest program.
type code struct {
	tc     *toolchain.Toolchain
	target string
	level  string
	text   []byte
	lines  []access // what is compared of the thread with the finding
	// flights are the claims about registers in flight, if control codes are compared.
	flights []hazard.Claim
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
	return recipe{tc, b.f.Target, level, b.f.Flags, b.extent()}.compile(ctx, p, kernel(b.find.Thread))
}

// extent is what of the machine code the bundle compares.
func (b *bundler) extent() extent { return extentOf(b.find.Rule, false) }

// compile compiles and disassembles a program as the bundle's Makefile does, and lists what the
// bundle compares of a kernel.
func (r recipe) compile(ctx context.Context, p *program, kernel string) (*code, error) {
	res, err := r.tc.Compile(ctx, toolchain.Job{Target: r.target, Level: r.level, Header: p.header,
		Units: []toolchain.Unit{{Name: unit, Text: p.body}}, Flags: r.flags})
	if err != nil {
		return nil, err
	}
	if e := res.Failed[0]; e != nil {
		return nil, e
	}
	cubin := res.Batches[0].Cubin
	text, err := r.tc.Disassemble(ctx, cubin, toolchain.DisasmOptions{Input: unit, Encoding: r.extent == controlled})
	if err != nil {
		return nil, err
	}
	c := &code{tc: r.tc, target: r.target, level: r.level, text: text, lines: r.extent.of(text, kernel, p.ambiguous)}
	if r.extent == controlled {
		c.flights, err = flights(ctx, r, cubin, kernel)
	}
	return c, err
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
	if b.extent() == controlled {
		return bad.flies(b.find.Rule)
	}
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
		if p := w.At(id, target, level); id != "" && p != nil && p.Class == event.Preserved {
			if at := slices.IndexFunc(all, func(tc *toolchain.Toolchain) bool { return tc.ID == id }); at >= 0 {
				return all[at], level
			}
		}
	}
	return lowerPlace(w, own, target)
}

// lowerPlace is the highest level at which a release keeps the program, nil if there is none.
func lowerPlace(w *reduce.Where, own *toolchain.Toolchain, target string) (*toolchain.Toolchain, string) {
	if w != nil {
		for _, level := range slices.Backward(audit.Levels) {
			if p := w.At(own.ID, target, level); p != nil && p.Class == event.Preserved {
				return own, level
			}
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
	if ambiguous || optcheck.InFlight(rule) {
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
	return diffOf(w.good, w.bad, kernel(b.find.Thread), b.good, b.bad, b.extent(), b.road.listing)
}

// diffOf compares good and bad code of a kernel, one instruction per line.
func diffOf(goodFile, badFile, kernel string, good, bad *code, of extent, listing func(*code) []string) string {
	join := func(c *code) string { return strings.Join(listing(c), "\n") + "\n" }
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s: %s, %s -%s, %s of %s\n", goodFile, good.tc.ID, good.target, good.level, of, kernel)
	fmt.Fprintf(&out, "+++ %s: %s, %s -%s, %s of %s\n", badFile, bad.tc.ID, bad.target, bad.level, of, kernel)
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
