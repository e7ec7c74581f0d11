package ptxgen

import (
	"fmt"
	"slices"

	"optcheck/litmus"
	"optcheck/spec"
)

// A thread with bounded loops is emitted as it is written, and specified as the copies of the
// loops' bodies: an access in a loop is one instruction on one line with a marker for each
// iteration.

// unrolled returns a test without its loops, for an emitter that supports them.
func unrolled(t *litmus.Test) (*litmus.Test, [][]int, error) {
	flat, origin, err := t.Unrolled()
	switch {
	case err != nil:
		return nil, nil, unsupported("%v", err)
	case origin != nil && t.Results != litmus.ResultsFinal:
		return nil, nil, unsupported("a loop whose every value is observed: want Results=final")
	}
	return flat, origin, nil
}

// bare returns the error for an emitter that does not support calls, prefetches and accesses of
// less than a word.
func bare(t *litmus.Test) error {
	if t.Dressed() {
		return unsupported("a call, a prefetch or a number of registers, which are of audits of PTX only")
	}
	for i := range t.Threads {
		for k := range t.Threads[i].Body {
			if in := &t.Threads[i].Body[k]; in.IsAccess() && in.Type.Bits() < 32 {
				return unsupported("an access of %d bits, which are of audits of PTX only", in.Type.Bits())
			}
		}
	}
	return nil
}

// loop is a loop of a thread: instructions head to back, the branch.
type loop struct {
	head, back int
	nested     bool
	counted    bool // something needs the number of the iteration
}

func (l *loop) contains(i int) bool { return l.head <= i && i <= l.back }

// loops finds the loops of a thread from which the given thread without loops was made.
func (k *body) loops(origin []int) {
	k.origin = origin
	for i := range k.th.Body {
		in := &k.th.Body[i]
		if in.Op != litmus.OpBra {
			continue
		}
		for h := range i + 1 {
			if slices.Contains(k.th.Body[h].Labels, in.Target) {
				k.rounds = append(k.rounds, loop{head: h, back: i})
			}
		}
	}
	for a := range k.rounds {
		for b := range k.rounds {
			x, y := &k.rounds[a], &k.rounds[b]
			x.nested = x.nested || a != b && x.head <= y.back && y.head <= x.back
		}
	}
}

// count finds the loops whose iterations are counted for markers.
func (k *body) count() error {
	for i, ents := range k.entries() {
		if written, read := k.differ(i, ents); written || read {
			l := &k.rounds[k.around(i)]
			if l.nested {
				return unsupported("a loop in a loop, whose values differ from round to round")
			}
			l.counted = true
		}
	}
	return nil
}

// around is the first loop that contains an instruction, -1 for none.
func (k *body) around(i int) int {
	return slices.IndexFunc(k.rounds, func(l loop) bool { return l.contains(i) })
}

// copy is a copy of an access whose marker is set in one round of a loop, or always,
// round being -1: if what is set is the same in all rounds, or what the last one leaves.
type copy struct {
	*spec.Entry
	loop, round int
	guard       string // as a road spells it
}

// copies tells how the markers of the access at hand are set in front of it, from its
// operands, and behind it, from what it reads.
func (k *body) copies(ents []*spec.Entry) (written, read []copy) {
	loop := k.around(k.at)
	list := func(differ bool) (l []copy) {
		for n, e := range ents {
			c := copy{Entry: e, loop: loop, round: -1}
			if differ {
				c.round = n
			}
			l = append(l, c)
		}
		return l
	}
	w, r := k.differ(k.at, ents)
	return list(w), slices.DeleteFunc(list(r), func(c copy) bool { return c.Unread })
}

// differ reports whether the operands of an access, and whether what it reads, differ
// between its copies.
func (k *body) differ(at int, ents []*spec.Entry) (written, read bool) {
	if len(ents) < 2 {
		return false, false
	}
	live := 0
	for _, e := range ents {
		if e.Reads() && !e.Unread {
			live++
		}
	}
	for _, o := range k.th.Body[at].Src {
		written = written || o.Kind == litmus.OperandReg && k.variant(at, o.Name)
	}
	return written, live > 1
}

// variant reports whether a loop around an instruction writes a register.
func (k *body) variant(at int, reg string) bool {
	return slices.ContainsFunc(k.rounds, func(l loop) bool {
		return l.contains(at) && slices.ContainsFunc(k.th.Body[l.head:l.back+1], func(in litmus.Instr) bool { return in.Dst == reg })
	})
}

// counts reports whether an instruction computes what decides how often a loop goes
// round. Its constants stay in the code, for compilers know how often that is.
func (k *body) counts(in *litmus.Instr) bool {
	for _, l := range k.rounds {
		decide := k.th.Body[l.back].Reads()
		for n := 0; n < len(decide); n++ {
			for i := range k.th.Body {
				if from := &k.th.Body[i]; from.Dst == decide[n] && !from.IsAccess() {
					if from == in {
						return true
					}
					for _, r := range from.Reads() {
						if !slices.Contains(decide, r) {
							decide = append(decide, r)
						}
					}
				}
			}
		}
	}
	return false
}

// inRounds guards copies that are of one round, each by its number.
func (k *body) inRounds(list []copy) {
	for n := range list {
		c := &list[n]
		if c.round < 0 {
			continue
		}
		t := k.temps
		k.temps++
		k.c("setp.eq.u32 %%t%d, %%round%d, %d;", t, c.loop, c.round)
		c.guard = fmt.Sprintf("@%%t%d ", t)
	}
}

// countRound counts an iteration at the end of a loop.
func (k *body) countRound(i int) {
	for n := range k.rounds {
		if l := &k.rounds[n]; l.back == i && l.counted {
			k.p("mov.u32 %%round%d, 0;", n)
			k.c("add.u32 %%round%d, %%round%d, 1;", n, n)
		}
	}
}

func (k *body) declareRounds() {
	for n, l := range k.rounds {
		if l.counted {
			k.e.f("\t.reg .b32 %%round%d;\n", n)
		}
	}
}

// copied assigns each copy of an instruction the parameters that stand for its constants.
func (k *body) copied(values []spec.Value) []spec.Value {
	if k.origin == nil {
		return values
	}
	var out []spec.Value
	for _, v := range values {
		if v.Instr < 0 {
			out = append(out, v)
			continue
		}
		for i, from := range k.origin {
			if from == v.Instr {
				v.Instr = i
				out = append(out, v)
				v.Instr = from
			}
		}
	}
	return out
}

// held names the copies that an access's markers speak of.
func (k *body) held(e *spec.Entry) []string {
	list := []string{fmt.Sprintf(" m%d", e.Pos)}
	for _, i := range e.Operands() {
		list = append(list, fmt.Sprintf(" o%d_%d", e.Pos, i))
	}
	return list
}
