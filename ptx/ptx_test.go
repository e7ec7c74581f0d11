package ptx

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const head = ".version 7.8\n.target sm_80, debug\n.address_size 64\n"

func parse(t *testing.T, body string) *Module {
	t.Helper()
	m, err := Parse("k.ptx", []byte(head+".visible .entry k(.param .u64 a, .param .align 16 .b8 s[20], .param .u32 n)\n{\n"+body+"\n}\n"))
	require.NoError(t, err)
	return m
}

func insts(f *Func) (out []*Inst) {
	for _, s := range f.Body {
		if s.Inst != nil {
			out = append(out, s.Inst)
		}
	}
	return out
}

func TestParse(t *testing.T) {
	m := parse(t, `	.reg .pred %p<3>; .reg .b32 %r<10>, x; /* ld.global.u32 %r1, [a]; */
	.shared .align 8 .b8 bar[16];
	@!%p1 ld.global.v2.u32 {%r1, %r2}, [%r3+-8]; // one
	{ .reg .pred %p1; $L: setp.eq.s32 %p1|%p2, %r1, 0x10; @%p1 bra $L; }
$L:	shfl.sync.bfly.b32 x|%p2, %r1, 1, 31, -1;
	atom.global.acq_rel.gpu.add.u32 _, [bar+8], -3;
	call.uni (%r4), f, (%r5, %r6);
	@%p1 bra $L;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%r2, {%r3, %r4}], [bar];`)
	require.Equal(t, "7.8", m.Version)
	require.Equal(t, "sm_80", m.Target)
	f := m.Funcs[0]
	require.True(t, f.Entry && f.Visible)
	require.Equal(t, []string{".param .u64 a", ".param .align 16 .b8 s[20]", ".param .u32 n"}, declarations(m, f.Params))
	require.Equal(t, []string{".shared .align 8 .b8 bar[16];"}, declarations(m, f.Vars))
	require.Equal(t, []Var{{Name: "a", Space: "param", Type: "u64", Size: 8, Align: 8},
		{Name: "s", Space: "param", Type: "b8", Size: 20, Offset: 16, Align: 16},
		{Name: "n", Space: "param", Type: "u32", Size: 4, Offset: 36, Align: 4}}, f.Params)
	require.Equal(t, []Var{{Name: "bar", Space: "shared", Type: "b8", Size: 16, Align: 8}}, f.Vars)
	in := insts(f)
	require.Len(t, in, 8)
	require.Equal(t, 8, m.Insts)
	require.Equal(t, "ld.global.v2.u32", in[0].Op)
	require.True(t, in[0].Neg)
	require.Equal(t, "%p1", f.Regs[in[0].Guard].Name)
	require.EqualValues(t, -8, in[0].Args[1].Value)
	require.Equal(t, Pos{8, 2}, in[0].Pos)
	require.NotEqual(t, in[0].Guard, in[1].Args[0].Elems[0].Reg, "a register of a block is another one")
	require.Equal(t, in[1].Args[0].Elems[0].Reg, in[2].Guard)
	require.Equal(t, "$L@1", in[2].Args[0].Name, "a label of a block is another one")
	require.Equal(t, "$L", in[6].Args[0].Name)
	require.Equal(t, Sink, in[4].Args[0].Kind)
	require.Equal(t, "bar", in[4].Args[1].Elems[0].Name)
	require.EqualValues(t, 8, in[4].Args[1].Value)
	require.Equal(t, List, in[5].Args[0].Kind)
	require.Equal(t, Bulk, in[7].Effect().Kind)
}

// declarations are the texts of variables, whose places are forgotten.
func declarations(m *Module, list []Var) (out []string) {
	for i := range list {
		out = append(out, m.Declaration(&list[i]))
		list[i].decl = span{}
	}
	return out
}

func TestEffect(t *testing.T) {
	for text, want := range map[string]string{
		"ld.global.u32 %r1, [a]":                           "load weak  global 4",
		"ld.volatile.global.v4.f32 {%r1,%r1,%r1,%r1}, [a]": "load volatile sys global 16",
		"ld.acquire.gpu.b64 %r1, [a]":                      "load acquire gpu generic 8",
		"ld.relaxed.cta.shared::cta.u8 %r1, [a]":           "load relaxed cta shared 1",
		"ld.mmio.relaxed.sys.global.u32 %r1, [a]":          "load mmio sys global 4",
		"st.release.sys.global.u16 [a], %r1":               "store release sys global 2",
		"atom.add.f64 %r1, [a], %r2":                       "atomic relaxed gpu generic 8",
		"atom.shared.cta.cas.b32 %r1, [a], 1, 2":           "atomic relaxed cta shared 4",
		"red.release.cluster.global.max.s64 [a], %r1":      "reduction release cluster global 8",
		"membar.gl":                      "fence sc gpu  0",
		"fence.acq_rel.cta":              "fence acq_rel cta  0",
		"fence.cluster":                  "fence acq_rel cluster  0",
		"fence.proxy.async.shared::cta":  "proxy-fence    0",
		"bar.sync 0":                     "barrier  cta  0",
		"bar.warp.sync -1":               "warp-sync    0",
		"barrier.cluster.arrive.release": "arrive release cluster  0",
		"mbarrier.try_wait.parity.shared.b64 %p1, [a], 1":                 "mbarrier-wait  cta shared 0",
		"mbarrier.arrive.shared.b64 %r1, [a]":                             "mbarrier-arrive  cta shared 0",
		"cp.async.cg.shared.global [a], [a], 16":                          "copy   shared 0",
		"cp.async.wait_group 0":                                           "copy-wait    0",
		"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r1,%r1,%r1}, [a]": "load weak  shared 16",
		"add.s32 %r1, %r2, 3":                                             "none    0",
	} {
		m := parse(t, ".reg .b32 %r<4>; .reg .pred %p<2>; "+text+";")
		e := insts(m.Funcs[0])[0].Effect()
		require.Equal(t, want, fmt.Sprint(e.Kind, " ", e.Sem, " ", e.Scope, " ", e.Space, " ", e.Width), text)
	}
}

// TestLined: what the copy with lines has in addition are its lines, and what it
// leaves out is debug information.
func TestLined(t *testing.T) {
	text := head + ".file 1 \"a.cu\"\n.global .u32 g;\n.visible .entry k()\n{\n\t.loc 1 7 3, function_name $x, inlined_at 1 2 3\n\tbar.sync 0; bar.sync 1;\n$L:\n\t.pragma \"nounroll\";\n\tbra $L;\n}\n.section .debug_str\n{\n.b8 0\n}\n"
	m, err := Parse("k.ptx", []byte(text))
	require.NoError(t, err)
	lined := m.Lined("k.ptx", "7.0")
	require.Contains(t, lined, ".version 7.0\n.target sm_80\n.address_size 64\n.file 1 \"k.ptx\"\n")
	require.NotContains(t, lined, "a.cu")
	require.NotContains(t, lined, "debug")
	require.NotContains(t, lined, "inlined_at")
	require.Contains(t, lined, "\n.loc 1 1 0\nbar.sync 0; \n.loc 1 2 0\nbar.sync 1;")
	again, err := Parse("k.ptx", []byte(lined))
	require.NoError(t, err)
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	require.Equal(t, squeeze(m.Plain("7.0")), squeeze(again.Plain("")))
}

// TestBarePrototype: a prototype without a semicolon ends where the next directive begins.
func TestBarePrototype(t *testing.T) {
	bare := ".visible .func (.param .s32 r) f (.param .s32 a)\n"
	text := head + bare + "\t.file 1 \"a.cu\"\n" + bare + bare + "{\n\tret;\n}\n.entry k()\n{\n\t.loc 1 7 0\n\tbar.sync 0;\n}\n"
	m, err := Parse("k.ptx", []byte(text))
	require.NoError(t, err)
	require.Len(t, m.Prototypes, 2)
	require.Len(t, m.Funcs, 2)
	require.Equal(t, "f k", m.Funcs[0].Name+" "+m.Funcs[1].Name)
	require.NotContains(t, m.Lined("k.ptx", ""), "a.cu")
}

// TestErrors: what is no PTX is told with its place.
func TestErrors(t *testing.T) {
	body := func(s string) string { return head + ".entry k()\n{\n" + s }
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "no PTX"},
		{"text", "hello\n", "k.ptx:1:1: \"hello\": a directive is expected here"},
		{"binary", head + "\x00", "k.ptx:4:1: a zero byte"},
		{"cut in a function", body("\tmov.u32 %r1, 1;\n"), "k.ptx:5:1: the file ends inside of the function k; is it cut off?"},
		{"cut in an instruction", body("\tbar.sync 0;\n\tld.global.u32 %r1, [%r"), "k.ptx:7:2: the file ends in the middle"},
		{"cut in a declaration", head + ".visible .entry k(\n", "k.ptx:4:1: the file ends in the middle"},
		{"cut in a comment", head + "/* x", "k.ptx:4:1: a comment that does not end"},
		{"cut in a string", body("\t.pragma \"noun"), "k.ptx:6:10: a string that does not end"},
		{"unknown instruction", body("\tfrobnicate.u32 %r1, 2;\n}\n"), "k.ptx:6:2: unknown instruction \"frobnicate.u32\""},
		{"unknown directive", body("\t.frob 1;\n}\n"), "k.ptx:6:2: unknown directive .frob in a function"},
		{"undeclared predicate", body("\t@%p1 bra $L;\n}\n"), "k.ptx:6:2: the predicate %p1 is not declared"},
		{"too many registers", body("\t.reg .b32 %r<99999999>;\n}\n"), "more than 2097152 registers"},
		{"registers of many functions", head + strings.Repeat(".func f()\n{\n\t.reg .b32 %r<2000000>;\n}\n", 2), "k.ptx:10:2: more than 2097152 registers"},
		{"blocks in blocks", body(strings.Repeat("{", 300)), "k.ptx:6:201: blocks are nested more than 200 deep"},
		{"brackets in brackets", body("\tst.u32 " + strings.Repeat("[", 90_000) + strings.Repeat("]", 90_000) + ", 1;\n}\n"),
			"k.ptx:6:2: st.u32: brackets in brackets"},
		{"a jump to nowhere", body("\tbra;\n}\n"), "k.ptx:6:2: bra: 0 operands, it has at least 1"},
		{"a load of nothing", body("\tld.u32 %r1;\n}\n"), "k.ptx:6:2: ld.u32: 1 operands, it has at least 2"},
		{"a load of no address", body("\tld.u32 %r1, x;\n}\n"), "k.ptx:6:2: ld.u32: an address is expected in brackets"},
		{"an address without a base", body("\tst.u32 [,], 1;\n}\n"), "k.ptx:6:2: st.u32: an address without a base"},
		{"another file", head + ".include \"/etc/passwd\"\n", "k.ptx:4:1: .include: a module is one file"},
		{"escapes of a terminal", body("\t\x1bred;\n}\n"), `k.ptx:6:2: unknown instruction ""`},
		{"a name of quotes", head + ".entry k\"`$(id)() {\n}\n", "k.ptx:4:9: a string that does not end"},
		{"brackets", body("\tld.global.u32 %r1, [a]];\n}\n"), "k.ptx:6:24: ']' without its opening"},
		{"of the future", ".version 99.1\n.target sm_80\n", "k.ptx:1:1: PTX 99.1 is not known, only 1.0 to 9.x"},
		{"version cut off", ".version 8.", "k.ptx:1:1: no version of PTX: \"8.\""},
		{"version of letters", ".version new\n.target sm_80\n", "k.ptx:1:1: no version of PTX: \"new\""},
		{"no version", ".target sm_80\n", "k.ptx:1:1: a PTX module begins with .version"},
	} {
		_, err := Parse("k.ptx", []byte(c.text))
		require.ErrorContains(t, err, c.want, c.name)
		var e *Error
		require.ErrorAs(t, err, &e, c.name)
	}
	_, err := Parse("k.ptx", bytes.Repeat([]byte(" "), MaxInput+1))
	require.ErrorContains(t, err, "more than the 67108864")
}

// TestCut: wherever a file is cut off, that is an error or a smaller program, and
// never a panic.
func TestCut(t *testing.T) {
	text, err := os.ReadFile("../realcode/testdata/patterns.ptx")
	require.NoError(t, err)
	for i := range text {
		if m, err := Parse("k.ptx", text[:i]); err == nil {
			_ = m.Lined("k.ptx", "")
		}
	}
}

func FuzzParse(f *testing.F) {
	text, err := os.ReadFile("../realcode/testdata/patterns.ptx")
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(head + ".entry k() { .reg .b32 %r<3>; a: { b: bra b; } brx.idx %r1, t; t: .branchtargets a, b; }"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		m, err := Parse("k.ptx", data)
		if err != nil {
			return
		}
		_ = m.Lined("k.ptx", "9.0")
		for _, fn := range m.Funcs {
			for _, in := range insts(fn) {
				_ = in.Effect()
			}
		}
	})
}

// TestAlone: with the header, each kernel is a module with the variables that it names, and its lines.
func TestAlone(t *testing.T) {
	const head = "//\n// Generated\n//\n\n.version 8.4\n.target sm_80 // that\n.address_size 64\n\n"
	const module = head + "\t// .globl k1\n.visible .global .align 16 .b8 k1_L0[16];\n.visible .global .align 16 .b8 k2_L0[16] = {0};\n" +
		".visible .entry k1(.param .u64 k1_param_0)\n{\n\t.loc\t1 3 0\n\tnonsense.b64 %rd1, k1_L0;\n\tret; // end\n}\n" +
		".visible .entry k2()\n{\n\t.reg .b64 %rd<2>;\n\tmov.b64 %rd1, k2_L0;\n\tret;\n}\n\t.file\t1 \"audit.litmus\"\n\t.section\t.debug_macinfo\t{\t}\n"
	m, err := Outline("x", []byte(module))
	require.NoError(t, err)
	require.Equal(t, ".version 8.4\n.target sm_80\n.address_size 64\n.file\t1 \"audit.litmus\"\n", m.Header())
	texts, err := m.Alone()
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"k1": ".visible .global .align 16 .b8 k1_L0[16];\n.visible .entry k1(.param .u64 k1_param_0)\n{\n\t.loc\t1 3 0\n\tnonsense.b64 %rd1, k1_L0;\n\tret; // end\n}\n",
		"k2": ".visible .global .align 16 .b8 k2_L0[16] = {0};\n.visible .entry k2()\n{\n\t.reg .b64 %rd<2>;\n\tmov.b64 %rd1, k2_L0;\n\tret;\n}\n",
	}, texts)
	whole, err := Parse("x", []byte(strings.ReplaceAll(module, "nonsense", "mov")))
	require.NoError(t, err)
	require.Equal(t, m.Header(), whole.Header())
	for _, more := range []string{".visible .func f()\n{\nret;\n}\n", ".extern .func (.param .b32 r) vprintf (.param .b64 a);\n"} {
		m, err := Outline("x", []byte(module+more))
		require.NoError(t, err)
		_, err = m.Alone()
		require.ErrorContains(t, err, "no part of a kernel")
	}
	for _, cut := range []string{head + ".visible .entry k(\n)\n{\n", head + ".visible .entry k()\n{\n}\n}\n", "ret;"} {
		_, err := Outline("x", []byte(cut))
		require.Error(t, err, cut)
	}
}
