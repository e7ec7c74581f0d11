package realcode

import (
	"slices"

	"optcheck/isa"
)

// bulkCopy is the function of CUDA that performs a bulk copy whose target may be in another CTA, where the instruction
// reaches the memory of the own one alone (ptxas for sm_120).
const bulkCopy = "__cuda_syscall_cp_async_bulk_unicast"

// copiesBulk reports whether an instruction calls it.
func copiesBulk(in *isa.Inst) bool { return in.Flow == isa.FlowCall && calledName(in) == bulkCopy }

// The registers in which functions are given what they are called with (PTX Writer's Guide to Interoperability: the machine's
// ABI): the target of a bulk copy, and its mbarrier.
var (
	copyTarget  = isa.Reg{Class: isa.ClassGPR, Num: 4}
	copyBarrier = isa.Reg{Class: isa.ClassGPR, Num: 10}
)

// called keeps what a call by a register goes to, and what it is called with.
func (w *regWalk) called(i int, in *isa.Inst) {
	for k := range in.Args {
		if o := &in.Args[k]; o.Kind == isa.OpdReg && !o.Zero {
			w.calls[i] = w.value(o)
		}
	}
	w.out[i], w.behind[i] = w.reg(copyTarget), w.reg(copyBarrier)
}

// named is an instruction, with the symbol of what it calls by a register, if a constant says which that is.
func (m *machine) named(f *isa.Func, i int, consts map[int64]string) *isa.Inst {
	in := &f.Insts[i]
	to, ok := m.walks[f].calls[i]
	if !ok || calledName(in) != "" {
		return in
	}
	for off, name := range consts {
		if to == wordOf(symbolBank, off) {
			with := *in
			with.Args = append(slices.Clone(in.Args), isa.Operand{Kind: isa.OpdSym, Sym: name})
			return &with
		}
	}
	return in
}

// symbolBank is the constant bank with the addresses of symbols.
const symbolBank = 4
