package sass

import (
	"sort"
	"strings"

	"optcheck/isa"
)

// resolve turns branch targets into instruction indices. Labels after the last
// instruction are bound to its end.
func (p *parser) resolve(fn *isa.Func) error {
	last := &fn.Insts[len(fn.Insts)-1]
	end := last.Addr + 8
	if p.sm >= 70 {
		end = last.Addr + 16
	}
	for _, l := range p.toLabel {
		p.labels[l] = end
	}
	p.toLabel = p.toLabel[:0]
	for _, b := range p.branch {
		in := &fn.Insts[b.inst]
		if err := p.noteTargets(fn, in, b.notes); err != nil {
			return err
		}
		if b.label != "" {
			if err := p.labelTarget(fn, in, b.label, end); err != nil {
				return err
			}
			continue
		}
		if err := p.addressTarget(fn, in, end); err != nil {
			return err
		}
	}
	return nil
}

// at returns the first instruction at or after an address: a target may be the
// address of a control word.
func at(fn *isa.Func, addr uint64) int {
	i := sort.Search(len(fn.Insts), func(i int) bool { return fn.Insts[i].Addr >= addr })
	if i == len(fn.Insts) {
		return -1
	}
	return i
}

// labelTarget resolves a label. Local labels must exist; other symbols may name
// functions elsewhere.
func (p *parser) labelTarget(fn *isa.Func, in *isa.Inst, label string, end uint64) error {
	addr, ok := p.labels[label]
	if !ok {
		if strings.HasPrefix(label, ".L") && in.Flow != isa.FlowCall && !based(in) {
			p.line = in.Line
			return p.fail(ErrTruncated, "label "+label+" is not in "+fn.Name)
		}
		return nil
	}
	return p.setTarget(fn, in, addr, end)
}

// based reports whether the label of an instruction is a base, not a target: RET.REL.NODEC R20 `(k), CALL.REL.NOINC R8 `(k).
func based(in *isa.Inst) bool { return in.Flow == isa.FlowReturn || in.CallsRegister() }

func (p *parser) setTarget(fn *isa.Func, in *isa.Inst, addr, end uint64) error {
	if based(in) {
		return nil
	}
	if addr >= end || at(fn, addr) < 0 {
		p.line = in.Line
		return p.fail(ErrTruncated, "branch target outside of "+fn.Name+": "+in.Text)
	}
	in.Target = at(fn, addr)
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == isa.OpdLabel && o.Imm != int64(addr) {
			args := append([]isa.Operand(nil), in.Args...)
			args[i].Imm = int64(addr)
			in.Args = args
			break
		}
	}
	return nil
}

// addressTarget resolves the absolute addresses that cuobjdump prints.
func (p *parser) addressTarget(fn *isa.Func, in *isa.Inst, end uint64) error {
	switch in.Flow {
	case isa.FlowJump, isa.FlowCall, isa.FlowPush:
	default:
		return nil
	}
	for i := len(in.Args) - 1; i >= 0; i-- {
		o := &in.Args[i]
		if o.Kind != isa.OpdImm {
			continue
		}
		if o.Imm < 0 || in.Flow == isa.FlowCall && hasMod(in, "ABS") {
			return nil
		}
		args := append([]isa.Operand(nil), in.Args...)
		args[i].Kind = isa.OpdLabel
		in.Args = args
		return p.setTarget(fn, in, uint64(o.Imm), end)
	}
	return nil
}

// noteTargets reads "BRANCH_TARGETS .L_1,.L_2" and "TARGET= .L_4 ".
func (p *parser) noteTargets(fn *isa.Func, in *isa.Inst, notes string) error {
	i := strings.Index(notes, "TARGET")
	if i < 0 {
		return nil
	}
	s := strings.TrimLeft(notes[i:], "TARGES=")
	s = strings.Trim(s, " \"")
	for s != "" && len(in.Targets) < 1<<12 {
		l := s
		if j := strings.IndexByte(s, ','); j >= 0 {
			l, s = s[:j], s[j+1:]
		} else {
			s = ""
		}
		l = trim(l)
		addr, ok := p.labels[l]
		if !ok {
			continue
		}
		if t := at(fn, addr); t >= 0 {
			in.Targets = append(in.Targets, t)
		}
	}
	return nil
}

// complete rejects a function that control flow can leave at its end, because the listing was
// cut off. Every real function ends in a jump to itself or an exit, followed by padding.
func (p *parser) complete(fn *isa.Func) error {
	n := len(fn.Insts)
	for n > 0 && fn.Insts[n-1].Op == "NOP" && fn.Insts[n-1].Flow == isa.FlowNext {
		n--
	}
	if n == 0 {
		return nil // padding only
	}
	in := &fn.Insts[n-1]
	if in.Guard == (isa.Guard{}) {
		switch in.Flow {
		case isa.FlowJump, isa.FlowIndirect, isa.FlowReturn, isa.FlowExit, isa.FlowPop, isa.FlowTrap, isa.FlowCall:
			return nil
		}
	}
	p.line = max(in.Line, 1)
	return p.fail(ErrTruncated, "control flow runs out of "+fn.Name+" after: "+in.Text)
}
