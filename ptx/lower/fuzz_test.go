package lower

import (
	"os"
	"testing"

	"optcheck/ptx"
)

// FuzzKernel asserts that no text makes Kernel panic, or a program that is not whole.
func FuzzKernel(f *testing.F) {
	for _, c := range instructions {
		f.Add(frame(c.text, ""))
	}
	for _, c := range programs {
		f.Add(frame(".local .align 16 .b8 buf[16];\n"+c.text, c.more))
	}
	for _, name := range []string{"../../realcode/testdata/async.ptx", "../../realcode/testdata/cluster.ptx"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, text := range []string{
		".func f(.param .b8 p[9000]) { ret; }\n.entry k() { .param .b8 p[9000]; call f, (p); }",
		".entry k() { .reg .u32 r; @r bra L; L: ret; call (r), r, (r), r; bar.red.popc.u32 r, r, r; brx.idx r, T; T: .branchtargets L, M; }",
		".func (.reg .pred p) f(.reg .b128 a, .param .b32 a) { ld.param.b32 a, [a+2]; ld.param.b32 a, [a-8]; }\n" +
			".entry k() { .reg .b128 q; .reg .pred p; call (p), f, (q, 3); }",
		".global .u64 a[1] = {b}; .global .u64 b = a; .entry k() { .reg .u64 r; mov.u64 r, a; mov.b64 {r, r}, r; " +
			"mov.b64 r, {}; ld.v2.u64 {}, [r]; st.u8 [a], {r}; }",
	} {
		f.Add(head + text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ptx.Parse("k.ptx", []byte(text))
		if err != nil {
			return
		}
		for _, fn := range m.Funcs {
			if fn.Entry {
				p, err := Kernel(m, fn.Name)
				if err != nil {
					t.Fatal(err)
				}
				check(t, p)
			}
		}
	})
}
