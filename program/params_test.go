package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A parameter stands wherever a number can.
func TestParams(t *testing.T) {
	const good = `name: p
source: p.ptx
params: {n: 64, blocks: 4}
sizes:
  - {n: 128, blocks: 8}
  - {n: 256}
buffers:
  a: {type: u32, count: $n, init: {random: {seed: 7, below: $n}}}
  e: {type: u32, count: 1}
launches:
  - {kernel: k, grid: $blocks, block: [$n], args: [a, {u32: $n}]}
check:
  - {buffer: e, equals: $blocks}
`
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.ptx"), []byte("//"), 0o600))
	read := func(text string) (*Program, error) {
		file := filepath.Join(dir, "p.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return Read(file)
	}
	p, err := read(good)
	require.NoError(t, err)
	require.Len(t, p.Sizes, 2)
	for _, size := range []map[string]int64{nil, p.Sizes[0], p.Sizes[1], {"blocks": 3}} {
		q, err := p.With(size)
		require.NoError(t, err)
		n, blocks := int64(64), int64(4)
		if v, ok := size["n"]; ok {
			n = v
		}
		if v, ok := size["blocks"]; ok {
			blocks = v
		}
		require.Equal(t, map[string]int64{"n": n, "blocks": blocks}, q.Params)
		require.EqualValues(t, n, q.Buffer("a").Count)
		require.EqualValues(t, n, q.Buffer("a").Init.Random.Below)
		require.EqualValues(t, blocks, q.Launches[0].Grid[0])
		require.EqualValues(t, n, q.Launches[0].Block[0])
		require.EqualValues(t, n, q.Launches[0].Args[1].Word)
		require.Equal(t, blocks, q.Check[0].Value)
		require.Equal(t, "//", string(q.PTX.Text))
	}
	_, err = p.With(map[string]int64{"m": 1})
	require.ErrorContains(t, err, `there is no parameter "m": params has blocks, n`)
	_, err = p.With(map[string]int64{"n": -1})
	require.ErrorContains(t, err, "buffer a: count -1")
	for add, want := range map[string]string{
		"about: $m\n":          "line 14: $m is no parameter of params",
		"about: costs 3 $\n":   "line 14: $ is no parameter of params",
		"sizes2: [{n: 3}]\n":   "sizes2",
		"params: {n: 2}\n":     "already defined",
		"timeout: $blocks\n":   `timeout: "4"`,
		"- {n: 3}\n":           "did not find expected",
		"about: &a [*a, *a]\n": "a list does not belong here",
	} {
		_, err := read(good + add)
		require.ErrorContains(t, err, want, add)
	}
	for old, want := range map[string]string{"{n: 256}": `there is no parameter "m"`, "n: 64": `params: "M"`} {
		text := map[string]string{"{n: 256}": "{m: 256}", "n: 64": "M: 1, n: 64"}[old]
		_, err := read(strings.Replace(good, old, text, 1))
		require.ErrorContains(t, err, want, old)
	}
}
