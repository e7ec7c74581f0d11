package realcode

import (
	"fmt"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/ptx"
)

// A slice is what of a kernel a finding is about, as two litmus tests: the threads as
// the PTX has them, and as the machine code does. The partner is made from a pattern;
// the condition is what the pattern must not show.
type slice struct {
	pattern         string
	source, machine *litmus.Test
}

// member is an instruction of a slice's thread.
type member struct {
	op  *Op
	loc string
}

// slicer makes the slice of a finding.
type slicer struct {
	c *checker
	// scope of the pair: threads are in different CTAs unless it is cta.
	scope string
	// writes tells that the kernel's thread writes the flag: 1 in the place of 0.
	writes bool
}

// reader makes the slice of an acquire k: a flag is read, then data at the place of
// operation b. lost is what the machine code has in the place of the acquire: nil for
// nothing. before, if it is not nil, reads the flag, too, in front of it.
func (c *checker) reader(before, k, b *Op, lost *Op) *slice {
	s := &slicer{c: c, scope: k.Effect.Scope}
	flag, data := member{k, "y"}, member{b, "x"}
	source, machine := []member{flag, data}, []member{data}
	if lost != nil {
		machine = []member{{lost, "y"}, data}
	}
	if before != nil {
		source, machine = append([]member{{before, "y"}}, source...), append([]member{{before, "y"}}, machine...)
	}
	partner := []string{store("weak", "", "x"), store("release", s.scope, "y")}
	last := func(t []member) string { return fmt.Sprintf("1:r1=1 /\\ 1:r%d=0", len(t)) }
	return s.tests("message passing, the reader", partner, source, machine, false, last)
}

// risen makes the slice of an acquire k that what follows has gone in front of.
func (c *checker) risen(k, b *Op) *slice {
	s := &slicer{c: c, scope: k.Effect.Scope}
	flag, data := member{k, "y"}, member{b, "x"}
	partner := []string{store("weak", "", "x"), store("release", s.scope, "y")}
	return s.tests("message passing, the reader", partner, []member{flag, data}, []member{data, flag}, false, func(t []member) string {
		if t[0] == flag {
			return "1:r1=1 /\\ 1:r2=0"
		}
		return "1:r2=1 /\\ 1:r1=0"
	})
}

// sunk makes the slice of a release k that what precedes has gone behind.
func (c *checker) sunk(b, k *Op) *slice {
	s := &slicer{c: c, scope: k.Effect.Scope, writes: true}
	flag, data := member{k, "y"}, member{b, "x"}
	partner := []string{load("acquire", s.scope, "y", "r1"), load("weak", "", "x", "r2")}
	return s.tests("message passing, the writer", partner, []member{data, flag}, []member{flag, data}, true,
		func([]member) string { return "1:r1=1 /\\ 1:r2=0" })
}

// writer makes the slice of a release k: data are written at the place of operation
// b, then a flag.
func (c *checker) writer(b, k, lost *Op) *slice {
	s := &slicer{c: c, scope: k.Effect.Scope}
	source, machine := []member{{b, "x"}, {k, "y"}}, []member{{b, "x"}, {lost, "y"}}
	s.writes = true
	partner := []string{load("acquire", s.scope, "y", "r1"), load("weak", "", "x", "r2")}
	return s.tests("message passing, the writer", partner, source, machine, true,
		func([]member) string { return "1:r1=1 /\\ 1:r2=0" })
}

// fenced makes the slice of a fence k between two accesses.
func (c *checker) fenced(a, k, b, lost *Op) *slice {
	s := &slicer{c: c, scope: k.Effect.Scope}
	locs, writes := [2]string{"x", "y"}, func(op *Op) bool { return op.Effect.Kind != ptx.Load }
	source, machine := []member{{a, "x"}, {k, ""}, {b, "y"}}, []member{{a, "x"}, {b, "y"}}
	if lost != nil {
		machine = []member{{a, "x"}, {lost, ""}, {b, "y"}}
	}
	var partner []string
	var cond, pattern string
	fence := k.Inst.Op
	switch {
	case writes(a) && writes(b):
		pattern, cond = "message passing, the writer", "1:r1=1 /\\ 1:r2=0"
		partner = []string{load("relaxed", s.scope, "y", "r1"), fence, load("relaxed", s.scope, "x", "r2")}
		return s.tests(pattern, partner, source, machine, true, func([]member) string { return cond })
	case !writes(a) && !writes(b):
		partner = []string{store("relaxed", s.scope, locs[1]), fence, store("relaxed", s.scope, locs[0])}
		return s.tests("message passing, the reader", partner, source, machine, false, func([]member) string { return "1:r1=1 /\\ 1:r2=0" })
	case writes(a):
		partner = []string{store("relaxed", s.scope, "y"), fence, load("relaxed", s.scope, "x", "r1")}
		return s.tests("store buffering", partner, source, machine, false, func([]member) string { return "0:r1=0 /\\ 1:r1=0" })
	}
	partner = []string{load("relaxed", s.scope, "y", "r1"), fence, store("relaxed", s.scope, "x")}
	return s.tests("load buffering", partner, source, machine, false, func([]member) string { return "0:r1=1 /\\ 1:r1=1" })
}

// twice makes the slice of an atomic k that is performed twice: a lone thread counts.
func (c *checker) counted(k *Op) *slice {
	s := &slicer{c: c, scope: k.Effect.Scope}
	one := []member{{k, "x"}}
	return s.tests("counting", []string{load("relaxed", s.scope, "y", "r1")}, one, append(one, one...), true,
		func([]member) string { return "x=2" })
}

func scoped(op, sem, scope string) string {
	if sem == "volatile" || sem == "mmio" {
		return op + ".volatile"
	}
	if scope == "" || sem == "weak" {
		return op + ".weak"
	}
	return op + "." + sem + "." + scope
}

func load(sem, scope, loc, reg string) string {
	return fmt.Sprintf("%s.s32 %s,[%s]", scoped("ld", sem, scope), reg, address64[loc])
}

func store(sem, scope, loc string) string {
	return fmt.Sprintf("%s.s32 [%s],1", scoped("st", sem, scope), address64[loc])
}

// address64 are the registers of locations.
var address64 = map[string]string{"x": "rd0", "y": "rd1"}

// text gives an instruction of the PTX with the locations and types of a test. reg is
// the register of what it returns.
func (l member) text(reg string, writes bool) (string, error) {
	e := &l.op.Effect
	switch e.Kind {
	case ptx.Load:
		return load(e.Sem, e.Scope, l.loc, reg), nil
	case ptx.Store:
		return store(e.Sem, e.Scope, l.loc), nil
	case ptx.Atomic, ptx.Reduction:
		op := "atom." + e.Sem + "." + e.Scope
		switch e.Atom {
		case "cas":
			old := map[bool]int{true: 0, false: 1}[writes]
			return fmt.Sprintf("%s.cas.b32 %s,[%s],%d,%d", op, reg, address64[l.loc], old, old+1), nil
		case "exch":
			return fmt.Sprintf("%s.exch.b32 %s,[%s],1", op, reg, address64[l.loc]), nil
		}
		return fmt.Sprintf("%s.add.s32 %s,[%s],1", op, reg, address64[l.loc]), nil
	case ptx.Fence:
		return l.op.Inst.Op, nil
	}
	return "", fmt.Errorf("there is no litmus test of %s", e.Kind)
}

// thread prints a thread of operations, and counts its registers.
func thread(lines []member, writes bool) (out []string, regs int, err error) {
	for _, l := range lines {
		reg := fmt.Sprintf("r%d", regs+1)
		if l.op.Effect.Kind == ptx.Load || l.op.Effect.Kind == ptx.Atomic || l.op.Effect.Kind == ptx.Reduction {
			regs++
		}
		text, err := l.text(reg, writes)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, text)
	}
	return out, regs, nil
}

// tests prints both tests. ours tells which thread the kernel's is: first means T0,
// else T1 unless the condition names registers of both.
func (s *slicer) tests(pattern string, partner []string, source, machine []member, first bool, cond func([]member) string) *slice {
	out := &slice{pattern: pattern}
	both := strings.Contains(cond(source), "0:")
	for _, x := range []struct {
		to    **litmus.Test
		lines []member
		name  string
	}{{&out.source, source, "source"}, {&out.machine, machine, "machine"}} {
		own, _, err := thread(x.lines, s.writes)
		if err != nil {
			return nil
		}
		threads := [2][]string{partner, own}
		if first || both {
			threads = [2][]string{own, partner}
		}
		t, err := litmus.Parse("slice", []byte(s.print(x.name, pattern, threads, cond(x.lines))))
		if err != nil {
			return nil
		}
		*x.to = t
	}
	return out
}

func (s *slicer) print(name, pattern string, threads [2][]string, cond string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "GPU_PTX %s\n%q\n{\nx=0; y=0;\n", name, pattern)
	for t, lines := range threads {
		fmt.Fprintf(&b, "%d:.reg .b64 rd0 = x; %d:.reg .b64 rd1 = y;", t, t)
		for r := 1; r <= 3; r++ {
			if strings.Contains(strings.Join(lines, "\n"), fmt.Sprintf(" r%d,", r)) {
				fmt.Fprintf(&b, " %d:.reg .s32 r%d;", t, r)
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString("}\n")
	cell := func(t, i int) string {
		if i < len(threads[t]) {
			return threads[t][i]
		}
		return ""
	}
	fmt.Fprintf(&b, " T0 | T1 ;\n")
	for i := range max(len(threads[0]), len(threads[1])) {
		fmt.Fprintf(&b, " %s | %s ;\n", cell(0, i), cell(1, i))
	}
	tree := "ScopeTree(grid(cta(warp T0)) (cta(warp T1)))"
	if s.scope == "cta" {
		tree = "ScopeTree(grid(cta(warp T0) (warp T1)))"
	}
	fmt.Fprintf(&b, "%s\nx: global, y: global\nexists (%s)\n", tree, cond)
	return b.String()
}

// less is an operation with another strength: what the machine code has of it.
func (op *Op) less(sem, scope string) *Op {
	out := *op
	out.Effect.Sem, out.Effect.Scope = sem, scope
	if op.Effect.Kind == ptx.Fence {
		in := *op.Inst
		in.Op = "fence." + sem + "." + scope
		out.Inst = &in
	}
	return &out
}

// as is what an image has of its operation: its scope, and its strength.
func (op *Op) as(in *isa.Inst) *Op {
	e := &op.Effect
	sem, scope := e.Sem, e.Scope
	if s := scopeNames[in.Mem.Scope]; s != "" && scopes[s] < scopes[scope] {
		scope = s
	}
	switch {
	case e.Kind == ptx.Fence && sem == "sc" && in.Mem.Strength != isa.FenceSC:
		sem = "acq_rel"
	case e.Kind.IsAccess() && in.Mem.Strength != isa.Strong && in.Mem.Strength != isa.MMIO:
		sem, scope = "weak", ""
	}
	return op.less(sem, scope)
}

var scopeNames = map[isa.Scope]string{isa.ScopeCTA: "cta", isa.ScopeCluster: "cluster", isa.ScopeGPU: "gpu", isa.ScopeSys: "sys"}
