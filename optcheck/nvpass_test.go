package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/spec"
)

// TestImplied: a fence that is none of the test's adds nothing to a stronger one beside it, with no access between, that runs with it; before
// sm_70, one of a CTA adds nothing to a barrier.
func TestImplied(t *testing.T) {
	fence := func(strength isa.Strength, scope isa.Scope) event {
		return event{role: isa.RoleFence, read: -1, mem: isa.Mem{Strength: strength, Scope: scope}}
	}
	load, barrier := event{role: isa.RoleLoad}, event{role: isa.RoleBarrier, read: -1}
	under := func(e event) event { e.cond, e.when = true, []sense{{1, true}}; return e }
	weak, strong := fence(isa.FenceAll, isa.ScopeGPU), fence(isa.FenceSC, isa.ScopeGPU)
	for what, x := range map[string]struct {
		sm     int
		events []event // the first one is the fence
		owned  bool    // the last one is the test's
		is     bool
	}{
		"a stronger one":               {80, []event{weak, strong}, true, true},
		"the same":                     {80, []event{weak, weak}, true, true},
		"both sequentially consistent": {80, []event{strong, strong}, true, true},
		"a weaker one":                 {80, []event{strong, weak}, true, false},
		"one of a narrower scope":      {80, []event{weak, fence(isa.FenceSC, isa.ScopeCTA)}, true, false},
		"one of a wider scope":         {80, []event{weak, fence(isa.FenceAll, isa.ScopeSys)}, true, true},
		"none of the test's":           {80, []event{weak, strong}, false, false},
		"behind an access":             {80, []event{weak, load, strong}, true, false},
		"behind a barrier":             {80, []event{weak, barrier, strong}, true, true},
		"behind another one":           {80, []event{weak, under(strong), strong}, true, true},
		"that does not run with it":    {80, []event{weak, under(strong)}, true, false},
		"that runs whenever it does":   {80, []event{under(weak), strong}, true, true},
		"a barrier":                    {60, []event{fence(isa.FenceSC, isa.ScopeCTA), barrier}, false, true},
		"a barrier, of all":            {60, []event{fence(isa.FenceSC, isa.ScopeGPU), barrier}, false, false},
		"a barrier since sm_70":        {70, []event{fence(isa.FenceSC, isa.ScopeCTA), barrier}, false, false},
		"no fence, at a barrier":       {60, []event{{role: isa.RoleCache, read: -1}, barrier}, false, false},
		"nothing":                      {80, []event{weak}, false, false},
	} {
		for _, back := range []bool{false, true} {
			tr := &trace{pool: newValuePool(), fn: &isa.Func{}}
			n := len(x.events)
			at := func(i int) int {
				if back {
					return n - 1 - i
				}
				return i
			}
			for i := range n {
				tr.events = append(tr.events, x.events[at(i)])
			}
			p := &pass{tr: tr, s: &spec.Spec{Entries: make([]spec.Entry, 1)}, owner: make([][]int, n), match: []int{-1}}
			if x.owned {
				p.owner[at(n-1)] = []int{0}
			}
			require.Equal(t, x.is, nvidia{sm: x.sm}.implied(&lifter{p: p}, at(0)), "%s %v", what, back)
		}
	}
}

// TestDistributed: a constant goes into both arms of a choice between constants, by and and or alone.
func TestDistributed(t *testing.T) {
	p := newValuePool()
	m := &machine{tr: &trace{pool: p}}
	flag := p.mk(node{kind: kCmp, a: loaded(p, 0), b: p.constant(0), c: none})
	choice := func(a, b value) value { return p.mk(node{kind: kSel, a: a, b: b, c: flag}) }
	one, two, read := p.constant(1), p.constant(2), loaded(p, 1)
	for what, x := range map[string]struct {
		lut uint8
		src operands
		a   uint32 // the arms, if there are any
		b   uint32
		ok  bool
	}{
		"and":                      {lutAnd, operands{choice(one, two), p.constant(7), none, none, none}, 1, 2, true},
		"and, turned":              {lutAnd, operands{p.constant(2), choice(one, two), none, none, none}, 0, 2, true},
		"or":                       {lutOr, operands{choice(one, two), p.constant(4), none, none, none}, 5, 6, true},
		"xor":                      {lutXor, operands{choice(one, two), p.constant(4), none, none, none}, 0, 0, false},
		"the first arm is read":    {lutAnd, operands{choice(read, two), p.constant(7), none, none, none}, 0, 0, false},
		"the second arm is read":   {lutAnd, operands{choice(one, read), p.constant(7), none, none, none}, 0, 0, false},
		"both are":                 {lutAnd, operands{choice(read, read), p.constant(7), none, none, none}, 0, 0, false},
		"two choices":              {lutAnd, operands{choice(one, two), choice(two, one), none, none, none}, 0, 0, false},
		"with what is read":        {lutAnd, operands{choice(one, two), read, none, none, none}, 0, 0, false},
		"constants":                {lutAnd, operands{one, two, none, none, none}, 0, 0, false},
		"the first word of a pool": {lutAnd, operands{value(0), p.constant(7), none, none, none}, 0, 0, false},
	} {
		v, ok := m.distribute(x.lut, x.src)
		require.Equal(t, x.ok, ok, what)
		if ok {
			require.Equal(t, choice(p.constant(x.a), p.constant(x.b)), v, what)
		}
	}
}
