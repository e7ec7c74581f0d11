package program

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"optcheck/internal/strictyaml"
)

// atPlace is an error about a part of the file: the keys, and numbers of elements, that
// lead to it.
type atPlace struct {
	error
	path []any
}

func (p *atPlace) Unwrap() error { return p.error }

// in says what part of the file an error is about. One that is about a part of that part
// stays so.
func in(err error, path ...any) error {
	if err == nil {
		return nil
	}
	if p := (*atPlace)(nil); errors.As(err, &p) {
		path = append(path, p.path...)
	}
	return &atPlace{err, path}
}

// located gives an error the name of the file and the place in it that the error is about.
func located(file string, text []byte, err error) error {
	var p *atPlace
	var doc yaml.Node
	if !errors.As(err, &p) || yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return fmt.Errorf("%s: %w", file, err)
	}
	at := strictyaml.Find(&doc, p.path)
	return fmt.Errorf("%s:%d:%d: %w", file, at.Line, at.Column, err)
}
