package realcode

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/model"
	"optcheck/ptx"
	"optcheck/spec"
	"optcheck/target"
)

// maxShown bounds the operations of a kernel of which source and machine code are
// shown side by side.
const maxShown = 3000

// beyondShown is how many operations are shown on each side of a finding in larger kernels.
const beyondShown = 40

// maxText bounds an instruction that is shown, in bytes.
const maxText = 160

// Program is a module as the event stream has it: a test for each of its kernels,
// with its operations as those of one thread.
type Program struct {
	Tests []event.Test
	m     *ptx.Module
	roots []string
	ops   map[string][]Place
}

// NewProgram lists the kernels of a module that have something to compare. o is what it was
// made of, if that is at hand, and targets are those that it was made for.
func NewProgram(m *ptx.Module, o Origin, targets ...string) *Program {
	p, x := &Program{m: m, ops: map[string][]Place{}}, newExcerpt(m, o)
	text := sha256.Sum256([]byte(m.Plain("")))
	for _, f := range Roots(m) {
		src, err := readSource(m, f)
		if err != nil || len(src.ops) == 0 {
			continue
		}
		hash := sha256.Sum256([]byte(hex.EncodeToString(text[:]) + f.Name))
		t := event.Test{Name: m.Name() + ":" + f.Name, Hash: hex.EncodeToString(hash[:]), Dialect: event.Program, File: m.File,
			Targets: targets, Text: x.of(src.ops), Lines: [][]int{{}}, Columns: [][]int{{}}}
		for _, op := range src.ops {
			t.Lines[0], t.Columns[0] = append(t.Lines[0], op.Inst.Pos.Line), append(t.Columns[0], op.Inst.Pos.Col)
			p.ops[f.Name] = append(p.ops[f.Name], placeIn(op.Func.Name, op.Inst))
			if o.File != "" {
				t.Origin, t.OriginLines = o.File, append(t.OriginLines, o.line(op.Inst.Loc))
			}
		}
		p.Tests, p.roots = append(p.Tests, t), append(p.roots, f.Name)
	}
	return p
}

// NewFailed is a program of which a front end made no module for some targets: m has but a name. The file stands for its
// kernels.
func NewFailed(m *ptx.Module, o Origin, targets ...string) *Program {
	hash := sha256.Sum256([]byte(m.Name() + "\x00" + o.Text))
	return &Program{m: m, roots: []string{""}, Tests: []event.Test{{Name: m.Name(), Hash: hex.EncodeToString(hash[:]),
		Dialect: event.Program, File: o.File, Targets: targets, Lines: [][]int{{}}, Columns: [][]int{{}}}}}
}

// Config says what an audit of programs is of. What the tool itself is, the caller
// adds.
func Config(o *Options, programs []*Program) *event.Config {
	c := &event.Config{Schema: event.Schema, Spec: spec.Version, Layouts: []string{event.OwnLayout}, Claims: Statement(o.Execute), Execute: o.Execute}
	targets, levels := map[string]bool{}, map[string]bool{}
	for _, p := range programs {
		cells := o.cells(p.m)
		c.Tests += len(p.Tests)
		c.Cells += len(p.Tests) * len(cells)
		for i := range cells {
			targets[cells[i].Target], levels[cells[i].Level] = true, true
		}
	}
	c.Targets, c.Levels = slices.SortedFunc(maps.Keys(targets), target.Compare), slices.Sorted(maps.Keys(levels))
	for _, tc := range o.Toolchains {
		c.Toolchains = append(c.Toolchains, event.Toolchain{ID: tc.ID, Build: tc.Build, MaxPTX: tc.MaxPTX})
	}
	return c
}

// Known reports whether what a cell of the module says is known of all of its kernels.
func (p *Program) Known(c *Cell, have func(*event.Cell) bool) bool {
	for i := range p.Tests {
		if !have(p.place(i, c)) {
			return false
		}
	}
	return len(p.Tests) > 0
}

// place is a kernel's cell without its result.
func (p *Program) place(i int, c *Cell) *event.Cell {
	t := &p.Tests[i]
	return &event.Cell{Test: t.Name, Hash: t.Hash, Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Layout: event.OwnLayout}
}

// Events hands over what a cell of a module says of each of its kernels.
func (p *Program) Events(c *Cell, emit func(event.Event) error) error {
	if problem := p.problem(c); problem != nil {
		return emit(event.Event{Problem: problem})
	}
	for i := range p.Tests {
		t, cell := &p.Tests[i], p.place(i, c)
		cell.Result = event.Result{Class: c.Class, Reason: c.Reason}
		if c.Crash != nil {
			cell.Findings = []event.Finding{*c.Crash}
		}
		if k := c.kernel(p.roots[i]); k != nil {
			cell.Result = p.result(k)
			cell.Executed = c.executed(k.Name)
			cell.Code = hashOf(t.Hash + k.Hash)
			if c.CompiledAs != "" && (cell.Result.Reason == "" || cell.Result.Class == Preserved) {
				as := fmt.Sprintf("compiled as PTX %s, its newest", c.CompiledAs)
				cell.Result.Reason = strings.TrimPrefix(cell.Result.Reason+"; "+as, "; ")
			}
			if l := p.listing(k, &cell.Result); l != nil {
				if err := emit(event.Event{Listing: l}); err != nil {
					return err
				}
			}
		}
		if err := emit(event.Event{Cell: cell}); err != nil {
			return err
		}
	}
	return nil
}

// why is why a cell has no result.
func (c *Cell) why() string {
	if c.Crash != nil {
		return c.Crash.Full()
	}
	return c.Reason
}

// problem is what became of a module that has no kernel to show it at, nil if it has one or all is well.
func (p *Program) problem(c *Cell) *event.Problem {
	kind := map[string]string{Invalid: event.ProblemInput, Crashed: event.ProblemCrash, Unknown: event.ProblemInfrastructure}[c.Class]
	if len(p.Tests) > 0 || kind == "" {
		return nil
	}
	return &event.Problem{Kind: kind, Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Detail: c.File + ": " + c.why()}
}

func hashOf(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func (c *Cell) kernel(name string) *Kernel {
	if c.Result == nil {
		return nil
	}
	for i := range c.Result.Kernels {
		if c.Result.Kernels[i].Name == name {
			return &c.Result.Kernels[i]
		}
	}
	return nil
}

// executed is how much of a kernel was executed, nil if that was not asked for.
func (c *Cell) executed(kernel string) *event.Execution {
	for i := range c.Result.Executed {
		if x := &c.Result.Executed[i]; x.Kernel == kernel {
			return x.event()
		}
	}
	return nil
}

func (p *Program) result(k *Kernel) (r event.Result) {
	r.Compared = &k.Count
	if r.Class, r.Reason = k.Class(); r.Class == Preserved {
		r.Reason = k.Count.Limits()
	}
	for i := range k.Findings {
		r.Findings = append(r.Findings, p.finding(k, &k.Findings[i]))
	}
	for i := range k.Findings {
		if v := k.Findings[i].Verdict; v != nil && v.Class == Miscompiled {
			r.Verdict = v.event()
			break
		}
	}
	if r.Reason == "" && r.Class == Changed {
		r.Reason = undefined(k)
	}
	for i := range k.Notes {
		r.Notes = append(r.Notes, p.finding(k, &k.Notes[i]))
	}
	for i := range k.Unknown {
		r.Doubts = append(r.Doubts, p.finding(k, &k.Unknown[i]))
	}
	if len(k.Unknown) > 0 {
		r.Reason = k.Unknown[0].at() + k.Unknown[0].headline()
	}
	return r
}

// undefined is what the models say of the first finding of a kernel whose machine code has a test without a meaning in PTX, "" if none has.
func undefined(k *Kernel) string {
	for i := range k.Findings {
		f := &k.Findings[i]
		if v := f.Verdict; v != nil && v.Undefined != "" {
			return fmt.Sprintf("%smodel %s, %s: %s; %s %s what the PTX forbids", f.at(), v.Model, v.Pattern, v.Undefined, model.BytesModel, v.Bytes)
		}
	}
	return ""
}

func (p *Program) finding(k *Kernel, f *Finding) event.Finding {
	out := event.Finding{Rule: string(f.Rule), Access: -1, Detail: f.Detail, NoTest: f.NoTest, Flight: f.Flight, Executed: f.Execution != nil}
	for i, op := range p.ops[k.Name] {
		if f.First != nil && op == *f.First {
			out.Access = i
		}
	}
	if f.Second != nil {
		out.Detail = fmt.Sprintf("with %d:%d %s: %s", f.Second.Pos.Line, f.Second.Pos.Col, f.Second.Text, out.Detail)
	}
	if f.First != nil {
		out.Detail = fmt.Sprintf("%d:%d %s: %s", f.First.Pos.Line, f.First.Pos.Col, f.First.Text, out.Detail)
	}
	return out
}

// event is a verdict of miscompilation as the event stream has it.
func (v *Verdict) event() *event.Verdict {
	outcome := state(v.Outcome)
	return &event.Verdict{Model: v.Model, Source: v.states[0], Machine: v.states[1], Check: v.Check, Cycle: v.Cycle, Events: v.Events, Lifted: v.Machine,
		Slice: v.Source, Pattern: v.Pattern, New: []string{outcome}, Visible: []string{outcome}}
}

// state is a condition of a pattern as states are written: "exists (0:r1=1 /\ 1:r2=0)" is
// "0:r1=1; 1:r2=0;".
func state(cond string) string {
	cond = strings.TrimSuffix(strings.TrimPrefix(cond, "exists ("), ")")
	return strings.Join(strings.Split(cond, ` /\ `), "; ") + ";"
}

// Thread shows all operations of a kernel beside its machine code.
func (p *Program) Thread(k *Kernel) (t event.ThreadListing) {
	for i, op := range p.ops[k.Name] {
		t.Source = append(t.Source, event.Line{Pos: i, Text: fmt.Sprintf("%s // %d", cut(op.Text, maxText), op.Pos.Line), At: op.Pos.Line})
	}
	for _, x := range k.Machine {
		t.Machine = append(t.Machine, event.Line{Pos: x.Op, Text: cut(x.Text, maxText), Part: x.Part, At: int(x.At)})
	}
	return t
}

// listing shows the operations of a kernel beside its machine code.
func (p *Program) listing(k *Kernel, r *event.Result) *event.Listing {
	ops := p.ops[k.Name]
	if len(ops) > maxShown && !r.HasFindings() {
		return nil
	}
	t := p.Thread(k)
	if r.HasFindings() {
		if len(ops) > maxShown {
			t = t.Near(beyondShown, accesses(r.Findings)...)
		}
		return &event.Listing{Code: r.Code, Threads: []event.ThreadListing{t}}
	}
	t = t.Bare()
	r.Look = hashOf(fmt.Sprint(p.Tests[0].Hash, k.Name, t))
	return &event.Listing{Code: r.Look, Threads: []event.ThreadListing{t}}
}

// accesses are the operations that findings name, as far as there is room for them.
func accesses(findings []event.Finding) (out []int) {
	for i := range findings[:min(len(findings), maxShown/(2*beyondShown+1))] {
		out = append(out, findings[i].Access)
	}
	return out
}

// show keeps what of the machine code a kernel is shown with.
func (c *checker) show(k *Kernel) {
	if c.matcher == nil {
		return
	}
	part := map[int32]int{}
	for op := range c.img {
		for _, i := range append(c.img[op].inval[:len(c.img[op].inval):len(c.img[op].inval)], c.img[op].flush...) {
			part[i] = op
		}
	}
	h := sha256.New()
	for i, in := range c.mach.insts {
		h.Write([]byte(in.Text + "\n"))
		if !c.mach.reach[i] {
			continue
		}
		op, isPart := part[int32(i)]
		switch {
		case c.owner[i] >= 0:
			k.Machine = append(k.Machine, Shown{int(c.owner[i]), in.Text, false, in.Addr})
		case isPart:
			k.Machine = append(k.Machine, Shown{op, in.Text, true, in.Addr})
		case in.Role.IsAccess() && in.Mem.Space != isa.SpaceLocal && in.Mem.Space != isa.SpaceConst, in.Role == isa.RoleFence,
			in.Role == isa.RoleBarrier, in.Role == isa.RoleCache:
			k.Machine = append(k.Machine, Shown{-1, in.Text, true, in.Addr})
		}
	}
	k.Hash = hex.EncodeToString(h.Sum(nil))
}
