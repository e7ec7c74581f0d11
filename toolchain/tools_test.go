package toolchain

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"optcheck/internal/required"
)

// real finds the toolchains of this machine. Without one, a test that needs
// them is skipped, unless OPTCHECK_REQUIRE_TOOLS=1 makes that a failure.
func real(t testing.TB) []*Toolchain {
	t.Helper()
	return found(t, "ptxas", discoverOnce)
}

// found is what discover finds; without a toolchain it ends the test as real does.
func found(t testing.TB, what string, discover func() ([]*Toolchain, []error)) []*Toolchain {
	t.Helper()
	if required.Quick() {
		required.Missing(t, "the light tier has no %s", what)
	}
	all, errs := discover()
	for _, err := range errs {
		t.Logf("discover: %v", err)
	}
	if len(all) == 0 {
		required.Missing(t, "no %s on this machine", what)
	}
	return all
}

var discoverOnce = sync.OnceValues(func() ([]*Toolchain, []error) {
	return Discover(context.Background(), Options{Cache: "off"})
})

// header is the start of a module of the given PTX version.
func header(version, target string) string {
	return ".version " + version + "\n.target " + target + "\n.address_size 64\n.file 1 \"t.litmus\"\n"
}

// kernel is PTX like that of one litmus thread, valid on every target.
func kernel(i int) string {
	return fmt.Sprintf(`.visible .entry k%[1]d(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 v)
{
 .reg .u64 %%rd<4>;
 .reg .u32 %%r<8>;
 ld.param.u64 %%rd1, [x];
 ld.param.u64 %%rd2, [y];
 ld.param.u64 %%rd3, [out];
 ld.param.u32 %%r1, [v];
 .loc 1 %[2]d 1
 ld.volatile.global.u32 %%r2, [%%rd1];
 .loc 1 %[3]d 1
 membar.gl;
 .loc 1 %[4]d 1
 st.volatile.global.u32 [%%rd2], %%r1;
 xor.b32 %%r4, %%r2, 0x07f3a001;
 xor.b32 %%r5, %%r1, 0x07f3a002;
 st.global.u32 [%%rd3], %%r4;
 st.global.u32 [%%rd3+4], %%r5;
 ret;
}
`, i, 3*i+1, 3*i+2, 3*i+3)
}

func kernels(n int) []Unit {
	units := make([]Unit, n)
	for i := range units {
		units[i] = Unit{Name: fmt.Sprintf("test%d", i), Text: kernel(i)}
	}
	return units
}

// spoil makes a unit that ptxas refuses, in the given way.
func spoil(u *Unit, how int) {
	switch how % 3 {
	case 0:
		u.Text = strings.Replace(u.Text, "membar.gl", "membar.bogus", 1)
	case 1:
		u.Text = strings.Replace(u.Text, "%r4, %r2,", "%r4 %r2", 1)
	default:
		u.Text = strings.Replace(u.Text, "%r5, %r1", "%r5, %r99", 1)
	}
}
