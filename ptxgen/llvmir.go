package ptxgen

import (
	"errors"
	"fmt"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
	"optcheck/target"
)

// HeaderAMD is what LLVM IR for AMD targets must begin with: the declaration of
// the barrier that kernels may call.
const HeaderAMD = "declare void @llvm.amdgcn.s.barrier()\n"

// EmitLLVMIR returns the unit of a test as LLVM IR for the AMDGPU back end: one kernel per
// thread, with atomics and fences exactly as the test means them, so that llc compiles it
// without any front end or library in between. A test of another dialect is translated to
// OpenCL first. A fence of OpenCL 1.2 becomes what OpenCL 2.0 defines it to be: a fence of
// work-group scope. Options.TypedIR requests typed pointers, which LLVM up to 14 needs.
//
// For a target sm_NN the unit is for the NVPTX back end: a test in PTX is not translated,
// parameters are those of Emit, and scopes are LLVM's for NVPTX.
//
// For such targets, Options.Lines requests line information like Emit's, in metadata: see
// LinesHeader and KernelScope.
//
// Parameters, results and markers are those of EmitOpenCL. Registers are SSA values, with phis
// where paths meet. The error is a *spec.Unsupported if the encoding or LLVM IR lacks something
// that the test uses.
func EmitLLVMIR(t *litmus.Test, o Options) (*Unit, error) {
	if err := bare(t); err != nil {
		return nil, err
	}
	t = t.Canonical()
	if sm, err := SM(o.Target); err == nil {
		if err := nvCheck(t, sm); err != nil {
			return nil, err
		}
		return irUnit(t, o)
	}
	t, err := litmus.ToOpenCL(t)
	if err != nil {
		var no *litmus.NoMeaning
		if errors.As(err, &no) {
			return nil, unsupported("%s", no.Reason)
		}
		return nil, err
	}
	if target.IsTeraScale(o.Target) {
		return nil, unsupported("LLVM IR is emitted for amdgcn only")
	}
	return irUnit(t, o)
}

func irUnit(t *litmus.Test, o Options) (*Unit, error) {
	u := &Unit{Name: o.Unit}
	if u.Name == "" {
		u.Name = UnitName(t, o.Layout)
	}
	e, err := newEmitter(t, u, o)
	if err != nil {
		return nil, err
	}
	for i := range t.Threads {
		k, err := irKernel(e, i)
		if err != nil {
			return nil, err
		}
		u.Kernels = append(u.Kernels, *k)
		u.Text += k.Text
	}
	return u, nil
}

// irValue is an SSA value with its type: i1, i32, i64 or p1, p3 for pointers.
type irValue struct{ typ, name string }

// irBody builds the LLVM IR of one thread.
type irBody struct {
	clBody
	typed bool
	nv    bool // for NVPTX
	out   strings.Builder
	env   map[string]irValue // registers, and copies for markers (m0, o0_1)
	block string             // the current basic block; "" after a jump
	n     int                // numbers for values and blocks
	// jumps are the edges to labels, carried the values at heads of loops.
	jumps   map[string][]irEdge
	carried []irCarried
}

func irKernel(e *emitter, thread int) (*Kernel, error) {
	o := e.o
	k := &irBody{typed: o.TypedIR, env: map[string]irValue{}, jumps: map[string][]irEdge{}, block: "entry"}
	_, notNV := SM(o.Target)
	k.nv = notNV == nil
	body, err := e.body(thread)
	if err != nil {
		return nil, err
	}
	s := body.spec
	k.clBody = clBody{body: *body, name: fmt.Sprintf("%s_T%d", e.u.Name, thread)}
	k.collect()
	k.pointers()
	if k.nv && o.Lines {
		k.line = LineOther
	}
	if err := k.start(); err != nil {
		return nil, err
	}
	if err := k.instructions(); err != nil {
		return nil, err
	}
	conv, list, debug := "amdgpu_kernel", k.opaqueValues, ""
	if k.nv {
		conv, list = "ptx_kernel", k.body.opaqueValues
	}
	values := k.copied(list())
	s.SetCode(&e.flat.Threads[thread], values)
	s.AddDigest()
	lits, err := s.Literals()
	if err != nil {
		return nil, unsupported("%v", err)
	}
	k.finish(lits)
	var b strings.Builder
	for _, v := range k.variables() {
		kind := "addrspace(1) global [%d x i32] zeroinitializer"
		if v.space == litmus.Shared {
			kind = "internal addrspace(3) global [%d x i32] undef"
		}
		fmt.Fprintf(&b, "@%s = "+kind+", align %d\n", v.name, v.bytes/4, v.bytes)
	}
	if k.line > 0 {
		debug = " !dbg " + KernelScope
	}
	fmt.Fprintf(&b, "define %s void @%s(%s)%s {\nentry:\n%s}\n", conv, k.name, strings.Join(k.irParams(), ", "), debug, k.code())
	if k.line > 0 {
		fmt.Fprintf(&b, "%s = distinct !DISubprogram(name: %q, scope: !1, file: !1, line: %d, type: !3, unit: !0, spFlags: DISPFlagDefinition)\n", KernelScope, k.name, LineOther)
	}
	return &Kernel{Name: k.name, Thread: thread, Spec: s, OutParam: s.ResultParam(), Text: b.String(), Values: values}, nil
}

func (k *irBody) ir(format string, args ...any) {
	fmt.Fprintf(&k.out, "  "+format, args...)
	k.end()
}

// end ends an instruction.
func (k *irBody) end() {
	if k.line > 0 {
		fmt.Fprintf(&k.out, ", !dbg !DILocation(line: %d, scope: %s)", k.line, KernelScope)
	}
	k.out.WriteByte('\n')
}

// KernelScope is a placeholder, in a kernel with line information, for the number of its
// metadata, which must be different for each kernel of a module. Whoever builds the module
// replaces it by KernelNumber.
const KernelScope = "!KERNEL"

// KernelNumber returns the metadata of the nth kernel of a module with LinesHeader.
func KernelNumber(n int) string { return fmt.Sprintf("!%d", n+4) }

// LinesHeader declares what kernels with line information refer to: the pseudo source, and that
// only line directives are wanted.
const LinesHeader = `!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "` + SourceName + `", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !{})
`

// irParams lists the kernel's parameters, like EmitOpenCL's.
func (k *irBody) irParams() []string {
	var ps []string
	ptr := func(s litmus.Space, name string) {
		ps = append(ps, k.pointer(s, "i8")+" %"+name)
		if s == litmus.Shared && !k.nv {
			ps = append(ps, "i32 %pad_"+name)
		}
	}
	switch k.e.o.Layout {
	case spec.Pointers:
		for i := range k.e.t.Locations {
			ptr(k.spaceOf(i), fmt.Sprintf("p%d", i))
		}
	case spec.Offsets:
		ptr(litmus.Global, "gbase")
		ptr(litmus.Shared, "sbase")
	}
	ps = append(ps, k.pointer(litmus.Global, "i32")+" %out")
	for i, t := range k.values {
		ps = append(ps, irType(t)+fmt.Sprintf(" %%v%d", i))
	}
	return append(ps, "i32 %tok")
}

// start initialises registers, and sets copies to the token.
func (k *irBody) start() error {
	k.at = -1
	needs := k.readFirst()
	first := map[string]int64{}
	for _, d := range k.th.Regs {
		switch d.Init.Kind {
		case litmus.OperandLoc:
			k.env[d.Name] = k.location(k.loc(d.Init.Name))
			delete(needs, d.Name)
		case litmus.OperandConst:
			needs[d.Name], first[d.Name] = true, d.Init.Value
		}
	}
	for _, n := range sortedNames(k.regs) {
		if !needs[n] {
			continue
		}
		if _, isPtr := k.ptr[n]; isPtr {
			return unsupported("register %s may be read before it holds an address", n)
		}
		k.setting = n
		v := k.irOpaque(k.regs[n], first[n])
		if k.regs[n] == litmus.Pred {
			p := k.fresh("b")
			k.ir("%s = icmp ne i32 %s, 0", p, v.name)
			v = irValue{"i1", p}
		}
		k.env[n] = v
	}
	for _, e := range k.spec.Entries {
		if e.Guarded && !e.IsFence() && !e.Unread {
			k.env[fmt.Sprintf(" m%d", e.Pos)] = irValue{"i32", "%tok"}
		}
		if e.Guarded && !e.IsFence() {
			for _, i := range e.Operands() {
				k.env[fmt.Sprintf(" o%d_%d", e.Pos, i)] = irValue{"i32", "%tok"}
			}
		}
	}
	k.startRounds()
	return nil
}

// instructions emits the thread.
func (k *irBody) instructions() error {
	entries := k.entries()
	for i := range k.th.Body {
		k.at, k.setting = i, ""
		in, ents := &k.th.Body[i], entries[i]
		for _, l := range in.Labels {
			k.join(l)
		}
		if k.block == "" {
			return unsupported("unreachable code")
		}
		if k.line > 0 {
			k.line = LineOther
			if len(ents) > 0 {
				k.line = ents[0].Line()
			}
		}
		k.countRound()
		if in.Op == litmus.OpBra {
			if err := k.branch(in); err != nil {
				return err
			}
			continue
		}
		if err := k.guarded(in, ents); err != nil {
			return err
		}
	}
	return nil
}

// finish emits the markers.
func (k *irBody) finish(lits []uint32) {
	if k.block == "" {
		return
	}
	if k.line > 0 {
		k.line = LineResult
	}
	store := func(slot int, v string) {
		a := k.fresh("r")
		k.ir("%s = getelementptr i32, %s %%out, i64 %d", a, k.pointer(litmus.Global, "i32"), slot)
		k.ir("store volatile i32 %s, %s %s, align 4", v, k.pointer(litmus.Global, "i32"), a)
	}
	if k.e.o.Plain {
		for _, en := range k.spec.Entries {
			if en.Reads() && !en.Unread {
				store(en.Pos*ResultStride/4, k.env[fmt.Sprintf(" m%d", en.Pos)].name)
			}
		}
		k.ir("ret void")
		return
	}
	var names []string
	for i, l := range lits {
		src := "%tok"
		if key := markerSource(k.spec, i, " m%d", " o%d_%d", ""); key != "" {
			src = k.env[key].name
		}
		x := k.fresh("x")
		k.ir("%s = xor i32 %s, %d", x, src, int32(l))
		names = append(names, x)
	}
	for i, x := range names {
		store(i*ResultStride/4, x)
	}
	k.ir("ret void")
}
