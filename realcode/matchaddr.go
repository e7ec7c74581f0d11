package realcode

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/ptx"
)

// rootPair is a base of the PTX and one of the machine code.
type rootPair struct{ ptx, code string }

// byAddress takes the addresses as a second witness. What two bases are apart is
// learned from the operations with one image each: if images of one line have
// another distance than the rest of their base, the line is wrong. Where another
// operation of the same class fits, and lacks its image, the image is its.
func (m *matcher) byAddress() {
	distance, sure := m.distances()
	m.distance = distance
	m.wide(distance)
	for k, op := range m.src.ops {
		g := &m.img[k]
		if op.addr.root == "" || !op.Effect.Kind.IsAccess() {
			continue
		}
		var right, wrong []int32
		for _, i := range g.main {
			a := m.mach.addrs[i]
			d, known := distance[rootPair{op.addr.root, a.root}]
			switch {
			case !known:
			case covers(a, op.addr, d), partial(op, a, d):
				right = append(right, i)
			default:
				wrong = append(wrong, i)
			}
		}
		for _, i := range wrong {
			if to := m.taker(i, k, distance); to >= 0 {
				h := &m.img[to]
				if h.moved = true; !slices.Contains(h.main, i) {
					h.main = append(h.main, i)
				}
				m.owner[i] = int32(to)
				g.main = slices.DeleteFunc(g.main, func(x int32) bool { return x == i })
			} else if len(right) == 0 && sure[rootPair{op.addr.root, m.mach.addrs[i].root}] {
				g.doubt = fmt.Sprintf("its address is %d bytes from where the others of its base are",
					m.mach.addrs[i].offset-op.addr.offset-distance[rootPair{op.addr.root, m.mach.addrs[i].root}])
			}
		}
	}
	m.share(distance)
	for _, i := range m.orphans() {
		k := m.lone(i, distance)
		if k < 0 {
			k = m.parent(i, distance)
		}
		if k >= 0 {
			m.img[k].main, m.img[k].moved = append(m.img[k].main, i), true
			m.owner[i] = int32(k)
		}
	}
	m.tried()
	m.wide(distance)
	m.across(distance)
}

// tried gives atomics without an image the loops that compare and swap, are nobody's, and may be theirs: one for each. The body of a loop may
// have the line of what ptxas has put before it, which is no atomic. Runs tell whether it is theirs.
func (m *matcher) tried() {
	var lack []int
	atomic := map[int]bool{} // lines
	for k, op := range m.src.ops {
		if e := &op.Effect; e.Kind == ptx.Atomic || e.Kind == ptx.Reduction {
			if atomic[op.Inst.N] = true; len(m.img[k].main) == 0 {
				lack = append(lack, k)
			}
		}
	}
	var loops []int32
	for i, in := range m.mach.insts {
		if m.mach.reach[i] && m.owner[i] < 0 && !in.Guard.Never && strings.HasPrefix(in.Mem.Atom, "CAS") && !atomic[in.Src.Line] {
			loops = append(loops, int32(i))
		}
	}
	fits := func(n int) bool {
		op, in := m.src.ops[lack[n]], m.mach.insts[loops[n]]
		return op.retries(in) && partOf(op, in) == mainPart && weaker(op, in, m.mach.sm) == ""
	}
	for n := range loops {
		if len(lack) != len(loops) || !fits(n) {
			return
		}
	}
	for n, i := range loops {
		g := &m.img[lack[n]]
		g.main, g.moved, m.owner[i] = []int32{i}, true, int32(lack[n])
		g.stutter, g.shape = true, triesAgain
	}
}

// lone is the operation without an image to whose address an orphan goes, -1 if there is
// none. Of several, the first, if there are as many orphans; else the address says nothing. An
// acquire that nobody reads the value of comes last: it may well be gone.
func (m *matcher) lone(i int32, distance map[rootPair]int64) int {
	in, a := m.mach.insts[i], m.mach.addrs[i]
	var lack, dead []int
	for k, op := range m.src.ops {
		d, ok := distance[rootPair{op.addr.root, a.root}]
		switch {
		case !ok || !op.Effect.Weak() && !strong(in) || len(m.img[k].main) > 0 || partOf(op, in) != mainPart || !covers(a, op.addr, d):
		case !op.Dead || op.Effect.Kind != ptx.Load:
			lack = append(lack, k)
		case op.Effect.Acquires() && in.Mem.Scope == scopes[op.Effect.Scope]:
			dead = append(dead, k)
		}
	}
	if len(lack) == 0 {
		lack = dead
	}
	if len(lack) == 0 || len(lack) > 1 && len(lack) != m.alike(i) {
		return -1
	}
	return lack[0]
}

// strong reports whether an access may be one that synchronises: in shared memory all are alike.
func strong(in *isa.Inst) bool {
	return in.Mem.Strength == isa.Strong || in.Mem.Space == isa.SpaceShared
}

// alike counts the orphans that go where one goes.
func (m *matcher) alike(i int32) (n int) {
	for _, o := range m.orphans() {
		if m.mach.addrs[o] == m.mach.addrs[i] && m.mach.insts[o].Role == m.mach.insts[i].Role {
			n++
		}
	}
	return n
}

// parent is the operation of which an orphan on the line of a fence is a copy, -1 if there is
// none: the nearest one in the text that it can be. Where the beginning of a loop is copied
// behind its end, all of the copy may have the line of the end. Where nothing is known of
// an address, the register that has it tells.
func (m *matcher) parent(i int32, distance map[rootPair]int64) int {
	if !slices.ContainsFunc(m.src.ops, func(op *Op) bool { return op.Effect.Kind == ptx.Fence && op.Inst.N == m.mach.insts[i].Src.Line }) {
		return -1
	}
	in, a := m.mach.insts[i], m.mach.addrs[i]
	strange := !a.fixed() // of a base that nothing is known of
	for p := range distance {
		strange = strange && p.code != a.root
	}
	best, near := -1, 0
	for k, op := range m.src.ops {
		away := max(op.Inst.N-in.Src.Line, in.Src.Line-op.Inst.N)
		if best >= 0 && away > near || len(m.img[k].main) == 0 || partOf(op, in) != mainPart || op.addr.width > a.width ||
			op.Effect.Weak() != (in.Mem.Strength == isa.Weak) || !op.Effect.Weak() && in.Mem.Strength != isa.Strong {
			continue
		}
		same := func(x int32) bool { return place(m.mach.insts[x]) == place(in) }
		d, ok := distance[rootPair{op.addr.root, a.root}]
		if ok && a.offset == op.addr.offset+d || !ok && strange && slices.ContainsFunc(m.img[k].main, same) {
			best, near = k, away
		}
	}
	return best
}

// place is the operand of an access that says where it goes.
func place(in *isa.Inst) (o isa.Operand) {
	if i := slices.IndexFunc(in.Args, func(o isa.Operand) bool { return o.Kind == isa.OpdMem }); i >= 0 {
		o = in.Args[i]
	}
	return o
}

// promised reports whether an instruction reads what nobody writes, as another load of the PTX says.
func (m *matcher) promised(i int32) bool {
	code := m.mach.addrs[i]
	return slices.ContainsFunc(m.src.constant, func(a address) bool {
		d, ok := m.distance[rootPair{a.root, code.root}]
		return ok && a.offset+d <= code.offset && code.offset+int64(code.width) <= a.offset+d+int64(a.width)
	})
}

// orphans are weak accesses on the line of an operation that they cannot be of:
// ptxas 11.2 gives some the line of the instruction before.
func (m *matcher) orphans() (out []int32) {
	again := map[int]bool{} // lines of atomics that are loops, which load what they compare
	for _, op := range m.src.ops {
		again[op.Inst.N] = (op.Effect.Kind == ptx.Atomic || op.Effect.Kind == ptx.Reduction) &&
			slices.ContainsFunc(m.byLine[op.Inst.N], func(i int32) bool { return op.retries(m.mach.insts[i]) })
	}
	for i, in := range m.mach.insts {
		if m.mach.reach[i] && !again[in.Src.Line] && m.owner[i] < 0 && (in.Role == isa.RoleLoad || in.Role == isa.RoleStore) &&
			in.Op != "QSPC" && !in.Guard.Never &&
			in.Mem.Space != isa.SpaceLocal && in.Mem.Space != isa.SpaceConst && m.mach.addrs[i].root != "" {
			out = append(out, int32(i))
		}
	}
	return out
}

// covers reports whether an access of the machine code has the bytes of one of the
// PTX, if the bases are a distance apart.
func covers(code, ptx address, distance int64) bool {
	at := ptx.offset + distance
	return code.offset <= at && at+int64(ptx.width) <= code.offset+int64(max(code.width, ptx.width))
}

// partial reports whether an access of the machine code is to a part of what an
// operation accesses: that is the operation, and less of it. Of weak accesses, only
// loads become less.
func partial(op *Op, code address, distance int64) bool {
	at := op.addr.offset + distance
	return (!op.Effect.Weak() || op.Effect.Kind == ptx.Load) && at <= code.offset && code.offset+int64(code.width) <= at+int64(op.addr.width)
}

// distances learns how far bases are apart: what most operations of a pair say. It
// is sure where at most one in five says something else.
func (m *matcher) distances() (out map[rootPair]int64, sure map[rootPair]bool) {
	votes, wider := map[rootPair]map[int64]int{}, map[rootPair]map[int64]int{}
	for k, op := range m.src.ops {
		g := &m.img[k]
		if op.addr.root == "" || !op.Effect.Kind.IsAccess() || len(g.main) == 0 {
			continue
		}
		for _, i := range g.main {
			a, to := m.mach.addrs[i], votes
			if a.root == "" || a.width < op.addr.width {
				continue
			} else if a.width > op.addr.width { // of its neighbour, too, which comes behind it
				to = wider
			}
			p := rootPair{op.addr.root, a.root}
			if to[p] == nil {
				to[p] = map[int64]int{}
			}
			to[p][a.offset-op.addr.offset]++
		}
	}
	for p, v := range wider {
		if votes[p] == nil {
			votes[p] = v
		}
	}
	m.vote(votes)
	out, sure = m.symbols(), map[rootPair]bool{}
	for p := range out {
		delete(votes, p)
	}
	for p, v := range votes {
		d, n, second, all := most(v)
		if n > second && (2*n > all || (address{root: p.ptx}).fixed()) { // a register may have had other values in copies of a loop
			out[p], sure[p] = d, n >= 4*max(second, 1)
			delete(votes, p)
		}
	}
	m.untie(votes, out)
	return out, sure
}

// symbols are the distances of variables that the machine code names, too.
func (m *matcher) symbols() map[rootPair]int64 {
	const apart = 1 << 40
	out, roots := map[rootPair]int64{}, map[string]bool{}
	for _, a := range m.mach.addrs {
		roots[a.root] = true
	}
	for root := range roots {
		name, ok := strings.CutSuffix(root, ".lo")
		for _, op := range m.src.ops {
			if ok && op.addr.variable() {
				out[rootPair{op.addr.root, root}] = map[bool]int64{false: apart}[op.addr.root == name]
			}
		}
	}
	return out
}

// vote has the orphans vote for bases of which nothing is known otherwise.
func (m *matcher) vote(votes map[rootPair]map[int64]int) {
	more := map[rootPair]map[int64]int{}
	for _, i := range m.orphans() {
		a := m.mach.addrs[i]
		for k, op := range m.src.ops {
			p := rootPair{op.addr.root, a.root}
			if len(m.img[k].main) > 0 || !op.Effect.Weak() && !strong(m.mach.insts[i]) || op.addr.root == "" || votes[p] != nil || op.addr.width != a.width ||
				partOf(op, m.mach.insts[i]) != mainPart || op.addr.variable() && strings.HasPrefix(a.root, "?phi") {
				continue
			}
			if more[p] == nil {
				more[p] = map[int64]int{}
			}
			more[p][a.offset-op.addr.offset]++
		}
	}
	for p, v := range more {
		votes[p] = v
	}
}

// variable reports whether an address of the PTX is in a variable: the same on all paths.
func (a address) variable() bool {
	return a.root != "" && !strings.ContainsRune("%[?", rune(a.root[0]))
}

// taker is another operation to which the image of one belongs by its address, -1 if
// there is none: rather one that has it already, or has none, above all in the same block.
func (m *matcher) taker(i int32, not int, distance map[rootPair]int64) int {
	found, best := -1, 0
	for k := range m.src.ops {
		if k == not || !m.mayTake(i, k, not, distance) {
			continue
		}
		rank := 1
		switch {
		case slices.Contains(m.img[k].main, i):
			return k
		case len(m.img[k].main) == 0 && m.src.block[k] == m.src.block[not]:
			rank = 3
		case len(m.img[k].main) == 0:
			rank = 2
		}
		if rank > best {
			found, best = k, rank
		}
	}
	return found
}

// mayTake reports whether an image of one operation is one of another by its class and address.
func (m *matcher) mayTake(i int32, k, not int, distance map[rootPair]int64) bool {
	op, in, a := m.src.ops[k], m.mach.insts[i], m.mach.addrs[i]
	alike := op.Effect.Weak() == m.src.ops[not].Effect.Weak() || op.Effect.Weak() == (in.Mem.Strength == isa.Weak)
	if !alike || partOf(op, in) != mainPart {
		return false
	}
	d, ok := distance[rootPair{op.addr.root, a.root}]
	return ok && covers(a, op.addr, d)
}

// wide gives weak operations without an image the wider access of a neighbour that
// has their bytes.
func (m *matcher) wide(distance map[rootPair]int64) {
	for k, op := range m.src.ops {
		g := &m.img[k]
		if len(g.main) > 0 || !op.Effect.Weak() || op.addr.root == "" {
			continue
		}
		for j, other := range m.src.ops {
			if j == k || other.addr.root != op.addr.root || !other.Effect.Weak() || other.Effect.Kind != op.Effect.Kind || m.img[j].moved ||
				!m.src.together(k, j) {
				continue
			}
			for _, i := range m.img[j].main {
				a := m.mach.addrs[i]
				if d, ok := distance[rootPair{op.addr.root, a.root}]; ok && a.width > other.addr.width && covers(a, op.addr, d) &&
					m.owner[i] == int32(j) {
					g.main = append(g.main, i)
				}
			}
		}
		g.moved = len(g.main) > 0
	}
}

// across gives weak stores that are still without an image the wider store of a
// neighbour that stands elsewhere, if the bytes are nobody else's: ptxas moves a store
// behind a release to its neighbour, or to the releasing store itself, and makes one of the
// two. The address is witness enough where there is one such store, or one in the block of the
// neighbour. A load may become part of one that acquires.
func (m *matcher) across(distance map[rootPair]int64) {
	lack := make([]bool, len(m.img))
	for k, op := range m.src.ops {
		lack[k] = op.Effect.Weak() && (op.Effect.Kind == ptx.Store || op.Effect.Kind == ptx.Load && !op.Dead) && len(m.img[k].main) == 0
	}
	for i, j := range m.owner {
		if j < 0 || m.mach.addrs[i].width <= m.src.ops[j].addr.width {
			continue
		}
		if e := &m.src.ops[j].Effect; e.Kind != ptx.Store && (e.Kind != ptx.Load || e.Weak()) {
			continue
		}
		a, by := m.mach.addrs[i], m.src.ops[j]
		var found []int
		for k, op := range m.src.ops {
			if lack[k] && op.Effect.Kind == by.Effect.Kind && op.addr.root == by.addr.root &&
				m.widened(a, by, op.addr, distance) && partOf(op, m.mach.insts[i]) == mainPart && !m.claimed(int32(i), op.addr) {
				found = append(found, k)
			}
		}
		if near := func(k int) bool { return m.src.block[k] == m.src.block[j] }; slices.ContainsFunc(found, near) {
			found = slices.DeleteFunc(found, func(k int) bool { return !near(k) })
		}
		for _, k := range found {
			m.img[k].main, m.img[k].moved = append(m.img[k].main, int32(i)), len(found) > 1
		}
	}
}

// widened reports whether an access of the machine code has the bytes of two operations. Where
// all that is known of the base are wider accesses, one that synchronises has those next to it.
func (m *matcher) widened(code address, by *Op, op address, distance map[rootPair]int64) bool {
	p := rootPair{by.addr.root, code.root}
	d, ok := distance[p]
	if !ok || covers(code, op, d) || by.Effect.Weak() {
		return ok && covers(code, op, d)
	}
	for k, x := range m.src.ops {
		for _, i := range m.img[k].main {
			if a := m.mach.addrs[i]; x.addr.root == p.ptx && a.root == p.code && a.width == x.addr.width {
				return false
			}
		}
	}
	first, last := min(by.addr.offset, op.offset), max(by.addr.offset+int64(by.addr.width), op.offset+int64(op.width))
	return last-first <= int64(code.width)
}

// claimed reports whether bytes are those of an operation whose image an instruction is.
func (m *matcher) claimed(i int32, bytes address) bool {
	for k, op := range m.src.ops {
		if op.addr.root == bytes.root && overlap(op.addr, bytes) && slices.Contains(m.img[k].main, i) {
			return true
		}
	}
	return false
}

// together reports whether two operations stand in one block of the PTX with
// nothing between them that synchronises.
func (s *source) together(a, b int) bool { return s.segment[a] == s.segment[b] }
