package cubin

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/sass/cubin/cubintest"
)

var update = flag.Bool("update", false, "write the expected reading of testdata anew")

// reading returns all that is read of a cubin, as text.
func reading(t *testing.T, f *File) string {
	var b strings.Builder
	format, err := FormatOf(f.SM)
	require.NoError(t, err)
	fmt.Fprintf(&b, "%s by %s, constants %v, literals %v\n", f.Arch(), f.Release, f.Constants(), f.Literals())
	for i := range f.Funcs {
		fn := &f.Funcs[i]
		fmt.Fprintf(&b, "%s\n", fn.Name)
		for _, r := range f.Relocations(fn) {
			fmt.Fprintf(&b, "  relocation %#x: %d %s%+d\n", r.Offset, r.Type, r.Symbol, r.Addend)
		}
		words := format.Words(fn.Code)
		for j, src := range f.Sources(fn, words) {
			w := &words[j]
			fmt.Fprintf(&b, "  %04x %016x %-23s reuse %x  %s:%d\n", w.Addr, w.Code, w.Control, w.Control.Reuse, src.File, src.Line)
		}
	}
	return b.String()
}

// TestGolden reads cubins of each encoding. That what is expected of them is
// right is not decided here: audit compares with nvdisasm (TestDecode).
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.cubin")
	require.NoError(t, err)
	require.Len(t, files, 4)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		f, err := Parse(data)
		require.NoError(t, err)
		require.Equal(t, filepath.Base(file), f.Release+"-"+f.Arch()+".cubin")
		got := reading(t, f)
		want := strings.TrimSuffix(file, ".cubin") + ".txt"
		if *update {
			require.NoError(t, os.WriteFile(want, []byte(got), 0o644))
		}
		text, err := os.ReadFile(want)
		require.NoError(t, err)
		require.Equal(t, string(text), got)
		small, err := Compact(f)
		require.NoError(t, err)
		require.True(t, IsCompact(small))
		f, err = ParseCompact(small)
		require.NoError(t, err)
		require.Equal(t, got, reading(t, f), "the compact form")
	}
}

// TestJoin: what Join puts together, Words takes apart, at the places that Place
// tells.
func TestJoin(t *testing.T) {
	for _, sm := range []int{35, 50, 61, 70, 90, 120} {
		f, err := FormatOf(sm)
		require.NoError(t, err)
		for n := 1; n < 30; n++ {
			var in [][2]uint64
			for i := range n {
				w := [2]uint64{0x4c98078000000000 | uint64(i)<<20 | 0x70005, uint64(i % 16)}
				if f.Group == 64 {
					w[1] = 0
				}
				if f.Wide {
					w[1] <<= wideControl + 17
				}
				in = append(in, w)
			}
			words := f.Words(f.Join(in))
			require.GreaterOrEqual(t, len(words), n)
			for i := range n {
				require.Equal(t, in[i], words[i].Code, "sm_%d, %d of %d", sm, i, n)
				require.Equal(t, f.Place(i), words[i].Addr)
			}
		}
	}
	for _, sm := range []int{0, 20, 30, 45, 250} {
		_, err := FormatOf(sm)
		require.Error(t, err)
	}
}

// TestControl: control codes from listings whose meaning is published (maxas;
// Jia et al., Dissecting the Volta GPU Architecture; CuAssembler's tests).
func TestControl(t *testing.T) {
	wide, maxwell, kepler := Format{Wide: true}, Format{Group: 32}, Format{Group: 64}
	for _, c := range []struct {
		format Format
		word   uint64
		slot   int
		want   string
	}{
		{wide, 0x000fe20000000f00, 0, "B------:R-:W-:-:S01"},
		{wide, 0x000e280000002100, 0, "B------:R-:W0:-:S04"},
		{wide, 0x004fca00078e33ff, 0, "B--2---:R-:W-:Y:S05"},
		{wide, 0x0041e4000c101904, 0, "B--2---:R0:W-:-:S02"},
		{maxwell, 0x001fbc00fe2007f2, 0, "B------:R-:W-:-:S02"},
		{maxwell, 0x001fbc00fe2007f2, 1, "B------:R-:W-:-:S01"},
		{maxwell, 0x001fbc00fe2007f2, 2, "B------:R-:W-:Y:S15"},
		{maxwell, 0x001c4400fe0007f6, 2, "B------:R-:W0:-:S01"},
		{kepler, 0x08b8b810b8b89c98, 0, "26"},
		{kepler, 0x08b8b810b8b89c98, 6, "2e"},
	} {
		got := c.format.Control(c.word, c.slot)
		assert.Equal(t, c.want, got.String(), "%016x %d", c.word, c.slot)
		if got.Kind == isa.ControlFields {
			assert.Equal(t, got, isa.ControlOf(got.Bits()))
		}
	}
}

// FuzzParse: nothing that is read of any file fails, and nothing is larger than
// the file allows.
func FuzzParse(f *testing.F) {
	f.Add(cubintest.Make([]string{"k0", "k1"}))
	files, err := filepath.Glob("testdata/*.cubin")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			return
		}
		format, err := FormatOf(file.SM)
		if err != nil {
			return
		}
		total := 0
		file.Constants()
		file.Literals()
		for i := range file.Funcs {
			file.Branches(&file.Funcs[i])
			fn := &file.Funcs[i]
			words := format.Words(fn.Code)
			total += len(words) * format.Size()
			if n := len(file.Lines(fn)); n > len(data) {
				t.Fatalf("%d lines in %d bytes", n, len(data))
			}
			file.Sources(fn, words)
			file.Relocations(fn)
			file.Inner(fn)
		}
		if total > len(data) {
			t.Fatalf("%d bytes of code in %d bytes", total, len(data))
		}
	})
}

// TestFlips: no single byte of a cubin can be changed so that reading it fails
// badly.
func TestFlips(t *testing.T) {
	whole, err := os.ReadFile("testdata/11.8-sm_75.cubin")
	require.NoError(t, err)
	for i := range whole {
		data := append([]byte(nil), whole...)
		data[i] ^= 0xff
		if f, err := Parse(data); err == nil {
			for j := range f.Funcs {
				f.Lines(&f.Funcs[j])
				f.Relocations(&f.Funcs[j])
			}
			f.Constants()
			f.Literals()
		}
	}
}
