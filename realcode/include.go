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
	inPTX, inCode []uint8
	policy        policy

	seen  []int32 // marks of closures
	round int32
	after map[int32][]int32 // closures in the PTX by node
	can   map[int32]bool    // whether the second letter may follow
}

// Words are what the letters 1 and 2 make along a path.
type violation struct {
	word []uint8
	node int32 // of the code's graph: where it is no longer a word of the PTX
}

const (
	piece   = -2 // any instruction of the second letter
	pending = 2  // how many may be under way
	span    = 2*pending + 1
)

// check looks for a word of the code that the PTX does not have: the shortest.
func (p *pairing) check() *violation {
	p.after, p.can = map[int32][]int32{}, map[int32]bool{}
	p.seen = make([]int32, max(len(p.ptx.next), len(p.code.next)))
	type state struct {
		node, last int32 // last is the instruction before, where repetitions matter
		set        string
	}
	type step struct {
		state
		set  []int32
		from int
		by   uint8
	}
	start := p.close([]int32{p.code0()})
	var queue []step
	seen := map[state]bool{}
	push := func(nodes []int32, set []int32, last int32, from int, by uint8) {
		key := keyOf(set)
		for _, n := range nodes {
			s := state{n, last, key}
			if !seen[s] {
				seen[s] = true
				queue = append(queue, step{s, set, from, by})
			}
		}
	}
	push(p.codeAfter(0), start, -1, -1, 0)
	codeAfter := map[int32][]int32{}
	for i := 0; i < len(queue); i++ {
		q := queue[i]
		if q.node == 1 {
			if !p.ends(q.set) {
				return &violation{p.wordOf(i, func(i int) (int, uint8) { return queue[i].from, queue[i].by }, 0), 1}
			}
			continue
		}
		l := p.inCode[q.node]
		set := p.read(q.set, l)
		here := int32(-1)
		switch {
		case l == 2 && p.policy.pieces:
			here = piece
		case p.policy.stutter[l-1]:
			here = p.code.of[q.node]
		}
		if here != -1 && q.last == here { // once more, or the next one
			set = append(slices.Clone(q.set), set...)
			slices.Sort(set)
			set = slices.Compact(set)
		}
		if len(set) == 0 {
			return &violation{p.wordOf(i, func(i int) (int, uint8) { return queue[i].from, queue[i].by }, l), q.node}
		}
		next, ok := codeAfter[q.node]
		if !ok {
			next = p.codeAfter(q.node)
			codeAfter[q.node] = next
		}
		push(next, set, here, i, l)
	}
	return nil
}

func (p *pairing) wordOf(i int, at func(int) (int, uint8), last uint8) (w []uint8) {
	if last != 0 {
		w = append(w, last)
	}
	for i >= 0 {
		from, by := at(i)
		if by != 0 {
			w = append(w, by)
		}
		i = from
	}
	slices.Reverse(w)
	return w
}

func keyOf(set []int32) string {
	b := make([]byte, 0, 4*len(set))
	for _, x := range set {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return string(b)
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
func (p *pairing) closure(next [][]int32, letters []uint8, n int32) (out []int32) {
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

// read follows a letter of the code.
func (p *pairing) read(set []int32, l uint8) []int32 {
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
		if c > pending || p.policy.rise && c > 0 && n != 1 && p.canFollow(n) {
			stay = append(stay, s-1)
		}
	}
	out := p.close(behind)
	if len(stay) > 0 {
		out = append(out, stay...)
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
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
