package verify

import (
	"encoding/binary"
	"fmt"

	"optcheck/ir"
	"optcheck/refine"
)

// number is a value that a part of the parameters has in an input.
type number struct {
	at    int64
	bytes int
	value uint64
}

// maxDirected bounds the inputs that are directed.
const maxDirected = 6

// directed are values of parameters that were not given with which a comparison of the kernel comes out otherwise: the number that a
// parameter is compared with, and one beside it. What depends on the equality of two numbers is seldom met by chance.
func (o *Options) directed(p *ir.Program) (out []number) {
	fixed := map[ir.Reg]uint64{}
	for _, c := range p.Consts {
		if c.Symbol == "" && c.Bytes == 0 && c.Window == ir.Generic {
			fixed[c.Reg] = c.Value
		}
	}
	from, seen := o.copies(p, fixed), map[number]bool{}
	add := func(n number, v uint64) {
		if n.value = v & (1<<(8*n.bytes-1)<<1 - 1); !seen[n] && len(out) < maxDirected {
			seen[n] = true
			out = append(out, n)
		}
	}
	for i := range p.Insts {
		for _, list := range [][]ir.Op{p.Insts[i].Pre, p.Insts[i].Post} {
			for k := range list {
				c := &list[k]
				if c.Code != ir.Cmp || c.Type.Float() {
					continue
				}
				for x, y := range [2]int{1, 0} {
					n, ok := from[c.Src[x]]
					v, constant := fixed[c.Src[y]]
					if !ok || !constant {
						continue
					}
					add(n, v)
					if n.bytes < slotBytes { // another pointer than null is chosen anyway
						add(n, v+1)
					}
				}
			}
		}
	}
	return out
}

// copies are the registers that hold nothing but a part of the parameters that was not given.
func (o *Options) copies(p *ir.Program, fixed map[ir.Reg]uint64) map[ir.Reg]number {
	from, other := map[ir.Reg]number{}, map[ir.Reg]bool{}
	set := func(r ir.Reg, n number, ok bool) bool {
		switch was, known := from[r]; {
		case r < 0 || other[r]:
			return false
		case !ok || known && was != n:
			delete(from, r)
			other[r] = true
		case known:
			return false
		default:
			from[r] = n
		}
		return true
	}
	given := map[int64]bool{}
	for i, v := range p.Params {
		if o.isGiven(p, i) {
			given[v.Offset] = true
		}
	}
	for again := true; again; {
		again = false
		for i := range p.Insts {
			in := &p.Insts[i]
			for _, list := range [][]ir.Op{in.Pre, in.Post} {
				for k := range list {
					c := &list[k]
					n, ok := from[c.Src[0]]
					copied := c.Code == ir.Mov || c.Code == ir.Ext
					if copied && !ok && !other[c.Src[0]] {
						continue // not known yet
					}
					again = set(c.Dst, n, ok && copied) || again
				}
			}
			switch a := in.Do.(type) {
			case *ir.Special:
				again = set(a.Dst, number{}, false) || again
			case *ir.Warp:
				again = set(a.Dst, number{}, false) || again
			case *ir.Access:
				if a.Kind == ir.Store {
					continue
				}
				base, known := fixed[a.Addr]
				for k, r := range append(append([]ir.Reg(nil), a.Data...), a.Dst...) {
					n := number{int64(base) + a.Offset + int64(k*a.Bytes), a.Bytes, 0}
					again = set(r, n, a.Space == ir.Param && (known || a.Addr < 0) && a.Kind == ir.Load && a.Bytes <= slotBytes && !given[n.at]) || again
				}
			}
		}
	}
	return from
}

// put makes it so in an input.
func (n number) put(in *refine.Input) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n.value)
	if n.at+int64(n.bytes) <= int64(len(in.Params)) {
		copy(in.Params[n.at:n.at+int64(n.bytes)], b[:])
	}
}

// with is what an input is directed to, for its name.
func (c *choice) with(o *Options, p *ir.Program) string {
	if c.number == nil {
		return ""
	}
	for i, v := range p.Params {
		if at := c.number.at; at >= v.Offset && at < v.Offset+v.Size {
			return fmt.Sprintf(" with %s = %#x", parameter(o.param(p, i)), c.number.value)
		}
	}
	return ""
}
