package audit

import (
	"fmt"
	"strings"

	"optcheck/isa"
	"optcheck/report"
)

// artefacts keeps the sources and the machine code of those cells of which they
// are wanted. header precedes the sources.
func (w *worker) artefacts(header string, cells []int) {
	if w.a.o.Artefacts == nil {
		return
	}
	kind := report.ArtefactPTX
	switch {
	case w.j.tc.LLC != nil || w.a.o.Source == LLVMIR:
		kind, header = report.ArtefactLLVMIR, ""
	case w.j.tc.LLVM != nil:
		kind = report.ArtefactOpenCL
	}
	code := map[*isa.Func]string{}
	for _, c := range cells {
		r := &w.res.cells[c]
		if r.Code == "" || !w.a.o.AllArtefacts && !r.HasFindings() {
			continue
		}
		for t, p := range w.parts[c] {
			if p.fn == nil {
				continue
			}
			if code[p.fn] == "" {
				code[p.fn] = machineText(p.fn)
			}
			w.res.artefacts[c] = append(w.res.artefacts[c], report.Artefact{Thread: t, Kind: kind, Text: header + w.em.kernels[w.em.of[c][t]].text},
				report.Artefact{Thread: t, Kind: report.ArtefactMachine, Text: code[p.fn]})
		}
	}
}

// machineText prints the instructions of a function with their addresses.
func machineText(f *isa.Func) string {
	var b strings.Builder
	for i := range f.Insts {
		in := &f.Insts[i]
		fmt.Fprintf(&b, "/*%04x*/ %s\n", in.Addr, in.Text)
	}
	return b.String()
}
