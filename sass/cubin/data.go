package cubin

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Bank is a bank of constants as a kernel sees it.
type Bank struct {
	Data   []byte
	Relocs []Reloc
}

// Banks returns a kernel's banks of constants by number: those of the module, and its own.
func (f *File) Banks(kernel string) map[int]Bank {
	if k := f.kernels[kernel]; k != nil {
		return k.Banks
	}
	out := map[int]Bank{}
	for n := range 32 {
		name := ".nv.constant" + strconv.Itoa(n)
		for _, name := range []string{name, name + "." + kernel} {
			if i, ok := f.section(name); ok {
				out[n] = Bank{f.content(i), f.relocations(i)}
			}
		}
	}
	return out
}

// section finds a section by name: the last of that name.
func (f *File) section(name string) (int, bool) {
	if f.byName == nil {
		f.byName = make(map[string]int, len(f.sections))
		for i := range f.sections {
			f.byName[f.sectionName(i)] = i
		}
	}
	i, ok := f.byName[name]
	return i, ok
}

// sectionName is the name of a section, cut if it is longer than any name is.
func (f *File) sectionName(i int) string {
	s := f.sections[i].name
	return string(s[:min(len(s), maxName)])
}

// Memory is the kind of memory that a variable lies in.
type Memory uint8

// The kinds of memory.
const (
	GlobalMemory Memory = iota
	SharedMemory
	ConstantMemory
)

// Variable is a variable of a module or kernel.
type Variable struct {
	Name   string
	Memory Memory
	Offset uint64 // in its section: of constants, in bank 3
	Size   uint64
	Init   []byte  // first content, nil if it is zero
	Relocs []Reloc // places of Init that hold addresses, relative to it
}

// Variables lists the variables that the table of symbols names, in its order. (Of shared memory ptxas names no variables.)
func (f *File) Variables() []Variable {
	if f.variables == nil {
		f.variables = f.readVariables()
	}
	return f.variables
}

func (f *File) readVariables() []Variable {
	kinds := map[string]Memory{".nv.global": GlobalMemory, ".nv.global.init": GlobalMemory, ".nv.constant3": ConstantMemory}
	out := []Variable{}
	relocs, total := map[int][]Reloc{}, uint64(0)
	for _, s := range f.readSymbols() {
		if s.kind != symObject || s.section >= len(f.sections) {
			continue
		}
		name := f.sectionName(s.section)
		kind, ok := kinds[name]
		if strings.HasPrefix(name, ".nv.shared.") {
			kind, ok = SharedMemory, true
		}
		if !ok || s.size > f.sections[s.section].size || s.value > f.sections[s.section].size-s.size {
			continue
		}
		v := Variable{Name: s.name, Memory: kind, Offset: s.value, Size: s.size}
		if data := f.content(s.section); data != nil {
			if total += s.size; total > 2*uint64(len(f.data)) { // variables may share bytes, but not a million times
				continue
			}
			v.Init = data[s.value : s.value+s.size : s.value+s.size]
			if _, ok := relocs[s.section]; !ok {
				relocs[s.section] = f.relocations(s.section)
			}
			v.Relocs = within(relocs[s.section], s.value, s.size)
		}
		out = append(out, v)
	}
	return out
}

// within lists the relocations of a part of a section, relative to it. They are sorted.
func within(all []Reloc, at, size uint64) []Reloc {
	first, _ := slices.BinarySearchFunc(all, at, func(r Reloc, at uint64) int {
		if r.Offset < at {
			return -1
		}
		return 1
	})
	var out []Reloc
	for _, r := range all[first:] {
		if r.Offset >= at+size {
			break
		}
		r.Offset -= at
		out = append(out, r)
	}
	return out
}

// SharedSize is the size of a kernel's shared memory without dynamic memory, with what the system has of it.
func (f *File) SharedSize(kernel string) uint64 {
	if k := f.kernels[kernel]; k != nil {
		return k.Shared
	}
	if i, ok := f.section(".nv.shared." + kernel); ok {
		return f.sections[i].size
	}
	return 0
}

// Parameter is a parameter of a kernel.
type Parameter struct{ Ordinal, Offset, Size int }

// Attributes of kernels.
const (
	attributeBank      = 0x0a // EIATTR_PARAM_CBANK
	attributeParam     = 0x17 // EIATTR_KPARAM_INFO
	attributeLongParam = 0x45 // EIATTR_KPARAM_INFO_V2: where a kernel has more than 4 KiB of them
)

// Parameters returns where a kernel's parameters begin in bank 0, how many bytes they have, and what they are, in their
// order. ok is false if the file does not say it.
func (f *File) Parameters(kernel string) (base, size int, params []Parameter, ok bool) {
	if k := f.kernels[kernel]; k != nil {
		return k.Base, k.Size, k.Params, k.HasParams
	}
	f.attributes(kernel, func(kind byte, data []byte) {
		word := func(i int) int { return int(binary.LittleEndian.Uint32(data[4*i:])) }
		switch {
		case kind == attributeBank && len(data) >= 8:
			base, size, ok = word(1)&0xffff, word(1)>>16, true
		case kind == attributeParam && len(data) >= 12:
			params = append(params, Parameter{Ordinal: word(1) & 0xffff, Offset: word(1) >> 16, Size: word(2) >> 18})
		case kind == attributeLongParam && len(data) >= 12:
			params = append(params, Parameter{Ordinal: word(1) & 0xffff, Offset: word(1) >> 16, Size: word(2)})
		}
	})
	slices.SortFunc(params, func(a, b Parameter) int { return a.Ordinal - b.Ordinal })
	return base, size, params, ok
}

// attributes calls a function for each attribute of a kernel that has a string.
func (f *File) attributes(kernel string, each func(kind byte, data []byte)) {
	i, ok := f.section(".nv.info." + kernel)
	if !ok {
		return
	}
	for data := f.content(i); len(data) >= 4; {
		form, kind, size := data[0], data[1], int(binary.LittleEndian.Uint16(data[2:]))
		if data = data[4:]; form != formString {
			continue
		}
		if size > len(data) {
			return
		}
		each(kind, data[:size])
		data = data[size:]
	}
}

// Addressed lists the functions whose addresses the constants and variables of the module contain.
func (f *File) Addressed() []string {
	if f.compact {
		return f.addressed
	}
	seen := map[string]bool{}
	for i := range f.sections {
		name := f.sectionName(i)
		if !strings.HasPrefix(name, ".nv.constant") && !strings.HasPrefix(name, ".nv.global") {
			continue
		}
		for _, r := range f.relocations(i) {
			if r.target.kind == symFunc {
				seen[r.Symbol] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
