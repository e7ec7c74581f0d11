package optcheck

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// TestSharedValues: what is asked of a value ends where its parts are shared, so that it has more paths than anybody could walk, and
// the answer does not depend on how deep what decides it lies.
func TestSharedValues(t *testing.T) {
	p := newValuePool()
	m := &machine{tr: &trace{pool: p, joins: map[value]join{}}, guardV: none}
	flag := p.mk(node{kind: kCmp, a: p.param(0), b: p.param(4), c: none})
	crossed := func(x, y value) value {
		for range 4 * maxDepth {
			x, y = p.mk(node{kind: kSel, a: x, b: y, c: flag}), p.mk(node{kind: kSel, a: y, b: x, c: flag})
		}
		return x
	}
	masks, narrow := p.param(8), p.param(12)
	sum := p.param(16)
	for i := range int64(4 * maxDepth) {
		other := p.bits(lutAnd, p.param(100+4*i), narrow, none)
		masks, narrow = p.bits(lutAnd, masks, narrow, none), p.bits(lutAnd, other, masks, none)
		sum = p.add(sum, sum)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, x := range []struct{ is, garbage, predicate, bool value }{{is: crossed(p.param(0), p.param(4))},
			{is: crossed(p.unwritten(3), p.param(4)), garbage: 1}, {is: crossed(p.param(0), flag), predicate: 1},
			{is: crossed(flag, flag), predicate: 1, bool: 1}} {
			require.Equal(t, x.garbage > 0, p.garbage(x.is))
			require.Equal(t, x.predicate > 0, p.isPredicate(x.is))
			require.Equal(t, x.bool > 0, p.isBool(x.is))
		}
		require.True(t, p.implies(masks, p.param(12)))
		require.False(t, p.implies(masks, p.param(20)))
		require.Positive(t, m.bytes(sum))
	}()
	select {
	case <-done:
	case <-time.After(patient.Long):
		t.Fatal("no answer")
	}
}
