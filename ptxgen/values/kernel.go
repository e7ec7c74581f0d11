// Package values generates random kernels whose results PTX defines: no undefined register is read, nothing is divided by zero,
// no two threads race, and no operation may be contracted. What a kernel stores is thus a function of its input, and a
// compiler that makes it store something else is wrong.
//
// A kernel is a list of statements over a pool of registers that have values from the start, so that any statement can be left
// out and the rest keeps its meaning: Shrink lists what is smaller. It does not compile, execute or judge.
package values

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Kernel is a random kernel of one block.
type Kernel struct {
	// Seed and Number say how it was made.
	Seed   uint64
	Number int
	// Threads is the size of its block.
	Threads int
	// Features are the kinds of statements that it was made of.
	Features []string
	// Funcs are the functions that it calls; Body what it computes; Final stores what it computed.
	Funcs []*Func
	Body  []*Stmt
	Final []*Stmt
}

// Func is a function of two 32-bit numbers. Its name begins with mark.
type Func struct {
	Name string
	Body []*Stmt
}

// mark stands for the name of the kernel in a text.
const mark = "\x00"

// Stmt is a statement: lines of PTX, or a block with a head, a body, and what stands before and after its second body.
type Stmt struct {
	Lines []string
	// Of a block: Body stands behind Lines, Else behind Mid, End behind both.
	Body, Else []*Stmt
	Mid, End   []string
}

// block reports whether a statement has bodies.
func (s *Stmt) block() bool { return len(s.End) > 0 }

// Count is the number of statements of a kernel.
func (k *Kernel) Count() int { return count(k.Body) + count(k.Final) }

func count(list []*Stmt) (n int) {
	for _, s := range list {
		n += 1 + count(s.Body) + count(s.Else)
	}
	return n
}

// class is a kind of registers.
type class struct {
	letter string
	ptx    string // type of the register
	pool   int    // registers that have values from the start
	in     int    // where a thread's input has the first one
	out    int    // where its output has it
	bytes  int    // of one
}

// The classes: integers of 32, 64 and 16 bits, f32, f64, two halves, a half, predicates.
var classes = []class{
	{"r", "b32", 8, 0, 0, 4}, {"d", "b64", 6, 32, 32, 8}, {"h", "b16", 6, 80, 80, 2}, {"f", "f32", 6, 96, 96, 4}, {"g", "f64", 4, 120, 120, 8},
	{"x", "b32", 4, 152, 152, 8}, {"e", "b16", 4, 168, 184, 4}, {"p", "pred", 4, 0, 200, 1}}

func classOf(letter string) class {
	return classes[slices.IndexFunc(classes, func(c class) bool { return c.letter == letter })]
}

// The places of a thread in the buffers, and what all threads share behind them in the output.
const (
	InStride  = 192
	OutStride = 256
	ownSlot   = 208 // of atomics of one thread, 32 bytes
	extra     = 240 // of a store in the middle
	// Shared slots of atomics: eight words.
	sharedSlots = 64
)

// InBytes and OutBytes are the sizes of the buffers.
func (k *Kernel) InBytes() int  { return k.Threads * InStride }
func (k *Kernel) OutBytes() int { return k.Threads*OutStride + sharedSlots }

var register = regexp.MustCompile(`%[a-z]+[0-9]*\b`)

// Text is the kernel with its functions, without the head of a module; name is its name.
func (k *Kernel) Text(name string) string {
	var b strings.Builder
	body := &strings.Builder{}
	write(body, k.Body, "\t")
	write(body, k.Final, "\t")
	text := body.String()
	for _, f := range k.Funcs {
		if strings.Contains(text, f.Name) {
			f.write(&b)
		}
	}
	used := k.used()
	fmt.Fprintf(&b, ".visible .entry %s(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n", mark)
	start := k.start(text)
	declare(&b, strings.Join(start, "\n")+text)
	for _, a := range arrays {
		if strings.Contains(text, a.name) {
			fmt.Fprintf(&b, "\t.%s .align 16 .b8 %s[%d];\n", a.space, a.name, a.size(k.Threads))
		}
	}
	for _, line := range start {
		b.WriteString("\t" + line + "\n")
	}
	for _, c := range classes {
		for i := range c.pool {
			name := fmt.Sprintf("%%%s%d", c.letter, i)
			if used[name] {
				for _, line := range c.load(i) {
					b.WriteString("\t" + line + "\n")
				}
			}
		}
	}
	b.WriteString(text + "\tret;\n}\n")
	return strings.ReplaceAll(b.String(), mark, name)
}

// start are the lines before the first statement: addresses, and registers that never change.
func (k *Kernel) start(text string) []string {
	lines := []string{"mov.u32 %tid0, %tid.x;", "ld.param.u64 %a0, [in];", "ld.param.u64 %a1, [out];",
		"cvta.to.global.u64 %a0, %a0;", "cvta.to.global.u64 %a1, %a1;"}
	if strings.Contains(text, "%a3") {
		lines = append(lines, fmt.Sprintf("add.s64 %%a3, %%a1, %d;", k.Threads*OutStride))
	}
	if strings.Contains(text, "%a4") {
		lines = append(lines, "mov.u64 %a4, %a0;")
	}
	lines = append(lines, fmt.Sprintf("mad.wide.u32 %%a0, %%tid0, %d, %%a0;", InStride), fmt.Sprintf("mad.wide.u32 %%a1, %%tid0, %d, %%a1;", OutStride))
	if strings.Contains(text, "%n0") {
		lines = append(lines, "ld.param.u32 %n0, [n];")
	}
	for _, a := range arrays {
		if a.space == "local" && strings.Contains(text, a.name) {
			for i := 0; i < a.size(k.Threads); i += 16 {
				lines = append(lines, fmt.Sprintf("st.local.v4.u32 [%s+%d], {%%tid0, %d, %#x, %d};", a.name, i, i, 0x80ff7f01+i*0x01030507, -i))
			}
		}
	}
	return lines
}

// load gives register i of a class its first value.
func (c class) load(i int) []string {
	name := fmt.Sprintf("%%%s%d", c.letter, i)
	if c.letter == "p" {
		return []string{fmt.Sprintf("setp.lt.u32 %s, %%tid0, %d;", name, 3+9*i)}
	}
	n := c.bytes
	switch c.letter {
	case "x":
		n = 4
	case "e":
		n = 2
	}
	return []string{fmt.Sprintf("ld.global.%s %s, [%%a0+%d];", c.ptx, name, c.in+i*n)}
}

// array is a variable of a kernel.
type array struct {
	space, name string
	size        func(threads int) int
}

var arrays = []array{
	{"local", "loc", func(int) int { return 64 }},
	{"shared", "sha", func(n int) int { return 8 * n }},
	{"shared", "shb", func(int) int { return 16 }},
}

// fromArgument gives a register of a function its first value.
var fromArgument = map[string]string{"r": "add.u32 %s, %%r%d, 1;", "d": "cvt.s64.s32 %s, %%r%d;", "h": "cvt.u16.u32 %s, %%r%d;",
	"p": "setp.lt.s32 %s, %%r%d, 77;"}

// names reports whether the body names a register that is no argument.
func (f *Func) names(r string) bool {
	return r != "%r0" && r != "%r1" && slices.ContainsFunc(f.Body, func(s *Stmt) bool {
		return slices.ContainsFunc(s.all(), func(l string) bool { return slices.Contains(register.FindAllString(l, -1), r) })
	})
}

func (f *Func) write(b *strings.Builder) {
	body := &strings.Builder{}
	write(body, f.Body, "\t")
	fmt.Fprintf(b, ".func (.param .b32 res) %s(.param .b32 x, .param .b32 y)", f.Name)
	b.WriteString("\n{\n")
	start := []string{"ld.param.b32 %r0, [x];", "ld.param.b32 %r1, [y];"}
	for _, c := range classes {
		for i := range c.pool {
			if name := fmt.Sprintf("%%%s%d", c.letter, i); f.names(name) {
				start = append(start, fmt.Sprintf(fromArgument[c.letter], name, i%2))
			}
		}
	}
	declare(b, strings.Join(start, "\n")+body.String())
	for _, line := range start {
		b.WriteString("\t" + line + "\n")
	}
	b.WriteString(body.String() + "\tst.param.b32 [res], %r0;\n\tret;\n}\n")
}

func write(b *strings.Builder, list []*Stmt, indent string) {
	lines := func(l []string) {
		for _, s := range l {
			b.WriteString(indent + s + "\n")
		}
	}
	for _, s := range list {
		lines(s.Lines)
		write(b, s.Body, indent+"\t")
		lines(s.Mid)
		write(b, s.Else, indent+"\t")
		lines(s.End)
	}
}

// special are registers that are always there.
var special = regexp.MustCompile(`^%(tid|laneid|lanemask)$`)

// declare declares the registers that a text uses.
func declare(b *strings.Builder, text string) {
	by := map[string][]string{}
	for _, r := range register.FindAllString(text, -1) {
		if special.MatchString(r) {
			continue
		}
		t := "b32"
		if i := slices.IndexFunc(classes, func(c class) bool { return strings.Trim(r, "%0123456789") == c.letter }); i >= 0 {
			t = classes[i].ptx
		} else if r[1] == 'a' {
			t = "b64"
		}
		if !slices.Contains(by[t], r) {
			by[t] = append(by[t], r)
		}
	}
	for _, t := range []string{"pred", "b16", "b32", "b64", "f32", "f64"} {
		if len(by[t]) > 0 {
			slices.Sort(by[t])
			fmt.Fprintf(b, "\t.reg .%s %s;\n", t, strings.Join(by[t], ", "))
		}
	}
}

// used are the registers of the pool whose first value somebody may read: all that are named, but those that a
// statement outside of blocks writes before.
func (k *Kernel) used() map[string]bool {
	used := map[string]bool{}
	for _, s := range slices.Concat(k.Body, k.Final) {
		for _, line := range s.all() {
			dst, src := split(line)
			for _, r := range src {
				if _, ok := used[r]; !ok {
					used[r] = true
				}
			}
			for _, r := range dst {
				if _, ok := used[r]; !ok {
					used[r] = s.block()
				}
			}
		}
	}
	return used
}

// all are the lines of a statement with those of its bodies.
func (s *Stmt) all() []string {
	out := slices.Clone(s.Lines)
	for _, x := range s.Body {
		out = append(out, x.all()...)
	}
	out = append(out, s.Mid...)
	for _, x := range s.Else {
		out = append(out, x.all()...)
	}
	return append(out, s.End...)
}

var plainLine = regexp.MustCompile(`^([a-z][a-z0-9_.]*(?:::[a-z0-9]+)?[a-z0-9_.]*) (\{[^}]*\}|[^,;]*)(.*)$`)

// noDst are the instructions whose first operand is no destination.
var noDst = regexp.MustCompile(`^(st|red|bar|bra|call|ret|membar|fence)\b`)

// split finds the registers that a line writes for certain, and the others.
func split(line string) (dst, src []string) {
	m := plainLine.FindStringSubmatch(line)
	if m == nil || noDst.MatchString(m[1]) {
		return nil, register.FindAllString(line, -1)
	}
	return register.FindAllString(m[2], -1), register.FindAllString(m[3], -1)
}
