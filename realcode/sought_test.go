package realcode

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	tries "optcheck/internal/mutants"
	"optcheck/isa"
	"optcheck/ptx"
)

// seeker makes wrong PTX and wrong machine code of a stored kernel, and asks all that this package can say of the two.
type seeker struct {
	c      *compiled
	stored *storedCode
	kernel string
	code   *isa.Func
	pool   []*isa.Inst // of all machine code of its generation
	lined  string
	insts  []*ptx.Inst // of the kernel
	roots  []string    // of the module
}

// seekers are those of all kernels of stored code.
func seekers(t *testing.T) (list []*seeker) {
	t.Helper()
	dec := gob.NewDecoder(bytes.NewReader(zipped(t, "testdata/stored.gz", false, nil)))
	pools := map[string][]*isa.Inst{}
	for {
		s := &storedCode{}
		if err := dec.Decode(s); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
		if s.File == "paths.ptx" { // whose graphs are large
			continue
		}
		m, err := ptx.Parse(filepath.Base(s.File), []byte(s.Text))
		require.NoError(t, err)
		for _, f := range s.Program.Funcs {
			for i := range f.Insts {
				pools[s.Target] = append(pools[s.Target], &f.Insts[i])
			}
		}
		var roots []string
		for _, f := range Roots(m) {
			roots = append(roots, f.Name)
		}
		for _, f := range Roots(m) {
			at := slices.IndexFunc(s.Program.Funcs, func(g *isa.Func) bool { return g.Name == f.Name })
			if at < 0 {
				continue
			}
			k := &seeker{c: &compiled{m: m, prog: s.Program, sm: number(s.Target)}, stored: s, kernel: f.Name,
				code: s.Program.Funcs[at], roots: roots, lined: m.Lined(lineFile, "")}
			for _, st := range f.Body {
				if st.Inst != nil {
					k.insts = append(k.insts, st.Inst)
				}
			}
			list = append(list, k)
		}
	}
	for _, k := range list {
		k.pool = pools[k.stored.Target]
	}
	return list
}

// tried is a kernel that is changed as a seed has it: its module, nil if that is no PTX, its machine code, and what draws further.
func (s *seeker) tried(seed uint64) (*ptx.Module, *isa.Program, *rand.Rand) {
	rounds := tries.Rounds(seed)
	rnd := rand.New(rand.NewPCG(rounds[0], 31))
	by := map[int]string{} // lines of the PTX that are others
	s.edit(rnd, by)
	var later []*rand.Rand
	for _, seed := range rounds[1:] {
		rnd := rand.New(rand.NewPCG(seed, 31))
		s.edit(rnd, by)
		later = append(later, rnd)
	}
	m := s.another(by)
	if m == nil {
		return nil, nil, nil
	}
	prog := *s.c.prog
	prog.Funcs = slices.Clone(prog.Funcs)
	code := s.changed(rnd, s.code)
	for _, rnd := range later {
		code = s.changed(rnd, code)
	}
	prog.Funcs[slices.Index(prog.Funcs, s.code)] = code
	return m, &prog, rnd
}

// read says how a changed kernel's PTX, its machine code, or which of the one belongs to which of the other, are read.
func (s *seeker) read(seed uint64) string {
	m, prog, rnd := s.tried(seed)
	if m == nil {
		return ""
	}
	f := m.Funcs[slices.IndexFunc(m.Funcs, func(f *ptx.Func) bool { return f.Name == s.kernel })]
	what, said := rnd.IntN(3), ""
	var src *source
	var err error
	if what != 1 {
		if src, err = readSource(m, f); err != nil {
			return err.Error()
		}
	}
	if what == 0 {
		never := make([]bool, len(src.ops))
		for k, op := range src.ops {
			never[k] = src.never(op)
			said += fmt.Sprintln(op.Effect, op.Dead, op.needs, op.at, op.addr, op.adds, op.barrier, src.segment[k], src.block[k], src.spare(k),
				src.decides(k))
		}
		return said + fmt.Sprint(src.steps, src.constant, len(src.calls), never, src.strong())
	}
	mach := readMachine(prog, prog.Funcs[slices.IndexFunc(prog.Funcs, func(g *isa.Func) bool { return g.Name == s.kernel })], s.c.sm)
	if what == 1 {
		return fmt.Sprint(mach.steps, mach.addrs, mach.behind, mach.reach, mach.lane, len(mach.lost), len(mach.calls), mach.funcOf,
			mach.returns, mach.conds)
	}
	got := match(src, mach)
	for k := range got.img {
		said += fmt.Sprintf("%+v\n", got.img[k])
	}
	return said + fmt.Sprint(got.owner, got.distance, got.orphans())
}

// says is what is said of a kernel that is changed as a seed has it.
func (s *seeker) says(t *testing.T, seed uint64) string {
	t.Helper()
	m, prog, rnd := s.tried(seed)
	if m == nil {
		return ""
	}
	at := slices.IndexFunc(m.Funcs, func(f *ptx.Func) bool { return f.Name == s.kernel })
	k := checkKernel(m, m.Funcs[at], prog, s.c.sm)
	if err := k.judged(t.Context()); err != nil {
		return err.Error()
	}
	c := &Cell{File: m.File, Toolchain: s.stored.Toolchain, Target: s.stored.Target, Level: s.stored.Level, Result: gather([]Kernel{k})}
	c.Result.settle(rnd.IntN(4) == 0)
	c.Class, c.Reason = c.Result.Class()
	var out strings.Builder
	enc := json.NewEncoder(&out)
	err := enc.Encode(c)
	alone := *m // the other kernels say what they always say
	if len(Roots(m)) > 1 {
		alone.Funcs = slices.DeleteFunc(slices.Clone(m.Funcs), func(f *ptx.Func) bool {
			return f.Name != s.kernel && slices.Contains(s.roots,
				f.Name)
		})
		if len(Roots(&alone)) > 1 {
			alone = *m
		}
	}
	p := NewProgram(&alone, Origin{})
	for i := range p.Tests {
		err = errors.Join(err, enc.Encode(p.Tests[i]))
	}
	err = errors.Join(err, p.Events(c, func(e event.Event) error { return enc.Encode(e) }))
	fmt.Fprint(&out, k.Count, k.Machine, k.Hash, err)
	return out.String()
}

func anyOf[T any](rnd *rand.Rand, list []T) T { return list[rnd.IntN(len(list))] }

// edit makes other lines of some of the kernel's PTX: none, one or two.
func (s *seeker) edit(rnd *rand.Rand, by map[int]string) {
	if len(s.insts) == 0 || rnd.IntN(3) == 0 {
		return
	}
	for range 1 + rnd.IntN(2) {
		in := anyOf(rnd, s.insts)
		by[in.N] = s.otherText(rnd, in)
	}
}

// another is the kernel's module, or one with other lines; nil if that is no PTX.
func (s *seeker) another(by map[int]string) *ptx.Module {
	if len(by) == 0 {
		return s.c.m
	}
	m, err := ptx.Parse(s.c.m.File, []byte(apply(s.lined, by)))
	if err != nil {
		return nil
	}
	s.c.renumber(m, by)
	return m
}

// otherText is an instruction of the PTX changed at random.
func (s *seeker) otherText(rnd *rand.Rand, in *ptx.Inst) string {
	text, other := in.Text, anyOf(rnd, s.insts)
	switch rnd.IntN(8) {
	case 0:
		return ""
	case 1:
		return text + ";\n" + text + ";"
	case 2:
		return text + ";\n" + other.Text + ";"
	case 3:
		return other.Text + ";"
	case 4, 5:
		for range 20 {
			if w := anyOf(rnd, weakenings); strings.Contains(text, w.from) {
				return strings.Replace(text, w.from, w.to, 1) + ";"
			}
		}
		return ""
	case 6: // another operand
		if len(in.Args) > 0 && len(other.Args) > 0 {
			if a, b := anyOf(rnd, in.Args).Name, anyOf(rnd, other.Args).Name; a != "" && b != "" {
				return strings.Replace(text, a, b, 1) + ";"
			}
		}
		return ""
	}
	if at := strings.IndexAny(text[min(len(in.Op), len(text)):], "0123456789"); at >= 0 { // another number
		at += len(in.Op)
		return text[:at] + string(rune('0'+rnd.IntN(10))) + text[at+1:] + ";"
	}
	return "@%p1 " + text + ";"
}

// changed is machine code of the kernel with up to three changes.
func (s *seeker) changed(rnd *rand.Rand, of *isa.Func) *isa.Func {
	f := *of
	f.Insts = slices.Clone(f.Insts)
	var all, at []int // those that do something, and those that the checker looks at
	for i := range f.Insts {
		if in := &f.Insts[i]; in.Role != isa.RoleNop && in.Target != i {
			all = append(all, i)
			if r := in.Role; r.IsAccess() || r == isa.RoleFence || r == isa.RoleBarrier || r == isa.RoleCache || r == isa.RoleBranch {
				at = append(at, i)
			}
		}
	}
	for range rnd.IntN(4) {
		if len(at) == 0 {
			break
		}
		if i := anyOf(rnd, at); rnd.IntN(4) == 0 {
			s.change(rnd, &f, anyOf(rnd, all))
		} else {
			s.change(rnd, &f, i)
		}
	}
	f.BuildCFG()
	return &f
}

// change changes an instruction of the machine code.
func (s *seeker) change(rnd *rand.Rand, f *isa.Func, i int) {
	in := &f.Insts[min(i, len(f.Insts)-1)]
	other := rnd.IntN(len(f.Insts))
	switch rnd.IntN(13) {
	case 0:
		nothing(in)
	case 1:
		if x := &f.Insts[other]; in.Target < 0 && x.Target < 0 && in.Flow == isa.FlowNext && x.Flow == isa.FlowNext {
			*in, *x = *x, *in
		}
	case 2:
		in.Mem.Strength, in.Mem.Scope = isa.Weak, isa.ScopeNone
	case 3:
		in.Mem.Scope = isa.ScopeCTA
	case 4:
		g := f.Insts[other].Guard
		if in.Guard = g; g.Reg.Class != isa.ClassNone {
			in.Uses = append(slices.Clone(in.Uses), g.Reg)
		}
	case 5:
		in.Guard.Neg = !in.Guard.Neg
	case 6:
		in.Src = f.Insts[other].Src
	case 7:
		if k := slices.IndexFunc(in.Args, func(o isa.Operand) bool { return o.Kind == isa.OpdMem }); k >= 0 {
			in.Args = slices.Clone(in.Args)
			in.Args[k].Off += int64(4 * (1 + rnd.IntN(3)))
		}
	case 8:
		if in.Mem.Width > 1 && in.Mem.Width <= 4 {
			in.Mem.Width /= 2
		}
	case 9:
		if in.Target >= 0 {
			in.Target = other
		}
	case 10: // an instruction of other machine code
		x := *anyOf(rnd, s.pool)
		x.Addr, x.Src = in.Addr, in.Src
		if x.Target < 0 && x.Flow == isa.FlowNext && x.Targets == nil {
			*in = x
		}
	case 11: // other modifiers
		if len(in.Mods) > 0 {
			k := rnd.IntN(len(in.Mods))
			in.Mods = slices.Delete(slices.Clone(in.Mods), k, k+1)
		}
	case 12:
		if in.Mem.Atom != "" {
			in.Mem.Atom = map[bool]string{true: "MAX", false: "ADD"}[in.Mem.Atom == "ADD"]
		}
	}
}

// sought are the tries of all kernels, and then those of how they are read.
func sought(t *testing.T) *tries.Tries {
	t.Helper()
	kernels := seekers(t)
	x := &tries.Tries{Says: func(t *testing.T, cell, _ int, seed uint64) string {
		if cell >= len(kernels) {
			return kernels[cell-len(kernels)].read(seed)
		}
		return kernels[cell].says(t, seed)
	}}
	for _, k := range kernels {
		x.Sizes = append(x.Sizes, []int{len(k.code.Insts)})
	}
	x.Sizes = append(x.Sizes, x.Sizes...)
	return x
}

// TestSought: what is said of wrong code that was sought because it distinguishes this package from one with a mistake is what was said
// before; -update writes it, internal/mutants/seek seeks more.
func TestSought(t *testing.T) { sought(t).Test(t, "testdata/sought.txt", *update) }
