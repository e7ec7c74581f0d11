package dict

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/sass/cubin"
)

// toy is a disassembler of a language of its own: bits 9 to 31 of the first word
// tell what is printed. It counts the instructions that it was given.
type toy struct{ asked atomic.Int64 }

func (d *toy) print(_ context.Context, _ string, code []byte) ([]byte, error) {
	var out []byte
	for at := 0; at < len(code); at += 16 {
		v := binary.LittleEndian.Uint64(code[at:])
		d.asked.Add(1)
		switch v >> 60 {
		case 1:
			out = fmt.Appendf(out, "/*%04x*/ @P0 BRA P1, %s ;\n", at, signedHex(int64(at)+int64(v&0xfff)-0x800))
		case 2: // nothing
		case 3:
			out = fmt.Appendf(out, "/*%04x*/ ODD %#x ;\n", at, 2*at)
		case 4:
			return nil, errors.New("refused")
		default:
			out = fmt.Appendf(out, "/*%04x*/ MOV R1, %#x ;\n", at, v)
		}
	}
	return out, nil
}

func signedHex(v int64) string {
	if v < 0 {
		return fmt.Sprintf("-%#x", -v)
	}
	return fmt.Sprintf("%#x", v)
}

func keySet(first, n uint64) map[Key]bool {
	set := map[Key]bool{}
	for i := range n {
		set[Key{first + i}] = true
	}
	return set
}

func of(d *Dict, k Key) entry {
	e, _ := d.entries.get(k)
	return e
}

func content(d *Dict) map[Key]entry { return maps.Collect(d.entries.all()) }

func TestEntries(t *testing.T) {
	d, x := New(), &toy{}
	keys := map[Key]bool{{5}: true, {1<<60 | 0x840}: true, {1<<60 | 0x10}: true, {2 << 60}: true, {3 << 60}: true}
	require.NoError(t, d.learn(t.Context(), x.print, "sm_90", keys))
	assert.Equal(t, entry{kind: plain, text: "MOV R1, 0x5"}, of(d, Key{5}))
	assert.Equal(t, entry{kind: branch, text: "@P0 BRA P1, ", rel: 0x40}, of(d, Key{1<<60 | 0x840}))
	assert.Equal(t, entry{kind: branch, text: "@P0 BRA P1, ", rel: -0x7f0}, of(d, Key{1<<60 | 0x10}))
	assert.Equal(t, entry{kind: beyond}, of(d, Key{2 << 60}))
	assert.Equal(t, entry{kind: beyond}, of(d, Key{3 << 60}))
	assert.EqualValues(t, 10, x.asked.Load(), "each at two addresses")
	require.NoError(t, d.learn(t.Context(), x.print, "sm_90", keys))
	assert.EqualValues(t, 10, x.asked.Load(), "nothing is asked twice")
	assert.ErrorContains(t, d.learn(t.Context(), x.print, "sm_90", map[Key]bool{{4 << 60}: true}), "refused")
	assert.ErrorIs(t, d.learn(t.Context(), x.print, "sm_20", map[Key]bool{{7}: true}), ErrBeyond)
	assert.ErrorIs(t, d.learn(t.Context(), x.print, "gfx900", map[Key]bool{{7}: true}), ErrBeyond)
}

// TestAbsolute: what goes to an address that does not move is left to nvdisasm.
func TestAbsolute(t *testing.T) {
	for text, want := range map[string]bool{
		"JMP 0x100": true, "@P0 JCAL 0x40": true, "RET.REL.NODEC R20 0x0": true, "BRX R2 -0x90": true, "CALL.ABS.NOINC 0x0": true,
		"CALL.ABS.NOINC R2": false, "@P0 CALL.ABS.NOINC R12": false, "CALL.REL.NOINC R2 0x0": true,
		"RET": false, "EXIT": false, "@!P0 EXIT": false, "MOV R1, 0x5": false, "BSYNC B0": false,
	} {
		assert.Equal(t, want, absolute(text), text)
	}
}

func TestWithSymbol(t *testing.T) {
	for _, c := range [][2]string{
		{"MOV R2, 0x0", "MOV R2, 32@lo(x)"}, {"@!P0 UMOV UR4, 0x0", "@!P0 UMOV UR4, 32@lo(x)"},
		{"IADD3 R4, P0, R2, 0x0, RZ", "IADD3 R4, P0, R2, 32@lo(x), RZ"},
		{"MOV R2, 0x10", ""}, {"MOV R2, R3", ""}, {"LOP3.LUT R2, R3, 0x0, RZ, 0x3c, !PT", ""}, {"LDG.E R2, [R4+0x0]", ""},
	} {
		got, ok := withSymbol(c[0], "32@lo", "x")
		assert.Equal(t, c[1], got)
		assert.Equal(t, c[1] != "", ok)
	}
}

// TestKept: what one dictionary has learned, the next one knows, of the same
// disassembler only.
func TestKept(t *testing.T) {
	dir, x := filepath.Join(t.TempDir(), "d"), &toy{}
	d := Open(dir, "one")
	require.NoError(t, d.learn(t.Context(), x.print, "sm_90", keySet(0, 100)))
	before := x.asked.Load()
	again := Open(dir, "one")
	require.NoError(t, again.learn(t.Context(), x.print, "sm_90", keySet(0, 100)))
	require.Equal(t, before, x.asked.Load())
	require.Equal(t, content(d), content(again))
	other := Open(dir, "two")
	require.Empty(t, other.entries.places)
	require.NoError(t, other.learn(t.Context(), x.print, "sm_90", keySet(0, 100)))
	require.Equal(t, 2*before, x.asked.Load())
	require.Len(t, Open(dir, "one").entries.places, 100, "both are kept")
}

// TestDamage: whatever single byte of a segment is changed, and wherever it is
// cut, nothing wrong is read, and what is missing is asked for again.
func TestDamage(t *testing.T) {
	dir, x := t.TempDir(), &toy{}
	d := Open(dir, "one")
	require.NoError(t, d.learn(t.Context(), x.print, "sm_90", keySet(1<<60, 8)))
	files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	require.NoError(t, err)
	require.Len(t, files, 1)
	whole, err := os.ReadFile(files[0])
	require.NoError(t, err)
	check := func(data []byte) {
		require.NoError(t, os.WriteFile(files[0], data, 0o600))
		got := Open(dir, "one")
		require.Empty(t, got.entries.places)
		if len(data) != len(whole) {
			return
		}
		require.NoError(t, got.learn(t.Context(), x.print, "sm_90", keySet(1<<60, 8)))
		require.Equal(t, content(d), content(got))
		made, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
		require.NoError(t, err)
		for _, f := range made {
			require.NoError(t, os.Remove(f))
		}
	}
	for i := range whole {
		data := append([]byte(nil), whole...)
		data[i] ^= 1 << (i % 8)
		check(data)
		check(whole[:i])
	}
	require.NoError(t, os.WriteFile(files[0], whole, 0o600))
	require.Equal(t, content(d), content(Open(dir, "one")))
}

// TestMerge: segments are put together before they are many, and nothing is lost.
func TestMerge(t *testing.T) {
	dir, x := t.TempDir(), &toy{}
	d := Open(dir, "one")
	for i := range uint64(3 * maxSegments) {
		require.NoError(t, d.learn(t.Context(), x.print, "sm_90", keySet(10*i, 10)))
		require.LessOrEqual(t, len(d.store.segments()), maxSegments+1)
	}
	require.Equal(t, content(d), content(Open(dir, "one")))
}

// TestManyProcesses: dictionaries that share a folder, each used by several
// goroutines, end up with the same knowledge, and a new one has all of it.
func TestManyProcesses(t *testing.T) {
	dir, x := t.TempDir(), &toy{}
	var wait sync.WaitGroup
	for p := range uint64(4) {
		d := Open(dir, "one")
		for g := range uint64(4) {
			wait.Go(func() {
				for i := range uint64(20) {
					assert.NoError(t, d.learn(context.Background(), x.print, "sm_90", keySet(100*(g+i+p), 100)))
				}
			})
		}
	}
	wait.Wait()
	got := Open(dir, "one")
	require.Len(t, got.entries.places, 2600)
	for k, e := range got.entries.all() {
		require.Equal(t, entry{kind: plain, text: fmt.Sprintf("MOV R1, %#x", k[0])}, e)
	}
}

func FuzzDecode(f *testing.F) {
	some, keys := newTable(), []Key{{1, 2}, {3}}
	some.put(keys, []entry{{kind: plain, text: "EXIT"}, {kind: branch, text: "BRA ", rel: -16}})
	f.Add(encode("id", keys, some), "id")
	f.Fuzz(func(t *testing.T, data []byte, id string) {
		text, keys, places, err := decode(data, id)
		if err != nil && (keys != nil || places != nil) {
			t.Fatal("entries with an error")
		}
		if len(keys)*18 > len(data) || len(places) != len(keys) {
			t.Fatalf("%d entries in %d bytes", len(keys), len(data))
		}
		table := newTable()
		table.add(text, keys, places)
		for k, e := range table.all() {
			if e.kind != plain && e.kind != branch {
				t.Fatalf("%v: %v", k, e)
			}
		}
	})
}

// TestProgramRefuses: text that is no whole function, and a target whose code has
// an unknown format, are errors.
func TestProgramRefuses(t *testing.T) {
	data, err := os.ReadFile("../cubin/testdata/12.4-sm_90.cubin")
	require.NoError(t, err)
	f, err := cubin.Parse(data)
	require.NoError(t, err)
	x := &toy{}
	d := New()
	_, err = d.Program("x", f)
	require.ErrorContains(t, err, "was not decoded")
	require.NoError(t, d.Learn(t.Context(), x.print, "sm_90", f))
	_, err = d.Program("x", f)
	require.Error(t, err, "the toy knows no instruction that ends a function")
	f.SM = 20
	require.ErrorIs(t, d.Learn(t.Context(), x.print, "sm_20", f), ErrBeyond)
	_, err = d.Program("x", f)
	require.ErrorIs(t, err, ErrBeyond)
}
