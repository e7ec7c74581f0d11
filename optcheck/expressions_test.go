package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// byDefinition computes an expression by definition, for what loads read.
func byDefinition(p *valuePool, v value, read func(int) uint32) uint32 {
	n := p.nodes[v]
	arg := func(x value) uint32 {
		if x == none {
			return 0
		}
		return byDefinition(p, x, read)
	}
	switch n.kind {
	case kConst:
		return uint32(n.imm)
	case kLoad:
		return read(int(n.a))
	case kAdd:
		return arg(n.a) + arg(n.b) + uint32(n.imm)
	case kBits:
		return lutWord(uint8(n.imm), arg(n.a), arg(n.b), arg(n.c))
	case kCmp:
		return ones(compare(uint8(n.imm), n.imm&cmpSigned != 0, arg(n.a), arg(n.b)))
	case kSel:
		if arg(n.c) != 0 {
			return arg(n.a)
		}
		return arg(n.b)
	}
	panic("no such node in this test")
}

// loaded is what the i-th read reads.
func loaded(p *valuePool, i int) value { return p.mk(node{kind: kLoad, a: value(i), b: 0, c: none}) }

// TestRelations: what is made of a comparison of expressions is true when the comparison is, whatever is read.
func TestRelations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newValuePool()
		m := &machine{tr: &trace{pool: p}}
		small := rapid.SampledFrom([]uint32{0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff})
		words := []uint32{small.Draw(t, "w"), small.Draw(t, "w")}
		read := func(i int) uint32 { return words[i] }
		vals := []value{loaded(p, 0), loaded(p, 1), p.constant(small.Draw(t, "c")), p.constant(small.Draw(t, "c"))}
		pick := func() value { return vals[rapid.IntRange(0, len(vals)-1).Draw(t, "v")] }
		for range 6 {
			cmp := rapid.SampledFrom([]string{"EQ", "NE", "LT", "LE", "GT", "GE"}).Draw(t, "cmp")
			signed, a, b := rapid.Bool().Draw(t, "signed"), pick(), pick()
			v := m.relation(cmp, signed, a, b)
			require.Equal(t, ones(compare(cmpCodes[cmp], signed, byDefinition(p, a, read), byDefinition(p, b, read))), byDefinition(p, v, read), "%s %v", cmp, signed)
			x, y := pick(), pick()
			s := m.choose(x, y, v)
			want := byDefinition(p, y, read)
			if byDefinition(p, v, read) != 0 {
				want = byDefinition(p, x, read)
			}
			require.Equal(t, want, byDefinition(p, s, read))
			vals = append(vals, v, s)
		}
	})
}

// TestFalseDependencies: what a test writes to make an address depend on what it read, and adds nothing to it.
func TestFalseDependencies(t *testing.T) {
	p := newValuePool()
	r, zero, top := loaded(p, 0), p.constant(0), p.constant(0x80000000)
	flag := p.mk(node{kind: kCmp, imm: uint64(cmpCodes["EQ"]), a: r, b: zero, c: none})
	param := p.mk(node{kind: kParam, imm: 8, a: none, b: none, c: none})
	paramFlag := p.mk(node{kind: kCmp, imm: uint64(cmpCodes["EQ"]), a: param, b: zero, c: none})
	fun := func(op isa.MicroOp, a, b value) node {
		return node{kind: kFun, imm: uint64(op) << 8, a: a, b: b, c: none}
	}
	sel := func(a, b, c value) node { return node{kind: kSel, a: a, b: b, c: c} }
	bits := func(lut uint8, a, b value) node { return node{kind: kBits, imm: uint64(lut), a: a, b: b, c: none} }
	for what, x := range map[string]struct {
		n       node
		is      bool
		nothing bool // whatever is read of a few words, it is 0
	}{
		"the sign":                {fun(isa.MicroShr, r, p.constant(31)), true, true},
		"all but one bit":         {fun(isa.MicroShr, r, p.constant(30)), false, true},
		"shifted left":            {fun(isa.MicroShl, r, p.constant(31)), false, true},
		"shifted by what is read": {fun(isa.MicroShr, p.constant(31), r), false, true},
		"0 or a word":             {sel(zero, r, flag), true, false},
		"a word or 0":             {sel(r, zero, flag), true, true},
		"0 or 0":                  {sel(zero, zero, flag), true, true},
		"a word or a word":        {sel(r, r, flag), false, false},
		"4 or 0":                  {sel(p.constant(4), zero, flag), true, false},
		"by a parameter":          {sel(zero, r, paramFlag), false, false},
		"the highest bit":         {bits(lutA&lutB, r, top), true, true},
		"the highest bit, turned": {bits(lutA&lutB, top, r), true, true},
		"with the highest bit":    {bits(lutA|lutB, r, top), false, false},
		"another bit":             {bits(lutA&lutB, r, p.constant(1)), false, false},
		"what a parameter leaves": {bits(lutA&lutB, r, param), true, false},
		"a sum":                   {node{kind: kAdd, imm: 4, a: r, b: none, c: none}, false, false},
	} {
		require.Equal(t, x.is, p.falseDependency(x.n), what)
		if x.n.a != param && x.n.b != param && x.n.c != paramFlag && x.n.kind != kFun {
			require.Equal(t, x.nothing, p.vanishes(p.mk(x.n)), what)
		}
	}
	_, ok := p.at(p.mk(sel(zero, r, paramFlag)), 1, 0)
	require.False(t, ok, "a parameter is not known")
	high := p.mk(node{kind: kLoad, a: 0, b: 1, c: none})
	_, ok = p.at(high, 1, 0)
	require.False(t, ok, "nor an upper word")
}

// TestUnmasked: of an address in a harness whose locations are neighbours, what keeps only the place of a cell leaves the cell.
func TestUnmasked(t *testing.T) {
	p := newValuePool()
	v := &view{h: &spec.Harness{Cell: 16, Locations: []int64{8, 24}}}
	r, q := loaded(p, 0), loaded(p, 1)
	times16 := p.mk(node{kind: kFun, imm: uint64(isa.MicroShl) << 8, a: q, b: p.constant(4), c: none})
	mask := p.constant(^uint32(15))
	masked := func(x value) value { return p.mk(node{kind: kBits, imm: lutA & lutB, a: x, b: mask, c: none}) }
	turned := p.mk(node{kind: kBits, imm: lutA & lutB, a: mask, b: r, c: none})
	for what, x := range map[string][2]value{
		"a masked word":         {masked(r), r},
		"turned":                {turned, r},
		"no mask":               {r, r},
		"another mask":          {p.mk(node{kind: kBits, imm: lutA & lutB, a: r, b: p.constant(^uint32(7)), c: none}), none},
		"what sets bits":        {p.mk(node{kind: kBits, imm: lutA | lutB, a: r, b: mask, c: none}), none},
		"what inverts":          {p.mk(node{kind: kBits, imm: lutA ^ lutB, a: r, b: mask, c: none}), none},
		"what inverts the rest": {p.mk(node{kind: kBits, imm: ^uint64(lutA) & lutB & 0xff, a: r, b: mask, c: none}), none},
		"a cell further":        {masked(p.add(r, p.constant(16))), p.add(r, p.constant(16))},
		"inside of a cell":      {masked(p.add(r, p.constant(4))), none},
		"a sum":                 {p.mk(node{kind: kAdd, a: masked(r), b: times16, c: none}), p.mk(node{kind: kAdd, a: r, b: times16, c: none})},
		"a sum, turned":         {p.mk(node{kind: kAdd, a: times16, b: masked(r), c: none}), p.mk(node{kind: kAdd, a: times16, b: r, c: none})},
		"a constant further":    {p.mk(node{kind: kAdd, imm: 4, a: masked(r), b: none, c: none}), p.mk(node{kind: kAdd, imm: 4, a: r, b: none, c: none})},
		"another sum":           {p.mk(node{kind: kAdd, a: q, b: r, c: none}), none},
	} {
		want := x[1]
		if want == none {
			want = x[0]
		}
		require.Equal(t, want, v.unmasked(p, x[0]), what)
		require.Equal(t, x[0], (*view)(nil).unmasked(p, x[0]), what)
		require.Equal(t, x[0], (&view{h: &spec.Harness{}}).unmasked(p, x[0]), what)
	}
	at := func(off int64) key { return key{base: baseParam, num: 24, off: off} }
	for what, x := range map[string]struct {
		from  key
		space isa.Space
		to    key
	}{
		"global":             {at(4), isa.SpaceGlobal, key{base: baseSym, name: "_LG", off: 4}},
		"far in global":      {at(64), isa.SpaceGlobal, key{base: baseSym, name: "_LG", off: 64}},
		"shared":             {at(36), isa.SpaceShared, key{base: baseSym, name: "_LS", off: 4}},
		"shared begins":      {at(32), isa.SpaceShared, key{base: baseSym, name: "_LS"}},
		"in front of shared": {at(8), isa.SpaceShared, key{base: baseSym, name: "_LS", off: 8}},
		"another parameter":  {key{base: baseParam, num: 16}, isa.SpaceGlobal, key{base: baseParam, num: 16}},
		"a symbol":           {key{base: baseSym, num: 24}, isa.SpaceGlobal, key{base: baseSym, num: 24}},
	} {
		require.Equal(t, x.to, v.neighbour(x.from, x.space, 32), what)
		require.Equal(t, x.from, (*view)(nil).neighbour(x.from, x.space, 32), what)
		require.Equal(t, x.from, (&view{h: &spec.Harness{Locations: []int64{24}}}).neighbour(x.from, x.space, 32), what)
	}
}

// TestPredicates: which expressions are words of all ones or none.
func TestPredicates(t *testing.T) {
	p := newValuePool()
	r := loaded(p, 0)
	flag := p.mk(node{kind: kCmp, a: r, b: p.constant(0), c: none})
	one := func(k valueKind, a, b, c value) value {
		return p.mk(node{kind: k, imm: uint64(lutA & lutB), a: a, b: b, c: c})
	}
	deep := flag
	for range maxDepth + 2 {
		deep = p.mk(node{kind: kBits, imm: uint64(^uint8(lutA)), a: deep, b: none, c: none})
	}
	for what, x := range map[string]struct {
		v  value
		is bool
	}{
		"a comparison": {flag, true}, "a word": {r, false}, "nothing": {none, false}, "both": {one(kBits, flag, flag, none), true},
		"a flag and a word": {one(kBits, flag, r, none), false}, "a word and a flag": {one(kBits, r, flag, none), false},
		"three, one a word": {one(kBits, flag, flag, r), false}, "bits of nothing": {one(kBits, none, none, none), false},
		"a flag or a constant": {one(kSel, flag, p.constant(0), flag), true}, "a constant or a flag": {one(kSel, p.constant(0), flag, flag), true},
		"words": {one(kSel, r, r, flag), false}, "joined": {one(kPhi, flag, p.constant(0), none), true},
		"a carry":                 {p.mk(node{kind: kFun, imm: uint64(isa.MicroSetp) << 8, a: r, b: r, c: none}), isa.MicroSetp.IsPredicate()},
		"a product":               {p.mk(node{kind: kFun, imm: uint64(isa.MicroMul) << 8, a: r, b: r, c: none}), false},
		"a function nobody knows": {p.mk(node{kind: kFun, imm: 1 << 40, a: r, b: r, c: none}), false}, "deep": {deep, true},
	} {
		require.Equal(t, x.is, p.isPredicate(x.v), what)
	}
	never := p.mk(node{kind: kSpecial, imm: unwritten + 3, a: none, b: none, c: none})
	for what, x := range map[string]struct {
		v  value
		is bool
	}{"never written": {never, true}, "a word": {r, false}, "one of both": {one(kSel, never, r, flag), true}, "or the other": {one(kPhi, r, never, none), true},
		"neither": {one(kSel, r, r, flag), false}, "nothing": {none, false}} {
		require.Equal(t, x.is, p.garbage(x.v), what)
	}
}

// TestGuardOf: an access runs where all its conditions hold, does not where one fails whatever the others are, and else it is not known.
func TestGuardOf(t *testing.T) {
	constant := func(k uint64) *expr { return &expr{op: exConst, k: k} }
	unknown := &expr{op: exLoad, word: 1}
	load := &expr{op: exLoad, read: 3}
	and := func(a, b *expr) *expr { return &expr{op: exBits, k: lutA & lutB, args: []*expr{a, b}} }
	read := func(i int) (uint32, bool) { return uint32(i), i == 3 }
	require.Nil(t, guardOf(nil, nil))
	for what, x := range map[string]struct {
		list  []guardTerm
		runs  uint32
		known bool
	}{
		"all":                     {[]guardTerm{{constant(1), true}, {constant(0), false}}, 1, true},
		"one fails":               {[]guardTerm{{constant(1), true}, {constant(1), false}}, 0, true},
		"one fails, one unknown":  {[]guardTerm{{unknown, true}, {constant(0), true}}, 0, true},
		"unknown":                 {[]guardTerm{{unknown, true}}, 1, false},
		"unknown, wanted not":     {[]guardTerm{{constant(1), true}, {unknown, false}}, 1, false},
		"read":                    {[]guardTerm{{load, true}}, 1, true},
		"read, wanted not":        {[]guardTerm{{load, false}}, 0, true},
		"not read":                {[]guardTerm{{&expr{op: exLoad, read: 4}, true}}, 1, false},
		"nothing of what unknown": {[]guardTerm{{and(unknown, constant(0)), false}}, 1, true},
		"a bit of what unknown":   {[]guardTerm{{and(unknown, constant(1)), false}}, 1, false},
		"bits":                    {[]guardTerm{{and(load, constant(2)), true}}, 1, true},
		"a parameter":             {[]guardTerm{{&expr{op: exParam, k: 8}, true}}, 1, true},
		"another parameter":       {[]guardTerm{{&expr{op: exParam, k: 16}, true}}, 1, false},
		"chosen":                  {[]guardTerm{{&expr{op: exSel, args: []*expr{constant(1), constant(0), load}}, true}}, 1, true},
		"not chosen":              {[]guardTerm{{&expr{op: exSel, args: []*expr{constant(1), constant(0), constant(0)}}, true}}, 0, true},
		"chosen by nobody knows":  {[]guardTerm{{&expr{op: exSel, args: []*expr{constant(1), constant(1), unknown}}, true}}, 1, false},
	} {
		runs, known := guardOf(x.list, map[int64]uint32{8: 7})(read)
		require.Equal(t, []any{x.runs, x.known}, []any{runs, known}, what)
	}
}

// TestAMDEffects: what else AMD's instructions do that a kernel of a test must not: exports, and what nobody knows.
func TestAMDEffects(t *testing.T) {
	for what, x := range map[string]struct {
		in   isa.Inst
		want bool
	}{
		"a wait":               {isa.Inst{Op: "s_waitcnt", Role: isa.RoleWait}, false},
		"an invalidation":      {isa.Inst{Op: "buffer_gl1_inv", Role: isa.RoleCache, Mem: isa.Mem{Invalidate: true}}, false},
		"a write-back":         {isa.Inst{Op: "buffer_wbl2", Role: isa.RoleCache, Mem: isa.Mem{WriteBack: true}}, false},
		"what discards":        {isa.Inst{Op: "s_dcache_discard", Role: isa.RoleCache, Mem: isa.Mem{WriteBack: true}}, true},
		"an export":            {isa.Inst{Op: "exp", Role: isa.RoleALU}, true},
		"an export of gfx11":   {isa.Inst{Op: "export", Role: isa.RoleALU}, true},
		"another of registers": {isa.Inst{Op: "v_exp_f32_e32", Role: isa.RoleALU}, false},
	} {
		require.Equal(t, x.want, (&amd{}).effect(&x.in), what)
	}
}

// TestLoopHeads: an edge closes a loop if it leads to a block that is reached, and not later.
func TestLoopHeads(t *testing.T) {
	f := &flow{pos: []int{0, 1, -1, 2}}
	for _, x := range []struct {
		head, from int
		want       bool
	}{{0, 1, true}, {1, 1, true}, {1, 3, true}, {3, 1, false}, {2, 3, false}} {
		require.Equal(t, x.want, f.isLoopHead(x.head, x.from), x)
	}
}

// TestAssignments: which locations the addresses of unmarked code may stand for: those of the same memory, each once, as far as nobody
// has said which.
func TestAssignments(t *testing.T) {
	access := func(name string, space isa.Space) event {
		return event{role: isa.RoleLoad, addr: key{base: baseSym, name: name}, mem: isa.Mem{Space: space}}
	}
	tr := &trace{events: []event{access("a", isa.SpaceGlobal), access("b", isa.SpaceGlobal), access("s", isa.SpaceShared), access("a", isa.SpaceGlobal), {role: isa.RoleFence}}}
	kind := func(space litmus.Space) spec.Kind { return spec.Kind{Op: litmus.OpLd, Space: space, Width: 4} }
	want := &spec.Spec{Entries: []spec.Entry{{Loc: 1, Kind: kind(litmus.Shared)}, {Loc: 0, Kind: kind(litmus.Global)}, {Loc: 0, Kind: kind(litmus.Global)}, {Loc: 2, Kind: kind(litmus.Global)}}}
	require.ElementsMatch(t, []map[int]string{{0: "a", 1: "s", 2: "b"}, {0: "b", 1: "s", 2: "a"}}, NewChecker().assignments(tr, want, nil))
	require.Equal(t, []map[int]string{{0: "b", 1: "s", 2: "a"}}, NewChecker().assignments(tr, want, map[int]string{0: "b"}))
	require.Equal(t, []map[int]string{{1: "s", 2: "a"}, {1: "s", 2: "b"}}, NewChecker().assignments(tr, want, map[int]string{0: "c"}), "nothing accesses it")
	few := &trace{events: tr.events[:1]}
	require.ElementsMatch(t, []map[int]string{{0: "a"}, {2: "a"}, {}}, NewChecker().assignments(few, want, nil))
}

// TestWideOrders: two words that are one access of 64 bits have one order; all others are an access each, in any order.
func TestWideOrders(t *testing.T) {
	x := &litmus.Test{Locations: []litmus.Location{{Name: "x"}, {Name: "h", Of: "x", Offset: 4}, {Name: "y"}, {Name: "k", Of: "x", Offset: 8}}}
	op := func(loc, group int) liftOp { return liftOp{loc: loc, group: group} }
	texture := op(0, 1)
	texture.texture = true
	for what, c := range map[string]struct {
		ops    []liftOp
		orders [][]int
		one    bool
	}{
		"alone":                  {[]liftOp{op(0, 0), op(1, 0)}, [][]int{{0, 1}}, false},
		"a location's two words": {[]liftOp{op(0, 1), op(1, 1)}, [][]int{{0}}, true},
		"turned":                 {[]liftOp{op(1, 1), op(0, 1)}, [][]int{{0, 1}, {1, 0}}, false},
		"two locations":          {[]liftOp{op(0, 1), op(2, 1)}, [][]int{{0, 1}, {1, 0}}, false},
		"not aligned":            {[]liftOp{op(1, 1), op(3, 1)}, [][]int{{0, 1}, {1, 0}}, false},
		"far apart":              {[]liftOp{op(0, 1), op(3, 1)}, [][]int{{0, 1}, {1, 0}}, false},
		"by a texture":           {[]liftOp{texture, op(1, 1)}, [][]int{{0, 1}, {1, 0}}, false},
		"beside another":         {[]liftOp{op(2, 0), op(0, 2), op(1, 2)}, [][]int{{0, 1}}, false},
		"two of them":            {[]liftOp{op(0, 1), op(1, 1), op(0, 2), op(1, 2)}, [][]int{{0, 2}}, true},
	} {
		l := &Lifted{ops: c.ops}
		require.ElementsMatch(t, c.orders, l.orders(x), what)
		require.Equal(t, c.one, l.oneAccess(x, 0), what)
	}
}

// TestParamsOf: a value of 64 bits is two words of parameters, one of 32 is one.
func TestParamsOf(t *testing.T) {
	require.Equal(t, map[int64]uint32{8: 2, 12: 1, 24: 7}, paramsOf([]spec.Value{{Offset: 8, Bytes: 8, Const: 1<<32 + 2}, {Offset: 24, Bytes: 4, Const: 7}}))
}

// TestFenceNeeds: what the fences of a test need of NVIDIA's machine code.
func TestFenceNeeds(t *testing.T) {
	for _, x := range []struct {
		sm   int
		k    spec.Kind
		want fenceNeed
	}{
		{80, spec.Kind{Op: litmus.OpBar}, fenceNeed{barrier: true}},
		{90, spec.Kind{Op: litmus.OpFenceProxy}, fenceNeed{any: true}},
		{60, spec.Kind{Op: litmus.OpMembar, Scope: litmus.ScopeGPU}, fenceNeed{scope: isa.ScopeGPU, invalidate: true}},
		{80, spec.Kind{Op: litmus.OpMembar, Scope: litmus.ScopeGPU}, fenceNeed{scope: isa.ScopeGPU, sc: true, invalidate: true}},
		{80, spec.Kind{Op: litmus.OpMembar, Scope: litmus.ScopeCTA}, fenceNeed{scope: isa.ScopeCTA, sc: true}},
		{80, spec.Kind{Op: litmus.OpFence, Sem: litmus.SemSC, Scope: litmus.ScopeSys}, fenceNeed{scope: isa.ScopeSys, sc: true, invalidate: true}},
		{80, spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcqRel, Scope: litmus.ScopeGPU}, fenceNeed{scope: isa.ScopeGPU, invalidate: true}},
		{90, spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcquire, Scope: litmus.ScopeGPU}, fenceNeed{scope: isa.ScopeGPU, invalidate: true, acquire: true}},
		{90, spec.Kind{Op: litmus.OpFence, Sem: litmus.SemRelease, Scope: litmus.ScopeGPU}, fenceNeed{scope: isa.ScopeGPU}},
	} {
		require.Equal(t, x.want, nvidia{sm: x.sm}.fenceNeed(x.k), "%d %+v", x.sm, x.k)
	}
}
