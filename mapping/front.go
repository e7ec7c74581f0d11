package mapping

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/target"
	"optcheck/toolchain"
)

// frontOp is the part of an operation that only those of a language in front of PTX have.
type frontOp struct {
	text   string // the kernel, with NAME for its name
	typed  string // the same for releases with typed pointers only; "" where there is no difference
	steps  []step // what it means
	shared bool   // it is of shared memory
	result bool   // the kernel's last access stores its result
}

// frontProber maps the operations of a language of which a first compiler makes PTX, and
// ptxas machine code. It judges both: the PTX by the memory models, the machine code by
// comparison with the PTX.
type frontProber struct {
	list func() []Op
	// compile makes PTX modules of units.
	compile func(ctx context.Context, p pipeline.Place, units []toolchain.Unit) (*toolchain.Result, error)
	// forEach tells that the PTX depends on the level and on the ptxas behind the compiler.
	forEach bool

	mu    sync.Mutex
	judge *judge
	made  map[string]*frontPTX
}

// frontPTX is what the first compiler made of all operations: kernels by the number of
// the operation, and refusals.
type frontPTX struct {
	once    sync.Once
	header  string
	kernels map[int]string
	failed  map[int]failure
	err     error
}

func (f *frontProber) ops() []Op { return f.list() }

// levels: front ends optimise fully.
func (f *frontProber) levels() []string { return []string{"O3"} }

func (f *frontProber) job(ctx context.Context, ops []Op, p pipeline.Place, _ map[int]string) ([]Cell, map[int]string, error) {
	made, err := f.ptx(ctx, ops, p)
	if err != nil {
		return nil, nil, err
	}
	cells := make([]Cell, len(ops))
	var at []int
	for i := range ops {
		cells[i] = newCell(&ops[i], p)
		if no, ok := made.failed[i]; ok {
			cells[i].fail(no)
		} else if made.kernels[i] != "" {
			at = append(at, i)
		}
	}
	job := &frontJob{f, ops, p, made, cells}
	return cells, nil, job.build(ctx, at)
}

// ptx has the first compiler compile all operations, once for all that is made of it.
func (f *frontProber) ptx(ctx context.Context, ops []Op, p pipeline.Place) (*frontPTX, error) {
	f.mu.Lock()
	if f.judge == nil {
		var err error
		if f.judge, err = newJudge(); err != nil {
			f.mu.Unlock()
			return nil, err
		}
		f.made = map[string]*frontPTX{}
	}
	c := p.Toolchain.Compilers()[0]
	key := strings.Join([]string{c.Tool, c.Path, p.Target}, "\n")
	if f.forEach {
		key += "\n" + p.Level + p.Toolchain.MaxPTX
	}
	m := f.made[key]
	if m == nil {
		m = &frontPTX{kernels: map[int]string{}, failed: map[int]failure{}}
		f.made[key] = m
	}
	f.mu.Unlock()
	m.once.Do(func() { m.err = m.fill(ctx, f, ops, p) })
	return m, m.err
}

func (m *frontPTX) fill(ctx context.Context, f *frontProber, ops []Op, p pipeline.Place) error {
	typed := toolchain.CompareVersions(p.Toolchain.Compilers()[0].Version, "15") < 0
	units := make([]toolchain.Unit, len(ops))
	for i := range ops {
		text := ops[i].front.text
		if typed && ops[i].front.typed != "" {
			text = ops[i].front.typed
		}
		name := fmt.Sprintf("m%d", i)
		units[i] = toolchain.Unit{Name: name, Text: strings.ReplaceAll(text, "NAME", name)}
	}
	res, err := f.compile(ctx, p, units)
	if err != nil {
		return err
	}
	for i, e := range res.Failed {
		if errors.Is(e, toolchain.ErrCancelled) {
			return e
		}
		m.failed[i] = failed(e, p.Toolchain)
	}
	for _, b := range res.Batches {
		if err := m.take(&b, units); err != nil {
			for _, u := range b.Units {
				m.failed[u] = failure{Unknown, err.Error()}
			}
		}
	}
	return nil
}

// take takes the kernels of a module.
func (m *frontPTX) take(b *toolchain.Batch, units []toolchain.Unit) error {
	mod, err := ptx.Outline("front.ptx", b.Text)
	if err != nil {
		return err
	}
	by, err := mod.Alone()
	if err != nil {
		return err
	}
	m.header = mod.Header()
	for _, u := range b.Units {
		if m.kernels[u] = by[units[u].Name]; m.kernels[u] == "" {
			m.failed[u] = failure{Unknown, "its kernel is not in the PTX"}
		}
	}
	return nil
}

// frontJob fills cells.
type frontJob struct {
	*frontProber
	ops   []Op
	place pipeline.Place
	made  *frontPTX
	cells []Cell
}

// build compiles the kernels of operations together, or apart where ptxas refuses some, or breaks down at them.
func (j *frontJob) build(ctx context.Context, at []int) error {
	if len(at) == 0 {
		return nil
	}
	var text strings.Builder
	text.WriteString(j.made.header)
	for _, i := range at {
		text.WriteString(j.made.kernels[i])
	}
	m, err := ptx.Parse("front.ptx", []byte(text.String()))
	if err != nil {
		return j.failed(at, err)
	}
	p := &j.place
	code, err := realcode.Build(ctx, p.Toolchain, m, p.Target, p.Level)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case ofOne(err) && len(at) > 1:
		half := len(at) / 2
		if err := j.build(ctx, at[:half]); err != nil {
			return err
		}
		return j.build(ctx, at[half:])
	case err != nil:
		return j.failed(at, err)
	}
	res, err := realcode.Compare(ctx, m, code, p.Target)
	if err != nil {
		return err
	}
	for _, i := range at {
		if err := j.fill(ctx, i, m, code, res); err != nil {
			return err
		}
	}
	return nil
}

// ofOne reports whether an error may be of one of some kernels.
func ofOne(err error) bool {
	return errors.Is(err, realcode.ErrUnsupported) || errors.Is(err, toolchain.ErrCrashed) || errors.Is(err, toolchain.ErrTimeout)
}

// failed notes why operations have no machine code.
func (j *frontJob) failed(at []int, err error) error {
	for _, i := range at {
		j.cells[i].fail(failed(err, j.place.Toolchain))
	}
	return nil
}

// fill notes what became of an operation.
func (j *frontJob) fill(ctx context.Context, i int, m *ptx.Module, code *pipeline.Code, res *realcode.Result) error {
	c, name, op := &j.cells[i], fmt.Sprintf("m%d", i), &j.ops[i]
	insts, text, err := operationPTX(m.Func(name), op.front.result)
	if err != nil {
		c.Reason = err.Error()
		return nil
	}
	c.PTX = text
	fn, err := code.Func(name)
	if err != nil {
		c.Reason = err.Error()
		return nil
	}
	list, err := mapInsts(fn, "")
	if err != nil {
		c.Reason = err.Error()
		return nil
	}
	list = slices.DeleteFunc(list, func(in Inst) bool {
		return !slices.ContainsFunc(insts, func(x *ptx.Inst) bool { return x.N == in.line })
	})
	c.Status, c.Reason, c.Sequence, c.Machine = Mapped, "", list, Sequence(list)
	for k := range res.Kernels {
		if res.Kernels[k].Name == name {
			c.Code, _ = res.Kernels[k].Class()
		}
	}
	sm, _ := target.SM(j.place.Target)
	judgement, err := j.judge.of(ctx, &operation{steps: op.front.steps, insts: insts, shared: op.front.shared, model: modelOf(sm,
		op.front.steps)})
	c.Judgement = &judgement
	return err
}

// modelOf is the memory model of PTX for a target: there is an official one from sm_70 on.
// That of 2015 has no barriers.
func modelOf(sm int, steps []step) string {
	if sm >= 70 || len(steps) > 0 && steps[0].kind == sBarrier {
		return "ptx"
	}
	return "ptx-2015-rmw"
}

// operationPTX lists the instructions of a kernel that matter to memory, without those
// that keep parameters and values on the stack and the one that stores the result. text
// shows them as a sequence, loops in brackets.
func operationPTX(f *ptx.Func, result bool) (insts []*ptx.Inst, text string, err error) {
	if f == nil {
		return nil, "", errors.New("its kernel is not in the PTX")
	}
	labels := map[string]int{}
	for i, st := range f.Body {
		if st.Kind == ptx.StmtLabel {
			labels[st.Name] = i
		}
	}
	var places []int
	stack := map[int]bool{}
	type span struct{ from, to int }
	var loops []span
	for i, st := range f.Body {
		in := st.Inst
		if in == nil {
			continue
		}
		if in.Name == "bra" && len(in.Args) > 0 {
			if to, ok := labels[in.Args[0].Name]; ok && to < i {
				loops = append(loops, span{to, i})
			}
		}
		follow(f, in, stack)
		e := in.Effect()
		if e.Kind == ptx.None || e.Kind == ptx.Convergent || e.Kind.IsAccess() && (e.Space == "local" || e.Space == "param" || onStack(in,
			f, stack)) {
			continue
		}
		insts, places = append(insts, in), append(places, i)
	}
	if n := len(insts); result {
		if n == 0 || insts[n-1].Effect().Kind != ptx.Store || !strings.EqualFold(insts[n-1].Effect().Sem, "weak") {
			return nil, "", errors.New("the last access of its PTX is not the store of the result")
		}
		insts, places = insts[:n-1], places[:n-1]
	}
	inLoop := func(i int) int {
		return slices.IndexFunc(loops, func(s span) bool { return s.from <= places[i] && places[i] <= s.to })
	}
	var parts []string
	for i := 0; i < len(insts); {
		k, l := i, inLoop(i)
		var group []string
		for ; k < len(insts) && inLoop(k) == l; k++ {
			group = append(group, shownPTX(insts[k]))
		}
		i = k
		s := strings.Join(group, " ; ")
		if l >= 0 {
			s = "(" + s + ")*"
		}
		parts = append(parts, s)
	}
	if parts == nil {
		return insts, "nothing", nil
	}
	return insts, strings.Join(parts, " ; "), nil
}

// follow notes registers that hold addresses of the stack.
func follow(f *ptx.Func, in *ptx.Inst, stack map[int]bool) {
	switch in.Name {
	case "mov", "add", "cvta":
	default:
		return
	}
	for _, a := range in.Args[1:] {
		if a.Kind == ptx.Reg && (stack[a.Reg] || strings.HasPrefix(f.Regs[a.Reg].Name, "%SP")) || a.Kind == ptx.Sym &&
			strings.HasPrefix(a.Name, "__local_depot") {
			if in.Args[0].Kind == ptx.Reg {
				stack[in.Args[0].Reg] = true
			}
		}
	}
}

func onStack(in *ptx.Inst, f *ptx.Func, stack map[int]bool) bool {
	for _, a := range in.Args {
		if a.Kind == ptx.Mem && len(a.Elems) > 0 && a.Elems[0].Kind == ptx.Reg {
			r := a.Elems[0].Reg
			return stack[r] || strings.HasPrefix(f.Regs[r].Name, "%SP")
		}
	}
	return false
}
