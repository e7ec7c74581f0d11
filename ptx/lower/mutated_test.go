package lower

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"optcheck/ptx"
)

var tokens = regexp.MustCompile(`[%\w.$:]+|\s+|.`)

// TestMutated lowers instructions whose words are exchanged, doubled or gone: what comes out is whole.
func TestMutated(t *testing.T) {
	texts := []string{"call (%r0), f, (%r1);", "brx.idx %r0, T; T: .branchtargets T;", "cp.async.cg.shared.global [sh], [%d1], 16, %r1;",
		"bar.red.and.pred %p0, 1, %p1;", "fence.proxy.async; fence.acq_rel.gpu;", "cvta.shared.u64 %d0, sh;", "isspacep.local %p0, %d1;",
		"createpolicy.fractional.L2::evict_last.b64 %d0, 1.0;", "barrier.cluster.arrive.relaxed; @!%p1 bra.uni L; L: exit;"}
	for _, c := range instructions {
		texts = append(texts, c.text)
	}
	for _, c := range programs {
		texts = append(texts, c.text)
	}
	texts = append(texts, moreForms...)
	words := tokens.FindAllString(strings.Join(texts, " "), -1)
	r := rand.New(rand.NewPCG(3, 5))
	lowered := 0
	for range 4000 {
		var b strings.Builder
		for range 5 {
			list := tokens.FindAllString(texts[r.IntN(len(texts))], -1)
			for range r.IntN(4) {
				i := r.IntN(len(list))
				list[i] = []string{words[r.IntN(len(words))], "", list[i] + list[i], list[r.IntN(len(list))]}[r.IntN(4)]
			}
			b.WriteString(strings.Join(list, "") + "\n")
		}
		m, err := ptx.Parse("k.ptx", []byte(head+".shared .b8 sh[64];\n.func (.param .b32 r) f(.param .b64 a, .param .b8 b[8])\n{\n"+
			registers+b.String()+"}\n.entry k(.param .u64 in)\n{\n.local .b8 buf[16];\n"+registers+b.String()+"}\n"))
		if err != nil {
			continue
		}
		p, err := Kernel(m, "k")
		if err != nil {
			t.Fatal(err)
		}
		check(t, p)
		lowered++
	}
	if lowered < 500 {
		t.Errorf("only %d texts were read", lowered)
	}
}
