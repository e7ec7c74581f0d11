package verify

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"optcheck/ir"
)

// Plain is a name as the programmer wrote it: that of a C++ symbol without its parameters.
func Plain(symbol string) string {
	return demangle.Filter(symbol, demangle.NoParams, demangle.NoClones)
}

// Called reports whether a programmer may mean a symbol by a name: the symbol itself, its name in the source, or that without the
// arguments of a template, which all its instances share.
func Called(symbol, name string) bool {
	plain := Plain(symbol)
	template, _, _ := strings.Cut(plain, "<")
	return name == symbol || name == plain || name == template
}

// param is the name of a parameter of the kernel: that of the source, where it is known.
func (o *Options) param(p *ir.Program, i int) string {
	if i < len(o.Params) {
		return o.Params[i]
	}
	if p.Params[i].Name == p.Kernel+"_param_"+strconv.Itoa(i) { // as compilers call it that do not know better
		return strconv.Itoa(i)
	}
	return p.Params[i].Name
}

// comments and strings of CUDA C++.
var unread = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"`)

// ParamNames are the names that a source in CUDA C++ gives the n parameters of a kernel; nil if it has no kernel of that name with so
// many parameters, or several that name them differently.
func ParamNames(source, symbol string, n int) []string {
	name := Plain(symbol)
	if i := strings.IndexByte(name, '<'); i >= 0 {
		name = name[:i]
	}
	name = name[strings.LastIndexByte(name, ':')+1:]
	if f := strings.Fields(name); len(f) > 0 {
		name = f[len(f)-1]
	}
	text := unread.ReplaceAllString(source, " ")
	var found []string
	for _, at := range regexp.MustCompile(`__global__[^;{}]*?\b`+regexp.QuoteMeta(name)+`\s*\(`).FindAllStringIndex(text, -1) {
		names := declared(text[at[1]:])
		switch {
		case len(names) != n:
		case found == nil:
			found = names
		case strings.Join(found, ",") != strings.Join(names, ","):
			return nil
		}
	}
	return found
}

var lastName = regexp.MustCompile(`([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?$`)

// declared are the names of the parameters up to the parenthesis that ends them; a declaration without names has none.
func declared(text string) (names []string) {
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '<', '[', '{':
			depth++
			continue
		case '>', ']', '}':
			depth--
			continue
		case ')':
			if depth--; depth >= 0 {
				continue
			}
		case ',':
			if depth > 0 {
				continue
			}
		default:
			continue
		}
		m := lastName.FindStringSubmatch(strings.TrimSpace(text[from:i]))
		if m == nil {
			return names
		}
		if names, from = append(names, m[1]), i+1; text[i] == ')' {
			return names
		}
	}
	return nil
}
