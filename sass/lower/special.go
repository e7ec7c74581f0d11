package lower

import (
	"fmt"
	"slices"

	"optcheck/ir"
	"optcheck/isa"
)

// generation is what a family of targets has at the front of constant bank 0.
type generation struct {
	launch []ir.LaunchWord
	params int64 // where the parameters begin, if the file does not say it
	shared int64 // where the variables of shared memory begin
}

const (
	// stackTop is the stack pointer that a thread begins with: local memory ends there.
	stackTop = 1 << 16
	// localLow is the lowest stack pointer that code compiled at -O0 accepts.
	localLow = 1 << 4
)

// volta is the layout of sm_70 to sm_90: that of -O0 code and of kernels that read each special register once.
func volta(constants, descriptor int64) []ir.LaunchWord {
	out := words(0, ir.NtidX, ir.NtidY, ir.NtidZ, ir.NctaidX, ir.NctaidY, ir.NctaidZ)
	out = append(out, ir.LaunchWord{Offset: 0x18, Bytes: 8, Reg: ir.SharedWindow}, ir.LaunchWord{Offset: 0x20, Bytes: 8, Reg: ir.LocalWindow},
		ir.LaunchWord{Offset: 0x28, Bytes: 4, Fixed: stackTop}, ir.LaunchWord{Offset: 0x2c, Bytes: 4, Reg: ir.DynamicSharedSize},
		ir.LaunchWord{Offset: 0x30, Bytes: 8, Reg: ir.GridID}, ir.LaunchWord{Offset: 0x10c, Bytes: 4, Reg: ir.NSMID},
		ir.LaunchWord{Offset: constants, Bytes: 8, Reg: ir.ConstWindow})
	if descriptor != 0 { // of memory descriptors only the number matters to nobody
		out = append(out, ir.LaunchWord{Offset: descriptor, Bytes: 8, Fixed: 1})
	}
	return out
}

// grids are the words that tell through which memory a grid synchronises.
func grids(at int64) []ir.LaunchWord { return words(at, ir.EnvReg1, ir.EnvReg2) }

// ampere are the words of sm_70 to sm_89 that tell of the grid and of generic addresses of constant bank 0, in which the parameters begin at
// ampereParams.
var ampere = append(grids(0x8c), ir.LaunchWord{Offset: 0x40, Bytes: 8, Reg: ir.ParamWindow, Before: ampereParams})

const ampereParams = 0x160

// hopper are the words of sm_90 that tell of the grid, of clusters and of generic addresses of parameters.
var hopper = slices.Concat(grids(0x44), words(0x140, ir.ExplicitCluster, ir.ClusterNctaidX, ir.ClusterNctaidY, ir.ClusterNctaidZ, ir.ClusterInverseX, ir.ClusterInverseY,
	ir.ClusterInverseZ, ir.NclusterIDX, ir.NclusterIDY, ir.NclusterIDZ), words(0x188, ir.ClusterNctarank), []ir.LaunchWord{{Offset: 0x198, Bytes: 8, Reg: ir.ParamWindow},
	{Offset: 0x1a0, Bytes: 8, Reg: ir.ParamWindowEnd}})

// words are registers of four bytes, one behind the other.
func words(at int64, regs ...ir.SpecialReg) []ir.LaunchWord {
	var out []ir.LaunchWord
	for i, r := range regs {
		out = append(out, ir.LaunchWord{Offset: at + 4*int64(i), Bytes: 4, Reg: r})
	}
	return out
}

// OldestSM is the number of the first target whose machine code is lowered.
const OldestSM = 70

// generationOf is the layout of a target. That of sm_100 and later is known from public listings only.
func generationOf(sm int) (generation, error) {
	switch {
	case sm >= OldestSM && sm < 80:
		return generation{launch: slices.Concat(volta(0x50, 0), ampere), params: ampereParams}, nil
	case sm >= 80 && sm < 90:
		return generation{launch: slices.Concat(volta(0x50, 0x118), ampere), params: ampereParams}, nil
	case sm >= 90 && sm < 100:
		return generation{launch: append(volta(0xd0, 0x208), hopper...), params: 0x210, shared: 0x400}, nil
	case sm >= 100 && sm < 200:
		l := append(words(0x360, ir.NtidX, ir.NtidY, ir.NtidZ, ir.ExplicitCluster), words(0x370, ir.NctaidX, ir.NctaidY, ir.NctaidZ)...)
		l = append(l, ir.LaunchWord{Offset: 0x358, Bytes: 8, Fixed: 1}, ir.LaunchWord{Offset: 0x37c, Bytes: 4, Fixed: stackTop})
		return generation{launch: l, params: 0x380, shared: 0x400}, nil
	}
	return generation{}, fmt.Errorf("machine code of sm_%d is not lowered: sm_70 and later are", sm)
}

// specials are the special registers by name.
var specials = map[string]ir.SpecialReg{
	"SR_TID.X": ir.TidX, "SR_TID.Y": ir.TidY, "SR_TID.Z": ir.TidZ, "SR_CTAID.X": ir.CtaidX, "SR_CTAID.Y": ir.CtaidY, "SR_CTAID.Z": ir.CtaidZ,
	"SR_LANEID": ir.LaneID, "SR_EQMASK": ir.LaneMaskEQ, "SR_LTMASK": ir.LaneMaskLT, "SR_LEMASK": ir.LaneMaskLE, "SR_GTMASK": ir.LaneMaskGT,
	"SR_GEMASK": ir.LaneMaskGE, "SR_VIRTID": ir.VirtualID, "SR_VIRTUALSMID": ir.SMID, "SR_CgaCtaId": ir.ClusterCtarank, "SR_CLOCKLO": ir.Clock,
	"SR_SMEMSZ": ir.TotalSharedSize,
}

// windows are the words of a generic address at which a space begins.
var windows = map[string]struct {
	reg  ir.SpecialReg
	high bool
}{"SR_SWINLO": {ir.SharedWindow, false}, "SR_SWINHI": {ir.SharedWindow, true}, "SR_LWINLO": {ir.LocalWindow, false},
	"SR_LWINHI": {ir.LocalWindow, true}}

// wideSpecials are those that CS2R reads as pairs.
var wideSpecials = map[string]ir.SpecialReg{"SR_CLOCKLO": ir.Clock64, "SR_GLOBALTIMERLO": ir.GlobalTimer}

// s2r: S2R, S2UR d, SR.
func s2r(s *step) {
	d := s.dst()
	o := s.next()
	s.special(d, o.Sym, o.Kind == isa.OpdSpecial)
}

// special reads a special register of 32 bits.
func (s *step) special(d isa.Operand, name string, ok bool) {
	if name == "SR_LMEMHIOFF" {
		s.result(d, s.k(localLow))
		return
	}
	if name == "SRZ" {
		s.result(d, s.k(0))
		return
	}
	r, known := specials[name]
	w, window := windows[name]
	if window {
		r = w.reg
	}
	if !ok || !known && !window {
		s.fail("special register %s", name)
		return
	}
	v := s.u.b.Temp()
	sp := &ir.Special{Reg: r, Dst: v}
	s.do(sp)
	switch {
	case window && w.high:
		s.result(d, s.op(ir.HighWord, ir.U64, v))
	case window:
		s.result(d, s.op(ir.Mov, ir.U32, v))
	default:
		if x := s.reg(&d, 0); x != ir.None {
			sp.Dst = x
		}
	}
}

// cs2r: CS2R[.32] d, SR: a pair without .32.
func cs2r(s *step) {
	narrow := s.mod("32")
	d := s.dst()
	o := s.next()
	if narrow {
		s.special(d, o.Sym, o.Kind == isa.OpdSpecial)
		return
	}
	if o.Sym == "SRZ" {
		s.result64(d, s.k(0))
		return
	}
	r, ok := wideSpecials[o.Sym]
	if !ok {
		s.fail("special register %s", o.Sym)
		return
	}
	v := s.u.b.Temp()
	s.do(&ir.Special{Reg: r, Dst: v})
	s.result64(d, v)
}
