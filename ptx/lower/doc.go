// Package lower makes kernels of PTX modules programs that can be executed: package ir's.
//
// There is one ir.Inst for each instruction, in the order of the text: the kernel first, then the
// functions that it can reach. Two kinds are added: a function whose text can
// be left at its end ends with a "ret", and one that is called begins with an "entry".
//
// What is understood is a table in data: the name of an instruction, the modifiers that it may
// have, the number of its operands, what it means, and where that is written. An instruction that
// fits no row, or has an operand of a kind that its row does not know, is Opaque with the reason.
// Nothing is ever ignored but what PTX calls a hint of performance, and those have rows as well.
//
// Parameters of called functions are registers, eight bytes each, since PTX gives their addresses
// to nobody: st.param and ld.param insert and extract bytes. A call copies its arguments to
// registers of the program that belong to no function, "entry" copies them into the parameters of
// the function that runs, its ret copies what it returns back, and the call takes it from there.
// So calls through tables need not know whom they call, and recursion keeps what is a function's.
//
// A product and a sum in f32 or f64 without a rounding modifier may be contracted into one
// operation by ptxas (PTX ISA 9.7.3.1), which is not done here: machine code to be compared is to be
// compiled with --fmad=false.
//
// Approximate functions are functions of the same name on both sides: see ir.Approx.
package lower
