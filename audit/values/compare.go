package values

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Same reports whether two causes, of whichever hunts, are one.
func (c *Cause) Same(o *Cause) bool { return patternIn(c.Signature).same(patternIn(o.Signature)) }

// patternIn reads what pattern.String has written.
func patternIn(signature string) pattern {
	source, machine, _ := strings.Cut(signature, " -> ")
	return pattern{source: strings.Fields(source), machine: strings.Fields(machine)}
}

// Lacking lists the causes that no cause of others is the same as.
func Lacking(causes, others []*Cause) []*Cause {
	return slices.DeleteFunc(slices.Clone(causes), func(c *Cause) bool { return slices.ContainsFunc(others, c.Same) })
}

// Only is the part of a report that belongs to the toolchain for whose ID yes holds, which
// must be one.
func (r *Report) Only(yes func(id string) bool) (id string, part *Report, err error) {
	for _, cell := range r.Compilers {
		switch tc := toolchainOf(cell); {
		case !yes(tc) || tc == id:
		case id != "":
			return "", nil, fmt.Errorf("that is %s and %s", id, tc)
		default:
			id = tc
		}
	}
	if id == "" {
		return "", nil, fmt.Errorf("the hunt was in %s", strings.Join(r.Compilers, ", "))
	}
	own := *r
	own.Causes = nil
	for _, c := range r.Causes {
		one := *c
		one.Where = slices.DeleteFunc(slices.Clone(c.Where), func(w string) bool { return toolchainOf(w) != id })
		if len(one.Where) > 0 {
			own.Causes = append(own.Causes, &one)
		}
	}
	return id, &own, nil
}

// toolchainOf is the ID of the toolchain in the name of a cell: "ptxas 12.4.131".
func toolchainOf(cell string) string {
	words := strings.Fields(cell)
	return strings.Join(words[:min(len(words), 2)], " ")
}

// ErrNoHunt is the error of ReadReport for what is not the output of a hunt for values.
var ErrNoHunt = errors.New("not the output of optcheck hunt --values")

// maxEvent bounds a line of the output of a hunt.
const maxEvent = 64 << 20

// ReadReport reads the report from what a hunt has written, which must have come to its end.
func ReadReport(r io.Reader) (*Report, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxEvent)
	for n := 0; lines.Scan(); n++ {
		var e struct {
			Seed   *uint64 `json:"seed"`
			Report *Report `json:"report"`
		}
		err := json.Unmarshal(lines.Bytes(), &e)
		switch {
		case n == 0 && (err != nil || e.Seed == nil):
			return nil, ErrNoHunt
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		case e.Report == nil:
			continue
		}
		for _, c := range e.Report.Causes {
			if c == nil || c.Example == nil || c.Example.Finding == nil {
				return nil, fmt.Errorf("line %d: a cause without an example", n+1)
			}
		}
		return e.Report, nil
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return nil, errors.New("the hunt did not come to its end: there is no report")
}
