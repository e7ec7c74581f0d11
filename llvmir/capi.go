//go:build linux

package llvmir

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// ref is a pointer returned by LLVM.
type ref uintptr

// library is the part of LLVM's C interface (llvm-c/Core.h, IRReader.h) that is used; its
// functions have been stable since LLVM 15.
type library struct {
	contextCreate    func() ref
	bufferCopy       func(*byte, uintptr, *byte) ref
	parse            func(ref, ref, *ref, **byte) int32
	disposeMessage   func(*byte)
	firstFunction    func(ref) ref
	nextFunction     func(ref) ref
	isDeclaration    func(ref) int32
	name             func(ref, *uintptr) *byte
	firstBlock       func(ref) ref
	nextBlock        func(ref) ref
	firstInst        func(ref) ref
	nextInst         func(ref) ref
	opcode           func(ref) int32
	constOpcode      func(ref) int32
	numOperands      func(ref) int32
	operand          func(ref, uint32) ref
	volatileOf       func(ref) int32
	orderingOf       func(ref) int32
	successOrdering  func(ref) int32
	rmwOp            func(ref) int32
	print            func(ref) *byte
	countParams      func(ref) uint32
	param            func(ref, uint32) ref
	isGlobalVariable func(ref) ref
	isFunction       func(ref) ref
	isConstantInt    func(ref) ref
	isConstantExpr   func(ref) ref
	isAsm            func(ref) ref
	isBlock          func(ref) ref
	constSExt        func(ref) int64
	countIncoming    func(ref) uint32
	incoming         func(ref, uint32) ref
	gepElement       func(ref) ref
	typeKind         func(ref) int32
	intWidth         func(ref) uint32
	arrayLength      func(ref) uint32
	elementType      func(ref) ref
	calledValue      func(ref) ref
	terminator       func(ref) ref
	countSuccessors  func(ref) uint32
	successor        func(ref, uint32) ref
}

func openLibrary(path string) (l *library, err error) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	l = &library{}
	for _, f := range []struct {
		to   any
		name string
	}{{&l.contextCreate, "ContextCreate"}, {&l.bufferCopy, "CreateMemoryBufferWithMemoryRangeCopy"}, {&l.parse, "ParseIRInContext"},
		{&l.disposeMessage, "DisposeMessage"}, {&l.firstFunction, "GetFirstFunction"}, {&l.nextFunction, "GetNextFunction"},
		{&l.isDeclaration, "IsDeclaration"}, {&l.name, "GetValueName2"}, {&l.firstBlock, "GetFirstBasicBlock"},
		{&l.nextBlock, "GetNextBasicBlock"},
		{&l.firstInst, "GetFirstInstruction"}, {&l.nextInst, "GetNextInstruction"}, {&l.opcode, "GetInstructionOpcode"},
		{&l.constOpcode, "GetConstOpcode"}, {&l.numOperands, "GetNumOperands"}, {&l.operand, "GetOperand"}, {&l.volatileOf, "GetVolatile"},
		{&l.orderingOf, "GetOrdering"}, {&l.successOrdering, "GetCmpXchgSuccessOrdering"}, {&l.rmwOp, "GetAtomicRMWBinOp"},
		{&l.print, "PrintValueToString"}, {&l.countParams, "CountParams"}, {&l.param, "GetParam"}, {&l.isGlobalVariable, "IsAGlobalVariable"},
		{&l.isFunction, "IsAFunction"}, {&l.isConstantInt, "IsAConstantInt"}, {&l.isConstantExpr, "IsAConstantExpr"}, {&l.isAsm, "IsAInlineAsm"},
		{&l.isBlock, "IsABasicBlock"}, {&l.constSExt, "ConstIntGetSExtValue"}, {&l.countIncoming, "CountIncoming"},
		{&l.incoming, "GetIncomingValue"},
		{&l.gepElement, "GetGEPSourceElementType"}, {&l.typeKind, "GetTypeKind"}, {&l.intWidth, "GetIntTypeWidth"},
		{&l.arrayLength, "GetArrayLength"}, {&l.elementType, "GetElementType"}, {&l.calledValue, "GetCalledValue"},
		{&l.terminator, "GetBasicBlockTerminator"}, {&l.countSuccessors, "GetNumSuccessors"}, {&l.successor, "GetSuccessor"}} {
		addr, err := purego.Dlsym(h, "LLVM"+f.name)
		if err != nil {
			return nil, fmt.Errorf("%s has no LLVM%s: %w", path, f.name, err)
		}
		purego.RegisterFunc(f.to, addr)
	}
	return l, nil
}

// ReadLibrary reads IR with the libLLVM at path, in this process. The library
// may abort the process; see Main.
func ReadLibrary(path, file string, text []byte) ([]Func, error) {
	if len(text) == 0 || len(text) > MaxInput {
		return nil, fmt.Errorf("%s: %d bytes of LLVM IR, 1 to %d are read", file, len(text), MaxInput)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l, err := openLibrary(path)
	if err != nil {
		return nil, err
	}
	ctx := l.contextCreate()
	name := append([]byte(file), 0)
	buf := l.bufferCopy(&text[0], uintptr(len(text)), &name[0])
	var module ref
	var msg *byte
	if l.parse(ctx, buf, &module, &msg) != 0 {
		return nil, fmt.Errorf("%s: %s", file, strings.TrimSpace(text0(msg)))
	}
	var funcs []Func
	for f := l.firstFunction(module); f != 0; f = l.nextFunction(f) {
		if l.isDeclaration(f) != 0 {
			continue
		}
		g, err := l.graph(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		funcs = append(funcs, g.analyse())
	}
	// The module and its context end with the process.
	return funcs, nil
}

// text0 copies a C string.
func text0(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

func (l *library) nameOf(v ref) string {
	var n uintptr
	p := l.name(v, &n)
	if p == nil || n == 0 {
		return ""
	}
	return string(unsafe.Slice(p, n))
}

// Opcodes of llvm-c/Core.h.
var opcodes = map[int32]string{26: "alloca", 27: Load, 28: Store, 29: "getelementptr", 39: "ptrtoint", 40: "inttoptr", 41: "bitcast",
	44: "phi", 45: Call, 55: Fence, 56: CmpXchg, 57: AtomicRMW, 60: "addrspacecast", 68: "freeze"}

var orderings = map[int32]string{1: "unordered", 2: "monotonic", 4: "acquire", 5: "release", 6: "acq_rel", 7: "seq_cst"}

var rmwOps = []string{"xchg", "add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin", "fadd", "fsub",
	"fmax", "fmin", "uinc_wrap", "udec_wrap"}

var fenceText = regexp.MustCompile(`fence (?:syncscope\("[^"]*"\) )?(\w+)`)

var scopeText = regexp.MustCompile(` syncscope\("([^"]*)"\)`)

// nativeReader turns a function of LLVM's into a graph.
type nativeReader struct {
	l   *library
	g   graph
	ids map[ref]int
}

func (l *library) graph(f ref) (*graph, error) {
	r := &nativeReader{l: l, g: graph{name: l.nameOf(f)}, ids: map[ref]int{}}
	for i := range l.countParams(f) {
		r.ids[l.param(f, i)] = len(r.g.nodes)
		r.g.nodes = append(r.g.nodes, node{kind: nArg, num: int64(i)})
	}
	var insts []ref
	var blocks []int
	number, numbers := 0, map[ref]int{}
	for b := l.firstBlock(f); b != 0; b = l.nextBlock(b) {
		numbers[b] = len(numbers)
	}
	for b := l.firstBlock(f); b != 0; b = l.nextBlock(b) {
		var next []int
		t := l.terminator(b)
		for i := range l.countSuccessors(t) {
			next = append(next, numbers[l.successor(t, i)])
		}
		r.g.succs = append(r.g.succs, next)
	}
	for b := l.firstBlock(f); b != 0; b = l.nextBlock(b) {
		number++
		for in := l.firstInst(b); in != 0; in = l.nextInst(in) {
			r.ids[in] = len(r.g.nodes)
			r.g.order = append(r.g.order, len(r.g.nodes))
			r.g.nodes = append(r.g.nodes, node{kind: nInst})
			insts, blocks = append(insts, in), append(blocks, number-1)
			if len(insts) > maxNodes {
				return nil, errors.New("a function has too many instructions")
			}
		}
	}
	for i, in := range insts {
		n := r.instruction(in)
		n.Block = blocks[i]
		r.g.nodes[r.g.order[i]] = n
	}
	return &r.g, nil
}

func (r *nativeReader) id(v ref) int {
	if id, ok := r.ids[v]; ok {
		return id
	}
	l, n := r.l, node{}
	switch {
	case l.isGlobalVariable(v) != 0 || l.isFunction(v) != 0:
		n = node{kind: nGlobal, name: l.nameOf(v)}
	case l.isConstantInt(v) != 0:
		n = node{kind: nConst, num: l.constSExt(v)}
	case l.isConstantExpr(v) != 0:
		n = node{op: opcodes[l.constOpcode(v)]}
		if n.op == "getelementptr" {
			n.num = r.offset(v)
		}
		for i := range uint32(l.numOperands(v)) {
			n.ops = append(n.ops, r.id(l.operand(v, i)))
		}
	}
	id := len(r.g.nodes)
	r.g.nodes = append(r.g.nodes, n)
	r.ids[v] = id
	return id
}

// offset returns the number of bytes that the constant indices of a getelementptr
// add.
func (r *nativeReader) offset(v ref) int64 {
	l := r.l
	t := l.gepElement(v)
	var off int64
	for i := uint32(1); i < uint32(l.numOperands(v)); i++ {
		if i > 1 {
			if l.typeKind(t) != kindArray {
				return off
			}
			t = l.elementType(t)
		}
		if c := l.operand(v, i); l.isConstantInt(c) != 0 {
			off += l.constSExt(c) * r.size(t)
		}
	}
	return off
}

// Kinds of type of llvm-c/Core.h.
const (
	kindInteger = 8
	kindArray   = 11
	kindPointer = 12
)

func (r *nativeReader) size(t ref) int64 {
	switch r.l.typeKind(t) {
	case kindInteger:
		return int64(r.l.intWidth(t)+7) / 8
	case kindArray:
		return int64(r.l.arrayLength(t)) * r.size(r.l.elementType(t))
	case kindPointer:
		return 8
	}
	return 0
}

func (r *nativeReader) instruction(in ref) node {
	l := r.l
	n := node{kind: nInst, op: opcodes[l.opcode(in)]}
	operands := uint32(l.numOperands(in))
	switch n.op {
	case Load, Store:
		n.Volatile, n.Ordering = l.volatileOf(in) != 0, orderings[l.orderingOf(in)]
	case AtomicRMW:
		n.Volatile, n.Ordering = l.volatileOf(in) != 0, orderings[l.orderingOf(in)]
		if op := l.rmwOp(in); int(op) < len(rmwOps) {
			n.Detail = rmwOps[op]
		}
	case CmpXchg:
		n.Volatile, n.Ordering = l.volatileOf(in) != 0, orderings[l.successOrdering(in)]
	case Fence: // not every release's LLVMGetOrdering knows fences
		p := l.print(in)
		if m := fenceText.FindStringSubmatch(text0(p)); m != nil {
			n.Ordering = m[1]
		}
		l.disposeMessage(p)
	case Call:
		if c := l.calledValue(in); l.isFunction(c) != 0 {
			n.Detail = l.nameOf(c)
		} else if l.isAsm(c) != 0 {
			n.Detail = "asm"
		}
		operands-- // the function called
	case "getelementptr":
		n.num = r.offset(in)
	case "phi":
		for i := range l.countIncoming(in) {
			n.ops = append(n.ops, r.id(l.incoming(in, i)))
		}
		return n
	case "":
		n.op = "compute"
	}
	if n.Ordering != "" {
		p := l.print(in)
		if m := scopeText.FindStringSubmatch(text0(p)); m != nil {
			n.Scope = m[1]
		}
		l.disposeMessage(p)
	}
	for i := range operands {
		if o := l.operand(in, i); o != 0 && l.isBlock(o) == 0 {
			n.ops = append(n.ops, r.id(o))
		}
	}
	return n
}
