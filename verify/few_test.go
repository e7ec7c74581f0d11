package verify

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// TestPeer: locks and a barrier that others have published verdicts of, and variants with one order or scope too weak. The launches are
// those of Tong et al., Towards Unified Analysis of GPU Consistency (2024), as threads of a block and blocks.
func TestPeer(t *testing.T) {
	text, err := os.ReadFile("testdata/peer.ptx")
	require.NoError(t, err)
	acquire, release, scope := [3]string{"", "acquire", "relaxed"}, [3]string{"", "st.release", "st.relaxed"}, [3]string{"", ".gpu.", ".cta."}
	for _, c := range []struct {
		kernel        string
		change        [3]string // lines with the first text have the third in the place of the second
		block, blocks int
		free          bool
	}{
		{"caslock", acquire, 4, 2, false}, {"caslock", release, 4, 2, false},
		{"caslock", scope, 4, 1, true}, {"caslock", scope, 4, 2, false},
		{"ticketlock", acquire, 4, 2, false}, {"ticketlock", release, 4, 2, false},
		{"ticketlock", scope, 4, 1, true}, {"ticketlock", scope, 4, 2, false},
		{"ttaslock", [3]string{}, 2, 2, true}, {"ttaslock", acquire, 4, 2, false}, {"ttaslock", release, 4, 2, false},
		{"ttaslock", scope, 4, 1, true}, {"ttaslock", scope, 4, 2, false}, {"xfbarrier", [3]string{}, 3, 3, true},
		{"xfbarrier", [3]string{"sees them", "acquire", "relaxed"}, 2, 2, false},
		{"xfbarrier", [3]string{"goes on", "acquire", "relaxed"}, 2, 2, false},
		{"xfbarrier", [3]string{"lets them", "release", "relaxed"}, 2, 2, false},
		{"xfbarrier", [3]string{"arrives", "release", "relaxed"}, 2, 2, false},
	} {
		lines := strings.Split(string(text), "\n")
		for i, l := range lines {
			if strings.Contains(l, c.change[0]) && c.change[1] != "" {
				lines[i] = strings.ReplaceAll(l, c.change[1], c.change[2])
			}
		}
		m, err := ptx.Parse("peer.ptx", []byte(strings.Join(lines, "\n")))
		require.NoError(t, err)
		o := &Options{Launch: Launch{Grid: [3]int{c.blocks, 1, 1}, Block: [3]int{c.block, 1, 1}}}
		for _, name := range []string{"0", "1", "2"} {
			o.Launch.Args = append(o.Launch.Args, Arg{Name: name, Buffer: true, Bytes: 64})
		}
		start := time.Now()
		x, err := All(context.Background(), m, c.kernel, o, time.Minute)
		require.NoError(t, err)
		require.Equal(t, map[bool]string{true: AnswerFree, false: AnswerRace}[c.free], x.Answer, "%s %v\n%s", c.kernel, c.change, x.Text())
		t.Logf("%s %v, %d x %d: %s in %.2f s", c.kernel, c.change, c.block, c.blocks, x.Answer, time.Since(start).Seconds())
	}
}
