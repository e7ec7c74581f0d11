package realcode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// TestBases: what the base of an address is, and how far it is from it; "?" is a base of its own, of which nothing is known, and
// "f" a function of values that never change.
func TestBases(t *testing.T) {
	for _, x := range []struct {
		body, root string
		offset     int64
	}{
		{"mov.u64 x, d1;", "[k.p+0]", 0}, {"ld.param.u64 x, [p+8];", "[k.p+8]", 0}, {"add.s64 x, d1, 8;", "[k.p+0]", 8},
		{"add.s64 x, 8, d1;", "[k.p+0]", 8},
		{"add.s64 d3, d1, 8; add.s64 x, d3, -4;", "[k.p+0]", 4}, {"add.s64 x, d1, d2;", "f", 0}, {"cvta.to.global.u64 x, d1;", "[k.p+0]", 0},
		{"@c add.s64 x, d1, 8;", "?", 0}, {"add.s64 x, d1, 8; add.s64 x, d1, 8;", "?", 0}, {"ld.global.u64 x, [d1];", "?", 0},
		{"mov.u64 x, s;", "s", 0}, {"mov.u64 x, s+4;", "s", 4}, {"mov.u64 x, 16;", "0", 16}, {"mov.u64 x, %clock64;", "?", 0},
		{"mov.u32 x, %tid.x;", "%tid.x", 0},
		{"mov.u32 r1, s; cvt.u64.u32 x, r1;", "s", 0}, {"cvt.u32.u64 r1, d1; cvt.u64.u32 x, r1;", "[k.p+0]", 0},
		{"mov.u32 r1, s; cvt.s64.s32 x, r1;", "f", 0},
		{"sub.s64 x, d1, 8;", "f", 0}, {"ld.global.u64 d3, [d1]; sub.s64 x, d3, 8;", "?", 0}, {"sub.s64 x, d1, s;", "?", 0},
		{"sub.s64 x, d1, -d2;", "?", 0},
		{"mapa.shared::cluster.u64 x, d1, 3;", "%mapa 3 [k.p+0]", 0}, {"mapa.shared::cluster.u64 x, s+4, 3;", "%mapa 3 s", 4},
		{"mov.u32 r1, %cluster_ctarank; mapa.shared::cluster.u64 x, d1, r1;", "%mapa %cluster_ctarank [k.p+0]", 0},
		{"mov.u32 r1, 2; mapa.shared::cluster.u64 x, d1, r1;", "%mapa %2 [k.p+0]", 0},
		{"add.u32 r1, r2, 1; mapa.shared::cluster.u64 x, d1, r1;", "%mapa %2 [k.p+0]", 0},
		{"mapa.shared::cluster.u64 x, d1, r8;", "%mapa %9 [k.p+0]", 0}, {"mapa.shared::cluster.u64 x, 16, 3;", "?", 0},
		{"ld.param.v2.u64 {x, d3}, [p];", "?", 0}, {"ld.param.u64 x, [d1];", "?", 0}, {".param .b64 own; ld.param.u64 x, [own];", "?", 0},
		// No compiler takes these, and they are read.
		{"add.s64 x, d1;", "f", 0}, {"mov.u64 x;", "?", 0}, {"cvta.u64 x;", "?", 0}, {"cvt.u64.u32 x;", "f", 0},
		{"cvt.u64.u32 x, d1, d2;", "f", 0},
		{"mapa.shared::cluster.u64 x, d1;", "?", 0}, {"mov.u64 x, d1, d2;", "?", 0}, {"add.s64 x, d1, 8, 8;", "f", 0},
	} {
		m, err := ptx.Parse("k.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 8 .b64 s[8];\n.visible .entry k(.param .u64 p, .param .u64 q)\n{\n"+
			".reg .pred c; .reg .b32 r<9>; .reg .b64 d<9>; .reg .b64 x;\nld.param.u64 d1, [p];\nld.param.u64 d2, [q];\n"+strings.ReplaceAll(x.body,
			";", ";\n")+
			"st.global.u32 [x+32], 0;\nret;\n}\n"))
		require.NoError(t, err, x.body)
		f := m.Func("k")
		w := newWalk(f)
		at := w.addressOf(f.Body[len(f.Body)-2].Inst)
		require.Equal(t, 4, at.width)
		want := address{root: x.root, offset: x.offset + 32, width: 4}
		switch x.root {
		case "?":
			require.True(t, strings.HasPrefix(at.root, "?k."), "%s: %v", x.body, at)
			want.root = at.root
		case "f":
			require.True(t, strings.HasPrefix(at.root, "[f"), "%s: %v", x.body, at)
			want.root = at.root
		}
		require.Equal(t, want, at, x.body)
	}
}

// TestBarrierOf: which mbarrier an operation is about.
func TestBarrierOf(t *testing.T) {
	const copied = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
	for body, want := range map[string]string{
		"mbarrier.init.shared.b64 [s+8], 1;":                                                                   "s+8",
		"mbarrier.arrive.shared.b64 d3, [s+8];":                                                                "s+8",
		"mbarrier.test_wait.shared.b64 c, [s+8], d3;":                                                          "s+8",
		"cp.async.mbarrier.arrive.shared.b64 [s+8];":                                                           "s+8",
		copied + " [d3], [d1], 16, [s+8];":                                                                     "s+8",
		copied + ".multicast::cluster [d3], [d1], 16, [s+8], h;":                                               "s+8",
		copied + ".L2::cache_hint [d3], [d1], 16, [s+8], d2;":                                                  "s+8",
		copied + ".multicast::cluster.L2::cache_hint [d3], [d1], 16, [s], h, d2;":                              "s+0",
		"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [d3], [d1, {r1}], [s+8];": "s+8",
		"cp.async.bulk.global.shared::cta.bulk_group [d1], [d3], 16;":                                          "+0",
		"st.shared.u32 [s], 1;":                                                                                "+0",
	} {
		m, err := ptx.Parse("k.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 8 .b64 s[8];\n.visible .entry k(.param .u64 p)\n{\n"+
			".reg .pred c; .reg .b16 h; .reg .b32 r<9>; .reg .b64 d<9>;\nld.param.u64 d1, [p];\n"+body+"\nret;\n}\n"))
		require.NoError(t, err, body)
		f := m.Func("k")
		require.Equal(t, want, newWalk(f).barrierOf(f.Body[len(f.Body)-2].Inst).String(), body)
	}
}

// TestUnlimited: an increment up to the greatest number is an addition.
func TestUnlimited(t *testing.T) {
	for args, want := range map[string]bool{
		"r1, [d1], 4294967295": true, "r1, [d1], 0xffffffff": true, "r1, [d1], -1": true, "r1, [d1], r2": true, "r1, [d1], 4294967294": false,
		"r1, [d1], r3": false,
		"r1, [d1]":     false, "r1, r2": false, "r1, [d1], 4294967295, 1": true,
	} {
		m, err := ptx.Parse("k.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 r<9>; .reg .b64 d<9>;\n"+
			"ld.param.u64 d1, [p];\nmov.u32 r2, -1;\natom.global.inc.u32 "+args+";\nret;\n}\n"))
		require.NoError(t, err, args)
		f := m.Func("k")
		require.Equal(t, want, newWalk(f).unlimited(f.Body[len(f.Body)-2].Inst), args)
	}
}

// TestSpare: a load may be left out where a path comes to nothing that its value matters to.
func TestSpare(t *testing.T) {
	for body, want := range map[string]bool{
		"LOAD st.global.u32 [d2], r1;":    false,
		"LOAD":                            true,
		"LOAD @c st.global.u32 [d2], r1;": true,
		"LOAD @c st.global.u32 [d2], r2;": true,
		"LOAD setp.eq.u32 e, r1, 0; @e st.global.u32 [d2], 1;":                                false,
		"LOAD @c bra N; st.global.u32 [d2], r1; N:":                                           true,
		"LOAD @c bra N; st.global.u32 [d2], r1; bra E; N: st.global.u32 [d2], r1; E:":         false,
		"LOAD add.u32 r3, r1, 1; st.global.u32 [d2], r3;":                                     false,
		"LOAD mov.u32 r1, 0; st.global.u32 [d2], r1;":                                         true,
		"LOAD @c mov.u32 r1, 0; st.global.u32 [d2], r1;":                                      false,
		"LOAD add.u32 r3, r1, 1; mov.u32 r1, 0; st.global.u32 [d2], r3;":                      false,
		"T: LOAD setp.eq.u32 e, r2, 0; @e bra T; st.global.u32 [d2], r1;":                     true,
		"T: LOAD add.u32 r3, r3, r1; setp.eq.u32 e, r2, 0; @e bra T; st.global.u32 [d2], r3;": false,
		"T: LOAD add.u32 r3, r3, r1; setp.eq.u32 e, r2, 0; @e bra T; st.global.u32 [d2], r2;": true,
		"LOAD @c exit; st.global.u32 [d2], r1;":                                               true,
		"LOAD @c trap; st.global.u32 [d2], r1;":                                               false,
		"LOAD setp.eq.u32 e, r1, 0; @e bra E; st.global.u32 [d2], 1; E:":                      false,
		"LOAD @c add.u32 r3, r1, 1; st.global.u32 [d2], r3;":                                  false, // nothing is known of conditions
	} {
		c := checkerOf(t, "", ".reg .pred e;\n"+strings.ReplaceAll(strings.Replace(strings.Replace(body, "LOAD", "ld.relaxed.gpu.global.u32 r1, [d1];", 1), ":", ":\n", 2), ";", ";\n"))
		for k, op := range c.src.ops {
			if op.Effect.Kind == ptx.Load {
				require.Equal(t, want, c.src.spare(k), body)
				require.Equal(t, want, c.src.spare(k), "%s, asked again", body)
			}
		}
	}
}

// TestSpareReturned: what a function returns matters to its caller.
func TestSpareReturned(t *testing.T) {
	for _, x := range []struct {
		body string
		want bool
	}{{"mov.u32 out, r;", false}, {"mov.u32 out, 0;", true}, {"@c ret; st.global.u32 [d], r; mov.u32 out, 0;", true},
		{"mov.u32 out, r; @c ret; mov.u32 out, 0;", true}, {"mov.u32 out, r; @c ret;", false}} {
		m, err := ptx.Parse("k.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n.func (.reg .u32 out) f(.reg .u64 d)\n{\n.reg .b32 r; .reg .pred c;\n"+
			"ld.relaxed.gpu.global.u32 r, [d];\n"+strings.ReplaceAll(x.body, ";", ";\n")+"ret;\n}\n"))
		require.NoError(t, err)
		src, err := readSource(m, m.Func("f"))
		require.NoError(t, err)
		require.Equal(t, x.want, src.spare(0), x.body)
	}
}
