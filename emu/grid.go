package emu

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"optcheck/ir"
)

// Grid runs all warps of a launch together, and is the environment of them. It records what threads do where they
// synchronise, and what they store between: see Thread records in record.go.
//
// A weak load sees what memory held when its thread last synchronised, with the thread's own stores since over it; a
// strong access sees the newest content. Both are what the memory model allows (PTX ISA, 8): no thread sees more order
// than its synchronisation gives it.
type Grid struct {
	Code   *Code
	Launch *Launch
	Memory *Memory
	Policy Policy
	Warps  []*Warp
	Cover  *Coverage
	Blocks []*Block
	// Records are what threads did, by thread of the launch; nil if nobody asked for it.
	Records []*Record
	Steps   int64
	// Cut tells that the bound of steps ended the run.
	Cut bool
	// Outside are values that other threads write when a thread waits in a loop, tried one after the other.
	Outside []uint64
	// Final makes weak loads see the newest content, as one device does.
	Final bool
	// Meanwhile, if not nil, is another run with the same schedule, at its end: reads of what nobody should write get another content that the
	// word had there. With Races, so does each weak load, if another thread wrote it between the two synchronisations of its thread around the
	// load: that is a data race (PTX ISA, 8.7), and the load may read either.
	Meanwhile *Grid
	Races     bool
	// Kinds are those of accesses of which more is known than their types tell, by instruction.
	Kinds map[int32]Kind

	// Changed, if not nil, replaces what one strong load or read-modify-write reads: to see whether anything depends on it.
	Changed *Change

	// Opened, if not nil, is told when a barrier of a block lets its waiting lanes go on.
	Opened func(b *Block, id int, waiting map[*Warp]uint32)

	spins   map[spin]int
	awaited map[int32][][]awaited // see awaits
}

// Through makes all warps see an environment that stands before the grid, and that the grid's methods help.
func (g *Grid) Through(e Env) {
	for _, w := range g.Warps {
		w.env = e
	}
}

// Change is another value for what is read: event number Event of a thread of the launch.
type Change struct {
	Thread, Event int
	Flip          byte // of its lowest byte
}

// Block is what the threads of a block share: its barriers.
type Block struct {
	Number   int
	warps    []*Warp
	barriers [16]rendezvous
	cluster  *cluster
}

// rendezvous is the state of a barrier.
type rendezvous struct {
	arrived int
	count   int // of threads, 0 for all
	waiting map[*Warp]uint32
	dst     map[*Warp]ir.Reg
	and, or bool
	sum     int
	red     string
}

// NewGrid prepares a launch.
func NewGrid(c *Code, l *Launch, m *Memory, p Policy, record bool) (*Grid, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if p.Quantum == 0 {
		p.Quantum = 97
	}
	if p.MaxSteps == 0 {
		p.MaxSteps = 1 << 24
	}
	g := &Grid{Code: c, Launch: l, Memory: m, Policy: p, Cover: NewCoverage(c), spins: map[spin]int{}, awaited: map[int32][][]awaited{}}
	clusters := map[int]*cluster{}
	for b := range l.Blocks() {
		block := &Block{Number: b, cluster: l.clusterOf(clusters, b)}
		block.cluster.blocks = append(block.cluster.blocks, block)
		for i := 0; i*Lanes < l.Threads(); i++ {
			w := NewWarp(c, l, b, i, g, p)
			w.Cover, w.Data = g.Cover, block
			block.warps = append(block.warps, w)
			g.Warps = append(g.Warps, w)
		}
		g.Blocks = append(g.Blocks, block)
	}
	g.Records = make([]*Record, l.Blocks()*l.Threads())
	for i := range g.Records {
		g.Records[i] = newRecord(record)
	}
	return g, nil
}

// stopped reports whether nobody wants the run any more.
func (g *Grid) stopped() bool {
	select {
	case <-g.Policy.Done:
		return true
	default:
		return false
	}
}

// Run executes until all threads have ended. The error is ErrSteps, ErrStuck, a *Cannot or a *Fault.
func (g *Grid) Run() error {
	order := slices.Clone(g.Warps)
	if g.Policy.Reverse {
		slices.Reverse(order)
	}
	seed := g.Policy.Shuffle
	for round := 0; ; round++ {
		progress, left := false, false
		if g.Policy.Shuffle != 0 {
			rand.New(rand.NewPCG(seed, uint64(round))).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		for _, w := range order {
			if w.Done() {
				continue
			}
			before, quantum := w.Steps, g.Policy.Quantum
			if g.Policy.Shuffle != 0 {
				seed = mix(seed)
				quantum = 1 + int(seed%uint64(quantum))
			}
			p, err := w.Run(quantum)
			g.Steps += w.Steps - before
			if err != nil {
				return err
			}
			progress = progress || p
			left = left || !w.Done()
			if w.Done() {
				if err := w.Complete(^uint32(0), gridCopies{g, w}); err != nil {
					return err
				}
				g.ended(w)
			}
		}
		switch {
		case !left:
			return nil
		case !progress:
			if !g.releaseAny() {
				return ErrStuck
			}
		case g.Steps > g.Policy.MaxSteps, g.stopped():
			g.Cut = true
			return ErrSteps
		}
	}
}

func (g *Grid) thread(w *Warp, lane int) int {
	t := w.Threads[lane]
	return t.Block*g.Launch.Threads() + t.Index
}

// Of are the numbers of a warp's threads in the launch.
func (g *Grid) Of(w *Warp) (threads []int) {
	for l, t := range w.Threads {
		if t != nil {
			threads = append(threads, g.thread(w, l))
		}
	}
	return threads
}

// Record is that of a lane.
func (g *Grid) record(w *Warp, lane int) *Record { return g.Records[g.thread(w, lane)] }

// lanesOf calls do for the active lanes, in the order that the policy says.
func (g *Grid) lanesOf(act uint32, do func(l int)) {
	if !g.Policy.Reverse {
		for x := act; x != 0; x &= x - 1 {
			do(lowest(x))
		}
		return
	}
	for l := Lanes - 1; l >= 0; l-- {
		if act>>l&1 == 1 {
			do(l)
		}
	}
}

// Access is the memory as threads see it.
func (g *Grid) Access(w *Warp, pc int32, a *ir.Access, act uint32, at *[Lanes]Place) error {
	var err error
	n := a.Bytes * a.Elems
	if n > 64 {
		return &Cannot{Inst: int(pc), Why: "an access of more than 64 bytes"}
	}
	if a.Behind {
		if err := w.Complete(act, gridCopies{g, w}); err != nil {
			return err
		}
	}
	if a.Kind == ir.Atomic {
		// In the order of their numbers: machine code that performs the operations of a warp as one gives old values so.
		var phases map[Place]uint32
		if a.Mbarrier {
			phases = map[Place]uint32{}
		}
		for x := act; x != 0 && err == nil; x &= x - 1 {
			l := lowest(x)
			if a.Mbarrier && g.crossed(phases, at[l], w.Threads[l].Block) {
				return &Cannot{Inst: int(pc), Why: "lanes that arrive together do so in two phases of a barrier object", Input: true}
			}
			err = g.readModifyWrite(w, pc, a, l, at[l])
		}
		return err
	}
	g.lanesOf(act, func(l int) {
		var buf [64]byte
		if a.Kind == ir.Load {
			g.load(w, pc, a, l, at[l], buf[:n])
			w.Loaded(a, l, buf[:n])
			return
		}
		w.Stored(a, l, buf[:n])
		g.store(w, pc, a, l, at[l], buf[:n])
	})
	return nil
}

// crossed reports whether a barrier object has gone to another phase since a lane's neighbours arrived at it: which lanes are in which
// phase is open then.
func (g *Grid) crossed(phases map[Place]uint32, p Place, block int) bool {
	p.Addr &^= 7
	now := g.Memory.Now(WordOf(p, block)+1, Integer) >> 31
	was, ok := phases[p]
	phases[p] = now
	return ok && was != now
}

// kind is what the words of an access are taken for.
func (g *Grid) kind(pc int32, a *ir.Access) Kind {
	if k, ok := g.Kinds[pc]; ok {
		return k
	}
	return KindOf(a)
}

// KindOf is what an access takes its words for, by its type.
func KindOf(a *ir.Access) Kind {
	switch {
	case a.Type == ir.F64:
		return Float64
	case a.Type == ir.F32:
		return Float32
	case a.Type.Float():
		return Float16
	case a.Bytes == 1:
		return Bytes8
	case a.Bytes == 2:
		return Bytes16
	case a.Bytes == 8:
		return Integer64
	}
	return Integer
}

func (g *Grid) load(w *Warp, pc int32, a *ir.Access, l int, p Place, buf []byte) {
	r, kind := g.record(w, l), g.kind(pc, a)
	block := w.Threads[l].Block
	strong := a.Sem != ir.Weak
	if strong && !a.Mbarrier {
		g.breakSpin(w, pc, a, l, p)
	}
	EachWord(p, block, len(buf), func(word Word, mask uint32, shift uint, from int) {
		var v uint32
		if strong || g.Final {
			v = g.Memory.Now(word, kind)
		} else {
			v = r.over(word, g.Memory.At(word, r.Time, kind))
		}
		if strong && !g.Final {
			r.overlay(word, mask, v)
		}
		if a.Constant && p.Space == ir.Global {
			g.Memory.constant(word)
		}
		if o := g.Meanwhile; o != nil && !strong {
			v = o.otherwise(word, v, mask, a.Constant, g.Races, g.thread(w, l), len(r.Epochs)-1)
		}
		PutBytes(buf[from:], v&mask>>shift, mask>>shift)
	})
	if strong && g.Changed != nil {
		g.changed(w, l, len(r.Events), a, buf)
	}
	if strong {
		r.event(Event{Kind: EventLoad, Inst: pc, Place: p, Bytes: a.Bytes, Sem: a.Sem, Scope: a.Scope, Volatile: a.Volatile, Object: a.Mbarrier}, a.Elems, buf)
		if a.Sem == ir.Acquire {
			g.sync(r, Event{Kind: EventFence, Inst: pc, Sem: ir.Acquire, Scope: g.scopeOf(a, p)})
		}
	}
	if a.Cached {
		r.cached(p, block, len(buf))
	}
}

// otherwise is what a weak load of a word by a thread in one of its epochs may also have read.
func (g *Grid) otherwise(word Word, v, mask uint32, constant, races bool, thread, epoch int) uint32 {
	switch {
	case constant:
		return g.Memory.Other(word, v, mask)
	case races:
		return g.Memory.Racing(word, v, mask, func(by int, time uint64) bool {
			from, to := g.Records[thread].epoch(epoch, by >= 0 && g.warpOf(by) == g.warpOf(thread))
			return by != thread && time > from && time <= to
		})
	}
	return v
}

// warpOf is the number of the warp of a thread in the grid.
func (g *Grid) warpOf(thread int) int {
	n := g.Launch.Threads()
	return thread/n*n + thread%n/Lanes
}

// changed replaces what a lane reads if it is to be replaced: buf holds the elements of the events from first on.
func (g *Grid) changed(w *Warp, l, first int, a *ir.Access, buf []byte) {
	if c := g.Changed; c.Thread == g.thread(w, l) && c.Event >= first && c.Event < first+a.Elems {
		buf[(c.Event-first)*a.Bytes] ^= c.Flip
	}
}

// scopeOf is the scope in which an access synchronises: without clusters nobody outside the CTA can read what it stores to shared memory.
func (g *Grid) scopeOf(a *ir.Access, p Place) ir.Scope {
	if p.Space == ir.Shared && !g.Launch.clustered() {
		return min(a.Scope, ir.CTA)
	}
	return a.Scope
}

// PutBytes writes the bytes of v that mask covers, which begins at its lowest byte.
func PutBytes(b []byte, v, mask uint32) {
	for i := 0; mask != 0 && i < len(b); i++ {
		b[i] = byte(v)
		v, mask = v>>8, mask>>8
	}
}

// Word32 is the little-endian word of up to four bytes.
func Word32(b []byte) uint32 {
	var w [4]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint32(w[:])
}

func (g *Grid) store(w *Warp, pc int32, a *ir.Access, l int, p Place, buf []byte) {
	r, thread := g.record(w, l), g.thread(w, l)
	block, kind := w.Threads[l].Block, g.kind(pc, a)
	strong := a.Sem != ir.Weak || a.Mbarrier && g.Code.P.Mbarriers == ir.Wide // a new barrier object is an instruction's of its own there
	if a.Sem == ir.Release {
		g.sync(r, Event{Kind: EventFence, Inst: pc, Sem: ir.Release, Scope: g.scopeOf(a, p)})
	}
	EachWord(p, block, len(buf), func(word Word, mask uint32, shift uint, from int) {
		v := g.Memory.Now(word, kind)&^mask | Word32(buf[from:])<<shift&mask
		g.Memory.Put(word, v, thread)
		switch {
		case !strong:
			r.stored(word, mask, v, pc, !g.Final)
		case !g.Final:
			r.overlay(word, mask, v)
		}
	})
	if strong {
		r.event(Event{Kind: EventStore, Inst: pc, Place: p, Bytes: a.Bytes, Sem: a.Sem, Scope: a.Scope, Volatile: a.Volatile}, a.Elems, buf)
	}
	if a.Cached {
		r.cached(p, block, len(buf))
	}
}

// atomic performs a read-modify-write. One with a vector of elements does so for each.
func (g *Grid) atomic(w *Warp, pc int32, a *ir.Access, l int, p Place) error {
	n := a.Bytes * a.Elems
	var old, operand, compared, result [64]byte
	r, thread := g.record(w, l), g.thread(w, l)
	block := w.Threads[l].Block
	if a.Sem == ir.Release || a.Sem == ir.AcqRel {
		g.sync(r, Event{Kind: EventFence, Inst: pc, Sem: ir.Release, Scope: g.scopeOf(a, p)})
	}
	if !a.Mbarrier {
		g.breakSpin(w, pc, a, l, p)
	}
	w.Stored(a, l, operand[:n])
	w.Compared(a, l, compared[:n])
	EachWord(p, block, n, func(word Word, mask uint32, shift uint, from int) {
		PutBytes(old[from:n], g.Memory.Now(word, g.kind(pc, a))&mask>>shift, mask>>shift)
	})
	for e := 0; e < n; e += a.Bytes {
		if err := Combine(g.Code.P.Mbarriers, a, result[e:e+a.Bytes], old[e:], operand[e:], compared[e:]); err != nil {
			return err
		}
	}
	EachWord(p, block, n, func(word Word, mask uint32, shift uint, from int) {
		v := g.Memory.Now(word, g.kind(pc, a))&^mask | Word32(result[from:n])<<shift&mask
		g.Memory.Put(word, v, thread)
		if !g.Final {
			r.overlay(word, mask, v)
		}
	})
	r.atomic(Event{Kind: EventAtomic, Inst: pc, Place: p, Bytes: a.Bytes, Sem: a.Sem, Scope: a.Scope,
		Atom: a.Atom, Type: a.Type, Step: w.Turns, Behind: a.Behind}, a.Elems, old[:], operand[:], compared[:], result[:])
	done := truth(string(old[:n]) == string(compared[:n]))
	if g.Changed != nil {
		g.changed(w, l, len(r.Events)-a.Elems, a, old[:n])
	}
	w.Old(a, l, old[:n])
	w.SetReg(a.Done, l, done)
	if a.Sem == ir.Acquire || a.Sem == ir.AcqRel {
		g.sync(r, Event{Kind: EventFence, Inst: pc, Sem: ir.Acquire, Scope: g.scopeOf(a, p)})
	}
	return nil
}

// Combine computes what a read-modify-write leaves of an element. The error is that nobody knows.
func Combine(m ir.Mbarriers, a *ir.Access, result, old, operand, compared []byte) error {
	n := a.Bytes
	if a.Atom == ir.AtomExch {
		copy(result, operand[:n])
		return nil
	}
	if a.Atom == ir.AtomCAS {
		if string(old[:n]) == string(compared[:n]) {
			copy(result, operand[:n])
		} else {
			copy(result, old[:n])
		}
		return nil
	}
	if n > 8 {
		return &Cannot{Inst: -1, Why: "an atomic of 16 bytes that is neither an exchange nor a compare-and-swap"}
	}
	var x, y [8]byte
	copy(x[:], old[:n])
	copy(y[:], operand[:n])
	if a.Atom >= ir.AtomArrive {
		return arrive(m, a, result, x, y)
	}
	v, err := combine(a.Atom, a.Type, a.FTZ, binary.LittleEndian.Uint64(x[:]), binary.LittleEndian.Uint64(y[:]))
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(x[:], v)
	copy(result, x[:n])
	return nil
}

// combine computes old op b. PTX ISA, 9.7.13.4 (atom).
func combine(k ir.Atom, t ir.Type, ftz bool, old, b uint64) (uint64, error) {
	op := ir.Op{Type: t, To: t}
	if ftz {
		op.Mode = ir.FTZ
	}
	switch k {
	case ir.AtomAdd:
		op.Code = ir.Add
		if t.Float() {
			op.Code = ir.FAdd
		}
	case ir.AtomMin:
		op.Code = ir.Min
	case ir.AtomMax:
		op.Code = ir.Max
	case ir.AtomAnd:
		op.Code = ir.And
	case ir.AtomOr:
		op.Code = ir.Or
	case ir.AtomXor:
		op.Code = ir.Xor
	case ir.AtomInc:
		if old >= b {
			return 0, nil
		}
		return old + 1, nil
	case ir.AtomDec:
		if old == 0 || old > b {
			return b, nil
		}
		return old - 1, nil
	default:
		return 0, &Cannot{Inst: -1, Why: fmt.Sprintf("the read-modify-write %s", k)}
	}
	return ir.Eval(&op, &[4]uint64{old, b}, 0), nil
}

// sync makes a thread see all stores so far, and records why.
func (g *Grid) sync(r *Record, e Event) {
	r.Time = g.Memory.Time
	e.Time = r.Time
	r.sync(e)
}

// Fence lets a thread see all stores so far.
func (g *Grid) Fence(w *Warp, pc int32, f *ir.Fence, act uint32) error {
	if f.Proxy != "" || f.Part {
		return nil
	}
	g.lanesOf(act, func(l int) {
		g.sync(g.record(w, l), Event{Kind: EventFence, Inst: pc, Sem: f.Sem, Scope: f.Scope})
	})
	return nil
}

// WarpBarrier is a barrier of the warp to which all its lanes have come: they see each other's stores.
func (g *Grid) WarpBarrier(w *Warp, pc int32, _ *ir.Barrier, act uint32) error {
	g.lanesOf(act, func(l int) { g.sync(g.record(w, l), Event{Kind: EventWarpBarrier, Inst: pc, Scope: ir.CTA}) })
	return nil
}

// Clock counts the readings of a thread, so that both sides of a comparison read the same.
func (g *Grid) Clock(w *Warp, lane int, _ ir.SpecialReg) uint64 {
	r := g.record(w, lane)
	r.clock++
	return g.Policy.Time(r.clock)
}
