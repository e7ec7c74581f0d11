package optcheck

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/isa"
	"optcheck/spec"
)

// ways decide each conditional jump each time, by its address.
type ways struct {
	seed  uint64
	times map[uint64]uint64
}

func (w *ways) taken(addr uint64) bool {
	w.times[addr]++
	x := (w.seed + addr*31 + w.times[addr]) * 0x9e3779b97f4a7c15
	return x>>62 == 0
}

// executed lists the addresses of what code executes besides jumps, calls and returns; the end is "exit", "trapped", or "" after many
// steps.
func executed(code []isa.Inst, seed uint64) ([]uint64, string) {
	w, list := &ways{seed, map[uint64]uint64{}}, []uint64{}
	var stack []int
	at := 0
	for range 400 {
		in := &code[at]
		runs := !in.Guard.Never && (in.Guard.Reg.Class == isa.ClassNone || w.taken(in.Addr) != in.Guard.Neg)
		next := at + 1
		switch {
		case in.Text == trapped:
			return list, trapped
		case in.Flow == isa.FlowNext:
			list = append(list, in.Addr)
		case !runs:
		case in.Flow == isa.FlowExit:
			return list, "exit"
		case in.Flow == isa.FlowJump:
			next = in.Target
		case in.Flow == isa.FlowIndirect:
			next = in.Targets[int(in.Addr/16)%len(in.Targets)]
		case in.Flow == isa.FlowCall:
			stack = append(stack, next)
			next = in.Target
		case in.Flow == isa.FlowReturn:
			next, stack = stack[len(stack)-1], stack[:len(stack)-1]
		}
		at = next
	}
	return list, ""
}

// drawnCode draws code that jumps within [lo, lo+n), and ends with a given instruction.
func drawnCode(t *rapid.T, lo, n int, last isa.Flow, calls []int) []isa.Inst {
	below := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
	code := make([]isa.Inst, n)
	for i := range code {
		in := &code[i]
		*in = isa.Inst{Addr: uint64(16 * (lo + i)), Op: "MOV", Text: "MOV", Role: isa.RoleALU, Target: -1}
		branch := func(flow isa.Flow) {
			in.Op, in.Text, in.Role, in.Flow = "BRA", "BRA", isa.RoleBranch, flow
		}
		switch k := below(8); {
		case i == n-1:
			branch(last)
		case k < 3:
			branch(isa.FlowJump)
			in.Target = lo + below(n)
			if below(4) > 0 {
				in.Guard = isa.Guard{Reg: isa.Reg{Class: isa.ClassPred, Num: uint16(below(3))}, Neg: below(2) == 0}
			}
		case k == 3:
			branch(isa.FlowIndirect)
			in.Targets = []int{lo + below(n), lo + below(n)}
		case k == 5 && below(2) == 0:
			branch(rapid.SampledFrom([]isa.Flow{isa.FlowJump, isa.FlowExit, last}).Draw(t, "flow"))
			in.Guard.Never, in.Target = true, lo+below(n)
		case k == 4 && len(calls) > 0:
			branch(isa.FlowCall)
			in.Target = rapid.SampledFrom(calls).Draw(t, "call")
			if below(3) == 0 {
				in.Guard = isa.Guard{Reg: isa.Reg{Class: isa.ClassPred, Num: 1}, Neg: below(2) == 0}
			}
		}
	}
	return code
}

// sameUntil: one of two executions is the beginning of the other, both are the same if both end.
func sameUntil(t *rapid.T, a, b []isa.Inst) {
	for seed := range uint64(12) {
		x, endX := executed(a, seed)
		y, endY := executed(b, seed)
		n := min(len(x), len(y))
		require.Equal(t, x[:n], y[:n], "%d: %v\n%v", seed, a, b)
		if endX == "exit" && endY != "" && endY != trapped || endY == "exit" {
			require.Equal(t, []any{len(x), endX}, []any{len(y), endY}, "%d: %v\n%v", seed, a, b)
		}
	}
}

// TestTransformed: loops that are put in one place and copied, blocks of which each way gets one, and functions put in the place of their
// calls execute what the code executed before; only behind the copies of a loop there is a trap.
func TestTransformed(t *testing.T) {
	did := map[string]int{}
	one := func(t *rapid.T) {
		n := rapid.IntRange(3, 12).Draw(t, "n")
		fn := &isa.Func{Arch: "sm_80", Insts: drawnCode(t, 0, n, isa.FlowExit, nil)}
		fn.BuildCFG()
		code := fn.Insts
		f, err := newFlow(fn)
		require.NoError(t, err)
		for _, b := range f.order {
			if len(f.blocks[b].Preds) >= 2 {
				apart := f.apart(code, b)
				sameUntil(t, code, apart)
				did["apart"] += len(apart) - len(code)
			}
		}
		l, ok := f.loop(fn, &spec.Spec{}, false)
		if !ok {
			return
		}
		gathered := &isa.Func{Arch: "sm_80", Insts: code}
		if !l.gathered {
			did["gathered"]++
			gathered.Insts = f.gather(code, l)
			sameUntil(t, code, gathered.Insts)
			gathered.BuildCFG()
			f, err = newFlow(gathered)
			require.NoError(t, err)
			if l, ok = f.loop(gathered, &spec.Spec{}, false); !ok || !l.gathered {
				return
			}
		}
		copies := rapid.IntRange(1, 3).Draw(t, "copies")
		head := gathered.Insts[l.lo].Addr
		out := copyLoop(gathered.Insts, l.lo, l.hi, copies)
		sameUntil(t, gathered.Insts, out)
		if gathered.Insts[l.lo].Flow != isa.FlowNext {
			return
		}
		for seed := range uint64(12) {
			rounds := func(code []isa.Inst) (n int, end string) {
				list, end := executed(code, seed)
				for _, a := range list {
					if a == head {
						n++
					}
				}
				return n, end
			}
			if n, end := rounds(out); end == trapped {
				did["trapped"]++
				more, _ := rounds(gathered.Insts)
				require.GreaterOrEqual(t, n, copies)
				require.Greater(t, more, n)
			}
		}
	}
	calls := func(t *rapid.T) {
		n, k, m := rapid.IntRange(3, 8).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "k"), rapid.IntRange(1, 5).Draw(t, "m")
		somewhere := rapid.IntRange(n, n+k+m-1).Draw(t, "somewhere") // in the middle of a function, perhaps one that calls itself
		code := drawnCode(t, 0, n, isa.FlowExit, []int{n, n + k, somewhere})
		first, second := drawnCode(t, n, k, isa.FlowReturn, []int{n + k, somewhere}), drawnCode(t, n+k, m, isa.FlowReturn, []int{somewhere})
		code = append(append(code, first...), second...)
		fn := &isa.Func{Arch: "sm_80", Insts: code}
		fn.BuildCFG()
		got, err := followed(fn)
		require.NoError(t, err)
		reached := got.Reachable()
		for b := range got.Blocks {
			if reached[b] && got.Insts[got.Blocks[b].End-1].Flow == isa.FlowCall {
				did["a call stays"]++ // that is told; where a function calls itself, nobody asks what the code does
				return
			}
		}
		sameUntil(t, code, got.Insts)
		did["called"] += len(got.Insts) - len(code)
	}
	for range 10 {
		rapid.Check(t, one)
		rapid.Check(t, calls)
	}
	for _, what := range []string{"apart", "gathered", "trapped", "called", "a call stays"} {
		require.Greater(t, did[what], 10, fmt.Sprint(what, did))
	}
}
