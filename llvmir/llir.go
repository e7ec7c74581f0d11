package llvmir

import (
	"fmt"

	"github.com/llir/llvm/asm"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// ReadTyped reads IR with typed pointers. Any text that it does not understand is an error.
func ReadTyped(file string, text []byte) (funcs []Func, err error) {
	if len(text) > MaxInput {
		return nil, fmt.Errorf("%s: more than %d bytes of LLVM IR", file, MaxInput)
	}
	defer func() { // the parser panics on some malformed modules
		if r := recover(); r != nil {
			funcs, err = nil, fmt.Errorf("%s: the reader of LLVM IR failed: %v", file, r)
		}
	}()
	m, err := asm.ParseBytes(file, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, f := range m.Funcs {
		if len(f.Blocks) > 0 {
			g := typedGraph(f)
			funcs = append(funcs, g.analyse())
		}
	}
	return funcs, nil
}

// typedReader turns a function of llir into a graph.
type typedReader struct {
	g   graph
	ids map[value.Value]int
}

func typedGraph(f *ir.Func) *graph {
	r := &typedReader{g: graph{name: f.Name()}, ids: map[value.Value]int{}}
	for i, p := range f.Params {
		r.g.nodes = append(r.g.nodes, node{kind: nArg, num: int64(i)})
		r.ids[p] = i
	}
	// Instructions first, so that operands which come later are known.
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			id := len(r.g.nodes)
			r.g.nodes = append(r.g.nodes, node{kind: nInst})
			if v, ok := in.(value.Value); ok {
				r.ids[v] = id
			}
			r.g.order = append(r.g.order, id)
		}
	}
	numbers := map[*ir.Block]int{}
	for i, b := range f.Blocks {
		numbers[b] = i
	}
	for _, b := range f.Blocks {
		var next []int
		for _, s := range b.Term.Succs() {
			next = append(next, numbers[s])
		}
		r.g.succs = append(r.g.succs, next)
	}
	i := 0
	for number, b := range f.Blocks {
		for _, in := range b.Insts {
			n := r.instruction(in) // may append constants
			n.Block = number
			r.g.nodes[r.g.order[i]] = n
			i++
		}
	}
	return &r.g
}

func (r *typedReader) id(v value.Value) int {
	if id, ok := r.ids[v]; ok {
		return id
	}
	n := node{}
	switch v := v.(type) {
	case *ir.Arg:
		return r.id(v.Value)
	case *ir.Global:
		n = node{kind: nGlobal, name: v.Name()}
	case *ir.Func:
		n = node{kind: nGlobal, name: v.Name()}
	case *constant.Int:
		n = node{kind: nConst, num: v.X.Int64()}
	case *constant.ExprGetElementPtr:
		n = node{op: "getelementptr", ops: []int{r.id(v.Src)}}
		var idx []value.Value
		for _, x := range v.Indices {
			idx = append(idx, plainIndex(x))
		}
		n.num = constantOffset(v.ElemType, idx)
	case *constant.ExprBitCast:
		n = node{op: "bitcast", ops: []int{r.id(v.From)}}
	case *constant.ExprAddrSpaceCast:
		n = node{op: "addrspacecast", ops: []int{r.id(v.From)}}
	}
	id := len(r.g.nodes)
	r.g.nodes = append(r.g.nodes, n)
	r.ids[v] = id
	return id
}

func plainIndex(x constant.Constant) value.Value {
	if i, ok := x.(*constant.Index); ok {
		return i.Constant
	}
	return x
}

// constantOffset returns the number of bytes that the constant indices of a getelementptr add;
// other indices count as zero.
func constantOffset(t types.Type, idx []value.Value) int64 {
	var off int64
	for i, x := range idx {
		if i > 0 {
			a, ok := t.(*types.ArrayType)
			if !ok {
				return off
			}
			t = a.ElemType
		}
		if c, ok := x.(*constant.Int); ok && c.X.IsInt64() {
			off += c.X.Int64() * sizeOf(t)
		}
	}
	return off
}

func sizeOf(t types.Type) int64 {
	switch t := t.(type) {
	case *types.IntType:
		return int64(t.BitSize+7) / 8
	case *types.ArrayType:
		return int64(t.Len) * sizeOf(t.ElemType)
	case *types.PointerType:
		return 8
	}
	return 0
}

func (r *typedReader) instruction(in ir.Instruction) node {
	n := node{kind: nInst}
	switch in := in.(type) {
	case *ir.InstAlloca:
		n.op = "alloca"
	case *ir.InstLoad:
		n.op, n.Volatile = Load, in.Volatile
		n.Ordering, n.Scope = ordering(in.Ordering), in.SyncScope
		n.ops = []int{r.id(in.Src)}
	case *ir.InstStore:
		n.op, n.Volatile = Store, in.Volatile
		n.Ordering, n.Scope = ordering(in.Ordering), in.SyncScope
		n.ops = []int{r.id(in.Src), r.id(in.Dst)}
	case *ir.InstFence:
		n.op, n.Ordering, n.Scope = Fence, ordering(in.Ordering), in.SyncScope
	case *ir.InstCmpXchg:
		n.op, n.Volatile = CmpXchg, in.Volatile
		n.Ordering, n.Scope = ordering(in.SuccessOrdering), in.SyncScope
		n.ops = []int{r.id(in.Ptr), r.id(in.Cmp), r.id(in.New)}
	case *ir.InstAtomicRMW:
		n.op, n.Detail, n.Volatile = AtomicRMW, in.Op.String(), in.Volatile
		n.Ordering, n.Scope = ordering(in.Ordering), in.SyncScope
		n.ops = []int{r.id(in.Dst), r.id(in.X)}
	case *ir.InstGetElementPtr:
		n.op = "getelementptr"
		n.num = constantOffset(in.ElemType, in.Indices)
		n.ops = append([]int{r.id(in.Src)}, r.all(in.Indices)...)
	case *ir.InstCall:
		n.op = Call
		switch c := in.Callee.(type) {
		case *ir.Func:
			n.Detail = c.Name()
		case *ir.InlineAsm:
			n.Detail = "asm"
		}
		n.ops = r.all(in.Args)
	case *ir.InstBitCast:
		n.op, n.ops = "bitcast", []int{r.id(in.From)}
	case *ir.InstAddrSpaceCast:
		n.op, n.ops = "addrspacecast", []int{r.id(in.From)}
	case *ir.InstPtrToInt:
		n.op, n.ops = "ptrtoint", []int{r.id(in.From)}
	case *ir.InstIntToPtr:
		n.op, n.ops = "inttoptr", []int{r.id(in.From)}
	case *ir.InstPhi:
		n.op = "phi"
		for _, inc := range in.Incs {
			n.ops = append(n.ops, r.id(inc.X))
		}
	default:
		n.op = "compute"
		if u, ok := in.(value.User); ok {
			for _, o := range u.Operands() {
				if *o != nil {
					n.ops = append(n.ops, r.id(*o))
				}
			}
		}
	}
	return n
}

func (r *typedReader) all(vs []value.Value) []int {
	var out []int
	for _, v := range vs {
		out = append(out, r.id(v))
	}
	return out
}

func ordering(o enum.AtomicOrdering) string {
	if o == enum.AtomicOrderingNone {
		return ""
	}
	return o.String()
}
