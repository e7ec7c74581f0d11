// Package values looks for compilers that compute something else than PTX says: it generates random kernels whose results are
// defined (ptxgen/values), compiles them, executes them and their machine code on the same inputs (refine), and reduces what
// differs. Kernels that are wrong are put together by cause.
//
// It needs no device. A kernel of which the same compiler is wrong without optimising is doubtful: an error of optcheck's
// reading of an instruction, or one of the compiler that its optimiser has no part in; it is kept, and is no finding.
package values

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"optcheck/ptxgen"
	"optcheck/ptxgen/values"
	"optcheck/refine"
)

// Options says what to hunt with, and for how long.
type Options struct {
	Cells []Cell
	Seed  uint64
	// Kernels bounds their number, For the time; 0 is no bound.
	Kernels int
	For     time.Duration
	// Inputs is the number of launches of a kernel; 0: 3. Jobs is how much is done at once; 0: one a core.
	Inputs, Jobs int
	// Generate says what kernels may contain.
	Generate values.Options
	// Found, if not nil, is told of each new cause, Progress of each batch; one call at a time.
	Found    func(*Cause) error
	Progress func(Progress)
}

// Progress says how far a hunt is.
type Progress struct {
	Kernels int     `json:"kernels"`
	Cells   int     `json:"cells"`
	Wrong   int     `json:"wrong"`    // cells that compute something else
	Unknown int     `json:"unknown"`  // cells in which something is not understood
	Refused int     `json:"refused"`  // cells in which the compiler refuses the kernel
	Doubts  int     `json:"doubtful"` // cells that are wrong at O0
	Causes  int     `json:"causes"`
	Seconds float64 `json:"seconds"`
}

// Report is what a hunt has found.
type Report struct {
	Seed uint64 `json:"seed"`
	Progress
	Causes   []*Cause `json:"causes_found"`
	Doubtful []*Doubt `json:"doubtful_kernels,omitempty"`
	// NotUnderstood counts cells by what is not understood in them, Messages those by what the compiler says that refuses.
	NotUnderstood map[string]int `json:"not_understood,omitempty"`
	Messages      map[string]int `json:"messages,omitempty"`
}

// Cause is what wrong kernels have in common.
type Cause struct {
	Signature string `json:"signature"`
	// Where are the cells that it was seen in, Kernels the numbers of the kernels.
	Where   []string `json:"where"`
	Kernels []int    `json:"kernels"`
	// Example is the smallest reduced kernel.
	Example *Example `json:"example"`
}

// Example is a reduced kernel with its counterexample.
type Example struct {
	Kernel     int             `json:"kernel"`
	Statements int             `json:"statements"`
	PTX        string          `json:"ptx"`
	Cell       string          `json:"cell"`
	Target     string          `json:"target"`
	Level      string          `json:"level"`
	Finding    *refine.Finding `json:"finding"`
	Machine    []string        `json:"machine"`

	reduced *values.Kernel
	cause   string
}

// Doubt is a kernel that is wrong at O0.
type Doubt struct {
	Kernel int    `json:"kernel"`
	Cell   string `json:"cell"`
	Why    string `json:"why"`
}

// batchKernels is how many kernels one process of a compiler gets.
const batchKernels = 32

// batch is some kernels and what came of them.
type batch struct {
	first   int
	kernels []*values.Kernel
	results []result
	err     error
	done    chan struct{}
}

// result is what came of a kernel in a cell.
type result struct {
	kernel  int
	cell    Cell
	outcome Outcome
	why     string
	cause   string
	example *Example
}

// errOver ends a hunt whose time is over.
var errOver = errors.New("the time of the hunt is over")

// Run hunts. When ctx ends, or the time is over, what was found so far is reported; only of the former there is an error.
func Run(ctx context.Context, o Options) (*Report, error) {
	if len(o.Cells) == 0 {
		return nil, errors.New("no compiler to hunt in")
	}
	for _, c := range o.Cells {
		sm, _ := ptxgen.SM(c.Target)
		o.Generate.PTX, o.Generate.SM = least(o.Generate.PTX, int(version(c))), least(o.Generate.SM, sm)
	}
	o.Inputs, o.Jobs = cmp.Or(o.Inputs, 3), cmp.Or(o.Jobs, runtime.GOMAXPROCS(0))
	limited := ctx
	if o.For > 0 {
		c, cancel := context.WithTimeoutCause(ctx, o.For, errOver)
		defer cancel()
		limited = c
	}
	h := &hunter{o: o, start: time.Now(), rep: &Report{Seed: o.Seed, NotUnderstood: map[string]int{}, Messages: map[string]int{}}, byName: map[string]*Cause{}}
	err := h.run(limited)
	if errors.Is(context.Cause(limited), errOver) {
		err = nil
	}
	h.rep.Seconds = time.Since(h.start).Seconds()
	slices.SortStableFunc(h.rep.Causes, func(a, b *Cause) int { return cmp.Compare(len(b.Kernels), len(a.Kernels)) })
	return h.rep, err
}

// least is the smaller one of two numbers, of which the first may not be known.
func least(a, b int) int { return min(cmp.Or(a, b), b) }

type hunter struct {
	o      Options
	start  time.Time
	rep    *Report
	byName map[string]*Cause
}

// run works on batches, several at once, and looks at them in their order.
func (h *hunter) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	var under []*batch
	for next := 0; ; {
		for len(under) < 2*h.o.Jobs && ctx.Err() == nil && (h.o.Kernels == 0 || next < h.o.Kernels) {
			n := batchKernels
			if h.o.Kernels > 0 {
				n = min(n, h.o.Kernels-next)
			}
			under = append(under, h.begin(next, n))
			next += n
		}
		if len(under) == 0 {
			return context.Cause(ctx)
		}
		for _, b := range under[:min(len(under), h.o.Jobs)] {
			if b.done == nil {
				b.done = make(chan struct{})
				all.Go(func() { defer close(b.done); b.err = h.work(ctx, b) })
			}
		}
		b := under[0]
		under = under[1:]
		<-b.done
		if err := h.look(b); err != nil {
			return err
		}
		if b.err != nil {
			return b.err
		}
	}
}

// begin generates the kernels of a batch.
func (h *hunter) begin(first, n int) *batch {
	b := &batch{first: first}
	for i := range n {
		b.kernels = append(b.kernels, values.Generate(h.o.Seed, first+i, h.o.Generate))
	}
	return b
}

// work judges the kernels of a batch in all cells.
func (h *hunter) work(ctx context.Context, b *batch) error {
	var list []*subject
	for _, k := range b.kernels {
		list = append(list, newSubject(k, fmt.Sprintf("k%d", k.Number), Inputs(k, h.o.Inputs)))
	}
	plain := map[Cell][]verdict{}
	reduced := make([][]*Example, len(list)) // by kernel
	for _, c := range h.o.Cells {
		base := c
		base.Level = "O0"
		if plain[base] == nil {
			v, err := judge(ctx, base, list)
			if err != nil {
				return err
			}
			plain[base] = v
			b.doubts(base, list, v)
		}
		if c.Level == "O0" {
			b.count(c, list, plain[base])
			continue
		}
		found, err := judge(ctx, c, list)
		if err != nil {
			return err
		}
		for i := range found {
			if found[i].outcome == Wrong && plain[base][i].outcome != Same {
				found[i].outcome, found[i].why = Unknown, "O0: "+cmp.Or(plain[base][i].why, "differs as well")
			}
			if found[i].outcome == Wrong {
				if err := b.reduce(ctx, c, list[i], found[i], &reduced[i]); err != nil {
					return err
				}
			}
		}
		b.count(c, list, found)
	}
	return nil
}

// doubts notes the kernels of which O0 is wrong.
func (b *batch) doubts(c Cell, list []*subject, found []verdict) {
	for i := range found {
		if f := found[i].finding; found[i].outcome == Wrong {
			b.results = append(b.results, result{kernel: list[i].kernel.Number, cell: c, outcome: Wrong, why: fmt.Sprintf("%s: %s", f.Rule, f.Why)})
		}
	}
}

func (b *batch) count(c Cell, list []*subject, found []verdict) {
	for i := range found {
		if found[i].outcome != Wrong {
			b.results = append(b.results, result{kernel: list[i].kernel.Number, cell: c, outcome: found[i].outcome, why: found[i].why})
		}
	}
}

// reduce reduces a kernel of which a cell is wrong, unless what another cell's finding was reduced to is wrong here as well.
func (b *batch) reduce(ctx context.Context, c Cell, s *subject, v verdict, reduced *[]*Example) error {
	for _, e := range *reduced {
		r := &reducer{cell: c, inputs: []*refine.Input{e.Finding.Input}}
		found, err := r.wrong(ctx, []*values.Kernel{e.reduced})
		if err != nil {
			return err
		}
		if found[0] != nil {
			b.results = append(b.results, result{kernel: s.kernel.Number, cell: c, outcome: Wrong, cause: e.cause, example: e})
			return nil
		}
	}
	k, found, err := reduce(ctx, c, s.kernel, v)
	if err != nil {
		return err
	}
	e := &Example{Kernel: k.Number, Statements: k.Count(), PTX: ptxgen.Header(version(c), c.Target) + k.Text(s.name), Cell: c.String(), Target: c.Target, Level: c.Level,
		Finding: found.finding, reduced: k, cause: signature(k, found.finding, found.machine)}
	for i := range found.machine.Insts {
		e.Machine = append(e.Machine, fmt.Sprintf("%04x %s", found.machine.Insts[i].Addr, found.machine.Insts[i].Text))
	}
	*reduced = append(*reduced, e)
	b.results = append(b.results, result{kernel: k.Number, cell: c, outcome: Wrong, cause: e.cause, example: e})
	return nil
}

// look counts what came of a batch.
func (h *hunter) look(b *batch) error {
	r := h.rep
	if b.err == nil {
		r.Progress.Kernels += len(b.kernels)
	}
	for i := range b.results {
		x := &b.results[i]
		r.Cells++
		switch {
		case x.outcome == Unknown:
			r.Unknown++
			r.NotUnderstood[x.why]++
		case x.outcome == Refused:
			r.Refused++
			r.Messages[x.why]++
		case x.outcome == Wrong && x.example == nil:
			r.Doubts++
			r.Doubtful = append(r.Doubtful, &Doubt{x.kernel, x.cell.String(), x.why})
		case x.outcome == Wrong:
			r.Wrong++
			if err := h.add(x); err != nil {
				return err
			}
		}
	}
	r.Progress.Causes, r.Seconds = len(r.Causes), time.Since(h.start).Seconds()
	if h.o.Progress != nil {
		h.o.Progress(r.Progress)
	}
	return nil
}

// add adds a wrong kernel to its cause.
func (h *hunter) add(x *result) error {
	c := h.byName[x.cause]
	fresh := c == nil
	if fresh {
		c = &Cause{Signature: x.cause}
		h.byName[x.cause] = c
		h.rep.Causes = append(h.rep.Causes, c)
	}
	if where := x.cell.String(); !slices.Contains(c.Where, where) {
		c.Where = append(c.Where, where)
	}
	if !slices.Contains(c.Kernels, x.kernel) {
		c.Kernels = append(c.Kernels, x.kernel)
	}
	if c.Example == nil || x.example.Statements < c.Example.Statements {
		c.Example = x.example
	}
	if fresh && h.o.Found != nil {
		return h.o.Found(c)
	}
	return nil
}
