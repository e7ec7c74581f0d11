// Package report is the one event stream of optcheck and its renderers. A run
// is a sequence of events, stored as JSON lines; text, tables and JSON are
// made from it and from nothing else, so that a saved run can be rendered
// again in any form.
//
// It does not produce events (audit does) and does not judge.
package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"optcheck/litmus"
	"optcheck/sass/hazard"
	"optcheck/spec"
)

// Schema is the version of the event stream. It changes when a reader of the
// old one would misunderstand the new one.
const Schema = 3

// oldestSchema is the oldest one that Read still understands. Streams of schema
// 1 have no verdicts and call every cell with findings changed; those of 1 and
// 2 do not hold the tests.
const oldestSchema = 1

// Event is one line of the stream: an object with exactly one key, which names
// its kind. The first event of a stream is the config.
type Event struct {
	Config  *Config  `json:"config,omitempty"`
	Test    *Test    `json:"test,omitempty"`
	Cell    *Cell    `json:"cell,omitempty"`
	Listing *Listing `json:"listing,omitempty"`
	Problem *Problem `json:"problem,omitempty"`
	Stats   *Stats   `json:"stats,omitempty"`
	// Histogram is in streams of runs on devices. It came after the others; a
	// reader that does not know it refuses the stream.
	Histogram *Histogram `json:"histogram,omitempty"`
}

// Config says what a run is of.
type Config struct {
	Schema     int         `json:"schema"`
	Tool       string      `json:"tool"`         // version of optcheck
	Spec       int         `json:"spec_version"` // version of the marker encoding
	Tests      int         `json:"tests"`
	Cells      int         `json:"cells"`
	Toolchains []Toolchain `json:"toolchains"`
	Targets    []string    `json:"targets"`
	Levels     []string    `json:"levels"`
	Layouts    []string    `json:"layouts"`
	Plain      bool        `json:"plain,omitempty"` // kernels without markers
	// What else decides the result of a cell: the build of optcheck itself,
	// what kernels are written in, further arguments of the compilers, and the
	// hash of the models that judge ("" if none was asked).
	Build  string   `json:"build,omitempty"`
	Source string   `json:"source,omitempty"`
	Flags  []string `json:"flags,omitempty"`
	Model  string   `json:"model,omitempty"`
	// Execute is on how many inputs kernels and their machine code are executed.
	Execute int `json:"execute,omitempty"`
	// Shard is "i/n" if the run did only a part of its cells; Cells is then
	// the number of cells of this part.
	Shard string `json:"shard,omitempty"`
	// Claims is what a run of programs says of them, and what it does not.
	Claims string `json:"claims,omitempty"`
	// OnDevice is given if the run is on a device.
	OnDevice *DeviceRun `json:"campaign,omitempty"`
}

// Program is the dialect of programs: a kernel of PTX is a test with one thread. Its text is
// an excerpt: "12: ld.global.u32 %r1, [%rd1];" is line 12 of the file, "// k.cu:7: x = *p;" what the
// next operation was made of, "… 30" stands for lines that are left out.
const Program = "PTX program"

// OwnLayout is the layout of a program: its own.
const OwnLayout = "own"

// Test is a litmus test of a run. Its event precedes all its cells.
type Test struct {
	Name    string `json:"name"`
	Hash    string `json:"hash"` // content hash of the test
	Dialect string `json:"dialect"`
	Text    string `json:"text"` // as printed in its dialect
	// Preset names the configuration that generated the test, or the corpus;
	// File is where it was read from. At most one is given.
	Preset string `json:"preset,omitempty"`
	File   string `json:"file,omitempty"`
	// Lines and Columns are where the accesses and fences of each thread stand
	// in File, by position. Without a file there are none: what stands where in
	// Text follows from it.
	Lines   [][]int `json:"lines,omitempty"`
	Columns [][]int `json:"columns,omitempty"`
	// Targets are those that a front end made the PTX of a program for: of others it may
	// have made other PTX.
	Targets []string `json:"targets,omitempty"`
	// Itself is what was found out of a program itself, whatever a compiler makes of it; "" if that was not asked.
	Itself string `json:"itself,omitempty"`
	// Origin is the file that a front end made File of, and OriginLines are the lines in it that the accesses were made of: 0
	// of those that no line of it is known of.
	Origin      string `json:"origin,omitempty"`
	OriginLines []int  `json:"origin_lines,omitempty"`
}

// NewTest returns the event of a test. At most one of preset and file is given.
func NewTest(t *litmus.Test, hash, preset, file string) *Test {
	e := &Test{Name: t.Name, Hash: hash, Dialect: t.Dialect.String(), Text: t.String(), Preset: preset, File: file}
	if file != "" {
		e.Lines, e.Columns = spec.Lines(t)
	}
	return e
}

// Toolchain names a compiler release of a run.
type Toolchain struct {
	ID     string `json:"id"`
	Build  string `json:"build"`
	MaxPTX string `json:"max_ptx,omitempty"`
}

// Cell is the result of one test × toolchain × target × level × layout.
type Cell struct {
	Test      string `json:"test"`
	Hash      string `json:"hash"` // content hash of the test
	Toolchain string `json:"toolchain"`
	Target    string `json:"target"`
	Level     string `json:"level"`
	Layout    string `json:"layout"`
	Result
}

// Result is what is known of a cell, without its place in the matrix: cells
// with equal machine code mostly have equal results.
type Result struct {
	Class    string    `json:"class"` // see the constants Preserved to Unknown
	Findings []Finding `json:"findings,omitempty"`
	Notes    []Finding `json:"notes,omitempty"`
	// Doubts are, of a program, what could not be decided: none of it is good news.
	Doubts []Finding `json:"doubts,omitempty"`
	// Code is the hash of the cell's machine code with names left out: equal
	// hashes are equal code. Empty where nothing was compiled.
	Code string `json:"code,omitempty"`
	// Look names, of a preserved cell, the Listing of its memory instructions without
	// registers: cells of one test with equal looks have the same of them in the same order.
	Look   string `json:"look,omitempty"`
	Reason string `json:"reason,omitempty"` // of unsupported and unknown
	// Known lists the known findings that this cell is an instance of; empty if
	// any of its findings is new.
	Known []string `json:"known,omitempty"`
	// Verdict is what a memory model says of machine code that is not the
	// test; nil for preserved cells and where no model was asked. Cells may
	// share one.
	Verdict *Verdict `json:"verdict,omitempty"`
	// Hardware is what a model of the hardware says of the machine code, nil where
	// none was asked beside the memory model.
	Hardware *Hardware `json:"hardware,omitempty"`
	// Compared is, of a program, what was compared, and Executed how much of it was executed, nil
	// if that was not asked for.
	Compared *Matched   `json:"compared,omitempty"`
	Executed *Execution `json:"executed,omitempty"`
}

// ListingKey returns the code under which a run lists the cell's machine code; "" if it does not.
func (c *Result) ListingKey() string {
	if c.HasFindings() {
		return c.Code
	}
	return c.Look
}

// Hardware is the answer of a model of the hardware.
type Hardware struct {
	Name     string `json:"name,omitempty"`     // nvhw
	Outcomes int    `json:"outcomes,omitempty"` // how many the machine code can show
	// New lists those that the memory model forbids in the test, Schedule is a run
	// that ends in New[0].
	New      []string `json:"new,omitempty"`
	Schedule []string `json:"schedule,omitempty"`
	// Unjudged is why nothing is said; the rest is empty then.
	Unjudged string `json:"unjudged,omitempty"`
}

// The classes of cells.
const (
	Preserved   = "preserved"   // the binary is the test
	Optimised   = "optimised"   // changed, but the model allows no new outcome
	Miscompiled = "miscompiled" // the machine code allows an outcome that the test forbids
	Changed     = "changed"     // at least one finding; no model was asked, or it could not say more
	Crashed     = "crashed"     // the compiler crashes or hangs at the test: rules crash and hang
	Invalid     = "invalid"     // no target and no version takes the file, for a reason in the file
	Unsupported = "unsupported" // target or encoding lack something that the test uses
	Unknown     = "unknown"     // could not be decided; never counted as good
)

// HasFindings reports whether the machine code differs from the test, or the compiler has made
// none because of a fault of its own.
func (c *Result) HasFindings() bool {
	return c.Class == Changed || c.Class == Optimised || c.Class == Miscompiled || c.Class == Crashed
}

// Verdict compares what a memory model allows of the test and of the machine
// code, lifted back to a litmus test. Outcomes are written like the states of
// herd's logs: "0:r1=1; x=2;", over the terms of the test's condition and, after
// them, all other registers that accesses read into and all other locations.
type Verdict struct {
	Model   string `json:"model"`
	Source  int    `json:"source_outcomes"`  // number of outcomes of the test
	Machine int    `json:"machine_outcomes"` // and of the machine code
	// New lists the outcomes that only the machine code allows, Lost those
	// that only the test allows.
	New  []string `json:"new,omitempty"`
	Lost []string `json:"lost,omitempty"`
	// Visible are the new outcomes in the terms of the condition alone, as far as
	// they are new there; empty if the condition cannot tell.
	Visible []string `json:"visible,omitempty"`
	// Check is the model's check that forbids New[0] in the test, Cycle the
	// violated cycle in words.
	Check string `json:"check,omitempty"`
	Cycle string `json:"cycle,omitempty"`
	// Events says what the events of the cycle are: "a: T0 W x=1 (st.cg.s32 [x],1)".
	Events []string `json:"cycle_events,omitempty"`
	// Unexplained is why there is no Check.
	Unexplained string `json:"unexplained,omitempty"`
	// SCNew lists the outcomes that the machine code can show under sequential
	// consistency and the test cannot: seen on hardware, they may be the
	// compiler's doing.
	SCNew []string `json:"sc_new,omitempty"`
	// Others are the answers of further models that the target could be read
	// under.
	Others []OtherVerdict `json:"others,omitempty"`
	// Lifted is the machine code as a litmus test, in the test's dialect.
	Lifted string `json:"lifted"`
	// Slice is what of a program the verdict is of, as a litmus test; "" if it is of a test.
	Slice string `json:"slice,omitempty"`
	// Pattern names that test: "message passing, the reader".
	Pattern string `json:"pattern,omitempty"`
	// Equal lists registers of the condition that no access defines any more,
	// with what they equal: "1:r2 = 1:r1".
	Equal []string `json:"equal,omitempty"`
	// Race says whether the test itself has a data race: RaceFree, DataRace,
	// FenceScope, MixedSize, NonCoherent or RaceUnknown; "" if that was not asked. RaceModel is the
	// model that says what a race is; without it that is Model. RaceWhy is why it is
	// not known.
	Race      string `json:"race,omitempty"`
	RaceModel string `json:"race_model,omitempty"`
	RaceWhy   string `json:"race_why,omitempty"`
	// Hardware names the memory system of AMD's that the machine code was explored
	// on, by package amdhw; Lifted is empty then. Schedule is a run of it that ends in
	// New[0].
	Hardware string   `json:"hardware,omitempty"`
	Schedule []string `json:"schedule,omitempty"`
	// Unjudged is why nothing is said of the machine code; Machine, New, Lost and
	// Lifted are empty then.
	Unjudged string `json:"unjudged,omitempty"`
}

// Hidden reports whether there are new outcomes and the condition of the test cannot
// tell any.
func (v *Verdict) Hidden() bool { return len(v.New) > 0 && len(v.Visible) == 0 }

// Shown returns the new outcomes as people read them: in the terms of the condition
// where it can tell.
func (v *Verdict) Shown() []string {
	if len(v.Visible) > 0 {
		return v.Visible
	}
	return v.New
}

// OtherVerdict is the answer of another model.
type OtherVerdict struct {
	Model string   `json:"model"`
	Class string   `json:"class"` // optimised or miscompiled
	New   []string `json:"new,omitempty"`
	// Flags are the model's own warnings that it does not speak of something
	// in the test.
	Flags []string `json:"flags,omitempty"`
}

// Finding is one broken rule, or a note, of a cell.
type Finding struct {
	Rule   string `json:"rule"`
	Thread int    `json:"thread"`
	Access int    `json:"access"` // position in the thread, -1 for none
	Detail string `json:"detail"`
	// Order tells that the access is there, and what it orders is not ordered.
	Order bool `json:"order,omitempty"`
	// Stage says where in an LLVM-based compiler it arose: front end, library,
	// IR passes or back end; of two compilers in a row in which one: llc, ptxas;
	// "" if that is not known.
	Stage string `json:"stage,omitempty"`
	// At is where in its own code a compiler crashed, "ptxas+0x281ad0"; "" where that could not
	// be found out.
	At string `json:"at,omitempty"`
	// NoTest is why no litmus test was made of a finding in a program, "" if one was or nothing is known.
	NoTest string `json:"no_test,omitempty"`
	// Executed tells that an execution shows it, on an input of which optcheck replay shows it again.
	Executed bool `json:"executed,omitempty"`
	// Flight is the machine code around a register that is used while it is in flight.
	Flight *hazard.Excerpt `json:"flight,omitempty"`
}

// Listing shows the threads of machine code beside their source, before the first cell
// that has it. Of code with findings there is one per distinct code, and further ones
// that differ in the names of locations where tests have other names; of preserved
// cells one per Look, whose lines have no numbers of registers.
type Listing struct {
	Code    string          `json:"code"`
	Threads []ThreadListing `json:"threads"`
}

// ThreadListing is one thread of a Listing.
type ThreadListing struct {
	Thread  int    `json:"thread"`
	Source  []Line `json:"source"`
	Machine []Line `json:"machine"`
}

// Line is an access or fence of the source, or an instruction of the machine
// code. Pos is the position of the access or fence that it is, -1 for none.
type Line struct {
	Pos  int    `json:"pos"`
	Text string `json:"text"`
	// Part marks machine instructions that belong to a fence or an
	// acquire/release access rather than standing for themselves.
	Part bool `json:"part,omitempty"`
	// Control is the control code of an NVIDIA instruction, as isa.Control prints
	// it, if listings are to show it.
	Control string `json:"control,omitempty"`
	// At is where it stands in a program: the line of the source, the address of the
	// machine code; 0 where that is not told.
	At int `json:"at,omitempty"`
}

// Problem is something that went wrong in a run without ending it.
type Problem struct {
	Kind      string `json:"kind"` // see the constants ProblemInput to KindMixed
	Toolchain string `json:"toolchain,omitempty"`
	Target    string `json:"target,omitempty"`
	Level     string `json:"level,omitempty"`
	Detail    string `json:"detail"`
}

// Stats closes a run: what it cost. Times are in seconds.
type Stats struct {
	Cells     int     `json:"cells"`
	Kernels   int     `json:"kernels"`
	Codes     int     `json:"distinct_codes"`
	Wall      float64 `json:"wall_s"`
	OwnCPU    float64 `json:"own_cpu_s"`
	ToolCPU   float64 `json:"tool_cpu_s"`
	Processes int     `json:"processes"`
	// Registers are the dependencies over registers that were judged by control codes.
	Registers   int  `json:"registers,omitempty"`
	Interrupted bool `json:"interrupted,omitempty"`
}

// Handler consumes events. Close is called once, after the last event.
type Handler interface {
	Handle(Event) error
	Close() error
}

// JSONLines writes events as JSON lines.
type JSONLines struct {
	w   *bufio.Writer
	enc *json.Encoder
}

// NewJSONLines returns a Handler that writes to w.
func NewJSONLines(w io.Writer) *JSONLines {
	b := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return &JSONLines{w: b, enc: enc}
}

// Handle writes one event.
func (j *JSONLines) Handle(e Event) error { return j.enc.Encode(e) }

// Close writes what is still buffered.
func (j *JSONLines) Close() error { return j.w.Flush() }

// Flush writes what is buffered, so that a run that dies keeps its results.
func (j *JSONLines) Flush() error { return j.w.Flush() }

// Bounds of a stream read from outside: of a line in bytes, and of lines
// without an event.
const (
	maxLine  = 16 << 20
	maxEmpty = 100_000
)

// Read passes the events of a JSON-lines stream to f. Errors name file and
// line. A stream that does not begin with a config of a known schema, or that
// holds an event of no known kind, is refused. Several streams in a row are read
// as such: each config begins a run.
func Read(file string, r io.Reader, f func(Event) error) error {
	return ReadLines(file, r, func(_ int, e Event) error { return f(e) })
}

// ReadLines is Read and tells f the line of each event, counted from 1.
func ReadLines(file string, r io.Reader, f func(line int, e Event) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 1<<16), maxLine)
	n, empty, begun := 0, 0, false
	for sc.Scan() {
		n++
		line := bytes.TrimSpace(sc.Bytes())
		if len(line) == 0 {
			if empty++; empty > maxEmpty {
				return fmt.Errorf("%s:%d: no event stream: more than %d empty lines", file, n, maxEmpty)
			}
			continue
		}
		e, err := decode(line)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if !begun && e.Config == nil {
			return fmt.Errorf("%s:%d: no event stream: the first line is no config", file, n)
		}
		begun = true
		if c := e.Config; c != nil && (c.Schema < oldestSchema || c.Schema > Schema) {
			return fmt.Errorf("%s:%d: event stream of schema %d, this tool reads %d to %d", file, n, c.Schema, oldestSchema, Schema)
		}
		if err := f(n, e); err != nil {
			return err
		}
	}
	if err := sc.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("%s:%d: line longer than %d bytes", file, n+1, maxLine)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%s:%d: the file is cut off", file, n+1)
		}
		return fmt.Errorf("%s: %w", file, err)
	}
	if !begun {
		return fmt.Errorf("%s: empty event stream", file)
	}
	return nil
}

// badEvent says in words of the format what is wrong with a line.
func badEvent(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("bad event: the line is cut off")
	case errors.As(err, &syntax):
		return fmt.Errorf("bad event: no JSON from byte %d on", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("bad event: %s cannot be a JSON %s", kind.Field, kind.Value)
	}
	return fmt.Errorf("bad event: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func decode(line []byte) (Event, error) {
	var e Event
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, badEvent(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return e, errors.New("bad event: something stands behind it")
	}
	if err := e.oneLine(); err != nil {
		return e, fmt.Errorf("bad event: %w", err)
	}
	kinds := 0
	for _, has := range []bool{e.Config != nil, e.Test != nil, e.Cell != nil, e.Listing != nil, e.Problem != nil,
		e.Stats != nil, e.Histogram != nil} {
		if has {
			kinds++
		}
	}
	if kinds != 1 {
		return e, errors.New("bad event: not exactly one kind")
	}
	return e, e.check()
}

// Run is a whole stream in memory.
type Run struct {
	Config   Config
	Tests    []Test
	Cells    []Cell // none of them in a run of Set.Lean: All has them always
	Listings map[string]*Listing
	Problems []Problem
	// Histograms are what devices did, in the order of the stream.
	Histograms []Histogram
	Stats      *Stats

	// AllowUnknown is how many cells may be undecided where all is to be done; it is the reader's choice.
	AllowUnknown int
	// FailOn is which cells make the run fail; that, too, is the reader's choice. "" is FailNew.
	FailOn FailOn

	// set, if not nil, has the cells in the place of Cells.
	set *Set
}

// Len returns the number of cells.
func (r *Run) Len() int {
	if r.set != nil {
		return len(r.set.Cells)
	}
	return len(r.Cells)
}

// At returns cell i.
func (r *Run) At(i int) Cell {
	if r.set != nil {
		return r.set.Cell(i)
	}
	return r.Cells[i]
}

// All yields the cells in order. Each is only there until the next one comes: who
// keeps one must copy it.
func (r *Run) All() iter.Seq2[int, *Cell] {
	return func(yield func(int, *Cell) bool) {
		for i := range r.Cells {
			if !yield(i, &r.Cells[i]) {
				return
			}
		}
		if r.set == nil {
			return
		}
		var c Cell
		for i := range r.set.Cells {
			if c = r.set.Cell(i); !yield(i, &c) {
				return
			}
		}
	}
}

// NewRun returns an empty Run, which is a Handler too.
func NewRun() *Run { return &Run{Listings: map[string]*Listing{}} }

// Handle stores one event.
func (r *Run) Handle(e Event) error {
	switch {
	case e.Config != nil:
		r.Config = *e.Config
	case e.Test != nil:
		r.Tests = append(r.Tests, *e.Test)
	case e.Cell != nil:
		r.Cells = append(r.Cells, *e.Cell)
	case e.Listing != nil:
		r.Listings[e.Listing.Code] = e.Listing
	case e.Problem != nil:
		r.Problems = append(r.Problems, *e.Problem)
	case e.Histogram != nil:
		r.Histograms = append(r.Histograms, *e.Histogram)
	case e.Stats != nil:
		r.Stats = e.Stats
	}
	return nil
}

// Close implements Handler.
func (r *Run) Close() error { return nil }

// Tee passes every event to several handlers.
type Tee []Handler

// Handle passes the event on; the first error ends it.
func (t Tee) Handle(e Event) error {
	for _, h := range t {
		if err := h.Handle(e); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes out what handlers have buffered, those that can.
func (t Tee) Flush() error {
	for _, h := range t {
		if f, ok := h.(interface{ Flush() error }); ok {
			if err := f.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close closes all handlers and joins their errors.
func (t Tee) Close() error {
	var errs []error
	for _, h := range t {
		errs = append(errs, h.Close())
	}
	return errors.Join(errs...)
}

// Replay passes the run's events to a handler and closes it.
func (r *Run) Replay(h Handler) error {
	if err := h.Handle(Event{Config: &r.Config}); err != nil {
		return err
	}
	for i := range r.Tests {
		if err := h.Handle(Event{Test: &r.Tests[i]}); err != nil {
			return err
		}
	}
	shown := map[string]bool{}
	for i := range r.Problems {
		if err := h.Handle(Event{Problem: &r.Problems[i]}); err != nil {
			return err
		}
	}
	for _, c := range r.All() {
		if l := r.Listings[c.ListingKey()]; l != nil && !shown[l.Code] {
			shown[l.Code] = true
			if err := h.Handle(Event{Listing: l}); err != nil {
				return err
			}
		}
		if err := h.Handle(Event{Cell: c}); err != nil {
			return err
		}
	}
	for i := range r.Histograms {
		if err := h.Handle(Event{Histogram: &r.Histograms[i]}); err != nil {
			return err
		}
	}
	if r.Stats != nil {
		if err := h.Handle(Event{Stats: r.Stats}); err != nil {
			return err
		}
	}
	return h.Close()
}
