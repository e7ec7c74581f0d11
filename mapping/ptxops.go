package mapping

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/ptxgen"
)

// Op is one operation of PTX or OpenCL C whose machine code a mapping shows.
type Op struct {
	// Name is the operation as PTX spells it, with its surroundings in brackets where they
	// matter: "membar.gl (between loads)". In OpenCL C it is the function's name with order,
	// scope and memory: "load.acquire.device.global".
	Name string
	// Group is loads, stores, fences, atomics, reductions or barriers.
	Group string
	// Version is the PTX version that introduced the spelling (PTX ISA,
	// release notes); older compilers cannot read it.
	Version ptxgen.Version

	lines []string // of the kernel's body
	// lead and trail are the numbers of accesses before and after the operation that are there
	// only to show it; they are not part of its sequence.
	lead, trail int

	cl    *clOp    // of an operation in OpenCL C
	front *frontOp // of one in CUDA C++ or LLVM IR
}

// Groups are the groups of operations in the order of the tables.
var Groups = []string{"loads", "stores", "fences", "atomics", "reductions", "barriers", "copies", "mbarriers", "warps"}

// mapOps collects operations.
type mapOps struct{ list []Op }

// add appends an operation; result says whether its body stores results.
func (m *mapOps) add(group, name string, result bool, lines ...string) *Op {
	op := Op{Name: name, Group: group, Version: spelledSince(name), lines: lines}
	if result {
		op.lines = append(op.lines, "st.global.u32 [%out], %r0;")
		op.trail = 1
	}
	m.list = append(m.list, op)
	return &m.list[len(m.list)-1]
}

// spelledSince returns the PTX version that introduced the newest qualifier of an
// operation (PTX ISA, "PTX ISA Notes" of ld, st, atom, red, membar, barrier).
func spelledSince(name string) ptxgen.Version {
	v := ptxgen.Version(50)
	for _, s := range []struct {
		part string
		v    ptxgen.Version
	}{
		{"weak", 60}, {"relaxed", 60}, {"acquire", 60}, {"release", 60}, {"acq_rel", 60}, {"fence", 60}, {"barrier", 60}, {"bar.warp", 60},
		{"fence.acquire", 86}, {"fence.release", 86}, {"noftz", 62}, {"bf16", 78}, {"cluster", 78}, {"barrier.cluster", 78},
		{".arrive.re", 80}, {".wait.acquire", 80},
		{"proxy.alias", 75}, {"proxy.async", 80}, {"mbarrier_init", 80}, {"tensormap", 83}, {"mmio", 82}, {"b128", 83}, {"shared::", 78},
	} {
		if strings.Contains(name, s.part) {
			v = max(v, s.v)
		}
	}
	return v
}

// mapAddress returns the register that holds an address in a state space.
func mapAddress(space string) string {
	if strings.HasPrefix(space, ".shared") {
		return "[%s]"
	}
	return "[%a]"
}

// PTXOps lists the operations that a mapping shows: loads and stores with
// every cache operator, semantics and scope, fences, atomics, reductions and
// barriers, of global, shared and generic addresses and of all widths.
func PTXOps() []Op {
	m := &mapOps{}
	m.loads()
	m.stores()
	m.fences()
	m.atomics()
	m.reductions()
	m.barriers()
	m.asynchronous()
	m.warps()
	return m.list
}

var mapScopes = []string{".cta", ".cluster", ".gpu", ".sys"}

// strong lists the qualifiers of accesses with semantics.
func strong(sems ...string) []string {
	var out []string
	for _, s := range sems {
		for _, scope := range mapScopes {
			out = append(out, s+scope)
		}
	}
	return out
}

func (m *mapOps) loads() {
	ld := func(name, space string) { m.add("loads", name, true, name+" %r0, "+mapAddress(space)+";") }
	for _, q := range slices.Concat([]string{"", ".weak", ".volatile"}, strong(".relaxed", ".acquire"), []string{".mmio.relaxed.sys"}) {
		ld("ld"+q+".global.u32", ".global")
	}
	for _, c := range []string{"ca", "cg", "cs", "lu", "cv", "nc"} {
		ld("ld.global."+c+".u32", ".global")
	}
	for _, q := range []string{"", ".volatile", ".relaxed.cta", ".relaxed.gpu", ".acquire.cta", ".acquire.gpu", ".acquire.sys"} {
		ld("ld"+q+".u32", "")
		ld("ld"+q+".shared.u32", ".shared")
	}
	ld("ld.shared::cluster.u32", ".shared")
	for _, q := range []string{"", ".relaxed.gpu"} {
		for _, space := range []string{".global", ".shared"} {
			a := mapAddress(space)
			name := "ld" + q + space
			m.add("loads", name+".u8", true, name+".u8 %r0, "+a+";")
			m.add("loads", name+".u16", true, name+".u16 %r0, "+a+";")
			m.add("loads", name+".u64", true, name+".u64 %w0, "+a+";", "mov.b64 {%r1, %r2}, %w0;", "xor.b32 %r0, %r1, %r2;")
			m.add("loads", name+".v2.u32", true, name+".v2.u32 {%r1, %r2}, "+a+";", "xor.b32 %r0, %r1, %r2;")
			m.add("loads", name+".v4.u32", true, name+".v4.u32 {%r1, %r2, %r3, %r4}, "+a+";", "xor.b32 %r0, %r1, %r2;",
				"xor.b32 %r0, %r0, %r3;", "xor.b32 %r0, %r0, %r4;")
			m.add("loads", name+".v2.u64", true, name+".v2.u64 {%w0, %w1}, "+a+";", "xor.b64 %w0, %w0, %w1;",
				"mov.b64 {%r1, %r2}, %w0;", "xor.b32 %r0, %r1, %r2;")
		}
	}
}

func (m *mapOps) stores() {
	st := func(name, space string) { m.add("stores", name, false, name+" "+mapAddress(space)+", %v;") }
	for _, q := range slices.Concat([]string{"", ".weak", ".volatile"}, strong(".relaxed", ".release"), []string{".mmio.relaxed.sys"}) {
		st("st"+q+".global.u32", ".global")
	}
	for _, c := range []string{"wb", "cg", "cs", "wt"} {
		st("st.global."+c+".u32", ".global")
	}
	for _, q := range []string{"", ".volatile", ".relaxed.cta", ".relaxed.gpu", ".release.cta", ".release.gpu", ".release.sys"} {
		st("st"+q+".u32", "")
		st("st"+q+".shared.u32", ".shared")
	}
	st("st.shared::cluster.u32", ".shared")
	for _, q := range []string{"", ".relaxed.gpu"} {
		for _, space := range []string{".global", ".shared"} {
			a := mapAddress(space)
			name := "st" + q + space
			m.add("stores", name+".u8", false, name+".u8 "+a+", %v;")
			m.add("stores", name+".u16", false, name+".u16 "+a+", %v;")
			m.add("stores", name+".u64", false, name+".u64 "+a+", %v64;")
			m.add("stores", name+".v2.u32", false, name+".v2.u32 "+a+", {%v, %v1};")
			m.add("stores", name+".v4.u32", false, name+".v4.u32 "+a+", {%v, %v1, %v, %v1};")
			m.add("stores", name+".v2.u64", false, name+".v2.u64 "+a+", {%v64, %v64};")
		}
	}
}

// fences puts each fence between two stores, so that no part of it is superfluous; fences that
// have depended on their surroundings also stand between loads.
func (m *mapOps) fences() {
	around := func(name, text, a, b string) {
		op := m.add("fences", name, false, "st.volatile"+a+", %v;", text+";", "st.volatile"+b+", %v;")
		op.lead, op.trail = 1, 1
	}
	between := func(name, text string) { around(name, text, ".global.u32 [%a]", ".global.u32 [%out]") }
	loads := func(name string) {
		op := m.add("fences", name+" (between loads)", true, "ld.volatile.global.u32 %r1, [%a];", name+";",
			"ld.volatile.global.u32 %r2, [%out];", "xor.b32 %r0, %r1, %r2;")
		op.lead, op.trail = 1, 2
	}
	var names []string
	for _, s := range []string{"cta", "gl", "sys"} {
		names = append(names, "membar."+s)
	}
	for _, q := range strong("sc", "acq_rel", "acquire", "release") {
		names = append(names, "fence."+q)
	}
	for _, n := range names {
		between(n, n)
		if !strings.HasPrefix(n, "fence.ac") && !strings.HasPrefix(n, "fence.re") {
			loads(n)
		}
	}
	loads("fence.acq_rel.gpu")
	for _, p := range []string{"async.shared::cta", "async.shared::cluster"} { // may move over accesses of global memory
		around("fence.proxy."+p, "fence.proxy."+p, ".shared.u32 [%s]", ".shared.u32 [%s+4]")
	}
	for _, p := range []string{"alias", "async", "async.global", "tensormap::generic.release.gpu", "tensormap::generic.release.sys"} {
		between("fence.proxy."+p, "fence.proxy."+p)
	}
	between("fence.proxy.tensormap::generic.acquire.gpu", "fence.proxy.tensormap::generic.acquire.gpu [%a], 128")
	between("fence.mbarrier_init.release.cluster", "fence.mbarrier_init.release.cluster")
}

// atomic adds one atom or red.
func (m *mapOps) atomic(kind, q, space, op, typ string) {
	name := kind + q + space + "." + op + "." + typ
	group, dst, src := "atomics", "%r0, ", "%v"
	if kind == "red" {
		group, dst = "reductions", ""
	}
	var after []string
	switch {
	case strings.HasSuffix(typ, "64"):
		src = "%v64"
		if kind == "atom" {
			dst, after = "%w0, ", []string{"mov.b64 {%r1, %r2}, %w0;", "xor.b32 %r0, %r1, %r2;"}
		}
	case typ == "b128":
		src = "%q"
		dst, after = "%q, ", []string{"mov.b128 {%w0, %w1}, %q;", "xor.b64 %w0, %w0, %w1;", "mov.b64 {%r1, %r2}, %w0;", "xor.b32 %r0, %r1, %r2;"}
	case strings.HasSuffix(typ, "16"):
		src = "%h"
		if kind == "atom" {
			dst, after = "%h, ", []string{"cvt.u32.u16 %r0, %h;"}
		}
	}
	srcs := src
	if op == "cas" {
		other := map[string]string{"%v": "%v1", "%v64": "%v64", "%h": "%h", "%q": "%q"}[src]
		srcs = src + ", " + other
	}
	var lines []string
	if typ == "b128" {
		lines = append(lines, ".reg .b128 %q;", "mov.b128 %q, {%v64, %v64};")
	}
	lines = append(lines, name+" "+dst+mapAddress(space)+", "+srcs+";")
	m.add(group, name, kind == "atom", append(lines, after...)...)
}

// mapAtomTypes lists the operations of atom and red with their types; exch and cas belong to
// atom only (PTX ISA, atom and red). For shared memory all types are shown for the operations
// that have shared set, else only the first.
var mapAtomTypes = []struct {
	op     string
	shared bool
	types  []string
}{
	{"cas", true, []string{"b32", "b64", "b16", "b128"}}, {"exch", true, []string{"b32", "b64", "b128"}},
	{"add", true, []string{"u32", "u64", "f32", "f64", "noftz.f16", "noftz.bf16"}}, {"inc", false, []string{"u32"}},
	{"dec", false, []string{"u32"}},
	{"min", false, []string{"u32", "s32", "u64", "s64"}}, {"max", false, []string{"u32", "s32", "u64", "s64"}},
	{"and", false, []string{"b32", "b64"}}, {"or", false, []string{"b32", "b64"}}, {"xor", false, []string{"b32", "b64"}},
}

func (m *mapOps) atomics() {
	for _, o := range []struct{ op, typ string }{{"cas", "b32"}, {"exch", "b32"}, {"add", "u32"}} {
		for _, s := range mapScopes {
			m.atomic("atom", s, ".global", o.op, o.typ)
		}
		for _, q := range strong(".relaxed", ".acquire", ".release", ".acq_rel") {
			m.atomic("atom", q, ".global", o.op, o.typ)
		}
	}
	for _, q := range []string{".relaxed.cta", ".acquire.cta", ".release.cta", ".acq_rel.cta", ".acq_rel.gpu"} {
		m.atomic("atom", q, ".shared", "cas", "b32")
		m.atomic("atom", q, "", "cas", "b32")
	}
	for _, o := range mapAtomTypes {
		for _, t := range o.types {
			m.atomic("atom", "", ".global", o.op, t)
			if o.shared || t == o.types[0] {
				m.atomic("atom", "", ".shared", o.op, t)
			}
			if o.op == "cas" || o.op == "exch" || o.op == "add" {
				m.atomic("atom", "", "", o.op, t)
			}
		}
	}
}

func (m *mapOps) reductions() {
	for _, s := range mapScopes {
		m.atomic("red", s, ".global", "add", "u32")
	}
	for _, q := range strong(".relaxed", ".release") {
		m.atomic("red", q, ".global", "add", "u32")
	}
	for _, o := range mapAtomTypes[2:] {
		for _, t := range o.types {
			m.atomic("red", "", ".global", o.op, t)
			if t == o.types[0] {
				m.atomic("red", "", ".shared", o.op, t)
			}
			if o.op == "add" {
				m.atomic("red", "", "", o.op, t)
			}
		}
	}
}

func (m *mapOps) barriers() {
	for _, b := range []string{"bar.sync 0", "bar.sync 0, 64", "bar.arrive 0, 64", "barrier.sync 0",
		"barrier.sync 0, 64", "bar.warp.sync 0xffffffff",
		"barrier.cluster.arrive", "barrier.cluster.arrive.release", "barrier.cluster.arrive.relaxed",
		"barrier.cluster.wait", "barrier.cluster.wait.acquire"} {
		m.add("barriers", b, false, b+";")
	}
	m.add("barriers", "bar.red.popc.u32", true, "setp.ne.u32 %p, %v, 0;", "bar.red.popc.u32 %r0, 0, %p;")
	m.add("barriers", "barrier.cluster.arrive; wait", false, "barrier.cluster.arrive;", "barrier.cluster.wait;")
}

// mapParam is a parameter that a probe may use.
type mapParam struct {
	name, typ string
	used      *regexp.Regexp
}

// mapParams are two addresses of global memory, one of shared memory, and values.
var mapParams = func() (list []mapParam) {
	for _, p := range [][2]string{{"a", "u64"}, {"out", "u64"}, {"s", "u64"}, {"v64", "u64"}, {"v", "u32"}, {"v1", "u32"}, {"h", "u16"}} {
		list = append(list, mapParam{p[0], p[1], regexp.MustCompile(`%` + p[0] + `\b`)})
	}
	return list
}()

// kernel returns the PTX of the operation's probe. It loads only the parameters that it uses:
// at O0 nothing removes the others.
func (op *Op) kernel(name string) string {
	text := strings.Join(op.lines, "\n\t")
	var params, b strings.Builder
	for _, p := range mapParams {
		if !p.used.MatchString(text) {
			continue
		}
		if params.Len() > 0 {
			params.WriteString(", ")
		}
		fmt.Fprintf(&params, ".param .%s %s", p.typ, p.name)
		fmt.Fprintf(&b, "\t.reg .b%s %%%s;\n\tld.param.%s %%%s, [%s];\n", p.typ[1:], p.name, p.typ, p.name, p.name)
	}
	return fmt.Sprintf(".visible .entry %s(%s)\n{\n%s\t.reg .b64 %%w<2>;\n\t.reg .b32 %%r<5>;\n\t.reg .pred %%p;\n\t%s\n\tret;\n}\n",
		name, params.String(), b.String(), text)
}
