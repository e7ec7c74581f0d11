package sass

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

var update = flag.Bool("update", false, "regenerate testdata/golden from the installed toolkits")

// goldenPTX returns a message-passing pair with most kinds of instructions that the
// tools print differently.
func goldenPTX(sm, ptx int) string {
	strong := func(weak, s string) string {
		if sm >= 70 {
			return s
		}
		return weak
	}
	return fmt.Sprintf(`.version %d.%d
.target sm_%d
.address_size 64
.global .u32 gx;
.visible .entry writer(.param .u64 ax,.param .u64 ay,.param .u32 av) {
 .reg .b64 x,y; .reg .b32 v,r,t; .reg .pred p; .shared .u32 sh;
 .loc 1 10 0
 ld.param.u64 x,[ax]; ld.param.u64 y,[ay]; ld.param.u32 v,[av];
 .loc 1 11 0
 st.global.u32 [x],v;
 .loc 1 12 0
 membar.gl;
 .loc 1 13 0
 %s [y+4],v;
 .loc 1 14 0
 st.shared.u32 [sh],v;
 .loc 1 15 0
 bar.sync 0;
 .loc 1 16 0
 atom.global.cas.b32 r,[gx],0,1;
 .loc 1 17 0
 setp.ne.u32 p,r,v;
 @p bra L;
 membar.cta;
 ld.volatile.global.u32 r,[x+8];
L:
 .loc 1 18 0
 st.volatile.global.u32 [y+8],r;
 ret;
}
.visible .entry reader(.param .u64 ax,.param .u64 ay,.param .u64 az) {
 .reg .b64 x,y,z,d; .reg .b32 a,b,c,m;
 .loc 1 30 0
 ld.param.u64 x,[ax]; ld.param.u64 y,[ay]; ld.param.u64 z,[az];
 .loc 1 31 0
 %s a,[y];
 .loc 1 32 0
 and.b32 b,a,0x80000000; cvt.u64.u32 d,b; add.u64 d,d,x;
 .loc 1 33 0
 ld.global.cg.u32 c,[d];
 .loc 1 34 0
 xor.b32 m,a,0x07f3a001; st.global.u32 [z],m;
 .loc 1 35 0
 xor.b32 m,c,0x07f3a002; st.global.u32 [z+16],m;
 ret;
}
.file 1 "golden.ptx"
`, ptx/10, ptx%10, sm, strong("st.volatile.global.u32", "st.release.gpu.global.u32"), strong("ld.volatile.global.u32",
		"ld.acquire.gpu.global.u32"))
}

// goldenTargets are the targets with recorded output.
var goldenTargets = map[string][]int{"11.2": {35, 50, 70, 80}, "11.8": {35, 60, 75, 90}, "12.4": {52, 70, 86, 90}}

// goldenModes are the tool outputs that are recorded.
var goldenModes = []struct {
	name, tool string
	args       []string
}{
	{"nvdisasm", "nvdisasm", []string{"-c", "-g"}},
	{"hex", "nvdisasm", []string{"-hex", "-c"}},
	{"cuobjdump", "cuobjdump", []string{"-sass"}},
}

// TestGolden parses recorded output of the tools and compares the decoded
// program with the recorded one. Where the toolkits are installed the tools'
// output is made again and compared too.
func TestGolden(t *testing.T) {
	live := map[string]release{}
	if *update || os.Getenv("OPTCHECK_REQUIRE_TOOLS") == "1" {
		for _, r := range releases(t) {
			live[r.name] = r
		}
	} else if os.Getenv("OPTCHECK_TOOLCHAIN_DIRS") != "" || haveManaged() {
		for _, r := range releases(t) {
			live[r.name] = r
		}
	}
	for rel, sms := range goldenTargets {
		for _, sm := range sms {
			for _, opt := range []string{"-O3", "-O0"} {
				if opt == "-O0" && sm != sms[0] {
					continue
				}
				goldenCell(t, rel, sm, opt, live)
			}
		}
	}
}

func haveManaged() bool {
	cache, err := os.UserCacheDir()
	if err != nil {
		return false
	}
	l, _ := filepath.Glob(filepath.Join(cache, "optcheck", "toolchains", "*", "root", "usr", "bin", "nvdisasm"))
	return len(l) > 0
}

func goldenCell(t *testing.T, rel string, sm int, opt string, live map[string]release) {
	t.Run(fmt.Sprintf("%s_sm%d%s", rel, sm, opt), func(t *testing.T) {
		var progs []*isa.Program
		bin := ""
		r, isLive := live[rel]
		if isLive {
			bin = r.compile(t, goldenPTX(sm, r.ptx), sm, opt, "-lineinfo")
		}
		for _, m := range goldenModes {
			name := filepath.Join("testdata", "golden", fmt.Sprintf("%s_sm%d%s_%s.sass", rel, sm, strings.ToLower(opt[1:]), m.name))
			if isLive {
				out := r.tool(t, m.tool, append(m.args, bin)...)
				if *update {
					require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
					require.NoError(t, os.WriteFile(name, out, 0o644))
				}
				old, err := os.ReadFile(name)
				require.NoError(t, err)
				require.Equal(t, string(old), string(out), "the tool's output changed: %s", name)
			}
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			p, err := Parse(name, b)
			require.NoError(t, err)
			require.Empty(t, p.Problems)
			require.Empty(t, coverage(p).Unknown)
			require.Len(t, p.Funcs, 2)
			progs = append(progs, p)
		}
		compareModes(t, progs)
		// What was decoded, as text.
		var buf bytes.Buffer
		progs[0].File = fmt.Sprintf("%s sm_%d %s", rel, sm, opt)
		require.NoError(t, isa.WriteText(&buf, progs[0]))
		name := filepath.Join("testdata", "golden", fmt.Sprintf("%s_sm%d%s.txt", rel, sm, strings.ToLower(opt[1:])))
		if *update {
			require.NoError(t, os.WriteFile(name, buf.Bytes(), 0o644))
		}
		want, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, string(want), buf.String(), name)
	})
}

// compareModes: the tools print the same program, apart from labels.
func compareModes(t *testing.T, progs []*isa.Program) {
	byName := func(p *isa.Program, n string) *isa.Func {
		for _, f := range p.Funcs {
			if f.Name == n {
				return f
			}
		}
		t.Fatalf("no function %s", n)
		return nil
	}
	for _, f := range progs[0].Funcs {
		for _, p := range progs[1:] {
			g := byName(p, f.Name)
			require.Equal(t, f.Arch, g.Arch)
			// nvdisasm of 11.2 leaves out the padding after the last jump.
			require.LessOrEqual(t, len(f.Insts), len(g.Insts), "%s of %s", f.Name, p.File)
			require.Equal(t, reachableInsts(f), reachableInsts(g))
			for i := range g.Insts {
				if i >= len(f.Insts) {
					require.Equal(t, isa.RoleNop, g.Insts[i].Role)
					continue
				}
				a, b := &f.Insts[i], &g.Insts[i]
				require.Equal(t, a.Addr, b.Addr)
				require.Equal(t, a.Role, b.Role, a.Text)
				require.Equal(t, a.Mem, b.Mem, a.Text)
				require.Equal(t, a.Defs, b.Defs, a.Text)
				require.Equal(t, a.Uses, b.Uses, a.Text)
				require.Equal(t, a.Target, b.Target, a.Text)
				require.NotEmpty(t, b.Code, b.Text)
			}
			for i := range f.Blocks[:len(f.Blocks)-1] {
				require.Equal(t, f.Blocks[i], g.Blocks[i])
			}
		}
	}
}

// TestGoldenLines: with -lineinfo the accesses carry their PTX lines.
func TestGoldenLines(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*_nvdisasm.sass"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		p, err := Parse(name, b)
		require.NoError(t, err)
		for _, f := range p.Funcs {
			lines := map[int]isa.Role{}
			for i := range f.Insts {
				in := &f.Insts[i]
				if in.Role.IsAccess() || in.Role == isa.RoleFence {
					require.Equal(t, "golden.ptx", in.Src.File, "%s: %s", name, in.Text)
					lines[in.Src.Line] = in.Role
				}
			}
			if f.Name == "reader" {
				require.Equal(t, isa.RoleLoad, lines[31], name)
				require.Equal(t, isa.RoleLoad, lines[33], name)
				require.Equal(t, isa.RoleStore, lines[34], name)
			} else {
				require.Equal(t, isa.RoleStore, lines[11], name)
				require.Equal(t, isa.RoleAtomic, lines[16], name)
			}
		}
	}
}
