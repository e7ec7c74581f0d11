package exec

import (
	"optcheck/model/cat"
	"optcheck/model/rel"
)

// Candidate is a complete candidate execution as passed to a visitor.
type Candidate struct {
	Program *Program
	Events  []Event
	N       int
	// Failed is the index of the first failed check, -1 if the candidate is
	// allowed. FailedName and Cycle explain it.
	Failed     int
	FailedName string
	State      []int64
	w          *worker
	vals       []int64
}

// visit passes a candidate to Visit, once for every solution of its values.
func (w *worker) visit(failed int) {
	if !w.solved {
		w.solve()
	}
	for _, vals := range w.sols {
		w.valuesOf(vals)
		w.cand = Candidate{Program: w.p, Events: w.g.events, N: w.g.n, Failed: failed, State: w.state, w: w, vals: w.val}
		if failed >= 0 && !w.rare {
			w.cand.FailedName = w.e.prog.Checks()[failed].Label()
		}
		if !w.opt.Visit(&w.cand) {
			w.res.Stopped, w.stop = true, true
			return
		}
	}
}

// Value returns the value that a read or write has.
func (c *Candidate) Value(e int) int64 {
	if c.Events[e].Kind == Read {
		v, _ := c.w.full(int(c.Events[e].Thread), c.Events[e].val)
		return v
	}
	return c.w.written(e)
}

// Execution returns copies of all base sets and relations, by name.
func (c *Candidate) Execution() *cat.Execution { return c.w.execution() }

// Explain says why the model forbids the candidate: the check's name and the steps of a cycle,
// or of a forbidden pair, as edges of base relations. For models that need the interpreter it
// returns the pairs of the tested relation.
func (c *Candidate) Explain() (check string, steps []cat.Edge, err error) {
	if c.Failed < 0 {
		return "", nil, nil
	}
	if c.w.rare {
		return c.w.explainRare()
	}
	ex, err := c.w.m.Explain(c.Failed)
	if err != nil {
		return "", nil, err
	}
	for _, s := range ex.Steps {
		steps = append(steps, s.Via...)
	}
	// A pair that must be in co is missing because co has it the other way.
	if n := len(steps); n > 0 && len(ex.Cycle) == 0 {
		if a, b := steps[0].From, steps[n-1].To; a != b && c.w.co.Has(b, a) {
			steps = append(steps, cat.Edge{From: b, To: a, Rel: nameCO})
		}
	}
	return ex.Check.Label(), steps, nil
}

func (w *worker) explainRare() (string, []cat.Edge, error) {
	r, err := w.it.it.Run(w.ctx, w.execution(), cat.RunOptions{})
	if err != nil || r.Failed == nil {
		return "", nil, err
	}
	var steps []cat.Edge
	for _, s := range r.Failed.Steps {
		steps = append(steps, s.Via...)
	}
	return r.Failed.Name, steps, nil
}

// interp evaluates rare models and explains failures.
type interp struct {
	it   *cat.Interp
	sets map[string]rel.Set
	rels map[string]rel.Rel
}

// static sets everything that does not depend on choices.
func (it *interp) static(g *graph) {
	it.sets, it.rels = map[string]rel.Set{}, map[string]rel.Rel{}
	for _, s := range setAttrs {
		set := rel.NewSet(g.n)
		for i, a := range g.attrs {
			if a&s.attr != 0 {
				set.Add(i)
			}
		}
		it.sets[s.name] = set
	}
	for _, r := range staticRels {
		x := rel.NewRel(g.n)
		r.fill(g, x)
		it.rels[r.name] = x
	}
}

func (w *worker) execution() *cat.Execution {
	var it interp
	it.static(&w.g)
	ex := &cat.Execution{N: w.g.n, Sets: it.sets, Rels: it.rels}
	ex.Rels[nameRF], ex.Rels[nameCO] = rel.Clone(w.rf), rel.Clone(w.co)
	ex.Rels[nameFR], ex.Rels[nameSF] = rel.Clone(w.fr), rel.Clone(w.sf)
	fw := rel.NewSet(w.g.n)
	for l, ws := range w.g.writes {
		if len(ws) > 0 {
			fw.Add(int(w.final[l]))
		}
	}
	ex.Sets[nameFW] = fw
	ex.Locs = map[string]rel.Set{}
	for i := range w.p.locs {
		s := rel.NewSet(w.g.n)
		for e := range w.g.events {
			if k := w.g.events[e].Loc; k >= 0 && w.p.cells[k].loc == int16(i) {
				s.Add(e)
			}
		}
		ex.Locs[w.p.locs[i].name] = s
	}
	return ex
}

// interpret evaluates a rare model: 0 if it forbids the candidate, else -1.
func (w *worker) interpret() int {
	if w.it.it == nil {
		it, err := cat.NewInterp(w.e.prog)
		if err != nil {
			w.broken(err)
			return 0
		}
		w.it.it = it
	}
	ex := &cat.Execution{N: w.g.n, Sets: w.it.sets, Rels: w.it.rels}
	ex.Sets[nameFW] = w.fw
	ex.Rels[nameRF], ex.Rels[nameCO], ex.Rels[nameFR], ex.Rels[nameSF] = w.rf, w.co, w.fr, w.sf
	r, err := w.it.it.Run(w.ctx, ex, cat.RunOptions{})
	if err != nil {
		w.broken(err)
		return 0
	}
	if !r.Allowed {
		return 0
	}
	for _, b := range r.Branches {
		for _, f := range b.Flags {
			w.flag(f)
		}
		for _, u := range b.Undefined {
			w.flag("undefined: " + u)
		}
		for _, a := range b.Asserts {
			w.undecided("assertion %s of the model fails: it does not apply to this test", a)
		}
	}
	return -1
}
