package ptxgen

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/spec"
)

func emit(t *testing.T, name string, o Options) *Unit {
	t.Helper()
	x, ok := corpus.Lookup(name)
	require.True(t, ok, name)
	u, err := Emit(x, o)
	require.NoError(t, err)
	return u
}

func TestAuditForm(t *testing.T) {
	u := emit(t, "mp", Options{Target: "sm_80", Layout: spec.Pointers})
	require.Len(t, u.Kernels, 2)
	require.Equal(t, Version(70), u.Version)
	require.Equal(t, int64(16), u.Kernels[0].OutParam)
	t0, t1, _ := strings.Cut(u.Text, "_T1(")
	require.Equal(t, 2, strings.Count(t0, "st.global.cg.s32"))
	require.Equal(t, 2, strings.Count(t1, "ld.global.cg.s32"))
	require.Equal(t, 4, strings.Count(t0, "xor.b32"), "two accesses, the digest and the header")
	require.NotRegexp(t, regexp.MustCompile(`st\.global\.cg\.s32 [^,]*, [0-9]`), u.Text, "stored values must not be known")
	require.NotRegexp(t, regexp.MustCompile(`mov\.b32 %q_\S+, [0-9]`), u.Text)
	for _, l := range []string{"\t.loc 1 1 0\n", "\t.loc 1 2 0\n", "\t.loc 1 1000 0\n", "\t.loc 1 2000 0\n"} {
		require.Equal(t, 2, strings.Count(u.Text, l), l)
	}
}

func TestLayouts(t *testing.T) {
	sym := emit(t, "sb", Options{Target: "sm_80", Layout: spec.Symbols})
	require.Contains(t, sym.Text, ".shared .align 16 .b8 "+sym.Name+"_L0[16];")
	require.Contains(t, sym.Text, ".visible .global .align 16 .b8 "+sym.Name+"_L1[16];")
	require.Contains(t, sym.Text, "["+sym.Name+"_L1]")
	off := emit(t, "sb", Options{Target: "sm_80", Layout: spec.Offsets})
	require.Contains(t, off.Text, "[gbase]")
	require.Contains(t, off.Text, "[sbase]")
	require.Equal(t, int64(16), off.Kernels[0].OutParam)
	require.NotEqual(t, sym.Name, off.Name)
}

// TestDeterministic: the same test gives the same text.
func TestDeterministic(t *testing.T) {
	for _, x := range corpus.Tests() {
		for _, l := range spec.AllLayouts {
			a, errA := Emit(x, Options{Target: "sm_90", Layout: l})
			b, errB := Emit(x, Options{Target: "sm_90", Layout: l})
			require.Equal(t, errA, errB)
			require.Equal(t, a, b)
		}
	}
}

func TestUnsupported(t *testing.T) {
	cases := []struct{ test, target, reason string }{
		{"mp+relaxed.gpus", "sm_60", ".relaxed needs sm_70 or higher"},
		{"mp+release.cluster+acquire.cluster", "sm_80", ".cluster needs sm_90 or higher"},
		{"ptx-sb+fence.sc", "sm_62", "needs sm_70 or higher"},
		{"mp+fence.release.gpu+fence.acquire.gpu", "sm_80", "fence.release needs sm_90 or higher"},
		{"ptx-mp+spin", "sm_80", "the loop"},
		{"ptx-alias+fence.proxy.alias", "sm_80", "alias"},
	}
	for _, c := range cases {
		x, ok := corpus.Lookup(c.test)
		require.True(t, ok, c.test)
		_, err := Emit(x, Options{Target: c.target})
		var u *spec.Unsupported
		require.ErrorAs(t, err, &u, c.test)
		require.Contains(t, u.Reason, c.reason)
	}
	x, _ := corpus.Lookup("mp")
	_, err := Emit(x, Options{Target: "gfx900"})
	require.ErrorContains(t, err, "no NVIDIA target")
}

func TestVersions(t *testing.T) {
	for target, want := range map[string]Version{"sm_50": 50, "sm_70": 60, "sm_75": 63, "sm_80": 70, "sm_86": 71, "sm_87": 74, "sm_89": 78, "sm_90": 78, "sm_90a": 80, "sm_100": 86, "sm_100f": 88, "sm_120": 87, "sm_120f": 88, "sm_121": 88, "sm_110": 90, "sm_110f": 90, "sm_88": 90} {
		sm, err := SM(target)
		require.NoError(t, err)
		require.Equal(t, want, minVersion(target, sm), target)
	}
	u := emit(t, "mp+fence.release.gpu+fence.acquire.gpu", Options{Target: "sm_90"})
	require.Equal(t, Version(86), u.Version)
	require.Contains(t, Header(86, "sm_90"), ".version 8.6\n.target sm_90\n")
	v, err := ParseVersion("8.4")
	require.NoError(t, err)
	require.Equal(t, Version(84), v)
	for _, bad := range []string{"", "8", "8.x", "-1.0", "8.40"} {
		_, err := ParseVersion(bad)
		require.Error(t, err, bad)
	}
}

// TestHostileNames: names from a test never reach the PTX unchecked.
func TestHostileNames(t *testing.T) {
	x, _ := corpus.Lookup("mp")
	y := x.Clone()
	y.Name = "a\"; .evil {}\n// ../../x"
	u, err := Emit(y, Options{Target: "sm_80"})
	require.NoError(t, err)
	require.NotContains(t, u.Text, "evil {")
	require.Regexp(t, regexp.MustCompile(`^t_[A-Za-z0-9_]+$`), u.Name)
}

// TestGuarded: a skipped access leaves a defined register for its marker.
func TestGuarded(t *testing.T) {
	u := emit(t, "cas-sl", Options{Target: "sm_80"})
	require.Contains(t, u.Text, "mov.b32 %m1, %tok;")
	require.Regexp(t, regexp.MustCompile(`@!?%q_\S+ ld\.global`), u.Text)
	require.Equal(t, litmus.OpLd, u.Kernels[1].Spec.Entries[1].Kind.Op)
	require.True(t, u.Kernels[1].Spec.Entries[1].Guarded)
}
