// Package strictyaml reads YAML files with one document, of bounded size, without unknown keys.
// It does not read YAML leniently, and its callers check the meaning of documents.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"optcheck/internal/input"
)

// Errors of Decode.
var (
	ErrEmpty = errors.New("empty")                  // there is no document
	ErrMore  = errors.New("more than one document") // or something else after the first
)

// ReadFile reads a regular file of at most limit bytes.
func ReadFile(file string, limit int) ([]byte, error) {
	return input.ReadFile(file, int64(limit))
}

// Decode decodes the only document of a text into v: a pointer to a value whose type must have
// all keys, or to a yaml.Node. Errors do not name the file; with ErrMore the first document was
// decoded all the same.
func Decode(text []byte, limit int, v any) error {
	if len(text) > limit {
		return fmt.Errorf("larger than %d bytes", limit)
	}
	if _, plain := v.(*yaml.Node); !plain { // of which no pair is compared
		if err := Check(text); err != nil {
			return err
		}
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(v); errors.Is(err, io.EOF) {
		return ErrEmpty
	} else if err != nil {
		return Plain(err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return ErrMore
	}
	return nil
}

// Check rejects documents that are costly to decode: those with duplicate keys, for each pair
// of which the YAML package writes an error.
func Check(text []byte) error {
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc); errors.Is(err, io.EOF) {
		return nil // whoever decodes it says that it is empty
	} else if err != nil {
		return Plain(err)
	}
	return unique(&doc)
}

func unique(n *yaml.Node) error {
	seen := map[string]int{}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Kind == yaml.ScalarNode {
			if at, twice := seen[c.Value]; twice {
				return fmt.Errorf("line %d: mapping key %q already defined at line %d", c.Line, c.Value, at)
			}
			seen[c.Value] = c.Line
		}
		if err := unique(c); err != nil {
			return err
		}
	}
	return nil
}

var (
	unknownKey = regexp.MustCompile(`field (\S+) not found in type .*`)
	wrongType  = regexp.MustCompile("cannot unmarshal !!(\\w+) (?:`([^`]*)` )?into \\S.*")
	kinds      = map[string]string{"str": "a text", "int": "a number", "float": "a number", "bool": "true or false", "map": "keys and values",
		"seq": "a list", "null": "nothing"}
)

// Plain rewrites an error of the YAML package for the author of the file: without the names of
// types in this program.
func Plain(err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n")
	var list []error
	for line := range strings.SplitSeq(text, "\n") {
		line = unknownKey.ReplaceAllString(strings.TrimSpace(line), `unknown key "$1"`)
		if m := wrongType.FindStringSubmatch(line); m != nil {
			what := kinds[m[1]]
			if what == "" {
				what = m[1]
			}
			if m[2] != "" {
				what += fmt.Sprintf(" (%s)", m[2])
			}
			line = wrongType.ReplaceAllLiteralString(line, what+" does not belong here")
		}
		list = append(list, errors.New(line))
	}
	return errors.Join(list...)
}

// Find gives the node to which a path of keys and numbers of elements leads in a document: the
// innermost one that is there. Keys are compared without regard to case.
func Find(doc *yaml.Node, path []any) *yaml.Node {
	n := doc
	if len(doc.Content) > 0 {
		n = doc.Content[0]
	}
	for _, step := range path {
		next := child(n, step)
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// child is the value of a key, or the element with a number; nil if there is none.
func child(n *yaml.Node, step any) *yaml.Node {
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if strings.EqualFold(n.Content[i].Value, step) {
				return n.Content[i+1]
			}
		}
	}
	return nil
}
