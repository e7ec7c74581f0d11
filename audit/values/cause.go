package values

import (
	"regexp"
	"slices"
	"strings"

	"optcheck/ir"
	"optcheck/ptxgen/values"
	"optcheck/refine"
)

// signature says what a reduced kernel and its machine code have in common with others of the same cause: the operations of
// PTX that are left, and the forms of machine instructions that the first wrong value is computed with.
func signature(k *values.Kernel, f *refine.Finding, machine *ir.Program) string {
	forms := slice(machine, f.Machine)
	switch {
	case len(forms) > 0:
	case f.Machine >= 0 && f.Rule == refine.WrongValue:
		forms = []string{"a constant"}
	default:
		forms = []string{string(f.Rule)}
	}
	return strings.Join(operations(k), " ") + " -> " + strings.Join(forms, " ")
}

// Name is a short name of the cause, for a folder.
func (c *Cause) Name() string {
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(c.Signature), "-")
	return strings.Trim(name[:min(len(name), 60)], "-")
}

var operation = regexp.MustCompile(`(?m)^\s*(?:@!?%[a-z0-9]+ )?([a-z][a-z0-9]*)((?:\.(?:hi|lo|wide|cc|sat|sync|shared|local|and|or|xor|l|r|wrap|clamp)\b)*)`)

// scaffold are the operations that every kernel has.
var scaffold = []string{"ld", "st", "mov", "ret", "cvta", "selp"}

// operations are the names of the operations that a kernel's statements are made of.
func operations(k *values.Kernel) (out []string) {
	for _, m := range operation.FindAllStringSubmatch(k.Statements(), -1) {
		if !slices.Contains(scaffold, m[1]) {
			out = append(out, m[1]+m[2])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// plumbing are machine instructions that only bring values.
var plumbing = regexp.MustCompile(`^(LDC|ULDC|LDCU|LDG|S2R|S2UR|CS2R|R2UR|MOV|UMOV|STG|NOP|BRA|EXIT|IMAD\.MOV)\b`)

// slice are the forms of the instructions that the value of a store is computed with, by the last writes before it in
// the order of the code.
func slice(p *ir.Program, store int) (out []string) {
	if store < 0 || store >= len(p.Insts) {
		return nil
	}
	need := map[ir.Reg]bool{}
	if a, ok := p.Insts[store].Do.(*ir.Access); ok {
		for _, r := range a.Data {
			need[r] = true
		}
	}
	backward(p.Insts[store].Pre, need)
	for i := store - 1; i >= 0; i-- {
		in := &p.Insts[i]
		if !writes(in, need) {
			continue
		}
		if in.Guard < 0 {
			backward(in.Post, need)
			effect(in.Do, need)
			backward(in.Pre, need)
		} else {
			need[in.Guard] = true
		}
		if !plumbing.MatchString(in.Text) {
			out = append(out, brief(in.Text))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// writes reports whether an instruction writes a register that is needed.
func writes(in *ir.Inst, need map[ir.Reg]bool) bool {
	for _, list := range [][]ir.Op{in.Pre, in.Post} {
		if slices.ContainsFunc(list, func(o ir.Op) bool { return need[o.Dst] }) {
			return true
		}
	}
	return slices.ContainsFunc(written(in.Do), func(r ir.Reg) bool { return need[r] })
}

// backward replaces what operations write by what they read.
func backward(list []ir.Op, need map[ir.Reg]bool) {
	for _, o := range slices.Backward(list) {
		if !need[o.Dst] {
			continue
		}
		delete(need, o.Dst)
		for _, s := range o.Src {
			if s >= 0 {
				need[s] = true
			}
		}
	}
}

func written(e ir.Effect) []ir.Reg {
	switch do := e.(type) {
	case *ir.Access:
		if do.Kind == ir.Load {
			return do.Data
		}
		return do.Dst
	case *ir.Special:
		return []ir.Reg{do.Dst}
	case *ir.Warp:
		return append([]ir.Reg{do.Dst, do.Pred}, do.Dsts...)
	}
	return nil
}

// effect does the same for what is no operation of a lane.
func effect(e ir.Effect, need map[ir.Reg]bool) {
	for _, r := range written(e) {
		delete(need, r)
	}
	if w, ok := e.(*ir.Warp); ok {
		for _, r := range append([]ir.Reg{w.Src, w.Lane}, w.Srcs...) {
			if r >= 0 {
				need[r] = true
			}
		}
	}
}

var (
	instruction = regexp.MustCompile(`^(?:@!?U?P[0-9T]+ )?(\S+)(.*)$`)
	negated     = regexp.MustCompile(`-U?[Rc]`)
	inverted    = regexp.MustCompile(`~U?[Rc]`)
)

// brief is an instruction with its modifiers; a - or ~ says that it negates or inverts an operand.
func brief(text string) string {
	m := instruction.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	if negated.MatchString(m[2]) {
		m[1] += "-"
	}
	if inverted.MatchString(m[2]) {
		m[1] += "~"
	}
	return m[1]
}
