package lower

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHowKnown(t *testing.T) {
	for form, want := range map[string]struct {
		known   Known
		section string
	}{
		"add.sat.s32":         {Chip, "9.7.1.1"},
		"mov.b64 pack":        {Chip, "9.7.9.3"},
		"setp.hs.xor.u16 |":   {Row, "9.7.6.2"},
		"add.rn.f32x2":        {Documented, "9.7.3.3"},
		"entry":               {Documented, "9.7.12.5"},
		"ret":                 {Chip, "9.7.12.6"},
		"tex.cube.v4.f32.f32": {"", ""},
		"add.wrong.s32":       {"", ""},
		"fma.rn.relu.bf16":    {Chip, "9.7.4.4"},
		"atom.add.sys.cta.b8": {"", ""},
	} {
		known, section := HowKnown(form)
		require.Equal(t, want.known, known, form)
		require.Equal(t, want.section, section, form)
	}
}
