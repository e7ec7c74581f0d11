package ptxgen

import (
	"math/bits"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// Form is a way to assign the instances of a test to the threads of a launch.
type Form uint8

// The forms.
const (
	// FormFast assigns each thread one role of one instance.
	FormFast Form = iota
	// FormPermuted assigns each thread every role in turn, each of another instance (Levine et
	// al., MC Mutants, ASPLOS 2023, Sec. 4.1).
	FormPermuted
	// FormDevices is the fast form for a test whose outermost scopes are devices: each device
	// gets the same launch, in which only the units placed there act, and the launches share a
	// barrier of system scope.
	FormDevices
	// FormBanks is the fast form in which lanes of testing warps may access memory instead. It is
	// a form of its own: what chooses these lanes stands in front of the test and changes when
	// its threads meet.
	FormBanks
)

// Forms are the names of the forms.
var Forms = []string{FormFast: "fast", FormPermuted: "permuted", FormDevices: "devices", FormBanks: "banks"}

// Banks reports whether lanes of testing warps may access memory instead.
func (f Form) Banks() bool { return f == FormBanks || f == FormDevices }

// String returns the form's name.
func (f Form) String() string { return Forms[f] }

// Harness is a kernel that runs many instances of a test at a time, with everything that a
// driver needs to launch it. Everything that is not the test itself is a parameter: one binary
// serves all settings.
//
// A launch consists of units: clusters of RanksPerUnit CTAs. NU units, one for each cluster of
// the test, run a block of instances together; a permutation of the units' numbers decides
// which. The warps and lanes of a CTA are assigned to slots in the same way. A slot is a place
// in the test's scope tree, and a thread in the slot of a test's thread plays its role, for an
// instance of its block. All permutations are affine maps with odd (or co-prime) multipliers,
// so that each instance has each role exactly once and the scope tree is respected by
// construction. That is the fast form; for the other one see harness_permuted.go.
type Harness struct {
	Form    Form
	Layout  spec.Layout  // Pointers, or Adjacent: the locations of an instance are neighbours
	Test    *litmus.Test // in canonical form
	Name    string       // of the kernel
	Text    string       // its PTX, without header
	Version Version
	Check   *spec.Harness
	Params  []HarnessParam
	Shape   Shape
	Slots   int // words of results per instance
	Terms   []Source
	// Values says, by thread, which of the test's constants parameters stand for.
	Values [][]spec.Value
	// Widths are the sizes in bytes of what is accessed of each location: 4 or 8.
	Widths []int
	// Cells are the sizes in bytes of a cell of each location: that, or what copies move of it.
	Cells []int
	// Program is set if the kernel has no markers (Unit.Program).
	Program bool
	// Lines are, if Program is set and the text has a line for each instruction (pipeline), those that the emitter gave, by instruction.
	Lines map[int]int
}

// Root returns the location of which a location is a part, or itself.
func (h *Harness) Root(l int) int {
	if of := h.Test.Locations[l].Of; of != "" {
		return slices.IndexFunc(h.Test.Locations, func(x litmus.Location) bool { return x.Name == of })
	}
	return l
}

// Shape is what a test's scope tree requires of a launch.
type Shape struct {
	Units  int // NU: clusters of the test, or CTAs if it has no clusters
	Ranks  int // CTAs per cluster; 1 without clusters
	Warps  int // warps of a CTA, a power of two
	Lanes  int // threads of a warp, a power of two
	Roles  []int
	Shared []int // for each location the CTA (unit·Ranks+rank) whose shared memory holds it, or -1
	// Clusters is set if CTAs are launched as clusters of Ranks CTAs, be it one: the test has several in a cluster, or operations that devices
	// refuse in other launches.
	Clusters bool
	// Full is set if every thread of a CTA must play a role: the test has barriers.
	Full bool
	// Devices are the devices of the units, numbered from 0.
	Devices []int
}

// Source says where a term of the test's final state is found: in result slot Slot, and in the
// next one if it is Wide. Loc is the location of global memory that the collector copies there,
// -1 for what the test kernel writes.
type Source struct {
	Term litmus.Term
	Slot int
	Loc  int
	Wide bool
}

// ParamKind is the kind of a harness kernel's parameter.
type ParamKind uint8

// The kinds of parameter. Location, Out, Results, Scratch and Counters are
// addresses, Value is a constant of the test, all others are words.
const (
	ParamLocation ParamKind = iota // address of location Index's memory; shared: offset in the window
	ParamOut                       // address for markers
	ParamResults
	ParamScratch
	ParamCounters
	ParamWindow // offset in the shared window where location Index begins
	ParamValue
	ParamRole    // slot of thread Index
	ParamMul     // multiplier of instances for location Index
	ParamStride  // bytes between instances of location Index
	ParamOffset  // bytes before location Index
	ParamInitial // value of shared location Index; Word 1 is the upper half
	ParamSetting // a word named Name
	ParamToken   // any value
)

// HarnessParam is one parameter.
type HarnessParam struct {
	Kind  ParamKind
	Index int
	Word  int
	Wide  bool // 8 bytes
	Name  string
	Value int64
	At    int64 // offset in bytes
}

// settings are the names of the parameters of kind ParamSetting, in order; formSettings are
// those that each form adds.
var settings = []string{
	"units", "test_units", "stress_units", // units in all; with testing CTAs; testing and stressing
	"mul_unit", "add_unit", "mul_block", "add_block", "block_mask", "add_rank",
	"mul_warp", "add_warp", "warp_mask", "mul_lane", "add_lane",
	"log_cta", "inst_mask", "cta_mask", "result_step",
	"sync", "sync_bound",
	"stress_slot", "idle_slot", "stress_lines", "stress_line", "stress_base", "stress_wrap", "stress_lane",
	"stress_loads", "stress_stores", "stress_steps", "stress_iterations", "warps",
	"markers",
}

var formSettings = [][]string{
	FormFast: {"mul_group", "add_group", "group_mask"},
	FormPermuted: {
		"rounds", "order", "order_step", "order_shift", "order_mul", "order_add", // which role is played when
		"seed", "sync_mask", "sync_share", "pre_share", "pre_mask",
	},
	// active: units of a test that act here, as bits.
	FormDevices: {"mul_group", "add_group", "group_mask", "log_lanes", "bank_step", "bank_rounds", "active"},
	// Of the lanes of a testing warp only the first ones play roles, in the order of instances;
	// the others access memory, bank_step bytes apart.
	FormBanks: {"mul_group", "add_group", "group_mask", "log_lanes", "bank_step", "bank_rounds"},
}

// Settings returns the names of the parameters of kind ParamSetting.
func (f Form) Settings() []string { return slices.Concat(settings, formSettings[f]) }

// Counter offsets in bytes from the address of the counters.
const (
	CounterSeen    = 0  // written if what the stress loads read has the sum SeenSum
	CounterGaveUp  = 8  // warps that waited in vain, 64 bits
	CounterStress  = 16 // stress accesses performed, 64 bits
	CounterSync    = 64 // arrivals, SyncStride bytes for each block, or round of a group of CTAs
	SyncStride     = 32
	HarnessBarrier = 15 // the barrier that the harness itself uses
)

// SeenSum is what the stress loads of a thread read, by exclusive or, where it writes CounterSeen: no compiler may leave them out.
const SeenSum = 0x9e3779b9

// MaxHarnessSlots bounds the places of a scope tree.
const MaxHarnessSlots = 64

// MaxActive bounds the units of a test on several devices.
const MaxActive = 32

// EmitHarness returns the harness kernel of a test for a target. The error is a
// *spec.Unsupported if the target, the encoding or the harness lacks something that the test
// uses.
func EmitHarness(t *litmus.Test, target string, form Form, layout spec.Layout) (*Harness, error) {
	if t.Dressed() {
		return nil, unsupported("a call, a prefetch or a number of registers, which are of audits of PTX only")
	}
	if !t.Parted() && !Program(t) {
		if err := bare(t); err != nil {
			return nil, err
		}
	}
	sm, err := SM(target)
	if err != nil {
		return nil, err
	}
	t = t.Canonical()
	h, flat, origin, err := newHarness(t, form, layout)
	if err != nil {
		return nil, err
	}
	h.Version = minVersion(target, sm)
	if form == FormDevices && sm < 70 {
		return nil, unsupported("accesses to the memory of other devices need sm_70 or higher")
	}
	h.Shape.Clusters = h.Shape.Ranks > 1 || clustered(t)
	if h.Shape.Clusters && sm < 90 {
		return nil, unsupported("clusters need sm_90 or higher")
	}
	u := &Unit{Name: h.Name, Needs: max(h.Version, 63), Program: h.Program}
	if h.Shape.Clusters {
		u.Needs = max(u.Needs, 78)
	}
	var b strings.Builder
	e := &harnessEmitter{emitter: emitter{t: t, flat: flat, origin: origin, o: Options{Target: target, Layout: spec.Pointers},
		u: u, sm: sm, b: &b}, h: h}
	e.emitter.located = e.locate
	if err := e.settled(); err != nil {
		return nil, err
	}
	if err := e.kernel(); err != nil {
		return nil, err
	}
	h.Version, h.Text = u.Needs, b.String()
	return h, nil
}

// newHarness returns the common part of the harness kernels of a test in canonical form, with
// the test without its loops, as returned by unrolled.
func newHarness(t *litmus.Test, form Form, layout spec.Layout) (h *Harness, flat *litmus.Test, origin [][]int, err error) {
	for i := range t.Locations {
		if t.Locations[i].Alias != "" {
			return nil, nil, nil, unsupported("location %s is an alias", t.Locations[i].Name)
		}
		if t.Locations[i].Of != "" && layout != spec.Pointers {
			return nil, nil, nil, unsupported("location %s is a part of another", t.Locations[i].Name)
		}
	}
	if Program(t) && (form == FormPermuted || layout != spec.Pointers) {
		return nil, nil, nil, unsupported("asynchronous operations, mbarriers, or shared memory of other CTAs, where threads play several roles or locations are neighbours")
	}
	if form != FormDevices && t.OnSeveralDevices() {
		return nil, nil, nil, unsupported("threads or locations on several devices, of which one is used (--devices)")
	}
	if layout != spec.Pointers && layout != spec.Adjacent {
		return nil, nil, nil, unsupported("the layout %v in a harness", layout)
	}
	if flat, origin, err = unrolled(t); err != nil {
		return nil, nil, nil, err
	}
	h = &Harness{Form: form, Layout: layout, Test: t, Program: Program(t), Name: string("hpdb"[form]) + strings.TrimPrefix(UnitName(t, layout), "t"),
		Check: &spec.Harness{}}
	if h.Shape, err = shapeOf(flat, form); err != nil {
		return nil, nil, nil, err
	}
	h.Widths = make([]int, len(t.Locations))
	for l := range h.Widths {
		h.Widths[l] = 4
	}
	for i := range t.Threads {
		s, err := spec.FromTest(t, i, layout)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, en := range s.Entries {
			if !en.IsFence() {
				h.Widths[en.Loc] = max(h.Widths[en.Loc], en.Kind.Width)
			}
		}
		h.Check.Specs = append(h.Check.Specs, s)
	}
	h.cells(flat)
	if layout == spec.Adjacent {
		h.adjoin()
	}
	return h, flat, origin, nil
}

// cells determines what copies and parts of locations make of their sizes.
func (h *Harness) cells(t *litmus.Test) {
	for l := range h.Widths {
		if r := h.Root(l); r != l {
			h.Widths[r] = max(h.Widths[r], 4*int((t.Locations[l].Offset+int64(h.narrow(l))+3)/4))
		}
	}
	h.Cells = slices.Clone(h.Widths)
	at := func(th *litmus.Thread, a litmus.Addr, bytes int64) {
		name := a.Loc
		if d := th.Decl(a.Reg); name == "" && d != nil {
			name = d.Init.Name
		}
		if l := slices.IndexFunc(t.Locations, func(x litmus.Location) bool { return x.Name == name }); l >= 0 {
			r := h.Root(l)
			h.Cells[r] = max(h.Cells[r], pow2(int(a.Offset+t.Locations[l].Offset+bytes)))
		}
	}
	for i := range t.Threads {
		th := &t.Threads[i]
		for j := range th.Body {
			in := &th.Body[j]
			if in.Async != nil && in.Async.Copies() {
				at(th, in.Addr, in.Bytes())
				at(th, in.More[0], in.Bytes())
			}
			if w := in.Word; w != nil && w.Parts > 1 && in.Part == 0 {
				at(th, in.Addr, int64(w.Parts*in.Type.Bits()/8))
			}
			if in.Async != nil && (in.Async.Kind == litmus.StoreAsync || in.Async.Kind == litmus.ReduceAsync) {
				at(th, in.Addr, in.Bytes())
			}
			if a, ok := in.Mbarrier(); ok {
				at(th, a, 8)
			}
		}
	}
}

// narrow returns the size in bytes of the widest access to a location.
func (h *Harness) narrow(l int) int {
	n := 1
	for _, s := range h.Check.Specs {
		for _, en := range s.Entries {
			if !en.IsFence() && en.Loc == l {
				n = max(n, en.Kind.Width)
			}
		}
	}
	return n
}

// adjoin prepares the layout Adjacent: the locations of an instance in one memory are words of
// one cell.
func (h *Harness) adjoin() {
	s, end := h.Check.Specs[0], int64(8)
	for l, w := range h.Widths {
		end = max(end, s.Offset(l)+int64(w))
	}
	h.Check.Cell = int64(pow2(int(end)))
}

// first returns the location whose parameters determine the place of a location: itself or,
// among neighbours, the first one in the same memory.
func (h *Harness) first(l int) int {
	if h.Layout != spec.Adjacent {
		return l
	}
	return slices.IndexFunc(h.Shape.Shared, func(cta int) bool { return cta >= 0 == (h.Shape.Shared[l] >= 0) })
}

// Place returns the offset of a location in a cell of neighbours, in bytes; 0 for other
// layouts.
func (h *Harness) Place(l int) uint32 {
	if h.Layout != spec.Adjacent {
		return 0
	}
	return uint32(h.Check.Specs[0].Offset(l))
}

// shapeOf distributes the threads of a test over units, ranks, warps and lanes.
func shapeOf(t *litmus.Test, form Form) (Shape, error) {
	s := Shape{Ranks: 1, Warps: 1, Lanes: 1, Shared: make([]int, len(t.Locations))}
	type place struct{ unit, rank, warp, lane int }
	places := make([]place, len(t.Threads))
	var units []litmus.Place // a member of each
	var gpus []int
	ranks := map[int][]int{}
	warps := map[[2]int][]int{}
	lanes := map[[3]int]int{}
	index := func(list *[]int, v int) int {
		i := slices.Index(*list, v)
		if i < 0 {
			i = len(*list)
			*list = append(*list, v)
		}
		return i
	}
	for i := range t.Threads {
		p := t.Threads[i].Place
		if slices.ContainsFunc(t.Threads[:i], func(q litmus.Thread) bool { return p.GPU == q.Place.GPU && p.Grid != q.Place.Grid }) {
			return s, unsupported("threads in several grids of a device: one is launched at a time")
		}
		u := slices.IndexFunc(units, func(q litmus.Place) bool { return q.SameScope(p, litmus.ScopeCluster) })
		if u < 0 {
			u = len(units)
			units = append(units, p)
			s.Devices = append(s.Devices, index(&gpus, p.GPU))
		}
		r := ranks[u]
		k := index(&r, p.CTA)
		ranks[u] = r
		w := warps[[2]int{u, k}]
		wi := i // not placed: a warp of its own
		if t.Threads[i].Placed {
			wi = -1 - p.Warp
		}
		j := index(&w, wi)
		warps[[2]int{u, k}] = w
		l := lanes[[3]int{u, k, j}]
		lanes[[3]int{u, k, j}]++
		places[i] = place{u, k, j, l}
		s.Units, s.Ranks = max(s.Units, u+1), max(s.Ranks, k+1)
		s.Warps, s.Lanes = max(s.Warps, pow2(j+1)), max(s.Lanes, pow2(l+1))
	}
	if byLane(t) {
		s.Lanes = litmus.WarpLanes
	}
	for _, p := range places {
		s.Roles = append(s.Roles, ((p.unit*s.Ranks+p.rank)*s.Warps+p.warp)*s.Lanes+p.lane)
	}
	err := s.fits(t, form)
	return s, err
}

// byLane reports whether the lanes of a warp do something together, so that their numbers are those of the test.
func byLane(t *litmus.Test) bool {
	return slices.ContainsFunc(t.Threads, func(th litmus.Thread) bool {
		return slices.ContainsFunc(th.Body, func(in litmus.Instr) bool { return in.Async != nil && in.Async.Warp() })
	})
}

// fits finds what shared memory and barriers ask of a launch, and whether the form can
// have all that.
func (s *Shape) fits(t *litmus.Test, form Form) error {
	if form == FormDevices && s.Units > MaxActive {
		return unsupported("a scope tree of %d CTAs or clusters on several devices", s.Units)
	}
	if n := s.Units * s.Ranks * s.Warps * s.Lanes; n > MaxHarnessSlots {
		return unsupported("a scope tree of %d places", n)
	}
	if err := s.shared(t); err != nil {
		return err
	}
	if s.Full && form == FormPermuted {
		return unsupported("barriers, where the threads of a CTA play their roles in different orders")
	}
	return nil
}

func pow2(n int) int { return 1 << bits.Len(uint(n-1)) }

// shared determines the CTA of each shared location, and what barriers require.
func (s *Shape) shared(t *litmus.Test) error {
	perSlot := s.Warps * s.Lanes
	for l := range t.Locations {
		s.Shared[l] = -1
		if t.Locations[l].Space == litmus.Shared {
			s.Shared[l] = s.Roles[firstOf(t, l)] / perSlot
		}
	}
	bars, meets := make([]int, len(t.Threads)), make([]int, len(t.Threads))
	for i := range t.Threads {
		th := &t.Threads[i]
		for j := range th.Body {
			in := &th.Body[j]
			if in.Async != nil && (in.Async.Kind == litmus.ClusterArrive || in.Async.Kind == litmus.ClusterWait) {
				meets[i]++
				s.Full = true
				if in.Guard != nil {
					return unsupported("a barrier of some threads only, in a harness of many instances")
				}
			}
			if in.Async != nil && in.Async.Kind == litmus.BarReduce {
				bars[i]++
				s.Full = true
				if in.Src[0].Value == HarnessBarrier {
					return unsupported("the barrier with the number of the harness's own")
				}
			}
			if in.Async != nil && in.Async.Warp() && uint64(in.Mask())>>t.WarpThreads(i) != 0 {
				return unsupported("%s, with lanes in the mask that the test does not have, and that have not ended in a harness", in)
			}
			if in.Op == litmus.OpBar {
				bars[i]++
				s.Full = true
				if in.Barrier.Arrive || in.Barrier.Quorum.Kind != litmus.OperandNone || in.Guard != nil ||
					in.Barrier.ID.Kind != litmus.OperandConst || in.Barrier.ID.Value == HarnessBarrier {
					return unsupported("a barrier of some threads only, in a harness of many instances")
				}
			}
		}
	}
	if !s.Full {
		return nil
	}
	if s.Lanes > 1 || len(t.Threads) != s.Units*s.Ranks*perSlot {
		return unsupported("a barrier in a CTA whose warps do not all play a role")
	}
	for i := range t.Threads {
		for j := range t.Threads {
			if s.Roles[i]/perSlot == s.Roles[j]/perSlot && bars[i] != bars[j] {
				return unsupported("threads of a CTA with different numbers of barriers")
			}
			if s.Roles[i]/perSlot/s.Ranks == s.Roles[j]/perSlot/s.Ranks && meets[i] != meets[j] {
				return unsupported("threads of a cluster with different numbers of barriers")
			}
		}
	}
	return nil
}
