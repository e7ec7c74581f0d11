package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"optcheck/event"
)

// Disturbance says whether the markers changed the code that they specify.
type Disturbance struct {
	Kernels   int             `json:"kernels"` // compared
	Disturbed []DisturbedCell `json:"disturbed"`
}

// DisturbedCell is a kernel whose accesses differ with and without markers.
type DisturbedCell struct {
	Test      string   `json:"test"`
	Toolchain string   `json:"toolchain"`
	Target    string   `json:"target"`
	Level     string   `json:"level"`
	Layout    string   `json:"layout"`
	Thread    int      `json:"thread"`
	Marked    []string `json:"with_markers"`
	Plain     []string `json:"without_markers"`
}

// Disturb compiles the matrix with and without markers and compares the sequences of accesses.
// It does not compare cells that are undecided in either run.
func Disturb(ctx context.Context, o Options) (*Disturbance, error) {
	marked, order, err := sequences(ctx, o, false)
	if err != nil {
		return nil, err
	}
	plain, _, err := sequences(ctx, o, true)
	if err != nil {
		return nil, err
	}
	d := &Disturbance{}
	for _, k := range order {
		p, ok := plain[k]
		if !ok {
			continue
		}
		d.Kernels++
		if !slices.Equal(marked[k], p) {
			d.Disturbed = append(d.Disturbed, DisturbedCell{Test: k.test, Toolchain: k.toolchain, Target: k.target, Level: k.level,
				Layout: k.layout, Thread: k.thread, Marked: marked[k], Plain: p})
		}
	}
	return d, nil
}

type kernelKey struct {
	test, toolchain, target, level, layout string
	thread                                 int
}

// sequences compiles the matrix once and lists the accesses of every kernel.
func sequences(ctx context.Context, o Options, plain bool) (map[kernelKey][]string, []kernelKey, error) {
	jobs, err := o.plan()
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	seqs := map[kernelKey][]string{}
	var failed error
	o.NoVerdict = true
	a := newAuditor(o, event.NewRun())
	a.plain = plain
	a.total = o.cells(jobs)
	a.visit = func(v kernelVisit) {
		s, err := v.check.Accesses(v.fn, v.kernel.OutParam)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed = fmt.Errorf("%s: %w", v.fn.Name, err)
			return
		}
		seqs[keyOf(v)] = s
	}
	if err := a.run(ctx, jobs); err != nil {
		return nil, nil, err
	}
	if failed != nil {
		return nil, nil, failed
	}
	order := make([]kernelKey, 0, len(seqs))
	for k := range seqs {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b kernelKey) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return seqs, order, nil
}

func keyOf(v kernelVisit) kernelKey {
	return kernelKey{v.cell.Test, v.cell.Toolchain, v.cell.Target, v.cell.Level, v.cell.Layout, v.kernel.Thread}
}
