package realcode

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/pipeline"
	"optcheck/ptx"
)

// faultsOf lists changes of what a module computes: operations that write memory are dropped, write elsewhere or something else,
// conditions and jumps change, and the operands of what lanes and barriers do together.
func faultsOf(m *ptx.Module) (out []mutant) {
	for _, f := range m.Funcs {
		if f.Entry {
			w := &faulter{m: m, f: f}
			w.function()
			out = append(out, w.out...)
		}
	}
	return out
}

// faulter makes the faults of a kernel.
type faulter struct {
	m   *ptx.Module
	f   *ptx.Func
	out []mutant
	// bases are the registers and variables that addresses have been made of so far, by their widths; values the registers that
	// were stored.
	bases, values map[string][]string
}

func (w *faulter) add(kind string, in *ptx.Inst, text string) {
	w.out = append(w.out, mutant{w.f.Name, kind, fmt.Sprintf("%s %d: %s -> %s", kind, in.Pos.Line, in.Text, text), in.Pos,
		map[int]string{in.N: text}})
}

// reg is the type of a register.
func (w *faulter) reg(name string) string {
	for _, r := range slices.Backward(w.f.Regs) {
		if r.Name == name {
			return r.Type
		}
	}
	return ""
}

func (w *faulter) function() {
	w.bases, w.values = map[string][]string{}, map[string][]string{}
	for _, st := range w.f.Body {
		in := st.Inst
		if in == nil {
			continue
		}
		switch in.Name {
		case "st", "atom", "red", "ld":
			w.access(in)
		case "bra":
			w.jump(in)
		case "setp":
			w.comparison(in)
		case "shfl", "vote", "match", "bar", "barrier", "mbarrier", "redux", "activemask":
			w.together(in)
		}
		if in.Guard >= 0 && in.Name != "bra" {
			w.add("guard flipped", in, flipped(in.Text)+";")
		}
	}
}

var (
	addressed  = regexp.MustCompile(`\[([%$\w]+)(\+-?\d+)?\]`)
	predicate  = regexp.MustCompile(`^@(!?)(%?[\w$]+)\s+`)
	storedIn   = regexp.MustCompile(`, ([%$\w]+)$`)
	masked     = regexp.MustCompile(`(-1|0xffffffff|4294967295)$`)
	lastNumber = regexp.MustCompile(`, (\d+)$`)
)

// flipped is an instruction under the opposite condition.
func flipped(text string) string {
	g := predicate.FindStringSubmatch(text)
	not := "!"
	if g[1] == "!" {
		not = ""
	}
	return "@" + not + g[2] + " " + text[len(g[0]):]
}

// access changes a load, a store or an atomic.
func (w *faulter) access(in *ptx.Inst) {
	e := in.Effect()
	if e.Space == "param" || e.Space == "local" || e.Space == "const" {
		return
	}
	writes := in.Name != "ld"
	if in.Name == "st" || in.Name == "red" {
		w.add("dropped", in, "")
	}
	a := addressed.FindStringSubmatchIndex(in.Text)
	if a == nil || !strings.HasPrefix(in.Text[a[2]:a[3]], "%") {
		return
	}
	base := in.Text[a[2]:a[3]]
	kind := w.reg(base)
	for _, other := range w.bases[kind] {
		if other != base && writes {
			w.add("other base", in, in.Text[:a[2]]+other+in.Text[a[3]:]+";")
			break
		}
	}
	if !slices.Contains(w.bases[kind], base) {
		w.bases[kind] = append([]string{base}, w.bases[kind]...)
	}
	if writes {
		by := 64
		if in.Name != "st" {
			by = 128
		}
		off := 0
		if a[4] >= 0 {
			off, _ = strconv.Atoi(in.Text[a[4]+1 : a[5]])
		}
		w.add("other offset", in, fmt.Sprintf("%s%s+%d%s;", in.Text[:a[2]], base, off+by, in.Text[a[1]-1:]))
	}
	if v := storedIn.FindStringSubmatch(in.Text); writes && v != nil {
		w.value(in, v[1])
	}
}

// value has something else stored, or given to an atomic.
func (w *faulter) value(in *ptx.Inst, v string) {
	what := "other value"
	if in.Name != "st" {
		what = "other operand"
	}
	if n, err := strconv.Atoi(v); err == nil {
		w.add(what, in, strings.TrimSuffix(in.Text, v)+fmt.Sprint(n^1)+";")
		return
	}
	t := w.reg(v)
	bits := strings.TrimLeft(t, "bsuf")
	if bits != "32" && bits != "64" && bits != "16" {
		return
	}
	guard := predicate.FindString(in.Text)
	body := in.Text[len(guard):]
	change := fmt.Sprintf("add.u%s fault, %s, 1", bits, v)
	if strings.HasPrefix(t, "f") {
		change = fmt.Sprintf("xor.b%s fault, %s, %d", bits, v, 1<<14)
	}
	w.add(what, in, fmt.Sprintf("{ .reg .b%s fault; %s%s; %s%sfault; }", bits, guard, change, guard, strings.TrimSuffix(body, v)))
}

// jump changes a branch.
func (w *faulter) jump(in *ptx.Inst) {
	to := in.Args[0].Name
	var other string
	for _, st := range w.f.Body {
		if st.Kind == ptx.StmtLabel && st.Name != to {
			if other = st.Name; st.Inst == nil {
				break
			}
		}
	}
	if in.Guard >= 0 {
		w.add("branch flipped", in, flipped(in.Text)+";")
		w.add("branch deleted", in, "")
	}
	if other != "" {
		w.add("branch elsewhere", in, strings.TrimSuffix(in.Text, to)+other+";")
	}
}

var opposite = strings.NewReplacer(".lt.", ".le.", ".le.", ".lt.", ".gt.", ".ge.", ".ge.", ".gt.", ".eq.", ".ne.", ".ne.", ".eq.", ".lo.", ".ls.", ".hi.", ".hs.")

// comparison changes a condition at its border, or all of it.
func (w *faulter) comparison(in *ptx.Inst) {
	if text := opposite.Replace(in.Text); text != in.Text {
		w.add("other comparison", in, text+";")
	}
}

// together changes what lanes or threads do together.
func (w *faulter) together(in *ptx.Inst) {
	switch {
	case in.Name == "mbarrier":
		if n := lastNumber.FindStringSubmatch(in.Text); n != nil {
			v, _ := strconv.Atoi(n[1])
			w.add("parity, count", in, strings.TrimSuffix(in.Text, n[1])+fmt.Sprint(v^1)+";")
		}
	case masked.MatchString(in.Text):
		w.add("lane mask", in, masked.ReplaceAllString(in.Text, "0x7fffffff")+";")
	}
	if in.Name == "shfl" {
		for _, kind := range [][2]string{{".down", ".up"}, {".up", ".down"}, {".bfly", ".down"}, {".idx", ".bfly"}} {
			if strings.Contains(in.Op, kind[0]) {
				w.add("lane operand", in, strings.Replace(in.Text, kind[0], kind[1], 1)+";")
				break
			}
		}
	}
}

// fate is what became of a fault.
type fate int

const (
	preserved fate = iota
	noticed
	notKnown
	equivalent
	fates
)

// judged are the results of kernels of a text that was put in the place of a module's, and their machine code.
func (c *control) judged(text string, kernels []string) (code map[string]string, out map[string]*Result, err error) {
	make := func(flags ...string) (*pipeline.Code, error) {
		data, err := compile(c.ctx, c.tc, text, c.target, c.level, flags)
		if unresolved(err) {
			data, err = compile(c.ctx, c.tc, text, c.target, c.level, append([]string{"-c"}, flags...))
		}
		if err != nil {
			return nil, err
		}
		return pipeline.Decode(c.ctx, c.tc, c.m.File, c.target, data)
	}
	dec, err := make()
	if err != nil {
		return nil, nil, err
	}
	code, out = map[string]string{}, map[string]*Result{}
	for _, f := range dec.Program.Funcs {
		var b strings.Builder
		for i := range f.Insts {
			fmt.Fprintln(&b, f.Insts[i].Text)
		}
		code[f.Name] = b.String()
	}
	for _, f := range Roots(c.m) {
		if !slices.Contains(kernels, f.Name) {
			continue
		}
		r := gather([]Kernel{checkKernel(c.m, f, dec.Program, number(c.target))})
		if code[f.Name] != c.honest[f.Name] {
			again := func() (*pipeline.Code, error) { return make("--fmad=false") }
			if err := r.execute(c.ctx, c.m, dec, again, options(Runs)); err != nil {
				return nil, nil, err
			}
			r.settle(true)
		}
		out[f.Name] = r
	}
	return code, out, nil
}

// faulty tries faults of different kernels at once, and says what became of each; nothing of those that a compiler refuses.
func (c *control) faulty(round []mutant, tell func(x mutant, f fate, why string)) {
	by := map[int]string{}
	var kernels []string
	for _, x := range round {
		for n, text := range x.text {
			by[n] = text
		}
		kernels = append(kernels, x.kernel)
	}
	c.others(kernels, by)
	code, results, err := c.judged(apply(c.text, by), kernels)
	if err != nil {
		for i := range round {
			if len(round) > 1 {
				c.faulty(round[i:i+1], tell)
			}
		}
		return
	}
	for _, x := range round {
		class, why := results[x.kernel].Class()
		switch {
		case code[x.kernel] == c.honest[x.kernel]:
			tell(x, equivalent, "the machine code is the same")
		case class == Unknown:
			tell(x, notKnown, why)
		case class == Preserved:
			tell(x, preserved, results[x.kernel].Executed[0].Known())
		default:
			tell(x, noticed, "")
		}
	}
}

// honestly judges kernels as they are, and gives those that are preserved.
func (p *plan) honestly(t *testing.T, m *ptx.Module, w way, kernels []string) (c *control, good []string) {
	var err error
	if w.target, err = targetFor(w.tc, m, w.target); err != nil {
		return nil, nil
	}
	c = &control{way: w, t: t, ctx: t.Context(), m: m, text: m.Lined(lineFile, lowered(w.tc, m)), honest: map[string]string{}}
	by := map[int]string{}
	c.others(kernels, by)
	code, results, err := c.judged(apply(c.text, by), kernels)
	if err != nil {
		p.tally.leave(fmt.Sprintf("%s: %s: %v", m.File, w, oneLine(err)))
		return nil, nil
	}
	c.honest = code
	for _, k := range kernels {
		if class, why := results[k].Class(); class == Preserved {
			good = append(good, k)
		} else {
			p.tally.leave(fmt.Sprintf("%s: %s: %s: %s: %s", m.File, w, k, class, why))
		}
	}
	return c, good
}

// TestFaults: what the machine code computes otherwise than the PTX is noticed. A fault is put between the PTX and ptxas; if it does not
// change the machine code it is equivalent. Of real files (OPTCHECK_REAL) OPTCHECK_FAULTS of each are tried (40), mixed by kind.
func TestFaults(t *testing.T) {
	p := newPlan(t)
	if !p.real {
		p.files, p.releases = []string{"testdata/execute.ptx"}, releases(t, "12.4")
	}
	counts := map[string]*[fates]int{}
	p.each(t, func(m *ptx.Module) {
		kernels := p.small(m)
		for _, tc := range p.releases {
			w := oldest(tc, m)
			c, good := p.honestly(t, m, w, kernels)
			if c == nil {
				continue
			}
			rest := slices.DeleteFunc(p.mixed(m.File+w.String(), faultsOf(m)), func(x mutant) bool { return !slices.Contains(good, x.kernel) })
			for left := setting("OPTCHECK_FAULTS", 40); left > 0 && len(rest) > 0; {
				var round, later []mutant
				for _, x := range rest {
					if len(round) < left && !slices.ContainsFunc(round, func(y mutant) bool { return y.kernel == x.kernel }) {
						round = append(round, x)
					} else {
						later = append(later, x)
					}
				}
				left, rest = left-len(round), later
				c.faulty(round, func(x mutant, f fate, why string) {
					p.tally.Lock()
					defer p.tally.Unlock()
					for _, row := range []string{x.kind, "~ all"} {
						if counts[row] == nil {
							counts[row] = &[fates]int{}
						}
						counts[row][f]++
					}
					if f == preserved || f == notKnown {
						t.Logf("%s: %s: %s: %s: %s: %s", []string{"preserved", "", "unknown"}[f], m.File, w, x.kernel, x.what, why)
					}
				})
			}
		}
	})
	p.faults(t, counts)
}

// faults prints what became of faults by kind: of those that change the machine code 99 of 100 must not be preserved.
func (p *plan) faults(t *testing.T, counts map[string]*[fates]int) {
	for _, x := range slices.Sorted(maps.Keys(p.tally.left)) {
		t.Log("left out:", x)
	}
	var b strings.Builder
	b.WriteString("| fault | noticed | unknown | preserved | equivalent |\n|---|---|---|---|---|\n")
	for _, row := range slices.Sorted(maps.Keys(counts)) {
		n := counts[row]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", strings.TrimPrefix(row, "~ "), n[noticed], n[notKnown], n[preserved], n[equivalent])
	}
	t.Logf("seed %d, %d files, %d kernels left out\n%s", p.seed, len(p.files), len(p.tally.left), b.String())
	all := counts["~ all"]
	require.NotNil(t, all)
	require.LessOrEqual(t, 100*all[preserved], all[noticed]+all[notKnown]+all[preserved])
	if !p.real {
		require.Zero(t, all[preserved])
	}
}
