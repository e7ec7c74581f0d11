package litmus

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWordRefused: an access of several registers has all of them, each once, and is aligned as a whole.
func TestWordRefused(t *testing.T) {
	for _, c := range [][2]string{
		{"ld.v2.u32 {r0,r1}, [x]", ""},
		{"@p0 st.v4.u32 [x], {r0,r1,1,2}", ""},
		{"ld.v2.u32 {r0,r0}, [x]", "twice"},
		{"ld.v2.u32 {r0,r1}, [h]", "aligned"},
		{"prefetch.L1 ld.v2.u32 {r0,r1}, [x]", "prefetched"},
		{"ld.shared.v2.u32 {r0,r1}, [x]", "global memory"},
		{"ld.v2.u32 {r0}, [x]", "expected ,"},
		{"ld.v2.u32 r0, [x]", "expected {"},
		{"ld.v4.u64 {r0,r1,r2,r3}, [x]", "unknown modifier"},
		{"ld.global.nc.acquire.u32 r0, [x]", "unknown modifier"},
	} {
		test, err := Parse("f", []byte("PTX t\n{ x=0; h=x+4; }\n P0@cta 0, gpu 0 ;\n "+c[0]+" ;\nexists (x=0)\n"))
		if err == nil {
			err = test.Check()
		}
		if c[1] == "" {
			require.NoError(t, err, c[0])
			again, err := Parse("f", []byte(test.String()))
			require.NoError(t, err)
			assert.Equal(t, test.String(), again.String())
			assert.Equal(t, test.Hash(), again.Hash())
			continue
		}
		assert.ErrorContains(t, err, c[1], c[0])
	}
	test, err := Parse("f", []byte("PTX t\n{ x=0; }\n P0@cta 0, gpu 0 ;\n ld.v2.u32 {r0,r1}, [x] ;\nexists (x=0)\n"))
	require.NoError(t, err)
	test.Threads[0].Body = test.Threads[0].Body[:1]
	assert.ErrorContains(t, test.Check(), "lacks registers")
}
