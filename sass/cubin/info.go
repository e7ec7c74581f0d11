package cubin

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Attributes of functions, in sections .nv.info: a form, a number, and 16 bits that are a value
// or, of the form with a string, the size of what follows.
const (
	formString      = 4
	indirectTargets = 0x34 // EIATTR_INDIRECT_BRANCH_TARGETS
)

// Branches lists, by address, the targets of a function's indirect branches, as its jump tables have
// them, in constant bank 2. What ptxas says of them is how many they are, and where (11.8 for sm_90
// says that all are at 0). A branch whose targets these two witnesses do not tell is not in it.
func (f *File) Branches(fn *Func) map[uint64][]uint64 {
	out := map[uint64][]uint64{}
	bad := false
	f.attributes(fn.Name, func(kind byte, data []byte) {
		bad = bad || kind == indirectTargets && !branches(data, out)
	})
	if bad {
		return nil
	}
	if len(out) == 0 {
		return nil
	}
	var table []uint64
	bank := f.Literals()[fn.Name]
	for _, at := range slices.Sorted(maps.Keys(bank)) {
		table = append(table, uint64(bank[at]))
	}
	for at, targets := range out {
		switch {
		case !slices.ContainsFunc(targets, func(t uint64) bool { return t == 0 || !slices.Contains(table, t) }):
		case len(out) == 1 && len(targets) == len(table):
			out[at] = table
		default:
			delete(out, at)
		}
	}
	return out
}

// branches reads the branches of an attribute: the address, four bytes, how many targets there
// are, and where they are.
func branches(data []byte, out map[uint64][]uint64) bool {
	word := func(i int) uint64 { return uint64(binary.LittleEndian.Uint32(data[4*i:])) }
	for len(data) > 0 {
		if len(data) < 12 || word(2) > uint64(len(data)-12)/4 {
			return false
		}
		at, n := word(0), int(word(2))
		for i := range n {
			out[at] = append(out[at], word(3+i))
		}
		data = data[12+4*n:]
	}
	return true
}
