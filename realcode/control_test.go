package realcode

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/ptx"
)

// memory is what the machine code of each kernel does to memory and where it jumps,
// whatever the registers: if that stays, a change of the PTX has changed nothing.
func memory(p *isa.Program) map[string]string {
	out := map[string]string{}
	for _, f := range p.Funcs {
		var b strings.Builder
		for i := range f.Insts {
			in := &f.Insts[i]
			switch {
			case in.Op == "SYNCS" || in.Op == "BAR" || in.Op == "DEPBAR" || in.Op == "WARPGROUP" || strings.HasSuffix(in.Op, "GMMA") || in.Role == isa.RoleCopy:
				fmt.Fprintln(&b, in.Text)
			case in.Role != isa.RoleALU && in.Role != isa.RoleConst && in.Role != isa.RoleNop:
				fmt.Fprintln(&b, in.Op, in.Mods, in.Guard.Never)
			}
		}
		out[f.Name] = b.String()
	}
	return out
}

// serialised reports whether each product of matrices is waited for at once: ptxas says that it does so where the
// program does not wait before it reads a result. Fences, groups and waits are not needed then.
func serialised(memory string) bool {
	lines := slices.DeleteFunc(strings.Split(memory, "\n"), func(s string) bool {
		return !strings.Contains(s, "GMMA") && !strings.HasPrefix(s, "WARPGROUP")
	})
	lines = append(lines, "")
	for i, line := range lines {
		if strings.Contains(line, "GMMA") && !strings.Contains(lines[i+1], "DEPBAR.LE gsb0, 0x0") {
			return false
		}
	}
	return true
}

// control is a module as one release compiles it for one target and level.
type control struct {
	way
	t      *testing.T
	ctx    context.Context
	m      *ptx.Module
	text   string
	honest map[string]string
	found  map[string]bool
	tally  *tally
}

// compile checks kernels of a text; err is why it is refused.
func (c *control) compile(text string, kernels ...string) (code map[string]string, out []Kernel, err error) {
	data, err := compile(c.ctx, c.tc, text, c.target, c.level, nil)
	if unresolved(err) {
		data, err = compile(c.ctx, c.tc, text, c.target, c.level, []string{"-c"})
	}
	if err != nil {
		return nil, nil, err
	}
	prog, err := pipeline.Decode(c.ctx, c.tc, c.m.File, c.target, data)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range Roots(c.m) {
		if slices.Contains(kernels, f.Name) {
			out = append(out, checkKernel(c.m, f, prog.Program, number(c.target)))
		}
	}
	return memory(prog.Program), out, nil
}

// apply puts other text in the place of instructions.
func apply(text string, by map[int]string) string {
	var b strings.Builder
	for _, n := range slices.Sorted(maps.Keys(by)) {
		mark := fmt.Sprintf("\n.loc 1 %d 0\n", n)
		at := strings.Index(text, mark) + len(mark)
		b.WriteString(text[:at])
		b.WriteString(by[n] + "\n")
		text = text[at:]
		text = text[strings.IndexByte(text, ';')+1:]
	}
	b.WriteString(text)
	return b.String()
}

// others empties the kernels that are not looked at.
func (c *control) others(kernels []string, by map[int]string) {
	for _, f := range c.m.Funcs {
		if !f.Entry || slices.Contains(kernels, f.Name) {
			continue
		}
		for _, st := range f.Body {
			if st.Inst != nil {
				by[st.Inst.N] = ""
			}
		}
	}
}

// run tries mutants of different kernels at once, and says how many are controls: are taken,
// and change something.
func (c *control) run(round []mutant) (tried int) {
	by := map[int]string{}
	var kernels []string
	for _, x := range round {
		maps.Copy(by, x.text)
		kernels = append(kernels, x.kernel)
	}
	c.others(kernels, by)
	code, checked, err := c.compile(apply(c.text, by), kernels...)
	if err != nil {
		for i := range round {
			if len(round) > 1 {
				tried += c.run(round[i : i+1])
			}
		}
		return tried
	}
	for _, x := range round {
		if code[x.kernel] == c.honest[x.kernel] || strings.Contains(x.what, ": wgmma.") && !strings.Contains(x.what, ": wgmma.mma") &&
			serialised(code[x.kernel]) {
			continue
		}
		tried++
		own := &checked[slices.IndexFunc(checked, func(k Kernel) bool { return k.Name == x.kernel })].Result
		c.tally.judge(x.kind, c.way, own, c.found, "%s:%d: %s: %s: %s", c.m.File, x.pos.Line, c.way, x.kernel, x.what)
	}
	return tried
}

// control compiles kernels of a module as they are; nil if the release refuses them. Accused are the places that
// findings name already, and nowhere tells of the kernels of which nothing is compared: these cells are unknown.
func (p *plan) control(t *testing.T, m *ptx.Module, w way, kernels []string) (c *control, accused map[ptx.Pos]bool, nowhere []string) {
	var err error
	if w.target, err = targetFor(w.tc, m, w.target); err != nil {
		return nil, nil, nil
	}
	c = &control{way: w, t: t, ctx: t.Context(), m: m, text: m.Lined(lineFile, lowered(w.tc, m)), found: map[string]bool{}, tally: p.tally}
	by := map[int]string{}
	c.others(kernels, by)
	honest, res, err := c.compile(apply(c.text, by), kernels...)
	if err != nil {
		return nil, nil, nil
	}
	c.honest, accused = honest, map[ptx.Pos]bool{}
	for _, k := range res {
		for _, f := range slices.Concat(k.Findings, k.Unknown) {
			c.found[said(f)] = true
			if f.First != nil {
				accused[f.First.Pos] = true
			} else if f.Rule == "" {
				p.tally.leave(fmt.Sprintf("%s: %s: %s: unknown: %s", m.File, w, k.Name, f.Detail))
				nowhere = append(nowhere, k.Name)
			}
		}
	}
	return c, accused, nowhere
}

// mixed are mutants in random order, one of each kind after the other.
func (p *plan) mixed(name string, all []mutant) (out []mutant) {
	byKind := map[string][]mutant{}
	for _, x := range all {
		byKind[x.kind] = append(byKind[x.kind], x)
	}
	r := p.random(name)
	kinds := slices.Sorted(maps.Keys(byKind))
	for _, k := range kinds {
		list := byKind[k]
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	r.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for n := 0; len(out) < len(all); n++ {
		for _, k := range kinds {
			if list := byKind[k]; n < len(list) {
				out = append(out, list[n])
			}
		}
	}
	return out
}

// controls tries the mutants of a module compiled in one way, at most so many, and reports whether it
// can be. Places that are accused already are left out.
func (p *plan) controls(t *testing.T, m *ptx.Module, w way, kernels []string, most int) bool {
	c, accused, nowhere := p.control(t, m, w, kernels)
	if c == nil {
		return false
	}
	rest := slices.DeleteFunc(p.mixed(m.File+w.String(), mutants(m)), func(x mutant) bool {
		return accused[x.pos] || !slices.Contains(kernels, x.kernel) || slices.Contains(nowhere, x.kernel)
	})
	for tries := 0; most > 0 && len(rest) > 0 && (!p.real || tries < 12); tries++ {
		var round, later []mutant
		for _, x := range rest {
			if len(round) < most && !slices.ContainsFunc(round, func(y mutant) bool { return y.kernel == x.kernel }) {
				round = append(round, x)
			} else {
				later = append(later, x)
			}
		}
		most, rest = most-c.run(round), later
	}
	return true
}

// TestControls: what a compiler does wrong with the patterns is found. Of real files OPTCHECK_WAYS
// ways to compile each are taken (4), and OPTCHECK_MUTANTS changes of each (5).
func TestControls(t *testing.T) {
	p := newPlan(t)
	p.each(t, func(m *ptx.Module) {
		kernels := p.small(m)
		if !p.real {
			for _, tc := range p.releases {
				p.controls(t, m, oldest(tc, m), kernels, setting("OPTCHECK_MUTANTS", 1<<20))
			}
			return
		}
		left := setting("OPTCHECK_WAYS", 4)
		for _, w := range p.ways(m) {
			if left == 0 || len(kernels) == 0 {
				return
			}
			if p.controls(t, m, w, kernels, setting("OPTCHECK_MUTANTS", 5)) {
				left--
			}
		}
	})
	p.report(t, "changes of the PTX")
}
