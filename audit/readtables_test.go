package audit

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadTables(t *testing.T) {
	deps := []DepCell{{Scheme: "xor", Kind: "address", Into: "ld", Space: "global", Bits: 64, Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: "pointers", Fate: DepRemoved, Detail: "<gone>"},
		{Scheme: "xor", Fate: DepKept}}
	var b bytes.Buffer
	require.NoError(t, WriteDepsJSON(&b, deps))
	back, err := ReadDeps("f", &b)
	require.NoError(t, err)
	require.Equal(t, deps, back)

	cell := func(op, tc, target, level, machine string) MapCell {
		return MapCell{Op: op, Group: "loads", Toolchain: tc, Target: target, Level: level, Status: MapMapped, Machine: machine, Sequence: []MapInst{{Text: machine}}}
	}
	cells := []MapCell{cell("ld", "ptxas 1.0", "sm_70", "O0", "A"), cell("ld", "ptxas 1.0", "sm_70", "O3", "A"), cell("ld", "ptxas 1.0", "sm_80", "O0", "A"),
		cell("ld", "ptxas 2.0", "sm_70", "O0", "B"), cell("ld", "ptxas 2.0", "sm_70", "O3", "B"), cell("ld", "ptxas 2.0", "sm_80", "O0", "B")}
	b.Reset()
	require.NoError(t, WriteMappingJSON(&b, cells))
	got, err := ReadMapping("f", &b)
	require.NoError(t, err)
	require.Equal(t, cells, got)
	require.Equal(t, []MapChangeRow{{"ld", "ptxas 1.0", "ptxas 2.0", "A", "B", "O0 O3: sm_70; O0: sm_80"}}, MapChangeRows(got))
	rows := MapRows(got)
	require.Len(t, rows, 2)
	require.Equal(t, MapRow{"ld", "loads", "A", "sm_70–sm_80 (1.0)"}, rows[0])

	for text, want := range map[string]string{
		"": "no dependency in this file", "{": "f:1: ", "\n{\"mapping\":{}}": "f:2: no dependency", `{"dependency":{"fate":"kept","x":1}}`: "unknown field",
		`{"dependency":{"scheme":"xor"}}`: "says nothing", strings.Repeat("x", maxTableLine+1): "too long",
	} {
		_, err := ReadDeps("f", strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
}
