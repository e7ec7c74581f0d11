package amdisa

import (
	"sort"
	"strings"

	"optcheck/isa"
)

// resolve turns branch targets into instruction indices. It rejects a function that control
// flow can leave at its end.
func (p *gcn) resolve(fn *isa.Func) error {
	for _, b := range p.branch {
		in := &fn.Insts[b.inst]
		t, ok := p.targetOf(fn, in, b.label)
		if !ok {
			if in.Flow == isa.FlowCall {
				continue
			}
			p.line = in.Line
			return p.fail(ErrTruncated, "branch target outside of "+fn.Name+": "+in.Text)
		}
		in.Target = t
		setTarget(fn, in)
	}
	last := &fn.Insts[len(fn.Insts)-1]
	if endsFlow(last) || last.Role == isa.RoleUnknown {
		return nil
	}
	p.line = last.Line
	return p.fail(ErrTruncated, "control flow runs out of "+fn.Name+" after: "+last.Text)
}

// setTarget writes the address of the target into the label operand.
func setTarget(fn *isa.Func, in *isa.Inst) {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == isa.OpdLabel {
			args := append([]isa.Operand(nil), in.Args...)
			args[i].Imm = int64(fn.Insts[in.Target].Addr)
			in.Args = args
			return
		}
	}
}

// targetOf returns the index of a target: a label, or the 16-bit word offset that disassemblers
// print, relative to the next instruction.
func (p *gcn) targetOf(fn *isa.Func, in *isa.Inst, label string) (int, bool) {
	if i, ok := p.labels[label]; ok {
		return i, i < len(fn.Insts)
	}
	if rest, ok := strings.CutPrefix(label, "label_"); ok { // number of the word in the code
		if v, ok := parseHex(rest); ok {
			return at(fn, 4*v)
		}
	}
	v, ok := integer(label)
	if !ok {
		return 0, false
	}
	if len(in.Code) == 0 && p.prog.Dialect == DialectLLVM {
		return 0, false
	}
	return at(fn, in.Addr+4+uint64(4*int64(int16(v))))
}

// at returns the instruction at an address.
func at(fn *isa.Func, addr uint64) (int, bool) {
	i := sort.Search(len(fn.Insts), func(i int) bool { return fn.Insts[i].Addr >= addr })
	return i, i < len(fn.Insts) && fn.Insts[i].Addr == addr
}
