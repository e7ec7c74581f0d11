package machine

import (
	"errors"

	"optcheck/litmus"
	"optcheck/model/exec"
)

// settles are the rules of Settling: those of Asynchronous that tests without its words need, with another text where that one speaks of
// bytes, proxies or fences of some objects.
var settles = []struct {
	rule int
	text string
}{
	{asyncThin, ""},
	{asyncProgram, "what is settled before an access in its thread is in its past"},
	{asyncRelease, ""},
	{asyncReleaseLoc, "so does a strong store behind it to the same location"},
	{asyncReleaseFence, "a strong store behind a releasing fence hands on the fence's past"},
	{asyncAcquire, ""},
	{asyncAcquireLoc, "so does one behind a strong load of the same location, of that load"},
	{asyncAcquireFence, "an acquiring fence gets what the strong loads before it observe"},
	{asyncRed, ""},
	{asyncChain, ""},
	{asyncStrong, "only strong accesses, or a thread's own, whose scopes contain each other observe and hand on"},
	{asyncFence, ""},
	{asyncObserved, "a store is known to whoever has an access in its past that observes it"},
	{asyncFuture, "a store that settles keeps no promise to a load in its past"},
	{asyncStale, ""},
	{asyncCoherence, ""},
	{asyncRivals, ""},
	{asyncAtomic, "no store that is strong for both halves of an atomic arrives between them"},
}

// Settling returns a machine equivalent to the axioms ptx, without proxies and barriers: Asynchronous with few of its rules. First,
// loads take values from stores whose values are known: promises. Then each thread settles its accesses in program order; an access
// has a past, which synchronisation hands on, and must not contradict it. Last, stores arrive in memory, where only some overwrite
// others. The axiom sc-per-location has no rule: since PTX ISA 7.5 the others imply it.
func Settling(name string) *Model {
	m := &Model{Name: name, without: 1<<len(asyncRules) - 1, accepts: settleAccepts, run: runAsync}
	for _, s := range settles {
		r := asyncRules[s.rule]
		if s.text != "" {
			r.Text = s.text
		}
		m.Rules = append(m.Rules, r)
		m.numbers = append(m.numbers, s.rule)
		m.without &^= 1 << s.rule
	}
	return m
}

func settleAccepts(p *Program, e *Event) error {
	switch {
	case e.Kind == exec.Barrier:
		return errors.New("there are no barriers")
	case e.Proxy != litmus.ProxyGeneric || e.Loc >= 0 && e.Loc != e.VLoc:
		return errors.New("there is one proxy")
	}
	return nil
}
