package ptx

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Edit is a change of a module's text.
type Edit struct {
	from, to int
	text     string
}

// Before puts text in front of an instruction.
func (in *Inst) Before(text string) Edit { return Edit{in.offset, in.offset, text} }

// After puts text behind an instruction.
func (in *Inst) After(text string) Edit { return Edit{in.end, in.end, text} }

// Replace puts text in the place of an instruction, with its semicolon.
func (in *Inst) Replace(text string) Edit { return Edit{in.offset, in.end, text} }

// Begin puts text at the beginning of a body.
func (f *Func) Begin(text string) Edit { return Edit{f.open, f.open, text} }

// Before puts text in front of a function.
func (f *Func) Before(text string) Edit { return Edit{f.all.from, f.all.from, text} }

// AddParams puts declarations of parameters, without a comma at either end, behind
// those of an entry. ok is false if it has no list of parameters.
func (f *Func) AddParams(text string) (e Edit, ok bool) {
	if len(f.Params) > 0 {
		text = ", " + text
	}
	return Edit{f.list, f.list, text}, f.list > 0
}

// Apply is the module's text with edits. Those at one place stand in the order in
// which they are given; others must not overlap.
func (m *Module) Apply(edits ...Edit) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.from - b.from })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(m.src[at:max(at, e.from)])
		out.WriteString(e.text)
		at = max(at, e.to)
	}
	out.Write(m.src[at:])
	return out.Bytes()
}

// Neighbour is the instruction so many behind another one in the text, nil if there is
// none in its function.
func (m *Module) Neighbour(in *Inst, by int) *Inst {
	for _, f := range m.Funcs {
		var list []*Inst
		for _, st := range f.Body {
			if st.Inst != nil {
				list = append(list, st.Inst)
			}
		}
		if i := slices.Index(list, in); i >= 0 && i+by >= 0 && i+by < len(list) {
			return list[i+by]
		}
	}
	return nil
}

// Declaration is a variable's declaration as written, which may be that of others, too;
// that of a parameter has no comma.
func (m *Module) Declaration(v *Var) string { return m.text(v.decl) }

// Prototype is the text of a prototype.
func (m *Module) Prototype(p *Prototype) string { return m.text(p.decl) }

// Text is the text of a function, and Directives what stands between its parameters and
// its body: .maxntid 256, 1, 1.
func (m *Module) Text(f *Func) string { return m.text(f.all) }

// Directives: see Text.
func (m *Module) Directives(f *Func) string {
	if f.list == 0 {
		return ""
	}
	return m.text(span{f.list + 1, f.open - 1})
}

// text is a part of the text without comments at its ends and without debug information.
func (m *Module) text(s span) string {
	var out bytes.Buffer
	for _, c := range m.cuts {
		if c.from >= s.from && c.to <= s.to {
			out.Write(m.src[s.from:c.from])
			s.from = c.to
		}
	}
	out.Write(m.src[s.from:s.to])
	return string(bytes.TrimSpace(out.Bytes()))
}

// Header has the lines at the top of a module, and of the files that its lines are of, without comments.
func (m *Module) Header() string {
	parts := []span{{0, m.head}}
	for _, c := range m.cuts {
		if c.from >= m.head && bytes.HasPrefix(m.src[c.from:c.to], []byte(".file")) {
			parts = append(parts, c)
		}
	}
	var out strings.Builder
	for _, p := range parts {
		for line := range bytes.Lines(m.src[p.from:p.to]) {
			code, _, _ := strings.Cut(string(line), "//")
			if code = strings.TrimSpace(code); code != "" {
				out.WriteString(code + "\n")
			}
		}
	}
	return out.String()
}

var nameInText = regexp.MustCompile(`[\w$]+`)

// Alone gives each kernel's text as it stands there, with its lines, behind the declarations of the module's
// variables that it names: with Header, a module of its own. A module that has functions is an error:
// a kernel that calls something is not all there is to examine.
func (m *Module) Alone() (map[string]string, error) {
	no := func(name string, at span) error {
		return fmt.Errorf("line %d: the function %s is no part of a kernel", 1+bytes.Count(m.src[:at.from], []byte("\n")), name)
	}
	for _, p := range m.Prototypes {
		return nil, no(p.Name, p.decl)
	}
	out := make(map[string]string, len(m.Funcs))
	for _, f := range m.Funcs {
		if !f.Entry {
			return nil, no(f.Name, f.all)
		}
		text := string(m.src[f.all.from:f.all.to])
		named := map[string]bool{}
		if len(m.Vars) > 0 {
			for _, word := range nameInText.FindAllString(text, -1) {
				named[word] = true
			}
		}
		var b strings.Builder
		for i := range m.Vars {
			if v := &m.Vars[i]; named[v.Name] {
				b.WriteString(m.Declaration(v) + "\n")
			}
		}
		out[f.Name] = b.String() + text + "\n"
	}
	return out, nil
}
