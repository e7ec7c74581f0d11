package cycle

import "optcheck/litmus"

// mixes are the strengths and scopes that a program may give an access beside others of the
// same location, by the access's operation.
var mixes = map[litmus.Op][]string{
	litmus.OpLd: {"weak", "vol", "rlx.cta", "rlx.gpu", "rlx.sys", "acq.cta", "acq.gpu", "acq.sys"},
	litmus.OpSt: {"weak", "vol", "rlx.cta", "rlx.gpu", "rlx.sys", "rel.cta", "rel.gpu", "rel.sys"},
}

// Mixed lists the opportunity in every strength and scope, those included that Opportunities leaves
// out; nothing if what it adds takes no annotation.
func (o Opportunity) Mixed(t *litmus.Test) (list []Opportunity) {
	op := lookupKind(o.Kind).adds
	if op == same {
		e := &editor{t: t, th: &t.Threads[o.Thread], o: o}
		e.count()
		op = e.at().Op
	}
	for _, how := range mixes[op] {
		o.How, o.Plain = annWords[how], how == "weak"
		list = append(list, o)
	}
	return list
}

// Beside returns the fence next to the place where an access is added, "" for none.
func (o Opportunity) Beside(t *litmus.Test) string {
	e := &editor{t: t, th: &t.Threads[o.Thread]}
	e.count()
	for _, i := range []int{o.Slot - 1, o.Slot} {
		if o.Slot >= 0 && i >= 0 && i < len(e.events) && e.th.Body[e.events[i]].IsFence() {
			return e.th.Body[e.events[i]].Mnemonic()
		}
	}
	return ""
}
