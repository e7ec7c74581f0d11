package emu

import (
	"optcheck/ir"
)

// warpOp performs an operation between the active lanes.
func (w *Warp) warpOp(o *ir.Warp, act uint32) {
	if o.Kind > ir.ShflBfly {
		for x := act; x != 0; x &= x - 1 {
			w.Voted[lowest(x)] = act
		}
	}
	switch {
	case o.Kind <= ir.ShflBfly:
		w.shuffle(o, act)
	case o.Kind <= ir.VoteBallot:
		w.vote(o, act)
	case o.Kind <= ir.MatchAll:
		w.match(o, act)
	case o.Kind <= ir.ReduxXor:
		w.redux(o, act)
	case o.Kind == ir.ActiveMask:
		w.told(act)
		w.all(o.Dst, act, uint64(act))
	case o.Kind == ir.Elect:
		w.all(o.Dst, act, uint64(lowest(act)))
		for x := act; x != 0; x &= x - 1 {
			w.SetReg(o.Pred, lowest(x), truth(x == act))
		}
	case o.Kind == ir.Transpose:
		w.transpose(o, act)
	case o.Kind == ir.First:
		w.all(o.Dst, act, w.regs[o.Src][lowest(act)])
	case o.Kind == ir.Multiply:
		w.product(o, act)
	}
}

// told notes that lanes are told which of them are active.
func (w *Warp) told(act uint32) {
	for x := act; x != 0; x &= x - 1 {
		t := &w.Together[lowest(x)]
		if len(*t) < mostTold {
			*t = append(*t, act)
		}
	}
}

// mostTold bounds what is noted of a lane.
const mostTold = 1 << 12

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// all writes a value for the active lanes.
func (w *Warp) all(r ir.Reg, act uint32, v uint64) {
	if r < 0 {
		return
	}
	for x := act; x != 0; x &= x - 1 {
		w.SetReg(r, lowest(x), v)
	}
}

// shuffle: PTX ISA, 9.7.9.6. What a lane that does not take part holds is undefined.
func (w *Warp) shuffle(o *ir.Warp, act uint32) {
	var val, ok row
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		b, c := int(w.regs[o.Lane][l]&31), w.regs[o.Clamp][l]
		clamp, seg := int(c&31), int(c>>8&31)
		most := l&seg | clamp&^seg
		var j int
		var in bool
		switch o.Kind {
		case ir.ShflUp:
			j = l - b
			in = j >= most
		case ir.ShflDown:
			j = l + b
			in = j <= most
		case ir.ShflBfly:
			j = l ^ b
			in = j <= most
		default:
			j = l&seg | b&^seg
			in = j <= most
		}
		if !in {
			j = l
		}
		val[l], ok[l] = w.policy.Fill&0xffffffff, truth(in)
		if act>>j&1 == 1 {
			val[l] = w.regs[o.Src][j]
		}
	}
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		w.SetReg(o.Dst, l, val[l])
		w.SetReg(o.Pred, l, ok[l])
	}
}

func (w *Warp) vote(o *ir.Warp, act uint32) {
	yes := act
	if o.Src >= 0 {
		yes = w.bits(int32(o.Src), o.Not) & act
	}
	var r bool
	switch o.Kind {
	case ir.VoteAll:
		r = yes == act
	case ir.VoteAny:
		r = yes != 0
	case ir.VoteUni:
		r = yes == 0 || yes == act
	}
	w.all(o.Pred, act, truth(r))
	w.all(o.Dst, act, uint64(yes))
}

func (w *Warp) match(o *ir.Warp, act uint32) {
	m := ^uint64(0) >> (64 - o.Type.Bits())
	v := &w.regs[o.Src]
	var out row
	same := act
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		for y := act; y != 0; y &= y - 1 {
			if k := lowest(y); v[k]&m == v[l]&m {
				out[l] |= 1 << k
			}
		}
		same &= uint32(out[l])
	}
	if o.Kind == ir.MatchAll {
		agree := same == act
		w.all(o.Pred, act, truth(agree))
		w.all(o.Dst, act, uint64(act)*truth(agree))
		return
	}
	for x := act; x != 0; x &= x - 1 {
		w.SetReg(o.Dst, lowest(x), out[lowest(x)])
	}
}

func (w *Warp) redux(o *ir.Warp, act uint32) {
	v := &w.regs[o.Src]
	r := v[lowest(act)]
	code := map[ir.WarpKind]ir.Code{ir.ReduxAdd: ir.Add, ir.ReduxMin: ir.Min, ir.ReduxMax: ir.Max, ir.ReduxAnd: ir.And, ir.ReduxOr: ir.Or,
		ir.ReduxXor: ir.Xor}[o.Kind]
	op := &ir.Op{Code: code, Type: o.Type, To: o.Type}
	for x := act & (act - 1); x != 0; x &= x - 1 {
		r = ir.Eval(op, &[4]uint64{r, v[lowest(x)]}, 0)
	}
	w.all(o.Dst, act, r)
}

// mix is a bijection that scatters (the finaliser of MurmurHash3).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
