package optcheck

import (
	"compress/gzip"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/model/explore"
	"optcheck/ptxgen"
	"optcheck/spec"
)

// JudgedCell is what a real compiler made of a test: testdata/judged.gz has some of each generation, level and finding.
// go test ./audit -run TestJudged -update chooses them anew.
type JudgedCell struct {
	Test, Toolchain, Target, Level, Layout string
	Kernels                                []JudgedKernel
	Harness                                bool // a kernel for devices, of the form Form
	Form                                   ptxgen.Form
	Rare                                   bool // is there for the code that it alone reaches
}

// JudgedKernel is the machine code of a thread, and what is needed to check it.
type JudgedKernel struct {
	Thread int
	Func   *isa.Func
	Check  *Checker
	Values []spec.Value
	Digest uint32
}

func judgedCells(t *testing.T) []JudgedCell { return storedCells(t, "judged") }

// storedCells reads a file of cells.
func storedCells(t *testing.T, name string) (cells []JudgedCell) {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	for dec := gob.NewDecoder(z); ; {
		var c JudgedCell
		if err := dec.Decode(&c); errors.Is(err, io.EOF) {
			return cells
		}
		require.NoError(t, err)
		cells = append(cells, c)
	}
}

var update = flag.Bool("update", false, "write what is said of testdata/judged.gz")

// TestJudged: what is said of real machine code is what was said of it before: as it is, what it means, and with each
// single instruction left out or moved behind its neighbour. Where it shall be something else, -update writes it; with
// -cover as well, it leaves out rare cells of which the same is said as of others and that reach no code that those
// before them do not.
func TestJudged(t *testing.T) {
	const file = "testdata/judged.txt"
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	var b strings.Builder
	var kept []JudgedCell
	good, edits, kinds := 0, 0, map[string]bool{}
	for _, c := range judgedCells(t) {
		if !*update && !strings.HasPrefix(string(want), b.String()) {
			break // it is told below
		}
		before, size := testing.Coverage(), b.Len()
		g, e := c.judge(t, &b)
		kind := c.kind(b.String()[size:])
		if *update && c.Rare && before > 0 && testing.Coverage() == before && kinds[kind] {
			text := b.String()[:size]
			b.Reset()
			b.WriteString(text)
			continue
		}
		kinds[kind] = true
		good, edits, kept = good+g, edits+e, append(kept, c)
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
		if testing.CoverMode() != "" {
			writeCells(t, kept)
		}
		return
	}
	got, lines := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(got), len(lines)) {
		require.Equal(t, lines[i], got[i], "line %d of %s", i+1, file)
	}
	require.Greater(t, good, 50)
	require.Greater(t, edits, 1000)
	require.Len(t, got, len(lines))
}

var sayings = regexp.MustCompile(`(?m)^(T\d \w+( \(?[a-z-]+)?|lifted|not lifted|machine|no machine)`)

// kind is in brief what is said of a cell in a text.
func (c *JudgedCell) kind(text string) string {
	list := sayings.FindAllString(text, -1)
	slices.Sort(list)
	return fmt.Sprint(c.Layout, slices.Compact(list))
}

func writeCells(t *testing.T, cells []JudgedCell) {
	t.Helper()
	f, err := os.Create("testdata/judged.gz")
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	enc := gob.NewEncoder(z)
	for _, c := range cells {
		require.NoError(t, enc.Encode(c))
	}
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
}

// judge says what is said of a cell, and returns how many of its kernels are preserved and how many edits were made.
func (c *JudgedCell) judge(t *testing.T, b *strings.Builder) (good, edits int) {
	t.Helper()
	x, err := litmus.Parse("judged", []byte(c.Test))
	require.NoError(t, err)
	layout, err := spec.ParseLayout(c.Layout)
	require.NoError(t, err)
	fmt.Fprintf(b, "== %s %s %s %s %s\n", x.Name, c.Toolchain, c.Target, c.Level, c.Layout)
	list := edited
	if c.Rare {
		list = fewEdited
	}
	if c.Harness {
		h, err := ptxgen.EmitHarness(x, c.Target, c.Form, layout)
		require.NoError(t, err)
		judge := func(fn *isa.Func) (string, string) { return harnessSays(NewChecker().CheckHarness(fn, h.Check)), "" }
		says, _ := judge(c.Kernels[0].Func)
		fmt.Fprintf(b, "%v: %s\n", c.Form, says)
		return 0, list(b, c.Kernels[0].Func, judge)
	}
	var lifted, machines []LiftedThread
	for i := range c.Kernels {
		k := &c.Kernels[i]
		want, err := spec.FromTest(x, k.Thread, layout)
		require.NoError(t, err)
		want.Digest = k.Digest
		r, err := k.Check.CheckAgainst(k.Func, want)
		fmt.Fprintf(b, "T%d %s", k.Thread, full(r, err))
		own, err := k.Check.Check(k.Func)
		fmt.Fprintf(b, "by itself: %s\n", brief(own, err))
		accesses, err := k.Check.Accesses(k.Func, want.ResultParam())
		fmt.Fprintf(b, "code %.4x, placed %v: %s %v\n", CodeHash(k.Func, k.Check.Consts), r.Placed(), strings.Join(accesses, ", "), err)
		if l, err := r.Lift(); err == nil {
			lifted = append(lifted, LiftedThread{l, want, k.Values})
		} else {
			fmt.Fprintf(b, "not lifted: %v\n", err)
		}
		if l, err := r.LiftMachine(); err == nil {
			machines = append(machines, LiftedThread{l, want, k.Values})
		} else {
			fmt.Fprintf(b, "no machine: %v\n", err)
		}
		edits += list(b, k.Func, func(fn *isa.Func) (string, string) {
			r, err := k.Check.CheckAgainst(fn, want)
			return brief(r, err), full(r, err) + meaning(r)
		})
		otherwise(b, x, k, layout)
		if r.Class == Preserved {
			good++
		}
	}
	if len(lifted) == len(x.Threads) {
		list, err := LiftTest(x, lifted)
		fmt.Fprintf(b, "lifted: %v\n", err)
		for _, l := range list {
			fmt.Fprintf(b, "%s%v\n", l.Test, l.Equal)
		}
	}
	if len(machines) == len(x.Threads) {
		m, err := NewMachine(x, machines)
		fmt.Fprintf(b, "machine: %v", err)
		b.WriteByte('\n')
		if err == nil {
			explored(t, b, x, machines, m)
		}
	}
	return good, edits
}

// explored says how the first runs of a machine end, and what the registers of the test then hold.
func explored(t *testing.T, b *strings.Builder, x *litmus.Test, threads []LiftedThread, m Machine) {
	t.Helper()
	enough := errors.New("enough")
	ends := map[string][]int{}
	for _, fresh := range []bool{false, true} {
		n := 0
		err := m.Explore(t.Context(), fresh, func(f *explore.Final, schedule func() []explore.Step) error {
			regs, err := MachineState(x, threads, f)
			s := fmt.Sprintf("%v %v %v", regs, f.Memory, err)
			if ends[s] = append(ends[s], n); len(ends[s]) == 1 {
				s += fmt.Sprint(schedule())
				fmt.Fprintln(b, " ", s)
			}
			if n++; n == 100 {
				return enough
			}
			return nil
		})
		fmt.Fprintf(b, "%s, fresh %v: %d runs, %v\n", m.Name(), fresh, n, err)
	}
}

// edited says what is said of each single edit of a function, with a hash of what all of them mean, and returns the number of edits.
func edited(b *strings.Builder, of *isa.Func, judge func(*isa.Func) (says, means string)) int {
	return tried(b, of, 50, judge)
}

// testEdits are changes of one of a thread's instructions; each reports whether it changed anything.
var testEdits = []struct {
	name string
	do   func(body *[]litmus.Instr, i int) bool
}{
	{"without", func(body *[]litmus.Instr, i int) bool {
		*body = slices.Delete(*body, i, i+1)
		return true
	}},
	{"behind", func(body *[]litmus.Instr, i int) bool {
		if i+1 == len(*body) {
			return false
		}
		(*body)[i], (*body)[i+1] = (*body)[i+1], (*body)[i]
		return true
	}},
	{"twice", func(body *[]litmus.Instr, i int) bool {
		*body = slices.Insert(*body, i, (*body)[i])
		return (*body)[i].IsAccess()
	}},
	{"stronger", func(body *[]litmus.Instr, i int) bool {
		in := &(*body)[i]
		was := in.Sem
		in.Sem = map[litmus.Op]litmus.Sem{litmus.OpLd: litmus.SemAcquire, litmus.OpSt: litmus.SemRelease, litmus.OpAtom: litmus.SemAcqRel}[in.Op]
		if in.Scope == litmus.ScopeNone {
			in.Scope = litmus.ScopeGPU
		}
		return in.Sem != was && in.Sem != litmus.SemNone
	}},
	{"of another scope", func(body *[]litmus.Instr, i int) bool {
		in := &(*body)[i]
		was := in.Scope
		in.Scope = map[litmus.Scope]litmus.Scope{litmus.ScopeCTA: litmus.ScopeSys, litmus.ScopeGPU: litmus.ScopeCTA, litmus.ScopeSys: litmus.ScopeGPU}[was]
		return was != litmus.ScopeNone
	}},
	{"of another constant", func(body *[]litmus.Instr, i int) bool {
		in := &(*body)[i]
		in.Src = slices.Clone(in.Src)
		j := slices.IndexFunc(in.Src, func(o litmus.Operand) bool { return o.Kind == litmus.OperandConst })
		if j >= 0 {
			in.Src[j].Value += 2
		}
		return j >= 0
	}},
}

// otherwise says in brief what is said of a kernel if its test were another: with an instruction left out or behind the next, of another
// strength, scope or constant.
func otherwise(b *strings.Builder, x *litmus.Test, k *JudgedKernel, layout spec.Layout) {
	n, means := map[string][]string{}, fnv.New32a()
	for i := range x.Threads[k.Thread].Body {
		for _, edit := range testEdits {
			y := x.Clone()
			if !edit.do(&y.Threads[k.Thread].Body, i) || y.Check() != nil {
				continue
			}
			want, err := spec.FromTest(y, k.Thread, layout)
			if err != nil {
				continue
			}
			want.Digest = k.Digest
			r, err := k.Check.CheckAgainst(k.Func, want)
			said := brief(r, err)
			n[said] = append(n[said], fmt.Sprint(edit.name, " ", i))
			fmt.Fprintln(means, full(r, err), meaning(r))
		}
	}
	for _, s := range sorted(n) {
		fmt.Fprintf(b, "if %s: %s\n", strings.Join(n[s], ", "), s)
	}
	fmt.Fprintf(b, "in full %08x\n", means.Sum32())
}

// fewEdited is a hash of what is said of some edits, of rare cells.
func fewEdited(b *strings.Builder, of *isa.Func, judge func(*isa.Func) (says, means string)) int {
	var all strings.Builder
	n := tried(&all, of, 8, judge)
	h := fnv.New32a()
	io.WriteString(h, all.String())
	fmt.Fprintf(b, "%d edits: %08x\n", n, h.Sum32())
	return n
}

// tried says what is said of edits of a function, at most so many of each kind.
func tried(b *strings.Builder, of *isa.Func, most int, judge func(*isa.Func) (says, means string)) (edits int) {
	for _, edit := range []struct {
		name string
		do   func([]isa.Inst, int) bool
	}{{"without", leftOut}, {"swapped", swapped}, {"weaker", weakened}, {"always", always}, {"elsewhere", elsewhere}, {"negated", negated},
		{"of another value", valued}, {"computed otherwise", computed}, {"another atomic", atomic}} {
		n, means := map[string][]int{}, fnv.New32a()
		for at := 0; at < len(of.Insts); at += 1 + len(of.Insts)/most { // of long ones some
			fn := *of
			fn.Insts = slices.Clone(fn.Insts)
			if edit.do(fn.Insts, at) {
				said, meant := judge(&fn)
				n[said] = append(n[said], at)
				fmt.Fprintln(means, at, meant)
				edits++
			}
		}
		for _, s := range sorted(n) {
			fmt.Fprintf(b, "%s %v: %s\n", edit.name, n[s], s)
		}
		if len(n) > 0 {
			fmt.Fprintf(b, "%s means %08x\n", edit.name, means.Sum32())
		}
	}
	return edits
}

// meaning is the machine code of a kernel as operations of a test and of a model of the hardware, or why it is none.
func meaning(r *Checked) string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	for _, lift := range []func() (LiftedCode, error){r.Lift, r.LiftMachine} {
		code, err := lift()
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		fmt.Fprintf(&b, "%s\n", code.Key())
		if l, ok := code.(*Lifted); ok {
			fmt.Fprintln(&b, l.Extra)
		}
	}
	return b.String()
}

// harnessSays is what is said of a kernel for devices and each thread of its test.
func harnessSays(r *HarnessResult) string {
	s := fmt.Sprintf("%v %s", r.Class, r.Why())
	for _, th := range r.Threads {
		s += fmt.Sprintf(" T%d %s", th.Thread, brief(&Checked{Result: th}, nil))
	}
	return s
}

func sorted[V any](m map[string]V) (keys []string) {
	for s := range m {
		keys = append(keys, s)
	}
	slices.Sort(keys)
	return keys
}

// full is all that a result says.
func full(r *Checked, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", brief(r, err))
	if r == nil {
		return b.String()
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s #%d: %s\n", f.Rule, f.Access, f.Detail)
	}
	for _, f := range r.Notes {
		fmt.Fprintf(&b, "note %s #%d: %s\n", f.Rule, f.Access, f.Detail)
	}
	for _, l := range r.Machine {
		fmt.Fprintf(&b, "%d %v %s\n", l.Pos, l.Part, l.Text)
	}
	return b.String()
}

// brief is a result's class, with rules, or why there is none.
func brief(r *Checked, err error) string {
	if r == nil {
		return err.Error()
	}
	s := r.Class.String()
	for _, f := range r.Findings {
		s += fmt.Sprintf(" %s#%d", f.Rule, f.Access)
	}
	for _, f := range r.Notes {
		s += fmt.Sprintf(" (%s#%d)", f.Rule, f.Access)
	}
	if r.Reason != "" {
		s += ": " + r.Reason
	}
	if r.Undecided != "" && r.Undecided != r.Reason {
		s += "; undecided: " + r.Undecided
	}
	if err != nil {
		s += "; " + err.Error()
	}
	return s
}

// leftOut puts an instruction that does nothing in the place of another.
func leftOut(list []isa.Inst, i int) bool {
	in := &list[i]
	if in.Flow != isa.FlowNext || in.Role == isa.RoleNop {
		return false
	}
	*in = isa.Inst{Addr: in.Addr, Op: "NOP", Text: "NOP", Line: in.Line, Role: isa.RoleNop, Target: -1, Control: in.Control}
	return true
}

// swapped exchanges an instruction and the next one, if one of them accesses memory or orders accesses.
func swapped(list []isa.Inst, i int) bool {
	if i+1 == len(list) {
		return false
	}
	a, b := &list[i], &list[i+1]
	memory := func(in *isa.Inst) bool {
		return in.Role.IsAccess() || in.Role == isa.RoleFence || in.Role == isa.RoleBarrier || in.Role == isa.RoleCache || in.Role == isa.RoleWait
	}
	if a.Flow != isa.FlowNext || b.Flow != isa.FlowNext || !memory(a) && !memory(b) {
		return false
	}
	*a, *b = *b, *a
	a.Addr, b.Addr = b.Addr, a.Addr
	return true
}

// weakened makes an access or fence weak.
func weakened(list []isa.Inst, i int) bool {
	m := &list[i].Mem
	switch {
	case m.Strength != isa.Weak:
		m.Strength, m.Scope = isa.Weak, isa.ScopeNone
	case m.Bits != 0:
		m.Bits = 0
	case m.Cache != "":
		m.Cache = ""
	case m.Invalidate || m.WriteBack:
		m.Invalidate, m.WriteBack = false, false
	default:
		return false
	}
	return true
}

// always executes an instruction whatever its condition says.
func always(list []isa.Inst, i int) bool {
	in := &list[i]
	if in.Guard.Reg.Class == isa.ClassNone || in.Flow != isa.FlowNext {
		return false
	}
	guard := in.Guard.Reg
	in.Guard = isa.Guard{}
	in.Uses = slices.DeleteFunc(slices.Clone(in.Uses), func(r isa.Reg) bool { return r == guard })
	return true
}

// elsewhere lets an access go to the next word.
func elsewhere(list []isa.Inst, i int) bool {
	in := &list[i]
	k := slices.IndexFunc(in.Args, func(a isa.Operand) bool { return a.Kind == isa.OpdMem })
	if !in.Role.IsAccess() || k < 0 {
		return false
	}
	in.Args = slices.Clone(in.Args)
	in.Args[k].Off += 4
	return true
}

// negated turns the condition of an instruction round.
func negated(list []isa.Inst, i int) bool {
	in := &list[i]
	if in.Guard.Reg.Class == isa.ClassNone {
		return false
	}
	in.Guard.Neg = !in.Guard.Neg
	return true
}

// valued computes with another constant or parameter.
func valued(list []isa.Inst, i int) bool {
	return micro(list, i, func(m *isa.Micro) bool {
		m.Src = slices.Clone(m.Src)
		for k := range m.Src {
			switch o := &m.Src[k]; o.Kind {
			case isa.OpdImm:
				o.Imm ^= 4
				return true
			case isa.OpdConst:
				o.Off += 8
				return true
			}
		}
		return false
	})
}

// computed does something else with the same operands.
func computed(list []isa.Inst, i int) bool {
	return micro(list, i, func(m *isa.Micro) bool {
		other := map[string]string{"EQ": "NE", "NE": "EQ", "LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT", "AND": "OR", "OR": "AND"}
		switch {
		case m.Cmp != "":
			m.Cmp = other[m.Cmp]
		case m.Bool != "":
			m.Bool = other[m.Bool]
		case m.LUT != 0:
			m.LUT ^= 0x18
		case len(m.Src) > 1:
			m.Src = slices.Clone(m.Src)
			m.Src[0], m.Src[1] = m.Src[1], m.Src[0]
		default:
			return false
		}
		return true
	})
}

// micro changes the first of an instruction's operations that can be changed so.
func micro(list []isa.Inst, i int, change func(*isa.Micro) bool) bool {
	in := &list[i]
	in.Micro = slices.Clone(in.Micro)
	for k := range in.Micro {
		if change(&in.Micro[k]) {
			return true
		}
	}
	return false
}

// atomic performs another operation.
func atomic(list []isa.Inst, i int) bool {
	m := &list[i].Mem
	if m.Atom == "" {
		return false
	}
	m.Atom = map[bool]string{true: "MAX", false: "ADD"}[m.Atom == "ADD"]
	return true
}
