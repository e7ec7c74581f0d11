package values

import (
	"fmt"
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
	reg  string // of DropLine: what is computed
	to   string // and what is read instead; else the new line
}

// Kind is a kind of edits.
type Kind uint8

// The kinds, in the order in which they pay.
const (
	Remove   Kind = iota // a statement is gone
	Hoist                // the bodies of a block stand in its place
	DropLine             // a line of a statement is gone; who reads what it computed reads what it read
	Copy                 // an instruction becomes a copy of what it reads
	Number               // a constant becomes a register, whose value is an input
	Unstore              // a result is not stored
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
		case Copy:
			out = append(out, s.copies()...)
		case Number:
			out = append(out, s.numbers()...)
		}
	}
	if kind == Unstore {
		for _, s := range k.Final {
			out = append(out, Edit{stmt: s, kind: Remove})
		}
		return out
	}
	for _, f := range k.Funcs {
		each(f.Body, visit)
	}
	each(k.Body, visit)
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
var bounded = regexp.MustCompile(`[\[{]|^(div|rem|bfe|bfi|shfl|call)\b`)

// carried are lines that set or read a carry: neither may be missing.
var carried = regexp.MustCompile(`\.cc\b|^(@\S+ )?(add|sub|mad)c\b`)

// pure reports whether a statement only computes what may be any number.
func (s *Stmt) pure() bool { return !s.block() && !slices.ContainsFunc(s.Lines, bounded.MatchString) }

// droppable are the lines but the last of a statement that only computes.
func (s *Stmt) droppable() (out []Edit) {
	if !s.pure() {
		return nil
	}
	for i := range len(s.Lines) - 1 {
		dst, src := split(s.Lines[i])
		if len(dst) != 1 || !isTemp(dst[0]) || carried.MatchString(s.Lines[i]) {
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

// copies are instructions that could be copies of a register that they read.
func (s *Stmt) copies() (out []Edit) {
	if !s.pure() {
		return nil
	}
	for i, l := range s.Lines {
		dst, src := split(l)
		if len(dst) != 1 || carried.MatchString(l) || strings.HasPrefix(l, "mov") || strings.HasPrefix(l, "@") {
			continue
		}
		c := letter(dst[0])[1:]
		at := slices.IndexFunc(classes, func(x class) bool { return x.letter == c })
		if at < 0 {
			continue
		}
		var seen []string
		for _, r := range src {
			if letter(r)[1:] == c && !slices.Contains(seen, r) {
				seen = append(seen, r)
				out = append(out, Edit{stmt: s, kind: Copy, line: i, to: fmt.Sprintf("mov.%s %s, %s;", classes[at].ptx, dst[0], r)})
			}
		}
	}
	return out
}

var (
	// counted are instructions with operands that must be constants, or in a range.
	counted  = regexp.MustCompile(`^(@\S+ )?(lop3|mov|shfl|vote|match|redux|bar|fns|bmsk|set[a-z]*\.[a-z]+\.f|[a-z.]*\.(f16|f16x2|f32|f64|bf16|bf16x2))\b`)
	constant = regexp.MustCompile(`, (-?[0-9]+|0x[0-9a-f]+)([,;])`)
)

// numbers are constants that could be registers.
func (s *Stmt) numbers() (out []Edit) {
	if !s.pure() {
		return nil
	}
	for i, l := range s.Lines {
		_, src := split(l)
		if counted.MatchString(l) || len(src) == 0 {
			continue
		}
		c := letter(src[0])[1:]
		if strings.HasPrefix(l, "sh") {
			c = "r"
		}
		if c != "r" && c != "d" && c != "h" {
			continue
		}
		for _, at := range constant.FindAllStringSubmatchIndex(l, -1) {
			free := fmt.Sprintf("%%%s%d", c, classOf(c).pool-1)
			out = append(out, Edit{stmt: s, kind: Number, line: i, to: l[:at[2]] + free + l[at[3]:]})
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
	s.Lines[e.line] = e.to
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
