package audit

import (
	"fmt"
	"slices"

	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/ptx"
	"optcheck/ptxgen"
	"optcheck/realcode"
)

// changes is the machine code of a kernel that is compared as programs are, as what it does to the thread of its test: nothing lifts
// such a kernel as a whole. It implements optcheck.LiftedCode.
type changes []altered

// altered is what a finding says of one instruction of a thread.
type altered struct {
	how  how
	at   int          // the instruction
	wait int          // of early: the wait that it does not wait for; of joined: its neighbour
	left litmus.Instr // of instead
}

// how is in which way an instruction is not as it was written.
type how string

const (
	early how = "early" // it is performed before the wait in front of it is answered
	older how = "older" // a load whose value is that of the access of its location before it
	other how = "other" // a fence in whose place there is less, or nothing
	// joined is an access that a neighbour performs, too, as one of both
	joined how = "joined"
)

// Key implements optcheck.LiftedCode.
func (c changes) Key() string { return "changes " + fmt.Sprint([]altered(c)) }

// Size implements optcheck.LiftedCode.
func (c changes) Size() int { return 100 + 32*len(c) }

// changesOf reads the findings of a kernel. It is an error if one of them says more than the changes that are known here.
func changesOf(k *ptxgen.Kernel, findings []realcode.Finding) (out changes, err error) {
	at := func(p *realcode.Place) int {
		if p == nil {
			return -1
		}
		return k.Instr(p.Made.Line)
	}
	for i := range findings {
		f := &findings[i]
		first := at(f.First)
		c := altered{at: first, wait: first}
		switch {
		case f.Rule == realcode.Missing && f.Order:
			c.how, c.at = early, at(f.Second)
		case f.Rule == realcode.Reordered && f.Word == "b" && f.Second != nil && at(f.Second) > first: // a path performs the second alone, or first
			c.how, c.at = early, at(f.Second)
		case f.Together:
			c.how, c.wait = joined, at(f.Second)
		case f.Rule == realcode.Merged && f.Second != nil:
			c.how = older
		case f.Fence != nil:
			c.how, c.left = other, leftOf(f.Fence)
		}
		if c.at < 0 || c.wait < 0 || c.how == "" {
			return nil, fmt.Errorf("no test of what the machine code does: %s: %s", f.Rule, f.Detail)
		}
		out = append(out, c)
	}
	return out, nil
}

// leftOf is what is left of a fence, as an instruction of a test.
func leftOf(e *ptx.Effect) litmus.Instr {
	if e.Kind != ptx.Fence {
		return litmus.Instr{Op: litmus.OpNop}
	}
	in := litmus.Instr{Op: litmus.OpFence}
	for in.Sem.String() != e.Sem && in.Sem < litmus.SemSC {
		in.Sem++
	}
	for in.Scope.String() != e.Scope && in.Scope < litmus.ScopeSys {
		in.Scope++
	}
	return in
}

// ofResults reports whether a finding is about the stores of results alone, which the test does not have.
func ofResults(k *ptxgen.Kernel, f *realcode.Finding) bool {
	return f.Rule == realcode.Missing && f.Order && f.Second != nil && k.Instr(f.Second.Made.Line) < 0
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
		if err := list.apply(out, &out.Threads[i]); err != nil {
			return nil, true, fmt.Errorf("thread %s: %w", t.Threads[i].Name, err)
		}
	}
	return out, true, nil
}

// apply changes a thread.
func (c changes) apply(t *litmus.Test, th *litmus.Thread) error {
	waits := map[int][]int{} // of each instruction that is early
	pairs := map[int]int{}   // by the neighbour, an instruction that it performs, too
	for _, x := range c {
		in := &th.Body[x.at]
		switch x.how {
		case early:
			waits[x.at] = append(waits[x.at], x.wait)
		case other:
			x.left.Labels, x.left.Guard, x.left.Pos = in.Labels, in.Guard, in.Pos
			*in = x.left
		case older:
			if err := x.forwarded(th); err != nil {
				return err
			}
		case joined:
			if _, again := pairs[x.wait]; again {
				return fmt.Errorf("%s is one access with more than one neighbour", &th.Body[x.wait])
			}
			pairs[x.wait] = x.at
		}
	}
	front := map[int][]litmus.Instr{} // by place, in the order of the thread
	var body []litmus.Instr
	for i, in := range th.Body {
		if waits[i] == nil {
			continue
		}
		to := slices.Min(waits[i])
		for k := to; k < i; k++ {
			by := &th.Body[k]
			orders := by.IsFence() || by.Op == litmus.OpBar || by.Async != nil || by.IsAccess() && by.Addr == in.Addr
			if orders && !slices.Contains(waits[i], k) {
				return fmt.Errorf("%s comes before %s, and not before %s", &in, &th.Body[to], by)
			}
		}
		front[to] = append(front[to], in)
	}
	lost := map[int]bool{}
	for i, k := range pairs {
		if lost[k] = true; waits[i] != nil || waits[k] != nil {
			return fmt.Errorf("%s and %s are one access, which is performed before the wait in front of it", &th.Body[i], &th.Body[k])
		}
	}
	for i, in := range th.Body {
		body = append(body, front[i]...)
		k, pair := pairs[i]
		switch {
		case waits[i] != nil || lost[i]:
		case pair:
			wide, err := together(t, th, i, k)
			if err != nil {
				return err
			}
			body = append(body, wide...)
		default:
			body = append(body, in)
		}
	}
	th.Body = body
	return nil
}

// forwarded gives a load the value of the access of its location before it.
func (c altered) forwarded(th *litmus.Thread) error {
	in := &th.Body[c.at]
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
