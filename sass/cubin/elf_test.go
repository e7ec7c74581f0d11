package cubin

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/sass/cubin/cubintest"
)

func FuzzFunctions(f *testing.F) {
	whole := cubintest.Make([]string{"k0", "k1"})
	f.Add(whole)
	f.Add(whole[:70])
	f.Add([]byte("\x7fELF\x02\x01"))
	f.Add([]byte{})
	many := append([]byte{}, whole...)
	many[60], many[61] = 0, 0 // the count is elsewhere
	f.Add(many)
	f.Fuzz(func(t *testing.T, data []byte) {
		names, err := Functions(data)
		if err != nil && names != nil {
			t.Fatal("names with an error")
		}
		if len(names) > len(data)/sectionSize {
			t.Fatalf("%d functions in %d bytes", len(names), len(data))
		}
	})
}

// Many sections with one long name may not multiply its length.
func TestOverlappingNames(t *testing.T) {
	names := make([]string, 200)
	for i := range names {
		names[i] = strings.Repeat("x", 100)
	}
	data := cubintest.Make(names)
	rows := data[binary.LittleEndian.Uint64(data[40:]):]
	for i := 1; i <= len(names); i++ {
		binary.LittleEndian.PutUint32(rows[i*sectionSize:], 1)
	}
	for i := headerSize + 1 + len(".text."); i < headerSize+10000; i++ {
		data[i] = 'x'
	}
	_, err := Functions(data)
	assert.ErrorContains(t, err, "overlap")
}

// Every proper prefix of a cubin is noticed.
func TestTruncation(t *testing.T) {
	whole := cubintest.Make([]string{"k0", "k1"})
	names, err := Functions(whole)
	require.NoError(t, err)
	assert.Equal(t, []string{"k0", "k1"}, names)
	for n := range whole {
		_, err := Functions(whole[:n])
		require.Error(t, err, "prefix of %d bytes", n)
	}
}
