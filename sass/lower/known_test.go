package lower_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"optcheck/sass/lower"
)

// TestHowKnown: a form that met the chip is known better than others of its opcode, and those better than other opcodes.
func TestHowKnown(t *testing.T) {
	for form, want := range map[string]lower.Known{
		"IMAD.WIDE R,R,R,R":          lower.Chip,
		"IMAD.WIDE R,-R,-UR,-UR":     lower.Opcode,
		"ULEA UR,UR,UR,imm":          lower.Opcode,
		"DMNMX R,R,R,P":              lower.Documented,
		"UTMALDG.2D [UR],[UR]":       "",
		"VIADDMNMX.S16x2 R,R,R,R,!P": lower.Chip,
		"# some":                     "",
	} {
		assert.Equal(t, want, lower.HowKnown(form), form)
	}
}
