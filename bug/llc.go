package bug

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/match"
	"optcheck/ptx"
	"optcheck/spec"
	"optcheck/toolchain"
)

// llcRoad is LLVM IR and llc, for a finding in the PTX that llc writes.
type llcRoad struct{ *bundler }

func (b *llcRoad) emit(_ context.Context, tc *toolchain.Toolchain, _ string, markers bool) (*program, error) {
	return b.newIR(tc, markers, true)
}

// compile compiles a program to PTX as the bundle's Makefile does.
func (b *llcRoad) compile(ctx context.Context, p *program, tc *toolchain.Toolchain, level string) (*code, error) {
	text, err := b.toPTX(ctx, p, tc, level)
	if err != nil {
		return nil, err
	}
	m, texts, err := kernelsOf(text)
	if err != nil {
		return nil, fmt.Errorf("the PTX of %s: %w", tc.ID, err)
	}
	name := kernel(b.find.Thread)
	if m.Func(name) == nil {
		return nil, fmt.Errorf("the PTX of %s: kernel %s is not in it", tc.ID, name)
	}
	c := &code{tc: tc, target: b.f.Target, level: level, text: []byte(text)}
	if c.ptx, err = match.PTX(name, texts[name], p.spec, b.f.Test); err != nil {
		return nil, fmt.Errorf("the PTX of %s: %w", tc.ID, err)
	}
	c.lines = accessesPTX(c.ptx.Accesses())
	return c, nil
}

// toPTX compiles LLVM IR with llc.
func (b *bundler) toPTX(ctx context.Context, p *program, tc *toolchain.Toolchain, level string) (string, error) {
	res, err := tc.CompileIR(ctx, toolchain.Job{Target: b.f.Target, Level: level, Units: []toolchain.Unit{{Name: unit, Text: p.body}}})
	if err != nil {
		return "", err
	}
	if e := res.Failed[0]; e != nil {
		return "", e
	}
	return string(res.Batches[0].Text), nil
}

func (b *llcRoad) promise(in *litmus.Instr) string { return promise(in) }

func (b *llcRoad) variants() ([]variant, bool) { return variantsIR, true }

func (b *irRoad) variants() ([]variant, bool) { return variantsIR, true }

// shows reports whether the PTX lacks what the finding says is gone.
func (b *llcRoad) shows(_ *program, c *code) bool { return c.ptx.Stage(&b.find) == match.StageLLC }

// classesPTX maps PTX's operations to classes; other operations do not touch memory.
var classesPTX = []struct{ op, class string }{{"ld", "LD"}, {"ldu", "LD"}, {"st", "ST"}, {"atom", "ATOM"},
	{"red", "RED"}, {"fence", "FENCE"}, {"membar", "FENCE"},
	{"bar", "BAR"}, {"barrier", "BAR"}, {"call", "OTHER"}, {"cp", "OTHER"}, {"multimem", "OTHER"}, {"ldmatrix", "OTHER"},
	{"prefetch", "OTHER"}}

// accessesPTX lists what touches or orders memory in a kernel, including stores of results. It
// mirrors the script check.awk.
func accessesPTX(list []match.PTXAccess) (out []access) {
	for i := range list {
		a := access{text: list[i].Text}
		if _, after, ok := strings.Cut(a.text, " "); ok && a.text[0] == '@' {
			a.text = after
		}
		a.mnemonic = list[i].Op
		for _, c := range classesPTX {
			if c.op == list[i].Name {
				a.class = c.class
			}
		}
		out = append(out, a)
	}
	return out
}

// expected lists the classes of the accesses of the thread and of the stores of its results,
// one for one. A correct compiler may use other fences, so a thread with fences has no such
// list.
func (b *llcRoad) expected() (out []string) {
	results := 0
	for _, e := range b.prog.spec.Entries {
		class := map[litmus.Op]string{litmus.OpLd: "LD", litmus.OpSt: "ST", litmus.OpAtom: "ATOM", litmus.OpRed: "RED"}[e.Kind.Op]
		if class == "" {
			return nil
		}
		out = append(out, class)
		if e.Reads() {
			results++
		}
	}
	if b.prog.markers {
		return nil // its results are counted differently
	}
	return append(out, slices.Repeat([]string{"ST"}, results)...)
}

func (b *llcRoad) listing(c *code) []string { return view(c.lines, "text") }

// marked lists the accesses of the PTX with the wrong ones marked.
func (b *llcRoad) marked() string {
	rule := fmt.Sprintf("   <== %s: T%d #%d", b.find.Rule, b.find.Thread, b.find.Access)
	var lines []string
	hit := false
	for i, a := range b.bad.lines {
		l := a.text + ";"
		for n := range b.prog.spec.Entries {
			if b.bad.ptx.At(n) != i {
				continue
			}
			l = fmt.Sprintf("%-44s // #%d", l, n)
			if n == b.find.Access {
				l, hit = l+rule, true
			}
		}
		lines = append(lines, l)
	}
	if !hit && b.find.Access >= 0 {
		lines = append(lines, fmt.Sprintf("%-44s // no instruction for #%d%s", "", b.find.Access, rule))
	}
	return strings.Join(lines, "\n")
}

// order is what an access must guarantee, which PTX expresses by qualifiers or by fences: the
// number of the access among those that are not fences, counted from 1, what of its order and
// strength must remain, and the smallest scope.
type order struct {
	at    int
	want  string // release, acquire, acq_rel, or strong: its strength and scope alone
	least int
}

// ordering returns the order that the finding says is lost; nil for findings of another
// kind.
func (b *llcRoad) ordering() *order {
	at := b.bad.ptx.At(b.find.Access)
	if at < 0 || b.prog.spec.Entries[b.find.Access].IsFence() {
		return nil
	}
	o := &order{}
	k := b.prog.spec.Entries[b.find.Access].Kind
	switch {
	case b.find.Rule == "weakened":
		o.want = "strong"
	case b.orderLost() && slices.Contains([]litmus.Sem{litmus.SemRelease, litmus.SemAcquire, litmus.SemAcqRel}, k.Sem):
		o.want = k.Sem.String()
	default:
		return nil
	}
	for i := range at + 1 {
		if !fenceClass(b.bad.lines[i].class) {
			o.at++
		}
	}
	o.least = match.ScopeRank(k)
	return o
}

// particulars name the instruction that would be correct, and the actual one.
func (b *llcRoad) particulars() (expected, actual string) {
	o := b.ordering()
	if o == nil {
		return "", ""
	}
	in := b.instr(b.find.Access)
	expected = " PTX has an instruction for it: " + span(in.String()) + "."
	actual = " The PTX is " + span(b.bad.lines[b.bad.ptx.At(b.find.Access)].text+";")
	if o.want != "strong" {
		actual += ", without a fence that orders it beside it"
	}
	if in.Op == litmus.OpAtom {
		actual += "; an `atom` without qualifiers is `.relaxed.gpu`"
	}
	return expected, actual + "."
}

func fenceClass(class string) bool { return class == "FENCE" || class == "BAR" }

// irRoad is PTX, ptxas and nvdisasm, where llc makes the PTX from LLVM IR.
type irRoad struct{ ptxRoad }

// emit emits LLVM IR and compiles it to PTX. The stores that only keep results alive get the
// cache operator .cs, which distinguishes them from the test's own.
func (b *irRoad) emit(ctx context.Context, tc *toolchain.Toolchain, level string, markers bool) (*program, error) {
	ir, err := b.newIR(tc, markers, true)
	if err != nil {
		return nil, err
	}
	text, err := b.toPTX(ctx, ir, tc, level)
	if err != nil {
		return nil, err
	}
	m, texts, err := kernelsOf(text)
	if err != nil {
		return nil, fmt.Errorf("the PTX of %s: %w", tc.ID, err)
	}
	p := &program{markers: markers, header: m.Header(), ir: ir.text,
		llc: "llc " + strings.Join(tc.ArgsIR(b.f.Target, level, "min.ll", "min.ptx"), " ")}
	for _, f := range m.Funcs {
		k, err := markResults(f.Name, texts[f.Name], ir.spec)
		if err != nil {
			return nil, fmt.Errorf("the PTX of %s: %w", tc.ID, err)
		}
		p.body += k
	}
	p.text = p.header + "\n" + p.body
	return p, nil
}

// kernelsOf reads the PTX that llc writes, with the text of each kernel.
func kernelsOf(text string) (*ptx.Module, map[string]string, error) {
	m, err := ptx.Outline("llc.ptx", []byte(text))
	if err != nil {
		return nil, nil, err
	}
	texts, err := m.Alone()
	return m, texts, err
}

// markResults marks the stores of results in a kernel of llc's with the operator .cs.
func markResults(name, text string, s *spec.Spec) (string, error) {
	list, err := match.Accesses(name, text)
	if err != nil {
		return "", err
	}
	results := map[string]bool{}
	for _, a := range list {
		if a.Name == "st" && a.Arg == int(s.ResultParam()/8) {
			results[a.Text] = true
		}
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, ";")
		if results[strings.Join(strings.Fields(code), " ")] {
			line = strings.Replace(line, "st.volatile.global", "st.global.cs", 1)
		}
		out.WriteString(line)
	}
	return out.String(), nil
}
