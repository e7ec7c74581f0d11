package mapping

import (
	"fmt"
	"strings"

	"optcheck/ptxgen"
)

// The lines to which the compiler attributes a probe's code (#line): the surroundings of the
// operation, and the operation. No file of probes is that long.
const (
	clAround = 1<<20 + iota
	clOperation
)

// clOp is what an operation in OpenCL C needs.
type clOp struct {
	text    string // statements; a result goes to x
	library bool   // it calls a function of libclc
	alone   bool   // nothing surrounds it
}

// clOps collects operations.
type clOps struct{ list []Op }

func (m *clOps) add(group, name, text string) *clOp {
	m.list = append(m.list, Op{Name: name, Group: group, cl: &clOp{text: text}})
	return m.list[len(m.list)-1].cl
}

// CLOps lists the operations of OpenCL C that a mapping for AMD shows: plain
// and volatile accesses, atomics of every order and scope, those of OpenCL 1.2,
// fences and barriers, of global and local memory.
func CLOps() []Op {
	m := &clOps{}
	m.accesses("loads")
	m.accesses("stores")
	m.fences()
	m.atomics()
	m.reductions()
	m.barriers()
	return m.list
}

var (
	clSpaces = []string{"global", "local"}
	clScopes = []string{"work_group", "device", "all_svm_devices"}
)

// clPointer names the parameter that points to a memory.
func clPointer(space string) string { return map[string]string{"global": "p", "local": "l"}[space] }

func (m *clOps) accesses(group string) {
	form, call, orders := "x = *(%s__%s int *)%s;", "x = __opencl_atomic_load((__%s atomic_int *)%s, memory_order_%s, memory_scope_%s);",
		[]string{"relaxed", "acquire", "seq_cst"}
	kind := "load"
	if group == "stores" {
		form, call = "*(%s__%s int *)%s = v;", "__opencl_atomic_store((__%s atomic_int *)%s, v, memory_order_%s, memory_scope_%s);"
		kind, orders[1] = "store", "release"
	}
	if kind == "load" {
		m.add(group, "load.global (alone)", "x = *p;").alone = true
	}
	for _, s := range clSpaces {
		m.add(group, kind+"."+s, fmt.Sprintf(form, "", s, clPointer(s)))
		m.add(group, kind+".lanes."+s, fmt.Sprintf(form, "", s, "("+clPointer(s)+" + lane)"))
		m.add(group, kind+".volatile."+s, fmt.Sprintf(form, "volatile ", s, clPointer(s)))
		for _, o := range orders {
			for _, scope := range clScopes {
				m.add(group, fmt.Sprintf("%s.%s.%s.%s", kind, o, scope, s), fmt.Sprintf(call, s, clPointer(s), o, scope))
			}
		}
	}
}

func (m *clOps) fences() {
	for _, o := range []string{"acquire", "release", "acq_rel", "seq_cst"} {
		for _, s := range []struct{ name, scope string }{{"wavefront", "wavefront"}, {"workgroup", "workgroup"},
			{"agent", "agent"}, {"system", ""}} {
			m.add("fences", "fence."+o+"."+s.name, fmt.Sprintf("__builtin_amdgcn_fence(__ATOMIC_%s, %q);", strings.ToUpper(o), s.scope))
		}
	}
	for _, o := range []string{"acquire", "release", "acq_rel", "seq_cst"} {
		for _, s := range clScopes {
			m.add("fences", "atomic_work_item_fence."+o+"."+s,
				fmt.Sprintf("atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_%s, memory_scope_%s);", o,
					s)).library = true
		}
	}
	for _, f := range []string{"mem_fence", "read_mem_fence", "write_mem_fence"} {
		for _, s := range clSpaces {
			m.add("fences", f+"."+s, fmt.Sprintf("%s(CLK_%s_MEM_FENCE);", f, strings.ToUpper(s))).library = true
		}
		m.add("fences", f+".both", f+"(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);").library = true
	}
}

func (m *clOps) atomics() {
	for _, s := range clSpaces {
		for _, o := range []string{"relaxed", "acquire", "release", "acq_rel", "seq_cst"} {
			for _, scope := range clScopes {
				order, last := "memory_order_"+o, "memory_scope_"+scope
				fail := map[string]string{"release": "memory_order_relaxed", "acq_rel": "memory_order_acquire"}[o]
				if fail == "" {
					fail = order
				}
				obj := fmt.Sprintf("(__%s atomic_int *)%s", s, clPointer(s))
				suffix := "." + o + "." + scope + "." + s
				m.add("atomics", "exchange"+suffix, fmt.Sprintf("x = __opencl_atomic_exchange(%s, v, %s, %s);", obj, order, last))
				m.add(
					"atomics",
					"compare_exchange"+suffix,
					fmt.Sprintf("x = v; __opencl_atomic_compare_exchange_strong(%s, &x, v1, %s, %s, %s);", obj, order, fail, last),
				)
				m.add("atomics", "fetch_add"+suffix, fmt.Sprintf("x = __opencl_atomic_fetch_add(%s, v, %s, %s);", obj, order, last))
			}
		}
		ptr := fmt.Sprintf("(volatile __%s int *)%s", s, clPointer(s))
		for _, f := range []struct{ name, args string }{{"add", ", v"}, {"xchg", ", v"}, {"cmpxchg", ", v, v1"},
			{"inc", ""}, {"min", ", v"}, {"and", ", v"}} {
			m.add("atomics", "atomic_"+f.name+"."+s, fmt.Sprintf("x = atomic_%s(%s%s);", f.name, ptr, f.args)).library = true
		}
	}
}

// reductions are atomics whose result nobody uses. r600 has no others.
func (m *clOps) reductions() {
	for _, s := range clSpaces {
		obj := fmt.Sprintf("(__%s atomic_int *)%s", s, clPointer(s))
		for _, o := range []string{"relaxed", "acq_rel"} {
			m.add("reductions", fmt.Sprintf("fetch_add.%s.device.%s (no result)", o, s),
				fmt.Sprintf("(void)__opencl_atomic_fetch_add(%s, v, memory_order_%s, memory_scope_device);", obj, o))
		}
		ptr := fmt.Sprintf("(volatile __%s int *)%s", s, clPointer(s))
		for _, f := range []struct{ name, args string }{{"add", ", v"}, {"xchg", ", v"}, {"cmpxchg", ", v, v1"},
			{"inc", ""}, {"min", ", v"}, {"and", ", v"}} {
			m.add("reductions", fmt.Sprintf("atomic_%s.%s (no result)", f.name, s),
				fmt.Sprintf("(void)atomic_%s(%s%s);", f.name, ptr, f.args)).library = true
		}
	}
}

func (m *clOps) barriers() {
	m.add("barriers", "s_barrier", "__builtin_amdgcn_s_barrier();")
	for _, s := range clSpaces {
		m.add("barriers", "barrier."+s, fmt.Sprintf("barrier(CLK_%s_MEM_FENCE);", strings.ToUpper(s))).library = true
	}
	m.add("barriers", "barrier.both", "barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);").library = true
}

// clKernel returns the probe of an operation. A store and a load of global memory and a store
// and a load of local memory are outstanding when the operation begins, so that it shows what
// it waits for; a store follows it. They are relaxed atomics, for which LLVM emits no waits of
// their own, with work-group scope, so that they involve no caches. Accesses of local memory
// are next to the operation because LLVM attributes a clause of accesses of global memory to
// one line. Empty assembly puts the operands into registers before the operation and consumes
// the results after it: waits for them are not the operation's.
func (op *Op) clKernel(name string) string {
	const load, store = "__opencl_atomic_load((%s atomic_int *)%s, memory_order_relaxed, memory_scope_work_group)",
		"__opencl_atomic_store((%s atomic_int *)%s, %s, memory_order_relaxed, memory_scope_work_group);"
	around := fmt.Sprintf("#line %d \"%s\"\n", clAround, ptxgen.SourceName)
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"__attribute__((always_inline)) __kernel void %s(__global int *p, __local int *l, __global int *before, __local int *lbefore, int v, int v1)\n{\n%s",
		name,
		around,
	)
	line := func(format string, args ...any) { b.WriteString(fmt.Sprintf(format, args...) + "\n" + around) }
	line("int x = 0, a = v, b = v1, lane = __builtin_amdgcn_workitem_id_x();")
	if !op.cl.alone {
		line(`__asm__ volatile("" :: "s"(p), "s"(l), "s"(before), "s"(lbefore), "v"(v), "v"(v1));`)
		line(store, "__global", "before", "v")
		line(store, "__local", "lbefore", "v")
		line("a = "+load+";", "__global", "(before + 64)")
		line("b = "+load+";", "__local", "(lbefore + 64)")
	}
	// LLVM attributes a merged wait to the next instruction: put that on the operation's line
	// too.
	fmt.Fprintf(&b, "#line %d\n%s __asm__ volatile(\"\");\n%s", clOperation, op.cl.text, around)
	if !op.cl.alone {
		line(store, "__local", "(lbefore + 128)", "v1")
	}
	b.WriteString(`__asm__ volatile("" :: "v"(x), "v"(a), "v"(b));` + "\n}\n")
	return b.String()
}

// aroundR600 returns how many stores surround an operation in its probe for r600: a fence or
// barrier is between two; a result is stored after the operation.
func (op *Op) aroundR600() (lead, trail int) {
	switch {
	case op.Group == "fences" || op.Group == "barriers":
		return 1, 1
	case strings.HasPrefix(op.cl.text, "x = "):
		return 0, 1
	}
	return 0, 0
}

// clKernelR600 returns the probe for targets of r600, where no line information reaches the
// clauses: everything around the operation can be distinguished from it.
func (op *Op) clKernelR600(name string) string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"__attribute__((always_inline)) __kernel void %s(__global int *p, __global int *out, __local int *l, int v, int v1)\n{\nint x = 0;\n",
		name,
	)
	if strings.Contains(op.cl.text, "lane") {
		b.WriteString("int lane = __builtin_r600_read_tidig_x();\n")
	}
	lead, trail := op.aroundR600()
	if lead > 0 {
		b.WriteString("*(volatile __global int *)p = v;\n")
	}
	b.WriteString(op.cl.text + "\n")
	switch {
	case lead > 0:
		b.WriteString("*(volatile __global int *)out = v1;\n")
	case trail > 0:
		b.WriteString("*(volatile __global int *)out = x;\n")
	}
	b.WriteString("}\n")
	return b.String()
}
