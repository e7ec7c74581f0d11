package amdisa

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// TestErrors: input that is no AMD code is refused with its place.
func TestErrors(t *testing.T) {
	head := "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"\n\t.type\tk,@function\nk:\n"
	for _, c := range []struct {
		src  string
		kind error
	}{
		{"", ErrEmpty},
		{"hello\nworld\n", ErrForeign},
		{"        /*0000*/                   MOV R1, c[0x0][0x28] ;\n", ErrForeign},
		{"\tmov eax, ebx\n\tret\n", ErrForeign},
		{"\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"\n", ErrNoCode},
		{strings.Repeat("x", maxLine+2), ErrTooLong},
		{head + "\tv_mov_b32_e32 v0, 0\n", ErrTruncated},
		{head + "\ts_branch .LBB0_1\n", ErrTruncated},
	} {
		_, err := Parse("f.s", []byte(c.src))
		var e *Error
		require.True(t, errors.As(err, &e), "%.40q: %v", c.src, err)
		assert.ErrorIs(t, err, c.kind, "%.40q", c.src)
		assert.Equal(t, "f.s", e.File)
		assert.Positive(t, e.Line)
		assert.Less(t, len(err.Error()), 400)
	}
	_, err := ParseFor("f.s", []byte("0000000000000000 <k>:\n\ts_endpgm // 000000000000: BF810000\n"), "sm_80")
	assert.ErrorIs(t, err, ErrTarget)
}

// TestCut: a real listing that is cut anywhere is refused or complete; no
// function is shorter than it was without an error.
func TestCut(t *testing.T) {
	for _, name := range []string{"llvm19_gfx1030_O2.s", "llvm19_gfx1030_O2.dump", "llvm19_cypress_O2.s"} {
		text, err := os.ReadFile("testdata/golden/" + name)
		require.NoError(t, err)
		full, err := Parse(name, text)
		require.NoError(t, err)
		size := map[string]int{}
		for _, f := range full.Funcs {
			size[f.Name] = len(f.Insts)
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		step := max(1, len(lines)/150)
		for n := step; n < len(lines); n += step {
			p, err := Parse(name, bytes.Join(lines[:n], nil))
			if err != nil {
				continue
			}
			for _, f := range p.Funcs {
				if len(f.Insts) == size[f.Name] {
					continue
				}
				// Shorter is possible only where the rest is complete by itself: after
				// an unconditional end, or with a clause missing and unknown.
				ok := len(p.Problems) > 0 || f == p.Funcs[len(p.Funcs)-1] && f.Insts[len(f.Insts)-1].Flow == isa.FlowExit
				assert.True(t, ok, "%s cut at line %d: %s has %d instructions of %d", name, n, f.Name, len(f.Insts), size[f.Name])
			}
		}
	}
}

// TestTargets: names of targets as tools spell them.
func TestTargets(t *testing.T) {
	for name, want := range map[string]string{"gfx90a": "9 false 64", "gfx942:sramecc+": "9 true 64", "tahiti": "6 false 64",
		"Tonga": "8 false 64", "gfx1030": "10 false 0",
		"amdgcn-amd-amdhsa--gfx1250": "12 false 0", "gfx9-generic": "9 false 64", "gfx9-4-generic": "9 true 64", "gfx10-3-generic": "10 false 0",
		"gfx6": "6 false 64", "gfx940": "9 true 64"} {
		tg, ok := targetOf(name)
		assert.True(t, ok, name)
		assert.Equal(t, want, fmt.Sprint(tg.gen, tg.gfx94, tg.wave), name)
	}
	for _, name := range []string{"", "sm_80", "gfx", "gfxabc", "gfx12345", "cypress", "x86"} {
		_, ok := targetOf(name)
		assert.False(t, ok, name)
	}
}
