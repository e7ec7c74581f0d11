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

// straight returns the error for an emitter that supports neither loops nor calls and
// prefetches.
func straight(t *litmus.Test) error {
	if t.Loops() {
		return unsupported("a loop, which is emitted in PTX only")
	}
	return bare(t)
}

// bare returns the error for an emitter that does not support calls and prefetches.
func bare(t *litmus.Test) error {
	if t.Dressed() {
		return unsupported("a call, a prefetch or a number of registers, which are of audits of PTX only")
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

// copy is a copy of an access whose marker is set in its iteration. With an empty guard it is
// always set: its value is the same in all iterations, or is that of the last one.
type copy struct {
	*spec.Entry
	guard string
}

// copies returns how the markers of an access are set: before it, from its operands (written),
// and after it, from what it reads (read).
func (k *body) copies(ents []*spec.Entry) (written, read []copy, err error) {
	live, variant := 0, false
	for _, e := range ents {
		written, read = append(written, copy{Entry: e}), append(read, copy{Entry: e})
		if e.Reads() && !e.Unread {
			live++
		}
	}
	for _, o := range k.th.Body[k.at].Src {
		variant = variant || o.Kind == litmus.OperandReg && k.variant(o.Name)
	}
	if len(ents) > 1 && variant {
		err = k.inRounds(written)
	}
	if live > 1 && err == nil {
		err = k.inRounds(read)
	}
	return written, slices.DeleteFunc(read, func(c copy) bool { return c.Unread }), err
}

// variant reports whether a loop around the current instruction writes a register.
func (k *body) variant(reg string) bool {
	return slices.ContainsFunc(k.rounds, func(l loop) bool {
		return l.contains(k.at) && slices.ContainsFunc(k.th.Body[l.head:l.back+1], func(in litmus.Instr) bool { return in.Dst == reg })
	})
}

// inRounds guards copies, each by the number of its iteration.
func (k *body) inRounds(list []copy) error {
	at := slices.IndexFunc(k.rounds, func(l loop) bool { return l.contains(k.at) })
	if k.rounds[at].nested {
		return unsupported("a loop in a loop, whose values differ from round to round")
	}
	k.rounds[at].counted = true
	for n := range list {
		t := k.temps
		k.temps++
		k.c("setp.eq.u32 %%t%d, %%round%d, %d;", t, at, n)
		list[n].guard = fmt.Sprintf("@%%t%d ", t)
	}
	return nil
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
