package realcode

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLines: where ptxas gives accesses the lines of others, one that stands on the wrong side of a
// barrier is found all the same. In the last kernel the line of the first load is given to another field's.
func TestLines(t *testing.T) {
	m := module(t, "testdata/lines.ptx")
	number := func(kernel, text string, nth int) int { // of several, the one behind so many
		for _, st := range m.Func(kernel).Body {
			if st.Inst != nil && st.Inst.Text == text {
				if nth--; nth < 0 {
					return st.Inst.N
				}
			}
		}
		t.Fatal(text)
		return 0
	}
	by := map[int]string{}
	const barrier, field = "bar.sync 0", "ld.global.u32 %r5, [%d4+8]"
	for _, row := range []struct {
		kernel, text string
		barrier      int
		behind       bool // it stands behind the barrier in the machine code, not in front of it
	}{
		{"queue", "ld.shared.u32 %r8, [y]", 0, false},
		{"arms", "st.shared.u32 [cell+4], %r8", 0, true},
		{"bases", "ld.shared.f32 %f10, [%d4]", 3, false},
		{"picked", "ld.shared.v2.u32 {%r13, %r14}, [v+8]", 0, false},
	} {
		n, at := number(row.kernel, row.text, 0), number(row.kernel, barrier, row.barrier)
		moved, there := fmt.Sprintf(".loc 1 %d 0\n%s;", n, row.text), fmt.Sprintf(".loc 1 %d 0\n%s;", at, barrier)
		by[n], by[at] = "", moved+"\n"+there
		if row.behind {
			by[at] = there + "\n" + moved
		}
	}
	by[number("fields", field, 0)] = fmt.Sprintf(".loc 1 %d 0\n%s;", number("fields", "ld.global.u32 %r3, [%d4+4]", 0), field)
	for _, tc := range releases(t) {
		for _, k := range Check(m, changed(t, tc, m, by, "sm_80", "O3").Program, 80).Kernels {
			if told := append(k.Findings, k.Unknown...); k.Name != "fields" {
				assert.NotEmpty(t, told, "%s %s", k.Name, tc.ID)
			} else {
				require.Empty(t, told, tc.ID)
				require.Equal(t, k.Count.Weak, k.Count.WeakFound)
			}
		}
	}
}
