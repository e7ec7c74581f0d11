package mapping

import (
	"fmt"
	"strings"
)

// Kinds of steps.
const (
	sLoad    = "load"
	sStore   = "store"
	sRMW     = "rmw"
	sFence   = "fence"
	sBarrier = "barrier"
)

// step is what an operation means in the memory model of C++ with scopes: an access of
// some order and scope, a fence, or a barrier of a CTA. An operation of no steps
// promises nothing to other threads.
type step struct {
	kind  string
	order string // weak, relaxed, acquire, release, acq_rel or seq_cst
	scope string // cta, gpu or sys; "" of weak accesses
	rmw   string // exch, cas or add
	loc   string // x or y; "" means where a pattern puts it
}

// returns reports whether a step reads a value.
func (s *step) returns() bool { return s.kind == sLoad || s.kind == sRMW }

var clScope = map[string]string{"cta": "memory_scope_work_group", "gpu": "memory_scope_device", "sys": "memory_scope_all_svm_devices"}

// cl is a step as a statement of OpenCL C, whose memory model is that of C++ with scopes.
// Values are old, which a compare-and-exchange expects, and the one that is stored.
func (s *step) cl(loc, reg string, old, value int) string {
	order, scope := "memory_order_"+s.order, clScope[s.scope]
	switch {
	case s.kind == sBarrier:
		return "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)"
	case s.kind == sFence:
		return fmt.Sprintf("atomic_work_item_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, %s, %s)", order, scope)
	case s.order == "weak" && s.kind == sLoad:
		return fmt.Sprintf("%s = *%s", reg, loc)
	case s.order == "weak":
		return fmt.Sprintf("*%s = %d", loc, value)
	case s.kind == sLoad:
		return fmt.Sprintf("%s = atomic_load_explicit(%s, %s, %s)", reg, loc, order, scope)
	case s.kind == sStore:
		return fmt.Sprintf("atomic_store_explicit(%s, %d, %s, %s)", loc, value, order, scope)
	case s.rmw == "cas":
		fail := map[string]string{"release": "memory_order_relaxed", "acq_rel": "memory_order_acquire"}[s.order]
		if fail == "" {
			fail = order
		}
		return fmt.Sprintf("%s = atomic_compare_exchange_strong_explicit(%s, %d, %d, %s, %s, %s)", reg, loc, old, value, order, fail, scope)
	case s.rmw == "exch":
		return fmt.Sprintf("%s = atomic_exchange_explicit(%s, %d, %s, %s)", reg, loc, value, order, scope)
	}
	return fmt.Sprintf("%s = atomic_fetch_add_explicit(%s, 1, %s, %s)", reg, loc, order, scope)
}

var ptxLoc = map[string]string{"x": "rd0", "y": "rd1"}

func ptxAccess(op, sem, scope string) string {
	switch {
	case sem == "volatile":
		return op + ".volatile"
	case sem == "mmio":
		return op + ".mmio.relaxed.sys"
	case sem == "weak" || scope == "":
		return op + ".weak"
	}
	return op + "." + sem + "." + scope
}

// ptx is a step as the vendor maps it (PTX Writer's Guide to Interoperability, Atomics
// ABI), which partners of an operation are made with. Targets before sm_70 have no
// orders: there it is what nvcc makes of it.
func (s *step) ptx(loc, reg string, old, value int, orders bool) []string {
	sem := s.order
	var before, after []string
	fence := func(sem string) string {
		if orders {
			return "fence." + sem + "." + s.scope
		}
		return map[string]string{"cta": "membar.cta", "gpu": "membar.gl", "sys": "membar.sys"}[s.scope]
	}
	switch {
	case s.kind == sBarrier:
		return []string{"bar.sync 0"}
	case s.kind == sFence && sem == "seq_cst":
		return []string{fence("sc")}
	case s.kind == sFence:
		return []string{fence("acq_rel")}
	case sem == "weak":
	case !orders:
		if sem != "relaxed" && sem != "acquire" {
			before = []string{fence("")}
		}
		if sem != "relaxed" && sem != "release" && s.returns() {
			after = []string{fence("")}
		}
		sem = "volatile"
	case sem == "seq_cst":
		before = []string{fence("sc")}
		sem = map[bool]string{true: "acquire", false: "relaxed"}[s.returns()]
	}
	return append(append(before, ptxText(s.kind, sem, s.scope, s.rmw, loc, reg, old, value)), after...)
}

// ptxText is an access in the litmus dialect of PTX.
func ptxText(kind, sem, scope, rmw, loc, reg string, old, value int) string {
	switch kind {
	case sLoad:
		return fmt.Sprintf("%s.s32 %s,[%s]", ptxAccess("ld", sem, scope), reg, ptxLoc[loc])
	case sStore:
		return fmt.Sprintf("%s.s32 [%s],%d", ptxAccess("st", sem, scope), ptxLoc[loc], value)
	}
	atom := "atom"
	if sem != "volatile" {
		atom += "." + sem + "." + scope
	}
	switch rmw {
	case "cas":
		return fmt.Sprintf("%s.cas.b32 %s,[%s],%d,%d", atom, reg, ptxLoc[loc], old, value)
	case "exch":
		return fmt.Sprintf("%s.exch.b32 %s,[%s],%d", atom, reg, ptxLoc[loc], value)
	}
	return fmt.Sprintf("%s.add.s32 %s,[%s],1", atom, reg, ptxLoc[loc])
}

// item is one place of a pattern's thread: a step, or the operation that is judged.
type item struct {
	step
	op         bool
	old, value int
}

// pattern is a shape of tests with an outcome that orders forbid.
type pattern struct {
	name    string
	threads [][]item
	cond    string
}

// patterns are the shapes in which an operation can keep or lose what it promises. All
// other accesses have its scope.
func patterns(s step) []pattern {
	at := func(kind, order, loc string, value int) item {
		i := item{step: step{kind: kind, order: order, scope: s.scope, loc: loc}, value: value}
		if order == "weak" {
			i.scope = ""
		}
		return i
	}
	ld := func(order, loc string) item { return at(sLoad, order, loc, 0) }
	st := func(order, loc string) item { return at(sStore, order, loc, 1) }
	op := func(loc string, old int) item { return item{step: step{loc: loc}, op: true, old: old, value: old + 1} }
	fence := at(sFence, "seq_cst", "", 0)
	type line = []item
	var out []pattern
	add := func(name, cond string, threads ...[]item) { out = append(out, pattern{name, threads, cond}) }
	const mp, sb, lb = "1:r1=1 /\\ 1:r2=0", "0:r1=0 /\\ 1:r1=0", "0:r1=1 /\\ 1:r1=1"
	const iriw = "2:r1=1 /\\ 2:r2=0 /\\ 3:r1=1 /\\ 3:r2=0"
	read, write := s.returns(), s.kind == sStore || s.kind == sRMW
	for _, data := range []string{"weak", "relaxed"} {
		if read {
			add("message passing, "+data+" data, the reader", mp, line{st(data, "x"), st("release", "y")}, line{op("y", 1), ld(data, "x")})
		}
		if write {
			add("message passing, "+data+" data, the writer", mp, line{st(data, "x"), op("y", 0)}, line{ld("acquire", "y"), ld(data, "x")})
		}
		if s.kind == sFence {
			add("message passing, "+data+" data, the writer", mp, line{st(data, "x"), op("", 0), st("relaxed", "y")}, line{ld("acquire", "y"),
				ld(data, "x")})
			add("message passing, "+data+" data, the reader", mp, line{st(data, "x"), st("release", "y")}, line{ld("relaxed", "y"), op("", 0),
				ld(data, "x")})
		}
	}
	switch s.kind {
	case sLoad:
		add("two reads of a location", mp, line{st("relaxed", "x")}, line{op("x", 0), ld("relaxed", "x")})
		add("two reads of a location, the second", mp, line{st("relaxed", "x")}, line{ld("relaxed", "x"), op("x", 0)})
		add("load buffering", lb, line{op("y", 0), st("relaxed", "x")}, line{ld("acquire", "x"), st("release", "y")})
		add("store buffering", sb, line{st("seq_cst", "x"), op("y", 0)}, line{st("seq_cst", "y"), ld("seq_cst", "x")})
		add("independent reads", iriw, line{st("seq_cst", "x")}, line{st("seq_cst", "y")}, line{op("x", 0), op("y", 0)}, line{ld("seq_cst",
			"y"), ld("seq_cst", "x")})
	case sStore:
		two := at(sStore, "relaxed", "x", 2)
		add("two writes of a location", "1:r1=2 /\\ 1:r2=1", line{op("x", 0), two}, line{ld("relaxed", "x"), ld("relaxed", "x")})
		add("two writes of a location, the second", "1:r1=1 /\\ 1:r2=2", line{two, op("x", 0)}, line{ld("relaxed", "x"), ld("relaxed", "x")})
		add("load buffering", lb, line{ld("acquire", "y"), op("x", 0)}, line{ld("acquire", "x"), st("relaxed", "y")})
		add("store buffering", sb, line{op("x", 0), ld("seq_cst", "y")}, line{st("seq_cst", "y"), ld("seq_cst", "x")})
		add("independent reads", iriw, line{op("x", 0)}, line{op("y", 0)}, line{ld("seq_cst", "x"), ld("seq_cst", "y")}, line{ld("seq_cst",
			"y"), ld("seq_cst", "x")})
	case sRMW:
		add("two at once", sb, line{op("x", 0)}, line{op("x", 0)})
		add("a release sequence", "2:r1=2 /\\ 2:r2=0", line{st("weak", "x"), st("release", "y")}, line{op("y", 1)}, line{ld("acquire", "y"),
			ld("weak", "x")})
		add("load buffering", lb, line{ld("acquire", "y"), op("x", 0)}, line{ld("acquire", "x"), st("relaxed", "y")})
		add("store buffering, the store", "0:r2=0 /\\ 1:r1=0", line{op("x", 0), ld("seq_cst", "y")}, line{st("seq_cst", "y"), ld("seq_cst", "x")})
		add("store buffering, the load", sb, line{st("seq_cst", "x"), op("y", 0)}, line{st("seq_cst", "y"), ld("seq_cst", "x")})
	case sFence:
		add("load buffering", lb, line{ld("relaxed", "y"), op("", 0), st("relaxed", "x")}, line{ld("acquire", "x"), st("release", "y")})
		add("store buffering", sb, line{st("relaxed", "x"), op("", 0), ld("relaxed", "y")}, line{st("relaxed", "y"), fence, ld("relaxed", "x")})
		add("independent reads", iriw, line{st("relaxed", "x")}, line{st("relaxed", "y")}, line{ld("relaxed", "x"), op("", 0), ld("relaxed",
			"y")},
			line{ld("relaxed", "y"), fence, ld("relaxed", "x")})
	case sBarrier:
		add("message passing over the barrier", "1:r1=0", line{st("weak", "x"), op("", 0)}, line{op("", 0), ld("weak", "x")})
	}
	return out
}

// print is a pattern as a litmus test, whose threads have been written.
func (p *pattern) print(dialect, name string, threads [][]string, s step, shared bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n%q\n{\nx=0; y=0;\n", dialect, name, p.name)
	space := "global"
	if shared {
		space = "shared"
	}
	for t, lines := range threads {
		all := strings.Join(lines, "\n")
		if dialect == "GPU_PTX" {
			fmt.Fprintf(&b, "%d:.reg .b64 rd0 = x; %d:.reg .b64 rd1 = y;", t, t)
		}
		for _, r := range []string{"r1", "r2", "r3", "r8", "r9"} {
			if strings.Contains(all, " "+r+",") || strings.Contains(all, r+" =") {
				fmt.Fprintf(&b, " %d:%s %s;", t, map[bool]string{true: ".reg .s32", false: "int"}[dialect == "GPU_PTX"], r)
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString("}\n")
	n := 0
	for t, lines := range threads {
		fmt.Fprintf(&b, "%s T%d", map[bool]string{true: " |"}[t > 0], t)
		n = max(n, len(lines))
	}
	b.WriteString(" ;\n")
	for i := range n {
		for t, lines := range threads {
			cell := ""
			if i < len(lines) {
				cell = lines[i]
			}
			fmt.Fprintf(&b, "%s %s", map[bool]string{true: " |"}[t > 0], cell)
		}
		b.WriteString(" ;\n")
	}
	var tree strings.Builder
	for t := range threads {
		switch {
		case s.scope == "cta" || s.kind == sBarrier || shared:
			fmt.Fprintf(&tree, "(warp T%d) ", t)
		case s.scope == "sys":
			fmt.Fprintf(&tree, "(device (kernel (cta (warp T%d))))\n", t)
		default:
			fmt.Fprintf(&tree, "(cta (warp T%d)) ", t)
		}
	}
	switch text := strings.TrimSpace(tree.String()); {
	case strings.HasPrefix(text, "(warp"):
		fmt.Fprintf(&b, "ScopeTree(grid(cta%s))\n", text)
	case strings.HasPrefix(text, "(cta"):
		fmt.Fprintf(&b, "ScopeTree(grid%s)\n", text)
	default:
		b.WriteString(text + "\n")
	}
	fmt.Fprintf(&b, "x: %s, y: %s\nexists (%s)\n", space, space, p.cond)
	return b.String()
}
