package hazard

import (
	"slices"

	"optcheck/isa"
)

// effect is what an instruction does to registers, with a hash of each set to compare sets quickly.
type effect struct {
	defs, uses       []isa.Reg
	defBits, useBits uint64
	class            string
	unit             string
	most             int // see table
	// variable and reads tell that its results, and reading its operands, take a time that only a scoreboard tells.
	variable, reads bool
	inOrder, queue  string // see table
	traits          trait
	drains          drain // see table
	skip            bool  // not understood
}

// has reports whether the table says so of its class.
func (e *effect) has(t trait) bool { return e.traits&t != 0 }

// later reports whether an instruction may read operands after another has issued that writes them.
func (e *effect) later(by *effect) bool {
	return (e.reads || e.has(lags)) && e.unit != by.unit && (e.queue == "" || e.queue != by.queue)
}

// readsLate reports whether an instruction may read a register after its issue.
func (e *effect) readsLate(r isa.Reg) bool {
	switch {
	case e.has(lags):
		return r.Class == isa.ClassUGPR
	case r.Class == isa.ClassGPR:
		return true
	}
	return r.Class != isa.ClassSpecial && e.has(late)
}

func hash(list []isa.Reg) (set uint64) {
	for _, r := range list {
		set |= 1 << ((uint(r.Num) + 11*uint(r.Class)) & 63)
	}
	return set
}

// effectOf returns the effect of an instruction: its operands, and the barrier registers of divergence.
func (t *table) effectOf(in *isa.Inst) effect {
	e := effect{defs: in.Defs, uses: in.Uses, class: t.class(in), unit: t.unit(in)}
	if in.Role == isa.RoleUnknown {
		return effect{skip: true}
	}
	if in.Flow == isa.FlowPush && in.Pair == isa.PairBarrier || in.Op == "BREAK" {
		for _, r := range in.Uses {
			if r.Class == isa.ClassBarrier {
				e.defs = append(slices.Clip(e.defs), r)
			}
		}
	}
	e.traits = t.traits[e.class] | t.traits[e.unit]
	e.states(in)
	e.defBits, e.useBits = hash(e.defs), hash(e.uses)
	e.variable = e.has(variable) || in.Control.Write < scoreboards
	e.reads = e.variable && !e.has(prompt) || in.Control.Read < scoreboards
	e.inOrder, e.queue, e.most = t.inOrder[e.class], t.queue[e.class], t.most[e.class]
	if !slices.Contains(in.Mods, "ARV") && in.Guard == (isa.Guard{}) {
		e.drains = t.drains[e.class]
	}
	return e
}

// States that instructions set and need as if they were registers.
var (
	arrived = isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecArrived}
	group   = isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecGroup}
	fenced  = isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecFenced}
)

// states adds what an instruction does to them. An H200 gave wrong values with fewer cycles from WARPGROUP.ARRIVE to a product than compilers leave,
// and so it did from the end of a group to the wait for it, and without the wait for a fence (docs/results/h200/hazards-groups.txt).
func (e *effect) states(in *isa.Inst) {
	def := func(r isa.Reg) { e.defs = append(slices.Clip(e.defs), r) }
	use := func(r isa.Reg) { e.uses = append(slices.Clip(e.uses), r) }
	switch {
	case in.Op == "WARPGROUP" && slices.Contains(in.Mods, "ARRIVE"):
		def(arrived)
	case waitsForGroups(in):
		use(group)
	case e.has(grouped):
		use(arrived)
		use(fenced)
		if commits(in) {
			def(group)
		}
	case in.Op == "FENCE" && slices.Contains(in.Mods, "ASYNC"):
		def(fenced)
	case in.Op == "BAR", in.Role == isa.RoleCopy && in.Op[0] == 'U':
		use(fenced)
	}
}

// effects are those of all instructions of a function.
func (t *table) effects(fn *isa.Func) []effect {
	list := make([]effect, len(fn.Insts))
	for i := range fn.Insts {
		list[i] = t.effectOf(&fn.Insts[i])
	}
	return list
}
