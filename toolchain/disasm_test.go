package toolchain

import (
	"context"
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
