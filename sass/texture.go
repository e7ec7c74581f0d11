package sass

import (
	"math/bits"
	"slices"
	"strings"

	"optcheck/isa"
)

// texture reports whether an instruction reads a texture, whose results have two operands: TEX R6, R4 puts the first two components into R4 and R5,
// the others into R6 and R7.
func texture(in *isa.Inst) bool {
	switch in.Op {
	case "TEX", "TLD", "TLD4", "TXD", "TXQ", "TMML":
		return true
	}
	return false
}

// dimensions are the coordinates of geometries.
var dimensions = map[string]int{"1D": 1, "2D": 2, "3D": 3, "CUBE": 3}

// geometry returns the number of coordinates of an instruction on textures or surfaces, and 1 for the index of an array.
func geometry(in *isa.Inst) (coords, array int) {
	names := slices.Clone(in.Mods)
	for i := range in.Args {
		names = append(names, in.Args[i].Sym)
	}
	for _, name := range names {
		name, before := strings.CutPrefix(name, "ARRAY_")
		name, after := strings.CutSuffix(name, "_ARRAY")
		if n, ok := dimensions[name]; ok {
			if before || after {
				array = 1
			}
			return n, array
		}
	}
	return 0, 0
}

// textureWidths sets the operand widths of instructions on textures and surfaces since sm_70: as nvdisasm's register life ranges show them.
func textureWidths(in *isa.Inst) {
	coords, array := geometry(in)
	if !texture(in) {
		surfaceWidths(in, coords+array)
		return
	}
	more := 0 // arguments behind the coordinates
	for _, m := range in.Mods {
		switch m {
		case "B", "LL", "LB", "LC", "DC", "AOFFI", "MS": // handle, level, reference, offsets, sample
			more++
		}
	}
	a, b := coords+array, more
	switch {
	case in.Op == "TXQ":
		a, b = 1+more, 0
	case in.Op == "TXD": // derivatives have an operand of their own
		a, b = a+b, 2*coords
	case hasMod(in, "SCR"): // coordinates and the rest share two operands
		a, b = (a+b+1)/2, (a+b)/2
	}
	low, high := components(in)
	n := 0
	eachReg(in, func(_ int, o *isa.Operand) {
		if o.Reg.Class == isa.ClassUGPR {
			o.Words = 2 // a handle
		} else if n < 4 {
			o.Words = [4]int{high, low, a, b}[n]
		}
		n++
	})
}

// components returns the registers of the first two components that a texture gives, and of the others. Which ones are given is the last operand,
// unless all are.
func components(in *isa.Inst) (low, high int) {
	n, first := 4, len(in.Args) // of the numbers at the end
	for first > 0 && in.Args[first-1].Kind == isa.OpdImm {
		first--
	}
	numbers := len(in.Args) - first
	if in.Op == "TXQ" && !hasMod(in, "B") { // of which two are the handle, or a register and one
		numbers--
		if first > 0 && in.Args[first-1].Kind != isa.OpdReg {
			numbers--
		}
	}
	if numbers > 0 {
		n = bits.OnesCount8(uint8(in.Args[len(in.Args)-1].Imm) & 0xf)
	}
	low, high = min(n, 2), max(n-2, 0)
	if hasMod(in, "F16") { // two in a register
		low, high = (low+1)/2, (high+1)/2
	}
	return low, high
}

// surfaceWidths sets those of accesses to surfaces: coordinates, data, and a handle.
func surfaceWidths(in *isa.Inst, coords int) {
	data := max(1, in.Mem.Width/4)
	if hasMod(in, "P") { // of pixels: four components
		data = 4
	}
	for i := range in.Args {
		switch o := &in.Args[i]; {
		case o.Kind == isa.OpdMem:
			o.Words = coords
		case o.Kind == isa.OpdReg && o.Reg.Class != isa.ClassPred:
			o.Words, data = data, 1 // then a handle
		}
	}
}
