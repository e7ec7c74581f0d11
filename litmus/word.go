package litmus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Accesses whose mnemonics are fixed words: vectors, 128 bits, non-coherent loads, floating point. A row of a
// table says of each what it does; TestWordsAgainstPtxas holds versions and targets to it.
//
// An access of several registers is several instructions of a thread, one for each, which stand next to each
// other and are printed as one. Those of a vector have no order among them (PTX ISA, Vector Data-types); two of
// 128 bits are one access.

// Word is such a mnemonic.
type Word struct {
	// Name has {} where the state space stands: "ld.relaxed.gpu{}.v2.u32".
	Name string
	// Instr has what each of its registers is to memory: operation, order, scope, type, proxy.
	Instr Instr
	Parts int  // registers
	Whole bool // the registers are one value of 128 bits
	Multi bool // at an address of a multicast object
	// Spaces are the state spaces that may be written; 0, "not written", is among them where one is not needed.
	Spaces  []Space
	PTX, SM int // version and first target that have it
}

// Spelled returns the mnemonic with a state space.
func (w *Word) Spelled(s Space) string {
	return strings.Replace(w.Name, "{}", strings.TrimSuffix("."+s.String(), "."), 1)
}

// order is how an access is ordered, as words.
type order struct {
	text    string
	sem     Sem
	scope   Scope
	ptx, sm int
}

// orders lists the orders of an operation, each with every scope.
func orders(sems ...Sem) (list []order) {
	for _, sem := range sems {
		switch sem {
		case SemNone:
			list = append(list, order{})
		case SemWeak:
			list = append(list, order{".weak", sem, ScopeNone, 60, 70})
		case SemVolatile:
			list = append(list, order{".volatile", sem, ScopeNone, 0, 0})
		default:
			for _, scope := range anyScope.list() {
				o := order{"." + sem.String() + "." + Scope(scope).String(), sem, Scope(scope), 60, 70}
				if o.scope == ScopeCluster {
					o.ptx, o.sm = 78, 90
				}
				list = append(list, o)
			}
		}
	}
	return list
}

var wordTable, wordByName = func() (list []Word, byName map[string]spelled) {
	add := func(orders []order, rest string, w Word) {
		for _, o := range orders {
			v := w
			v.Instr.Sem, v.Instr.Scope, v.PTX, v.SM = o.sem, o.scope, max(w.PTX, o.ptx, 50), max(w.SM, o.sm)
			if w.Whole && o.scope == ScopeSys {
				v.PTX = max(v.PTX, 84)
			}
			v.Name, v.Parts = w.Instr.Op.String()+o.text+rest, max(w.Parts, 1)
			if w.Multi {
				v.Name = "multimem." + w.Name + o.text + rest
			}
			if v.Spaces == nil {
				v.Spaces = []Space{Generic, Global, Shared}
			}
			list = append(list, v)
		}
	}
	sems := map[Op][]Sem{
		OpLd:   {SemNone, SemWeak, SemVolatile, SemRelaxed, SemAcquire},
		OpSt:   {SemNone, SemWeak, SemVolatile, SemRelaxed, SemRelease},
		OpAtom: {SemNone, SemRelaxed, SemAcquire, SemRelease, SemAcqRel},
		OpRed:  {SemNone, SemRelaxed, SemRelease},
	}
	vectors := []Type{B8, U8, B16, U16, B32, U32, B64, U64}
	for _, op := range []Op{OpLd, OpSt} {
		for _, n := range []int{2, 4} {
			for _, t := range vectors {
				if n*t.Bits() <= 128 {
					add(orders(sems[op]...), fmt.Sprintf("{}.v%d.%s", n, t), Word{Instr: Instr{Op: op, Type: t}, Parts: n})
				}
			}
		}
		add(orders(sems[op]...), "{}.b128", Word{Instr: Instr{Op: op, Type: B64}, Parts: 2, Whole: true, PTX: 83, SM: 70})
	}
	for _, t := range vectors {
		nc := Word{Instr: Instr{Op: OpLd, Type: t, Proxy: ProxyTexture}, Spaces: []Space{Global}, PTX: 50, SM: 32}
		add(orders(SemNone), "{}.nc."+t.String(), nc)
		for nc.Parts = 2; nc.Parts*t.Bits() <= 128 && nc.Parts <= 4; nc.Parts *= 2 {
			add(orders(SemNone), fmt.Sprintf("{}.nc.v%d.%s", nc.Parts, t), nc)
		}
	}
	for _, op := range []Op{OpAtom, OpRed} {
		for t, f := range map[Type]Word{F32: {}, F64: {PTX: 50, SM: 60}, F16: {Name: ".noftz", PTX: 63, SM: 70}, BF16: {Name: ".noftz", PTX: 78, SM: 90},
			F16X2: {Name: ".noftz", PTX: 62, SM: 60}, BF16X2: {Name: ".noftz", PTX: 78, SM: 90}} {
			rest := f.Name + "." + t.String()
			f.Instr = Instr{Op: op, Atom: AtomAdd, Type: t}
			add(orders(sems[op]...), "{}.add"+rest, f)
		}
	}
	for _, op := range []AtomOp{AtomExch, AtomCAS} {
		in := Instr{Op: OpAtom, Atom: op, Type: B64}
		add(orders(sems[OpAtom]...), "{}."+op.String()+".b128", Word{Instr: in, Parts: 2, Whole: true, PTX: 83, SM: 90})
	}
	for _, m := range multimems() {
		add(orders(m.sems...), "{}"+m.rest, m.Word)
	}
	slices.SortFunc(list, func(a, b Word) int { return strings.Compare(a.Name, b.Name) })
	byName = map[string]spelled{}
	for i := range list {
		for _, s := range list[i].Spaces {
			byName[list[i].Spelled(s)] = spelled{&list[i], s}
		}
	}
	for name := range maps.Clone(byName) {
		byName[strings.Replace(name, ".shared.", ".shared::cta.", 1)] = byName[name]
	}
	return list, byName
}()

// multimem is a word of multimem without its order.
type multimem struct {
	Word
	rest string
	sems []Sem
}

// multimems lists the operations at addresses of multicast objects (PTX ISA, multimem.ld_reduce, multimem.st, multimem.red), of integers. On
// one device they are a load, a store and a red of the one place that there is.
func multimems() (list []multimem) {
	add := func(name, op string, sems []Sem, in Instr, types ...Type) {
		for _, t := range types {
			m := multimem{rest: "." + t.String(), sems: sems, Word: Word{Name: name, Instr: in, Multi: true, Spaces: []Space{Generic, Global}, PTX: 81, SM: 90}}
			if m.Instr.Type = t; op != "" {
				m.rest = "." + op + m.rest
			}
			list = append(list, m)
		}
	}
	for _, op := range []AtomOp{AtomAnd, AtomOr, AtomXor, AtomMin, AtomMax, AtomAdd} {
		types := []Type{B32, B64}
		switch op {
		case AtomMin, AtomMax:
			types = []Type{U32, S32, U64, S64}
		case AtomAdd:
			types = []Type{U32, S32, U64}
		}
		add("ld_reduce", op.String(), []Sem{SemNone, SemWeak, SemRelaxed, SemAcquire}, Instr{Op: OpLd}, types...)
		add("red", op.String(), []Sem{SemNone, SemRelaxed, SemRelease}, Instr{Op: OpRed, Atom: op}, types...)
	}
	add("st", "", []Sem{SemNone, SemWeak, SemRelaxed, SemRelease}, Instr{Op: OpSt}, B32, U32, S32, B64, U64, S64)
	return list
}

// multicast rejects accesses of other kinds at an address of a multicast object, which have no meaning (PTX ISA, Multimem Addresses).
func (c *checker) multicast(th *Thread, j int) {
	in, base := &th.Body[j], c.bases[th.index(c.t)][j]
	for i := range c.t.Threads {
		for k := range c.t.Threads[i].Body {
			other := &c.t.Threads[i].Body[k]
			if base != "" && other.IsAccess() && c.bases[i][k] == base && (other.Word == nil || !other.Word.Multi) {
				c.errorf(in.Pos, "%s: %s is accessed by %s, too; another name of its place is an alias", in, base, other)
				return
			}
		}
	}
}

// spelled is a word with a state space.
type spelled struct {
	word  *Word
	space Space
}

// instr returns one of the instructions that an access is.
func (w spelled) instr(part int) Instr {
	in := w.word.Instr
	in.Word, in.Part, in.Space = w.word, uint8(part), w.space
	return in
}

// Parts returns the access that begins at the i-th instruction of a thread: the instruction alone, but for accesses of
// several registers.
func (th *Thread) Parts(i int) []Instr {
	n := 1
	if w := th.Body[i].Word; w != nil && th.Body[i].Part == 0 {
		n = min(w.Parts, len(th.Body)-i)
	}
	return th.Body[i : i+n]
}

// wordOperands reads the operands of an access. The thread gets an instruction for each further register.
func (p *parser) wordOperands(th *Thread, in *Instr, w spelled) bool {
	first := *in
	parts := make([]Instr, w.word.Parts)
	for i := range parts {
		parts[i] = w.instr(i)
		parts[i].Guard, parts[i].Pos = first.Guard, first.Pos
	}
	parts[0].Labels, parts[0].Call, parts[0].Prefetch = first.Labels, first.Call, first.Prefetch
	op := w.word.Instr.Op
	list := func(read func(in *Instr) bool) bool {
		if len(parts) == 1 {
			return read(&parts[0])
		}
		for i := range parts {
			if sep := byte("{,"[min(i, 1)]); !p.expect(sep, string(sep)) || !read(&parts[i]) {
				return false
			}
		}
		return p.expect('}', "}")
	}
	if op == OpLd || op == OpAtom {
		if !list(func(in *Instr) bool { return p.name(&in.Dst, "a register") }) || !p.expect(',', ", and an address") {
			return false
		}
	}
	if !p.address(th, &parts[0].Addr) {
		return false
	}
	for i := range parts {
		parts[i].Addr = parts[0].Addr
		parts[i].Addr.Offset += int64(i * w.word.Instr.Type.Bits() / 8)
	}
	for k := range arity(&parts[0]) {
		if !p.expect(',', ", and what is written") || !list(func(in *Instr) bool {
			in.Src = append(in.Src, Operand{})
			return p.source(th, &in.Src[k])
		}) {
			return false
		}
	}
	*in = parts[0]
	th.Body = append(th.Body, parts[1:]...)
	return true
}

// appendWord prints an access.
func appendWord(b []byte, parts []Instr, d Dialect) []byte {
	sep := ","
	if d == PTX {
		sep = ", "
	}
	list := func(b []byte, item func(b []byte, in *Instr) []byte) []byte {
		if len(parts) == 1 {
			return item(b, &parts[0])
		}
		for i := range parts {
			b = item(append(b, "{,"[min(i, 1)]), &parts[i])
		}
		return append(b, '}')
	}
	in := &parts[0]
	b = append(b, ' ')
	if in.Op == OpLd || in.Op == OpAtom {
		b = append(list(b, func(b []byte, in *Instr) []byte { return append(b, in.Dst...) }), sep...)
	}
	b = appendAddr(b, in.Addr, d)
	for k := range in.Src {
		b = list(append(b, sep...), func(b []byte, in *Instr) []byte { return appendOperand(b, in.Src[k]) })
	}
	return b
}

// word checks that an access has all its parts, and nothing else than its word says.
func (c *checker) word(th *Thread, j int) {
	in := &th.Body[j]
	w := in.Word
	first := j - int(in.Part)
	if first < 0 || first+w.Parts > len(th.Body) {
		c.errorf(in.Pos, "%s lacks registers", in)
		return
	}
	of, want := &th.Body[first], spelled{w, in.Space}.instr(int(in.Part))
	want.Labels, want.Guard, want.Call, want.Prefetch, want.Dst, want.Addr, want.Src, want.Pos = in.Labels, in.Guard, in.Call, in.Prefetch, in.Dst, in.Addr, in.Src, in.Pos
	at := of.Addr
	at.Offset += int64(int(in.Part) * in.Type.Bits() / 8)
	guards := in.Guard == nil && of.Guard == nil || in.Guard != nil && of.Guard != nil && *in.Guard == *of.Guard
	if w.Multi {
		c.multicast(th, j)
	}
	switch {
	case of.Word == nil || of.Word.Name != w.Name || of.Part != 0 || in.Addr != at || !guards || in.Part > 0 && (len(in.Labels) > 0 || in.Call || in.Prefetch > 0):
		c.errorf(in.Pos, "%s is no part of an access of %d registers", in, w.Parts)
	case in.Mnemonic() != want.Mnemonic() || in.Op != want.Op || in.Type != want.Type || in.Sem != want.Sem || in.Scope != want.Scope ||
		in.Atom != want.Atom || in.Proxy != want.Proxy || !slices.Contains(w.Spaces, in.Space):
		c.errorf(in.Pos, "%s is not what its word says", in)
	case in.Call || in.Prefetch > 0:
		c.errorf(in.Pos, "%s: no function performs it, and nothing is prefetched for it", in)
	case in.Part == 0 && w.Parts > 1:
		for i := range w.Parts {
			for k := range i {
				if r := th.Body[first+i].Dst; r != "" && r == th.Body[first+k].Dst {
					c.errorf(in.Pos, "%s: register %s is twice in one access", in, r)
				}
			}
		}
		if l, n := c.t.Location(c.bases[th.index(c.t)][j]), int64(w.Parts*in.Type.Bits()/8); l != nil && (l.Offset+in.Addr.Offset)%n != 0 {
			c.errorf(in.Pos, "%s is not aligned to the %d bytes of its registers", in, n)
		}
		if of.Addr.Reg != "" && slices.ContainsFunc(th.Body[first:first+w.Parts], func(in Instr) bool { return in.Dst == of.Addr.Reg }) {
			c.errorf(in.Pos, "%s: register %s is address and destination", in, of.Addr.Reg)
		}
	}
}
