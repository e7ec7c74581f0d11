package program

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"optcheck/internal/strictyaml"
)

// rawParams are the numbers that have names: wherever the file says $NAME.
type rawParams struct {
	Params map[string]int64   `yaml:"params"`
	Sizes  []map[string]int64 `yaml:"sizes"`
}

var (
	paramOK  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	paramUse = regexp.MustCompile(`\$[A-Za-z0-9_]*`)
)

// maxSizes bounds a sweep.
const maxSizes = 64

// With reads the program again, with other values of its parameters.
func (p *Program) With(set map[string]int64) (*Program, error) {
	return parse(p.File, p.text, set, func(name string) ([]byte, error) {
		for _, s := range []*Source{&p.PTX, &p.CUDA, &p.OpenCL} {
			if s.Name == name {
				return s.Text, nil
			}
		}
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	})
}

// substitute writes the values of parameters into the text of a program.
func substitute(text []byte, set map[string]int64) (params map[string]int64, sizes []map[string]int64, out []byte, err error) {
	var raw rawParams
	if strictyaml.Check(text) != nil || yaml.Unmarshal(text, &raw) != nil {
		return nil, nil, text, nil // the strict reader says what is wrong
	}
	if len(raw.Sizes) > maxSizes {
		return nil, nil, nil, fmt.Errorf("sizes: %d, at most %d are taken", len(raw.Sizes), maxSizes)
	}
	for _, name := range slices.Sorted(maps.Keys(raw.Params)) {
		if !paramOK.MatchString(name) {
			return nil, nil, nil, fmt.Errorf("params: %q: want small letters, digits and _", name)
		}
	}
	for _, size := range append(slices.Clip(raw.Sizes), set) {
		for _, name := range slices.Sorted(maps.Keys(size)) {
			if _, ok := raw.Params[name]; !ok {
				return nil, nil, nil, fmt.Errorf("there is no parameter %q: params has %s", name,
					strings.Join(slices.Sorted(maps.Keys(raw.Params)), ", "))
			}
		}
	}
	params = maps.Clone(raw.Params)
	maps.Copy(params, set)
	last := 0
	for _, use := range paramUse.FindAllIndex(text, -1) {
		v, ok := params[string(text[use[0]+1:use[1]])]
		if !ok {
			return nil, nil, nil, fmt.Errorf("line %d: %s is no parameter of params", 1+bytes.Count(text[:use[0]], []byte("\n")),
				text[use[0]:use[1]])
		}
		out = strconv.AppendInt(append(out, text[last:use[0]]...), v, 10)
		last = use[1]
	}
	return params, raw.Sizes, append(out, text[last:]...), nil
}
