// Package cubin reads CUDA's ELF files: code sections with their relocations and source lines,
// symbols and constant banks. It splits code into encodings and control codes.
//
// It knows no mnemonics: what an encoding means is nvdisasm's business (see package dict).
// Every file is hostile: the file's size bounds what is read, and inconsistencies are errors.
package cubin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// File is a parsed cubin. It points into the data it was read from.
type File struct {
	// Release is the toolkit that built it, "12.4"; empty if the header names none.
	Release string
	// SM is the number of the target: 90 for sm_90 and sm_90a.
	SM int
	// Funcs are the code sections in the order of the file.
	Funcs []Func

	elf
	symbols     []symbol
	byName      map[string]int // sections
	variables   []Variable
	relSections map[int][]int  // sections of relocations, by the section that they apply to
	lines       map[int][]Line // by section
	inner       map[int]map[uint64]string

	// Of a compact form everything is known from the start.
	compact   bool
	kernels   map[string]*kernelData
	addressed []string
	rels      map[int][]Reloc
	constants map[int64]string
	literals  map[string]map[int64]uint32
}

// Func is a code section: a kernel or function, and what lies after it.
type Func struct {
	Name string
	Code []byte

	section int
}

// Relocations returns the places in a function's code that a linker or loader fills in, sorted
// by offset.
func (f *File) Relocations(fn *Func) []Reloc {
	if f.compact {
		return f.rels[fn.section]
	}
	return f.relocations(fn.section)
}

// Arch returns the target as nvdisasm's header names it: sm_90, also for sm_90a.
func (f *File) Arch() string { return fmt.Sprintf("sm_%d", f.SM) }

// Parse reads a 64-bit cubin. The error says why data is not one.
func Parse(data []byte) (*File, error) {
	e, err := readELF(data)
	if err != nil {
		return nil, fmt.Errorf("not a cubin: %w", err)
	}
	f := &File{elf: *e, Release: release(data), SM: sm(data)}
	names, code := 0, uint64(0) // a hostile file could use one long name, or one long section, a million times
	for i := range e.sections {
		s := &e.sections[i]
		name, ok := bytes.CutPrefix(s.name, []byte(".text."))
		if !ok || s.kind == typeNull {
			continue
		}
		c := e.content(i)
		names, code = names+len(name), code+uint64(len(c))
		if names > len(data) {
			return nil, errors.New("not a cubin: its names overlap")
		}
		if code > uint64(len(data)) {
			return nil, errors.New("not a cubin: its sections overlap")
		}
		f.Funcs = append(f.Funcs, Func{Name: string(name), Code: c, section: i})
	}
	return f, nil
}

// release reads the toolkit's release from the place of ELF's version: 124 is 12.4.
func release(data []byte) string {
	v := binary.LittleEndian.Uint32(data[20:])
	if v < 50 || v > 999 {
		return ""
	}
	return fmt.Sprintf("%d.%d", v/10, v%10)
}

// sm reads the target from the flags, whose layout depends on the ABI's version.
func sm(data []byte) int {
	flags := binary.LittleEndian.Uint32(data[48:])
	if data[8] >= 8 {
		flags >>= 8
	}
	return int(flags & 0xff)
}

// Functions lists the names of the functions of a cubin in the order of their sections.
func Functions(data []byte) ([]string, error) {
	f, err := Parse(data)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range f.Funcs {
		names = append(names, f.Funcs[i].Name)
	}
	return names, nil
}

// Literals returns the words of constant bank 2, in which compilers before sm_70 keep
// constants, by kernel and byte offset.
func (f *File) Literals() map[string]map[int64]uint32 {
	if f.compact {
		return f.literals
	}
	const most = 1 << 16
	out := map[string]map[int64]uint32{}
	total := 0
	for i := range f.sections {
		kernel, ok := strings.CutPrefix(string(f.sections[i].name[:min(len(f.sections[i].name), most)]), ".nv.constant2.")
		data := f.content(i)
		if total += len(data) + len(kernel); !ok || len(data) > most || total > 2*len(f.data) {
			continue
		}
		words := make(map[int64]uint32, len(data)/4)
		for at := 0; at+4 <= len(data); at += 4 {
			words[int64(at)] = binary.LittleEndian.Uint32(data[at:])
		}
		out[kernel] = words
	}
	return out
}

// Constants returns the symbols whose addresses constant bank 4 holds, by byte offset; nil if
// the cubin has no such bank.
func (f *File) Constants() map[int64]string {
	if f.compact {
		return f.constants
	}
	i := slices.IndexFunc(f.sections, func(s section) bool { return string(s.name) == ".nv.constant4" })
	if i < 0 {
		return nil
	}
	rels := f.relocations(i)
	out := make(map[int64]string, len(rels))
	for _, r := range rels {
		if r.Symbol != "" {
			out[int64(r.Offset)] = r.Symbol
		}
	}
	return out
}
