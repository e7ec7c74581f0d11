package hunt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/spec"
)

// The levels of a signature.
const (
	AtO0      = "O0"
	Optimised = "O1+" // any level above O0
)

// follows lists rules that mostly say once more what happened to an access, and what
// it is then: a load that is merged has lost its condition, too.
var follows = map[string][]string{
	optcheck.ControlChanged.ID:    {optcheck.Merged.ID, optcheck.Missing.ID},
	optcheck.WidthChanged.ID:      {optcheck.Merged.ID},
	optcheck.WitnessesDisagree.ID: {optcheck.Merged.ID, optcheck.Missing.ID},
	optcheck.DependencyBroken.ID:  {optcheck.Merged.ID, optcheck.Missing.ID, optcheck.ValueChanged.ID},
}

// What says what is found in a cell of a test: what Row.What has of it, with known
// findings.
func What(t *litmus.Test, c *event.Cell) []string {
	return what(t, c, func(*event.Finding, bool) bool { return false })
}

// what says what is found in a cell, one text for each finding: the rule, kinds and
// orders of the accesses that it speaks of, and the synchronisation that stands
// between them. Names, scopes, values, registers, machine instructions and the place in the
// matrix are left out, so that equal texts are one effect. skip says which findings to
// leave out; it is told whether something that orders stands between the accesses.
func what(t *litmus.Test, c *event.Cell, skip func(f *event.Finding, crosses bool) bool) []string {
	specs := map[int]*spec.Spec{}
	var out []string
	for i := range c.Findings {
		f := &c.Findings[i]
		if followsFrom(c, f) {
			continue
		}
		s, ok := specs[f.Thread]
		if !ok && f.Thread >= 0 && f.Thread < len(t.Threads) {
			s, _ = spec.FromTest(t, f.Thread, spec.Layouts[0])
			specs[f.Thread] = s
		}
		if !skip(f, crosses(s, f)) {
			out = append(out, sentence(s, f))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// followsFrom reports whether another finding of the same access says it all.
func followsFrom(c *event.Cell, f *event.Finding) bool {
	return slices.ContainsFunc(c.Findings, func(x event.Finding) bool {
		return x.Thread == f.Thread && slices.Contains(follows[f.Rule], x.Rule) &&
			(x.Access == f.Access || slices.Contains(positions(&x), f.Access))
	})
}

// position matches how details write accesses and fences: #2 ld.global [x].
var position = regexp.MustCompile(`#(\d+) [a-z]`)

// positions lists those that a finding speaks of, in the order of its text.
func positions(f *event.Finding) (list []int) {
	for _, m := range position.FindAllStringSubmatch(f.Detail, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	if len(list) == 0 && f.Access >= 0 {
		list = append(list, f.Access)
	}
	return list
}

// sentence is the text of one finding; s is nil if its thread is not known.
func sentence(s *spec.Spec, f *event.Finding) string {
	var b strings.Builder
	b.WriteString(f.Rule)
	if f.Stage != "" {
		fmt.Fprintf(&b, " (%s)", f.Stage)
	}
	if s == nil {
		return b.String()
	}
	list := involved(s, f)
	var words []string
	for _, p := range list {
		w := strength(&s.Entries[p])
		if s.Entries[p].Unread && f.Rule != optcheck.Reordered.ID && f.Rule != optcheck.DependencyBroken.ID {
			w += " (unread)"
		}
		if !slices.Contains(words, w) || len(list) == 2 {
			words = append(words, w)
		}
	}
	if len(words) > 1 {
		slices.Sort(words[1:]) // the first one is what it happens to
	}
	if len(words) > 0 {
		b.WriteString(" " + strings.Join(words, ", "))
	}
	if oneLocation(s, list) {
		b.WriteString(" of one location")
	} else if f.Rule == optcheck.Merged.ID {
		b.WriteString(" of two locations")
	}
	if between := between(s, list); len(between) > 0 {
		b.WriteString(" across " + strings.Join(between, ", "))
	}
	return b.String()
}

// involved lists the positions of what a finding is about.
func involved(s *spec.Spec, f *event.Finding) []int {
	list := slices.DeleteFunc(positions(f), func(p int) bool { return p >= len(s.Entries) })
	if f.Rule == optcheck.Missing.ID && len(list) == 1 {
		list = append(list, overwriting(s, list[0])...)
	}
	return list
}

// crosses reports whether something that orders other accesses stands between those
// that a finding is about: a fence, a barrier, an acquire or a release.
func crosses(s *spec.Spec, f *event.Finding) bool {
	if s == nil {
		return false
	}
	list := involved(s, f)
	if len(list) < 2 {
		return false
	}
	return slices.ContainsFunc(s.Entries[slices.Min(list)+1:slices.Max(list)], func(e spec.Entry) bool {
		return e.IsFence() || e.Kind.Sem == litmus.SemAcquire || e.Kind.Sem == litmus.SemRelease || e.Kind.Sem == litmus.SemAcqRel
	})
}

// overwriting is the store that makes a store dead: the next one to its location.
func overwriting(s *spec.Spec, p int) []int {
	for i := p + 1; i < len(s.Entries) && s.Entries[p].Writes(); i++ {
		if oneLocation(s, []int{p, i}) && s.Entries[i].Writes() {
			return []int{i}
		}
	}
	return nil
}

// oneLocation reports whether several entries are accesses of one location.
func oneLocation(s *spec.Spec, list []int) bool {
	return len(list) > 1 && !slices.ContainsFunc(list, func(p int) bool {
		return s.Entries[p].IsFence() || s.Entries[p].Loc != s.Entries[list[0]].Loc
	})
}

// strength spells kind and strength of an entry. Hints to caches and scopes are left
// out: with them there would be a signature for every pair of scopes.
func strength(e *spec.Entry) string {
	k := e.Kind
	k.Cache, k.Scope = litmus.CacheNone, litmus.ScopeNone
	return strings.TrimSuffix(k.String(), ".")
}

// between lists the synchronisation that stands between the first and the last of some
// positions, each kind once.
func between(s *spec.Spec, list []int) (words []string) {
	if len(list) < 2 {
		return nil
	}
	for i := slices.Min(list) + 1; i < slices.Max(list); i++ {
		e := &s.Entries[i]
		if slices.Contains(list, i) || !synchronises(e) {
			continue
		}
		if w := strength(e); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// synchronises reports whether an entry can order others: a fence, a barrier, an
// access that is not weak.
func synchronises(e *spec.Entry) bool {
	return e.IsFence() || e.Kind.Op == litmus.OpBar || e.Kind.Atom != litmus.AtomNone || e.Kind.Sem != litmus.SemNone
}

// levelOf is the level of a signature.
func levelOf(c *event.Cell) string {
	if c.Level == "O0" {
		return AtO0
	}
	return Optimised
}

// reasonShape is a reason without what differs from cell to cell: numbers, and of
// machine instructions everything but the operation.
func reasonShape(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return digits.ReplaceAllString(machine.ReplaceAllString(s, "$1 at"), "N")
}

var (
	machine = regexp.MustCompile(`(?:@!?U?P\w+ )?\b([A-Z]{2,}[A-Z0-9]*)\b[^:]*? at\b`)
	digits  = regexp.MustCompile(`0x[0-9a-f]+|\b\d+`)
)
