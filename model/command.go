package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"optcheck/litmus"
)

// Output selects what RunCommand writes for a test.
type Output uint8

// The outputs.
const (
	OutLog     Output = iota // herd's log
	OutStates                // the states alone
	OutExplain               // why the proposition can or cannot hold
	OutSVG                   // a picture of that
	OutDOT
	OutLISA // the test in herd's LISA dialect; no model is asked
)

// CommandOptions are the options of RunCommand.
type CommandOptions struct {
	Options
	Output Output
	// Jobs is the number of tests judged concurrently; 0 means one per core.
	Jobs int
	// NoTime omits the Time lines; Candidates adds lines with the numbers of candidates.
	NoTime, Candidates bool
	// JSON writes verdicts, and explanations with OutExplain, as JSON lines without times.
	JSON bool
}

// Summary counts what RunCommand did.
type Summary struct {
	Tests, Undecided, Failed int
	Max                      time.Duration // of one test
	Slowest                  string
}

// RunCommand judges tests in parallel and writes the results in input order. A test that cannot
// be judged does not stop the others; it returns all their errors together. Undecided tests are
// errors too (ErrUndecided), so that a caller that looks at the error alone never takes them
// for verdicts.
func (m *Model) RunCommand(ctx context.Context, tests []*litmus.Test, o CommandOptions, w io.Writer) (Summary, error) {
	var sum Summary
	if name := duplicate(tests); name != "" {
		return sum, fmt.Errorf("two tests have the name %s", name)
	}
	var errs []error
	err := inOrder(ctx, len(tests), o.Jobs, func(i int) result {
		return m.one(ctx, tests[i], o)
	}, func(i int, r result) error {
		sum.Tests++
		if r.took > sum.Max {
			sum.Max, sum.Slowest = r.took, tests[i].Name
		}
		if errors.Is(r.err, ErrUndecided) {
			sum.Undecided++
		} else if r.err != nil {
			sum.Failed++
		}
		if r.err != nil {
			errs = append(errs, r.err)
		}
		_, err := w.Write(r.out)
		return err
	})
	return sum, errors.Join(append(errs, err)...)
}

func duplicate(tests []*litmus.Test) string {
	seen := map[string]bool{}
	for _, t := range tests {
		if seen[t.Name] {
			return t.Name
		}
		seen[t.Name] = true
	}
	return ""
}

type result struct {
	out  []byte
	err  error
	took time.Duration
}

// inOrder calls f for 0…n-1 on several goroutines, and take on the results in order. It is an
// error if ctx ends.
func inOrder(ctx context.Context, n, jobs int, f func(int) result, take func(int, result) error) error {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	// Small tests take microseconds: each goroutine takes several at a time.
	chunk := max(1, min(16, n/(4*jobs)))
	blocks := (n + chunk - 1) / chunk
	jobs = max(1, min(jobs, blocks))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type slot struct {
		block   int
		results []result
	}
	todo, done := make(chan int), make(chan slot, jobs)
	window := make(chan struct{}, 16*jobs) // bounds the results that wait
	var wg sync.WaitGroup
	for range jobs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range todo {
				s := slot{block: k}
				for i := k * chunk; i < min(n, (k+1)*chunk) && ctx.Err() == nil; i++ {
					s.results = append(s.results, f(i))
				}
				done <- s
			}
		}()
	}
	go func() {
		defer close(todo)
		for k := range blocks {
			select {
			case window <- struct{}{}:
			case <-ctx.Done():
				return
			}
			todo <- k
		}
	}()
	go func() { wg.Wait(); close(done) }()
	waiting := map[int][]result{}
	block, next := 0, 0
	var failed error
	for s := range done {
		waiting[s.block] = s.results
		for list, ok := waiting[block]; ok; list, ok = waiting[block] {
			delete(waiting, block)
			for _, r := range list {
				if failed == nil {
					if failed = take(next, r); failed != nil {
						cancel()
					}
				}
				next++
			}
			block++
			<-window
		}
	}
	if failed == nil && next < n {
		failed = context.Cause(ctx)
	}
	return failed
}

// one judges one test.
func (m *Model) one(ctx context.Context, t *litmus.Test, o CommandOptions) (r result) {
	var b bytes.Buffer
	start := time.Now()
	err := m.render(ctx, t, o, &b, start)
	if err != nil && !strings.Contains(err.Error(), t.Name) {
		err = fmt.Errorf("test %s: %w", t.Name, err)
	}
	return result{b.Bytes(), err, time.Since(start)}
}

func (m *Model) render(ctx context.Context, t *litmus.Test, o CommandOptions, w io.Writer, start time.Time) error {
	if o.JSON {
		return m.renderJSON(ctx, t, o, w)
	}
	switch o.Output {
	case OutLISA:
		l, err := ToLISA(t)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, l.Text)
		return err
	case OutExplain, OutSVG, OutDOT:
		x, err := m.Explain(ctx, t, o.Options)
		if err != nil {
			return err
		}
		switch {
		case o.Output == OutExplain:
			err = x.WriteText(w)
		case o.Output == OutSVG:
			err = x.SVG(w)
		default:
			err = x.DOT(w)
		}
		if err == nil && x.Verdict.Undecided != "" {
			err = fmt.Errorf("test %s: %w: %s", t.Name, ErrUndecided, x.Verdict.Undecided)
		}
		return err
	}
	v, err := m.Judge(ctx, t, o.Options)
	if err != nil {
		return err
	}
	lo := LogOptions{StatesOnly: o.Output == OutStates, Time: time.Since(start), Candidates: o.Candidates}
	if o.NoTime {
		lo.Time = -1
	}
	if err := WriteLog(w, v, lo); err != nil {
		return err
	}
	if v.Undecided != "" {
		return fmt.Errorf("test %s: %w: %s", t.Name, ErrUndecided, v.Undecided)
	}
	return nil
}
