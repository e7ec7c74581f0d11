package cat

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

// restrict returns [s];r;[t].
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
