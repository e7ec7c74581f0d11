package isa

// Registers of x86-64 code: general register n (in the order of their encodings: rax, rcx, rdx,
// rbx, rsp, rbp, rsi, rdi, r8 …) is two words of ClassGPR. Registers that no instruction names
// follow these sixteen; they hold intermediate results.
const (
	X86RAX       = 0
	X86RCX       = 1
	X86RDX       = 2
	X86RSP       = 4
	X86RSI       = 6
	X86RDI       = 7
	X86R8        = 8
	X86Temporary = 16
)

// X86Word returns a word of a general register: 0 is the low one, 1 the high one.
func X86Word(reg, word int) Reg { return Reg{Class: ClassGPR, Num: uint16(2*reg + word)} }
