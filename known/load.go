package known

import (
	_ "embed"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"optcheck/event"
	"optcheck/internal/strictyaml"
	"optcheck/optcheck"
	"optcheck/spec"
	"optcheck/verify"
)

//go:embed default.yaml
var builtin []byte

// BuiltinName is the file name under which the built-in list appears in
// messages and origins.
const BuiltinName = "default.yaml"

// Builtin returns the list of the findings that this project has established; docs/results/cuda.md
// describes them.
func Builtin() *List {
	l, err := Parse(BuiltinName, builtin)
	if err != nil {
		panic(err) // the file is part of the binary, and a test reads it
	}
	return l
}

// maxFile bounds a file of filters, in bytes.
const maxFile = 4 << 20

// ReadFile reads a list from a file.
func ReadFile(file string) (*List, error) {
	text, err := strictyaml.ReadFile(file, maxFile)
	if err != nil {
		return nil, err
	}
	return Parse(file, text)
}

// Parse reads a list. Whatever it does not understand is an error: an unknown key, rule or
// class, a pattern that does not compile, a duplicate ID. Errors are joined and name file, line
// and column.
func Parse(file string, text []byte) (*List, error) {
	var doc yaml.Node
	p := &parser{file: file, list: &List{}}
	switch err := strictyaml.Decode(text, maxFile, &doc); {
	case errors.Is(err, strictyaml.ErrEmpty):
		return nil, fmt.Errorf("%s: empty; expected a key known with a list of filters", file)
	case errors.Is(err, strictyaml.ErrMore):
		p.errs = append(p.errs, fmt.Errorf("%s: %w", file, err))
	case err != nil:
		return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	p.document(doc.Content[0])
	if err := errors.Join(p.errs...); err != nil {
		return nil, err
	}
	return p.list, nil
}

// Append adds another list's filters; an ID that exists already is an error.
func (l *List) Append(more *List) error {
	for _, f := range more.Filters {
		if i := slices.IndexFunc(l.Filters, func(g *Filter) bool { return g.ID == f.ID }); i >= 0 {
			return fmt.Errorf("%s: filter %q is already defined at %s", f.Origin, f.ID, l.Filters[i].Origin)
		}
		l.Filters = append(l.Filters, f)
	}
	return nil
}

type parser struct {
	file string
	list *List
	errs []error
}

func (p *parser) at(n *yaml.Node) string { return fmt.Sprintf("%s:%d:%d", p.file, n.Line, n.Column) }

// maxErrors bounds the errors reported for one file.
const maxErrors = 20

func (p *parser) errorf(n *yaml.Node, format string, args ...any) {
	p.fail(fmt.Errorf("%s: %s", p.at(n), fmt.Sprintf(format, args...)))
}

func (p *parser) fail(err error) {
	switch {
	case len(p.errs) < maxErrors:
		p.errs = append(p.errs, err)
	case len(p.errs) == maxErrors:
		p.errs = append(p.errs, fmt.Errorf("%s: and more", p.file))
	}
}

func (p *parser) document(n *yaml.Node) {
	p.mapping(n, "the file", func(key string, v *yaml.Node) bool {
		if key != "known" {
			return false
		}
		if v.Kind != yaml.SequenceNode {
			p.errorf(v, "known: expected a list of filters")
			return true
		}
		for _, n := range v.Content {
			p.filter(n)
		}
		return true
	})
}

// mapping passes each key with its value to f, which returns false for an unknown key.
func (p *parser) mapping(n *yaml.Node, what string, f func(key string, v *yaml.Node) bool) {
	if n.Kind != yaml.MappingNode {
		p.errorf(n, "%s: expected keys and values", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode:
			p.errorf(k, "%s: a key must be a word", what)
		case seen[k.Value]:
			p.errorf(k, "%s: duplicate key %q", what, k.Value)
		case !f(k.Value, v):
			p.errorf(k, "%s: unknown key %q", what, k.Value)
		}
		seen[k.Value] = true
	}
}

// text reads a single value.
func (p *parser) text(v *yaml.Node, what string) string {
	if v.Kind != yaml.ScalarNode || v.Value == "" {
		p.errorf(v, "%s: expected a text", what)
		return ""
	}
	return strings.TrimSpace(v.Value)
}

// texts reads a value or a list of values, each of which ok must accept.
func (p *parser) texts(v *yaml.Node, what string, ok func(string) error) (list []string) {
	nodes := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		nodes = v.Content
	}
	if len(nodes) == 0 {
		p.errorf(v, "%s: empty list; leave the key out to mean any", what)
	}
	for _, n := range nodes {
		s := p.text(n, what)
		if s == "" {
			continue
		}
		if err := ok(s); err != nil {
			p.errorf(n, "%s: %v", what, err)
			continue
		}
		list = append(list, s)
	}
	return list
}

func (p *parser) filter(n *yaml.Node) {
	f := &Filter{Origin: p.at(n)}
	p.mapping(n, "filter", func(key string, v *yaml.Node) bool {
		switch key {
		case "id":
			f.ID = p.text(v, key)
		case "rule", "rules":
			f.Rules = append(f.Rules, p.texts(v, key, isRule)...)
		case "class", "classes":
			f.Classes = append(f.Classes, p.texts(v, key, isClass)...)
		case "target", "targets":
			f.Targets = append(f.Targets, p.texts(v, key, anything)...)
		case "level", "levels":
			f.Levels = append(f.Levels, p.texts(v, key, isLevel)...)
		case "layout", "layouts":
			f.Layouts = append(f.Layouts, p.texts(v, key, isLayout)...)
		case "stage", "stages":
			f.Stages = append(f.Stages, p.texts(v, key, anything)...)
		case "test", "tests":
			f.Tests = append(f.Tests, p.texts(v, key, isGlob)...)
		case "shape", "shapes":
			f.Shapes = append(f.Shapes, p.texts(v, key, isGlob)...)
		case "detail":
			f.Detail = p.text(v, key)
			var err error
			if f.detail, err = regexp.Compile(f.Detail); err != nil {
				p.errorf(v, "detail: %v", err)
			}
		case "with":
			f.With = p.texts(v, key, isRule)
		case "beside":
			f.Beside = p.texts(v, key, isRule)
		case "releases":
			p.releases(v, f)
		case "note":
			f.Note = p.text(v, key)
		case "reason":
			f.Reason = p.text(v, key)
		case "link":
			f.Link = p.text(v, key)
		default:
			return false
		}
		return true
	})
	for _, missing := range []struct {
		what string
		is   bool
	}{{"an id", f.ID == ""}, {"a rule", len(f.Rules) == 0}, {"a note", f.Note == ""}, {"a reason", f.Reason == ""}} {
		if missing.is {
			p.errorf(n, "filter %q lacks %s", f.ID, missing.what)
		}
	}
	if f.ID != "" {
		if err := p.list.Append(&List{Filters: []*Filter{f}}); err != nil {
			p.fail(err)
		}
	}
}

// releases reads {from: "11.2", to: "11.8"}.
func (p *parser) releases(n *yaml.Node, f *Filter) {
	p.mapping(n, "releases", func(key string, v *yaml.Node) bool {
		var bound *string
		switch key {
		case "from":
			bound = &f.From
		case "to":
			bound = &f.To
		default:
			return false
		}
		if *bound = p.text(v, key); *bound != "" && !version.MatchString(*bound) {
			p.errorf(v, "%s: %q is not a release (\"12.4\", in quotes)", key, *bound)
		}
		return true
	})
	if f.From == "" && f.To == "" {
		p.errorf(n, "releases: expected from, to or both")
	}
}

var version = regexp.MustCompile(`^\d{1,6}(\.\d{1,6}){0,3}$`)

func anything(string) error { return nil }

func isRule(s string) error {
	if slices.ContainsFunc(verify.Rules(), func(r verify.Entry) bool { return string(r.Rule) == s }) {
		return nil
	}
	if r, ok := optcheck.LookupRule(s); s != event.Undecided && (!ok || !r.Breakable()) {
		return fmt.Errorf("%q is not a rule that a finding can break", s)
	}
	return nil
}

func isClass(s string) error {
	if s != event.Unknown && !(&event.Result{Class: s}).HasFindings() {
		return fmt.Errorf("%q is not a class with findings (%s, %s, %s, %s), nor %s", s, event.Changed, event.Optimised, event.Miscompiled,
			event.Crashed, event.Unknown)
	}
	return nil
}

func isLevel(s string) error {
	if !regexp.MustCompile(`^O[0-3]$`).MatchString(s) {
		return fmt.Errorf("%q is not a level (O0, O1, O2, O3)", s)
	}
	return nil
}

func isLayout(s string) error {
	_, err := spec.ParseLayout(s)
	return err
}

func isGlob(s string) error {
	_, err := path.Match(s, "")
	return err
}
