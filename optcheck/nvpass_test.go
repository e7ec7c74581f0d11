package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/spec"
)

// TestImplied: a fence that is none of the test's adds nothing to a stronger one beside it, with no access between, that runs with it;
// before
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

// TestBeside: the fence of a release, the invalidation of an acquire, and loads that the L1 serves, are looked for up to the next access
// that
// may be performed in the same run.
func TestBeside(t *testing.T) {
	fence := event{role: isa.RoleFence, read: -1, mem: isa.Mem{Strength: isa.FenceAll, Scope: isa.ScopeGPU}}
	inval := event{role: isa.RoleCache, read: -1, mem: isa.Mem{Invalidate: true}}
	prefetch := event{role: isa.RoleCache, read: -1}
	load, strong := event{role: isa.RoleLoad}, event{role: isa.RoleLoad, mem: isa.Mem{Strength: isa.Strong, Scope: isa.ScopeGPU}}
	store := event{role: isa.RoleStore, read: -1}
	with := func(e event, change func(*event)) event { change(&e); return e }
	narrow := with(fence, func(e *event) { e.mem.Scope = isa.ScopeCTA })
	result, arm := with(store, func(e *event) {
		e.result, e.addr = true, key{base: baseParam, num: (&spec.Spec{Layout: spec.Symbols}).ResultParam()}
	}), with(store, func(e *event) { e.arm = true })
	sometimes := func(e event, want bool) event {
		return with(e, func(e *event) { e.cond, e.when = true, []sense{{1, want}} })
	}
	shared := with(load, func(e *event) { e.mem.Space = isa.SpaceShared })
	cached := with(load, func(e *event) { e.mem.Cache = "CG" })
	for what, x := range map[string]struct {
		events                    []event // the first is the access, or the fence
		released, acquired, stale bool    // of what stands in front of it, and behind
	}{
		"a fence":                      {[]event{store, fence}, true, false, false},
		"a narrow fence":               {[]event{store, narrow}, false, false, false},
		"a fence, sometimes":           {[]event{store, sometimes(fence, true)}, false, false, false},
		"a fence whenever it runs":     {[]event{sometimes(store, true), sometimes(fence, true)}, true, false, false},
		"a fence beyond an access":     {[]event{store, store, fence}, false, false, false},
		"beyond a result":              {[]event{store, result, fence}, true, false, false},
		"beyond a result elsewhere":    {[]event{store, with(store, func(e *event) { e.result = true }), fence}, false, false, false},
		"beyond an arm":                {[]event{store, arm, fence}, true, false, false},
		"beyond what excludes it":      {[]event{sometimes(store, true), sometimes(load, false), fence}, true, false, false},
		"beyond a narrow one":          {[]event{store, narrow, fence}, true, false, false},
		"an invalidation":              {[]event{load, inval}, false, true, false},
		"no invalidation":              {[]event{load, prefetch}, false, false, false},
		"an invalidation, sometimes":   {[]event{load, sometimes(inval, true), load}, false, false, true},
		"an invalidation, then a load": {[]event{load, inval, load}, false, true, false},
		"a load, then an invalidation": {[]event{load, load, inval}, false, false, true},
		"a strong load":                {[]event{fence, strong, inval}, false, false, false},
		"a load of shared memory":      {[]event{fence, shared, inval}, false, false, false},
		"a store":                      {[]event{fence, store, inval}, false, false, false},
		"a load that may not follow":   {[]event{sometimes(fence, true), sometimes(load, false), inval}, false, true, false},
		"nothing":                      {[]event{store}, false, false, false},
	} {
		of := func(back bool) *lifter {
			tr := &trace{pool: newValuePool(), fn: &isa.Func{}, arch: nvidia{sm: 80}}
			for i := range x.events {
				if back {
					i = len(x.events) - 1 - i
				}
				tr.events = append(tr.events, x.events[i])
			}
			return &lifter{p: &pass{tr: tr, s: &spec.Spec{Layout: spec.Symbols}, owner: make([][]int, len(tr.events))}}
		}
		require.Equal(t, x.released, of(true).released(len(x.events)-1, isa.ScopeGPU), what)
		require.Equal(t, x.acquired, of(false).acquired(0), what)
		require.Equal(t, x.stale, nvidia{sm: 80}.stale(of(false), 0), what)
	}
	for sm, stale := range map[int]bool{60: false, 80: true} { // before sm_70 the operator decides, then the strength
		l := &lifter{p: &pass{tr: &trace{pool: newValuePool(), events: []event{fence, cached}}, s: &spec.Spec{Layout: spec.Symbols}}}
		require.Equal(t, stale, nvidia{sm: sm}.stale(l, 0), sm)
	}
}
