package exec

import (
	"fmt"

	"optcheck/litmus"
)

// Limits of what is judged. Exceeding one is an error that says so.
const (
	// MaxThreads is the largest number of threads of a test.
	MaxThreads = 32
	// maxThreadEvents bounds the events of one path; sets of them are words.
	maxThreadEvents = 64
	maxPaths        = 4096
	maxSteps        = 1 << 19 // instructions executed on all paths of a thread
	maxValueWork    = 1 << 24 // operations to find the values of addresses
	maxDomain       = 64
	maxProduct      = 1 << 14
	maxNodes        = 1024
)

// location is a name of shared memory. Aliases have a root other than
// themselves.
type location struct {
	name  string
	root  int16 // index of the location that is meant
	virt  int16 // index of the generic address: a generic alias is another one
	proxy litmus.Proxy
	space litmus.Space
	init  int64
	size  int64 // in bytes; 0 where locations are not divided
	first int16 // of its cells
	n     int16 // number of its cells
	of    int16 // location that it is a part of, -1
	off   int64 // of a part
}

// Addresses are numbers, so that tests can compute with them. They differ from small values and
// have no high bit, which artificial dependencies test.
const (
	addrBase = 0x08000000
	addrStep = 0x1000
)

// operand is a constant (reg < 0) or a register.
type operand struct {
	reg int16
	k   int64
}

type instr struct {
	in     *litmus.Instr
	guard  int16 // register or -1
	dst    int16 // register or -1
	target int16
	addr   operand
	more   [2]operand // further addresses
	src    [5]operand
	meet   *meeting // of an operation of several threads
}

type thread struct {
	regs  []string
	init  []int64
	code  []instr
	place litmus.Place
	terms []int16 // registers that the final state names
	// events is the number of events of a pass through the code.
	events int
}

// Program is a test, resolved: registers, locations and labels are numbers.
type Program struct {
	Test    *litmus.Test
	Terms   []litmus.Term
	locs    []location
	cells   []cell
	divided bool
	threads []thread
	code    []instr // memory of the threads' code
	// termReg gives for every term of a register its index in the thread's
	// terms; for a location the root's index.
	termIdx []int16
}

// Compile resolves the names of a test. Errors carry file, line and column.
func Compile(t *litmus.Test) (*Program, error) {
	if u, _, err := t.Unrolled(); err == nil {
		t = u // its loops need no cut
	}
	p := &Program{Test: t, Terms: t.Terms()}
	if len(t.Threads) > MaxThreads {
		return nil, posError(t.Threads[MaxThreads].Pos, "test %s has %d threads; at most %d can be judged", t.Name, len(t.Threads), MaxThreads)
	}
	if err := p.locations(); err != nil {
		return nil, err
	}
	p.threads = make([]thread, len(t.Threads))
	n := 0
	for i := range t.Threads {
		n += len(t.Threads[i].Body)
	}
	p.code = make([]instr, n)
	for i := range t.Threads {
		if err := p.thread(i); err != nil {
			return nil, err
		}
	}
	p.meetings()
	return p, p.terms()
}

func posError(pos litmus.Pos, format string, args ...any) error {
	return &litmus.Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

func (p *Program) locations() error {
	p.locs = make([]location, len(p.Test.Locations))
	for i := range p.Test.Locations {
		l := &p.Test.Locations[i]
		loc := &p.locs[i]
		*loc = location{name: l.Name, root: int16(i), virt: int16(i), proxy: l.Proxy, space: l.Space, init: l.Init, of: -1, off: l.Offset}
		if loc.proxy == litmus.ProxyNone {
			loc.proxy = litmus.ProxyGeneric
		}
		if loc.space == litmus.Generic {
			loc.space = litmus.Global
		}
	}
	for i := range p.Test.Locations {
		l := &p.Test.Locations[i]
		if l.Of != "" {
			j := p.location(l.Of)
			if j < 0 || p.Test.Locations[j].Of != "" || p.Test.Locations[j].Alias != "" {
				return posError(l.Pos, "%s is a part of %s, which is no location", l.Name, l.Of)
			}
			p.locs[i].of = int16(j)
		}
		for hops := 0; l.Alias != ""; hops++ {
			j := p.location(l.Alias)
			if j < 0 || hops > len(p.locs) {
				return posError(l.Pos, "%s is an alias of %s, which is no location", l.Name, l.Alias)
			}
			if l.Proxy != litmus.ProxyGeneric && l.Proxy != litmus.ProxyNone && p.locs[i].virt == p.locs[i].root {
				p.locs[i].virt = int16(j)
			}
			p.locs[i].root, l = int16(j), &p.Test.Locations[j]
		}
	}
	p.whole()
	return nil
}

func (p *Program) location(name string) int {
	for i := range p.locs {
		if p.locs[i].name == name {
			return i
		}
	}
	return -1
}

// address returns the address of a location.
func (p *Program) address(l int) int64 {
	if of := p.locs[l].of; of >= 0 {
		return p.address(int(of)) + p.locs[l].off
	}
	return addrBase + int64(l)*addrStep
}

// at returns the location at an address, or -1, and the offset in it.
func (p *Program) at(addr int64) (loc int, off int64) {
	k := addr - addrBase
	if k < 0 || k/addrStep >= int64(len(p.locs)) {
		return -1, 0
	}
	return int(k / addrStep), k % addrStep
}

func (p *Program) thread(i int) error {
	t := &p.Test.Threads[i]
	th := &p.threads[i]
	th.place = t.Place
	if !t.Placed {
		// A thread without a place is alone in its CTA, on the same GPU. The
		// numbers cannot meet those of placed threads.
		th.place = litmus.Place{Cluster: -1 - i, CTA: -1 - i}
	}
	for j := range t.Regs {
		d := &t.Regs[j]
		r := th.reg(d.Name)
		switch d.Init.Kind {
		case litmus.OperandConst:
			th.init[r] = d.Init.Value
		case litmus.OperandLoc:
			l := p.location(d.Init.Name)
			if l < 0 {
				return posError(d.Pos, "unknown location %s", d.Init.Name)
			}
			th.init[r] = p.address(l)
		}
	}
	th.code = p.code[:len(t.Body):len(t.Body)]
	p.code = p.code[len(t.Body):]
	for j := range t.Body {
		if err := p.instr(th, t, &th.code[j], &t.Body[j]); err != nil {
			return err
		}
	}
	return nil
}

// reg returns the number of a register, assigning one at its first use. Registers start at 0.
func (th *thread) reg(name string) int16 {
	for i, r := range th.regs {
		if r == name {
			return int16(i)
		}
	}
	th.regs = append(th.regs, name)
	th.init = append(th.init, 0)
	return int16(len(th.regs) - 1)
}

func (p *Program) instr(th *thread, t *litmus.Thread, out *instr, in *litmus.Instr) error {
	*out = instr{in: in, guard: -1, dst: -1, target: -1, addr: operand{reg: -1}}
	if in.Guard != nil {
		out.guard = th.reg(in.Guard.Reg)
	}
	if in.Dst != "" && in.Dst != "_" {
		out.dst = th.reg(in.Dst)
	}
	if len(in.Src) > len(out.src) {
		return posError(in.Pos, "%s has %d source operands; at most %d have a meaning", in, len(in.Src), len(out.src))
	}
	for i, s := range in.Src {
		if err := p.operand(th, in, &out.src[i], s); err != nil {
			return err
		}
	}
	for i := len(in.Src); i < len(out.src); i++ {
		out.src[i].reg = -1
	}
	switch {
	case in.Op == litmus.OpAtom || in.Op == litmus.OpRed:
		th.events += 2
	case in.Op.IsAccess() || in.Op.IsFence() || in.Op == litmus.OpBar:
		th.events++
	}
	switch {
	case in.Op == litmus.OpBar:
		b := &in.Barrier
		for i, s := range [...]litmus.Operand{b.ID, b.Resource, b.Quorum} {
			if err := p.operand(th, in, &out.src[i], s); err != nil {
				return err
			}
		}
	case in.Op.IsAccess():
		return p.access(th, out, in)
	case in.Op == litmus.OpAsync:
		return p.asynchronous(th, out, in)
	case in.Op == litmus.OpBra:
		for j := range t.Body {
			for _, l := range t.Body[j].Labels {
				if l == in.Target {
					out.target = int16(j)
				}
			}
		}
		if out.target < 0 {
			return posError(in.Pos, "no label %s in thread %s", in.Target, t.Name)
		}
	}
	return nil
}

func (p *Program) access(th *thread, out *instr, in *litmus.Instr) error {
	want := 0
	if in.Op != litmus.OpLd {
		want = 1
	}
	if in.Atom == litmus.AtomCAS {
		want = 2
	}
	if len(in.Src) < want {
		return posError(in.Pos, "%s has too few operands", in)
	}
	switch {
	case in.Addr.Loc != "":
		l := p.location(in.Addr.Loc)
		if l < 0 {
			return posError(in.Pos, "unknown location %s", in.Addr.Loc)
		}
		out.addr.k = p.address(l)
	case in.Addr.Reg != "":
		out.addr.reg = th.reg(in.Addr.Reg)
	default:
		return posError(in.Pos, "%s has no address", in)
	}
	return nil
}

// asynchronous resolves the addresses of an asynchronous operation.
func (p *Program) asynchronous(th *thread, out *instr, in *litmus.Instr) error {
	if in.Async == nil || len(in.More) > len(out.more) {
		return posError(in.Pos, "%s has no meaning", in)
	}
	if in.Addr.Loc == "" && in.Addr.Reg == "" {
		th.events += 4
		return nil
	}
	th.events += 8
	for i, a := range append([]litmus.Addr{in.Addr}, in.More...) {
		o := &out.addr
		if i > 0 {
			o = &out.more[i-1]
		}
		if o.reg = -1; a.Loc == "" {
			o.reg = th.reg(a.Reg)
			if th.init[o.reg] < addrBase {
				return posError(in.Pos, "%s: register %s holds no location", in, a.Reg)
			}
			continue
		}
		l := p.location(a.Loc)
		if l < 0 {
			return posError(in.Pos, "unknown location %s", a.Loc)
		}
		o.k = p.address(l)
	}
	return nil
}

func (p *Program) operand(th *thread, in *litmus.Instr, out *operand, o litmus.Operand) error {
	switch out.reg = -1; o.Kind {
	case litmus.OperandConst:
		out.k = o.Value
	case litmus.OperandReg:
		out.reg = th.reg(o.Name)
	case litmus.OperandLoc:
		l := p.location(o.Name)
		if l < 0 {
			return posError(in.Pos, "unknown location %s", o.Name)
		}
		out.k = p.address(l)
	}
	return nil
}

// terms resolves the terms of the final state.
func (p *Program) terms() error {
	p.termIdx = make([]int16, len(p.Terms))
	for i, x := range p.Terms {
		switch x.Kind {
		case litmus.TermLoc:
			l := p.location(x.Name)
			if l < 0 {
				return posError(p.Test.Cond.Pos, "unknown location %s in the condition", x.Name)
			}
			p.termIdx[i] = p.locs[l].root
			if p.locs[l].of >= 0 {
				p.termIdx[i] = int16(l)
			}
		case litmus.TermReg:
			if x.Thread < 0 || x.Thread >= len(p.threads) {
				return posError(p.Test.Cond.Pos, "no thread %d for register %s of the condition", x.Thread, x.Name)
			}
			th := &p.threads[x.Thread]
			p.termIdx[i] = int16(len(th.terms))
			th.terms = append(th.terms, th.reg(x.Name))
		}
	}
	return nil
}
