package optcheck

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/isa"
	"optcheck/spec"
)

// tracedCode is code of words and predicates whose jumps lead forward, and that stores what it computes.
func tracedCode(t *rapid.T) []isa.Inst {
	draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
	gpr := func() isa.Reg { return isa.Reg{Class: isa.ClassGPR, Num: uint16(draw(3))} }
	pred := func() isa.Reg { return isa.Reg{Class: isa.ClassPred, Num: uint16(draw(2))} }
	n, kinds := rapid.IntRange(4, 18).Draw(t, "len"), 7+draw(2) // of instructions: with jumps, or without
	code := make([]isa.Inst, 0, n+5)
	for r := range uint16(3) { // each register is written before it is read
		code = append(code, isa.Inst{Op: "LD", Role: isa.RoleLoad, Target: -1, Mem: isa.Mem{Width: 4, Space: isa.SpaceGlobal},
			Defs: []isa.Reg{{Class: isa.ClassGPR, Num: r}}})
	}
	operand := func(r isa.Reg) isa.Operand {
		return isa.Operand{Kind: map[bool]isa.OperandKind{true: isa.OpdPred, false: isa.OpdReg}[r.Class == isa.ClassPred], Reg: r, Words: 1}
	}
	alu := func(op isa.MicroOp, dst isa.Reg, src ...isa.Reg) isa.Inst {
		mi := isa.Micro{Op: op, Dst: dst, Cmp: rapid.SampledFrom([]string{"EQ", "LT", "GE"}).Draw(t, "cmp"), LUT: rapid.Byte().Draw(t, "lut")}
		for _, r := range src {
			mi.Src = append(mi.Src, operand(r))
		}
		return isa.Inst{Op: "ALU", Role: isa.RoleALU, Target: -1, Defs: []isa.Reg{dst}, Uses: src, Micro: []isa.Micro{mi}}
	}
	for r := range uint16(2) {
		p := isa.Reg{Class: isa.ClassPred, Num: r}
		code = append(code, alu(isa.MicroSetp, p, isa.Reg{Class: isa.ClassGPR, Num: r}, isa.Reg{Class: isa.ClassGPR, Num: 2}))
	}
	for i := range n {
		var in isa.Inst
		switch draw(kinds) {
		case 0:
			in = alu(isa.MicroMov, gpr(), gpr())
		case 1:
			in = alu(isa.MicroAdd, gpr(), gpr(), gpr())
		case 2:
			in = alu(isa.MicroLop3, gpr(), gpr(), gpr(), gpr())
		case 3:
			in = alu(isa.MicroSetp, pred(), gpr(), gpr())
		case 4:
			in = alu(isa.MicroSel, gpr(), gpr(), gpr(), pred())
		case 5:
			in = alu(isa.MicroPlop, pred(), pred(), pred(), pred())
		case 6:
			r := gpr()
			in = isa.Inst{Op: "ST", Role: isa.RoleStore, Target: -1, Mem: isa.Mem{Width: 4, Space: isa.SpaceGlobal}, Uses: []isa.Reg{r},
				Data: []isa.Reg{r}}
		case 7:
			in = isa.Inst{Op: "BRA", Role: isa.RoleBranch, Flow: isa.FlowJump, Target: min(6+i+draw(5), n+5)}
		}
		if draw(2) == 0 || in.Flow == isa.FlowJump {
			in.Guard = isa.Guard{Reg: pred(), Neg: draw(2) == 0}
			in.Uses = append(in.Uses[:len(in.Uses):len(in.Uses)], in.Guard.Reg)
		} else if draw(8) == 0 {
			in.Guard.Never = true
		}
		code = append(code, in)
	}
	code = append(code, isa.Inst{Op: "EXIT", Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1})
	for i := range code {
		code[i].Addr = uint64(16 * i)
	}
	return code
}

// interpreted executes code for the words that its loads read: what each store that is performed stores, by its instruction.
func interpreted(code []isa.Inst, read someWords) map[int]uint32 {
	regs, stored, loads := map[isa.Reg]uint64{}, map[int]uint32{}, 0
	for at := 0; code[at].Flow != isa.FlowExit; at++ {
		in := &code[at]
		if in.Guard.Never || in.Guard.Reg.Class != isa.ClassNone && (regs[in.Guard.Reg] != 0) == in.Guard.Neg {
			continue
		}
		switch in.Role {
		case isa.RoleLoad:
			regs[in.Defs[0]] = uint64(read[(unmatched+loads)%len(read)])
			loads++
		case isa.RoleStore:
			stored[at] = uint32(regs[in.Data[0]])
		case isa.RoleBranch:
			at = in.Target - 1
		case isa.RoleALU:
			var src []uint64
			for _, o := range in.Micro[0].Src {
				src = append(src, regs[o.Reg])
			}
			w, _ := in.Micro[0].Eval(src)
			regs[in.Defs[0]] = uint64(w)
		}
	}
	return stored
}

// codeText is code in few words.
func codeText(code []isa.Inst) (s string) {
	for i := range code {
		in := &code[i]
		s += fmt.Sprintln(i, in.Guard, in.Op, in.Micro, in.Defs, in.Data, in.Target)
	}
	return s
}

// depends: where another word that a load reads changes what is stored, or whether, that load is among those on which this depends.
func depends(t *rapid.T, tr *trace, read someWords) {
	stored := interpreted(tr.fn.Insts, read)
	for l := range read {
		other := append(someWords{}, read...)
		other[(unmatched+l)%len(read)] += 3
		changed := interpreted(tr.fn.Insts, other)
		for i := range tr.events {
			x := &tr.events[i]
			is, runs := stored[x.inst]
			now, still := changed[x.inst]
			switch {
			case x.role != isa.RoleStore:
			case runs != still:
				require.NotZero(t, x.condT&(1<<l), "whether instruction %d runs depends on load %d:\n%s", x.inst, l, codeText(tr.fn.Insts))
			case is != now:
				require.NotZero(t, x.dataT&(1<<l), "what instruction %d stores depends on load %d:\n%s", x.inst, l, codeText(tr.fn.Insts))
			}
		}
	}
}

// TestTracedValues: on any code whose jumps lead forward, what a store is found to store, and under which condition, is what execution
// shows.
func TestTracedValues(t *testing.T) {
	performed, not := 0, 0
	for range 30 {
		rapid.Check(t, func(t *rapid.T) {
			fn := &isa.Func{Arch: "sm_80", Insts: tracedCode(t)}
			fn.BuildCFG()
			tr, err := walk(fn, walkOptions{})
			require.NoError(t, err)
			e := newEvaluator(&pass{tr: tr, s: &spec.Spec{}, owner: make([][]int, len(tr.events))})
			for _, read := range []someWords{{0, 1, 2}, {1, 0, 1 << 31}, {5, 5, 5}, {1<<32 - 1, 7, 0}, {3, 9, 3}} {
				stored := interpreted(fn.Insts, read)
				e.set(read)
				found := map[int]bool{}
				for i := range tr.events {
					x := &tr.events[i]
					if x.role != isa.RoleStore {
						continue
					}
					found[x.inst] = true
					acts, known := e.acts(x.when)
					if x.cond && len(x.when) == 0 || !known {
						continue // that it depends on something is all that is known
					}
					want, runs := stored[x.inst]
					require.Equal(t, runs, acts, "whether instruction %d runs, with %v:\n%s", x.inst, read, codeText(fn.Insts))
					if !runs {
						not++
						continue
					}
					got, ok := e.eval(x.data[0], 0)
					if !ok { // one of several ways
						continue
					}
					performed++
					require.Equal(t, want, got, "what instruction %d stores, with %v:\n%s", x.inst, read, codeText(fn.Insts))
				}
				for at := range stored {
					require.True(t, found[at], "%d is performed", at)
				}
				if len(fn.Blocks) == 1 { // what one of several ways left there is not taken to depend on the choice of the way
					depends(t, tr, read)
				}
			}
		})
	}
	require.Greater(t, performed, 500)
	require.Greater(t, not, 200)
}
