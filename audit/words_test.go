package audit

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptx"
	"optcheck/ptxgen"
	"optcheck/realcode"
	"optcheck/refine"
	"optcheck/spec"
	"optcheck/toolchain"
)

// wordFaults are changes of one word of what threads perform together, of reductions of bulk copies and of multimem, each a fault of a
// compiler that makes machine code of the one where the PTX has the other.
var wordFaults = []struct{ what, with string }{
	{`red\.and(\.aligned)?\.pred`, "red.or${1}.pred"}, {`red\.or(\.aligned)?\.pred`, "red.and${1}.pred"},
	{`(bar(?:rier)?\.red\S* \S+) 0,`, "${1} 1,"}, {`((?:bar(?:rier)?\.red\S*|bar\.warp\.sync) .*;)`, ";"}, {`(bar(?:rier)?\.red.*;)`, "$1 bar.sync 0;"},
	{`(bar\.warp\.sync) \d;`, "$1 31;"}, {`(bar\.warp\.sync) \d+;`, "bar.sync 0;"},
	{`vote\.sync\.all`, "vote.sync.any"}, {`vote\.sync\.any`, "vote.sync.all"}, {`vote\.sync\.uni`, "vote.sync.any"},
	{`shfl\.sync\.up`, "shfl.sync.down"}, {`shfl\.sync\.down`, "shfl.sync.up"}, {`(shfl\.sync\.\S+ \S+ \S+) 1,`, "$1 0,"},
	{`(shfl\.sync\.idx\S+ \S+ \S+) 0,`, "$1 1,"},
	{`match\.any`, "match.all"}, {`match\.all`, "match.any"},
	{`redux\.sync\.(add|min|max)\.([us])`, "redux.sync.other-$1.$2"}, {`redux\.sync\.(and|or|xor)\.b`, "redux.sync.other-$1.b"},
	{`((?:vote|match|redux|shfl|elect)\S+ .*) 3;`, "$1 7;"},
	{`(cp\.reduce\S*)\.(and|or|xor)\.b`, "$1.other-$2.b"}, {`(cp\.reduce\S*)\.(add|min|max|inc|dec)\.u32`, "$1.other-$2.u32"},
	{`(cp\.reduce\S*)\.(min|max|add)\.s32`, "$1.other-$2.s32"}, {`(cp\.reduce\S*\.add)\.u64`, "$1.u32"}, {`(cp\.reduce\S* .*, )16`, "${1}32"},
	{`cp\.reduce(\S*?)\.(?:and|or|xor|add|min|max|inc|dec)\.[a-z0-9]+ `, "cp$1 "}, {`(cp\.reduce.*;)`, "$1 $1"}, {`(cp\.reduce.*;)`, ";"},
	{`(multimem\.ld_reduce\S*)\.(and|or|xor)\.b`, "$1.other-$2.b"}, {`(multimem\.ld_reduce\S*)\.(add|min|max)\.u32`, "$1.other-$2.u32"},
	{`(multimem\.red\S*)\.(and|or|xor)\.b`, "$1.other-$2.b"}, {`(multimem\.red\S*)\.add\.u32`, "$1.max.u32"},
	{`(multimem\.(?:st|red)\S*)\.relaxed`, "$1.release"}, {`(multimem\.ld_reduce\S*)\.relaxed`, "$1.acquire"}, {`(multimem\.(?:st|red)\S* .*;)`, ";"},
	{`(multimem\.red.*;)`, "$1 $1"}, {`(multimem\.st\.release)\.gpu`, "$1.sys"}, {`(multimem\.red\.release)\.gpu`, "$1.sys"},
}

// otherOps are operations in the place of others.
var otherOps = strings.NewReplacer("other-add", "max", "other-min", "max", "other-max", "min", "other-inc", "dec", "other-dec", "inc", "other-and", "or", "other-or", "xor", "other-xor", "or")

// TestWordFaults: what differs from the PTX by one word is not preserved, if a compiler makes other machine code of it.
func TestWordFaults(t *testing.T) {
	tcs := releases(t)
	tc := tcs[slices.IndexFunc(tcs, func(tc *toolchain.Toolchain) bool { return tc.Release() == "12.4" })]
	levels := []string{"O3"}
	if full() {
		levels = []string{"O0", "O1", "O3"}
	}
	noticed, alike := 0, 0
	for _, x := range corpus.Async() {
		family, _, _ := strings.Cut(x.Name, "-")
		if !slices.Contains(strings.Fields("barred warp shfl vote match redux active elect bulkred multi"), family) {
			continue
		}
		for _, level := range levels {
			n, same := wordFaultsOf(t, tc, x, level)
			noticed, alike = noticed+n, alike+same
		}
	}
	t.Logf("%d noticed, %d of which the compiler makes the same code", noticed, alike)
	require.Greater(t, noticed, 150)
}

func wordFaultsOf(t *testing.T, tc *toolchain.Toolchain, x *litmus.Test, level string) (noticed, alike int) {
	u, err := ptxgen.Emit(x, ptxgen.Options{Target: "sm_90", Layout: spec.Pointers})
	if lacks := (*spec.Unsupported)(nil); errors.As(err, &lacks) {
		return 0, 0
	}
	require.NoError(t, err)
	text := ptxgen.Header(u.Version, "sm_90") + u.Text
	m, err := ptx.Parse(x.Name, []byte(text))
	require.NoError(t, err)
	code, data, err := realcode.Cubin(t.Context(), tc, m, "sm_90", level)
	require.NoError(t, err)
	for _, f := range wordFaults {
		re := regexp.MustCompile(f.what)
		for _, at := range re.FindAllStringIndex(text, -1) {
			rest, _, _ := strings.Cut(text[at[0]:], "\n}\n")
			if strings.HasPrefix(f.what, `(bar\.warp`) && !strings.Contains(rest, "bar.warp.sync 0xffffffff") {
				continue // one lane performs it, and masks may name those that have ended
			}
			wrong := text[:at[0]] + otherOps.Replace(re.ReplaceAllString(text[at[0]:at[1]], f.with)) + text[at[1]:]
			other, err := ptx.Parse(x.Name, []byte(wrong))
			require.NoError(t, err, wrong)
			if _, same, err := realcode.Cubin(t.Context(), tc, other, "sm_90", level); err != nil {
				continue // not PTX
			} else if bytes.Equal(same, data) {
				alike++
				continue
			}
			static, err := realcode.Compare(t.Context(), other, code, "sm_90")
			require.NoError(t, err)
			run, err := realcode.Execute(t.Context(), other, code, refine.Options{Runs: 2, Enough: true, Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, Shared: true})
			require.NoError(t, err)
			a, _ := static.Class()
			b, _ := run.Class()
			if noticed++; a == realcode.Preserved && b == realcode.Preserved {
				noticed--
				t.Errorf("%s at %s: %s is preserved as %s", x.Name, level, text[at[0]:at[1]], fmt.Sprint(wrong[at[0]:at[1]]))
			}
		}
	}
	return noticed, alike
}
