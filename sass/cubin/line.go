package cubin

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"path"
	"slices"

	"optcheck/isa"
)

// Line says that the instructions from an address on belong to a source line.
type Line struct {
	Addr uint64
	File string
	Line int
}

// Sources returns the source line of each instruction of a function.
func (f *File) Sources(fn *Func, words []Word) []isa.SrcLine {
	out := make([]isa.SrcLine, len(words))
	lines, src := f.Lines(fn), isa.SrcLine{}
	for i := range words {
		for len(lines) > 0 && lines[0].Addr <= words[i].Addr {
			src, lines = isa.SrcLine{File: lines[0].File, Line: lines[0].Line}, lines[1:]
		}
		out[i] = src
	}
	return out
}

// Lines returns the source lines of a function in the order of their addresses,
// from the section that -lineinfo writes; nil if there is none.
func (f *File) Lines(fn *Func) []Line {
	if f.lines == nil {
		f.lines = map[int][]Line{}
		i := slices.IndexFunc(f.sections, func(s section) bool { return string(s.name) == ".debug_line" })
		if i >= 0 {
			p := lineProgram{f: f, data: f.content(i), rels: f.relocations(i)}
			p.all()
		}
		for _, l := range f.lines {
			slices.SortStableFunc(l, func(a, b Line) int { return cmp.Compare(a.Addr, b.Addr) })
		}
	}
	return f.lines[fn.section]
}

// lineProgram reads the line programs of DWARF 2 to 4 (section 6.2 of the standard). Each
// sequence begins with an address that a relocation provides: the function. Damage ends the
// reading of its unit; lines are witnesses for people and checks, and missing ones are
// reported.
type lineProgram struct {
	f    *File
	data []byte
	rels []Reloc

	at, end int
	bad     bool
	version uint16
	minInst uint64
	base    int8
	span    uint8
	lengths []byte // operands of the standard opcodes
	dirs    []string
	files   []fileEntry
	joined  int // bytes of names put together so far
}

// maxJoined bounds the names put together: a long folder may have many files.
const maxJoined = 1 << 20

type fileEntry struct {
	name, joined string
	dir          uint64
}

// all reads one unit after the other.
func (p *lineProgram) all() {
	for p.at+4 <= len(p.data) {
		n := int(binary.LittleEndian.Uint32(p.data[p.at:]))
		start := p.at + 4
		if n > len(p.data)-start {
			return
		}
		p.at, p.end, p.bad = start, start+n, false
		if p.header() {
			p.run()
		}
		p.at = start + n
	}
}

func (p *lineProgram) u8() uint8 {
	if p.at >= p.end {
		p.bad = true
		return 0
	}
	p.at++
	return p.data[p.at-1]
}

func (p *lineProgram) fixed(n int) (v uint64) {
	for i := range n {
		v |= uint64(p.u8()) << (8 * i)
	}
	return v
}

func (p *lineProgram) uleb() (v uint64) {
	for shift := 0; shift < 70 && !p.bad; shift += 7 {
		b := p.u8()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	p.bad = true
	return 0
}

func (p *lineProgram) sleb() (v int64) {
	for shift := 0; shift < 70 && !p.bad; {
		b := p.u8()
		v |= int64(b&0x7f) << shift
		shift += 7
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
	p.bad = true
	return 0
}

func (p *lineProgram) str() string {
	i := bytes.IndexByte(p.data[p.at:p.end], 0)
	if i < 0 || i > maxName {
		p.bad = true
		return ""
	}
	s := string(p.data[p.at : p.at+i])
	p.at += i + 1
	return s
}

// header reads a unit's header and reports whether its program can be read.
func (p *lineProgram) header() bool {
	p.version = uint16(p.fixed(2))
	length := int(p.fixed(4))
	if p.bad || p.version < 2 || p.version > 4 || length > p.end-p.at {
		return false
	}
	program := p.at + length
	p.minInst = uint64(p.u8())
	if p.version >= 4 {
		p.u8() // operations of an instruction
	}
	p.u8() // is a statement by default
	p.base, p.span = int8(p.u8()), p.u8()
	n := int(p.u8()) - 1
	if p.bad || p.span == 0 || n < 9 || n > p.end-p.at {
		return false
	}
	p.lengths = p.data[p.at : p.at+n]
	p.at += n
	p.dirs, p.files = nil, nil
	for s := p.str(); s != ""; s = p.str() {
		p.dirs = append(p.dirs, s)
	}
	for s := p.str(); s != ""; s = p.str() {
		p.files = append(p.files, p.entry(s))
	}
	p.at = program
	return !p.bad
}

func (p *lineProgram) entry(name string) fileEntry {
	e := fileEntry{name: name, dir: p.uleb()}
	p.uleb() // time
	p.uleb() // length
	return e
}

// file returns the name of a file with its folder.
func (p *lineProgram) file(n uint64) string {
	if n == 0 || n > uint64(len(p.files)) {
		return ""
	}
	e := &p.files[n-1]
	if e.joined == "" {
		e.joined = e.name
		if e.dir > 0 && e.dir <= uint64(len(p.dirs)) && !path.IsAbs(e.name) && p.joined < maxJoined {
			e.joined = p.dirs[e.dir-1] + "/" + e.name
			p.joined += len(e.joined)
		}
	}
	return e.joined
}

// Standard and extended opcodes.
const (
	opCopy       = 1
	opAdvancePC  = 2
	opAdvanceLn  = 3
	opSetFile    = 4
	opConstAddPC = 8
	opFixedAddPC = 9
	extEnd       = 1
	extAddress   = 2
	extFile      = 3
)

// row is the state of the program.
type row struct {
	section int
	addr    uint64
	file    uint64
	line    int64
}

var firstRow = row{section: -1, file: 1, line: 1}

// run executes a program.
func (p *lineProgram) run() {
	r := firstRow
	special := func(op uint8) {
		adjusted := op - uint8(len(p.lengths)) - 1
		r.addr += uint64(adjusted/p.span) * p.minInst
		r.line += int64(p.base) + int64(adjusted%p.span)
	}
	for p.at < p.end && !p.bad {
		switch op := p.u8(); {
		case int(op) > len(p.lengths):
			special(op)
			p.emit(r)
		case op == 0:
			p.extended(&r)
		case op == opCopy:
			p.emit(r)
		case op == opAdvancePC:
			r.addr += p.uleb() * p.minInst
		case op == opAdvanceLn:
			r.line += p.sleb()
		case op == opSetFile:
			r.file = p.uleb()
		case op == opConstAddPC:
			r.addr += uint64((255-uint8(len(p.lengths))-1)/p.span) * p.minInst
		case op == opFixedAddPC:
			r.addr += p.fixed(2)
		default:
			for range p.lengths[op-1] {
				p.uleb()
			}
		}
	}
}

// extended executes an extended opcode.
func (p *lineProgram) extended(r *row) {
	n := p.uleb()
	if p.bad || n == 0 || n > uint64(p.end-p.at) {
		p.bad = true
		return
	}
	next := p.at + int(n)
	switch op := p.u8(); op {
	case extEnd:
		*r = firstRow
	case extAddress:
		r.section, r.addr = p.address()
	case extFile:
		p.files = append(p.files, p.entry(p.str()))
	}
	p.at = next
}

// address reads the start of a sequence: the relocation there names the function, and the value
// in the file is the addend of relocations without one.
func (p *lineProgram) address() (section int, addr uint64) {
	i, ok := slices.BinarySearchFunc(p.rels, uint64(p.at), func(r Reloc, at uint64) int { return cmp.Compare(r.Offset, at) })
	addr = p.fixed(8)
	if !ok {
		return -1, 0
	}
	r := &p.rels[i]
	return r.target.section, r.target.value + uint64(r.Addend) + addr
}

func (p *lineProgram) emit(r row) {
	if r.section < 0 || r.line < 0 || r.line > 1<<30 {
		return
	}
	p.f.lines[r.section] = append(p.f.lines[r.section], Line{Addr: r.addr, File: p.file(r.file), Line: int(r.line)})
}
