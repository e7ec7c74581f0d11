package device

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/x86"
)

var update = flag.Bool("update", false, "write golden files anew, with the real PoCL")

// objects are shared objects of the real PoCL, which package x86 reads in its tests, too.
const objects = "../../x86/testdata/"

// TestPoCLGolden: what PoCL 3.1 made of some tests is read and matched as it was. It needs
// no PoCL but with -update.
func TestPoCLGolden(t *testing.T) {
	for _, name := range []string{"mp+membar.gls", "cas-sl"} {
		x := tests(t, name)[0]
		h, err := ptxgen.EmitHarnessOpenCL(x, ptxgen.FormFast, spec.Pointers)
		require.NoError(t, err)
		if *update {
			made, _, err := pipeline.NewOpenCLMaker(pocl(t)).Make(t.Context(), []*ptxgen.Harness{h})
			require.NoError(t, err)
			archive := made[0].Image.Data
			at := bytes.Index(archive, []byte("\x7fELF"))
			n := int(binary.LittleEndian.Uint32(archive[at-4:]))
			require.NoError(t, os.WriteFile(objects+name+".so", archive[at:at+n], 0o644))
		}
		object, err := os.ReadFile(objects + name + ".so")
		require.NoError(t, err)
		code, at, err := x86.Code(object, x86.WorkGroup(h.Name))
		require.NoError(t, err, "the kernel has another name: make the golden files anew with -update")
		fn, err := x86.Func(h.Name, code, at)
		require.NoError(t, err)
		r := optcheck.NewChecker().CheckHarness(fn, h.Check)
		var b strings.Builder
		fmt.Fprintf(&b, "%v %s\n", r.Class, r.Why())
		for _, th := range r.Threads {
			for _, l := range th.Machine {
				fmt.Fprintf(&b, "T%d %d %s\n", th.Thread, l.Pos, l.Text)
			}
		}
		golden := "testdata/" + name + ".golden"
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), b.String())
	}
}
