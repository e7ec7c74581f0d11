package isa_test

import (
	"fmt"

	"optcheck/isa"
	"optcheck/sass"
)

// The control flow of a loop, and what one of its instructions computes.
func ExampleFunc_BuildCFG() {
	prog, err := sass.Parse("kernel.sass", []byte(`	code for sm_80
		Function : kernel
        /*0000*/                   MOV R0, RZ ;
        /*0010*/                   IADD3 R0, R0, 0x1, RZ ;
        /*0020*/                   ISETP.LT.AND P0, PT, R0, 0x4, PT ;
        /*0030*/               @P0 BRA 0x10 ;
        /*0040*/                   EXIT ;
		..........
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fn := prog.Funcs[0]
	fn.BuildCFG()
	for i, b := range fn.Blocks {
		fmt.Println("block", i, "from", b.Preds, "to", b.Succs)
	}
	add := fn.Insts[1].Micro[0]
	sum, _ := add.Eval([]uint64{41, 1, 0})
	fmt.Println(add, "is", sum)
	// Output:
	// block 0 from [] to [1]
	// block 1 from [0 1] to [2 1]
	// block 2 from [1] to []
	// R0 = add(R0, 0x1, 0x0) is 42
}

// The bitwise function of a LOP3 instruction.
func ExampleLut() {
	fmt.Printf("%#x\n", isa.Lut(0x3c, 0xff00, 0x0ff0, 0))
	// Output: 0xf0f0
}
