package values

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Options say what kernels may contain.
type Options struct {
	// PTX is the version of PTX that all compilers read (72 is 7.2), SM the oldest target (80).
	PTX, SM int
	// Only are the features that may occur; empty: all.
	Only []string
	// Without are features that may not.
	Without []string
}

// feature is a kind of statements.
type feature struct {
	name    string
	weight  int // of the feature among those of a kernel
	ptx, sm int // what it needs
	make    func(g *generator)
}

// Features are the names of all features.
func Features() (out []string) {
	for i := range features {
		out = append(out, features[i].name)
	}
	return out
}

// generator makes one kernel.
type generator struct {
	*rand.Rand
	o      Options
	kernel *Kernel
	// picked are the features of this kernel, with weights.
	picked []*feature
	list   *[]*Stmt // to which statements are added
	now    *Stmt    // that is being made
	temp   int
	depth  int
	budget int
	// apart tells that not all lanes of the block are here; function that it is a function of the kernel.
	apart, function bool
	recent          map[string][]string
}

// Generate makes kernel number n of a seed.
func Generate(seed uint64, n int, o Options) *Kernel {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(n))), o: o, recent: map[string][]string{}}
	g.kernel = &Kernel{Seed: seed, Number: n, Threads: 32}
	if g.IntN(5) == 0 {
		g.kernel.Threads = 64
	}
	g.pick()
	g.temp = 100
	g.budget = 20 << g.IntN(3)
	g.budget += g.IntN(g.budget + 20)
	g.list = &g.kernel.Body
	g.statements(1 << 30)
	g.finish()
	return g.kernel
}

// pick chooses the features: one, or some, each with its own weight in this kernel.
func (g *generator) pick() {
	var may []*feature
	for i := range features {
		f := &features[i]
		if g.o.PTX < f.ptx || g.o.SM < f.sm || slices.Contains(g.o.Without, f.name) || len(g.o.Only) > 0 && !slices.Contains(g.o.Only, f.name) {
			continue
		}
		may = append(may, f)
	}
	want := 1
	if g.IntN(3) > 0 {
		want = 2 + g.IntN(6)
	}
	for range want {
		total := 0
		for _, f := range may {
			total += f.weight
		}
		if total == 0 {
			break
		}
		at := g.IntN(total)
		i := slices.IndexFunc(may, func(f *feature) bool { at -= f.weight; return at < 0 })
		for range 1 + g.IntN(4) {
			g.picked = append(g.picked, may[i])
		}
		g.kernel.Features = append(g.kernel.Features, may[i].name)
		may = slices.Delete(may, i, i+1)
	}
	slices.Sort(g.kernel.Features)
}

// statements adds up to n statements, as long as the budget lasts.
func (g *generator) statements(n int) {
	for range n {
		if g.budget <= 0 {
			return
		}
		g.budget--
		f := g.picked[g.IntN(len(g.picked))]
		g.now = &Stmt{}
		f.make(g)
		if s := g.now; len(s.Lines) > 0 || s.block() {
			*g.list = append(*g.list, s)
		}
	}
}

// line adds a line to the statement: an instruction with its operands.
func (g *generator) line(op string, args ...string) {
	g.now.Lines = append(g.now.Lines, op+" "+strings.Join(args, ", ")+";")
}

// t is a new register for this statement.
func (g *generator) t(letter string) string {
	g.temp++
	return fmt.Sprintf("%%%s%d", letter, g.temp)
}

// src is a register that has a value, preferably a new one.
func (g *generator) src(letter string) string {
	if r := g.recent[letter]; len(r) > 0 && g.IntN(2) == 0 {
		return r[g.IntN(len(r))]
	}
	return fmt.Sprintf("%%%s%d", letter, g.IntN(classOf(letter).pool))
}

// dst is a register of the pool to write to.
func (g *generator) dst(letter string) string {
	r := fmt.Sprintf("%%%s%d", letter, g.IntN(classOf(letter).pool))
	list := append(slices.Clone(g.recent[letter]), r)
	g.recent[letter] = list[max(0, len(list)-3):]
	return r
}

// any is a register, a parameter, or a constant, of 16, 32 or 64 bits.
func (g *generator) any(letter string) string {
	switch k := g.IntN(12); {
	case k < 3:
		return g.imm(letter)
	case k == 3 && letter == "r" && !g.function:
		return pickOf(g, "%n0", "%tid0")
	}
	return g.src(letter)
}

func pickOf[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// imm is a constant that is worth trying.
func (g *generator) imm(letter string) string {
	bits := map[string]int{"r": 32, "d": 64, "h": 16}[letter]
	var v int64
	switch g.IntN(8) {
	case 0:
		v = int64(g.IntN(5)) - 1
	case 1:
		v = 1 << g.IntN(bits-1)
	case 2:
		v = 1<<g.IntN(bits-1) - 1
	case 3:
		v = -(1 << g.IntN(bits-1))
	case 4:
		v = pickOf(g, int64(0xff), 0xffff, 0xff00, 0x7f, 0x80, 0x8000, 0x7fff, 0xff00ff, 0x0f0f0f0f, 0x55555555, 0xffff0000)
	case 5:
		v = int64(g.IntN(200)) - 100
	case 6:
		v = int64(pickOf(g, 3, 5, 6, 7, 9, 10, 11, 12, 13, 17, 24, 25, 31, 33, 60, 63, 65, 100, 127, 129, 255, 257, 641, 1000, 1023, 1025, 65537))
	default:
		v = int64(g.Uint64())
	}
	switch bits {
	case 16:
		return fmt.Sprint(int16(v))
	case 32:
		return fmt.Sprint(int32(v))
	}
	if v == -1<<63 { // some compilers refuse it as a decimal number
		return "0x8000000000000000"
	}
	return fmt.Sprint(v)
}

// amount is an amount of a shift, mostly in range.
func (g *generator) amount(bits int) string {
	switch g.IntN(6) {
	case 0:
		return g.src("r")
	case 1:
		return pickOf(g, fmt.Sprint(bits-1), fmt.Sprint(bits/2), "0", fmt.Sprint(bits), fmt.Sprint(bits+1), "8", "16")
	}
	return fmt.Sprint(1 + g.IntN(bits-1))
}

// number is a small number in a text.
func (g *generator) number(from, below int) string { return fmt.Sprint(from + g.IntN(below-from)) }

// finish stores what the registers hold at the end.
func (g *generator) finish() {
	g.list = &g.kernel.Final
	named := map[string]bool{}
	for _, s := range g.kernel.Body {
		for _, line := range s.all() {
			dst, src := split(line)
			for _, r := range append(dst, src...) {
				named[r] = true
			}
		}
	}
	for _, c := range classes {
		for i := range c.pool {
			r := fmt.Sprintf("%%%s%d", c.letter, i)
			if !named[r] {
				continue
			}
			g.now = &Stmt{}
			g.store(c, i, r)
			*g.list = append(*g.list, g.now)
		}
	}
}

func (g *generator) store(c class, i int, r string) {
	at := func(k int) string { return fmt.Sprintf("[%%a1+%d]", c.out+i*c.bytes+k) }
	switch c.letter {
	case "r", "d", "h":
		g.line("st.global."+c.ptx, at(0), r)
	case "f":
		g.line("st.global.b32", at(0), g.bits32(r))
	case "g":
		g.line("st.global.b64", at(0), g.bits64(r))
	case "e":
		g.line("st.global.b32", at(0), g.bits16(r))
	case "x":
		lo, hi := g.halves(r)
		g.line("st.global.b32", at(0), g.bits16(lo))
		g.line("st.global.b32", at(4), g.bits16(hi))
	case "p":
		t := g.t("r")
		g.line("selp.b32", t, "1", "0", r)
		g.line("st.global.u8", at(0), t)
	}
}

// bits32 are the bits of an f32: those of a NaN are not defined, so that all become one.
func (g *generator) bits32(f string) string {
	p, t, u := g.t("p"), g.t("r"), g.t("r")
	g.line("setp.nan.f32", p, f, f)
	g.line("mov.b32", t, f)
	g.line("selp.b32", u, "0x7fffffff", t, p)
	return u
}

// bits64 are the bits of an f64.
func (g *generator) bits64(f string) string {
	p, t, u := g.t("p"), g.t("d"), g.t("d")
	g.line("setp.nan.f64", p, f, f)
	g.line("mov.b64", t, f)
	g.line("selp.b64", u, "0x7ff8000000000000", t, p)
	return u
}

// bits16 are the bits of an f16 as an f32.
func (g *generator) bits16(e string) string {
	f := g.t("f")
	g.line("cvt.f32.f16", f, e)
	return g.bits32(f)
}

// halves are the two halves of a pair.
func (g *generator) halves(x string) (lo, hi string) {
	lo, hi = g.t("e"), g.t("e")
	g.line("mov.b32", "{"+lo+", "+hi+"}", x)
	return lo, hi
}
