package optcheck

import (
	"slices"
	"strconv"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// isLocation reports whether an event's address is that of the entry's location.
func (p *pass) isLocation(x *event, e spec.Entry) bool {
	loc, ok := p.locationOf(x)
	return ok && loc == e.Loc
}

// locationOf returns the location at an address. Of several at one, of which one is the beginning of the others, it
// is one of the access's width.
func (p *pass) locationOf(x *event) (int, bool) {
	loc, ok := p.placed(x)
	if !ok || p.s.Layout == spec.Pointers {
		return loc, ok
	}
	for _, e := range p.s.Entries {
		if !e.IsFence() && e.Kind.Width == x.mem.Width && p.s.SamePlace(e.Loc, loc) {
			return e.Loc, true
		}
	}
	return loc, true
}

// placed returns a location at an address, by the layout's rules.
func (p *pass) placed(x *event) (int, bool) {
	k := x.addr
	if k.base == baseBank {
		if name, ok := p.consts[k.num]; ok {
			k.base, k.name = baseSym, name
		}
	}
	switch p.s.Layout {
	case spec.Pointers:
		if size := p.tr.arch.pointer(); k.base == baseParam && k.num%size == 0 && k.off == 0 {
			return int(k.num / size), true
		}
	case spec.Offsets:
		if size := p.tr.arch.pointer(); k.base == baseParam && (k.num == 0 || k.num == size) &&
			(k.num == size) == (x.mem.Space == isa.SpaceShared) {
			return p.s.LocationAt(k.off)
		}
	case spec.Adjacent:
		return p.adjacentLocation(x, k)
	case spec.Symbols:
		if k.base == baseSym {
			loc, ok := symbolLocation(k.name)
			if !ok {
				return loc, ok
			}
			return p.s.LocationIn(loc, k.off)
		}
		if k.base == baseNone && x.mem.Space == isa.SpaceShared {
			return p.sharedLocation(k.off)
		}
		if k.base == baseBank {
			loc, ok := p.bankLocation(k.num)
			if !ok {
				return loc, ok
			}
			return p.s.LocationIn(loc, k.off)
		}
	}
	return -1, false
}

// adjacentLocation returns the location at an offset of its space's variable. The variable is identified by name, by
// the shared window, or by the only slot of constant bank 4 that can exist.
func (p *pass) adjacentLocation(x *event, k key) (int, bool) {
	shared := x.mem.Space == isa.SpaceShared
	switch {
	case k.base == baseSym && (strings.HasSuffix(k.name, "_LS") && shared || strings.HasSuffix(k.name, "_LG") && !shared):
	case k.base == baseNone && shared:
		k.off -= p.tr.arch.shared()
	case k.base == baseBank && !shared:
	default:
		return -1, false
	}
	return p.s.LocationAt(k.off)
}

// symbolLocation reads the location's index from a symbol emitted by ptxgen.
func symbolLocation(name string) (int, bool) {
	i := strings.LastIndex(name, "_L")
	if i < 0 {
		return -1, false
	}
	n, err := strconv.Atoi(name[i+2:])
	return n, err == nil
}

// sharedLocation maps an offset in the shared window to a location: the kernel's variables lie there in order of
// declaration.
func (p *pass) sharedLocation(off int64) (int, bool) {
	off -= p.tr.arch.shared()
	i := off / spec.SharedStride
	if off < 0 || i >= int64(len(p.shared)) {
		return -1, false
	}
	return p.s.LocationIn(p.shared[i], off%spec.SharedStride)
}

// bankLocation names a symbol known only by its slot in constant bank 4. Slots follow the order of the locations that
// the thread uses.
func (p *pass) bankLocation(slot int64) (int, bool) {
	var slots []int64
	for i := range p.tr.events {
		x := &p.tr.events[i]
		if x.role.IsAccess() && x.addr.base == baseBank {
			slots = appendUnique(slots, x.addr.num)
		}
	}
	var locs []int64
	for _, e := range p.s.Entries {
		if !e.IsFence() && e.Kind.Space != litmus.Shared {
			locs = appendUnique(locs, int64(p.s.Whole(e.Loc)))
		}
	}
	if len(slots) != len(locs) {
		return -1, false
	}
	for i, s := range slots {
		if s == slot {
			return int(locs[i]), true
		}
	}
	return -1, false
}

// appendUnique inserts x into a sorted set.
func appendUnique(s []int64, x int64) []int64 {
	i, found := slices.BinarySearch(s, x)
	if found {
		return s
	}
	return slices.Insert(s, i, x)
}
