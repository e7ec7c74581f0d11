package refine

import (
	"context"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// Rule is what machine code does that its program does not allow.
type Rule string

// The rules.
const (
	WrongValue   Rule = "wrong-value"   // another value is stored
	WrongAddress Rule = "wrong-address" // the value goes elsewhere
	NotPerformed Rule = "not-performed" // an operation of the program is not there
	ExtraAccess  Rule = "extra-access"  // something is stored, or synchronised with, that the program does not touch
	DoesNotEnd   Rule = "does-not-end"  // the program ends
)

// Finding is a difference with its counterexample.
type Finding struct {
	Rule  Rule   `json:"rule"`
	Why   string `json:"why"`
	Input *Input `json:"input"`
	// Block, Warp and Lane name the thread; Reverse is the order of diverged lanes with which it shows, Both that it
	// shows with either, and with other undefined content.
	Block   int  `json:"block"`
	Warp    int  `json:"warp"`
	Lane    int  `json:"lane"`
	Reverse bool `json:"reverse,omitempty"`
	Both    bool `json:"both"`
	// Source is the instruction of the program, Machine that of the machine code: indices of Insts, -1 if there is none.
	Source  int `json:"source"`
	Machine int `json:"machine"`
	// SourceNumber is ir.Inst.Source of the former, MachineAddr the address of the latter; the texts are theirs.
	SourceNumber int    `json:"source_number,omitempty"`
	SourceText   string `json:"source_text,omitempty"`
	MachineAddr  uint64 `json:"machine_addr,omitempty"`
	MachineText  string `json:"machine_text,omitempty"`
	Address      uint64 `json:"address,omitempty"`
	Want         uint64 `json:"want"`
	Got          uint64 `json:"got"`
	// Approximate tells that approximate functions were performed before it: the difference need not be a wrong one.
	Approximate bool `json:"approximate,omitempty"`
	// Unproved are the forms of instructions on which it may rest, and whose meaning no chip has confirmed: alone they
	// prove nothing.
	Unproved []string `json:"unproved,omitempty"`
	// Apart tells that it shows only if a lane goes ahead of others where machine code asks whether lanes are apart. They may be together
	// whenever it asks.
	Apart bool `json:"apart,omitempty"`
	// Shared tells that it does not show if diverged groups of lanes have uniform registers of their own, where what other threads do may
	// have told lanes different things: they may be together.
	Shared bool `json:"shared,omitempty"`
	// Early is the use of a register of which it is the harm.
	Early *Early `json:"early,omitempty"`
}

// Options say how much is tried.
type Options struct {
	Runs int    // inputs; 0: 8
	Seed uint64 // of the first one
	// Grid and Block fix the launch; zero: chosen.
	Grid, Block [3]int
	MaxSteps    int64 // of the program, a run; 0: 4096 a thread, at least 1 << 20
	// Shared gives shared memory a first content.
	Shared bool
	// Enough ends the runs, of which there are at least two, with the first one that reaches nothing new.
	Enough bool
	// Search is how many instructions of lanes, of both codes, are performed at most for inputs that reach what those before
	// have not: as long as an outcome of a condition is open.
	Search int64
	// Solver, if there is one, says of a program what holds whatever its input is.
	Solver func(p *ir.Program) Solver
	// Inputs are tried instead of chosen ones.
	Inputs []*Input
	// Proof, if there is one, looks for a proof that machine code does on every input what the program does: quickly once the first inputs show
	// no difference, and thoroughly at the end if something is left that no input has shown. With a proof no more inputs are searched for.
	Proof func(thorough bool) bool
	// Early, if there is one, is performed by machine code that does without it what the program does: the findings are what it changes.
	Early *Early
}

// Result is what execution says of a kernel.
type Result struct {
	Findings []Finding `json:"findings,omitempty"`
	// Runs were compared to their end, Cut ones as far as the bound of steps let them; Compared counts events and words
	// that were compared.
	Runs int `json:"runs"`
	Cut  int `json:"cut,omitempty"`
	// Proved tells that there is a proof.
	Proved bool `json:"proved,omitempty"`
	// Forced counts the conditions that got an outcome that no input had shown, in both codes, which then did the same.
	Forced   int `json:"forced,omitempty"`
	Compared int `json:"compared"`
	// Early is how often a register had another content because it was used too early.
	Early int `json:"early,omitempty"`
	// Cannot are the reasons why runs could not be compared, with how many.
	Cannot map[string]int `json:"cannot,omitempty"`
	// Source and Machine say what the compared runs performed.
	Source  Covered `json:"source"`
	Machine Covered `json:"machine"`
	// Unseen are the operations of the program that write memory, or are not understood, and that no run compared, by
	// ir.Inst.Source; Unwritten those of the machine code that no run performed.
	Unseen []int `json:"-"`
	// Undefined are those of them that were performed, but always with what the program leaves undefined.
	Undefined []int `json:"-"`
	// Undecided are the comparisons of the program that may be others in the machine code, by ir.Inst.Source.
	Undecided []int  `json:"-"`
	Unwritten []Code `json:"-"`
	// Seen are the instructions of the program that compared runs performed, by ir.Inst.Source.
	Seen map[int]bool `json:"-"`
	// Performed are the addresses of the instructions of the machine code that compared runs performed.
	Performed map[uint64]bool `json:"-"`
	// Unreached are those of the instructions that write memory and to which no thread comes, whatever the input is.
	Unreached []uint64 `json:"-"`
}

// Code is an instruction of the machine code.
type Code struct {
	Addr uint64
	Text string
}

// Covered says how much of a code was performed.
type Covered struct {
	Insts, Of int
	// Outcomes of OutcomesOf: those of its conditional jumps.
	Outcomes, OutcomesOf int
}

// Share is the part that was performed, from 0 to 1.
func (c Covered) Share() float64 {
	if c.Of == 0 {
		return 1
	}
	return float64(c.Insts) / float64(c.Of)
}

// Compare executes a program and the machine code that was made of it.
func Compare(ctx context.Context, program, machine *ir.Program, o Options) (*Result, error) {
	program, machine = ir.Linked(program, machine), placed(program, machine)
	if program.Mbarriers != machine.Mbarriers {
		p := *program
		p.Mbarriers, program = machine.Mbarriers, &p
	}
	c, err := newComparison(program, machine, o)
	if err != nil {
		return nil, err
	}
	c.done = ctx.Done()
	var left []int32
	approximate := slices.ContainsFunc(program.Insts, func(in ir.Inst) bool { return in.Approximate() })
	if c.explore(ctx); c.searches() {
		if !approximate {
			c.extreme(false)
		}
		c.force(ctx)
		c.shuffle(ctx)
		c.ruleOut() // of what has been performed since
		if left = c.undecided(); len(left) > 0 {
			c.lookAgain(ctx, left)
			left = c.undecided()
		}
		if c.searches() && ctx.Err() == nil {
			c.large()
		}
		if approximate && c.searches() && ctx.Err() == nil {
			c.extreme(true)
		}
		if c.searches() && ctx.Err() == nil {
			c.last(approximate)
		}
		if len(left) > 0 && c.searches() {
			left = c.undecided()
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.conclude(left); c.open() {
		c.prove(true)
	}
	return c.Result, nil
}

func newComparison(program, machine *ir.Program, o Options) (*comparison, error) {
	c := &comparison{Result: &Result{Cannot: map[string]int{}}, o: o, program: program, machine: machine,
		deaths: map[occurrence]*death{}, crowded: map[int32]bool{}, shown: map[int32]uint8{}, flips: map[showing]int{}, slight: map[showing]int{}, policies: policiesOf(machine), made: map[showing]made{}, vainJumps: map[int32]bool{}, moot: map[question]bool{},
		attempts: map[attempt]bool{}, guessed: map[attempt]bool{}, allowance: new(int64), histories: [2]histories{{}, {}}, flipEnd: flipSteps}
	var err error
	if c.source, err = emu.Prepare(program); err != nil {
		return nil, err
	}
	if c.code, err = emu.Prepare(machine); err != nil {
		return nil, err
	}
	c.sourceCover, c.machineCover = emu.NewCoverage(c.source), emu.NewCoverage(c.code)
	c.kinds, c.hosted = kinds(program), hosted(program)
	c.used = paramKinds(program, c.kinds)
	c.search = newSearch(c)
	*c.allowance = 4 * o.Search * c.size()
	return c, nil
}

// searches reports whether inputs are searched for: none were given, and nothing was found or proved.
func (c *comparison) searches() bool {
	return c.o.Search > 0 && len(c.Findings) == 0 && len(c.o.Inputs) == 0 && !c.Proved
}

// prove looks for a proof, unless there is one, or a difference.
func (c *comparison) prove(thorough bool) {
	c.Proved = c.Proved || c.o.Proof != nil && len(c.Findings) == 0 && c.o.Proof(thorough)
}

// open reports whether something is left that no run has compared, so that only a proof says more.
func (r *Result) open() bool {
	return r.Runs+r.Cut == 0 || len(r.Unseen)+len(r.Undecided)+len(r.Unwritten) > 0
}

// explore compares the codes on the inputs that were asked for, and on those that the search finds.
func (c *comparison) explore(ctx context.Context) {
	for i := range c.asked() {
		grown := c.grown
		if ctx.Err() != nil {
			return
		}
		if c.run(c.input(i)); len(c.Findings) > 0 || c.o.Enough && c.grown == grown {
			break
		}
	}
	c.short = true
	if c.searches() {
		c.wild()
	}
	c.prove(false)
	c.spent = 0
	if c.searches() {
		c.ruleOut()
		c.unusual()
	}
	c.seek(ctx)
}

// seek compares the codes on inputs that the search finds.
func (c *comparison) seek(ctx context.Context) {
	for len(c.Findings) == 0 && c.search.goesOn() && ctx.Err() == nil {
		in, of := c.search.next()
		if in == nil {
			break
		}
		c.try(in, of)
	}
}

// placed is machine code that takes its parameters from where the program has them.
func placed(program, machine *ir.Program) *ir.Program {
	var from []int64
	moved := false
	for i := range program.Params {
		from = append(from, program.Params[i].Offset)
		moved = moved || i < len(machine.Params) && machine.Params[i].Offset != from[i]
	}
	if !moved || len(program.Params) != len(machine.Params) {
		return machine
	}
	m := *machine
	m.ParamFrom = from
	return &m
}

type comparison struct {
	*Result
	o                         Options
	done                      <-chan struct{} // ends the program's runs
	program, machine          *ir.Program
	source, code              *emu.Code
	sourceCover, machineCover *emu.Coverage
	grown                     int // how often something was performed for the first time
	kinds                     map[int32]emu.Kind
	hosted                    []ir.Var           // see hosted
	used                      map[int64]paramUse // see paramKinds
	deaths                    map[occurrence]*death
	reading                   reading        // that with which machine code did last what the program does
	crowded                   map[int32]bool // see replay
	again                     []int32        // the comparisons that are looked at a second time
	shortened                 int64          // instructions of lanes that were performed to find shorter runs: at most half of what a search may spend
	short                     bool           // inputs are searched for: those that do not end soon are cut earlier
	longest                   int64          // instructions of the longest run before that ended
	tried                     int64          // instructions of lanes that were performed to find what is dead
	spent                     int64          // all of them
	compared                  []bool         // instructions of the program whose effects were compared
	undefined                 []bool         // those that wrote what the program leaves undefined
	search                    *search
	unread                    []bool           // see unread
	shown                     map[int32]uint8  // what compared runs showed of the program's comparisons
	made                      map[showing]made // inputs that show something of comparisons
	policies                  []emu.Policy
	flips, slight             map[showing]int // how often it was tried whether something depends on what one shows
	flipped                   int64           // instructions of lanes that were performed for it
	flipEnd                   int64           // the bound of flipped
	good                      []*Input        // some on which the codes agreed
	defs                      map[ir.Reg][]site
	need                      []uint8        // see needs
	solvers                   [2]Solver      // of the program and of the machine code
	vainJumps                 map[int32]bool // see vainJump
	nevers                    [2]map[question]bool
	moot                      map[question]bool
	begun                     bool           // see begins
	regrouped                 int            // how often lanes were active together otherwise
	ruledOut                  map[int32]bool // instructions with outcomes that no input has
	avoided                   map[int32]bool // instructions of the machine code, see unreached
	may                       *ranges        // see ranges
	ranged                    bool
	idle                      map[int32]uint8  // outcomes of jumps on which nothing depends: see idle
	observed                  []*Input         // those on which comparisons were noted
	histories                 [2]histories     // of the program, of the machine code
	before                    []bool           // what was performed where a condition less is forced
	guessed                   map[attempt]bool // outcomes that were guessed
	// attempts are the outcomes that were forced, allowance is what may be spent for that, in instructions of lanes; subs are the comparisons
	// with forced outcomes that found more to agree, depth is how many are forced at once.
	attempts  map[attempt]bool
	allowance *int64
	subs      []*comparison
	depth     int
}
