package exec

import (
	"errors"
)

// paths unfolds all threads; with waits also into the paths that stay at a barrier forever.
func (p *Program) paths(unroll int, mem *pathMem, waits bool) ([][]*Path, [][]int64, error) {
	budget := maxValueWork
	list, need, err := p.unfold(unroll, nil, mem, &budget, waits)
	if err != nil || !need {
		return list, nil, err
	}
	dom, err := p.domains(unroll)
	if err != nil {
		return nil, nil, err
	}
	list, _, err = p.unfold(unroll, dom, mem, &budget, waits)
	return list, dom, err
}

func (p *Program) unfold(unroll int, dom [][]int64, mem *pathMem, budget *int, waits bool) (list [][]*Path, need bool, err error) {
	list = make([][]*Path, len(p.threads))
	for t := range p.threads {
		w := walker{p: p, th: &p.threads[t], id: t, unroll: unroll, dom: dom, mem: mem, budget: budget, waits: waits}
		w.run(w.start())
		if w.err != nil {
			return nil, false, w.err
		}
		if w.needDomain {
			return nil, true, nil
		}
		list[t] = w.out
	}
	return list, false, nil
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
		list, _, err := p.unfold(unroll, dom, &pathMem{}, &budget, false)
		if err != nil {
			return nil, err
		}
		next := make([][]int64, len(dom))
		reads := 0
		for t, paths := range list {
			w := walker{p: p, th: &p.threads[t], id: t, dom: dom, budget: &budget}
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
