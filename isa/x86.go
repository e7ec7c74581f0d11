package isa

// Registers of x86-64 code: general register n (in the order of their encodings: rax,
// rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 …) is two words of ClassGPR, and after the
// sixteen stand registers that no instruction names, for what one computes on its way.
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

// X86Word returns a word of a general register: 0 the lower one, 1 the upper one.
func X86Word(reg, word int) Reg { return Reg{Class: ClassGPR, Num: uint16(2*reg + word)} }
