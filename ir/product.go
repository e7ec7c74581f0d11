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

// Tile is a matrix of a product as it lies in memory: row by row or column by column, Pitch elements apart (wmma.load, wmma.store).
type Tile struct {
	Part    Part
	Columns bool
	Pitch   Reg
	// Addr is a register for the address of an element.
	Addr Reg
}

// Part is one of the matrices of a product.
type Part uint8

// The matrices of a product.
const (
	PartA Part = iota
	PartB
	PartSum // C and D
)

// Place is where element i of a lane's register r of a matrix stands, of which a register holds n: its row and column. Matrices of 16 columns
// are two of 8, and rows 8 apart are in turn, as in a product of 16 x 8 (PTX ISA, 9.7.14.5). PTX leaves the place open in wmma; compilers take
// this one.
func (p Part) Place(l, r, i, n int) (row, column int) {
	switch p {
	case PartA:
		return l/4 + r%2*8, r/2*4*n + l%4*n + i
	case PartB:
		return r%2*4*n + l%4*n + i, r/2*8 + l/4
	}
	at := r*n + i
	return l/4 + at/2%2*8, at/4*8 + l%4*2 + at%2
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
