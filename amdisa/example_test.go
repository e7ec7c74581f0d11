package amdisa_test

import (
	"fmt"

	"optcheck/amdisa"
)

// A load, and the wait without which its result may not be used.
func ExampleParseFor() {
	prog, err := amdisa.ParseFor("kernel.s", []byte(`
	.text
kernel:
	global_load_dword v1, v0, s[4:5] glc
	s_waitcnt vmcnt(0)
	v_add_u32_e32 v1, 1, v1
	s_endpgm
`), "gfx900")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, in := range prog.Funcs[0].Insts {
		fmt.Println(in.Op, in.Role, in.Mem.Bits, in.Counts, in.Waits)
	}
	// Output:
	// global_load_dword load glc [vmcnt] []
	// s_waitcnt wait  [] [vmcnt(0)]
	// v_add_u32 alu  [] []
	// s_endpgm branch  [] []
}
