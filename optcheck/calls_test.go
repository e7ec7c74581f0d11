package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCalls: a function that stands after the kernel is read where it is called, if its
// return leads after the call.
func TestCalls(t *testing.T) {
	const y, x, ret = "\nLDG.E.STRONG.GPU R4, [R2.64]", "\nLDG.E.STRONG.GPU R5, [R0.64]", "\nRET.REL.NODEC R20 0x0"
	for _, c := range []struct {
		name, body, want string
		class            Class
	}{
		{"as written", "\nMOV R20, 0x60\nCALL.REL.NOINC 0x110" + x + results + "\nEXIT" + y + ret, "", Preserved},
		{"by a copy of the address", "\nMOV R7, 0x60\nCALL.REL.NOINC 0x110" + x + results + "\nEXIT\nMOV R20, R7" + y + ret, "", Preserved},
		{"the later access called", "\nMOV R20, 0x60\nCALL.REL.NOINC 0x110" + y + results + "\nEXIT" + x + ret, "reordered", Changed},
		{"without its access", "\nMOV R20, 0x60\nCALL.REL.NOINC 0x110" + x + results + "\nEXIT\nMOV R4, RZ" + ret, "missing", Changed},
		{"called twice", "\nMOV R20, 0x60\nCALL.REL.NOINC 0x130\nMOV R20, 0x80\nCALL.REL.NOINC 0x130" + x + results + "\nEXIT" + y + ret,
			"duplicated", Changed},
		{"it returns elsewhere", "\nMOV R20, 0x70\nCALL.REL.NOINC 0x110" + x + results + "\nEXIT" + y + ret, "", Unknown},
		{"it calls itself", "\nMOV R20, 0x60\nCALL.REL.NOINC 0x110" + x + results + "\nEXIT" + y + "\nCALL.REL.NOINC 0x110" + ret,
			"extra-access duplicated", Changed},
		{"it calls its own middle", "\nMOV R20, 0x60\nCALL.REL.NOINC 0x110" + x + results + "\nEXIT\nCALL.REL.NOINC 0x120" + y + ret,
			"", Unknown},
		{"it calls one behind it", "\nMOV R20, 0x60\nCALL.REL.NOINC 0x110" + x + results + "\nEXIT\nMOV R22, 0x130\nCALL.REL.NOINC 0x140" + ret + y +
			"\nRET.REL.NODEC R22 0x0", "", Preserved},
		{"a block for which the warp comes together", "\nWARPSYNC.COLLECTIVE.ALL 0x70" + y + "\nENDCOLLECTIVE" + x + results, "", Preserved},
		{"an unknown function", "\nMOV R20, 0x60\nCALL.ABS.NOINC 0x10000" + y + x + results, "extra-access", Changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := check(t, twoLoads(), addresses+c.body)
			require.Equal(t, c.class, r.Class, "%v %s", r.Findings, r.Reason)
			if c.class != Unknown {
				require.Equal(t, c.want, ids(r.Findings), "%v", r.Findings)
			}
		})
	}
}

// TestSpills: what is spilled to the stack is what is filled from it.
func TestSpills(t *testing.T) {
	const y, x, stack = "\nLDG.E.STRONG.GPU R4, [R2.64]", "\nLDG.E.STRONG.GPU R5, [R0.64]", "\nMOV R20, c[0x0][0x28]"
	for _, c := range []struct{ name, body, want string }{
		{"filled", stack + y + "\nSTL [R20+0x4], R4\nMOV R4, RZ" + x + "\nLDL R4, [R20+0x4]", ""},
		{"from another word", stack + y + "\nSTL [R20+0x4], R4\nMOV R4, RZ" + x + "\nLDL R4, [R20+0x8]", "missing"},
		{"overwritten", stack + y + "\nSTL [R20+0x4], R4\nSTL [R20+0x4], RZ" + x + "\nLDL R4, [R20+0x4]", "missing"},
		{"no stack", y + "\nSTL [R2], R4" + x, "extra-access"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := check(t, twoLoads(), addresses+c.body+results)
			require.Contains(t, ids(r.Findings), c.want, "%v", r.Findings)
			if c.want == "" {
				require.Equal(t, Preserved, r.Class, "%v", r.Findings)
			}
		})
	}
}
