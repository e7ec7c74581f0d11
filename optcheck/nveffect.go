package optcheck

import "optcheck/isa"

// nvHarmless says why an instruction that computes nothing and is not matched has no effect on a test: by opcode, or
// by opcode and modifier where one opcode does several things. Sources: CUDA Binary Utilities, instruction set
// tables; PTX ISA for what the instructions implement.
var nvHarmless = map[string]string{
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
}

func (nvidia) effect(in *isa.Inst) bool {
	return hasEffect(in, nvHarmless) || in.Role == isa.RoleBranch && in.Op == "KILL"
}
