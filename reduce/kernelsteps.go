package reduce

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/ptx"
)

type kernelStep = stepOf[*Kernel]

// chunks lists the removals of so many statements in a row.
func (k *Kernel) chunks(n int) (list []kernelStep) {
	var ids []int
	for _, s := range k.body[:max(0, len(k.body)-1)] {
		if !s.made || n == 1 {
			ids = append(ids, s.id)
		}
	}
	for part := range slices.Chunk(ids, n) {
		gone := map[int]bool{}
		for _, id := range part {
			gone[id] = true
		}
		name := fmt.Sprintf("without %d statements from %s on", len(part), k.at(part[0]).text)
		if len(part) == 1 {
			name = "without " + k.at(part[0]).text
		}
		list = append(list, kernelStep{part: "instructions", name: name, apply: func(k *Kernel) bool { return k.remove(gone) }})
	}
	return list
}

func (k *Kernel) at(id int) *statement {
	for i := range k.body {
		if k.body[i].id == id {
			return &k.body[i]
		}
	}
	return nil
}

// remove removes instructions. A register of theirs that others still read gets a value that
// tells nothing: a parameter of its own if it is an address, else 0.
func (k *Kernel) remove(gone map[int]bool) bool {
	r := k.read()
	if r == nil {
		return false
	}
	uses, defs := map[int]bool{}, map[int]bool{}
	for i, st := range r.f.Body {
		if st.Inst != nil && !gone[k.body[i].id] {
			for _, u := range st.Inst.Uses() {
				uses[u] = true
			}
			for _, d := range st.Inst.Defines() {
				defs[d] = true
			}
		}
	}
	addresses := r.addresses()
	var body []statement
	changed := false
	for i, st := range r.f.Body {
		s, in := k.body[i], st.Inst
		if in == nil || !gone[s.id] {
			body = append(body, s)
			continue
		}
		if d := in.Defines(); len(d) == 1 && !defs[d[0]] && (s.made || in.Name == "ld" && in.Has("param") && addresses[d[0]]) {
			body = append(body, s) // that is what would take its place
			continue
		}
		changed = true
		for _, d := range in.Defines() {
			if uses[d] && !defs[d] {
				defs[d] = true
				body = append(body, k.value(r, d, addresses[d]))
			}
		}
	}
	k.body = body
	return changed
}

// value gives a register a value that tells nothing.
func (k *Kernel) value(r *reading, reg int, address bool) statement {
	name, typ := r.name(reg), r.f.Regs[reg].Type
	switch {
	case address:
		p := fmt.Sprint("q", k.made)
		k.params = append(k.params, declaration{[]string{p}, ".param ." + typ + " " + p})
		return k.statement(fmt.Sprintf("ld.param.%s %s, [%s]", typ, name, p), true)
	case typ == "f32":
		return k.statement(fmt.Sprintf("mov.f32 %s, 0f00000000", name), true)
	case typ == "f64":
		return k.statement(fmt.Sprintf("mov.f64 %s, 0d0000000000000000", name), true)
	}
	return k.statement(fmt.Sprintf("mov.%s %s, 0", typ, name), true)
}

// mend gives values at the beginning to the registers that a step has left without on some
// path. It returns false if there are other new flaws.
func (k *Kernel) mend() bool {
	fresh := k.fresh()
	if len(fresh) == 0 {
		return true
	}
	r := k.read()
	if r == nil {
		return false
	}
	addresses := r.addresses()
	for _, reg := range r.undefined() {
		if slices.Contains(fresh, r.name(reg)) {
			k.body = append([]statement{k.value(r, reg, addresses[reg])}, k.body...)
		}
	}
	return len(k.fresh()) == 0
}

// addresses are the registers that hold addresses, as far as copies and sums tell.
func (r *reading) addresses() map[int]bool {
	out := map[int]bool{}
	for _, st := range r.f.Body {
		if st.Inst == nil {
			continue
		}
		for _, a := range st.Inst.Args {
			if a.Kind == ptx.Mem && a.Elems[0].Kind == ptx.Reg {
				out[a.Elems[0].Reg] = true
			}
		}
	}
	wide := func(reg int) string { return strings.TrimLeft(r.f.Regs[reg].Type, "busf") }
	for again := true; again; {
		again = false
		for _, st := range r.f.Body {
			in := st.Inst
			if in == nil || !slices.Contains([]string{"mov", "cvta", "add", "sub", "selp", "mad"}, in.Name) {
				continue
			}
			for _, d := range in.Defines() {
				for _, a := range in.Args[1:] {
					if out[d] && a.Kind == ptx.Reg && !out[a.Reg] && wide(a.Reg) == wide(d) && r.f.Regs[a.Reg].Type != "pred" {
						out[a.Reg], again = true, true
					}
				}
			}
		}
	}
	return out
}

// fine lists the steps that change single instructions.
func (k *Kernel) fine() (list []kernelStep) {
	r := k.read()
	if r == nil {
		return nil
	}
	add := func(name string, apply func(*Kernel) bool) {
		list = append(list, kernelStep{part: "instructions", name: name, apply: apply})
	}
	for i, st := range r.f.Body {
		s, in := k.body[i], st.Inst
		if in == nil {
			continue
		}
		if in.Guard >= 0 {
			add("unguarded "+s.text, onStatement(s.id, func(s *statement) bool {
				guard, op, operands := taken(s.text)
				s.text = op + " " + operands
				return guard != ""
			}))
		}
		if len(in.Defines()) == 1 && idle(in) && in.Args[0].Kind == ptx.Reg {
			for n := range in.Args[1:] {
				add(fmt.Sprintf("operand %d for %s", n+1, s.text), func(k *Kernel) bool { return k.bypass(s.id, n+1) })
			}
		}
		if offset.MatchString(s.text) && !(in.Name == "ld" && in.Has("param")) {
			add("no offset "+s.text, onStatement(s.id, func(s *statement) bool {
				s.text = offset.ReplaceAllString(s.text, "$1]")
				return true
			}))
		}
		if in.Has("v2", "v4", "v8") && in.Effect().Kind.IsAccess() {
			add("one word of "+s.text, onStatement(s.id, func(s *statement) bool {
				text := vectorWords.ReplaceAllString(vectorMod.ReplaceAllString(s.text, ""), "$1")
				changed := text != s.text
				s.text = text
				return changed
			}))
		}
	}
	if k.directives != "" {
		add("without "+strings.Join(strings.Fields(k.directives), " "), func(k *Kernel) bool { k.directives = ""; return true })
	}
	return list
}

var (
	offset      = regexp.MustCompile(`(\[[^\]+]*)\+-?\w+\]`)
	vectorMod   = regexp.MustCompile(`\.v[248]\b`)
	vectorWords = regexp.MustCompile(`\{\s*([^,{}]+),[^{}]*\}`)
)

func onStatement(id int, change func(*statement) bool) func(*Kernel) bool {
	return func(k *Kernel) bool {
		s := k.at(id)
		return s != nil && change(s)
	}
}

// bypass removes an instruction that computes, and puts an operand in the place of its result.
func (k *Kernel) bypass(id, n int) bool {
	s := k.at(id)
	if s == nil {
		return false
	}
	_, _, operands := taken(s.text)
	words := strings.Split(operands, ",")
	if n >= len(words) || strings.ContainsAny(operands, "{}[]()|!") {
		return false
	}
	to := map[string]string{strings.TrimSpace(words[0]): strings.TrimSpace(words[n])}
	k.body = slices.DeleteFunc(k.body, func(s statement) bool { return s.id == id })
	for i := range k.body {
		k.body[i].text = inNames(k.body[i].text, to)
	}
	return true
}
