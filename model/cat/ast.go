package cat

import "fmt"

// Pos is a place in a model's text. Line and Col count from 1; columns count
// bytes. Line 0 means that the place is unknown.
type Pos struct {
	File string
	Line int
	Col  int
}

// String formats the place as file:line:col.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Error is an error at a place of a model's text.
type Error struct {
	Pos Pos
	Msg string
	Err error // wrapped cause, or nil
}

// Error returns file:line:col: message.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Pos.String() + ": " + e.Msg + ": " + e.Err.Error()
	}
	return e.Pos.String() + ": " + e.Msg
}

// Unwrap returns the wrapped cause.
func (e *Error) Unwrap() error { return e.Err }

func errorf(p Pos, format string, args ...any) *Error {
	return &Error{Pos: p, Msg: fmt.Sprintf(format, args...)}
}

// File is one parsed file of a model.
type File struct {
	Path string
	// Header is the bare word that opens the file (by custom the
	// architecture, for example PTX), or "".
	Header string
	// Name is the model's name: the second word or the string of the header
	// line; the first word if there is only that; "" without header line.
	Name string
	// CatDep is set when the header line ends in the keyword catdep: the
	// model computes dependencies itself.
	CatDep bool
	// Sum is the SHA-256 of the file's text.
	Sum  [32]byte
	Body []Stmt
}

// Node is any part of the tree.
type Node interface{ Position() Pos }

// Position returns the place where the node's text starts.
func (p Pos) Position() Pos { return p }

// Stmt is an instruction of a model: one of *LetStmt, *TestStmt, *ShowStmt,
// *ShowAsStmt, *IncludeStmt, *ProcedureStmt, *CallStmt, *EnumStmt,
// *ForallStmt, *WithStmt, *MatchStmt, *IfStmt, *DebugStmt, *InstructionsStmt.
type Stmt interface {
	Node
	isStmt()
}

// Expr is an expression: one of *Var, *Const, *TagLit, *Op, *Unary, *Tuple,
// *App, *Fun, *Let, *Match, *MatchSet, *Try, *If, *SetLit.
type Expr interface {
	Node
	isExpr()
}

// Cond is the condition of an if: one of *Compare, *Variant, *NotCond,
// *AndCond, *OrCond.
type Cond interface {
	Node
	isCond()
}

// Pattern binds the names of a let or of a function's parameter. A name may
// be "_", which binds nothing.
type Pattern struct {
	Pos
	Names []Ident
	Tuple bool // (a, b), also () and (a, b, c); false: exactly one name
}

// Ident is a name at a place.
type Ident struct {
	Pos
	Name string
}

// Binding is one "pattern = expression" of a let. A function definition is a
// binding of one name to a *Fun.
type Binding struct {
	Pos
	Pat Pattern
	X   Expr
}

// Predicate is what a test asks of a value.
type Predicate uint8

// The predicates.
const (
	Acyclic Predicate = iota
	Irreflexive
	Empty
)

func (p Predicate) String() string { return [...]string{"acyclic", "irreflexive", "empty"}[p] }

// Test is "[~]acyclic|irreflexive|empty e [as name]".
type Test struct {
	Pos
	Negated bool
	Pred    Predicate
	X       Expr
	Name    string // "" without "as name"
	NamePos Pos
}

// TestKind tells what a failing (or holding) test means.
type TestKind uint8

// The kinds of test.
const (
	// KindCheck forbids the execution if the test fails.
	KindCheck TestKind = iota
	// KindFlag puts the flag Name on the execution if the test holds.
	KindFlag
	// KindAssert says that the model does not apply if the test fails.
	KindAssert
	// KindUndefinedUnless says that the whole test is undefined if it fails.
	KindUndefinedUnless
)

func (k TestKind) String() string {
	return [...]string{"check", "flag", "assert", "undefined_unless"}[k]
}

// The statements.
type (
	// LetStmt is "let [rec] b and …"; When is the test of "let rec … when".
	LetStmt struct {
		Pos
		Rec   bool
		Binds []*Binding
		When  *Test
	}
	// TestStmt is a check, flag, assertion or undefined_unless.
	TestStmt struct {
		Pos
		Kind TestKind
		Test Test
	}
	// ShowStmt is "show a, b" or "unshow a, b".
	ShowStmt struct {
		Pos
		Unshow bool
		Names  []Ident
	}
	// ShowAsStmt is "show e as name".
	ShowAsStmt struct {
		Pos
		X    Expr
		Name string
	}
	// IncludeStmt is include "path". File is the parsed file; it is nil, and
	// Err says why, only for an include inside an if that could not be read.
	IncludeStmt struct {
		Pos
		Path string
		File *File
		Err  error
	}
	// ProcedureStmt is "procedure [rec] f(args) = … end".
	ProcedureStmt struct {
		Pos
		Name  string
		Rec   bool
		Param Pattern
		Body  []Stmt
	}
	// CallStmt is "call f(args) [as name]".
	CallStmt struct {
		Pos
		Name string
		Arg  Expr
		As   string
	}
	// EnumStmt is "enum name = 'a || 'b".
	EnumStmt struct {
		Pos
		Name string
		Tags []Ident
	}
	// ForallStmt is "forall x in S do … end".
	ForallStmt struct {
		Pos
		Var  string
		X    Expr
		Body []Stmt
	}
	// WithStmt is "with x from S": one continuation for each element.
	WithStmt struct {
		Pos
		Var string
		X   Expr
	}
	// MatchStmt is a match on a tag between instructions.
	MatchStmt struct {
		Pos
		X       Expr
		Clauses []StmtClause
		Default []Stmt
		HasDef  bool
	}
	// IfStmt is if "variant" … else … end between instructions.
	IfStmt struct {
		Pos
		Cond Cond
		Then []Stmt
		Else []Stmt
	}
	// DebugStmt is "debug e".
	DebugStmt struct {
		Pos
		X Expr
	}
	// InstructionsStmt is the declaration "instructions N[…]" or
	// "default N[…]" of bell files.
	InstructionsStmt struct {
		Pos
		Name    string
		Default bool
		Args    []Expr
	}
)

// StmtClause is one clause of a MatchStmt.
type StmtClause struct {
	Tag  Ident
	Body []Stmt
}

// OpKind is a binary operator. All but Difference, Product and Insert are
// n-ary in the tree: a|b|c is one Op with three arguments.
type OpKind uint8

// The operators.
const (
	OpUnion   OpKind = iota // a | b
	OpInsert                // e ++ s
	OpSeq                   // r ; s
	OpDiff                  // a \ b
	OpInter                 // a & b
	OpProduct               // S * T
)

func (o OpKind) String() string { return [...]string{"|", "++", ";", `\`, "&", "*"}[o] }

// UnaryKind is a prefix or postfix operator.
type UnaryKind uint8

// The unary operators.
const (
	OpComplement UnaryKind = iota // ~a
	OpInverse                     // r^-1
	OpPlus                        // r+
	OpStar                        // r*
	OpOpt                         // r?
	OpToID                        // [S]
)

func (o UnaryKind) String() string { return [...]string{"~", "^-1", "+", "*", "?", "[]"}[o] }

// The expressions.
type (
	// Var is a name.
	Var struct {
		Pos
		Name string
	}
	// Const is "0" or "{}" (Universe false), or "_".
	Const struct {
		Pos
		Universe bool
	}
	// TagLit is 'name.
	TagLit struct {
		Pos
		Name string
	}
	// Op is a binary or n-ary operation; OpPos is the place of its first
	// operator.
	Op struct {
		Pos
		Kind  OpKind
		Args  []Expr
		OpPos Pos
	}
	// Unary is a prefix or postfix operation; OpPos is the operator's place.
	Unary struct {
		Pos
		Kind  UnaryKind
		X     Expr
		OpPos Pos
	}
	// Tuple is (a, b, …) or ().
	Tuple struct {
		Pos
		Elems []Expr
	}
	// App is an application; Fun is a *Var or an *App.
	App struct {
		Pos
		Fun Expr
		Arg Expr
	}
	// Fun is a function; Name is the name that its definition gives it, or "".
	Fun struct {
		Pos
		Param Pattern
		Body  Expr
		Name  string
	}
	// Let is "let [rec] … in e".
	Let struct {
		Pos
		Rec   bool
		Binds []*Binding
		Body  Expr
	}
	// Match is a match on a tag.
	Match struct {
		Pos
		X       Expr
		Clauses []Clause
		Default Expr // or nil
	}
	// MatchSet is match S with || {} -> … || x ++ xs -> … end, or with the
	// element clause pre | x ++ post. A name may be "_"; Pre is nil in the
	// two-name form.
	MatchSet struct {
		Pos
		X     Expr
		Empty Expr
		Pre   *Ident
		Elem  Ident
		Rest  Ident
		Body  Expr
	}
	// Try is "try e with e'": the second one if the first one has an unbound
	// name.
	Try struct {
		Pos
		X    Expr
		With Expr
	}
	// If is "if c then e else e'".
	If struct {
		Pos
		Cond Cond
		Then Expr
		Else Expr
	}
	// SetLit is {a, b, …} with at least one element.
	SetLit struct {
		Pos
		Elems []Expr
	}
)

// Clause is one clause of a Match.
type Clause struct {
	Tag  Ident
	Body Expr
}

// CompareKind is a comparison of an if.
type CompareKind uint8

// The comparisons.
const (
	CmpEqual  CompareKind = iota // a = b
	CmpSubset                    // a subset b
	CmpIn                        // a in b
)

// The conditions.
type (
	// Compare is "a = b", "a subset b" or "a in b".
	Compare struct {
		Pos
		Kind CompareKind
		L, R Expr
	}
	// Variant is "name": true if the engine runs with that variant.
	Variant struct {
		Pos
		Name string
	}
	// NotCond is "not c".
	NotCond struct {
		Pos
		X Cond
	}
	// AndCond is "c && d".
	AndCond struct {
		Pos
		L, R Cond
	}
	// OrCond is "c || d".
	OrCond struct {
		Pos
		L, R Cond
	}
)

func (*LetStmt) isStmt()          {}
func (*TestStmt) isStmt()         {}
func (*ShowStmt) isStmt()         {}
func (*ShowAsStmt) isStmt()       {}
func (*IncludeStmt) isStmt()      {}
func (*ProcedureStmt) isStmt()    {}
func (*CallStmt) isStmt()         {}
func (*EnumStmt) isStmt()         {}
func (*ForallStmt) isStmt()       {}
func (*WithStmt) isStmt()         {}
func (*MatchStmt) isStmt()        {}
func (*IfStmt) isStmt()           {}
func (*DebugStmt) isStmt()        {}
func (*InstructionsStmt) isStmt() {}

func (*Var) isExpr()      {}
func (*Const) isExpr()    {}
func (*TagLit) isExpr()   {}
func (*Op) isExpr()       {}
func (*Unary) isExpr()    {}
func (*Tuple) isExpr()    {}
func (*App) isExpr()      {}
func (*Fun) isExpr()      {}
func (*Let) isExpr()      {}
func (*Match) isExpr()    {}
func (*MatchSet) isExpr() {}
func (*Try) isExpr()      {}
func (*If) isExpr()       {}
func (*SetLit) isExpr()   {}

func (*Compare) isCond() {}
func (*Variant) isCond() {}
func (*NotCond) isCond() {}
func (*AndCond) isCond() {}
func (*OrCond) isCond()  {}

// limitf makes the error for an exceeded limit, which no try catches.
func limitf(p Pos, format string, args ...any) *Error {
	e := errorf(p, format, args...)
	e.Err = ErrLimit
	return e
}
