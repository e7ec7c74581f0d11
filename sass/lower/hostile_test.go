package lower_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/sass/lower"
)

var instruction = regexp.MustCompile(`(?m)^\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;`)

// TestHostile: whatever an instruction looks like, it is lowered or opaque.
func TestHostile(t *testing.T) {
	data, err := os.ReadFile("../cubin/testdata/12.4-sm_90.cubin")
	require.NoError(t, err)
	file, err := cubin.Parse(data)
	require.NoError(t, err)
	listing, err := os.ReadFile("../testdata/golden/12.4_sm90o3_hex.sass")
	require.NoError(t, err)
	var texts []string
	for _, m := range instruction.FindAllStringSubmatch(string(listing), -1) {
		texts = append(texts, m[1])
	}
	require.Greater(t, len(texts), 50)
	for form := range strings.Lines(chipForms(t)) { // registers stand for themselves in forms
		if op, args, ok := strings.Cut(strings.TrimSpace(form), " "); ok {
			texts = append(texts, op+" "+strings.NewReplacer("UR", "UR4", "R", "R2", "UP", "UP1", "P", "P1", "imm", "0x4", "float", "1").Replace(args))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"RZ", "URZ", "PT", "!PT", "R255", "R254", "UR254", "-R3", "|R1|", "~R2", "0xffffffffffffffff", "-0x80000000", "c[0x0][-0x4]",
		"c[0x3][R2+0x7fffffff]", "c[0x99][0x10]", "[R3.64]", "[]", "[R2.X9]", "32@lo(x)", "B99", "`(nothing)", "1e999", ""}
	for range 5000 {
		parts := regexp.MustCompile(`[, ]+|\.`).Split(texts[r.IntN(len(texts))], -1)
		text := texts[r.IntN(len(texts))]
		for range r.IntN(3) {
			old := parts[r.IntN(len(parts))]
			text = strings.Replace(text, old, words[r.IntN(len(words))], 1)
		}
		if r.IntN(3) == 0 {
			text += ", " + words[r.IntN(len(words))]
		}
		b := sass.NewBuilder("hostile", "sm_90")
		name := file.Funcs[0].Name
		if b.Func(name, []sass.Known{{Text: text}, {Addr: 16, Text: "EXIT"}, {Addr: 1 << 40, Text: text}, {Addr: 1<<40 + 16, Text: "EXIT"}}, nil) != nil {
			continue
		}
		prog, err := b.Program()
		if err != nil {
			continue
		}
		p, err := lower.Kernel(prog, file, name)
		require.NoError(t, err, text)
		for i := range p.Insts {
			if in := &p.Insts[i]; in.Opaque == "" {
				require.NotEmpty(t, in.Form, text)
			}
		}
	}
}

func chipForms(t *testing.T) string {
	text, err := os.ReadFile("h200.txt")
	require.NoError(t, err)
	return string(text)
}
