package realcode

import (
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/ptx"
)

// images are where an operation of the PTX is in the machine code.
type images struct {
	main         []int32 // the operation itself
	inval, flush []int32 // the invalidation of an acquire, the fence of a release
	// stutter tells that an image tries again until it succeeds.
	stutter bool
	// shape is the form of code, if it is one, by which alone it is known how often the operation is performed: execution has to show it.
	shape string
	// moved tells that the line is another operation's: the address said so.
	moved bool
	// pieces are the instructions of a vector access, those together that make it once: main has one of each.
	pieces [][]int32
	// lessen are, of an arrival that drops, before sm_90, the additions that make later phases expect fewer arrivals.
	lessen []int32
	// doubt is why it is not known what the image is.
	doubt string
}

// part is what an instruction may be of an operation.
type part uint8

const (
	notPart part = iota
	mainPart
	invalPart
	flushPart
)

// spaceFits reports whether an access to a state space may be one to that of the
// machine code.
func spaceFits(want string, have isa.Space) bool {
	switch want {
	case "shared":
		return have == isa.SpaceShared || have == isa.SpaceGeneric
	case "global":
		return have == isa.SpaceGlobal || have == isa.SpaceGeneric
	}
	return have == isa.SpaceGlobal || have == isa.SpaceGeneric || have == isa.SpaceShared
}

// partOf says what an instruction on the line of an operation is of it.
func partOf(op *Op, in *isa.Inst) part {
	e := &op.Effect
	if in.Guard.Never {
		return notPart
	}
	is := func(ok bool) part {
		if ok {
			return mainPart
		}
		return notPart
	}
	switch {
	case e.Kind == ptx.ProxyFence:
		return is(proxyFence(op, in))
	case in.Mem.Invalidate && in.Role == isa.RoleCache:
		return invalPart
	case in.Role == isa.RoleFence && in.Op == "MEMBAR" && e.Kind != ptx.Fence:
		return flushPart
	}
	switch e.Kind {
	case ptx.Load:
		return is(in.Role == isa.RoleLoad && in.Op != "QSPC" && spaceFits(e.Space, in.Mem.Space))
	case ptx.Store:
		return is(in.Role == isa.RoleStore && spaceFits(e.Space, in.Mem.Space))
	case ptx.Atomic, ptx.Reduction:
		return is((in.Role == isa.RoleAtomic || in.Role == isa.RoleReduction) && spaceFits(e.Space, in.Mem.Space))
	case ptx.Fence:
		return is(in.Role == isa.RoleFence && in.Op == "MEMBAR")
	case ptx.Barrier:
		return is(in.Op == "BAR" && in.Role == isa.RoleBarrier || calls(in, "barrier"))
	case ptx.Arrive:
		return is(in.Op == "BAR" || in.Op == "UCGABAR_ARV" || calls(in, "barrier"))
	case ptx.Await:
		return is(in.Op == "UCGABAR_WAIT")
	case ptx.WarpSync:
		return is(in.Op == "WARPSYNC" || calls(in, "warpsync") || converged(in))
	case ptx.Convergent:
		return is(performs(op.Inst.Name, in))
	case ptx.Mbarrier, ptx.MbarArrive, ptx.MbarWait:
		shared := in.Mem.Space == isa.SpaceShared || in.Mem.Space == isa.SpaceGeneric
		if op.Inst.Has("inval") {
			return is(in.Op == "SYNCS" && in.Role == isa.RoleCache)
		}
		return is(in.Role.IsAccess() && shared && in.Op != "QSPC" || in.Op == "ARRIVES")
	case ptx.Copy:
		return is(in.Op == "LDGSTS")
	case ptx.CopyArrive:
		return is(in.Op == "ARRIVES")
	case ptx.Bulk:
		return is(in.Role == isa.RoleCopy || in.Op == "STAS" || in.Op == "REDAS" || copiesBulk(in) && op.Inst.Has("mbarrier::complete_tx::bytes"))
	case ptx.CopyCommit:
		return is(in.Op == "LDGDEPBAR")
	case ptx.CopyWait, ptx.BulkWait:
		return is(in.Op == "DEPBAR")
	case ptx.BulkCommit:
		return is(in.Op == "UTMACMDFLUSH")
	case ptx.MatrixWait:
		return is(warpgroup(in, "DEPBAR"))
	case ptx.GridWait:
		return is(in.Op == "ACQBULK")
	case ptx.GridLaunch:
		return is(in.Op == "PREEXIT")
	}
	return notPart
}

// calls reports whether an instruction calls one of ptxas's own functions.
func calls(in *isa.Inst, what string) bool { return helper(in) && strings.Contains(in.Text, what) }

// matcher finds the images of the operations.
type matcher struct {
	src  *source
	mach *machine
	img  []images
	// owner gives for instructions the operation that they are the image of, -1 if
	// there is none.
	owner  []int32
	byLine map[int][]int32
	// distance says how far bases of the machine code are from those of the PTX, as far as is known.
	distance map[rootPair]int64
	opAt     map[int]int // operations by line
}

func match(src *source, mach *machine) *matcher {
	m := &matcher{src: src, mach: mach, img: make([]images, len(src.ops)), owner: make([]int32, len(mach.insts)), byLine: map[int][]int32{}, opAt: map[int]int{}}
	for i, in := range mach.insts {
		m.owner[i] = -1
		if mach.reach[i] && in.Src.Line > 0 {
			m.byLine[in.Src.Line] = append(m.byLine[in.Src.Line], int32(i))
		}
	}
	for k, op := range src.ops {
		m.opAt[op.Inst.N] = k
		m.byLines(k, op)
	}
	m.multiplied()
	for k := len(src.ops) - 1; k >= 0; k-- { // the last first: of three side by side each has the fence of the next
		m.beside(k)
	}
	m.byAddress()
	m.peel()
	m.parts()
	return m
}

// beside gives the last of the fences on the line of a fence or a release to the release that
// follows, but for loads that are left out, and has none of its own: the second of two side by side, or what stands behind
// the release's store.
func (m *matcher) beside(k int) {
	next := k + 1
	for next < len(m.img) && m.src.ops[next].Effect.Kind == ptx.Load && len(m.img[next].main) == 0 {
		next++
	}
	if next == len(m.img) {
		return
	}
	g, e, other := &m.img[k], &m.src.ops[k].Effect, &m.src.ops[next].Effect
	fence := e.Kind == ptx.Fence
	if !fence && !e.Releases() || !other.Releases() || !other.Kind.IsAccess() || len(m.img[next].flush) > 0 {
		return
	}
	fences, before := &g.flush, g.main
	if fence {
		fences, before = &g.main, nil
	}
	slices.Sort(*fences)
	var own []int32
	for _, i := range *fences {
		if slices.ContainsFunc(before, func(j int32) bool { return j < i && m.nothing(j+1, i) }) {
			m.img[next].flush = append(m.img[next].flush, i)
			m.owner[i] = -1
			continue
		}
		if own = append(own, i); fence {
			before = own
		}
	}
	*fences = own
}

// nothing reports whether no instruction of a stretch is an image, or jumps.
func (m *matcher) nothing(from, to int32) bool {
	for i := from; i < to; i++ {
		branch := m.mach.insts[i].Role == isa.RoleBranch && !slices.Equal(m.mach.steps[i].next, []int32{i + 1}) // BSYNC meets what is next
		if m.owner[i] >= 0 || branch {
			return false
		}
	}
	return true
}

func (m *matcher) byLines(k int, op *Op) {
	g := &m.img[k]
	group := m.byLine[op.Inst.N]
	for _, i := range group {
		switch partOf(op, m.mach.insts[i]) {
		case mainPart:
			g.main = append(g.main, i)
		case invalPart:
			g.inval = append(g.inval, i)
		case flushPart:
			g.flush = append(g.flush, i)
		}
	}
	g.flush = m.widest(g.flush)
	m.turns(g, group)
	switch op.Effect.Kind {
	case ptx.Fence:
		g.main = m.widest(m.strongest(g.main))
	case ptx.ProxyFence:
		if op.Effect.Sem == "release" {
			g.main = m.widest(g.main)
		}
	case ptx.Atomic, ptx.Reduction:
		m.atomic(op, g, group)
	case ptx.MbarWait, ptx.MbarArrive, ptx.Mbarrier:
		m.mbarrier(k, op, g)
		m.elected(g, group)
	case ptx.Arrive, ptx.Await:
		m.clustered(g, group)
	case ptx.WarpSync:
		m.question(g)
	case ptx.Convergent:
		m.unasked(g)
		m.halves(g)
	}
	for _, i := range g.main {
		m.owner[i] = int32(k)
	}
}

// clustered has the kernel be launched with clusters: without, a barrier of the
// cluster is one of the CTA, and a constant of the launch says which it is.
func (m *matcher) clustered(g *images, group []int32) {
	if !slices.ContainsFunc(g.main, func(i int32) bool { return strings.HasPrefix(m.mach.insts[i].Op, "UCGABAR") }) {
		return
	}
	for _, i := range group {
		for k := range m.mach.insts[i].Micro {
			mi := &m.mach.insts[i].Micro[k]
			if mi.Op == isa.MicroSetp && (mi.Cmp == "EQ" || mi.Cmp == "NE") && mi.Src[1].Kind == isa.OpdImm {
				m.mach.steps[i].sets = []assign{{dst: m.mach.condOf(mi.Dst), src: -1, neg: mi.Cmp == "EQ"}}
			}
		}
	}
}

// converged reports whether an instruction asks whether the warp has diverged, and
// jumps over what brings it together if it has not.
func converged(in *isa.Inst) bool { return in.Flow == isa.FlowJump && slices.Contains(in.Mods, "CONV") }

// question has the question whether the warp has diverged stand for what brings it
// together.
func (m *matcher) question(g *images) {
	if slices.ContainsFunc(g.main, func(i int32) bool { return converged(m.mach.insts[i]) }) {
		g.main = slices.DeleteFunc(g.main, func(i int32) bool { return !converged(m.mach.insts[i]) })
	}
}

// widest keeps the fences with the widest scope: sm_90 has one of the CTA in front
// of each wider one.
func (m *matcher) widest(at []int32) []int32 {
	var top isa.Scope
	for _, i := range at {
		top = max(top, m.mach.insts[i].Mem.Scope)
	}
	return slices.DeleteFunc(at, func(i int32) bool { return m.mach.insts[i].Mem.Scope < top })
}

// strongest keeps the sequentially consistent fences, if there are any: the fence
// of a release that follows may be on the line, too.
func (m *matcher) strongest(at []int32) []int32 {
	sc := func(i int32) bool { return m.mach.insts[i].Mem.Strength == isa.FenceSC }
	if !slices.ContainsFunc(at, sc) {
		return at
	}
	return slices.DeleteFunc(at, func(i int32) bool { return !sc(i) })
}

// atomic knows the forms in which atomics appear: loops that compare and swap,
// generic addresses split by space, and one lane that acts for its warp.
func (m *matcher) atomic(op *Op, g *images, group []int32) {
	if slices.ContainsFunc(g.main, func(i int32) bool { return asks(m.mach.insts[i]) }) {
		g.main = slices.DeleteFunc(g.main, func(i int32) bool { return m.mach.insts[i].Mem.Atom == "CAST" })
	}
	if slices.ContainsFunc(g.main, func(i int32) bool { return op.retries(m.mach.insts[i]) }) {
		g.stutter, g.shape = true, triesAgain
	}
	m.elected(g, group)
}

// retries reports whether an instruction is the end of a loop that an atomic became: it compares with
// what was loaded before, and swaps.
func (op *Op) retries(in *isa.Inst) bool {
	return in.Mem.Atom == "CAST" || in.Mem.Atom == "CAS" && (op.Effect.Atom != "cas" || in.Mem.Width > op.Effect.Width)
}

// asks reports whether an atomic says if it could be performed: what follows where
// it could not, for other spaces, is a part of it.
func asks(in *isa.Inst) bool {
	return in.Mem.Space == isa.SpaceGeneric && in.Mem.Atom != "CAST" && slices.ContainsFunc(in.Defs, isCond)
}

// Forms of code by which alone it is known how often an operation is performed, or which instruction it is.
const (
	triesAgain = "a loop tries until it succeeds"
	eachTurn   = "lanes have their turn in a loop"
	oneLane    = "one lane acts for its warp"
	inOrder    = "its place among the operations on matrices tells which it is"
)

// turns knows loops that perform an operation for one address of the warp after the
// other, where the instruction takes a uniform one: each lane has its turn.
func (m *matcher) turns(g *images, group []int32) {
	for _, i := range group {
		in := m.mach.insts[i]
		if in.Flow == isa.FlowJump && slices.Contains(in.Mods, "ANY") {
			g.stutter, g.shape = true, eachTurn // as long as any lane has had none
		}
		if in.Op == "VOTEU" {
			m.voted(g, i)
		}
		if in.Op != "R2UR" {
			continue
		}
		for _, k := range g.main {
			if guard := m.mach.insts[k].Guard; slices.Contains(in.Defs, guard.Reg) && isCond(guard.Reg) {
				g.stutter, g.shape = true, eachTurn
				m.mach.steps[i].sets = []assign{{dst: m.mach.condOf(guard.Reg), src: -1, neg: !guard.Neg}}
			}
		}
	}
}

// voted has the condition of an image that a vote makes uniform be that of each lane, which has its turn.
func (m *matcher) voted(g *images, i int32) {
	in := m.mach.insts[i]
	if len(in.Args) != 2 || in.Args[1].Kind != isa.OpdPred || in.Args[1].Zero {
		return
	}
	for _, k := range g.main {
		if to, p := in.Args[0].Reg, in.Args[1]; isCond(to) && m.mach.insts[k].Guard.Reg == to {
			s := &m.mach.steps[i]
			g.shape = eachTurn
			s.sets = []assign{{dst: m.mach.condOf(to), src: m.mach.condOf(p.Reg), neg: p.Not, fork: true}}
			s.uses = append(s.uses, m.mach.condOf(p.Reg))
		}
	}
}

// elected has the lane that acts for its warp be every lane: the comparison of the
// lane's number with that of the chosen one is taken to hold.
func (m *matcher) elected(g *images, group []int32) {
	deciding := map[isa.Reg]bool{}
	for _, i := range group {
		if in := m.mach.insts[i]; slices.Contains(g.main, i) || in.Role == isa.RoleBranch {
			deciding[in.Guard.Reg] = true
		}
	}
	for _, i := range group {
		in := m.mach.insts[i]
		for k := range in.Micro {
			mi := &in.Micro[k]
			if mi.Op == isa.MicroSetp && m.mach.lane[i] && deciding[mi.Dst] && (mi.Cmp == "EQ" || mi.Cmp == "NE") {
				g.shape = oneLane
				s := &m.mach.steps[i]
				s.sets = []assign{{dst: m.mach.condOf(mi.Dst), src: -1, neg: mi.Cmp == "EQ"}}
			}
		}
	}
}

// mbarrier chooses among the accesses to shared memory that an operation on an
// mbarrier is before sm_90.
func (m *matcher) mbarrier(k int, op *Op, g *images) {
	best := func(keep func(in *isa.Inst) bool) {
		if slices.ContainsFunc(g.main, func(i int32) bool { return keep(m.mach.insts[i]) }) {
			g.main = slices.DeleteFunc(g.main, func(i int32) bool { return !keep(m.mach.insts[i]) })
		}
	}
	best(func(in *isa.Inst) bool { return in.Op == "SYNCS" })
	switch op.Effect.Kind {
	case ptx.MbarArrive:
		best(func(in *isa.Inst) bool { return in.Role == isa.RoleAtomic || in.Role == isa.RoleReduction })
		if op.Inst.Has("arrive_drop") && m.mach.sm < 90 {
			arrives := func(i int32) bool { return slices.Contains(m.mach.insts[i].Mods, "ARRIVE") }
			for _, i := range g.main {
				if !arrives(i) {
					g.lessen = append(g.lessen, i)
					m.owner[i] = int32(k)
				}
			}
			g.main = slices.DeleteFunc(g.main, func(i int32) bool { return !arrives(i) })
		}
	case ptx.MbarWait:
		best(func(in *isa.Inst) bool { return in.Role == isa.RoleLoad || in.Op == "SYNCS" })
		g.stutter = true
	}
}
