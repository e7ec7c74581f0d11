package refine

import (
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// writes reports whether an effect writes memory that others read.
func writes(e ir.Effect) bool {
	switch do := e.(type) {
	case *ir.Access:
		return do.Kind != ir.Load && do.Space != ir.Local && do.Space != ir.Param
	case *ir.Copy:
		return do.Kind == ir.CopyAsync
	}
	return false
}

// take counts the operations of a run that were compared: of a whole run all that were performed, of a cut one those that the
// machine code had come to. What was stored of undefined content was not.
func (c *comparison) take(g *emu.Grid, lanes []*lane) {
	if c.compared == nil {
		c.compared, c.undefined = make([]bool, len(c.program.Insts)), make([]bool, len(c.program.Insts))
	}
	undefined, sure := make([]bool, len(c.compared)), make([]bool, len(c.compared))
	for _, l := range lanes {
		if l != nil {
			l.compared(undefined, sure)
		}
	}
	for i := range c.compared {
		if sure[i] || !g.Cut && g.Cover.Insts[i] && !undefined[i] {
			c.compared[i] = true
		}
		c.undefined[i] = c.undefined[i] || undefined[i]
	}
}

// compared marks the operations of a lane of which something defined was compared, and those of which something was undefined.
func (l *lane) compared(undefined, sure []bool) {
	known := l.counted()
	for i := range l.rec.Events {
		e := &l.rec.Events[i]
		switch {
		case l.open.values[i] || l.open.inputs[i]:
			undefined[e.Inst] = true
		case i < known && (i < l.at || l.done.has(i)):
			sure[e.Inst] = true
		}
	}
	n := len(l.rec.Epochs)
	if l.cut {
		n = min(n, len(l.epochs)-1)
	}
	for _, e := range l.rec.Epochs[:max(n, 0)] {
		for w, s := range e.All() {
			if s.Mask&^l.open.words[w] != 0 {
				sure[s.Inst] = true
			} else {
				undefined[s.Inst] = true
			}
		}
	}
}

// counted is the number of events of which it is known how often they are performed. Where a record that was cut ends with one atomic again and
// again, the machine code may perform that more often each time.
func (l *lane) counted() int {
	all := l.rec.Events
	if !l.cut || l.at == 0 {
		return len(all)
	}
	n, last := l.at, &all[l.at-1]
	for n > 0 && last.Kind == emu.EventAtomic && all[n-1].Inst == last.Inst {
		n--
	}
	if n == l.at {
		return len(all)
	}
	return n
}

// forget takes from what the machine code performed in a run that was cut the weak stores that were not compared: those since the last
// synchronisation.
func (c *comparison) forget(cover *emu.Coverage, lanes []*lane) {
	sure := map[int32]bool{}
	for _, l := range lanes {
		if l == nil {
			continue
		}
		for _, e := range l.epochs[:len(l.epochs)-1] {
			for _, s := range e.All() {
				sure[s.Inst] = true
			}
		}
	}
	for i := range c.machine.Insts {
		a, ok := c.machine.Insts[i].Do.(*ir.Access)
		weak := ok && a.Kind == ir.Store && (a.Sem == ir.Weak || a.Space != ir.Global && a.Space != ir.Generic)
		cover.Insts[i] = cover.Insts[i] && (!weak || sure[int32(i)])
	}
}

// conclude says what the runs performed, and what of the operations that write memory they did not.
// undecided are the comparisons of which it is open whether the machine code makes them.
func (c *comparison) conclude(undecided []int32) {
	c.Source, c.Machine = covered(c.program, c.sourceCover), covered(c.machine, c.machineCover)
	if c.searches() {
		for _, i := range undecided {
			if n := c.program.Insts[i].Source; !slices.Contains(c.Undecided, n) {
				c.Undecided = append(c.Undecided, n)
			}
		}
	}
	for _, i := range left(c.program, c.ranges, func(i int) bool { return c.compared != nil && c.compared[i] }) {
		in := &c.program.Insts[i]
		if n := in.Source; !slices.Contains(c.Unseen, n) && !c.never(int32(i), in.Guard, !in.Not) {
			c.Unseen = append(c.Unseen, n)
			if c.undefined != nil && c.undefined[i] {
				c.Undefined = append(c.Undefined, n)
			}
		}
	}
	c.Seen, c.Performed = map[int]bool{}, map[uint64]bool{}
	for i, yes := range c.sourceCover.Insts {
		if yes {
			c.Seen[c.program.Insts[i].Source] = true
		}
	}
	for i, yes := range c.machineCover.Insts {
		if yes {
			c.Performed[c.machine.Insts[i].Addr] = true
		}
	}
	unwritten := left(c.machine, func() *ranges { return rangesOf(c.machine) }, func(i int) bool { return c.machineCover.Insts[i] || c.avoided[int32(i)] })
	for _, i := range unwritten {
		c.Unwritten = append(c.Unwritten, Code{c.machine.Insts[i].Addr, c.machine.Insts[i].Text})
	}
	for i := range c.machine.Insts {
		if in := &c.machine.Insts[i]; writes(in.Do) && !c.machineCover.Insts[i] && !slices.Contains(unwritten, i) {
			c.Unreached = append(c.Unreached, in.Addr)
		}
	}
}

// left are the instructions of a program that write memory, or are not understood, and that were not seen, though a thread may come to them.
func left(p *ir.Program, known func() *ranges, seen func(i int) bool) (out []int) {
	for i := range p.Insts {
		if in := &p.Insts[i]; (writes(in.Do) || in.Opaque != "") && !seen(i) {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return nil
	}
	if may := known(); may != nil {
		out = slices.DeleteFunc(out, func(i int) bool { return !may.seen[i] })
	}
	return out
}

// covered says what of a program was performed, without what fills it up.
func covered(p *ir.Program, c *emu.Coverage) (out Covered) {
	for i := range p.Insts {
		in := &p.Insts[i]
		f, flows := in.Do.(*ir.Flow)
		if in.Do == nil && len(in.Pre) == 0 && in.Opaque == "" || flows && f.Kind == ir.Jump && f.Target == int32(i) {
			continue
		}
		out.Of++
		if c.Insts[i] {
			out.Insts++
		}
		if flows && f.Kind == ir.Jump && (in.Guard >= 0 || f.Cond >= 0) {
			out.OutcomesOf += 2
			for _, yes := range []bool{c.Taken[i], c.Passed[i]} {
				if yes {
					out.Outcomes++
				}
			}
		}
	}
	return out
}
