package refine

import (
	"slices"

	"optcheck/ir"
)

// mostScales bounds how many numbers are tried as what others are divided by.
const mostScales = 4

// scales are by what numbers are divided on the way to the operands of a comparison of the program: so far away is the next operand.
func (s *search) scales(at int32) (out []uint64) {
	if list, ok := s.scaled[at]; ok {
		return list
	}
	value := s.constant[false]
	var todo []ir.Reg
	operations(s.program, at, func(_ site, o *ir.Op) {
		if o.Code == ir.Cmp {
			todo = append(todo, o.Src[0], o.Src[1])
		}
	})
	for makers := range s.makers(&todo) {
		for _, d := range makers {
			if d.op < 0 {
				continue
			}
			o := d.of(s.program)
			if v, ok := value[o.Src[1]]; ok {
				switch {
				case o.Code == ir.Shr && v > 0 && v < 24:
					out = append(out, 1<<v)
				case o.Code == ir.Div && v > 1 && v < 1<<24:
					out = append(out, v)
				}
			}
			todo = append(todo, o.Src[:]...)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	s.scaled[at] = out[:min(len(out), mostScales)]
	return s.scaled[at]
}
