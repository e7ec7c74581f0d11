package realcode

import (
	"slices"

	"optcheck/ptx"
)

// unchanged gives two images, the second of which stands behind the first with the same values in
// its registers, on a stretch without branches and without images of what is around the loop, which are
// of its next turn; nil if there are none. A loop that was unrolled has no such copies of an operation
// whose operands are renewed in each turn.
func (c *checker) unchanged(images []int32, own *loop) []int32 {
	around := func(x int32) bool {
		return x >= 0 && !own.has(int32(slices.IndexFunc(c.src.steps, func(s step) bool { return s.letter == x })))
	}
	for n, j := range images {
		for _, i := range images[:n] {
			if c.oneWay(i, j) && c.alike(i, j) && !slices.ContainsFunc(c.owner[i:j], around) {
				return []int32{i, j}
			}
		}
	}
	return nil
}

// oneWay reports whether control goes from one step to another one, and comes from nowhere else.
func (c *checker) oneWay(i, j int32) bool {
	for ; i < j; i++ {
		if !slices.Equal(following(c.mach.steps, i), []int32{i + 1}) || slices.ContainsFunc(c.before(i+1), func(x int32) bool { return x != i }) {
			return false
		}
	}
	return i == j
}

// alike reports whether two instructions do the same with the same values.
func (c *checker) alike(i, j int32) bool {
	a, b := c.mach.insts[i], c.mach.insts[j]
	return sameAccess(a, b) && !c.defined(i, j, a.Uses...)
}

// news is what is known of a value in the next turn of a loop.
type news uint8

const (
	perhaps news = iota // it may be the same
	stepped             // it is another one, by a constant step
	read                // it was read anew, and no compiler knows what it is
)

// renewed follows values of the PTX back to what changes them in each turn of a loop.
type renewed struct {
	c   *checker
	own *loop
	at  int32           // a step of the loop before which values have to be made
	def map[int][]int32 // of each register the steps of the loop that write it
	// way are the steps that made what is asked for, with what was done behind them.
	way map[int32]done
}

// done counts sums, and other functions of a value.
type done struct{ sums, others int }

// renews reports whether an operation has an operand that certainly has another value in each
// turn of a loop, or one that no compiler knows to be the same.
func (c *checker) renews(op *Op, own *loop, at int32) bool {
	r := &renewed{c: c, own: own, at: at, way: map[int32]done{}, def: map[int][]int32{}}
	for _, x := range own.body {
		if in := c.src.inst(x); in != nil {
			for _, d := range defined(in) {
				r.def[d] = append(r.def[d], x)
			}
		}
	}
	return slices.ContainsFunc(used(op.Inst), func(x int) bool { return x != op.Inst.Guard && r.of(x, done{}) != perhaps })
}

func (r *renewed) of(reg int, d done) news {
	if len(r.def[reg]) != 1 {
		return perhaps
	}
	x := r.def[reg][0]
	if was, ok := r.way[x]; ok { // it is made of itself
		if d.sums > was.sums && d.others == was.others {
			return stepped
		}
		return perhaps
	}
	in := r.c.src.inst(x)
	if in.Guard >= 0 || !r.c.ptxLoops.every(r.own, x) && !r.c.ptxLoops.dominates(x, r.at) {
		return perhaps
	}
	r.way[x] = d
	defer delete(r.way, x)
	other := done{d.sums, d.others + 1}
	switch e := in.Effect(); {
	case e.Kind == ptx.Atomic, e.Kind == ptx.Load && !e.Weak():
		return read
	case e.Kind == ptx.Load && e.Space != "param" && e.Space != "local" && e.Space != "const" && r.only(in, other) != perhaps:
		return read
	case e.Kind != ptx.None && in.Name != "shfl":
		return perhaps
	}
	switch in.Name {
	case "mov", "cvta":
		return r.only(in, d)
	case "add", "sub":
		if !zero(in) {
			return r.only(in, done{d.sums + 1, d.others})
		}
	case "cvt", "mul", "mad", "shl":
		if !zero(in) {
			return r.only(in, other)
		}
	case "shr", "and", "or", "xor", "bfe", "shfl", "not":
		if !zero(in) && r.only(in, other) == read {
			return read
		}
	}
	return perhaps
}

// only is what is known of the one operand that the loop makes; the others have to be the same
// in each turn.
func (r *renewed) only(in *ptx.Inst, d done) (n news) {
	for _, x := range used(in) {
		if len(r.def[x]) == 0 {
			continue
		}
		if n != perhaps {
			return perhaps
		}
		if n = r.of(x, d); n == perhaps {
			return perhaps
		}
	}
	return n
}

// zero reports whether an operand is the constant 0.
func zero(in *ptx.Inst) bool {
	return slices.ContainsFunc(in.Args, func(o ptx.Operand) bool { return o.Kind == ptx.Imm && o.Value == 0 })
}
