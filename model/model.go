// Package model judges litmus tests: which final states a memory model allows.
//
// It combines the language of models (package cat), the enumeration of candidate executions
// (package exec) and the built-in models, and presents the results: logs in herd's format,
// comparisons, explanations, pictures, and the conversion of tests to herd's LISA dialect.
//
// It does not run tests on hardware and does not look at machine code.
//
// Stable: Load, Judge, the content of a Verdict, and the names of the built-in models. A
// model's own text may be corrected, and verdicts with it.
package model

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"strings"
	"time"

	"optcheck/litmus"
	"optcheck/model/cat"
	"optcheck/model/exec"
)

//go:embed models/*.cat
var modelFS embed.FS

// Info describes a built-in model.
type Info struct {
	Name   string
	Title  string // one line
	Source string // where it comes from
	Limits string // what it does not cover
}

// Operational reports whether the model is a machine rather than axiomatic.
func (i Info) Operational() bool { return machines[i.Name] != nil }

// Builtin lists the built-in models.
func Builtin() []Info {
	return []Info{
		{"sc", "sequential consistency", "Lamport 1979, axiomatic form", "scopes, strengths and proxies mean nothing"},
		{"tso", "total store order, for OpenCL on CPUs", "x86-TSO, axiomatic form", "scopes and proxies mean nothing"},
		{"ptx-2015", "RMO per scope, Fermi to Maxwell", "ASPLOS 2015, Figures 15 and 16",
			"no atomics, no barriers, membar only; coRR allowed on purpose"},
		{"ptx-2015-rmw", "ptx-2015 and atomicity of read-modify-writes", "ASPLOS 2015 and its simulator", "as ptx-2015, with atomics"},
		{"ptx-6.0", "official model, first version (sm_70)", "PTX ISA 6.0", "no proxies, no one-sided fences, no asynchronous copies"},
		{"ptx-7.5", "official model with proxies and aliases", "PTX ISA 7.5", "no one-sided fences, no asynchronous copies"},
		{"ptx", "official model, newest: clusters, one-sided fences", "PTX ISA 8.6 and later", "no asynchronous copies, no mixed sizes"},
		{"ptx-async", "ptx with mixed sizes, asynchronous copies, mbarriers and barriers of clusters", "PTX ISA 8.6 and later",
			"a race of accesses of different sizes has no meaning; no tensor copies, matrices or vectors"},
		{"ptx-bytes", "ptx-async, read byte by byte: accesses of different sizes synchronise", "this project: what compilers assume that change sizes",
			"no promise of the vendor"},
		{"ptx-strong", "ptx and what overwrites released stores",
			"published verdicts of a strengthening, 2026; axioms by this project", "as ptx; one proxy in what it adds"},
		{"ugpu", "an operational model of Fermi to Maxwell: queues, views, two fences", "Sorensen and others 2013 (UGPU)",
			"one device, no barriers, membar only, no .relaxed, .acquire or .release"},
		{"ugpu-coherent", "ugpu without its load array: the loads of an address stay in order",
			"Sorensen and others 2013 (UGPU, what its text proposes for Maxwell)", "as ugpu"},
		{"ptx-2015-op", "ptx-2015 as a machine: accesses are performed level by level", "this project, from the axioms",
			"as ptx-2015; tests with barriers or other fences are refused"},
		{"ptx-2015-rmw-op", "ptx-2015-rmw as a machine", "this project, from the axioms", "as ptx-2015-op, with atomics"},
		{"ptx-op", "ptx as a machine: promises, then views that settle", "this project, from the axioms",
			"one proxy, no barriers: other tests are refused"},
		{"ptx-async-op", "ptx-async as a machine: copies behind their issue, mbarriers that count, views through proxies",
			"this project, from the axioms", "as ptx-async; no flags for races"},
		{"opencl", "OpenCL 2.0 atomics: C11 with scopes", "OpenCL 2.0, repaired C11", "one address space for happens-before"},
	}
}

// Lookup describes a built-in model, given by name. It also knows that of races (RaceModel),
// which does not model a machine and is in no list.
func Lookup(name string) (Info, error) {
	for _, i := range append(Builtin(), raceInfo) {
		if i.Name == name {
			return i, nil
		}
	}
	return Info{}, fmt.Errorf("no built-in model %q; there are %s", name, strings.Join(Names(), ", "))
}

// Source returns the text of a built-in model, or the rules of a machine.
func Source(name string) (string, error) {
	if m, ok := machines[name]; ok {
		return rules(m), nil
	}
	b, err := modelFS.ReadFile("models/" + name + ".cat")
	if err != nil {
		return "", fmt.Errorf("no built-in model %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return string(b), nil
}

// Names lists the names of the built-in models.
func Names() []string {
	var list []string
	for _, m := range Builtin() {
		list = append(list, m.Name)
	}
	return list
}

// Model is a memory model, ready to judge. It is safe for concurrent use.
type Model struct {
	Name     string
	Path     string // of the file; "" for a built-in model
	Warnings []string
	engine
}

// engine decides, by axioms or by running a machine.
type engine interface {
	// run finds the final states.
	run(ctx context.Context, p *exec.Program, o Options) (*exec.Result, error)
	// explain sets why the proposition of x.Verdict's test can or cannot hold.
	explain(ctx context.Context, x *Explanation, p *exec.Program, o Options) error
	// hash writes the whole model.
	hash(h hash.Hash)
}

// axioms is a model in the cat language.
type axioms struct {
	file    *cat.File
	total   *exec.Engine
	partial *exec.Engine
}

// library returns the files that models may include: the built-in models and the standard
// library.
func library() []fs.FS {
	sub, err := fs.Sub(modelFS, "models")
	if err != nil {
		panic(err) // the folder is part of the binary
	}
	return []fs.FS{sub, cat.Library()}
}

// Load is LoadContext without a limit.
func Load(name string) (*Model, error) { return LoadContext(context.Background(), name) }

// LoadContext returns a built-in model by name, or reads one from a file: a name that ends in
// .cat or contains a path separator is a file. Errors have the position in the file. The end of
// ctx stops the compilation, with an error that wraps its cause.
func LoadContext(ctx context.Context, name string) (*Model, error) {
	if strings.HasSuffix(name, ".cat") || strings.ContainsAny(name, `/\`) {
		f, err := cat.ReadFile(name, library()...)
		if err != nil {
			return nil, err
		}
		return build(ctx, f, strings.TrimSuffix(baseName(name), ".cat"), name)
	}
	if m, ok := machines[name]; ok {
		return &Model{Name: name, engine: &runs{m}}, nil
	}
	src, err := Source(name)
	if err != nil {
		if _, e := os.Stat(name); e == nil {
			return nil, fmt.Errorf("%w; a file with a model must end in .cat", err)
		}
		return nil, err
	}
	return compile(ctx, name, name+".cat", src)
}

// Hash identifies the model with all that it includes: 16 hexadecimal digits over the texts.
func (m *Model) Hash() string {
	h := sha256.New()
	m.engine.hash(h)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (a *axioms) hash(h hash.Hash) { hashFile(h, a.file) }

func hashFile(h hash.Hash, f *cat.File) {
	h.Write(f.Sum[:])
	cat.Walk(f, func(n cat.Node) bool {
		if in, ok := n.(*cat.IncludeStmt); ok && in.File != nil {
			hashFile(h, in.File)
			return false
		}
		return true
	})
}

func baseName(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// Parse compiles a model from its text. Includes come from the embedded library only.
func Parse(name, file, src string) (*Model, error) {
	return compile(context.Background(), name, file, src)
}

func compile(ctx context.Context, name, file, src string) (*Model, error) {
	f, err := cat.Parse(file, src, cat.NewLoader(false, library()...))
	if err != nil {
		return nil, err
	}
	return build(ctx, f, name, "")
}

func build(ctx context.Context, f *cat.File, name, path string) (*Model, error) {
	prog, err := cat.Compile(ctx, f, exec.Signature())
	if err != nil {
		return nil, err
	}
	if !prog.Flat() {
		if err := ownCo(f); err != nil {
			return nil, err
		}
	}
	m := &Model{Name: name, Path: path, engine: &axioms{f, exec.NewEngine(prog, exec.CoTotal), exec.NewEngine(prog, exec.CoPartial)}}
	for _, w := range prog.Warnings {
		m.Warnings = append(m.Warnings, w.String())
	}
	if prog.Flat() && len(prog.Checks()) == 0 {
		m.Warnings = append(m.Warnings, f.Path+": no check (acyclic, irreflexive, empty): the model allows every candidate execution")
	}
	return m, nil
}

// ownCo rejects models that enumerate coherence themselves: the final state would not follow
// from the engine's choice.
func ownCo(f *cat.File) (err error) {
	cat.Walk(f, func(n cat.Node) bool {
		if w, ok := n.(*cat.WithStmt); ok && w.Var == "co" && err == nil && !generated(w.X) {
			err = &cat.Error{
				Pos: w.Pos,
				Msg: "with co from: the coherence order is chosen by the engine; take this line out (and include nothing that has it)",
			}
		}
		return true
	})
	return err
}

// generated reports whether an expression is the enumeration of coherence orders that files for
// herd include, which the engine replaces.
func generated(x cat.Expr) bool {
	a, ok := x.(*cat.App)
	if !ok {
		return false
	}
	f, ok := a.Fun.(*cat.Var)
	return ok && (f.Name == "generate_cos" || f.Name == "co-extending")
}

// partialCo reports whether coherence is a partial order by default: the header line
// says PTX.
func (a *axioms) partialCo() bool { return a.file.Header == "PTX" }

// CoMode overrides what the header line says about the coherence order.
type CoMode uint8

// The modes.
const (
	CoDefault CoMode = iota // by the model's header line
	CoTotal
	CoPartial
)

// ParseCo reads "total", "partial" or "" (by the model).
func ParseCo(s string) (CoMode, error) {
	switch s {
	case "", "auto", "default":
		return CoDefault, nil
	case "total":
		return CoTotal, nil
	case "partial":
		return CoPartial, nil
	}
	return CoDefault, fmt.Errorf("coherence %q: expected total or partial", s)
}

// Options bound and modify a judgement.
type Options struct {
	// Unroll is how often a branch may jump back; 0 means 2.
	Unroll int
	Co     CoMode
	// MaxCandidates bounds the work; 0 means 50 million evaluations.
	MaxCandidates uint64
	// Timeout bounds the time; 0 means DefaultTimeout, a negative value none.
	Timeout time.Duration
	// StatesOnly skips executions that cannot add a final state. The counts of witnesses are
	// then lower bounds, and flags that only such executions raise are missing.
	StatesOnly bool
	// First ends the search at the first allowed execution, for callers that only ask whether
	// there is one. Machines ignore it.
	First bool
	// Blocked says whether executions in which threads wait at a barrier forever have a final
	// state; by default they have none.
	Blocked BlockedMode
	// Races asks whether two operations of some execution race, for models that allow those alone: what
	// has the same pairs of operations is left out, and threads may stay in loops that wait.
	Races bool
}

// BlockedMode is the treatment of executions in which threads wait at a barrier forever.
type BlockedMode = exec.BlockedMode

// Such executions are dropped, or their state is the content of registers and memory once
// nothing moves any more.
const (
	BlockedDropped = exec.BlockedDropped
	BlockedCounted = exec.BlockedCounted
)

// ParseBlocked reads "drop", "count" or "" (drop).
func ParseBlocked(s string) (BlockedMode, error) {
	switch s {
	case "", "drop":
		return BlockedDropped, nil
	case "count":
		return BlockedCounted, nil
	}
	return BlockedDropped, fmt.Errorf("blocked executions %q: expected drop or count", s)
}

// DefaultTimeout is the default bound on the time of a judgement.
const DefaultTimeout = time.Minute

// limited returns a context that ends with the time limit of the options.
func (o Options) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := o.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	if limit < 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("time limit of %v reached", limit))
}

func (a *axioms) with(o Options) *exec.Engine {
	if o.Co == CoPartial || o.Co == CoDefault && a.partialCo() {
		return a.partial
	}
	return a.total
}

func (a *axioms) run(ctx context.Context, p *exec.Program, o Options) (*exec.Result, error) {
	return a.with(o).Run(ctx, p, exec.Options{Unroll: o.Unroll, MaxCandidates: o.MaxCandidates, StatesOnly: o.StatesOnly,
		First: o.First, Blocked: o.Blocked, Races: o.Races})
}

// State is a final state: the values of the verdict's terms, in their order.
type State struct {
	Values    []int64
	Count     uint64 // allowed executions that end in it
	Blocked   uint64 // those of them in which a thread waits at a barrier for ever
	Satisfies bool   // the condition's proposition
}

// Observation says whether none, some or all allowed states satisfy a condition's proposition.
type Observation uint8

// The observations.
const (
	Never Observation = iota
	Sometimes
	Always
)

func (o Observation) String() string { return [...]string{"Never", "Sometimes", "Always"}[o] }

// Verdict is the outcome of judging a test.
type Verdict struct {
	Test  *litmus.Test
	Model string
	Terms []litmus.Term
	// States are sorted by their values.
	States []State
	// Holds reports whether the condition with its quantifier is validated. It is meaningless
	// if Undecided is not empty.
	Holds              bool
	Observation        Observation
	Positive, Negative uint64 // executions that satisfy the proposition, and the others
	Flags              []string
	Cut                bool // executions with more loop iterations exist and are not outcomes
	Blocked            bool // in some executions threads wait at a barrier for ever
	BlockedCounted     bool // their states are among States
	Candidates         uint64
	// Undefined says why the vendor's text gives the test no meaning, "" if it does: any state is then
	// possible, and States has those of the axioms.
	Undefined        string
	Partial, Skipped uint64
	// Undecided says why there is no verdict, "" if there is one. States then holds what was
	// found so far.
	Undecided string
}

// ErrUndecided is wrapped by the errors of functions that need a verdict.
var ErrUndecided = errors.New("undecided")

// Judge computes the final states that the model allows. Reaching a limit or
// the end of ctx gives a verdict with Undecided set, not an error; an error
// means that the test or the model cannot be judged at all.
func (m *Model) Judge(ctx context.Context, t *litmus.Test, o Options) (*Verdict, error) {
	p, err := exec.Compile(t)
	if err != nil {
		return nil, err
	}
	ctx, cancel := o.limited(ctx)
	defer cancel()
	r, err := m.run(ctx, p, o)
	if err != nil {
		return nil, fmt.Errorf("test %s: %w", t.Name, err)
	}
	v := m.verdict(t, r)
	v.BlockedCounted = v.Blocked && o.Blocked == BlockedCounted
	return v, m.meaning(ctx, v, o)
}

// meaning says whether the vendor gives the test a meaning at all.
func (m *Model) meaning(ctx context.Context, v *Verdict, o Options) error {
	if m.Name != AsyncModel || m.Path != "" || v.Undecided != "" {
		return nil
	}
	for i := range senseless {
		x := &senseless[i]
		if !x.may(v.Test) {
			continue
		}
		yes, err := has(ctx, v.Test, x.model, o)
		switch {
		case errors.Is(err, ErrUndecided):
			v.Undecided = "whether there is " + x.why + ": " + err.Error()
			return nil
		case err != nil:
			return err
		case yes:
			v.Undefined = x.why
			v.Flags = append(v.Flags, "undefined: "+x.name)
			return nil
		}
	}
	return nil
}

func (m *Model) verdict(t *litmus.Test, r *exec.Result) *Verdict {
	v := &Verdict{
		Test: t, Model: m.Name, Terms: r.Terms, Flags: r.Flags, Cut: r.Cut, Blocked: r.Blocked, Candidates: r.Candidates,
		Partial: r.Partial, Skipped: r.Skipped, Undecided: r.Undecided, States: make([]State, len(r.States)),
	}
	for i, s := range r.States {
		v.States[i] = State{s.Values, s.Count, s.Blocked, Satisfies(t, r.Terms, s.Values)}
		if v.States[i].Satisfies {
			v.Positive += s.Count
		} else {
			v.Negative += s.Count
		}
	}
	switch {
	case v.Positive == 0:
		v.Observation = Never
	case v.Negative == 0:
		v.Observation = Always
	default:
		v.Observation = Sometimes
	}
	switch t.Cond.Quant {
	case litmus.Exists:
		v.Holds = v.Positive > 0
	case litmus.NotExists:
		v.Holds = v.Positive == 0
	case litmus.Forall:
		v.Holds = v.Negative == 0
	}
	return v
}

// Satisfies reports whether a state satisfies a test's proposition.
func Satisfies(t *litmus.Test, terms []litmus.Term, values []int64) bool {
	return t.Cond.Eval(func(x litmus.Term) int64 {
		for i := range terms {
			if terms[i] == x {
				return values[i]
			}
		}
		return 0
	})
}

// Outcomes returns the final states alone. Unlike Judge it returns an error that wraps
// ErrUndecided if a limit was reached or ctx ended.
func (m *Model) Outcomes(ctx context.Context, t *litmus.Test, o Options) ([]State, []litmus.Term, error) {
	o.StatesOnly = true
	v, err := m.Judge(ctx, t, o)
	if err != nil {
		return nil, nil, err
	}
	if v.Undecided != "" {
		return nil, nil, fmt.Errorf("test %s: %w: %s", t.Name, ErrUndecided, v.Undecided)
	}
	return v.States, v.Terms, nil
}
