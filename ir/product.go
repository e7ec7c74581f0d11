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

// GroupProduct is a product of matrices by a warpgroup, which is four warps: wgmma.mma_async (PTX ISA, 9.7.15.5). D = A*B + D, where A has 64
// rows, 16 for each warp, and D lies in registers as the sums of smaller products do. A matrix in shared memory is named by a descriptor.
type GroupProduct struct {
	Product
	A    []Reg // registers of A; nil: ADesc describes it
	D    []Reg
	Keep Reg // a predicate; D is not added where it is 0
	// ADesc and BDesc are descriptors, of 64 bits.
	ADesc, BDesc Reg
	NegA, NegB   bool
	// Neighbours in memory are those of a column of A, of a row of B, instead of the other way around.
	TransA, TransB bool
}
