package optcheck

import (
	"strings"

	"optcheck/isa"
)

// Accesses lists the memory accesses and fences of a kernel in flow order. Each entry is a mnemonic and an address
// without registers. Stores through the parameter at offset out are left out: they only keep results alive. Two
// kernels with equal lists do the same to memory in the same order.
func (c *Checker) Accesses(fn *isa.Func, out int64) ([]string, error) {
	tr, err := c.trace(fn, walkOptions{})
	if err != nil {
		return nil, err
	}
	var list []string
	for i := range tr.events {
		x := &tr.events[i]
		if x.addr.base == baseParam && x.addr.num == out && x.role == isa.RoleStore {
			continue
		}
		in := &fn.Insts[x.inst]
		s := in.Op
		for i, m := range in.Mods {
			if m == "S" && i == len(in.Mods)-1 {
				break // Kepler's reconvergence flag, not a property of the access
			}
			s += "." + m
		}
		if x.cond {
			s = "@ " + s
		}
		if x.role.IsAccess() {
			k := x.addr
			if name, ok := c.Consts[k.num]; ok && k.base == baseBank {
				k.name, k.base = name, baseSym
			}
			k.name = k.name[strings.LastIndexByte(k.name, '_')+1:] // of a symbol; others have none
			s += " " + k.String()
		}
		list = append(list, s)
	}
	return list, nil
}
