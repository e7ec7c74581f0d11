package ptxtext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Access is one instruction that accesses memory or orders accesses. Loads of parameters do not
// count.
type Access struct {
	// Op is ld, st, atom, red, fence, membar, bar, or the first word of any
	// other instruction that may touch memory.
	Op string
	// Sem, Scope, Space, Cache and Atom are the modifiers of these kinds as written (acquire,
	// gpu, global, cg, exch), "" if there is none; volatile is a Sem. Width is the size in
	// bytes of all words of a vector.
	Sem, Scope, Space, Cache, Atom string
	Width                          int
	// Arg is the index of the parameter that the address comes from, -1 if there is none;
	// Global is the variable that it comes from. Offset is the constant part of the distance
	// from there, in bytes.
	Arg    int
	Global string
	Offset int64
	// Maybe is set if some path through the kernel avoids it, or if it has a predicate.
	Maybe bool
	// Addr, Data and Cond list the accesses (indices into the kernel's) whose
	// values flow into the address, into what is stored or combined, and into the
	// conditions under which it is performed.
	Addr, Data, Cond []int
	Text             string

	block int
	guard []int
}

// Limits of what is read from one kernel.
const (
	maxAccesses = 1024
	maxBlocks   = 256
)

// value is what a register may hold: an address from one base, and the accesses
// that it was computed from.
type value struct {
	arg    int // -1: none
	global string
	off    int64
	konst  bool // off is all there is
	from   []int
}

// block is a basic block.
type block struct {
	next    []int // blocks that may follow; the number of blocks for the end
	cond    []int // accesses that decide between them
	jumps   []string
	falls   bool
	decided bool // ends with a conditional branch
}

// reader reads one kernel.
type reader struct {
	name   string
	regs   map[string]value
	acc    []Access
	blocks []block
	labels map[string]int
}

// Accesses lists what a kernel does to memory in text order. The text is that of Kernel.Text.
// The error is non-nil for text that is not a kernel or has branches that are not understood.
func Accesses(k *Kernel) ([]Access, error) {
	at := strings.Index(k.Text, ".entry "+k.Name)
	if at < 0 {
		return nil, fmt.Errorf("no entry %s", k.Name)
	}
	begin := strings.Index(k.Text[at:], "{")
	end := strings.LastIndex(k.Text, "}")
	if begin < 0 || end < at+begin {
		return nil, fmt.Errorf("entry %s has no body", k.Name)
	}
	r := &reader{name: k.Name, regs: map[string]value{}, labels: map[string]int{}, blocks: []block{{falls: true}}}
	for line := range strings.Lines(k.Text[at+begin+1 : end]) {
		code := strings.TrimSpace(uncomment(line))
		for code != "" {
			if label, rest, ok := labelOf(code); ok {
				r.open()
				r.labels[label] = len(r.blocks) - 1
				code = rest
				continue
			}
			stmt, rest, _ := strings.Cut(code, ";")
			if err := r.statement(strings.TrimSpace(strings.TrimLeft(stmt, "{} \t"))); err != nil {
				return nil, err
			}
			code = strings.TrimLeft(rest, "{} \t")
		}
		if len(r.acc) > maxAccesses || len(r.blocks) > maxBlocks {
			return nil, fmt.Errorf("entry %s: more than %d accesses or %d blocks", k.Name, maxAccesses, maxBlocks)
		}
	}
	return r.acc, r.conditions()
}

// labelOf splits a label off the beginning of a line.
func labelOf(code string) (label, rest string, ok bool) {
	id := identifier(code)
	if id == "" || !strings.HasPrefix(code[len(id):], ":") || strings.HasPrefix(code[len(id):], "::") {
		return "", "", false
	}
	return id, strings.TrimSpace(code[len(id)+1:]), true
}

// open begins a basic block after one that may fall through.
func (r *reader) open() {
	r.blocks = append(r.blocks, block{falls: true})
}

func (r *reader) cur() *block { return &r.blocks[len(r.blocks)-1] }

// statement reads one instruction or directive.
func (r *reader) statement(s string) error {
	if s == "" || s[0] == '.' {
		return nil
	}
	var guard []int
	guarded := false
	if s[0] == '@' {
		pred := strings.TrimPrefix(s[1:], "!")
		id := identifier(pred)
		guard, guarded, s = r.regs[id].from, true, strings.TrimSpace(pred[len(id):])
	}
	word := s
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		word = s[:i]
	}
	ops := operandsOf(s[len(word):])
	mods := strings.Split(word, ".")
	switch mods[0] {
	case "bra":
		if len(ops) != 1 {
			return fmt.Errorf("branch %q not understood", s)
		}
		r.jump(ops[0], guarded, guard)
		return nil
	case "ret", "exit":
		r.jump("", guarded, guard)
		return nil
	case "brx":
		return fmt.Errorf("indirect branch %q", s)
	}
	switch mods[0] {
	case "ld", "ldu", "st", "atom", "red", "fence", "membar", "bar", "barrier", "call", "cp", "multimem", "ldmatrix", "prefetch":
		r.access(s, mods, ops, guarded, guard)
		return nil
	}
	r.compute(mods[0], ops, guarded, guard)
	return nil
}

// jump ends a block with a branch to a label, or for "" to the end of the kernel.
func (r *reader) jump(label string, guarded bool, from []int) {
	b := r.cur()
	b.jumps = append(b.jumps, label)
	b.falls = guarded
	if guarded {
		b.decided, b.cond = true, from
	}
	r.open()
}

// operandsOf splits operands at the commas outside of brackets and braces.
func operandsOf(s string) []string {
	var out []string
	depth, begin := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case ',':
			if depth == 0 {
				out, begin = append(out, strings.TrimSpace(s[begin:i])), i+1
			}
		}
	}
	if last := strings.TrimSpace(s[begin:]); last != "" {
		out = append(out, last)
	}
	return out
}

// operand evaluates a register, a constant or a name.
func (r *reader) operand(s string) value {
	if v, ok := r.regs[s]; ok {
		return v
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return value{arg: -1, off: n, konst: true}
	}
	if id := identifier(s); id == s && s != "" && s[0] != '%' {
		return value{arg: -1, global: s}
	}
	v := value{arg: -1} // several registers: only what flows counts
	for id := range identifiers(s) {
		v.from = union(v.from, r.regs[id].from)
	}
	return v
}

// address evaluates [base+offset].
func (r *reader) address(s string) value {
	s = strings.Trim(s, "[]")
	base, off, plus := strings.Cut(s, "+")
	v := r.operand(strings.TrimSpace(base))
	if plus {
		if n, err := strconv.ParseInt(strings.TrimSpace(off), 0, 64); err == nil {
			v.off += n
		}
	}
	return v
}

func union(a, b []int) []int {
	if len(b) == 0 {
		return a
	}
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// compute sets the destination of an instruction that does not access memory.
func (r *reader) compute(op string, ops []string, guarded bool, guard []int) {
	if len(ops) == 0 {
		return
	}
	v := value{arg: -1}
	var in []value
	for _, o := range ops[1:] {
		x := r.operand(o)
		in = append(in, x)
		v.from = union(v.from, x.from)
	}
	switch {
	case (op == "mov" || op == "cvta" || op == "cvt") && len(in) == 1:
		v.arg, v.global, v.off, v.konst = in[0].arg, in[0].global, in[0].off, in[0].konst
	case (op == "add" || op == "or" || op == "sub") && len(in) == 2:
		v = sum(op, v, in[0], in[1])
	}
	r.set(ops[0], v, guarded, guard)
}

// sum adds a constant, or a value of which only the flow counts, to an address.
func sum(op string, v, a, b value) value {
	if !a.based() && b.based() && op != "sub" {
		a, b = b, a
	}
	if b.based() {
		return v
	}
	v.arg, v.global, v.off, v.konst = a.arg, a.global, a.off, a.konst && b.konst
	switch {
	case b.konst && op == "add":
		v.off += b.off
	case b.konst && op == "sub":
		v.off -= b.off
	case b.konst && a.off&b.off == 0: // or
		v.off += b.off
	case b.konst:
		v.arg, v.global = -1, ""
	}
	return v
}

func (v value) based() bool { return v.arg >= 0 || v.global != "" }

// set defines registers. A register that is set more than once merges paths.
func (r *reader) set(dst string, v value, guarded bool, guard []int) {
	if guarded {
		v.from = union(v.from, guard)
	}
	for id := range identifiers(dst) {
		if id == "" || id[0] != '%' {
			continue
		}
		if old, ok := r.regs[id]; ok {
			v.from = union(v.from, old.from)
			if old.arg != v.arg || old.global != v.global || old.off != v.off {
				v.arg, v.global, v.konst = -1, "", false
			}
		}
		r.regs[id] = v
	}
}

// Kinds of modifiers.
const (
	mSem = 1 + iota
	mScope
	mSpace
	mCache
	mAtom
)

var modifiers = map[string]int{
	"weak": mSem, "volatile": mSem, "relaxed": mSem, "acquire": mSem, "release": mSem, "acq_rel": mSem, "sc": mSem, "mmio": mSem,
	"cta": mScope, "cluster": mScope, "gpu": mScope, "sys": mScope, "gl": mScope,
	"global": mSpace, "shared": mSpace, "param": mSpace, "local": mSpace, "const": mSpace,
	"ca": mCache, "cg": mCache, "cs": mCache, "lu": mCache, "cv": mCache, "wb": mCache, "wt": mCache,
	"add": mAtom, "inc": mAtom, "dec": mAtom, "exch": mAtom, "cas": mAtom, "and": mAtom, "or": mAtom, "xor": mAtom, "min": mAtom, "max": mAtom,
}

// modify applies the modifiers of an access.
func (a *Access) modify(mods []string) {
	words := 1
	for _, m := range mods {
		m, _, _ = strings.Cut(m, "::") // shared::cta
		switch modifiers[m] {
		case mSem:
			if a.Sem != "mmio" { // .mmio.relaxed
				a.Sem = m
			}
		case mScope:
			a.Scope = m
		case mSpace:
			a.Space = m
		case mCache:
			a.Cache = m
		case mAtom:
			a.Atom = m
		default:
			switch {
			case m == "v2" || m == "v4":
				words = int(m[1] - '0')
			case len(m) > 1 && strings.ContainsRune("busf", rune(m[0])):
				if n, err := strconv.Atoi(m[1:]); err == nil && n <= 128 {
					a.Width = n / 8
				}
			}
		}
	}
	a.Width *= words
}

// access reads an instruction that touches memory.
func (r *reader) access(s string, mods, ops []string, guarded bool, guard []int) {
	a := Access{Op: mods[0], Arg: -1, Text: strings.Join(strings.Fields(s), " "), block: len(r.blocks) - 1, guard: guard, Maybe: guarded}
	a.modify(mods[1:])
	if a.Op == "barrier" {
		a.Op = "bar"
	}
	if a.Op == "ld" && a.Space == "param" {
		v := value{arg: -1}
		if len(ops) == 2 {
			v.arg = r.param(ops[1])
		}
		r.set(first(ops), v, guarded, guard)
		return
	}
	var addr value
	for i, o := range ops {
		switch {
		case strings.HasPrefix(o, "["):
			addr = r.address(o)
			a.Arg, a.Global, a.Offset, a.Addr = addr.arg, addr.global, addr.off, addr.from
		case i > 0 || a.Op == "st" || a.Op == "red":
			a.Data = union(a.Data, r.operand(o).from)
		}
	}
	r.acc = append(r.acc, a)
	if a.Op == "ld" || a.Op == "ldu" || a.Op == "atom" {
		r.set(first(ops), value{arg: -1, from: []int{len(r.acc) - 1}}, guarded, guard)
	}
}

func first(ops []string) string {
	if len(ops) == 0 {
		return ""
	}
	return ops[0]
}

// param returns the index of the parameter that [NAME_param_2] names, -1 for none.
func (r *reader) param(s string) int {
	n, ok := strings.CutPrefix(strings.Trim(s, "[]"), r.name+"_param_")
	i, err := strconv.Atoi(n)
	if !ok || err != nil || i < 0 {
		return -1
	}
	return i
}
