package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"optcheck/depgen"
	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/spec"
)

// DepKinds are the kinds of dependency in the order of the survival matrix.
var DepKinds = []spec.DepKind{spec.DepAddr, spec.DepData, spec.DepCtrl}

// DepProbe is one dependency to be compiled: from a load of global memory, by a scheme, to an
// access.
type DepProbe struct {
	Scheme *depgen.Scheme
	Kind   spec.DepKind
	Into   string // ld, st or atom
	Space  litmus.Space
	Bits   int // width of the address: 64, or 32 for shared memory
}

// Name returns the probe's test name.
func (p DepProbe) Name() string {
	return fmt.Sprintf("dep+%s+%v+%s.%v%d", p.Scheme.Name, p.Kind, p.Into, p.Space, p.Bits)
}

// DepProbes lists all probes: every scheme and kind into loads, stores and atomics, of global
// memory and of shared memory with 64- and 32-bit addresses. A load has no data to depend on.
func DepProbes() []DepProbe {
	var out []DepProbe
	for _, s := range depgen.Schemes {
		for _, k := range DepKinds {
			for _, into := range []string{"ld", "st", "atom"} {
				if k == spec.DepData && into == "ld" {
					continue
				}
				out = append(out, DepProbe{s, k, into, litmus.Global, 64}, DepProbe{s, k, into, litmus.Shared, 64},
					DepProbe{s, k, into, litmus.Shared, 32})
			}
		}
	}
	return out
}

// Test builds the probe's test: one thread that loads x, then accesses y.
func (p DepProbe) Test() *litmus.Test {
	t := &litmus.Test{Dialect: litmus.GPUPTX, Name: p.Name(), Doc: p.Scheme.Title,
		Locations: []litmus.Location{{Name: "x", Space: litmus.Global}, {Name: "y", Space: p.Space}},
		Threads:   []litmus.Thread{{Name: "T0", Placed: true}}}
	b := &depgen.Builder{Thread: &t.Threads[0]}
	width := litmus.B64
	if p.Bits == 32 {
		width = litmus.B32
	}
	x, y := b.Reg("rd", litmus.B64), b.Reg("rd", width)
	t.Threads[0].Regs[0].Init, t.Threads[0].Regs[1].Init = litmus.Loc("x"), litmus.Loc("y")
	from := b.Reg("r", litmus.S32)
	b.Emit(litmus.Instr{Op: litmus.OpLd, Type: litmus.S32, Dst: from, Addr: litmus.Addr{Reg: x}})
	in := litmus.Instr{Op: litmus.OpLd, Type: litmus.S32, Addr: litmus.Addr{Reg: y}}
	value := litmus.Const(1)
	switch p.Kind {
	case spec.DepAddr:
		in.Addr.Reg = p.Scheme.Addr(b, from, y, p.Bits)
	case spec.DepData:
		value = litmus.Reg(p.Scheme.Data(b, from, 1))
	case spec.DepCtrl:
		in.Guard = p.Scheme.Ctrl(b, from)
	}
	switch p.Into {
	case "st":
		in.Op, in.Src = litmus.OpSt, []litmus.Operand{value}
	case "atom":
		in.Op, in.Atom, in.Type, in.Src = litmus.OpAtom, litmus.AtomExch, litmus.B32, []litmus.Operand{value}
	}
	if in.Op != litmus.OpSt {
		in.Dst = b.Reg("r", litmus.S32)
	}
	b.Emit(in)
	return t
}

// DepCell is one entry of the survival matrix.
type DepCell struct {
	Scheme    string `json:"scheme"`
	Kind      string `json:"kind"` // address, data, control
	Into      string `json:"into"` // ld, st, atom
	Space     string `json:"space"`
	Bits      int    `json:"address_bits"`
	Toolchain string `json:"toolchain"`
	Target    string `json:"target"`
	Level     string `json:"level"`
	Layout    string `json:"layout"`
	Fate      string `json:"fate"` // kept, removed, unsupported, unknown
	Detail    string `json:"detail,omitempty"`
}

// The fates of a dependency.
const (
	DepKept        = "kept"
	DepRemoved     = "removed"
	DepUnsupported = "unsupported"
	DepUnknown     = "unknown"
)

// Dependencies compiles every probe over the matrix of o, whose tests it sets, and reports
// which dependencies are still in the machine code.
func Dependencies(ctx context.Context, o Options) ([]DepCell, error) {
	o.NoVerdict = true // the question is whether the dependency is broken, not whether that is legal
	probes := map[string]DepProbe{}
	o.Tests = nil
	for _, p := range DepProbes() {
		t := p.Test()
		if err := t.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		probes[t.Name] = p
		o.Tests = append(o.Tests, t)
	}
	run := event.NewRun()
	if err := Run(ctx, o, run); err != nil {
		return nil, err
	}
	out := make([]DepCell, 0, len(run.Cells))
	for i := range run.Cells {
		c := &run.Cells[i]
		p := probes[c.Test]
		d := DepCell{Scheme: p.Scheme.Name, Kind: p.Kind.String(), Into: p.Into, Space: p.Space.String(), Bits: p.Bits,
			Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Layout: c.Layout}
		d.Fate, d.Detail = depFate(c)
		out = append(out, d)
	}
	return out, nil
}

// depFate determines the fate of the dependency from the cell of its probe. Findings that leave
// both accesses and what joins them in place do not matter: retargeted only says that an
// address computed in so odd a way cannot be shown to be the location's. Any other finding
// leaves the fate unknown.
func depFate(c *event.Cell) (fate, detail string) {
	switch c.Class {
	case optcheck.Preserved.String():
		return DepKept, ""
	case optcheck.UnsupportedClass.String():
		return DepUnsupported, c.Reason
	case optcheck.Unknown.String():
		return DepUnknown, c.Reason
	}
	fate = DepKept
	for _, f := range c.Findings {
		switch f.Rule {
		case optcheck.DependencyBroken.ID, optcheck.ControlChanged.ID:
			return DepRemoved, f.Detail
		case optcheck.Retargeted.ID, optcheck.Weakened.ID, optcheck.WidthChanged.ID:
		default:
			fate, detail = DepUnknown, f.Rule+": "+f.Detail
		}
	}
	return fate, detail
}

// WriteDepsJSON writes the matrix as JSON lines.
func WriteDepsJSON(w io.Writer, cells []DepCell) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range cells {
		if err := enc.Encode(map[string]*DepCell{"dependency": &cells[i]}); err != nil {
			return err
		}
	}
	return nil
}

// depCount counts fates, except unsupported.
type depCount struct{ kept, removed, unknown int }

func (n *depCount) add(fate string) {
	switch fate {
	case DepKept:
		n.kept++
	case DepRemoved:
		n.removed++
	case DepUnknown:
		n.unknown++
	}
}

// String returns kept, removed, or how many of how many are kept.
func (n depCount) String() string {
	all := n.kept + n.removed + n.unknown
	s := ""
	switch {
	case all == 0:
		return "-"
	case n.kept == all:
		s = "kept"
	case n.removed == all:
		s = "removed"
	default:
		s = fmt.Sprintf("kept %d of %d", n.kept, all)
	}
	if n.unknown > 0 {
		s += fmt.Sprintf(" (%d unknown)", n.unknown)
	}
	return s
}

// WriteDepsText writes a table for each toolchain and level: schemes by kinds, over all
// targets, layouts and accesses. Then it lists, for what is neither kept nor removed
// everywhere, the targets and accesses.
func WriteDepsText(w io.Writer, cells []DepCell) error {
	type key struct{ a, b, scheme, kind string }
	count := map[key]*depCount{}
	var columns [][2]string
	at := func(k key) *depCount {
		if count[k] == nil {
			count[k] = &depCount{}
		}
		return count[k]
	}
	for _, c := range cells {
		if col := [2]string{c.Toolchain, c.Level}; !slices.Contains(columns, col) {
			columns = append(columns, col)
		}
		at(key{c.Toolchain, c.Level, c.Scheme, c.Kind}).add(c.Fate)
	}
	slices.SortFunc(columns, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "toolchain\tlevel\tscheme")
	for _, k := range DepKinds {
		fmt.Fprintf(tw, "\t%v", k)
	}
	fmt.Fprintln(tw)
	for _, col := range columns {
		for _, s := range depgen.Schemes {
			fmt.Fprintf(tw, "%s\t%s\t%s", col[0], col[1], s.Name)
			for _, k := range DepKinds {
				fmt.Fprintf(tw, "\t%v", *at(key{col[0], col[1], s.Name, k.String()}))
			}
			fmt.Fprintln(tw)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	return writeMixed(w, cells)
}

// writeMixed lists where dependencies are lost that are kept elsewhere.
func writeMixed(w io.Writer, cells []DepCell) error {
	type row struct{ toolchain, level, scheme, kind string }
	total := map[row]*depCount{}
	for _, c := range cells {
		r := row{c.Toolchain, c.Level, c.Scheme, c.Kind}
		if total[r] == nil {
			total[r] = &depCount{}
		}
		total[r].add(c.Fate)
	}
	seen := map[string]int{}
	var lines []string
	for _, c := range cells {
		n := total[row{c.Toolchain, c.Level, c.Scheme, c.Kind}]
		if n.kept == 0 || c.Fate != DepRemoved && c.Fate != DepUnknown {
			continue
		}
		l := fmt.Sprintf("%s: %s dependency by %s into %s.%s%d, %s %s: %s", c.Fate, c.Kind, c.Scheme, c.Into, c.Space,
			c.Bits, c.Toolchain, c.Level, c.Layout)
		if seen[l]++; seen[l] == 1 {
			lines = append(lines, l)
		}
	}
	for _, l := range lines {
		if _, err := fmt.Fprintf(w, "%s (%d targets)\n", l, seen[l]); err != nil {
			return err
		}
	}
	return nil
}

// ReadDeps reads the survival matrix that WriteDepsJSON wrote. Errors name file
// and line.
func ReadDeps(file string, in io.Reader) ([]DepCell, error) {
	return input.Table[DepCell](file, in, "dependency", func(c *DepCell) string { return c.Fate })
}
