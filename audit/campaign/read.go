package campaign

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"optcheck/internal/strictyaml"
)

// Example is a campaign file with comments that shows every key.
//
//go:embed example.yaml
var Example string

// maxFile bounds a campaign file, in bytes.
const maxFile = 1 << 20

// ReadFile reads a campaign file.
func ReadFile(file string) (*Spec, error) {
	text, err := strictyaml.ReadFile(file, maxFile)
	if err != nil {
		return nil, err
	}
	return Parse(file, text)
}

// Parse reads a campaign. Whatever it does not understand is an error: an unknown key, a value
// out of range, a second document. Errors are joined and name file and line. Omitted keys get
// their defaults.
func Parse(file string, text []byte) (*Spec, error) {
	var raw struct {
		Spec  `yaml:",inline"`
		Tests yaml.Node `yaml:"tests"`
	}
	if err := strictyaml.Decode(text, maxFile, &raw); errors.Is(err, strictyaml.ErrEmpty) {
		return nil, fmt.Errorf("%s: empty; optcheck campaign init prints an example", file)
	} else if err != nil {
		return nil, located(file, err)
	}
	var doc yaml.Node // for positions
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, located(file, err)
	}
	s := &raw.Spec
	errs := s.readTests(file, &raw.Tests)
	s.defaults()
	for _, f := range s.check() {
		errs = append(errs, fmt.Errorf("%s: %s%s", position(file, &doc, f.at), label(f.at), f.why))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

// lineForm is the form of the YAML library's error positions.
var lineForm = regexp.MustCompile(`^line (\d+): (.*)$`)

// located adds file and line to the library's errors.
func located(file string, err error) error {
	var errs []error
	for l := range strings.SplitSeq(err.Error(), "\n") {
		m := lineForm.FindStringSubmatch(l)
		if m == nil {
			errs = append(errs, fmt.Errorf("%s: %s", file, l))
			continue
		}
		if strings.HasSuffix(m[2], " does not belong here") {
			m[2] += "; optcheck campaign init prints an example"
		}
		errs = append(errs, fmt.Errorf("%s:%s: %s", file, m[1], m[2]))
	}
	return errors.Join(errs...)
}

// position returns the line of a value, or of the innermost part of its path that exists.
func position(file string, doc *yaml.Node, at []any) string {
	return fmt.Sprintf("%s:%d", file, strictyaml.Find(doc, at).Line)
}

// label formats the path of a value: "gpu.slurm.time: ".
func label(at []any) string {
	var b strings.Builder
	for _, step := range at {
		if s, ok := step.(string); ok {
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	return b.String()
}

// readTests reads the key tests: a list of words and of mappings with one of the keys preset,
// gen and name, and optionally limit.
func (s *Spec) readTests(file string, n *yaml.Node) (errs []error) {
	bad := func(n *yaml.Node, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s:%d: tests: %s", file, n.Line, fmt.Sprintf(format, args...)))
	}
	if n.Kind == 0 {
		return nil
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		bad(n, "expected a list of tests, files, folders and presets")
		return errs
	}
	for _, e := range n.Content {
		switch {
		case e.Kind == yaml.ScalarNode && e.Value != "" && e.Value != "-":
			s.Tests = append(s.Tests, Tests{Name: e.Value})
		case e.Kind == yaml.MappingNode:
			s.Tests = append(s.Tests, readSource(e, bad))
		default:
			bad(e, "expected a word or {preset: quick, limit: 100}")
		}
	}
	return errs
}

func readSource(e *yaml.Node, bad func(*yaml.Node, string, ...any)) (t Tests) {
	sources := 0
	for i := 0; i+1 < len(e.Content); i += 2 {
		k, v := e.Content[i], e.Content[i+1]
		into := map[string]*string{"name": &t.Name, "preset": &t.Preset, "gen": &t.Gen}[k.Value]
		switch {
		case into != nil && v.Kind == yaml.ScalarNode && v.Value != "" && *into == "":
			*into = v.Value
			sources++
		case into != nil:
			bad(v, "%s: expected one word", k.Value)
		case k.Value != "limit":
			bad(k, "unknown key %q (preset, gen, name, limit)", k.Value)
		case v.Decode(&t.Limit) != nil || t.Limit < 1:
			bad(v, "limit: expected a number of tests")
		}
	}
	if sources != 1 {
		bad(e, "expected exactly one of preset, gen and name")
	}
	return t
}
