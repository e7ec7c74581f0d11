package cycle_test

import (
	"fmt"

	"optcheck/litmus"
)

// machine runs a test's threads on values, one access at a time. It shares
// nothing with the generator or with package model.
type machine struct {
	t    *litmus.Test
	loc  []map[int]string // per thread, location of each access
	mem  map[string]int64
	regs []map[string]int64
	pc   []int
}

func newMachine(t *litmus.Test) *machine {
	m := &machine{t: t, mem: map[string]int64{}, pc: make([]int, len(t.Threads))}
	for i := range t.Locations {
		m.mem[t.Locations[i].Name] = t.Locations[i].Init
	}
	for i := range t.Threads {
		th := &t.Threads[i]
		m.regs = append(m.regs, map[string]int64{})
		where := map[int]string{}
		base := map[string]string{} // register → location, by data flow
		for _, d := range th.Regs {
			if d.Init.Kind == litmus.OperandLoc {
				base[d.Name] = d.Init.Name
			}
		}
		for j := range th.Body {
			in := &th.Body[j]
			if in.Op == litmus.OpAdd && base[in.Src[0].Name] != "" {
				base[in.Dst] = base[in.Src[0].Name]
			}
			if in.Op.IsAccess() {
				where[j] = base[in.Addr.Reg]
			}
		}
		m.loc = append(m.loc, where)
	}
	return m
}

func (m *machine) value(t int, o litmus.Operand) int64 {
	if o.Kind == litmus.OperandConst {
		return o.Value
	}
	return m.regs[t][o.Name]
}

// local runs thread t up to its next access, and reports whether there is one.
func (m *machine) local(t int) bool {
	body := m.t.Threads[t].Body
	for ; m.pc[t] < len(body); m.pc[t]++ {
		in := &body[m.pc[t]]
		if g := in.Guard; g != nil && (m.regs[t][g.Reg] != 0) == g.Neg {
			panic("a generated access is not performed")
		}
		if in.Op.IsAccess() {
			return true
		}
		var v [3]int64
		for i := range in.Src {
			v[i] = m.value(t, in.Src[i])
		}
		switch in.Op {
		case litmus.OpFence, litmus.OpMembar, litmus.OpBar:
			continue
		case litmus.OpMov, litmus.OpCvt:
		case litmus.OpAdd:
			v[0] += v[1]
		case litmus.OpSub:
			v[0] -= v[1]
		case litmus.OpXor:
			v[0] ^= v[1]
		case litmus.OpAnd:
			v[0] &= v[1]
		case litmus.OpShr:
			v[0] = int64(uint32(v[0]) >> v[1])
		case litmus.OpSetp:
			if in.Cmp.Holds(v[0], v[1]) {
				v[0] = 1
			} else {
				v[0] = 0
			}
		case litmus.OpSelp:
			if v[2] == 0 {
				v[0] = v[1]
			}
		default:
			panic(fmt.Sprintf("instruction %s", in))
		}
		m.regs[t][in.Dst] = v[0]
	}
	return false
}

// access performs the access at which thread t stands; read is the value that
// it reads. It returns what it writes.
func (m *machine) access(t int, read int64) (written int64, writes bool) {
	in := &m.t.Threads[t].Body[m.pc[t]]
	m.pc[t]++
	last := int64(0)
	if len(in.Src) > 0 {
		last = m.value(t, in.Src[len(in.Src)-1])
	}
	if in.Dst != "" {
		m.regs[t][in.Dst] = read
	}
	switch {
	case in.Op == litmus.OpLd:
		return 0, false
	case in.Atom == litmus.AtomAdd:
		return read + last, true
	case in.Atom == litmus.AtomCAS:
		if read != m.value(t, in.Src[0]) {
			return read, true
		}
	}
	return last, true
}

func (m *machine) holds() bool {
	return m.t.Cond.Eval(func(x litmus.Term) int64 {
		if x.Kind == litmus.TermLoc {
			return m.mem[x.Name]
		}
		return m.regs[x.Thread][x.Name]
	})
}

func (m *machine) clone() *machine {
	c := *m
	c.pc = append([]int(nil), m.pc...)
	c.mem = map[string]int64{}
	for k, v := range m.mem {
		c.mem[k] = v
	}
	c.regs = nil
	for _, r := range m.regs {
		n := map[string]int64{}
		for k, v := range r {
			n[k] = v
		}
		c.regs = append(c.regs, n)
	}
	return &c
}

// interleaved reports whether some interleaving of the threads ends in the
// outcome.
func interleaved(t *litmus.Test) bool {
	var run func(m *machine) bool
	run = func(m *machine) bool {
		end := true
		for i := range m.pc {
			if !m.local(i) {
				continue
			}
			end = false
			c := m.clone()
			at := c.loc[i][c.pc[i]]
			if v, writes := c.access(i, c.mem[at]); writes {
				c.mem[at] = v
			}
			if run(c) {
				return true
			}
		}
		return end && m.holds()
	}
	return run(newMachine(t))
}

// conceivable reports whether reads that return what the outcome says (0 if it
// says nothing), in any order, are consistent with what is written: each value
// read or left in memory was written to its location, or is the initial one.
func conceivable(t *litmus.Test) bool {
	m := newMachine(t)
	regs, final := map[litmus.Term]int64{}, map[string]int64{}
	for _, a := range atoms(t) {
		if a.Left.Kind == litmus.TermLoc {
			final[a.Left.Name] = a.Right.Value
		} else {
			regs[a.Left] = a.Right.Value
		}
	}
	written := map[string]map[int64]bool{}
	for i := range t.Locations {
		written[t.Locations[i].Name] = map[int64]bool{t.Locations[i].Init: true}
	}
	type read struct {
		at string
		v  int64
	}
	var reads []read
	for i := range t.Threads {
		for m.local(i) {
			in := &t.Threads[i].Body[m.pc[i]]
			at := m.loc[i][m.pc[i]]
			v := regs[litmus.Term{Kind: litmus.TermReg, Thread: i, Name: in.Dst}]
			if in.Dst != "" {
				reads = append(reads, read{at, v})
			}
			if w, writes := m.access(i, v); writes {
				written[at][w] = true
				m.mem[at] = w
			}
		}
	}
	for _, r := range reads {
		if !written[r.at][r.v] {
			return false
		}
	}
	for l, v := range final {
		if !written[l][v] {
			return false
		}
	}
	return true
}

// atoms lists the equations of a test's condition.
func atoms(t *litmus.Test) []litmus.Atom {
	switch e := t.Cond.Expr.(type) {
	case litmus.Atom:
		return []litmus.Atom{e}
	case litmus.And:
		var out []litmus.Atom
		for _, x := range e.List {
			out = append(out, x.(litmus.Atom))
		}
		return out
	}
	return nil
}

// plain is a test without its asynchronous words: accesses by copies are those that they perform, threads meet nowhere, and waits
// are answered.
func plain(t *litmus.Test) *litmus.Test {
	c := t.Clone()
	for i := range c.Threads {
		th := &c.Threads[i]
		var body []litmus.Instr
		through := map[string]litmus.Addr{} // what is copied to a place, or from it
		for _, in := range th.Body {
			if in.Async != nil && in.Async.Kind == litmus.AsyncCopy {
				through[in.Addr.Reg] = in.More[0]
			}
			if in.Async != nil && in.Async.Kind == litmus.BulkCopy {
				through[in.More[0].Reg] = in.Addr
			}
		}
		for _, in := range th.Body {
			switch {
			case in.Async != nil && in.Async.Kind == litmus.MbarWait:
				body = append(body, litmus.Instr{Op: litmus.OpMov, Dst: in.Dst, Src: []litmus.Operand{litmus.Const(1)}})
			case in.Async == nil:
				if at, ok := through[in.Addr.Reg]; ok {
					in.Addr = at
				}
				body = append(body, in)
			}
		}
		th.Body = body
	}
	return c
}
