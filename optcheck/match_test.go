package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestArms: of the atomics beside a matched one, that is an arm which does the same for the lanes for which the other does nothing.
func TestArms(t *testing.T) {
	p := newValuePool()
	v, other := p.param(8), p.param(16)
	lane := p.mk(node{kind: kCmp, a: p.mk(node{kind: kSpecial, imm: p.str("lane"), a: none, b: none, c: none}), b: p.constant(0), c: none})
	read := p.mk(node{kind: kCmp, a: loaded(p, 0), b: p.constant(0), c: none})
	for what, x := range map[string]struct {
		change func(x, y *event, s *pass)
		is     bool
	}{
		"the other lanes":          {func(_, _ *event, _ *pass) {}, true},
		"another role":             {func(_, y *event, _ *pass) { y.role = isa.RoleAtomic }, false},
		"another entry's":          {func(_, _ *event, s *pass) { s.owner[1] = []int{1} }, false},
		"another address":          {func(_, y *event, _ *pass) { y.addr.off = 4 }, false},
		"another operation":        {func(_, y *event, _ *pass) { y.mem.Atom = "MAX" }, false},
		"weaker":                   {func(_, y *event, _ *pass) { y.mem.Strength = isa.Weak }, false},
		"of another scope":         {func(_, y *event, _ *pass) { y.mem.Scope = isa.ScopeCTA }, false},
		"wider":                    {func(_, y *event, _ *pass) { y.mem.Width = 8 }, false},
		"as memory says":           {func(x, _ *event, _ *pass) { x.condT = 1 }, false},
		"the other as memory says": {func(_, y *event, _ *pass) { y.condT = 1 }, false},
		"by what is read":          {func(x, y *event, _ *pass) { x.when[0].pred, y.when[0].pred = read, read }, false},
		"the same lanes":           {func(_, y *event, _ *pass) { y.when[0].want = true }, false},
		"with another operand":     {func(_, y *event, _ *pass) { y.data = []value{other} }, false},
		"with what lanes combine": {func(_, y *event, _ *pass) {
			y.data = []value{p.mk(node{kind: kFun, imm: uint64(isa.MicroMul) << 8, a: v, b: p.mk(node{kind: kSpecial, imm: p.str("lane"), a: none,
				b: none, c: none}), c: none})}
		}, true},
	} {
		of := func(want bool) event {
			return event{role: isa.RoleReduction, read: -1, addr: key{base: baseParam}, data: []value{v}, when: []sense{{lane, want}}, cond: true,
				mem: isa.Mem{Atom: "ADD", Strength: isa.Strong, Scope: isa.ScopeGPU, Width: 4}}
		}
		tr := &trace{pool: p, events: []event{of(true), of(false)}}
		s := &pass{tr: tr, s: &spec.Spec{Entries: []spec.Entry{{Kind: spec.Kind{Op: litmus.OpRed}}, {Pos: 1}}}, owner: [][]int{{0}, nil},
			match: []int{0, -1}}
		x.change(&tr.events[0], &tr.events[1], s)
		s.claimArms(0, 0, v)
		require.False(t, tr.events[0].arm, what)
		require.Equal(t, x.is, tr.events[1].arm, what)
	}
}

// TestReadWords: what an access of the test reads is what its register holds in the machine code; of one that is gone, anything; of the
// high
// word, what another marker says, or what the same load reads.
func TestReadWords(t *testing.T) {
	p := newValuePool()
	load, sum := loaded(p, 0), p.add(loaded(p, 0), p.constant(5))
	words := someWords{100, 101, 102, 103, 104, 105, 106}
	for what, x := range map[string]struct {
		oper   value
		unread bool
		extra  value
		word   int
		want   uint32
		failed bool
	}{
		"a load":                            {load, false, none, 0, 100, false},
		"computed":                          {sum, false, none, 0, 105, false},
		"nothing":                           {none, false, none, 0, 0, true},
		"gone":                              {none, true, none, 0, 100, false},
		"the high word of a load":           {load, false, none, 1, 101, false},
		"the high word, marked":             {load, false, p.constant(7), 1, 7, false},
		"the high word of what is computed": {sum, false, none, 1, 0, true},
		"the high word of what is gone":     {none, true, none, 1, 101, false},
		"computed, and nobody reads it":     {sum, true, none, 0, 105, false},
	} {
		tr := &trace{pool: p, fn: &isa.Func{Insts: make([]isa.Inst, 1)}, events: []event{{role: isa.RoleLoad}}, reads: []int{0}}
		s := &pass{tr: tr, s: &spec.Spec{Entries: []spec.Entry{{Unread: x.unread}}}, owner: [][]int{{0}}, match: []int{0},
			oper: []value{x.oper}, extra: map[[2]int]value{}}
		if x.extra != none {
			s.extra[[2]int{0, spec.HighWord}] = x.extra
		}
		e := newEvaluator(s)
		e.set(words)
		require.Equal(t, x.want, e.Read(0, x.word), what)
		require.Equal(t, x.failed, e.failed, what)
	}
}

// TestAMDFences: which accesses before a fence are ordered with which ones after it, and what it does to the caches.
func TestAMDFences(t *testing.T) {
	access := func(op litmus.Op, space litmus.Space) spec.Entry {
		return spec.Entry{Kind: spec.Kind{Op: op, Space: space}}
	}
	all := map[string]spec.Entry{"L": access(litmus.OpLd, litmus.Global), "S": access(litmus.OpSt, litmus.Global), "A": access(litmus.OpAtom,
		litmus.Global),
		"l": access(litmus.OpLd, litmus.Shared), "s": access(litmus.OpSt, litmus.Shared)}
	for what, x := range map[string]struct {
		kind          spec.Kind
		before, after string
		flags         string
		scope         int
	}{
		"barrier": {spec.Kind{Op: litmus.OpBar}, "ALSls", "ALSls", "acquire release barrier", amdGroup},
		"membar":  {spec.Kind{Op: litmus.OpMembar, Scope: litmus.ScopeGPU}, "ALSls", "ALSls", "acquire release", amdAgent},
		"seq_cst": {spec.Kind{Op: litmus.OpFence, Sem: litmus.SemSC, Scope: litmus.ScopeSys}, "ALSls", "ALSls",
			"acquire release", amdSystem},
		"acq_rel": {spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcqRel, Scope: litmus.ScopeGPU}, "ALSls", "ALSls",
			"acquire release loose", amdAgent},
		"acquire": {spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcquire, Scope: litmus.ScopeCTA}, "ALl", "ALSls", "acquire",
			amdGroup},
		"release": {spec.Kind{Op: litmus.OpFence, Sem: litmus.SemRelease, Scope: litmus.ScopeCTA}, "ALSls", "ASs", "release",
			amdGroup},
		"release, of a space": {spec.Kind{Op: litmus.OpFence, Sem: litmus.SemRelease, Scope: litmus.ScopeCTA, Space: litmus.Shared}, "ALSls",
			"ASs", "release", amdGroup},
		"mem_fence, all": {spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcqRel, Space: litmus.Generic}, "ALSls", "ALSls",
			"acquire release language", amdNone},
		"mem_fence, global": {spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcqRel, Space: litmus.Global}, "ALS", "ALS",
			"acquire release language", amdNone},
		"mem_fence, local": {spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcqRel, Space: litmus.Shared}, "ls", "ls",
			"acquire release language", amdNone},
		"read_mem_fence": {spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcquire, Space: litmus.Generic}, "ALl", "ALl",
			"acquire language", amdNone},
		"write_mem_fence, local": {spec.Kind{Op: litmus.OpFence, Sem: litmus.SemRelease, Space: litmus.Shared}, "s", "s", "release language",
			amdNone},
	} {
		f := amdFenceOf(x.kind)
		names := func(is func(spec.Entry) bool) (s string) {
			for _, n := range sorted(all) {
				if is(all[n]) {
					s += n
				}
			}
			return s
		}
		flags := ""
		for _, b := range []struct {
			is   bool
			name string
		}{{f.acquire, "acquire "}, {f.release, "release "}, {f.loose, "loose "}, {f.language, "language "}, {f.barrier, "barrier "}} {
			if b.is {
				flags += b.name
			}
		}
		require.Equal(t, []any{x.before, x.after, x.flags + " ", x.scope}, []any{names(f.before), names(f.after), flags, f.scope}, what)
	}
}

// TestWrites: the store of an entry is one of its value, first at its location, then elsewhere; none of the results', nor another
// entry's.
func TestWrites(t *testing.T) {
	p := newValuePool()
	v := p.param(8)
	for what, x := range map[string]struct {
		change          func(*event, *pass)
		strict, loosely bool
	}{
		"at its location":       {func(*event, *pass) {}, true, true},
		"at another location":   {func(x *event, _ *pass) { x.addr.name = "k_L1" }, false, true},
		"at none":               {func(x *event, _ *pass) { x.addr.name = "k_Lx" }, false, true},
		"at an unknown address": {func(x *event, _ *pass) { x.addr = key{} }, false, true},
		"of another value":      {func(x *event, _ *pass) { x.data = []value{p.param(16)} }, false, false},
		"of the results":        {func(x *event, _ *pass) { x.result = true }, false, false},
		"a load":                {func(x *event, _ *pass) { x.role = isa.RoleLoad }, false, false},
		"another entry's":       {func(_ *event, s *pass) { s.owner[0] = []int{1} }, false, false},
		"another entry's line, and its value": {func(x *event, s *pass) {
			x.addr.name, s.tr.fn.Insts[0].Src.Line, s.match[1], s.oper[1] = "k_L1", 2, 0, v
		}, false, false},
		"another entry's line, and another value": {func(x *event, s *pass) {
			x.addr.name, s.tr.fn.Insts[0].Src.Line, s.match[1], s.oper[1] = "k_L1", 2, 0, p.param(16)
		}, false, true},
		"another entry's line, which is nowhere": {func(x *event, s *pass) {
			x.addr.name, s.tr.fn.Insts[0].Src.Line, s.oper[1] = "k_L1", 2, v
		}, false, true},
		"its own line": {func(x *event, s *pass) {
			x.addr.name, s.tr.fn.Insts[0].Src.Line, s.match[1], s.oper[1] = "k_L1", 1, 0, v
		}, false, true},
	} {
		for _, strict := range []bool{true, false} {
			tr := &trace{pool: p, fn: &isa.Func{Insts: make([]isa.Inst, 1)}, events: []event{{role: isa.RoleStore, read: -1,
				mem:  isa.Mem{Width: 4},
				addr: key{base: baseSym, name: "k_L0"}, data: []value{v}}}}
			st := spec.Kind{Op: litmus.OpSt, Width: 4}
			s := &pass{tr: tr, s: &spec.Spec{Layout: spec.Symbols, Locations: 2, Entries: []spec.Entry{{Kind: st}, {Pos: 1, Kind: st, Loc: 1}}},
				owner: make([][]int, 1),
				match: []int{-1, -1}, word: make([]int, 2), oper: []value{v, none}}
			x.change(&tr.events[0], s)
			s.matchWrite(0, strict)
			want := x.loosely
			if strict {
				want = x.strict
			}
			require.Equal(t, want, s.match[0] == 0, "%s %v", what, strict)
		}
	}
}

// TestRounds: copies of a load in a loop that nobody observes are matched in order if all of them are there; of some, nobody knows which.
func TestRounds(t *testing.T) {
	for what, x := range map[string]struct {
		change  func(*pass)
		is      bool
		matched [2]int
		why     bool
	}{
		"both":                    {func(*pass) {}, true, [2]int{0, 1}, false},
		"none":                    {func(p *pass) { p.tr.fn.Insts[0].Src.Line, p.tr.fn.Insts[1].Src.Line = 2, 2 }, true, [2]int{-1, -1}, false},
		"the second is elsewhere": {func(p *pass) { p.tr.events[1].addr.name = "k_L1" }, true, [2]int{-1, -1}, true},
		"the first is another's":  {func(p *pass) { p.owner[0] = []int{2} }, true, [2]int{-1, -1}, true},
		"the first is an arm":     {func(p *pass) { p.tr.events[0].arm = true }, true, [2]int{-1, -1}, true},
		"the second is a store":   {func(p *pass) { p.tr.events[1].role = isa.RoleStore }, true, [2]int{-1, -1}, true},
		"the second is observed":  {func(p *pass) { p.s.Entries[1].Unread = false }, false, [2]int{-1, -1}, false},
		"the second is no copy":   {func(p *pass) { p.s.Entries[1].Back = 0 }, false, [2]int{-1, -1}, false},
	} {
		load := event{role: isa.RoleLoad, mem: isa.Mem{Width: 4}, addr: key{base: baseSym, name: "k_L0"}}
		tr := &trace{pool: newValuePool(), fn: &isa.Func{Insts: make([]isa.Inst, 2)}, events: []event{load, load}}
		e := spec.Entry{Unread: true, Kind: spec.Kind{Op: litmus.OpLd, Width: 4}}
		again := e
		again.Pos, again.Back = 1, 1
		p := &pass{tr: tr, r: &Result{}, s: &spec.Spec{Layout: spec.Symbols, Locations: 2, Entries: []spec.Entry{e, again}},
			owner: make([][]int, 2),
			match: []int{-1, -1}, word: make([]int, 2), oper: []value{none, none}}
		for i := range tr.events {
			tr.events[i].inst, tr.events[i].read, tr.fn.Insts[i].Src.Line = i, i, 1
		}
		x.change(p)
		require.Equal(t, x.is, p.inRounds(0, p.s.Entries[0]), what)
		require.Equal(t, x.matched[:], p.match, what)
		require.Equal(t, x.why, p.r.Undecided != "", what)
		if x.is {
			require.True(t, p.inRounds(1, p.s.Entries[1]), what)
			require.Equal(t, x.matched[:], p.match, what)
		}
	}
}

// TestCopiedLoops: what is known of loops stays with their heads when a loop is copied, and goes with that loop's own head.
func TestCopiedLoops(t *testing.T) {
	const n = 7
	for lo := range n {
		for hi := lo + 1; hi <= n; hi++ {
			for copies := 1; copies <= 3; copies++ {
				code := make([]isa.Inst, n)
				v := &view{loops: &loops{varies: map[int]map[int]bool{}, lost: map[int]map[int64]bool{}, exact: true}}
				want := map[int]int{} // of the copies' instructions, which one it was
				for i := range code {
					code[i] = isa.Inst{Addr: uint64(i), Op: "X", Target: -1}
					v.loops.varies[i], v.loops.lost[i] = map[int]bool{i: true}, map[int64]bool{int64(i): true}
				}
				for at, in := range copyLoop(code, lo, hi, copies) {
					if in.Op == "X" && int(in.Addr) != lo {
						want[at] = int(in.Addr)
					}
				}
				v.copied(lo, hi, copies)
				got := map[int]int{}
				for at, regs := range v.loops.varies {
					for r := range regs {
						got[at] = r
						require.True(t, v.loops.lost[at][int64(r)])
					}
				}
				require.Equal(t, want, got, "%d to %d, %d copies", lo, hi, copies)
				require.True(t, v.loops.exact)
			}
		}
	}
	(*view)(nil).copied(0, 1, 2)
	(&view{}).copied(0, 1, 2)
}
