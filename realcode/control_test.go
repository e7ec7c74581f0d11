package realcode

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/ptx"
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

// control is a module as one release compiles it for one target and level.
type control struct {
	t             *testing.T
	tc            *toolchain.Toolchain
	m             *ptx.Module
	target, level string
	text          string
	honest        map[string]string
	found         map[string]bool
}

// compile checks a text. ok is false if it is refused.
func (c *control) compile(text string) (code map[string]string, res *Result, ok bool) {
	data, err := compile(c.t.Context(), c.tc, text, c.target, c.level, nil)
	if err != nil {
		return nil, nil, false
	}
	prog, err := pipeline.Decode(c.t.Context(), c.tc, c.m.File, c.target, data)
	require.NoError(c.t, err)
	return memory(prog.Program), Check(c.m, prog.Program, number(c.target)), true
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

// run tries mutants of different kernels at once.
func (c *control) run(round []mutant, scores map[string]*score) {
	by := map[int]string{}
	for _, x := range round {
		maps.Copy(by, x.text)
	}
	code, res, ok := c.compile(apply(c.text, by))
	if !ok {
		if len(round) > 1 {
			for i := range round {
				c.run(round[i:i+1], scores)
			}
		}
		return // refused: no control
	}
	for _, x := range round {
		if code[x.kernel] == c.honest[x.kernel] {
			continue // nothing changed: no control
		}
		s := scores[x.kind]
		if s == nil {
			s = &score{}
			scores[x.kind] = s
		}
		s.tried++
		news := func(f Finding) bool { return f.Kernel == x.kernel && !c.found[f.at()+f.headline()] }
		switch {
		case slices.ContainsFunc(res.Findings, news):
			s.caught++
		case slices.ContainsFunc(res.Unknown, news):
			s.unknown++
		default:
			c.t.Logf("%s %s %s %s: missed: %s: %s", filepath.Base(c.m.File), c.tc.ID, c.target, c.level, x.kernel, x.what)
		}
	}
}

// controls applies every mutant of a module, or each stride-th, and counts those
// that are caught by kind. Places that are accused already are left out.
func controls(t *testing.T, tc *toolchain.Toolchain, m *ptx.Module, target, level string, stride int, scores map[string]*score) {
	t.Helper()
	version := ""
	if toolchain.CompareVersions(m.Version, tc.MaxPTX) > 0 {
		version = tc.MaxPTX
	}
	c := &control{t: t, tc: tc, m: m, target: target, level: level, text: m.Lined(lineFile, version), found: map[string]bool{}}
	honest, res, ok := c.compile(c.text)
	if !ok {
		t.Logf("%s is not for %s %s", m.File, tc.ID, target)
		return
	}
	c.honest = honest
	accused := map[ptx.Pos]bool{}
	for _, f := range slices.Concat(res.Findings, res.Unknown) {
		c.found[f.at()+f.headline()] = true
		if f.First != nil {
			accused[f.First.Pos] = true
		}
	}
	var rounds [][]mutant
	next := map[string]int{}
	for i, x := range mutants(m) {
		if i%stride != 0 || accused[x.pos] {
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
		c.run(r, scores)
	}
}

// TestControls: what a compiler does wrong with the patterns is found. With
// OPTCHECK_REAL, a folder of real files, also with those, every OPTCHECK_STRIDE-th
// change of each.
func TestControls(t *testing.T) {
	files, stride := []string{"testdata/patterns.ptx"}, 1
	if dir := os.Getenv("OPTCHECK_REAL"); dir != "" {
		var err error
		files, err = filepath.Glob(filepath.Join(dir, "*.ptx"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		stride, _ = strconv.Atoi(os.Getenv("OPTCHECK_STRIDE"))
		stride = max(stride, 1)
	}
	for _, tc := range releases(t) {
		scores := map[string]*score{}
		for _, file := range files {
			controls(t, tc, module(t, file), "sm_80", "O3", stride, scores)
		}
		sum := score{}
		for _, kind := range slices.Sorted(maps.Keys(scores)) {
			s := scores[kind]
			t.Logf("%s: %s: %d changes, %d caught, %d unknown", tc.ID, kind, s.tried, s.caught, s.unknown)
			sum.tried, sum.caught, sum.unknown = sum.tried+s.tried, sum.caught+s.caught, sum.unknown+s.unknown
		}
		t.Logf("%s: %d changes, %d caught, %d unknown", tc.ID, sum.tried, sum.caught, sum.unknown)
		require.Positive(t, sum.tried)
		assert.GreaterOrEqual(t, 100*(sum.caught+sum.unknown), 99*sum.tried, "%s", tc.ID)
	}
}
