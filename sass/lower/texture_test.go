package lower_test

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
)

// TestTextures: what an H200 stored of textures whose texels a host had made by the function of ir.Texture is what PTX stores emulated.
// The driver gave the handles 1 to 8; ptxas 11.8, 12.4, 12.8.93 and 13.0.88, O0 and O3, made eight cubins, which stored the same.
func TestTextures(t *testing.T) {
	var handles []byte
	for h := range uint64(8) {
		handles = binary.LittleEndian.AppendUint64(handles, h+1)
	}
	for _, name := range []string{"textures", "textureswitch"} {
		text, err := os.ReadFile("testdata/" + name + ".ptx")
		require.NoError(t, err)
		m, err := ptx.Parse(name, text)
		require.NoError(t, err)
		p, err := ptxlower.Kernel(m, "k")
		require.NoError(t, err)
		stored, err := os.ReadFile("testdata/" + name + ".h200.txt")
		require.NoError(t, err)
		var want []byte
		for _, w := range strings.Fields(string(stored)) {
			v, err := strconv.ParseUint(w, 16, 32)
			require.NoError(t, err)
			want = binary.LittleEndian.AppendUint32(want, uint32(v))
		}
		got, err := execute(p, 40, handles, len(want), emu.Policy{})
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
}
