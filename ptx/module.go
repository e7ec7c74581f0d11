package ptx

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// MaxInput bounds the text of a module, in bytes.
const MaxInput = 64 << 20

// Pos is a place in the text, both from 1.
type Pos struct{ Line, Col int }

// Error is text that is no PTX, or none that this package knows.
type Error struct {
	File string
	Pos  Pos
	Msg  string
}

// Error gives file:line:col: message.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Msg)
}

// Module is one PTX file.
type Module struct {
	File string
	// Version and Target are the operands of .version and .target: "7.8", "sm_80".
	Version, Target string
	// Vars are the variables of the module, Funcs its functions in the order of the
	// text, prototypes left out. Insts counts the instructions of all functions.
	Vars       []Var
	Funcs      []*Func
	Prototypes []Prototype
	Insts      int

	// Part numbers the modules of a file with several, from 1; it is 0 for the only one.
	Part int

	src []byte
	// before is how many lines of the file stand in front of the module.
	before int
	cuts   []span // what a copy with lines of its own leaves out
	head   int    // where the directives at the top end
	// version is where the operand of .version stands, target what follows the
	// first word of .target.
	version, target span
	funcs           map[string]*Func
	vars            map[string]*Var
}

type span struct{ from, to int }

// Lines are the lines of the text; before is how many lines of the file stand in front of them.
func (m *Module) Lines() (lines []string, before int) {
	return strings.Split(string(m.src), "\n"), m.before
}

// Has reports whether a line of the file is one of the module's.
func (m *Module) Has(line int) bool {
	return line > m.before && line <= m.before+1+bytes.Count(m.src, []byte("\n"))
}

// Name is the file without its folder, with the number of the part if it has several.
func (m *Module) Name() string {
	name := filepath.Base(m.File)
	if m.Part > 0 {
		name += fmt.Sprintf("#%d", m.Part)
	}
	return name
}

// Var is a variable, or a parameter of a function.
type Var struct {
	Name  string
	Space string // global, shared, const, local, param; reg for parameters that are the function's first register of the name
	// Type is that of an element, without its dot.
	Type string
	// Size is in bytes; 0 for arrays without length. Offset is that of an entry's
	// parameter among the parameters. Align is the alignment.
	Size, Offset, Align int64
	Extern              bool

	decl span
	init span // what follows the equals sign
}

// Prototype is a function that is declared and has no body here.
type Prototype struct {
	Name string
	decl span
}

// Func is a function with a body.
type Func struct {
	Name    string
	Entry   bool // a kernel
	Visible bool // other modules can call it
	Pos     Pos
	Params  []Var
	Returns []Var
	Vars    []Var // variables of the body
	Body    []Stmt
	Regs    []Register

	// open is where the body's first statement may stand, list where the list of
	// parameters ends: at its parenthesis, 0 if there is none. all is the function.
	open, list int
	all        span
}

// Declared is where the text names each function first: its prototype, or the function.
func (m *Module) Declared() map[string]int {
	at := map[string]int{}
	for _, f := range m.Funcs {
		at[f.Name] = f.all.from
	}
	for _, p := range m.Prototypes {
		if first, ok := at[p.Name]; !ok || p.decl.from < first {
			at[p.Name] = p.decl.from
		}
	}
	return at
}

// Register is a register of a function. Registers of inner blocks are registers of
// their own, whatever their names.
type Register struct {
	Name, Type string // the type without its dot: pred, b32
}

// StmtKind tells what a statement is.
type StmtKind uint8

// The kinds of statements that a body keeps.
const (
	StmtInst  StmtKind = iota
	StmtLabel          // Name
	StmtTable          // Name, Labels: the targets of an indirect branch or call
	StmtProto          // Name: the prototype of indirect calls
)

// Stmt is a statement of a body. Names of labels are made distinct, where blocks
// have labels of their own.
type Stmt struct {
	Kind   StmtKind
	Name   string
	Labels []string
	Inst   *Inst
}

// Inst is an instruction.
type Inst struct {
	Pos Pos
	// N is its number in the module, from 1: the line that Lined gives it.
	N     int
	Guard int // register of the predicate, -1 if there is none
	Neg   bool
	Op    string   // as written: ld.global.u32
	Name  string   // its first word: ld
	Mods  []string // the others
	Args  []Operand
	Text  string // on one line, without the semicolon
	Loc   Loc    // what it was made of

	offset, end int // in the text; end is behind the semicolon
}

// Has reports whether one of the modifiers is among those given.
func (in *Inst) Has(mods ...string) bool {
	for _, m := range in.Mods {
		for _, x := range mods {
			if m == x {
				return true
			}
		}
	}
	return false
}

// OperandKind tells what an operand is.
type OperandKind uint8

// The kinds of operands.
const (
	Reg  OperandKind = iota // Reg, with Neg if it is inverted
	Imm                     // Value
	Sym                     // Name: variable, function, label, special register
	Mem                     // an address: Elems[0] (Reg, Sym or Imm) + Value, then coordinates
	Vec                     // Elems
	Pair                    // Elems: d|p
	List                    // Elems, in parentheses
	Sink                    // _
	Text                    // something else: Name
)

// Operand is an operand of an instruction.
type Operand struct {
	Kind OperandKind
	// Reg is the register; of a Sym the number, from 1, of the variable in Func.Vars, 0 if it is none of these.
	Reg   int
	Neg   bool
	Value int64
	// Float is the width of the floating-point number whose bits Value has: 32 for 0f3f800000, 64 for
	// 0d3ff0000000000000 and 1.0. It is 0 for integers.
	Float int
	Name  string
	Elems []Operand
}

// Registers appends the registers that an operand names.
func (o *Operand) Registers(out []int) []int {
	if o.Kind == Reg {
		return append(out, o.Reg)
	}
	for i := range o.Elems {
		out = o.Elems[i].Registers(out)
	}
	return out
}

// Func returns the function of a name, nil if there is none.
func (m *Module) Func(name string) *Func { return m.funcs[name] }

// Var returns the module's variable of a name, nil if there is none.
func (m *Module) Var(name string) *Var { return m.vars[name] }

// index makes the maps of names. The first one of a name counts.
func (m *Module) index() {
	m.funcs, m.vars = map[string]*Func{}, map[string]*Var{}
	for _, f := range slices.Backward(m.Funcs) {
		m.funcs[f.Name] = f
	}
	for i := range slices.Backward(m.Vars) {
		m.vars[m.Vars[i].Name] = &m.Vars[i]
	}
}

// Size is that of the text, in bytes.
func (m *Module) Size() int { return len(m.src) }

// Forget drops all but the text and what stands at its top: what was read takes ten times
// the memory.
func (m *Module) Forget() { m.Vars, m.Funcs, m.cuts, m.vars, m.funcs = nil, nil, nil, nil, nil }

// Whole is a module that nothing was forgotten of: itself, or what its text is read as again.
func (m *Module) Whole() *Module {
	if m.Funcs != nil {
		return m
	}
	whole, err := parsePart(m.File, m.src, m.before, m.Part)
	if err != nil {
		panic(err) // it was read before
	}
	return whole
}

// Lined returns the text with a line of its own for each instruction, number
// Inst.N of file, as ptxas -lineinfo keeps it; debug information that the text had
// is left out. Instructions, and everything else, stay as they are. version, if it
// is not "", takes the place of the module's.
func (m *Module) Lined(file, version string) string { return m.print(file, version, true) }

// Plain returns the same text without the lines.
func (m *Module) Plain(version string) string { return m.print("", version, false) }

func (m *Module) print(file, version string, lines bool) string {
	var b strings.Builder
	b.Grow(len(m.src) + 24*m.Insts)
	at, cuts := 0, m.cuts
	copyTo := func(to int) {
		for len(cuts) > 0 && cuts[0].from < to {
			if cuts[0].from > at {
				b.Write(m.src[at:cuts[0].from])
			}
			at = max(at, cuts[0].to)
			cuts = cuts[1:]
		}
		if to > at {
			b.Write(m.src[at:to])
			at = to
		}
	}
	if version != "" {
		copyTo(m.version.from)
		b.WriteString(version)
		at = m.version.to
	}
	copyTo(m.target.from)
	at = max(at, m.target.to)
	copyTo(m.head)
	if lines {
		fmt.Fprintf(&b, "\n.file 1 %q\n", file)
		for _, f := range m.Funcs {
			for i := range f.Body {
				if in := f.Body[i].Inst; in != nil {
					copyTo(in.offset)
					fmt.Fprintf(&b, "\n.loc 1 %d 0\n", in.N)
				}
			}
		}
	}
	copyTo(len(m.src))
	return b.String()
}
