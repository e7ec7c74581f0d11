package mapping

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"optcheck/pipeline"
	"optcheck/toolchain"
)

// cudaHeader stands before all kernels in CUDA C++.
const cudaHeader = "#include <cuda/atomic>\n"

func compileCUDA(ctx context.Context, p pipeline.Place, units []toolchain.Unit) (*toolchain.Result, error) {
	return p.Toolchain.CompileCUDA(ctx, toolchain.CUDAJob{Job: toolchain.Job{Target: p.Target, Header: cudaHeader, Units: units,
		BatchUnits: len(units), TrustMessages: true}})
}

// The scopes of libcu++ and what the model calls them. A thread's own scope promises
// nothing to others.
var cudaScopes = []struct{ name, scope string }{{"thread", ""}, {"block", "cta"}, {"device", "gpu"}, {"system", "sys"}}

// cudaTypes are the types of atomic objects.
var cudaTypes = []struct{ name, text string }{{"i32", "int"}, {"u32", "unsigned"}, {"i64", "long long"}, {"u64",
	"unsigned long long"}, {"f32", "float"}, {"f64", "double"},
	{"u8", "unsigned char"}, {"u16", "unsigned short"}}

var cxxOrders = []string{"relaxed", "acquire", "release", "acq_rel", "seq_cst"}

// cudaOps collects operations.
type cudaOps struct{ list []Op }

// add adds a kernel on one line: statements with pointers p and o, the values v and w.
func (m *cudaOps) add(group, name, typ, body string, result bool, steps ...step) {
	text := fmt.Sprintf(`extern "C" __global__ void NAME(%[1]s *p, %[1]s *o, %[1]s v, %[1]s w) { %[2]s }`, typ, body)
	m.list = append(m.list, Op{Name: name, Group: group, front: &frontOp{text: text, steps: steps, result: result}})
}

// CUDAOps lists the operations of CUDA C++ that a mapping shows: cuda::atomic_ref for
// types, orders and scopes, with and without a result that is used, fences, CUDA's own
// functions, volatile, and what Tab. 5 and Figures 2, 6 and 10 of the study of 2015 have
// (Alglave et al., GPU Concurrency, ASPLOS 2015).
func CUDAOps() []Op {
	m := &cudaOps{}
	for _, t := range cudaTypes {
		for _, s := range cudaScopes {
			m.atomics(t.name, t.text, s.name, s.scope)
		}
	}
	m.fences()
	m.intrinsics()
	m.study()
	return m.list
}

// atomicStep is an atomic step of a scope; nothing if the scope is the thread's own.
func atomicStep(kind, order, scope, rmw string) []step {
	if scope == "" {
		return nil
	}
	return []step{{kind: kind, order: order, scope: scope, rmw: rmw}}
}

func (m *cudaOps) atomics(short, typ, scopeName, scope string) {
	ref := fmt.Sprintf("cuda::atomic_ref<%s, cuda::thread_scope_%s> r(*p); ", typ, scopeName)
	integer := short[0] != 'f'
	narrow := short == "u8" || short == "u16"
	for _, o := range cxxOrders {
		if narrow && (o != "seq_cst" || scope != "gpu") {
			continue // refused by releases until 12.4, whatever the order and the scope
		}
		order := "cuda::std::memory_order_" + o
		suffix := fmt.Sprintf(".%s.%s.%s", o, scopeName, short)
		if o != "release" && o != "acq_rel" {
			m.add("loads", "load"+suffix, typ, ref+"*o = r.load("+order+");", true, atomicStep(sLoad, o, scope, "")...)
		}
		if o != "acquire" && o != "acq_rel" {
			m.add("stores", "store"+suffix, typ, ref+"r.store(v, "+order+");", false, atomicStep(sStore, o, scope, "")...)
		}
		rmw := func(name, call, kind string) {
			m.add("atomics", name+suffix, typ, ref+"*o = r."+call+";", true, atomicStep(sRMW, o, scope, kind)...)
		}
		rmw("exchange", "exchange(v, "+order+")", "exch")
		for _, form := range []string{"strong", "weak"} {
			name := "compare_exchange" + map[string]string{"weak": "_weak"}[form]
			m.add("atomics", name+suffix, typ, ref+typ+" e = v; r.compare_exchange_"+form+"(e, w, "+order+"); *o = e;",
				true, atomicStep(sRMW, o, scope, "cas")...)
		}
		if narrow {
			continue
		}
		for _, f := range cxxFetches {
			if integer || f == "add" || f == "sub" {
				rmw("fetch_"+f, "fetch_"+f+"(v, "+order+")", "add")
			}
		}
		m.add("reductions", "fetch_add"+suffix+" (no result)", typ, ref+"r.fetch_add(v, "+order+");", false, atomicStep(sRMW, o, scope, "add")...)
	}
}

// cxxFetches are the operations that read, compute and write. The models take all of them
// for additions.
var cxxFetches = []string{"add", "sub", "and", "or", "xor", "min", "max"}

func (m *cudaOps) fences() {
	for _, o := range cxxOrders {
		for _, s := range cudaScopes {
			var steps []step
			if s.scope != "" && o != "relaxed" {
				steps = []step{{kind: sFence, order: o, scope: s.scope}}
			}
			m.add("fences", "atomic_thread_fence."+o+"."+s.name, "int",
				fmt.Sprintf("cuda::atomic_thread_fence(cuda::std::memory_order_%s, cuda::thread_scope_%s);", o, s.name), false, steps...)
		}
	}
	for _, f := range []struct{ name, scope string }{{"__threadfence_block", "cta"}, {"__threadfence", "gpu"}, {"__threadfence_system",
		"sys"}} {
		m.add("fences", f.name, "int", f.name+"();", false, step{kind: sFence, order: "seq_cst", scope: f.scope})
	}
}

// cudaAtomics are CUDA's own atomic functions with their arguments, what the models take
// them for, and the types beside unsigned that they have.
var cudaAtomics = []struct {
	name, args, rmw string
	types           []string
}{{"Add", "v", "add", []string{"i32", "u64", "f32", "f64"}}, {"Sub", "v", "add", []string{"i32"}}, {"Exch", "v", "exch", []string{"i32", "u64", "f32"}},
	{"CAS", "v, w", "cas", []string{"i32", "u64"}}, {"Min", "v", "add", []string{"i32", "i64", "u64"}},
	{"Max", "v", "add", []string{"i32", "i64", "u64"}}, {"And", "v", "add", []string{"i32", "u64"}}, {"Or", "v", "add", []string{"i32", "u64"}},
	{"Xor", "v", "add", []string{"i32", "u64"}}, {"Inc", "v", "add", nil}, {"Dec", "v", "add", nil}}

func (m *cudaOps) intrinsics() {
	for _, a := range cudaAtomics {
		for _, s := range []struct{ suffix, scope string }{{"_block", "cta"}, {"", "gpu"}, {"_system", "sys"}} {
			st := step{kind: sRMW, order: "relaxed", scope: s.scope, rmw: a.rmw}
			name := "atomic" + a.name + s.suffix
			call := fmt.Sprintf("%s(p, %s)", name, a.args)
			m.add("atomics", name, "unsigned", "*o = "+call+";", true, st)
			m.add("reductions", name+" (no result)", "unsigned", call+";", false, st)
			for _, t := range cudaTypes {
				if slices.Contains(a.types, t.name) {
					m.add("atomics", name+"."+t.name, t.text, "*o = "+call+";", true, st)
				}
			}
		}
	}
	for _, l := range []string{"__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv"} {
		m.add("loads", l, "int", "*o = "+l+"(p);", true)
	}
	for _, s := range []string{"__stwb", "__stcg", "__stcs", "__stwt"} {
		m.add("stores", s, "int", s+"(p, v);", false)
	}
	for _, t := range cudaTypes {
		m.add("loads", "load."+t.name, t.text, "*o = *p;", true)
		m.add("stores", "store."+t.name, t.text, "*p = v;", false)
		m.add("loads", "load.volatile."+t.name, t.text, "*o = *(volatile "+t.text+" *)p;", true, volatileStep(sLoad))
		m.add("stores", "store.volatile."+t.name, t.text, "*(volatile "+t.text+" *)p = v;", false, volatileStep(sStore))
	}
	barrier := step{kind: sBarrier, scope: "cta"}
	m.add("barriers", "__syncthreads", "int", "__syncthreads();", false, barrier)
	for _, f := range []string{"_count", "_and", "_or"} {
		m.add("barriers", "__syncthreads"+f, "int", "*o = __syncthreads"+f+"(v);", true, barrier)
	}
	m.add("barriers", "__syncwarp", "int", "__syncwarp();", false)
}

// volatileStep is a volatile access: relaxed, of the whole system (CUDA C++ Programming
// Guide, Volatile Qualifier; PTX ISA, volatile operations).
func volatileStep(kind string) step { return step{kind: kind, order: "relaxed", scope: "sys"} }

// study adds the rows of Tab. 5 and the parts of Figures 2, 6 and 10: locks and a deque,
// as they were published and with the fences that the study adds.
func (m *cudaOps) study() {
	cas := step{kind: sRMW, order: "relaxed", scope: "gpu", rmw: "cas"}
	exch := step{kind: sRMW, order: "relaxed", scope: "gpu", rmw: "exch"}
	fence := step{kind: sFence, order: "seq_cst", scope: "gpu"}
	for _, r := range []struct {
		name, body string
		result     bool
		steps      []step
	}{
		{"Tab. 5 atomicCAS", "*o = atomicCAS(p, v, w);", true, []step{cas}},
		{"Tab. 5 atomicExch", "*o = atomicExch(p, v);", true, []step{exch}},
		{"Tab. 5 __threadfence", "__threadfence();", false, []step{fence}},
		{"Tab. 5 __threadfence_block", "__threadfence_block();", false, []step{{kind: sFence, order: "seq_cst", scope: "cta"}}},
		{"Tab. 5 atomicAdd(…, 1)", "*o = atomicAdd(p, 1);", true, []step{{kind: sRMW, order: "relaxed", scope: "gpu", rmw: "add"}}},
		{"Tab. 5 store to global int", "*p = v;", false, nil},
		{"Tab. 5 load from global int", "*o = *p;", true, nil},
		{"Tab. 5 store to volatile int", "*(volatile int *)p = v;", false, []step{volatileStep(sStore)}},
		{"Tab. 5 load from volatile int", "*o = *(volatile int *)p;", true, []step{volatileStep(sLoad)}},
		{"Tab. 5 while, if", "if (v) *p = w;", false, nil},
		{"Fig. 2 lock", "while (atomicCAS(p, 0, 1) != 0);", false, []step{cas}},
		{"Fig. 2 lock (+)", "while (atomicCAS(p, 0, 1) != 0); __threadfence();", false, []step{cas, fence}},
		{"Fig. 2 unlock", "atomicExch(p, 0);", false, []step{exch}},
		{"Fig. 2 unlock (+)", "__threadfence(); atomicExch(p, 0);", false, []step{fence, exch}},
		{"Fig. 6 push, line 5", "(*(volatile int *)p)++;", false, []step{volatileStep(sStore)}},
		{"Fig. 6 push, lines 4 and 5 (+)", "__threadfence(); (*(volatile int *)p)++;", false, []step{fence, volatileStep(sStore)}},
		{"Fig. 6 steal, line 8", "*o = *(volatile int *)p;", true, []step{volatileStep(sLoad)}},
		{"Fig. 6 steal, lines 8 and 9 (+)", "int t = *(volatile int *)p; __threadfence(); *o = t;", true, []step{volatileStep(sLoad), fence}},
		{"Fig. 6 steal, line 13", "*o = atomicCAS(p, v, w);", true, []step{cas}},
		{"Fig. 6 steal, lines 11 and 13 (+)", "__threadfence(); *o = atomicCAS(p, v, w);", true, []step{fence, cas}},
		{"Fig. 6 pop, line 24", "*(volatile int *)p = v;", false, []step{volatileStep(sStore)}},
		{"Fig. 6 pop, line 23 (+)", "atomicExch(p, v);", false, []step{exch}},
		{"Fig. 10 lock", "bool leave = false; while (!leave) { int l = atomicCAS(p, 0, 1); if (l == 0) leave = true; }", false, []step{cas}},
		{"Fig. 10 lock (+)", "bool leave = false; while (!leave) { int l = atomicCAS(p, 0, 1); if (l == 0) leave = true; } __threadfence();", false, []step{cas, fence}},
		{"Fig. 10 unlock (-)", "*p = 0; __threadfence();", false, nil},
		{"Fig. 10 unlock (+)", "__threadfence(); atomicExch(p, 0);", false, []step{fence, exch}},
	} {
		m.add("asplos-2015", r.name, "int", strings.TrimSpace(r.body), r.result, r.steps...)
	}
}
