package audit

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/isa"
)

// artefacts keeps the sources and the machine code of the cells for which they are wanted.
func (w *worker) artefacts(cells []int) {
	if w.a.o.Artefacts == nil {
		return
	}
	printed := map[*machineCode]string{}
	for _, c := range cells {
		r := &w.res.cells[c]
		if r.Code == "" || !w.a.o.AllArtefacts && !r.HasFindings() {
			continue
		}
		for t, p := range w.parts[c] {
			if p.machine == nil {
				continue
			}
			if printed[p.machine] == "" {
				printed[p.machine] = p.machine.String()
			}
			w.res.artefacts[c] = append(w.res.artefacts[c], event.Artefact{Thread: t, Kind: w.j.road.Road().Source,
				Text: w.j.road.Header(p.way, w.j.target) + w.em.kernels[w.em.of[c][t]].text},
				event.Artefact{Thread: t, Kind: event.ArtefactMachine, Text: printed[p.machine]})
		}
	}
}

// machineCode is the part of a function that is printed: full instructions are ten times as
// large, and a job has many.
type machineCode struct {
	addr    []uint64
	text    []string
	control []isa.Control // nil unless they are shown
}

func machineCodeOf(f *isa.Func, controls bool) *machineCode {
	m := &machineCode{addr: make([]uint64, len(f.Insts)), text: make([]string, len(f.Insts))}
	for i := range f.Insts {
		m.addr[i], m.text[i] = f.Insts[i].Addr, f.Insts[i].Text
		if controls {
			m.control = append(m.control, f.Insts[i].Control)
		}
	}
	return m
}

// controlAt returns the control code of the instruction at an address as listings show it, ""
// for none.
func (m *machineCode) controlAt(addr uint64) string {
	if m == nil || m.control == nil {
		return ""
	}
	if i, ok := slices.BinarySearch(m.addr, addr); ok {
		return m.control[i].String()
	}
	return ""
}

// String prints the instructions with their addresses.
func (m *machineCode) String() string {
	var b strings.Builder
	for i, a := range m.addr {
		fmt.Fprintf(&b, "/*%04x*/ ", a)
		if c := m.controlAt(a); c != "" {
			b.WriteString(c + "  ")
		}
		b.WriteString(m.text[i] + "\n")
	}
	return b.String()
}
