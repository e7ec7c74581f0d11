// Package llvmir lists what LLVM IR does to memory: per function the loads, stores, atomic
// operations, fences and calls in order, with volatility, ordering, scope and the parameter or
// variable that the address comes from.
//
// It reads the IR that one release of LLVM printed with a reader that fits it:
// github.com/llir/llvm for typed pointers (up to LLVM 14, and clang 15 with
// -no-opaque-pointers), and LLVM's own C library of the same release, opened without cgo, for
// everything newer. The library runs in a child process (see Main): it may abort on its input,
// two releases of it cannot live in one process, and neither may end an audit.
//
// The package does not judge what it reads; match compares stages of a compiler by it.
package llvmir

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The operations of an Access.
const (
	Load      = "load"
	Store     = "store"
	AtomicRMW = "atomicrmw"
	CmpXchg   = "cmpxchg"
	Fence     = "fence"
	Call      = "call"
)

// Access is one instruction that touches memory, or a call. Accesses to the
// function's own stack slots are left out.
type Access struct {
	Op string `json:"op"`
	// Detail is the operation of an atomicrmw, or the called function.
	Detail   string `json:"detail,omitempty"`
	Volatile bool   `json:"volatile,omitempty"`
	// Ordering is LLVM's word for it (monotonic, acquire, …), "" for non-atomic accesses; Scope
	// is the syncscope, "" for the whole system.
	Ordering string `json:"ordering,omitempty"`
	Scope    string `json:"scope,omitempty"`
	// Arg is the index of the parameter that the address comes from, -1 if there is none;
	// Global is the variable that it comes from. Offset is the constant part of the distance
	// from there, in bytes.
	Arg    int    `json:"arg"`
	Global string `json:"global,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	// Block is the number of the basic block, in the order of the text.
	Block int `json:"block,omitempty"`
	// Maybe is set if some path through the function avoids it.
	Maybe bool `json:"maybe,omitempty"`
	// Addr and Data list the accesses (indices into Func.Accesses) whose values flow into the
	// address, and into what is stored or combined.
	Addr []int `json:"addr,omitempty"`
	Data []int `json:"data,omitempty"`
}

// String formats the access for people: "load atomic(acquire agent) arg 1+64".
func (a Access) String() string {
	var b strings.Builder
	b.WriteString(a.Op)
	if a.Detail != "" {
		b.WriteString(" " + a.Detail)
	}
	if a.Volatile {
		b.WriteString(" volatile")
	}
	if a.Ordering != "" {
		fmt.Fprintf(&b, " %s %s", a.Ordering, cmp.Or(a.Scope, "system"))
	}
	switch {
	case a.Global != "":
		b.WriteString(" @" + a.Global)
	case a.Arg >= 0:
		fmt.Fprintf(&b, " arg %d", a.Arg)
	case a.Op != Fence && a.Op != Call:
		b.WriteString(" ?")
	}
	if a.Offset != 0 {
		fmt.Fprintf(&b, "+%d", a.Offset)
	}
	return b.String()
}

// Func is one defined function.
type Func struct {
	Name     string   `json:"name"`
	Accesses []Access `json:"accesses"`
}

// Limits of the input.
const (
	MaxInput = 256 << 20 // bytes of IR
	maxNodes = 1 << 22   // values of one function
)

// nodeKind is the kind of a node.
type nodeKind uint8

const (
	nOther nodeKind = iota
	nArg
	nGlobal
	nConst
	nInst
)

// node is a value of a function, as either reader sees it.
type node struct {
	kind nodeKind
	num  int64  // nArg: index; nConst: value; offset of a constant getelementptr
	name string // nGlobal
	op   string // nInst, and constant expressions: the opcode
	ops  []int  // operands; for stores value, pointer; otherwise in LLVM's order
	Access
}

// graph is a function as a graph of its values.
type graph struct {
	name  string
	nodes []node
	order []int   // the instructions in order
	succs [][]int // of each basic block
}

// maybe returns for each basic block whether some path from the entry to an end avoids it:
// without it an end is still reachable.
func (g *graph) maybe() []bool {
	out := make([]bool, len(g.succs))
	for without := 1; without < len(g.succs); without++ {
		seen := make([]bool, len(g.succs))
		seen[without] = true
		work := []int{0}
		for len(work) > 0 && !out[without] {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			if seen[b] {
				continue
			}
			seen[b] = true
			out[without] = len(g.succs[b]) == 0
			work = append(work, g.succs[b]...)
		}
	}
	return out
}

// analyse lists the accesses of a function.
func (g *graph) analyse() Func {
	f := Func{Name: g.name, Accesses: []Access{}}
	maybe := g.maybe()
	a := &analysis{g: g, access: map[int]int{}, slot: map[int]int{}}
	for _, id := range g.order {
		n := &g.nodes[id]
		ptr := -1
		var data []int
		switch n.op {
		case Load:
			ptr = n.ops[0]
		case Store:
			ptr, data = n.ops[1], n.ops[:1]
		case AtomicRMW:
			ptr, data = n.ops[0], n.ops[1:]
		case CmpXchg:
			ptr, data = n.ops[0], n.ops[1:]
		case Fence:
		case Call:
			if strings.HasPrefix(n.Detail, "llvm.dbg.") || strings.HasPrefix(n.Detail, "llvm.lifetime.") ||
				strings.HasPrefix(n.Detail, "llvm.assume") {
				continue
			}
			data = n.ops
			if len(n.ops) > 0 { // an atomic of a library: its address comes first
				if base, off, ok := a.base(n.ops[0], 0); ok && g.nodes[base].kind != nInst {
					n.Arg, n.Offset, n.Global = argOf(&g.nodes[base]), off, g.nodes[base].name
				} else {
					n.Arg = -1
				}
			}
		default:
			continue
		}
		acc := n.Access
		acc.Maybe = n.Block < len(maybe) && maybe[n.Block]
		if acc.Op = n.op; n.op != Call || len(n.ops) == 0 {
			acc.Arg = -1
		}
		if ptr >= 0 {
			base, off, ok := a.base(ptr, 0)
			if ok && g.nodes[base].op == "alloca" {
				if n.op == Store {
					a.slot[base] = data[0]
				}
				continue
			}
			if ok {
				switch b := &g.nodes[base]; b.kind {
				case nArg:
					acc.Arg, acc.Offset = int(b.num), off
				case nGlobal:
					acc.Global, acc.Offset = b.name, off
				}
			}
			acc.Addr = a.flow([]int{ptr})
		}
		acc.Data = a.flow(data)
		a.access[id] = len(f.Accesses)
		f.Accesses = append(f.Accesses, acc)
	}
	return f
}

// argOf returns the index of a parameter, -1 for another node.
func argOf(n *node) int {
	if n.kind == nArg {
		return int(n.num)
	}
	return -1
}

// analysis tracks values through a function in program order: slot holds what was last stored
// in each stack slot.
type analysis struct {
	g      *graph
	access map[int]int // instruction → index of its access
	slot   map[int]int // alloca → value stored last
}

const maxDepth = 64

// base follows an address to the parameter, variable or stack slot that it comes from.
func (a *analysis) base(id, depth int) (base int, off int64, ok bool) {
	if depth > maxDepth {
		return 0, 0, false
	}
	n := &a.g.nodes[id]
	switch {
	case n.kind == nArg || n.kind == nGlobal || n.op == "alloca":
		return id, 0, true
	case n.op == "getelementptr" && len(n.ops) > 0:
		base, off, ok = a.base(n.ops[0], depth+1)
		return base, off + n.num, ok
	case (n.op == "bitcast" || n.op == "addrspacecast" || n.op == "inttoptr" || n.op == "ptrtoint" || n.op == "freeze") && len(n.ops) > 0:
		return a.base(n.ops[0], depth+1)
	case n.op == Load:
		slot, _, isSlot := a.base(n.ops[0], depth+1)
		if isSlot && a.g.nodes[slot].op == "alloca" {
			if v, stored := a.slot[slot]; stored {
				return a.base(v, depth+1)
			}
		}
	}
	return 0, 0, false
}

// flow lists the accesses whose values flow into the given values.
func (a *analysis) flow(ids []int) []int {
	var out []int
	seen := map[int]bool{}
	for len(ids) > 0 {
		id := ids[len(ids)-1]
		ids = ids[:len(ids)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		n := &a.g.nodes[id]
		if i, ok := a.access[id]; ok {
			if n.op != Store && n.op != Fence {
				out = append(out, i)
			}
			continue
		}
		if n.op == Load {
			if slot, _, ok := a.base(n.ops[0], 0); ok {
				if v, stored := a.slot[slot]; stored {
					ids = append(ids, v)
				}
			}
			continue
		}
		ids = append(ids, n.ops...)
	}
	slices.Sort(out)
	return out
}
