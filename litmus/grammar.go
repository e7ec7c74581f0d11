package litmus

import "slices"

// The grammar of the dialects is a table: which operations exist, which modifiers go together,
// and since when. The parser, the printer, Check, the emitters' requirements (Instr.Needs) and
// the texts of errors come from it. It is data (grammarptx.go, grammarcl.go), and a test asks
// every installed ptxas whether it is right. Each dialect keeps its own spelling: modifiers in
// any order, as ptxas takes them, omitted types, and the mnemonics of opcodes.

// dim is one aspect of what the modifiers of an instruction say.
type dim uint8

const (
	dimSem dim = iota
	dimScope
	dimSpace
	dimCache
	dimProxy
	dimAtom
	dimCmp
	dimType
	dimFrom
	dims
)

// set is a set of values of one dim as bits. Bit 0 stands for "not written".
type set uint32

func of[T ~uint8](values ...T) (s set) {
	for _, v := range values {
		s |= 1 << v
	}
	return s
}

func (s set) has(v uint8) bool { return v < 32 && s&(1<<v) != 0 }

// list returns the values in the set, except 0.
func (s set) list() (values []uint8) {
	for v := uint8(1); v < 32; v++ {
		if s.has(v) {
			values = append(values, v)
		}
	}
	return values
}

// sets has a set for each dim.
type sets struct {
	sem, scope, space, cache, proxy, atom, cmp, typ, from set
}

func (s *sets) array() [dims]set {
	return [dims]set{s.sem, s.scope, s.space, s.cache, s.proxy, s.atom, s.cmp, s.typ, s.from}
}

// form is a row of the table of what exists: every combination of values of its sets is an
// instruction. A dim without a set cannot be written.
type form struct {
	ops []Op
	sets
	source string // section of the manual
	// formal marks what memory models have but no machine: it can be judged but not emitted.
	formal   bool
	dialects []Dialect // that have the form; by default all of the table
}

// since is a row of the table of what was introduced when: it applies to all instructions whose
// values are in its sets. A dim without a set does not matter.
type since struct {
	what string // names the requirement; {op}, {sem} and {atom} stand for the instruction's
	ops  []Op
	sets
	ptx, sm int // version (major*10+minor) and first target
}

// opcode is a mnemonic: its modifiers in the order in which they are printed, and its operands,
// one letter each: d destination, a address, s source, l label, b those of a barrier. The first
// opcode of an operation is the one that is printed.
type opcode struct {
	name     string
	op       Op
	mods     []class
	operands string
	proxy    Proxy
	cmp      Cmp
	dialects []Dialect
	takes    class // all of mods, and what is read but not kept
}

// table is the grammar of one language.
type table struct {
	language string
	forms    []form
	byOp     [OpBra + 1][]*form
	rows     map[*form][dims]set
}

func newTable(language string, lists ...[]form) *table {
	t := &table{language: language, forms: slices.Concat(lists...), rows: map[*form][dims]set{}}
	for i := range t.forms {
		f := &t.forms[i]
		t.rows[f] = f.array()
		for _, op := range f.ops {
			t.byOp[op] = append(t.byOp[op], f)
		}
	}
	return t
}

var (
	ptxTable = newTable("PTX", accessForms, fenceForms, formalForms, plainForms)
	clTable  = newTable("OpenCL C", clForms, plainForms)
)

// table returns the grammar of the dialect.
func (d Dialect) table() *table {
	if d == OpenCL {
		return clTable
	}
	return ptxTable
}

// values returns the instruction's value in each dim.
func (in *Instr) values() [dims]uint8 {
	return [dims]uint8{uint8(in.Sem), uint8(in.Scope), uint8(in.Space), uint8(in.Cache), uint8(in.Proxy), uint8(in.Atom),
		uint8(in.Cmp), uint8(in.Type), uint8(in.FromType)}
}

// with returns the instruction with another value.
func (in Instr) with(d dim, v uint8) Instr {
	switch d {
	case dimSem:
		in.Sem = Sem(v)
	case dimScope:
		in.Scope = Scope(v)
	case dimSpace:
		in.Space = Space(v)
	case dimCache:
		in.Cache = CacheOp(v)
	case dimProxy:
		in.Proxy = Proxy(v)
	case dimAtom:
		in.Atom = AtomOp(v)
	case dimCmp:
		in.Cmp = Cmp(v)
	case dimType:
		in.Type = Type(v)
	case dimFrom:
		in.FromType = Type(v)
	}
	return in
}

// form returns the row that an instruction belongs to, or nil if the dialect does
// not have the instruction.
func (d Dialect) form(in *Instr) *form {
	if in.Op > OpBra {
		return nil
	}
	t, v := d.table(), in.values()
rows:
	for _, f := range t.byOp[in.Op] {
		if f.dialects != nil && !slices.Contains(f.dialects, d) {
			continue
		}
		row := t.rows[f]
		for i := range row {
			if !row[i].has(v[i]) && (row[i] != 0 || v[i] != 0) {
				continue rows
			}
		}
		return f
	}
	return nil
}

// Formal reports whether only memory models have the instruction, as fences of
// proxies other than fence.proxy.alias: no compiler takes it.
func (in *Instr) Formal() bool {
	f := PTX.form(in)
	return f != nil && f.formal && in.Word == nil
}

// Illegal says why PTX does not have the instruction as written, and what is allowed instead;
// "" if it has. Types may be omitted.
func (in *Instr) Illegal() string {
	msg, _ := GPUPTX.illegal(in)
	return msg
}

// Need is a feature that not every version of PTX and not every target has.
type Need struct {
	What string // ".relaxed", "a scope on atom"
	PTX  int    // first version, major*10+minor
	SM   int    // first target
}

// Needs returns the requirements of an instruction as written, in the order of the table; none
// if every version from 5.0 and every target from sm_20 has it. It says nothing about
// instructions that PTX does not have. Source: PTX ISA 8.6, "PTX ISA Notes" and "Target ISA
// Notes" of each instruction.
func (in *Instr) Needs() (needs []Need) {
	if in.Async != nil {
		ptx, sm := in.since()
		if ptx <= 50 && sm <= 20 {
			return nil
		}
		return []Need{{in.Async.Name, ptx, sm}}
	}
	if w := in.Word; w != nil {
		return []Need{{w.Spelled(in.Space), w.PTX, w.SM}}
	}
	v := in.values()
rows:
	for i := range sinceTable {
		s := &sinceTable[i]
		if !slices.Contains(s.ops, in.Op) {
			continue
		}
		for d, row := range s.array() {
			if row != 0 && !row.has(v[d]) {
				continue rows
			}
		}
		needs = append(needs, Need{in.fill(s.what), s.ptx, s.sm})
	}
	return needs
}

// FirstTargets lists, sorted, the targets (as numbers) that some instruction requires.
func FirstTargets() (sm []int) {
	for i := range sinceTable {
		sm = append(sm, sinceTable[i].sm)
	}
	for i := range asyncForms {
		if asyncForms[i].SM > 20 {
			sm = append(sm, asyncForms[i].SM)
		}
	}
	for i := range wordTable {
		if wordTable[i].SM > 0 {
			sm = append(sm, wordTable[i].SM)
		}
	}
	slices.Sort(sm)
	return slices.Compact(sm)
}
