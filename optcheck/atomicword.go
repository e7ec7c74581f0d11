package optcheck

// atomicWords maps atomic operations to what they compute from the old word and their operand.
var atomicWords = map[string]func(old, d uint32) uint32{
	"ADD":  func(a, b uint32) uint32 { return a + b },
	"SUB":  func(a, b uint32) uint32 { return a - b },
	"AND":  func(a, b uint32) uint32 { return a & b },
	"OR":   func(a, b uint32) uint32 { return a | b },
	"XOR":  func(a, b uint32) uint32 { return a ^ b },
	"EXCH": func(_, b uint32) uint32 { return b },
	"MIN":  func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) },
	"MAX":  func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) },
	"UMIN": func(a, b uint32) uint32 { return min(a, b) },
	"UMAX": func(a, b uint32) uint32 { return max(a, b) },
	"INC": func(a, b uint32) uint32 {
		if a >= b {
			return 0
		}
		return a + 1
	},
	"DEC": func(a, b uint32) uint32 {
		if a == 0 || a > b {
			return b
		}
		return a - 1
	},
}

// atomicWord returns the function that an atomic operation computes and the number of its operands; f is nil if the
// operation is unknown.
func atomicWord(name string) (f func(old uint32, d []uint32) uint32, operands int) {
	if name == "CAS" {
		return func(old uint32, d []uint32) uint32 {
			if old == d[0] {
				return d[1]
			}
			return old
		}, 2
	}
	if g := atomicWords[name]; g != nil {
		return func(old uint32, d []uint32) uint32 { return g(old, d[0]) }, 1
	}
	return nil, 0
}
