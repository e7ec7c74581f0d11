package sass

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/isa"
)

const cuoHead = "\tcode for sm_80\n\t\tFunction : k\n\t.headerflags\t@\"EF_CUDA_SM80\"\n"

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		name, in string
		kind     error
		msg      string
	}{
		{"empty", "", ErrEmpty, "f:1: empty input"},
		{"blank", " \n\t\n", ErrEmpty, "f:1: empty input"},
		{"prose", "Dear reader,\nthis is no listing.\n", ErrForeign, "f:1: "},
		{"elf", "\x7fELF\x02\x01", ErrForeign, "ELF"},
		{"binary", "abc\ndef\x00\n", ErrForeign, "f:2: "},
		{"amd llvm", "0000000000001000 <k>:\n\ts_load_dwordx2 s[0:1], s[4:5], 0x0  // 000000001000: C0060002\n\ts_endpgm\n", ErrForeign, "amd"},
		{"amd clrx", "/*000000000104*/ s_load_dwordx4  s[8:11], s[4:5], 0x18\n/*000000000108*/ s_endpgm ;\n", ErrForeign, "amd"},
		{"clrx lower case", "/*000000000104*/ v_add_f32 v1, v2, v3 ;\n", ErrForeign, "f:1: "},
		{"terascale", "00 ALU: ADDR(32) CNT(4)\n  0  x: MOV R0.x, 0\nEND_OF_PROGRAM\n", ErrForeign, "terascale"},
		{"ptx", ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n", ErrForeign, "ptx"},
		{"json", "[{\"ELF\":1},[{\"function-name\":\"k\",\"sass-instructions\":[]}]]\n", ErrForeign, "json"},
		{"no function", "\n\tcode for sm_70\n", ErrNoCode, "f:2: "},
		{"empty function", cuoHead + "\t\t.....\n", ErrNoCode, "function k"},
		{"empty section", "\t.headerflags @\"EF_CUDA_SM80\"\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n", ErrNoCode, "function k"},
		{"cut off", cuoHead + "        /*0000*/ MOV R1, c[0x0][0x28] ;\n        /*0010*/ LDG.E R2, [R2.64] ;\n", ErrTruncated, "f:5: "},
		{"cut off before padding", cuoHead + "        /*0000*/ @P0 EXIT ;\n        /*0010*/ NOP ;\n", ErrTruncated, "@P0 EXIT"},
		{"branch beyond the end", cuoHead + "        /*0000*/ @P0 BRA 0x80 ;\n        /*0010*/ EXIT ;\n", ErrTruncated, "f:4: "},
		{"label beyond the end", "\t.headerflags @\"EF_CUDA_SM80\"\n\t.section\t.text.k,\"ax\",@progbits\n/*0000*/ @P0 BRA `(.L_x_9)" +
			" ;\n/*0010*/ EXIT ;\n", ErrTruncated, ".L_x_9"},
		{"long line", cuoHead + strings.Repeat("x", 1<<20) + "\n", ErrTooLong, "f:4: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Parse("f", []byte(c.in))
			require.Error(t, err)
			assert.Nil(t, p)
			assert.ErrorIs(t, err, c.kind)
			var e *Error
			require.True(t, errors.As(err, &e))
			assert.Contains(t, err.Error(), c.msg)
			assert.True(t, strings.HasPrefix(err.Error(), "f:"), err.Error())
		})
	}
}

func TestHugeLineEndsSoon(t *testing.T) {
	in := bytes.Repeat([]byte("a"), 100<<20)
	start := time.Now()
	_, err := Parse("f", in)
	require.ErrorIs(t, err, ErrTooLong)
	assert.Less(t, time.Since(start), patient.Long)
}

// TestProblems: what is not understood is reported with its line and the
// program is still there.
func TestProblems(t *testing.T) {
	in := cuoHead + `        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/                   FROBNICATE.X2 R3, R4, [R5] ;
        this is not an instruction
        /*zz20*/                   MOV R1, R2 ;
        /*0020*/                   MOV R1, R2
        /*0020*/                   EXIT ;
		.....
`
	p, err := Parse("f", []byte(in))
	require.NoError(t, err)
	require.Len(t, p.Problems, 3)
	assert.Equal(t, 6, p.Problems[0].Line)
	assert.Equal(t, "no address", p.Problems[1].Why)
	assert.Equal(t, "instruction without end", p.Problems[2].Why)
	u := p.Funcs[0].Insts[1]
	assert.Equal(t, isa.RoleUnknown, u.Role)
	assert.Equal(t, "FROBNICATE.X2 R3, R4, [R5]", u.Text)
	assert.Equal(t, "R3 R4 R5", regs(u.Uses), "whatever it names may be read")
	c := coverage(p)
	assert.Equal(t, []string{"FROBNICATE"}, slices.Sorted(maps.Keys(c.Unknown)))
	assert.Equal(t, 3, c.Insts)
}

// TestMissingAddresses: a disassembler that prints nothing for an instruction
// (nvdisasm 11.8 for VIMNMX of sm_90) leaves an unknown one.
func TestMissingAddresses(t *testing.T) {
	in := "\t.headerflags @\"EF_CUDA_SM90\"\n\t.section\t.text.k,\"ax\",@progbits\n/*0000*/ MOV R1, R2 ;\n /* 0x00000006030e7248 */\n /*" +
		" 0x003fde0003fe0000 */\n/*0020*/ EXIT ;\n"
	p, err := Parse("f", []byte(in))
	require.NoError(t, err)
	f := p.Funcs[0]
	require.Len(t, f.Insts, 3)
	assert.Equal(t, isa.RoleUnknown, f.Insts[1].Role)
	assert.Equal(t, uint64(0x10), f.Insts[1].Addr)
	assert.Contains(t, f.Insts[1].Text, "nothing printed for 0x10 to 0x1f")
}

// TestTruncatedEverywhere cuts real output at every line: no cut may give a
// function that looks complete but lacks reachable instructions.
func TestTruncatedEverywhere(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.sass")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		whole, err := Parse(name, b)
		require.NoError(t, err)
		want := map[string]*isa.Func{}
		for _, f := range whole.Funcs {
			want[f.Name] = f
		}
		for i, c := range b {
			if i%101 != 0 && (c != '\n' || i%3 != 0) {
				continue
			}
			p, err := Parse(name, b[:i])
			if err != nil || len(p.Problems) > 0 {
				continue
			}
			for _, f := range p.Funcs {
				w := want[f.Name]
				require.NotNil(t, w, f.Name)
				n := reachableInsts(f)
				require.Equal(t, reachableInsts(w), n, "%s cut at byte %d: %s", name, i, f.Name)
			}
		}
	}
}

func reachableInsts(f *isa.Func) int {
	n := 0
	for b, ok := range f.Reachable() {
		if ok {
			n += f.Blocks[b].End - f.Blocks[b].First
		}
	}
	return n
}
