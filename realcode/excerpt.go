package realcode

import (
	"fmt"
	"path/filepath"
	"strings"

	"optcheck/ptx"
)

// Origin is the text that a module was made of, if it is at hand: a file of CUDA C++.
type Origin struct{ File, Text string }

// line is a line of the file, 0 if the place is in another one.
func (o Origin) line(at ptx.Loc) int {
	if filepath.Base(at.File) != filepath.Base(o.File) {
		return 0
	}
	return at.Line
}

// beside is how many lines on each side of an operation an excerpt has.
const beside = 2

// maxLines bounds an excerpt.
const maxLines = 4 * maxShown

// excerpt writes what a program is shown as: lines of its PTX, each with its number, as far
// as they are operations or stand near one. A line that begins with "// " says what the
// operation behind it was made of, and one with "…" how many lines are left out.
type excerpt struct {
	b      strings.Builder
	lines  []string // of the PTX
	before int      // how many lines of the file stand in front of them
	origin []string // lines of what it was made of
	file   string   // which that is
	last   ptx.Loc
	n      int
}

func newExcerpt(m *ptx.Module, o Origin) *excerpt {
	x := &excerpt{file: filepath.Base(o.File)}
	x.lines, x.before = m.Lines()
	if o.Text != "" {
		x.origin = strings.Split(o.Text, "\n")
	}
	return x
}

// of is the excerpt of a kernel: its operations, in the order of the functions that it calls.
func (x *excerpt) of(ops []*Op) string {
	x.b.Reset()
	x.last, x.n = ptx.Loc{}, 0
	for from := 0; from < len(ops); {
		to := from
		for to < len(ops) && ops[to].Func == ops[from].Func {
			to++
		}
		x.function(ops[from:to])
		from = to
	}
	return x.b.String()
}

// function writes the lines around operations of one function.
func (x *excerpt) function(ops []*Op) {
	body := ops[0].Func.Body
	end := ops[len(ops)-1].Inst.Pos.Line
	for _, st := range body {
		if st.Inst != nil {
			end = max(end, st.Inst.Pos.Line)
		}
	}
	var code []int
	for n := ops[0].Func.Pos.Line; n <= end && n <= x.before+len(x.lines); n++ {
		if isCode(x.lines[n-x.before-1]) {
			code = append(code, n)
		}
	}
	at, near := map[int]*Op{}, make([]bool, len(code))
	for _, op := range ops {
		at[op.Inst.Pos.Line] = op
	}
	for i, n := range code {
		for k := max(0, i-beside); at[n] != nil && k <= min(len(code)-1, i+beside); k++ {
			near[k] = true
		}
	}
	left := 0
	for i, n := range code {
		if !near[i] || x.n >= maxLines {
			left++
			continue
		}
		x.leftOut(&left)
		if op := at[n]; op != nil {
			x.madeOf(op.Inst.Loc)
		}
		fmt.Fprintf(&x.b, "%d: %s\n", n, cut(strings.Join(strings.Fields(x.lines[n-x.before-1]), " "), maxText))
		x.n++
	}
	x.leftOut(&left)
}

func (x *excerpt) leftOut(n *int) {
	if *n > 0 {
		fmt.Fprintf(&x.b, "… %d\n", *n)
	}
	*n = 0
}

// madeOf names the line that what follows was made of.
func (x *excerpt) madeOf(at ptx.Loc) {
	if at.Col = 0; at.Line == 0 || at == x.last {
		return
	}
	x.last = at
	name, text := filepath.Base(at.File), ""
	if name == x.file && at.Line <= len(x.origin) {
		text = strings.TrimSpace(x.origin[at.Line-1])
	}
	fmt.Fprintf(&x.b, "// %s:%d: %s\n", name, at.Line, cut(text, maxText))
}

// isCode reports whether a line of PTX has more than a directive, a comment or a brace.
func isCode(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 1 && !strings.HasPrefix(line, "//") && line[0] != '.'
}
