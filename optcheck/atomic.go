package optcheck

import (
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// operation reports whether a machine atomic is the test's operation. Counting by one is either an addition of one or
// the machine's own increment or decrement without a bound.
func (p *pass) operation(x *event, e spec.Entry) bool {
	a := e.Kind.Atom
	if a < litmus.AtomIncOne {
		return strings.HasPrefix(strings.TrimPrefix(x.mem.Atom, "U"), atomNames[a]) && p.typed(x, e)
	}
	if !countsByOne(x.mem.Atom, a) || len(x.data) == 0 {
		return false
	}
	if x.cond && x.condT == 0 {
		return true // one lane counts for all active ones
	}
	k, ok := p.tr.pool.isConst(x.data[0])
	switch {
	case strings.HasPrefix(x.mem.Atom, "INC") || strings.HasPrefix(x.mem.Atom, "DEC"):
		return ok && k == ^uint32(0) // the bound
	case strings.HasPrefix(x.mem.Atom, "ADD") && a == litmus.AtomDecOne:
		return ok && k == ^uint32(0)
	}
	return ok && k == 1
}

// typed reports whether a machine atomic interprets its words as the test's does: as integers, and as signed or
// unsigned ones where that matters.
func (p *pass) typed(x *event, e spec.Entry) bool {
	t := x.mem.Type
	switch {
	case t == isa.AtomOther:
		return false
	case e.Instr < 0 || e.Kind.Atom != litmus.AtomMin && e.Kind.Atom != litmus.AtomMax:
		return true // unknown for a kernel without its test: part of the digest
	}
	return (t == isa.AtomSigned) == e.Signed
}

// countsByOne reports whether a machine operation can be an increment or decrement by one.
func countsByOne(atom string, a litmus.AtomOp) bool {
	names := map[litmus.AtomOp][]string{litmus.AtomIncOne: {"ADD", "INC"}, litmus.AtomDecOne: {"SUB", "DEC", "ADD"}}[a]
	for _, n := range names {
		if strings.HasPrefix(atom, n) {
			return true
		}
	}
	return false
}
