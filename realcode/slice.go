package realcode

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/ptx"
)

// A slice is what of a kernel a finding is about, as two litmus tests: the threads as
// the PTX has them, and as the machine code does. The partner is made from a pattern;
// the condition is what the pattern must not show.
type slice struct {
	pattern         string
	source, machine *litmus.Test
	refused         string // why there is no test
}

func refused(format string, args ...any) *slice { return &slice{refused: fmt.Sprintf(format, args...)} }

// location is a place in memory that the kernel's thread shares with its partner.
type location struct {
	// writes tells that the kernel's thread puts the new value there, and its partner
	// reads; else the other way round.
	writes bool
	lock   bool // 1, held by another thread, becomes 0: free
	shared bool // in the memory of the CTA
	width  int  // in bytes; 0 where all accesses have one
}

func (l location) values() (old, now int) {
	if l.lock {
		return 1, 0
	}
	return 0, 1
}

// address64 are the registers that hold the addresses of the locations.
var address64 = [2]string{"rd0", "rd1"}

// member is an instruction of the kernel's thread: an access to one of two locations, a
// fence or a barrier.
type member struct {
	op    *Op
	at    int
	value int // that it writes instead of the new one, if it is not 0
}

// slicer writes the tests of a slice.
type slicer struct {
	locs  [2]location
	scope string // of what orders: threads are in different CTAs unless it is cta
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

// integer is the type of an access: of its own width, or that of its location.
func (l location) integer(letter string, own int) string {
	if own == 0 {
		own = l.width
	}
	if own == 0 {
		own = 4
	}
	return fmt.Sprintf("%s%d", letter, 8*own)
}

func load(sem, scope, typ string, at int, reg string) string {
	return fmt.Sprintf("%s.%s %s,[%s]", scoped("ld", sem, scope), typ, reg, address64[at])
}

func store(sem, scope, typ string, at, value int) string {
	return fmt.Sprintf("%s.%s [%s],%d", scoped("st", sem, scope), typ, address64[at], value)
}

// text gives an instruction of the PTX with the locations, types and values of a test.
// reg is the register of what it returns.
func (s *slicer) text(m member, reg string) (string, error) {
	e := &m.op.Effect
	l := s.locs[m.at]
	old, now := l.values()
	if m.value != 0 {
		now = m.value
	}
	switch e.Kind {
	case ptx.Load:
		return load(e.Sem, e.Scope, l.integer("s", m.op.sized), m.at, reg), nil
	case ptx.Store:
		return store(e.Sem, e.Scope, l.integer("s", m.op.sized), m.at, now), nil
	case ptx.Atomic, ptx.Reduction:
		from, to := old, now // what it finds, and leaves
		if !l.writes {
			from, to = now, now+1
		}
		op := "atom." + e.Sem + "." + e.Scope
		switch {
		case e.Atom == "cas":
			return fmt.Sprintf("%s.cas.%s %s,[%s],%d,%d", op, l.integer("b", m.op.sized), reg, address64[m.at], from, to), nil
		case e.Atom == "exch" || l.lock:
			return fmt.Sprintf("%s.exch.%s %s,[%s],%d", op, l.integer("b", m.op.sized), reg, address64[m.at], to), nil
		}
		return fmt.Sprintf("%s.add.%s %s,[%s],1", op, l.integer("u", m.op.sized), reg, address64[m.at]), nil
	case ptx.Fence:
		return m.op.Inst.Op, nil
	case ptx.Barrier:
		return "bar.sync 0", nil
	case ptx.Arrive:
		return "bar.arrive 0,64", nil
	}
	return "", fmt.Errorf("there is no litmus test of %s", e.Kind)
}

// returns reports whether the instruction of a member has a register for what it returns.
func (m member) returns() bool {
	k := m.op.Effect.Kind
	return k == ptx.Load || k == ptx.Atomic || k == ptx.Reduction
}

// namesOf names the registers of both threads: what the machine code has in the place of an
// operation returns its value in the same one, so that one condition is about both.
func namesOf(source, machine []member) (regs [2][]string) {
	of := map[*Op]string{}
	var free []string // of operations that the machine code has as something else
	n := 0
	for _, m := range source {
		reg := ""
		if m.returns() {
			n++
			reg = fmt.Sprintf("r%d", n)
			of[m.op] = reg
			if !slices.ContainsFunc(machine, func(x member) bool { return x.op == m.op }) {
				free = append(free, reg)
			}
		}
		regs[0] = append(regs[0], reg)
	}
	for _, m := range machine {
		reg, known := of[m.op]
		switch {
		case !m.returns():
		case known:
			delete(of, m.op) // a second performance has a register of its own
		case len(free) > 0:
			reg, free = free[0], free[1:]
		default:
			n++
			reg = fmt.Sprintf("r%d", n)
		}
		regs[1] = append(regs[1], reg)
	}
	return regs
}

// thread prints the kernel's thread.
func (s *slicer) thread(members []member, regs []string) (lines []string, err error) {
	for i, m := range members {
		text, err := s.text(m, regs[i])
		if err != nil {
			return nil, err
		}
		lines = append(lines, text)
	}
	return lines, nil
}

// partner is the other thread of a pair: it comes to the second location, then to the
// first, with the kernel's fence between, or, if that is "", with a release or an acquire
// at flag, the location that synchronises.
func (s *slicer) partner(fence string, flag int) []string {
	access := func(at int) string {
		l := s.locs[at]
		sem := map[bool]string{true: "relaxed", false: "weak"}[fence != ""]
		if fence == "" && at == flag {
			sem = map[bool]string{true: "acquire", false: "release"}[l.writes]
		}
		_, now := l.values()
		switch {
		case l.writes && l.lock:
			return fmt.Sprintf("atom.%s.%s.cas.%s %s,[%s],0,1", sem, s.scope, l.integer("b", 0), s.reg(at), address64[at])
		case l.writes:
			return load(sem, s.scope, l.integer("s", 0), at, s.reg(at))
		}
		return store(sem, s.scope, l.integer("s", 0), at, now)
	}
	if fence == "" {
		return []string{access(1), access(0)}
	}
	return []string{access(1), fence, access(0)}
}

// reg is the partner's register for what it reads at a location.
func (s *slicer) reg(at int) string {
	if at == 0 && s.locs[1].writes {
		return "r2"
	}
	return "r1"
}

// outcome is what the order of the kernel's two accesses forbids: that who reads the
// first location sees what is later, and who reads the second what is earlier, or the other
// way round if it is the partner. own are the registers of the kernel's thread at both
// locations, t its number, other those of the partner.
func (s *slicer) outcome(t int, own, other [2]string) string {
	var terms []string
	for at, l := range s.locs {
		thread, reg := t, own[at]
		if l.writes {
			thread, reg = 1-t, other[at]
		}
		old, now := l.values()
		terms = append(terms, fmt.Sprintf("%d:%s=%d", thread, reg, map[bool]int{true: now, false: old}[l.writes == (at == 1)]))
	}
	slices.Sort(terms)
	return strings.Join(terms, " /\\ ")
}

// pattern names what a pair of accesses is, by what the kernel's thread does.
func (s *slicer) pattern() string {
	switch a, b := s.locs[0], s.locs[1]; {
	case a.lock:
		return "lock, taken"
	case b.lock:
		return "lock, given up"
	case a.writes && b.writes:
		return "message passing, the writer"
	case b.writes:
		return "load buffering"
	case a.writes:
		return "store buffering"
	}
	return "message passing, the reader"
}

// pair makes the slice of two accesses, source in the order of the PTX. fence is that of
// the partner, "" if flag synchronises.
func (s *slicer) pair(source, machine []member, fence string, flag int) *slice {
	ours := map[bool]int{true: 0, false: 1}[s.locs[0].writes || s.locs[1].writes]
	return s.tests(s.pattern(), ours, alike(s.partner(fence, flag)...), source, machine, func(regs [2]string) string {
		return s.outcome(ours, regs, [2]string{s.reg(0), s.reg(1)})
	})
}

// tests makes the slice of the kernel's thread, number ours, and its partner. cond has
// the registers of the first member at the first location, and of the last one at the
// second.
func (s *slicer) tests(pattern string, ours int, partner [2][]string, source, machine []member, cond func([2]string) string) *slice {
	out := &slice{pattern: pattern}
	names := namesOf(source, machine)
	for i, x := range []struct {
		to      **litmus.Test
		members []member
		name    string
	}{{&out.source, source, "source"}, {&out.machine, machine, "machine"}} {
		lines, err := s.thread(x.members, names[i])
		if err != nil {
			return refused("%v", err)
		}
		threads := [2][]string{partner[i], partner[i]}
		threads[ours] = lines
		if *x.to, err = s.parse(x.name, pattern, threads, cond(s.read(x.members, names[i]))); err != nil {
			return refused("%v", err)
		}
	}
	return out
}

// alike has a partner be the same in both tests.
func alike(partner ...string) [2][]string { return [2][]string{partner, partner} }

// read are the registers whose values a condition is about.
func (s *slicer) read(members []member, regs []string) (out [2]string) {
	for i, m := range members {
		if m.op.Effect.Kind.IsAccess() && (m.at == 1 || out[0] == "") {
			out[m.at] = regs[i]
		}
	}
	return out
}

func (s *slicer) parse(name, pattern string, threads [2][]string, cond string) (*litmus.Test, error) {
	return litmus.Parse("slice", []byte(s.print(name, pattern, threads, cond)))
}

// register is the type of the registers of the tests.
func (s *slicer) register() string {
	if s.locs[0].width == 8 || s.locs[1].width == 8 {
		return "s64"
	}
	return "s32"
}

func (s *slicer) print(name, pattern string, threads [2][]string, cond string) string {
	var b strings.Builder
	x, _ := s.locs[0].values()
	y, _ := s.locs[1].values()
	fmt.Fprintf(&b, "GPU_PTX %s\n%q\n{\nx=%d; y=%d;\n", name, pattern, x, y)
	for t, lines := range threads {
		fmt.Fprintf(&b, "%d:.reg .b64 rd0 = x; %d:.reg .b64 rd1 = y;", t, t)
		for r := 1; r <= len(lines)+1; r++ {
			if strings.Contains(strings.Join(lines, "\n"), fmt.Sprintf(" r%d,", r)) {
				fmt.Fprintf(&b, " %d:.reg .%s r%d;", t, s.register(), r)
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
	if s.scope == "cta" || s.locs[0].shared || s.locs[1].shared {
		tree = "ScopeTree(grid(cta(warp T0) (warp T1)))"
	}
	space := map[bool]string{true: "shared", false: "global"}
	fmt.Fprintf(&b, "%s\nx: %s, y: %s\nexists (%s)\n", tree, space[s.locs[0].shared], space[s.locs[1].shared], cond)
	return b.String()
}
