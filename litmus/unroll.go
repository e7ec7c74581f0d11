package litmus

import (
	"fmt"
	"maps"
	"slices"
)

// Limits of unrolling: iterations of one loop, and instructions of a thread.
const (
	maxRounds   = 8
	maxUnrolled = 256
)

// Loops reports whether a thread of the test has a branch that leads backwards.
func (t *Test) Loops() bool {
	return slices.ContainsFunc(t.Threads, func(th Thread) bool { return th.loops() })
}

// Unrolled returns the test with bounded loops replaced by copies of their bodies, which is
// what such a test means. Branches that lead backwards are gone; those that lead out of a loop,
// or forwards in it, are in each copy. origin says for each instruction of each thread which
// instruction of t it is a copy of. If t has no loop, origin is nil and the result is t itself.
//
// The number of iterations must follow from constants: from a counter that the thread has set
// to a value that is known whatever its sources are (xor with itself, and with 0, times 0, and
// arithmetic on such values). Initial values and constants that are moved to registers do not
// count: in kernels they are parameters, which a compiler does not know. At most 8 iterations
// and 256 instructions are unrolled.
func (t *Test) Unrolled() (u *Test, origin [][]int, err error) {
	if !t.Loops() {
		return t, nil, nil
	}
	c := *t
	c.Threads = slices.Clone(t.Threads)
	origin = make([][]int, len(t.Threads))
	for i := range t.Threads {
		if c.Threads[i], origin[i], err = t.Threads[i].Unrolled(); err != nil {
			return nil, nil, err
		}
	}
	return &c, origin, nil
}

// Unrolled returns the thread with bounded loops replaced by copies of their bodies, and which
// instruction each is a copy of, like Test.Unrolled; a thread without loops is returned
// unchanged, with nil.
func (th *Thread) Unrolled() (Thread, []int, error) {
	if !th.loops() {
		return *th, nil, nil
	}
	r := &unroller{th: th, at: th.labels(), placed: map[string]int{}, env: map[string]int64{}, edges: map[string]map[string]int64{}}
	if err := r.run(); err != nil {
		return Thread{}, nil, fmt.Errorf("thread %s: %w", th.Name, err)
	}
	u := *th
	u.Body = r.body
	return u, r.origin, nil
}

// unroller walks a thread as often as its loops iterate.
type unroller struct {
	th     *Thread
	at     map[string]int // labels
	body   []Instr
	origin []int
	placed map[string]int // how often a label was passed
	env    map[string]int64
	// edges holds what is known where branches to labels that are still to come are taken.
	edges map[string]map[string]int64
	dead  bool // control arrives here only from such branches
}

func (r *unroller) run() error {
	rounds := map[int]int{}
	for i := 0; i < len(r.th.Body); i++ {
		in := r.th.Body[i]
		labels := in.Labels
		in.Labels, in.Src = nil, slices.Clone(in.Src)
		for _, l := range labels {
			if name := r.name(l); r.targeted(name) {
				in.Labels = append(in.Labels, name)
			}
			r.join(l)
		}
		if head := r.at[in.Target]; in.Op == OpBra && head <= i {
			again, err := r.again(&in)
			if rounds[i]++; again && rounds[i] >= maxRounds {
				err = fmt.Errorf("the loop to %s goes round more than %d times", in.Target, maxRounds)
			}
			if err != nil {
				return err
			}
			if len(in.Labels) > 0 {
				r.place(Instr{Labels: in.Labels, Op: OpNop, Pos: in.Pos}, i)
			}
			if again {
				i = head - 1
			} else {
				rounds[i] = 0
			}
			continue
		}
		r.step(&in)
		if in.Op == OpBra {
			in.Target = r.name(in.Target)
		}
		r.place(in, i)
		if len(r.body) > maxUnrolled {
			return fmt.Errorf("more than %d instructions without loops", maxUnrolled)
		}
	}
	return nil
}

func (r *unroller) place(in Instr, origin int) {
	r.body, r.origin = append(r.body, in), append(r.origin, origin)
}

// name returns the name of a label where it is next passed.
func (r *unroller) name(label string) string {
	n := r.placed[label]
	if n == 0 {
		return label
	}
	for name := fmt.Sprintf("%s_%d", label, n); ; name += "_" {
		if _, taken := r.at[name]; !taken {
			return name
		}
	}
}

// targeted reports whether a branch that was passed leads to a label.
func (r *unroller) targeted(name string) bool {
	return slices.ContainsFunc(r.body, func(in Instr) bool { return in.Op == OpBra && in.Target == name })
}

// join ends the branches to a label.
func (r *unroller) join(label string) {
	if e, ok := r.edges[label]; ok {
		r.merge(e)
		delete(r.edges, label)
	}
	r.placed[label]++
}

func (r *unroller) merge(e map[string]int64) {
	if r.dead {
		r.env, r.dead = e, false
		return
	}
	agree(r.env, e)
}

// agree keeps the knowledge that both share.
func agree(a, b map[string]int64) {
	maps.DeleteFunc(a, func(k string, v int64) bool {
		w, ok := b[k]
		return !ok || v != w
	})
}

// value returns the value of an operand, if it is known.
func (r *unroller) value(o Operand) (int64, bool) {
	switch o.Kind {
	case OperandConst:
		return o.Value, true
	case OperandReg:
		v, ok := r.env[o.Name]
		return v, ok
	}
	return 0, false
}

// again reports whether a branch that leads backwards is taken.
func (r *unroller) again(in *Instr) (taken bool, err error) {
	if r.dead {
		return false, nil
	}
	known := true
	operand := func(o Operand) int64 {
		v, ok := r.value(o)
		known = known && ok
		return v
	}
	taken = in.Guard == nil || (operand(Reg(in.Guard.Reg)) != 0) != in.Guard.Neg
	if in.Cmp != CmpNone {
		taken = Compare(in.Cmp, S32, operand(in.Src[0]), operand(in.Src[1])) && taken
	}
	if !known {
		return false, fmt.Errorf("how often the loop to %s goes round does not follow from constants that a compiler knows (a counter is set by xor with itself)", in.Target)
	}
	return taken, nil
}

// step records what is known after an instruction.
func (r *unroller) step(in *Instr) {
	if in.Op == OpBra {
		if e, ok := r.edges[in.Target]; !ok && !r.dead {
			r.edges[in.Target] = maps.Clone(r.env)
		} else if !r.dead {
			agree(e, r.env)
		}
		r.dead = r.dead || in.Guard == nil && in.Cmp == CmpNone
		return
	}
	if in.Dst == "" {
		return
	}
	v, known := r.result(in)
	if in.Guard != nil {
		g, sure := r.env[in.Guard.Reg]
		switch old, ok := r.env[in.Dst]; {
		case sure && (g != 0) == in.Guard.Neg:
			return
		case !sure:
			known = known && ok && old == v
		}
	}
	delete(r.env, in.Dst)
	if known && !r.dead {
		r.env[in.Dst] = v
	}
}

// result returns the value that an instruction computes, if a compiler knows it.
func (r *unroller) result(in *Instr) (int64, bool) {
	if in.IsAccess() || in.Op == OpMov && in.Src[0].Kind == OperandConst {
		return 0, false
	}
	if in.erases() {
		return 0, true
	}
	var v [3]int64
	for k, o := range in.Src {
		x, ok := r.value(o)
		if !ok {
			return 0, false
		}
		v[k] = x
	}
	return in.Apply(v[0], v[1], v[2]), true
}
