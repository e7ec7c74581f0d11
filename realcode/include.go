package realcode

import (
	"encoding/binary"
	"slices"
)

// policy says in which way the second letter of a pair may differ from the PTX.
type policy struct {
	// optional: it may be left out (weak loads that nobody needs on a path), and,
	// with early, be where the PTX could still come to it.
	optional, early bool
	// sink and rise: it may move behind, or in front of, the first letter.
	sink, rise bool
	// stutter tells for both letters that an instruction that follows itself may
	// count once: a loop that tries again.
	stutter [2]bool
	// pieces tells that several instructions one after the other make the second
	// letter.
	pieces bool
}

// pairing is the question whether all words of two letters of the machine code are
// words of the PTX.
type pairing struct {
	ptx, code *graph
	// in gives for the nodes of both graphs 1 and 2 for the letters, 0 for all else.
	inPTX, inCode []int32
	policy        policy
	// more, if it is not nil, tells of letters from 3 on which may stutter. They are in
	// the order of the PTX like the first.
	more []bool

	sets  [][]int32        // of states
	ids   map[string]int32 // their numbers, by keyOf
	bytes []byte
	seen  []int32 // marks of closures
	round int32
	after map[int32][]int32 // closures in the PTX by node
	can   map[int32]bool    // whether the second letter may follow
}

// Words are what the letters 1 and 2 make along a path.
type violation struct {
	word []int32
	node int32 // of the code's graph: where it is no longer a word of the PTX
}

const (
	piece   = -2 // any instruction of the second letter
	pending = 2  // how many may be under way
	span    = 2*pending + 1
)

// check looks for a word of the code that the PTX does not have: the shortest.
func (p *pairing) check() *violation {
	if p.ids == nil {
		p.after, p.can, p.ids = map[int32][]int32{}, map[int32]bool{}, map[string]int32{}
	}
	clear(p.after)
	clear(p.can)
	clear(p.ids)
	p.sets = p.sets[:0]
	if n := max(len(p.ptx.next), len(p.code.next)); len(p.seen) < n {
		p.seen, p.round = make([]int32, n), 0
	}
	type state struct {
		node, last int32 // last is the instruction before, where repetitions matter
		set        int32
	}
	type step struct {
		state
		from, by int32
	}
	var queue []step
	seen := map[state]bool{}
	push := func(nodes []int32, set, last, from, by int32) {
		for _, n := range nodes {
			s := state{n, last, set}
			if !seen[s] {
				seen[s] = true
				queue = append(queue, step{s, from, by})
			}
		}
	}
	wordOf := func(i int, l int32) (w []int32) {
		if l != 0 {
			w = append(w, l)
		}
		for ; queue[i].from >= 0; i = int(queue[i].from) {
			w = append(w, queue[i].by)
		}
		slices.Reverse(w)
		return w
	}
	push(p.codeAfter(0), p.set(p.close([]int32{p.code0()})), -1, -1, 0)
	codeAfter := map[int32][]int32{}
	for i := 0; i < len(queue); i++ {
		q := queue[i]
		before := p.sets[q.set]
		if q.node == 1 {
			if !p.ends(before) {
				return &violation{wordOf(i, 0), 1}
			}
			continue
		}
		l := p.inCode[q.node]
		set, ok := p.read(before, l)
		here := int32(-1)
		switch {
		case l == 2 && p.policy.pieces:
			here = piece
		case p.stutters(l):
			here = p.code.of[q.node]
		}
		if here != -1 && q.last == here { // once more, or the next one
			set, ok = append(slices.Clone(before), set...), true
			slices.Sort(set)
			set = slices.Compact(set)
		}
		if !ok {
			return &violation{wordOf(i, l), q.node}
		}
		next, known := codeAfter[q.node]
		if !known {
			next = p.codeAfter(q.node)
			codeAfter[q.node] = next
		}
		push(next, p.set(set), here, int32(i), l)
	}
	return nil
}

// stutters reports whether an instruction of a letter that follows itself may count once.
func (p *pairing) stutters(l int32) bool {
	if l <= 2 {
		return p.policy.stutter[l-1]
	}
	return p.more[l]
}

// set gives the number of a set of states.
func (p *pairing) set(states []int32) int32 {
	p.bytes = p.bytes[:0]
	for _, x := range states {
		p.bytes = binary.LittleEndian.AppendUint32(p.bytes, uint32(x))
	}
	id, ok := p.ids[string(p.bytes)]
	if !ok {
		id = int32(len(p.sets))
		p.ids[string(p.bytes)] = id
		p.sets = append(p.sets, states)
	}
	return id
}

func (p *pairing) code0() int32 { return 0*span + pending }

// codeAfter lists the letters, and the end, that may follow a node of the code.
func (p *pairing) codeAfter(n int32) []int32 {
	out := p.closure(p.code.next, p.inCode, n)
	slices.Sort(out)
	return out
}

// ptxAfter lists the same for the PTX.
func (p *pairing) ptxAfter(n int32) []int32 {
	if out, ok := p.after[n]; ok {
		return out
	}
	out := p.closure(p.ptx.next, p.inPTX, n)
	p.after[n] = out
	return out
}

// closure lists the letters of a graph, and the end, that are reached from a node without
// passing a letter.
func (p *pairing) closure(next [][]int32, letters []int32, n int32) (out []int32) {
	p.round++
	stack := slices.Clone(next[n])
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if p.seen[x] == p.round {
			continue
		}
		p.seen[x] = p.round
		if x == 1 || letters[x] != 0 {
			out = append(out, x)
			continue
		}
		stack = append(stack, next[x]...)
	}
	return out
}

// close adds to states (behind a node, with what is pending) all letters that can
// be read next: states at a letter.
func (p *pairing) close(behind []int32) []int32 {
	var out []int32
	seen := map[int32]bool{}
	for len(behind) > 0 {
		s := behind[len(behind)-1]
		behind = behind[:len(behind)-1]
		n, c := s/span, s%span
		for _, x := range p.ptxAfter(n) {
			at := x*span + c
			if seen[at] {
				continue
			}
			seen[at] = true
			out = append(out, at)
			if x == 1 || p.inPTX[x] != 2 {
				continue
			}
			if p.policy.optional { // left out
				behind = append(behind, at)
			}
			if (p.policy.sink || c < pending) && c+1 < span { // comes later, or came earlier
				behind = append(behind, at+1)
			}
		}
	}
	slices.Sort(out)
	return out
}

// read follows a letter of the code, unless the PTX does not have it here. The set is
// empty where no letter follows, and no end: at a trap.
func (p *pairing) read(set []int32, l int32) (out []int32, ok bool) {
	var behind, stay []int32
	for _, s := range set {
		n, c := s/span, s%span
		if n != 1 && p.inPTX[n] == l {
			behind = append(behind, s)
			if l == 2 && p.policy.early && stay == nil {
				stay = slices.Clone(set)
			}
		}
		if l != 2 {
			continue
		}
		if c > pending || p.policy.rise && c > 0 && p.canFollow(n) {
			stay = append(stay, s-1)
		}
	}
	out = p.close(behind)
	if len(stay) > 0 {
		out = append(out, stay...)
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out, len(behind)+len(stay) > 0
}

// canFollow reports whether the second letter is at, or may follow, a node.
func (p *pairing) canFollow(n int32) bool {
	if p.inPTX[n] == 2 {
		return true
	}
	if v, ok := p.can[n]; ok {
		return v
	}
	seen := map[int32]bool{n: true}
	stack := []int32{n}
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, y := range p.ptxAfter(x) {
			if y != 1 && p.inPTX[y] == 2 {
				p.can[n] = true
				return true
			}
			if y != 1 && !seen[y] {
				seen[y] = true
				stack = append(stack, y)
			}
		}
	}
	p.can[n] = false
	return false
}

// ends reports whether the PTX may end here.
func (p *pairing) ends(set []int32) bool {
	for _, s := range set {
		if s/span == 1 && (s%span == pending || p.policy.optional) {
			return true
		}
	}
	return false
}
