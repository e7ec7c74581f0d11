package refine

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// slack is how much more than what a program touches a buffer holds: wrong machine code may go there.
const slack = 4096

// Explicit runs a program on an input, and returns the same input with everything in global memory that the run touched written
// out: one buffer for each parameter that is an address. Nothing else is needed to run the program elsewhere. The execution
// is what the program does. The error says what cannot be written out.
func Explicit(p *ir.Program, in *Input) (*Input, *Execution, error) {
	for _, v := range p.Vars {
		if v.Space == ir.Global {
			return nil, nil, fmt.Errorf("the program has a variable in global memory (%s): only buffers of parameters can be written out", v.Name)
		}
	}
	given := *in
	if given.Vars == nil {
		given.Vars = Place(p.Vars, p.SharedBase)
	}
	g, err := Grid(p, &given, emu.Policy{}, true)
	if err != nil {
		return nil, nil, err
	}
	x, err := execute(g, &given, nil)
	if err != nil {
		return nil, nil, err
	}
	words := x.Memory.Touched()
	maps.DeleteFunc(words, func(w emu.Word, _ uint32) bool { return w.Shared() })
	out := *in
	out.Memory = nil
	addrs := slices.Sorted(maps.Keys(words))
	first := in.first(0)
	for _, v := range p.Params {
		if v.Size != 8 || v.Offset+8 > int64(len(in.Params)) {
			continue
		}
		base := binary.LittleEndian.Uint64(in.Params[v.Offset:])
		if base < buffers || base >= global || base%16 != 0 || slices.ContainsFunc(out.Memory, func(c Contents) bool { return c.Addr == base }) {
			continue
		}
		end := base
		for len(addrs) > 0 && addrs[0].Addr() >= base && addrs[0].Addr() < base+buffer {
			end, addrs = addrs[0].Addr()+4, addrs[1:]
		}
		data := make([]byte, (end-base+slack)&^15)
		for at := range len(data) / 4 {
			w := emu.Word((base + uint64(4*at)) >> 2)
			value, ok := words[w]
			if !ok && len(in.Memory) == 0 {
				value = first(w, emu.Integer)
			}
			binary.LittleEndian.PutUint32(data[4*at:], value)
		}
		out.Memory = append(out.Memory, Contents{base, data})
	}
	if len(addrs) > 0 {
		return nil, nil, fmt.Errorf("the program touches %#x, to which no parameter points", addrs[0].Addr())
	}
	return &out, x, nil
}
