package verify

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/emu"
	"optcheck/ir"
)

// region is a part of memory that the kernel may access.
type region struct {
	name     string
	from, to uint64
}

// layout is what memory a launch has.
type layout struct {
	// global are the variables and buffers, shared the variables of shared memory, by address.
	global, shared []region
	// constant are the variables that nobody may write.
	constant []region
	// buffers have a size that was given: what is near to them and outside is out of bounds.
	buffers []region
	// pointed are where parameters point to, of which no size is known.
	pointed []region
	// sharedEnd is where shared memory ends, 0 if nobody has said how much of it is dynamic.
	sharedEnd uint64
	// globalVars is where variables of global memory lie.
	globalVars region
}

// nullPage is up to where an address is taken for a null pointer's.
const nullPage = 4096

// nearBuffer is how far in front of a buffer an access is taken for one of it; behind it, all up to the next one is.
const nearBuffer = 1 << 20

func newLayout(p *ir.Program, vars map[string]uint64, l *Launch) *layout {
	out := &layout{}
	dynamic := false
	for _, v := range p.Vars {
		r := region{Plain(v.Name), vars[v.Name], vars[v.Name] + uint64(v.Size)}
		switch v.Space {
		case ir.Shared:
			if dynamic = dynamic || v.Size == 0; v.Size == 0 {
				r.to = r.from + uint64(l.Dynamic)
			}
			out.shared = append(out.shared, r)
			out.sharedEnd = max(out.sharedEnd, r.to)
		case ir.Global, ir.ConstBank:
			if v.Space == ir.ConstBank {
				out.constant = append(out.constant, r)
			}
			if v.Size > 0 {
				out.global = append(out.global, r)
			}
		}
	}
	out.sharedEnd = max(out.sharedEnd, uint64(p.SharedBase+p.SharedBytes))
	if dynamic && l.Dynamic == 0 {
		out.sharedEnd = 0
	} else if !dynamic {
		out.sharedEnd += uint64(l.Dynamic)
	}
	for _, r := range out.global {
		if out.globalVars.to == 0 {
			out.globalVars = r
		}
		out.globalVars.from, out.globalVars.to = min(out.globalVars.from, r.from), max(out.globalVars.to, r.to)
	}
	return out
}

// of finds the variable or buffer that a place is in, or near, and how its memory is called.
func (y *layout) of(p emu.Place) (best *region, space string) {
	list, space := slices.Concat(y.global, y.buffers, y.pointed), "global"
	if p.Space == ir.Shared {
		list, space = y.shared, "shared"
	}
	for i, r := range list {
		if r.from <= p.Addr && p.Addr < r.to+nearBuffer && (best == nil || r.from > best.from) {
			best = &list[i]
		}
	}
	return best, space
}

// short is a place in a word.
func (y *layout) short(p emu.Place) string {
	p, block := ofBlock(p)
	r, _ := y.of(p)
	if r == nil {
		return fmt.Sprintf("%#x%s", p.Addr, block)
	}
	name := r.name[strings.LastIndexByte(r.name, ':')+1:] // without its function
	if r.from == p.Addr {
		return name + block
	}
	return fmt.Sprintf("%s+%d%s", name, p.Addr-r.from, block)
}

// ofBlock is a place in another block's shared memory as that block has it, with the block's name.
func ofBlock(p emu.Place) (own emu.Place, block string) {
	if n := p.Addr >> 32; p.Space == ir.Shared && n > 0 {
		return emu.Place{Space: ir.Shared, Addr: p.Addr & (1<<32 - 1)}, fmt.Sprintf(" of block %d", n-1)
	}
	return p, ""
}

// name is a place in terms of variables and buffers.
func (y *layout) name(p emu.Place) string {
	p, block := ofBlock(p)
	r, space := y.of(p)
	if r != nil {
		out := fmt.Sprintf("%s memory%s, %s + %d bytes", space, block, r.name, p.Addr-r.from)
		if p.Addr >= r.to && r.to > r.from {
			out += fmt.Sprintf(", which has %d", r.to-r.from)
		}
		return out
	}
	return fmt.Sprintf("%s memory%s at %#x", space, block, p.Addr)
}

// check looks for accesses outside of what there is.
func (y *layout) check(m *monitor, w *emu.Warp, pc int32, a *ir.Access, act uint32, at *[emu.Lanes]emu.Place) error {
	n := uint64(a.Bytes * a.Elems)
	lanes(act, func(l int) {
		if a.Kind != ir.Load && slices.ContainsFunc(y.constant, func(r region) bool { return at[l].Addr >= r.from && at[l].Addr < r.to }) {
			m.at(OutOfBounds, pc, m.id(w, l), at[l], "constant memory is written")
		}
		if p := at[l]; !y.inside(p, n) {
			rule := OutOfBounds
			if p.Space != ir.Shared && !y.near(p) {
				rule = wild
			}
			why := fmt.Sprintf("%d bytes at %#x", n, p.Addr)
			if rule == wild && p.Addr < nullPage {
				why += ": a null pointer"
			}
			m.suspect(rule, pc, m.id(w, l), p, why)
		}
	})
	return nil
}

func (y *layout) inside(p emu.Place, n uint64) bool {
	if p.Space == ir.Shared {
		return y.sharedEnd == 0 || p.Addr >= sharedStep || p.Addr+n <= y.sharedEnd
	}
	in := func(r region) bool { return p.Addr >= r.from && p.Addr+n <= r.to }
	for _, r := range y.buffers {
		if p.Addr+nearBuffer >= r.from && p.Addr < r.to+nearBuffer {
			return in(r)
		}
	}
	if v := y.globalVars; v.to > 0 && p.Addr+256 >= v.from && p.Addr < v.to+256 {
		return slices.ContainsFunc(y.global, in)
	}
	return p.Addr>>32 > 0 && p.Addr>>48 == 0
}

// near reports whether an address is at one of the buffers and variables, be it outside.
func (y *layout) near(p emu.Place) bool { return p.Addr>>32 > 0 && p.Addr>>48 == 0 }
