package values

import (
	"regexp"
	"slices"
	"strings"

	"optcheck/ir"
	"optcheck/ptxgen/values"
	"optcheck/refine"
)

// pattern is what kernels of one cause have in common: what the statements of a reduced kernel compute, and what the machine
// instructions compute that make the first wrong value. Both are kinds of operations, not names: what adds, negates and
// subtracts is one kind, with what changes its meaning (saturation, carries, widths).
type pattern struct {
	source, machine []string
}

// patternOf is the pattern of a reduced kernel.
func patternOf(k *values.Kernel, f *refine.Finding, machine *ir.Program) pattern {
	p := pattern{source: sourceKinds(k)}
	for _, op := range slice(machine, f.Machine) {
		p.machine = append(p.machine, machineKind(op))
	}
	switch {
	case len(p.machine) > 0:
	case f.Machine >= 0 && f.Rule == refine.WrongValue:
		p.machine = []string{"copy"} // of an input or a constant
	default:
		p.machine = []string{string(f.Rule)}
	}
	slices.Sort(p.machine)
	p.machine = slices.Compact(p.machine)
	return p
}

// String is the signature.
func (p pattern) String() string {
	return strings.Join(p.source, " ") + " -> " + strings.Join(p.machine, " ")
}

// same reports whether two patterns are of one cause: they consist of the same operations, or one is a part of the other, so that
// a kernel with the other one shows nothing that a kernel with the part does not.
func (p pattern) same(q pattern) bool {
	return slices.Equal(p.source, q.source) || p.within(q) || q.within(p)
}

func (p pattern) within(q pattern) bool {
	return subset(p.source, q.source) && subset(p.machine, q.machine)
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(b, x) })
}

// Name is a short name of the cause, for a folder.
func (c *Cause) Name() string {
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(c.Signature), "-")
	return strings.Trim(name[:min(len(name), 60)], "-")
}

// kindsOf are the kinds of operations by the names of instructions; one that is not here is a kind of its own, "" is none.
var kindsOf = map[string]string{"add": "sum", "sub": "sum", "neg": "sum", "abs": "sum", "addc": "carry", "subc": "carry", "madc": "carry",
	"and": "logic", "or": "logic", "xor": "logic", "not": "logic", "lop3": "logic", "shl": "shift", "shr": "shift", "shf": "funnel",
	"mul": "product", "mad": "product", "mul24": "product24", "mad24": "product24", "min": "minmax", "max": "minmax", "setp": "compare", "set": "compare", "cnot": "compare",
	"selp": "select", "slct": "select", "cvt": "convert", "bfe": "field", "bfi": "field", "bra": "branch",
	"vote": "warp", "shfl": "warp", "match": "warp", "redux": "warp", "mov": "", "ld": "", "st": "", "ret": "", "cvta": ""}

// sourceKinds are the kinds of the operations of a kernel's statements.
func sourceKinds(k *values.Kernel) (out []string) {
	for _, op := range k.Ops() {
		words := strings.Split(op, ".")
		kind, known := kindsOf[words[0]]
		if !known {
			kind = words[0]
		}
		if kind == "" && (words[0] != "ld" && words[0] != "st" || slices.Contains(words, "global")) {
			continue
		}
		if kind == "" {
			kind = "memory"
		}
		narrow := slices.ContainsFunc(words[1:], func(w string) bool { return width(w) == ".16" })
		for _, w := range words[1:] {
			if slices.Contains(telling, w) {
				kind += "." + w
			} else if w := width(w); w != "" && !strings.Contains(kind, w) && !(narrow && w == ".64") {
				kind += w
			}
		}
		out = append(out, kind)
		if base, _, _ := strings.Cut(kind, "."); strings.HasSuffix(kind, ".16") && slices.Contains(extending, base) {
			out = append(out, "convert.16")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// telling are the modifiers that make another operation of one.
var telling = []string{"sat", "cc", "hi", "wide", "relu", "ftz", "shared", "local", "wrap", "clamp", "pred", "approx"}

// extending are the kinds of operations that need numbers of 16 bits extended to 32.
var extending = []string{"compare", "minmax", "product", "shift"}

// width is the width of a type that is not 32 bits of integer.
func width(t string) string {
	switch strings.TrimLeft(t, "sub") {
	case "8", "16":
		return ".16"
	case "64":
		return ".64"
	case "16x2", "f16x2", "bf16x2":
		return ".x2"
	case "f16", "f32", "f64":
		return "." + t
	}
	return ""
}

// machineKinds are the kinds of machine instructions.
var machineKinds = map[string]string{"UIADD3": "IADD3", "IADD": "IADD3", "VIADD": "IADD3", "IMAD.IADD": "IADD3", "IADD3.X": "IADD3", "ULOP3": "LOP3",
	"IMAD.SHL": "SHF", "USHF": "SHF", "UIMAD": "IMAD", "UISETP": "ISETP", "USEL": "SEL", "ULEA": "LEA", "UPRMT": "PRMT", "UPLOP3": "PLOP3", "UFLO": "FLO", "UPOPC": "POPC",
	"UBREV": "BREV", "USGXT": "SGXT", "UBMSK": "BMSK", "VIMNMX": "IMNMX", "UIABS": "IABS", "P2R": "", "R2P": ""}

// machineKind is the kind of a machine instruction.
func machineKind(form string) string {
	words := strings.Split(strings.TrimRight(form, "-~"), ".")
	for n := min(2, len(words)); n > 0; n-- {
		if kind, ok := machineKinds[strings.Join(words[:n], ".")]; ok {
			return kind
		}
	}
	if slices.Contains(words, "HI") {
		return words[0] + ".HI"
	}
	return words[0]
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
