package optcheck

import (
	"strings"

	"optcheck/isa"
)

// amdHarmless is AMD's counterpart of nvHarmless. Sources: AMD's ISA documents, program control and scalar memory
// instructions.
var amdHarmless = map[string]string{
	"s_nop": "does nothing", "v_nop": "does nothing", "ds_nop": "does nothing", "s_code_end": "pads",
	"s_clause": "groups instructions for the scheduler", "s_delay_alu": "spaces instructions",
	"s_waitcnt_depctr": "waits for the thread's own registers", "s_wait_alu": "waits for the thread's own registers",
	"s_sleep": "waits, and orders nothing", "s_sleep_var": "waits, and orders nothing", "s_wait_event": "waits for the thread's own exports",
	"s_setprio": "sets the wave's priority", "s_setprio_inc_wg": "sets the wave's priority", "s_inst_prefetch": "prefetches instructions",
	"s_set_inst_prefetch_distance": "prefetches instructions", "s_singleuse_vdst": "is a hint for registers",
	"s_incperflevel": "counts an event for the profiler", "s_decperflevel": "counts an event for the profiler",
	"s_ttracedata": "writes to a trace", "s_ttracedata_imm": "writes to a trace", "s_version": "names a version",
	"s_cbranch_cdbgsys_hint": "is a hint", "s_set_vgpr_msb": "selects registers", "v_clrexcp": "clears floating-point exceptions",
	"s_round_mode": "concerns floating-point numbers", "s_denorm_mode": "concerns floating-point numbers", "s_prefetch_inst": "prefetches",
	"s_prefetch_inst_pc_rel": "prefetches", "s_prefetch_data": "prefetches", "s_prefetch_data_pc_rel": "prefetches",
	"s_buffer_prefetch_data": "prefetches", "flat_prefetch_b8": "prefetches", "global_prefetch_b8": "prefetches",
	"global_prefetch": "prefetches", "s_icache_inv": "drops cached instructions",
}

// effect leaves out waits, which are compared elsewhere, and the invalidations and write-backs that fences consist
// of.
func (*amd) effect(in *isa.Inst) bool {
	switch {
	case in.Role == isa.RoleWait:
		return false
	case in.Role == isa.RoleCache && (in.Mem.Invalidate || in.Mem.WriteBack):
		return strings.Contains(in.Op, "discard")
	case in.Role == isa.RoleALU:
		return in.Op == "exp" || in.Op == "export"
	}
	return hasEffect(in, amdHarmless) && !strings.Contains(in.Text, "MSG_DEALLOC_VGPRS")
}
