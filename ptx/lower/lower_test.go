package lower

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/ptx"
)

var update = flag.Bool("update", false, "write the golden files")

const head = ".version 8.8\n.target sm_90\n.address_size 64\n"

// lowered is the kernel k of a module.
func lowered(t testing.TB, text string) *ir.Program {
	t.Helper()
	m, err := ptx.Parse("k.ptx", []byte(head+text))
	require.NoError(t, err)
	p, err := Kernel(m, "k")
	require.NoError(t, err)
	check(t, p)
	return p
}

// registers of tests.
const registers = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; " +
	".reg .f32 %f<9>; .reg .f64 %g<9>; .reg .b128 %q<3>; .reg .b8 %b<3>;\n"

// body is a kernel of some instructions.
func body(t testing.TB, text string) *ir.Program {
	t.Helper()
	return lowered(t, ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n"+registers+text+"\nL: ret;\n}\n")
}

// check asserts what holds of every program: registers and targets are there.
func check(t testing.TB, p *ir.Program) {
	t.Helper()
	reg := func(r ir.Reg) bool { return r >= ir.None && int(r) < p.Regs }
	for i := range p.Insts {
		in := &p.Insts[i]
		for _, o := range slices.Concat(in.Pre, in.Post) {
			ok := o.Dst >= 0 && reg(o.Dst)
			for _, s := range o.Src {
				ok = ok && reg(s)
			}
			require.True(t, ok, "%s: %+v", in.Text, o)
		}
		if f, ok := in.Do.(*ir.Flow); ok {
			require.True(t, f.Target >= 0 && int(f.Target) < len(p.Insts), in.Text)
		}
		require.NotEmpty(t, in.Form, in.Text)
	}
	for i, f := range p.Funcs {
		require.True(t, i == 0 || f.First == p.Funcs[i-1].End)
	}
	require.EqualValues(t, len(p.Insts), p.Funcs[len(p.Funcs)-1].End)
}

func TestOpaque(t *testing.T) {
	for text, want := range map[string]string{
		"add.u32 %r1, %r2, %r3":                                              "",
		"add.wrong.u32 %r1, %r2, %r3":                                        "modifiers",
		"add.sat.u32 %r1, %r2, %r3":                                          "modifiers",
		"add.u32 %r1, %r2, %r3, %r4":                                         "4 operands",
		"add.u32 %r1, %d2, %r3":                                              "64 bits as .u32",
		"add.u32 %r1, -%r2, %r3":                                             "sign",
		"add.u32 1, %r2, %r3":                                                "destination",
		"add.u32 %r1, %r2, 1.0":                                              "64 bits as .u32",
		"setp.lo.s32 %p1, %r2, %r3":                                          "lo of s32",
		"setp.lt.and.s32 %p1, %r2, %r3":                                      "number of operands",
		"ld.global.u32 %r1, [%d1], %d2":                                      "number of operands",
		"ld.relaxed.global.u32 %r1, [%d1]":                                   "scope",
		"multimem.red.relaxed.sys.global.add.f32 [%d1], %r1":                 "modifiers",
		"ld.global.v2.u32 {%r1, %r2, %r3}, [%d1]":                            "number of elements",
		"ld.global.u32 %r1, [nowhere]":                                       "nowhere",
		"ld.shared.u32 %r1, [a]":                                             "not in the space",
		"call nowhere":                                                       "nowhere is not a function",
		"tex.cube.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f1, %f2, %f3, %f4}]": "cube",
		"bra nowhere":                                                        "no label",
		"mov.u32 %r1, %reserved_smem_offset_1":                               "",
		"mov.u32 %r1, %envreg3":                                              "%envreg3",
		"st.global.u32 [%d1], %tid.x":                                        "beside another effect",
	} {
		p := body(t, text+";")
		if want == "" {
			require.Empty(t, p.Insts[0].Opaque, text)
		} else {
			require.Contains(t, p.Insts[0].Opaque, want, text)
			require.Nil(t, p.Insts[0].Do)
		}
	}
}

func TestNoKernel(t *testing.T) {
	m, err := ptx.Parse("k.ptx", []byte(head+".func f() { ret; }"))
	require.NoError(t, err)
	for _, name := range []string{"f", "g"} {
		_, err = Kernel(m, name)
		require.ErrorContains(t, err, "there is no kernel")
	}
}

// TestParameters: what a kernel takes is bounded as PTX bounds it, whatever sizes somebody writes.
func TestParameters(t *testing.T) {
	for params, ok := range map[string]bool{
		".param .b8 a[32764]":                                     true,
		".param .b8 a[32765]":                                     false,
		".param .u64 a, .param .align 16 .b8 b[2147483647]":       false,
		".param .b8 a[9223372036854775807], .param .b8 b[8]":      false,
		".param .b64 a[2305843009213693952], .param .u32 b":       false,
		".param .u64 a" + strings.Repeat(", .param .u64 b", 5000): false,
	} {
		m, err := ptx.Parse("k.ptx", []byte(head+".entry k("+params+") { ret; }"))
		if err == nil {
			_, err = Kernel(m, "k")
		}
		require.Equal(t, ok, err == nil, "%.60s %v", params, err)
	}
}

// TestCorpus lists the forms of the repository's PTX that are opaque.
func TestCorpus(t *testing.T) {
	root := "../.."
	var files []string
	for _, dir := range []string{"docs", "program", "realcode", "reduce", "mapping", "bug", "match"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, dir), func(path string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".ptx") {
				files = append(files, path)
			}
			return err
		}))
	}
	require.NotEmpty(t, files)
	why, forms, total, opaque := map[string]int{}, map[string]bool{}, 0, 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		m, err := ptx.Parse(name, text)
		if err != nil {
			continue
		}
		for _, f := range m.Funcs {
			if !f.Entry {
				continue
			}
			p, err := Kernel(m, f.Name)
			require.NoError(t, err)
			check(t, p)
			for _, in := range p.Insts {
				total++
				if forms[in.Form] = true; in.Opaque != "" {
					opaque++
					why[in.Opaque]++
				}
			}
		}
	}
	var lines []string
	for w := range why {
		lines = append(lines, w)
	}
	slices.Sort(lines)
	t.Logf("%d instructions, %d forms, %d opaque", total, len(forms), opaque)
	if got := strings.Join(lines, "\n") + "\n"; *update {
		require.NoError(t, os.WriteFile("testdata/opaque.txt", []byte(got), 0o644))
	} else {
		want, err := os.ReadFile("testdata/opaque.txt")
		require.NoError(t, err)
		require.Equal(t, string(want), got)
	}
}
