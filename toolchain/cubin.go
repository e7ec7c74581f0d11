package toolchain

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// What of the ELF format is needed. The standard library's reader refuses
// cubins, because NVIDIA puts the toolkit's release where ELF has its version.
const (
	elfHeaderSize  = 64
	elfSectionSize = 64
	machineCUDA    = 190 // e_machine
	typeNull       = 0
	typeNoBits     = 8
)

// section is the part of an ELF section header that matters here.
type section struct {
	name         uint32
	kind         uint32
	offset, size uint64
}

// Functions lists the functions of a 64-bit cubin in the order of their
// sections. The error tells what makes data something else than a whole cubin.
func Functions(cubin []byte) ([]string, error) {
	sections, names, err := readSections(cubin)
	if err != nil {
		return nil, fmt.Errorf("not a cubin: %w", err)
	}
	var functions []string
	total := 0 // a hostile file could use one long name a million times
	for i, s := range sections {
		if s.kind == typeNull {
			continue
		}
		if uint64(s.name) >= uint64(len(names)) {
			return nil, fmt.Errorf("not a cubin: section %d has no name", i)
		}
		name := names[s.name:]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if function, ok := bytes.CutPrefix(name, []byte(".text.")); ok {
			if total += len(function); total > len(cubin) {
				return nil, errors.New("not a cubin: its names overlap")
			}
			functions = append(functions, string(function))
		}
	}
	return functions, nil
}

// CodeHash is a hash of the names and the machine code of a cubin's functions:
// two cubins for targets of one generation with equal hashes disassemble to the
// same instructions. Line information, relocations and data are not in it.
func CodeHash(cubin []byte) ([sha256.Size]byte, error) {
	sections, names, err := readSections(cubin)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("not a cubin: %w", err)
	}
	h := sha256.New()
	for i, s := range sections {
		if s.kind == typeNull || s.kind == typeNoBits {
			continue
		}
		if uint64(s.name) >= uint64(len(names)) {
			return [sha256.Size]byte{}, fmt.Errorf("not a cubin: section %d has no name", i)
		}
		name, _, _ := bytes.Cut(names[s.name:], []byte{0})
		if bytes.HasPrefix(name, []byte(".text.")) {
			_ = binary.Write(h, binary.LittleEndian, []uint64{uint64(len(name)), s.size}) // a hash takes everything
			h.Write(name)
			h.Write(cubin[s.offset : s.offset+s.size])
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// readSections reads the table of sections and their names, and checks that
// the content of every section is there.
func readSections(data []byte) ([]section, []byte, error) {
	le := binary.LittleEndian
	switch {
	case len(data) == 0:
		return nil, nil, errors.New("it is empty")
	case !bytes.HasPrefix(data, []byte("\x7fELF")):
		return nil, nil, errors.New("no ELF file")
	case len(data) < elfHeaderSize:
		return nil, nil, errors.New("truncated ELF header")
	case data[4] != 2 || data[5] != 1:
		return nil, nil, errors.New("no 64-bit little-endian ELF file")
	case le.Uint16(data[18:]) != machineCUDA:
		return nil, nil, fmt.Errorf("an ELF file for machine %d, not %d", le.Uint16(data[18:]), machineCUDA)
	}
	offset, count, index := le.Uint64(data[40:]), uint64(le.Uint16(data[60:])), uint64(le.Uint16(data[62:]))
	if size := le.Uint16(data[58:]); size != elfSectionSize {
		return nil, nil, fmt.Errorf("section headers of %d bytes, not %d", size, elfSectionSize)
	}
	table := func(n uint64) ([]byte, error) {
		end := offset + n*elfSectionSize
		if offset < elfHeaderSize || end < offset || end > uint64(len(data)) {
			return nil, fmt.Errorf("truncated: section table at bytes %d to %d of %d", offset, end, len(data))
		}
		return data[offset:end], nil
	}
	first, err := table(1)
	if err != nil {
		return nil, nil, err
	}
	if count == 0 { // more than fit 16 bits: the first section's size is the count
		count = le.Uint64(first[32:])
	}
	if index == 0xffff { // likewise the index of the names: its link
		index = uint64(le.Uint32(first[40:]))
	}
	if count > uint64(len(data))/elfSectionSize || index >= count {
		return nil, nil, fmt.Errorf("truncated: %d sections in %d bytes", count, len(data))
	}
	rows, err := table(count)
	if err != nil {
		return nil, nil, err
	}
	sections := make([]section, count)
	for i := range sections {
		row := rows[i*elfSectionSize:]
		s := section{le.Uint32(row), le.Uint32(row[4:]), le.Uint64(row[24:]), le.Uint64(row[32:])}
		end := s.offset + s.size
		if s.kind != typeNull && s.kind != typeNoBits && (end < s.offset || end > uint64(len(data))) {
			return nil, nil, fmt.Errorf("truncated: section %d ends at byte %d of %d", i, end, len(data))
		}
		sections[i] = s
	}
	s := sections[index]
	if s.kind == typeNull || s.kind == typeNoBits {
		return nil, nil, errors.New("no section names")
	}
	return sections, data[s.offset : s.offset+s.size], nil
}
