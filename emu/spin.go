package emu

import (
	"slices"

	"optcheck/ir"
)

// spin is a word that a thread waits for.
type spin struct {
	thread int
	word   Word
}

// spinning are the words that a thread reads strongly in turn, and how often it has.
type spinning struct {
	words [8]Word
	n     int
	count int
}

// again reports whether a thread that reads a word has read it, and a few others at most, so often that it waits.
func (s *spinning) again(word Word) bool {
	switch {
	case slices.Contains(s.words[:s.n], word):
	case s.n < len(s.words):
		s.words[s.n] = word
		s.n++
	default:
		*s = spinning{n: 1}
		s.words[0] = word
	}
	s.count++
	waits := s.count >= s.n*spinLimit
	if s.count >= s.n*(spinLimit+1) {
		s.count = 0
	}
	return waits
}

// spinLimit is how often a thread reads one word strongly before somebody outside of the launch writes it: a kernel may
// wait for what no thread of a small launch does.
const spinLimit = 40

// breakSpin writes what a lane waits for, if it has performed one access again and again: first what the program compares
// the elements with, then the values that others may write.
func (g *Grid) breakSpin(w *Warp, pc int32, a *ir.Access, l int, p Place) {
	r, block := g.record(w, l), w.Threads[l].Block
	word := WordOf(p, block)
	if len(g.Outside) == 0 || !r.spinning.again(word) {
		return
	}
	k := spin{g.thread(w, l), word}
	n := g.spins[k]
	g.spins[k]++
	known := 0
	for e, awaited := range g.awaits(pc) {
		known = max(known, len(awaited))
		if n < len(awaited) && awaited[n].madeBy(w) {
			g.outside(Place{p.Space, p.Addr + uint64(e*a.Bytes)}, block, a.Bytes, w.regs[awaited[n].reg][l])
		}
	}
	if n >= known {
		g.Memory.Put(word, uint32(g.Outside[(n-known)%len(g.Outside)]), nobody)
	}
}

// awaited is a register that what a thread waits for is compared with.
type awaited struct {
	reg    ir.Reg
	from   []int32 // the instructions that write it
	always bool    // the program has it from the beginning
}

func (c *Code) awaited(r ir.Reg) awaited {
	x := awaited{reg: r, always: slices.ContainsFunc(c.P.Consts, func(k ir.Const) bool { return k.Reg == r })}
	for i := range c.P.Insts {
		if writes(&c.P.Insts[i], r) {
			x.from = append(x.from, int32(i))
		}
	}
	return x
}

// madeBy reports whether lanes of a warp have written the register, or nobody needs to.
func (x *awaited) madeBy(w *Warp) bool {
	return x.always || slices.ContainsFunc(x.from, func(i int32) bool { return w.Cover.Insts[i] })
}

// writes reports whether an instruction writes a register.
func writes(in *ir.Inst, r ir.Reg) bool {
	computes := func(o ir.Op) bool { return o.Dst == r }
	if slices.ContainsFunc(in.Pre, computes) || slices.ContainsFunc(in.Post, computes) {
		return true
	}
	switch do := in.Do.(type) {
	case *ir.Access:
		loads := do.Kind == ir.Load && (slices.Contains(do.Data, r) || slices.Contains(do.Fragments, r))
		return loads || slices.Contains(do.Dst, r) || do.Done == r
	case *ir.Warp:
		return do.Dst == r || do.Pred == r || slices.Contains(do.Dsts, r)
	case *ir.Special:
		return do.Dst == r
	}
	return false
}

// outside writes a value of up to eight bytes as somebody outside of the launch does.
func (g *Grid) outside(p Place, block, bytes int, v uint64) {
	EachWord(p, block, min(bytes, 8), func(word Word, mask uint32, shift uint, from int) {
		g.Memory.Put(word, g.Memory.Now(word, Integer)&^mask|uint32(v>>(8*from))<<shift&mask, nobody)
	})
}

// mostAwaited bounds the registers that one element is compared with.
const mostAwaited = 3

// awaits are, for each element that an access reads, the registers that the program compares it with, or subtracts from it.
func (g *Grid) awaits(pc int32) [][]awaited {
	out, ok := g.awaited[pc]
	if !ok {
		a := g.Code.P.Insts[pc].Do.(*ir.Access)
		regs := a.Data
		if a.Kind == ir.Atomic {
			regs = a.Dst
		}
		for _, r := range regs {
			var list []awaited
			for _, with := range g.Code.comparedWith(r) {
				list = append(list, g.Code.awaited(with))
			}
			out = append(out, list)
		}
		g.awaited[pc] = out
	}
	return out
}

// comparedWith follows a register through copies and parts to what compares it.
func (c *Code) comparedWith(r ir.Reg) (out []ir.Reg) {
	from := []ir.Reg{r}
	for again := true; again; {
		again = false
		for i := range c.P.Insts {
			for _, o := range slices.Concat(c.P.Insts[i].Pre, c.P.Insts[i].Post) {
				n := slices.IndexFunc(o.Src[:], func(s ir.Reg) bool { return s >= 0 && slices.Contains(from, s) })
				if n < 0 {
					continue
				}
				switch o.Code {
				case ir.Cmp, ir.Sub:
					if with := o.Src[1-min(n, 1)]; with >= 0 && len(out) < mostAwaited && !slices.Contains(out, with) && !slices.Contains(from, with) {
						out = append(out, with)
					}
				case ir.Mov, ir.Ext, ir.Shr, ir.And:
					if len(from) < 8 && !slices.Contains(from, o.Dst) {
						from, again = append(from, o.Dst), true
					}
				}
			}
		}
	}
	return out
}
