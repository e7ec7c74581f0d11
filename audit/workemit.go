package audit

import (
	"errors"
	"fmt"
	"sync"

	"optcheck/ptxgen"
	"optcheck/spec"
)

// emission is the source text of all tests and layouts for all targets that take the same text:
// index test*len(layouts)+layout.
type emission struct {
	once  sync.Once
	units []*ptxgen.Unit // their text is in kernels
	errs  []error
	err   error
	kernelSet
}

func (a *auditor) emission(j job) (*emission, error) {
	e := j.chunk.emission(j.road.Key(j.target), func(e *emission) { e.fill(&a.o, j, a.plain) })
	return e, e.err
}

func (e *emission) fill(o *Options, j job, plain bool) {
	names := map[string]bool{}
	defer e.filled()
	for i, t := range j.chunk.tests {
		for _, l := range o.Layouts {
			opt := ptxgen.Options{Target: j.target, Layout: l, Plain: plain, Lines: true}
			u, err := j.road.Emit(t, j.chunk.hashes[i], opt)
			if u != nil && names[u.Name] { // a translation that two tests share
				opt.Unit = ptxgen.UnitNameOf(t.Name, j.chunk.hashes[i], l)
				u, err = j.road.Emit(t, j.chunk.hashes[i], opt)
			}
			var un *spec.Unsupported
			if err != nil && !errors.As(err, &un) {
				e.err = fmt.Errorf("%s: %w", t.Name, err)
				return
			}
			if u != nil && names[u.Name] {
				e.err = fmt.Errorf("test %s occurs twice", t.Name)
				return
			}
			if u != nil {
				names[u.Name] = true
				if e.err = e.add(u, j.target); e.err != nil {
					return
				}
			} else {
				e.of = append(e.of, nil)
			}
			e.units = append(e.units, u)
			e.errs = append(e.errs, err)
		}
	}
}
