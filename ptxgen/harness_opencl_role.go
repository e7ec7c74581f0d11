package ptxgen

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// clRole is the code of one thread of an OpenCL C harness.
type clRole struct {
	*body
	c *clEmitter
	b strings.Builder
}

// role begins the code of a thread.
func (c *clEmitter) role(i int) *clRole {
	r := &clRole{c: c, body: &body{e: &emitter{t: c.t, u: &Unit{Name: c.h.Name}}, th: &c.t.Threads[i], spec: c.h.Check.Specs[i],
		regs: map[string]litmus.Type{}, prefix: fmt.Sprintf("t%d_", i), at: -1}}
	r.collect()
	if c.origin != nil {
		r.loops(c.origin[i])
	}
	c.roles = append(c.roles, r)
	return r
}

func (r *clRole) f(format string, args ...any) { fmt.Fprintf(&r.b, "    "+format+"\n", args...) }

// block returns the code of the thread.
func (r *clRole) block() (string, error) {
	lits, err := r.spec.Literals()
	if err != nil {
		return "", unsupported("%v", err)
	}
	r.declareCL()
	entries := r.entries()
	for j := range r.th.Body {
		in := &r.th.Body[j]
		r.at, r.setting = j, ""
		for _, l := range in.Labels {
			r.f("%sL_%s: ;", r.prefix, l)
		}
		for n, l := range r.rounds {
			if l.back == j {
				r.f("round%d++;", n)
			}
		}
		line, err := r.statement(in, entries[j])
		if err != nil {
			return "", err
		}
		if line == "" {
			continue
		}
		if g := in.Guard; g != nil {
			not := ""
			if g.Neg {
				not = "!"
			}
			line = fmt.Sprintf("if (%s%s) { %s }", not, hclReg(g.Reg), line)
		}
		r.f("%s", line)
	}
	for _, s := range r.c.h.Terms {
		if s.Term.Kind != litmus.TermReg || s.Term.Thread != r.spec.Thread {
			continue
		}
		v := "0u"
		if _, known := r.regs[s.Term.Name]; known {
			v = hclReg(s.Term.Name)
		}
		r.f("results[(result_step >> 2) * %du + inst] = %s;", s.Slot, v)
	}
	r.f("if (markers) {")
	for i, l := range lits {
		r.f("  out[%d] = %s ^ 0x%08xu;", i*ResultStride/4, markerSource(r.spec, i, "m%d", "o%d_%d", "tok"), l)
	}
	r.f("}")
	return r.b.String(), nil
}

// declareCL declares the registers and the copies for markers. The initial content of a
// register is a parameter.
func (r *clRole) declareCL() {
	needs, first := r.readFirst(), map[string]int64{}
	for _, d := range r.th.Regs {
		switch d.Init.Kind {
		case litmus.OperandConst:
			needs[d.Name], first[d.Name] = true, d.Init.Value
		case litmus.OperandLoc:
			delete(needs, d.Name) // addresses are resolved statically
		}
	}
	for _, n := range sortedNames(r.regs) {
		init := "0u"
		if needs[n] && r.named[reg(n)] != "" && !r.isAddress(n) {
			r.setting = n
			init = r.valueParam(r.stand(litmus.U32, first[n]))
		}
		r.f("uint %s = %s;", hclReg(n), init)
	}
	r.setting = ""
	for n := range r.rounds {
		r.f("uint round%d = 0;", n)
	}
	for _, e := range r.spec.Entries {
		if e.IsFence() {
			continue
		}
		if !e.Unread {
			r.f("uint m%d = tok;", e.Pos)
		}
		for _, i := range e.Operands() {
			r.f("uint o%d_%d = tok;", e.Pos, i)
		}
	}
}

// isAddress reports whether a register holds a location's address.
func (r *clRole) isAddress(n string) bool {
	for i := range r.th.Body {
		if in := &r.th.Body[i]; in.Dst == n && in.Op == litmus.OpMov && in.Src[0].Kind == litmus.OperandLoc {
			return true
		}
	}
	return false
}

// statement translates an instruction to C statements. Accesses leave copies for the
// markers.
func (r *clRole) statement(in *litmus.Instr, ents []*spec.Entry) (string, error) {
	ops := make([]string, len(in.Src))
	for i, s := range in.Src {
		switch {
		case s.Kind == litmus.OperandReg:
			ops[i] = hclReg(s.Name)
		case s.Kind == litmus.OperandConst && in.Op.IsAccess():
			ops[i] = r.valueParam(r.stand(litmus.U32, s.Value))
		case s.Kind == litmus.OperandConst:
			ops[i] = fmt.Sprintf("%du", uint32(s.Value))
		case in.Op != litmus.OpMov:
			return "", unsupported("a location's address as a value in OpenCL C")
		}
	}
	if in.Op == litmus.OpBra {
		return r.branch(in, ops), nil
	}
	line, err := r.c.instr(r.th, in, ops)
	if err != nil || len(ents) == 0 || ents[0].IsFence() {
		return line, err
	}
	var before, after strings.Builder
	for n, ent := range ents {
		when, err := r.round(n, len(ents))
		if err != nil {
			return "", err
		}
		for _, i := range ent.Operands() {
			fmt.Fprintf(&before, "%so%d_%d = %s; ", when, ent.Pos, i, ops[i])
		}
		switch {
		case ent.Reads() && !ent.Unread:
			fmt.Fprintf(&after, " %sm%d = %s;", when, ent.Pos, hclReg(in.Dst))
		case !ent.Reads() && len(ops) > 0:
			fmt.Fprintf(&before, "%sm%d = %s; ", when, ent.Pos, ops[0])
		}
	}
	return before.String() + line + after.String(), nil
}

// round returns the condition under which copy n of an access, out of the given number, is the
// current one.
func (r *clRole) round(n, of int) (string, error) {
	if of == 1 {
		return "", nil
	}
	at := slices.IndexFunc(r.rounds, func(l loop) bool { return l.contains(r.at) })
	if r.rounds[at].nested {
		return "", unsupported("a loop in a loop, whose values differ from round to round")
	}
	return fmt.Sprintf("if (round%d == %d) ", at, n), nil
}

// branch translates a branch; its guard is the caller's.
func (r *clRole) branch(in *litmus.Instr, ops []string) string {
	jump := fmt.Sprintf("goto %sL_%s;", r.prefix, in.Target)
	if in.Cmp == litmus.CmpNone {
		return jump
	}
	return fmt.Sprintf("if ((int)%s %s (int)%s) %s", ops[0], clCompare[in.Cmp], ops[1], jump)
}
