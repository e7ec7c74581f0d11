package lower

import (
	_ "embed"
	"strings"
	"sync"

	"optcheck/ptx"
)

// Known is how the meaning of an instruction is known.
type Known string

// The ways.
const (
	// Chip: an H200 stored what the emulator computes, bit for bit, on many operands.
	Chip Known = "chip"
	// Row: the same of other instructions of its row of the table.
	Row Known = "row on chip"
	// Documented: the PTX ISA only.
	Documented Known = "documentation"
)

//go:embed known.txt
var onH200 string

var chipForms = sync.OnceValues(func() (map[string]bool, map[*form]bool) {
	forms, rows := map[string]bool{}, map[*form]bool{}
	for line := range strings.Lines(onH200) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			forms[line], rows[rowOf(line)] = true, true
		}
	}
	return forms, rows
})

// rowOf is the row of an opcode with its modifiers, nil if there is none.
func rowOf(op string) *form {
	words := strings.Split(op, ".")
	return find(&ptx.Inst{Op: op, Name: words[0], Mods: words[1:]}).form
}

// HowKnown says how the meaning of a form (see ir.Inst.Form) is known, and in which section of the PTX ISA it stands; "" if it is
// not known.
func HowKnown(form string) (known Known, section string) {
	op, _, _ := strings.Cut(form, " ")
	forms, rows := chipForms()
	switch row := rowOf(op); {
	case op == "entry":
		return Documented, "9.7.12.5"
	case row == nil:
		return "", ""
	case forms[op]:
		return Chip, row.source
	case rows[row]:
		return Row, row.source
	default:
		return Documented, row.source
	}
}
