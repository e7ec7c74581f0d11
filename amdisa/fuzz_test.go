package amdisa

import (
	"os"
	"path/filepath"
	"testing"

	"optcheck/isa"
)

// FuzzParse: no input makes the parser panic, and what it accepts is consistent:
// targets and blocks lie in the function, unknown instructions are problems.
func FuzzParse(f *testing.F) {
	for _, s := range []string{catalyst, evergreen, "k:\n\tALU 0, @2, KC0[], KC1[]\n\tCF_END\n\tALU clause starting at 2:\n\t " +
		" LDS_READ_RET * OQAP, T0.W\n\t  MOV * T0.X, OQAP,\n.Lfunc_end0:\n",
		"\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx1100\"\nk:\n\tv_dual_mov_b32 v0, 0 :: v_dual_mov_b32 v1, v0\n.LBB0_1:\n\ts_cbranch_scc1" +
			" .LBB0_1\n\ts_endpgm\n",
		"x:\tfile format elf64-amdgpu\n\n0000000000000000 <k>:\n\ts_load_b64 s[0:1], s[0:1], null // 000000000000: F4040000" +
			" F8000000\n\ts_endpgm // 000000000008: BFB00000\n",
		"/*000000000000*/ s_load_dwordx4 s[8:11], s[2:3], 0x60\n/*000000000004*/ s_endpgm\n"} {
		f.Add([]byte(s))
	}
	files, _ := filepath.Glob("testdata/golden/*_small_*")
	for _, name := range files {
		if b, err := os.ReadFile(name); err == nil {
			f.Add(b[:min(len(b), 4000)])
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Parse("f", src)
		if err != nil {
			return
		}
		consistent(t, p)
	})
}

// FuzzInstruction: no text makes the decoder panic, for any generation.
func FuzzInstruction(f *testing.F) {
	for _, s := range []string{"v_add_co_u32 v0, vcc, v1, v2", "buffer_atomic_cmpswap v[0:1], v[2:3], s[4:7], 0 addr64 glc",
		"ds_read2_b32 v[0:1], v2 offset0:1 offset1:3",
		"s_waitcnt vmcnt(0) & lgkmcnt(0)", "global_load_dword v0, v2, s[2:3] offset:16 glc", "v_cmpx_lt_i32 1, v8", "s_wait_loadcnt_dscnt 0x101",
		"v_pk_mov_b32 v[0:1], s[6:7], s[6:7] op_sel:[0,1]", "v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3] row_mask:0xf", "s_cmp_eq_u64 s[4:5], 0",
		"v_bitop3_b32 v0, v1, v2, v3 bitop3:0x96"} {
		f.Add(s, byte(9))
	}
	f.Fuzz(func(t *testing.T, text string, gen byte) {
		d := decoder{t: target{gen: int(gen % 14), gfx94: gen&64 != 0, wave: 32 << (gen >> 7)}}
		if len(text) > maxLine {
			return
		}
		tm := d.decode(text)
		if (tm.in.Role == isa.RoleUnknown) != (tm.why != "") {
			t.Errorf("%q: role %s, %q", text, tm.in.Role, tm.why)
		}
	})
}

// consistent checks what every program must be.
func consistent(t *testing.T, p *isa.Program) {
	unknown := 0
	for _, fn := range p.Funcs {
		if len(fn.Insts) == 0 || len(fn.Blocks) == 0 {
			t.Errorf("%s is empty", fn.Name)
		}
		for i := range fn.Insts {
			in := &fn.Insts[i]
			if in.Target >= len(fn.Insts) || in.Target < -1 {
				t.Errorf("%s: target %d", in.Text, in.Target)
			}
			if in.Role == isa.RoleUnknown {
				unknown++
			}
			for _, r := range append(append([]isa.Reg{}, in.Defs...), in.Uses...) {
				if r.Num >= 1024+64 || r.Class == isa.ClassNone {
					t.Errorf("%s: register %v", in.Text, r)
				}
			}
		}
	}
	if unknown > 0 && len(p.Problems) == 0 {
		t.Errorf("%d unknown instructions and no problem", unknown)
	}
}
