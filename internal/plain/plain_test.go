package plain

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain ≈ text":     "plain ≈ text",
		"a\x00b\x1b[2J":    `a\u0000b\u001b[2J`,
		"x\u202ecod.exe":   `x\u202ecod.exe`,
		"a\u2028b\ufeff":   `a\u2028b\ufeff`,
		"c1 \u009b31m":     `c1 \u009b31m`,
		"bad \xff bytes":   `bad \xff bytes`,
		"\ufffd":           "\ufffd",
		"tag \U000e0041":   `tag \U000e0041`,
		"none \U0001ffff":  `none \U0001ffff`,
		"line\nand\ttab\r": "line\nand\ttab" + `\u000d`,
		"a::b, 0:r0=1":     "a::b, 0:r0=1",
		"::set-output::x":  `\u003a:set-output::x`,
		"x ##[add-path]y":  `x ##\u005badd-path]y`,
		"## a [b] #[c]":    "## a [b] #[c]",
		"\u0639\u0631 one": "\u0639\u0631 one", // letters written from right to left are letters
	} {
		require.Equal(t, want, Text(in))
		require.Equal(t, strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(want), Line(in))
	}
}

// TestCommands: what a runner of pipelines would take for a command is escaped on each line.
func TestCommands(t *testing.T) {
	require.Equal(t, "a\n \t"+`\u003a:stop::x`+"\n"+`\u003a`, Text("a\n \t::stop::x\n:"))
	require.Equal(t, `a\n::stop::`, Line("a\n::stop::"))
}

func TestCount(t *testing.T) {
	require.Equal(t, "0 cells", Count(0, "cell"))
	require.Equal(t, "1 cell", Count(int64(1), "cell"))
	require.Equal(t, "2 cells", Count(uint32(2), "cell"))
	require.Equal(t, "1 process, 2 processes", Count(1, "process")+", "+Count(2, "process"))
	require.Equal(t, "-1 cells", Count(-1, "cell"))
	require.Equal(t, "18446744073709551615 cells", Count(^uint64(0), "cell"))
	require.Equal(t, "is", Form(1, "is", "are"))
	require.Equal(t, "are", Form(uint64(0), "is", "are"))
}

// TestWriter: however a text is divided into writes, what arrives is Text of it.
func TestWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 5), func(b []byte) string { return string(b) }),
			rapid.SampledFrom([]string{"::x", ":", "#", "##[", "[", " ", "\n", "\x1b]0;x\x07", "\u202e", "é≈\n", "\U000e0041", "\xf0\x9f", "\xc2", "\ufffd"}))
		text := strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "")
		var b bytes.Buffer
		w := NewWriter(&b)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			k, err := w.Write([]byte(rest[:n]))
			require.NoError(t, err)
			require.Equal(t, n, k)
			rest = rest[n:]
		}
		require.NoError(t, w.Flush())
		require.Equal(t, Text(text), b.String())
		require.True(t, utf8.ValidString(b.String()))
	})
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestWriterFails(t *testing.T) {
	w := NewWriter(full{})
	n, err := w.Write([]byte("text"))
	require.EqualError(t, err, "no space")
	require.Zero(t, n)
	require.EqualError(t, w.Flush(), "no space")
}
