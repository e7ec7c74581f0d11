package cycle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"optcheck/litmus"
)

// opportunityMark separates a base's name from what was added to it.
const opportunityMark = "@"

// Opportunity is something in a test that a compiler can optimise: a redundant access, a dead
// store, an unused result. It can be composed with any test at any of its accesses, fences or
// barriers, and with other opportunities.
//
// Places are numbers of events: the accesses, fences and barriers of a thread in program order,
// from 0.
type Opportunity struct {
	Kind   string // a name of OpportunityKinds
	How    Ann    // how an added access is performed; the zero value: as its neighbour
	Plain  bool   // the added access is weak, whatever its neighbour is
	Thread int
	Event  int
	Slot   int // where the addition goes: before that event; -1 where it follows from Kind
}

// String formats the opportunity as ParseOpportunity reads it: reload.rlx.gpu-1.1.0 is kind,
// annotation, thread, event and slot.
func (o Opportunity) String() string {
	s := o.what() + fmt.Sprintf("-%d.%d", o.Thread, o.Event)
	if o.Slot >= 0 {
		s += fmt.Sprintf(".%d", o.Slot)
	}
	return s
}

// what returns the kind with its annotation.
func (o Opportunity) what() string {
	if o.How != (Ann{}) || o.Plain {
		return o.Kind + "." + o.How.String()
	}
	return o.Kind
}

// ParseOpportunity reads what String returns.
func ParseOpportunity(s string) (Opportunity, error) {
	o := Opportunity{Slot: -1}
	what, where, ok := cutLast(s, "-")
	kind, how, noted := strings.Cut(what, ".")
	k := lookupKind(kind)
	if !ok || k == nil {
		return o, fmt.Errorf("%q is no opportunity: want KIND[.ANNOTATION]-THREAD.EVENT[.SLOT] with a kind out of %s", s,
			strings.Join(OpportunityKinds(), ", "))
	}
	o.Kind = kind
	if noted {
		a, err := ParseAnn(how)
		if err != nil {
			return o, fmt.Errorf("opportunity %q: %w", s, err)
		}
		o.How, o.Plain = a, a == Ann{}
	}
	nums := strings.Split(where, ".")
	want := 2
	if k.slots > slotFirst {
		want = 3
	}
	if len(nums) != want {
		return o, fmt.Errorf("opportunity %q: want %d numbers behind the kind", s, want)
	}
	for i, p := range []*int{&o.Thread, &o.Event, &o.Slot}[:want] {
		n, err := strconv.Atoi(nums[i])
		if err != nil || n < 0 {
			return o, fmt.Errorf("opportunity %q: %q is no number", s, nums[i])
		}
		*p = n
	}
	return o, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// SplitName separates the opportunities from the name of a test: base@o1@o2.
func SplitName(name string) (base string, list []Opportunity, err error) {
	parts := strings.Split(name, opportunityMark)
	for _, p := range parts[1:] {
		o, err := ParseOpportunity(p)
		if err != nil {
			return "", nil, err
		}
		list = append(list, o)
	}
	return parts[0], list, nil
}

// slots says where a kind's addition may go.
type slots uint8

const (
	slotNone   slots = iota // the kind knows
	slotFirst               // before all events of the thread
	slotBefore              // before the event, or before an earlier one
	slotBehind              // after the event, or after a later one
	slotAny
)

// opportunityKind is a kind of opportunity.
type opportunityKind struct {
	name  string
	about string
	slots slots
	on    func(in *litmus.Instr) bool // events that it applies to
	adds  litmus.Op                   // a load or store, or same; OpNop for what takes no annotation
	apply func(e *editor) error
}

func isLoad(in *litmus.Instr) bool    { return in.Op == litmus.OpLd }
func isStore(in *litmus.Instr) bool   { return in.Op == litmus.OpSt }
func isAtomic(in *litmus.Instr) bool  { return in.Op == litmus.OpAtom }
func reads(in *litmus.Instr) bool     { return isLoad(in) || isAtomic(in) }
func writes(in *litmus.Instr) bool    { return isStore(in) || isAtomic(in) || in.Op == litmus.OpRed }
func isRMW(in *litmus.Instr) bool     { return isAtomic(in) || in.Op == litmus.OpRed }
func isEvent(*litmus.Instr) bool      { return true }
func isBarrier(in *litmus.Instr) bool { return in.Op == litmus.OpBar }
func isPlain(in *litmus.Instr) bool   { return isLoad(in) || isStore(in) }

// same stands for the operation of the event itself.
const same = litmus.Op(255)

var opportunityKinds []opportunityKind

func init() { // not initialised in place: the functions look kinds up
	opportunityKinds = []opportunityKind{
		{"reload", "the same load once more, in front of or behind other events", slotAny, isLoad, litmus.OpLd, (*editor).loadAt},
		{"readback", "a load of what the thread has just written", slotBehind, writes, litmus.OpLd, (*editor).loadAt},
		{"overwrite", "an earlier store to the same location, which is dead if nobody looks", slotBefore, isStore, litmus.OpSt,
			(*editor).storeAt},
		{"rewrite", "a later store of another value, which makes this one dead if nobody looks", slotBehind, isStore, litmus.OpSt,
			(*editor).storeAt},
		{"again", "the same atomic once more", slotBehind, isRMW, litmus.OpNop, (*editor).again},
		{"when", "the access only if an earlier load of the thread read 1", slotNone, (*litmus.Instr).IsAccess, litmus.OpNop, (*editor).when},
		{"restore", "the same store once more: the value is already there", slotBehind, isStore, litmus.OpSt, (*editor).restore},
		{"writeback", "what was read is stored again", slotBehind, isLoad, litmus.OpSt, (*editor).writeback},
		{"prestore", "a store to the location, in front of a load", slotBefore, isLoad, litmus.OpSt, (*editor).storeAt},
		{"ring", "a store to the location before all else, which the other thread acquires", slotFirst, isLoad, litmus.OpNop, (*editor).ring},
		{"ringstore", "one register stored to another location before all else and behind the event; the other thread acquires the first",
			slotNone, reads, litmus.OpNop,
			(*editor).ringstore},
		{"closing", "a barrier behind the thread's last store, which the others read behind theirs", slotNone, isStore, litmus.OpNop,
			(*editor).closing},
		{"bracket", "one register stored to another location on both sides", slotNone, isEvent, litmus.OpNop, (*editor).bracket},
		{"count", "another location counted up on both sides, by reductions", slotNone, isEvent, litmus.OpNop, (*editor).recount},
		{"unroll", "the access in front of a fence, and the fence, once more", slotNone, (*litmus.Instr).IsFence, litmus.OpNop, (*editor).unroll},
		{"rebar", "one more barrier, in all threads", slotNone, isBarrier, litmus.OpNop, (*editor).rebar},
		{"change", "another location read on both sides, under a branch that fixed it, beside a thread that changes it once more", slotNone,
			isEvent, litmus.OpNop,
			(*editor).change},
		{"silent", "what was read of another location stored again behind the event", slotNone, isEvent, litmus.OpNop, (*editor).silent},
		{"barring", "as ring, with barriers", slotFirst, isLoad, litmus.OpNop, (*editor).barring},
		{"settle", "a second load under a branch that has fixed the value", slotBehind, isLoad, litmus.OpLd, (*editor).settle},
		{"settledata", "a store of a value that a branch has fixed", slotBehind, isLoad, litmus.OpSt, (*editor).settleData},
		{"drop", "the result is never read", slotNone, reads, litmus.OpNop, (*editor).drop},
		{"peek", "the result is never read, but an earlier load of the location is", slotNone, reads, litmus.OpLd, (*editor).peek},
		{"clobber", "the result is overwritten before it is read", slotNone, reads, litmus.OpNop, (*editor).clobber},
		{"mask", "of the result nothing is left: and with 0", slotNone, reads, litmus.OpNop, (*editor).maskAnd},
		{"times", "of the result nothing is left: times 0", slotNone, reads, litmus.OpNop, (*editor).maskTimes},
		{"self", "of the result nothing is left: x xor x", slotNone, reads, litmus.OpNop, (*editor).maskSelf},
		{"never", "the result is read under a predicate that is never true", slotNone, reads, litmus.OpNop, (*editor).never},
		{"seldom", "the result is read under a predicate that the compiler cannot know", slotNone, reads, litmus.OpNop, (*editor).seldom},
		{"discard", "an atomic without destination", slotNone, isAtomic, litmus.OpNop, (*editor).discard},
		{"twin", "the access twice, under a predicate and under its opposite", slotNone, isPlain, same, (*editor).twin},
		{"arms", "the access in both arms of a branch", slotNone, isPlain, same, (*editor).arms},
		{"call", "the access, fence or barrier in a function that the thread calls", slotNone, isEvent, litmus.OpNop, (*editor).call},
		{"prefetch", "the location is prefetched in front of the access: into the L1 for a load, the L2 else", slotNone,
			(*litmus.Instr).IsAccess, litmus.OpNop,
			(*editor).prefetch},
		{"glance", "another load of the location, which nobody reads", slotAny, isPlain, litmus.OpLd, (*editor).glance},
		{"crowd", "eight loads of another location in front of the event, whose values are needed at the end", slotNone, isEvent,
			litmus.OpNop, (*editor).crowd},
		{"arm", "the access in one arm of a branch", slotNone, isPlain, litmus.OpNop, (*editor).arm},
		{"repeat", "the access three times in a row, as a loop unrolled", slotNone, isPlain, litmus.OpNop, (*editor).repeat},
		{"loop", "the access and what follows, up to the slot, in a loop that goes round four times", slotBehind, isPlain, litmus.OpNop,
			(*editor).loop},
		{"spin", "the load again until it has read 1, at most three times", slotNone, isLoad, litmus.OpNop, (*editor).spin},
		{"beside", "the neighbouring word, accessed alike", slotNone, isPlain, litmus.OpNop, (*editor).beside},
		{"wide", "the location is a 64-bit word", slotNone, isPlain, litmus.OpNop, (*editor).wide},
		{"byte", "the location is a byte", slotNone, isPlain, litmus.OpNop, func(e *editor) error { return e.narrow(litmus.U8) }},
		{"half", "the location is a 16-bit word", slotNone, isPlain, litmus.OpNop, func(e *editor) error { return e.narrow(litmus.U16) }},
		{"bytes", "all locations are bytes; at thread 0, event 0", slotNone, isPlain, litmus.OpNop,
			func(e *editor) error { return e.narrowAll(litmus.U8) }},
		{"halves", "all locations are 16-bit words; at thread 0, event 0", slotNone, isPlain, litmus.OpNop,
			func(e *editor) error { return e.narrowAll(litmus.U16) }},
		{"racefree", "waits and acknowledgements that leave the test without a data race (RaceFree); at thread 0, event 0", slotNone,
			isEvent, litmus.OpNop, (*editor).raceFree},
		{"refence", "the same fence once more", slotNone, (*litmus.Instr).IsFence, litmus.OpNop, (*editor).refence},
		{"subfence", "a weaker or narrower fence in front of the fence", slotNone, (*litmus.Instr).IsFence, litmus.OpNop, (*editor).subfence},
	}
}

// OpportunityKinds lists the kinds of opportunities, in the order of the documentation.
func OpportunityKinds() []string {
	var names []string
	for i := range opportunityKinds {
		names = append(names, opportunityKinds[i].name)
	}
	return names
}

// AboutOpportunity describes a kind, "" if it does not exist.
func AboutOpportunity(kind string) string {
	if k := lookupKind(kind); k != nil {
		return k.about
	}
	return ""
}

func lookupKind(name string) *opportunityKind {
	for i := range opportunityKinds {
		if opportunityKinds[i].name == name {
			return &opportunityKinds[i]
		}
	}
	return nil
}

// Apply composes a test with opportunities, one after the other: places of later ones count
// what earlier ones have added. The result's name contains them. It is an error if one does not
// fit.
func Apply(t *litmus.Test, list ...Opportunity) (*litmus.Test, error) {
	if len(list) == 0 {
		return t, nil
	}
	c := t.Clone()
	for _, o := range list {
		if err := compose(c, o); err != nil {
			return nil, fmt.Errorf("%s@%v: %w", t.Name, o, err)
		}
		c.Name += opportunityMark + o.String()
	}
	c.Meta = slices.DeleteFunc(c.Meta, func(m litmus.Meta) bool { return m.Key == "Base" })
	c.Meta = append(c.Meta, litmus.Meta{Key: "Base", Value: t.Name})
	return c, c.Check()
}

// compose changes a test.
func compose(t *litmus.Test, o Opportunity) error {
	k := lookupKind(o.Kind)
	if k == nil {
		return fmt.Errorf("unknown kind %q", o.Kind)
	}
	if o.Thread >= len(t.Threads) {
		return fmt.Errorf("the test has %d threads", len(t.Threads))
	}
	e := &editor{t: t, th: &t.Threads[o.Thread], o: o}
	e.count()
	if o.Event >= len(e.events) || o.Slot > len(e.events) {
		return fmt.Errorf("thread %d has %d events", o.Thread, len(e.events))
	}
	e.in = e.th.Body[e.events[o.Event]]
	switch {
	case !k.on(&e.in):
		return fmt.Errorf("not at %s", &e.in)
	case k.slots == slotBefore && o.Slot > o.Event, k.slots == slotBehind && o.Slot <= o.Event:
		return fmt.Errorf("its slot is on the other side of the event")
	}
	return k.apply(e)
}
