package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/litmus"
)

// Actor is a thread of a small launch: a kernel with its parameters, and the thread's place in the launch. Threads of one test
// may run different kernels.
type Actor struct {
	Program     *ir.Program
	Params      []byte
	Vars        map[string]uint64
	Grid, Block [3]int
	// CTA and Thread are the thread's numbers in the grid and in its block, Place where the model takes it to be.
	CTA, Thread int
	Place       litmus.Place
}

// errTooMuch is that a launch is not small.
var errTooMuch = errors.New("more instructions than all executions can be looked at for")

// maxEmitted bounds the instructions of a thread of a test.
const maxEmitted = 512

// place of memory, as a location of a test: in global memory, or in the shared memory of a block.
type spot struct {
	shared bool
	block  int
	addr   uint64
}

func (s spot) name() string {
	if s.shared {
		return fmt.Sprintf("s%d_%x", s.block, s.addr)
	}
	return fmt.Sprintf("g%x", s.addr)
}

// translator makes a litmus test of a launch: each thread is executed as far as its values are known, and what it does with
// values that it has read becomes instructions of the test.
type translator struct {
	sizes map[spot]int
	users map[spot]map[int]bool
	reads map[spot]bool
}

// Translate makes the test of a small launch, in which initial values are those that init says. What the test cannot
// express is an error. Places that one thread alone writes, and nobody reads, are left out unless keep is set.
func Translate(actors []Actor, init func(addr uint64, bytes int) int64, keep bool) (*litmus.Test, error) {
	t := &translator{sizes: map[spot]int{}, users: map[spot]map[int]bool{}, reads: map[spot]bool{}}
	test := &litmus.Test{Dialect: litmus.PTX, Name: "launch", Cond: litmus.Cond{Quant: litmus.Exists, Expr: litmus.True{}}}
	for i := range actors {
		th, err := t.thread(&actors[i], i)
		if err != nil {
			return nil, fmt.Errorf("thread %d of block %d: %w", actors[i].Thread, actors[i].CTA, err)
		}
		test.Threads = append(test.Threads, *th)
	}
	if err := t.mixed(); err != nil {
		return nil, err
	}
	drop := map[string]bool{}
	for s := range t.sizes {
		if !keep && !t.reads[s] && len(t.users[s]) == 1 {
			drop[s.name()] = true
			continue
		}
		l := litmus.Location{Name: s.name(), Space: litmus.Global}
		if s.shared {
			l.Space = litmus.Shared
		} else {
			l.Init = init(s.addr, t.sizes[s])
		}
		test.Locations = append(test.Locations, l)
	}
	slices.SortFunc(test.Locations, func(a, b litmus.Location) int { return litmus.CompareLocations(a.Name, b.Name) })
	for i := range test.Threads {
		for k := range test.Threads[i].Body {
			if in := &test.Threads[i].Body[k]; drop[in.Addr.Loc] {
				*in = litmus.Instr{Labels: in.Labels}
			}
		}
	}
	return test, nil
}

// mixed refuses accesses that overlap in part.
func (t *translator) mixed() error {
	list := slices.SortedFunc(maps.Keys(t.sizes), func(a, b spot) int { return strings.Compare(a.name(), b.name()) })
	for _, a := range list {
		for _, b := range list {
			if a != b && a.shared == b.shared && a.block == b.block && a.addr <= b.addr && b.addr < a.addr+uint64(t.sizes[a]) {
				return fmt.Errorf("accesses of different sizes overlap at %s", b.name())
			}
		}
	}
	return nil
}

// known is a register of a thread: a number, or unknown, in the register of the test that has its name.
type known struct {
	sym bool
	v   uint64
	// Of an unknown condition: which unknown register it compares with v, for equality or, if differs is set, the opposite.
	compares ir.Reg // register + 1; 0 if it is no such condition
	differs  bool
}

// set gives a register another content: conditions that compare what it had say nothing of that.
func set(regs []known, r ir.Reg, k known) {
	for i := range regs {
		if regs[i].compares == r+1 {
			regs[i].compares = 0
		}
	}
	regs[r] = k
}

// learn makes what a condition compares known on the path on which it is equal.
func learn(regs []known, cond ir.Reg, holds bool) {
	if c := regs[cond]; c.compares > 0 && holds != c.differs && regs[c.compares-1].sym {
		set(regs, c.compares-1, known{v: c.v})
	}
}

// walk is a thread that is being translated.
type walk struct {
	*translator
	a      *Actor
	n      int
	out    []litmus.Instr
	labels []string // for the next instruction
	heads  map[int32]bool
	live   [][]uint64
	seen   map[string]string // states at heads of loops: their labels
	queue  []branchTo
	types  map[string]litmus.Type
	count  int
}

type branchTo struct {
	pc    int32
	regs  []known
	label string
}

// unclear is thrown where the test cannot say what the thread does.
type unclear string

func (w *walk) fail(format string, args ...any) { panic(unclear(fmt.Sprintf(format, args...))) }

func (t *translator) thread(a *Actor, n int) (th *litmus.Thread, err error) {
	w := &walk{translator: t, a: a, n: n, heads: map[int32]bool{}, seen: map[string]string{}, types: map[string]litmus.Type{}}
	defer func() {
		if r := recover(); r != nil {
			why, ok := r.(unclear)
			if !ok {
				panic(r)
			}
			err = errors.New(string(why))
		}
	}()
	for i := range a.Program.Insts {
		if f, ok := a.Program.Insts[i].Do.(*ir.Flow); ok && f.Target <= int32(i) {
			w.heads[f.Target] = true
		}
	}
	w.live = liveness(a.Program)
	regs := make([]known, a.Program.Regs)
	for _, c := range a.Program.Consts {
		regs[c.Reg] = known{v: w.constant(&c)}
	}
	w.queue = []branchTo{{0, regs, ""}}
	for len(w.queue) > 0 {
		b := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		if b.label != "" {
			w.labels = append(w.labels, b.label)
		}
		w.run(b.pc, b.regs)
	}
	w.emit(litmus.Instr{Labels: []string{"END"}})
	th = &litmus.Thread{Name: fmt.Sprintf("P%d", n), ID: n, Place: a.Place, Placed: true, Body: w.out}
	for _, name := range slices.Sorted(maps.Keys(w.types)) {
		th.Regs = append(th.Regs, litmus.RegDecl{Name: name, Type: w.types[name]})
	}
	return th, nil
}

func (w *walk) constant(c *ir.Const) uint64 {
	switch {
	case c.Symbol != "":
		v, ok := w.a.Vars[c.Symbol]
		if !ok {
			w.fail("the address of %s is not known", c.Symbol)
		}
		if v += c.Value; c.Generic && v < 1<<32 {
			v |= emu.SharedWindow
		}
		return v
	case c.Window == ir.Shared:
		return emu.SharedWindow + c.Value
	case c.Window == ir.Local:
		return emu.LocalWindow + c.Value
	}
	return c.Value
}

func (w *walk) emit(in litmus.Instr) {
	in.Labels = append(in.Labels, w.labels...)
	w.labels = nil
	if w.out = append(w.out, in); len(w.out) > maxEmitted {
		panic(unclear(errTooMuch.Error()))
	}
}

func (w *walk) label() string {
	w.count++
	return fmt.Sprintf("L%d", w.count)
}

// run translates from an instruction on until the thread ends, or is where it was before.
func (w *walk) run(pc int32, regs []known) {
	for steps := 0; ; steps++ {
		if int(pc) >= len(w.a.Program.Insts) || steps > 1<<20 {
			w.fail("a loop without end")
		}
		if w.heads[pc] {
			k := w.key(pc, regs)
			if l, ok := w.seen[k]; ok {
				w.emit(litmus.Instr{Op: litmus.OpBra, Target: l})
				return
			}
			l := w.label()
			w.seen[k] = l
			w.emit(litmus.Instr{Labels: []string{l}})
		}
		next, ended := w.inst(pc, regs)
		if ended {
			return
		}
		pc = next
	}
}

// key is a state of a thread: where it is, and what of the registers that it still uses is known.
func (w *walk) key(pc int32, regs []known) string {
	var b strings.Builder
	fmt.Fprint(&b, pc)
	for r := range regs {
		if w.live[pc][r/64]>>(r%64)&1 == 1 {
			fmt.Fprintf(&b, " %d:%v", r, regs[r])
		}
	}
	return b.String()
}

// inst translates an instruction.
func (w *walk) inst(pc int32, regs []known) (next int32, ended bool) {
	in := &w.a.Program.Insts[pc]
	var guard *litmus.Guard
	if in.Guard >= 0 {
		switch g := regs[in.Guard]; {
		case g.sym:
			guard = &litmus.Guard{Reg: regName(in.Guard, ir.Pred), Neg: in.Not}
		case (g.v != 0) == in.Not:
			return pc + 1, false
		}
	}
	if in.Opaque != "" {
		w.fail("not understood: %s", in.Opaque)
	}
	for i := range in.Pre {
		w.op(&in.Pre[i], regs, guard)
	}
	if f, ok := in.Do.(*ir.Flow); ok {
		return w.flow(pc, in, f, regs, guard)
	}
	w.effect(in.Do, regs, guard)
	for i := range in.Post {
		w.op(&in.Post[i], regs, guard)
	}
	return pc + 1, false
}

func (w *walk) flow(pc int32, in *ir.Inst, f *ir.Flow, regs []known, guard *litmus.Guard) (next int32, ended bool) {
	cond, not := in.Guard, in.Not
	if f.Cond >= 0 {
		cond, not = f.Cond, f.Not
		switch c := regs[f.Cond]; {
		case c.sym && guard != nil:
			w.fail("a jump with two conditions")
		case c.sym:
			guard = &litmus.Guard{Reg: regName(f.Cond, ir.Pred), Neg: f.Not}
		case (c.v != 0) == f.Not:
			return pc + 1, false
		}
	}
	switch {
	case f.Kind == ir.Exit && guard == nil:
		w.emit(litmus.Instr{Op: litmus.OpBra, Target: "END"})
		return 0, true
	case f.Kind == ir.Exit:
		w.emit(litmus.Instr{Op: litmus.OpBra, Target: "END", Guard: guard})
		learn(regs, cond, not)
		return pc + 1, false
	case f.Kind != ir.Jump:
		w.fail("calls and indirect jumps are not looked at")
	case guard == nil:
		return f.Target, false
	}
	there := slices.Clone(regs)
	learn(there, cond, !not)
	l, ok := "", false
	if w.heads[f.Target] {
		l, ok = w.seen[w.key(f.Target, there)]
	}
	if !ok {
		l = w.label()
		w.queue = append(w.queue, branchTo{f.Target, there, l})
	}
	w.emit(litmus.Instr{Op: litmus.OpBra, Target: l, Guard: guard})
	learn(regs, cond, not)
	return pc + 1, false
}

// liveness says for each instruction which registers are still read from there on.
func liveness(p *ir.Program) [][]uint64 {
	words := (p.Regs + 63) / 64
	live := make([][]uint64, len(p.Insts)+1)
	for i := range live {
		live[i] = make([]uint64, words)
	}
	for again := true; again; {
		again = false
		for i := len(p.Insts) - 1; i >= 0; i-- {
			now := slices.Clone(live[i+1])
			if f, ok := p.Insts[i].Do.(*ir.Flow); ok && f.Kind == ir.Jump {
				for k, x := range live[f.Target] {
					now[k] |= x
				}
			}
			uses(&p.Insts[i], now)
			if !slices.Equal(now, live[i]) {
				live[i], again = now, true
			}
		}
	}
	return live
}

// uses takes what an instruction writes out of a set, and puts in what it reads.
func uses(in *ir.Inst, set []uint64) {
	put := func(list ...ir.Reg) {
		for _, r := range list {
			if r >= 0 {
				set[r/64] |= 1 << (r % 64)
			}
		}
	}
	kill := func(r ir.Reg) {
		if r >= 0 && in.Guard < 0 {
			set[r/64] &^= 1 << (r % 64)
		}
	}
	ops := func(list []ir.Op) {
		for i := len(list) - 1; i >= 0; i-- {
			kill(list[i].Dst)
			put(list[i].Src[:]...)
		}
	}
	ops(in.Post)
	switch do := in.Do.(type) {
	case *ir.Access:
		if do.Kind == ir.Load {
			for _, r := range do.Data {
				kill(r)
			}
		} else {
			for _, r := range do.Dst {
				kill(r)
			}
			put(do.Data...)
			put(do.Compare...)
		}
		put(do.Addr)
	case *ir.Special:
		kill(do.Dst)
	case *ir.Flow:
		put(do.Cond, do.Addr)
	case *ir.Barrier:
		put(do.ID, do.Count, do.Src)
	}
	ops(in.Pre)
	put(in.Guard)
}
