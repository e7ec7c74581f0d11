package spec_test

import (
	"fmt"

	"optcheck/litmus"
	"optcheck/spec"
)

// What the reading thread of message passing promises, as the literals that its kernel
// carries, and back.
func Example() {
	test, err := litmus.Parse("mp.litmus", []byte(`GPU_PTX mp
{ 0:.reg .s32 r0; 1:.reg .s32 r1; 1:.reg .s32 r2; }
 T0              | T1              ;
 st.cg.s32 [x],1 | ld.cg.s32 r1,[y] ;
 membar.gl       | membar.gl       ;
 st.cg.s32 [y],1 | ld.cg.s32 r2,[x] ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
x: global, y: global
exists (1:r1=1 /\ 1:r2=0)
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	promised, err := spec.FromTest(test, 1, spec.Pointers)
	if err != nil {
		fmt.Println(err)
		return
	}
	literals, err := promised.Literals()
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := spec.Decode(literals)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range found.Entries {
		fmt.Println(e.Pos, e.Kind, e.IsFence(), e.Loc)
	}
	fmt.Println(found.Equal(promised))
	// Output:
	// 0 ld.global.cg false 1
	// 1 membar.gl true 0
	// 2 ld.global.cg false 0
	// true
}
