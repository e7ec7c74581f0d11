package amdisa

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// understood fails the test for each line or instruction that was not understood.
func understood(t *testing.T, what string, p *isa.Program) {
	for _, q := range p.Problems {
		t.Errorf("%s:%d: %s: %s", what, q.Line, q.Why, q.Text)
	}
	for _, f := range p.Funcs {
		for i := range f.Insts {
			if in := &f.Insts[i]; in.Role == isa.RoleUnknown {
				t.Errorf("%s:%d: unknown: %s", what, in.Line, in.Text)
			}
		}
	}
}

// sane checks what holds for every instruction: the operands of micro-operations
// are read, their results written, addresses and data are read, accesses have a
// width and count, and nothing but waits waits.
func sane(t *testing.T, what string, p *isa.Program) {
	for _, f := range p.Funcs {
		assert.NotEmpty(t, f.Blocks, what)
		for i := range f.Insts {
			in := &f.Insts[i]
			has := func(l []isa.Reg, r isa.Reg) bool {
				for _, x := range l {
					if x == r {
						return true
					}
				}
				return false
			}
			for k := range in.Micro {
				m := &in.Micro[k]
				assert.True(t, has(in.Defs, m.Dst), "%s: %s: %s is no definition", what, in.Text, m.Dst)
				for _, o := range m.Src {
					if o.Reg.Class != isa.ClassNone {
						assert.True(t, has(in.Uses, o.Reg), "%s: %s: %s is no use", what, in.Text, o.Reg)
					}
				}
			}
			for _, l := range [][]isa.Reg{in.Addrs, in.Data} {
				for _, r := range l {
					assert.True(t, has(in.Uses, r), "%s: %s: %s is no use", what, in.Text, r)
				}
			}
			if in.Role.IsAccess() && in.Mem.Space != isa.SpaceTexture {
				assert.Positive(t, in.Mem.Width, "%s: %s", what, in.Text)
				mem := false
				for k := range in.Args {
					mem = mem || in.Args[k].Kind == isa.OpdMem
				}
				assert.True(t, mem, "%s: %s has no address", what, in.Text)
			}
			if in.Role != isa.RoleWait {
				assert.Empty(t, in.Waits, "%s: %s", what, in.Text)
			}
		}
	}
}

// TestLiveSame: for all clang releases and targets, what -S prints and what
// llvm-objdump prints of the assembled text are the same program, with the
// target named and without, and everything is understood. OPTCHECK_FULL=1 takes
// all levels.
func TestLiveSame(t *testing.T) {
	levels := []string{"0", "2"}
	if os.Getenv("OPTCHECK_FULL") == "1" {
		levels = []string{"0", "1", "2", "3"}
	}
	src, err := filepath.Abs("testdata/kernels.cl")
	require.NoError(t, err)
	dir := t.TempDir()
	triple := "amdgcn-amd-amdhsa"
	n, insts := 0, 0
	for _, v := range clangs(t) {
		targets := []string{"gfx600", "gfx700", "gfx803", "gfx900", "gfx90a", "gfx1030"}
		if v != "14" {
			targets = append(targets, "gfx942", "gfx1100", "gfx1200")
		}
		if v == "22" {
			targets = append(targets, "gfx950", "gfx1250")
		}
		for _, target := range targets {
			for _, l := range levels {
				what := v + " " + target + " -O" + l
				if v == "22" && target == "gfx600" && l == "0" {
					continue // «Cannot select» in its back end
				}
				asm := compile(t, dir, v, triple, target, l, src)
				require.NotEmpty(t, asm, what)
				p, err := Parse(what, []byte(asm))
				require.NoError(t, err, what)
				understood(t, what, p)
				sane(t, what, p)
				for _, f := range p.Funcs {
					insts += len(f.Insts)
					assert.Equal(t, target, f.Arch)
				}
				n++
				if target == "gfx600" || target == "gfx700" {
					continue // llvm-objdump cannot disassemble it
				}
				text := disassemble(t, dir, v, triple, target, asm)
				q, err := ParseFor(what, []byte(text), target)
				require.NoError(t, err, what)
				assert.Equal(t, DialectObjdump, q.Dialect)
				assert.Empty(t, differences(p, q), what)
				q, err = Parse(what, []byte(text))
				require.NoError(t, err, what)
				assert.Empty(t, differences(p, q), what+" with the target guessed")
				assert.Equal(t, target[:4], q.Funcs[0].Arch[:4])
			}
		}
	}
	t.Logf("%d compilations, %d instructions", n, insts)
}
