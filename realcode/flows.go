package realcode

import (
	"maps"
	"slices"

	"optcheck/ptx"
)

// registers are, of each register of a function, those of which it is made, and those that
// are made of it, by an instruction each.
type registers struct{ of, into map[int][]int }

func (s *source) registers(f *ptx.Func) registers {
	r, ok := s.regs[f]
	if ok {
		return r
	}
	r = registers{map[int][]int{}, map[int][]int{}}
	for i := range f.Body {
		in := f.Body[i].Inst
		if in == nil {
			continue
		}
		from, to := used(in), defined(in)
		for _, x := range from {
			r.into[x] = append(r.into[x], to...)
		}
		for _, x := range to {
			r.of[x] = append(r.of[x], from...)
		}
	}
	s.regs[f] = r
	return r
}

// flowsFrom lists the registers that depend on what an operation returns, through
// registers, wherever they are written.
func (s *source) flowsFrom(op *Op) map[int]bool {
	flow := map[int]bool{}
	for _, r := range defined(op.Inst) {
		flow[r] = true
	}
	spread(s.registers(op.Func).into, flow)
	return flow
}

// spread adds what can be reached.
func spread(edges map[int][]int, set map[int]bool) {
	maps.Copy(set, reached(slices.Collect(maps.Keys(set)), func(r int) []int { return edges[r] }))
}

// reached are some places and all to which ways lead from them: next says where one goes on, nowhere
// where it ends, and is asked once of each place.
func reached[N comparable](from []N, next func(N) []N) map[N]bool {
	seen := map[N]bool{}
	for work := slices.Clone(from); len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if !seen[n] {
			seen[n] = true
			work = append(work, next(n)...)
		}
	}
	return seen
}
