package toolchain

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

func TestDisassembleFaults(t *testing.T) {
	whole := makeCubin([]string{"a", "b"})
	for _, c := range []struct {
		name, mode string
		cubin      []byte
		kind       error
		words      string
	}{
		{"good", "", whole, nil, ""},
		{"crash", "crash", whole, ErrInfrastructure, "killed"},
		{"hang", "hang", whole, ErrTimeout, "killed after"},
		{"garbage", "babble", whole, ErrInfrastructure, "0 of 2 functions"},
		{"one function lost", "short", whole, ErrInfrastructure, "1 of 2 functions"},
		{"refusal after output", "refuse", whole, ErrCompile, "Cuda architecture"},
		{"no function", "", makeCubin(nil), ErrCompile, "no function"},
		{"truncated", "", whole[:len(whole)-1], ErrCompile, "truncated"},
		{"empty", "", nil, ErrCompile, "empty"},
		{"text", "", []byte("hello"), ErrCompile, "no ELF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := patient.Long
			if c.kind == ErrTimeout {
				limit = time.Second
			}
			tc := fake(t, limit)
			setMode(t, tc.Describe().Dir, c.mode)
			opt := DisasmOptions{Input: "x.cubin", LineInfo: true}
			for _, f := range []func(context.Context, []byte, DisasmOptions) ([]byte, error){tc.Disassemble, tc.DisassembleCuobjdump} {
				out, err := f(context.Background(), c.cubin, opt)
				if c.kind == nil {
					require.NoError(t, err)
					assert.Contains(t, string(out), "b")
					continue
				}
				assert.Nil(t, out)
				assert.ErrorIs(t, err, c.kind)
				assert.ErrorContains(t, err, "x.cubin: ")
				assert.ErrorContains(t, err, c.words)
			}
		})
	}
}

func FuzzFunctions(f *testing.F) {
	whole := makeCubin([]string{"k0", "k1"})
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
		if len(names) > len(data)/elfSectionSize {
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
	cubin := makeCubin(names)
	rows := cubin[binary.LittleEndian.Uint64(cubin[40:]):]
	for i := 1; i <= len(names); i++ {
		binary.LittleEndian.PutUint32(rows[i*elfSectionSize:], 1)
	}
	for i := elfHeaderSize + 1 + len(".text."); i < elfHeaderSize+10000; i++ {
		cubin[i] = 'x'
	}
	_, err := Functions(cubin)
	assert.ErrorContains(t, err, "overlap")
}

// Every proper prefix of a cubin is noticed.
func TestTruncation(t *testing.T) {
	whole := makeCubin([]string{"k0", "k1"})
	names, err := Functions(whole)
	require.NoError(t, err)
	assert.Equal(t, []string{"k0", "k1"}, names)
	for n := range whole {
		_, err := Functions(whole[:n])
		require.Error(t, err, "prefix of %d bytes", n)
	}
}
