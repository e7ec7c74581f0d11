// Package figures computes the numbers that pages of results state from the files that are stored beside them: tables,
// which stand in a page behind a comment with their name, and sentences. A test compares; with -update it writes the
// tables. It is for pages of this repository, not for reports of runs, which package report makes.
package figures

import (
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
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

// open opens a stored file, compressed or not.
func (t Tree) open(name string) (io.ReadCloser, error) {
	f, err := input.Open(filepath.Join(string(t), name))
	if err != nil || !strings.HasSuffix(name, ".gz") {
		return f, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// text reads a stored file.
func (t Tree) text(name string) (string, error) {
	f, err := t.open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

// matrix reads a stored matrix.
func (t Tree) matrix(name string) (Matrix, error) {
	f, err := t.open(name)
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

// find returns the groups of a pattern's only match in a text.
func find(text, pattern string) ([]string, error) {
	all := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
	if len(all) != 1 {
		return nil, fmt.Errorf("%d matches of %q, expected one", len(all), pattern)
	}
	return all[0][1:], nil
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
