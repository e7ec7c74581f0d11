package audit

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/ptxgen/cycle"
	"optcheck/spec"
	"optcheck/toolchain"
)

// tokenTally is what became of the mutants of one kind.
type tokenTally struct{ mutants, refused, same, found, unknown, equal, wrong int }

// tokenSubject is a test with its kernels and the machine code of those.
type tokenSubject struct {
	t      *litmus.Test
	u      *ptxgen.Unit
	layout spec.Layout
	parts  []part
	// accesses are how many the honest machine code has, by thread; effects what the honest
	// PTX does.
	accesses []int
	effects  []func() [][]ptxEffect
}

// tokenMutantOf is a mutant of a thread of a subject.
type tokenMutantOf struct {
	tokenMutant
	s      *tokenSubject
	thread int
}

// TestTokenMutation changes single tokens of the PTX before a real ptxas. Each
// mutant that compiles to other machine code than the honest kernel must have a
// finding, be unknown with a reason, or do the same: by an execution of the PTX
// that knows nothing of the checker, or by the model over all registers and
// locations.
func TestTokenMutation(t *testing.T) {
	tcs := releases(t)
	tc := tcs[slices.IndexFunc(tcs, func(tc *toolchain.Toolchain) bool { return tc.Release() == "12.4" })]
	tests, perCell := tokenTests(t, 300), 60
	targets, levels := []string{"sm_70", "sm_80", "sm_90"}, []string{"O0", "O3"}
	if !full() {
		tests, perCell, targets = tokenTests(t, 40), 12, []string{"sm_80"}
	}
	seed := tokenNumber(t, "OPTCHECK_TOKENS_SEED", 1)
	perCell = tokenNumber(t, "OPTCHECK_TOKENS", perCell) // mutants of a test, target and level
	r := newTokenRun(tc)
	for i, target := range targets {
		for j, level := range levels {
			rnd := rand.New(rand.NewPCG(uint64(seed), uint64(10*i+j)))
			r.cell(t, tests, target, level, perCell, rnd)
		}
	}
	r.print(t)
	r.left(t)
}

// tokenNumber returns a setting of token mutation, which is printed.
func tokenNumber(t *testing.T, name string, n int) int {
	if s := os.Getenv(name); s != "" {
		var err error
		n, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	t.Logf("%s=%d", name, n)
	return n
}

// left fails the test if a mutant is left that is preserved and not proven to do the
// same; OPTCHECK_TOKENS_OUT names a file for all of them.
func (r *tokenRun) left(t *testing.T) {
	if f := os.Getenv("OPTCHECK_TOKENS_OUT"); f != "" {
		require.NoError(t, os.WriteFile(f, []byte(strings.Join(r.wrong, "\n")), 0o600))
	}
	require.Empty(t, r.wrong)
}

// tokenTests are tests of all shapes: the corpus, and of each preset as many as it
// takes.
func tokenTests(t *testing.T, n int) []*litmus.Test {
	out := slices.Clone(corpus.Tests())
	rnd := rand.New(rand.NewPCG(7, 7))
	rnd.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	if len(out) > n/2 {
		out = out[:n/2]
	}
	for _, name := range []string{"quick", "ptx", "scopes", "paper"} {
		g, err := cycle.Preset(name)
		require.NoError(t, err)
		p := slices.Collect(g.Tests())
		for range n / 6 {
			out = append(out, p[rnd.IntN(len(p))])
		}
	}
	out = append(out, tokenExtras(t)...)
	return out[:min(n, len(out))]
}

type tokenRun struct {
	tc    *toolchain.Toolchain
	kinds map[string]*tokenTally
	wrong []string
	// judges are as many as work at a time.
	judges chan *tokenJudge
}

// tokenJudge judges mutants, one at a time.
type tokenJudge struct {
	a      *auditor
	oracle *oracle
}

func newTokenRun(tc *toolchain.Toolchain) *tokenRun {
	r := &tokenRun{tc: tc, kinds: map[string]*tokenTally{}, judges: make(chan *tokenJudge, runtime.GOMAXPROCS(0))}
	for range cap(r.judges) {
		r.judges <- &tokenJudge{newAuditor(Options{}, event.NewRun()), &oracle{models: map[string]*model.Model{}, known: map[string][]string{}}}
	}
	return r
}

func (r *tokenRun) kind(k string) *tokenTally {
	if r.kinds[k] == nil {
		r.kinds[k] = &tokenTally{}
	}
	return r.kinds[k]
}

// cell mutates the kernels of all tests for one target and level.
func (r *tokenRun) cell(t *testing.T, tests []*litmus.Test, target, level string, n int, rnd *rand.Rand) {
	sm, err := ptxgen.SM(target)
	require.NoError(t, err)
	var subjects []*tokenSubject
	var honest []toolchain.Unit
	header := ""
	maxV, err := ptxgen.ParseVersion(r.tc.MaxPTX)
	require.NoError(t, err)
	for i, x := range tests {
		s := &tokenSubject{t: x.Canonical(), layout: spec.Layouts[i%len(spec.Layouts)]}
		if s.u, err = ptxgen.Emit(s.t, ptxgen.Options{Target: target, Layout: s.layout}); err != nil || s.u.Version > maxV {
			continue
		}
		header += s.u.Globals
		for _, k := range s.u.Kernels {
			honest = append(honest, toolchain.Unit{Name: k.Name, Text: k.Text})
		}
		subjects = append(subjects, s)
	}
	header = ptxgen.Header(maxV, target) + header
	code := map[string]machine{}
	var mu sync.Mutex
	r.compile(t, header, target, level, honest, false, func(_ *tokenJudge, name string, m machine) {
		mu.Lock()
		defer mu.Unlock()
		code[name] = m
	})
	var mutants []tokenMutantOf
	for _, s := range subjects {
		j := <-r.judges
		ok := j.prepare(s, code, sm)
		r.judges <- j
		if !ok {
			continue
		}
		var all []tokenMutantOf
		for th := range s.u.Kernels {
			for _, m := range choose(tokenMutants(s.u.Kernels[th].Text), n/len(s.u.Kernels)+1, rnd) {
				all = append(all, tokenMutantOf{m, s, th})
			}
		}
		mutants = append(mutants, all...)
	}
	var units []toolchain.Unit
	place := map[string]int{}
	for i, m := range mutants {
		k := m.s.u.Kernels[m.thread]
		name := fmt.Sprintf("%s_m%d", k.Name, i)
		units = append(units, toolchain.Unit{Name: name, Text: strings.Replace(m.text, ".entry "+k.Name+"(", ".entry "+name+"(", 1)})
		place[name] = i
	}
	fates := make([]tokenFate, len(mutants))
	r.compile(t, header, target, level, units, true, func(j *tokenJudge, name string, code machine) {
		i := place[name]
		fates[i] = j.judge(t.Context(), mutants[i], code, target, sm)
	})
	for i, m := range mutants {
		r.kind(m.kind).count(fates[i])
		if fates[i] == tokenWrong {
			r.wrong = append(r.wrong, fmt.Sprintf("%s %s %s %v T%d, %s: %s", m.s.t.Name, target, level, m.s.layout, m.thread, m.kind, m.line))
		}
	}
}

// tokenFate is what became of a mutant.
type tokenFate uint8

const (
	tokenRefused tokenFate = iota
	tokenSame
	tokenFound
	tokenUnknown
	tokenEqual
	tokenWrong
)

func (n *tokenTally) count(f tokenFate) {
	n.mutants++
	*map[tokenFate]*int{tokenRefused: &n.refused, tokenSame: &n.same, tokenFound: &n.found, tokenUnknown: &n.unknown, tokenEqual: &n.equal,
		tokenWrong: &n.wrong}[f]++
}

// machine is the machine code of a kernel, with what the checker must know of its
// cubin.
type machine struct {
	fn     *isa.Func
	consts map[int64]string
	lits   map[int64]uint32
}

// compile calls each for the units that compile, from as many goroutines as there are judges.
func (r *tokenRun) compile(t *testing.T, header, target, level string, units []toolchain.Unit, trust bool, each func(j *tokenJudge, name string, m machine)) {
	t.Helper()
	res, err := r.tc.Compile(t.Context(), toolchain.Job{Target: target, Level: level, LineInfo: true, Header: header, Units: units, TrustMessages: trust})
	require.NoError(t, err)
	var g errgroup.Group
	for _, b := range res.Batches {
		j := <-r.judges
		g.Go(func() error {
			defer func() { r.judges <- j }()
			code, err := pipeline.Decode(t.Context(), r.tc, "mutants", target, b.Cubin)
			if err != nil {
				return err
			}
			for _, fn := range code.Program.Funcs {
				each(j, fn.Name, machine{fn, code.Consts, code.Literals[fn.Name]})
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
}

// check checks a kernel as an audit does.
func (j *tokenJudge) check(s *tokenSubject, th int, m machine) part {
	c := optcheck.NewChecker()
	c.Consts, c.Literals = m.consts, m.lits
	for i := range s.t.Locations {
		c.Locations = append(c.Locations, s.t.Locations[i].Name)
	}
	code := optcheck.CodeHash(m.fn, m.consts)
	return part{code: code, result: j.a.cache.check(c, m.fn, code, s.u.Kernels[th].Spec, c.Locations, liftTest)}
}

// prepare checks the honest kernels of a test, which must be preserved or have
// findings of their own: then they are left out.
func (j *tokenJudge) prepare(s *tokenSubject, code map[string]machine, sm int) bool {
	for th, k := range s.u.Kernels {
		m, ok := code[k.Name]
		if !ok {
			return false
		}
		s.parts = append(s.parts, j.check(s, th, m))
		s.accesses = append(s.accesses, accesses(m.fn))
		s.effects = append(s.effects, sync.OnceValue(func() [][]ptxEffect { return samplesOf(k.Text, sm) }))
	}
	return j.classify(s, s.parts, "sm_80").Class == event.Preserved
}

// classify puts the threads of a test together and asks the model.
func (j *tokenJudge) classify(s *tokenSubject, parts []part, target string) *event.Cell {
	j.a.o.Layouts = []spec.Layout{s.layout}
	c, _, err := j.a.decide(context.Background(), s.t, s.u, target, parts)
	if err != nil {
		return &event.Cell{Result: event.Result{Class: event.Unknown, Reason: err.Error()}}
	}
	return c
}

// judge says what became of a mutant that compiles.
func (j *tokenJudge) judge(ctx context.Context, m tokenMutantOf, code machine, target string, sm int) tokenFate {
	if optcheck.CodeHash(code.fn, code.consts) == m.s.parts[m.thread].code {
		return tokenSame
	}
	parts := slices.Clone(m.s.parts)
	parts[m.thread] = j.check(m.s, m.thread, code)
	c := j.classify(m.s, parts, target)
	p := sync.OnceValue(func() *ptxProgram { return parsePTX(unshuffled(m.text, code.fn), sm) })
	switch {
	case c.Class == event.Unknown && c.Reason != "":
		return tokenUnknown
	case c.Class != event.Preserved:
		return tokenFound
	case samePTX(m.s.effects[m.thread](), p()) || j.sameModel(ctx, m, p(), target, false):
		return tokenEqual
	case accesses(code.fn) == m.s.accesses[m.thread] && j.sameModel(ctx, m, p(), target, true):
		return tokenEqual // what was added is not in the machine code, but for the invalidation of an acquire
	}
	return tokenWrong
}

// sameModel reports whether the model allows the same of the test and of the test
// with the mutant's change, where that can be told: other modifiers of accesses and
// fences, additional fences, and loads whose result nobody uses. With gone set, such
// a load and a store made twice are known to have left the code, and of an acquire
// its fence alone is there.
func (j *tokenJudge) sameModel(ctx context.Context, m tokenMutantOf, p *ptxProgram, target string, gone bool) bool {
	x := m.s.t.ObserveAll()
	y := x.Clone()
	th := &y.Threads[m.thread]
	entries := m.s.u.Kernels[m.thread].Spec.Entries
	done := false
	for i, a := range m.s.effects[m.thread]() {
		b, ok := p.run(ptxSamples[i])
		if a == nil || !ok {
			return false
		}
		if gone {
			b = remaining(a, b)
		}
		if len(a) != len(entries) {
			if !aligned(a, b) {
				return false
			}
			continue
		}
		if done {
			continue
		}
		done = true
		if !respell(th, entries, a, b) {
			return false
		}
	}
	if !done || y.Check() != nil {
		return false
	}
	allowed, err := j.oracle.outcomes(ctx, target, x)
	if err != nil {
		return false
	}
	got, err := j.oracle.outcomes(ctx, target, y)
	return err == nil && slices.Equal(allowed, got)
}

var shuffles = regexp.MustCompile(`shfl\.sync\.bfly\.b32 (%\w+), (%\w+), [^;]*;`)

// unshuffled returns a kernel's text with its shuffles as copies if its machine code has
// none: then ptxas found that all lanes of the warp have the same word.
func unshuffled(text string, fn *isa.Func) string {
	if slices.ContainsFunc(fn.Insts, func(in isa.Inst) bool { return in.Op == "SHFL" && !in.Guard.Never }) {
		return text
	}
	return shuffles.ReplaceAllString(text, "mov.b32 $1, $2;")
}

// accesses counts the accesses of machine code.
func accesses(fn *isa.Func) (n int) {
	for i := range fn.Insts {
		if fn.Insts[i].Role.IsAccess() {
			n++
		}
	}
	return n
}

// remaining returns what is left of b where stores that the next store overwrites are gone,
// and loads that a does not have are gone but for the fence of an acquire.
func remaining(a, b []ptxEffect) (out []ptxEffect) {
	i := 0
	for k, e := range b {
		switch {
		case i < len(a) && e.args == a[i].args:
			i++
			out = append(out, e)
		case k > 0 && e == b[k-1] && strings.HasPrefix(e.op, "st."):
		case k+1 < len(b) && e.op == b[k+1].op && e.address() == b[k+1].address() && strings.HasPrefix(e.op, "st."):
		case strings.HasPrefix(e.op, "ld.") && strings.Contains(e.op, "acquire"):
			out = append(out, ptxEffect{op: "fence.acquire.sys"})
		case strings.HasPrefix(e.op, "ld."):
		default:
			out = append(out, e)
		}
	}
	return out
}

// aligned reports whether all effects of a are in b, in order, with the same
// operands; what is more are fences and loads.
func aligned(a, b []ptxEffect) bool {
	i := 0
	for _, e := range b {
		if i < len(a) && e.args == a[i].args {
			i++
			continue
		}
		if _, fence := fenceOf(e.op); !fence && !strings.HasPrefix(e.op, "ld.") {
			return false
		}
	}
	return i == len(a)
}

// respell makes the changes between two runs in a thread; false if they are others
// than of modifiers, and fences that came.
func respell(th *litmus.Thread, entries []spec.Entry, a, b []ptxEffect) bool {
	original := slices.Clone(th.Body)
	shift, i := 0, 0
	for _, e := range b {
		if i < len(a) && (e == a[i] || e.args == a[i].args && len(b)-len(a) == shift) {
			if e != a[i] && !respelt(&th.Body[entries[i].Instr+shift], e.op) {
				return false
			}
			i++
			continue
		}
		f, ok := fenceOf(e.op)
		if k := slices.IndexFunc(a, func(x ptxEffect) bool { return x.address() == e.address() }); !ok && k >= 0 && strings.HasPrefix(e.op, "ld.") {
			// A load whose result nobody uses.
			f, ok = original[entries[k].Instr], true
			f.Guard, f.Labels, f.Op, f.Atom, f.Src, f.Dst = nil, nil, litmus.OpLd, litmus.AtomNone, nil, "r999"
			ok = respelt(&f, e.op)
			th.Regs = append(th.Regs, litmus.RegDecl{Name: "r999", Type: f.Type})
		}
		if !ok {
			return false
		}
		at := len(th.Body)
		if i < len(entries) {
			at = entries[i].Instr + shift
		}
		th.Body = slices.Insert(th.Body, at, f)
		shift++
	}
	return i == len(a)
}

var (
	sems = map[string]litmus.Sem{"relaxed": litmus.SemRelaxed, "acquire": litmus.SemAcquire, "release": litmus.SemRelease, "acq_rel": litmus.SemAcqRel, "volatile": litmus.SemVolatile, "sc": litmus.SemSC}
	scps = map[string]litmus.Scope{"cta": litmus.ScopeCTA, "cluster": litmus.ScopeCluster, "gpu": litmus.ScopeGPU, "sys": litmus.ScopeSys, "gl": litmus.ScopeGPU}
	csop = map[string]litmus.CacheOp{"cg": litmus.CacheCG, "cv": litmus.CacheCV, "wt": litmus.CacheWT}
)

func fenceOf(op string) (in litmus.Instr, ok bool) {
	p := strings.Split(op, ".")
	switch {
	case p[0] == "membar" && len(p) == 2:
		return litmus.Instr{Op: litmus.OpMembar, Scope: scps[p[1]]}, true
	case op == "fence.proxy.alias":
		return litmus.Instr{Op: litmus.OpFenceProxy, Proxy: litmus.ProxyAlias}, true
	case p[0] == "fence" && len(p) == 3 && sems[p[1]] != 0:
		return litmus.Instr{Op: litmus.OpFence, Sem: sems[p[1]], Scope: scps[p[2]]}, true
	}
	return in, false
}

// respelt gives an instruction the modifiers of a mnemonic of the same kind.
func respelt(in *litmus.Instr, op string) bool {
	if f, ok := fenceOf(op); ok && in.IsFence() {
		in.Op, in.Sem, in.Scope = f.Op, f.Sem, f.Scope
		return true
	}
	p := strings.Split(op, ".")
	if p[0] != map[litmus.Op]string{litmus.OpLd: "ld", litmus.OpSt: "st", litmus.OpAtom: "atom", litmus.OpRed: "red"}[in.Op] ||
		p[len(p)-1] != "b"+strconv.Itoa(in.Type.Bits()) && in.Atom != litmus.AtomMin && in.Atom != litmus.AtomMax {
		return false
	}
	sem, scope, cache, atom := litmus.SemNone, litmus.ScopeNone, litmus.CacheNone, false
	for _, m := range p[1 : len(p)-1] {
		switch {
		case sems[m] != 0:
			sem = sems[m]
		case scps[m] != 0:
			scope = scps[m]
		case csop[m] != 0:
			cache = csop[m]
		case m == in.Atom.String():
			atom = true
		case m != "" && m != "shared":
			return false
		}
	}
	if in.Atom != litmus.AtomNone && !atom {
		return false
	}
	in.Sem, in.Scope, in.Cache = sem, scope, cache
	return true
}

func (r *tokenRun) print(t *testing.T) {
	var b strings.Builder
	total := &tokenTally{}
	row := func(name string, n *tokenTally) {
		fmt.Fprintf(&b, "%-16s %8d %8d %8d %8d %8d %8d %8d\n", name, n.mutants, n.refused, n.same, n.found, n.unknown, n.equal, n.wrong)
	}
	fmt.Fprintf(&b, "%-16s %8s %8s %8s %8s %8s %8s %8s\n", "kind", "mutants", "refused", "same", "finding", "unknown", "equal", "wrong")
	for _, k := range sortedKeys(r.kinds) {
		n := r.kinds[k]
		total.mutants, total.refused, total.same = total.mutants+n.mutants, total.refused+n.refused, total.same+n.same
		total.found, total.unknown, total.equal, total.wrong = total.found+n.found, total.unknown+n.unknown, total.equal+n.equal, total.wrong+n.wrong
		row(k, n)
	}
	row("all", total)
	t.Logf("refused: by ptxas; same: the machine code of the honest kernel; equal: preserved, and proven to do the same\n%s", b.String())
	require.Positive(t, cmp.Compare(total.found, 0))
}

// tokenExtras are tests of what the corpus and the presets do not have.
func tokenExtras(t *testing.T) (out []*litmus.Test) {
	for name, body := range map[string]string{
		"max.s32":  "atom.global.max.s32 r1, [rd0], 5",
		"max.u32":  "atom.global.max.u32 r1, [rd0], 5",
		"red.min":  "red.global.min.s32 [rd0], 5",
		"computed": "ld.volatile.s32 r1, [rd0] ;\n and.b32 r2, r1, 2147483648 ;\n setp.eq.s32 p1, r2, 0 ;\n add.s32 r3, r1, 1 ;\n @p1 st.volatile.s32 [rd1], r3",
		"masked":   "ld.volatile.s32 r1, [rd0] ;\n and.b32 r2, r1, 7 ;\n add.s32 r3, r2, 1 ;\n st.volatile.s32 [rd1], r3",
	} {
		src := "GPU_PTX extra-" + name + "\n{ 0:.reg .s32 r1; 0:.reg .s32 r2; 0:.reg .s32 r3; 0:.reg .pred p1; 0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y; 1:.reg .s32 r1; 1:.reg .b64 rd0 = x; }\n T0 | T1 ;\n" +
			strings.ReplaceAll(body, " ;\n", " | ;\n") + " | atom.global.add.s32 r1, [rd0], 1 ;\nScopeTree(grid(cta(warp T0)) (cta(warp T1)))\nexists (x=1)\n"
		x, err := litmus.Parse(name, []byte(src))
		require.NoError(t, err)
		out = append(out, x)
	}
	return out
}
