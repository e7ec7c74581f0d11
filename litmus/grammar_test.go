package litmus

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// span returns every combination of modifiers that the dialects have words for,
// sensible or not, without operands.
func span() (list []Instr) {
	for op := OpLd; op <= OpRed; op++ {
		n := [...]int{int(SemSC) + 1, int(ScopeSys) + 1, int(Shared) + 1, int(CacheWT) + 1, int(Pred) + 1}
		if op == OpAtom || op == OpRed {
			n[3] = int(AtomMax) + 1
		}
		for i := range n[0] * n[1] * n[2] * n[3] * n[4] {
			in := Instr{Op: op}
			in.Sem, i = Sem(i%n[0]), i/n[0]
			in.Scope, i = Scope(i%n[1]), i/n[1]
			in.Space, i = Space(i%n[2]), i/n[2]
			if op == OpAtom || op == OpRed {
				in.Atom = AtomOp(i % n[3])
			} else {
				in.Cache = CacheOp(i % n[3])
			}
			in.Type = Type(i / n[3])
			list = append(list, in)
		}
	}
	for sem := SemNone; sem <= SemSC; sem++ {
		for scope := ScopeNone; scope <= ScopeSys; scope++ {
			list = append(list, Instr{Op: OpFence, Sem: sem, Scope: scope})
		}
	}
	for scope := ScopeNone; scope <= ScopeSys; scope++ {
		list = append(list, Instr{Op: OpMembar, Scope: scope})
	}
	for proxy := ProxyNone; proxy <= ProxyAlias; proxy++ {
		list = append(list, Instr{Op: OpFenceProxy, Proxy: proxy})
	}
	for op := OpMov; op <= OpBra; op++ {
		for typ := TypeNone; typ <= Pred; typ++ {
			in := Instr{Op: op, Type: typ}
			last, set := 0, func(int) {}
			switch op {
			case OpCvt:
				last, set = int(Pred), func(i int) { in.FromType = Type(i) }
			case OpSetp, OpBra:
				last, set = int(CmpGe), func(i int) { in.Cmp = Cmp(i) }
			}
			for i := range last + 1 {
				set(i)
				list = append(list, in)
			}
		}
	}
	return append(list, Instr{Op: OpNop}, Instr{Op: OpBar})
}

// legalOf returns the instructions that the dialect has, without operands.
var legalOf = func() func(Dialect) []Instr {
	var lists [OpenCL + 1]func() []Instr
	for d := range lists {
		lists[d] = sync.OnceValue(func() (list []Instr) {
			for _, in := range span() {
				if Dialect(d).form(&in) != nil {
					list = append(list, in)
				}
				if in.Op.IsAccess() && Dialect(d) == PTX {
					in.Proxy = ProxySurface
					if Dialect(d).form(&in) != nil {
						list = append(list, in)
					}
				}
			}
			return list
		})
	}
	return func(d Dialect) []Instr { return lists[d]() }
}()

// TestGrammarRefuses: what is not PTX is refused where it stands, and the error
// says what is allowed.
func TestGrammarRefuses(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"ld.release.gpu.s32 r1,[rx]", "5:3: ld cannot be .release; it can be .weak, .volatile, .mmio, .relaxed or .acquire"},
		{"ld.acq_rel.s32 r1,[rx]", "5:3: ld cannot be .acq_rel; it can be .weak, .volatile, .mmio, .relaxed or .acquire"},
		{"ld.weak.gpu.s32 r1,[rx]", "5:8: PTX has no ld.weak.gpu.s32: write .relaxed or .acquire in place of .weak, or leave out .gpu"},
		{"ld.gpu.s32 r1,[rx]", "5:3: PTX has no ld.gpu.s32: add .relaxed or .acquire, or leave out .gpu"},
		{"ld.relaxed.s32 r1,[rx]", "5:3: PTX has no ld.relaxed.s32: leave out .relaxed or write .weak or .volatile in place of .relaxed, or add .cta, .cluster, .gpu or .sys"},
		{"ld.volatile.cg.s32 r1,[rx]", "5:12: PTX has no ld.volatile.cg.s32: leave out .volatile or write .weak in place of .volatile, or leave out .cg"},
		{"ld.wt.s32 r1,[rx]", "5:3: ld cannot be .wt; it can be .ca, .cg, .cs, .lu or .cv"},
		{"ld.mmio.relaxed.gpu.s32 r1,[rx]", "5:16: PTX has no ld.mmio.relaxed.gpu.s32: write .relaxed or .acquire in place of .mmio, or write .sys in place of .gpu"},
		{"ld.mmio.sys.s32 r1,[rx]", "5:3: PTX has no ld.mmio without .relaxed: write .mmio.relaxed"},
		{"ld.pred p,[rx]", "5:3: ld cannot be .pred; it can be .b8, .u8, .s8, .b16, .u16, .s16, .b32, .u32, .s32, .b64, .u64 or .s64"},
		{"ld.global.nc.s32 r1,[rx]", "5:10: unknown modifier .nc: litmus tests have no non-coherent loads but ld.global.nc.TYPE"},
		{"ld.cas.s32 r1,[rx]", "5:3: ld takes no modifier .cas; it takes .weak .volatile .mmio .relaxed .acquire .cta .cluster .gpu .sys .global .shared .ca .cg .cs .lu .cv .b8 .u8 .s8 .b16 .u16 .s16 .b32 .u32 .s32 .b64 .u64 .s64"},
		{"st.acquire.gpu.s32 [rx],1", "5:3: st cannot be .acquire; it can be .weak, .volatile, .mmio, .relaxed or .release"},
		{"atom.weak.gpu.add.u32 r1,[rx],1", "5:5: atom cannot be .weak; it can be .relaxed, .acquire, .release or .acq_rel"},
		{"atom.sc.gpu.add.s32 r1,[rx],1", "5:5: atom cannot be .sc; it can be .relaxed, .acquire, .release or .acq_rel"},
		{"atom.cas.s32 r1,[rx],0,1", "5:5: PTX has no atom.cas.s32: write .add, .min or .max in place of .cas, or write .b16, .b32 or .b64 in place of .s32"},
		{"atom.gpu.s32 r1,[rx],1", "5:1: PTX has no atom.gpu.s32: add .add, .min or .max"},
		{"atom.sub.s32 r1,[rx],1", "5:5: unknown modifier .sub; it takes .relaxed .acquire .release .acq_rel .cta .cluster .gpu .sys .global .shared .add .inc .dec .exch .cas .and .or .xor .min .max .b16 .b32 .u32 .s32 .b64 .u64 .s64"},
		{"red.acquire.gpu.add.s32 [rx],1", "5:4: red cannot be .acquire; it can be .relaxed or .release"},
		{"red.acq_rel.gpu.add.s32 [rx],1", "5:4: red cannot be .acq_rel; it can be .relaxed or .release"},
		{"red.exch.b32 [rx],1", "5:4: red cannot be .exch; it can be .add, .inc, .dec, .and, .or, .xor, .min or .max"},
		{"fence.relaxed.gpu", "5:6: fence cannot be .relaxed; it can be .acquire, .release, .acq_rel or .sc"},
		{"fence.sc", "5:1: PTX has no fence.sc: add .cta, .cluster, .gpu or .sys"},
		{"fence", "5:1: PTX has no fence: add .cta, .cluster, .gpu or .sys"},
		{"fence.sc.cta.gpu", "5:13: second modifier of its kind: .gpu"},
		{"fence.proxy", "5:1: expected fence.SEM.SCOPE or fence.proxy.KIND"},
		{"fence.proxy.texture", "5:12: fence.proxy cannot be .texture; it can be .alias"},
		{"membar", "5:1: PTX has no membar: add .cta, .gl or .sys"},
		{"membar.gpu", "5:7: membar takes no modifier .gpu; it takes .cta .gl .sys"},
		{"membar.cluster", "5:7: membar cannot be .cluster; it can be .cta, .gl or .sys"},
		{"membar.cta.gl", "5:11: second modifier of its kind: .gl"},
		{"membar.gl.gl", "5:10: second modifier of its kind: .gl"},
		{"membar.sc.gl", "5:7: membar takes no modifier .sc; it takes .cta .gl .sys"},
		{"bar", "5:1: PTX has no bar alone; write bar.sync or bar.arrive"},
		{"bar.sync 16", "5:1: PTX has no barrier 16: barriers are numbered 0 to 15"},
		{"bar.sync -1", "5:1: -1 is negative"},
		{"bar.sync 0,33", "5:1: a barrier of 33 threads: PTX wants a multiple of 32"},
		{"bar.sync 0,0", "5:1: a barrier of 0 threads: PTX wants a multiple of 32"},
		{"bar.arrive 1", "5:1: bar.arrive needs a thread count, a multiple of 32"},
		{"bar.sync.aligned 0", "5:9: bar takes no modifier .aligned; it takes .cta, .sync or .arrive"},
		{"bar.gpu.sync 0", "5:4: a barrier is of a CTA: write .cta, or leave .gpu out"},
		{"barrier.sync 0", "5:1: barrier without .aligned is not in the dialect: write bar.sync or barrier.sync.aligned"},
		{"and.s32 r1,r1,1", "5:4: and cannot be .s32; it can be .b16, .b32, .b64 or .pred"},
		{"mul.s32 r1,r1,1", "5:1: PTX has no mul.s32 without .lo: write mul.lo.s32"},
		{"mul.hi.s32 r1,r1,1", "5:4: unknown modifier .hi: litmus tests have no upper halves of products"},
		{"setp.lt.b32 p,r1,1", "5:5: PTX has no setp.lt.b32: write .eq or .ne in place of .lt, or write .u16, .s16, .u32, .s32, .u64 or .s64 in place of .b32"},
		{"setp.lo.s32 p,r1,1", "5:5: .lo, .ls, .hi and .hs compare unsigned numbers, .u16, .u32 or .u64; write .lt"},
		{"setp.s32 p,r1,1", "5:1: PTX has no setp.s32: add .eq, .ne, .lt, .le, .gt or .ge"},
		{"cvt.u64 rd,r1", "5:1: PTX has no cvt.u64: add .u8, .s8, .u16, .s16, .u32, .s32, .u64 or .s64"},
		{"cvt.b64.u32 rd,r1", "5:4: cvt cannot be .b64; it can be .u8, .s8, .u16, .s16, .u32, .s32, .u64 or .s64"},
		{"suld.weak r1,[rx]", `5:1: unknown instruction "suld.weak": GPU_PTX has ` + GPUPTX.opcodeNames()},
	} {
		_, err := Parse("f", []byte("GPU_PTX t\n{ x=0; 0:.reg .b64 rx = x; 0:.reg .b64 rd;\n0:.reg .s32 r1; 0:.reg .pred p; }\nT0 ;\n"+c.code+" ;\n(cta T0)\n"))
		require.EqualError(t, err, "f:"+c.want, c.code)
	}
}

// TestGrammarOfModels: dialect PTX has what model checkers write, and PTX's own
// barriers, told apart by .cta.
func TestGrammarOfModels(t *testing.T) {
	for _, c := range []struct{ code, printed, want string }{
		{"tld.weak r0, x", "", ""},
		{"sust.weak x, 1", "", ""},
		{"suatom.relaxed.gpu.add r0, x, 1", "", ""},
		{"fence.proxy.surface", "", ""},
		{"tld.volatile r0, x", "", "tld cannot be .volatile; it can be .weak, .relaxed or .acquire"},
		{"bar.cta.sync 20, 1, 3", "", ""},
		{"bar.cta.arrive 0", "", ""},
		{"bar.cta.sync 20, 16", "", "PTX has no barrier 16: barriers are numbered 0 to 15"},
		{"bar.sync 0", "bar.cta.sync 0", ""},
		{"bar.sync 16", "", "PTX has no barrier 16: barriers are numbered 0 to 15"},
		{"bar.sync 0, 64", "", ""},
		{"bar.sync 0, 33", "", "a barrier of 33 threads: PTX wants a multiple of 32"},
	} {
		lt, err := Parse("f", []byte("PTX t\n{ x=0; }\nP0@cta 0,gpu 0 ;\n"+c.code+" ;\n"))
		if c.want != "" {
			require.ErrorContains(t, err, c.want, c.code)
			continue
		}
		require.NoError(t, err, c.code)
		require.NoError(t, lt.Check())
		if c.printed == "" {
			c.printed = c.code
		}
		require.Contains(t, lt.String(), c.printed)
	}
}

// TestNeeds: the demands of an instruction, in order.
func TestNeeds(t *testing.T) {
	require.Empty(t, (&Instr{Op: OpLd, Cache: CacheCG, Type: S32}).Needs())
	require.Equal(t, []Need{{".relaxed", 60, 70}, {"a scope on atom", 50, 60}, {"64-bit atom.min", 31, 32}, {".cluster", 78, 90}},
		(&Instr{Op: OpAtom, Sem: SemRelaxed, Scope: ScopeCluster, Atom: AtomMin, Type: U64}).Needs())
	require.Equal(t, []Need{{"fence", 60, 70}, {"fence.acquire", 86, 90}}, (&Instr{Op: OpFence, Sem: SemAcquire, Scope: ScopeGPU}).Needs())
	require.Equal(t, []int{30, 32, 60, 70, 80, 90}, FirstTargets())
	require.True(t, (&Instr{Op: OpFenceProxy, Proxy: ProxySurface}).Formal())
	require.False(t, (&Instr{Op: OpFenceProxy, Proxy: ProxyAlias}).Formal())
}

// TestGrammarMutants: whatever is taken out of the table, one value in one row,
// changes what is PTX among the instructions that ptxas is asked about, so that the
// comparison with ptxas sees it; what is put into it does or is in another row.
func TestGrammarMutants(t *testing.T) {
	byOp := map[Op][]Instr{}
	for _, in := range written(span()) {
		byOp[in.Op] = append(byOp[in.Op], in)
	}
	legal := func(ops []Op) (n []bool) {
		for _, op := range ops {
			for i := range byOp[op] {
				n = append(n, GPUPTX.form(&byOp[op][i]) != nil)
			}
		}
		return n
	}
	mutants := 0
	for i := range ptxTable.forms {
		f := &ptxTable.forms[i]
		if f.formal || f.ops[0] >= OpBra || f.ops[0] == OpBar {
			continue
		}
		row, before := ptxTable.rows[f], legal(f.ops)
		for d := range row {
			for v := range uint8(32) {
				word := v == 0 || valueName(f.ops[0], dim(d), v) != "?"
				if !word || row[d] == 0 || v == 0 && dim(d) >= dimAtom || dim(d) == dimAtom && AtomOp(v) > AtomMax {
					continue // litmus tests may leave types out
				}
				mutant := row
				mutant[d] ^= 1 << v
				mutants++
				ptxTable.rows[f] = mutant
				after := legal(f.ops)
				ptxTable.rows[f] = row
				if slices.Equal(before, after) && row[d].has(v) { // what is added may be in another row
					t.Errorf("%s: %s %q can come and go unseen", opNamesOf(f.ops), dimNames[d], valueName(f.ops[0], dim(d), v))
				}
			}
		}
	}
	t.Logf("%d mutants", mutants)
	require.Greater(t, mutants, 200)
}
