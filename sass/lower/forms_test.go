package lower_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/sass/lower"
)

// Operands of the forms: r are words, l double words, f and x floating-point numbers, h halves, p predicates; a to c.
const (
	stride  = 96
	threads = 128
)

// frame is a kernel around instructions that store their results at q.
const frame = `.visible .entry %s(.param .u64 out, .param .u64 in, .param .u32 n)
{
	.reg .u64 p, q, o, la, lb, lc, ld, le;
	.reg .b32 ra, rb, rc, rd, re, t;
	.reg .f32 fa, fb, fc, fd;
	.reg .f64 xa, xb, xc, xd;
	.reg .b16 ha, hb, hc, hd;
	.reg .pred pa, pb, pc, pd, pe;
	ld.param.u64 p, [in];
	ld.param.u64 q, [out];
	mov.u32 t, %%tid.x;
	mul.wide.u32 o, t, %d;
	add.u64 p, p, o;
	mul.wide.u32 o, t, %d;
	add.u64 q, q, o;
	ld.global.u64 la, [p];
	ld.global.u64 lb, [p+8];
	ld.global.u64 lc, [p+16];
	ld.global.b32 ra, [p+24];
	ld.global.b32 rb, [p+28];
	ld.global.b32 rc, [p+32];
	ld.global.f32 fa, [p+36];
	ld.global.f32 fb, [p+40];
	ld.global.f32 fc, [p+44];
	ld.global.f64 xa, [p+48];
	ld.global.f64 xb, [p+56];
	ld.global.f64 xc, [p+64];
	ld.global.b16 ha, [p+72];
	ld.global.b16 hb, [p+74];
	ld.global.b16 hc, [p+76];
	ld.global.b32 t, [p+80];
	and.b32 rd, t, 1;
	setp.ne.u32 pa, rd, 0;
	and.b32 rd, t, 2;
	setp.ne.u32 pb, rd, 0;
	and.b32 rd, t, 4;
	setp.ne.u32 pc, rd, 0;
%s	ret;
}
`

// edge32 are words that instructions treat differently, edge64 double words.
var edge32 = []uint32{0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 24, 30, 31, 32, 33, 63, 64, 65, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
	0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0xaaaaaaaa, 0x55555555, 0xff00ff00, 0x01010101, 0x80808080, 0xffff0000}

var edge64 = []uint64{0, 1, 2, 31, 32, 33, 63, 64, 65, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
	0xffffffffffffffff, 0xffffffff00000000, 0x123456789abcdef0}

var edgeF32 = []uint32{0, 0x80000000, 1, 0x807fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x3f000000, 0x40490fdb, 0x7f7fffff, 0xff7fffff, 0x7f800000,
	0xff800000, 0x7fc00000, 0xffffffff, 0x7f800001, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f800000, 0x5f000000, 0x3fc00000, 0x40200000, 0xc0200000,
	0x33800000, 0x477ff000, 0x42fe0000, 0x38800000}

var edgeF64 = []uint64{0, 1 << 63, 1, 0x800fffffffffffff, 0x10000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x400921fb54442d18,
	0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000123, 0x41e0000000000000, 0xc1e0000000000000,
	0x41dfffffffc00000, 0x43e0000000000000, 0x3ff8000000000000, 0x4004000000000000, 0x36a0000000000000, 0x47efffffe0000000, 0x41f0000000000000}

var edgeF16 = []uint16{0, 0x8000, 1, 0x83ff, 0x0400, 0x3c00, 0xbc00, 0x3800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xffff, 0x4248, 0x3e00, 0x0401}

// operands makes the operands of all threads: edges, and anything.
func operands(r *rand.Rand) []byte {
	out := make([]byte, threads*stride)
	le := binary.LittleEndian
	for t := range threads {
		b := out[t*stride:]
		for i := range 3 {
			w, l, f, x, h := r.Uint32(), r.Uint64(), r.Uint32(), r.Uint64(), uint16(r.Uint32())
			if r.IntN(3) != 0 {
				w, l = edge32[r.IntN(len(edge32))], edge64[r.IntN(len(edge64))]
			}
			if r.IntN(3) != 0 {
				f, x, h = edgeF32[r.IntN(len(edgeF32))], edgeF64[r.IntN(len(edgeF64))], edgeF16[r.IntN(len(edgeF16))]
			} else if r.IntN(2) != 0 { // near one
				f, x, h = f&0x83ffffff|0x3c000000, x&0x807fffffffffffff|0x3f80000000000000, h&0x8fff|0x3000
			}
			if i == 1 && r.IntN(4) == 0 { // equal ones
				w, l, f, x, h = le.Uint32(b[24:]), le.Uint64(b), le.Uint32(b[36:]), le.Uint64(b[48:]), le.Uint16(b[72:])
			}
			le.PutUint64(b[8*i:], l)
			le.PutUint32(b[24+4*i:], w)
			le.PutUint32(b[36+4*i:], f)
			le.PutUint64(b[48+8*i:], x)
			le.PutUint16(b[72+2*i:], h)
		}
		le.PutUint32(b[80:], r.Uint32())
	}
	return out
}

// results are the instructions that store a result, and its bytes.
var results = map[byte]struct {
	store string
	bytes int
}{'r': {"st.global.b32 [q+%d], rd;", 4}, 'l': {"st.global.b64 [q+%d], ld;", 8}, 'f': {"st.global.f32 [q+%d], fd;", 4},
	'x': {"st.global.f64 [q+%d], xd;", 8}, 'h': {"st.global.b16 [q+%d], hd;", 2}, 'p': {"selp.b32 t, 1, 0, pd; st.global.b32 [q+%d], t;", 4}}

// kernel puts instructions into a kernel with a name. Each begins with the kind of its result: "r add.u32 rd, ra, rb".
func kernel(name string, forms []string) (text string, places []int, size int) {
	var b strings.Builder
	at := 0
	for _, f := range forms {
		x := results[f[0]]
		at = (at + x.bytes - 1) / x.bytes * x.bytes
		places = append(places, at)
		fmt.Fprintf(&b, "\t%s; "+x.store+"\n", f[2:], at)
		at += x.bytes
	}
	size = (at + 7) &^ 7
	return fmt.Sprintf(frame, name, stride, size, b.String()), places, size
}

// differential executes forms as PTX and as machine code. It returns the forms of machine instructions that were performed.
func differential(t *testing.T, forms []string, targets []string) (performed []string) {
	tcs := releases(t)
	r := rand.New(rand.NewPCG(7, 11))
	inputs := [][]byte{operands(r), operands(r), operands(r), operands(r)}
	for _, rel := range slices.Sorted(maps.Keys(tcs)) {
		for _, target := range targets {
			if rel == "11.2" && target == "sm_90" || rel == "11.8" && target == "sm_80" { // 11.2 does the latter, too
				continue
			}
			t.Run(rel+"/"+target, func(t *testing.T) {
				var usable []string
				for _, f := range forms {
					if !lacks(rel, target, f) && understood(t, f) {
						usable = append(usable, f)
					}
				}
				chunks, texts := slices.Collect(slices.Chunk(usable, 60)), []string(nil)
				for i, chunk := range chunks {
					text, _, _ := kernel(chunkName(i), chunk)
					texts = append(texts, text)
				}
				for _, level := range []string{"O0", "O3"} {
					c, err := compileAll(t, tcs[rel], target, level, texts)
					require.NoError(t, err)
					for i, chunk := range chunks {
						performed = append(performed, compareForms(t, c, level, chunkName(i), chunk, inputs)...)
					}
				}
			})
		}
	}
	return performed
}

func chunkName(i int) string { return fmt.Sprint("k", i) }

// understood reports whether the PTX of a form can be executed.
func understood(t *testing.T, form string) bool {
	text, _, _ := kernel("k", []string{form})
	m, err := ptx.Parse("t.ptx", []byte(".version 8.4\n.target sm_90\n.address_size 64\n"+text))
	require.NoError(t, err)
	p, err := ptxlower.Kernel(m, "k")
	require.NoError(t, err)
	for i := range p.Insts {
		if p.Insts[i].Opaque != "" {
			t.Logf("not compared: %s: %s", p.Insts[i].Text, p.Insts[i].Opaque)
			return false
		}
	}
	return true
}

func compareForms(t *testing.T, c *isaProgram, level, name string, forms []string, inputs [][]byte) (performed []string) {
	t.Helper()
	text, places, size := kernel(name, forms)
	m, err := ptx.Parse("t.ptx", []byte(".version 8.4\n.target sm_90\n.address_size 64\n"+text))
	require.NoError(t, err)
	src, err := ptxlower.Kernel(m, name)
	require.NoError(t, err)
	dst, err := lower.Kernel(c.prog, c.file, name)
	require.NoError(t, err)
	for _, in := range dst.Insts {
		if in.Opaque != "" {
			t.Errorf("%s: opaque: %s: %s", level, in.Opaque, in.Text)
		}
	}
	wrong := map[int]bool{}
	for _, in := range inputs {
		want, err := execute(src, threads, in, threads*size, emu.Policy{})
		require.NoError(t, err)
		got, insts, err := covered(dst, threads, in, threads*size, emu.Policy{Fill: 0x5a5a5a5a5a5a5a5a})
		if err != nil {
			t.Errorf("%s: %v%s", level, err, at(dst, err))
			return nil
		}
		performed = append(performed, formsOf(dst, insts)...)
		for i, f := range forms {
			n := results[f[0]].bytes
			for th := range threads {
				k := th*size + places[i]
				if w, g := want[k:k+n], got[k:k+n]; !same(f, w, g) && !wrong[i] {
					wrong[i] = true
					t.Errorf("%s: %s: PTX %x, machine code %x\n%s", level, f, reversed(w), reversed(g), shown(in[th*stride:]))
				}
			}
		}
	}
	if len(wrong) > 0 {
		return nil
	}
	return performed
}

// same compares results. Which NaN a division or root makes is its program's business.
func same(form string, a, b []byte) bool {
	if form[0] == 'x' && (strings.Contains(form, " div.") || strings.Contains(form, " rcp.") || strings.Contains(form, " sqrt.")) {
		x, y := math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b))
		if x != x && y != y {
			return true
		}
	}
	return bytes.Equal(a, b)
}

func reversed(b []byte) []byte {
	out := slices.Clone(b)
	slices.Reverse(out)
	return out
}

// shown are the operands of a thread.
func shown(b []byte) string {
	le := binary.LittleEndian
	var s strings.Builder
	for i, n := range []string{"a", "b", "c"} {
		fmt.Fprintf(&s, "\t%s: l %016x r %08x f %08x x %016x h %04x\n", n, le.Uint64(b[8*i:]), le.Uint32(b[24+4*i:]), le.Uint32(b[36+4*i:]),
			le.Uint64(b[48+8*i:]), le.Uint16(b[72+2*i:]))
	}
	fmt.Fprintf(&s, "\tp %b", b[80]&7)
	return s.String()
}
