package prove

import (
	"fmt"
	"math"

	"optcheck/ir"
	"optcheck/refine"
)

// side is a program that is walked through.
type side struct {
	x       *terms
	name    string
	p       *ir.Program
	program *ir.Program // of both sides: it declares the launch
	vars    map[string]uint64
	params  []byteRange // where the program's parameters are in its bank or space
	mem     term        // what others see
	local   term        // what is the thread's own
	lowest  int32       // of its addresses, as far as they are constant
	shift   int32       // what is subtracted from them
	events  []event
	fixed   map[ir.Reg]term
	uniform []bool
	bars    map[ir.Reg]bool
	breaks  bool
	count   int // of names of things that nothing is known of
	steps   int
	forks   map[int32]int
	ended   [][]term // paths of threads that ended
	ask     *sweeper // what is possible
	plan    *plan
	shape   *shape // of its loops
	order   *ranking
	cuts    []*cut // loops that are followed once
	open    []*cut // that are not over
	other   *side  // of the machine code: the program
	apart   []*apart
}

// byteRange is a parameter: from where the code reads it, and where the launch has it.
type byteRange struct{ from, to, size int64 }

// unsupported is the panic of what cannot be followed.
type unsupported struct{ why string }

func fail(format string, args ...any) {
	panic(unsupported{fmt.Sprintf(format, args...)})
}

func newSide(x *terms, plan *plan, p, program *ir.Program, vars map[string]uint64) *side {
	s := &side{x: x, name: "program", p: p, program: program, vars: vars, plan: plan,
		shape: &plan.sides[0], order: ranks(p), fixed: map[ir.Reg]term{}, bars: map[ir.Reg]bool{}, forks: map[int32]int{}}
	if p.Machine {
		s.name, s.shape = "machine", &plan.sides[1]
	}
	s.mem = x.intern(node{kind: start})
	s.local = x.intern(node{kind: start, space: ir.Local, value: 1})
	s.lowest = math.MaxInt32
	s.uniform = make([]bool, p.Regs)
	for _, r := range p.Uniform {
		s.uniform[r] = true
	}
	for i, v := range p.Params {
		if i >= len(program.Params) || program.Params[i].Size != v.Size {
			fail("parameters are others than those of the program")
		}
		s.params = append(s.params, byteRange{p.ParamBase + v.Offset, program.Params[i].Offset, v.Size})
	}
	for i := range p.Insts {
		if f, ok := p.Insts[i].Do.(*ir.Flow); ok {
			s.breaks = s.breaks || f.Kind == ir.BarrierLeave
			if f.Kind == ir.BarrierSet || f.Kind == ir.BarrierWait || f.Kind == ir.BarrierLeave {
				s.bars[f.Bar] = true
			}
		}
	}
	return s
}

// constants gives registers the content that never changes.
func (s *side) constants() {
	for i := range s.p.Consts {
		s.fixed[s.p.Consts[i].Reg] = s.constant(&s.p.Consts[i])
	}
}

// free is something that nothing is known of, and that is nothing of the other side.
func (s *side) free() term {
	s.count++
	return s.inLoop(s.x.named(64, fmt.Sprintf("%s:%d", s.name, s.count), true))
}

// inLoop marks a new leaf as another one of each iteration, if it is made in a loop that is followed once.
func (s *side) inLoop(t term) term {
	if len(s.open) > 0 {
		return s.x.iterating(t)
	}
	return t
}

// window is the generic address at which a space begins.
func (s *side) window(sp ir.Space) term {
	return s.x.concat(s.x.named(32, "window:"+sp.String(), false), s.x.num(32, 0))
}

func (s *side) constant(c *ir.Const) term {
	x := s.x
	switch {
	case c.Symbol != "":
		return s.symbol(c.Symbol, c.Value, c.Generic)
	case c.Mbarrier != 0:
		return x.num(64, s.p.Mbarriers.Number(c.Mbarrier))
	case c.Window != ir.Generic:
		return x.add(s.window(c.Window), x.num(64, c.Value))
	case c.Bytes > 0:
		return s.bank(c.Bank, int64(c.Value), c.Bytes)
	}
	return x.num(64, c.Value)
}

// symbol is the address of a variable: where the launch puts it. Those of shared memory are placed as the machine code has them.
func (s *side) symbol(name string, offset uint64, generic bool) term {
	x := s.x
	at, ok := s.vars[name]
	switch {
	case ok && at < 1<<32 && generic:
		return x.add(s.window(ir.Shared), x.num(64, at+offset))
	case ok && at < 1<<32:
		return x.num(64, at+offset)
	case ok && at>>32 == refine.Constants>>32:
		return x.add(s.register(ir.ConstWindow), x.num(64, at-refine.Constants+offset))
	}
	return x.add(x.named(64, "symbol:"+name, false), x.num(64, offset))
}

// bank is what a bank of constants holds.
func (s *side) bank(bank int, from int64, bytes int) term {
	var parts []term
	for i := bytes - 1; i >= 0; i-- {
		parts = append(parts, s.bankByte(bank, from+int64(i)))
	}
	return s.x.concat(parts...)
}

func (s *side) bankByte(bank int, at int64) term {
	x := s.x
	for _, p := range s.p.Pointers {
		if off := at - p.Offset; p.Bank == bank && off >= 0 && off < int64(p.Bytes) {
			v := s.symbol(p.Symbol, uint64(p.Addend), p.Generic)
			return x.ext(x.shift(shr, v, x.num(32, uint64(p.Shift))), int(8*off), 8)
		}
	}
	if bank == 0 {
		for _, r := range s.params {
			if at >= r.from && at < r.from+r.size {
				return s.paramByte(at - r.from + r.to)
			}
		}
		for _, w := range s.p.Launch {
			if off := at - w.Offset; off >= 0 && off < int64(w.Bytes) {
				v := x.num(64, w.Fixed)
				if w.Fixed == 0 {
					v = x.sub(x.zext(s.register(w.Reg), 64), x.num(64, w.Before))
				}
				return x.ext(v, int(8*off), 8)
			}
		}
	}
	b := s.p.Banks[bank]
	if at < 0 || at >= int64(len(b)) {
		fail("a place of constant bank %d that is not known", bank)
	}
	return x.num(8, uint64(b[at]))
}

// paramByte is a byte of the parameters, as the program has them.
func (s *side) paramByte(at int64) term {
	word := s.x.named(32, fmt.Sprintf("param+%d", at&^3), false)
	return s.x.ext(word, int(8*(at&3)), 8)
}

// widths of special registers whose numbers are bounded (PTX ISA, 10).
var widths = map[ir.SpecialReg]int{ir.TidX: 10, ir.TidY: 10, ir.TidZ: 6, ir.NtidX: 11, ir.NtidY: 11, ir.NtidZ: 7,
	ir.CtaidX: 31, ir.CtaidY: 16,
	ir.CtaidZ: 16, ir.NctaidX: 31, ir.NctaidY: 16, ir.NctaidZ: 16, ir.LaneID: 5, ir.SharedWindow: 64, ir.LocalWindow: 64, ir.ParamWindow: 64,
	ir.ParamWindowEnd: 64, ir.ConstWindow: 64, ir.ClusterCtarank: 4, ir.ExplicitCluster: 1}

// register is a special register that stays as it is while the program runs.
func (s *side) register(r ir.SpecialReg) term {
	x := s.x
	switch r {
	case ir.SharedWindow:
		return s.window(ir.Shared)
	case ir.LocalWindow:
		return s.window(ir.Local)
	case ir.ParamWindow:
		return s.window(ir.Param)
	case ir.SMID, ir.NSMID, ir.GridID, ir.VirtualID, ir.WarpID, ir.NwarpID, ir.Clock, ir.Clock64, ir.GlobalTimer,
		ir.Undefined, ir.BarrierResult, ir.ProgramCounter:
		return s.free()
	}
	if d := int(r - ir.NtidX); s.program.BlockFixed && r >= ir.NtidX && r <= ir.NtidZ && s.program.Block[d] > 0 {
		return x.num(32, uint64(s.program.Block[d]))
	}
	if d := int(r - ir.TidX); s.program.BlockFixed && r >= ir.TidX && r <= ir.TidZ && s.program.Block[d] == 1 {
		return x.num(32, 0)
	}
	w, ok := widths[r]
	if !ok {
		w = 32
	}
	varies := r <= ir.TidZ || r == ir.LaneID || r >= ir.LaneMaskEQ && r <= ir.LaneMaskGE
	return x.zext(x.named(w, fmt.Sprintf("special:%d", r), varies), max(w, 32))
}
