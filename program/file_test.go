package program

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLoad(t *testing.T) {
	require.Contains(t, Names(), "cbe-dot")
	for _, name := range Names() {
		p, err := Load(name)
		require.NoError(t, err)
		require.Equal(t, name, p.Name)
		require.NotEmpty(t, p.About)
	}
	p, err := Load("cbe-dot")
	require.NoError(t, err)
	require.Equal(t, 10*time.Second, p.Timeout)
	require.Equal(t, [3]uint32{64, 1, 1}, p.Launches[0].Grid)
	require.Equal(t, Arg{Type: U32, Word: 16384}, p.Launches[0].Args[5])
	_, err = Load("no-such")
	require.ErrorContains(t, err, "cbe-dot")
}

// What a file may say, and what is said of one that is wrong.
func TestFile(t *testing.T) {
	const good = `name: p
source: p.ptx
buffers:
  a: {type: u32, count: 4, init: {iota: 1}}
  b: {type: s32, count: 4, init: {fill: -1}}
  f: {type: f32, count: 2, init: {values: [1, -3]}}
  r: {type: u64, count: 4, init: {random: {seed: 7, below: 10}}}
  e: {type: u32, count: 1}
launches:
  - {kernel: k, grid: [2, 3], block: 64, shared: 16, args: [a, {s32: -1}, {u64: 5}]}
check:
  - {buffer: a, at: 3, equals: 4}
  - {buffer: f, equals: 2}
  - {buffer: a, equals: a}
  - {kernel: v, grid: 1, block: 1, args: [a, e], errors: e}
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
	require.Equal(t, "//", string(p.PTX.Text))
	require.Equal(t, [3]uint32{2, 3, 1}, p.Launches[0].Grid)
	require.EqualValues(t, 6, p.Launches[0].Blocks())
	require.Equal(t, []Check{{Buffer: "a", At: 3, Value: 4}, {Buffer: "f", At: -1, Value: 2}, {Buffer: "a", At: -1, Other: "a"}}, p.Check[:3])
	require.Equal(t, "v", p.Check[3].Launch.Kernel)
	require.Equal(t, "e", p.Check[3].Errors)
	require.Equal(t, []byte{0, 0, 128, 63, 0, 0, 64, 192}, p.Buffer("f").Data())
	require.Equal(t, p.Buffer("r").Data(), p.Buffer("r").Data())
	for i := range 4 {
		require.Less(t, binary.LittleEndian.Uint64(p.Buffer("r").Data()[8*i:]), uint64(10))
	}
	for change, want := range map[string]string{
		"name: p=>name: ../p":                      "name: ",
		"source: p.ptx=>source: q.ptx":             "no such file",
		"source: p.ptx=>source: ../p.ptx":          "beside",
		"source: p.ptx=>source: p.cl":              "want a .ptx or .cu",
		"source: p.ptx\n=>":                        "no kernels",
		"type: u32, count: 4=>type: u8, count: 4":  "type",
		"count: 4, init: {iota: 1}=>count: 0":      "count 0",
		"count: 1}=>count: 99999999}":              "count 99999999",
		"fill: -1=>fill: 4294967296":               "is no s32",
		"[1, -3]=>[1]":                             "1 values for 2",
		"[1, -3]=>[1, 16777217]":                   "is no f32",
		"iota: 1=>iota: 1, fill: 2":                "want one of",
		"below: 10=>below: 0":                      "below",
		"grid: [2, 3]=>grid: [1, 2, 3, 4]":         "grid",
		"grid: [2, 3]=>grid: 0":                    "want 1 to",
		"block: 64=>block: [1024, 2]":              "block",
		"args: [a, {s32=>args: [q, {s32":           `no buffer "q"`,
		"{u64: 5}=>{u64: 5, u32: 1}":               "want the name of a buffer",
		"{u64: 5}=>{u32: -5}":                      "is no u32",
		"at: 3=>at: 4":                             "at: 4 of 4",
		"equals: a=>equals: b":                     "a is 4 of u32, b is 4 of s32",
		"equals: 2=>equals: x":                     "equals",
		", errors: e=>":                            "needs errors",
		"errors: e=>errors: q":                     `no buffer "q"`,
		"kernel: k=>kernel: \"\"":                  "no kernel",
		"name: p\n=>name: p\ntimeout: 2m\n":        "timeout",
		"name: p\n=>name: p\ncolour: red\n":        `unknown key "colour"`,
		"check:=>check: []\nlaunches: []\nchecks:": "launches",
	} {
		from, to, _ := strings.Cut(change, "=>")
		require.Contains(t, good, from)
		_, err := read(strings.Replace(good, from, to, 1))
		require.ErrorContains(t, err, want, change)
		require.ErrorContains(t, err, "p.yaml", change)
	}
	// Errors have the place of what they are about.
	for change, want := range map[string]string{
		"name: p=>name: ../p": "p.yaml:1:7: name: ", "source: p.ptx=>source: q.ptx": "p.yaml:2:9: ",
		"fill: -1=>fill: 4294967296":     "p.yaml:5:6: buffer b: init: ",
		"grid: [2, 3]=>grid: 0":          "p.yaml:10:23: launch 1: grid: ",
		"args: [a, {s32=>args: [q, {s32": "p.yaml:10:61: launch 1: argument 1: ",
		"at: 3=>at: 4":                   "p.yaml:12:21: check 1: at: ",
		"equals: a=>equals: b":           "p.yaml:14:5: check 3: ",
		"grid: 1, block: 1, args: [a, e]=>grid: 1, block: 1, args: [a, x]": "p.yaml:15:46: check 4: argument 2: ",
	} {
		from, to, _ := strings.Cut(change, "=>")
		require.Contains(t, good, from)
		_, err := read(strings.Replace(good, from, to, 1))
		require.ErrorContains(t, err, want, change)
	}
	// A source that a link takes out of the folder is not read.
	require.NoError(t, os.Remove(filepath.Join(dir, "p.ptx")))
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "p.ptx")))
	_, err = read(good)
	require.Error(t, err)
}

func FuzzFile(f *testing.F) {
	text, err := embedded.ReadFile("cases/cbe-dot/cbe-dot.yaml")
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parse("f", text, nil, func(string) ([]byte, error) { return nil, nil })
		if err == nil {
			require.NotEmpty(t, p.Check)
			for i := range p.Buffers {
				if b := &p.Buffers[i]; b.Count < 1<<12 {
					require.Len(t, b.Data(), int(b.Bytes()))
				}
			}
		}
	})
}
