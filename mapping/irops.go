package mapping

import (
	"context"
	"fmt"
	"strings"

	"optcheck/pipeline"
	"optcheck/toolchain"
)

func compileIR(ctx context.Context, p pipeline.Place, units []toolchain.Unit) (*toolchain.Result, error) {
	return p.Toolchain.CompileIR(ctx, toolchain.Job{Target: p.Target, Level: p.Level, Units: units, BatchUnits: len(units)})
}

// irScopes are NVPTX's synchronisation scopes (LLVM, NVPTXUsage, Memory Scopes).
var irScopes = []struct{ name, scope string }{{"block", "cta"}, {"device", "gpu"}, {"", "sys"}}

var irSpaces = []struct {
	name   string
	number int
}{{"generic", 0}, {"global", 1}, {"shared", 3}}

var irOrderNames = []string{"monotonic", "acquire", "release", "acq_rel", "seq_cst"}

// irOps collects operations.
type irOps struct{ list []Op }

// add adds a kernel. PTR and OUT in its body stand for pointers to the type.
func (m *irOps) add(group, name, typ string, space int, body string, result bool, steps ...step) {
	pointer := func(space int, typed bool) string {
		s := ""
		if space != 0 {
			s = fmt.Sprintf("addrspace(%d)", space)
		}
		if typed {
			return strings.TrimSpace(typ+" "+s) + "*"
		}
		return strings.TrimSpace("ptr " + s)
	}
	kernel := func(typed bool) string {
		p, o := pointer(space, typed), pointer(1, typed)
		b := strings.ReplaceAll(body, "PTR", p+" %p")
		if result {
			b += fmt.Sprintf("\n  store %s %%r, %s %%o", typ, o)
		}
		return fmt.Sprintf("define ptx_kernel void @NAME(%s %%p, %s %%o, %s %%v, %s %%w) {\n  %s\n  ret void\n}\n", p, o, typ, typ, b)
	}
	m.list = append(m.list, Op{Name: name, Group: group,
		front: &frontOp{text: kernel(false), typed: kernel(true), steps: steps, result: result, shared: space == 3}})
}

// IROps lists the operations of LLVM IR that a mapping shows: every atomic instruction
// by order, scope, address space, volatility and size, fences, and plain and volatile
// accesses.
func IROps() []Op {
	m := &irOps{}
	for _, space := range irSpaces {
		for _, vol := range []bool{false, true} {
			m.plain("i32", 32, space.name, space.number, vol)
			m.ordered("i32", 32, space.name, space.number, vol, irScopes)
		}
	}
	m.ordered("i64", 64, "global", 1, false, irScopes)
	for _, t := range []string{"i8", "i16"} {
		m.plain(t, map[string]int{"i8": 8, "i16": 16}[t], "global", 1, false)
		m.ordered(t, map[string]int{"i8": 8, "i16": 16}[t], "global", 1, false, irScopes[1:2])
	}
	for _, s := range irScopes {
		for _, o := range irOrderNames[1:] {
			m.add("fences", "fence"+irSuffix(s.name, o), "i32", 1, "fence"+irScope(s.name)+" "+o, false, step{kind: sFence, order: o,
				scope: s.scope})
		}
	}
	m.add("fences", "fence.seq_cst.singlethread", "i32", 1, `fence syncscope("singlethread") seq_cst`, false)
	return m.list
}

func irScope(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" syncscope(%q)", name)
}

func irSuffix(scope, order string) string {
	if scope == "" {
		scope = "system"
	}
	return "." + order + "." + scope
}

func irVolatile(vol bool) string { return map[bool]string{true: "volatile "}[vol] }

func (m *irOps) plain(typ string, bits int, space string, number int, vol bool) {
	name := map[bool]string{true: "volatile."}[vol] + space + "." + typ
	m.add("loads", "load."+name, typ, number, fmt.Sprintf("%%r = load %s%s, PTR, align %d", irVolatile(vol), typ, bits/8), true)
	m.add("stores", "store."+name, typ, number, fmt.Sprintf("store %s%s %%v, PTR, align %d", irVolatile(vol), typ, bits/8), false)
}

// ordered adds atomic instructions.
func (m *irOps) ordered(typ string, bits int, space string, number int, vol bool, scopes []struct{ name, scope string }) {
	v := irVolatile(vol)
	for _, s := range scopes {
		for _, o := range irOrderNames {
			order := strings.Replace(o, "monotonic", "relaxed", 1)
			suffix := irSuffix(s.name, o) + map[bool]string{true: ".volatile"}[vol] + "." + space + "." + typ
			of := func(kind, rmw string) step { return step{kind: kind, order: order, scope: s.scope, rmw: rmw} }
			at := irScope(s.name) + " " + o
			if o != "release" && o != "acq_rel" {
				m.add("loads", "load"+suffix, typ, number, fmt.Sprintf("%%r = load atomic %s%s, PTR%s, align %d", v, typ, at, bits/8), true,
					of(sLoad, ""))
			}
			if o != "acquire" && o != "acq_rel" {
				m.add("stores", "store"+suffix, typ, number, fmt.Sprintf("store atomic %s%s %%v, PTR%s, align %d", v, typ, at, bits/8), false,
					of(sStore, ""))
			}
			for _, a := range []struct{ name, rmw string }{{"add", "add"}, {"xchg", "exch"}, {"umax", "add"}} {
				m.add("atomics", "atomicrmw "+a.name+suffix, typ, number, fmt.Sprintf("%%r = atomicrmw %s%s PTR, %s %%v%s", v, a.name, typ, at),
					true, of(sRMW, a.rmw))
			}
			fail := map[string]string{"release": "monotonic", "acq_rel": "acquire"}[o]
			if fail == "" {
				fail = o
			}
			m.add("atomics", "cmpxchg"+suffix, typ, number,
				fmt.Sprintf("%%x = cmpxchg %sPTR, %s %%v, %s %%w%s %s\n  %%r = extractvalue { %s, i1 } %%x, 0", v, typ, typ, at, fail, typ), true,
				of(sRMW, "cas"))
			if !vol && number == 1 && bits == 32 {
				m.all(s.scope, suffix, at, order)
				m.failures(s.name, s.scope, o, order, fail)
				m.add("reductions", "atomicrmw add"+suffix+" (no result)", typ, number, fmt.Sprintf("%%r = atomicrmw add PTR, %s %%v%s", typ, at),
					false, of(sRMW, "add"))
			}
		}
	}
}

// irUpdates are the operations of atomicrmw that ordered does not have, by type. Releases that do
// not know one refuse it.
var irUpdates = map[string][]string{
	"i32":   {"sub", "and", "nand", "or", "xor", "max", "min", "umin", "uinc_wrap", "udec_wrap"},
	"float": {"xchg", "fadd", "fsub", "fmax", "fmin"},
}

// all adds the other operations of atomicrmw on global memory.
func (m *irOps) all(scope, suffix, at, order string) {
	for _, typ := range []string{"i32", "float"} {
		for _, op := range irUpdates[typ] {
			rmw := map[bool]string{true: "exch", false: "add"}[op == "xchg"]
			m.add("atomics", "atomicrmw "+op+strings.TrimSuffix(suffix, "i32")+typ, typ, 1, fmt.Sprintf("%%r = atomicrmw %s PTR, %s %%v%s", op, typ, at),
				true, step{kind: sRMW, order: order, scope: scope, rmw: rmw})
		}
	}
}

// failures adds compare-and-exchanges of global memory with the other orders for their failure:
// what the models judge is success.
func (m *irOps) failures(scopeName, scope, o, order, usual string) {
	for _, fail := range []string{"monotonic", "acquire", "seq_cst"} {
		if fail == usual {
			continue
		}
		m.add("atomics", "cmpxchg"+irSuffix(scopeName, o)+"."+fail+".global.i32", "i32", 1,
			fmt.Sprintf("%%x = cmpxchg PTR, i32 %%v, i32 %%w%s %s %s\n  %%r = extractvalue { i32, i1 } %%x, 0", irScope(scopeName), o, fail), true,
			step{kind: sRMW, order: order, scope: scope, rmw: "cas"})
	}
}
