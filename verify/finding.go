package verify

import (
	"cmp"
	"fmt"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/model"
	"optcheck/refine"
)

// Rule is what a program does wrong.
type Rule string

// The rules.
const (
	DataRace          Rule = "data-race"
	BarrierDivergence Rule = "barrier-divergence"
	BarrierCount      Rule = "barrier-count"
	Stuck             Rule = "stuck"
	OutOfBounds       Rule = "out-of-bounds"
	Misaligned        Rule = "misaligned"
	Uninitialised     Rule = "uninitialised-shared"
	CopyLeft          Rule = "copy-left"
	RegisterRace      Rule = "register-race"
	Lifetime          Rule = "shared-lifetime"
	Early             Rule = "shared-early"
	Trap              Rule = "trap"
	Assertion         Rule = "assertion"
)

// wild is an access to an address that no memory has.
const wild Rule = "wild"

// Entry is a rule, with what it says.
type Entry struct {
	Rule Rule
	Says string
}

// Rules lists the rules.
func Rules() []Entry {
	return []Entry{
		{DataRace, "two accesses of the same place, one of which writes, are neither ordered by causality nor morally strong"},
		{BarrierDivergence, "threads that must come to a barrier together do not"},
		{BarrierCount, "a barrier is used with a number of threads that it cannot have"},
		{Stuck, "threads wait for what no thread of the launch will do"},
		{OutOfBounds, "an access outside of the memory that the kernel was given"},
		{Misaligned, "an access whose address is no multiple of its size"},
		{Uninitialised, "a read of shared memory that nobody has written"},
		{CopyLeft, "a thread ends while a bulk copy may still read shared memory, which goes with the block"},
		{RegisterRace, "registers of a product by a warpgroup (wgmma) are written without a fence in front of it, or used before it is waited for"},
		{Lifetime, "an access of another block's shared memory that may come after the block has ended"},
		{Early, "an access of another block's shared memory that may come before the block has begun, which is likely of blocks of one cluster; it does not count"},
		{Trap, "a trap is reached"},
		{Assertion, "an assertion fails"},
	}
}

// Thread is a thread of a launch.
type Thread struct {
	Block  int    `json:"block"`
	Thread int    `json:"thread"`
	Ctaid  [3]int `json:"ctaid"`
	Tid    [3]int `json:"tid"`
}

// String is how CUDA programmers call it.
func (t Thread) String() string {
	return fmt.Sprintf("thread %s of block %s", triple(t.Tid), triple(t.Ctaid))
}

func triple(d [3]int) string {
	switch {
	case d[1] == 0 && d[2] == 0:
		return fmt.Sprint(d[0])
	case d[2] == 0:
		return fmt.Sprintf("(%d,%d)", d[0], d[1])
	}
	return fmt.Sprintf("(%d,%d,%d)", d[0], d[1], d[2])
}

// Side is one operation of a finding.
type Side struct {
	Thread Thread `json:"thread"`
	// Inst is the instruction of the program; the lines are those of PTX and of the source.
	Inst   int    `json:"inst"`
	Text   string `json:"text"`
	Line   int    `json:"line,omitempty"`
	File   string `json:"file,omitempty"`
	Source int    `json:"source_line,omitempty"`
	Col    int    `json:"source_col,omitempty"`
	// Written is what stands in the line of the source, if somebody has looked.
	Written string `json:"source_text,omitempty"`
	Does    string `json:"does,omitempty"`
	// Async tells that it is done by an asynchronous copy that the thread has begun.
	Async bool `json:"async,omitempty"`
}

// Finding is something that the program does wrong.
type Finding struct {
	Rule Rule `json:"rule"`
	// First and Second are the operations in the order of the run; Second is absent where one is enough.
	First  Side  `json:"first"`
	Second *Side `json:"second,omitempty"`
	// Where names the memory.
	Where string `json:"where,omitempty"`
	// Why says why they are not ordered, or what is wrong.
	Why string `json:"why,omitempty"`
	// SameValue tells that each write of a race that was seen stored what was there.
	SameValue bool `json:"same_value,omitempty"`
	// Chosen tells that it rests on values that were chosen for parameters or memory, which the program may exclude.
	Chosen bool `json:"chosen,omitempty"`
	// Unless is a launch, if one was chosen, in which its operations were performed and it was not seen.
	Unless string `json:"unless,omitempty"`
	// Counts tells that it decides: it neither rests on what was chosen, nor is it a race that changes no value.
	Counts bool `json:"counts"`
	// Count is how often it was seen, Run the first run that showed it.
	Count int    `json:"count"`
	Run   string `json:"run,omitempty"`
	// Known are the filters of known findings that match it.
	Known []string `json:"known,omitempty"`
	// Mend is what would mend it.
	Mend []string `json:"mend,omitempty"`
	// Execution is what the two threads of a race did in the run that showed it first.
	Execution *model.Execution `json:"-"`
	// Record is the execution as text, a line for each operation and relation.
	Record string `json:"execution,omitempty"`
	// proxies tells that the operations are ordered, and only a fence between their proxies is missing.
	proxies bool

	made made
	// astray tells that each run that showed it came to wrong addresses, because of what was chosen.
	astray bool

	level level
	// from is what the address depends on that was chosen, decided what the conditions before it do.
	from    trail
	decided choices
}

type findingKey struct {
	rule Rule
	a, b int32
	why  string
}

// findings gathers what the runs show.
type findings struct {
	options *Options
	program *ir.Program
	lines   Lines
	run     string
	made    made
	chosen  bool
	list    []*Finding
	of      map[findingKey]*Finding
	block   [3]int
	grid    [3]int
	dropped int
}

// maxFindings bounds the findings of a program.
const maxFindings = 200

// note adds a finding, or counts it; the result is nil if it is known.
func (f *findings) note(k findingKey) *Finding {
	if x := f.of[k]; x != nil {
		x.Count++
		return nil
	}
	if len(f.list) >= maxFindings {
		f.dropped++
		return nil
	}
	x := &Finding{Rule: k.rule, Count: 1, Run: f.run, made: f.made}
	f.of[k] = x
	f.list = append(f.list, x)
	return x
}

func (f *findings) thread(x id, warps int) Thread {
	n := (int(x.warp)%warps)*emu.Lanes + int(x.lane)
	b, g := f.block, f.grid
	return Thread{Block: int(x.block), Thread: n, Tid: [3]int{n % b[0], n / b[0] % b[1], n / b[0] / b[1]},
		Ctaid: [3]int{int(x.block) % g[0], int(x.block) / g[0] % g[1], int(x.block) / g[0] / g[1]}}
}

func (f *findings) side(pc int32, x id, warps int) Side {
	in := &f.program.Insts[pc]
	s := Side{Thread: f.thread(x, warps), Inst: int(pc), Text: in.Text, Does: does(in.Do), Async: int(x.warp) >= warps}
	l := f.lines.at(in.Source)
	s.Line, s.File, s.Source, s.Col = l.Line, l.File, l.Source, l.Col
	return s
}

// does says what an access is.
func does(e ir.Effect) string {
	switch a := e.(type) {
	case *ir.Access:
		what := map[ir.AccessKind]string{ir.Load: "read", ir.Store: "write", ir.Atomic: "read-modify-write"}[a.Kind]
		if a.Sem == ir.Weak {
			return "weak " + what
		}
		return fmt.Sprintf("%s.%s %s", a.Sem, a.Scope, what)
	case *ir.Copy:
		return asyncNames[a.Kind]
	}
	return ""
}

// asyncNames are those of what is done for a thread while it goes on.
var asyncNames = map[ir.CopyKind]string{ir.CopyAsync: "asynchronous copy", ir.CopyBulk: "bulk copy", ir.CopyStore: "asynchronous store",
	ir.CopyReduce: "asynchronous reduction", ir.CopyProduct: "matrix product"}

// at notes a finding about one operation.
func (m *monitor) at(rule Rule, pc int32, x id, p emu.Place, why string) {
	n := m.found.note(findingKey{rule, pc, pc, string(rule)})
	if n == nil {
		return
	}
	n.First, n.Why, n.Chosen = m.found.side(pc, x, m.shape.warps), why, m.found.chosen
	if p != (emu.Place{}) {
		n.Where = m.layout.name(p)
	}
}

// suspect notes a finding about an address, and what of it was chosen.
func (m *monitor) suspect(rule Rule, pc int32, x id, p emu.Place, why string) {
	m.at(rule, pc, x, p, why)
	if f := m.found.of[findingKey{rule, pc, pc, string(rule)}]; f != nil {
		address, decided := m.origins.here(pc)
		f.from = f.from.with(address)
		if rule == OutOfBounds { // the size of what is there is given
			f.decided |= decided
		}
	}
}

// pair notes a finding about two operations.
func (m *monitor) pair(rule Rule, a int32, one id, b int32, x id, why string) {
	if n := m.found.note(findingKey{rule, min(a, b), max(a, b), why}); n != nil {
		n.First = m.found.side(a, one, m.shape.warps)
		s := m.found.side(b, x, m.shape.warps)
		n.Second, n.Why, n.Chosen = &s, why, m.found.chosen
	}
}

// race notes a race of what a word remembers with the access of a lane.
func (m *monitor) race(e, t *touch, by id, k *clock) {
	f := m.found
	same := m.sameValue(e, t, by, k)
	key := findingKey{DataRace, min(e.pc, t.pc), max(e.pc, t.pc), ""}
	if known := f.of[key]; known != nil {
		known.Count++
		known.SameValue = known.SameValue && same
		return
	}
	n := f.note(key)
	if n == nil {
		return
	}
	x := id{e.block, e.warp, m.first(e, by, k)}
	if issuer, ok := m.issuer[x]; ok {
		x = issuer
	}
	n.First = f.side(e.pc, x, m.shape.warps)
	s := f.side(t.pc, by, m.shape.warps)
	n.made.by = [2]id{m.issuing(x), m.issuing(by)}
	n.First.Async, s.Async = int(e.warp) >= m.shape.warps, int(t.warp) >= m.shape.warps
	n.Second = &s
	n.Where, n.SameValue, n.Chosen = m.layout.name(m.now.at), same, f.chosen
	n.level = m.apart(e.block, t.block)
	ordered := m.ordered(e, by, k)
	n.Why, n.proxies = m.why(e, t, ordered), ordered && t.async
}

// why says why two racing accesses are not morally strong, or what is missing between them.
func (m *monitor) why(e, t *touch, ordered bool) string {
	apart := map[level]string{sameBlock: "the same block", sameCluster: "different blocks of a cluster", sameGPU: "different blocks"}[m.apart(e.block, t.block)]
	switch {
	case ordered && t.async:
		return fmt.Sprintf("the %s is by the generic proxy, and no fence.proxy.async stands between it and the %s, which is by the async proxy",
			map[bool]string{false: "read", true: "write"}[e.write], does(m.found.program.Insts[t.pc].Do))
	case e.strong && t.strong && (e.size != t.size || e.low != t.low):
		return "both are strong, but they do not cover the same bytes"
	case e.strong && t.strong:
		return "both are strong, but the scope of one does not have the other's thread, which is in " + apart
	case int(e.warp) >= m.shape.warps || int(t.warp) >= m.shape.warps:
		earlier := does(m.found.program.Insts[e.pc].Do)
		if int(e.warp) < m.shape.warps {
			return fmt.Sprintf("nothing orders the %s behind it", does(m.found.program.Insts[t.pc].Do))
		}
		return fmt.Sprintf("the %s is not waited for, or not made known by a barrier or release", earlier)
	case e.block == t.block && e.warp == t.warp && e.pc == t.pc:
		return "lanes of one warp do it in the same instruction"
	case e.block == t.block && e.warp == t.warp:
		return "nothing orders them: the lanes of a warp run independently of each other"
	}
	return "nothing orders them: the threads are in " + apart
}

// sameValue reports whether a racing write stores what the place holds, or what a lane beside it stores at the same time.
func (m *monitor) sameValue(e, t *touch, by id, k *clock) bool {
	a, w := m.now.a, m.now.w
	n := a.Bytes * a.Elems
	if !e.write || !t.write || a.Kind != ir.Store || n == 0 || n > 64 {
		return false
	}
	var mine, other [64]byte
	w.Stored(a, m.now.lane, mine[:n])
	if e.block == t.block && e.warp == t.warp && e.pc == t.pc && e.time == t.time {
		w.Stored(a, int(m.first(e, by, k)), other[:n])
		return mine == other
	}
	same := true
	emu.EachWord(m.now.at, int(t.block), n, func(w emu.Word, mask uint32, shift uint, from int) {
		same = same && m.grid.Memory.Now(w, emu.Integer)&mask == emu.Word32(mine[from:n])<<shift&mask
	})
	return same
}

// suspicious reports whether an address was wrong.
func (x *Finding) suspicious() bool {
	return x.Rule == Misaligned || x.Rule == wild || x.Rule == OutOfBounds
}

// drop takes findings whose cause was chosen out of those of a run, and gives what depends on it.
func (f *findings) drop(p *ir.Program, in *refine.Input) (unknown []string) {
	wrong := map[int]bool{}
	f.list = slices.DeleteFunc(f.list, func(x *Finding) bool {
		if !x.suspicious() {
			return false
		}
		rule := x.Rule
		if x.Rule == wild {
			x.Rule = OutOfBounds
		}
		from := x.from.any | x.decided
		if from == 0 {
			return false
		}
		wrong[x.First.Inst] = true
		unknown = append(unknown, fmt.Sprintf("%s%s: it depends on what was chosen: give %s", f.place(x.First.Inst), badAddress[rule], f.options.names(p, in, from)))
		return true
	})
	f.list = slices.DeleteFunc(f.list, func(x *Finding) bool { // accesses that were led astray meet anywhere
		return x.Second != nil && (wrong[x.First.Inst] || wrong[x.Second.Inst])
	})
	return unknown
}

var badAddress = map[Rule]string{wild: "the address is none of memory", Misaligned: "the address is misaligned", OutOfBounds: "the access is out of bounds"}

// Possible reports whether a finding depends on values that were chosen in a way that the program may exclude: of races that is
// so if another choice does not show them, since what values are decides little about the order of threads.
func (x *Finding) Possible() bool {
	switch {
	case x.Rule == Early, x.Unless != "", x.astray:
		return true
	}
	switch x.Rule {
	case DataRace, BarrierDivergence, BarrierCount, Stuck, Lifetime, RegisterRace:
		return false
	}
	return x.Chosen
}

// Minor reports whether a finding decides nothing: it rests on what was chosen, or is a race in which each write stores what is there already.
func (x *Finding) Minor() bool { return x.Possible() || x.SameValue }

// sorted are the findings by their place.
func (f *findings) sorted() []*Finding {
	slices.SortStableFunc(f.list, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.First.Inst, b.First.Inst))
	})
	return f.list
}
