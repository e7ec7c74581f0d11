package litmus_test

import (
	"fmt"

	"optcheck/litmus"
)

// messagePassing is a test of two threads: may the second one see the flag and miss the
// data?
const messagePassing = `GPU_PTX mp
"message passing"
{
x=0; y=0;
0:.reg .s32 r0;
0:.reg .b64 rd0 = x;
0:.reg .b64 rd1 = y;
1:.reg .s32 r1;
1:.reg .s32 r2;
1:.reg .b64 rd0 = x;
1:.reg .b64 rd1 = y;
}
 T0               | T1               ;
 st.cg.s32 [rd0],1| ld.cg.s32 r1,[rd1];
 membar.gl        | membar.gl        ;
 st.cg.s32 [rd1],1| ld.cg.s32 r2,[rd0];
ScopeTree(grid(cta(warp T0))(cta(warp T1)))
x: global, y: global
~exists (1:r1=1 /\ 1:r2=0)
`

// A test is read, and asked what it observes and what its threads do.
func ExampleParse() {
	t, err := litmus.Parse("mp.litmus", []byte(messagePassing))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Name, len(t.Threads), "threads, observes", t.Terms())
	for i := range t.Threads[1].Body {
		fmt.Println(t.Threads[1].Body[i].String())
	}
	// Output:
	// mp 2 threads, observes [1:r1 1:r2]
	// ld.cg.s32 r1,[rd1]
	// membar.gl
	// ld.cg.s32 r2,[rd0]
}
