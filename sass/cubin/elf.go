package cubin

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The parts of the ELF format that are needed. The standard library's reader rejects cubins,
// because NVIDIA puts the toolkit's release in the place of ELF's version.
const (
	headerSize  = 64
	sectionSize = 64
	symbolSize  = 24
	machineCUDA = 190 // e_machine

	typeNull   = 0
	typeSymtab = 2
	typeRela   = 4 // entries of 24 bytes, with an addend
	typeNoBits = 8
	typeRel    = 9 // entries of 16 bytes, without

	// Variables without values in relocatable objects of CUDA: of global, local and
	// shared memory.
	typeGlobalNoBits = 0x70000007
	typeLocalNoBits  = 0x70000009
	typeSharedNoBits = 0x7000000a
)

// elf is the table of sections of a file.
type elf struct {
	data     []byte
	sections []section
}

// section is the part of an ELF section header that matters here.
type section struct {
	name         []byte
	kind         uint32
	link, info   uint32
	offset, size uint64
}

// empty reports whether a section occupies no space in the file.
func (s *section) empty() bool {
	switch s.kind {
	case typeNull, typeNoBits, typeGlobalNoBits, typeLocalNoBits, typeSharedNoBits:
		return true
	}
	return false
}

// content returns the content of a section; nil if it occupies no space in the file.
func (e *elf) content(i int) []byte {
	s := &e.sections[i]
	if s.empty() {
		return nil
	}
	return e.data[s.offset : s.offset+s.size : s.offset+s.size]
}

// readELF reads the table of sections and their names, and checks that the
// content of every section is there.
func readELF(data []byte) (*elf, error) {
	le := binary.LittleEndian
	switch {
	case len(data) == 0:
		return nil, errors.New("it is empty")
	case !bytes.HasPrefix(data, []byte("\x7fELF")):
		return nil, errors.New("no ELF file")
	case len(data) < headerSize:
		return nil, errors.New("truncated ELF header")
	case data[4] != 2 || data[5] != 1:
		return nil, errors.New("no 64-bit little-endian ELF file")
	case le.Uint16(data[18:]) != machineCUDA:
		return nil, fmt.Errorf("an ELF file for machine %d, not %d", le.Uint16(data[18:]), machineCUDA)
	}
	rows, index, err := sectionTable(data)
	if err != nil {
		return nil, err
	}
	e := &elf{data: data, sections: make([]section, len(rows)/sectionSize)}
	for i := range e.sections {
		row := rows[i*sectionSize:]
		s := section{kind: le.Uint32(row[4:]), offset: le.Uint64(row[24:]), size: le.Uint64(row[32:]), link: le.Uint32(row[40:]),
			info: le.Uint32(row[44:])}
		end := s.offset + s.size
		if !s.empty() && (end < s.offset || end > uint64(len(data))) {
			return nil, fmt.Errorf("truncated: section %d ends at byte %d of %d", i, end, len(data))
		}
		e.sections[i] = s
	}
	names := e.content(int(index))
	if names == nil {
		return nil, errors.New("no section names")
	}
	for i := range e.sections {
		if e.sections[i].kind == typeNull {
			continue
		}
		if e.sections[i].name = text(names, le.Uint32(rows[i*sectionSize:])); e.sections[i].name == nil {
			return nil, fmt.Errorf("section %d has no name", i)
		}
	}
	return e, nil
}

// sectionTable finds the rows of the table and the index of the names.
func sectionTable(data []byte) (rows []byte, index uint64, err error) {
	le := binary.LittleEndian
	offset, count, index := le.Uint64(data[40:]), uint64(le.Uint16(data[60:])), uint64(le.Uint16(data[62:]))
	if size := le.Uint16(data[58:]); size != sectionSize {
		return nil, 0, fmt.Errorf("section headers of %d bytes, not %d", size, sectionSize)
	}
	table := func(n uint64) ([]byte, error) {
		end := offset + n*sectionSize
		if offset < headerSize || end < offset || end > uint64(len(data)) {
			return nil, fmt.Errorf("truncated: section table at bytes %d to %d of %d", offset, end, len(data))
		}
		return data[offset:end], nil
	}
	first, err := table(1)
	if err != nil {
		return nil, 0, err
	}
	if count == 0 { // it does not fit 16 bits: the first section's size is the count
		count = le.Uint64(first[32:])
	}
	if index == 0xffff { // likewise the index of the names: its link
		index = uint64(le.Uint32(first[40:]))
	}
	if count > uint64(len(data))/sectionSize || index >= count {
		return nil, 0, fmt.Errorf("truncated: %d sections in %d bytes", count, len(data))
	}
	rows, err = table(count)
	return rows, index, err
}

// maxName bounds a name: a hostile file must not make a million searches read far. Mangled
// names have some thousand bytes.
const maxName = 1 << 15

// text returns the string at an offset of a table of strings, nil if there is none.
func text(table []byte, at uint32) []byte {
	if uint64(at) >= uint64(len(table)) {
		return nil
	}
	s := table[at:min(uint64(at)+maxName, uint64(len(table)))]
	if i := bytes.IndexByte(s, 0); i >= 0 {
		return s[:i:i]
	}
	return nil
}

// Kinds of symbols.
const (
	symObject   = 1
	symFunc     = 2
	symUnlinked = 13 // a variable of code that is not linked
)

// symbol is a row of the table of symbols.
type symbol struct {
	name    string
	kind    byte
	section int
	value   uint64
	size    uint64
}

// readSymbols reads the table of symbols, once.
func (f *File) readSymbols() []symbol {
	if f.symbols != nil {
		return f.symbols
	}
	f.symbols = []symbol{}
	i := slices.IndexFunc(f.sections, func(s section) bool { return s.kind == typeSymtab })
	if i < 0 || int64(f.sections[i].link) >= int64(len(f.sections)) {
		return f.symbols
	}
	names, le, total := f.content(int(f.sections[i].link)), binary.LittleEndian, 0
	for rows := f.content(i); len(rows) >= symbolSize; rows = rows[symbolSize:] {
		s := symbol{kind: rows[4] & 15, section: int(le.Uint16(rows[6:])), value: le.Uint64(rows[8:]), size: le.Uint64(rows[16:])}
		name := text(names, le.Uint32(rows))
		if total += len(name); total <= 2*len(f.data) { // names may share bytes, but not a million times
			s.name = string(name)
		}
		f.symbols = append(f.symbols, s)
	}
	return f.symbols
}

// Reloc is a place in a section that a linker or loader fills in.
type Reloc struct {
	Offset uint64
	Type   uint32 // R_CUDA_…, by number
	// Symbol is the name of the variable or function that it refers to, "" if it refers to
	// something else.
	Symbol string
	Addend int64 // of entries that have one

	target symbol
}

// relocations returns the relocations of a section, sorted by offset.
func (f *File) relocations(section int) []Reloc {
	if f.relSections == nil {
		f.relSections = map[int][]int{}
		for i := range f.sections {
			if k := f.sections[i].kind; k == typeRel || k == typeRela {
				to := int(f.sections[i].info)
				f.relSections[to] = append(f.relSections[to], i)
			}
		}
	}
	var out []Reloc
	symbols, le := f.readSymbols(), binary.LittleEndian
	for _, i := range f.relSections[section] {
		size := 16
		if f.sections[i].kind == typeRela {
			size = 24
		}
		for rows := f.content(i); len(rows) >= size; rows = rows[size:] {
			info := le.Uint64(rows[8:])
			r := Reloc{Offset: le.Uint64(rows), Type: uint32(info)}
			if size == 24 {
				r.Addend = int64(le.Uint64(rows[16:]))
			}
			if n := info >> 32; n < uint64(len(symbols)) {
				r.target = symbols[n]
				if k := r.target.kind; k == symObject || k == symFunc || k == symUnlinked {
					r.Symbol = r.target.name
				}
			}
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b Reloc) int { return cmp.Compare(a.Offset, b.Offset) })
	return out
}

// Inner returns the names of the functions that lie in a code section by their
// addresses.
func (f *File) Inner(fn *Func) map[uint64]string {
	if f.inner == nil {
		f.inner = map[int]map[uint64]string{}
		for _, s := range f.readSymbols() {
			if s.kind != symFunc || s.name == "" {
				continue
			}
			if f.inner[s.section] == nil {
				f.inner[s.section] = map[uint64]string{}
			}
			f.inner[s.section][s.value] = s.name
		}
	}
	return f.inner[fn.section]
}
