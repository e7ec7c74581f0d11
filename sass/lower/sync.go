package lower

import (
	"strings"

	"optcheck/ir"
	"optcheck/isa"
)

var scopes = map[string]ir.Scope{"CTA": ir.CTA, "SM": ir.CTA, "GPU": ir.GPU, "VC": ir.GPU, "SYS": ir.Sys}

// membar: MEMBAR.SC|ALL.scope.
func membar(s *step) {
	f := &ir.Fence{Sem: ir.AcqRel}
	if s.mod("SC") {
		f.Sem = ir.SC
	}
	s.mod("ALL")
	f.Scope = scopes[s.oneOf("CTA SM GPU VC SYS")]
	if f.Scope == ir.NoScope {
		s.fail("%s without scope", s.in.Op)
	}
	s.do(f)
}

// waits: instructions that only wait for what a fence began.
func waits(s *step) {
	s.do(&ir.Fence{Sem: ir.AcqRel, Scope: ir.GPU, Part: true})
}

// cctl: CCTL.IVALL invalidates the cache of the SM; CCTL.PF1 to .PF2 fetch a line ahead (prefetch), which changes nothing.
func cctl(s *step) {
	if s.mod("PF1") || s.mod("PF1.5") || s.mod("PF2") {
		s.drop("E U")
		s.memory(&ir.Access{})
		return
	}
	if !s.mod("IVALL") {
		s.fail("CCTL that is not .IVALL")
	}
	s.do(&ir.Fence{Sem: ir.Acquire, Scope: ir.GPU})
}

// fence: FENCE.VIEW.ASYNC[.S|.G|.T]: a proxy fence.
func fence(s *step) {
	if !s.mod("VIEW") || !s.mod("ASYNC") {
		s.fail("FENCE of unknown kind")
	}
	s.oneOf("S G T")
	s.do(&ir.Fence{Sem: ir.AcqRel, Scope: ir.CTA, Proxy: "async"})
}

// bar: BAR.SYNC|ARV|RED.op[.DEFER_BLOCKING] id [, count] [, p]. Without a count, all threads of the CTA take part. A
// register holds the id in its low and the count in its high half.
func bar(s *step) {
	s.mod("DEFER_BLOCKING")
	b := &ir.Barrier{ID: ir.None, Count: ir.None, Src: ir.None, Dst: ir.None, Sem: ir.AcqRel}
	switch s.oneOf("SYNC ARV RED") {
	case "SYNC":
	case "ARV":
		b.Kind = ir.BarrierArrive
	case "RED":
		b.Kind = ir.BarrierRed
		b.Red = map[string]string{"POPC": "popc", "AND": "and", "OR": "or"}[s.oneOf("POPC AND OR")]
		if b.Red == "" {
			s.fail("BAR.RED of unknown operation")
		}
	default:
		s.fail("BAR of unknown kind")
	}
	if isReg(s.peek()) {
		b.ID = s.op(ir.And, ir.U32, s.plain(), s.k(15))
	} else {
		b.ID = s.k(s.imm(16))
	}
	if isReg(s.peek()) { // the upper half: code packs both numbers into one register
		b.Count = s.op(ir.And, ir.U32, s.op(ir.Shr, ir.U32, s.plain(), s.k(16)), s.k(0xfff))
	} else if len(s.args) > 0 && !s.isPred() {
		b.Count = s.plain()
	}
	if b.Kind == ir.BarrierRed {
		b.Src, b.Not = s.predIn()
	}
	s.do(b)
}

// b2r: B2R.RESULT d [, p]: the result of the last BAR.RED.
func b2r(s *step) {
	if !s.mod("RESULT") {
		s.fail("B2R that is not .RESULT")
	}
	d := s.dst()
	p := s.optPredDst()
	v := s.u.b.Temp()
	s.do(&ir.Special{Reg: ir.BarrierResult, Dst: v})
	s.result(d, s.op(ir.Mov, ir.U32, v))
	if p != ir.None {
		s.setPred(p, s.cmp(ir.NE, ir.U32, v, s.k(0)))
	}
}

// warp begins an operation of the active lanes.
func warp(kind ir.WarpKind) *ir.Warp {
	return &ir.Warp{Kind: kind, Mask: ir.None, Src: ir.None, Lane: ir.None, Clamp: ir.None, Dst: ir.None, Pred: ir.None, Type: ir.U32}
}

// warpDst is the register of a warp operation's result; None for RZ.
func (s *step) warpDst() ir.Reg {
	d := s.dst()
	return s.reg(&d, 0)
}

// shfl: SHFL.kind p, d, a, lane, c.
func shfl(s *step) {
	kinds := map[string]ir.WarpKind{"IDX": ir.ShflIdx, "UP": ir.ShflUp, "DOWN": ir.ShflDown, "BFLY": ir.ShflBfly}
	kind, ok := kinds[s.oneOf("IDX UP DOWN BFLY")]
	if !ok {
		s.fail("SHFL of unknown kind")
	}
	w := warp(kind)
	w.Pred = s.predDst()
	w.Dst = s.warpDst()
	w.Src, w.Lane, w.Clamp = s.plain(), s.plain(), s.plain()
	s.do(w)
}

// vote: VOTE[U].ALL|ANY|EQ [d,] p, q: the ballot of q, and whether it is true for all, for any, or the same for all.
func vote(s *step) {
	how := s.oneOf("ALL ANY EQ")
	kind := map[string]ir.WarpKind{"ALL": ir.VoteAll, "ANY": ir.VoteAny, "EQ": ir.VoteUni}[how]
	d := ir.None
	if !s.isPred() {
		d = s.warpDst()
	}
	p := ir.None
	if len(s.args) > 1 {
		p = s.predDst()
	}
	o := s.peek()
	always := o != nil && o.Zero && !o.Not
	src, not := s.predIn()
	switch {
	case how == "":
		s.fail("VOTE of unknown kind")
	case d != ir.None && p != ir.None:
		s.fail("VOTE with two results")
	case d != ir.None:
		w := warp(ir.VoteBallot)
		if w.Dst, w.Src, w.Not = d, src, not; always {
			w.Kind, w.Src = ir.ActiveMask, ir.None
		}
		s.do(w)
	case p != ir.None:
		w := warp(kind)
		w.Pred, w.Src, w.Not = p, src, not
		s.do(w)
	}
}

// match: MATCH.ANY|ALL[.U64] [p,] d, a.
func match(s *step) {
	how := s.oneOf("ANY ALL")
	wide := s.oneOf("U64 64") != ""
	s.mod("U32")
	w := warp(map[string]ir.WarpKind{"ANY": ir.MatchAny, "ALL": ir.MatchAll}[how])
	if how == "" {
		s.fail("MATCH of unknown kind")
	}
	if s.isPred() {
		w.Pred = s.predDst()
	}
	w.Dst = s.warpDst()
	if wide {
		o := s.next()
		s.bare(&o, false, false, false)
		w.Src, w.Type = s.raw64(&o), ir.U64
	} else {
		w.Src = s.plain()
	}
	s.do(w)
}

// redux: REDUX.op[.S32] ud, a. Minimum and maximum are unsigned without .S32; without an operation it is AND. Of sm_100 CREDUX has the
// minimum and the maximum.
func redux(s *step) {
	op := s.oneOf("SUM MIN MAX OR XOR AND")
	if s.in.Op == "CREDUX" && op != "MIN" && op != "MAX" {
		s.fail("CREDUX of unknown operation")
	}
	kind := map[string]ir.WarpKind{"SUM": ir.ReduxAdd, "MIN": ir.ReduxMin, "MAX": ir.ReduxMax, "OR": ir.ReduxOr, "XOR": ir.ReduxXor,
		"": ir.ReduxAnd, "AND": ir.ReduxAnd}[op]
	w := warp(kind)
	if s.mod("S32") {
		w.Type = ir.S32
	}
	s.mod("U32")
	w.Dst = s.warpDst()
	w.Src = s.plain()
	s.do(w)
}

// r2ur: R2UR[.OR] [p,] ud, a: the value of the first active lane; p says that the lane's value is another, with .OR that this is so, or p was set.
func r2ur(s *step) {
	s.drop("FILL")
	or := s.mod("OR")
	p := s.optPredDst()
	w := warp(ir.First)
	w.Dst = s.warpDst()
	w.Src = s.plain()
	if p != ir.None && w.Dst == ir.None {
		w.Dst = s.u.b.Temp()
	}
	s.do(w)
	if p != ir.None {
		other := s.cmp(ir.NE, ir.U32, w.Src, w.Dst)
		if or {
			other = s.op(ir.Or, ir.Pred, other, p)
		}
		s.setPred(p, other)
	}
}

// elect: ELECT p, ud, mask.
func elect(s *step) {
	w := warp(ir.Elect)
	w.Pred, w.Dst = s.predDst(), s.warpDst()
	if s.isPred() {
		s.allLanes()
	} else {
		o := s.next()
		if !isReg(&o) || !o.Zero || !o.Not {
			s.fail("operand %s of ELECT", o.Text)
		}
	}
	s.do(w)
}

// ldgsts: LDGSTS.E[.BYPASS][.64|.128][.ZFILL] [to], [from] [, p]: with a false p, zeros are written. With .ZFILL the low
// bits of the address are how many bytes at the end are zero.
func ldgsts(s *step) {
	if !s.mod("E") {
		s.fail("LDGSTS with addresses of unknown size")
	}
	s.drop(hints + " BYPASS ACCESS")
	c := &ir.Copy{Kind: ir.CopyAsync, Size: ir.None, Ignore: ir.None}
	c.Bytes, _ = s.width()
	if c.Bytes < 4 {
		s.fail("LDGSTS of %d bytes", c.Bytes)
	}
	to, from := &ir.Access{Space: ir.Shared}, &ir.Access{Space: ir.Global}
	s.memory(to)
	s.memory(from)
	c.To, c.ToOffset, c.From, c.FromOffset = to.Addr, to.Offset, from.Addr, from.Offset
	if s.mod("ZFILL") {
		at := s.op(ir.Add, ir.U64, c.From, s.k(uint64(c.FromOffset)))
		zeros := s.op(ir.And, ir.U64, at, s.k(uint64(c.Bytes-1)))
		c.From, c.FromOffset = s.op(ir.Sub, ir.U64, at, zeros), 0
		c.Size = s.op(ir.Sub, ir.U64, s.k(uint64(c.Bytes)), zeros)
	}
	if s.isPred() {
		p, not := s.predIn()
		c.Ignore, c.IgnoreNot = p, !not
		if s.is(p, 1) && !not {
			c.Ignore, c.IgnoreNot = ir.None, false
		}
	}
	s.do(c)
}

// copies: LDGDEPBAR ends a group of copies.
func copies(s *step) {
	s.do(&ir.Copy{Kind: ir.CopyCommit, To: ir.None, From: ir.None, Size: ir.None, Ignore: ir.None})
}

// depbar: DEPBAR.LE SBn, k[, {n...}]: waits until at most k operations of a scoreboard are left, and all of others; those of SB0 are groups of copies.
func depbar(s *step) {
	if !s.mod("LE") {
		s.args = nil // waits for all of a set of scoreboards
		return
	}
	o := s.next()
	if o.Kind != isa.OpdSpecial || len(o.Sym) != 3 || o.Sym[:2] != "SB" {
		s.fail("operand %s of DEPBAR", o.Text)
	}
	n := s.imm(64)
	if set := s.peek(); set != nil && strings.HasPrefix(set.Text, "{") && !strings.Contains(set.Text, "0") {
		s.next()
	}
	if o.Sym == "SB0" {
		s.do(&ir.Copy{Kind: ir.CopyWait, To: ir.None, From: ir.None, Size: ir.None, Ignore: ir.None, Groups: int(n)})
	}
}
