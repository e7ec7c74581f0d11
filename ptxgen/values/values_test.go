package values_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/ptx"
	"optcheck/ptx/lower"
	"optcheck/ptxgen/values"
)

var newest = values.Options{PTX: 84, SM: 90}

func TestSameSeedSameKernel(t *testing.T) {
	for i := range 50 {
		require.Equal(t, values.Generate(7, i, newest).Text("k"), values.Generate(7, i, newest).Text("k"))
	}
	require.NotEqual(t, values.Generate(7, 0, newest).Text("k"), values.Generate(8, 0, newest).Text("k"))
}

func TestFeatures(t *testing.T) {
	seen, alone := map[string]bool{}, map[string]bool{}
	for i := range 3000 {
		k := values.Generate(1, i, newest)
		require.NotEmpty(t, k.Features)
		require.LessOrEqual(t, len(k.Body), 200)
		for _, f := range k.Features {
			seen[f] = true
		}
		if len(k.Features) == 1 {
			alone[k.Features[0]] = true
		}
	}
	for _, f := range values.Features() {
		require.True(t, seen[f], f)
		require.True(t, alone[f], "%s alone", f)
	}
	old := values.Options{PTX: 72, SM: 70, Without: []string{"int32"}}
	for i := range 500 {
		for _, f := range values.Generate(1, i, old).Features {
			require.NotContains(t, []string{"int32", "paired", "reduce"}, f)
		}
	}
}

// program reads a kernel back.
func program(t *testing.T, k *values.Kernel) *ir.Program {
	t.Helper()
	m, err := ptx.Parse("k.ptx", []byte(".version 8.4\n.target sm_90\n.address_size 64\n"+k.Text("k")))
	require.NoError(t, err, k.Text("k"))
	p, err := lower.Kernel(m, "k")
	require.NoError(t, err)
	return p
}

const in, out = 0x10_0000_0000, 0x20_0000_0000

// execute is what a kernel stores on an input.
func execute(t *testing.T, k *values.Kernel, p *ir.Program, input int, policy emu.Policy) []byte {
	t.Helper()
	c, err := emu.Prepare(p)
	require.NoError(t, err)
	data, n := k.Input(input)
	params := binary.LittleEndian.AppendUint64(nil, in)
	params = binary.LittleEndian.AppendUint64(params, out)
	params = binary.LittleEndian.AppendUint64(params, uint64(n))
	l := &emu.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{k.Threads, 1, 1}, Params: params, Vars: map[string]uint64{}}
	var shared uint64
	for _, v := range p.Vars {
		l.Vars[v.Name] = shared
		shared += uint64(v.Size)
	}
	m := emu.NewMemory(func(emu.Word, emu.Kind) uint32 { return uint32(policy.Fill) })
	m.Fill(in, data)
	m.Fill(out, make([]byte, k.OutBytes()))
	g, err := emu.NewGrid(c, l, m, policy, false)
	require.NoError(t, err)
	require.NoError(t, g.Run(), k.Text("k"))
	return m.Bytes(out, k.OutBytes())
}

// TestDefined executes kernels, and what they shrink to, with other undefined content and in the opposite order: what they
// store is the same.
func TestDefined(t *testing.T) {
	opaque := map[string]int{}
	for i := range 60 {
		k := values.Generate(3, i, newest)
		list := []*values.Kernel{k}
		for kind := range values.Kinds {
			edits := k.Edits(kind)
			for n := range min(3, len(edits)) {
				if s := k.Apply(edits[(i*7+n*31)%len(edits):][:1]); s != nil {
					list = append(list, s)
				}
			}
		}
		for _, k := range list {
			p := program(t, k)
			if at := slices.IndexFunc(p.Insts, func(in ir.Inst) bool { return in.Opaque != "" }); at >= 0 {
				if k == list[0] {
					opaque[p.Insts[at].Text+": "+p.Insts[at].Opaque]++
				}
				continue
			}
			for input := range 2 {
				one := execute(t, k, p, input, emu.Policy{})
				other := execute(t, k, p, input, emu.Policy{Fill: 0xa5a5a5a5a5a5a5a5, Reverse: true, Quantum: 13})
				require.Equal(t, one, other, "kernel %d\n%s", i, k.Text("k"))
			}
		}
	}
	require.Empty(t, opaque)
}

// TestShrink takes all statements away but one.
func TestShrink(t *testing.T) {
	k := values.Generate(3, 5, newest)
	edits := k.Edits(values.Remove)
	require.Greater(t, len(edits), 10)
	small := k.Apply(edits[1:]).Apply(k.Edits(values.Unstore)[1:])
	require.NotNil(t, small)
	require.LessOrEqual(t, small.Count(), 2)
	require.Less(t, len(small.Text("k")), len(k.Text("k")))
	require.Equal(t, k.Count(), k.Apply(nil).Count())
	require.Contains(t, small.Text("other"), ".entry other(")
	require.NotContains(t, strings.ReplaceAll(small.Text("k"), "\n", ""), "\x00")
}
