package optcheck

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/spec"
)

// splicer makes wrong machine code of stored kernels, at random: with instructions of other kernels of the same vendor, other
// registers, conditions, modifiers, targets. No compiler has made it, and what is said of it must be said for a reason all the same.
type splicer struct {
	rnd  *rand.Rand
	pool []*isa.Inst // one of each form
}

// vendorOf is whose machine code a target has.
func vendorOf(target string) string { return strings.TrimRight(target, "0123456789abcdef_") }

// splicers are those of each vendor.
func splicers(cells []JudgedCell) map[string]*splicer {
	out, seen := map[string]*splicer{}, map[string]bool{}
	for i := range cells {
		vendor := vendorOf(cells[i].Target)
		if out[vendor] == nil {
			out[vendor] = &splicer{}
		}
		for _, k := range cells[i].Kernels {
			for n := range k.Func.Insts {
				in := &k.Func.Insts[n]
				form := fmt.Sprint(vendor, in.Op, in.Mods, len(in.Args), in.Mem, in.Guard.Neg)
				if !seen[form] {
					seen[form] = true
					out[vendor].pool = append(out[vendor].pool, in)
				}
			}
		}
	}
	return out
}

// spliced are the ways in which a function is changed; each reports whether it could.
var spliced = []func(s *splicer, f *isa.Func, i int) bool{
	func(s *splicer, f *isa.Func, i int) bool { // another instruction
		in := *anyOf(s.rnd, s.pool)
		in.Addr, in.Line, in.Src = f.Insts[i].Addr, f.Insts[i].Line, f.Insts[i].Src
		if in.Target >= 0 {
			in.Target = s.rnd.IntN(len(f.Insts))
		}
		f.Insts[i] = in
		return in.Targets == nil
	},
	func(s *splicer, f *isa.Func, i int) bool { // another register in the place of one
		in := &f.Insts[i]
		from, to := append(slices.Clone(in.Defs), in.Uses...), s.register(f)
		if len(from) == 0 {
			return false
		}
		was := anyOf(s.rnd, from)
		return was.Class == to.Class && was != to && renamed(in, was, to)
	},
	func(s *splicer, f *isa.Func, i int) bool { // under another condition
		in, g := &f.Insts[i], anyOf(s.rnd, f.Insts).Guard
		if g == in.Guard {
			return false
		}
		in.Guard = g
		if g.Reg.Class != isa.ClassNone {
			in.Uses = append(slices.Clone(in.Uses), g.Reg)
		}
		return true
	},
	func(s *splicer, f *isa.Func, i int) bool { // other modifiers
		in := &f.Insts[i]
		in.Mods = slices.Clone(in.Mods)
		if len(in.Mods) > 0 && s.rnd.IntN(2) == 0 {
			k := s.rnd.IntN(len(in.Mods))
			in.Mods = slices.Delete(in.Mods, k, k+1)
			return true
		}
		in.Mods = append(in.Mods, anyOf(s.rnd, s.pool).Mods...)
		return true
	},
	func(s *splicer, f *isa.Func, i int) bool { // accesses otherwise
		in, as := &f.Insts[i], anyOf(s.rnd, s.pool).Mem
		if in.Mem == (isa.Mem{}) || as == (isa.Mem{}) {
			return false
		}
		m := &in.Mem
		switch s.rnd.IntN(7) {
		case 0:
			m.Scope, m.Strength = as.Scope, as.Strength
		case 1:
			m.Space = as.Space
		case 2:
			if m.Width > 4 || m.Width == 0 { // the words of data are as many as the width says
				return false
			}
			m.Width = []int{1, 2, 4}[s.rnd.IntN(3)]
		case 3:
			m.Cache, m.Bits = as.Cache, as.Bits
		case 4:
			if m.Atom == "" || as.Atom == "" || strings.Contains(m.Atom+as.Atom, "CAS") || strings.Contains(m.Atom+as.Atom, "CMP") {
				return false
			}
			m.Atom, m.Type = as.Atom, as.Type
		case 5:
			m.Invalidate, m.WriteBack = !m.Invalidate, as.WriteBack
		case 6:
			m.Scalar, m.Locked = as.Scalar, as.Locked
		}
		return true
	},
	func(s *splicer, f *isa.Func, i int) bool { // computes something else
		as := anyOf(s.rnd, s.pool).Micro
		if len(as) == 0 {
			return false
		}
		return micro(f.Insts, i, func(m *isa.Micro) bool {
			x := anyOf(s.rnd, as)
			if len(x.Src) != len(m.Src) {
				return false
			}
			m.Op, m.LUT, m.Signed, m.Cmp, m.Bool, m.Half = x.Op, x.LUT, x.Signed, x.Cmp, x.Bool, x.Half
			return true
		})
	},
	func(s *splicer, f *isa.Func, i int) bool { // goes elsewhere
		in := &f.Insts[i]
		if in.Target < 0 {
			return false
		}
		in.Target = s.rnd.IntN(len(f.Insts))
		return true
	},
	func(s *splicer, f *isa.Func, i int) bool { // somewhere else
		in, at := f.Insts[i], s.rnd.IntN(len(f.Insts))
		if in.Flow != isa.FlowNext || f.Insts[at].Flow != isa.FlowNext {
			return false
		}
		f.Insts = slices.Insert(slices.Delete(f.Insts, i, i+1), at, in)
		for n := range f.Insts {
			f.Insts[n].Addr = uint64(16 * n)
		}
		return true
	},
	func(s *splicer, f *isa.Func, i int) bool { // another operand
		return micro(f.Insts, i, func(m *isa.Micro) bool {
			if len(m.Src) == 0 {
				return false
			}
			m.Src = slices.Clone(m.Src)
			o := &m.Src[s.rnd.IntN(len(m.Src))]
			switch s.rnd.IntN(5) {
			case 0:
				o.Neg = !o.Neg
			case 1:
				o.Not = !o.Not
			case 2:
				o.Part = []string{"l", "h", "lo", "hi", "H1", ""}[s.rnd.IntN(6)]
			case 3:
				*o = isa.Operand{Kind: isa.OpdImm, Imm: []int64{0, 1, 2, 4, 31, 255, 1<<32 - 1}[s.rnd.IntN(7)], Words: 1}
			case 4:
				if as := anyOf(s.rnd, s.pool).Micro; len(as) > 0 && len(as[0].Src) > 0 {
					*o = as[0].Src[0]
				}
			}
			return true
		})
	},
}

func anyOf[T any](rnd *rand.Rand, list []T) T { return list[rnd.IntN(len(list))] }

// register is a register of a function.
func (s *splicer) register(f *isa.Func) isa.Reg {
	for range 20 {
		in := anyOf(s.rnd, f.Insts)
		if list := append(slices.Clone(in.Defs), in.Uses...); len(list) > 0 {
			return anyOf(s.rnd, list)
		}
	}
	return isa.Reg{}
}

// renamed puts a register in the place of another wherever an instruction has it.
func renamed(in *isa.Inst, was, to isa.Reg) bool {
	for _, list := range []*[]isa.Reg{&in.Defs, &in.Uses, &in.Addrs, &in.Data} {
		*list = slices.Clone(*list)
		for i := range *list {
			if (*list)[i] == was {
				(*list)[i] = to
			}
		}
	}
	operands := func(list []isa.Operand) []isa.Operand {
		list = slices.Clone(list)
		for i := range list {
			for _, r := range []*isa.Reg{&list[i].Reg, &list[i].Base2, &list[i].Desc} {
				if *r == was {
					*r = to
				}
			}
		}
		return list
	}
	in.Args, in.Micro = operands(in.Args), slices.Clone(in.Micro)
	for i := range in.Micro {
		if in.Micro[i].Dst == was {
			in.Micro[i].Dst = to
		}
		in.Micro[i].Src = operands(in.Micro[i].Src)
	}
	if in.Guard.Reg == was {
		in.Guard.Reg = to
	}
	return true
}

// tries says what is said of a function so many times changed: how often which class, and a hash of it in full.
func (s *splicer) tries(of *isa.Func, times int, judge func(*isa.Func) (class, says string)) string {
	n, h := map[string]int{}, fnv.New32a()
	var at []int // what does something
	for i := range of.Insts {
		if in := &of.Insts[i]; in.Role != isa.RoleNop && in.Target != i {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return "nothing"
	}
	for range times {
		f := *of
		f.Insts = slices.Clone(of.Insts)
		for range 1 + s.rnd.IntN(2) {
			anyOf(s.rnd, spliced)(s, &f, anyOf(s.rnd, at))
		}
		f.BuildCFG()
		class, says := judge(&f)
		n[class]++
		fmt.Fprintln(h, says)
	}
	var b strings.Builder
	for _, class := range sorted(n) {
		fmt.Fprintf(&b, "%d %s, ", n[class], class)
	}
	return fmt.Sprintf("%s%08x", b.String(), h.Sum32())
}

// TestSpliced: what is said of wrong machine code is what was said of it before; -update writes it.
func TestSpliced(t *testing.T) {
	const file, times = "testdata/spliced.txt", 24
	cells := judgedCells(t)
	all := splicers(cells)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	want := strings.Split(string(text), "\n")
	var out []string
	for n, c := range cells {
		x, err := litmus.Parse("judged", []byte(c.Test))
		require.NoError(t, err)
		layout, err := spec.ParseLayout(c.Layout)
		require.NoError(t, err)
		s := all[vendorOf(c.Target)]
		for i := range c.Kernels {
			k := &c.Kernels[i]
			s.rnd = rand.New(rand.NewPCG(uint64(n), uint64(i)))
			line := fmt.Sprintf("%s %s %s %s %s %d: ", x.Name, c.Toolchain, c.Target, c.Level, c.Layout, k.Thread)
			if c.Harness {
				h, err := ptxgen.EmitHarness(x, c.Target, c.Form, layout)
				require.NoError(t, err)
				line += s.tries(k.Func, times, func(f *isa.Func) (string, string) {
					r := NewChecker().CheckHarness(f, h.Check)
					return r.Class.String(), harnessSays(r)
				})
			} else {
				w, err := spec.FromTest(x, k.Thread, layout)
				require.NoError(t, err)
				w.Digest = k.Digest
				line += s.tries(k.Func, times, func(f *isa.Func) (string, string) {
					r, err := k.Check.CheckAgainst(f, w)
					if r == nil {
						return "error", err.Error()
					}
					return r.Class.String(), full(r, err) + meaning(r)
				})
			}
			if !*update {
				require.Greater(t, len(want), len(out))
				require.Equal(t, want[len(out)], line, "line %d of %s", len(out)+1, file)
			}
			out = append(out, line)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(out, "\n")+"\n"), 0o644))
		return
	}
	require.Len(t, want, len(out)+1)
}
