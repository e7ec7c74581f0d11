package litmus

import "slices"

// ObserveAll returns the test with every register that an access defines and every location
// among its terms, after those of its condition: everything that a program could observe. It
// does not observe a result that is unread (Unread).
func (t *Test) ObserveAll() *Test {
	c := t.Clone()
	terms := c.Terms()
	add := func(x Term) {
		if !slices.Contains(terms, x) {
			terms = append(terms, x)
			c.Observed = append(c.Observed, x)
		}
	}
	for i := range c.Threads {
		unread := t.Unread(i)
		for k, in := range c.Threads[i].Body {
			if (in.IsAccess() || in.Async != nil && in.Async.Together()) && in.Dst != "" && !unread[k] {
				add(Term{Kind: TermReg, Thread: i, Name: in.Dst})
			}
		}
	}
	for _, l := range c.Locations {
		if l.Alias == "" && l.Of == "" {
			add(Term{Kind: TermLoc, Name: l.Name})
		}
	}
	return c
}

// Unread says for each instruction of a thread whether it is an access whose result nobody
// observes. Its destination is "_", or, with ResultsFinal, no value computed from it is, when
// the thread ends, in a register that the condition or the locations clause names. What the
// result decides (addresses, stored values, branches) does not count: the machine code must
// keep that. A mask that leaves nothing (and with 0, times 0, x xor x) keeps nothing of it
// either. In a bounded loop, an instruction counts if it does in every iteration.
func (t *Test) Unread(thread int) []bool {
	th := &t.Threads[thread]
	if t.Results == ResultsFinal && th.loops() {
		return t.unreadRounds(thread)
	}
	unread := make([]bool, len(th.Body))
	for i := range th.Body {
		in := &th.Body[i]
		unread[i] = in.Dst == "_" && in.IsAccess()
	}
	if t.Results != ResultsFinal {
		return unread
	}
	live := map[string]bool{}
	for _, x := range t.Terms() {
		if x.Kind == TermReg && x.Thread == thread {
			live[x.Name] = true
		}
	}
	skipped := th.skipped()
	for i := len(th.Body) - 1; i >= 0; i-- {
		in := &th.Body[i]
		if in.Dst == "" || !live[in.Dst] {
			unread[i] = unread[i] || in.Dst != "" && in.IsAccess()
			continue
		}
		if in.Guard == nil && !skipped[i] {
			delete(live, in.Dst)
		}
		if in.IsAccess() || in.erases() {
			continue
		}
		for _, o := range in.Src {
			if o.Kind == OperandReg {
				live[o.Name] = true
			}
		}
	}
	return unread
}

// unreadRounds is Unread for a thread with loops. If their bound is unknown, everything counts
// as observed.
func (t *Test) unreadRounds(thread int) []bool {
	unread := make([]bool, len(t.Threads[thread].Body))
	flat, origin, err := t.Threads[thread].Unrolled()
	if err != nil {
		return unread
	}
	c := *t
	c.Threads = slices.Clone(t.Threads)
	c.Threads[thread] = flat
	for i := range unread {
		in := &t.Threads[thread].Body[i]
		unread[i] = in.IsAccess() && in.Dst != ""
	}
	for k, is := range c.Unread(thread) {
		unread[origin[k]] = unread[origin[k]] && is
	}
	return unread
}

// erases reports whether the result does not depend on the sources.
func (in *Instr) erases() bool {
	zero := func(o Operand) bool { return o.Kind == OperandConst && o.Value == 0 }
	switch in.Op {
	case OpAnd, OpMul:
		return len(in.Src) == 2 && (zero(in.Src[0]) || zero(in.Src[1]))
	case OpXor, OpSub:
		return len(in.Src) == 2 && in.Src[0] == in.Src[1]
	}
	return false
}

// labels maps each label of a thread to its instruction.
func (th *Thread) labels() map[string]int {
	at := map[string]int{}
	for i := range th.Body {
		for _, l := range th.Body[i].Labels {
			at[l] = i
		}
	}
	return at
}

// loops reports whether a branch of the thread leads backwards.
func (th *Thread) loops() bool {
	at := th.labels()
	for i := range th.Body {
		if in := &th.Body[i]; in.Op == OpBra && at[in.Target] <= i {
			return true
		}
	}
	return false
}

// skipped returns for each instruction whether a branch may lead around it.
func (th *Thread) skipped() []bool {
	at, skipped := th.labels(), make([]bool, len(th.Body))
	for i := range th.Body {
		if in := &th.Body[i]; in.Op == OpBra {
			for k := i + 1; k < at[in.Target]; k++ {
				skipped[k] = true
			}
		}
	}
	return skipped
}
