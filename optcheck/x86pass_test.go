package optcheck

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// x86Pass has a store, whatever is named, and a load, the first and last of which are the first and last access of a test with a fence
// between.
func x86Pass(fence spec.Kind, between ...event) *pass {
	e := func(pos int, k spec.Kind) spec.Entry { return spec.Entry{Pos: pos, Kind: k} }
	s := &spec.Spec{Entries: []spec.Entry{e(0, spec.Kind{Op: litmus.OpSt, Width: 4}), e(1, fence), e(2, spec.Kind{Op: litmus.OpLd,
		Width: 4})}}
	tr := &trace{pool: newValuePool(), fn: &isa.Func{}, arch: x86{}}
	tr.events = append(append([]event{{role: isa.RoleStore, read: -1}}, between...), event{role: isa.RoleLoad})
	for i := range tr.events {
		tr.events[i].inst = i
		tr.fn.Insts = append(tr.fn.Insts, isa.Inst{Addr: uint64(i), Text: fmt.Sprint("inst ", i)})
	}
	p := &pass{tr: tr, s: s, r: &Result{}, match: []int{0, -1, len(tr.events) - 1}, owner: make([][]int, len(tr.events)), oper: []value{none,
		none, none}}
	p.owner[0], p.owner[len(tr.events)-1] = []int{0}, []int{2}
	return p
}

var (
	mfence = event{role: isa.RoleFence, read: -1, mem: isa.Mem{Strength: isa.FenceSC, Scope: isa.ScopeSys}}
	lfence = event{role: isa.RoleFence, read: -1, mem: isa.Mem{Strength: isa.FenceAll, Scope: isa.ScopeSys}}
	other  = event{role: isa.RoleLoad, mem: isa.Mem{Strength: isa.FenceSC}}
)

// TestX86Fences: only a fence that is sequentially consistent is an instruction of x86-64, and barriers are not known.
func TestX86Fences(t *testing.T) {
	gpu := func(op litmus.Op, sem litmus.Sem) spec.Kind {
		return spec.Kind{Op: op, Sem: sem, Scope: litmus.ScopeGPU}
	}
	for what, x := range map[string]struct {
		fence   spec.Kind
		between []event
		rule    string
	}{
		"mfence for membar":  {gpu(litmus.OpMembar, litmus.SemNone), []event{mfence}, ""},
		"nothing for membar": {gpu(litmus.OpMembar, litmus.SemNone), nil, FenceRemoved.ID},
		"mfence for sc":      {gpu(litmus.OpFence, litmus.SemSC), []event{mfence}, ""},
		"nothing for sc":     {gpu(litmus.OpFence, litmus.SemSC), nil, FenceRemoved.ID},
		"lfence for sc":      {gpu(litmus.OpFence, litmus.SemSC), []event{lfence}, FenceWeakened.ID},
		"nothing for less":   {gpu(litmus.OpFence, litmus.SemAcqRel), nil, ""},
		"a barrier":          {gpu(litmus.OpBar, litmus.SemNone), []event{mfence}, FenceRemoved.ID},
		"a load":             {spec.Kind{Op: litmus.OpLd, Sem: litmus.SemSC}, nil, ""},
	} {
		p := x86Pass(x.fence, x.between...)
		x86{}.order(p)
		rule := ""
		for _, f := range p.r.Findings {
			rule += f.Rule
		}
		require.Equal(t, x.rule, rule, what)
	}
}

// TestX86Stronger: a fence that nobody asked for is noted where it stands between accesses of the test.
func TestX86Stronger(t *testing.T) {
	for what, x := range map[string]struct {
		change  func(*pass)
		between []event
		notes   int
	}{
		"nothing":                  {nil, nil, 0},
		"a fence":                  {nil, []event{mfence}, 1},
		"two fences":               {nil, []event{mfence, mfence}, 2},
		"a fence that does little": {nil, []event{lfence}, 0},
		"an access":                {nil, []event{other}, 0},
		"a fence of the test":      {func(p *pass) { p.owner[1] = []int{1} }, []event{mfence}, 0},
		"before the first":         {func(p *pass) { p.match[0] = 2 }, []event{mfence, other}, 0},
		"behind the last":          {func(p *pass) { p.match[2] = 1 }, []event{other, mfence}, 0},
		"the last itself":          {func(p *pass) { p.match[2] = 1 }, []event{mfence}, 0},
		"the first is gone":        {func(p *pass) { p.match[0] = -1 }, []event{mfence}, 0},
		"all are gone":             {func(p *pass) { p.match[0], p.match[2] = -1, -1 }, []event{mfence}, 0},
	} {
		p := x86Pass(spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcqRel}, x.between...)
		if x.change != nil {
			x.change(p)
		}
		x86{}.stronger(p)
		require.Len(t, p.r.Notes, x.notes, what)
		require.Empty(t, p.r.Findings, what)
	}
	for strength, op := range map[isa.Strength]litmus.Op{isa.FenceSC: litmus.OpMembar, isa.FenceAll: litmus.OpNop} {
		p := x86Pass(spec.Kind{Op: litmus.OpMembar}, event{role: isa.RoleFence, mem: isa.Mem{Strength: strength}})
		in, why := x86{}.fence(&lifter{p: p}, 1)
		require.Equal(t, op, in.Op)
		require.Empty(t, why)
	}
}

// TestX86Handed: which words a caller passes: pointers to arguments, arguments, and the sizes of work-groups.
func TestX86Handed(t *testing.T) {
	size := "special " + localSize
	for what, x := range map[string]struct {
		name        string
		off         int64
		word, width int
		want        string
	}{
		"the pointer to an argument":     {x86Arguments, 16, 0, 8, "symbol " + x86Argument + "2 0"},
		"its high word":                  {x86Arguments, 16, 1, 8, "symbol " + x86Argument + "2 1"},
		"the first pointer":              {x86Arguments, 0, 0, 8, "symbol " + x86Argument + "0 0"},
		"half a pointer":                 {x86Arguments, 16, 0, 4, ""},
		"between two pointers":           {x86Arguments, 12, 0, 8, ""},
		"before the pointers":            {x86Arguments, -8, 0, 8, ""},
		"an argument":                    {x86Argument + "3", 0, 0, 4, "param 24"},
		"its high word, loaded together": {x86Argument + "3", 0, 1, 8, "param 28"},
		"its high word alone":            {x86Argument + "3", 4, 0, 4, "param 28"},
		"a byte of it":                   {x86Argument + "3", 0, 0, 1, "param 24 & 255"},
		"half of it":                     {x86Argument + "3", 0, 0, 2, "param 24 & 65535"},
		"behind it":                      {x86Argument + "3", 8, 0, 4, ""},
		"before it":                      {x86Argument + "3", -4, 0, 4, ""},
		"across":                         {x86Argument + "3", 2, 0, 4, ""},
		"no number":                      {x86Argument + "x", 0, 0, 4, ""},
		"the size of a group":            {x86Context, x86LocalSize, 0, 8, size},
		"its last dimension":             {x86Context, x86LocalSizeEnd - 8, 0, 4, size},
		"its high word is another":       {x86Context, x86LocalSize, 1, 8, fmt.Sprintf("special context+%#x", x86LocalSize+4)},
		"within it":                      {x86Context, x86LocalSize + 4, 0, 4, fmt.Sprintf("special context+%#x", x86LocalSize+4)},
		"before it, of the context":      {x86Context, x86LocalSize - 8, 0, 8, fmt.Sprintf("special context+%#x", x86LocalSize-8)},
		"behind it, of the context":      {x86Context, x86LocalSizeEnd, 0, 8, fmt.Sprintf("special context+%#x", x86LocalSizeEnd)},
		"something else":                 {"stack", 0, 0, 4, ""},
	} {
		p := newValuePool()
		v, ok := x86{}.handed(&machine{tr: &trace{pool: p}}, key{base: baseSym, name: x.name, off: x.off}, x.word, x.width)
		require.Equal(t, x.want != "", ok, what)
		if !ok {
			continue
		}
		text, mask := "", ""
		n := p.nodes[v]
		if n.kind == kBits {
			c, isC := p.isConst(n.b)
			if !isC {
				c, _ = p.isConst(n.a)
				n.a = n.b
			}
			mask = fmt.Sprint(" & ", c)
			n = p.nodes[n.a]
		}
		switch n.kind {
		case kSym:
			text = fmt.Sprint("symbol ", p.names[n.imm], " ", n.a)
		case kSpecial:
			text = "special " + p.names[n.imm]
		case kParam:
			text = fmt.Sprint("param ", n.imm)
		}
		require.Equal(t, x.want, text+mask, what)
	}
}

// TestX86Items: a count of work-items that is compared with their number equals it, in the code of a harness whose loops are known.
func TestX86Items(t *testing.T) {
	p := newValuePool()
	m := &machine{tr: &trace{pool: p}}
	size, count, other := m.special(localSize), loaded(p, 0), loaded(p, 1)
	known, learning := newView(&spec.Harness{}, nil, 0), &view{loops: &loops{open: true}}
	for what, x := range map[string]struct {
		op   isa.MicroOp
		cmp  string
		view *view
		src  operands
		is   bool
	}{
		"their number":               {isa.MicroSetp, "EQ", known, operands{size, count, none, none, none}, true},
		"the other way":              {isa.MicroSetp, "EQ", known, operands{count, size, none, none, none}, true},
		"computed from it":           {isa.MicroSetp, "EQ", known, operands{p.add(size, count), other, none, none, none}, true},
		"of words in pairs":          {isa.MicroSetpWide, "EQ", known, operands{size, other, count, other, none}, true},
		"the high words of pairs":    {isa.MicroSetpWide, "EQ", known, operands{count, size, other, size, none}, false},
		"of single words, the third": {isa.MicroSetp, "EQ", known, operands{size, p.constant(1), count, none, none}, false},
		"less":                       {isa.MicroSetp, "LT", known, operands{size, count, none, none, none}, false},
		"a constant":                 {isa.MicroSetp, "EQ", known, operands{size, p.constant(1), none, none, none}, false},
		"itself":                     {isa.MicroSetp, "EQ", known, operands{size, p.add(size, count), none, none, none}, false},
		"something else":             {isa.MicroSetp, "EQ", known, operands{count, other, none, none, none}, false},
		"another operation":          {isa.MicroAdd, "EQ", known, operands{size, count, none, none, none}, false},
		"of no harness":              {isa.MicroSetp, "EQ", nil, operands{size, count, none, none, none}, false},
		"while loops are learnt":     {isa.MicroSetp, "EQ", learning, operands{size, count, none, none, none}, false},
	} {
		m.view = x.view
		v, ok := x86{}.micro(m, 0, 0, &isa.Micro{Op: x.op, Cmp: x.cmp}, x.src)
		require.Equal(t, x.is, ok, what)
		if ok {
			require.Equal(t, p.truth(true), v, what)
		}
	}
}
