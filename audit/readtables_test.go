package audit

import (
	"bytes"
	"strings"
	"testing"

	"optcheck/internal/input"

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

	for text, want := range map[string]string{
		"": "no dependency in this file", "{": "f:1: ", "\n{\"mapping\":{}}": "f:2: no dependency", `{"dependency":{"fate":"kept","x":1}}`: "unknown field",
		`{"dependency":{"scheme":"xor"}}`: "says nothing", strings.Repeat("x", input.MaxTableLine+1): "too long",
	} {
		_, err := ReadDeps("f", strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
}
