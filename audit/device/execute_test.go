package device

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/spec"
)

// TestExecuted: what a real compiler makes of harness kernels does what their PTX does. For sm_90 at O3 TestValidateCorpus and
// TestValidatePermuted ask more of two forms.
func TestExecuted(t *testing.T) {
	some := tests(t, "mp", "cas-sl", "lb+addrs", "mp-volatile", "ptx-cluster+mp", "mp+release.sys+acquire.sys-gpus",
		"shfl-flag-sync", "vote-mp", "warp-three", "match-mp")
	if os.Getenv("OPTCHECK_FULL") != "" {
		some = corpus.Tests()
	}
	for _, at := range []struct {
		target, level string
		layout        spec.Layout
	}{{"sm_70", "O3", spec.Pointers}, {"sm_90", "O0", spec.Adjacent}, {"sm_90", "O3", spec.Pointers}} {
		for form := range ptxgen.Forms {
			if asked := at.target == "sm_90" && at.level == "O3"; asked && ptxgen.Form(form) < ptxgen.FormDevices {
				continue
			}
			c := &Compiler{Target: at.target, Level: at.level, Layout: at.layout, Tool: newest(t, at.target)}
			bins, err := c.Build(t.Context(), some, ptxgen.Form(form))
			require.NoError(t, err)
			for _, b := range bins {
				require.NotContains(t, b.Why, "execute", "%v %v %s", at, ptxgen.Form(form), b.Test.Name)
				require.NotContains(t, b.Why, "no launch performs", "%v %v %s", at, ptxgen.Form(form), b.Test.Name)
			}
		}
	}
}

// faults change a line of PTX: what a thread plays, where its memory lies, what it stores, and whether it goes on.
var faults = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`^\t(?:@!?%\w+ )?(?:add|mad|shl|shr|and|or|xor|mul|mov|sub|selp|cvt|st|red|atom)\S* .*;$`), "\t// gone"},
	{regexp.MustCompile(`^(\t(?:add|mad|shl|shr|and|mul|or|st|setp)\S* .*)\b([0-9]+)(\]?;)$`), "${1}1$2$3"},
	{regexp.MustCompile(`^(\t(?:mad|add|and|or|mul)\S* %\w+, )(%\w+), (%\w+)(.*;)$`), "$1$2, $2$4"},
	{regexp.MustCompile(`^(\tst\S* \[%\w+\+?\w*\], )(%\w+);$`), "\t{ .reg .b32 %ft; xor.b32 %ft, $2, 1; $1%ft; }"},
	{regexp.MustCompile(`^\t@(%\w+) bra (.*)$`), "\t@!$1 bra $2"},
	{regexp.MustCompile(`^\t@!?%\w+ (bra .*)$`), "\t$1"},
}

// TestHarnessFaults: of harnesses of which one line was changed behind the checker's back, one in a hundred at most is validated:
// what the stress reads matters to nobody but where it is one number.
func TestHarnessFaults(t *testing.T) {
	const seed = 4
	each := 15
	if os.Getenv("OPTCHECK_FULL") != "" {
		each = 1000
	}
	rnd, all, missed := rand.New(rand.NewPCG(seed, seed)), 0, 0
	for _, form := range []ptxgen.Form{ptxgen.FormFast, ptxgen.FormPermuted} {
		for _, x := range tests(t, "mp", "cas-sl") {
			c := &Compiler{Target: "sm_90", Level: "O3", Tool: newest(t, "sm_90")}
			m, err := c.maker()
			require.NoError(t, err)
			h, err := m.Emit(x, form, spec.Pointers)
			require.NoError(t, err)
			lines := strings.Split(h.Text, "\n")
			var edits [][2]string
			for i, line := range lines {
				if strings.Contains(line, "%a6") || strings.Contains(line, "$SPIN") {
					continue // how often a warp polls while it waits is nobody's promise
				}
				for _, f := range faults {
					if f.what.MatchString(line) {
						edits = append(edits, [2]string{fmt.Sprint(i), f.what.ReplaceAllString(line, f.with)})
					}
				}
			}
			rnd.Shuffle(len(edits), func(i, j int) { edits[i], edits[j] = edits[j], edits[i] })
			list, wrong := []*Binary{{Test: x, Form: form, Harness: h}}, []*ptxgen.Harness{h}
			for i, e := range edits[:min(each, len(edits))] {
				at, _ := strconv.Atoi(e[0])
				changed := slices.Clone(lines)
				changed[at] = e[1]
				good, bad := *h, *h
				good.Name = fmt.Sprintf("%s_%d", h.Name, i)
				bad.Name = good.Name
				good.Text = strings.ReplaceAll(h.Text, h.Name, good.Name)
				bad.Text = strings.ReplaceAll(strings.Join(changed, "\n"), h.Name, good.Name)
				list, wrong = append(list, &Binary{Test: x, Form: form, Harness: &good}), append(wrong, &bad)
			}
			made, failed, err := m.Make(t.Context(), wrong)
			require.NoError(t, err)
			for i := range made {
				require.NoError(t, c.read(t.Context(), m, &made[i], list))
			}
			require.True(t, list[0].Validated, list[0].Why)
			n := map[string]int{}
			for i, b := range list[1:] {
				at, _ := strconv.Atoi(edits[i][0])
				what := b.State
				switch {
				case failed[i+1] != nil:
					what = "no PTX"
				case b.Validated && b.Code == list[0].Code:
					what = "same code"
				case b.Validated:
					t.Logf("%s %v: validated: %q -> %q", x.Name, form, lines[at], edits[i][1])
					missed++
				case strings.Contains(b.Why, "executed:"):
					what = "by execution alone"
				}
				n[what]++
			}
			t.Log(x.Name, form, n)
			all += len(list) - 1 - n["no PTX"] - n["same code"]
		}
	}
	require.LessOrEqual(t, missed*100, all, "of %d", all)
}
