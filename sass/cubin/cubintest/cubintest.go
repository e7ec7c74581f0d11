// Package cubintest makes files for tests of what reads cubins.
package cubintest

import "encoding/binary"

// What of the ELF format is needed.
const (
	headerSize  = 64
	sectionSize = 64
	machineCUDA = 190
	typeNoBits  = 8
)

// Make builds a minimal ELF file with a .text section per name.
func Make(names []string) []byte {
	le := binary.LittleEndian
	table := []byte{0}
	rows := make([]byte, sectionSize) // the null section
	add := func(name string, kind uint32, offset, size int) {
		row := make([]byte, sectionSize)
		le.PutUint32(row, uint32(len(table)))
		le.PutUint32(row[4:], kind)
		le.PutUint64(row[24:], uint64(offset))
		le.PutUint64(row[32:], uint64(size))
		rows, table = append(rows, row...), append(append(table, name...), 0)
	}
	for _, n := range names {
		add(".text."+n, 1, headerSize, 0)
	}
	add(".nv.shared", typeNoBits, 1<<40, 1<<40) // occupies no file space
	nameOffset := len(table)
	add(".shstrtab", 3, headerSize, nameOffset+len(".shstrtab")+1)
	head := make([]byte, headerSize)
	copy(head, "\x7fELF\x02\x01\x01")
	le.PutUint16(head[18:], machineCUDA)
	le.PutUint32(head[20:], 112) // NVIDIA's idea of a version
	le.PutUint64(head[40:], uint64(headerSize+len(table)))
	le.PutUint16(head[58:], sectionSize)
	le.PutUint16(head[60:], uint16(len(rows)/sectionSize))
	le.PutUint16(head[62:], uint16(len(rows)/sectionSize-1))
	return append(append(head, table...), rows...)
}
