package isa

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteText prints a program for people: functions, blocks with their edges,
// instructions with role, memory effect, definitions and uses, and at the end
// the lines that were not understood.
func WriteText(w io.Writer, prog *Program) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %s, %d functions\n", prog.File, prog.Dialect, len(prog.Funcs))
	for _, f := range prog.Funcs {
		writeFunc(b, f)
	}
	for _, p := range prog.Problems {
		fmt.Fprintf(b, "%s:%d: %s: %s\n", prog.File, p.Line, p.Why, p.Text)
	}
	return b.Flush()
}

func writeFunc(b *bufio.Writer, f *Func) {
	what := "function"
	if f.Callable {
		what = "callable function"
	}
	fmt.Fprintf(b, "\n%s %s %s, %d instructions\n", what, f.Name, f.Arch, len(f.Insts))
	reach := f.Reachable()
	for n, blk := range f.Blocks {
		fmt.Fprintf(b, "block %d", n)
		writeList(b, " from", blk.Preds)
		writeList(b, " to", blk.Succs)
		if !reach[n] {
			b.WriteString(" unreachable")
		}
		b.WriteString("\n")
		var src SrcLine
		for i := blk.First; i < blk.End; i++ {
			in := &f.Insts[i]
			if in.Src != src && in.Src.Line > 0 {
				src = in.Src
				fmt.Fprintf(b, "  // %s:%d\n", src.File, src.Line)
			}
			fmt.Fprintf(b, "  %04x  %s%-48s  %s%s\n", in.Addr, in.control(), in.Text, in.Role, in.effect())
		}
	}
}

// control returns the column of control codes, where there are any.
func (in *Inst) control() string {
	if c := in.Control.String(); c != "" {
		return c + "  "
	}
	return ""
}

func writeList(b *bufio.Writer, what string, l []int) {
	if len(l) == 0 {
		return
	}
	b.WriteString(what)
	for _, x := range l {
		fmt.Fprintf(b, " %d", x)
	}
}

// effect describes memory effect and registers in one line.
func (in *Inst) effect() string {
	var s strings.Builder
	m := in.Mem
	if m.Space != SpaceNone {
		s.WriteString(" " + m.Space.String())
	}
	if in.Role.IsAccess() {
		fmt.Fprintf(&s, " %dB %s", m.Width, m.Strength)
	} else if in.Role == RoleFence {
		s.WriteString(" " + m.Strength.String())
	}
	if m.Scope != ScopeNone {
		s.WriteString("." + m.Scope.String())
	}
	for _, x := range []string{m.Cache, m.Atom} {
		if x != "" {
			s.WriteString(" " + x)
		}
	}
	for _, x := range []struct {
		set  bool
		text string
	}{{m.Bits != 0, "[" + m.Bits.String() + "]"}, {m.Scalar, "scalar"}, {m.Invalidate, "invalidate"}, {m.WriteBack, "writeback"},
		{m.Locked, "locked"}} {
		if x.set {
			s.WriteString(" " + x.text)
		}
	}
	for i, c := range in.Counts {
		s.WriteString([]string{"; counts ", " "}[min(i, 1)] + c.String())
	}
	for i, w := range in.Waits {
		s.WriteString([]string{"; waits ", " "}[min(i, 1)] + w.String())
	}
	for _, l := range []struct {
		what string
		regs []Reg
	}{{"def", in.Defs}, {"use", in.Uses}, {"addr", in.Addrs}, {"data", in.Data}} {
		if len(l.regs) > 0 {
			s.WriteString("; " + l.what)
			for _, r := range l.regs {
				s.WriteString(" " + r.String())
			}
		}
	}
	if in.Target >= 0 {
		fmt.Fprintf(&s, "; target %d", in.Target)
	}
	return s.String()
}

// The JSON form. Enumerations are their names, registers are written as R4.
type (
	jsonProgram struct {
		File     string        `json:"file"`
		Dialect  string        `json:"dialect"`
		Funcs    []jsonFunc    `json:"functions"`
		Problems []jsonProblem `json:"problems"`
	}
	jsonProblem struct {
		Line int    `json:"line"`
		Text string `json:"text"`
		Why  string `json:"why"`
	}
	jsonFunc struct {
		Name   string      `json:"name"`
		Arch   string      `json:"arch"`
		Line   int         `json:"line"`
		Call   bool        `json:"callable,omitempty"`
		Wave   int         `json:"wave,omitempty"`
		Blocks []jsonBlock `json:"blocks"`
		Insts  []jsonInst  `json:"instructions"`
	}
	jsonBlock struct {
		First       int   `json:"first"`
		End         int   `json:"end"`
		Succs       []int `json:"succs"`
		Preds       []int `json:"preds"`
		Unreachable bool  `json:"unreachable,omitempty"`
	}
	jsonInst struct {
		Addr    uint64       `json:"addr"`
		Text    string       `json:"text"`
		Op      string       `json:"op"`
		Mods    []string     `json:"mods,omitempty"`
		Guard   string       `json:"guard,omitempty"`
		Line    int          `json:"line"`
		Src     *jsonSrc     `json:"src,omitempty"`
		Code    []string     `json:"code,omitempty"`
		Control *jsonControl `json:"control,omitempty"`
		Role    string       `json:"role"`
		Mem     *jsonMem     `json:"mem,omitempty"`
		Defs    []string     `json:"defs,omitempty"`
		Uses    []string     `json:"uses,omitempty"`
		Addrs   []string     `json:"addrs,omitempty"`
		Data    []string     `json:"data,omitempty"`
		Flow    string       `json:"flow,omitempty"`
		Target  *int         `json:"target,omitempty"`
		Counts  []string     `json:"counts,omitempty"`
		Waits   []string     `json:"waits,omitempty"`
		Micro   []string     `json:"micro,omitempty"`
		Args    []jsonArg    `json:"args,omitempty"`
	}
	jsonArg struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	jsonControl struct {
		Stall uint8  `json:"stall"`
		Yield bool   `json:"yield"`
		Write *uint8 `json:"write_barrier,omitempty"`
		Read  *uint8 `json:"read_barrier,omitempty"`
		Wait  uint8  `json:"wait_mask"`
		Reuse uint8  `json:"reuse"`
		Sched string `json:"sched,omitempty"` // Kepler's byte, instead of all others
	}
	jsonSrc struct {
		File string `json:"file"`
		Line int    `json:"line"`
	}
	jsonMem struct {
		Space      string `json:"space,omitempty"`
		Width      int    `json:"width,omitempty"`
		Strength   string `json:"strength"`
		Scope      string `json:"scope,omitempty"`
		Cache      string `json:"cache,omitempty"`
		Atom       string `json:"atom,omitempty"`
		Bits       string `json:"bits,omitempty"`
		Scalar     bool   `json:"scalar,omitempty"`
		Invalidate bool   `json:"invalidate,omitempty"`
		WriteBack  bool   `json:"writeback,omitempty"`
		Locked     bool   `json:"locked,omitempty"`
	}
)

// WriteJSON prints a program as one indented JSON object with the keys file,
// dialect, functions and problems.
func WriteJSON(w io.Writer, prog *Program) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(jsonOf(prog))
}

func jsonOf(prog *Program) jsonProgram {
	p := jsonProgram{File: prog.File, Dialect: prog.Dialect, Funcs: []jsonFunc{}, Problems: []jsonProblem{}}
	for _, f := range prog.Funcs {
		p.Funcs = append(p.Funcs, jsonOfFunc(f))
	}
	for _, q := range prog.Problems {
		p.Problems = append(p.Problems, jsonProblem(q))
	}
	return p
}

func jsonOfFunc(f *Func) jsonFunc {
	o := jsonFunc{Name: f.Name, Arch: f.Arch, Line: f.Line, Call: f.Callable, Wave: f.Wave, Blocks: []jsonBlock{}, Insts: []jsonInst{}}
	reach := f.Reachable()
	for i, b := range f.Blocks {
		o.Blocks = append(o.Blocks, jsonBlock{First: b.First, End: b.End, Succs: append([]int{}, b.Succs...), Preds: append([]int{}, b.Preds...),
			Unreachable: !reach[i]})
	}
	for i := range f.Insts {
		o.Insts = append(o.Insts, jsonOfInst(&f.Insts[i]))
	}
	return o
}

func jsonOfInst(in *Inst) jsonInst {
	o := jsonInst{Addr: in.Addr, Text: in.Text, Op: in.Op, Mods: in.Mods, Guard: in.Guard.String(), Line: in.Line, Role: in.Role.String(),
		Defs: regNames(in.Defs), Uses: regNames(in.Uses), Addrs: regNames(in.Addrs), Data: regNames(in.Data)}
	if in.Src.Line > 0 {
		o.Src = &jsonSrc{in.Src.File, in.Src.Line}
	}
	for _, c := range in.Code {
		o.Code = append(o.Code, fmt.Sprintf("%016x", c))
	}
	o.Control = jsonOfControl(in.Control)
	if m := in.Mem; m != (Mem{}) || in.Role.IsAccess() || in.Role == RoleFence {
		o.Mem = &jsonMem{Width: m.Width, Strength: m.Strength.String(), Cache: m.Cache, Atom: m.Atom, Bits: m.Bits.String(), Scalar: m.Scalar,
			Invalidate: m.Invalidate, WriteBack: m.WriteBack, Locked: m.Locked}
		if m.Space != SpaceNone {
			o.Mem.Space = m.Space.String()
		}
		if m.Scope != ScopeNone {
			o.Mem.Scope = m.Scope.String()
		}
	}
	if in.Flow != FlowNext {
		o.Flow = in.Flow.String()
	}
	if t := in.Target; t >= 0 {
		o.Target = &t
	}
	for _, c := range in.Counts {
		o.Counts = append(o.Counts, c.String())
	}
	for _, w := range in.Waits {
		o.Waits = append(o.Waits, w.String())
	}
	for _, m := range in.Micro {
		o.Micro = append(o.Micro, m.String())
	}
	for _, a := range in.Args {
		o.Args = append(o.Args, jsonArg{a.Kind.String(), a.Text})
	}
	return o
}

func jsonOfControl(c Control) *jsonControl {
	barrier := func(n uint8) *uint8 {
		if n == NoBarrier {
			return nil
		}
		return &n
	}
	switch c.Kind {
	case ControlKepler:
		return &jsonControl{Sched: fmt.Sprintf("%02x", c.Sched)}
	case ControlFields:
		return &jsonControl{Stall: c.Stall, Yield: c.Yield, Write: barrier(c.Write), Read: barrier(c.Read), Wait: c.Wait, Reuse: c.Reuse}
	}
	return nil
}

func regNames(l []Reg) []string {
	var out []string
	for _, r := range l {
		out = append(out, r.String())
	}
	return out
}

// String returns a micro-operation as text: R4 = lop3.3c(R2, 0x7f3a001, 0x0).
func (m Micro) String() string {
	s := m.Dst.String() + half(m.Half) + " = " + m.Op.String()
	switch m.Op {
	case MicroLop3, MicroPlop, MicroTest:
		s += fmt.Sprintf(".%02x", m.LUT)
	case MicroSetp, MicroSetpWide:
		s += "." + strings.ToLower(m.Cmp) + "." + strings.ToLower(m.Bool)
	case MicroSelCmp:
		s += "." + strings.ToLower(m.Cmp)
	case MicroSpecial:
		return s + " " + m.Sym
	case MicroLaneCount:
		s += "." + m.Sym
	}
	if m.Signed {
		s += ".s"
	}
	args := make([]string, len(m.Src))
	for i, o := range m.Src {
		args[i] = o.String()
	}
	return s + "(" + strings.Join(args, ", ") + ")"
}

// half returns the suffix of half a register.
func half(part string) string {
	if part == "l" || part == "h" {
		return "." + part
	}
	return ""
}

// String returns an operand in a uniform notation, whatever the listing printed.
func (o Operand) String() string {
	pre := ""
	if o.Neg {
		pre = "-"
	}
	if o.Not {
		pre += "~"
	}
	switch o.Kind {
	case OpdReg:
		if o.Zero {
			return pre + "0"
		}
		return pre + o.Reg.String() + half(o.Part)
	case OpdPred:
		if o.Zero {
			return pre + "true"
		}
		return pre + o.Reg.String()
	case OpdImm:
		return pre + fmt.Sprintf("%#x", o.Imm)
	case OpdConst:
		if o.Reg.Class != ClassNone {
			return pre + fmt.Sprintf("c[%d][%s+%#x]", o.Bank, o.Reg, o.Off)
		}
		return pre + fmt.Sprintf("c[%d][%#x]", o.Bank, o.Off)
	case OpdSym:
		return pre + o.Part + "(" + o.Sym + ")"
	}
	if o.Text != "" {
		return o.Text
	}
	return pre + o.Sym
}
