package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestDeepExpressions: expressions up to a depth or size are computed, described and lifted, deeper or larger ones are not known.
func TestDeepExpressions(t *testing.T) {
	ps := &pass{tr: &trace{pool: newValuePool(), fn: &isa.Func{Insts: make([]isa.Inst, 2)}, reads: []int{0}, joins: map[value]join{},
		events: []event{{role: isa.RoleLoad, read: 0}}}, s: &spec.Spec{}, owner: make([][]int, 1), r: &Result{}}
	p := ps.tr.pool
	x := loaded(p, 0)
	nested := func(levels int) value { // each adds one level and one node
		v := x
		for range levels {
			v = p.mk(node{kind: kBits, imm: uint64(^uint8(lutA)), a: v, b: none, c: none})
		}
		return v
	}
	e := newEvaluator(ps)
	for levels, ok := range map[int]bool{3: true, maxSteps: true, maxSteps + 1: false} {
		v := nested(levels)
		e.set(someWords{7})
		w, known := e.eval(v, 0)
		require.Equal(t, ok, known, "%d", levels)
		if ok {
			require.Equal(t, map[bool]uint32{true: 7, false: ^uint32(7)}[levels%2 == 0], w)
		}
	}
	_, ok := e.eval(none, 0)
	require.False(t, ok)
	for levels, ok := range map[int]bool{maxExpr - 1: true, maxExpr: false} {
		_, err := newLifter(ps, nil).expr(nested(levels), 0, new(taint))
		require.Equal(t, ok, err == nil, "%d", levels)
	}
	_, err := newLifter(ps, nil).expr(none, 0, new(taint))
	require.Error(t, err)
	flag := p.mk(node{kind: kCmp, a: x, b: p.constant(0), c: none})
	one, two := p.constant(1), p.constant(2)
	require.Equal(t, "the constant 0x1 or the constant 0x2", ps.describe(p.mk(node{kind: kSel, a: one, b: two, c: flag}), 0))
	require.Equal(t, "unknown", ps.describe(none, 0))
	require.Equal(t, "the constant 0x1", ps.describe(one, 4))
	require.Equal(t, "unknown", ps.describe(one, 5))
	require.Equal(t, "computed from other values", ps.describe(flag, 0))
}

// TestLiftRefused: what machine code does that no test can say is not lifted.
func TestLiftRefused(t *testing.T) {
	src, err := litmus.Parse("lifted", []byte(liftedSource))
	require.NoError(t, err)
	want, err := spec.FromTest(src, 0, spec.Pointers)
	require.NoError(t, err)
	word := func(k uint64) *expr { return &expr{op: exConst, k: k} }
	flag := &expr{op: exCmp, args: []*expr{word(0), word(1)}}
	store := func(loc int, data ...[]*expr) liftOp {
		o := liftOp{entry: -1, like: -1, read: -1, loc: loc, typ: litmus.S32, data: data, raw: litmus.Instr{Op: litmus.OpSt, Type: litmus.S32}}
		if loc >= 2 {
			o.typ, o.raw.Type = litmus.S64, litmus.S64
		}
		return o
	}
	half := func(o liftOp) liftOp { o.half = highHalf; return o }
	under := func(o liftOp, e *expr) liftOp { o.guard = []guardTerm{{e, true}}; return o }
	load := liftOp{entry: -1, like: -1, loc: 0, typ: litmus.S32, raw: litmus.Instr{Op: litmus.OpLd, Type: litmus.S32}}
	one := []*expr{word(1)}
	for what, x := range map[string]struct {
		ops []liftOp
		err string // "" for none
	}{
		"a store":                          {[]liftOp{store(0, one)}, ""},
		"to no location":                   {[]liftOp{store(-1, one)}, "location -1 of 5"},
		"behind the last one":              {[]liftOp{store(5, one)}, "location 5 of 5"},
		"to the last one":                  {[]liftOp{store(4, []*expr{word(1), word(2)})}, ""},
		"a known parameter":                {[]liftOp{store(0, []*expr{{op: exParam, k: 8}})}, ""},
		"an unknown parameter":             {[]liftOp{store(0, []*expr{{op: exParam, k: 40}})}, "parameter at offset 40"},
		"the upper word of a word":         {[]liftOp{load, store(0, []*expr{{op: exLoad, word: 1}})}, "the upper word of a 32-bit value"},
		"a word":                           {[]liftOp{load, store(0, []*expr{{op: exLoad}})}, ""},
		"a condition that is a comparison": {[]liftOp{under(store(0, one), flag)}, ""},
		"a condition that is a sum": {[]liftOp{under(store(0, one), &expr{op: exAdd, args: []*expr{word(1), word(2)}})},
			"no comparison"},
		"never, and nobody sees it":      {[]liftOp{under(store(0, one), word(0))}, ""},
		"never, but it reads":            {[]liftOp{under(load, word(0))}, "never performed"},
		"half of a location":             {[]liftOp{half(store(2, one))}, ""},
		"half of one, under a condition": {[]liftOp{under(half(store(2, one)), flag)}, "conditional store of one half"},
		"half of one, and all of it": {[]liftOp{half(store(2, one)), store(2, []*expr{word(1), word(2)})},
			"one half is stored elsewhere"},
		"half of one, and all of another":   {[]liftOp{half(store(2, one)), store(3, []*expr{word(1), word(2)})}, ""},
		"words that are computed apart":     {[]liftOp{store(2, []*expr{word(1), flag})}, "computed apart"},
		"words of a parameter":              {[]liftOp{store(2, []*expr{{op: exParam, k: 8}, {op: exParam, k: 12}})}, ""},
		"words of parameters":               {[]liftOp{store(2, []*expr{{op: exParam, k: 8}, {op: exParam, k: 16}})}, "computed apart"},
		"words of a parameter of one word":  {[]liftOp{store(2, []*expr{{op: exParam, k: 16}, {op: exParam, k: 20}})}, "computed apart"},
		"words of a constant and parameter": {[]liftOp{store(2, []*expr{word(1), {op: exParam, k: 12}})}, "computed apart"},
	} {
		code := &Lifted{ops: x.ops, reads: []liftRead{{op: 0, entry: -1}}, regs: map[int]*expr{0: word(0), 1: word(0)}}
		_, err := LiftTest(src, []LiftedThread{{code, want, []spec.Value{{Offset: 8, Bytes: 8, Const: 5}, {Offset: 16, Bytes: 4, Const: 7}}}})
		if x.err == "" {
			require.NoError(t, err, what)
		} else {
			require.ErrorContains(t, err, x.err, what)
		}
	}
}

// TestAMDBarriers: a barrier of the test is one instruction, or a signal and the wait for it behind it, that nobody else has, and is
// performed
// by all.
func TestAMDBarriers(t *testing.T) {
	for what, x := range map[string]struct {
		ops  []string
		want bool
		told string
	}{
		"one":                        {[]string{"s_barrier"}, true, ""},
		"none":                       {nil, false, "fence-removed"},
		"something else":             {[]string{"load"}, false, "fence-removed"},
		"a signal and its wait":      {[]string{"s_barrier_signal", "s_barrier_wait"}, true, ""},
		"a wait alone":               {[]string{"s_barrier_wait"}, false, "fence-removed"},
		"a signal alone":             {[]string{"s_barrier_signal"}, false, "fence-removed"},
		"the wait first":             {[]string{"s_barrier_wait", "s_barrier_signal"}, false, "fence-removed"},
		"another one's":              {[]string{"owned"}, false, "fence-removed"},
		"another one's, and its own": {[]string{"owned", "s_barrier"}, true, ""},
		"of some":                    {[]string{"under"}, true, "control-changed"},
	} {
		for _, guarded := range []bool{false, true} {
			tr := &trace{pool: newValuePool(), fn: &isa.Func{}}
			c := &amdCheck{pass: &pass{tr: tr, r: &Result{}, s: &spec.Spec{Entries: []spec.Entry{{Kind: spec.Kind{Op: litmus.OpBar}}}},
				match: []int{-1}}}
			for i, op := range append(append([]string{"load"}, x.ops...), "load") {
				e := event{inst: i, role: isa.RoleBarrier, read: -1, cond: op == "under"}
				if op == "load" {
					e.role = isa.RoleLoad
				}
				var owner []int
				if op == "owned" {
					owner = []int{7}
				}
				tr.events, c.owner = append(tr.events, e), append(c.owner, owner)
				tr.fn.Insts = append(tr.fn.Insts, isa.Inst{Op: op, Text: op, Role: e.role})
			}
			require.Equal(t, x.want, c.barrier(0, spec.Entry{Kind: spec.Kind{Op: litmus.OpBar}, Guarded: guarded}, 0, len(tr.events)-1), what)
			told := x.told
			if guarded && told == ControlChanged.ID {
				told = ""
			}
			require.Equal(t, told, ids(c.r.Findings), what)
			for ev := 1; ev <= len(x.ops); ev++ {
				if tr.events[ev].role == isa.RoleBarrier && x.ops[ev-1] != "owned" && x.want {
					require.Equal(t, []int{0}, c.owner[ev], what)
				}
			}
		}
	}
}

// TestHasEffect: what waits, touches caches or does nothing that is known has an effect unless a table says that it is harmless; a trap
// always has.
func TestHasEffect(t *testing.T) {
	harmless := map[string]string{"known": "why", "part.MOD": "why"}
	for what, x := range map[string]struct {
		in   isa.Inst
		want bool
	}{
		"a trap":                         {isa.Inst{Op: "known", Flow: isa.FlowTrap}, true},
		"a wait":                         {isa.Inst{Op: "other", Role: isa.RoleWait}, true},
		"a cache":                        {isa.Inst{Op: "other", Role: isa.RoleCache}, true},
		"nothing":                        {isa.Inst{Op: "other", Role: isa.RoleNop}, true},
		"a known wait":                   {isa.Inst{Op: "known", Role: isa.RoleWait}, false},
		"a known cache operation":        {isa.Inst{Op: "known", Role: isa.RoleCache}, false},
		"known with a modifier":          {isa.Inst{Op: "part", Mods: []string{"X", "MOD"}, Role: isa.RoleNop}, false},
		"known with another modifier":    {isa.Inst{Op: "part", Mods: []string{"X"}, Role: isa.RoleNop}, true},
		"known without it":               {isa.Inst{Op: "part", Role: isa.RoleNop}, true},
		"a padding that has no name":     {isa.Inst{Role: isa.RoleNop}, false},
		"what is matched":                {isa.Inst{Op: "other", Role: isa.RoleLoad}, false},
		"an operation of registers":      {isa.Inst{Op: "other", Role: isa.RoleALU}, false},
		"a branch":                       {isa.Inst{Op: "other", Role: isa.RoleBranch}, false},
		"a fence, which is matched, too": {isa.Inst{Op: "other", Role: isa.RoleFence}, false},
	} {
		require.Equal(t, x.want, hasEffect(&x.in, harmless), what)
	}
}
