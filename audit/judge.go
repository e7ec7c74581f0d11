package audit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"optcheck/event"
	"optcheck/internal/limits"
	"optcheck/litmus"
	"optcheck/model"
	"optcheck/optcheck"
)

// judge classifies cells: it lifts their machine code and asks a model. It judges once what
// several cells have in common.
type judge struct {
	override string // model for all targets, "" for the default of each

	mu     sync.Mutex
	models map[string]*model.Model
	states *generations[stateKey, *outcomes]
	done   *generations[[sha256.Size]byte, *judgement]
	races  *generations[string, raced] // by language and hash of the test
	keep   bool                        // verdicts of preserved cells are wanted too
}

// stateKey is a test, or machine code lifted back to one, under a model.
type stateKey struct{ hash, model string }

// outcomes holds the final states that a model allows for a test.
type outcomes struct {
	states []string
	flags  []string
	// undefined is why the model gives the test no meaning, "" if it does.
	undefined string
	err       error
}

// judgement is the result for one test and machine code.
type judgement struct {
	once    sync.Once
	verdict *event.Verdict
	// hardware is the verdict of the model of the hardware, if that was asked.
	hardware *event.Hardware
	equal    bool // the same outcomes
	subset   bool // no new outcome
	err      error
}

// Limits of what is remembered.
const (
	judgedBytes   = 8 << 20
	outcomesBytes = 16 << 20
	racesBytes    = 1 << 20
)

// judgedSize and verdictSize are the approximate sizes of a judgement and of a verdict without
// its texts, in bytes.
const judgedSize, verdictSize = 200, 600

func newJudge(override string, keep bool) *judge {
	return &judge{override: override, keep: keep, models: map[string]*model.Model{},
		states: newGenerations[stateKey, *outcomes](outcomesBytes),
		races:  newGenerations[string, raced](racesBytes), done: newGenerations[[sha256.Size]byte, *judgement](judgedBytes)}
}

// load returns a model, loading it once.
func (g *judge) load(name string) (*model.Model, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m := g.models[name]; m != nil {
		return m, nil
	}
	m, err := model.Load(name)
	if err != nil {
		return nil, err
	}
	g.models[name] = m
	return m, nil
}

// subject is a cell's machine code.
type subject struct {
	test    int
	t       *litmus.Test
	hash    string // of t
	target  string
	layout  string
	threads []optcheck.LiftedThread
	// changed is set if the code is known to differ: then the whole verdict is wanted, not only
	// whether the outcomes are the same.
	changed bool
}

// judge classifies one cell's machine code.
func (g *judge) judge(ctx context.Context, s *subject) *judgement {
	name := g.override
	if name == "" {
		if name = DefaultModel(s.target); name == ptxModel {
			name = model.Vendor(s.t)
		}
	}
	var key strings.Builder
	key.WriteString(strconv.Itoa(s.test) + "|" + s.layout + "|" + name)
	if s.changed {
		key.WriteByte('!')
	}
	for _, th := range s.threads {
		key.WriteByte('|')
		key.WriteString(th.Lifted.Key())
	}
	return g.remembered(ctx, key.String(), func(limited context.Context, j *judgement) {
		if j.err = g.fill(limited, s, name, j); j.err == nil && j.verdict != nil && (s.changed || !j.equal) {
			j.err = g.ptxRace(ctx, s, j.verdict)
		}
	})
}

// remembered returns the judgement of a key. It is decided once, whoever asks. An interrupted
// judgement is forgotten. One that takes too long ends with limits.Slow, and is not tried
// again.
func (g *judge) remembered(ctx context.Context, key string, decide func(context.Context, *judgement)) *judgement {
	sum := sha256.Sum256([]byte(key))
	g.mu.Lock()
	j, ok := g.done.get(sum)
	if !ok {
		j = &judgement{}
		g.done.put(sum, j, judgedSize)
	}
	g.mu.Unlock()
	j.once.Do(func() {
		limited, cancel := limits.Judging(ctx)
		defer cancel()
		decide(limited, j)
		if j.err != nil && limited.Err() != nil && ctx.Err() == nil {
			j.err, j.verdict = context.Cause(limited), nil
		}
		if j.verdict != nil {
			g.mu.Lock()
			g.done.put(sum, j, judgedSize+j.verdictSize()) // larger than estimated
			g.mu.Unlock()
		}
	})
	if j.err != nil && ctx.Err() != nil {
		g.mu.Lock()
		g.done.forget(sum)
		g.mu.Unlock()
	}
	return j
}

// verdictSize returns the approximate size of the verdict in memory.
func (j *judgement) verdictSize() int {
	n := verdictSize + len(j.verdict.Lifted)
	for _, s := range j.verdict.Schedule {
		n += len(s)
	}
	return n
}

// fill decides over everything that a program could observe: the values that accesses read and
// all locations, whether the test's condition mentions them or not.
func (g *judge) fill(ctx context.Context, asked *subject, name string, j *judgement) error {
	all := *asked
	all.t = asked.t.ObserveAll()
	s := &all
	lifted, err := liftedTests(s.t, s.threads)
	if err != nil {
		return err
	}
	src := g.outcomes(ctx, name, s.hash, []optcheck.LiftedTest{{Test: s.t}})
	if src.err != nil {
		return src.err
	}
	var hash strings.Builder
	for _, t := range lifted {
		hash.WriteString(t.Test.Hash())
	}
	got := g.outcomes(ctx, name, hash.String(), lifted)
	if got.err != nil {
		return fmt.Errorf("the lifted test: %w", got.err)
	}
	if !s.changed && !g.keep && slices.Equal(src.states, got.states) {
		j.equal, j.subset = true, true
		return nil
	}
	v := &event.Verdict{Model: name, Source: len(src.states), Machine: len(got.states),
		New: minus(got.states, src.states), Lost: minus(src.states, got.states), Lifted: lifted[0].Test.String(), Equal: lifted[0].Equal}
	j.verdict, j.subset = v, len(v.New) == 0
	j.equal = j.subset && len(v.Lost) == 0
	v.Visible = visible(v.New, src.states, len(asked.t.Terms()))
	if !s.changed && j.equal {
		return nil // nothing to explain
	}
	if len(v.New) > 0 && src.undefined == "" && got.undefined != "" {
		if done, err := g.bytewise(ctx, s, lifted, hash.String(), got.undefined, v); done || err != nil {
			return err
		}
	}
	if len(v.New) > 0 {
		if err := g.why(ctx, s.t, v.Model, v); err != nil {
			v.Unexplained = err.Error() // the verdict stands all the same
		}
	}
	return g.compare(ctx, s, lifted, hash.String(), v)
}

// liftedTests are the tests that together allow what machine code allows.
func liftedTests(t *litmus.Test, threads []optcheck.LiftedThread) ([]optcheck.LiftedTest, error) {
	if x, ok, err := programs(t, threads); ok || err != nil {
		return []optcheck.LiftedTest{{Test: x}}, err
	}
	return optcheck.LiftTest(t, threads)
}

// compare adds the verdicts of other models, and what the machine code can show under
// sequential consistency.
func (g *judge) compare(ctx context.Context, s *subject, lifted []optcheck.LiftedTest, hash string, v *event.Verdict) error {
	if model.Vendor(s.t) != ptxModel { // no other model has such operations
		return nil
	}
	for _, name := range []string{"sc", otherModel(v.Model)} {
		if name == "" {
			continue
		}
		src, got := g.outcomes(ctx, name, s.hash, []optcheck.LiftedTest{{Test: s.t}}), g.outcomes(ctx, name, hash, lifted)
		if err := errors.Join(src.err, got.err); err != nil {
			return fmt.Errorf("under %s: %w", name, err)
		}
		fresh := minus(got.states, src.states)
		if name == "sc" {
			v.SCNew = fresh
			continue
		}
		o := event.OtherVerdict{Model: name, Class: event.Optimised, New: fresh, Flags: src.flags}
		if len(fresh) > 0 {
			o.Class = event.Miscompiled
		}
		v.Others = append(v.Others, o)
	}
	return nil
}

// bytewise judges machine code to which the vendor's model gives no meaning, because it has accesses of other sizes than the test: by
// what is left to it if accesses of several sizes synchronise. It is done if that allows nothing new. A chip may keep more than the
// text promises, so the code is neither right nor wrong then.
func (g *judge) bytewise(ctx context.Context, s *subject, lifted []optcheck.LiftedTest, hash, why string, v *event.Verdict) (done bool, err error) {
	src, got := g.outcomes(ctx, model.BytesModel, s.hash, []optcheck.LiftedTest{{Test: s.t}}), g.outcomes(ctx, model.BytesModel, hash, lifted)
	if err := errors.Join(src.err, got.err); err != nil {
		return false, fmt.Errorf("under %s: %w", model.BytesModel, err)
	}
	v.Model, v.Source, v.Machine = model.BytesModel, len(src.states), len(got.states)
	v.New, v.Lost = minus(got.states, src.states), minus(src.states, got.states)
	v.Visible = visible(v.New, src.states, len(s.t.Terms()))
	if len(v.New) > 0 {
		return false, nil
	}
	v.Unjudged = "PTX gives its accesses of other sizes no meaning (" + why + "); if they synchronise, nothing new is possible"
	return true, nil
}

// maxExplained bounds the number of candidates that are searched for a reason.
const maxExplained = 1_000_000

// why finds the check that forbids the first new outcome in the test.
func (g *judge) why(ctx context.Context, t *litmus.Test, name string, v *event.Verdict) error {
	m, err := g.load(name)
	if err != nil {
		return err
	}
	asked, err := Asking(t, v.New[0])
	if err != nil {
		return err
	}
	x, err := m.Explain(ctx, asked, model.Options{MaxCandidates: maxExplained, Timeout: -1})
	if err != nil {
		return err
	}
	if x.Execution != nil {
		v.Check, v.Cycle, v.Events = x.Execution.Check, x.Execution.Cycle(x.Steps), x.Execution.Legend(x.Steps)
	}
	return nil
}

// visible returns the new outcomes restricted to the first n terms, those of the condition,
// unless the test itself has an outcome that is the same there.
func visible(fresh, own []string, n int) (out []string) {
	cut := func(s string) string {
		at := 0
		for range n {
			i := strings.IndexByte(s[at:], ';')
			if i < 0 {
				return s
			}
			at += i + 1
		}
		return s[:at]
	}
	seen := map[string]bool{}
	for _, s := range own {
		seen[cut(s)] = true
	}
	for _, s := range fresh {
		if s = cut(s); !seen[s] && s != "" {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// Asking returns a test that asks for one outcome. Its condition is "exists" that outcome,
// written as in event.Verdict, over the terms of the condition or over everything observable.
func Asking(t *litmus.Test, outcome string) (*litmus.Test, error) {
	c := t.Clone()
	var list []litmus.Expr
	terms := t.Terms()
	items := strings.Split(strings.TrimSuffix(outcome, ";"), "; ")
	if len(items) != len(terms) {
		terms = t.ObserveAll().Terms()
	}
	if len(items) != len(terms) {
		return nil, fmt.Errorf("outcome %q has neither the terms of the condition of test %s nor all %d", outcome, t.Name, len(terms))
	}
	for i, item := range items {
		name, value, ok := strings.Cut(item, "=")
		if !ok || terms[i].String() != name {
			return nil, fmt.Errorf("outcome %q is none of test %s", outcome, t.Name)
		}
		var k int64
		if _, err := fmt.Sscan(value, &k); err != nil {
			return nil, fmt.Errorf("outcome %q: %w", outcome, err)
		}
		list = append(list, litmus.Atom{Left: terms[i], Cmp: litmus.CmpEq, Right: litmus.Term{Kind: litmus.TermConst, Value: k}})
	}
	c.Cond = litmus.Cond{Quant: litmus.Exists, Expr: litmus.And{List: list}}
	if len(list) == 1 {
		c.Cond.Expr = list[0]
	}
	return c, nil
}

// outcomes judges tests, each hash once, and returns the union of their states. What Hash
// leaves out (names of tests and threads, the numbers of places) decides no outcome; the order
// of the terms decides how an outcome is written.
func (g *judge) outcomes(ctx context.Context, name, hash string, tests []optcheck.LiftedTest) *outcomes {
	k := stateKey{hash, name}
	for _, t := range tests[0].Test.Terms() {
		k.hash += t.String()
	}
	g.mu.Lock()
	o, ok := g.states.get(k)
	g.mu.Unlock()
	if ok {
		return o
	}
	start := time.Now()
	o = g.ask(ctx, name, tests)
	var slow *limits.Slow
	if ctx.Err() != nil && errors.As(context.Cause(ctx), &slow) {
		o.err = slow
	}
	// A timeout is remembered if the judgement had most of the time.
	if ctx.Err() == nil || slow != nil && time.Since(start) > slow.Limit/2 {
		g.mu.Lock()
		g.states.put(k, o, len(k.hash)+o.size())
		g.mu.Unlock()
	}
	return o
}

// size returns the approximate size of outcomes in memory, including their key.
func (o *outcomes) size() int {
	n := judgedSize
	for _, s := range o.states {
		n += len(s) + 16
	}
	return n
}

func (g *judge) ask(ctx context.Context, name string, tests []optcheck.LiftedTest) *outcomes {
	o := &outcomes{}
	m, err := g.load(name)
	if err != nil {
		return &outcomes{err: err}
	}
	for _, t := range tests {
		v, err := m.Judge(ctx, t.Test, model.Options{StatesOnly: true, Timeout: -1})
		if err != nil {
			return &outcomes{err: err}
		}
		if v.Undecided != "" {
			return &outcomes{err: fmt.Errorf("undecided: %s", v.Undecided)}
		}
		for _, st := range v.States {
			o.states = append(o.states, stateText(v.Terms, st.Values))
		}
		o.flags = append(o.flags, v.Flags...)
		o.undefined = cmp.Or(o.undefined, v.Undefined)
	}
	slices.Sort(o.states)
	o.states = slices.Compact(o.states)
	slices.Sort(o.flags)
	o.flags = slices.Compact(o.flags)
	return o
}

// stateText formats a final state as herd's logs do.
func stateText(terms []litmus.Term, values []int64) string {
	b := make([]byte, 0, 16*len(terms))
	for i, t := range terms {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, t.String()...), '=')
		b = append(strconv.AppendInt(b, values[i], 10), ';')
	}
	return string(b)
}

// minus returns the elements of sorted list a that are not in b.
func minus(a, b []string) []string {
	var out []string
	for _, s := range a {
		if _, ok := slices.BinarySearch(b, s); !ok {
			out = append(out, s)
		}
	}
	return out
}
