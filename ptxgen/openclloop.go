package ptxgen

import (
	"fmt"
	"strings"

	"optcheck/spec"
)

// countRound counts a round at the end of a loop.
func (k *clBody) countRound() {
	for n, l := range k.rounds {
		if l.back == k.at && l.counted {
			k.f("round%d++;", n)
		}
	}
}

func (k *clBody) declareRounds(b *strings.Builder) {
	for n, l := range k.rounds {
		if l.counted {
			fmt.Fprintf(b, "\tuint round%d = 0;\n", n)
		}
	}
}

// inRound reports whether the copies of an access may be set in one round of a loop.
func (k *clBody) inRound(e *spec.Entry) bool {
	if k.origin == nil {
		return false
	}
	n := k.around(k.origin[e.Instr])
	return n >= 0 && k.rounds[n].counted
}
