// Package values looks for compilers that compute something else than PTX says: it generates random kernels whose results are
// defined (ptxgen/values), compiles them, executes them and their machine code on the same inputs (refine), and reduces what
// differs. Kernels that are wrong are put together by cause.
//
// It needs no device. A kernel of which the same compiler is wrong without optimising is doubtful: an error of optcheck's
// reading of an instruction, or one of the compiler that its optimiser has no part in; it is kept, and is no finding.
//
// Causes are what reduced kernels have in common (cause.go). Of a kernel that has what a known cause consists of, these
// statements are taken away; if it is still wrong, that is another cause (known.go).
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
	"optcheck/toolchain"
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
	// Chip, if not nil, runs each wrong kernel, and what it is reduced to. One that the device refutes is doubtful.
	Chip *Chip
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
	// Device counts what a device says of wrong kernels and of reduced ones.
	Device map[Said]int `json:"device,omitempty"`
}

// Report is what a hunt has found.
type Report struct {
	Seed uint64 `json:"seed"`
	// Compilers are the names of the cells that kernels were tried in.
	Compilers []string `json:"compilers"`
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
	Toolchain  string          `json:"toolchain"`
	Target     string          `json:"target"`
	Level      string          `json:"level"`
	Finding    *refine.Finding `json:"finding"`
	Machine    []string        `json:"machine"`
	Run        *Replayed       `json:"run,omitempty"` // on a device

	reduced *values.Kernel
	pattern pattern
}

// Doubt is a kernel that is wrong at O0.
type Doubt struct {
	Kernel int    `json:"kernel"`
	Cell   string `json:"cell"`
	Why    string `json:"why"`
}

// batchKernels is how many kernels one process of a compiler gets. What is known of causes when a batch is made is what
// came of all batches but the last window ones: so the report does not depend on how many are worked on at once.
const (
	batchKernels = 8
	window       = 16
)

// batch is some kernels and what came of them.
type batch struct {
	first   int
	kernels []*values.Kernel
	known   []*Example
	chip    *Chip
	results []result
	said    []Said
	err     error
	done    chan struct{}
}

// result is what came of a kernel in a cell.
type result struct {
	kernel  int
	cell    Cell
	outcome Outcome
	why     string
	example *Example // a wrong one without is doubtful
}

// errOver ends a hunt whose time is over.
var errOver = errors.New("the time of the hunt is over")

// Run hunts. When ctx ends, or the time is over, what was found so far is reported; only of the former there is an error.
func Run(ctx context.Context, o Options) (*Report, error) {
	if len(o.Cells) == 0 {
		return nil, errors.New("no compiler to hunt in")
	}
	o.Cells = slices.Clone(o.Cells)
	listed := map[*toolchain.Toolchain]*toolchain.Toolchain{}
	for i, c := range o.Cells {
		if listed[c.Toolchain] == nil {
			listed[c.Toolchain] = c.Toolchain.Listed()
		}
		o.Cells[i].Toolchain = listed[c.Toolchain]
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
	h := &hunter{o: o, start: time.Now(), rep: &Report{Seed: o.Seed, NotUnderstood: map[string]int{}, Messages: map[string]int{}}}
	for _, c := range o.Cells {
		h.rep.Compilers = append(h.rep.Compilers, c.String())
	}
	err := h.run(limited)
	if errors.Is(context.Cause(limited), errOver) {
		err = nil
	}
	h.rep.Seconds = time.Since(h.start).Seconds()
	h.rep.Causes = joined(h.rep.Causes)
	h.rep.Progress.Causes = len(h.rep.Causes)
	slices.SortStableFunc(h.rep.Causes, func(a, b *Cause) int { return cmp.Compare(len(b.Kernels), len(a.Kernels)) })
	return h.rep, err
}

// least is the smaller one of two numbers, of which the first may not be known.
func least(a, b int) int { return min(cmp.Or(a, b), b) }

type hunter struct {
	o     Options
	start time.Time
	rep   *Report
}

// run works on batches, several at once, and looks at them in their order.
func (h *hunter) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	free := make(chan struct{}, h.o.Jobs)
	var under []*batch
	var first error
	for next := 0; ; {
		for len(under) < window && ctx.Err() == nil && (h.o.Kernels == 0 || next < h.o.Kernels) {
			n := batchKernels
			if h.o.Kernels > 0 {
				n = min(n, h.o.Kernels-next)
			}
			b := h.begin(next, n)
			under, next = append(under, b), next+n
			all.Go(func() {
				defer close(b.done)
				select {
				case free <- struct{}{}:
					b.err = h.work(ctx, b)
					<-free
				case <-ctx.Done():
					b.err = context.Cause(ctx)
				}
			})
		}
		if len(under) == 0 {
			if first == nil {
				first = context.Cause(ctx)
			}
			return first
		}
		b := under[0]
		under = under[1:]
		<-b.done
		for _, err := range []error{h.look(b), b.err} {
			if err != nil && first == nil { // what the others have found is kept
				first = err
				cancel()
			}
		}
	}
}

// begin generates the kernels of a batch.
func (h *hunter) begin(first, n int) *batch {
	b := &batch{first: first, chip: h.o.Chip, done: make(chan struct{})}
	for i := range n {
		b.kernels = append(b.kernels, values.Generate(h.o.Seed, first+i, h.o.Generate))
	}
	for _, c := range h.rep.Causes {
		b.known = append(b.known, c.Example)
	}
	return b
}

// work judges the kernels of a batch in all cells.
func (h *hunter) work(ctx context.Context, b *batch) error {
	var list []*subject
	for _, k := range b.kernels {
		list = append(list, newSubject(k, fmt.Sprintf("k%d", k.Number), Inputs(k, h.o.Inputs)))
	}
	reduced := make([][]*Example, len(list)) // by kernel
	for _, c := range h.o.Cells {
		found, err := judge(ctx, c, list)
		if err != nil {
			return err
		}
		for i := range found {
			number := list[i].kernel.Number
			switch f := found[i].finding; {
			case found[i].outcome != Wrong:
				b.results = append(b.results, result{kernel: number, cell: c, outcome: found[i].outcome, why: found[i].why})
			case c.Level == "O0":
				b.results = append(b.results, result{kernel: number, cell: c, outcome: Wrong, why: fmt.Sprintf("%s: %s", f.Rule, f.Why)})
			default:
				if err := b.explain(ctx, c, list[i], found[i], &reduced[i]); err != nil {
					return err
				}
			}
		}
	}
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
	for _, s := range b.said {
		if r.Device == nil {
			r.Device = map[Said]int{}
		}
		r.Device[s]++
	}
	r.Progress.Causes, r.Seconds = len(r.Causes), time.Since(h.start).Seconds()
	if h.o.Progress != nil {
		h.o.Progress(r.Progress)
	}
	return nil
}

// add adds a wrong kernel to its cause.
func (h *hunter) add(x *result) error {
	i := slices.IndexFunc(h.rep.Causes, func(c *Cause) bool { return c.same(x.example.pattern) })
	fresh := i < 0
	if fresh {
		i = len(h.rep.Causes)
		h.rep.Causes = append(h.rep.Causes, &Cause{})
	}
	c := h.rep.Causes[i]
	c.join(&Cause{Where: []string{x.cell.String()}, Kernels: []int{x.kernel}, Example: x.example})
	if fresh && h.o.Found != nil {
		return h.o.Found(c)
	}
	return nil
}

// same reports whether a kernel with a pattern has the cause.
func (c *Cause) same(p pattern) bool {
	return c.Example.pattern.same(p)
}

// join adds what another cause has that is the same one. The example with fewer kinds of operations, then that with fewer
// statements, is that of both.
func (c *Cause) join(o *Cause) {
	for _, w := range o.Where {
		if !slices.Contains(c.Where, w) {
			c.Where = append(c.Where, w)
		}
	}
	for _, k := range o.Kernels {
		if !slices.Contains(c.Kernels, k) {
			c.Kernels = append(c.Kernels, k)
		}
	}
	size := func(e *Example) int { return 1000*len(e.pattern.source) + 100*len(e.pattern.machine) + e.Statements }
	if c.Example == nil || size(o.Example) < size(c.Example) {
		c.Example, c.Signature = o.Example, o.Example.pattern.String()
	}
}

// joined puts causes together that are the same since a smaller example was found.
func joined(list []*Cause) (out []*Cause) {
	for _, c := range list {
		if i := slices.IndexFunc(out, func(o *Cause) bool { return o.same(c.Example.pattern) }); i >= 0 {
			out[i].join(c)
			out = joined(out)
		} else {
			out = append(out, c)
		}
	}
	return out
}
