package ir

// Product is a product of matrices that the lanes of a warp hold, to which a third one is added: D = A*B + C, where A has M rows and K columns,
// and B has N columns. A register holds as many neighbours of a row of A, or of a column of B, as it has room for (PTX ISA, 9.7.14.5).
//
// In which order the products are added, and how the sums are rounded, PTX leaves open for numbers of floating point: the result is an
// approximate function, the same wherever matrices of these sizes and types are multiplied.
type Product struct {
	M, N, K int
	// A, B are the types of elements, Acc is that of C and D.
	A, B, Acc Type
	Sat       bool // sums of integers are clamped
}

// Registers are the numbers of registers that a lane has of A, of B, and of C and D: of 64 bits for F64, else of 32.
func (p *Product) Registers() (a, b, c int) {
	width := max(32, p.Acc.Bits())
	return p.M * p.K * p.A.Bits() / width / 32, p.K * p.N * p.B.Bits() / width / 32, p.M * p.N * p.Acc.Bits() / width / 32
}
