package ptxgen

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
	"optcheck/target"
)

// EmitOpenCL returns the unit of a test as OpenCL C: one kernel per thread. A test of another
// dialect is translated first (litmus.ToOpenCL). The error is a *spec.Unsupported if OpenCL or
// the encoding lacks something that the test uses.
//
// What OpenCL 1.2 has is written with its functions (atomic_cmpxchg, mem_fence), which a
// library must provide (Kernel.Library); ordered atomics and fences of OpenCL 2.0 are written
// with the compiler's own built-ins (__opencl_atomic_*, __builtin_amdgcn_fence), which need
// none.
//
// Addresses are uniform: every work-item of a kernel accesses the same words. So clang may read
// them through the scalar cache (s_load_dword), and does for plain loads. That is what it does
// to such kernels, and it is meant to stay visible.
//
// Kernels are always_inline because clang 21 and later emit each kernel twice, as a function
// and as an entry that calls it, and at O0 leave the call.
//
// Parameters are as in PTX: 8 bytes for each pointer (on amdgcn pointers to local memory have
// 4, and a word of padding follows), the result pointer, the opaque values, the token. Results
// are written through a volatile pointer and ResultStride apart, because clang otherwise
// combines stores and even the xors of the markers.
func EmitOpenCL(t *litmus.Test, o Options) (*Unit, error) {
	if err := bare(t); err != nil {
		return nil, err
	}
	t, err := litmus.ToOpenCL(t.Canonical())
	if err != nil {
		var no *litmus.NoMeaning
		if errors.As(err, &no) {
			return nil, unsupported("%s", no.Reason)
		}
		return nil, err
	}
	u := &Unit{Name: o.Unit}
	if u.Name == "" {
		u.Name = UnitName(t, o.Layout)
	}
	e, err := newEmitter(t, u, o)
	if err != nil {
		return nil, err
	}
	var all strings.Builder
	for i := range t.Threads {
		k, err := clKernel(e, i)
		if err != nil {
			return nil, err
		}
		u.Kernels = append(u.Kernels, *k)
		all.WriteString(k.Text)
	}
	u.Text = all.String()
	return u, nil
}

// clBody builds the OpenCL code of one thread.
type clBody struct {
	body
	name string
	r600 bool
	code strings.Builder
	// initials holds the opaque values of registers that may be read before they are written.
	initials map[string]string
	ptr      map[string]litmus.Space // registers that hold addresses
	cl2      bool                    // something needs OpenCL C 2.0
	lib      bool                    // something needs a library
	long     bool                    // 64-bit atomics
}

func (k *clBody) f(format string, args ...any) { fmt.Fprintf(&k.code, "\t"+format+"\n", args...) }

func clKernel(e *emitter, thread int) (*Kernel, error) {
	body, err := e.body(thread)
	if err != nil {
		return nil, err
	}
	s := body.spec
	k := &clBody{body: *body, name: fmt.Sprintf("%s_T%d", e.u.Name, thread), r600: target.IsTeraScale(e.o.Target)}
	k.collect()
	k.pointers()
	if err := k.statements(); err != nil {
		return nil, err
	}
	if k.r600 && slices.ContainsFunc(k.variables(), func(v variable) bool { return v.space == litmus.Shared }) {
		// Inline assembly, by which its address escapes on other targets, r600 does not have.
		return nil, unsupported("on r600 a variable in local memory is the kernel's own: what nobody writes there is undefined")
	}
	values := k.copied(k.opaqueValues())
	s.SetCode(&e.flat.Threads[thread], values)
	s.AddDigest()
	lits, err := s.Literals()
	if err != nil {
		return nil, unsupported("%v", err)
	}
	if k.r600 {
		values = nil // code for TeraScale is not lifted
	}
	var b strings.Builder
	k.globals(&b)
	fmt.Fprintf(&b, "__attribute__((always_inline)) __kernel void %s(%s)\n{\n", k.name, strings.Join(k.params(), ", "))
	k.lineDirective(&b, LineOther)
	k.declare(&b)
	b.WriteString(k.code.String())
	k.lineDirective(&b, LineResult)
	k.results(&b, lits)
	b.WriteString("}\n")
	if k.long {
		k.cl2 = true
	}
	return &Kernel{Name: k.name, Thread: thread, Spec: s, OutParam: s.ResultParam(), Text: b.String(), Values: values,
		CL2: k.cl2, Library: k.lib}, nil
}

// lineDirective attributes the following code to a line of the pseudo source.
func (k *clBody) lineDirective(b *strings.Builder, line int) {
	if k.e.o.Lines {
		fmt.Fprintf(b, "#line %d \"%s\"\n", line, SourceName)
	}
}

// opaqueValues returns the constants that the parameters of opaque values stand for. Pointers
// have four bytes on r600.
func (k *clBody) opaqueValues() []spec.Value {
	var out []spec.Value
	off := k.spec.ResultParam() + 8
	if k.r600 {
		off /= 2
	}
	for i, t := range k.values {
		size := int64(t.Bits() / 8)
		off = (off + size - 1) &^ (size - 1)
		v := k.stands[i]
		v.Offset, v.Bytes = off, int(size)
		out = append(out, v)
		off += size
	}
	return out
}

// pointers finds the registers that hold addresses, and the memory to which these belong.
func (k *clBody) pointers() {
	k.ptr = map[string]litmus.Space{}
	for _, d := range k.th.Regs {
		if d.Init.Kind == litmus.OperandLoc {
			k.ptr[d.Name] = k.spaceOf(k.loc(d.Init.Name))
		}
	}
	for i, ents := range k.entries() {
		if r := k.th.Body[i].Addr.Reg; r != "" {
			k.ptr[r] = k.spaceOf(ents[0].Loc)
		}
	}
	for n := -1; n != len(k.ptr); {
		n = len(k.ptr)
		for i := range k.th.Body {
			in := &k.th.Body[i]
			if in.Op != litmus.OpAdd && in.Op != litmus.OpSub && in.Op != litmus.OpMov && in.Op != litmus.OpSelp {
				continue
			}
			for _, s := range in.Src {
				if s.Kind == litmus.OperandLoc {
					k.ptr[in.Dst] = k.spaceOf(k.loc(s.Name))
				}
				if sp, ok := k.ptr[s.Name]; ok && s.Kind == litmus.OperandReg {
					k.ptr[in.Dst] = sp
				}
			}
		}
	}
}

func (k *clBody) spaceOf(loc int) litmus.Space {
	if k.e.t.Locations[loc].Space == litmus.Shared {
		return litmus.Shared
	}
	return litmus.Global
}

func clSpace(s litmus.Space) string {
	if s == litmus.Shared {
		return "__local"
	}
	return "__global"
}

// clReg returns the C name of a register.
func clReg(name string) string {
	return "q_" + clRegName.Replace(name)
}

var clRegName = strings.NewReplacer("-", "_", ".", "_", "'", "_", "%", "_", "$", "_")

// params lists the kernel's parameters.
func (k *clBody) params() []string {
	var ps []string
	ptr := func(s litmus.Space, typ, name string) {
		ps = append(ps, clSpace(s)+" "+typ+" *"+name)
		if s == litmus.Shared && !k.r600 {
			ps = append(ps, "uint pad_"+name)
		}
	}
	switch k.e.o.Layout {
	case spec.Pointers:
		for i := range k.e.t.Locations {
			ptr(k.spaceOf(i), "int", fmt.Sprintf("p%d", i))
		}
	case spec.Offsets:
		ptr(litmus.Global, "char", "gbase")
		ptr(litmus.Shared, "char", "sbase")
	}
	ps = append(ps, "volatile __global uint *out")
	for i, t := range k.values {
		ps = append(ps, fmt.Sprintf("%s v%d", clType(t, true), i))
	}
	return append(ps, "uint tok")
}

// variable is a variable that contains locations, in a layout that is Named.
type variable struct {
	name  string
	space litmus.Space
	bytes int // size and alignment
}

// variable returns the variable that contains a location.
func (k *body) variable(name string, loc int, space litmus.Space) variable {
	v := variable{name: name + k.spec.Symbol(loc, space), space: space, bytes: spec.SharedStride}
	if k.e.o.Layout == spec.Adjacent {
		v.bytes = spec.AdjacentBytes
	}
	return v
}

// variables lists the variables that the kernel uses, each once.
func (k *clBody) variables() (list []variable) {
	if !k.e.o.Layout.Named() {
		return nil
	}
	for i := range k.e.t.Locations {
		if v := k.variable(k.name, i, k.spaceOf(i)); k.usedLoc[i] && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// globals declares the kernel's own variables of global memory.
func (k *clBody) globals(b *strings.Builder) {
	for _, v := range k.variables() {
		if v.space == litmus.Global {
			k.cl2 = true
			fmt.Fprintf(b, "__global int %s[%d] __attribute__((aligned(%d)));\n", v.name, v.bytes/4, v.bytes)
		}
	}
}

// declare declares local variables, registers and the copies for markers.
func (k *clBody) declare(b *strings.Builder) {
	var local []variable
	for _, v := range k.variables() {
		if v.space == litmus.Shared {
			local = append(local, v)
			fmt.Fprintf(b, "\t__local int %s[%d] __attribute__((aligned(%d)));\n", v.name, v.bytes/4, v.bytes)
		}
	}
	for _, v := range local {
		// The variable is the kernel's own, so a kernel that only reads it would read what
		// nobody has written: its address must escape.
		fmt.Fprintf(b, "\t__asm__ volatile(\"\" : : \"v\"(%s) : \"memory\");\n", v.name)
	}
	needs := k.readFirst()
	for _, d := range k.th.Regs {
		if d.Init.Kind == litmus.OperandConst {
			needs[d.Name] = true
		}
	}
	for _, n := range sortedNames(k.regs) {
		init := ""
		if d := k.th.Decl(n); d != nil && d.Init.Kind == litmus.OperandLoc {
			init = " = " + k.address(k.loc(d.Init.Name))
		} else if v, ok := k.initials[n]; ok && needs[n] {
			init = " = " + v
		}
		typ := clType(k.regs[n], false) + " "
		if s, ok := k.ptr[n]; ok {
			typ = clSpace(s) + " char *"
		}
		fmt.Fprintf(b, "\t%s%s%s;\n", typ, clReg(n), init)
	}
	k.declareRounds(b)
	for _, e := range k.spec.Entries {
		if e.IsFence() {
			continue
		}
		init := ""
		if e.Guarded || k.inRound(&e) {
			init = " = tok"
		}
		if !e.Unread {
			fmt.Fprintf(b, "\tuint m%d%s;\n", e.Pos, init)
		}
		for _, i := range e.Operands() {
			fmt.Fprintf(b, "\tuint o%d_%d%s;\n", e.Pos, i, init)
		}
	}
}

// clType returns the C type of a register or parameter.
func clType(t litmus.Type, unsigned bool) string {
	switch {
	case t == litmus.Pred && !unsigned:
		return "bool"
	case t.Bits() == 64 && (unsigned || t == litmus.U64 || t == litmus.B64):
		return "ulong"
	case t.Bits() == 64:
		return "long"
	case unsigned || t == litmus.U32:
		return "uint"
	}
	return "int"
}

// address returns a location's address, as char pointer.
func (k *clBody) address(loc int) string {
	sp := clSpace(k.spaceOf(loc))
	k.usedLoc[loc] = true
	switch k.e.o.Layout {
	case spec.Symbols, spec.Adjacent:
		a := fmt.Sprintf("(%s char *)%s", sp, k.variable(k.name, loc, k.spaceOf(loc)).name)
		if off := k.spec.Offset(loc); off > 0 {
			a = fmt.Sprintf("(%s + %d)", a, off)
		}
		return a
	case spec.Offsets:
		base := "gbase"
		if k.spaceOf(loc) == litmus.Shared {
			base = "sbase"
		}
		return fmt.Sprintf("(%s + %d)", base, k.spec.Offset(loc))
	}
	return fmt.Sprintf("(%s char *)p%d", sp, loc)
}

// results emits the markers, or in a plain kernel just the results.
func (k *clBody) results(b *strings.Builder, lits []uint32) {
	slot := func(i int) int { return i * ResultStride / 4 }
	if k.e.o.Plain {
		for _, en := range k.spec.Entries {
			if !en.Reads() || en.Unread {
				continue
			}
			fmt.Fprintf(b, "\tout[%d] = m%d;\n", slot(en.Pos), en.Pos)
			if en.Kind.Op == litmus.OpLd && en.Kind.Width == 8 {
				fmt.Fprintf(b, "\tout[%d] = o%d_%d;\n", slot(spec.MaxPositions+en.Pos), en.Pos, spec.HighWord)
			}
		}
		return
	}
	for i, l := range lits {
		fmt.Fprintf(b, "\tout[%d] = %s ^ 0x%08xu;\n", slot(i), markerSource(k.spec, i, "m%d", "o%d_%d", "tok"), l)
	}
}

// markerSource names the value with which literal number i is xored.
func markerSource(s *spec.Spec, i int, value, operand, token string) string {
	switch pos, index, ok := s.Held(i); {
	case !ok:
		return token
	case index < 0:
		return fmt.Sprintf(value, pos)
	default:
		return fmt.Sprintf(operand, pos, index)
	}
}

func sortedNames(m map[string]litmus.Type) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
