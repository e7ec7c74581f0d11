// Package gen makes small random litmus tests, for the tests and measurements
// of the model engine. The tests mean nothing in particular; they are many and
// different.
package gen

import (
	"fmt"
	"math/rand/v2"

	"optcheck/litmus"
)

// Config says what the tests contain.
type Config struct {
	MinThreads, MaxThreads int
	MaxInstr               int  // memory accesses and fences of a thread
	MaxAccesses            int  // in all; 0 means no bound
	Locations              int  // 1 to 4
	Strong                 bool // relaxed, acquire, release, scopes
	Atomics                bool
	Fences                 bool // fence.*; else membar only if Membar
	Membar                 bool
	SC                     bool // every third instruction is a fence.sc, of any scope
	Barriers               bool
	Proxies                bool
	Deps                   bool
	Sizes                  bool // bytes and 16-bit words of locations
	// SameGPU keeps all threads on one GPU and in one grid.
	SameGPU bool
}

// Test makes one test. The same generator state gives the same test.
func Test(r *rand.Rand, c Config, name string) *litmus.Test {
	g := &gen{r: r, c: c, left: c.MaxAccesses}
	if g.left == 0 {
		g.left = 1 << 20
	}
	t := &litmus.Test{Dialect: litmus.PTX, Name: name}
	g.t = t
	for i := range max(1, c.Locations-r.IntN(4)/3) {
		t.Locations = append(t.Locations, litmus.Location{Name: string("xyzw"[i])})
	}
	if c.Proxies {
		g.aliases()
	}
	for i := range c.MinThreads + r.IntN(c.MaxThreads-c.MinThreads+1) {
		g.thread(i)
	}
	g.condition()
	return t
}

type gen struct {
	r     *rand.Rand
	c     Config
	t     *litmus.Test
	left  int
	value int64
	loads []litmus.Term
}

func (g *gen) aliases() {
	proxies := []litmus.Proxy{litmus.ProxyGeneric, litmus.ProxyTexture, litmus.ProxySurface, litmus.ProxyConstant}
	for i := range 1 + g.r.IntN(2) {
		target := g.t.Locations[g.r.IntN(len(g.t.Locations)-i)]
		g.t.Locations = append(g.t.Locations, litmus.Location{Name: string("ab"[i]), Alias: target.Name, Proxy: proxies[g.r.IntN(4)]})
	}
}

func (g *gen) chance(k, n int) bool { return g.r.IntN(n) < k }

func (g *gen) thread(i int) {
	th := litmus.Thread{Name: fmt.Sprintf("P%d", i), ID: i, Placed: true}
	p := &th.Place
	if !g.c.SameGPU && g.chance(1, 6) {
		p.GPU = 1
	}
	p.Cluster, p.CTA = g.r.IntN(2), g.r.IntN(2)
	p.Warp = i
	g.t.Threads = append(g.t.Threads, th)
	b := &body{gen: g, th: &g.t.Threads[i], i: i}
	for range max(1, g.c.MaxInstr-g.r.IntN(3)) {
		b.instr()
	}
	b.finish()
}

// body makes one thread's code.
type body struct {
	*gen
	th    *litmus.Thread
	i     int
	regs  int
	last  string // register of the last load, "" if there is none
	label string // of an open forward branch
}

func (b *body) emit(in litmus.Instr) { b.th.Body = append(b.th.Body, in) }

func (b *body) reg() string {
	b.regs++
	return fmt.Sprintf("r%d", b.regs-1)
}

func (b *body) loc() litmus.Addr {
	return litmus.Addr{Loc: b.t.Locations[b.r.IntN(len(b.t.Locations))].Name}
}

func (b *body) scope() litmus.Scope {
	return []litmus.Scope{litmus.ScopeCTA, litmus.ScopeCluster, litmus.ScopeGPU, litmus.ScopeGPU, litmus.ScopeSys}[b.r.IntN(5)]
}

func (b *body) instr() {
	if (b.c.Fences || b.c.Membar) && b.chance(1, 4) {
		b.fence()
		return
	}
	if b.c.SC && b.chance(1, 3) {
		b.emit(litmus.Instr{Op: litmus.OpFence, Sem: litmus.SemSC, Scope: b.scope()})
		return
	}
	if b.c.Barriers && b.chance(1, 8) {
		b.emit(litmus.Instr{Op: litmus.OpBar, Barrier: litmus.Barrier{ID: litmus.Const(0), Arrive: b.chance(1, 5)}})
		return
	}
	if b.left <= 0 {
		return
	}
	b.left--
	switch {
	case b.c.Atomics && b.chance(1, 6):
		b.atomic()
	case b.chance(1, 2):
		b.load()
	default:
		b.store()
	}
}

func (b *body) fence() {
	if b.c.Membar {
		b.emit(litmus.Instr{Op: litmus.OpMembar, Scope: []litmus.Scope{litmus.ScopeCTA, litmus.ScopeGPU, litmus.ScopeSys}[b.r.IntN(3)]})
		return
	}
	if b.c.Proxies && b.chance(1, 2) {
		b.emit(litmus.Instr{Op: litmus.OpFenceProxy, Proxy: litmus.Proxy(2 + b.r.IntN(4))})
		return
	}
	sem := []litmus.Sem{litmus.SemSC, litmus.SemSC, litmus.SemAcqRel, litmus.SemAcquire, litmus.SemRelease}[b.r.IntN(5)]
	b.emit(litmus.Instr{Op: litmus.OpFence, Sem: sem, Scope: b.scope()})
}

// depend puts a dependency on the last load before the next access: it may
// return a register to store, or open a branch.
func (b *body) depend(in *litmus.Instr) {
	if !b.c.Deps || b.last == "" || !b.chance(1, 2) {
		return
	}
	zero := b.reg()
	switch b.r.IntN(3) {
	case 0: // address
		addr := b.reg()
		b.th.Regs = append(b.th.Regs, litmus.RegDecl{Name: addr, Type: litmus.B64, Init: litmus.Loc(in.Addr.Loc)})
		b.emit(litmus.Instr{Op: litmus.OpAnd, Dst: zero, Src: []litmus.Operand{litmus.Reg(b.last), litmus.Const(-1 << 31)}, Type: litmus.B32})
		b.emit(litmus.Instr{Op: litmus.OpAdd, Dst: addr, Src: []litmus.Operand{litmus.Reg(addr), litmus.Reg(zero)}, Type: litmus.S64})
		in.Addr = litmus.Addr{Reg: addr, Offset: in.Addr.Offset}
	case 1: // data
		if in.Op != litmus.OpSt {
			return
		}
		if b.chance(1, 2) {
			in.Src = []litmus.Operand{litmus.Reg(b.last)}
			return
		}
		b.emit(litmus.Instr{Op: litmus.OpAdd, Dst: zero, Src: []litmus.Operand{litmus.Reg(b.last), in.Src[0]}})
		in.Src = []litmus.Operand{litmus.Reg(zero)}
	case 2: // control
		if b.label == "" {
			b.label = fmt.Sprintf("L%d", b.i)
			b.emit(litmus.Instr{Op: litmus.OpBra, Cmp: []litmus.Cmp{litmus.CmpEq, litmus.CmpNe}[b.r.IntN(2)],
				Src: []litmus.Operand{litmus.Reg(b.last), litmus.Const(int64(b.r.IntN(2)))}, Target: b.label})
		}
	}
}

func (b *body) load() {
	in := litmus.Instr{Op: litmus.OpLd, Addr: b.loc(), Dst: b.reg()}
	if b.c.Strong && b.chance(2, 3) {
		in.Sem, in.Scope = []litmus.Sem{litmus.SemRelaxed, litmus.SemAcquire}[b.r.IntN(2)], b.scope()
	}
	b.size(&in)
	b.depend(&in)
	b.emit(in)
	b.last = in.Dst
	b.observe(in.Dst)
}

// size has a load or store access all of its location, or a part.
func (b *body) size(in *litmus.Instr) {
	if !b.c.Sizes {
		return
	}
	switch b.r.IntN(4) {
	case 0:
		in.Type, in.Addr.Offset = litmus.U8, int64(b.r.IntN(2))
	case 1:
		in.Type, in.Addr.Offset = litmus.U16, int64(2*b.r.IntN(2))
	}
}

func (g *gen) next() int64 {
	g.value++
	return g.value
}

func (b *body) store() {
	in := litmus.Instr{Op: litmus.OpSt, Addr: b.loc(), Src: []litmus.Operand{litmus.Const(b.next())}}
	if b.c.Strong && b.chance(2, 3) {
		in.Sem, in.Scope = []litmus.Sem{litmus.SemRelaxed, litmus.SemRelease}[b.r.IntN(2)], b.scope()
	}
	if b.size(&in); b.c.Sizes {
		in.Src[0].Value *= 0x01010101 & (1<<in.Type.Bits() - 1)
	}
	b.depend(&in)
	b.emit(in)
}

func (b *body) atomic() {
	in := litmus.Instr{Op: litmus.OpAtom, Addr: b.loc(), Src: []litmus.Operand{litmus.Const(b.next())}}
	in.Sem = []litmus.Sem{litmus.SemRelaxed, litmus.SemAcquire, litmus.SemRelease, litmus.SemAcqRel}[b.r.IntN(4)]
	in.Scope = b.scope()
	in.Atom = []litmus.AtomOp{litmus.AtomAdd, litmus.AtomExch, litmus.AtomCAS}[b.r.IntN(3)]
	if !b.c.Strong {
		in.Sem, in.Scope = litmus.SemNone, litmus.ScopeNone
	}
	if in.Atom == litmus.AtomCAS {
		in.Src = []litmus.Operand{litmus.Const(int64(b.r.IntN(2))), in.Src[0]}
	}
	if in.Atom != litmus.AtomCAS && in.Atom != litmus.AtomExch && b.chance(1, 3) {
		in.Op = litmus.OpRed
		if b.c.Strong {
			in.Sem = []litmus.Sem{litmus.SemRelaxed, litmus.SemRelease}[b.r.IntN(2)]
		}
		b.emit(in)
		return
	}
	in.Dst = b.reg()
	b.emit(in)
	b.last = in.Dst
	b.observe(in.Dst)
}

func (b *body) observe(reg string) {
	b.loads = append(b.loads, litmus.Term{Kind: litmus.TermReg, Thread: b.i, Name: reg})
}

func (b *body) finish() {
	if b.label != "" {
		b.emit(litmus.Instr{Op: litmus.OpNop, Labels: []string{b.label}})
	}
	if len(b.th.Body) == 0 {
		b.emit(litmus.Instr{Op: litmus.OpNop})
	}
}

// condition asks for random values of what was loaded and, now and then, of
// memory; all else is observed.
func (g *gen) condition() {
	var list []litmus.Expr
	terms := g.loads
	for _, l := range g.t.Locations {
		if l.Alias == "" && g.chance(2, 3) {
			terms = append(terms, litmus.Term{Kind: litmus.TermLoc, Name: l.Name})
		}
	}
	for _, x := range terms {
		if g.chance(1, 4) {
			g.t.Observed = append(g.t.Observed, x)
			continue
		}
		list = append(list, litmus.Atom{Left: x, Cmp: litmus.CmpEq, Right: litmus.Term{Kind: litmus.TermConst, Value: int64(g.r.IntN(3))}})
	}
	switch len(list) {
	case 0:
		g.t.Cond.Expr = litmus.True{}
	case 1:
		g.t.Cond.Expr = list[0]
	default:
		g.t.Cond.Expr = litmus.And{List: list}
	}
}
