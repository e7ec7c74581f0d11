package exec

import (
	"errors"
)

// unfolding says how threads are unfolded.
type unfolding struct {
	unroll int
	dom    [][]int64 // values of each location, nil before they are wanted
	mem    *pathMem
	budget *int // of the work for values of addresses
	waits  bool // also into the paths that stay at a barrier forever
	races  bool // with one spin iteration of a thread at most, see spin.go
}

// unfolded is what came of it.
type unfolded struct {
	list  [][]*Path // by thread
	need  bool      // values are needed for addresses; the list is not complete
	wants bool      // values may tell spin iterations apart
	stuck bool      // some thread may stay in a loop forever
}

// paths unfolds all threads; with waits also into the paths that stay at a barrier forever.
func (p *Program) paths(o *Options, mem *pathMem, waits bool) ([][]*Path, [][]int64, error) {
	budget := maxValueWork
	u := unfolding{unroll: o.Unroll, mem: mem, budget: &budget, waits: waits, races: o.Races}
	out, err := p.unfold(&u)
	if err != nil {
		return nil, nil, err
	}
	if out.need || out.wants {
		dom, err := p.domains(o.Unroll)
		switch {
		case err == nil:
			u.dom = dom
			out, err = p.unfold(&u)
		case !out.need:
			err = nil
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if out.stuck && !u.waits && p.barriers() {
		u.waits = true
		out, err = p.unfold(&u)
	}
	if err == nil && o.Races {
		p.without(out.list)
	}
	return out.list, u.dom, err
}

func (p *Program) unfold(u *unfolding) (out unfolded, err error) {
	out.list = make([][]*Path, len(p.threads))
	for t := range p.threads {
		w := walker{p: p, th: &p.threads[t], id: t, unfolding: *u}
		if u.races {
			w.spin = newSpinner(w.th)
		}
		w.run(w.start())
		if w.err != nil {
			return unfolded{}, w.err
		}
		if w.needDomain {
			return unfolded{need: true}, nil
		}
		out.list[t] = w.out
		if w.spin != nil {
			out.wants, out.stuck = out.wants || w.spin.wants, out.stuck || w.spin.stuck
		}
	}
	return out, nil
}

// domains computes for every location a superset of the values it can hold. It proceeds in
// rounds: no value needs more steps through memory than there are reads.
func (p *Program) domains(unroll int) ([][]int64, error) {
	budget := maxValueWork
	dom := make([][]int64, len(p.cells))
	for k := range p.cells {
		dom[k] = []int64{p.init(k)}
	}
	for round := 0; ; round++ {
		out, err := p.unfold(&unfolding{unroll: unroll, dom: dom, mem: &pathMem{}, budget: &budget})
		if err != nil {
			return nil, err
		}
		next := make([][]int64, len(dom))
		reads := 0
		for t, paths := range out.list {
			w := walker{p: p, th: &p.threads[t], id: t, unfolding: unfolding{dom: dom, budget: &budget}}
			most := 0
			for _, path := range paths {
				n, err := w.values(path, next)
				if err != nil {
					return nil, err
				}
				most = max(most, n)
			}
			reads += most
		}
		grown := false
		for l := range dom {
			for _, k := range next[l] {
				grown = addValue(dom, int16(l), k) || grown
			}
			if len(dom[l]) > maxDomain {
				return nil, errDomain
			}
		}
		if !grown || round > reads {
			return dom, nil
		}
	}
}

// values adds what a path can write to next and returns its number of reads.
func (w *walker) values(path *Path, next [][]int64) (reads int, err error) {
	for i := range path.Events {
		ev := &path.Events[i]
		if ev.Kind == Read {
			reads++
		}
		if ev.Kind != Write {
			continue
		}
		ok := w.each(path, ev.val, func(k int64) {
			if len(next[ev.Loc]) <= maxDomain {
				addValue(next, ev.Loc, k)
			}
		})
		if !ok || len(next[ev.Loc]) > maxDomain {
			return 0, errDomain
		}
	}
	return reads, nil
}

var errDomain = errors.New("addresses or barriers depend on too many values")

func addValue(dom [][]int64, l int16, k int64) bool {
	for _, x := range dom[l] {
		if x == k {
			return false
		}
	}
	dom[l] = append(dom[l], k)
	return true
}
