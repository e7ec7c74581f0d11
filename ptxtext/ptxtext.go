// Package ptxtext reads PTX as a compiler prints it. It splits modules into kernels that can be
// assembled alone, and lists what a kernel does to memory, with the data flow between accesses.
//
// It does not judge what it reads (match compares it with a specification), and it is not an
// assembler: what it does not know becomes an access without meaning, never silently nothing.
package ptxtext

import (
	"fmt"
	"regexp"
	"strings"
)

// MaxInput bounds the text of a module, in bytes.
const MaxInput = 512 << 20

// Module is a parsed module.
type Module struct {
	// Header has the lines .version, .target, .address_size and .file.
	Header string
	// Kernels are the entries in the order of the text.
	Kernels []Kernel
}

// Kernel is one entry.
type Kernel struct {
	Name string
	// Text is the entry, preceded by the module's variables that it uses.
	Text string
}

// variable is a module-scope variable.
type variable struct{ name, text string }

// Split splits a module. A kernel gets the variables that its text names. Anything else in the
// module, such as a function, is an error: a kernel that calls something is not all there is to
// examine.
func Split(text string) (*Module, error) {
	if len(text) > MaxInput {
		return nil, fmt.Errorf("a module of %d bytes, at most %d are read", len(text), MaxInput)
	}
	m := &Module{}
	var vars []variable
	var entry strings.Builder
	name, depth, n := "", 0, 0
	for line := range strings.Lines(text) {
		n++
		code := strings.TrimSpace(uncomment(line))
		switch {
		case name != "":
			entry.WriteString(line)
			depth += strings.Count(code, "{") - strings.Count(code, "}")
			if strings.HasSuffix(code, "}") && depth == 0 {
				m.Kernels = append(m.Kernels, Kernel{Name: name, Text: entry.String()})
				name = ""
				entry.Reset()
			}
		case code == "" || emptySection.MatchString(code):
		case directive(code, ".file"): // LLVM prints them last
			m.Header += code + "\n"
		case directive(code, ".version", ".target", ".address_size"):
			if len(m.Kernels)+len(vars) > 0 {
				return nil, fmt.Errorf("line %d: %s behind the first declaration", n, code)
			}
			m.Header += code + "\n"
		case strings.Contains(code, ".entry "):
			_, after, _ := strings.Cut(code, ".entry ")
			if name = identifier(after); name == "" || strings.ContainsAny(code, "{}") {
				return nil, fmt.Errorf("line %d: entry %q not understood", n, code)
			}
			entry.WriteString(line)
		case strings.HasSuffix(code, ";") && (strings.Contains(code, ".global ") || strings.Contains(code, ".shared ")):
			v := variableOf(code)
			if v == "" {
				return nil, fmt.Errorf("line %d: variable %q not understood", n, code)
			}
			vars = append(vars, variable{v, line})
		default:
			return nil, fmt.Errorf("line %d: %q is no part of a kernel", n, code)
		}
	}
	if name != "" {
		return nil, fmt.Errorf("entry %s does not end", name)
	}
	lend(m, vars)
	return m, nil
}

// emptySection is a section of debug information with nothing in it.
var emptySection = regexp.MustCompile(`^\.section\s+\.debug_\w+\s*\{\s*\}$`)

// lend puts the variables that a kernel uses before it.
func lend(m *Module, vars []variable) {
	if len(vars) == 0 {
		return
	}
	at := make(map[string]int, len(vars))
	for i, v := range vars {
		at[v.name] = i
	}
	for i := range m.Kernels {
		k := &m.Kernels[i]
		named, needs := make(map[int]bool), false
		for id := range identifiers(k.Text) {
			if v, ok := at[id]; ok {
				named[v], needs = true, true
			}
		}
		if !needs {
			continue
		}
		var b strings.Builder
		for v := range vars {
			if named[v] {
				b.WriteString(vars[v].text)
			}
		}
		k.Text = b.String() + k.Text
	}
}

// uncomment removes a one-line comment.
func uncomment(line string) string {
	code, _, _ := strings.Cut(line, "//")
	return code
}

func directive(code string, names ...string) bool {
	for _, n := range names {
		if rest, ok := strings.CutPrefix(code, n); ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			return true
		}
	}
	return false
}

// variableOf returns the name that a declaration declares: the word before its
// size or initial value.
func variableOf(code string) string {
	decl, _, _ := strings.Cut(strings.TrimSuffix(code, ";"), "=")
	decl, _, _ = strings.Cut(decl, "[")
	fields := strings.Fields(decl)
	if len(fields) < 2 {
		return ""
	}
	if last := fields[len(fields)-1]; identifier(last) == last {
		return last
	}
	return ""
}

func isIdent(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '%'
}

// identifier returns the name that a text begins with, "" if none does.
func identifier(s string) string {
	i := 0
	for i < len(s) && isIdent(s[i]) {
		i++
	}
	if i == 0 || s[0] >= '0' && s[0] <= '9' {
		return ""
	}
	return s[:i]
}

// identifiers yields the words of a text that can be names.
func identifiers(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := 0; i < len(s); {
			if !isIdent(s[i]) {
				i++
				continue
			}
			j := i
			for j < len(s) && isIdent(s[j]) {
				j++
			}
			if !yield(s[i:j]) {
				return
			}
			i = j
		}
	}
}
