package exec

import (
	"context"
	"sync"

	"optcheck/litmus"
	"optcheck/model/cat"
	"optcheck/model/rel"
)

// Names of the relations that the search chooses.
const (
	nameRF   = "rf"
	nameCO   = "co"
	nameFR   = "fr"
	nameSF   = "sync_fence"
	nameFW   = "FW"
	nameSM   = "sm"
	bigSpace = 24 // default of Engine.deepFrom
)

// Signature lists the base sets and relations that the engine offers.
func Signature() cat.Signature {
	sig := cat.Signature{Sets: []string{nameFW}, Rels: []string{nameRF, nameCO, nameFR, nameSF}}
	for _, s := range setAttrs {
		sig.Sets = append(sig.Sets, s.name)
	}
	for _, r := range staticRels {
		sig.Rels = append(sig.Rels, r.name)
	}
	return sig
}

// CoMode says what coherence orders are.
type CoMode uint8

// The modes. Total: one line of writes per location. Partial: any strict
// partial order with the initial write first.
const (
	CoTotal CoMode = iota
	CoPartial
)

// Engine judges tests under one compiled model. It is safe for concurrent use.
type Engine struct {
	prog *cat.Program
	co   CoMode

	sets []setInput
	rels []relInput
	// Inputs chosen by the search, -1 where the model does not use them.
	rf, cor, fr, sf, fw int

	// eager chooses the order of the fences before everything else, lazy finds one where it is
	// needed; lazy is nil if the model does not permit that.
	eager, lazy *plans
	// Sizes of searches from which partial executions are evaluated, and from which their
	// consequences are derived.
	deepFrom, saturateFrom float64
	parts                  bool // the model tells the parts of an access
	workers                sync.Pool
}

type setInput struct {
	input int
	attr  uint64
}

type relInput struct {
	input int
	fill  func(*graph, rel.Rel)
}

// NewEngine prepares a compiled model. The program must have been compiled
// with Signature.
func NewEngine(p *cat.Program, co CoMode) *Engine {
	e := &Engine{prog: p, co: co, deepFrom: bigSpace, saturateFrom: saturateFrom}
	e.rf, e.cor, e.fr, e.sf, e.fw = p.Input(nameRF), p.Input(nameCO), p.Input(nameFR), p.Input(nameSF), p.Input(nameFW)
	e.parts = p.Input(nameSM) >= 0
	if !p.Flat() {
		return e
	}
	for _, s := range setAttrs {
		if i := p.Input(s.name); i >= 0 {
			e.sets = append(e.sets, setInput{i, s.attr})
		}
	}
	for _, r := range staticRels {
		if i := p.Input(r.name); i >= 0 {
			e.rels = append(e.rels, relInput{i, r.fill})
		}
	}
	e.eager = newPlans(p, false)
	if e.sf >= 0 && orderableLate(p) {
		e.lazy = newPlans(p, true)
	}
	return e
}

// Limits and requests of one judgement.
type Options struct {
	// Unroll bounds the backward jumps of each branch; 0 means 2.
	Unroll int
	// MaxCandidates bounds the evaluations of the model; 0 means 50 million.
	MaxCandidates uint64
	// Visit, if not nil, is called for every complete candidate, including forbidden ones;
	// nothing is given up early then. It returns false to stop. The candidate is only valid
	// during the call.
	Visit func(*Candidate) bool
	// AllOrders tries every partial coherence order, including those that the model is known to
	// forbid, so that Visit sees them.
	AllOrders bool
	// StatesOnly lets the search skip executions that cannot add a state; the counts of
	// witnesses are then lower bounds, and flags that only such executions raise are missing.
	StatesOnly bool
	// First ends the search at the first allowed execution.
	First bool
	// Blocked says how to treat executions in which a thread waits at a barrier forever.
	Blocked BlockedMode
	// Races asks whether two operations of some execution race: executions are left out whose pairs of
	// operations others have, too, and threads may stay in loops that wait. States mean nothing.
	Races bool
}

// BlockedMode is the treatment of executions in which some thread waits at a barrier forever
// while all others have ended or wait as well. Their state is the content of registers and
// memory at that point.
type BlockedMode uint8

// The modes. Dropped: such an execution has no final state. Counted: its state is one like any
// other.
const (
	BlockedDropped BlockedMode = iota
	BlockedCounted
)

// State is one final state with the number of executions that end in it.
type State struct {
	Values []int64 // of the program's terms, in order
	Count  uint64
	// Blocked counts those in which a thread waits at a barrier forever.
	Blocked uint64
}

// Result is the outcome of a judgement.
type Result struct {
	Terms  []litmus.Term
	States []State
	// Candidates counts complete candidates that the model evaluated, Partial the incomplete
	// ones, Skipped those counted by symmetry without evaluation.
	Candidates, Partial, Skipped uint64
	// Flags are the names of flags raised by some allowed execution.
	Flags []string
	// Cut is set if some path needs more unrolling; such paths are not outcomes. Blocked: in
	// some execution a thread waits at a barrier forever. Circular: executions were dropped
	// because values justify themselves.
	Cut, Blocked bool
	// Undecided says why the states may be incomplete, or is "".
	Undecided string
	Stopped   bool // Visit asked to stop, or the first execution was enough
}

// Run judges a compiled test.
func (e *Engine) Run(ctx context.Context, p *Program, o Options) (*Result, error) {
	if o.Unroll <= 0 {
		o.Unroll = 2
	}
	if o.MaxCandidates == 0 {
		o.MaxCandidates = 50_000_000
	}
	if err := p.shared(); err != nil {
		return nil, err
	}
	if e.parts {
		p = p.split()
	} else if err := p.entire(); err != nil {
		return nil, err
	}
	w, err := e.worker()
	if err != nil {
		return nil, err
	}
	defer e.workers.Put(w)
	return w.judge(ctx, p, o)
}

func (e *Engine) worker() (*worker, error) {
	if w, ok := e.workers.Get().(*worker); ok {
		return w, nil
	}
	w := &worker{e: e}
	if !e.prog.Flat() {
		w.rare = true
		return w, nil
	}
	m, err := e.prog.NewMachine(1)
	w.m = m
	return w, err
}

// shared rejects shared memory that threads of different CTAs access: every CTA has its own.
func (p *Program) shared() error {
	for l := range p.locs {
		if p.locs[l].space != litmus.Shared {
			continue
		}
		first := -1
		for t := range p.threads {
			for i := range p.threads[t].code {
				in := &p.threads[t].code[i]
				if !in.in.Op.IsAccess() || in.addr.reg >= 0 || in.addr.k != addrBase+int64(l)*addrStep {
					continue
				}
				if first < 0 {
					first = t
				}
				if !p.threads[first].place.SameScope(p.threads[t].place, litmus.ScopeCluster) {
					return posError(in.in.Pos, "%s is in shared memory, but threads %s and %s are in different CTAs",
						p.locs[l].name, p.Test.Threads[first].Name, p.Test.Threads[t].Name)
				}
			}
		}
	}
	return nil
}
