package cycle

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"optcheck/litmus"
)

// hows lists the annotations with which a kind's additions are made: like their neighbour (""),
// and in other ways that programs mix.
var hows = map[string][]string{
	"reload":     {"", "weak", "vol", "rlx.cta", "rlx.gpu", "ca", "cg", "cv", "acq.gpu"},
	"glance":     {"", "ca", "cv"},
	"readback":   {"", "weak", "vol", "rlx.gpu"},
	"overwrite":  {"", "weak", "vol", "rlx.gpu"},
	"rewrite":    {"", "weak", "vol", "rlx.gpu"},
	"restore":    {"", "weak", "vol"},
	"writeback":  {"", "weak", "vol"},
	"prestore":   {"", "weak"},
	"settle":     {"", "weak"},
	"settledata": {"", "vol"},
	"peek":       {"", "weak", "rlx.gpu", "rlx.sys"},
	"twin":       {"", "weak", "rlx.cta", "rlx.gpu", "vol"},
	"arms":       {"", "weak", "rlx.cta", "rlx.gpu", "vol"},
}

// named lists the kinds that are added only where they are named.
var named = []string{"racefree", "byte", "half", "bytes", "halves"}

// Opportunities lists what can be added to a test, each once: kinds (nil: all) at all events,
// slots and annotations. It includes those whose result cannot be specified in machine code:
// whoever emits kernels will report them.
func Opportunities(t *litmus.Test, kinds []string, yield func(Opportunity) bool) {
	if kinds == nil {
		kinds = slices.DeleteFunc(OpportunityKinds(), func(k string) bool { return slices.Contains(named, k) })
	}
	for _, name := range kinds {
		k := lookupKind(name)
		for th := range t.Threads {
			e := &editor{t: t, th: &t.Threads[th]}
			e.count()
			for at, i := range e.events {
				if in := &e.th.Body[i]; k.on(in) && !k.each(in, th, at, len(e.events), yield) {
					return
				}
			}
		}
	}
}

// each lists the opportunities of a kind at one event.
func (k *opportunityKind) each(in *litmus.Instr, thread, at, n int, yield func(Opportunity) bool) bool {
	from, to := -1, -1
	switch k.slots {
	case slotBefore:
		from, to = 0, at
	case slotBehind:
		from, to = at+1, n
	case slotAny:
		from, to = 0, n
	}
	list := hows[k.name]
	if list == nil {
		list = []string{""}
	}
	for _, how := range list {
		a, err := ParseAnn(how)
		if how == "" {
			a, err = Ann{}, nil
		}
		if err != nil {
			panic(err) // of a list in this file
		}
		op := k.adds
		if op == same {
			op = in.Op
		}
		if how != "" && a == (Opportunity{Kind: k.name}).alike(in, op) {
			continue // what it is without annotation
		}
		for slot := from; slot <= to; slot++ {
			if !yield(Opportunity{Kind: k.name, How: a, Plain: how == "weak", Thread: thread, Event: at, Slot: slot}) {
				return false
			}
		}
	}
	return true
}

// Crosses returns the synchronisation between an opportunity's event and its slot: mnemonics
// without type and state space, "nothing" for none.
func (o Opportunity) Crosses(t *litmus.Test) string {
	if k := lookupKind(o.Kind); k != nil && k.slots == slotFirst {
		o.Slot = 0
	}
	if o.Slot < 0 {
		return "nothing"
	}
	e := &editor{t: t, th: &t.Threads[o.Thread]}
	e.count()
	var list []string
	for i := min(o.Slot, o.Event+1); i < max(o.Slot, o.Event); i++ {
		if w := synchronises(&e.th.Body[e.events[i]]); w != "" {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, " ")
}

// synchronises names an instruction that orders others: fences, barriers, accesses that are not
// weak.
func synchronises(in *litmus.Instr) string {
	switch {
	case in.IsFence():
		return in.Mnemonic()
	case in.Op == litmus.OpBar:
		return "bar"
	case in.Atom != litmus.AtomNone:
		return strings.Join(append([]string{in.Op.String()}, order(in)...), ".")
	case in.Sem >= litmus.SemVolatile:
		return strings.Join(append([]string{in.Op.String()}, order(in)...), ".")
	}
	return ""
}

func order(in *litmus.Instr) (words []string) {
	if in.Sem != litmus.SemNone {
		words = append(words, in.Sem.String())
	}
	if in.Scope != litmus.ScopeNone {
		words = append(words, in.Scope.String())
	}
	return words
}

// Key returns what a preset and a hunt cover: the opportunity, its event, and the
// synchronisation between the two.
func (o Opportunity) Key(t *litmus.Test) string {
	e := &editor{t: t, th: &t.Threads[o.Thread], o: o}
	e.count()
	at := e.at()
	own := synchronises(at)
	if own == "" {
		own = at.Op.String()
	}
	return fmt.Sprintf("%s of %s across %s", o.what(), own, o.Crosses(t))
}

// pair is Key without strengths, scopes and other differences between synchronisations of one
// sort: reload across acquire; "" across none. For kinds that stay at their event it is the
// kind alone, and plain says that the event does not synchronise.
func (o Opportunity) pair(t *litmus.Test) (pair string, plain bool) {
	if lookupKind(o.Kind).slots == slotNone {
		e := &editor{t: t, th: &t.Threads[o.Thread], o: o}
		e.count()
		return o.Kind, sortOf(synchronises(e.at())) == ""
	}
	crossed, _, _ := strings.Cut(o.Crosses(t), " ")
	if s := sortOf(crossed); s != "" {
		return o.Kind + " across " + s, false
	}
	return "", false
}

// sortOf returns the sort of a synchronisation that synchronises returns, "" for an access that
// orders no others.
func sortOf(sync string) string {
	for _, s := range []string{"atom", "red", "bar", "fence", "membar"} {
		if what, _, _ := strings.Cut(sync, "."); what == s {
			return s
		}
	}
	for _, s := range []string{"acquire", "release"} {
		if strings.Contains(sync, s) {
			return s
		}
	}
	return ""
}

// allKinds stands for all kinds of opportunities in a configuration.
const allKinds = "all"

// composed yields the tests of the parts, each composed with opportunities. Among those with
// one key or pair, it keeps the ones whose hashes with the seed are least: as even as any
// choice, and made in one pass.
func (g *Generator) composed(dropped map[string]int, yield func(*Spec) bool) {
	most := g.config.PerKey + g.config.PerPair
	if most == 0 {
		g.compositions(dropped, func(c composition) bool {
			_, err := c.spec.composed()
			return err != nil || yield(c.spec)
		})
		return
	}
	kept := map[string][]composition{}
	g.compositions(dropped, func(c composition) bool {
		key, h := c.key, fnv.New64a()
		fmt.Fprint(h, g.config.Seed, c.number)
		c.hash = h.Sum64() >> 1
		if c.plain {
			c.hash |= 1 << 63
		}
		list := kept[key]
		if len(list) == most && list[len(list)-1].hash <= c.hash {
			return true
		}
		if _, err := c.spec.composed(); err != nil {
			return true
		}
		at, _ := slices.BinarySearchFunc(list, c, func(a, b composition) int { return cmp.Compare(a.hash, b.hash) })
		list = slices.Insert(list, at, c)
		kept[key] = list[:min(len(list), most)]
		return true
	})
	var all []composition
	for _, list := range kept {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b composition) int { return cmp.Compare(a.number, b.number) })
	seen := map[string]bool{} // if there are two ways to one test, the first counts
	for _, c := range all {
		if h := c.spec.Test().Hash(); !seen[h] {
			seen[h] = true
			if !yield(c.spec) {
				return
			}
		}
	}
}

// composition is a base with an opportunity that may not fit.
type composition struct {
	spec   *Spec
	key    string
	plain  bool // comes after others of its key
	number int  // in the order of generation
	hash   uint64
}

// compositions yields each base with each opportunity.
func (g *Generator) compositions(dropped map[string]int, yield func(composition) bool) {
	kinds, n := g.config.Opportunities, 0
	if kinds[0] == allKinds {
		kinds = nil
	}
	g.bases(dropped, func(base *Spec) bool {
		t, more := base.Test(), true
		turns := base.symmetries()
		Opportunities(t, kinds, func(o Opportunity) bool {
			if slices.ContainsFunc(turns, func(r int) bool { return (o.Thread+len(t.Threads)-r)%len(t.Threads) < o.Thread }) {
				return true // the same at another thread
			}
			s := *base
			s.Opportunities = []Opportunity{o}
			n++
			c := composition{spec: &s, number: n}
			if g.config.PerPair > 0 {
				c.key, c.plain = o.pair(t)
			} else {
				c.key = o.Key(t)
			}
			more = c.key == "" || yield(c)
			return more
		})
		return more
	})
}
