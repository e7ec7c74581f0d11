package reduce

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/ptx"
)

// Kernel is a kernel of PTX on its own, with what of its module it needs, as a list of
// statements. Registers, labels and parameters have short names; blocks are gone.
type Kernel struct {
	version, target  string
	name, directives string
	params           []declaration
	globals          []declaration // variables, functions and prototypes of the module, in the order of its text
	vars             []declaration // variables of the body
	types            map[string]string
	body             []statement
	made             int // how many things were made so far
	allowed          flaws
}

// declaration declares names.
type declaration struct {
	names []string
	text  string
}

// statement is an instruction, without its semicolon, a label, or a table of labels. Its number
// survives its neighbours' removal.
type statement struct {
	id   int
	text string
	made bool // it stands for one that gave a register its value
}

var nameWord = regexp.MustCompile(`[%$_A-Za-z][\w$]*`)

// replaced replaces the names in a text.
func replaced(text string, names map[string]string) string {
	return nameWord.ReplaceAllStringFunc(text, func(w string) string {
		if to, ok := names[w]; ok {
			return to
		}
		return w
	})
}

// taken splits an instruction into its guard, its opcode and its operands.
func taken(text string) (guard, op, operands string) {
	if strings.HasPrefix(text, "@") {
		guard, text, _ = strings.Cut(text, " ")
		guard += " "
	}
	op, operands, _ = strings.Cut(text, " ")
	if at := strings.IndexAny(op, "({["); at > 0 {
		op, operands = op[:at], strings.TrimSpace(op[at:]+" "+operands)
	}
	return guard, op, operands
}

// inNames renames what an instruction names; its opcode stays.
func inNames(text string, names map[string]string) string {
	guard, op, operands := taken(text)
	return strings.TrimSpace(replaced(guard, names) + op + " " + replaced(operands, names))
}

// prefixes are the usual names of registers, by their types.
var prefixes = map[string]string{"pred": "%p", "b16": "%rs", "b32": "%r", "b64": "%rd", "f32": "%f", "f64": "%fd"}

// register gives a new register a name.
func (k *Kernel) register(typ string, counts map[string]int) string {
	prefix := prefixes[typ]
	if prefix == "" {
		prefix = "%" + typ + "_"
	}
	counts[prefix]++
	name := fmt.Sprint(prefix, counts[prefix])
	k.types[name] = typ
	return name
}

// Extract takes a function out of a module: a kernel, or a function, as if it were one.
func Extract(m *ptx.Module, f *ptx.Func) *Kernel {
	k := &Kernel{version: m.Version, target: m.Target, name: "k", types: map[string]string{}}
	if f.Entry {
		k.directives = m.Directives(f)
	}
	names := map[string]string{}
	for i := range f.Params {
		v := &f.Params[i]
		names[v.Name] = fmt.Sprint("p", i)
		k.params = append(k.params, declaration{[]string{names[v.Name]}, replaced(m.Declaration(v), names)})
	}
	results := map[string]bool{}
	for _, v := range f.Returns {
		results[v.Name] = true
	}
	k.vars = declarations(m, f.Vars)
	k.globals = prototypes(m)
	k.globals = append(k.globals, declarations(m, m.Vars)...)
	for _, g := range m.Funcs {
		if g != f && !g.Entry {
			k.globals = append(k.globals, declaration{[]string{g.Name}, m.Text(g)})
		}
	}
	k.fill(f, names, results)
	k.tidy()
	k.allowed = k.flaws()
	return k
}

func prototypes(m *ptx.Module) (out []declaration) {
	for i := range m.Prototypes {
		p := &m.Prototypes[i]
		if m.Func(p.Name) == nil {
			out = append(out, declaration{[]string{p.Name}, m.Prototype(p)})
		}
	}
	return out
}

// declarations lists those of variables, each once.
func declarations(m *ptx.Module, vars []ptx.Var) (out []declaration) {
	for i := range vars {
		text := m.Declaration(&vars[i])
		at := slices.IndexFunc(out, func(d declaration) bool { return d.text == text })
		if at < 0 {
			at, out = len(out), append(out, declaration{text: text})
		}
		out[at].names = append(out[at].names, vars[i].Name)
	}
	return out
}

// fill takes the statements of a function over. What a function returns is dropped.
func (k *Kernel) fill(f *ptx.Func, names map[string]string, results map[string]bool) {
	labels := map[string]string{}
	for _, st := range f.Body {
		if st.Kind == ptx.StmtLabel || st.Kind == ptx.StmtTable {
			labels[st.Name] = fmt.Sprint("L", len(labels)+1)
		}
	}
	regs, counts := map[int]string{}, map[string]int{}
	for _, st := range f.Body {
		switch st.Kind {
		case ptx.StmtLabel:
			k.add(labels[st.Name] + ":")
		case ptx.StmtTable:
			var list []string
			for _, l := range st.Labels {
				list = append(list, labels[l])
			}
			k.add(labels[st.Name] + ": .branchtargets " + strings.Join(list, ", "))
		case ptx.StmtInst:
			if in := st.Inst; !(in.Name == "st" && len(in.Args[0].Elems) > 0 && results[in.Args[0].Elems[0].Name]) {
				k.add(inNames(in.Text, k.namesOf(f, in, names, labels, regs, counts)))
			}
		}
	}
}

// namesOf says what the names in an instruction become.
func (k *Kernel) namesOf(f *ptx.Func, in *ptx.Inst, params, labels map[string]string, regs map[int]string,
	counts map[string]int) map[string]string {
	out := map[string]string{}
	for from, to := range params {
		out[from] = to
	}
	list := in.Uses()
	for i := range in.Args {
		list = in.Args[i].Registers(list)
		if a := &in.Args[i]; a.Kind == ptx.Sym && labels[a.Name] != "" {
			from, _, _ := strings.Cut(a.Name, "@")
			out[from] = labels[a.Name]
		}
	}
	for _, r := range list {
		if regs[r] == "" {
			regs[r] = k.register(f.Regs[r].Type, counts)
		}
		out[f.Regs[r].Name] = regs[r]
	}
	return out
}

func (k *Kernel) add(text string) { k.body = append(k.body, k.statement(text, false)) }

func (k *Kernel) statement(text string, made bool) statement {
	k.made++
	return statement{k.made, text, made}
}

func (k *Kernel) clone() *Kernel {
	out := *k
	out.params, out.body, out.globals = slices.Clone(k.params), slices.Clone(k.body), slices.Clone(k.globals)
	out.types = map[string]string{}
	for name, t := range k.types {
		out.types[name] = t
	}
	return &out
}

// Len is the number of instructions.
func (k *Kernel) Len() (n int) {
	for _, s := range k.body {
		if !strings.Contains(s.text, ":") || strings.HasPrefix(s.text, "@") || strings.Contains(s.text, "::") {
			n++
		}
	}
	return n
}

// named gives the kernel its names anew, by the order in which they are used.
func (k *Kernel) named() *Kernel {
	m, err := ptx.Parse("k.ptx", []byte(k.String()))
	if err != nil {
		return k
	}
	out := Extract(m, m.Func(k.name))
	for i := range min(len(k.body), len(out.body)) {
		out.body[i].made = k.body[i].made
	}
	out.allowed = out.flaws()
	return out
}

// String is the kernel as a module.
func (k *Kernel) String() string { return k.print("") }

// print prints the kernel as a module. A suffix makes its global names differ from others'.
func (k *Kernel) print(suffix string) string {
	names := map[string]string{k.name: k.name + suffix}
	for _, d := range k.globals {
		for _, n := range d.names {
			if !strings.HasPrefix(d.text, ".extern .func") {
				names[n] = n + suffix
			}
		}
	}
	if suffix == "" {
		names = nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".version %s\n.target %s\n.address_size 64\n\n", k.version, k.target)
	for _, d := range k.globals {
		b.WriteString(replaced(d.text, names) + "\n\n")
	}
	fmt.Fprintf(&b, ".visible .entry %s(", replaced(k.name, names))
	for i, p := range k.params {
		b.WriteString(map[bool]string{true: ", "}[i > 0] + p.text)
	}
	b.WriteString(")\n")
	if k.directives != "" {
		b.WriteString(k.directives + "\n")
	}
	b.WriteString("{\n")
	k.declare(&b)
	for _, s := range k.body {
		if strings.HasSuffix(s.text, ":") {
			b.WriteString(s.text + "\n")
			continue
		}
		b.WriteString("\t" + inNames(s.text, names) + ";\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// declare prints the declarations of the body.
func (k *Kernel) declare(b *strings.Builder) {
	most := map[string]int{}
	types := map[string]string{}
	for _, s := range k.body {
		for _, w := range nameWord.FindAllString(s.text, -1) {
			if typ := k.types[w]; typ != "" {
				prefix := strings.TrimRight(w, "0123456789")
				n := 0
				fmt.Sscan(w[len(prefix):], &n)
				most[prefix], types[prefix] = max(most[prefix], n), typ
			}
		}
	}
	for _, prefix := range sortedKeys(most) {
		fmt.Fprintf(b, "\t.reg .%s %s<%d>;\n", types[prefix], prefix, most[prefix]+1)
	}
	for _, d := range k.vars {
		b.WriteString("\t" + d.text + "\n")
	}
}
