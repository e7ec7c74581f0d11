package optcheck

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/sass"
)

// TestSharedExpressions: expressions whose parts are shared have exponentially
// many paths; none is walked twice.
func TestSharedExpressions(t *testing.T) {
	for name, line := range map[string]string{
		"sum":       "IADD3 R2, R2, R2, RZ",
		"bits":      "LOP3.LUT R2, R2, c[0x0][0x28], R2, 0x6a, !PT",
		"selection": "SEL R2, R2, R3, P0",
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("\t.headerflags\t@\"EF_CUDA_SM80\"\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n")
			addr := 0
			put := func(s string) {
				fmt.Fprintf(&b, "        /*%04x*/                   %s ;\n", addr, s)
				addr += 16
			}
			put("LDG.E R2, [R4.64]")
			put("LDG.E R3, [R6.64]")
			put("ISETP.NE.AND P0, PT, R2, RZ, PT")
			for i := range 300 {
				put(line)
				if name == "selection" {
					put(fmt.Sprintf("ISETP.NE.AND P0, PT, R2, 0x%x, PT", i))
					put("SEL R3, R3, R2, P0")
				}
			}
			put("LOP3.LUT R9, R2, 0xffb9ceb, RZ, 0x3c, !PT")
			put("STG.E [R2.64], R9")
			put("ATOMG.E.ADD.STRONG.GPU PT, R2, [R2.64], R9")
			put("LDS R2, [R2]")
			put("EXIT")
			prog, err := sass.Parse("hostile", []byte(b.String()))
			require.NoError(t, err)
			require.Len(t, prog.Funcs, 1)
			done := make(chan struct{})
			go func() {
				defer close(done)
				c := NewChecker()
				_, _ = c.Check(prog.Funcs[0])
				r, _ := c.CheckAgainst(prog.Funcs[0], twoLoads())
				_, _ = r.Lift()
				c.CheckUnmarked(prog.Funcs[0], twoLoads(), nil)
			}()
			select {
			case <-done:
			case <-time.After(patient.Long):
				t.Fatal("the check does not end")
			}
		})
	}
}
