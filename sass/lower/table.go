package lower

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"optcheck/ir"
)

// Known is how the reading of an instruction is known.
type Known string

// The ways.
const (
	// Chip: code with this form, executed on an H200, stored the same as emulated.
	Chip Known = "chip"
	// Agreed: compilers make code with this form of PTX whose meaning an H200 has confirmed, and emulated it stores the same.
	Agreed Known = "compilers"
	// Parts: the opcode with each of the modifiers, and each operand with its sign, is known in one of these ways, in different forms.
	Parts Known = "parts"
	// Documented: public documentation or compilers' idioms only.
	Documented Known = "documentation"
)

//go:embed h200.txt
var onH200 string

//go:embed agreed.txt
var agreed string

// knownForms are the forms of the lists, and the parts of which they consist.
var knownForms = sync.OnceValue(func() map[string]Known {
	out := map[string]Known{}
	for _, list := range []struct {
		text string
		how  Known
	}{{agreed, Agreed}, {onH200, Chip}} {
		for line := range strings.Lines(list.text) {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			out[line] = list.how
			for _, p := range parts(line) {
				out["\t"+p] = list.how
			}
		}
	}
	return out
})

// opcode is that of a form.
func opcode(form string) string {
	if i := strings.IndexAny(form, ". "); i >= 0 {
		return form[:i]
	}
	return form
}

// parts are what the meaning of a form consists of besides where its operands come from: its opcode, or the first of those that are read alike,
// with each modifier, and with what is done with each operand: signs, and parts of registers.
func parts(form string) []string {
	head, operands, _ := strings.Cut(form, " ")
	op := opcode(form)
	if first := alike[op]; first != "" {
		op = first
	}
	out := []string{op}
	for _, m := range strings.Split(head, ".")[1:] {
		out = append(out, op+"."+m)
	}
	for i, o := range strings.Split(operands, ",") {
		signs := strings.Map(func(r rune) rune {
			if strings.ContainsRune("-~!|", r) {
				return r
			}
			return -1
		}, o)
		if _, part, ok := strings.Cut(o, "."); strings.HasPrefix(o, "SR_") {
			signs = o
		} else if ok && !strings.HasPrefix(o, "[") {
			signs += "." + part
		}
		if signs != "" {
			out = append(out, fmt.Sprintf("%s %d %s", op, i, signs))
		}
	}
	return out
}

// HowKnown says how the reading of a form (see ir.Inst.Form) is known; "" if there is none. What is known from documentation alone may be
// misread: a difference that depends on it proves nothing.
func HowKnown(form string) Known {
	known := knownForms()
	switch {
	case known[form] != "":
		return known[form]
	case table[opcode(form)] == nil:
		return ""
	case !slices.ContainsFunc(parts(form), func(p string) bool { return known["\t"+p] == "" }):
		return Parts
	}
	return Documented
}

// table maps opcodes to their readings. Each reading takes the modifiers and operands that it knows, in order; what it
// leaves makes an instruction opaque. (Filled in init, because readings refer to the table.)
var table = map[string]func(*step){}

// alike maps opcodes to the first one of those with the same reading.
var alike = map[string]string{}

func init() {
	add := func(lower func(*step), names ...string) {
		for _, n := range names {
			table[n], alike[n] = lower, names[0]
		}
	}
	integer(add)
	control(add)
	memory(add)
	floating(add)
}

type adder func(lower func(*step), names ...string)

func integer(add adder) {
	add(iadd3, "IADD3", "UIADD3")
	add(iadd, "VIADD", "UVIADD", "IADD", "UIADD")
	add(imad, "IMAD", "UIMAD")
	add(lea, "LEA", "ULEA")
	add(iabs, "IABS", "UIABS")
	add(vimnmx, "IMNMX", "VIMNMX", "UIMNMX", "UVIMNMX")
	add(vimnmx3, "VIMNMX3", "UVIMNMX3")
	add(viaddmnmx, "VIADDMNMX", "UVIADDMNMX")
	add(vabsdiff, "VABSDIFF")
	add(idp, "IDP")
	add(mov, "MOV", "UMOV")
	add(lop3, "LOP3", "ULOP3")
	add(plop3, "PLOP3", "UPLOP3")
	add(sel, "SEL", "USEL")
	add(prmt, "PRMT", "UPRMT")
	add(shf, "SHF", "USHF")
	add(isetp, "ISETP", "UISETP")
	add(flo, "FLO", "UFLO")
	add(unary(ir.Popc), "POPC", "UPOPC")
	add(unary(ir.Brev), "BREV", "UBREV")
	add(bmsk, "BMSK", "UBMSK")
	add(sgxt, "SGXT", "USGXT")
	add(p2r, "P2R", "UP2UR")
	add(r2p, "R2P")
	add(s2r, "S2R", "S2UR")
	add(cs2r, "CS2R")
	add(r2ur, "R2UR")
}

func floating(add adder) {
	add(farith(ir.FAdd, ir.F32, 2), "FADD")
	add(fmul, "FMUL")
	add(farith(ir.FFma, ir.F32, 3), "FFMA")
	add(farith(ir.FAdd, ir.F64, 2), "DADD")
	add(farith(ir.FMul, ir.F64, 2), "DMUL")
	add(farith(ir.FFma, ir.F64, 3), "DFMA")
	add(fmnmx(ir.F32), "FMNMX")
	add(fmnmx(ir.F64), "DMNMX")
	add(fsetp(ir.F32), "FSETP")
	add(fsetp(ir.F64), "DSETP")
	add(fset, "FSET")
	add(fsel, "FSEL")
	add(mufu, "MUFU")
	add(fchk, "FCHK")
	add(harith(ir.FAdd, 2), "HADD2")
	add(harith(ir.FMul, 2), "HMUL2")
	add(harith(ir.FFma, 3), "HFMA2")
	add(hmnmx2, "HMNMX2")
	add(vhmnmx, "VHMNMX")
	add(hsetp2, "HSETP2")
	add(hset2, "HSET2")
	add(i2f, "I2F", "I2FP")
	add(f2i, "F2I")
	add(f2ip, "F2IP")
	add(f2f, "F2F")
	add(f2fp, "F2FP")
	add(frnd, "FRND")
	add(i2ip, "I2IP")
	add(i2i, "I2I")
	add(vabsdiff4, "VABSDIFF4")
}

func control(add adder) {
	add(bra, "BRA")
	add(brx, "BRX", "BRXU")
	add(call, "CALL")
	add(ret, "RET")
	add(lepc, "LEPC")
	add(exit, "EXIT")
	add(simple(ir.Exit), "KILL")
	add(bpt, "BPT")
	add(bssy, "BSSY")
	add(bsync(ir.BarrierWait), "BSYNC")
	add(bsync(ir.BarrierLeave), "BREAK")
	add(bmov, "BMOV")
	add(warpsync, "WARPSYNC")
	add(nothing(""), "NOP", "ACQBULK", "PREEXIT") // the last two wait for other grids and let them start
	add(ignore("SYNCS WARP"), "NANOSLEEP")
	add(simple(ir.Yield), "YIELD")
	add(simple(ir.CollectiveEnd), "ENDCOLLECTIVE")
	add(shfl, "SHFL")
	add(vote, "VOTE", "VOTEU")
	add(match, "MATCH")
	add(redux, "REDUX", "CREDUX")
	add(elect, "ELECT")
	add(movm, "MOVM")
}

func memory(add adder) {
	add(load(ir.Global), "LDG")
	add(loadReduce, "LDGMC")
	add(load(ir.Generic), "LD")
	add(load(ir.Shared), "LDS")
	add(load(ir.Local), "LDL")
	add(store(ir.Global), "STG")
	add(store(ir.Generic), "ST")
	add(store(ir.Shared), "STS")
	add(store(ir.Local), "STL")
	add(multiply, "HMMA", "IMMA", "DMMA")
	add(ldsm, "LDSM")
	add(stsm, "STSM")
	add(ldc, "LDC", "ULDC", "LDCU")
	add(fetch, "TEX", "TLD", "TLD4")
	add(atom(ir.Global), "ATOMG")
	add(atom(ir.Generic), "ATOM")
	add(atom(ir.Shared), "ATOMS")
	add(red(ir.Global), "REDG")
	add(red(ir.Generic), "RED")
	add(qspc, "QSPC")
	add(membar, "MEMBAR")
	add(fence, "FENCE")
	add(waits, "ERRBAR", "CGAERRBAR")
	add(cctl, "CCTL")
	add(bar, "BAR")
	add(b2r, "B2R")
	add(ldgsts, "LDGSTS")
	add(copies, "LDGDEPBAR", "UTMACMDFLUSH")
	add(syncs, "SYNCS")
	add(arrives, "ARRIVES")
	add(bulk, "UBLKCP", "UBLKRED")
	add(storeAsync, "STAS", "REDAS")
	add(ignore("L2"), "UBLKPF")
	add(clusterBarrier(ir.BarrierClusterArrive), "UCGABAR_ARV")
	add(clusterBarrier(ir.BarrierClusterWait), "UCGABAR_WAIT")
	add(depbar, "DEPBAR")
}
