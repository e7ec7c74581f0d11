package litmus

import (
	"fmt"
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
	AsyncNone        AsyncKind = iota
	AsyncCopy                  // cp.async: Addr, More[0], Src[0] bytes
	AsyncCommit                // cp.async.commit_group
	AsyncWait                  // cp.async.wait_group Src[0], or wait_all
	AsyncCopyArrive            // cp.async.mbarrier.arrive: Addr
	BulkCopy                   // cp.async.bulk: Addr, More[0], Src[0] bytes, and the mbarrier More[1] or a bulk group
	BulkCommit                 // cp.async.bulk.commit_group
	BulkWait                   // cp.async.bulk.wait_group Src[0]
	MbarArrive                 // Dst (the phase's token, or "_"), Addr, and a count or bytes Src[0]
	MbarExpect                 // mbarrier.expect_tx: Addr, Src[0] bytes
	MbarWait                   // test_wait, try_wait: Dst, Addr, Src[0] (a token, or a parity)
	ClusterArrive              // barrier.cluster.arrive
	ClusterWait                // barrier.cluster.wait
	AsyncProxyFence            // fence.proxy.async, perhaps of one state space (Only)
	MbarComplete               // mbarrier.complete_tx: Addr, Src[0] bytes
	StoreAsync                 // st.async: Addr, Src (Type), and the mbarrier More[0]
	ReduceAsync                // red.async: Addr, Src[0] (Atom, Type), and the mbarrier More[0]
	RestrictedFence            // fence.SEM.sync_restrict: of accesses of some objects (Only)
	OneWayProxyFence           // fence.proxy.async::generic.SEM.sync_restrict: from the generic to the async proxy (Only)
	InitFence                  // fence.mbarrier_init: of initialisations alone, which tests do not have
	GridControl                // griddepcontrol: of other launches, which tests do not have
)

// Objects says of which objects a fence orders the accesses.
type Objects uint8

// The objects: all; those in global memory; those in the shared memory of the own CTA; of the cluster.
const (
	AllObjects Objects = iota
	GlobalObjects
	SharedCTA
	SharedCluster
)

// AsyncForm is a mnemonic of an asynchronous operation and what it says.
type AsyncForm struct {
	Name  string
	Kind  AsyncKind
	Sem   Sem
	Scope Scope
	// Operands are d (destination), a (address), s (source), v (a value, of Type; Vector of them in braces), p (predicate), and
	// ? before one that may be left out.
	Operands string
	Vector   int
	Type     Type
	Atom     AtomOp
	Only     Objects
	Group    Group // of an operation of several threads, and the type of its result
	To       Type
	Drop     bool // of an arrival: later phases expect it no more
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
		{Name: "mbarrier.expect_tx.relaxed.cluster.shared.b64", Kind: MbarExpect, Operands: "as", Sem: SemRelaxed, Scope: ScopeCluster, PTX: 80, SM: 90},
		{Name: "mbarrier.complete_tx.relaxed.cta.shared.b64", Kind: MbarComplete, Operands: "as", Sem: SemRelaxed, Scope: ScopeCTA, PTX: 80, SM: 90},
		{Name: "mbarrier.complete_tx.relaxed.cluster.shared.b64", Kind: MbarComplete, Operands: "as", Sem: SemRelaxed, Scope: ScopeCluster, PTX: 80, SM: 90},
		{Name: "fence.proxy.async", Kind: AsyncProxyFence, PTX: 80, SM: 90},
		{Name: "fence.proxy.async.global", Kind: AsyncProxyFence, Only: GlobalObjects, PTX: 80, SM: 90},
		{Name: "fence.proxy.async.shared::cta", Kind: AsyncProxyFence, Only: SharedCTA, PTX: 80, SM: 90},
		{Name: "fence.proxy.async.shared::cluster", Kind: AsyncProxyFence, Only: SharedCluster, PTX: 80, SM: 90},
		{Name: "griddepcontrol.launch_dependents", Kind: GridControl, PTX: 78, SM: 90},
		{Name: "griddepcontrol.wait", Kind: GridControl, PTX: 78, SM: 90},
		{Name: "fence.mbarrier_init.release.cluster", Kind: InitFence, Sem: SemRelease, Scope: ScopeCluster, PTX: 80, SM: 90},
	}
	for sem, only := range map[Sem]Objects{SemAcquire: SharedCluster, SemRelease: SharedCTA} {
		rest := "." + sem.String() + ".sync_restrict::" + map[Objects]string{SharedCluster: "shared::cluster", SharedCTA: "shared::cta"}[only] + ".cluster"
		f := AsyncForm{Name: "fence" + rest, Kind: RestrictedFence, Sem: sem, Scope: ScopeCluster, Only: only, PTX: 86, SM: 90}
		list = append(list, f)
		f.Name, f.Kind = "fence.proxy.async::generic"+rest, OneWayProxyFence
		list = append(list, f)
	}
	const completes = ".shared::cluster.mbarrier::complete_tx::bytes"
	list = append(list, AsyncForm{Name: "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", Kind: BulkCopy, Operands: "aasa", PTX: 80, SM: 90})
	for _, weak := range []string{"", ".weak"} {
		for _, t := range []Type{B32, U32, B64, U64} {
			f := AsyncForm{Name: "st.async" + weak + completes + "." + t.String(), Kind: StoreAsync, Operands: "asa", Type: t, PTX: 81, SM: 90}
			list = append(list, f)
			for f.Vector = 2; f.Vector*t.Bits() <= 128; f.Vector *= 2 {
				f.Name, f.Operands = fmt.Sprintf("st.async%s%s.v%d.%s", weak, completes, f.Vector, t), "ava"
				list = append(list, f)
			}
		}
	}
	for op, types := range map[AtomOp][]Type{AtomAdd: {U32, S32, U64}, AtomInc: {U32}, AtomDec: {U32}, AtomMin: {U32, S32}, AtomMax: {U32, S32},
		AtomAnd: {B32}, AtomOr: {B32}, AtomXor: {B32}} {
		for _, t := range types {
			list = append(list, AsyncForm{Name: "red.async.relaxed.cluster" + completes + "." + op.String() + "." + t.String(), Kind: ReduceAsync,
				Operands: "asa", Sem: SemRelaxed, Scope: ScopeCluster, Type: t, Atom: op, PTX: 81, SM: 90})
		}
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
	ordered("mbarrier.arrive_drop{}.shared.b64", AsyncForm{Kind: MbarArrive, Operands: "da?s", Drop: true}, SemRelease, 70, 86)
	ordered("mbarrier.arrive_drop.expect_tx{}.shared.b64", AsyncForm{Kind: MbarArrive, Operands: "das", Expect: true, Drop: true, PTX: 80, SM: 90}, SemRelease, 80, 86)
	for _, op := range []string{"test_wait", "try_wait"} {
		ptx := map[string]int{"test_wait": 70, "try_wait": 78}[op]
		sm := map[string]int{"test_wait": 80, "try_wait": 90}[op]
		ordered("mbarrier."+op+"{}.shared.b64", AsyncForm{Kind: MbarWait, Operands: "das", SM: sm}, SemAcquire, ptx, 86)
		ordered("mbarrier."+op+".parity{}.shared.b64", AsyncForm{Kind: MbarWait, Operands: "das", Parity: true, SM: sm}, SemAcquire, max(ptx, 71), 86)
	}
	for _, aligned := range []string{"", ".aligned"} { // as all threads of a warp that perform one do in tests
		for word, sem := range map[string]Sem{"": SemRelease, ".release": SemRelease, ".relaxed": SemRelaxed} {
			f := AsyncForm{Name: "barrier.cluster.arrive" + word + aligned, Kind: ClusterArrive, Sem: sem, Scope: ScopeCluster, PTX: 78, SM: 90}
			if word != "" {
				f.PTX = 80
			}
			list = append(list, f)
		}
		for word, ptx := range map[string]int{"": 78, ".acquire": 80} {
			list = append(list, AsyncForm{Name: "barrier.cluster.wait" + word + aligned, Kind: ClusterWait, Sem: SemAcquire, Scope: ScopeCluster, PTX: ptx, SM: 90})
		}
	}
	list = append(append(list, groupForms()...), bulkReductions()...)
	slices.SortFunc(list, func(a, b AsyncForm) int { return strings.Compare(a.Name, b.Name) })
	byName := map[string]*AsyncForm{}
	for i := range list {
		byName[list[i].Name] = &list[i]
	}
	return list, byName
}()

// FormNamed returns the form with a mnemonic. It is shared, and must not be changed.
func FormNamed(name string) (*AsyncForm, bool) {
	f, ok := asyncByName[name]
	return f, ok
}

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

// Extended reports whether the test has operations that only the tables of fixed words list: asynchronous ones, vectors,
// non-coherent loads, accesses of 128 bits and of floating point.
func (t *Test) Extended() bool {
	return slices.ContainsFunc(t.Threads, func(th Thread) bool {
		return slices.ContainsFunc(th.Body, func(in Instr) bool { return in.Op == OpAsync || in.Word != nil })
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
		case 's', 'v', 'p':
			in.Src = append(in.Src, Operand{})
			list := c == 'v' && in.Async.Vector > 1
			if ok = !list || p.expect('{', "{"); !ok {
				return false
			}
			ok = p.source(th, &in.Src[len(in.Src)-1])
			for k := 1; ok && list && k < in.Async.Vector; k++ {
				in.Src = append(in.Src, Operand{})
				ok = p.expect(',', ", and another source") && p.source(th, &in.Src[k])
			}
			ok = ok && (!list || p.expect('}', "}"))
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
		case c == '?', (c == 's' || c == 'p') && len(src) == 0, c == 'a' && len(addr) == 0:
			continue
		}
		b = append(b, sep...)
		if sep = ","; d == PTX {
			sep = ", "
		}
		switch c {
		case 'd':
			b = append(b, in.Dst...)
		case 's', 'p':
			b, src = appendOperand(b, src[0]), src[1:]
		case 'v':
			if in.Async.Vector < 2 {
				b, src = appendOperand(b, src[0]), src[1:]
				continue
			}
			for k := range src {
				b = appendOperand(append(b, "{,"[min(k, 1)]), src[k])
			}
			b, src = append(b, '}'), nil
		case 'a':
			b, addr = appendAddr(b, addr[0], d), addr[1:]
		}
	}
	return b
}

// Completes reports whether an operation of the form, when it has been performed, completes as many bytes of an mbarrier as it has moved.
func (f *AsyncForm) Completes() bool {
	return f.Kind == StoreAsync || f.Kind == ReduceAsync || f.Kind == MbarComplete ||
		(f.Kind == BulkCopy || f.Kind == BulkReduce) && strings.Count(f.Operands, "a") == 3
}

// Bytes returns the number of bytes that a copy or an asynchronous store moves, or that an arrival expects; 0 for others.
func (in *Instr) Bytes() int64 {
	if f := in.Async; f != nil && (f.Kind == StoreAsync || f.Kind == ReduceAsync) {
		return int64(len(in.Src) * f.Type.Bits() / 8)
	}
	if f := in.Async; f != nil && len(in.Src) > 0 && in.Src[0].Kind == OperandConst &&
		(f.Copies() || f.Kind == MbarExpect || f.Kind == MbarComplete || f.Expect) {
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
	case AsyncCopyArrive, MbarArrive, MbarExpect, MbarComplete, MbarWait:
		return in.Addr, true
	case StoreAsync, ReduceAsync:
		if len(in.More) > 0 {
			return in.More[0], true
		}
	case BulkCopy, BulkReduce:
		if len(in.More) > 1 {
			return in.More[1], true
		}
	}
	return Addr{}, false
}

// placed reports whether the mbarrier of an operation, if it has one, lies in shared memory.
func (c *checker) placed(th *Thread, in *Instr) bool {
	a, ok := in.Mbarrier()
	return !ok || c.inShared(th, a)
}

// inShared reports whether an address is that of a location in shared memory.
func (c *checker) inShared(th *Thread, a Addr) bool {
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
	if f.Together() {
		c.together(th, in)
		return
	}
	if strings.Contains(f.Operands, "a") {
		for _, a := range append([]Addr{in.Addr}, in.More...) {
			if d := th.Decl(a.Reg); a.Loc == "" && (a.Reg == "" || d == nil || d.Init.Kind != OperandLoc || c.wrote[th.index(c.t)][a.Reg]) {
				c.errorf(in.Pos, "%s: the addresses of asynchronous operations are locations, or registers that always hold one", in)
				return
			}
		}
	}
	stores := f.Kind == StoreAsync || f.Kind == ReduceAsync
	for _, s := range in.Src {
		if stores {
			c.source(th, in, s, f.Type, exact)
		} else if s.Kind != OperandConst && (f.Kind != MbarWait || f.Parity || s.Kind != OperandReg) {
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
	case stores && (len(in.Src) != max(f.Vector, 1) || len(in.More) != 1):
		c.errorf(in.Pos, "%s has not the operands that it wants", in)
	case stores && !c.inShared(th, in.Addr):
		c.errorf(in.Pos, "%s: asynchronous stores are to shared memory", in)
	case stores && in.Addr.Offset%n != 0:
		c.errorf(in.Pos, "%s is not aligned to its %d bytes", in, n)
	case f.Kind == AsyncCopy && n != 4 && n != 8 && n != 16, f.Kind == AsyncCopy && n != 16 && strings.Contains(f.Name, ".cg."):
		c.errorf(in.Pos, "%s: cp.async.ca copies 4, 8 or 16 bytes, cp.async.cg 16", in)
	case f.Copies() && f.Kind != AsyncCopy && n != MaxBytes:
		c.errorf(in.Pos, "%s: bulk copies of litmus tests have %d bytes, as locations have at most", in, MaxBytes)
	}
}
