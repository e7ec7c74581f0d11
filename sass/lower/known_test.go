package lower_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"optcheck/sass/lower"
)

// TestHowKnown: a form is known as it is, or by its parts; an opcode of which other forms are known says nothing of a modifier or a sign that
// none of them has.
func TestHowKnown(t *testing.T) {
	for form, want := range map[string]lower.Known{
		"IMAD.WIDE R,R,R,R":          lower.Chip,
		"IMAD.WIDE R,R,c0[],UR":      lower.Parts,
		"IMAD.WIDE R,-R,-UR,-UR":     lower.Documented,
		"ULEA UR,UR,UR,imm":          lower.Parts,
		"ULEA UR,UR,UR,imm,UP":       lower.Parts,
		"IMNMX R,R,R,!P":             lower.Agreed,
		"LEPC R,L":                   lower.Chip,
		"S2UR UR,SR_CTAID.Z":         lower.Parts,
		"S2UR UR,SR_CLOCKHI":         lower.Documented,
		"VIMNMX R,R,R,!UP":           lower.Parts,
		"DMNMX R,R,R,P":              lower.Documented,
		"UTMALDG.2D [UR],[UR]":       "",
		"VIADDMNMX.S16x2 R,R,R,R,!P": lower.Chip,
		"# some":                     "",
	} {
		assert.Equal(t, want, lower.HowKnown(form), form)
	}
}
