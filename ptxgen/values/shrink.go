package values

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Edit makes a kernel smaller.
type Edit struct {
	stmt *Stmt
	kind Kind
	line int
	reg  string // a register that becomes a constant
	to   string
}

// Kind is a kind of edits.
type Kind uint8

// The kinds, in the order in which they pay.
const (
	Remove   Kind = iota // a statement is gone
	Hoist                // the bodies of a block stand in its place
	DropLine             // a line of a statement is gone; who reads what it computed reads what it read
	Constant             // a register that is read becomes a constant
	Kinds
)

// Edits are all edits of a kind.
func (k *Kernel) Edits(kind Kind) (out []Edit) {
	visit := func(s *Stmt) {
		switch kind {
		case Remove:
			out = append(out, Edit{stmt: s, kind: kind})
		case Hoist:
			if s.block() {
				out = append(out, Edit{stmt: s, kind: kind})
			}
		case DropLine:
			out = append(out, s.droppable()...)
		case Constant:
			out = append(out, s.constants()...)
		}
	}
	for _, f := range k.Funcs {
		each(f.Body, visit)
	}
	each(k.Body, visit)
	each(k.Final, visit)
	return out
}

func each(list []*Stmt, visit func(*Stmt)) {
	for _, s := range list {
		visit(s)
		each(s.Body, visit)
		each(s.Else, visit)
	}
}

// bounded are lines whose operands must stay in their ranges: addresses, divisors, fields of bits.
var bounded = regexp.MustCompile(`[\[{]|^(div|rem|bfe|bfi)\b`)

// pure reports whether a statement only computes what may be any number.
func (s *Stmt) pure() bool { return !s.block() && !slices.ContainsFunc(s.Lines, bounded.MatchString) }

// droppable are the lines but the last of a statement that only computes.
func (s *Stmt) droppable() (out []Edit) {
	if !s.pure() {
		return nil
	}
	for i := range len(s.Lines) - 1 {
		dst, src := split(s.Lines[i])
		if len(dst) != 1 || !isTemp(dst[0]) {
			continue
		}
		to := letter(dst[0]) + "0"
		if at := slices.IndexFunc(src, func(r string) bool { return letter(r) == letter(dst[0]) }); at >= 0 {
			to = src[at]
		}
		out = append(out, Edit{stmt: s, kind: DropLine, line: i, reg: dst[0], to: to})
	}
	return out
}

// constants are registers of the pool that a plain statement reads.
func (s *Stmt) constants() (out []Edit) {
	if s.block() {
		return nil
	}
	for i, l := range s.Lines {
		_, src := split(l)
		for _, r := range src {
			if c := letter(r); !isTemp(r) && (c == "%r" || c == "%d" || c == "%h") {
				out = append(out, Edit{stmt: s, kind: Constant, line: i, reg: r, to: "0"}, Edit{stmt: s, kind: Constant, line: i, reg: r, to: "1"})
			}
		}
	}
	return out
}

func letter(r string) string { return strings.TrimRight(r, "0123456789") }

func isTemp(r string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(r, letter(r)))
	return err == nil && n >= 100
}

// Apply makes the edits. The kernel is nil if it would read a register that has no value.
func (k *Kernel) Apply(edits []Edit) *Kernel {
	by := map[*Stmt][]Edit{}
	for _, e := range edits {
		by[e.stmt] = append(by[e.stmt], e)
	}
	out := *k
	out.Funcs = nil
	for _, f := range k.Funcs {
		g := *f
		g.Body = apply(f.Body, by)
		out.Funcs = append(out.Funcs, &g)
	}
	out.Body, out.Final = apply(k.Body, by), apply(k.Final, by)
	if !out.defined() {
		return nil
	}
	return &out
}

func apply(list []*Stmt, by map[*Stmt][]Edit) (out []*Stmt) {
	for _, s := range list {
		edits := by[s]
		body, other := apply(s.Body, by), apply(s.Else, by)
		switch {
		case len(edits) > 0 && edits[0].kind == Remove:
		case len(edits) > 0 && edits[0].kind == Hoist:
			out = append(append(out, body...), other...)
		case len(edits) == 0 && slices.Equal(body, s.Body) && slices.Equal(other, s.Else):
			out = append(out, s)
		default:
			c := *s
			c.Body, c.Else, c.Lines = body, other, slices.Clone(s.Lines)
			for _, e := range edits {
				e.apply(&c)
			}
			c.Lines = slices.DeleteFunc(c.Lines, func(l string) bool { return l == "" })
			out = append(out, &c)
		}
	}
	return out
}

func (e *Edit) apply(s *Stmt) {
	if e.kind == DropLine {
		s.Lines[e.line] = ""
		for i := range s.Lines {
			s.Lines[i] = rename(s.Lines[i], e.reg, e.to)
		}
		return
	}
	m := plainLine.FindStringSubmatch(s.Lines[e.line])
	if m == nil || noDst.MatchString(m[1]) {
		s.Lines[e.line] = rename(s.Lines[e.line], e.reg, e.to)
		return
	}
	s.Lines[e.line] = m[1] + " " + m[2] + rename(m[3], e.reg, e.to)
}

func rename(text, from, to string) string {
	return register.ReplaceAllStringFunc(text, func(r string) string {
		if r == from {
			return to
		}
		return r
	})
}

// defined reports whether each temporary register is written before it is read, in the order of the text.
func (k *Kernel) defined() bool {
	for _, list := range append([][]*Stmt{append(slices.Clone(k.Body), k.Final...)}, bodies(k.Funcs)...) {
		written := map[string]bool{}
		for _, s := range list {
			for _, line := range s.all() {
				dst, src := split(line)
				for _, r := range src {
					if isTemp(r) && !written[r] {
						return false
					}
				}
				for _, r := range dst {
					written[r] = true
				}
			}
		}
	}
	return true
}

func bodies(funcs []*Func) (out [][]*Stmt) {
	for _, f := range funcs {
		out = append(out, f.Body)
	}
	return out
}
