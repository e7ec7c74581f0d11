package exec

import (
	"encoding/binary"
	"slices"

	"optcheck/litmus"
	"optcheck/model/cat"
)

// find returns the index of w.state among the states found, or -1.
func (w *worker) find() int {
	if w.index != nil {
		if i, ok := w.index[string(w.key())]; ok {
			return i
		}
		return -1
	}
	for i := range w.res.States {
		if slices.Equal(w.res.States[i].Values, w.state) {
			return i
		}
	}
	return -1
}

func (w *worker) key() []byte {
	w.keyBuf = w.keyBuf[:0]
	for _, v := range w.state {
		w.keyBuf = binary.LittleEndian.AppendUint64(w.keyBuf, uint64(v))
	}
	return w.keyBuf
}

// maxStates bounds the memory of a judgement.
const maxStates = 1 << 20

// add counts executions that end in w.state.
func (w *worker) add(weight uint64) {
	i := w.find()
	if i < 0 {
		if i = len(w.res.States); i >= maxStates {
			w.undecided("more than %d final states", maxStates)
			return
		}
		w.res.States = append(w.res.States, State{Values: append(make([]int64, 0, len(w.state)), w.state...)})
		switch {
		case w.index != nil:
			w.index[string(w.key())] = i
		case i == 16:
			w.index = map[string]int{}
			for j := range w.res.States {
				w.state = append(w.state[:0], w.res.States[j].Values...)
				w.index[string(w.key())] = j
			}
		}
	}
	s := &w.res.States[i]
	if s.Count += weight; s.Count < weight {
		s.Count = ^uint64(0)
	}
	if w.waits {
		s.Blocked = min(s.Count, s.Blocked+weight)
	}
	w.res.Skipped += weight - 1
}

// flags records the flags that an allowed execution raises.
func (w *worker) flags() {
	if w.rare {
		return // the interpreter has recorded them
	}
	checks := w.e.prog.Checks()
	for i := range checks {
		c := &checks[i]
		switch {
		case c.Kind == cat.KindCheck:
		case c.Kind == cat.KindFlag && w.m.Holds(i):
			w.flag(c.Label())
		case c.Kind == cat.KindUndefinedUnless && !w.m.Holds(i):
			w.flag("undefined: " + c.Label())
		case c.Kind == cat.KindAssert && !w.m.Holds(i):
			w.undecided("assertion %s of the model fails: it does not apply to this test", c.Label())
		}
	}
}

func (w *worker) flag(name string) {
	if !slices.Contains(w.res.Flags, name) {
		w.res.Flags = append(w.res.Flags, name)
	}
}

// finish sorts the states.
func (w *worker) finish() {
	slices.SortFunc(w.res.States, func(a, b State) int { return slices.Compare(a.Values, b.Values) })
	slices.Sort(w.res.Flags)
}

// sharedLevels counts how many levels of the hierarchy two places have in
// common: 0 none, 1 GPU, 2 grid, 3 cluster, 4 CTA. Warps mean nothing here.
func sharedLevels(p, q litmus.Place) int {
	switch {
	case p.GPU != q.GPU:
		return 0
	case p.Grid != q.Grid:
		return 1
	case p.Cluster != q.Cluster:
		return 2
	case p.CTA != q.CTA:
		return 3
	}
	return 4
}
