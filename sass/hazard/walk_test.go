package hazard

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// code makes a function of sm_80 whose instructions stall for ten cycles each. The loads set scoreboard 0.
func code(insts ...isa.Inst) *isa.Func {
	fn := &isa.Func{Name: "k", Arch: "sm_80", Insts: insts}
	for i := range fn.Insts {
		in := &fn.Insts[i]
		c := isa.Control{Kind: isa.ControlFields, Stall: 10, Write: isa.NoBarrier, Read: isa.NoBarrier, Wait: in.Control.Wait}
		if in.Op == "LDG" {
			c.Write = 0
		}
		in.Control = c
		if in.Flow != isa.FlowCall && in.Flow != isa.FlowJump {
			in.Target = -1
		}
	}
	fn.BuildCFG()
	return fn
}

func gpr(n uint16) isa.Reg { return isa.Reg{Class: isa.ClassGPR, Num: n} }

func load4() isa.Inst {
	return isa.Inst{Op: "LDG", Role: isa.RoleLoad, Defs: []isa.Reg{gpr(4)}}
}
func use4(wait uint8) isa.Inst {
	return isa.Inst{Op: "MOV", Role: isa.RoleALU, Uses: []isa.Reg{gpr(4)}, Control: isa.Control{Wait: wait}}
}
func call(to int) isa.Inst {
	return isa.Inst{Op: "CALL", Flow: isa.FlowCall, Role: isa.RoleALU, Target: to}
}
func ret() isa.Inst   { return isa.Inst{Op: "RET", Flow: isa.FlowReturn, Role: isa.RoleALU} }
func exit() isa.Inst  { return isa.Inst{Op: "EXIT", Flow: isa.FlowExit, Role: isa.RoleALU} }
func other() isa.Inst { return isa.Inst{Op: "NOP", Role: isa.RoleALU} }

// TestCalls: what is in flight at a call is in flight behind it, unless the function waits for it; what another caller has in
// flight is not.
func TestCalls(t *testing.T) {
	for name, x := range map[string]struct {
		fn    *isa.Func
		found int
	}{
		"in flight over a call":     {code(load4(), call(4), use4(0), exit(), other(), ret()), 1},
		"the function waits":        {code(load4(), call(4), use4(0), exit(), use4(1), ret()), 0},
		"the caller waits":          {code(load4(), call(4), use4(1), exit(), other(), ret()), 0},
		"another caller waits":      {code(load4(), call(6), use4(1), call(6), use4(0), exit(), other(), ret()), 0},
		"a function called by two":  {code(load4(), call(6), use4(1), call(6), use4(0), exit(), call(8), ret(), other(), ret()), 0},
		"issued by the function":    {code(call(3), use4(0), exit(), load4(), ret()), 1},
		"a function that calls":     {code(call(3), use4(0), exit(), call(5), ret(), load4(), ret()), 1},
		"recursion":                 {code(call(3), use4(0), exit(), load4(), call(3), ret()), 1},
		"a call that never returns": {code(load4(), call(3), exit(), use4(0), exit()), 1},
	} {
		require.Len(t, Check(x.fn).Findings, x.found, name)
	}
}

// TestManyCalls: a chain of calls that double costs no more than its length.
func TestManyCalls(t *testing.T) {
	var insts []isa.Inst
	const depth = 40
	for i := range depth {
		insts = append(insts, call(3*(i+1)), call(3*(i+1)), ret())
	}
	insts = append(insts, other(), ret())
	table, _ := tableOf(code(other()))
	require.True(t, follow(code(insts...), table, 100_000, 0, func(dep) {}))
}
