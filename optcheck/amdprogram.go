package optcheck

import (
	"errors"
	"fmt"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/model/amdhw"
	"optcheck/spec"
)

// AMDProgram puts the threads of a test together as a program of package amdhw.
func AMDProgram(t *litmus.Test, threads []LiftedThread) (*amdhw.Program, error) {
	if len(threads) != len(t.Threads) || len(threads) == 0 {
		return nil, fmt.Errorf("%d threads of machine code for the %d of test %s", len(threads), len(t.Threads), t.Name)
	}
	p := &amdhw.Program{}
	for i := range t.Locations {
		if t.Locations[i].Alias != "" {
			return nil, fmt.Errorf("location %s is an alias", t.Locations[i].Name)
		}
		p.Init = append(p.Init, uint32(t.Locations[i].Init))
	}
	for i := range threads {
		code, err := threads[i].amd()
		if err != nil {
			return nil, err
		}
		p.System = code.system
		th := amdhw.Thread{Group: groupOf(t, i), Reads: code.reads}
		if t.Threads[i].Place.GPU != t.Threads[0].Place.GPU || t.Threads[i].Place.Grid != t.Threads[0].Place.Grid {
			return nil, fmt.Errorf("threads of several grids")
		}
		params := paramsOf(threads[i].Values)
		for k := range code.ops {
			o := &code.ops[k]
			op := o.Op
			if (op.Kind == amdhw.Load || op.Kind == amdhw.Store || op.Kind == amdhw.RMW) && op.Loc >= len(p.Init) {
				return nil, fmt.Errorf("location %d of %d", op.Loc, len(p.Init))
			}
			for _, e := range o.data {
				op.Data = append(op.Data, wordOf(e, params))
			}
			op.Guard = guardOf(o.guard, params)
			op.Apply, _ = amdAtomic(o.atom)
			th.Ops = append(th.Ops, op)
		}
		p.Threads = append(p.Threads, th)
	}
	return p, nil
}

// amd is the machine code of a thread as operations.
func (t *LiftedThread) amd() (*LiftedAMD, error) {
	code, ok := t.Lifted.(*LiftedAMD)
	if !ok {
		return nil, errors.New("machine code that was not lifted to operations of AMD's memory system")
	}
	return code, nil
}

// groupOf numbers the work-group of a thread: by the first one in it.
func groupOf(t *litmus.Test, i int) int {
	for k := range i {
		if t.Threads[k].Place.SameScope(t.Threads[i].Place, litmus.ScopeCTA) {
			return k
		}
	}
	return i
}

// paramsOf gives the words of parameters that stand for constants of the test, by
// byte offset.
func paramsOf(list []spec.Value) map[int64]uint32 {
	out := map[int64]uint32{}
	for _, v := range list {
		out[v.Offset] = uint32(v.Const)
		if v.Bytes == 8 {
			out[v.Offset+4] = uint32(v.Const >> 32)
		}
	}
	return out
}

func wordOf(e *expr, params map[int64]uint32) amdhw.Expr {
	return func(read func(int) (uint32, bool)) (uint32, bool) { return e.eval(params, read) }
}

// guardOf is the conjunction of what a guard consists of, nil for none.
func guardOf(list []guardTerm, params map[int64]uint32) amdhw.Expr {
	if len(list) == 0 {
		return nil
	}
	return func(read func(int) (uint32, bool)) (uint32, bool) {
		known := true
		for _, g := range list {
			w, ok := g.e.eval(params, read)
			if ok && (w != 0) != g.want {
				return 0, true // whatever the others are
			}
			known = known && ok
		}
		return 1, known
	}
}

// eval computes a word; ok is false if it depends on one that is not there.
func (e *expr) eval(params map[int64]uint32, read func(int) (uint32, bool)) (w uint32, ok bool) {
	switch e.op {
	case exConst:
		return uint32(e.k), true
	case exParam:
		w, ok = params[int64(e.k)]
		return w, ok
	case exLoad:
		if e.word > 0 {
			return 0, false
		}
		return read(e.read)
	case exSel:
		c, ok := e.args[2].eval(params, read)
		if !ok {
			return 0, false
		}
		if c != 0 {
			return e.args[0].eval(params, read)
		}
		return e.args[1].eval(params, read)
	case exBits:
		return e.evalBits(params, read)
	}
	if len(e.args) != 2 {
		return 0, false
	}
	a, okA := e.args[0].eval(params, read)
	b, okB := e.args[1].eval(params, read)
	if !okA || !okB {
		return 0, false
	}
	switch e.op {
	case exAdd:
		return a + b, true
	case exMul:
		return a * b, true
	case exShl:
		return a << (b & 31), true
	case exShr:
		return a >> (b & 31), true
	case exCmp:
		return ones(compare(uint8(e.k), e.k&cmpSigned != 0, a, b)), true
	}
	return 0, false
}

// evalBits computes a bitwise function. An operand that is not there may not
// matter: of a conjunction one part may be false.
func (e *expr) evalBits(params map[int64]uint32, read func(int) (uint32, bool)) (uint32, bool) {
	var in [3]uint32
	var missing []int
	for i, a := range e.args {
		w, ok := a.eval(params, read)
		if !ok {
			missing = append(missing, i)
		}
		in[i] = w
	}
	first, out := true, uint32(0)
	for try := range 1 << len(missing) {
		for k, i := range missing {
			in[i] = -uint32(try >> k & 1)
		}
		r := isa.Lut(uint8(e.k), in[0], in[1], in[2])
		if !first && r != out {
			return 0, false
		}
		first, out = false, r
	}
	return out, true
}
