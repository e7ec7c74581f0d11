package realcode

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/ptx"
)

// accepts reports whether a graph has a path from its start to its end with these letters and no others.
func accepts(g *graph, word []int32) bool {
	at := map[int32]bool{0: true}
	closed := func() {
		for grown := true; grown; {
			grown = false
			for n := range at {
				for _, to := range g.next[n] {
					if g.letter[to] < 0 && !at[to] {
						at[to], grown = true, true
					}
				}
			}
		}
	}
	for _, l := range word {
		closed()
		next := map[int32]bool{}
		for n := range at {
			for _, to := range g.next[n] {
				if g.letter[to] == l {
					next[to] = true
				}
			}
		}
		at = next
	}
	closed()
	return at[1]
}

// TestNumbersExecuted: what nothing comes to is not executed, addresses that are the same bytes behind one beginning have one, and what a
// load reads that nobody needs changes no store.
func TestNumbersExecuted(t *testing.T) {
	fixed, dead := 0, 0
	for range 20 {
		rapid.Check(t, func(t *rapid.T) {
			d := &drawnPTX{T: t}
			text := d.kernel()
			m, err := ptx.Parse("k.ptx", []byte(text))
			require.NoError(t, err, text)
			f := m.Func("k")
			src, err := readSource(m, f)
			require.NoError(t, err, text)
			var at []int32 // of each instruction
			for i, st := range f.Body {
				if st.Inst != nil {
					at = append(at, int32(i))
				}
			}
			require.Len(t, at, len(d.insts)+1, text)
			walk := newWalk(f)
			g, err := unroll(src.steps, src.entries[f], 0, nil, maxNodes())
			require.NoError(t, err)
			for _, inputs := range []map[string]uint64{{"a": 0, "b": 1 << 40, "%tid.x": 0, "%laneid": 0}, {"a": 6, "b": 4096, "%tid.x": 77,
				"%laneid": 6},
				{"a": 1 << 31, "b": 0, "%tid.x": 1023, "%laneid": 31}, {"a": mask(32), "b": mask(64), "%tid.x": 6, "%laneid": 3}} {
				roots := map[string]uint64{}
				out, stored, _ := d.run(inputs)
				var word []int32
				for k, op := range src.ops {
					if _, runs := out[slices.Index(at, op.at)]; runs {
						word = append(word, int32(k))
						require.False(t, src.never(op), "operation %d in\n%s", k, text)
					}
				}
				require.True(t, accepts(g, word), "%v in\n%s", word, text)
				for _, op := range src.ops {
					i := slices.Index(at, op.at)
					if !op.Dead || d.insts[i].load == "" {
						continue
					}
					dead++
					for _, v := range []uint64{0, 1, 6, 1 << 31} {
						other := maps.Clone(inputs)
						other[d.insts[i].load] = v
						out2, stored2, _ := d.run(other)
						require.Equal(t, stored, stored2, "nobody needs what instruction %d reads in\n%s", i, text)
						require.Equal(t, d.addresses(out), d.addresses(out2), "nobody needs what instruction %d reads in\n%s", i, text)
					}
				}
				for i, v := range out {
					in := &d.insts[i]
					number := f.Body[at[i]].Inst.N
					require.False(t, src.possible().Never(number), "instruction %d of\n%s", i, text)
					if in.addr != "" {
						a := walk.addressOf(f.Body[at[i]].Inst)
						if base, ok := roots[a.root]; a.fixed() && ok {
							fixed++
							require.Equal(t, base, v-uint64(a.offset)+uint64(offsetOf(f.Body[at[i]].Inst)), "the address of %d in\n%s", i, text)
						} else {
							roots[a.root] = v - uint64(a.offset) + uint64(offsetOf(f.Body[at[i]].Inst))
						}
					}
				}
			}
		})
	}
	require.Greater(t, fixed, 20)
	require.Greater(t, dead, 20)
}

// offsetOf is the constant in an address.
func offsetOf(in *ptx.Inst) int64 { return in.Args[0].Value }
