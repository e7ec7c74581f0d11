package sass_test

import (
	"fmt"

	"optcheck/sass"
)

// A load and a store as nvdisasm prints them: what each does to memory and registers.
func ExampleParse() {
	prog, err := sass.Parse("kernel.sass", []byte(`	code for sm_80
		Function : kernel
        /*0000*/                   LDG.E.STRONG.GPU R0, [R2.64] ;
        /*0010*/              @!P0 STG.E [R4.64+0x8], R0 ;
        /*0020*/                   EXIT ;
		..........
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, in := range prog.Funcs[0].Insts {
		fmt.Println(in.Op, in.Role, in.Mem.Space, in.Mem.Strength, in.Mem.Scope, in.Defs)
	}
	// Output:
	// LDG load global strong gpu [R0]
	// STG store global weak none []
	// EXIT branch none weak none []
}
