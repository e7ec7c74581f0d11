package isa

import (
	"strconv"
	"strings"
)

// How AMD machine code appears in this package.
//
// One thread is one lane of a wave. Registers hold words as that lane sees them:
//
//   - VGPRs (v0, a0; on TeraScale T0.X … T127.W as 4n+channel, entries of the LDS
//     output queue from 512 on) are ClassGPR, accumulation registers a0… of CDNA
//     are ClassAcc.
//   - SGPRs are ClassUGPR. VCC, EXEC, SCC, M0 and the rest are ClassSpecial with
//     the numbers below; VCC and EXEC are two words.
//   - A lane mask (VCC, EXEC, or any SGPR, or pair of them in a wave of 64) is a
//     word that stands for this lane's bit: all ones if it is set, all zeros if
//     not, the same in both words of a pair. Bitwise operations on masks
//     (s_and_b64 exec, exec, vcc; s_mov_b64 vcc, -1) are therefore ordinary
//     MicroLop3 and MicroMov of words, and a word used as a predicate operand
//     (OpdPred whose Reg is an SGPR or a special register) is true if it is not
//     zero. A constant other than 0 and 2^32-1 as a mask selects lanes by number:
//     a consumer must take such a predicate as unknown.
//   - SCC is one bit: a predicate, all ones or zero when used as a word.
//
// Every vector instruction (VALU, vector memory, LDS) has EXEC as its Guard,
// Guard.Reg = RegExec: it does nothing for a lane that is masked off. At the
// entry of a kernel EXEC is true. Comparisons write a whole mask, masked-off
// lanes getting 0: they have no guard, their MicroSetp is combined with EXEC by
// AND. Scalar instructions run whatever EXEC is.
//
// TeraScale: a VLIW group is one instruction with the micro-operations of its
// slots. SETcc writes all ones or zero, as a MicroSetp to a word. Control flow by
// the mask stack becomes moves of EXEC to and from stack registers and branches
// whose guard is EXEC; see package amdisa.
//
// Branches on VCC or EXEC (s_cbranch_vccz, s_cbranch_execz) test whether any lane
// has its bit set. Their Guard is the lane's own bit (RegVCC, RegExec; Neg for
// the …z forms): exact for a mask that all lanes share and for a lane alone in
// its wave. When s_cbranch_execz is taken, this lane is masked off.
//
// Kernel arguments: a scalar load from the kernarg segment is RoleConst, and its
// Micros are MicroMov from OpdConst with Bank ConstKernarg and Off the byte
// offset in the segment. Loads from other tables that the launch provides are
// RoleConst from their own banks. On TeraScale, KC0[n].c is Bank ConstKernarg at
// 16n+4c; arguments begin there at byte ArgsTeraScale (36) after the nine words
// of the launch's geometry.
//
// Memory operations complete by counters: Inst.Counts and Inst.Waits.

// Constant banks of AMD code.
const (
	ConstKernarg  = 0 // the kernel's arguments, explicit then implicit
	ConstDispatch = 1 // the dispatch packet (sizes of grid and work-group)
	ConstQueue    = 2 // the queue descriptor
	ConstTable    = 3 // other tables that the driver passes in user SGPRs: resource descriptors
	ConstBuffer   = 4 // OpenCL 1.x of AMD's own compiler: constant buffer n is bank 4+n
	// ArgsTeraScale is the byte offset of the first argument in KC0.
	ArgsTeraScale = 36
)

// Numbers of ClassSpecial registers: those of AMD code, and states of NVIDIA's chips that no operand names.
const (
	SpecExecLo = iota
	SpecExecHi
	SpecVCCLo
	SpecVCCHi
	SpecSCC
	SpecM0
	SpecFlatScratchLo
	SpecFlatScratchHi
	SpecXnackLo
	SpecXnackHi
	SpecVCCZ
	SpecExecZ
	SpecMode // hardware registers: s_setreg, s_getreg
	SpecTBALo
	SpecTBAHi
	SpecTMALo
	SpecTMAHi
	SpecAR       // TeraScale: address register, AR.x … are four
	SpecPV       = SpecAR + 4
	SpecPS       = SpecPV + 4   // PV.x … PV.w, then PS
	SpecPred     = SpecPS + 1   // TeraScale: predicate of a clause
	SpecStack    = SpecPred + 1 // TeraScale: stack0 …, saved EXEC of the branch stack
	SpecTTMP     = SpecStack + 32
	SpecArrived  = SpecTTMP + 16   // WARPGROUP.ARRIVE: registers are ready for products by the group
	SpecGroup    = SpecArrived + 1 // a product by the group that ends a group of them
	SpecFenced   = SpecGroup + 1   // FENCE.VIEW.ASYNC: what was written is visible to the async proxy
	specialsKnow = SpecFenced + 1
)

// Registers with a meaning of their own.
var (
	RegExec = Reg{Class: ClassSpecial, Num: SpecExecLo} // the lane's bit; the low word of EXEC
	RegVCC  = Reg{Class: ClassSpecial, Num: SpecVCCLo}
	RegSCC  = Reg{Class: ClassSpecial, Num: SpecSCC}
	RegM0   = Reg{Class: ClassSpecial, Num: SpecM0}
)

var specialNames = func() []string {
	n := make([]string, specialsKnow)
	copy(n, []string{"exec_lo", "exec_hi", "vcc_lo", "vcc_hi", "scc", "m0", "flat_scratch_lo", "flat_scratch_hi", "xnack_mask_lo",
		"xnack_mask_hi",
		"vccz", "execz", "mode", "tba_lo", "tba_hi", "tma_lo", "tma_hi", "AR.x", "AR.y", "AR.z", "AR.w", "PV.x", "PV.y", "PV.z", "PV.w", "PS",
		"pred"})
	for i := 0; i < 16; i++ {
		n[SpecTTMP+i] = "ttmp" + strconv.Itoa(i)
	}
	for i := 0; i < 32; i++ {
		n[SpecStack+i] = "stack" + strconv.Itoa(i)
	}
	n[SpecArrived], n[SpecGroup], n[SpecFenced] = "ARRIVED", "GROUP", "FENCED"
	return n
}()

// Counter is a hardware counter of outstanding operations of one wave. An
// instruction increments it when issued and the hardware decrements it when the
// operation is complete: a load when its registers are written, a store when the
// memory has it.
//
// Operations of one kind complete in the order of issue, so that waiting for N
// completes all but the newest N. Not so: scalar loads (Mem.Scalar) complete in
// any order, among themselves and relative to others of their counter; FLAT
// instructions (SpaceGeneric), which increment two counters, complete out of
// order with the others; loads of different types (buffer and image, with or
// without sampler) do so from gfx10 on. Where such operations are outstanding
// only a wait for 0 helps.
type Counter uint8

// The counters.
const (
	CountNone   Counter = iota
	CountVM             // vmcnt: vector loads and returning atomics; before gfx10 also stores and other atomics
	CountVS             // vscnt: vector stores and atomics without result (gfx10, gfx11)
	CountLGKM           // lgkmcnt: LDS, GDS, scalar loads, messages (to gfx11)
	CountExp            // expcnt: exports, GDS; on gfx6 also vector stores until they have read their data
	CountLoad           // loadcnt (gfx12): vector loads and returning atomics
	CountStore          // storecnt (gfx12): vector stores and atomics without result
	CountDS             // dscnt (gfx12): LDS
	CountKM             // kmcnt (gfx12): scalar loads, messages
	CountSample         // samplecnt (gfx12)
	CountBVH            // bvhcnt (gfx12)
	CountX              // xcnt (gfx1250): address translations
	CountAsync          // asynccnt (gfx1250): copies between memory and LDS
	CountTensor         // tensorcnt (gfx1250)
	CountAck            // TeraScale: acknowledged writes (…_ACK) that WAIT_ACK waits for
	CountDepCtr         // s_waitcnt_depctr: hazards of registers, not of memory
)

var counterNames = []string{"none", "vmcnt", "vscnt", "lgkmcnt", "expcnt", "loadcnt", "storecnt", "dscnt", "kmcnt", "samplecnt", "bvhcnt",
	"xcnt",
	"asynccnt", "tensorcnt", "ackcnt"}

// String returns the counter as the assembler spells it: vmcnt, loadcnt, …
func (c Counter) String() string { return name(counterNames, int(c)) }

// Wait is one condition of a waiting instruction: execution goes on when at most
// N operations of Counter are outstanding. A wait that can never block (a field
// of s_waitcnt at its maximum) is left out of Inst.Waits.
type Wait struct {
	Counter Counter
	N       int
}

// String returns the wait as the assembler spells it: vmcnt(0).
func (w Wait) String() string { return w.Counter.String() + "(" + strconv.Itoa(w.N) + ")" }

// CacheBits are the cache-policy bits of a memory or cache instruction as AMD's
// assembler prints them. What a bit means depends on generation and instruction:
// glc (before gfx940) and sc0 (gfx940) on an atomic ask for the old value, on a
// load they are cache policy; see Mem.Scope for the bits that spell a scope.
type CacheBits uint16

// The cache-policy bits.
const (
	BitGLC CacheBits = 1 << iota
	BitSLC
	BitDLC
	BitSC0
	BitSC1
	BitNT
	BitScopeCU // gfx12: scope:SCOPE_CU, and the default when none is printed
	BitScopeSE
	BitScopeDev
	BitScopeSys
	BitNV   // nv (gfx9 "volatile" FLAT bit, gfx1250)
	BitLDS  // result goes to LDS
	BitSCC  // scc of gfx90a
	BitSWZ  // swizzled buffer: scratch
	BitLast // the first bit without a meaning
)

var cacheBitNames = []string{"glc", "slc", "dlc", "sc0", "sc1", "nt", "scope:SCOPE_CU", "scope:SCOPE_SE", "scope:SCOPE_DEV",
	"scope:SCOPE_SYS", "nv", "lds", "scc", "swz"}

// Has reports whether all bits of x are set.
func (b CacheBits) Has(x CacheBits) bool { return b&x == x }

// String lists the bits as printed, separated by blanks: "glc dlc".
func (b CacheBits) String() string {
	var l []string
	for i, n := range cacheBitNames {
		if b>>i&1 != 0 {
			l = append(l, n)
		}
	}
	return strings.Join(l, " ")
}

// CacheBitByName returns the bit that the assembler prints as s, 0 if there is none.
func CacheBitByName(s string) CacheBits {
	for i, n := range cacheBitNames {
		if n == s {
			return 1 << i
		}
	}
	return 0
}
