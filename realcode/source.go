package realcode

import (
	"fmt"
	"slices"
	"sync"

	"optcheck/ptx"
	"optcheck/refine/nvidia"
)

// Op is an instruction of the PTX that is compared.
type Op struct {
	Inst   *ptx.Inst
	Func   *ptx.Func
	Effect ptx.Effect
	// Dead tells that nobody uses what it returns; needs are the registers of which somebody does.
	Dead  bool
	needs []int
	at    int32 // its step in the function
	addr  address
	adds  bool // an increment up to the greatest number, which adds one
	sized int  // of what an image has of it: its width, if it is another one
	// barrier is the mbarrier that it is about.
	barrier address
}

// source is the PTX of one function and what it calls, as a program.
type source struct {
	m       *ptx.Module
	ops     []*Op
	segment []int // of each operation: those between which nothing is but accesses
	block   []int // of each operation: those between which nothing jumps, and to which nothing does
	steps   []step
	regs    map[*ptx.Func]registers
	entries map[*ptx.Func]int32
	isSpare []int8 // of each operation, 0: not asked yet
	// constant is what loads read of which the PTX promises that nobody writes it: ld.global.nc.
	constant []address
	// calls are the calls that are not followed.
	calls []*ptx.Inst
	// possible tells what threads come to, whatever the input is.
	possible func() *nvidia.Possible
}

// compared reports whether an instruction is one of those that are looked for.
func compared(e *ptx.Effect) bool {
	switch e.Kind {
	case ptx.None, ptx.Convergent, ptx.Call, ptx.Other:
		return false
	case ptx.Load, ptx.Store, ptx.Atomic, ptx.Reduction:
		return e.Space != "local" && e.Space != "param" && !e.Constant
	}
	return true
}

// others are the instructions that may work on memory and are not looked for: on textures and surfaces, calls of what nobody knows.
func (s *source) others() (out []write) {
	for f := range s.entries {
		for _, st := range f.Body {
			if in := st.Inst; in != nil && (in.Effect().Kind == ptx.Other || slices.Contains(s.calls, in)) {
				at := placeIn(f.Name, in)
				out = append(out, write{n: in.N, at: &at, lost: true, never: func() bool { return false }})
			}
		}
	}
	slices.SortFunc(out, func(a, b write) int { return a.n - b.n })
	return out
}

// readSource lays out a function and all that it calls.
func readSource(m *ptx.Module, root *ptx.Func) (*source, error) {
	s := &source{m: m, entries: map[*ptx.Func]int32{}, regs: map[*ptx.Func]registers{}}
	funcs := []*ptx.Func{root}
	for i := 0; i < len(funcs); i++ {
		for _, st := range funcs[i].Body {
			if st.Inst == nil || st.Inst.Name != "call" {
				continue
			}
			for _, f := range s.callees(funcs[i], st.Inst) {
				if !slices.Contains(funcs, f) {
					funcs = append(funcs, f)
				}
			}
		}
	}
	at := 0
	for _, f := range funcs {
		s.entries[f] = int32(at)
		at += len(f.Body) + 1
	}
	for _, f := range funcs {
		if err := s.lay(f); err != nil {
			return nil, err
		}
	}
	s.possible = sync.OnceValue(func() *nvidia.Possible { return nvidia.NewPossible(m, root.Name) })
	s.findDead()
	return s, nil
}

// callees are the functions that a call may go to; none if they are elsewhere.
func (s *source) callees(f *ptx.Func, in *ptx.Inst) (out []*ptx.Func) {
	add := func(name string) {
		if g := s.m.Func(name); g != nil {
			out = append(out, g)
		}
	}
	for _, a := range in.Args {
		if a.Kind != ptx.Sym {
			continue
		}
		add(a.Name)
		for _, st := range f.Body {
			if st.Kind == ptx.StmtTable && st.Name == a.Name {
				for _, l := range st.Labels {
					add(l)
				}
			}
		}
	}
	return out
}

// never reports whether no thread performs an operation: a compiler that knows it leaves it out.
func (s *source) never(op *Op) bool { return s.possible().Never(op.Inst.N) }

// lay appends the steps of a function.
func (s *source) lay(f *ptx.Func) error {
	base := s.entries[f]
	labels, tables := map[string]int32{}, map[string][]string{}
	for i, st := range f.Body {
		switch st.Kind {
		case ptx.StmtLabel:
			labels[st.Name] = base + int32(i)
		case ptx.StmtTable:
			tables[st.Name] = st.Labels
		}
	}
	w := newWalk(f)
	segment, block := len(s.ops), int(base)
	for i, st := range f.Body {
		if st.Kind == ptx.StmtLabel {
			segment, block = len(s.ops), int(base)+i
		}
		sp := step{guard: -1, cond: -1, letter: -1, next: []int32{base + int32(i) + 1}}
		if in := st.Inst; in != nil {
			if err := s.flow(f, in, &sp, labels, tables); err != nil {
				return &ptx.Error{File: s.m.File, Pos: in.Pos, Msg: err.Error()}
			}
			e := in.Effect()
			if e.Kind != ptx.None && e.Kind != ptx.Convergent && !(e.Kind.IsAccess() && e.Weak()) || in.Name == "bra" {
				segment = len(s.ops) + 1
			}
			if in.Name == "bra" || in.Name == "brx" {
				block = int(base) + i
			}
			if e.Kind == ptx.Load && e.Constant && e.Space == "global" {
				s.constant = append(s.constant, w.addressOf(in))
			}
			if isOperation(in) {
				s.segment, s.block = append(s.segment, segment), append(s.block, block)
				sp.letter = int32(len(s.ops))
				s.ops = append(s.ops, &Op{Inst: in, Func: f, Effect: e, at: int32(i), addr: w.addressOf(in), barrier: w.barrierOf(in),
					adds: e.Atom == "inc" && w.unlimited(in)})
			}
		}
		s.steps = append(s.steps, sp)
	}
	s.steps = append(s.steps, step{guard: -1, cond: -1, letter: -1, ret: true})
	return nil
}

// isOperation reports whether an instruction is an operation that is compared.
func isOperation(in *ptx.Inst) bool {
	e := in.Effect()
	return compared(&e) || warpWide(in)
}

// flow says where control goes.
func (s *source) flow(f *ptx.Func, in *ptx.Inst, sp *step, labels map[string]int32, tables map[string][]string) error {
	sp.guard, sp.guardNeg = int32(in.Guard), in.Neg
	jump := func(names ...string) error {
		sp.next = nil
		for _, n := range names {
			to, ok := labels[n]
			if !ok {
				return fmt.Errorf("there is no label %q", n)
			}
			sp.next = append(sp.next, to)
		}
		return nil
	}
	switch in.Name {
	case "bra":
		return jump(in.Args[0].Name)
	case "brx":
		table, ok := tables[in.Args[len(in.Args)-1].Name]
		if !ok {
			return fmt.Errorf("there is no table %q of targets", in.Args[len(in.Args)-1].Name)
		}
		return jump(table...)
	case "exit":
		sp.next = []int32{end}
	case "ret":
		sp.next, sp.ret = nil, true
	case "trap":
		sp.next = nil
	case "call":
		for _, g := range s.callees(f, in) {
			sp.call = append(sp.call, s.entries[g])
		}
		if len(sp.call) == 0 {
			s.calls = append(s.calls, in)
		}
	}
	return nil
}
