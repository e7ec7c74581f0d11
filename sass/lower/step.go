package lower

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/ir"
	"optcheck/isa"
)

// step lowers one instruction. It takes the modifiers and operands one by one: what nobody has taken in the end is
// not understood.
type step struct {
	u    *unit
	in   *isa.Inst
	out  *ir.Inst
	fn   int
	mods []string      // not yet taken
	args []isa.Operand // not yet taken
	list *[]ir.Op      // where operations go: before the effect, or behind it
	sets []set
	why  string
}

// set is a register and the value that it gets in the end.
type set struct{ dst, src ir.Reg }

// lower finds the reading of the opcode, follows it, and checks that nothing is left.
func (s *step) lower() {
	s.guard()
	switch reading := table[s.in.Op]; {
	case s.in.Op == "":
		s.fail("the disassembler does not print it")
	case reading == nil:
		s.fail("opcode %s", s.in.Op)
	default:
		reading(s)
	}
	switch {
	case s.why != "":
	case len(s.mods) > 0:
		s.fail("modifier .%s of %s", s.mods[0], s.in.Op)
	case len(s.args) > 0:
		s.fail("operand %s of %s", s.args[0].Text, s.in.Op)
	}
	if s.why != "" {
		s.out.Opaque, s.out.Pre, s.out.Do, s.out.Post = s.why, nil, nil, nil
		return
	}
	s.finish()
}

func (s *step) fail(format string, args ...any) {
	if s.why == "" {
		s.why = fmt.Sprintf(format, args...)
	}
}

func (s *step) guard() {
	g := s.in.Guard
	switch {
	case g.Never:
		s.out.Guard, s.out.Not = s.k(1), true
	case g.Reg.Class != isa.ClassNone:
		s.out.Guard, s.out.Not = s.u.reg(g.Reg), g.Neg
	}
}

// mod takes a modifier, if it is there.
func (s *step) mod(m string) bool {
	i := slices.Index(s.mods, m)
	if i < 0 {
		return false
	}
	s.mods = slices.Delete(s.mods, i, i+1)
	return true
}

// drop takes modifiers that do not concern what is computed: hints for caches and schedulers.
func (s *step) drop(mods string) {
	for _, m := range strings.Fields(mods) {
		s.mod(m)
	}
}

// oneOf takes the first of the remaining modifiers that is in a list of words; "" if there is none.
func (s *step) oneOf(words string) string {
	list := strings.Fields(words)
	for i, m := range s.mods {
		if slices.Contains(list, m) {
			s.mods = slices.Delete(s.mods, i, i+1)
			return m
		}
	}
	return ""
}

// k is a constant.
func (s *step) k(v uint64) ir.Reg { return s.u.b.Const(v) }

// op computes into a temporary register.
func (s *step) op(code ir.Code, t ir.Type, src ...ir.Reg) ir.Reg {
	return s.u.b.Op(s.list, code, t, src...)
}

// opTo is op with more to be set.
func (s *step) opTo(code ir.Code, t ir.Type, f func(*ir.Op), src ...ir.Reg) ir.Reg {
	d := s.u.b.Temp()
	f(s.u.b.To(s.list, d, code, t, src...))
	return d
}

func (s *step) cmp(c ir.Cond, t ir.Type, a, b ir.Reg) ir.Reg {
	return s.opTo(ir.Cmp, t, func(o *ir.Op) { o.Cond = c }, a, b)
}

// constant reports the value of a register that never changes.
func (s *step) constant(r ir.Reg) (uint64, bool) { return s.u.b.Value(r) }

// is reports whether a register has a value for ever.
func (s *step) is(r ir.Reg, v uint64) bool {
	x, ok := s.constant(r)
	return ok && x == v
}

// do makes the effect; operations from here on follow it.
func (s *step) do(e ir.Effect) {
	if s.out.Do != nil {
		s.fail("two effects")
	}
	s.out.Do, s.list = e, &s.out.Post
}

// reg is the register of a machine register.
func (u *unit) reg(r isa.Reg) ir.Reg {
	x, ok := u.regs[r]
	if !ok {
		if r.Class == isa.ClassUGPR || r.Class == isa.ClassUPred {
			x = u.b.UniformReg()
		} else {
			x = u.b.Reg()
		}
		u.regs[r] = x
	}
	return x
}

// finish writes the results. A result that only the last operation on a temporary register makes is made in its place.
func (s *step) finish() {
	for i, x := range s.sets { // what is overwritten must be read first
		for k, y := range s.sets {
			if i != k && x.src == y.dst {
				s.sets[i].src = s.op(ir.Mov, ir.U64, x.src)
			}
		}
	}
	for i := range s.sets {
		x := s.sets[i]
		if !s.inPlace(i) && s.sets[i].src != x.dst {
			s.u.b.To(s.list, x.dst, ir.Mov, ir.U64, s.sets[i].src)
		}
	}
}

// inPlace makes result i where it is computed, if that is possible.
func (s *step) inPlace(i int) bool {
	x, ops, at := s.sets[i], *s.list, -1
	for k := range ops {
		if ops[k].Dst == x.src {
			if at >= 0 {
				return false
			}
			at = k
		}
		if ops[k].Dst == x.dst {
			return false
		}
	}
	if at < 0 {
		return false
	}
	for k := at + 1; k < len(ops); k++ {
		if slices.Contains(ops[k].Src[:], x.dst) {
			return false
		}
	}
	ops[at].Dst = x.dst
	for k := at + 1; k < len(ops); k++ {
		for j := range ops[k].Src {
			if ops[k].Src[j] == x.src {
				ops[k].Src[j] = x.dst
			}
		}
	}
	for k := range s.sets {
		if k > i && s.sets[k].src == x.src {
			s.sets[k].src = x.dst
		}
	}
	return true
}
