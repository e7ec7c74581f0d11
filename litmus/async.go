package litmus

import (
	"slices"
	"strings"
)

// Asynchronous operations, mbarriers and barriers of clusters (PTX ISA, Asynchronous Operations; Data
// Movement: Asynchronous copy; Parallel Synchronization: mbarrier, barrier.cluster, fence.proxy). Their
// mnemonics are fixed words, of which a table lists each that litmus tests have.

// AsyncKind is what an instruction with OpAsync does.
type AsyncKind uint8

// The kinds.
const (
	AsyncNone       AsyncKind = iota
	AsyncCopy                 // cp.async: Addr, More[0], Src[0] bytes
	AsyncCommit               // cp.async.commit_group
	AsyncWait                 // cp.async.wait_group Src[0], or wait_all
	AsyncCopyArrive           // cp.async.mbarrier.arrive: Addr
	BulkCopy                  // cp.async.bulk: Addr, More[0], Src[0] bytes, and the mbarrier More[1] or a bulk group
	BulkCommit                // cp.async.bulk.commit_group
	BulkWait                  // cp.async.bulk.wait_group Src[0]
	MbarArrive                // Dst (the phase's token, or "_"), Addr, and a count or bytes Src[0]
	MbarExpect                // mbarrier.expect_tx: Addr, Src[0] bytes
	MbarWait                  // test_wait, try_wait: Dst, Addr, Src[0] (a token, or a parity)
	ClusterArrive             // barrier.cluster.arrive
	ClusterWait               // barrier.cluster.wait
	AsyncProxyFence           // fence.proxy.async
)

// AsyncForm is a mnemonic of an asynchronous operation and what it says.
type AsyncForm struct {
	Name  string
	Kind  AsyncKind
	Sem   Sem
	Scope Scope
	// Operands are d (destination), a (address), s (source), and ? before one that may be left out.
	Operands string
	Expect   bool // Src[0] of an arrival is a number of bytes, which the mbarrier expects
	Parity   bool // of a wait: Src[0] is a parity
	Read     bool // of a wait for bulk groups: for what they read alone
	All      bool // of a wait for groups: for all copies, committed or not
	NoInc    bool // of cp.async.mbarrier.arrive: it is one of the arrivals that the mbarrier expects
	PTX, SM  int  // version and first target that have it
}

var asyncForms, asyncByName = func() ([]AsyncForm, map[string]*AsyncForm) {
	list := []AsyncForm{
		{Name: "cp.async.ca.shared.global", Kind: AsyncCopy, Operands: "aas", PTX: 70, SM: 80},
		{Name: "cp.async.cg.shared.global", Kind: AsyncCopy, Operands: "aas", PTX: 70, SM: 80},
		{Name: "cp.async.commit_group", Kind: AsyncCommit, PTX: 70, SM: 80},
		{Name: "cp.async.wait_group", Kind: AsyncWait, Operands: "s", PTX: 70, SM: 80},
		{Name: "cp.async.wait_all", Kind: AsyncWait, All: true, PTX: 70, SM: 80},
		{Name: "cp.async.mbarrier.arrive.shared.b64", Kind: AsyncCopyArrive, Operands: "a", PTX: 70, SM: 80},
		{Name: "cp.async.mbarrier.arrive.noinc.shared.b64", Kind: AsyncCopyArrive, Operands: "a", NoInc: true, PTX: 70, SM: 80},
		{Name: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", Kind: BulkCopy, Operands: "aasa", PTX: 80, SM: 90},
		{Name: "cp.async.bulk.global.shared::cta.bulk_group", Kind: BulkCopy, Operands: "aas", PTX: 80, SM: 90},
		{Name: "cp.async.bulk.commit_group", Kind: BulkCommit, PTX: 80, SM: 90},
		{Name: "cp.async.bulk.wait_group", Kind: BulkWait, Operands: "s", PTX: 80, SM: 90},
		{Name: "cp.async.bulk.wait_group.read", Kind: BulkWait, Operands: "s", Read: true, PTX: 80, SM: 90},
		{Name: "mbarrier.expect_tx.relaxed.cta.shared.b64", Kind: MbarExpect, Operands: "as", Sem: SemRelaxed, Scope: ScopeCTA, PTX: 80, SM: 90},
		{Name: "fence.proxy.async", Kind: AsyncProxyFence, PTX: 80, SM: 90},
	}
	ordered := func(name string, f AsyncForm, sem Sem, ptx, relaxed int) {
		with := func(word string, sem Sem, scope Scope, ptx, sm int) {
			g := f
			g.Name, g.Sem, g.Scope, g.PTX, g.SM = strings.Replace(name, "{}", word, 1), sem, scope, max(ptx, f.PTX), max(sm, f.SM)
			list = append(list, g)
		}
		with("", sem, ScopeCTA, ptx, 80)
		for _, scope := range []Scope{ScopeCTA, ScopeCluster} {
			with("."+sem.String()+"."+scope.String(), sem, scope, 80, map[Scope]int{ScopeCTA: 80, ScopeCluster: 90}[scope])
			with(".relaxed."+scope.String(), SemRelaxed, scope, relaxed, 90)
		}
	}
	ordered("mbarrier.arrive{}.shared.b64", AsyncForm{Kind: MbarArrive, Operands: "da?s"}, SemRelease, 70, 86)
	ordered("mbarrier.arrive.expect_tx{}.shared.b64", AsyncForm{Kind: MbarArrive, Operands: "das", Expect: true, PTX: 80, SM: 90}, SemRelease, 80, 86)
	for _, op := range []string{"test_wait", "try_wait"} {
		ptx := map[string]int{"test_wait": 70, "try_wait": 78}[op]
		sm := map[string]int{"test_wait": 80, "try_wait": 90}[op]
		ordered("mbarrier."+op+"{}.shared.b64", AsyncForm{Kind: MbarWait, Operands: "das", SM: sm}, SemAcquire, ptx, 86)
		ordered("mbarrier."+op+".parity{}.shared.b64", AsyncForm{Kind: MbarWait, Operands: "das", Parity: true, SM: sm}, SemAcquire, max(ptx, 71), 86)
	}
	for word, sem := range map[string]Sem{"": SemRelease, ".release": SemRelease, ".relaxed": SemRelaxed} {
		f := AsyncForm{Name: "barrier.cluster.arrive" + word, Kind: ClusterArrive, Sem: sem, Scope: ScopeCluster, PTX: 78, SM: 90}
		if word != "" {
			f.PTX = 80
		}
		list = append(list, f)
	}
	for word, ptx := range map[string]int{"": 78, ".acquire": 80} {
		list = append(list, AsyncForm{Name: "barrier.cluster.wait" + word, Kind: ClusterWait, Sem: SemAcquire, Scope: ScopeCluster, PTX: ptx, SM: 90})
	}
	slices.SortFunc(list, func(a, b AsyncForm) int { return strings.Compare(a.Name, b.Name) })
	byName := map[string]*AsyncForm{}
	for i := range list {
		byName[list[i].Name] = &list[i]
	}
	return list, byName
}()

// AsyncForms lists the mnemonics, sorted.
func AsyncForms() []AsyncForm { return slices.Clone(asyncForms) }

// since returns the first version and target that have the instruction: an arrival of several has later ones.
func (in *Instr) since() (ptx, sm int) {
	f := in.Async
	switch {
	case f.Kind == MbarArrive && !f.Expect && len(in.Src) > 0:
		return max(f.PTX, 78), max(f.SM, 90)
	case in.Dst == "_":
		return max(f.PTX, 71), f.SM
	}
	return f.PTX, f.SM
}

// Asynchronous reports whether the test has operations that only the table of asynchronous ones lists.
func (t *Test) Asynchronous() bool {
	return slices.ContainsFunc(t.Threads, func(th Thread) bool {
		return slices.ContainsFunc(th.Body, func(in Instr) bool { return in.Op == OpAsync })
	})
}

// asyncOperands reads the operands of an asynchronous operation.
func (p *parser) asyncOperands(th *Thread, in *Instr) bool {
	optional, n := false, 0
	for _, c := range in.Async.Operands {
		if c == '?' {
			optional = true
			continue
		}
		if n > 0 {
			if optional && p.tok.kind != ',' {
				return true
			}
			if !p.expect(',', ", and another operand") {
				return false
			}
		}
		n++
		ok := true
		switch c {
		case 'd':
			ok = p.name(&in.Dst, "a register")
		case 's':
			in.Src = append(in.Src, Operand{})
			ok = p.source(th, &in.Src[len(in.Src)-1])
		case 'a':
			a := &in.Addr
			if a.Loc != "" || a.Reg != "" {
				in.More = append(in.More, Addr{})
				a = &in.More[len(in.More)-1]
			}
			ok = p.address(th, a)
		}
		if !ok {
			return false
		}
	}
	return true
}

// appendAsync prints the operands of an asynchronous operation.
func appendAsync(b []byte, in *Instr, d Dialect) []byte {
	sep, src, addr := " ", in.Src, append([]Addr{in.Addr}, in.More...)
	for _, c := range in.Async.Operands {
		switch {
		case c == '?', c == 's' && len(src) == 0, c == 'a' && len(addr) == 0:
			continue
		}
		b = append(b, sep...)
		if sep = ","; d == PTX {
			sep = ", "
		}
		switch c {
		case 'd':
			b = append(b, in.Dst...)
		case 's':
			b, src = appendOperand(b, src[0]), src[1:]
		case 'a':
			b, addr = appendAddr(b, addr[0], d), addr[1:]
		}
	}
	return b
}

// Bytes returns the number of bytes that a copy moves, or that an arrival expects; 0 for others.
func (in *Instr) Bytes() int64 {
	if f := in.Async; f != nil && len(in.Src) > 0 && in.Src[0].Kind == OperandConst &&
		(f.Kind == AsyncCopy || f.Kind == BulkCopy || f.Kind == MbarExpect || f.Expect) {
		return in.Src[0].Value
	}
	return 0
}

// Mbarrier returns the address of the mbarrier that an operation is about.
func (in *Instr) Mbarrier() (Addr, bool) {
	if in.Async == nil {
		return Addr{}, false
	}
	switch in.Async.Kind {
	case AsyncCopyArrive, MbarArrive, MbarExpect, MbarWait:
		return in.Addr, true
	case BulkCopy:
		if len(in.More) > 1 {
			return in.More[1], true
		}
	}
	return Addr{}, false
}

// placed reports whether the mbarrier of an operation, if it has one, lies in shared memory.
func (c *checker) placed(th *Thread, in *Instr) bool {
	a, ok := in.Mbarrier()
	if !ok {
		return true
	}
	name := a.Loc
	if d := th.Decl(a.Reg); name == "" && d != nil {
		name = d.Init.Name
	}
	l := c.t.Location(name)
	return l == nil || l.Space == Shared || l.Of != ""
}

// own reports whether a shared location at an address lies in the thread's CTA.
func (c *checker) own(th *Thread, a Addr) bool {
	name := a.Loc
	if d := th.Decl(a.Reg); name == "" && d != nil {
		name = d.Init.Name
	}
	for i := range c.t.Threads {
		if c.t.Threads[i].Mentions(name) {
			return c.t.Threads[i].Place.SameScope(th.Place, ScopeCTA)
		}
	}
	return true
}

// async checks an asynchronous operation.
func (c *checker) async(th *Thread, in *Instr) {
	f := in.Async
	if f == nil {
		c.errorf(in.Pos, "an asynchronous operation without a form")
		return
	}
	if in.Guard != nil {
		c.reg(th, in, in.Guard.Reg, Pred, exact)
	}
	if strings.Contains(f.Operands, "a") {
		for _, a := range append([]Addr{in.Addr}, in.More...) {
			if d := th.Decl(a.Reg); a.Loc == "" && (a.Reg == "" || d == nil || d.Init.Kind != OperandLoc || c.wrote[th.index(c.t)][a.Reg]) {
				c.errorf(in.Pos, "%s: the addresses of asynchronous operations are locations, or registers that always hold one", in)
				return
			}
		}
	}
	for _, s := range in.Src {
		if s.Kind != OperandConst && (f.Kind != MbarWait || f.Parity || s.Kind != OperandReg) {
			c.errorf(in.Pos, "%s: a constant is wanted in place of %s", in, s)
			return
		}
	}
	n := in.Bytes()
	switch {
	case !c.placed(th, in):
		c.errorf(in.Pos, "%s: an mbarrier lies in shared memory", in)
	case f.Kind == MbarWait && !c.own(th, in.Addr):
		c.errorf(in.Pos, "%s: a thread waits only at mbarriers of its own CTA, which is that of the first thread that names them", in)
	case f.Kind == MbarWait && in.Dst != "":
		c.reg(th, in, in.Dst, Pred, exact)
	case f.Kind == MbarArrive && in.Dst != "_":
		c.reg(th, in, in.Dst, B64, exact)
	case f.Kind == AsyncCopy && n != 4 && n != 8 && n != 16, f.Kind == AsyncCopy && n != 16 && strings.Contains(f.Name, ".cg."):
		c.errorf(in.Pos, "%s: cp.async.ca copies 4, 8 or 16 bytes, cp.async.cg 16", in)
	case f.Kind == BulkCopy && n != MaxBytes:
		c.errorf(in.Pos, "%s: bulk copies of litmus tests have %d bytes, as locations have at most", in, MaxBytes)
	}
}
