package sass

import (
	"strings"

	"optcheck/isa"
)

// destRule says which operands an opcode writes.
type destRule uint8

const (
	destNone  destRule = iota // none: stores, barriers, branches
	destReg                   // predicates before the first register, that register, predicates right after it
	destReg1                  // as destReg, but predicates after the register are read
	destPred                  // the leading predicates (two at most)
	destPred1                 // the first operand only, a predicate
	destFirst                 // the first operand only, whatever it is
)

// widthRule says how many registers the operands take.
type widthRule uint8

const (
	width1         widthRule = iota // one each
	widthMem                        // data operands as wide as the access
	widthDouble                     // all general registers are pairs
	widthConv                       // conversions: from the type modifiers
	widthMad                        // IMAD: .WIDE makes destination and addend pairs
	width64                         // .64 makes the destination a pair
	widthSR                         // CS2R: pair unless .32
	widthMMA                        // matrix: by shape
	widthUniform64                  // uniform IADD.64 style: .64 makes all pairs
	widthMatch                      // MATCH: .U64 makes the source a pair
)

// opInfo describes an opcode root.
type opInfo struct {
	role  isa.Role
	space isa.Space
	dest  destRule
	width widthRule
	flow  isa.Flow
	pair  isa.Pair
}

// opTable maps opcode roots of all generations to their description. The names
// follow the instruction set lists of NVIDIA's "CUDA Binary Utilities" manual;
// operand directions were taken from nvdisasm's register life ranges.
var opTable = buildTable()

func buildTable() map[string]opInfo {
	t := make(map[string]opInfo, 512)
	add := func(info opInfo, names string) {
		for _, n := range strings.Fields(names) {
			t[n] = info
		}
	}
	alu := func(d destRule, w widthRule, names string) { add(opInfo{role: isa.RoleALU, dest: d, width: w}, names) }
	addALU(alu)
	addMemory(add)
	addFlow(add)
	return t
}

func addALU(alu func(destRule, widthRule, string)) {
	// Integer.
	alu(destReg, width1, `BFE BFI BMSK BREV FLO IABS IADD IADD3 IADD32I ICMP IDP IDP4A IMNMX IMUL32I INEG ISAD ISCADD ISCADD32I ISET ISUB
		LEA LOP LOP3 LOP32I MUFU POPC PRMT SEL SGXT SHF SHL SHR VABSDIFF VABSDIFF4 XMAD IMADSP IMUL24 IMAD24
		UBMSK UBREV UFLO UIADD3 UISCADD ULEA ULOP ULOP3 ULOP32I UMOV UPOPC UPRMT USEL USGXT USHF USHL USHR UIABS UIMNMX UVIADD UVIMNMX
		UVIADDMNMX UCLEA UP2UR UIADD
		VADD VIADD VIADDMNMX VIMNMX VIMNMX3 VMAD VMNMX VSET VSHL VSHR VADD2 VADD4 VSET2 VSET4 VMNMX2 VMNMX4 VABSDIFF2 VSHL2 VSHR2 VSUB VSEL2
		VSEL4 VMULL FSET HSET2
		UF2FP UI2FP UI2F UF2I UF2F USETMAXREG`)
	alu(destReg, widthMad, `IMAD IMUL UIMAD`)
	alu(destReg, widthUniform64, `MOV MOV32I I2IP RPCMOV`)
	// Moves between register files.
	alu(destReg, width1, `R2UR REDUX CREDUX VOTEU`)
	alu(destReg1, width1, `P2R`)
	// Floating point.
	alu(destReg, width1, `FADD FADD2 FADD32I FCMP FFMA FFMA2 FFMA32I FMNMX FMNMX3 FMUL FMUL2 FMUL32I FSEL FSWZADD FSWZ RRO FHADD FHFMA
		HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I F2FP F2IP I2FP UFADD UFMUL UFFMA UFSEL UFMNMX UFSET`)
	alu(destReg, widthDouble, `DADD DFMA DMNMX DMUL`)
	alu(destReg, widthConv, `F2F F2I I2F I2I FRND`)
	alu(destReg, widthMMA, `HMMA IMMA DMMA BMMA QMMA OMMA MOVM HGMMA IGMMA QGMMA BGMMA`)
	// Predicates.
	alu(destPred, width1, `CSETP ISETP FSETP HSETP HSETP2 PSETP PLOP PLOP3 UISETP UPLOP UPLOP3 UPSETP UFSETP VSETP ICSETP`)
	alu(destPred, widthDouble, `DSETP`)
	alu(destPred1, width1, `FCHK R2P UR2UP`)
	alu(destReg, width1, `PSET CSET BSET`)
	alu(destReg, widthDouble, `DSET`)
	// Warp-wide.
	alu(destReg, width1, `SHFL VOTE ELECT`)
	alu(destReg, widthMatch, `MATCH`)
	alu(destFirst, width1, `BMOV`)
	alu(destReg, width1, `LEPC GETLMEMBASE GETCRSPTR PIXLD ISBERD VILD IPA`)
}

func addMemory(add func(opInfo, string)) {
	load := func(sp isa.Space, names string) {
		add(opInfo{role: isa.RoleLoad, space: sp, dest: destReg1, width: widthMem}, names)
	}
	store := func(sp isa.Space, names string) {
		add(opInfo{role: isa.RoleStore, space: sp, dest: destNone, width: widthMem}, names)
	}
	load(isa.SpaceGeneric, "LD LDU")
	load(isa.SpaceGlobal, "LDG LDGMC")
	load(isa.SpaceShared, "LDS LDSLK LDSM")
	load(isa.SpaceLocal, "LDL")
	load(isa.SpaceTexture, "TEX TEX32 TEXS TLD TLD4 TLD4S TLDS TMML TXA TXD TXQ TLD432 SULD SULDGA SULDB SUQ SUEAU SUCLAMP SUBFM")
	load(isa.SpaceGeneric, "QSPC") // asks for the space of an address; reads no memory, see decode
	store(isa.SpaceGeneric, "ST")
	store(isa.SpaceGlobal, "STG")
	store(isa.SpaceShared, "STS STSM")
	store(isa.SpaceLocal, "STL")
	store(isa.SpaceTexture, "SUST SUSTGA SUSTB STP STUL")
	add(opInfo{role: isa.RoleStore, space: isa.SpaceShared, dest: destPred1, width: widthMem}, "STSCUL STSUL")
	atom := func(r isa.Role, sp isa.Space, d destRule, names string) {
		add(opInfo{role: r, space: sp, dest: d, width: widthMem}, names)
	}
	atom(isa.RoleAtomic, isa.SpaceGeneric, destReg1, "ATOM")
	atom(isa.RoleAtomic, isa.SpaceGlobal, destReg1, "ATOMG")
	atom(isa.RoleAtomic, isa.SpaceShared, destReg1, "ATOMS")
	atom(isa.RoleAtomic, isa.SpaceTexture, destReg1, "SUATOM")
	atom(isa.RoleReduction, isa.SpaceGeneric, destNone, "RED")
	atom(isa.RoleReduction, isa.SpaceGlobal, destNone, "REDG")
	atom(isa.RoleReduction, isa.SpaceShared, destNone, "REDS")
	atom(isa.RoleReduction, isa.SpaceTexture, destNone, "SURED")
	add(opInfo{role: isa.RoleConst, space: isa.SpaceConst, dest: destReg, width: width64}, "LDC ULDC LDCU")
	add(opInfo{role: isa.RoleConst, dest: destReg1, width: widthSR}, "CS2R CS2UR")
	add(opInfo{role: isa.RoleConst, dest: destReg1, width: width1}, "S2R S2UR")
	add(opInfo{role: isa.RoleConst, dest: destReg, width: width1}, "B2R")
	add(opInfo{role: isa.RoleFence}, "MEMBAR FENCE")
	add(opInfo{role: isa.RoleCache, space: isa.SpaceGeneric, width: widthMem}, "CCTL CCTLT CCTLL")
	add(opInfo{role: isa.RoleBarrier}, "BAR UCGABAR_ARV UCGABAR_WAIT UCGABAR_SET UCGABAR_GET")
	add(opInfo{role: isa.RoleWait}, "WARPSYNC DEPBAR TEXDEPBAR LDGDEPBAR ERRBAR CGAERRBAR NANOSLEEP YIELD UTMACMDFLUSH ACQBULK PREEXIT"+
		" ACQSHMINIT WARPGROUP WARPGROUPSET ENDCOLLECTIVE PMTRIG SETCTAID SETLMEMBASE WARPARRIVE")
	add(opInfo{role: isa.RoleNop}, "NOP")
	add(opInfo{role: isa.RoleCopy, space: isa.SpaceShared, width: widthMem}, "LDGSTS")
	add(opInfo{role: isa.RoleCopy, space: isa.SpaceGeneric}, "UBLKCP UBLKRED UTMALDG UTMASTG UTMAREDG")
	add(opInfo{role: isa.RoleCopy, space: isa.SpaceGeneric, width: widthMem}, "STAS REDAS") // what is in registers
	add(opInfo{role: isa.RoleCache, space: isa.SpaceGlobal}, "UBLKPF UTMAPF UTMACCTL")
	// Barrier objects in shared memory: arrive, test, init.
	add(opInfo{role: isa.RoleAtomic, space: isa.SpaceShared, dest: destReg1, width: widthMem}, "SYNCS")
	add(opInfo{role: isa.RoleReduction, space: isa.SpaceShared}, "ARRIVES")
}

func addFlow(add func(opInfo, string)) {
	flow := func(f isa.Flow, names string) {
		add(opInfo{role: isa.RoleBranch, flow: f}, names)
	}
	flow(isa.FlowJump, "BRA JMP")
	flow(isa.FlowIndirect, "BRX JMX BRXU JMXU")
	flow(isa.FlowCall, "CAL CALL JCAL")
	flow(isa.FlowReturn, "RET")
	flow(isa.FlowExit, "EXIT KILL")
	for _, p := range []struct {
		pair      isa.Pair
		push, pop string
	}{{isa.PairSync, "SSY", "SYNC"}, {isa.PairBreak, "PBK", "BRK"}, {isa.PairContinue, "PCNT", "CONT"},
		{isa.PairLong, "PLONGJMP", "LONGJMP"}, {isa.PairBarrier, "BSSY", "BSYNC"}, {isa.PairOther, "PEXIT PRET", ""}} {
		add(opInfo{role: isa.RoleBranch, flow: isa.FlowPush, pair: p.pair}, p.push)
		add(opInfo{role: isa.RoleBranch, flow: isa.FlowPop, pair: p.pair}, p.pop)
	}
	flow(isa.FlowTrap, "BPT RTT IDE RAM SAM")
	flow(isa.FlowNext, "BREAK")
}
