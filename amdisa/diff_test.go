package amdisa

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
)

// differences compares the programs of two listings of the same code: what -S
// prints and what the disassembler prints. Padding, addresses, encodings and
// lines differ; so do symbols, which are numbers in an object that is not linked.
func differences(a, b *isa.Program) []string {
	var out []string
	add := func(format string, args ...any) {
		if len(out) < 20 {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	if len(a.Funcs) != len(b.Funcs) {
		add("%d functions, not %d", len(a.Funcs), len(b.Funcs))
		return out
	}
	for i, f := range a.Funcs {
		g := b.Funcs[i]
		if f.Name != g.Name || f.Callable != g.Callable || f.Wave != g.Wave {
			add("function %s (callable %v, wave %d) is %s (%v, %d)", f.Name, f.Callable, f.Wave, g.Name, g.Callable, g.Wave)
		}
		x, y := essential(f), essential(g)
		if len(x) != len(y) {
			add("%s: %d instructions, not %d", f.Name, len(x), len(y))
			continue
		}
		for k := range x {
			if d := differ(x[k].in, y[k].in); d != "" {
				add("%s: %s: %q and %q", f.Name, d, x[k].in.Text, y[k].in.Text)
			}
			if x[k].target != y[k].target {
				add("%s: %q goes to %d and %d", f.Name, x[k].in.Text, x[k].target, y[k].target)
			}
		}
	}
	return out
}

type numbered struct {
	in     *isa.Inst
	target int // among the essential instructions
}

// essential leaves out s_nop, which the disassembler also prints for alignment.
func essential(f *isa.Func) []numbered {
	num := make([]int, len(f.Insts)+1)
	n := 0
	for i := range f.Insts {
		num[i] = n
		if !padding(&f.Insts[i]) {
			n++
		}
	}
	num[len(f.Insts)] = n
	var out []numbered
	for i := range f.Insts {
		in := &f.Insts[i]
		if padding(in) {
			continue
		}
		t := -1
		if in.Target >= 0 {
			t = num[in.Target]
		}
		out = append(out, numbered{in, t})
	}
	return out
}

func padding(in *isa.Inst) bool { return in.Op == "s_nop" || in.Op == "s_code_end" }

// differ names the first field in which two instructions differ.
func differ(a, b *isa.Inst) string {
	symbols := strings.Contains(a.Text, "@") || strings.Contains(b.Text, "@") || a.Flow == isa.FlowCall
	switch {
	case a.Op != b.Op:
		return "mnemonic"
	case a.Role != b.Role || a.Flow != b.Flow:
		return "role"
	case a.Mem != b.Mem:
		return "memory effect"
	case a.Guard != b.Guard:
		return "guard"
	case !slices.Equal(a.Defs, b.Defs) || !slices.Equal(a.Uses, b.Uses) || !slices.Equal(a.Addrs, b.Addrs) || !slices.Equal(a.Data, b.Data):
		return "registers"
	case !slices.Equal(a.Counts, b.Counts) || !slices.Equal(a.Waits, b.Waits):
		return "counters"
	case !symbols && !slices.EqualFunc(a.Micro, b.Micro, func(x, y isa.Micro) bool { return x.String() == y.String() }):
		return "value"
	case !symbols && !slices.EqualFunc(a.Args, b.Args, sameOperand):
		return "operands"
	}
	return ""
}

func sameOperand(a, b isa.Operand) bool {
	if a.Kind == isa.OpdLabel && b.Kind == isa.OpdLabel {
		return true
	}
	a.Text, b.Text = "", ""
	return a == b
}
