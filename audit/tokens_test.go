package audit

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// tokenMutant is a kernel with one change of its text.
type tokenMutant struct {
	kind string
	text string
	line string // what became of the line that was changed
}

// groups of modifiers that stand for one another.
var modifierGroups = [][]string{
	{"weak", "relaxed", "acquire", "release", "acq_rel", "volatile", "sc"},
	{"cta", "cluster", "gpu", "sys", "gl"},
	{"global", "shared", "local", "param", "const"},
	{"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"},
	{"b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f32", "f64", "f16x2", "noftz.f16x2", "pred"},
	{"add", "inc", "dec", "exch", "cas", "and", "or", "xor", "min", "max"},
	{"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"},
	{"lo", "hi", "wide"},
	{"sync", "arrive"},
	{"v2", "v4"},
}

// groups of opcodes that stand for one another.
var opcodeGroups = [][]string{
	{"ld", "ldu", "st", "atom", "red", "prefetch"},
	{"membar", "fence"},
	{"add", "sub", "mul", "mul.lo", "min", "max", "div", "rem", "and", "or", "xor", "shl", "shr"},
	{"mov", "not", "neg", "cvt", "abs", "popc", "clz", "brev", "cnot"},
	{"setp", "set", "selp"},
	{"bar", "barrier"},
	{"ret", "exit", "trap", "brkpt"},
}

// inserted are the instructions that are put between others: %A is an address of
// the test, %D a register with a value of it, %N a new register, %P a predicate.
var inserted = []string{
	"membar.cta;", "membar.gl;", "membar.sys;", "fence.sc.cta;", "fence.sc.gpu;", "fence.sc.sys;", "fence.acq_rel.cta;", "fence.acq_rel.gpu;", "fence.acq_rel.sys;",
	"fence.proxy.alias;", "bar.sync 0;", "bar.sync 1;", "bar.sync 0, 32;", "bar.arrive 0, 64;", "barrier.sync 2;", "bar.warp.sync 0xffffffff;", "barrier.cluster.arrive;",
	"trap;", "brkpt;", "exit;", "ret;", "@%P trap;", "@%P exit;", "@!%P ret;", "nanosleep.u32 100;", "pmevent 1;", "griddepcontrol.wait;", "griddepcontrol.launch_dependents;",
	"discard.global.L2 [%A], 128;", "applypriority.global.L2::evict_normal [%A], 128;", "prefetch.global.L1 [%A];", "prefetch.global.L2 [%A];", "prefetchu.L1 [%A];",
	"ld.global.u32 %N, [%A];", "ld.volatile.global.u32 %N, [%A];", "ld.relaxed.gpu.global.u32 %N, [%A];", "ld.acquire.gpu.global.u32 %N, [%A];", "ld.global.nc.u32 %N, [%A];",
	"st.global.u32 [%A], %D;", "st.volatile.global.u32 [%A], 7;", "st.relaxed.gpu.global.u32 [%A], 7;", "st.release.gpu.global.u32 [%A], 7;", "st.global.u8 [%A], 7;",
	"st.global.v2.u32 [%A], {%D, %D};", "st.local.u32 [0], %D;",
	"atom.global.add.u32 %N, [%A], 1;", "atom.global.exch.b32 %N, [%A], 7;", "atom.global.cas.b32 %N, [%A], 0, 7;", "red.global.add.u32 [%A], 1;", "red.global.add.f32 [%A], 0f3f800000;",
	"red.global.max.s32 [%A], 5;", "atom.global.add.u32 _, [%A], 1;", "cp.async.ca.shared.global [%N], [%A], 4;", "cp.async.wait_all;",
	"mov.u32 %D, 0;", "add.u32 %D, %D, 1;", "not.b32 %D, %D;", "and.b32 %D, %D, 1;", "mov.u32 %D, %laneid;", "mov.u32 %D, %clock;", "mov.u32 %N, %clock;", "setp.ne.u32 %P, %D, %D;",
	"vote.sync.any.pred %P, %P, 0xffffffff;", "shfl.sync.bfly.b32 %D, %D, 1, 31, 0xffffffff;", "activemask.b32 %N;", "match.any.sync.b32 %N, %D, 0xffffffff;",
	"add.u64 %A, %A, 4;", "add.u64 %A, %A, 0;", "setmaxnreg.inc.sync.aligned.u32 240;",
}

var (
	registers = regexp.MustCompile(`%[A-Za-z_][A-Za-z0-9_]*`)
	numbers   = regexp.MustCompile(`(0x[0-9a-f]+|-?\b[0-9]+\b)`)
	declared  = regexp.MustCompile(`^\t\.reg \.(\w+) (%[\w<>, %]+);`)
)

// tokenMutator changes the tokens of a kernel.
type tokenMutator struct {
	lines []string
	regs  map[string][]string // type → registers
	out   []tokenMutant
}

// tokenMutants lists all changes of a kernel's text.
func tokenMutants(text string) []tokenMutant {
	m := &tokenMutator{lines: strings.SplitAfter(text, "\n"), regs: map[string][]string{}}
	for _, l := range m.lines {
		if d := declared.FindStringSubmatch(l); d != nil && !strings.Contains(d[2], "<") {
			m.regs[d[1]] = append(m.regs[d[1]], d[2])
		}
	}
	for i, l := range m.lines {
		body := strings.TrimSpace(l)
		if body == "" || body == "{" || body == "}" || strings.HasPrefix(body, ".loc") || strings.HasPrefix(body, ".reg") || strings.HasSuffix(body, ":") {
			continue
		}
		if strings.HasPrefix(body, ".visible") {
			m.numbersOf(i)
			continue
		}
		m.whole(i)
		m.modifiers(i)
		m.numbersOf(i)
		m.operands(i)
		m.insertions(i)
	}
	return m.out
}

// add notes the kernel with a line replaced.
func (m *tokenMutator) add(kind string, i int, line string) {
	if line == m.lines[i] {
		return
	}
	m.out = append(m.out, tokenMutant{kind, strings.Join(m.lines[:i], "") + line + strings.Join(m.lines[i+1:], ""), strings.TrimSpace(m.lines[i]) + " => " + strings.TrimSpace(line)})
}

// whole deletes and doubles a line, swaps it with the next one, and changes its guard.
func (m *tokenMutator) whole(i int) {
	l := m.lines[i]
	m.add("delete", i, "")
	m.add("duplicate", i, l+l)
	for j := i + 1; j < len(m.lines); j++ {
		if b := strings.TrimSpace(m.lines[j]); !strings.HasPrefix(b, ".loc") {
			if b != "}" && !strings.HasSuffix(b, ":") {
				k := &tokenMutator{lines: slices.Clone(m.lines)}
				k.lines[i], k.lines[j] = m.lines[j], m.lines[i]
				m.out = append(m.out, tokenMutant{"swap", strings.Join(k.lines, ""), strings.TrimSpace(l) + " <> " + b})
			}
			break
		}
	}
	switch {
	case strings.HasPrefix(l, "\t@!"):
		m.add("guard", i, strings.Replace(l, "@!", "@", 1))
		m.add("guard", i, "\t"+strings.SplitN(strings.TrimSpace(l), " ", 2)[1]+"\n")
	case strings.HasPrefix(l, "\t@"):
		m.add("guard", i, strings.Replace(l, "@", "@!", 1))
		m.add("guard", i, "\t"+strings.SplitN(strings.TrimSpace(l), " ", 2)[1]+"\n")
	default:
		for _, p := range m.regs["pred"] {
			if !m.defined(p, i) {
				continue
			}
			m.add("guard", i, "\t@"+p+" "+strings.TrimSpace(l)+"\n")
			m.add("guard", i, "\t@!"+p+" "+strings.TrimSpace(l)+"\n")
		}
	}
}

// mnemonicAt finds the mnemonic of a line.
func mnemonicAt(l string) (from, to int) {
	from = len(l) - len(strings.TrimLeft(l, "\t {"))
	if strings.HasPrefix(l[from:], "@") {
		from += strings.IndexByte(l[from:], ' ') + 1
	}
	to = from + strings.IndexAny(l[from:]+" ", " ;")
	return from, to
}

// defined reports whether a register is written before a line: what depends on
// one that is not may do anything.
func (m *tokenMutator) defined(reg string, i int) bool {
	return slices.ContainsFunc(m.lines[:i], func(l string) bool { return strings.Contains(l, " "+reg+",") })
}

// modifiers replaces, drops and adds modifiers, and replaces the opcode.
func (m *tokenMutator) modifiers(i int) {
	l := m.lines[i]
	from, to := mnemonicAt(l)
	parts := strings.Split(l[from:to], ".")
	put := func(kind string, p []string) { m.add(kind, i, l[:from]+strings.Join(p, ".")+l[to:]) }
	for _, g := range opcodeGroups {
		if slices.Contains(g, parts[0]) {
			for _, o := range g {
				put("opcode", append([]string{o}, parts[1:]...))
			}
		}
	}
	for k := 1; k < len(parts); k++ {
		put("drop modifier", slices.Delete(slices.Clone(parts), k, k+1))
		for _, g := range modifierGroups {
			if slices.Contains(g, parts[k]) {
				for _, o := range g {
					p := slices.Clone(parts)
					p[k] = o
					put("modifier", p)
				}
			}
		}
	}
	for k := 1; k <= len(parts); k++ {
		for _, g := range modifierGroups {
			for _, o := range g {
				put("add modifier", slices.Insert(slices.Clone(parts), k, o))
			}
		}
	}
	// Both at once, as weakening is spelt: semantics with scope.
	for _, sem := range []string{"relaxed", "acquire", "release"} {
		for _, sc := range []string{"cta", "gpu", "sys"} {
			put("add modifier", slices.Insert(slices.Clone(parts), 1, sem, sc))
		}
	}
}

// numbersOf changes constants.
func (m *tokenMutator) numbersOf(i int) {
	l := m.lines[i]
	from := 0
	if strings.HasPrefix(l, "\t") {
		_, from = mnemonicAt(l)
	}
	for _, at := range numbers.FindAllStringIndex(l[from:], -1) {
		a, b := from+at[0], from+at[1]
		if a > 0 && (l[a-1] == '_' || l[a-1] == 'p' || l[a-1] == '%' || l[a-1] >= 'a' && l[a-1] <= 'z') {
			continue // part of a name
		}
		var v int64
		if _, err := fmt.Sscan(l[a:b], &v); err != nil {
			continue
		}
		for _, w := range []int64{v + 1, v - 1, v ^ 2, v ^ 0x40000000, v | 0x40000000, v >> 1, v << 1, 0, 1, 4, 8, 16, 123456} {
			m.add("number", i, l[:a]+fmt.Sprint(w)+l[b:])
		}
	}
}

// operands replaces registers by others of their type, and swaps operands.
func (m *tokenMutator) operands(i int) {
	l := m.lines[i]
	_, from := mnemonicAt(l)
	at := registers.FindAllStringIndex(l, -1)
	for _, x := range at {
		for _, list := range m.regs {
			if !slices.Contains(list, l[x[0]:x[1]]) {
				continue
			}
			for _, r := range list {
				if !m.defined(r, i) && x[0] != at[0][0] {
					continue
				}
				m.add("register", i, l[:x[0]]+r+l[x[1]:])
			}
		}
	}
	ops := strings.Split(strings.TrimSuffix(strings.TrimSpace(l[from:]), ";"), ", ")
	for a := range ops {
		for b := a + 1; b < len(ops); b++ {
			o := slices.Clone(ops)
			o[a], o[b] = o[b], o[a]
			m.add("operand order", i, l[:from]+" "+strings.Join(o, ", ")+";\n")
		}
	}
	for _, n := range []string{"4", "-4", "64"} {
		m.add("offset", i, strings.Replace(l, "]", "+"+n+"]", 1))
	}
}

// insertions puts each instruction before a line.
func (m *tokenMutator) insertions(i int) {
	addrs := slices.DeleteFunc(slices.Clone(m.regs["b64"]), func(r string) bool { return r == "%out" })
	data := slices.DeleteFunc(slices.Clone(m.regs["b32"]), func(r string) bool { return strings.HasPrefix(r, "%o") || !m.defined(r, i) })
	for k, s := range inserted {
		decl := ""
		if strings.Contains(s, "%N") {
			decl = " .reg .b32 %NN;"
			s = strings.ReplaceAll(s, "%N", "%NN")
		}
		if strings.Contains(s, "%P") {
			if len(m.regs["pred"]) > 0 && m.defined(m.regs["pred"][0], i) {
				s = strings.ReplaceAll(s, "%P", m.regs["pred"][0])
			} else if len(data) > 0 {
				decl += " .reg .pred %PP; setp.eq.u32 %PP, " + data[0] + ", 5;"
				s = strings.ReplaceAll(s, "%P", "%PP")
			}
		}
		if strings.Contains(s, "%A") {
			if len(addrs) == 0 {
				continue
			}
			a := addrs[k%len(addrs)]
			if !m.defined(a, i) {
				continue
			}
			s = strings.ReplaceAll(s, "%A", a)
		}
		if strings.Contains(s, "%D") {
			if len(data) == 0 {
				continue
			}
			s = strings.ReplaceAll(s, "%D", data[k%len(data)])
		}
		m.out = append(m.out, tokenMutant{"insert", strings.Join(m.lines[:i], "") + "\t{" + decl + " " + s + " }\n" + strings.Join(m.lines[i:], ""),
			"insert " + s + " before " + strings.TrimSpace(m.lines[i])})
	}
}

// choose takes some mutants, of each kind about as many.
func choose(all []tokenMutant, n int, rnd *rand.Rand) []tokenMutant {
	byKind := map[string][]tokenMutant{}
	var kinds []string
	for _, m := range all {
		if byKind[m.kind] == nil {
			kinds = append(kinds, m.kind)
		}
		byKind[m.kind] = append(byKind[m.kind], m)
	}
	var out []tokenMutant
	for len(out) < n && len(kinds) > 0 {
		k := kinds[rnd.IntN(len(kinds))]
		i := rnd.IntN(len(byKind[k]))
		out = append(out, byKind[k][i])
		byKind[k] = slices.Delete(byKind[k], i, i+1)
		if len(byKind[k]) == 0 {
			kinds = slices.DeleteFunc(kinds, func(x string) bool { return x == k })
		}
	}
	return out
}
