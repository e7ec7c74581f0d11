package hazard

import (
	"slices"

	"optcheck/isa"
)

// Kind is the kind of a dependency between two instructions over a register.
type Kind uint8

// The kinds of dependencies.
const (
	RAW     Kind = iota // the second reads what the first writes
	WAW                 // both write
	WAR                 // the second writes what the first reads
	SetWait             // the second waits for the scoreboard that the first sets
)

func (k Kind) String() string { return [...]string{"raw", "waw", "war", "set-wait"}[k] }

// dep is a dependency as the control codes leave it: how long the second instruction waits, and for what.
type dep struct {
	kind     Kind
	from, to int // instructions
	reg      isa.Reg
	// cycles is the least number of cycles between the two issues, at most horizon.
	cycles int
	// open tells that, on a path, nothing waited for the first's result (of write after read: for its reads) although its time
	// is variable; fixed that no
	// time is, so that cycles must suffice (of write after write: that of neither).
	open, fixed bool
	most        int  // cycles that any consumer of the first needs
	settling    bool // a DEPBAR has waited for the first's result, too few cycles before; cycles are those since
	again       bool // the instructions were reached from another caller before
	stale       bool // something else has written the register since, on every path
}

// horizon is the number of cycles after which no instruction of fixed latency is in flight.
const horizon = 64

// pending is an instruction that may be in flight.
type pending struct {
	inst int32
	age  uint8 // least cycles since its issue, at most horizon
	// later is the least number of times that what answers behind it set scoreboard counted since, which it set itself, or else the first of them
	// did. Of what is waited for by groups, it is the number of groups that have ended since.
	later, counted uint8
	// wrote and read are the scoreboards each of which tells that it has written, and read its operands; write tells that
	// it was not waited for, reading in how many cycles it has read them.
	wrote, read uint8
	write       bool
	// settle is in how many cycles its results are there for certain, since a DEPBAR has waited for them; 0 if none has.
	settle  uint8
	reading uint8
	// guarded tells that its guard has the value that it had.
	guarded bool
	// outer tells that it was in flight when the function that runs was called.
	outer bool
	// stale are its first results that something else has written since.
	stale uint64
}

// unread is the time of reads of which only a scoreboard tells.
const unread = 255

// reads tells that operands may not have been read.
func (p *pending) reads() bool { return p.reading > 0 }

// state is what may be in flight, by instruction.
type state []pending

// join adds what may be in flight on another path, and reports whether that is more than before.
func (s *state) join(o state) bool {
	changed, i := false, 0
	for _, p := range o {
		for i < len(*s) && (*s)[i].inst < p.inst {
			i++
		}
		if i == len(*s) || (*s)[i].inst != p.inst {
			*s = slices.Insert(*s, i, p)
			changed = true
			continue
		}
		q := &(*s)[i]
		was := *q
		q.age, q.later = min(q.age, p.age), min(q.later, p.later)
		if q.counted != p.counted {
			q.later, q.counted = 0, 0
		}
		q.wrote, q.read = q.wrote&p.wrote, q.read&p.read
		q.joinResults(p)
		q.reading = max(q.reading, p.reading)
		q.guarded, q.outer = q.guarded && p.guarded, q.outer && p.outer
		q.stale &= p.stale
		changed = changed || *q != was
	}
	return changed
}

// joinResults adds that, on another path, results may be there later.
func (p *pending) joinResults(o pending) {
	switch {
	case !o.write:
	case !p.write:
		p.write, p.settle = true, o.settle
	case p.settle == 0 || o.settle == 0:
		p.settle = 0
	default:
		p.settle = max(p.settle, o.settle)
	}
}

// meetResults adds what is known of the same instruction from elsewhere.
func (p *pending) meetResults(o pending) {
	p.write = p.write && o.write
	if p.settle == 0 || o.settle > 0 {
		p.settle = min(o.settle, p.settle|o.settle)
	}
}

// scoreboards is their number.
const scoreboards = 6

// step lets an instruction wait, and issues it.
func (w *walk) step(s state, i int) state {
	in, e := &w.fn.Insts[i], &w.effects[i]
	s = w.await(s, in, i)
	if e.skip {
		return w.age(s, i, false)
	}
	if w.visit != nil {
		w.check(s, e, i)
	}
	if e.drains.after > 0 {
		for k := range s {
			if from := s[k].inst; w.effects[from].queue != "" && stallOf(&w.fn.Insts[from]) >= e.drains.stall {
				s[k].reading = min(s[k].reading, e.drains.after)
			}
		}
	}
	s = w.age(s, i, true)
	if len(e.defs) == 0 && !e.reads {
		return s
	}
	c := in.Control
	p := pending{inst: int32(i), age: stallOf(in), guarded: true, wrote: board(c.Write), counted: board(c.Write), read: board(c.Read) | board(c.Write)}
	p.write = e.variable && len(e.defs) > 0
	if e.reads && len(e.uses) > 0 {
		p.reading = unread
	}
	at, _ := slices.BinarySearchFunc(s, p, func(a, b pending) int { return int(a.inst) - int(b.inst) })
	return slices.Insert(s, at, p)
}

// drained is how long a stall count of zero with yield keeps the next instruction: on an H200 57 cycles at least, longer while memory has not
// answered (docs/results/h200/stalls.txt).
const drained = 57

// stallOf is the least time from an instruction to the next one. Without yield, an H200 goes on after one or two cycles where the count is above 11, or 0.
func stallOf(in *isa.Inst) uint8 {
	switch c := in.Control; {
	case c.Stall == 0 && c.Yield:
		return drained
	case c.Stall > 11 && !c.Yield:
		return 1
	default:
		return max(1, c.Stall)
	}
}

// board is the set of one scoreboard.
func board(n uint8) uint8 {
	if n < scoreboards {
		return 1 << n
	}
	return 0
}

// age lets the time of an instruction's stall pass for what is in flight, which it replaces if it was in flight itself.
func (w *walk) age(s state, i int, known bool) state {
	in, e := &w.fn.Insts[i], &w.effects[i]
	c := in.Control
	stall, sets := stallOf(in), board(c.Write)|board(c.Read)
	guards := e.defBits & predicates
	out := s[:0]
	for _, p := range s {
		if int(p.inst) == i && known {
			continue
		}
		from := &w.fn.Insts[p.inst]
		f := &w.effects[p.inst]
		if e.inOrder != "" && e.inOrder == f.inOrder {
			p.behind(board(c.Write), in.Guard == (isa.Guard{}))
		}
		if f.has(grouped) && e.has(grouped) && commits(in) {
			p.later = min(p.later+1, 63)
		}
		if e.queue != "" && e.queue == f.queue {
			p.read |= sets
		}
		if guards != 0 && from.Guard.Reg != (isa.Reg{}) && slices.Contains(e.defs, from.Guard.Reg) {
			p.guarded = false
		}
		if in.Guard == (isa.Guard{}) && e.defBits&f.defBits != 0 {
			p.overwritten(f.defs, e.defs)
		}
		p.age = min(horizon, p.age+stall)
		if p.reading < unread {
			p.reading -= min(p.reading, stall)
		}
		if p.settle > 0 {
			p.settle -= min(p.settle, stall)
			p.write = p.settle > 0
		}
		if p.age == horizon && !p.write && !p.reads() {
			continue
		}
		out = append(out, p)
	}
	return out
}

// predicates is the hash of all predicates.
var predicates = func() (set uint64) {
	for n := range uint16(8) {
		set |= hash([]isa.Reg{{Class: isa.ClassPred, Num: n}, {Class: isa.ClassUPred, Num: n}})
	}
	return set
}()

// overwritten takes over that another instruction writes registers.
func (p *pending) overwritten(own, by []isa.Reg) {
	for k, r := range own[:min(len(own), 64)] {
		if slices.Contains(by, r) {
			p.stale |= 1 << k
		}
	}
}

// check reports the dependencies of an instruction on what is in flight. What is elsewhere may use any register.
func (w *walk) check(s state, e *effect, i int) {
	if w.away(i) {
		for k := range s {
			f := &w.effects[s[k].inst]
			for _, r := range f.defs {
				w.open(RAW, &s[k], i, r)
			}
			for _, r := range f.uses {
				if r.Class == isa.ClassGPR {
					w.open(WAR, &s[k], i, r)
				}
			}
		}
	}
	to := w.fn.Insts[i].Guard
	for k := range s {
		p := &s[k]
		f := &w.effects[p.inst]
		if f.defBits&(e.useBits|e.defBits) == 0 && f.useBits&e.defBits == 0 {
			continue
		}
		g := w.fn.Insts[p.inst].Guard
		other := p.guarded && g.Reg == to.Reg && g.Reg != (isa.Reg{}) && g.Neg != to.Neg // no thread does both
		if f.defBits&e.useBits != 0 {
			w.each(RAW, p, i, f.defs, e.uses, other)
		}
		if f.defBits&e.defBits != 0 && (f.inOrder == "" || f.inOrder != e.inOrder) {
			w.each(WAW, p, i, f.defs, e.defs, other)
		}
		if f.later(e) && f.useBits&e.defBits != 0 {
			w.each(WAR, p, i, f.uses, e.defs, other)
		}
	}
}

// open reports a dependency on what is in flight until something waits for it.
func (w *walk) open(kind Kind, p *pending, to int, r isa.Reg) {
	if d := w.dependency(kind, p, to, r); d.open {
		w.visit(d)
	}
}

// dependency is that of an instruction on one in flight.
func (w *walk) dependency(kind Kind, p *pending, to int, r isa.Reg) dep {
	f, e := &w.effects[p.inst], &w.effects[to]
	open, fixed := p.write, !f.variable && (kind == RAW || kind == WAW && !e.variable || kind == WAR && f.has(lags))
	if r == group { // of which no scoreboard tells
		open, fixed = false, kind == RAW
	}
	if kind == WAR || r.Class == isa.ClassPred && f.has(early) {
		open = p.reads()
	}
	d := dep{kind: kind, from: int(p.inst), to: to, reg: r, cycles: int(p.age), open: open, most: f.most, fixed: fixed}
	if open && kind != WAR && p.settle > 0 {
		d.settling, d.cycles = true, int(w.table.countWait-p.settle)
	}
	return d
}

// each reports the dependencies of a kind; other tells that no thread performs both instructions, which then share the registers of a warp alone.
func (w *walk) each(kind Kind, p *pending, to int, a, b []isa.Reg, other bool) {
	f, e := &w.effects[p.inst], &w.effects[to]
	of := w.fn.Insts[to].Guard.Reg
	for k, r := range a {
		if other && (r == of || r.Class == isa.ClassGPR || r.Class == isa.ClassPred || of.Class == isa.ClassUPred) {
			continue
		}
		if kind == RAW && f.has(grouped) && e.has(grouped) && slices.Contains(e.defs, r) {
			continue // sums are added to in the order of issue
		}
		if slices.Contains(b, r) && (kind != WAR || f.readsLate(r)) {
			d := w.dependency(kind, p, to, r)
			d.stale = kind == RAW && p.stale>>k&1 != 0
			w.visit(d)
		}
	}
}
