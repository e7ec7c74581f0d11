// Package event is the one stream of events of optcheck: what happened in a run, stored as JSON
// lines, read and checked, united with other runs, and held in memory. Whoever produces results
// (audit, audit/device, audit/store) imports it; text, tables and pages are made from it by the
// renderers, which stand above it (report), so that no producer drags in what they need.
//
// It does not produce events (audit does), does not judge and does not render.
package event

import (
	"optcheck/litmus"
	"optcheck/sass/hazard"
	"optcheck/spec"
)

// Schema is the version of the event stream. It changes when a reader of the
// old one would misunderstand the new one.
const Schema = 3

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
