package lower

import (
	"strings"

	"optcheck/ir"
	"optcheck/ptx"
)

// textures are the fetches: PTX ISA 9.7.10. A texture that a kernel names (.texref) has no value here.
var textures = map[string][]form{
	"tex":  {row("2-3 level? geom:1d,2d,3d,a1d,a2d vec:v4 t:u32,s32,f32 s:s32,f32", (*inst).tex, "9.7.10.3")},
	"tld4": {row("2 component:r,g,b,a geom:2d,a2d vec:v4 t:u32,s32,f32 s:f32", (*inst).tex, "9.7.10.4")},
}

// geometries are PTX's names for them.
var geometries = map[string]string{"1d": "1D", "2d": "2D", "3d": "3D", "a1d": "ARRAY_1D", "a2d": "ARRAY_2D"}

// noLevel is the level that the machine is given where the program gives none.
const noLevel = -32

// maxLayer is the number that layers beyond it count as.
const maxLayer = 0xffff

// tex is tex and tld4. Components that nobody asks for are sinks.
func (x *inst) tex() {
	geometry, t := geometries[x.mods["geom"]], types[x.mods["s"]]
	result, at := &x.in.Args[0], &x.in.Args[1]
	if result.Kind != ptx.Vec || len(result.Elems) != 4 || at.Kind != ptx.Mem || len(at.Elems) < 2 || at.Value != 0 {
		x.fail("operands of %s are not understood", x.in.Op)
	}
	fetch := ir.Texture{Geometry: geometry, Integral: t == ir.S32, Layer: ir.None, Level: x.imm(0)}
	fetch.Handle = x.ext(ir.U32, ir.U64, x.read(&at.Elems[0], ir.U64))
	coords := at.Elems[1:]
	if coords[0].Kind == ptx.Vec {
		coords = coords[0].Elems
	}
	if strings.HasPrefix(geometry, "ARRAY") {
		fetch.Layer = x.op(ir.Min, ir.U32, x.read(&coords[0], ir.U32), x.imm(maxLayer))
		coords = coords[1:]
	}
	for i := range min(ir.Geometries[geometry], len(coords)) {
		fetch.Coords = append(fetch.Coords, x.read(&coords[i], t))
	}
	if geometry == "1D" && t == ir.F32 { // the machine reads it as a plane of one row
		fetch.Geometry, fetch.Coords = "2D", append(fetch.Coords, x.imm(0))
	}
	if len(fetch.Coords) < ir.Geometries[fetch.Geometry] {
		x.fail("%s with %d coordinates is not understood", x.in.Op, len(fetch.Coords))
	}
	switch component := x.mods["component"]; {
	case component != "":
		fetch.Gather, fetch.Component = true, strings.Index("rgba", component)
	case x.is("level"):
		if len(x.in.Args) != 3 {
			x.fail("%s without a level is not understood", x.in.Op)
		}
		fetch.Level = x.src(2, t)
	case len(x.in.Args) != 2:
		x.fail("%s with %d operands is not understood", x.in.Op, len(x.in.Args))
	case t == ir.F32:
		fetch.Level = x.f32(noLevel)
	}
	for i, word := range x.b.Texels(x.list(), fetch) {
		if o := &result.Elems[i]; o.Kind != ptx.Sink {
			x.to(x.write(o, types[x.mods["t"]]), ir.Mov, ir.U32, word)
		}
	}
}
