package sass

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// seeds returns the recorded listings and small pieces of syntax.
func seeds(t testing.TB) [][]byte {
	var out [][]byte
	for _, dir := range []string{"wild", "golden"} {
		l, err := filepath.Glob(filepath.Join("testdata", dir, "*.sass"))
		require.NoError(t, err)
		for i, name := range l {
			if dir == "golden" && i%6 != 0 {
				continue
			}
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			out = append(out, b)
		}
	}
	for _, s := range []string{
		"/*0000*/ EXIT;", "/*0008*/ { @P0 BRA `(.L_1) }", "/*", "/*0*/", "/*0010*/ LDG.E R255, desc[UR62][R254.64+-0x8] ;",
		"code for sm_99\nFunction : x\n/*0*/ IADD3 R254, P0, P1, R1, -R2, ~R3;\n/*10*/ EXIT;\n......",
		"\tcode for sm_50\n\t\tFunction : a\n/*0008*/ SSY 0x28;\n/*0010*/ @P0 SYNC;\n/*0018*/ BRK;\n/*0028*/ EXIT;",
		"\tcode for sm_70\n\t\tFunction : a\n/*0000*/ BSSY B0, 0x20;\n/*0010*/ BSYNC B0;\n/*0020*/ BRA 0x0;",
		"//## File \"x\", line 99999999999999999999", ".section .text.,", "[B------:R-:W-:-:S04] /*0000*/ NOP;",
		"/*fffffffffffffff0*/ BRA 0xfffffffffffffff0;", "/*0000*/ c[,[,{,(,`;",
		"00000000000000\n/*/", "/*0*//*0*/", "/*0*/ A /*/", "/*0*/ A (*);", "code for sm_80\nFunction : x\n/*0*/ MATCH.U64;\n/*10*/ EXIT;",
	} {
		out = append(out, []byte(s))
	}
	return out
}

// FuzzParse: any input gives a program or an *Error, in bounded time and
// memory; what is returned is consistent.
func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Parse("fuzz", src)
		if err != nil {
			var e *Error
			require.True(t, errors.As(err, &e), "%v", err)
			require.Nil(t, p)
			require.Positive(t, e.Line)
			return
		}
		require.NotEmpty(t, p.Funcs)
		require.LessOrEqual(t, len(p.Problems), isa.MaxProblems+1)
		lines := bytes.Count(src, []byte{'\n'}) + 1
		for _, fn := range p.Funcs {
			require.NotEmpty(t, fn.Insts)
			require.LessOrEqual(t, len(fn.Insts), 2*lines)
			checkBlocks(t, fn)
			for i := range fn.Insts {
				in := &fn.Insts[i]
				require.Less(t, in.Target, len(fn.Insts))
				for _, r := range in.Addrs {
					require.Contains(t, in.Uses, r)
				}
				for _, r := range in.Data {
					if r != (isa.Reg{}) { // a word that is always 0
						require.Contains(t, in.Uses, r)
					}
				}
				for _, m := range in.Micro {
					require.Contains(t, in.Defs, m.Dst, in.Text)
				}
			}
		}
		var buf bytes.Buffer
		require.NoError(t, isa.WriteText(&buf, p))
		require.NoError(t, isa.WriteJSON(&buf, p))
	})
}

// checkBlocks: blocks partition the instructions and edges are symmetric.
func checkBlocks(t *testing.T, f *isa.Func) {
	next := 0
	for n, b := range f.Blocks {
		require.Equal(t, next, b.First)
		require.Greater(t, b.End, b.First)
		next = b.End
		for _, s := range b.Succs {
			require.Contains(t, f.Blocks[s].Preds, n)
		}
	}
	require.Equal(t, len(f.Insts), next)
}

// BenchmarkParse reports lines per second over the recorded listings, repeated
// under different names to the size of a batch of kernels.
func BenchmarkParse(b *testing.B) {
	for _, mode := range []string{"nvdisasm", "hex", "cuobjdump"} {
		l, err := filepath.Glob(filepath.Join("testdata", "golden", "*_"+mode+".sass"))
		require.NoError(b, err)
		require.NotEmpty(b, l)
		var texts [][]byte
		lines, size := 0, 0
		for _, name := range l {
			one, err := os.ReadFile(name)
			require.NoError(b, err)
			head := one[:bytes.IndexByte(one, '\n')+1]
			text := append([]byte(nil), one...)
			for i := 0; i < 40 && mode != "cuobjdump"; i++ {
				text = append(text, one[len(head):]...)
			}
			texts = append(texts, text)
			lines += bytes.Count(text, []byte{'\n'})
			size += len(text)
		}
		b.Run(mode, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				for _, text := range texts {
					if _, err := Parse("bench", text); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
