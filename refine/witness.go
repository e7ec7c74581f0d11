package refine

import (
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// tuple is a comparison as a thread made it.
type tuple struct {
	thread int
	event  int // how many events the thread had had
	o      *ir.Op
	a, b   uint64
}

// witness notes which comparisons the threads of a run make.
type witness struct {
	p      *ir.Program
	only   []int32           // those instructions, as tuples; else all, as keys
	tuples map[int32][]tuple // of each at most mostTuples
	keys   map[uint64]places
	known  map[uint64]bool           // what the program asks, however it is said
	about  map[uint64]map[int32]bool // which places ask something of a number; true: what the program does not ask
	// records are those of the program's threads.
	records []*emu.Record
}

const (
	mostTuples = 1 << 10
	mostKeys   = 1 << 21
)

// watch has the comparisons of a warp noted.
func (n *witness) watch(w *emu.Warp, threads int) {
	behind(w, func(pc int32, act uint32) { n.note(w, pc, act, threads) })
}

// behind calls a function behind each instruction that lanes of a warp perform.
func behind(w *emu.Warp, do func(pc int32, act uint32)) {
	last, on := int32(-1), uint32(0)
	w.Trace = func(_ *emu.Warp, pc int32, act uint32) {
		if last >= 0 && on != 0 {
			do(last, on)
		}
		last, on = pc, act
	}
}

func (n *witness) note(w *emu.Warp, pc int32, act uint32, threads int) {
	in := &n.p.Insts[pc]
	for _, list := range [][]ir.Op{in.Pre, in.Post} {
		for i := range list {
			o := &list[i]
			if n.only == nil && (o.Code == ir.Min || o.Code == ir.Max) {
				n.lesser(w, o, pc, act, threads)
			}
			if o.Code != ir.Cmp {
				continue
			}
			for x := act; x != 0; x &= x - 1 {
				l := bits.TrailingZeros32(x)
				t := w.Threads[l]
				if t == nil {
					continue
				}
				x := tuple{thread: t.Block*threads + t.Index, o: o, a: operand(w, o.Src[0], l), b: operand(w, o.Src[1], l)}
				if n.records != nil {
					x.event = len(n.records[x.thread].Events)
				}
				n.add(pc, x)
			}
		}
	}
}

// lesser notes that the lanes have chosen the lesser or the greater of two numbers: whichever is asked of them, less or not, is asked.
func (n *witness) lesser(w *emu.Warp, o *ir.Op, pc int32, act uint32, threads int) {
	for x := act; x != 0 && len(n.keys) < mostKeys; x &= x - 1 {
		l := bits.TrailingZeros32(x)
		t := w.Threads[l]
		if t == nil {
			continue
		}
		a, b := operand(w, o.Src[0], l), operand(w, o.Src[1], l)
		for _, c := range []ir.Cond{ir.LT, ir.GT, ir.LE, ir.GE} {
			n.asks(t.Block*threads+t.Index, relate(c, o.Type, a, b), pc)
		}
	}
}

func (n *witness) add(pc int32, t tuple) {
	if n.only != nil {
		if slices.Contains(n.only, pc) && len(n.tuples[pc]) < mostTuples {
			n.tuples[pc] = append(n.tuples[pc], t)
		}
		for _, s := range sayings(t.o, t.a, t.b) {
			for _, r := range s.parts {
				if len(n.known) < mostKeys {
					n.known[key(t.thread, r)] = true
				}
			}
		}
		return
	}
	if len(n.keys) < mostKeys {
		n.asks(t.thread, relate(t.o.Cond, t.o.Type, t.a, t.b), pc)
	}
	t.operands(nil, func(k uint64) {
		if m := n.about[k]; m != nil {
			m[pc] = m[pc] || !n.known[asking(t)]
		}
	})
}

// operands calls do for each operand of a comparison that is none of the constants, as what a thread asks about.
func (t *tuple) operands(constant map[ir.Reg]uint64, do func(key uint64)) {
	for i, v := range []uint64{t.a, t.b} {
		if _, ok := constant[t.o.Src[i]]; !ok {
			do(key(t.thread, relation{a: v & (^uint64(0) >> (64 - max(t.o.Type.Bits(), 1)))}))
		}
	}
}

// places are some instructions that ask the same of the same thread.
type places [4]int32

// asks notes that an instruction asks something of a thread.
func (n *witness) asks(thread int, r relation, pc int32) {
	k := key(thread, r)
	p := n.keys[k]
	for i := range p {
		if p[i] == pc+1 {
			return
		}
		if p[i] == 0 {
			p[i] = pc + 1
			n.keys[k] = p
			return
		}
	}
}

// asking is what a comparison asks, and of which thread.
func asking(t tuple) uint64 { return key(t.thread, relate(t.o.Cond, t.o.Type, t.a, t.b)) }

// askers counts the comparisons of the program that ask the same.
func (n *witness) askers() map[uint64]int {
	out := map[uint64]int{}
	for _, list := range n.tuples {
		own := map[uint64]bool{}
		for _, t := range list {
			if k := asking(t); !own[k] {
				own[k] = true
				out[k]++
			}
		}
	}
	return out
}

// has reports whether the machine code has made the comparison of a thread of the program, or one that says the same, at as many places as the
// program has such comparisons: one that was made for another one says nothing.
func (n *witness) has(t tuple, places int) bool {
	places = min(places, 4)
	return slices.ContainsFunc(sayings(t.o, t.a, t.b), func(s saying) bool {
		return !slices.ContainsFunc(s.parts, func(r relation) bool {
			p := n.keys[key(t.thread, r)]
			return p[places-1] == 0
		})
	})
}
