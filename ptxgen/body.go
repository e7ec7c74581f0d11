package ptxgen

import (
	"fmt"
	"sort"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

type param struct{ typ, name string }

// body builds the code of one thread.
type body struct {
	e        *emitter
	th       *litmus.Thread
	spec     *spec.Spec
	prologue strings.Builder
	code     strings.Builder
	called   strings.Builder        // functions that the code calls
	funcs    int                    // how many there are
	named    map[string]string      // test registers by their names in PTX
	regs     map[string]litmus.Type // every register of the thread with its type
	values   []litmus.Type          // opaque values: parameters v0, v1, …
	stands   []spec.Value           // what the opaque values stand for
	at       int                    // the instruction being emitted, -1 before the first
	setting  string                 // the register whose initial value is being emitted
	usedLoc  [spec.MaxLocations]bool
	usedFar  [spec.MaxLocations]bool // locations in another CTA's shared memory that the code names
	line     int
	temps    int    // compare-and-branch predicates
	lanes    uint32 // that perform the thread, 0: one alone
	given    int    // values that they give to operations of their warp
	prefix   string // of the names of parameters of opaque values
	origin   []int  // of the thread without loops, nil if it has none
	rounds   []loop // of a thread with loops
}

func (k *body) p(format string, args ...any) { fmt.Fprintf(&k.prologue, "\t"+format+"\n", args...) }
func (k *body) c(format string, args ...any) { fmt.Fprintf(&k.code, "\t"+format+"\n", args...) }

func reg(name string) string { return "%q_" + regName.Replace(name) }

var regName = strings.NewReplacer("-", "_", ".", "_", "'", "_")

// opaque returns a register with a value that the compiler cannot know and that stands for the
// constant c of the test.
func (k *body) opaque(t litmus.Type, c int64) string {
	i := k.stand(t, c)
	k.p("ld.param.%s %%v%d, [%s];", unsignedOf(t), i, k.valueParam(i))
	return fmt.Sprintf("%%v%d", i)
}

// stand adds an opaque value for the constant c, which is the next constant operand of the
// current instruction, or an initial value.
func (k *body) stand(t litmus.Type, c int64) int {
	v := spec.Value{Const: c, Instr: k.at, Reg: k.setting}
	if k.at >= 0 {
		src := k.th.Body[k.at].Src
		if n := len(k.stands); n > 0 && k.stands[n-1].Instr == k.at {
			v.Src = k.stands[n-1].Src + 1
		}
		for v.Src < len(src)-1 && src[v.Src].Kind != litmus.OperandConst {
			v.Src++
		}
	}
	k.values, k.stands = append(k.values, t), append(k.stands, v)
	return len(k.values) - 1
}

// valueParam returns the name of the parameter that holds an opaque value.
func (k *body) valueParam(i int) string { return fmt.Sprintf("%sv%d", k.prefix, i) }

func unsignedOf(t litmus.Type) string { return fmt.Sprintf("u%d", max(t.Bits(), 32)) }
func bitsOf(t litmus.Type) string     { return fmt.Sprintf("b%d", max(t.Bits(), 32)) }

// params lists the entry's parameters. Location pointers come first, so that a location's
// parameter slot is its index.
func (k *body) params() []param {
	var ps []param
	switch k.e.o.Layout {
	case spec.Pointers:
		for i := range k.e.t.Locations {
			ps = append(ps, param{"u64", fmt.Sprintf("p%d", i)})
		}
	case spec.Offsets:
		ps = append(ps, param{"u64", "gbase"}, param{"u64", "sbase"})
	}
	ps = append(ps, param{"u64", "out"})
	for i, t := range k.values {
		ps = append(ps, param{unsignedOf(t), k.valueParam(i)})
	}
	// Last, so that the values are at the same offsets with and without markers: neighbouring
	// parameters are loaded together, which affects the schedule.
	return append(ps, param{"u32", "tok"})
}

// outParam returns the offset of the parameter out.
func (k *body) outParam() int64 {
	return k.spec.ResultParam()
}

// opaqueValues returns the constants that the parameters of opaque values stand for.
func (k *body) opaqueValues() []spec.Value {
	var out []spec.Value
	off, first := int64(0), 0
	for i, p := range k.params() {
		size := int64(4)
		if p.typ == "u64" {
			size = 8
		}
		off = (off + size - 1) &^ (size - 1)
		if p.name == "v0" {
			first = i
		}
		if n := i - first; first > 0 && n < len(k.values) {
			v := k.stands[n]
			v.Offset, v.Bytes = off, int(size)
			out = append(out, v)
		}
		off += size
	}
	return out
}

// run builds prologue and code.
func (k *body) run() error {
	k.p("ld.param.u64 %%out, [out];")
	k.p("ld.param.u32 %%tok, [tok];")
	k.collect()
	if err := k.initial(); err != nil {
		return err
	}
	if k.e.located == nil {
		k.begin()
	}
	entries := k.entries()
	for i := range k.th.Body {
		k.at = i
		in := &k.th.Body[i]
		ents := entries[i]
		space := litmus.Generic
		if in.IsAccess() {
			space = k.e.space(ents[0].Loc)
		}
		v, err := requirement(spelled(in, space), k.e.sm)
		if err != nil {
			return err
		}
		k.e.u.Needs = max(k.e.u.Needs, v)
		for _, l := range in.Labels {
			k.code.WriteString("$L_" + l + ":\n")
		}
		k.countRound(i)
		if err := k.instr(in, ents); err != nil {
			return err
		}
	}
	return nil
}

// entries lists the accesses and fences that each instruction stands for: one, or a copy for
// each iteration of a loop.
func (k *body) entries() [][]*spec.Entry {
	out := make([][]*spec.Entry, len(k.th.Body))
	for i := range k.spec.Entries {
		at := k.spec.Entries[i].Instr
		if k.origin != nil {
			at = k.origin[at]
		}
		out[at] = append(out[at], &k.spec.Entries[i])
	}
	return out
}

// collect finds all registers and their types: declared, else 32-bit, or predicate where an
// instruction requires one.
func (k *body) collect() {
	defer func() {
		k.named = make(map[string]string, len(k.regs))
		for r := range k.regs {
			k.named[reg(r)] = r
		}
	}()
	for _, d := range k.th.Regs {
		t := d.Type
		if t == litmus.TypeNone {
			t = litmus.B32
			if d.Init.Kind == litmus.OperandLoc {
				t = litmus.B64
			}
		}
		k.regs[d.Name] = t
	}
	for i := range k.th.Body {
		in := &k.th.Body[i]
		if in.Guard != nil {
			k.regs[in.Guard.Reg] = litmus.Pred
		}
		if in.Dst != "" {
			if _, ok := k.regs[in.Dst]; !ok {
				t := in.Type
				switch {
				case in.Op == litmus.OpSetp, in.Async != nil && in.Async.Kind == litmus.MbarWait:
					t = litmus.Pred
				case in.Async != nil && in.Async.Together():
					t = in.Async.To
				case in.Async != nil: // a token
					t = litmus.B64
				case t == litmus.TypeNone:
					t = litmus.B32
				}
				k.regs[in.Dst] = t
			}
		}
		for _, s := range in.Src {
			if s.Kind == litmus.OperandReg {
				if _, ok := k.regs[s.Name]; !ok {
					k.regs[s.Name] = litmus.B32
				}
				if in.Async != nil && in.Async.Together() && in.Async.Type == litmus.Pred {
					k.regs[s.Name] = litmus.Pred
				}
			}
		}
	}
}

// initial sets registers that hold an address, an initial value, or that may be read before
// they are certainly written. Initial values are opaque.
func (k *body) initial() error {
	k.at = -1
	needs, inits := k.readFirst(), map[string]int64{}
	for _, d := range k.th.Regs {
		switch d.Init.Kind {
		case litmus.OperandLoc:
			k.p("%s", k.address(reg(d.Name), k.loc(d.Init.Name), k.regs[d.Name].Bits()))
			delete(needs, d.Name)
		case litmus.OperandConst:
			needs[d.Name] = true
			inits[d.Name] = d.Init.Value
		}
	}
	names := make([]string, 0, len(needs))
	for n := range needs {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		t := k.regs[n]
		k.setting = n
		if t == litmus.Pred {
			k.p("setp.ne.u32 %s, %s, 0;", reg(n), k.opaque(litmus.U32, inits[n]))
			continue
		}
		k.p("mov.%s %s, %s;", bitsOf(t), reg(n), k.opaque(t, inits[n]))
	}
	k.setting = ""
	for _, e := range k.spec.Entries {
		if e.Guarded && !e.IsFence() && !e.Unread {
			k.p("mov.b32 %%m%d, %%tok;", e.Pos)
		}
		if e.Guarded && !e.IsFence() {
			for _, i := range e.Operands() {
				k.p("mov.b32 %%o%d_%d, %%tok;", e.Pos, i)
			}
		}
	}
	return nil
}

// readFirst returns the registers that may be read, or still be needed at the thread's end,
// without having been written on every path.
func (k *body) readFirst() map[string]bool {
	needs, sure := map[string]bool{}, map[string]bool{}
	branched := false
	read := func(n string) {
		if !sure[n] {
			needs[n] = true
		}
	}
	for i := range k.th.Body {
		in := &k.th.Body[i]
		if in.Guard != nil {
			read(in.Guard.Reg)
		}
		if in.Addr.Reg != "" {
			read(in.Addr.Reg)
		}
		for _, s := range in.Src {
			if s.Kind == litmus.OperandReg {
				read(s.Name)
			}
		}
		if in.Dst != "" {
			if in.Guard != nil || branched {
				read(in.Dst) // the old value may survive
			} else {
				sure[in.Dst] = true
			}
		}
		branched = branched || in.Op == litmus.OpBra
	}
	return needs
}

func (k *body) loc(name string) int {
	for i := range k.e.t.Locations {
		if k.e.t.Locations[i].Name == name {
			return i
		}
	}
	return -1
}

// address returns the instruction that loads a location's address. A 32-bit register, which
// shared memory allows, gets the low half of a parameter.
func (k *body) address(dst string, loc, bits int) string {
	if k.e.located != nil {
		return k.e.located(dst, loc, bits)
	}
	switch {
	case k.e.named(loc):
		s := k.symbolic()
		a := fmt.Sprintf("mov.u%d %s, %s%s;", bits, dst, k.e.u.Name, s.Symbol(loc, k.e.space(loc)))
		if off := s.Offset(loc); off > 0 {
			a += fmt.Sprintf("\n\tadd.u%d %s, %s, %d;", bits, dst, dst, off)
		}
		return a
	case k.e.o.Layout == spec.Offsets:
		base := "gbase"
		if k.e.space(loc) == litmus.Shared {
			base = "sbase"
		}
		return fmt.Sprintf("ld.param.u%d %s, [%s];\n\tadd.u%d %s, %s, %d;", bits, dst, base, bits, dst, dst, k.spec.Offset(loc))
	}
	return fmt.Sprintf("ld.param.u%d %s, [p%d];", bits, dst, loc)
}

// symbol returns the address of a location in terms of its variable's name.
func (k *body) symbol(loc int) string {
	at := k.symbolic()
	s := k.e.u.Name + at.Symbol(loc, k.e.space(loc))
	if off := at.Offset(loc); off > 0 {
		s += fmt.Sprintf("+%d", off)
	}
	return s
}

// symbolic is the specification by which a location that is named lies in its variable.
func (k *body) symbolic() *spec.Spec {
	if k.e.o.Layout.Named() {
		return k.spec
	}
	s := *k.spec
	s.Layout = spec.Symbols
	return &s
}

// operandAddr returns the address operand of an access.
func (k *body) operandAddr(in *litmus.Instr, loc int) string {
	if k.far(loc) {
		return "[" + k.remote(loc) + "]"
	}
	if k.e.named(loc) && (in.Addr.Reg == "" || k.pristine(in.Addr.Reg)) {
		// Named directly: ptxas 11.2 attributes an access through a register that a mov of the
		// symbol has set to the line of that mov.
		return "[" + k.symbol(loc) + "]"
	}
	if in.Addr.Reg != "" {
		return "[" + reg(in.Addr.Reg) + "]"
	}
	return k.loaded(loc)
}

// loaded is the address operand of a location in a register of its own.
func (k *body) loaded(loc int) string {
	r := fmt.Sprintf("%%l%d", loc)
	if !k.usedLoc[loc] {
		k.usedLoc[loc] = true
		k.p("%s", k.address(r, loc, 64))
	}
	return "[" + r + "]"
}

// pristine reports whether an address register is never written by the thread.
func (k *body) pristine(name string) bool {
	for i := range k.th.Body {
		if k.th.Body[i].Dst == name {
			return false
		}
	}
	return true
}

// declare emits the register declarations.
func (k *body) declare() {
	names := make([]string, 0, len(k.regs))
	for n := range k.regs {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		t := "pred"
		if k.regs[n] != litmus.Pred {
			t = bitsOf(k.regs[n])
		}
		k.e.f("\t.reg .%s %s;\n", t, reg(n))
	}
	for i, t := range k.values {
		k.e.f("\t.reg .%s %%v%d;\n", bitsOf(t), i)
	}
	for i, used := range k.usedLoc {
		if used {
			k.e.f("\t.reg .b64 %%l%d;\n", i)
		}
	}
	for i, used := range k.usedFar {
		if used {
			k.e.f("\t.reg .b64 %%f%d;\n", i)
		}
	}
	k.declareRounds()
	if k.temps > 0 {
		k.e.f("\t.reg .pred %%t<%d>;\n", k.temps)
	}
	for _, e := range k.spec.Entries {
		for _, i := range e.Operands() {
			k.e.f("\t.reg .b32 %%o%d_%d;\n", e.Pos, i)
		}
	}
	k.e.f("\t.reg .b64 %%out;\n\t.reg .b32 %%tok, %%m<%d>, %%x<%d>;\n", spec.MaxPositions, spec.MaxMarkers+1)
}

// results emits the markers, or in a plain kernel just the results, and keeps
// each alive with a store of its own.
func (k *body) results(lits []uint32) {
	if k.e.o.Plain || k.e.u.Program {
		for i, r := range k.answers() {
			from := "selp.u32 %%x%d, 1, 0, %s"
			if k.regs[r] != litmus.Pred {
				from = "mov.b32 %%x%d, %s"
			}
			k.e.f("\t"+from+";\n\tst.global.u32 [%%out+%d], %%x%d;\n", i, reg(r), (2*spec.MaxPositions+i)*ResultStride, i)
		}
		for _, en := range k.spec.Entries {
			if en.Reads() && !en.Unread {
				k.e.f("\tst.global.u32 [%%out+%d], %%m%d;\n", en.Pos*ResultStride, en.Pos)
				if en.Kind.Op == litmus.OpLd && en.Kind.Width == 8 {
					k.e.f("\tst.global.u32 [%%out+%d], %%o%d_%d;\n", (spec.MaxPositions+en.Pos)*ResultStride, en.Pos, spec.HighWord)
				}
			}
		}
		return
	}
	for i, l := range lits {
		src := markerSource(k.spec, i, "%%m%d", "%%o%d_%d", "%tok")
		k.e.f("\txor.b32 %%x%d, %s, 0x%08x;\n", i, src, l)
	}
	for i := range lits {
		k.e.f("\tst.global.u32 [%%out+%d], %%x%d;\n", i*ResultStride, i)
	}
}
