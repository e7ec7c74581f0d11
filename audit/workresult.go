package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/optcheck"
	"optcheck/pipeline"
)

// kernel checks one compiled kernel for all cells that use it.
func (w *worker) kernel(ctx context.Context, unit int, code *pipeline.Code, fn *isa.Func) error {
	key := optcheck.CodeHash(fn, w.check.Consts)
	var machine *machineCode
	if w.a.o.Artefacts != nil || w.a.o.ControlCodes {
		machine = machineCodeOf(fn, w.a.o.ControlCodes)
	}
	for i, x := range w.users[unit] {
		test := w.test(x.cell)
		k := w.em.units[x.cell].Kernels[x.thread]
		names := locationNames(test)
		w.check.Locations = names
		p := &w.parts[x.cell][x.thread]
		p.code, p.machine = key, machine
		w.res.kernels++
		if w.a.plain {
			w.a.visit(kernelVisit{cell: &w.res.cells[x.cell], kernel: k, fn: fn, check: w.check})
			continue
		}
		if w.em.units[x.cell].Program {
			var err error
			if p.result, err = w.program(ctx, w.em.units[x.cell], w.em.of[x.cell][x.thread], x.thread, code); err != nil {
				return err
			}
			continue
		}
		p.result = w.a.cache.check(w.check, fn, key, k.Spec, names, w.a.lifting())
		if i == 0 {
			w.res.registers += p.result.hazards.Dependencies
		}
		if w.a.visit != nil {
			w.a.visit(kernelVisit{&w.res.cells[x.cell], k, fn, w.check, p.result.Result})
		}
	}
	return nil
}

// cell combines the results for the kernels of one cell.
func (w *worker) cell(i int) {
	c := &w.res.cells[i]
	class, reason := optcheck.Preserved, ""
	c.Findings, c.Notes = nil, nil
	code := sha256.New()
	if w.crashed(i) {
		return
	}
	for t, p := range w.parts[i] {
		if p.reason != "" && p.unsupported {
			w.set(i, optcheck.UnsupportedClass, p.reason)
			return
		}
		if p.reason != "" {
			w.set(i, optcheck.Unknown, p.reason)
			return
		}
		code.Write(p.code[:])
		r := p.result
		if w.a.plain {
			continue
		}
		if r == nil {
			return // not reached
		}
		if r.Class > class {
			class, reason = r.Class, fmt.Sprintf("T%d: %s", t, r.Reason)
		}
		if r.unsettled && class == optcheck.Preserved {
			class = optcheck.Changed
		}
		c.Findings = appendFindings(c.Findings, r.Findings)
		c.Notes = appendFindings(c.Notes, r.Notes)
	}
	c.Code = hex.EncodeToString(code.Sum(nil)[:8])
	switch {
	case class == optcheck.Preserved && w.a.judge == nil && w.undecided(i) != "":
		class, reason = optcheck.Unknown, w.undecided(i) // a model could decide
	case class != optcheck.Unknown:
		reason = ""
	}
	w.set(i, class, reason)
	if class == optcheck.Changed || w.a.o.KeepListings && class == optcheck.Preserved {
		w.list(i)
	}
	if class == optcheck.Preserved {
		w.look(i)
	}
}

// crashed gives a cell with a kernel at which the compiler crashes its class; false if it has none.
func (w *worker) crashed(i int) bool {
	c := &w.res.cells[i]
	for _, p := range w.parts[i] {
		if p.crash != nil {
			c.Class, c.Reason, c.Findings = event.Crashed, "", append(c.Findings, *p.crash)
		}
	}
	return c.Class == event.Crashed
}

// look identifies the memory instructions of a preserved cell and keeps their listing: two
// releases that both preserve a test may do it differently.
func (w *worker) look(i int) {
	sum := sha256.New()
	for _, p := range w.parts[i] {
		if p.result == nil {
			return // kernels without markers
		}
		sum.Write(p.result.look[:])
	}
	c := &w.res.cells[i]
	c.Look = hex.EncodeToString(sum.Sum(nil)[:8])
	if w.res.looks[c.Look] != nil {
		return
	}
	l := &event.Listing{Code: c.Look}
	for _, p := range w.parts[i] {
		l.Threads = append(l.Threads, threadListing(p.result.Result, nil).Bare())
	}
	w.res.looks[c.Look] = l
}

// undecided says what could not be compared in the threads of a cell, "" if everything was.
func (w *worker) undecided(i int) string {
	for t, p := range w.parts[i] {
		if p.result != nil && p.result.Undecided != "" {
			return fmt.Sprintf("T%d: %s", t, p.result.Undecided)
		}
	}
	return ""
}

// list keeps the listing of a cell.
func (w *worker) list(i int) {
	listing := &event.Listing{Code: w.res.cells[i].Code}
	for _, p := range w.parts[i] {
		listing.Threads = append(listing.Threads, threadListing(p.result.Result, p.machine))
	}
	w.res.listings[i] = listed{listing, sha256.Sum256(fmt.Append(nil, listing.Code, listing.Threads))}
}

func appendFindings(out []event.Finding, in []optcheck.Finding) []event.Finding {
	for _, f := range in {
		out = append(out, event.Finding{Rule: f.Rule, Thread: f.Thread, Access: f.Access, Detail: f.Detail, Order: f.Order})
	}
	return out
}

// threadListing returns the listing of a thread; code, which may be nil, has the control codes.
func threadListing(r *optcheck.Result, code *machineCode) event.ThreadListing {
	t := event.ThreadListing{Thread: r.Thread}
	for _, l := range r.Source {
		t.Source = append(t.Source, event.Line{Pos: l.Pos, Text: l.Text})
	}
	for _, l := range r.Machine {
		t.Machine = append(t.Machine, event.Line{Pos: l.Pos, Text: l.Text, Part: l.Part, Control: code.controlAt(l.Addr)})
	}
	return t
}
