// Package figures computes the numbers that pages of results state from the matrices that audit's tests compare with what the
// compilers do: tables, which stand in a page behind a comment with their name, and sentences. A test compares; with -update it
// writes the tables. What was measured on a device once is marked so in its page, and not computed again. The package is for
// pages of this repository, not for reports of runs, which package report makes.
package figures

import (
	"fmt"
	"path/filepath"
	"strings"

	"optcheck/internal/input"
	"optcheck/internal/plain"
)

// Tree is the root of the repository.
type Tree string

// Table is a table of a page. It stands behind the line <!-- figures: NAME -->.
type Table struct {
	Page, Name string
	Rows       func(Tree) ([]string, error)
}

// Sentence is something that a page says with numbers, as Say writes it.
type Sentence struct {
	Page string
	Say  func(Tree) ([]string, error)
}

// matrix reads a stored matrix.
func (t Tree) matrix(name string) (Matrix, error) {
	f, err := input.Open(filepath.Join(string(t), name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := ReadMatrix(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// Fill writes the rows of a table into a page, in the place of those that it has.
func Fill(page, name string, rows []string) (string, error) {
	mark := "<!-- figures: " + name + " -->\n"
	before, after, ok := strings.Cut(page, mark)
	if !ok {
		return "", fmt.Errorf("no line %q", strings.TrimSpace(mark))
	}
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	return before + mark + strings.Join(rows, "\n") + "\n" + after, nil
}

// row writes a row of a table.
func row(cells ...any) string {
	var b strings.Builder
	b.WriteString("|")
	for _, c := range cells {
		if n, ok := c.(int); ok {
			c = plain.Number(n)
		}
		fmt.Fprintf(&b, " %v |", c)
	}
	return b.String()
}
