package amdisa

import (
	"strings"

	"optcheck/isa"
)

// waitNames maps the names in s_waitcnt to counters.
var waitNames = map[string]isa.Counter{
	"vmcnt": isa.CountVM, "vscnt": isa.CountVS, "lgkmcnt": isa.CountLGKM, "expcnt": isa.CountExp, "loadcnt": isa.CountLoad,
	"storecnt": isa.CountStore, "dscnt": isa.CountDS, "kmcnt": isa.CountKM, "samplecnt": isa.CountSample, "bvhcnt": isa.CountBVH,
	"xcnt": isa.CountX, "asynccnt": isa.CountAsync, "tensorcnt": isa.CountTensor,
}

// maxCount returns the value at which a field of s_waitcnt never waits.
func (t target) maxCount(c isa.Counter) int {
	switch c {
	case isa.CountVM:
		if t.gen >= 9 || t.gen == 0 {
			return 63
		}
		return 15
	case isa.CountLGKM:
		if t.gen >= 10 {
			return 63
		}
		return 15
	case isa.CountExp:
		return 7
	}
	return 63
}

// wait decodes waits for counters.
func (d *decoder) wait(in *inst, name string) bool {
	in.Role = isa.RoleWait
	switch {
	case name == "waitcnt":
		if len(d.args) == 0 || !d.waitcnt(in, d.args[0].Sym) {
			d.unknown(in, "operand not understood")
		}
		return true
	case name == "wait_idle":
		for _, c := range waitNames {
			if (c == isa.CountVM || c == isa.CountVS || c == isa.CountLGKM) == (d.t.gen >= 12) && c != isa.CountExp {
				continue
			}
			in.Waits = append(in.Waits, isa.Wait{Counter: c})
		}
		sortWaits(in.Waits)
		return true
	case strings.HasPrefix(name, "waitcnt_"): // s_waitcnt_vscnt null, 0x0
		c, ok := waitNames[name[len("waitcnt_"):]]
		if !ok || len(d.args) != 2 || d.args[1].Kind != isa.OpdImm || !d.args[0].Zero {
			break // a register may hold the number
		}
		return d.addWait(in, c, d.args[1].Imm)
	case strings.HasPrefix(name, "wait_"): // s_wait_loadcnt 0x0, s_wait_loadcnt_dscnt 0x101
		if len(d.args) != 1 || d.args[0].Kind != isa.OpdImm {
			break
		}
		v := d.args[0].Imm
		a, b, two := strings.Cut(name[len("wait_"):], "_")
		ca, okA := waitNames[a]
		if !okA {
			break
		}
		if !two {
			return d.addWait(in, ca, v)
		}
		cb, okB := waitNames[b]
		if !okB {
			break
		}
		d.addWait(in, ca, v>>8&63)
		return d.addWait(in, cb, v&63)
	}
	in.Role = isa.RoleUnknown
	return false
}

func sortWaits(l []isa.Wait) {
	for i := range l {
		for j := i; j > 0 && l[j].Counter < l[j-1].Counter; j-- {
			l[j], l[j-1] = l[j-1], l[j]
		}
	}
}

func (d *decoder) addWait(in *inst, c isa.Counter, n int64) bool {
	if n >= 0 && n < int64(d.t.maxCount(c)) {
		in.Waits = append(in.Waits, isa.Wait{Counter: c, N: int(n)})
	}
	return true
}

// waitcnt reads vmcnt(0) lgkmcnt(1), joined by blanks, & or commas, or the
// immediate itself.
func (d *decoder) waitcnt(in *inst, s string) bool {
	if v, ok := integer(trim(s)); ok {
		d.waitImmediate(in, v)
		return true
	}
	for s = trim(s); s != ""; s = strings.TrimLeft(s, " \t&,") {
		i := strings.IndexByte(s, '(')
		j := strings.IndexByte(s, ')')
		if i <= 0 || j < i {
			return false
		}
		c, ok := waitNames[strings.TrimSuffix(strings.TrimSpace(s[:i]), "_sat")]
		n, okN := integer(trim(s[i+1 : j]))
		if !ok || !okN {
			return false
		}
		d.addWait(in, c, n)
		s = s[j+1:]
	}
	return true
}

// waitImmediate decodes the immediate of s_waitcnt: expcnt and lgkmcnt above vmcnt, whose upper
// bits were added at the top later; gfx11 reordered them.
func (d *decoder) waitImmediate(in *inst, v int64) {
	if d.t.gen >= 11 {
		d.addWait(in, isa.CountExp, v&7)
		d.addWait(in, isa.CountLGKM, v>>4&63)
		d.addWait(in, isa.CountVM, v>>10&63)
		return
	}
	vm, lgkm := v&15, v>>8&15
	if d.t.gen >= 9 {
		vm |= v >> 10 & 0x30
	}
	if d.t.gen >= 10 {
		lgkm = v >> 8 & 63
	}
	d.addWait(in, isa.CountVM, vm)
	d.addWait(in, isa.CountExp, v>>4&7)
	d.addWait(in, isa.CountLGKM, lgkm)
}

// Which counter an operation increments, by generation.

func (d *decoder) scalarCounter() isa.Counter {
	if d.t.gen >= 12 {
		return isa.CountKM
	}
	return isa.CountLGKM
}

func (d *decoder) ldsCounter() isa.Counter {
	if d.t.gen >= 12 {
		return isa.CountDS
	}
	return isa.CountLGKM
}

func (d *decoder) loadCounter() isa.Counter {
	if d.t.gen >= 12 {
		return isa.CountLoad
	}
	return isa.CountVM
}

func (d *decoder) storeCounter() isa.Counter {
	switch {
	case d.t.gen >= 12:
		return isa.CountStore
	case d.t.gen >= 10:
		return isa.CountVS
	}
	return isa.CountVM
}

// vectorCounts sets the counters of a vector memory access by its role.
func (d *decoder) vectorCounts(in *inst, generic bool) {
	c := d.storeCounter()
	if in.Role == isa.RoleLoad || in.Role == isa.RoleAtomic || in.Role == isa.RoleCopy {
		c = d.loadCounter()
	}
	switch {
	case generic:
		in.Counts = counts(c, d.ldsCounter())
	case d.t.gen == 6 && in.Role != isa.RoleLoad:
		in.Counts = counts(c, isa.CountExp)
	default:
		in.Counts = counts(c)
	}
}
