package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ptxProgram is a kernel in audit form, taken apart once for many runs.
type ptxProgram struct {
	stmts  []ptxStatement
	labels map[string]int
	params map[string]uint64
	at     map[string]int64     // offsets of parameters
	mems   map[string]*ptxPlace // operands of memory
	sm     int
}

// ptxStatement is a statement of a kernel.
type ptxStatement struct {
	guard    string // a predicate, or none
	neg      bool
	op, rest string
	parts    []string // of the mnemonic
	args     []string
	consts   []*uint64 // those of args that are numbers
}

// ptxPlace is an operand of memory: [base+off].
type ptxPlace struct {
	base string
	off  int64
}

// ptxRun executes a kernel for chosen words read, without knowing anything of the checker: what
// it does to memory, in order, is its meaning.
type ptxRun struct {
	*ptxProgram
	regs    map[string]uint64
	unknown map[string]bool    // registers whose content is not known
	reads   map[string]int     // so far, by register
	word    func(i int) uint64 // what a read gives
	effects []ptxEffect
}

// ptxEffect is one access, fence or other effect.
type ptxEffect struct {
	op   string // mnemonic in canonical form
	args string // address and operands
}

// address returns where an access goes.
func (e ptxEffect) address() string {
	a, _, _ := strings.Cut(e.args, " ")
	return a
}

var (
	entryParams = regexp.MustCompile(`\.param \.(\w+) (\w+)`)
	memOperand  = regexp.MustCompile(`^\[(%?[\w]+)((?:\+-?\d+|-\d+)*)\]$`)
	offsets     = regexp.MustCompile(`-?\d+`)
)

// paramBase is where parameter number i points to, if it is an address.
const paramBase = 1 << 32

// parsePTX takes a kernel apart; nil if it is none.
func parsePTX(text string, sm int) *ptxProgram {
	p := &ptxProgram{params: map[string]uint64{}, at: map[string]int64{}, labels: map[string]int{}, mems: map[string]*ptxPlace{}, sm: sm}
	head, body, found := strings.Cut(text, "\n{\n")
	if !found {
		return nil
	}
	head = head[strings.IndexByte(head, '('):]
	off := uint64(0)
	for _, x := range entryParams.FindAllStringSubmatch(head, -1) {
		bits, err := strconv.Atoi(x[1][1:])
		if err != nil {
			return nil
		}
		size := uint64(bits / 8)
		off = (off + size - 1) / size * size
		p.at[x[2]] = int64(off)
		p.params[x[2]] = paramBase * (off + 1)
		if size < 8 {
			p.params[x[2]] = uint64(uint32(0x9e3779b9 * (off + 7)))
		}
		off += size
	}
	for _, l := range strings.Split(body, "\n") {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, ".loc") {
			continue
		}
		for _, s := range strings.Split(l, ";") {
			if s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), "{ ")); s != "" {
				p.add(s)
			}
		}
	}
	return p
}

// add appends a statement, or notes a label.
func (p *ptxProgram) add(s string) {
	if l, found := strings.CutSuffix(s, ":"); found {
		p.labels[l] = len(p.stmts)
		return
	}
	if s == "{" || s == "}" || strings.HasPrefix(s, ".reg") {
		return
	}
	var st ptxStatement
	if strings.HasPrefix(s, "@") {
		g, rest, _ := strings.Cut(s, " ")
		st.neg = strings.HasPrefix(g, "@!")
		st.guard = strings.TrimPrefix(strings.TrimPrefix(g, "@"), "!")
		s = strings.TrimSpace(rest)
	}
	st.op, st.rest, _ = strings.Cut(s, " ")
	st.args, st.parts = splitOperands(st.rest), strings.Split(st.op, ".")
	for _, a := range st.args {
		if m := memOperand.FindStringSubmatch(a); m != nil {
			x := &ptxPlace{base: m[1]}
			for _, o := range offsets.FindAllString(m[2], -1) {
				k, _ := strconv.ParseInt(o, 10, 64)
				x.off += k
			}
			p.mems[a] = x
		}
		st.consts = append(st.consts, constant(a))
	}
	p.stmts = append(p.stmts, st)
}

// constant returns the number that an operand is, nil if it is none.
func constant(s string) *uint64 {
	var k int64
	if _, err := fmt.Sscan(s, &k); err != nil || strings.HasPrefix(s, "%") {
		return nil
	}
	u := uint64(k)
	return &u
}

// run executes the kernel. ok is false if it has something that is not understood.
func (p *ptxProgram) run(word func(int) uint64) (effects []ptxEffect, ok bool) {
	if p == nil {
		return nil, false
	}
	r := &ptxRun{ptxProgram: p, regs: map[string]uint64{}, unknown: map[string]bool{}, reads: map[string]int{}, word: word}
	for i := 0; i < len(p.stmts); i++ {
		target, stop, ok := r.statement(&p.stmts[i])
		switch {
		case !ok:
			return nil, false
		case stop:
			return r.effects, true
		case target != "":
			at, known := p.labels[target]
			if !known || at <= i {
				return nil, false
			}
			i = at - 1
		}
	}
	return r.effects, true // the end of the body is a ret
}

func (r *ptxRun) statement(s *ptxStatement) (target string, stop, ok bool) {
	if s.guard != "" {
		if r.unknown[s.guard] {
			return "", false, false
		}
		if (r.regs[s.guard] != 0) == s.neg {
			return "", false, true
		}
	}
	parts, args := s.parts, s.args
	switch parts[0] {
	case "bra":
		return args[0], false, true
	case "ret", "exit":
		return "", true, true
	case "trap", "brkpt":
		r.effects = append(r.effects, ptxEffect{op: parts[0]})
		return "", parts[0] == "trap", true
	case "nanosleep", "prefetch", "prefetchu", "pmevent", "applypriority", "griddepcontrol", "activemask":
		return "", false, true
	case "bar", "barrier":
		if len(parts) > 1 && parts[1] == "warp" {
			return "", false, true
		}
		r.effects = append(r.effects, ptxEffect{op: barrierName(parts), args: strings.Join(args, ",")})
		return "", false, true
	case "membar", "fence":
		r.effects = append(r.effects, ptxEffect{op: r.fenceName(parts)})
		return "", false, true
	case "ld", "st", "atom", "red", "ldu":
		return "", false, r.access(s)
	case "discard", "cp", "setmaxnreg":
		if s.op == "cp.async.wait_all" {
			return "", false, true // of copies that nobody began
		}
		r.effects = append(r.effects, ptxEffect{op: s.op, args: s.rest})
		return "", false, true
	}
	return "", false, r.compute(s)
}

func splitOperands(s string) (out []string) {
	depth, at := 0, 0
	for i, c := range s {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				out, at = append(out, strings.TrimSpace(s[at:i])), i+1
			}
		}
	}
	if s = strings.TrimSpace(s[at:]); s != "" {
		out = append(out, s)
	}
	return out
}

func barrierName(parts []string) string {
	p := slices.DeleteFunc(slices.Clone(parts[1:]), func(m string) bool { return m == "aligned" || m == "cta" })
	return "bar." + strings.Join(p, ".")
}

// fenceName: membar is fence.sc from sm_70 on (PTX ISA, membar).
func (r *ptxRun) fenceName(parts []string) string {
	if parts[0] == "membar" && len(parts) == 2 && r.sm >= 70 {
		if s := map[string]string{"cta": "cta", "gl": "gpu", "sys": "sys"}[parts[1]]; s != "" {
			return "fence.sc." + s
		}
	}
	if parts[0] == "fence" && len(parts) == 2 && parts[1] != "sc" && parts[1] != "acq_rel" {
		return "fence.acq_rel." + parts[1]
	}
	return strings.Join(parts, ".")
}

// width returns the size of a type in bits, 0 for what is no type.
func width(t string) int {
	if t == "pred" {
		return 1
	}
	if len(t) < 2 || !strings.ContainsRune("busf", rune(t[0])) {
		return 0
	}
	n, err := strconv.Atoi(t[1:])
	if err != nil {
		return 0
	}
	return n
}

func cutTo(v uint64, bits int) uint64 {
	if bits < 64 {
		v &= 1<<bits - 1
	}
	return v
}

// value evaluates operand k of a statement.
func (r *ptxRun) value(s *ptxStatement, k int) (v uint64, ok bool) {
	a := s.args[k]
	if strings.HasPrefix(a, "%") {
		if r.unknown[a] || a == "%laneid" || a == "%clock" {
			return 0, false
		}
		return r.regs[a], true
	}
	if c := s.consts[k]; c != nil {
		return *c, true
	}
	return 0, false
}

// access performs a memory access. Types of the same width are the same, but for
// minima, maxima and floating-point numbers; .weak and hints say nothing.
func (r *ptxRun) access(s *ptxStatement) bool {
	parts, args, first := s.parts, s.args, 0
	typ, space := "", ""
	var mods []string
	for _, m := range parts[1:] {
		if typ == "" && width(m) > 0 {
			typ = m
			continue
		}
		switch m {
		case "weak", "ca", "wb", "cs", "lu", "global", "shared", "param", "local", "const", "generic":
			if m == "shared" || m == "param" || m == "local" || m == "const" {
				space = m
			}
		default:
			mods = append(mods, m)
		}
	}
	if r.sm >= 70 && parts[0] == "ldu" {
		parts = append([]string{"ld"}, parts[1:]...)
	}
	w := width(typ)
	if w == 0 {
		return false
	}
	minmax := slices.Contains(mods, "min") || slices.Contains(mods, "max")
	kind := "b"
	if typ[0] == 'f' && (parts[0] == "atom" || parts[0] == "red") || typ[0] == 's' && minmax {
		kind = typ[:1]
	}
	load := parts[0] == "ld" || parts[0] == "atom"
	dst := ""
	if load {
		dst, first = args[0], 1
	}
	m := r.mems[args[first]]
	if m == nil {
		return false
	}
	if parts[0] == "st" && (space == "local" || space == "param") {
		return true // private memory, which nothing here reads
	}
	off := m.off
	if space == "param" {
		_, ok := r.params[m.base]
		if !ok || len(mods) > 0 || parts[0] != "ld" {
			return false
		}
		v := uint64(0x1234567 + off) // after all parameters
		for p, at := range r.at {
			if at == r.at[m.base]+off {
				v = r.params[p]
			}
		}
		r.set(dst, cutTo(v, w), true)
		return true
	}
	addr, ok := r.regs[m.base], strings.HasPrefix(m.base, "%") && !r.unknown[m.base]
	where := m.base
	if strings.HasPrefix(m.base, "%") {
		if !ok {
			return false
		}
		where = fmt.Sprintf("%#x", addr+uint64(off))
		if space == "shared" {
			where = fmt.Sprintf("%#x", uint32(addr+uint64(off))) // the upper half says nothing
		}
		if out := r.params["out"]; addr+uint64(off)-out < 1024 && parts[0] == "st" && space == "" {
			return true // a result
		}
	} else {
		where += fmt.Sprintf("+%d", off)
	}
	var vals []string
	for k := first + 1; k < len(args); k++ {
		v, ok := r.value(s, k)
		if !ok {
			return false
		}
		vals = append(vals, fmt.Sprintf("%#x", cutTo(v, w)))
	}
	slices.Sort(mods)
	e := ptxEffect{op: strings.Join(append([]string{parts[0], space}, append(mods, kind+strconv.Itoa(w))...), "."), args: where + " " + strings.Join(vals, ",")}
	r.effects = append(r.effects, e)
	if load {
		// By the register, so that a further load changes nothing for the others.
		v := cutTo(r.word(int(r.symbol(dst)>>40)+r.reads[dst]), w)
		r.reads[dst]++
		if typ[0] == 's' && w < 64 && v>>(w-1) != 0 {
			v |= ^uint64(0) << w
		}
		r.set(dst, v, true)
	}
	return true
}

func (r *ptxRun) set(dst string, v uint64, known bool) {
	if dst == "_" {
		return
	}
	r.regs[dst] = v
	r.unknown[dst] = !known
}

// compute executes an instruction on registers.
func (r *ptxRun) compute(s *ptxStatement) bool {
	parts, args := s.parts, s.args
	if len(args) < 2 {
		return false
	}
	typ := parts[len(parts)-1]
	w := width(typ)
	if strings.HasPrefix(args[0], "{") { // mov.b64 {lo, hi}, src
		v, ok := r.value(s, 1)
		d := splitOperands(strings.Trim(args[0], "{}"))
		if parts[0] != "mov" || len(d) != 2 || w == 0 {
			return false
		}
		r.set(d[0], cutTo(v, w/2), ok)
		r.set(d[1], cutTo(v>>(w/2), w/2), ok)
		return true
	}
	var v []uint64
	ok := w > 0
	for k, a := range args[1:] {
		x, known := r.value(s, k+1)
		if !strings.HasPrefix(a, "%") && !known {
			x, known = r.symbol(a), true
		}
		ok = ok && known
		v = append(v, x)
	}
	if !ok || typ[0] == 'f' {
		r.set(args[0], 0, false)
		return true
	}
	x, ok := arithmetic(parts, v, w, typ[0] == 's')
	r.set(args[0], x, ok)
	return true
}

// symbol returns the address of a variable.
func (r *ptxRun) symbol(name string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h | 1<<63
}

// arithmetic computes what the tests' kernels use; anything else is not known.
func arithmetic(parts []string, v []uint64, w int, signed bool) (uint64, bool) {
	ext := func(x uint64) int64 {
		x = cutTo(x, w)
		if signed && w < 64 && x>>(w-1) != 0 {
			x |= ^uint64(0) << w
		}
		return int64(x)
	}
	plain := len(parts) == 2
	switch op := parts[0]; {
	case op == "mov" && plain:
		return cutTo(v[0], w), true
	case op == "setp" && len(parts) == 3 && len(v) == 2:
		a, b := ext(v[0]), ext(v[1])
		less := a < b
		if !signed {
			less = uint64(a) < uint64(b)
		}
		r, ok := map[string]bool{"eq": a == b, "ne": a != b, "lt": less, "le": less || a == b, "gt": !less && a != b, "ge": !less,
			"lo": uint64(a) < uint64(b), "ls": uint64(a) <= uint64(b), "hi": uint64(a) > uint64(b), "hs": uint64(a) >= uint64(b)}[parts[1]]
		if r {
			return 1, ok
		}
		return 0, ok
	case op == "selp" && plain && len(v) == 3:
		if v[2] != 0 {
			return cutTo(v[0], w), true
		}
		return cutTo(v[1], w), true
	case op == "cvt" && len(parts) == 3 && len(v) == 1:
		from := parts[2]
		fw := width(from)
		x := cutTo(v[0], fw)
		if from[0] == 's' && fw < 64 && fw > 0 && x>>(fw-1) != 0 {
			x |= ^uint64(0) << fw
		}
		// parts[1] is the result's type; typ is the source's.
		rw := width(parts[1])
		return cutTo(x, rw), fw > 0 && rw > 0 && parts[1][0] != 'f'
	case op == "not" && plain && len(v) == 1:
		return cutTo(^v[0], w), true
	case len(v) != 2:
		return 0, false
	case op == "add" && plain:
		return cutTo(v[0]+v[1], w), true
	case op == "sub" && plain:
		return cutTo(v[0]-v[1], w), true
	case op == "mul" && len(parts) == 3 && parts[1] == "lo":
		return cutTo(v[0]*v[1], w), true
	case op == "and" && plain:
		return cutTo(v[0]&v[1], w), true
	case op == "or" && plain:
		return cutTo(v[0]|v[1], w), true
	case op == "xor" && plain:
		return cutTo(v[0]^v[1], w), true
	case op == "shl" && plain:
		return cutTo(cutTo(v[0], w)<<min(v[1]&0xffffffff, 64), w), true
	case op == "shr" && plain && signed:
		return cutTo(uint64(ext(v[0])>>min(v[1]&0xffffffff, 63)), w), true
	case op == "shr" && plain:
		return cutTo(v[0], w) >> min(v[1]&0xffffffff, 64), true
	}
	return 0, false
}

// ptxSamples are words for which two kernels are compared.
var ptxSamples = func() (list []func(int) uint64) {
	special := []uint64{0, 1, 2, 3, 5, 0x80000000, 0xffffffff, 0x7fffffff, 0x40000000, 0xc0000000, 123456, 0x8000000000000000, 0xffffffffffffffff, 1 << 33}
	for i := range 400 {
		list = append(list, func(n int) uint64 {
			h := uint64(i*31+n+1) * 0x9e3779b97f4a7c15
			h ^= h >> 29
			if h%16 < 14 {
				return special[h>>7%uint64(len(special))]
			}
			return h * 0xbf58476d1ce4e5b9
		})
	}
	return list
}()

// samplesOf are the effects of a kernel for the samples, nil from the first on that is not
// understood.
func samplesOf(text string, sm int) [][]ptxEffect {
	out, p := make([][]ptxEffect, len(ptxSamples)), parsePTX(text, sm)
	for i, w := range ptxSamples {
		effects, ok := p.run(w)
		if !ok {
			break
		}
		out[i] = append([]ptxEffect{}, effects...)
	}
	return out
}

// samePTX reports whether a kernel does the same for all samples as one whose effects are known.
func samePTX(honest [][]ptxEffect, p *ptxProgram) bool {
	for i, w := range ptxSamples {
		got, ok := p.run(w)
		if !ok || honest[i] == nil || !slices.Equal(honest[i], got) {
			return false
		}
	}
	return true
}
