package fakeptxas

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Op is what an Edit does to a kernel.
type Op string

// The operations. A position is that of an access or fence in its thread; its
// code is what the line directive of that position covers.
const (
	Move    Op = "move"    // the code of Pos to before the code of Before
	Delete  Op = "delete"  // the access or fence of Pos; what its marker needs stays
	Respell Op = "respell" // From of the instruction of Pos becomes To
	CopyReg Op = "copy"    // the load of Pos becomes a move of From
	Unguard Op = "unguard" // the instruction of Pos loses its predicate
	Twice   Op = "twice"   // the access of Pos is made a second time
	Insert  Op = "insert"  // To before the code of Pos
	Replace Op = "replace" // the only line From becomes To
)

// Edit is one change of a kernel in audit form.
type Edit struct {
	Op     Op     `json:"op"`
	Pos    int    `json:"pos"`
	Before int    `json:"before,omitempty"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
}

var (
	entryStart = regexp.MustCompile(`\.entry\s+([A-Za-z0-9_$]+)\s*\(`)
	locLine    = regexp.MustCompile(`^\s*\.loc\s+1\s+(\d+)\s`)
	accessLine = regexp.MustCompile(`^\s*(@!?%\S+\s+)?((ld|st)\.(global|shared|volatile|relaxed|acquire|release|mmio|weak)|atom|red|membar|fence|bar)\b`)
)

// Kernels lists the names of the entries of a module, in order.
func Kernels(ptx string) []string {
	var names []string
	for _, m := range entryStart.FindAllStringSubmatch(ptx, -1) {
		names = append(names, m[1])
	}
	return names
}

// Apply changes the kernels of a module that have edits. An edit that does not
// fit its kernel is an error: a control that changes nothing would prove
// nothing.
func Apply(ptx string, edits map[string][]Edit) (string, error) {
	starts := entryStart.FindAllStringSubmatchIndex(ptx, -1)
	var b strings.Builder
	last := 0
	for i, m := range starts {
		list := edits[ptx[m[2]:m[3]]]
		if len(list) == 0 {
			continue
		}
		end := len(ptx)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		body := ptx[m[0]:end]
		for _, e := range list {
			var err error
			if body, err = e.apply(body); err != nil {
				return "", fmt.Errorf("kernel %s: %s at %d: %w", ptx[m[2]:m[3]], e.Op, e.Pos, err)
			}
		}
		b.WriteString(ptx[last:m[0]])
		b.WriteString(body)
		last = end
	}
	b.WriteString(ptx[last:])
	return b.String(), nil
}

// segment finds the lines [from, to) that the line directive of a position
// covers, the directive included.
func segment(lines []string, pos int) (from, to int, err error) {
	from = slices.IndexFunc(lines, func(l string) bool {
		m := locLine.FindStringSubmatch(l)
		return m != nil && m[1] == strconv.Itoa(pos+1)
	})
	if from < 0 {
		return 0, 0, fmt.Errorf("no code of position %d", pos)
	}
	to = from + 1
	for to < len(lines) && !locLine.MatchString(lines[to]) {
		to++
	}
	return from, to, nil
}

// access finds the line of the access or fence of a position.
func access(lines []string, pos int) (int, error) {
	from, to, err := segment(lines, pos)
	if err != nil {
		return 0, err
	}
	for i := from; i < to; i++ {
		if accessLine.MatchString(lines[i]) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("no access or fence at position %d", pos)
}

func (e Edit) apply(body string) (string, error) {
	lines := strings.SplitAfter(body, "\n")
	if e.Op == Replace {
		if strings.Count(body, e.From) != 1 {
			return "", fmt.Errorf("%q occurs %d times", e.From, strings.Count(body, e.From))
		}
		return strings.Replace(body, e.From, e.To, 1), nil
	}
	from, to, err := segment(lines, e.Pos)
	if err != nil {
		return "", err
	}
	switch e.Op {
	case Move:
		moved := slices.Clone(lines[from:to])
		lines = slices.Delete(lines, from, to)
		at, _, err := segment(lines, e.Before)
		if err != nil {
			return "", err
		}
		if at >= from {
			return "", fmt.Errorf("position %d does not stand before it", e.Before)
		}
		return strings.Join(slices.Insert(lines, at, moved...), ""), nil
	case Insert:
		return strings.Join(slices.Insert(lines, from, "\t"+e.To+"\n"), ""), nil
	}
	i, err := access(lines, e.Pos)
	if err != nil {
		return "", err
	}
	old := lines[i]
	switch e.Op {
	case Delete:
		lines[i] = ""
	case Twice:
		lines[i] = old + old
	case Respell:
		lines[i] = strings.Replace(old, e.From, e.To, 1)
	case CopyReg:
		dst, _, ok := strings.Cut(strings.TrimSpace(old), ",")
		words := strings.Fields(dst)
		if !ok || len(words) < 2 {
			return "", fmt.Errorf("no load: %s", old)
		}
		lines[i] = "\t" + strings.Join(append(words[:len(words)-2:len(words)-2], "mov.b32", words[len(words)-1]), " ") + ", " + e.From + ";\n"
	case Unguard:
		lines[i] = regexp.MustCompile(`^\s*@!?\S+\s+`).ReplaceAllString(old, "\t")
	default:
		return "", fmt.Errorf("unknown operation %q", e.Op)
	}
	if lines[i] == old {
		return "", fmt.Errorf("nothing to change in %q", strings.TrimSpace(old))
	}
	return strings.Join(lines, ""), nil
}
