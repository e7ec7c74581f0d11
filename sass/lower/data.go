package lower

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"optcheck/ir"
	"optcheck/sass/cubin"
)

// data takes what the file says of constants, parameters and variables.
func (u *unit) data(kernel string) {
	p := &u.b.P
	p.Launch, p.ParamBase, p.LocalBytes = u.arch.launch, u.arch.params, stackTop
	if base, _, params, ok := u.file.Parameters(kernel); ok {
		p.ParamBase = int64(base)
		for _, x := range params {
			p.Params = append(p.Params, ir.Var{Name: strconv.Itoa(x.Ordinal), Space: ir.Param, Offset: int64(x.Offset), Size: int64(x.Size)})
		}
	}
	banks := u.file.Banks(kernel)
	for _, n := range slices.Sorted(maps.Keys(banks)) {
		p.Banks[n] = bytes.Clone(banks[n].Data)
		p.Pointers = append(p.Pointers, u.pointers(n, banks[n].Relocs, p.Banks[n])...)
	}
	u.functions(kernel)
	p.SharedBase = u.arch.shared
	p.SharedBytes = max(0, int64(u.file.SharedSize(kernel))-p.SharedBase)
	spaces := map[cubin.Memory]ir.Space{cubin.GlobalMemory: ir.Global, cubin.SharedMemory: ir.Shared, cubin.ConstantMemory: ir.ConstBank}
	for _, v := range u.file.Variables() {
		init := bytes.Clone(v.Init)
		p.Vars = append(p.Vars, ir.Var{Name: v.Name, Space: spaces[v.Memory], Size: int64(v.Size), Offset: int64(v.Offset), Init: init,
			Inits: u.pointers(0, v.Relocs, init)})
	}
}

// functions gives each function its address: that of its code; for one in the kernel's own code its distance from there (ptxas 11.2), or the
// place in bank 2 that has it, from where machine code loads what it calls.
func (u *unit) functions(kernel string) {
	p, at := &u.b.P, map[uint64]string{}
	for name, place := range u.names {
		inner := strings.TrimPrefix(name, "$"+kernel+"$")
		at[place.address()] = inner
		if p.Functions[inner] = place.address(); inner != name {
			p.Functions[inner] = place.addr
		}
	}
	table := p.Banks[2]
	for i := len(table)/8 - 1; i > 0; i-- {
		if name, ok := at[place{0, binary.LittleEndian.Uint64(table[8*i:])}.address()]; ok {
			p.Functions[name] = uint64(8 * i)
		}
	}
}

// Relocations of data: R_CUDA_32 and R_CUDA_64, and the generic address R_CUDA_G64.
const (
	reloc32      = 1
	reloc64      = 2
	relocGeneric = 4
)

// pointers are the places of constants or of a variable that hold addresses of variables. An entry without addend has it
// in place. The address of a function goes there at once. A relocation of another kind refers to a symbol that nobody has.
func (u *unit) pointers(bank int, relocs []cubin.Reloc, content []byte) []ir.Pointer {
	var out []ir.Pointer
	for _, r := range relocs {
		p := ir.Pointer{Bank: bank, Offset: int64(r.Offset), Symbol: r.Symbol, Addend: r.Addend, Bytes: 8, Generic: r.Type == relocGeneric}
		switch r.Type {
		case reloc32:
			p.Bytes = 4
		case reloc64, relocGeneric:
		default:
			p.Symbol = fmt.Sprintf("relocation of type %d", r.Type)
		}
		if n := uint64(len(content)); r.Offset > n || n-r.Offset < uint64(p.Bytes) {
			continue
		}
		var word [8]byte
		if copy(word[:p.Bytes], content[r.Offset:]); r.Addend == 0 {
			p.Addend = int64(binary.LittleEndian.Uint64(word[:]))
		}
		if at, ok := u.names[p.Symbol]; ok {
			at.addr += uint64(p.Addend)
			binary.LittleEndian.PutUint64(word[:], at.address())
			copy(content[r.Offset:], word[:p.Bytes])
			continue
		}
		out = append(out, p)
	}
	return out
}
