package fakeptxas

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mnemonic is an access's or a fence's name taken apart.
type mnemonic struct {
	name, sem, scope, space, cache, atom, vec, typ string
	rest                                           []string
}

var modifierSets = map[string][]string{
	"sem":   {"weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "mmio"},
	"scope": {"cta", "cluster", "gpu", "sys", "gl"},
	"space": {"global", "shared", "local", "param", "const", "shared::cta", "shared::cluster"},
	"cache": {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"},
	"atom":  {"add", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max"},
	"vec":   {"v2", "v4", "v8"},
}

var typeName = regexp.MustCompile(`^([busf])(8|16|32|64|128)$`)

func parseMnemonic(op string) mnemonic {
	parts := strings.Split(op, ".")
	m := mnemonic{name: parts[0]}
	for _, p := range parts[1:] {
		switch {
		case typeName.MatchString(p):
			m.typ = p
		case slices.Contains(modifierSets["sem"], p):
			m.sem = p
		case slices.Contains(modifierSets["scope"], p):
			m.scope = p
		case slices.Contains(modifierSets["space"], p):
			m.space = p
		case slices.Contains(modifierSets["cache"], p):
			m.cache = p
		case slices.Contains(modifierSets["atom"], p):
			m.atom = p
		case slices.Contains(modifierSets["vec"], p):
			m.vec = p
		default:
			m.rest = append(m.rest, p)
		}
	}
	return m
}

// String returns the mnemonic in the order of the PTX manual.
func (m mnemonic) String() string {
	s := m.name
	for _, p := range append([]string{m.sem, m.scope, m.space, m.cache, m.atom, m.vec}, append(m.rest, m.typ)...) {
		if p != "" {
			s += "." + p
		}
	}
	return s
}

// bytes returns the size of one word of an access.
func (m mnemonic) bytes() int64 {
	if t := typeName.FindStringSubmatch(m.typ); t != nil {
		n, _ := strconv.Atoi(t[2])
		return int64(n / 8)
	}
	return 0
}

// weak reports whether an access is one that a compiler may treat as nobody
// else's.
func (m mnemonic) weak() bool {
	return (m.sem == "" && m.name != "atom" && m.name != "red" || m.sem == "weak") && m.cache != "cv"
}

// sync is how an instruction orders accesses: a set, so that a pass can name what
// it moves or eliminates across.
type sync int

// The kinds of order.
const (
	acquires sync = 1 << iota // ld.acquire
	releases                  // st.release
	acqRel                    // fence.acq_rel, .acquire, .release
	seqCst                    // fence.sc, membar
	barriers                  // bar, barrier
	atomics                   // atom, red
	calls                     // call
	none     sync = 0
	fences        = acqRel | seqCst
	anything      = acquires | releases | acqRel | seqCst | barriers | atomics
)

func (in *inst) sync() sync {
	m := parseMnemonic(in.op)
	switch m.name {
	case "ld":
		if m.sem == "acquire" {
			return acquires
		}
	case "st":
		if m.sem == "release" {
			return releases
		}
	case "atom", "red":
		return atomics
	case "membar":
		return seqCst
	case "fence":
		if m.sem == "acq_rel" || m.sem == "acquire" || m.sem == "release" {
			return acqRel
		}
		return seqCst
	case "bar", "barrier":
		return barriers
	case "call":
		return calls
	}
	return none
}

// ref is an access to memory that other threads may see.
type ref struct {
	mnemonic
	i    int // of the instruction
	addr value
}

// isAccess reports whether an instruction is one, of the test and not of the
// markers, which stand on lines from 2000 on.
func (in *inst) isAccess() bool {
	switch in.name() {
	case "ld", "st", "atom", "red":
		m := parseMnemonic(in.op)
		return m.space != "param" && m.space != "local" && m.space != "const" && in.line() < 2000
	}
	return false
}

// line returns the number in the line directive, 0 without one.
func (in *inst) line() int {
	f := strings.Fields(in.loc)
	if len(f) < 3 {
		return 0
	}
	n, _ := strconv.Atoi(f[2])
	return n
}

// address returns the operand in brackets.
func (in *inst) address() string {
	for _, a := range in.args {
		if strings.HasPrefix(a, "[") {
			return strings.TrimSpace(strings.Trim(a, "[]"))
		}
	}
	return ""
}

func (a *ref) reads() bool  { return a.name == "ld" || a.name == "atom" || a.name == "red" }
func (a *ref) writes() bool { return a.name != "ld" }

// word reports whether an access is an ld or st of one word of 32 or 64 bits.
func (a *ref) word() bool {
	return (a.name == "ld" || a.name == "st") && a.vec == "" && (a.bytes() == 4 || a.bytes() == 8)
}

// size returns the number of bytes that an access touches.
func (a *ref) size() int64 {
	n := map[string]int64{"": 1, "v2": 2, "v4": 4, "v8": 8}[a.vec]
	return n * a.bytes()
}

// same reports whether two accesses surely are to the same bytes.
func (a *ref) same(b *ref) bool {
	return a.space == b.space && a.addr == b.addr && a.size() == b.size()
}

// overlaps reports whether two accesses may touch the same bytes. Parameters and
// variables are taken for different objects, as those of tests are.
func (a *ref) overlaps(b *ref) bool {
	if a.space != b.space {
		return a.space == "" || b.space == ""
	}
	if a.addr.base != b.addr.base {
		return !a.addr.object || !b.addr.object
	}
	return a.addr.off < b.addr.off+b.size() && b.addr.off < a.addr.off+a.size()
}
