package realcode

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/target"
	"optcheck/toolchain"
)

// memory is what the machine code of each kernel does to memory and where it jumps,
// whatever the registers: if that stays, a change of the PTX has changed nothing.
func memory(p *isa.Program) map[string]string {
	out := map[string]string{}
	for _, f := range p.Funcs {
		var b strings.Builder
		for i := range f.Insts {
			if in := &f.Insts[i]; in.Role != isa.RoleALU && in.Role != isa.RoleConst && in.Role != isa.RoleNop {
				fmt.Fprintln(&b, in.Op, in.Mods, in.Guard.Never)
			}
		}
		out[f.Name] = b.String()
	}
	return out
}

// score counts mutants of a kind.
type score struct{ tried, caught, unknown int }

// scores are by kind; files are controlled at once.
type scores struct {
	sync.Mutex
	kinds map[string]*score
}

func (s *scores) add(kind string, tried, caught, unknown int) {
	s.Lock()
	defer s.Unlock()
	k := s.kinds[kind]
	if k == nil {
		k = &score{}
		s.kinds[kind] = k
	}
	k.tried, k.caught, k.unknown = k.tried+tried, k.caught+caught, k.unknown+unknown
}

// control is a module as one release compiles it for one target and level.
type control struct {
	t             *testing.T
	ctx           context.Context
	tc            *toolchain.Toolchain
	m             *ptx.Module
	target, level string
	text          string
	honest        map[string]string
	found         map[string]bool
	scores        *scores
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

// run tries mutants of different kernels at once.
func (c *control) run(round []mutant) {
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
				c.run(round[i : i+1])
			}
		}
		return // refused: no control
	}
	for i, x := range round {
		if code[x.kernel] == c.honest[x.kernel] {
			continue // nothing changed: no control
		}
		c.scores.add(x.kind, 1, 0, 0)
		news := func(f Finding) bool { return !c.found[f.Kernel+f.at()+f.headline()] }
		own := checked[slices.IndexFunc(checked, func(k Kernel) bool { return k.Name == x.kernel })]
		switch {
		case slices.ContainsFunc(own.Findings, news):
			c.scores.add(x.kind, 0, 1, 0)
		case slices.ContainsFunc(own.Unknown, news):
			c.scores.add(x.kind, 0, 0, 1)
		default:
			c.t.Logf("%s %s %s %s: missed: %s: %s", filepath.Base(c.m.File), c.tc.ID, c.target, c.level, round[i].kernel, x.what)
		}
	}
}

// controls applies the mutants of a module, or at most so many of them, evenly spread,
// and counts those that are caught by kind. Places that are accused already are left out.
func controls(t *testing.T, tc *toolchain.Toolchain, m *ptx.Module, gpu, level string, most int, s *scores) {
	t.Helper()
	c := &control{t: t, ctx: t.Context(), tc: tc, m: m, target: gpu, level: level, text: m.Lined(lineFile, lowered(tc, m)), found: map[string]bool{}, scores: s}
	all := mutants(m)
	var chosen []mutant
	for i := range min(most, len(all)) {
		chosen = append(chosen, all[(2*i+1)*len(all)/(2*min(most, len(all)))])
	}
	var kernels []string
	for _, x := range chosen {
		if !slices.Contains(kernels, x.kernel) {
			kernels = append(kernels, x.kernel)
		}
	}
	if len(kernels) == 0 {
		return
	}
	by := map[int]string{}
	c.others(kernels, by)
	honest, res, err := c.compile(apply(c.text, by), kernels...)
	if err != nil {
		t.Logf("%s is not for %s %s: %.200v", m.File, tc.ID, gpu, err)
		return
	}
	c.honest = honest
	accused := map[ptx.Pos]bool{}
	for _, k := range res {
		for _, f := range slices.Concat(k.Findings, k.Unknown) {
			c.found[f.Kernel+f.at()+f.headline()] = true
			if f.First != nil {
				accused[f.First.Pos] = true
			}
		}
	}
	var rounds [][]mutant
	next := map[string]int{}
	for _, x := range chosen {
		if accused[x.pos] {
			continue
		}
		n := next[x.kernel]
		next[x.kernel]++
		if n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], x)
	}
	for _, r := range rounds {
		c.run(r)
	}
}

// TestControls: what a compiler does wrong with the patterns is found. With
// OPTCHECK_REAL, a pattern of real files, also with those: OPTCHECK_MUTANTS changes of
// each, at OPTCHECK_LEVEL, by OPTCHECK_RELEASES.
func TestControls(t *testing.T) {
	files, most, level := []string{"testdata/patterns.ptx"}, 1<<20, "O3"
	var names []string
	if pattern := os.Getenv("OPTCHECK_REAL"); pattern != "" {
		var err error
		files, err = filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		if n, err := strconv.Atoi(os.Getenv("OPTCHECK_MUTANTS")); err == nil {
			most = n
		}
		level = cmp.Or(os.Getenv("OPTCHECK_LEVEL"), level)
		names = strings.Fields(os.Getenv("OPTCHECK_RELEASES"))
	}
	for _, tc := range releases(t, names...) {
		s := &scores{kinds: map[string]*score{}}
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for _, file := range files {
			m := module(t, file)
			gpu := "sm_80"
			if target.Compare(m.Target, gpu) > 0 {
				gpu = m.Target
			}
			group.Go(func() error { controls(t, tc, m, gpu, level, most, s); return nil })
		}
		require.NoError(t, group.Wait())
		tried, caught, unknown := 0, 0, 0
		for _, kind := range slices.Sorted(maps.Keys(s.kinds)) {
			k := s.kinds[kind]
			t.Logf("%s: %s: %d changes, %d caught, %d unknown", tc.ID, kind, k.tried, k.caught, k.unknown)
			tried, caught, unknown = tried+k.tried, caught+k.caught, unknown+k.unknown
		}
		t.Logf("%s: %d changes, %d caught, %d unknown", tc.ID, tried, caught, unknown)
		require.Positive(t, tried)
		assert.GreaterOrEqual(t, 100*(caught+unknown), 99*tried, "%s", tc.ID)
	}
}
