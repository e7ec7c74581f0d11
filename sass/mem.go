package sass

import "optcheck/isa"

const (
	cacheOps = "CA CG CS CV WT WB LU EF EL CI NA P T"
	// Modifiers of atomics that do not concern the type of numbers.
	atomMods = "E U 32 64 128 U32 U64 B32 B64 SPIN EF EL LU NA P"
	atomOps  = "ADD MIN MAX INC DEC AND OR XOR EXCH CAS CAST SAFEADD ARRIVE POPC PHASECHK"
)

// memory sets in.Mem from the modifiers.
func memory(in *isa.Inst, sm int) {
	m := &in.Mem
	for _, x := range in.Mods {
		switch {
		case x == "STRONG":
			m.Strength = isa.Strong
		case x == "MMIO":
			m.Strength = isa.MMIO
		case x == "CONSTANT":
			m.Strength = isa.Constant
		case x == "CTA" || x == "SM":
			m.Scope = isa.ScopeCTA
		case x == "CLUSTER":
			m.Scope = isa.ScopeCluster
		case x == "GPU" || x == "GL":
			m.Scope = isa.ScopeGPU
		case x == "SYS":
			m.Scope = isa.ScopeSys
		case x == "IVALL" || x == "IVALLD":
			m.Invalidate = true
		case m.Cache == "" && in.Role.IsAccess() && modSet(cacheOps, x):
			m.Cache = x
		case m.Atom == "" && (in.Role == isa.RoleAtomic || in.Role == isa.RoleReduction) && modSet(atomOps, x):
			m.Atom = x
		case in.Role == isa.RoleAtomic || in.Role == isa.RoleReduction:
			m.Type = max(m.Type, atomType(x))
		}
	}
	if in.Role.IsAccess() {
		m.Width = accessWidth(in)
		// LDG.E.SYS of sm_70 and sm_75 is the plain, weak load.
		if m.Strength != isa.Strong && m.Strength != isa.MMIO {
			m.Scope = isa.ScopeNone
		}
	}
	switch in.Op {
	case "MEMBAR":
		m.Strength = isa.FenceSC
		// Since sm_70 the kind is printed; for sm_90, CUDA 11.8 omits ALL.
		if sm >= 70 && !hasMod(in, "SC") {
			m.Strength = isa.FenceAll
		}
	case "LDSLK", "STSCUL", "STSUL":
		m.Locked = true
	case "CCTL":
		if hasMod(in, "IVALL") {
			m.Space = isa.SpaceNone
		}
	}
}

// atomType returns the type that a modifier of an atomic stands for.
func atomType(mod string) isa.AtomType {
	switch {
	case mod == "S32" || mod == "S64":
		return isa.AtomSigned
	case modSet(atomMods, mod):
		return isa.AtomInteger
	}
	return isa.AtomOther
}

// accessWidth returns the number of bytes that one thread moves.
func accessWidth(in *isa.Inst) int {
	w := 4
	for _, x := range in.Mods {
		switch x {
		case "U8", "S8", "B8":
			w = 1
		case "U16", "S16", "B16", "F16":
			w = 2
		case "64", "U64", "S64", "F64", "TRANS64", "F16x4", "BF16x4", "F32x2":
			w = 8
		case "128", "F16x8", "BF16x8", "F32x4":
			w = 16
		case "256":
			w = 32
		}
	}
	if in.Op == "LDSM" || in.Op == "STSM" {
		w = 4
		for _, x := range in.Mods {
			switch x {
			case "2":
				w = 8
			case "4":
				w = 16
			}
		}
	}
	return w
}

// memWidths sets the words of data and address operands.
func memWidths(in *isa.Inst, sm int) {
	words := max(1, in.Mem.Width/4)
	global := hasMod(in, "E") // 64-bit address
	for i := range in.Args {
		o := &in.Args[i]
		switch o.Kind {
		case isa.OpdReg:
			o.Words = words
			if in.Op == "SYNCS" && i > 0 && !hasMod(in, "EXCH") {
				o.Words = 1 // a count or a phase
			}
		case isa.OpdMem:
			o.Words = 1
			wide := global && !(in.Op == "LDGSTS" && i == 0)
			if o.Reg.Class == isa.ClassGPR && (o.Part == "64" || o.Part == "" && wide) {
				o.Words = 2 // of STAS: an address, and that of a barrier object
			}
		}
	}
}

// base2Words returns the number of registers of the uniform part of an address.
func base2Words(in *isa.Inst, o *isa.Operand) int {
	if byGroup(in) {
		return 4 // two descriptors of matrices
	}
	if in.Op == "UBLKCP" || in.Op == "UBLKRED" {
		// The destination names two addresses: of the data and of the barrier, or
		// a global one. The source is a global address unless it is .G.S.
		if o == &in.Args[0] || hasMod(in, "S") && len(in.Mods) > 0 && in.Mods[0] == "S" {
			return 2
		}
		return 1
	}
	if hasMod(in, "E") && !(in.Op == "LDGSTS" && o == &in.Args[0]) {
		return 2
	}
	return 1
}
