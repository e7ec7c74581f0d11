package hazard

import (
	"fmt"
	"slices"

	"optcheck/internal/limits"
	"optcheck/isa"
	"optcheck/target"
)

// Finding is a dependency that nothing keeps: an instruction may read or overwrite a register while an earlier one is in flight.
type Finding struct {
	Kind     Kind
	From, To int // instructions of the function: the earlier and the later one
	Reg      isa.Reg
	More     []isa.Reg // further ones
	// Cycles is how long the second waits at least after the issue of the first, Need how long it must; Need is 0 if only a
	// scoreboard tells.
	Cycles, Need int
	// Settling tells that a DEPBAR has waited for the first, from which Cycles and Need count.
	Settling bool
	// Sure tells that the claim rests on a scoreboard, or that a chip gave wrong values with as many cycles; otherwise it rests
	// on what compilers leave, and nobody knows.
	Sure bool
}

// Rule is the name of the rule that is broken. A wait for a scoreboard that is not yet set waits for nothing.
func (f Finding) Rule() string {
	if f.Kind == SetWait {
		return "hazard-" + RAW.String()
	}
	return "hazard-" + f.Kind.String()
}

// timed tells that the claim rests on a latency. (Of operands that only a scoreboard tells to be read, Need is what compilers leave.)
func (f Finding) timed() bool { return f.Need > 0 && (f.Kind != WAR || f.Cycles < f.Need) }

// Missing says what is missing.
func (f Finding) Missing(fn *isa.Func) string {
	from, to := &fn.Insts[f.From], &fn.Insts[f.To]
	if f.Settling {
		return fmt.Sprintf("%s is issued %d cycles behind the DEPBAR that waits for %s at least, and needs %d", to.Text, f.Cycles, from.Text, f.Need)
	}
	if f.timed() {
		return fmt.Sprintf("%s is issued %d cycles after %s at least, and needs %d", to.Text, f.Cycles, from.Text, f.Need)
	}
	board := from.Control.Write
	if f.Kind == WAR {
		board = min(from.Control.Read, from.Control.Write)
	}
	if board >= scoreboards {
		return fmt.Sprintf("%s sets no scoreboard for which %s could wait", from.Text, to.Text)
	}
	return fmt.Sprintf("nothing waits for scoreboard %d of %s before %s", board, from.Text, to.Text)
}

// Result is what is known of the registers of a function.
type Result struct {
	Findings []Finding
	// Dependencies is the number of pairs of instructions and registers that were judged, of a function with many callers once.
	Dependencies int
	// Unjudged is the number of instructions whose operands are not known, Example the first.
	Unjudged int
	Example  string
	// Unknown says why nothing is known; empty if something is.
	Unknown string
}

// Check judges the dependencies of a function over registers. Its findings are in the order of the code, one for each pair of
// instructions and kind.
func Check(fn *isa.Func) Result { return check(fn, 0) }

// check judges a function; who waits for a scoreboard within so many cycles waits in vain.
func check(fn *isa.Func, vain int) Result {
	t, why := tableOf(fn)
	if t == nil {
		return Result{Unknown: why}
	}
	var r Result
	type pair struct {
		kind     Kind
		from, to int
	}
	found := map[pair]int{}
	ok := follow(fn, t, limits.Now().Steps, vain, func(d dep) {
		if !d.again {
			r.Dependencies++
		}
		if !d.open && d.kind != SetWait && (!d.fixed || d.cycles >= d.most) {
			return
		}
		need, broken, sure := t.judge(fn, d)
		if !broken {
			return
		}
		p := pair{d.kind, d.from, d.to}
		if i, again := found[p]; again {
			if f := &r.Findings[i]; f.Reg != d.reg && !slices.Contains(f.More, d.reg) {
				f.More = append(f.More, d.reg)
			}
			r.Findings[i].Cycles = min(r.Findings[i].Cycles, d.cycles)
			r.Findings[i].Sure = r.Findings[i].Sure || sure
			return
		}
		found[p] = len(r.Findings)
		r.Findings = append(r.Findings, Finding{Kind: d.kind, From: d.from, To: d.to, Reg: d.reg, Cycles: d.cycles, Need: need, Settling: d.settling, Sure: sure})
	})
	if !ok {
		return Result{Unknown: manyPaths}
	}
	for i := range fn.Insts {
		if in := &fn.Insts[i]; in.Role == isa.RoleUnknown {
			if r.Unjudged++; r.Example == "" {
				r.Example = in.Text
			}
		}
	}
	return r
}

const manyPaths = "its control flow has more paths than are followed"

// tableOf returns the table of a function's target, or says why there is none.
func tableOf(fn *isa.Func) (*table, string) {
	sm, _ := target.SM(fn.Arch)
	t := tables()[fmt.Sprintf("sm_%d", sm)]
	switch {
	case t == nil:
		return nil, "nothing is known of the latencies of " + fn.Arch
	case len(fn.Insts) > 0 && fn.Insts[0].Control.Kind != isa.ControlFields:
		return nil, "the control codes are not known"
	}
	return t, ""
}

// judge tells whether a dependency is broken, and how many cycles it needs; 0 if only a scoreboard tells. That is sure if a scoreboard
// would have to tell, or if a chip gave wrong values with as many cycles.
func (t *table) judge(fn *isa.Func, d dep) (need int, broken, sure bool) {
	if d.stale && !d.open { // the one that has written it since comes later, or that dependency is broken
		return 0, false, false
	}
	from, to := &fn.Insts[d.from], &fn.Insts[d.to]
	if d.kind == SetWait {
		return t.setWait, d.cycles < t.setWait, d.cycles <= t.harm["set-wait any.any any.any"]
	}
	if !d.open && !d.fixed {
		return 0, false, false
	}
	need, harm, known := t.need(d.kind, from, to, d.reg)
	switch {
	case d.settling:
		return int(t.countWait), true, d.cycles <= t.harm["count-wait any.any any.any"]
	case d.kind == WAW && !d.open && t.class(from) == t.class(to):
		return 0, false, false // one unit writes in order
	case d.kind == WAW && d.open && matrix(from.Op) && from.Op == to.Op:
		return 0, false, false // compilers rely on it, of any two sizes
	case d.open && d.kind == WAR && known && d.cycles >= need:
		return need, true, false // compilers have done so, and nobody knows why they may
	case d.open:
		return 0, true, !t.unannounced(from)
	}
	return need, known && d.cycles < need, d.cycles <= harm
}

// unannounced reports whether compilers leave out an instruction's scoreboard, as is done here: nobody knows when it has its result.
func (t *table) unannounced(in *isa.Inst) bool {
	return in.Control.Write >= scoreboards && t.is(t.class(in), bare)
}
