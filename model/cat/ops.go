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

// builder makes operations, sharing equal ones and simplifying.
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

// emit returns the slot of an operation, making it if it is new.
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

// input returns the slot of a base set or relation, noting that it is used.
func (b *builder) input(name string, isSet bool, pos Pos) int32 {
	if s, ok := b.byName[name]; ok {
		return s
	}
	i := len(b.inputs)
	if i >= MaxInputs {
		panic(errorf(pos, "the model uses more than %d base sets and relations", MaxInputs))
	}
	m := MaskOf(i)
	o := op{code: opInput, isSet: isSet, a: int32(i), b: noSlot, c: noSlot, region: -1, deps: m, up: m, name: name}
	s := b.push(opKey{opInput, isSet, o.a, noSlot, noSlot}, o)
	b.inputs = append(b.inputs, Input{Name: name, IsSet: isSet, slot: s})
	b.byName[name] = s
	return s
}

func (b *builder) union(isSet bool, x, y int32) int32 {
	switch {
	case x == y || b.is(y, opConstEmpty) || b.is(x, opConstAll):
		return x
	case b.is(x, opConstEmpty) || b.is(y, opConstAll):
		return y
	}
	if !isSet && b.is(x, opConstID) {
		return b.opt(y)
	}
	if !isSet && b.is(y, opConstID) {
		return b.opt(x)
	}
	return b.emit(opUnion, isSet, x, y)
}

func (b *builder) inter(isSet bool, x, y int32) int32 {
	switch {
	case x == y || b.is(y, opConstAll) || b.is(x, opConstEmpty):
		return x
	case b.is(x, opConstAll) || b.is(y, opConstEmpty):
		return y
	case b.is(y, opComplement):
		return b.diff(isSet, x, b.ops[y].a)
	case b.is(x, opComplement):
		return b.diff(isSet, y, b.ops[x].a)
	}
	if !isSet && b.is(y, opCross) {
		return b.restrict(b.ops[y].a, x, b.ops[y].b)
	}
	if !isSet && b.is(x, opCross) {
		return b.restrict(b.ops[x].a, y, b.ops[x].b)
	}
	return b.emit(opInter, isSet, x, y)
}

func (b *builder) diff(isSet bool, x, y int32) int32 {
	switch {
	case x == noSlot || y == noSlot:
		return noSlot
	case x == y || b.is(y, opConstAll):
		return b.empty(isSet)
	case b.is(y, opConstEmpty) || b.is(x, opConstEmpty):
		return x
	case b.is(x, opConstAll):
		return b.complement(isSet, y)
	case b.is(y, opComplement):
		return b.inter(isSet, x, b.ops[y].a)
	}
	return b.emit(opDiff, isSet, x, y)
}

func (b *builder) complement(isSet bool, x int32) int32 {
	switch {
	case b.is(x, opComplement):
		return b.ops[x].a
	case b.is(x, opConstEmpty):
		return b.all(isSet)
	case b.is(x, opConstAll):
		return b.empty(isSet)
	}
	return b.emit(opComplement, isSet, x)
}

func (b *builder) seq(x, y int32) int32 {
	switch {
	case x == noSlot || y == noSlot:
		return noSlot
	case b.is(x, opConstID) || b.is(y, opConstEmpty):
		return y
	case b.is(y, opConstID) || b.is(x, opConstEmpty):
		return x
	case b.is(x, opToID) && b.is(y, opToID):
		return b.toID(b.inter(true, b.ops[x].a, b.ops[y].a))
	case b.is(x, opToID):
		return b.restrict(b.ops[x].a, y, b.all(true))
	case b.is(y, opToID):
		return b.restrict(b.all(true), x, b.ops[y].a)
	}
	return b.emit(opSeq, false, x, y)
}

// restrict is [s];r;[t].
func (b *builder) restrict(s, r, t int32) int32 {
	if s == noSlot || r == noSlot || t == noSlot {
		return noSlot
	}
	switch o := b.ops[r]; o.code {
	case opConstAll:
		return b.cross(s, t)
	case opConstEmpty:
		return r
	case opCross:
		return b.cross(b.inter(true, s, o.a), b.inter(true, t, o.b))
	case opToID:
		return b.toID(b.inter(true, o.a, b.inter(true, s, t)))
	case opConstID:
		return b.toID(b.inter(true, s, t))
	case opRestrict:
		return b.restrict(b.inter(true, s, o.a), o.b, b.inter(true, t, o.c))
	case opRestrictDom:
		return b.restrict(b.inter(true, s, o.a), o.b, t)
	case opRestrictRan:
		return b.restrict(s, o.a, b.inter(true, t, o.b))
	}
	left, right := !b.is(s, opConstAll), !b.is(t, opConstAll)
	switch {
	case b.is(s, opConstEmpty) || b.is(t, opConstEmpty):
		return b.empty(false)
	case left && right:
		return b.emit(opRestrict, false, s, r, t)
	case left:
		return b.emit(opRestrictDom, false, s, r)
	case right:
		return b.emit(opRestrictRan, false, r, t)
	}
	return r
}

func (b *builder) cross(s, t int32) int32 {
	switch {
	case b.is(s, opConstEmpty) || b.is(t, opConstEmpty):
		return b.empty(false)
	case b.is(s, opConstAll) && b.is(t, opConstAll):
		return b.all(false)
	}
	return b.emit(opCross, false, s, t)
}

func (b *builder) toID(s int32) int32 {
	switch {
	case b.is(s, opConstAll):
		return b.id()
	case b.is(s, opConstEmpty):
		return b.empty(false)
	}
	return b.emit(opToID, false, s)
}

func (b *builder) inverse(r int32) int32 {
	if r == noSlot {
		return noSlot
	}
	switch o := b.ops[r]; o.code {
	case opInverse:
		return o.a
	case opToID, opConstID, opConstAll, opConstEmpty:
		return r
	case opCross:
		return b.cross(o.b, o.a)
	}
	return b.emit(opInverse, false, r)
}

func (b *builder) plus(r int32) int32 {
	switch {
	case b.is(r, opPlus) || b.is(r, opStar) || b.is(r, opConstAll) || b.is(r, opConstEmpty) || b.is(r, opToID) || b.is(r, opConstID):
		return r
	case b.is(r, opOpt):
		return b.star(b.ops[r].a)
	}
	return b.emit(opPlus, false, r)
}

func (b *builder) star(r int32) int32 {
	switch {
	case b.is(r, opStar) || b.is(r, opConstAll):
		return r
	case b.is(r, opPlus) || b.is(r, opOpt):
		return b.star(b.ops[r].a)
	case b.is(r, opConstEmpty) || b.is(r, opToID) || b.is(r, opConstID):
		return b.id()
	}
	return b.emit(opStar, false, r)
}

func (b *builder) opt(r int32) int32 {
	switch {
	case b.is(r, opOpt) || b.is(r, opStar) || b.is(r, opConstAll):
		return r
	case b.is(r, opPlus):
		return b.star(b.ops[r].a)
	case b.is(r, opConstEmpty) || b.is(r, opToID) || b.is(r, opConstID):
		return b.id()
	}
	return b.emit(opOpt, false, r)
}

func (b *builder) domain(r int32) int32 { return b.bound(opDomain, r, true) }
func (b *builder) rng(r int32) int32    { return b.bound(opRange, r, false) }

func (b *builder) bound(code opcode, r int32, left bool) int32 {
	if r == noSlot {
		return noSlot
	}
	switch o := b.ops[r]; {
	case o.code == opToID:
		return o.a
	case o.code == opConstEmpty || o.code == opConstAll:
		return b.emit(o.code, true)
	case o.code == opConstID || o.code == opOpt || o.code == opStar:
		return b.all(true)
	case o.code == opInverse && left:
		return b.rng(o.a)
	case o.code == opInverse:
		return b.domain(o.a)
	}
	return b.emit(code, true, r)
}

// openFix begins a recursive definition and returns its variables' slots.
func (b *builder) openFix(pos Pos, names []string, isSet []bool) (int32, []int32) {
	r := int32(len(b.fixes))
	f := &fix{pos: pos, names: names, parent: -1}
	if n := len(b.stack); n > 0 {
		f.parent = b.stack[n-1]
	}
	b.fixes = append(b.fixes, f)
	b.stack = append(b.stack, r)
	for i := range names {
		o := op{code: opPhi, isSet: isSet[i], a: r, b: int32(i), c: noSlot, region: r, name: names[i]}
		f.phis = append(f.phis, b.push(opKey{opPhi, isSet[i], r, int32(i), noSlot}, o))
	}
	return r, f.phis
}

// closeFix ends it, given the new values, and returns the results' slots.
func (b *builder) closeFix(r int32, next []int32) []int32 {
	f := b.fixes[r]
	b.stack = b.stack[:len(b.stack)-1]
	f.next = next
	o := op{code: opFix, a: r, b: noSlot, c: noSlot, region: -1}
	for i := range b.ops {
		x := &b.ops[i]
		if x.region != r || x.code == opPhi {
			continue
		}
		f.ops = append(f.ops, int32(i))
		for _, a := range b.operands(x) {
			if y := &b.ops[a]; y.region != r {
				o.region = b.deeper(o.region, y.region)
			}
		}
	}
	for _, s := range next {
		if y := &b.ops[s]; y.region != r {
			o.region = b.deeper(o.region, y.region)
		}
	}
	b.fixPolarity(f, &o)
	f.op = b.push(opKey{opFix, false, r, noSlot, noSlot}, o)
	out := make([]int32, len(next))
	for i := range next {
		res := o
		res.code, res.a, res.b = opFixResult, f.op, int32(i)
		res.isSet = b.ops[f.phis[i]].isSet
		res.name = f.names[i]
		out[i] = b.push(opKey{opFixResult, res.isSet, res.a, res.b, noSlot}, res)
	}
	return out
}

// operands returns the slots that an operation reads.
func (b *builder) operands(o *op) []int32 {
	switch o.code {
	case opInput, opConstEmpty, opConstAll, opConstID, opPhi:
		return nil
	case opFix:
		f := b.fixes[o.a]
		var out []int32
		for _, i := range f.ops {
			for _, a := range b.operands(&b.ops[i]) {
				if b.ops[a].region != o.a {
					out = append(out, a)
				}
			}
		}
		for _, s := range f.next {
			if b.ops[s].region != o.a {
				out = append(out, s)
			}
		}
		return out
	case opFixResult:
		return []int32{o.a}
	}
	var out []int32
	for _, a := range []int32{o.a, o.b, o.c} {
		if a != noSlot {
			out = append(out, a)
		}
	}
	return out
}

// polarity tells how a value depends on the variables of a recursion.
type polarity struct{ up, down bool }

// fixPolarity computes how the results of a recursive definition depend on
// the inputs. If the rounds are monotone in the variables, the result is their
// least fixpoint, and grows with whatever makes one round's values grow. If
// not, nothing is known.
func (b *builder) fixPolarity(f *fix, o *op) {
	at := map[int32]polarity{}
	for _, p := range f.phis {
		at[p] = polarity{up: true}
	}
	b.trace(f.ops, at)
	f.mono = true
	for _, s := range f.next {
		f.mono = f.mono && !at[s].down
		x := &b.ops[s]
		o.deps = o.deps.Or(x.deps)
		o.up = o.up.Or(x.up)
		o.down = o.down.Or(x.down)
	}
	for _, i := range f.ops {
		o.deps = o.deps.Or(b.ops[i].deps)
	}
	if !f.mono {
		o.up, o.down = o.deps, o.deps
	}
}

// trace computes the polarity of operations from those of their operands.
func (b *builder) trace(ops []int32, at map[int32]polarity) {
	for _, i := range ops {
		x := &b.ops[i]
		if x.code == opFix {
			at[i] = b.traceFix(b.fixes[x.a], at)
			continue
		}
		var p polarity
		for k, a := range b.operands(x) {
			q := at[a]
			if x.code == opComplement || x.code == opDiff && k == 1 {
				q.up, q.down = q.down, q.up
			}
			p.up, p.down = p.up || q.up, p.down || q.down
		}
		at[i] = p
	}
}

// traceFix does so for a recursive definition inside another one.
func (b *builder) traceFix(f *fix, at map[int32]polarity) polarity {
	var sum polarity
	for {
		for _, p := range f.phis {
			at[p] = sum
		}
		b.trace(f.ops, at)
		next := sum
		for _, s := range f.next {
			next.up, next.down = next.up || at[s].up, next.down || at[s].down
		}
		if next == sum {
			break
		}
		sum = next
	}
	if !f.mono && (sum.up || sum.down) {
		return polarity{true, true}
	}
	return sum
}
