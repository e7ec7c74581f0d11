package cat

// opcode is an operation of a flat program. Operands a, b, c are slots; the
// result goes to the slot with the operation's own number.
type opcode uint8

const (
	opInput       opcode = iota // a: index of the input
	opConstEmpty                // ∅
	opConstAll                  // all events, or all pairs
	opConstID                   // identity
	opPhi                       // value of a recursive definition in the last round
	opUnion                     // a ∪ b
	opInter                     // a ∩ b
	opDiff                      // a \ b
	opComplement                // ~a
	opSeq                       // a;b
	opInverse                   // a^-1
	opPlus                      // a+
	opStar                      // a*
	opOpt                       // a?
	opToID                      // [a], a a set
	opCross                     // a × b, sets
	opRestrict                  // [a];b;[c]
	opRestrictDom               // [a];b
	opRestrictRan               // a;[b]
	opDomain                    // domain a
	opRange                     // range a
	opFix                       // a: index of the fixpoint
	opFixResult                 // a: slot of opFix, b: index of the variable
)

// op is one operation, also the slot that it writes.
type op struct {
	code    opcode
	isSet   bool
	a, b, c int32
	region  int32 // fixpoint whose round it belongs to, -1 for none
	deps    Mask  // inputs that the value depends on
	up      Mask  // inputs in which the value may grow when they grow
	down    Mask  // inputs in which the value may shrink when they grow
	name    string
}

// fix is a recursive definition: the operations of region are run in order
// until no variable grows any more.
type fix struct {
	pos    Pos
	names  []string
	phis   []int32
	next   []int32 // new values of the variables
	ops    []int32 // operations of one round, ascending
	parent int32   // enclosing region
	mono   bool
	op     int32
}

type opKey struct {
	code    opcode
	isSet   bool
	a, b, c int32
}

// noSlot is the slot of a value of which only the kind is known.
const noSlot = int32(-1)

// builder creates operations, sharing equal ones and simplifying.
type builder struct {
	ops    []op
	fixes  []*fix
	known  map[opKey]int32
	stack  []int32 // open regions
	inputs []Input
	byName map[string]int32 // input name → slot
}

func newBuilder() *builder {
	return &builder{known: map[opKey]int32{}, byName: map[string]int32{}}
}

// depth returns how many regions enclose region r, itself included.
func (b *builder) depth(r int32) int {
	d := 0
	for ; r >= 0; r = b.fixes[r].parent {
		d++
	}
	return d
}

// deeper returns the inner one of two regions.
func (b *builder) deeper(r, s int32) int32 {
	if b.depth(s) > b.depth(r) {
		return s
	}
	return r
}

// emit returns the slot of an operation, creating it if it is new.
func (b *builder) emit(code opcode, isSet bool, args ...int32) int32 {
	for _, a := range args {
		if a == noSlot {
			return noSlot
		}
	}
	o := op{code: code, isSet: isSet, a: noSlot, b: noSlot, c: noSlot, region: -1}
	for i, p := range []*int32{&o.a, &o.b, &o.c} {
		if i < len(args) {
			*p = args[i]
		}
	}
	if (code == opUnion || code == opInter) && o.a > o.b {
		o.a, o.b = o.b, o.a
	}
	key := opKey{code, isSet, o.a, o.b, o.c}
	if s, ok := b.known[key]; ok {
		return s
	}
	for _, a := range args {
		x := &b.ops[a]
		o.region = b.deeper(o.region, x.region)
		o.deps = o.deps.Or(x.deps)
		o.up = o.up.Or(x.up)
		o.down = o.down.Or(x.down)
	}
	switch code {
	case opComplement:
		o.up, o.down = o.down, o.up
	case opDiff:
		x, y := &b.ops[o.a], &b.ops[o.b]
		o.up, o.down = x.up.Or(y.down), x.down.Or(y.up)
	}
	return b.push(key, o)
}

func (b *builder) push(key opKey, o op) int32 {
	s := int32(len(b.ops))
	b.ops = append(b.ops, o)
	b.known[key] = s
	return s
}

func (b *builder) is(s int32, code opcode) bool { return s != noSlot && b.ops[s].code == code }

func (b *builder) empty(isSet bool) int32 { return b.emit(opConstEmpty, isSet) }
func (b *builder) all(isSet bool) int32   { return b.emit(opConstAll, isSet) }
func (b *builder) id() int32              { return b.emit(opConstID, false) }

// input returns the slot of a base set or relation and marks it as used.
func (b *builder) input(name string, isSet bool, pos Pos) int32 {
	if s, ok := b.byName[name]; ok {
		return s
	}
	i := len(b.inputs)
	if i >= MaxInputs {
		panic(limitf(pos, "the model uses more than %d base sets and relations", MaxInputs))
	}
	m := MaskOf(i)
	o := op{code: opInput, isSet: isSet, a: int32(i), b: noSlot, c: noSlot, region: -1, deps: m, up: m, name: name}
	s := b.push(opKey{opInput, isSet, o.a, noSlot, noSlot}, o)
	b.inputs = append(b.inputs, Input{Name: name, IsSet: isSet, slot: s})
	b.byName[name] = s
	return s
}
