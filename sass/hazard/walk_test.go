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

func write4(guard isa.Guard) isa.Inst {
	return isa.Inst{Op: "MOV", Role: isa.RoleALU, Defs: []isa.Reg{gpr(4)}, Guard: guard}
}

// TestOverwritten: the listing tells who waits for a result that is still there, not for one that something else has overwritten on every path.
func TestOverwritten(t *testing.T) {
	never := isa.Guard{Reg: isa.Reg{Class: isa.ClassPred, Num: 1}}
	for name, x := range map[string]struct {
		fn   *isa.Func
		from []int
	}{
		"overwritten":     {code(write4(isa.Guard{}), write4(isa.Guard{}), use4(0), exit()), []int{1}},
		"perhaps":         {code(write4(isa.Guard{}), write4(never), use4(0), exit()), []int{0, 1}},
		"on one path":     {code(write4(isa.Guard{}), isa.Inst{Op: "BRA", Flow: isa.FlowJump, Role: isa.RoleALU, Target: 3, Guard: never}, write4(isa.Guard{}), use4(0), exit()), []int{0, 2}},
		"by the function": {code(write4(isa.Guard{}), call(4), use4(0), exit(), write4(isa.Guard{}), ret()), []int{4}},
	} {
		list, err := Dependencies(x.fn)
		require.NoError(t, err)
		var from []int
		for _, d := range list {
			if d.Kind == RAW && x.fn.Insts[d.To].Uses != nil {
				from = append(from, d.From)
			}
		}
		require.Equal(t, x.from, from, name)
	}
}

// TestBare: where compilers leave out the scoreboard of a result, who reads it is doubted; if a scoreboard is set that nobody waits for, it is a
// hazard for certain.
func TestBare(t *testing.T) {
	p0 := isa.Reg{Class: isa.ClassPred}
	make := func(between int, board uint8) *isa.Func {
		insts := []isa.Inst{{Op: "QSPC", Role: isa.RoleALU, Defs: []isa.Reg{p0}}}
		for range between {
			insts = append(insts, other())
		}
		fn := code(append(insts, isa.Inst{Op: "PLOP3", Role: isa.RoleALU, Uses: []isa.Reg{p0}}, exit())...)
		fn.Arch, fn.Insts[0].Control.Write = "sm_120", board
		return fn
	}
	sure := func(fn *isa.Func) bool {
		list := Check(fn).Findings
		require.Len(t, list, 1)
		return list[0].Sure
	}
	require.False(t, sure(make(3, isa.NoBarrier)))
	require.NotEmpty(t, Judge(make(3, isa.NoBarrier)).Doubt)
	require.False(t, sure(make(0, isa.NoBarrier)))
	require.True(t, sure(make(3, 0)))
}

// TestElsewhere: code in another section may use any register, so what is in flight must be awaited before it is called, or returned to.
func TestElsewhere(t *testing.T) {
	away := func(wait uint8) isa.Inst {
		in := call(-1)
		in.Control.Wait = wait
		return in
	}
	back := func(wait uint8) isa.Inst {
		in := ret()
		in.Control.Wait = wait
		return in
	}
	stored := isa.Inst{Op: "STG", Role: isa.RoleStore, Uses: []isa.Reg{gpr(4)}}
	for name, x := range map[string]struct {
		fn    *isa.Func
		found []Kind
	}{
		"in flight over a call":           {code(load4(), away(0), exit()), []Kind{RAW}},
		"the call waits":                  {code(load4(), away(1), exit()), nil},
		"in flight where it returns":      {code(load4(), ret()), []Kind{RAW}},
		"the return waits":                {code(load4(), back(1)), nil},
		"a return within the section":     {code(call(3), use4(1), exit(), load4(), ret()), nil},
		"read after the call":             {code(stored, away(0), exit()), []Kind{WAR}},
		"a thread that ends leaves it so": {code(load4(), exit()), nil},
	} {
		var kinds []Kind
		for _, f := range Check(x.fn).Findings {
			kinds = append(kinds, f.Kind)
			require.True(t, f.Sure, name)
		}
		require.Equal(t, x.found, kinds, name)
	}
}

// TestSharedByAWarp: of two instructions under opposite conditions no thread performs both; but a warp may, and shares uniform registers.
func TestSharedByAWarp(t *testing.T) {
	for name, x := range map[string]struct {
		reg, guard isa.Class
		found      int
	}{
		"a register of each thread":              {isa.ClassGPR, isa.ClassPred, 0},
		"a uniform register":                     {isa.ClassUGPR, isa.ClassPred, 1},
		"a barrier of divergence":                {isa.ClassBarrier, isa.ClassPred, 1},
		"a uniform register, uniform conditions": {isa.ClassUGPR, isa.ClassUPred, 0},
	} {
		r, p := isa.Reg{Class: x.reg, Num: 4}, isa.Reg{Class: x.guard, Num: 1}
		fn := code(isa.Inst{Op: "LDG", Role: isa.RoleALU, Defs: []isa.Reg{r}, Guard: isa.Guard{Reg: p}},
			isa.Inst{Op: "MOV", Role: isa.RoleALU, Uses: []isa.Reg{r}, Guard: isa.Guard{Reg: p, Neg: true}}, exit())
		require.Len(t, Check(fn).Findings, x.found, name)
	}
}

// TestCounts: DEPBAR with a count waits for a result if as many others answer behind it for certain. One under a condition may wait for nothing, and
// what is under one may not count.
func TestCounts(t *testing.T) {
	p0 := isa.Guard{Reg: isa.Reg{Class: isa.ClassPred}, Neg: true}
	make := func(second, bar isa.Guard, left int64) int {
		fn := code(isa.Inst{Op: "MUFU", Role: isa.RoleALU, Defs: []isa.Reg{gpr(4)}}, isa.Inst{Op: "MUFU", Role: isa.RoleALU, Defs: []isa.Reg{gpr(5)}, Guard: second},
			isa.Inst{Op: "DEPBAR", Role: isa.RoleWait, Guard: bar, Args: []isa.Operand{{Kind: isa.OpdSpecial, Sym: "SB0"}, {Kind: isa.OpdImm, Imm: left}}}, use4(0), exit())
		fn.Insts[0].Control.Write, fn.Insts[1].Control.Write = 0, 0
		return len(Check(fn).Findings)
	}
	require.Zero(t, make(isa.Guard{}, isa.Guard{}, 1))
	require.Zero(t, make(p0, isa.Guard{}, 0))
	require.Equal(t, 1, make(isa.Guard{}, isa.Guard{}, 2))
	require.Equal(t, 1, make(p0, isa.Guard{}, 1))
	require.Equal(t, 1, make(isa.Guard{}, p0, 1))
}

func uniform(n uint16) isa.Reg { return isa.Reg{Class: isa.ClassUGPR, Num: n} }

// after makes a function of a target of two instructions, the second so many cycles behind the first.
func after(arch string, cycles uint8, first, second isa.Inst) *isa.Func {
	fn := code(first, second, exit())
	fn.Arch, fn.Insts[0].Control.Stall = arch, cycles
	return fn
}

// TestUniform: what uniform instructions read may be overwritten early, and their results land late, as a chip of sm_90 shows.
func TestUniform(t *testing.T) {
	add := func(d, s uint16) isa.Inst {
		return isa.Inst{Op: "UIADD3", Role: isa.RoleALU, Defs: []isa.Reg{uniform(d)}, Uses: []isa.Reg{uniform(s)}}
	}
	constant := func(d uint16) isa.Inst { return isa.Inst{Op: "UMOV", Role: isa.RoleALU, Defs: []isa.Reg{uniform(d)}} }
	move := isa.Inst{Op: "MOV", Role: isa.RoleALU, Defs: []isa.Reg{gpr(4)}, Uses: []isa.Reg{uniform(5)}}
	for name, x := range map[string]struct {
		fn   *isa.Func
		kind Kind
		sure bool
		none bool
	}{
		"overwritten before it is read":            {fn: after("sm_90", 2, add(4, 5), constant(5)), kind: WAR, sure: true},
		"overwritten after it is read":             {fn: after("sm_90", 3, add(4, 5), constant(5)), none: true},
		"overwritten by as late an instruction":    {fn: after("sm_90", 1, add(4, 5), add(5, 6)), none: true},
		"read at the issue":                        {fn: after("sm_90", 1, move, constant(5)), none: true},
		"the earlier result lands last":            {fn: after("sm_90", 5, add(4, 5), constant(4)), kind: WAW, sure: true},
		"the later result lands last":              {fn: after("sm_90", 7, add(4, 5), constant(4)), none: true},
		"of other targets nobody knows":            {fn: after("sm_86", 1, add(4, 5), constant(5)), none: true},
		"two results of a unit, one after another": {fn: after("sm_90", 1, add(4, 5), add(4, 6)), none: true},
	} {
		list := Check(x.fn).Findings
		if x.none {
			require.Empty(t, list, name)
			continue
		}
		require.Len(t, list, 1, name)
		require.Equal(t, x.kind, list[0].Kind, name)
		require.Equal(t, x.sure, list[0].Sure, name)
		require.Contains(t, list[0].Missing(x.fn), "cycles after", name)
	}
}

// TestSettling: what DEPBAR waits for is there some cycles behind it, on all paths.
func TestSettling(t *testing.T) {
	make := func(arch string, cycles uint8, more ...isa.Inst) *isa.Func {
		bar := isa.Inst{Op: "DEPBAR", Role: isa.RoleWait, Args: []isa.Operand{{Kind: isa.OpdSpecial, Sym: "SB0"}, {Kind: isa.OpdImm}}}
		fn := code(append([]isa.Inst{load4(), bar}, append(more, use4(0), exit())...)...)
		fn.Arch, fn.Insts[1].Control.Stall = arch, cycles
		return fn
	}
	for _, x := range []struct {
		fn          *isa.Func
		found, sure bool
	}{{make("sm_90", 3), true, true}, {make("sm_90", 4), false, false}, {make("sm_80", 3), true, false}, {make("sm_80", 1, other()), false, false}} {
		list := Check(x.fn).Findings
		require.Equal(t, x.found, len(list) == 1)
		if x.found {
			require.Equal(t, x.sure, list[0].Sure)
			require.Contains(t, list[0].Missing(x.fn), "behind the DEPBAR")
			all, err := Dependencies(x.fn)
			require.NoError(t, err)
			require.Contains(t, all[len(all)-1].String(x.fn), "HAZARD: 3 cycles behind the DEPBAR that waits for it, needs 4")
		}
	}
	// One path waits long enough, the other does not.
	jump := isa.Inst{Op: "BRA", Flow: isa.FlowJump, Role: isa.RoleALU, Target: 4, Guard: isa.Guard{Reg: isa.Reg{Class: isa.ClassPred, Num: 1}}}
	fn := make("sm_90", 1, jump, other())
	fn.Insts[2].Control.Stall = 1
	fn.BuildCFG()
	require.Len(t, Check(fn).Findings, 1)
}

// TestSlot: the addend of a wide multiplication is read later than its factors; a uniform register of the same number is another one.
func TestSlot(t *testing.T) {
	arg := func(c isa.Class, n uint16, words int) isa.Operand {
		return isa.Operand{Kind: isa.OpdReg, Reg: isa.Reg{Class: c, Num: n}, Words: words}
	}
	wide := func(a, b, c isa.Operand) *isa.Inst {
		return &isa.Inst{Op: "IMAD", Mods: []string{"WIDE", "U32"}, Args: []isa.Operand{arg(isa.ClassGPR, 6, 2), a, b, c}}
	}
	g, u := isa.ClassGPR, isa.ClassUGPR
	for _, x := range []struct {
		in   *isa.Inst
		reg  isa.Reg
		want string
	}{
		{wide(arg(g, 4, 1), arg(u, 7, 1), arg(g, 6, 2)), gpr(7), "ra"},
		{wide(arg(g, 4, 1), arg(g, 7, 1), arg(g, 6, 2)), gpr(7), "r"},
		{wide(arg(g, 4, 1), arg(g, 5, 1), arg(g, 8, 2)), gpr(9), "ra"},
		{wide(arg(g, 4, 1), arg(g, 5, 1), arg(g, 8, 2)), gpr(5), "r"},
		{wide(arg(g, 4, 1), arg(u, 7, 1), arg(g, 6, 2)), isa.Reg{Class: u, Num: 7}, "u"},
	} {
		require.Equal(t, x.want, slot(x.in, x.reg))
	}
}

// TestLaterWrite: who reads a register that has been written since waits for the later write alone, unless that may be skipped.
func TestLaterWrite(t *testing.T) {
	for guard, found := range map[isa.Guard]int{{}: 0, {Reg: isa.Reg{Class: isa.ClassPred}}: 1} {
		fn := code(isa.Inst{Op: "FFMA", Role: isa.RoleALU, Defs: []isa.Reg{gpr(4)}}, write4(guard),
			isa.Inst{Op: "RET", Flow: isa.FlowReturn, Role: isa.RoleALU, Uses: []isa.Reg{gpr(4)}})
		fn.Arch = "sm_90"
		fn.Insts[0].Control.Stall, fn.Insts[1].Control.Stall = 1, 6
		require.Len(t, Check(fn).Findings, found, guard)
	}
}
