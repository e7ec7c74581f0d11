package verify

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/refine"
)

// choices is a set of what was chosen rather than given: the eight bytes of the parameters by their number, the launch, and
// the content of memory.
type choices uint64

const (
	ofLaunch  choices = 1 << 62
	ofContent choices = 1 << 63
	maxSlots          = 61
	slotBytes         = 8
)

// trail is what a value depends on: base as the address of which it is a part, wide on eight bytes at once, any in any way.
type trail struct{ base, wide, any choices }

func (t trail) with(o trail) trail { return trail{t.base | o.base, t.wide | o.wide, t.any | o.any} }

// part is the trail of a value that only a part of an address can be.
func (t trail) part() trail { return trail{0, t.wide, t.any} }

// origins follows through a run what values depend on that was chosen. Registers are followed for a warp as a whole, memory by
// words, memory of threads by addresses.
type origins struct {
	p      *ir.Program
	chosen choices // the slots, and the launch, that were not given
	given  []region
	words  map[emu.Word]trail
	now    *warpOrigins // the warp whose instruction is performed
}

// warpOrigins is what is known of a warp.
type warpOrigins struct {
	*origins
	regs    []trail
	local   map[emu.Place]trail
	decided choices // what the conditions so far depend on
	at      [emu.Lanes]emu.Place
	known   bool // at has the places of the present instruction
	block   int
	last    int32
	act     uint32
	all     bool
}

func newOrigins(o *Options, p *ir.Program, in *refine.Input, g *emu.Grid, given []region) *origins {
	t := &origins{p: p, given: given, words: map[emu.Word]trail{}}
	for i, v := range p.Params {
		if !o.isGiven(p, i) {
			t.chosen |= slots(v.Offset, v.Size)
		}
	}
	if o.Launch.Block == ([3]int{}) && !p.BlockFixed {
		t.chosen |= ofLaunch
	}
	for _, v := range p.Vars {
		if v.Space != ir.Shared {
			t.given = append(t.given, region{v.Name, in.Vars[v.Name], in.Vars[v.Name] + uint64(v.Size)})
		}
	}
	for _, w := range g.Warps {
		h := &warpOrigins{origins: t, block: w.Data.(*emu.Block).Number, regs: make([]trail, p.Regs+1), local: map[emu.Place]trail{}, last: -1}
		if before := w.Trace; before != nil {
			w.Trace = func(w *emu.Warp, pc int32, act uint32) {
				before(w, pc, act)
				h.trace(w, pc, act)
			}
		} else {
			w.Trace = h.trace
		}
	}
	return t
}

// slots are the numbers of a part of the parameters.
func slots(at, size int64) (out choices) {
	for n := at / slotBytes; n*slotBytes < at+max(size, 1); n++ {
		out |= 1 << min(n, maxSlots)
	}
	return out
}

func (h *warpOrigins) of(r ir.Reg) trail {
	if r < 0 {
		return trail{}
	}
	return h.regs[r]
}

func (h *warpOrigins) set(r ir.Reg, t trail) {
	if r < 0 {
		return
	}
	if !h.all {
		t = t.with(h.regs[r])
	}
	h.regs[r] = t
}

func (h *warpOrigins) ops(list []ir.Op) {
	for i := range list {
		o := &list[i]
		var t trail
		for n, r := range o.Src {
			x := h.of(r)
			if !refine.Carries(o, n) && o.Code != ir.And { // masks align addresses
				x = x.part()
			}
			t = t.with(x)
		}
		h.set(o.Dst, t)
	}
}

// trace sees an instruction before it is performed.
func (h *warpOrigins) trace(w *emu.Warp, pc int32, act uint32) {
	if h.last >= 0 && h.act != 0 {
		h.performed(&h.p.Insts[h.last], pc)
	}
	in := &h.p.Insts[pc]
	h.last, h.act, h.all, h.known, h.now = pc, act, act == w.Live(), false, h
	h.decided |= h.of(in.Guard).any
	h.ops(in.Pre)
	switch do := in.Do.(type) {
	case *ir.Flow:
		h.decided |= h.of(do.Cond).any
	case *ir.Access:
		if !slices.ContainsFunc(in.Pre, func(o ir.Op) bool { return o.Dst == do.Addr }) {
			lanes(act, func(l int) { h.at[l] = w.Place(do, l) })
			h.known = true
		}
	}
}

// places are those of the access that is performed.
func (t *origins) places(at *[emu.Lanes]emu.Place) {
	if t != nil && t.now != nil {
		t.now.at, t.now.known = *at, true
	}
}

// performed takes over what the results of an instruction depend on. next is where the warp goes on.
func (h *warpOrigins) performed(in *ir.Inst, next int32) {
	switch do := in.Do.(type) {
	case *ir.Access:
		h.access(do)
	case *ir.Special:
		h.set(do.Dst, trail{any: h.special(do)})
	case *ir.Warp:
		t := h.of(do.Src).with(h.of(do.Lane).part())
		for _, r := range do.Srcs {
			t = t.with(h.of(r).part())
		}
		for _, r := range append([]ir.Reg{do.Dst, do.Pred}, do.Dsts...) {
			h.set(r, t)
		}
	case *ir.Copy:
		if do.Kind == ir.CopyProduct {
			for _, r := range do.Product.D {
				h.set(r, trail{any: h.chosen & ofContent})
			}
		}
		if do.Kind == ir.CopyAsync && h.known {
			lanes(h.act, func(l int) {
				emu.EachWord(h.at[l], h.block, do.Bytes, func(w emu.Word, _ uint32, _ uint, _ int) { h.words[w] = trail{any: h.chosen & ofContent} })
			})
		}
	case *ir.Flow:
		if call, ok := h.before(next); ok && do.Kind == ir.Return {
			h.ops(call.Post)
		}
		if do.Kind == ir.Call || do.Kind == ir.CallAt {
			return // what it returns comes with the return
		}
	}
	h.ops(in.Post)
}

// before is the call behind which an instruction stands.
func (h *warpOrigins) before(next int32) (*ir.Inst, bool) {
	if next < 1 {
		return nil, false
	}
	in := &h.p.Insts[next-1]
	f, ok := in.Do.(*ir.Flow)
	return in, ok && (f.Kind == ir.Call || f.Kind == ir.CallAt)
}

func (h *warpOrigins) special(s *ir.Special) choices {
	if s.Reg == ir.SymbolAddr || s.Reg == ir.LaneID {
		return 0
	}
	if s.Reg == ir.Undefined {
		return ofContent
	}
	return h.chosen & ofLaunch
}

func (h *warpOrigins) access(a *ir.Access) {
	results := a.Data
	if a.Kind == ir.Atomic {
		results = append(slices.Clip(a.Dst), a.Done)
	}
	index := h.of(a.Addr).part()
	switch {
	case a.Kind == ir.Load && h.space(a) == ir.Param:
		for i, r := range results {
			h.set(r, h.param(a, int64(i*a.Bytes)))
		}
		return
	case h.space(a) == ir.ConstBank:
		for _, r := range results {
			h.set(r, trail{})
		}
		return
	}
	if a.Kind != ir.Store {
		t := index
		h.eachWord(a, func(at emu.Place, w emu.Word) { t = t.with(h.content(at, w)) })
		defer func() {
			for _, r := range results {
				h.set(r, t)
			}
		}()
	}
	if a.Kind != ir.Load {
		var t trail
		for _, r := range a.Data {
			t = t.with(h.of(r))
		}
		h.eachWord(a, func(at emu.Place, w emu.Word) {
			x := t
			if a.Kind == ir.Atomic || a.Bytes < 4 {
				x = t.with(h.content(at, w))
			}
			if private(at.Space) {
				h.local[emu.Place{Space: at.Space, Addr: at.Addr &^ 3}] = x
			} else {
				h.words[w] = x
			}
		})
	}
}

// space is where an access of the warp is, all lanes alike.
func (h *warpOrigins) space(a *ir.Access) ir.Space {
	if h.known && h.act != 0 {
		return h.at[bits.TrailingZeros32(h.act)].Space
	}
	return a.Space
}

// param is what a loaded part of the parameters depends on.
func (h *warpOrigins) param(a *ir.Access, off int64) trail {
	if !h.known {
		return trail{any: h.chosen &^ ofLaunch}
	}
	var c choices
	lanes(h.act, func(l int) { c |= slots(int64(h.at[l].Addr)+off, int64(a.Bytes)) & h.chosen })
	if a.Bytes < slotBytes {
		return trail{any: c}
	}
	return trail{c, c, c}
}

// private reports whether each thread has its own memory of a space.
func private(s ir.Space) bool { return s == ir.Local || s == ir.FuncParam }

// eachWord calls do for the words of an access; for the words of memory of threads w is 0.
func (h *warpOrigins) eachWord(a *ir.Access, do func(at emu.Place, w emu.Word)) {
	if !h.known {
		return
	}
	n := uint64(a.Bytes * max(a.Elems, 1))
	lanes(h.act, func(l int) {
		for off := uint64(0); off < n; off += 4 {
			p := emu.Place{Space: h.at[l].Space, Addr: h.at[l].Addr + off}
			var w emu.Word
			if !private(p.Space) {
				w = emu.WordOf(p, h.block)
			}
			do(p, w)
		}
	})
}

// content is what a word depends on: what was stored there, or its first content.
func (h *warpOrigins) content(p emu.Place, w emu.Word) trail {
	if private(p.Space) {
		return h.local[emu.Place{Space: p.Space, Addr: p.Addr &^ 3}]
	}
	if t, ok := h.words[w]; ok {
		return t
	}
	if p.Space == ir.Shared || slices.ContainsFunc(h.given, func(r region) bool { return p.Addr >= r.from && p.Addr < r.to }) {
		return trail{}
	}
	return trail{any: ofContent}
}

// here is what the addresses of the instruction that is performed depend on, and the conditions that led to it.
func (t *origins) here(pc int32) (address trail, decided choices) {
	if t == nil || t.now == nil {
		return trail{}, 0
	}
	switch do := t.p.Insts[pc].Do.(type) {
	case *ir.Access:
		address = t.now.of(do.Addr)
	case *ir.Copy:
		for _, r := range []ir.Reg{do.To, do.From} {
			address = address.with(t.now.of(r))
		}
		address = address.with(t.now.of(do.Size).part()).with(t.now.of(do.Mbarrier))
	case *ir.Flow:
		address = t.now.of(do.Addr).part()
	}
	return address, t.now.decided
}

// names says which arguments of a launch would decide.
func (o *Options) names(p *ir.Program, in *refine.Input, c choices) string {
	var out []string
	if c&ofLaunch != 0 {
		out = append(out, "--grid and --block")
	}
	for i, v := range p.Params {
		if c&slots(v.Offset, v.Size)&^(ofLaunch|ofContent) == 0 || o.isGiven(p, i) {
			continue
		}
		n := o.param(p, i) + "=…"
		if b := in.Params[v.Offset:min(v.Offset+v.Size, int64(len(in.Params)))]; len(b) == 4 || len(b) == 8 {
			n += fmt.Sprintf(" (here %#x)", emu.Number(b))
		}
		out = append(out, "--arg "+n)
	}
	if c&ofContent != 0 && len(out) == 0 {
		out = append(out, "--arg with a buffer")
	}
	return strings.Join(out, ", ")
}

// pointers are the parameters that a value depends on which may be pointers and hold none yet: first those of which it is a part.
func pointers(in *refine.Input, t trail) (out []int64) {
	for _, c := range []choices{t.base, t.wide &^ t.base} {
		for ; c != 0; c &= c - 1 {
			at := int64(bits.TrailingZeros64(uint64(c))) * slotBytes
			if at+slotBytes <= int64(len(in.Params)) && binary.LittleEndian.Uint64(in.Params[at:])>>32 == 0 {
				out = append(out, at)
			}
		}
	}
	return out
}
