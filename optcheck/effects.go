package optcheck

import (
	"slices"
	"strings"

	"optcheck/isa"
)

// harmless says why an instruction that computes nothing, and that the match does
// not need, does nothing to a test: by opcode, and where one opcode does several
// things by opcode and modifier. What is missing is an effect that nobody asked
// for. Sources: CUDA Binary Utilities, instruction set tables; PTX ISA for what
// the instructions implement; AMD's ISA documents, program control and scalar
// memory instructions.
var harmless = map[string]string{
	"NOP":           "does nothing",
	"NANOSLEEP":     "waits, and orders nothing",
	"YIELD":         "lets another warp run",
	"WARPSYNC":      "joins the lanes of a warp, of which a test uses one",
	"DEPBAR":        "waits for the thread's own instructions",
	"LDGDEPBAR":     "waits for the thread's own copies",
	"TEXDEPBAR":     "waits for the thread's own texture loads",
	"ERRBAR":        "reports errors of earlier stores",
	"CGAERRBAR":     "reports errors of earlier stores",
	"PMTRIG":        "counts an event for the profiler",
	"WARPARRIVE":    "joins the lanes of a warp",
	"ACQSHMINIT":    "waits until the CTA's shared memory is there",
	"ENDCOLLECTIVE": "ends what WARPSYNC.COLLECTIVE began",
	"ACQBULK":       "waits for earlier grids, of which a test has none",
	"PREEXIT":       "lets later grids start, of which a test has none",
	"CCTL.PF1":      "prefetches",
	"CCTL.PF1.5":    "prefetches",
	"CCTL.PF2":      "prefetches",
	"CCTL.IV":       "drops a clean line of the L1",
	"CCTL.IVALL":    "drops the L1, and is compared as part of fences",
	"CCTL.DML2":     "says which line of the L2 may go first",
	"UBLKPF":        "prefetches",
	"UTMAPF":        "prefetches",
	"UTMACCTL.PF":   "prefetches",

	"s_nop": "does nothing", "v_nop": "does nothing", "ds_nop": "does nothing", "s_code_end": "pads",
	"s_clause": "groups instructions for the scheduler", "s_delay_alu": "spaces instructions", "s_waitcnt_depctr": "waits for the thread's own registers",
	"s_wait_alu": "waits for the thread's own registers", "s_sleep": "waits, and orders nothing", "s_sleep_var": "waits, and orders nothing",
	"s_wait_event": "waits for the thread's own exports", "s_setprio": "sets the wave's priority", "s_setprio_inc_wg": "sets the wave's priority",
	"s_inst_prefetch": "prefetches instructions", "s_set_inst_prefetch_distance": "prefetches instructions", "s_singleuse_vdst": "is a hint for registers",
	"s_incperflevel": "counts an event for the profiler", "s_decperflevel": "counts an event for the profiler",
	"s_ttracedata": "writes to a trace", "s_ttracedata_imm": "writes to a trace", "s_version": "names a version", "s_cbranch_cdbgsys_hint": "is a hint",
	"s_set_vgpr_msb": "selects registers", "v_clrexcp": "clears floating-point exceptions", "s_round_mode": "concerns floating-point numbers",
	"s_denorm_mode": "concerns floating-point numbers", "s_prefetch_inst": "prefetches", "s_prefetch_inst_pc_rel": "prefetches", "s_prefetch_data": "prefetches",
	"s_prefetch_data_pc_rel": "prefetches", "s_buffer_prefetch_data": "prefetches", "flat_prefetch_b8": "prefetches", "global_prefetch_b8": "prefetches",
	"global_prefetch": "prefetches", "s_icache_inv": "drops cached instructions",
}

// effect reports whether an instruction does something that nobody asked for:
// beyond registers, accesses, fences, barriers and calls, which are matched, and
// beyond what is known to be harmless.
func effect(in *isa.Inst, amd bool) bool {
	if in.Flow == isa.FlowTrap {
		return true
	}
	switch in.Role {
	case isa.RoleBranch:
		return in.Op == "KILL"
	case isa.RoleWait:
		return !amd && !isHarmless(in) // AMD's waits are compared
	case isa.RoleCache:
		if amd && (in.Mem.Invalidate || in.Mem.WriteBack) {
			return strings.Contains(in.Op, "discard") // the others are what fences are made of
		}
		return in.Op != "" && !isHarmless(in)
	case isa.RoleNop:
		return in.Op != "" && !isHarmless(in) && !strings.Contains(in.Text, "MSG_DEALLOC_VGPRS")
	case isa.RoleALU:
		return in.Op == "exp" || in.Op == "export"
	}
	return false
}

func isHarmless(in *isa.Inst) bool {
	return harmless[in.Op] != "" || slices.ContainsFunc(in.Mods, func(m string) bool { return harmless[in.Op+"."+m] != "" })
}
