package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// TestAMDBanks: where the parameters of a kernel are. TeraScale has words of its own in front of them, and AMD's own compiler for it passes
// one in each row of a constant buffer.
func TestAMDBanks(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		clauses bool
		bank    int
		off     int64
		param   int64
	}{
		{false, isa.ConstKernarg, 0, 0}, {false, isa.ConstKernarg, 24, 24},
		{true, isa.ConstKernarg, isa.ArgsTeraScale, 0}, {true, isa.ConstKernarg, isa.ArgsTeraScale + 4, 4}, {true, isa.ConstKernarg, isa.ArgsTeraScale - 4, none},
		{true, isa.ConstBuffer + 1, 0, 0}, {true, isa.ConstBuffer + 1, 32, 2 * 4}, {true, isa.ConstBuffer + 1, 36, none}, {true, isa.ConstBuffer, 32, none},
		{true, isa.ConstBuffer + 2, 32, none}, {false, isa.ConstBuffer + 1, 32, none}, {false, isa.ConstBuffer + 1, 0, none},
	} {
		tr := &trace{pool: newValuePool()}
		a := &amd{model: &amdModel{clauses: c.clauses}}
		n := tr.pool.nodes[a.bank(&machine{tr: tr}, c.bank, c.off)]
		if c.param == none {
			require.NotEqual(t, valueKind(kParam), n.kind, "%+v", c)
			continue
		}
		require.Equal(t, valueKind(kParam), n.kind, "%+v", c)
		require.Equal(t, uint64(c.param), n.imm, "%+v", c)
	}
}
