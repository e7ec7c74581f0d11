package nvhw

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parse reads a program of the tests: threads apart by "||", those of one CTA by
// "|", operations by ";". Locations are x, y, z and, in shared memory, s; reads are
// numbered as they come. A load sets scoreboard barrier 0 and "wait" waits for it.
//
//	st x 1   ld x   ldg x (STRONG.GPU)   add x   membar.{all,sc}.{cta,gpu}   ivall   bar   wait   st x r0   st x 1 if r0
func parse(t *testing.T, text string) *Program {
	t.Helper()
	p := &Program{Init: make([]uint32, 4)}
	for c, cta := range strings.Split(text, "||") {
		for _, thread := range strings.Split(cta, "|") {
			th := Thread{CTA: c}
			for _, line := range strings.Split(thread, ";") {
				th.Ops = append(th.Ops, op(t, strings.Fields(line), &th.Reads))
			}
			p.Threads = append(p.Threads, th)
		}
	}
	return p
}

func op(t *testing.T, w []string, reads *int) Op {
	t.Helper()
	o := Op{Text: strings.Join(w, " "), Read: -1, Sets: NoBarrier}
	if n := len(w); n > 2 && w[n-2] == "if" {
		o.Guard, w = word(t, w[n-1]), w[:n-2]
	}
	if len(w) > 1 {
		o.Loc = strings.Index("xyzs", w[1])
		o.Shared = w[1] == "s"
	}
	if len(w) > 2 {
		o.Data = []Expr{word(t, w[2])}
	}
	switch w[0] {
	case "st":
		o.Kind = Store
	case "ld", "ldg":
		o.Kind, o.Far, o.Sets = Load, w[0] == "ldg", 0
	case "add":
		o.Kind, o.Sets = RMW, 0
		o.Apply = func(old uint32, _ []uint32) uint32 { return old + 1 }
	case "ivall":
		o.Kind = Invalidate
	case "bar":
		o.Kind = Barrier
	case "wait":
		o.Kind, o.Waits = Wait, 1
	default:
		require.True(t, strings.HasPrefix(w[0], "membar."), w)
		o.Kind, o.Far, o.SC = Fence, strings.HasSuffix(w[0], "gpu"), strings.Contains(w[0], "sc")
	}
	if o.Kind == Load || o.Kind == RMW {
		o.Read = *reads
		*reads++
	}
	return o
}

func word(t *testing.T, s string) Expr {
	t.Helper()
	if r, ok := strings.CutPrefix(s, "r"); ok {
		n, err := strconv.Atoi(r)
		require.NoError(t, err)
		return func(read func(int) (uint32, bool)) (uint32, bool) { return read(n) }
	}
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return func(func(int) (uint32, bool)) (uint32, bool) { return uint32(n), true }
}

// ends returns all final states: the reads of each thread, then memory.
func ends(t *testing.T, p *Program) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	require.NoError(t, Explore(context.Background(), p, func(f *Final, schedule func() []Step) error {
		s := ""
		for i := range f.Read {
			s += fmt.Sprint(f.Read[i])
		}
		out[s+" "+fmt.Sprint(f.Memory[:3])] = true
		for _, x := range schedule() {
			assert.NotEmpty(t, x.Text)
		}
		return nil
	}))
	return out
}

// reached reports whether a final state contains text.
func reached(t *testing.T, p *Program, text string) bool {
	t.Helper()
	for s := range ends(t, p) {
		if strings.Contains(s, text) {
			return true
		}
	}
	return false
}

const (
	release = "membar.all.gpu; st y 1"
	acquire = "ldg y; wait; ivall"
)

// idioms are what the compilers make of synchronisation, and the outcome that none
// may have. needs are the rules without which it has it.
var idioms = []struct {
	name, text, never, needs string
}{
	{"mp+rel+acq", "st x 1; " + release + "||" + acquire + "; ld x", "[1 0]", "scoreboard invalidates fence-stores"},
	{"mp+rel+acq of a primed line", "st x 1; " + release + "||ld x; " + acquire + "; ld x", "[0 1 0] ", "scoreboard invalidates fence-stores"},
	{"mp+fences", "st x 1; " + release + "||ldg y; membar.all.gpu; ivall; ld x", "[1 0]", "invalidates fence-loads fence-stores"},
	{"mp, strong reads", "st x 1; " + release + "||ldg y; membar.all.gpu; ldg x", "[1 0]", "strong-memory fence-loads fence-stores"},
	{"mp in a CTA", "st x 1; membar.all.cta; st y 1|ld y; wait; ld x", "[1 0]", "scoreboard store-through fence-stores"},
	{"sb+sc", "st x 1; membar.sc.gpu; ivall; ldg y||st y 1; membar.sc.gpu; ivall; ldg x", "[0][0]", "fence-stores fence-sc"},
	{"sb+sc, weak reads", "st x 1; membar.sc.gpu; ivall; ld y||st y 1; membar.sc.gpu; ivall; ld x", "[0][0]", "invalidates fence-stores fence-sc"},
	{"lb+data", "ldg x; wait; st y r0||ldg y; wait; st x r0", "[1][1]", ""},
	{"lb+ctrl", "ldg x; wait; st y 1 if r0||ldg y; wait; st x 1 if r0", "[1][1]", ""},
	{"coRR", "st x 1||ldg x; ldg x", "[1 0]", "same-location"},
	{"coRR in a CTA", "st x 1|ld x; ld x", "[1 0]", "same-location"},
	{"coRR, far then near, in a CTA", "st x 1|ld x; ldg x", "[1 0]", "same-location one-queue"},
	{"coRR, strong then weak", "st x 1||ld x; ldg x; ld x", " 1 0] ", "same-location strong-fills"},
	{"coRR after an atomic", "ld x; add x; ld x", "[0 0 0] ", "same-location atomic-drops"},
	{"coWW", "st x 1; st x 2", " [1 0 0]", "same-location one-queue"},
	{"coWR", "st x 1; ld x", "[0] ", "same-location store-through"},
	{"isa2 through a CTA", "st x 1; membar.all.cta; st z 1|ld z; wait; membar.all.gpu; st y 1||" + acquire + "; ld x", "[][1][1 0]", "scoreboard invalidates fence-stores fence-group"},
	{"isa2 through shared memory", "st x 1; membar.all.cta; st s 1|ld s; wait; membar.all.gpu; st y 1||" + acquire + "; ld x", "[][1][1 0]", "scoreboard invalidates fence-stores fence-group"},
	{"wrc into a CTA", "st x 1; " + release + "||" + acquire + "; membar.all.cta; st z 1|ld z; wait; ld x", "[][1][1 0]", "scoreboard invalidates fence-stores"},
	{"wrc of the same location into a CTA", "st x 1||ldg x; membar.all.cta; st z 1|ld z; wait; ld x", "[][1][1 0]", "scoreboard strong-fills fence-loads"},
	{"a barrier", "st x 1; bar|bar; ld x", "[][0]", "store-through barrier-drains"},
	{"a barrier, then a release", "st x 1; bar|bar; " + release + "||" + acquire + "; ld x", "[][][1 0]", "scoreboard invalidates fence-loads fence-stores fence-group barrier-drains"},
	{"shared memory", "st s 1; st s 2|ld s; ld s", "[2 1]", "same-location"},
	{"two atomics", "add x||add x", "[0][0]", ""},
}

// TestIdioms: what the compilers emit does what it is for, and without each rule in
// needs, and no other, it does not. Every rule is needed.
func TestIdioms(t *testing.T) {
	needed := map[string]bool{}
	for _, x := range idioms {
		require.False(t, reached(t, parse(t, x.text), x.never), x.name)
		var got []string
		for r := range Rules {
			p := parse(t, x.text)
			p.Without = 1 << r
			if reached(t, p, x.never) {
				got = append(got, Rules[r].ID)
				needed[Rules[r].ID] = true
			}
		}
		assert.Equal(t, x.needs, strings.Join(got, " "), x.name)
	}
	assert.Len(t, needed, len(Rules))
}

// TestWeak: what chips do, or are not known not to do, the machine does.
func TestWeak(t *testing.T) {
	for _, x := range []struct{ name, text, seen string }{
		{"mp", "st x 1; st y 1||ld y; ld x", "[1 0]"},
		{"mp of a stale line", "st x 1; " + release + "||ldg y; wait; ld x", "[1 0]"},
		{"mp with fences of a CTA", "st x 1; membar.all.cta; st y 1||ldg y; membar.all.cta; ldg x", "[1 0]"},
		{"mp in a CTA without a wait", "st x 1; membar.all.cta; st y 1|ld y; ld x", "[1 0]"},
		{"isa2 through another CTA, whose last thread does not wait (h200: 6 of ISA2+fence.acq_rel.cta+…-p0:p2::p1)",
			"st x 1; membar.all.cta; st y 1|ld z; ld x||ldg y; wait; membar.all.cta; st z 1", "[][1 0][1]"},
		{"sb", "st x 1; ldg y||st y 1; ldg x", "[0][0]"},
		{"sb with fences that are not SC", "st x 1; membar.all.gpu; ldg y||st y 1; membar.all.gpu; ldg x", "[0][0]"},
		{"lb", "ldg x; st y 1||ldg y; st x 1", "[1][1]"},
		{"iriw of stale lines", "st x 1||st y 1||ldg x; wait; ld y||ldg y; wait; ld x", "[1 0][1 0]"},
		{"own store early", "st x 1; ld x; st y 1||ldg y; wait; ldg x", "[1][1 0]"},
	} {
		assert.True(t, reached(t, parse(t, x.text), x.seen), x.name)
	}
	fresh := parse(t, "st x 1; "+release+"||ldg y; wait; ld x")
	fresh.Fresh = true
	assert.False(t, reached(t, fresh, "[1 0]"), "no line is stale")
}

// TestRefusals: what the machine does not know is no answer.
func TestRefusals(t *testing.T) {
	explore := func(p *Program) error {
		return Explore(context.Background(), p, func(*Final, func() []Step) error { return nil })
	}
	require.ErrorIs(t, explore(parse(t, "ld x; st y r0||ld x")), ErrHazard)
	require.ErrorIs(t, explore(parse(t, "bar|ld x")), ErrRefused)
	require.ErrorIs(t, explore(parse(t, "st s 1||ld s")), ErrRefused)
	require.ErrorIs(t, explore(parse(t, "wait; st x 1 if r0")), ErrRefused)
	require.ErrorIs(t, explore(parse(t, strings.Repeat("st x 1; ", 64)+"st x 1")), ErrRefused)
	defer func(n int) { maxStates = n }(maxStates)
	maxStates = 3
	require.ErrorIs(t, explore(parse(t, "st x 1||st y 1||ld x; ld y")), ErrLimit)
}
