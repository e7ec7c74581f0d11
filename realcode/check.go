package realcode

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/ptx"
)

// Roots are the functions of a module that are looked at, each with all that it
// calls: kernels, and what nobody in the module calls.
func Roots(m *ptx.Module) (roots []*ptx.Func) {
	called := map[string]bool{}
	for _, f := range m.Funcs {
		for _, st := range f.Body {
			if st.Inst == nil || st.Inst.Name != "call" {
				continue
			}
			for _, a := range st.Inst.Args {
				called[a.Name] = called[a.Name] || a.Kind == ptx.Sym
			}
		}
	}
	for _, f := range m.Funcs {
		if f.Entry || !called[f.Name] {
			roots = append(roots, f)
		}
	}
	return roots
}

// Check compares a module with the machine code of all its functions. sm is the number of the target.
func Check(m *ptx.Module, prog *isa.Program, sm int) *Result {
	var kernels []Kernel
	for _, f := range Roots(m) {
		kernels = append(kernels, checkKernel(m, f, prog, sm))
	}
	return gather(kernels)
}

// checkKernel compares one function, with all that it calls.
func checkKernel(m *ptx.Module, f *ptx.Func, prog *isa.Program, sm int) Kernel {
	k := Kernel{Name: f.Name}
	i := slices.IndexFunc(prog.Funcs, func(g *isa.Func) bool { return g.Name == f.Name })
	switch {
	case i >= 0:
		c := &checker{name: f.Name, sm: sm, res: &k.Result}
		src, err := readSource(m, f)
		if err == nil {
			err = c.check(src, f, prog, prog.Funcs[i])
		}
		if err != nil {
			k.Unknown = append(k.Unknown, Finding{Kernel: f.Name, Detail: err.Error()})
		}
		k.Count = c.count
		k.hazards(m, prog)
		c.show(&k)
		k.writes, k.shapes = append(c.writes(), c.others...), c.shapes()
	case f.Entry:
		k.Unknown = append(k.Unknown, Finding{Rule: Missing, Kernel: f.Name, Detail: "there is no machine code of this kernel"})
	}
	return k
}

// checker compares one function.
type checker struct {
	name  string
	sm    int
	res   *Result
	count Count
	*matcher
	pg *graph
	// loose is the graph of the machine code without what is known of conditions,
	// exact the one with it, made when it is needed.
	loose, exact *graph
	exactErr     error
	part         *graph     // the one with what is known of some conditions alone
	about        conditions // those
	inPart       [][]int32
	inPTX        [][]int32 // nodes of each operation
	inLoose      [][]int32 // nodes of each step
	inExact      [][]int32
	failed       []bool    // operations of which a rule of their own is broken
	lost         []int     // weak ones that write memory, of which nothing was found
	preds        [][]int32 // steps before each
	isSteady     []int8    // of each operation, 0: not asked yet
	orphaned     bool      // there are loads of which it is not known what they are
	signature    []string
	others       []write
	same         map[string]bool // pairs whose words were found to be alike
	marks        [4][]int32
	narrowed     int     // nodes of the graphs of single questions
	question     pairing // its memory, from one to the next
	ends         map[*ptx.Func]loopEnds
	orders       *orders
}

// check compares machine code with what has been read of a function; that stays as it is.
func (c *checker) check(src *source, f *ptx.Func, prog *isa.Program, code *isa.Func) (err error) {
	if c.others = src.others(); len(src.ops) == 0 {
		return nil
	}
	if n := len(src.ops) * src.strong(); n > maxPairs {
		return fmt.Errorf("%d operations, of which %d synchronise, make %d pairs: more than the %d of one kernel that are compared",
			len(src.ops), src.strong(), n, maxPairs)
	}
	mach := readMachine(prog, code, c.sm)
	if len(mach.lost) > 0 {
		return fmt.Errorf("the targets of a branch are not known: %s", mach.lost[0].Text)
	}
	if len(mach.calls) > 0 && len(src.calls) == 0 {
		return fmt.Errorf("it calls what the PTX does not, and nobody knows what that does: %s", mach.calls[0].Text)
	}
	c.count.Functions++
	// What is known of conditions is not used here: how two conditions of the PTX
	// depend on each other may be hidden in registers of the machine code.
	if c.pg, err = unroll(src.steps, src.entries[f], 0, nil, maxNodes()); err != nil {
		return err
	}
	c.inPTX = nodesOf(c.pg, len(src.ops), func(n int) int32 { return c.pg.letter[n] })
	c.matcher = match(src, mach)
	c.leaveOut()
	c.vectors()
	for i, in := range mach.insts {
		if c.owner[i] >= 0 {
			mach.steps[i].letter = int32(i)
		} else if in.Role == isa.RoleCache || in.Role == isa.RoleFence || multiplies(in) || in.Op == "WARPGROUP" {
			mach.steps[i].letter = int32(i)
		}
	}
	c.bind()
	if c.loose, err = unroll(mach.steps, 0, 0, nil, maxNodes()); err != nil {
		return err
	}
	c.inLoose = nodesOf(c.loose, len(mach.steps), func(n int) int32 { return c.loose.letter[n] })
	c.ends = map[*ptx.Func]loopEnds{}
	c.failed, c.isSteady = make([]bool, len(src.ops)), make([]int8, len(src.ops))
	c.marks = [4][]int32{make([]int32, len(c.pg.next)), make([]int32, len(c.loose.next))}
	c.orphaned = len(c.orphans()) > 0
	for k := range src.ops {
		c.operation(k)
	}
	c.mbarriers()
	c.products()
	c.extra()
	c.sign()
	c.pairs()
	return nil
}

func nodesOf(g *graph, n int, letter func(int) int32) [][]int32 {
	out := make([][]int32, n)
	for i := range g.next {
		if l := letter(i); l >= 0 {
			out[l] = append(out[l], int32(i))
		}
	}
	return out
}

func (c *checker) place(k int) *Place {
	op := c.src.ops[k]
	at := placeIn(op.Func.Name, op.Inst)
	return &at
}

func (c *checker) code(at ...int32) (out []Code) {
	for _, i := range at {
		if i >= 0 && len(out) < 8 {
			out = append(out, Code{c.name, c.mach.insts[i].Addr, c.mach.insts[i].Text})
		}
	}
	return out
}

func (c *checker) finding(r Rule, k int, code []Code, format string, args ...any) {
	c.res.Findings = append(c.res.Findings, Finding{Rule: r, Kernel: c.name, First: c.place(k), Code: code, Detail: fmt.Sprintf(format,
		args...)})
	c.failed[k] = true
}

// last is the finding that was made last; because gives it its slice.
func (c *checker) last() *Finding { return &c.res.Findings[len(c.res.Findings)-1] }

func (c *checker) because(s *slice) { c.last().slice = s }

func (c *checker) unknown(r Rule, k int, format string, args ...any) {
	c.res.Unknown = append(c.res.Unknown, Finding{Rule: r, Kernel: c.name, First: c.place(k), Code: c.code(c.img[k].main...),
		Detail: fmt.Sprintf(format, args...)})
	c.failed[k] = true
}

func (c *checker) note(r Rule, k int, format string, args ...any) {
	c.res.Notes = append(c.res.Notes, Finding{Rule: r, Kernel: c.name, First: c.place(k), Code: c.code(c.img[k].main...),
		Detail: fmt.Sprintf(format, args...)})
}

// maxPairs bounds the pairs of one kernel, which take about 20 s.
const maxPairs = 20_000_000

// strong counts the operations that synchronise, or may race.
func (s *source) strong() (n int) {
	for _, op := range s.ops {
		n += int(b2i(op.strong()))
	}
	return n
}

// strong reports whether an operation synchronises, or may race.
func (op *Op) strong() bool {
	if op.Effect.Kind == ptx.Convergent {
		return false
	}
	return !op.Effect.Kind.IsAccess() && op.Effect.Kind != ptx.Copy || op.Effect.Kind.IsAccess() && !op.Effect.Weak()
}

// operation checks one operation alone.
func (c *checker) operation(k int) {
	op, g := c.src.ops[k], &c.img[k]
	if len(c.inPTX[k]) == 0 || len(g.main) == 0 && c.src.never(op) {
		return // nothing comes here
	}
	if op.Effect.Kind == ptx.WarpSync || op.Effect.Kind == ptx.Convergent {
		c.convergence(k, op, g)
		return
	}
	if op.strong() {
		c.count.Strong++
	} else {
		c.count.Weak++
	}
	if g.doubt != "" {
		c.unknown(Missing, k, "%s", g.doubt)
		return
	}
	if len(g.main) == 0 {
		c.absent(k, op, g)
		return
	}
	if op.strong() {
		c.count.StrongFound++
	} else {
		c.count.WeakFound++
	}
	for _, i := range g.all() {
		if why := weaker(op, c.mach.insts[i], c.sm); why != "" && !(op.Effect.Weak() && c.promised(i)) {
			c.finding(Weakened, k, c.code(i), "%s", why)
			c.because(c.lessened(k, c.mach.insts[i]))
			c.last().Fence = op.fence(op.as(c.mach.insts[i]))
			c.last().computed = op.Effect.Weak() // what the cache of constants holds is executed
			return
		}
	}
	if why := c.uncovered(k); why != "" {
		c.finding(Weakened, k, c.code(g.all()...), "%s", why)
		c.last().computed = op.Effect.Kind == ptx.Load
		return
	}
	if op.strong() {
		c.alone(k, op, g)
		c.lessens(k, op, g)
		c.companions(k, op, g)
		c.arm(k, op, g)
	}
	c.waits(k, op)
}

// lessens compares, of an arrival that drops, how often the machine code lessens what later phases expect.
func (c *checker) lessens(k int, op *Op, g *images) {
	if !op.Inst.Has("arrive_drop") || c.sm >= 90 {
		return
	}
	switch v, err := c.compare(k, -1, g.lessen, nil, policy{}); {
	case err != nil && v == nil:
		c.unknown(Missing, k, "%v", err)
	case v != nil:
		c.finding(Missing, k, c.code(g.main...), "a path through the machine code makes later phases expect fewer arrivals %s, which none through the PTX does",
			times(len(v.word)))
	}
}

// alone compares how often an operation is performed on each path.
func (c *checker) alone(k int, op *Op, g *images) {
	v, err := c.compare(k, -1, g.main, nil, policy{stutter: [2]bool{g.stutter, false}})
	if err != nil && v == nil {
		c.unknown(Missing, k, "%v", err)
		return
	}
	if v == nil {
		return
	}
	n := len(v.word)
	if v.node == end {
		if c.src.ops[k].Dead && op.Effect.Kind == ptx.Load {
			c.note(Missing, k, "nobody uses what it reads, and on a path it is left out")
			return
		}
		c.finding(Missing, k, c.code(g.main...), "a path through the machine code has it %s, which none through the PTX has", times(n))
		return
	}
	c.finding(Duplicated, k, c.code(g.main...), "a path through the machine code has it %s, which none through the PTX has", times(n))
	c.because(c.counted(c.src.ops[k], 2))
}

func times(n int) string {
	switch n {
	case 0:
		return "not at all"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// absent says what it means that an operation has no image.
func (c *checker) absent(k int, op *Op, g *images) {
	e := &op.Effect
	switch {
	case e.Kind == ptx.Copy:
		c.finding(Missing, k, nil, "no instruction in the machine code")
	case !op.strong():
		if c.merged(k, op); e.Kind != ptx.Load && !c.failed[k] {
			c.lost = append(c.lost, k)
		}
		c.waits(k, op)
	case e.Kind == ptx.ProxyFence && proxy(op.Inst) == "" || e.Kind == ptx.MatrixCommit:
		c.note(Missing, k, "no instruction is needed for it, or none was found")
		c.failed[k] = true
	case e.Kind == ptx.Fence && e.Objects != "" && e.Sem == "acquire":
		c.acquiresObjects(k)
	case e.Kind == ptx.Fence && (e.Scope == "cta" && c.sm < 70 || e.Sem == "acquire" && (e.Scope == "cta" || len(g.inval) > 0)):
		c.note(Missing, k, "no instruction is needed for it")
		c.failed[k] = true
	case e.Kind == ptx.Matrix || (e.Kind == ptx.MatrixFence || e.Kind == ptx.MatrixWait) && c.anySerial(c.matrices()):
		c.note(Missing, k, "which instruction it is was not told, but the order of all of its kind is that of the PTX")
		c.failed[k] = true
	case e.Kind == ptx.Load && op.Dead && !e.Acquires():
		c.note(Missing, k, "nobody uses what it reads, and it is left out")
		c.failed[k] = true
	case e.Kind == ptx.Store && e.Sem == "relaxed" && c.overwritten(k):
		c.note(Missing, k, "it is overwritten before anything that synchronises, and is left out")
		c.failed[k] = true
	case e.Kind == ptx.Load && op.Dead && (len(g.inval) > 0 || c.invalidated(k)):
		c.note(Missing, k, "nobody uses what it reads: the load is left out, its invalidation stays")
	case e.Kind == ptx.CopyArrive && !op.Inst.Has("noinc") && c.deferred(k):
		c.note(Missing, k, "it counts nothing by itself, and is left to the next one of this mbarrier")
		c.failed[k] = true
	case e.Kind == ptx.Mbarrier && op.Inst.Has("inval") && c.sm < 90:
		c.note(Missing, k, "no instruction was found for it")
		c.failed[k] = true
	case c.joint(k) >= 0:
		c.performedTogether(k, c.joint(k))
	default:
		unused := op.Dead && e.Kind.IsAccess() && e.Kind != ptx.Store && e.Kind != ptx.Reduction
		c.finding(Missing, k, nil, "no instruction%s", map[bool]string{false: " in the machine code", true: "; nobody uses its result"}[unused])
		c.last().Order = op.Dead && e.Kind == ptx.Load && e.Acquires()
		// Whether somebody needs what it reads runs tell; its order is that of its invalidation.
		c.last().computed = e.Kind == ptx.Load && !op.Dead && (!e.Acquires() || len(g.inval) > 0 || c.invalidated(k))
		c.last().Fence = op.fence(&Op{})
		c.because(c.dropped(k))
	}
}

// deferred reports whether every path from an arrival of copies comes to one of the same mbarrier that was found, before anything
// else that synchronises: what the later one waits for has the earlier copies, too.
func (c *checker) deferred(k int) bool {
	op, ok := c.src.ops[k], true
	c.until(k, c.pg.next, func(l int32) bool {
		if l < 0 {
			ok = false
			return true
		}
		x := c.src.ops[l]
		switch {
		case !x.strong():
			return false
		case x.Effect.Kind == ptx.CopyArrive && x.addr == op.addr && x.addr.root != "" && x.Inst.Guard < 0:
			return len(c.img[l].main) > 0
		}
		ok = false
		return true
	})
	return ok
}

// compare compares the words of two operations. One may be -1. A node of the code in
// a violation is given as its step, or end. With an error only a part was compared.
func (c *checker) compare(x, y int, xs, ys []int32, p policy) (*violation, error) {
	v := c.compareIn(c.loose, c.inLoose, 1, x, y, xs, ys, p)
	if v == nil {
		return nil, nil
	}
	if c.exactly() == nil {
		return c.compareIn(c.exact, c.inExact, 2, x, y, xs, ys, p), nil
	}
	g, in, err := c.narrow(slices.Concat(xs, ys)...)
	if err != nil && c.alikeUnder(x, y, xs, ys, p) {
		return nil, nil
	}
	if g == nil {
		return nil, err
	}
	c.marks[3] = make([]int32, len(g.next))
	return c.compareIn(g, in, 3, x, y, xs, ys, p), err
}

// exactly makes the graph with what is known of conditions.
func (c *checker) exactly() error {
	if c.exact == nil && c.exactErr == nil {
		n := len(c.mach.conds)
		c.exact, c.exactErr = unroll(c.mach.steps, 0, n, everyCondition(n), maxNodes())
		if c.exactErr == nil {
			c.inExact = nodesOf(c.exact, len(c.mach.steps), func(n int) int32 { return c.exact.letter[n] })
			c.marks[2] = make([]int32, len(c.exact.next))
		}
	}
	return c.exactErr
}

func (c *checker) compareIn(g *graph, in [][]int32, which int, x, y int, xs, ys []int32, p policy) *violation {
	q := &c.question
	q.ptx, q.code, q.policy, q.inPTX, q.inCode, q.more = c.pg, g, p, c.marks[0], c.marks[which], nil
	set := func(nodes []int32, marks []int32, l int32) {
		for _, n := range nodes {
			marks[n] = l
		}
	}
	letter := func(x int, xs []int32, l int32) {
		if x < 0 {
			return
		}
		set(c.inPTX[x], q.inPTX, l)
		for _, i := range xs {
			set(in[i], q.inCode, l)
		}
	}
	mark := func(lx, ly int32) {
		letter(x, xs, lx)
		letter(y, ys, ly)
	}
	mark(1, 2)
	v := q.check()
	mark(0, 0)
	if v != nil {
		v.node = g.of[v.node]
	}
	return v
}

func (v *violation) text() string {
	var b strings.Builder
	for _, l := range v.word {
		b.WriteByte(" ab"[l])
	}
	return b.String()
}
