package amdisa

import (
	"slices"
	"strings"

	"optcheck/isa"
)

// vector decodes a vector ALU instruction.
func (d *decoder) vector(in *inst, name string) {
	name = strings.TrimPrefix(name, "dual_")
	root, s, ok := vectorShape(name)
	if !ok {
		d.unknown(in, "unknown opcode")
		return
	}
	in.cop = root
	in.Role = isa.RoleALU
	if s&unguarded == 0 {
		in.Guard.Reg = isa.RegExec
	}
	if s&indexed != 0 {
		d.unknown(in, "registers are addressed by M0")
		return
	}
	switch root {
	case "add", "sub", "subrev":
		// gfx6 to gfx8: v_add_i32 v0, vcc, v0, v1
		if len(d.args) == 4 {
			s |= writes2nd
		}
	case "interp_p1", "interp_p2", "interp_mov", "interp_p1ll", "interp_p1lv", "interp_p2_legacy":
		s |= readsM0
		if root == "interp_p2" {
			s |= readsDst
		}
	}
	if s&compares != 0 {
		d.compare(in, name, s)
		return
	}
	if s&writesDst != 0 && (len(d.args) == 0 || d.args[0].Kind != isa.OpdReg) {
		d.unknown(in, "no register to write")
		return
	}
	d.vectorRegs(in, s)
	d.vectorMicro(in, name, root, s)
}

// vectorRegs sets definitions and uses according to the shape.
func (d *decoder) vectorRegs(in *inst, s shape) {
	from := 0
	if s&writesDst != 0 {
		d.def(&d.args[0])
		from = 1
		if s&(readsDst|swaps) != 0 || partial(in, d, &d.args[0]) {
			d.use(&d.args[0])
		}
	}
	if s&writes2nd != 0 && len(d.args) > 1 {
		d.def(&d.args[1])
		from = 2
	}
	if s&swaps != 0 && len(d.args) > 1 {
		d.def(&d.args[1])
	}
	for i := from; i < len(d.args); i++ {
		d.use(&d.args[i])
	}
	if s&readsVCC != 0 && !d.printsMask(in, s) {
		d.addUse(isa.RegVCC)
		if d.t.wave != 32 {
			d.addUse(isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecVCCHi})
		}
	}
	if s&readsM0 != 0 {
		d.addUse(isa.RegM0)
	}
	if in.cop == "readlane" || in.cop == "readfirstlane" {
		d.addUse(isa.RegExec)
	}
}

// printsMask reports whether the mask that an instruction reads is printed as its
// last operand.
func (d *decoder) printsMask(in *inst, s shape) bool {
	n := len(d.args)
	switch {
	case in.cop == "div_fmas":
		return false
	case s&writes2nd != 0:
		return n == 5
	}
	return n == 4
}

// partial reports whether part of the destination's old content remains: halves, SDWA with
// preserved bits, DPP lanes without a source.
func partial(in *inst, d *decoder, o *isa.Operand) bool {
	if o.Part == "l" || o.Part == "h" {
		return true
	}
	if strings.HasPrefix(in.enc, "sdwa") {
		return !d.hasMod("dst_sel:DWORD")
	}
	if strings.Contains(in.enc, "dpp") {
		return true
	}
	for _, m := range d.mods {
		if strings.HasPrefix(m, "op_sel:") && strings.Count(m, "1") > 0 && strings.HasSuffix(m, "1]") && typeBits(in.base) == 16 {
			return true
		}
		if strings.HasPrefix(m, "dst_sel:") || strings.HasPrefix(m, "row_") || strings.HasPrefix(m, "quad_perm:") ||
			strings.HasPrefix(m, "dpp8:") || strings.HasPrefix(m, "wave_") {
			return true
		}
	}
	return false
}

// odd reports whether modifiers make a vector instruction more than its plain operation on
// words or halves of words.
func (d *decoder) odd(in *inst) bool {
	if strings.Contains(in.enc, "dpp") || strings.Contains(in.enc, "sdwa") {
		return true
	}
	for _, m := range d.mods {
		if strings.HasPrefix(m, "bitop3:") || strings.HasPrefix(m, "offset") {
			continue
		}
		return true
	}
	for i := range d.args {
		o := &d.args[i]
		if o.Abs || o.Part == "sext" || o.Neg {
			return true
		}
	}
	return false
}

// halves reports whether an operand is half of a register.
func (d *decoder) halves() bool {
	return slices.ContainsFunc(d.args, func(o isa.Operand) bool { return o.Part == "l" || o.Part == "h" })
}

// compare decodes v_cmp and v_cmpx, which write a lane mask or EXEC. The mask is printed first,
// or omitted (gfx10 v_cmpx).
func (d *decoder) compare(in *inst, name string, s shape) {
	from := 0
	if len(d.args) == 3 {
		if d.args[0].Kind != isa.OpdReg {
			d.unknown(in, "no register to write")
			return
		}
		d.def(&d.args[0])
		from = 1
	} else if len(d.args) != 2 || s&writesExec == 0 {
		d.unknown(in, "number of operands")
		return
	}
	if s&writesExec != 0 {
		d.addDef(isa.RegExec)
		if d.t.wave != 32 {
			d.addDef(isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecExecHi})
		}
	}
	for i := from; i < len(d.args); i++ {
		d.use(&d.args[i])
	}
	d.addUse(isa.RegExec)
	d.compareMicro(in, name, from)
}

// scalar decodes everything that begins with s_.
func (d *decoder) scalar(in *inst, name string) {
	if d.scalarMemory(in, name) || d.branch(in, name) || d.wait(in, name) || d.scalarSpecial(in, name) {
		return
	}
	s, ok := scalarOps[name]
	if !ok {
		d.unknown(in, "unknown opcode")
		return
	}
	if s&indexed != 0 {
		d.unknown(in, "registers are addressed by M0")
		return
	}
	in.Role = isa.RoleALU
	from := 0
	if s&writesDst != 0 {
		if len(d.args) == 0 || d.args[0].Kind != isa.OpdReg {
			d.unknown(in, "no register to write")
			return
		}
		d.def(&d.args[0])
		if s&readsDst != 0 {
			d.use(&d.args[0])
		}
		from = 1
	}
	for i := from; i < len(d.args); i++ {
		d.use(&d.args[i])
	}
	wide := strings.HasSuffix(name, "64")
	if s&readsExec != 0 {
		d.execWords(wide, d.addUse)
	}
	if s&writesExec != 0 {
		d.execWords(wide, d.addDef)
	}
	if s&writesSCC != 0 {
		d.addDef(isa.RegSCC)
	}
	if s&readsSCC != 0 {
		d.addUse(isa.RegSCC)
	}
	d.scalarMicro(in, name)
}

func (d *decoder) execWords(wide bool, f func(isa.Reg)) {
	f(isa.RegExec)
	if wide {
		f(isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecExecHi})
	}
}

// scalarSpecial decodes scalar instructions that are neither arithmetic nor branches: barriers,
// hardware registers, messages.
func (d *decoder) scalarSpecial(in *inst, name string) bool {
	mode := isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecMode}
	def := func() {
		if len(d.args) > 0 {
			d.def(&d.args[0])
		}
	}
	switch name {
	case "barrier", "barrier_wait", "barrier_signal", "cluster_barrier":
		in.Role, in.Mem.Scope = isa.RoleBarrier, isa.ScopeCTA
		if len(d.args) > 0 && d.args[0].Kind == isa.OpdImm {
			d.args[0].Imm = int64(int16(d.args[0].Imm)) // s_barrier_wait 0xffff is -1
		}
		if name == "cluster_barrier" || len(d.args) > 0 && d.args[0].Kind == isa.OpdImm && d.args[0].Imm == -3 {
			in.Mem.Scope = isa.ScopeCluster
		}
	case "barrier_signal_isfirst", "barrier_leave":
		in.Role, in.Mem.Scope = isa.RoleBarrier, isa.ScopeCTA
		d.addDef(isa.RegSCC)
	case "barrier_signal_var", "barrier_join", "barrier_init", "wakeup_barrier":
		in.Role, in.Mem.Scope = isa.RoleBarrier, isa.ScopeCTA
		d.addUse(isa.RegM0)
	case "get_barrier_state", "get_named_barrier_state":
		in.Role = isa.RoleConst
		in.Counts = counts(d.scalarCounter())
		def()
	case "getreg_b32":
		in.Role = isa.RoleConst
		def()
		d.addUse(mode)
	case "setreg_b32", "setreg_imm32_b32", "setreg":
		in.Role = isa.RoleALU
		d.addDef(mode)
		for i := range d.args {
			d.use(&d.args[i])
		}
		if len(d.args) > 0 && strings.Contains(d.args[0].Text, "FLAT_SCR") {
			d.addDef(isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecFlatScratchLo})
			d.addDef(isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecFlatScratchHi})
		}
	case "sendmsg", "sendmsghalt":
		in.Role = isa.RoleNop
		in.Counts = counts(d.scalarCounter())
		d.addUse(isa.RegM0)
	case "sendmsg_rtn_b32", "sendmsg_rtn_b64":
		in.Role = isa.RoleConst
		in.Counts = counts(d.scalarCounter())
		def()
	case "getpc_b64", "get_pc_i64":
		in.Role = isa.RoleConst
		def()
	case "get_shader_cycles_u64":
		in.Role = isa.RoleConst
		def()
	case "set_vgpr_msb":
		// With it, numbers of vector registers are printed in full (gfx1250).
		in.Role = isa.RoleNop
	default:
		return false
	}
	return true
}

// branch decodes instructions that change the control flow.
func (d *decoder) branch(in *inst, name string) bool {
	label := func() {
		if n := len(d.args); n > 0 {
			d.args[n-1].Kind = isa.OpdLabel
		}
	}
	in.Role = isa.RoleBranch
	switch name {
	case "branch":
		in.Flow = isa.FlowJump
		label()
	case "cbranch_scc0", "cbranch_scc1":
		in.Flow = isa.FlowJump
		in.Guard = isa.Guard{Reg: isa.RegSCC, Neg: name[len(name)-1] == '0'}
		label()
	case "cbranch_vccz", "cbranch_vccnz":
		in.Flow = isa.FlowJump
		in.Guard = isa.Guard{Reg: isa.RegVCC, Neg: name == "cbranch_vccz"}
		label()
	case "cbranch_execz", "cbranch_execnz":
		in.Flow = isa.FlowJump
		in.Guard = isa.Guard{Reg: isa.RegExec, Neg: name == "cbranch_execz"}
		label()
	case "endpgm", "endpgm_saved", "endpgm_ordered_ps_done":
		in.Flow = isa.FlowExit
	case "setpc_b64", "set_pc_i64":
		in.Flow = isa.FlowIndirect
		// The return address is s[30:31] in LLVM's calling convention.
		if o := d.arg(0); o.Reg == (isa.Reg{Class: isa.ClassUGPR, Num: 30}) {
			in.Flow = isa.FlowReturn
		}
		for i := range d.args {
			d.use(&d.args[i])
		}
	case "swappc_b64", "swap_pc_i64", "call_b64", "call_i64":
		in.Flow = isa.FlowCall
		if len(d.args) != 2 {
			d.unknown(in, "number of operands")
			return true
		}
		d.def(&d.args[0])
		d.use(&d.args[1])
		if strings.HasPrefix(name, "call") {
			label()
		}
	case "rfe_b64", "rfe_i64", "rfe_restore_b64":
		in.Flow = isa.FlowIndirect
		for i := range d.args {
			d.use(&d.args[i])
		}
	case "trap":
		in.Flow = isa.FlowTrap
	case "cbranch_cdbgsys", "cbranch_cdbguser", "cbranch_cdbgsys_or_user", "cbranch_cdbgsys_and_user":
		in.Flow = isa.FlowJump
		in.Guard = isa.Guard{Reg: isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecMode}}
		label()
	default:
		in.Role, in.Flow, in.Guard = isa.RoleUnknown, isa.FlowNext, isa.Guard{}
		return false
	}
	return true
}
