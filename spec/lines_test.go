package spec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
)

// TestLines: lines are those of the text, whatever stands between accesses, and
// a thread that cannot be specified has none.
func TestLines(t *testing.T) {
	test, err := litmus.Parse("t.litmus", []byte(`GPU_PTX t
{
x=0; y=0;
0:.reg .s32 r1; 0:.reg .s32 r2; 1:.reg .s32 r1; 1:.reg .s32 r2;
}
 T0               | T1               ;
 st.cg.s32 [x],1  | ld.cg.s32 r1,[y] ;
 mov.s32 r1,2     | L:               ;
 membar.gl        | membar.gl        ;
 st.cg.s32 [y],r1 | bra L            ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
x: global, y: global
exists (1:r1=1)
`))
	require.NoError(t, err)
	lines, columns := Lines(test)
	require.Equal(t, [][]int{{7, 9, 10}, nil}, lines)
	require.Equal(t, [][]int{{2, 2, 2}, nil}, columns)
}
