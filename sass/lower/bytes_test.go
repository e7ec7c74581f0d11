package lower_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
)

// storedBytes is the hash of what an H200 stored of bytes.ptx, launched with 1,024 threads for each 1,024 numbers of byteInputs. Cubins of ptxas 11.8,
// 12.4 and 13.0.88, O0 and O3, stored the same.
const storedBytes = "6578a52132d0faba7ef076ee9eae1e941e2799b5a949ee84de0eff415197a0b5"

// byteInputs are numbers of f32 of all signs and exponents, with few bits set, and their neighbours.
func byteInputs() (out []byte) {
	for i := range uint32(1 << 14) {
		for _, low := range []uint32{0, 1, 0x38000, 0x3ffff} {
			out = binary.LittleEndian.AppendUint32(out, i<<18|low)
		}
	}
	return out
}

// TestBytes: conversions to bytes are what an H200 makes of numbers.
func TestBytes(t *testing.T) {
	text, err := os.ReadFile("testdata/bytes.ptx")
	require.NoError(t, err)
	m, err := ptx.Parse("bytes", text)
	require.NoError(t, err)
	p, err := ptxlower.Kernel(m, "k")
	require.NoError(t, err)
	h := sha256.New()
	for in := byteInputs(); len(in) > 0; in = in[4<<10:] {
		got, err := execute(p, 1<<10, in[:4<<10], 72<<10, emu.Policy{})
		require.NoError(t, err)
		h.Write(got)
	}
	require.Equal(t, storedBytes, hex.EncodeToString(h.Sum(nil)))
}
