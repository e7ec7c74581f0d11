package audit

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/realcode"
)

// changes is the machine code of a kernel that is compared as programs are, as what it does to the thread of its test: nothing lifts
// such a kernel as a whole. It implements optcheck.LiftedCode.
type changes []altered

// altered is what a finding says of one instruction of a thread.
type altered struct {
	how how
	at  int // the instruction
}

// how is in which way an instruction is not as it was written.
type how string

const (
	unordered how = "unordered" // a wait that orders nothing behind it: nothing waits for its answer
	older     how = "older"     // a load whose value is that of the access of its location before it
)

// Key implements optcheck.LiftedCode.
func (c changes) Key() string { return "changes " + fmt.Sprint([]altered(c)) }

// Size implements optcheck.LiftedCode.
func (c changes) Size() int { return 100 + 32*len(c) }

// changesOf reads the findings of a kernel. It is an error if one of them says more than the two changes that are known here.
func changesOf(k *ptxgen.Kernel, findings []realcode.Finding) (out changes, err error) {
	for i := range findings {
		f := &findings[i]
		c := altered{at: -1}
		if f.First != nil {
			c.at = k.Instr(f.First.Made.Line)
		}
		switch {
		case f.Rule == realcode.Missing && f.Order:
			c.how = unordered
		case f.Rule == realcode.Merged && f.Second != nil:
			c.how = older
		}
		if c.at < 0 || c.how == "" {
			return nil, fmt.Errorf("no test of what the machine code does: %s: %s", f.Rule, f.Detail)
		}
		out = append(out, c)
	}
	return out, nil
}

// programs makes the test of machine code whose threads are changes; ok is false if they are not.
func programs(t *litmus.Test, threads []optcheck.LiftedThread) (out *litmus.Test, ok bool, err error) {
	out = t.Clone()
	out.Meta, out.Doc = nil, ""
	for i := range threads {
		list, is := threads[i].Lifted.(changes)
		if !is {
			return nil, false, nil
		}
		for _, c := range list {
			if err := c.apply(&out.Threads[i], t); err != nil {
				return nil, true, fmt.Errorf("thread %s: %w", t.Threads[i].Name, err)
			}
		}
	}
	return out, true, nil
}

// apply changes a thread.
func (c altered) apply(th *litmus.Thread, t *litmus.Test) error {
	in := &th.Body[c.at]
	if c.how == unordered {
		return relax(in)
	}
	for k := c.at - 1; k >= 0; k-- {
		by := &th.Body[k]
		if by.Addr != in.Addr || !by.IsAccess() {
			continue
		}
		value := litmus.Operand{Kind: litmus.OperandReg, Name: by.Dst}
		switch {
		case by.Op == litmus.OpSt && len(by.Src) == 1:
			value = by.Src[0]
		case by.Op != litmus.OpLd:
			return fmt.Errorf("%s takes its value from %s", in, by)
		}
		if by.Guard != nil || overwritten(th.Body[k+1:c.at], value) {
			return fmt.Errorf("%s may take its value from %s, or not", in, by)
		}
		*in = litmus.Instr{Labels: in.Labels, Guard: in.Guard, Op: litmus.OpMov, Type: in.Type, Dst: in.Dst, Src: []litmus.Operand{value}, Pos: in.Pos}
		return nil
	}
	return fmt.Errorf("%s has a value from nowhere", in)
}

// overwritten reports whether some instruction writes the register of a value.
func overwritten(body []litmus.Instr, value litmus.Operand) bool {
	return value.Kind == litmus.OperandReg && slices.ContainsFunc(body, func(in litmus.Instr) bool { return in.Dst == value.Name })
}

// relax has a wait for an mbarrier order nothing.
func relax(in *litmus.Instr) error {
	if in.Async == nil || in.Async.Kind != litmus.MbarWait {
		return fmt.Errorf("%s is no wait for an mbarrier", in)
	}
	for _, f := range litmus.AsyncForms() {
		g := *in.Async
		if f.Kind == g.Kind && f.Scope == g.Scope && f.Parity == g.Parity && f.Sem == litmus.SemRelaxed && verb(f.Name) == verb(g.Name) {
			in.Async = &f
			return nil
		}
	}
	return fmt.Errorf("there is no %s that orders nothing", in.Async.Name)
}

// verb is the word of an mnemonic that says what it does: test_wait.
func verb(name string) string {
	words := strings.Split(name, ".")
	return words[min(1, len(words)-1)]
}
