package realcode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

// TestPerforms: which instructions are images of an operation that lanes perform together: in their general or uniform forms, and
// those of a cluster.
func TestPerforms(t *testing.T) {
	for _, x := range []struct {
		name, op string
		want     bool
	}{
		{"vote", "VOTE", true}, {"vote", "VOTEU", true}, {"redux", "REDUX", true}, {"redux", "CREDUX", true}, {"elect", "ELECT", true}, {"elect", "UELECT", true},
		{"vote", "MATCH", false}, {"match", "MATCH", true}, {"shfl", "SHFL", true}, {"vote", "VOTEX", false}, {"vote", "VOT", false}, {"bar", "BAR", false},
	} {
		require.Equal(t, x.want, performs(x.name, &isa.Inst{Op: x.op}), "%s %s", x.name, x.op)
	}
}

// TestLocks: what takes a lock, and what gives it back to those that take it.
func TestLocks(t *testing.T) {
	op := func(f *ptx.Func, kind ptx.Kind, atom, root string) *Op {
		x := &Op{Func: f}
		x.Effect.Kind, x.Effect.Atom, x.addr.root = kind, atom, root
		return x
	}
	f, g := &ptx.Func{}, &ptx.Func{}
	cas, exch := op(f, ptx.Atomic, "cas", "p"), op(f, ptx.Atomic, "exch", "q")
	add, elsewhere, other := op(f, ptx.Atomic, "add", "r"), op(g, ptx.Atomic, "cas", "s"), op(f, ptx.Atomic, "cas", "")
	dead := op(f, ptx.Atomic, "cas", "d")
	dead.Dead = true
	c := &checker{matcher: &matcher{src: &source{ops: []*Op{cas, exch, add, elsewhere, other, dead}}}}
	for what, x := range map[string]struct {
		op   *Op
		want bool
	}{
		"a store to a lock":          {op(f, ptx.Store, "", "p"), true},
		"an exchange of a lock":      {op(f, ptx.Atomic, "exch", "p"), true},
		"another cas of it":          {op(f, ptx.Atomic, "cas", "q"), true},
		"a load of it":               {op(f, ptx.Load, "", "p"), false},
		"a sum of it":                {op(f, ptx.Atomic, "add", "p"), false},
		"a store to a counter":       {op(f, ptx.Store, "", "r"), false},
		"a lock of another function": {op(f, ptx.Store, "", "s"), false},
		"a place that nobody knows":  {op(f, ptx.Store, "", ""), false},
		"a lock that nobody takes":   {op(f, ptx.Store, "", "d"), false},
		"what takes it, by itself":   {cas, false},
		"an exchange, by itself":     {exch, false},
	} {
		require.Equal(t, x.want, c.frees(x.op), what)
	}
	for op, want := range map[*Op]bool{cas: true, exch: true, add: false, dead: false, op(f, ptx.Store, "", "p"): false, op(f, ptx.Load, "cas", "p"): false} {
		require.Equal(t, want, takes(op), "%+v", op.Effect)
	}
}
