package litmus

import (
	"fmt"
	"slices"
	"strings"
)

// opcodesByName and opcodesOf map mnemonics and operations to their opcodes.
var opcodesByName, opcodesOf = func() (map[string]*opcode, [OpBra + 1][]*opcode) {
	byName, byOp := map[string]*opcode{}, [OpBra + 1][]*opcode{}
	for i := range opcodes {
		oc := &opcodes[i]
		for _, cl := range oc.mods {
			oc.takes |= cl
		}
		byName[oc.name] = oc
		byOp[oc.op] = append(byOp[oc.op], oc)
	}
	return byName, byOp
}()

func (oc *opcode) in(d Dialect) bool { return oc.dialects == nil || slices.Contains(oc.dialects, d) }

// opcode returns the dialect's opcode with a name, or nil.
func (d Dialect) opcode(name string) *opcode {
	if oc := opcodesByName[name]; oc != nil && oc.in(d) {
		return oc
	}
	return nil
}

// opcodeNames lists the mnemonics of a dialect.
func (d Dialect) opcodeNames() string {
	var names []string
	for i := range opcodes {
		if opcodes[i].in(d) {
			names = append(names, opcodes[i].name)
		}
	}
	return strings.Join(names, " ")
}

// opcodeOf returns the opcode in which a dialect prints an instruction, or nil.
func (d Dialect) opcodeOf(in *Instr) *opcode {
	if in.Op > OpBra {
		return nil
	}
	for _, oc := range opcodesOf[in.Op] {
		if oc.proxy == in.Proxy && (in.Op != OpBra || oc.cmp == in.Cmp) && (oc.in(d) || oc.proxy != ProxyNone) {
			return oc
		}
	}
	return nil
}

// classify returns the class and the value of a modifier as the opcode takes it,
// clNone if the word is unknown. The scope of the whole GPU is .gl for membar.
func (oc *opcode) classify(mod string) (class, uint8) {
	if oc.op == OpMembar {
		switch mod {
		case "gl":
			return clScope, uint8(ScopeGPU)
		case "gpu":
			return clNone, 0
		}
	}
	cl, v := classify(mod)
	if cl == clLo && oc.op == OpSetp {
		cl = clCmp
	}
	return cl, v
}

// valueName formats a value of a dim.
func valueName(op Op, d dim, v uint8) string {
	switch d {
	case dimSem:
		return Sem(v).String()
	case dimScope:
		if op == OpMembar && Scope(v) == ScopeGPU {
			return "gl"
		}
		return Scope(v).String()
	case dimSpace:
		return Space(v).String()
	case dimCache:
		return CacheOp(v).String()
	case dimProxy:
		return Proxy(v).String()
	case dimAtom:
		return AtomOp(v).String()
	case dimCmp:
		return Cmp(v).String()
	}
	return Type(v).String()
}

var dimNames = [dims]string{"order", "scope", "state space", "cache operator", "proxy", "operation", "comparison", "type", "second type"}

// fill inserts the instruction's words into a text.
func (in *Instr) fill(text string) string {
	return strings.NewReplacer("{op}", in.Op.String(), "{sem}", in.Sem.String(), "{atom}", in.Atom.String()).Replace(text)
}

// words formats the values of a set: ".cta, .gpu or .sys".
func words(op Op, d dim, s set) string {
	var list []string
	for _, v := range s.list() {
		list = append(list, "."+valueName(op, d, v))
	}
	return alternatives(list)
}

func alternatives(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// all returns the union of what the dialect's forms of an operation have.
func (d Dialect) all(op Op, proxy Proxy) (u [dims]set) {
	t := d.table()
	for _, f := range t.byOp[op] {
		row := t.rows[f]
		if f.dialects != nil && !slices.Contains(f.dialects, d) || op != OpFenceProxy && proxy != ProxyNone && !row[dimProxy].has(uint8(proxy)) {
			continue
		}
		for i := range row {
			u[i] |= row[i]
		}
	}
	return u
}

// beyond names what PTX has and the table of modifiers lacks; of some of it the tables of fixed words have what is legal, in one order.
var beyond = map[string]string{
	"nc": "non-coherent loads but ld.global.nc.TYPE", "v2": "vectors but those of ld and st, as ld.relaxed.gpu.global.v2.u32",
	"v4": "vectors but those of ld and st, as ld.relaxed.gpu.global.v4.u32", "v8": "vectors of 256 bits", "hi": "upper halves of products", "wide": "wide products",
	"f16": "floating point but atom and red, as red.relaxed.gpu.add.noftz.f16", "f16x2": "floating point but atom and red, as red.relaxed.gpu.add.noftz.f16x2",
	"bf16": "floating point but atom and red, as red.relaxed.gpu.add.noftz.bf16", "bf16x2": "floating point but atom and red, as red.relaxed.gpu.add.noftz.bf16x2",
	"f32": "floating point but atom and red, as red.relaxed.gpu.add.f32", "f64": "floating point but atom and red, as red.relaxed.gpu.add.f64",
	"b128": "types of 128 bits but of ld, st and atom, as ld.relaxed.gpu.b128", "async": "asynchronous stores and reductions in this form",
	"param": "parameters as a state space", "const": "a constant state space", "local": "a local state space",
	"noftz": "floating point but atom and red, as red.relaxed.gpu.add.noftz.f16x2", "red": "reductions at barriers", "shared::cluster": "memory of other CTAs in words: name a location of theirs",
}

// refuses says why the opcode does not take a modifier.
func (oc *opcode) refuses(mod string, d Dialect) string {
	if what := beyond[mod]; what != "" {
		return fmt.Sprintf("unknown modifier .%s: litmus tests have no %s", mod, what)
	}
	head := "unknown modifier ." + mod
	if cl, _ := classify(mod); cl != clNone {
		head = oc.name + " takes no modifier ." + mod
	}
	if oc.op == OpBar {
		return head + "; it takes .cta, .sync or .arrive" + map[bool]string{true: ", .aligned"}[oc.takes&clAligned != 0]
	}
	u := d.all(oc.op, oc.proxy)
	var takes []string
	for _, cl := range oc.mods {
		if i, ok := cl.dim(); ok && cl != clFrom {
			for _, v := range u[i].list() {
				takes = append(takes, "."+valueName(oc.op, i, v))
			}
		}
	}
	if len(takes) == 0 {
		return head + "; it takes none"
	}
	return head + "; it takes " + strings.Join(takes, " ")
}

// illegal says what is wrong with an instruction that the dialect does not have, and in which
// of its dims (dims: in none), or "". It also says what is allowed.
func (d Dialect) illegal(in *Instr) (msg string, at dim) {
	if in.Word != nil && d != OpenCL {
		return "", dims
	}
	if in.Op > OpBra || d.form(in) != nil {
		return map[bool]string{true: "qualifier outside of its range"}[in.Op > OpBra], dims
	}
	v, u, language := in.values(), d.all(in.Op, in.Proxy), d.table().language
	op, name := in.Op.String(), in.Op.String()
	if oc := d.opcodeOf(in); oc != nil && d != OpenCL {
		op, name = oc.name, string(appendMnemonic(nil, in, d))
	}
	for i := range dims {
		switch {
		case v[i] == 0 || u[i].has(v[i]):
		case u[i]&^1 == 0:
			return fmt.Sprintf("%s has no %s", op, dimNames[i]), i
		default:
			return fmt.Sprintf("%s cannot be .%s; it can be %s", op, valueName(in.Op, i, v[i]), words(in.Op, i, u[i])), i
		}
	}
	at = dims
	var ways []string
	for i := range dims {
		s := d.instead(in, i, u[i])
		switch {
		case v[i] == 0 && s&^1 != 0:
			ways = append(ways, "add "+words(in.Op, i, s))
		case v[i] == 0 || s == 0:
		case s == 1:
			ways, at = append(ways, "leave out ."+valueName(in.Op, i, v[i])), i
		default:
			way := "write " + words(in.Op, i, s) + " in place of ." + valueName(in.Op, i, v[i])
			if s.has(0) && i != dimType {
				way = "leave out ." + valueName(in.Op, i, v[i]) + " or " + way
			}
			ways = append(ways, way)
			if at == dims || i != dimType {
				at = i
			}
		}
	}
	if len(ways) == 0 {
		return fmt.Sprintf("%s has no %s, nor anything that differs from it in one modifier", language, name), at
	}
	return fmt.Sprintf("%s has no %s: %s", language, name, strings.Join(ways, ", or ")), at
}

// instead returns the values that would make the instruction legal instead of the current one.
func (d Dialect) instead(in *Instr, at dim, among set) (s set) {
	for v := range uint8(32) {
		if among.has(v) || v == 0 {
			if other := in.with(at, v); d.form(&other) != nil {
				s |= 1 << v
			}
		}
	}
	return s
}

// IllegalBarrier says what is wrong with the operands of a barrier, or "".
// Source: PTX ISA, bar, barrier: sixteen barriers, thread counts in whole warps. In
// dialect PTX a barrier with a resource is that of model checkers: its ID is free
// and its quorum counts the test's threads.
func (d Dialect) IllegalBarrier(b *Barrier) string {
	number := b.ID
	for _, o := range [...]Operand{b.ID, b.Resource, b.Quorum} {
		if o.Kind == OperandConst && o.Value < 0 {
			return fmt.Sprintf("%d is negative", o.Value)
		}
	}
	if d == OpenCL {
		if b.Arrive || b.ID != Const(0) || b.Quorum.Kind != OperandNone || b.Resource.Kind != OperandNone {
			return "OpenCL has barrier(flags) only"
		}
		return ""
	}
	if b.Resource.Kind != OperandNone {
		if d != PTX {
			return fmt.Sprintf("dialect %s has no barrier resources", d)
		}
		number = b.Resource
	}
	switch {
	case number.Kind == OperandConst && number.Value > 15:
		return fmt.Sprintf("PTX has no barrier %d: barriers are numbered 0 to 15", number.Value)
	case b.Resource.Kind != OperandNone && b.Quorum == Const(0):
		return "a barrier of 0 threads"
	case b.Resource.Kind != OperandNone:
	case b.Quorum.Kind == OperandConst && (b.Quorum.Value%32 != 0 || b.Quorum.Value == 0):
		return fmt.Sprintf("a barrier of %d threads: PTX wants a multiple of 32", b.Quorum.Value)
	case b.Arrive && b.Quorum.Kind == OperandNone && d != PTX:
		return "bar.arrive needs a thread count, a multiple of 32"
	}
	return ""
}
