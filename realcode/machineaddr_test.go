package realcode

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/isa"
)

// drawnMachine draws code of words whose jumps lead forward, with accesses at what it computes.
func drawnMachine(t *rapid.T) []isa.Inst {
	draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
	gpr := func() isa.Reg { return isa.Reg{Class: isa.ClassGPR, Num: uint16(draw(5))} }
	pred := isa.Reg{Class: isa.ClassPred}
	word := func() int64 { return rapid.SampledFrom([]int64{0, 1, 2, 4, 8, 31, -4, 1 << 20, -1 << 31}).Draw(t, "k") }
	operand := func() (o isa.Operand) {
		switch draw(5) {
		case 0:
			return isa.Operand{Kind: isa.OpdImm, Imm: word()}
		case 1:
			return isa.Operand{Kind: isa.OpdConst, Bank: draw(2), Off: int64(4 * draw(3)), Words: 1}
		case 2:
			if draw(3) == 0 {
				return isa.Operand{Kind: isa.OpdReg, Reg: isa.Reg{Class: isa.ClassGPR, Num: 255}, Zero: true}
			}
		}
		return isa.Operand{Kind: isa.OpdReg, Reg: gpr(), Words: 1}
	}
	alu := func(op isa.MicroOp, dst isa.Reg, sources int) isa.Inst {
		mi := isa.Micro{Op: op, Dst: dst, LUT: rapid.Byte().Draw(t, "lut"), Cmp: "LT", Signed: draw(2) == 0}
		if op == isa.MicroSpecial {
			mi.Sym = rapid.SampledFrom([]string{"SR_TID.X", "SR_LANEID", "SR_CLOCKLO"}).Draw(t, "sym")
		}
		for range sources {
			mi.Src = append(mi.Src, operand())
		}
		return isa.Inst{Op: "ALU", Role: isa.RoleALU, Target: -1, Defs: []isa.Reg{dst}, Micro: []isa.Micro{mi}}
	}
	n := rapid.IntRange(4, 24).Draw(t, "len")
	code := []isa.Inst{alu(isa.MicroSetp, pred, 2)}
	for len(code) < n {
		var in isa.Inst
		switch k := draw(10); k {
		case 0, 1, 2:
			in = alu(isa.MicroAdd, gpr(), 2+draw(2))
		case 3:
			in = alu(isa.MicroMov, gpr(), 1)
		case 4:
			in = alu([]isa.MicroOp{isa.MicroShl, isa.MicroMul, isa.MicroShr, isa.MicroLop3, isa.MicroMad}[draw(5)], gpr(), 3)
		case 5:
			in = alu(isa.MicroSpecial, gpr(), 0)
		case 6:
			in = isa.Inst{Op: "BRA", Role: isa.RoleBranch, Flow: isa.FlowJump, Target: min(len(code)+1+draw(6), n)}
		case 7:
			in = alu(isa.MicroSetp, pred, 2)
		default:
			in = isa.Inst{Op: "ST", Role: isa.RoleStore, Target: -1, Mem: isa.Mem{Width: 4, Space: isa.SpaceGlobal}}
			o := isa.Operand{Kind: isa.OpdMem, Reg: gpr(), Off: word()}
			if draw(4) == 0 {
				o.Base2 = gpr()
			}
			in.Args = []isa.Operand{o}
		}
		if in.Flow == isa.FlowJump || draw(4) == 0 {
			in.Guard = isa.Guard{Reg: pred, Neg: draw(2) == 0}
		}
		code = append(code, in)
	}
	return append(code, isa.Inst{Op: "EXIT", Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1})
}

// accessed executes code: the address of each access that is performed, by its instruction.
func accessed(code []isa.Inst, seed uint32) map[int]uint32 {
	regs, out, clock := map[isa.Reg]uint32{}, map[int]uint32{}, seed
	reg := func(r isa.Reg) uint32 {
		if _, ok := regs[r]; !ok {
			regs[r] = seed * uint32(3+r.Num) & 0xffff // what it has at the beginning
		}
		return regs[r]
	}
	for at := 0; code[at].Flow != isa.FlowExit; at++ {
		in := &code[at]
		if in.Guard.Reg.Class != isa.ClassNone && (reg(in.Guard.Reg)&1 != 0) == in.Guard.Neg {
			continue
		}
		switch in.Role {
		case isa.RoleBranch:
			at = in.Target - 1
		case isa.RoleStore:
			o := &in.Args[0]
			out[at] = reg(o.Reg) + uint32(o.Off)
			if o.Base2.Class != isa.ClassNone {
				out[at] += reg(o.Base2)
			}
		case isa.RoleALU:
			mi := &in.Micro[0]
			if mi.Op == isa.MicroSpecial {
				clock += 12345
				regs[mi.Dst] = map[string]uint32{"SR_TID.X": seed % 64, "SR_LANEID": seed % 32, "SR_CLOCKLO": clock}[mi.Sym]
				continue
			}
			var src []uint64
			for i := range mi.Src {
				switch o := &mi.Src[i]; {
				case o.Kind == isa.OpdImm:
					src = append(src, uint64(uint32(o.Imm)))
				case o.Kind == isa.OpdConst:
					src = append(src, uint64(seed*uint32(17+int64(5*o.Bank)+o.Off)))
				case o.Zero:
					src = append(src, 0)
				default:
					src = append(src, uint64(reg(o.Reg)))
				}
			}
			v, _ := mi.Eval(src)
			regs[mi.Dst] = v
		}
	}
	return out
}

func textOf(f *isa.Func, w *regWalk) (text string) {
	for k := range f.Insts {
		in := &f.Insts[k]
		text += fmt.Sprintln(k, in.Guard, in.Op, in.Micro, in.Args, in.Target, w.out[k])
	}
	return text
}

// TestAddressesExecuted: on any machine code whose jumps lead forward, two accesses that are found to be some bytes behind one beginning
// are so
// in its execution, and what it performs is a path of its graph.
func TestAddressesExecuted(t *testing.T) {
	compared := 0
	for range 30 {
		rapid.Check(t, func(t *rapid.T) {
			f := &isa.Func{Arch: "sm_80", Insts: drawnMachine(t)}
			for i := range f.Insts {
				f.Insts[i].Addr = uint64(16 * i)
			}
			f.BuildCFG()
			w := follow(f, 0)
			m := readMachine(&isa.Program{Funcs: []*isa.Func{f}}, f, 80)
			for i := range m.steps {
				if m.steps[i].letter = -1; m.insts[i].Role == isa.RoleStore {
					m.steps[i].letter = int32(i)
				}
			}
			g, err := unroll(m.steps, 0, len(m.conds), everyCondition(len(m.conds)), maxNodes())
			require.NoError(t, err)
			for _, seed := range []uint32{1, 7, 32, 0x10001, 1 << 31} {
				roots := map[string]uint32{}
				out := accessed(f.Insts, seed)
				var word []int32
				for _, i := range slices.Sorted(maps.Keys(out)) {
					word = append(word, int32(i))
				}
				require.True(t, accepts(g, word), "%v in\n%s", word, textOf(f, w))
				for i, v := range out {
					a := w.out[i]
					base := v - uint32(a.offset)
					other, ok := roots[a.root]
					if a.root == "" || !ok {
						roots[a.root] = base
						continue
					}
					compared++
					require.Equal(t, other, base, "%d at %v in\n%s", i, a, textOf(f, w))
				}
			}
		})
	}
	require.Greater(t, compared, 500)
}

// TestAddressed: which instructions have an address: accesses, copies, and what is done to an mbarrier; not what works on a cache.
func TestAddressed(t *testing.T) {
	at := isa.Operand{Kind: isa.OpdMem, Off: 24}
	for _, x := range []struct {
		op   string
		role isa.Role
		want string
	}{
		{"LDS", isa.RoleLoad, "0"}, {"STS", isa.RoleStore, "0"}, {"ATOMS", isa.RoleAtomic, "0"}, {"REDAS", isa.RoleReduction, "0"}, {"LDGSTS", isa.RoleCopy, "0"},
		{"SYNCS", isa.RoleCache, "0"}, {"CCTL", isa.RoleCache, ""}, {"MOV", isa.RoleALU, ""},
	} {
		f := &isa.Func{Insts: []isa.Inst{{Op: x.op, Role: x.role, Target: -1, Args: []isa.Operand{at}}}}
		f.BuildCFG()
		got := follow(f, 0).out[0]
		require.Equal(t, x.want, got.root, x.op)
		require.Equal(t, x.want != "", got.offset == 24, x.op)
	}
}
