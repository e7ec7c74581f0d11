package mapping

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"optcheck/litmus"
	"optcheck/model"
	"optcheck/ptx"
)

// Classes of judgements.
const (
	Kept = "kept" // what the language forbids of the operation, its PTX forbids, too
	Lost = "lost" // an outcome that the language forbids is one that the PTX allows
	Free = "free" // the language promises nothing to other threads
)

// Judgement says whether the PTX of an operation keeps what the operation promises.
type Judgement struct {
	Class string `json:"class"` // Kept, Lost, Free or Unknown
	// Promised counts the tests whose outcome the language forbids; Lost are those of
	// them whose outcome the PTX allows.
	Promised int    `json:"promised"`
	Lost     []Loss `json:"lost,omitempty"`
	Reason   string `json:"reason,omitempty"` // why the class is Unknown
}

// Loss is an outcome whose prohibition is lost.
type Loss struct {
	Pattern string `json:"pattern"`
	Outcome string `json:"outcome"`
	// Source is the test in terms of C++ (as OpenCL C), PTX what became of it.
	Source string `json:"source"`
	PTX    string `json:"ptx"`
	Cycle  string `json:"cycle,omitempty"` // why the language forbids it
}

// judge asks the models, each question once.
type judge struct {
	mu     sync.Mutex
	known  map[string]*judged
	source *model.Model
	ptx    map[string]*model.Model
}

type judged struct {
	once sync.Once
	j    Judgement
	err  error
}

// newJudge loads the models: the language's, and PTX's of old and new targets.
func newJudge() (*judge, error) {
	j := &judge{known: map[string]*judged{}, ptx: map[string]*model.Model{}}
	var err error
	if j.source, err = model.Load("opencl"); err != nil {
		return nil, err
	}
	for _, name := range []string{"ptx", "ptx-2015-rmw"} {
		if j.ptx[name], err = model.Load(name); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// operation is what is judged: an operation and the PTX that it became.
type operation struct {
	steps  []step
	insts  []*ptx.Inst
	shared bool   // its locations are in shared memory
	model  string // of the PTX
}

// main is the step that patterns are about: the access, where there is one.
func (o *operation) main() *step {
	for i := range o.steps {
		if o.steps[i].kind != sFence {
			return &o.steps[i]
		}
	}
	return &o.steps[0]
}

// of judges an operation. The error is that of the context.
func (j *judge) of(ctx context.Context, o *operation) (Judgement, error) {
	key := fmt.Sprint(o.steps, o.shared, o.model)
	for _, in := range o.insts {
		key += "\n" + shownPTX(in) + "\n" + in.Text[len(in.Op):]
	}
	j.mu.Lock()
	k := j.known[key]
	if k == nil {
		k = &judged{}
		j.known[key] = k
	}
	j.mu.Unlock()
	k.once.Do(func() { k.j, k.err = j.ask(ctx, o) })
	return k.j, k.err
}

func (j *judge) ask(ctx context.Context, o *operation) (Judgement, error) {
	out := Judgement{Class: Free}
	if len(o.steps) == 0 {
		return out, nil
	}
	list := patterns(*o.main())
	for i := range list {
		p := &list[i]
		if o.old() && strings.HasPrefix(p.name, "two ") && p.name != "two at once" {
			continue // the model of 2015 orders no reads of a location, and there is no other one
		}
		loss, promised, err := j.one(ctx, o, p)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err != nil {
			return Judgement{Class: Unknown, Reason: err.Error()}, nil
		}
		if promised {
			out.Promised++
		}
		if loss != nil {
			out.Lost = append(out.Lost, *loss)
		}
	}
	switch {
	case len(out.Lost) > 0:
		out.Class = Lost
	case out.Promised > 0:
		out.Class = Kept
	}
	return out, nil
}

// one asks about one pattern.
func (j *judge) one(ctx context.Context, o *operation, p *pattern) (loss *Loss, promised bool, err error) {
	source := make([][]string, len(p.threads))
	machine := make([][]string, len(p.threads))
	for t, items := range p.threads {
		w := &writer{orders: o.model == "ptx"}
		for _, it := range items {
			if err := w.write(o, it); err != nil {
				return nil, false, err
			}
		}
		source[t], machine[t] = w.cl, w.ptx
	}
	main := *o.main()
	text := p.print("GPU_OPENCL", "source", source, main, o.shared)
	src, err := litmus.Parse("source", []byte(text))
	if err != nil {
		return nil, false, fmt.Errorf("%w in\n%s", err, text)
	}
	x, err := j.source.Explain(ctx, src, model.Options{})
	if err != nil {
		return nil, false, err
	}
	if x.Verdict.Undecided != "" {
		return nil, false, fmt.Errorf("opencl: %s", x.Verdict.Undecided)
	}
	if x.Verdict.Positive > 0 || len(x.Verdict.Flags) > 0 {
		return nil, false, nil // allowed, or a race, which has no meaning
	}
	text = p.print("GPU_PTX", "ptx", machine, main, o.shared)
	code, err := litmus.Parse("ptx", []byte(text))
	if err != nil {
		return nil, false, fmt.Errorf("%w in\n%s", err, text)
	}
	v, err := j.ptx[o.model].Judge(ctx, code, model.Options{})
	if err != nil {
		return nil, false, err
	}
	if v.Undecided != "" {
		return nil, false, fmt.Errorf("%s: %s", o.model, v.Undecided)
	}
	if v.Positive == 0 {
		return nil, true, nil
	}
	loss = &Loss{Pattern: p.name, Outcome: p.cond, Source: src.String(), PTX: code.String()}
	if x.Execution != nil {
		loss.Cycle = x.Execution.Cycle(x.Steps)
	}
	return loss, true, nil
}

// writer writes a thread in both languages.
type writer struct {
	cl, ptx []string
	regs    int
	orders  bool
}

func (w *writer) write(o *operation, it item) error {
	if !it.op {
		reg := w.reg(it.returns())
		w.cl = append(w.cl, it.step.cl(it.loc, reg, it.old, it.value))
		w.ptx = append(w.ptx, it.step.ptx(it.loc, reg, it.old, it.value, w.orders)...)
		return nil
	}
	result := ""
	for _, s := range o.steps {
		loc := s.loc
		if loc == "" {
			loc = it.loc
		}
		reg := w.reg(s.returns())
		if s.returns() {
			result = reg
		}
		w.cl = append(w.cl, s.cl(loc, reg, it.old, it.value))
	}
	lines, err := o.text(it, result)
	w.ptx = append(w.ptx, lines...)
	return err
}

func (w *writer) reg(wanted bool) string {
	if !wanted {
		return ""
	}
	w.regs++
	return fmt.Sprintf("r%d", w.regs)
}

// text is the PTX of an operation in a test: the instruction that is the operation reads
// into the result, loads beside it (of a loop around a compare-and-exchange) anywhere.
func (o *operation) text(it item, result string) (out []string, err error) {
	main := -1
	kind := o.main().kind
	for i, in := range o.insts {
		switch e := in.Effect(); {
		case kind == sLoad && e.Kind == ptx.Load, kind == sStore && e.Kind == ptx.Store,
			(kind == sRMW || kind == sStore) && (e.Kind == ptx.Atomic || e.Kind == ptx.Reduction):
			main = i
		}
	}
	if main < 0 && (kind == sLoad || kind == sStore || kind == sRMW) {
		return nil, fmt.Errorf("there is no %s in its PTX", kind)
	}
	for i, in := range o.insts {
		e := in.Effect()
		sem, scope := e.Sem, e.Scope
		if scope == "cluster" {
			scope = "gpu" // that of the pattern's threads, which are in no cluster
		}
		switch {
		case e.Kind == ptx.Fence:
			out = append(out, in.Op)
		case e.Kind == ptx.Barrier && !in.Has("cluster"): // of all threads; what it reduces besides orders nothing
			out = append(out, "bar.sync 0")
		case e.Kind == ptx.Load && i == main:
			out = append(out, ptxText(sLoad, sem, scope, "", it.loc, result, 0, 0))
		case e.Kind == ptx.Load:
			out = append(out, ptxText(sLoad, sem, scope, "", it.loc, "r9", 0, 0))
		case e.Kind == ptx.Store:
			out = append(out, ptxText(sStore, sem, scope, "", it.loc, "", 0, it.value))
		case e.Kind == ptx.Atomic, e.Kind == ptx.Reduction:
			if i != main {
				return nil, fmt.Errorf("two atomics in its PTX")
			}
			rmw := o.main().rmw
			if result == "" {
				result, rmw = "r9", "exch" // a store by an exchange
			}
			if !o.old() {
				out = append(out, ptxText(sRMW, sem, scope, rmw, it.loc, result, it.old, it.value))
			} else {
				out = append(out, ptxText(sRMW, "volatile", "", rmw, it.loc, result, it.old, it.value))
			}
		default:
			return nil, fmt.Errorf("no litmus test has %s", in.Op)
		}
	}
	return out, nil
}

// old reports whether the target knows neither orders nor scopes of atomics.
func (o *operation) old() bool { return o.model != "ptx" }

// shownPTX is an instruction of PTX as a table shows it.
func shownPTX(in *ptx.Inst) string {
	op := in.Op
	if in.Guard >= 0 {
		op = map[bool]string{true: "@!p ", false: "@p "}[in.Neg] + op
	}
	return op
}

// Broken returns the cells whose operation lost something on its way: its PTX allows what
// the language forbids, or its machine code is not its PTX.
func Broken(cells []Cell) (out []Cell) {
	for _, c := range cells {
		if c.Judgement != nil && c.Judgement.Class == Lost || c.Code == "changed" || c.Code == "miscompiled" {
			out = append(out, c)
		}
	}
	return out
}

// Undecided returns why it is not known whether a mapped operation keeps what it
// promises, "" if that is known.
func (c *Cell) Undecided() string {
	switch {
	case c.Status != Mapped || c.Judgement == nil:
		return ""
	case c.Judgement.Class == Unknown:
		return c.Judgement.Reason
	case c.Code == "unknown":
		return "the machine code could not be compared with the PTX"
	}
	return ""
}
