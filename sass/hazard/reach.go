package hazard

import (
	"slices"

	"optcheck/isa"
)

// reaches returns the first store, access or branch to which a wrong value of findings comes, as what is stored, an address,
// a condition or a guard; -1 if it comes to none. The value is followed through registers, not through memory.
func reaches(fn *isa.Func, effects []Finding) int {
	first := -1
	for _, f := range effects {
		if at := reach(fn, f); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

func reach(fn *isa.Func, f Finding) int {
	wrong := make([]map[isa.Reg]bool, len(fn.Blocks)) // at the start of each block
	found := -1
	tell := func(i int) {
		if found < 0 || i < found {
			found = i
		}
	}
	// from goes on with wrong registers at an instruction, to the end of its block.
	var todo []int
	from := func(b, i int, set map[isa.Reg]bool) {
		for ; i < fn.Blocks[b].End; i++ {
			in := &fn.Insts[i]
			tainted := slices.ContainsFunc(in.Uses, func(r isa.Reg) bool { return set[r] })
			if i == f.To && f.Kind == RAW {
				tainted = true
			}
			if tainted && observes(in, set, i == f.To && f.Kind == RAW, f.Reg) {
				tell(i)
			}
			for _, d := range in.Defs {
				if tainted || i == f.To && f.Kind == WAW && d == f.Reg {
					set[d] = true
				} else if in.Guard == (isa.Guard{}) {
					delete(set, d)
				}
			}
		}
		for _, s := range fn.Blocks[b].Succs {
			changed := wrong[s] == nil
			if changed {
				wrong[s] = map[isa.Reg]bool{}
			}
			for r := range set {
				changed = changed || !wrong[s][r]
				wrong[s][r] = true
			}
			if changed && len(set) > 0 {
				todo = append(todo, s)
			}
		}
	}
	if f.Kind == WAR { // what reads the register too late gets the new content
		if observes(&fn.Insts[f.From], nil, true, f.Reg) {
			return f.From
		}
	}
	set, start := map[isa.Reg]bool{}, f.To
	if f.Kind == WAR {
		start = f.From
	}
	b := slices.IndexFunc(fn.Blocks, func(b isa.Block) bool { return b.First <= start && start < b.End })
	if b < 0 {
		return -1
	}
	if f.Kind == WAR {
		for _, d := range fn.Insts[f.From].Defs {
			set[d] = true
		}
		start++
	}
	from(b, start, set)
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		set := map[isa.Reg]bool{}
		for r := range wrong[b] {
			set[r] = true
		}
		from(b, fn.Blocks[b].First, set)
	}
	return found
}

// observes tells whether a wrong register matters at an instruction itself: it acts on memory or decides where to go.
func observes(in *isa.Inst, set map[isa.Reg]bool, itself bool, r isa.Reg) bool {
	switch {
	case in.Role == isa.RoleBranch, in.Role == isa.RoleBarrier, in.Role == isa.RoleFence:
		return true
	case !in.Role.IsAccess() && in.Role != isa.RoleCache:
		return false
	case in.Role != isa.RoleLoad:
		return true
	}
	wrong := func(x isa.Reg) bool { return set[x] || itself && x == r }
	return slices.ContainsFunc(in.Addrs, wrong) || wrong(in.Guard.Reg)
}
