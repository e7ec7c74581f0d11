package lower

import (
	"strings"

	"optcheck/ir"
	"optcheck/isa"
)

// fetch is TEX.LL|LZ, TLD.LL|LZ and TLD4.R|G|B|A, without derivatives, offsets and samples:
//
//	TEX[.SCR][.B] high, low, a, b, [handle,] geometry[, mask]
//
// The words of a and b are layer, coordinates, handle (.B) and level (.LL), in this order: see sass.textureWidths. A handle that is no
// word of theirs is in two uniform registers, or a word of constant bank 0. The components of the mask are in low, from the third on in
// high.
func fetch(s *step) {
	t := ir.Texture{Integral: s.in.Op == "TLD", Layer: ir.None, Level: s.k(0)}
	s.mod("SCR")
	level := s.mod("LL")
	if s.in.Op == "TLD4" {
		t.Gather = true
		component := s.oneOf("R G B A") // before the B of a handle
		if t.Component = strings.Index("RGBA", component); component == "" {
			s.fail("TLD4 without a component")
		}
	} else if !level && !s.mod("LZ") {
		s.fail("%s at a level that neighbours decide", s.in.Op)
	}
	bindless := s.mod("B")
	high, low := s.dst(), s.dst()
	words := s.fetched()
	next := func() ir.Reg {
		if len(words) == 0 {
			s.fail("%s has not enough operands", s.in.Op)
			return s.k(0)
		}
		w := words[0]
		words = words[1:]
		return w
	}
	if !bindless {
		t.Handle = s.handle()
	}
	t.Geometry = s.next().Sym
	n, known := ir.Geometries[t.Geometry]
	if !known {
		s.fail("textures of geometry %s", t.Geometry)
	}
	if strings.HasPrefix(t.Geometry, "ARRAY") {
		t.Layer = next()
	}
	for range n {
		t.Coords = append(t.Coords, next())
	}
	if bindless {
		t.Handle = s.op(ir.Join, ir.U64, next(), s.k(0))
	}
	if level {
		t.Level = next()
	}
	if len(words) > 0 {
		s.fail("%s has too many operands", s.in.Op)
	}
	mask := int64(0xf)
	if o := s.peek(); o != nil && o.Kind == isa.OpdImm {
		mask = s.next().Imm
	}
	if s.why == "" {
		s.components(low, high, mask, s.u.b.Texels(s.list, t))
	}
}

// fetched takes the words of the operands with coordinates and the rest.
func (s *step) fetched() (out []ir.Reg) {
	for o := s.peek(); o != nil && o.Kind == isa.OpdReg && o.Reg.Class == isa.ClassGPR; o = s.peek() {
		s.next()
		s.bare(o, false, false, false)
		for i := range o.Words {
			w := s.reg(o, i)
			if w == ir.None {
				w = s.k(0)
			}
			out = append(out, w)
		}
	}
	return out
}

// handle takes the handle of a texture: UR, 0x0; or 0x0 and the number of a word in constant bank 0. The register behind UR has the
// sampler: 0, or what the upper 12 bits of the handle say, for the handle's own.
func (s *step) handle() ir.Reg {
	a, b := s.next(), s.next()
	switch {
	case a.Kind == isa.OpdReg && a.Reg.Class == isa.ClassUGPR && b.Kind == isa.OpdImm && b.Imm == 0:
		high := a
		high.Reg.Num++
		h, sampler := s.raw(&a), s.raw(&high)
		own := s.cmp(ir.EQ, ir.U32, sampler, s.op(ir.Shr, ir.U32, h, s.k(20)))
		return s.op(ir.Join, ir.U64, h, s.op(ir.Sel, ir.U32, own, s.k(0), sampler))
	case a.Kind == isa.OpdImm && a.Imm == 0 && b.Kind == isa.OpdImm && b.Imm >= 0:
		return s.op(ir.Join, ir.U64, s.bank(&isa.Operand{Kind: isa.OpdConst, Off: 4 * b.Imm, Text: b.Text}, 4), s.k(0))
	}
	s.fail("handle %s of %s", a.Text, s.in.Op)
	return s.k(0)
}

// components writes the components of a mask: two to the registers from low on, the others to those from high on.
func (s *step) components(low, high isa.Operand, mask int64, words [4]ir.Reg) {
	n := 0
	for i, w := range words {
		if mask>>i&1 == 0 {
			continue
		}
		o := low
		if n > 1 {
			o = high
		}
		o.Reg.Num += uint16(n % 2)
		s.result(o, w)
		n++
	}
}
