package optcheck

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/model/explore"
	"optcheck/spec"
)

// Machine is the machine code of a test as a program for a model of the hardware.
type Machine interface {
	// Name returns the name of the memory system.
	Name() string
	// Explore calls end for every way in which the program can end, with the schedule that leads there. With fresh,
	// it considers only runs in which no cache keeps a stale line.
	Explore(ctx context.Context, fresh bool, end func(f *explore.Final, schedule func() []explore.Step) error) error
}

// operations is machine code as operations for a model of the hardware, still without the test's constants.
type operations interface {
	LiftedCode
	// values returns what the accesses read, by position in the test.
	values() map[int]*expr
	// machine combines the threads of a test, one of which has this code; init holds the words of the locations.
	machine(t *litmus.Test, threads []LiftedThread, init []uint32) (Machine, error)
}

// operations returns the machine code of a thread as operations.
func (t *LiftedThread) operations() (operations, error) {
	if code, ok := t.Lifted.(operations); ok {
		return code, nil
	}
	return nil, errors.New("machine code that was not lifted to operations of the hardware")
}

// NewMachine combines the threads of a test, which LiftMachine has lifted. The error says what the model of the
// hardware does not know.
func NewMachine(t *litmus.Test, threads []LiftedThread) (Machine, error) {
	if len(threads) != len(t.Threads) || len(threads) == 0 {
		return nil, fmt.Errorf("%d threads of machine code for the %d of test %s", len(threads), len(t.Threads), t.Name)
	}
	var init []uint32
	for i := range t.Locations {
		if t.Locations[i].Alias != "" {
			return nil, fmt.Errorf("location %s is an alias", t.Locations[i].Name)
		}
		if t.Locations[i].Of != "" {
			return nil, fmt.Errorf("location %s is a part of another", t.Locations[i].Name)
		}
		init = append(init, uint32(t.Locations[i].Init))
	}
	for i := range t.Threads {
		if t.Threads[i].Place.GPU != t.Threads[0].Place.GPU || t.Threads[i].Place.Grid != t.Threads[0].Place.Grid {
			return nil, errors.New("threads of several grids")
		}
	}
	code, err := threads[0].operations()
	if err != nil {
		return nil, err
	}
	return code.machine(t, threads, init)
}

// LiftMachine turns checked machine code into operations of its hardware's memory system, for NewMachine. The error
// is a *LiftError if the model of the hardware does not know an instruction.
func (c *Checked) LiftMachine() (LiftedCode, error) {
	if err := c.liftable(); err != nil {
		return nil, err
	}
	return c.pass.tr.arch.liftMachine(c.pass)
}

// mnemonic returns the name of an instruction in schedules. It leaves out the operands, since one exploration serves
// all machine code that does the same in other registers.
func mnemonic(in *isa.Inst) string {
	words := strings.Fields(trim(in.Text))
	if len(words) > 1 && words[0][0] == '@' {
		words = words[1:]
	}
	return strings.Clone(strings.Join(words[:min(len(words), 1)], ""))
}

// accessText returns the name of an access in schedules.
func accessText(mnemonic string, t *litmus.Test, loc int) string {
	return mnemonic + " [" + t.Locations[loc].Name + "]"
}

// groupOf returns the number of a thread's work-group: that of the first thread in it.
func groupOf(t *litmus.Test, i int) int {
	for k := range i {
		if t.Threads[k].Place.SameScope(t.Threads[i].Place, litmus.ScopeCTA) {
			return k
		}
	}
	return i
}

// paramsOf returns the words of the parameters that stand for constants of the test, by byte offset.
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

// inputs holds what an operation of a machine takes, while its values are still expressions.
type inputs struct {
	atom  string // of a read-modify-write
	data  []*expr
	guard []guardTerm
}

// with inserts constants.
func (o *inputs) with(params map[int64]uint32) (data []explore.Expr, guard explore.Expr, apply func(uint32, []uint32) uint32) {
	for _, e := range o.data {
		data = append(data, wordOf(e, params))
	}
	apply, _ = atomicWord(o.atom)
	return data, guardOf(o.guard, params), apply
}

// render appends everything that determines what the inputs mean, except atom.
func (o *inputs) render(b []byte) []byte {
	for _, d := range o.data {
		b = d.render(b)
	}
	for _, g := range o.guard {
		b = g.e.render(bools(b, g.want))
	}
	return b
}

// keyOf hashes operations, and what accesses read.
func keyOf(b []byte, regs map[int]*expr) string {
	for k := range 64 {
		if e := regs[k]; e != nil {
			b = e.render(ints(append(b, 'v'), k))
		}
	}
	sum := sha256.Sum256(b)
	return string(sum[:])
}

func wordOf(e *expr, params map[int64]uint32) explore.Expr {
	return func(read func(int) (uint32, bool)) (uint32, bool) { return e.eval(params, read) }
}

// guardOf returns the conjunction of the terms of a guard, nil for none.
func guardOf(list []guardTerm, params map[int64]uint32) explore.Expr {
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

// eval computes a word; ok is false if it depends on an unavailable one.
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
		return a << b, true
	case exShr:
		return a >> b, true
	case exCmp:
		return ones(compare(uint8(e.k), e.k&cmpSigned != 0, a, b)), true
	}
	return 0, false
}

// evalBits computes a bitwise function. An unavailable operand may not matter: a conjunction is false if one part is.
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

// values returns what each reading access of the test returned in the machine code, by position. It is the whole
// value, since code may choose between what an access read and something else. What the lanes of a wave make of one
// atomic counts as that atomic's result.
func (l *lifter) values() (map[int]*expr, error) {
	p, out := l.p, map[int]*expr{}
	for k, e := range p.s.Entries {
		if !e.Reads() || e.Unread {
			continue
		}
		v, seen := p.oper[k], taint(0)
		if e.Guarded {
			v = p.unguarded(v)
		}
		ev := p.match[k]
		if ev >= 0 && isAtomicRole(p.tr.events[ev].role) && p.tr.pool.shuffled(v) {
			out[k] = &expr{op: exLoad, read: p.tr.events[ev].read, word: p.word[k]}
			continue
		}
		x, err := l.expr(v, 0, &seen)
		if err != nil {
			return nil, fmt.Errorf("%s: what it read: %w", p.name(k), err)
		}
		out[k] = x
	}
	return out, nil
}

// located reads the location, condition and data of the access at instruction i, from which an operation of a machine
// is made. It must be one word, and in no loop.
func (l *lifter) located(i, ev int) (loc int, op liftOp, err error) {
	x := &l.p.tr.events[ev]
	op.entry = -1
	if err = l.guard(ev, &op); err != nil {
		return 0, op, err
	}
	if err = l.data(ev, &op); err != nil {
		return 0, op, err
	}
	loc, ok := l.p.locationOf(x)
	switch {
	case !ok:
		err = l.errorAt(i, "its address %v is none of the test's locations", x.addr)
	case x.mem.Width != 4:
		err = l.errorAt(i, "an access of %d bytes", x.mem.Width)
	case x.loop:
		err = l.errorAt(i, "it stands in a loop")
	}
	return loc, op, err
}

// words returns the data of a one-word operation.
func (op *liftOp) words() (out []*expr) {
	for _, ws := range op.data {
		out = append(out, ws[0])
	}
	return out
}

// blockGuard reads the condition under which a block runs.
func (l *lifter) blockGuard(b int) ([]guardTerm, error) {
	var out []guardTerm
	seen := taint(0)
	for _, s := range l.p.tr.when[b] {
		if l.p.tr.pool.lane(s.pred) {
			continue // which lane does it for its warp
		}
		e, err := l.expr(s.pred, l.p.tr.fn.Blocks[b].First, &seen)
		if err != nil {
			return nil, err
		}
		out = append(out, guardTerm{e, s.want})
	}
	return out, nil
}

// isShared reports whether a location lies in local memory.
func (p *pass) isShared(loc int) bool {
	for _, e := range p.s.Entries {
		if !e.IsFence() && e.Loc == loc {
			return e.Kind.Space == litmus.Shared
		}
	}
	return false
}
