package realcode

import (
	"encoding/binary"
	"slices"

	"optcheck/ptx"
)

// maxSpare bounds the walk of spare, in places with what is known there.
const maxSpare = 4000

// spare reports whether some path from a load comes to the end, or to the load again,
// without anything that its value matters to: there a compiler may leave it out. A
// walk that takes too long finds none. That the machine code leaves it out on such paths
// alone is not asked here: what rests on it is unknown without execution (images.shape).
func (s *source) spare(k int) bool {
	if s.isSpare == nil {
		s.isSpare = make([]int8, len(s.ops))
	}
	if s.isSpare[k] == 0 {
		s.isSpare[k] = -1
		if s.findSpare(s.ops[k]) {
			s.isSpare[k] = 1
		}
	}
	return s.isSpare[k] > 0
}

func (s *source) findSpare(op *Op) bool {
	body, base := op.Func.Body, s.entries[op.Func]
	first := slices.IndexFunc(body, func(st ptx.Stmt) bool { return st.Inst == op.Inst })
	type state struct {
		at   int
		regs []int // that depend on the value, sorted
	}
	seen := map[string]bool{}
	work := []state{{first + 1, slices.Sorted(slices.Values(defined(op.Inst)))}}
	for len(work) > 0 && len(seen) < maxSpare {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if x.at == first { // what is kept of it elsewhere still matters
			x.regs = carried(op.Inst, false, x.regs)
		}
		if x.at >= len(body) || len(x.regs) == 0 {
			return true
		}
		key := placeOf(x.at, x.regs)
		if seen[key] {
			continue
		}
		seen[key] = true
		in, step := body[x.at].Inst, &s.steps[base+int32(x.at)]
		if in != nil {
			uses := slices.ContainsFunc(used(in), func(r int) bool { return slices.Contains(x.regs, r) })
			if uses && matters(in) {
				if in.Guard >= 0 && !slices.Contains(x.regs, in.Guard) { // not, where the guard is false
					work = append(work, state{x.at + 1, x.regs})
				}
				continue
			}
			x.regs = carried(in, uses, x.regs)
			if step.guard >= 0 {
				work = append(work, state{x.at + 1, x.regs})
			}
			if step.ret && !slices.ContainsFunc(x.regs, func(r int) bool { return returned(op.Func, r) }) {
				return true
			}
		}
		for _, to := range step.next {
			if to == end {
				return true
			}
			work = append(work, state{int(to - base), x.regs})
		}
	}
	return false
}

func placeOf(at int, regs []int) string {
	b := binary.AppendUvarint(make([]byte, 0, 4+3*len(regs)), uint64(at))
	for _, r := range regs {
		b = binary.AppendUvarint(b, uint64(r))
	}
	return string(b)
}

// matters reports whether an instruction does something with its operands but
// compute others.
func matters(in *ptx.Inst) bool {
	e := in.Effect()
	return e.Kind != ptx.None || len(defined(in)) == 0
}

// carried lists the registers that depend on a value behind an instruction.
func carried(in *ptx.Inst, uses bool, regs []int) []int {
	out := slices.Clone(regs)
	for _, r := range defined(in) {
		i, have := slices.BinarySearch(out, r)
		switch {
		case uses && !have:
			out = slices.Insert(out, i, r)
		case !uses && have && in.Guard < 0:
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}
