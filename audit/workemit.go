package audit

import (
	"errors"
	"fmt"
	"sync"

	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/target"
)

// emission is the source text of all tests and layouts for all targets that take
// the same: index test*len(layouts)+layout.
type emission struct {
	once  sync.Once
	units []*ptxgen.Unit // their text is in kernels
	errs  []error
	err   error
	kernelSet
}

func (a *auditor) emission(j job) (*emission, error) {
	key, emit := a.source(j)
	e := j.chunk.emission(key, func(e *emission) { e.fill(&a.o, j, a.plain, emit) })
	return e, e.err
}

// emitter turns a test into a unit.
type emitter func(*litmus.Test, ptxgen.Options) (*ptxgen.Unit, error)

// source returns how tests are emitted for a job, and a key that jobs share
// which take the same text.
func (a *auditor) source(j job) (string, emitter) {
	generation, err := ptxgen.Generation(j.target)
	if err != nil {
		generation = -1 // not NVIDIA's
	}
	switch {
	case j.tc.LLC != nil:
		typed := j.tc.LLC.Major() <= 14
		emit := func(t *litmus.Test, o ptxgen.Options) (*ptxgen.Unit, error) {
			o.TypedIR = typed
			return ptxgen.EmitLLVMIR(t, o)
		}
		return fmt.Sprintf("LLVM IR for generation %d, typed %t", generation, typed), emit
	case j.tc.LLVM == nil:
		return fmt.Sprintf("PTX for generation %d", generation), ptxgen.Emit
	case a.o.Source == LLVMIR:
		typed := j.tc.Major() <= 14
		emit := func(t *litmus.Test, o ptxgen.Options) (*ptxgen.Unit, error) {
			o.TypedIR = typed
			return ptxgen.EmitLLVMIR(t, o)
		}
		return fmt.Sprintf("LLVM IR, typed %t, TeraScale %t", typed, target.IsTeraScale(j.target)), emit
	case target.IsTeraScale(j.target):
		return "OpenCL for r600", ptxgen.EmitOpenCL
	}
	return "OpenCL", ptxgen.EmitOpenCL
}

func (e *emission) fill(o *Options, j job, plain bool, emit emitter) {
	names := map[string]bool{}
	defer e.filled()
	_, err := ptxgen.SM(j.target)
	nvidia := err == nil
	for i, t := range j.chunk.tests {
		for _, l := range o.Layouts {
			opt := ptxgen.Options{Target: j.target, Layout: l, Plain: plain, Lines: true}
			if nvidia { // others may name a unit by the test's translation
				opt.Unit = ptxgen.UnitNameOf(t.Name, j.chunk.hashes[i], l)
			}
			u, err := emit(t, opt)
			if u != nil && !nvidia && names[u.Name] { // a translation that two tests share
				opt.Unit = ptxgen.UnitNameOf(t.Name, j.chunk.hashes[i], l)
				u, err = emit(t, opt)
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
				e.add(u)
			} else {
				e.of = append(e.of, nil)
			}
			e.units = append(e.units, u)
			e.errs = append(e.errs, err)
		}
	}
}
