package cycle

import (
	"fmt"
	"slices"

	"optcheck/litmus"
	"optcheck/spec"
)

// maxEdges bounds the edges of one cycle.
const maxEdges = 64

// Cycle is a closed cycle of edges. Edge i leads from event i to event i+1, the last one back
// to event 0. Threads are the maximal runs of edges that stay in a thread; event 0 begins the
// first thread.
type Cycle struct {
	Edges []Edge
	Ann   []Ann // of each event

	start  []int   // first event of each thread
	thread []int   // of each event
	loc    []int   // of each event
	locs   int     // number of locations
	writes []int   // number of writes of each location
	value  []int64 // a write's value, and rank in its location's coherence order; what a read reads
	pinned []bool  // the read's value is part of the outcome
}

// Threads returns the number of threads.
func (c *Cycle) Threads() int { return len(c.start) }

// dir returns what event i does.
func (c *Cycle) dir(i int) Dir {
	n := len(c.Edges)
	return c.Edges[(i+n-1)%n].Dst
}

// span returns the events of a thread: from inclusive, to exclusive.
func (c *Cycle) span(t int) (from, to int) {
	if t+1 < len(c.start) {
		return c.start[t], c.start[t+1]
	}
	return c.start[t], len(c.Edges)
}

// CloseError says why edges do not form a cycle. Edge counts from 0; it is -1 if no single edge
// is to blame.
type CloseError struct {
	Edge   int
	Name   string
	Reason string
}

// Error implements error.
func (e *CloseError) Error() string {
	if e.Edge < 0 {
		return "the edges form no cycle: " + e.Reason
	}
	return fmt.Sprintf("edge %d (%s): %s", e.Edge+1, e.Name, e.Reason)
}

// New closes a cycle of edges; ann[i] belongs to the event at which edge i
// starts, and a nil ann makes all accesses plain. The edges may begin anywhere
// in the cycle: the result is rotated so that event 0 begins a thread. Errors
// are of type *CloseError.
func New(edges []Edge, ann []Ann) (*Cycle, error) {
	if ann == nil {
		ann = make([]Ann, len(edges))
	}
	if len(edges) < 2 || len(edges) > maxEdges || len(ann) != len(edges) {
		return nil, &CloseError{-1, "", fmt.Sprintf("it has %d edges (2 to %d)", len(edges), maxEdges)}
	}
	if err := fit(edges, ann); err != nil {
		return nil, err
	}
	if err := closes(edges); err != nil {
		return nil, err
	}
	// Begin after an edge that ends a thread.
	k := len(edges) - 1
	for k > 0 && !ends(edges, k) {
		k--
	}
	c := &Cycle{Edges: rotate(edges, k+1), Ann: rotate(ann, k+1)}
	if err := c.lay(); err != nil {
		return nil, err
	}
	return c, nil
}

func rotate[T any](s []T, k int) []T {
	return append(slices.Clone(s[k%len(s):]), s[:k%len(s)]...)
}

// ends reports whether edge i is the last of its thread: it leaves the thread or, in a cycle
// within one thread, it is the communication that leads back.
func ends(edges []Edge, i int) bool {
	if edges[i].Ext {
		return true
	}
	for _, e := range edges {
		if e.Ext {
			return false
		}
	}
	return edges[i].Com()
}

// fit checks that neighbouring edges agree on the access between them.
func fit(edges []Edge, ann []Ann) error {
	for i, e := range edges {
		prev := edges[(i+len(edges)-1)%len(edges)]
		if !e.wellFormed() {
			return &CloseError{i, e.String(), fmt.Sprintf("it cannot lead from a %s to a %s", word(e.Src), word(e.Dst))}
		}
		if !joins(prev, e, ann[i]) {
			return &CloseError{i, e.String(), fmt.Sprintf("it starts in a %s, but %v ends in a %s", word(e.Src), prev, word(prev.Dst))}
		}
		if ann[i].Copy && prev.order() {
			return &CloseError{i, e.String(), fmt.Sprintf("%v orders nothing before a copy", prev)}
		}
		if err := ann[i].allowed(prev.Dst); err != nil {
			return &CloseError{i, e.String(), "the access at which it starts: " + err.Error()}
		}
	}
	return nil
}

// wellFormed reports whether the edge's kind has its directions.
func (e Edge) wellFormed() bool {
	switch e.Kind {
	case Addr, Ctrl:
		return e.Src == Read
	case Data, Fr:
		return e.Src == Read && e.Dst == Write
	case Rf:
		return e.Src == Write && e.Dst == Read
	case Co:
		return e.Src == Write && e.Dst == Write
	}
	return true
}

// joins reports whether next can follow prev through an access with this annotation. A
// dependency starts in a read; the read half of an atomic write counts.
func joins(prev, next Edge, a Ann) bool {
	dep := next.Kind == Addr || next.Kind == Data || next.Kind == Ctrl
	return prev.Dst == next.Src || dep && prev.Dst == Write && a.Atom != litmus.AtomNone
}

func word(d Dir) string {
	if d == Read {
		return "read"
	}
	return "write"
}

// closes checks that threads and locations return to where they began.
func closes(edges []Edge) error {
	ext, dif, order := []int{}, []int{}, []int{}
	for i, e := range edges {
		if e.Ext {
			ext = append(ext, i)
		}
		if !e.Same {
			dif = append(dif, i)
		}
		if !e.Com() {
			order = append(order, i)
		}
	}
	switch {
	case len(order) == 0:
		return &CloseError{-1, "", "communications alone contradict each other; at least one edge must be program order"}
	case len(ext) == 1:
		return &CloseError{ext[0], edges[ext[0]].String(), "it is the only edge between threads, so nothing leads back to its first thread"}
	case len(dif) == 1:
		return &CloseError{dif[0], edges[dif[0]].String(), "it is the only edge between locations, so nothing leads back to its first location"}
	case len(ext) == 0 && (len(edges) != 2 || len(order) != 1):
		return &CloseError{order[0], edges[order[0]].String(), "no edge leaves the thread, and program order does not come back"}
	case len(ext) > spec.MaxThreads:
		return &CloseError{ext[spec.MaxThreads], edges[ext[spec.MaxThreads]].String(),
			fmt.Sprintf("it begins thread %d; tests have at most %d", spec.MaxThreads+1, spec.MaxThreads)}
	case len(dif) > spec.MaxLocations:
		return &CloseError{dif[spec.MaxLocations], edges[dif[spec.MaxLocations]].String(),
			fmt.Sprintf("it needs location %d; tests have at most %d", spec.MaxLocations+1, spec.MaxLocations)}
	}
	return nil
}

// lay assigns threads, locations and values.
func (c *Cycle) lay() error {
	n := len(c.Edges)
	c.thread, c.loc = make([]int, n), make([]int, n)
	c.value, c.pinned = make([]int64, n), make([]bool, n)
	c.start = []int{0}
	for i := 0; i < n-1; i++ {
		if c.Edges[i].Ext {
			c.start = append(c.start, i+1)
		}
		c.thread[i+1] = len(c.start) - 1
	}
	first := -1 // the edge after which coherence orders are walked
	for i := 0; i < n; i++ {
		if !c.Edges[i].Same {
			c.locs++
			if first < 0 {
				first = i
			}
		}
	}
	if c.locs == 0 {
		c.locs = 1
		first = c.cut()
	}
	c.nameLocations(first)
	c.writes = make([]int, c.locs)
	return c.walk(first)
}

// cut returns the edge of program order at which a cycle on one location is opened to order its
// events: the one from which the edges compare least, so that the choice does not depend on
// where the cycle begins.
func (c *Cycle) cut() int {
	var at []int
	for i, e := range c.Edges {
		if !e.Com() {
			at = append(at, i)
		}
	}
	return least(at, func(i int) []uint32 {
		return append(rotate(c.edgeKey(), i), rotate(c.annKey(), i)...)
	})[0]
}

// nameLocations numbers locations in the order of their first event.
func (c *Cycle) nameLocations(first int) {
	n := len(c.Edges)
	run, cur := make([]int, n), 0
	for k := range n {
		i := (first + 1 + k) % n
		run[i] = cur
		if !c.Edges[i].Same {
			cur++
		}
	}
	number := make(map[int]int, c.locs)
	for i := range n {
		if _, ok := number[run[i]]; !ok {
			number[run[i]] = len(number)
		}
		c.loc[i] = number[run[i]]
	}
}

// walk goes through the events from after edge first, where a run of one
// location begins, so that the order of the walk is the coherence order that
// the cycle asks for.
func (c *Cycle) walk(first int) error {
	n := len(c.Edges)
	for k := range n {
		i := (first + 1 + k) % n
		l := c.loc[i]
		if c.dir(i) == Write {
			c.writes[l]++
			c.value[i] = int64(c.writes[l])
			continue
		}
		in, out := c.Edges[(i+n-1)%n], c.Edges[i]
		c.value[i] = int64(c.writes[l])
		c.pinned[i] = in.Kind == Rf || out.Kind == Fr
	}
	return c.implied()
}

// implied checks that the outcome shows every communication of the cycle: what
// a read returned is in the outcome; that a write overwrites another is shown
// by the location's final value, by a read of the initial state, or by an atomic
// that returned the value which it overwrote.
func (c *Cycle) implied() error {
	n := len(c.Edges)
	for i, e := range c.Edges {
		if e.Kind != Fr && e.Kind != Co {
			continue
		}
		j := (i + 1) % n
		from, to := c.value[i], c.value[j]
		ok := from == 0 || to == int64(c.writes[c.loc[j]]) || c.Ann[j].Atom != litmus.AtomNone && from == to-1
		if !ok {
			return &CloseError{i, e.String(), fmt.Sprintf("%d writes go to one location, and the final state does not show that this one comes before the next", c.writes[c.loc[j]])}
		}
	}
	return nil
}
