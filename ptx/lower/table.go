package lower

import "optcheck/ir"

// table has the forms of instructions that are understood, by their names.
var table map[string][]form

const (
	hints = " ev1?:L1::evict_normal,L1::evict_unchanged,L1::evict_first,L1::evict_last,L1::no_allocate" +
		" ev2?:L2::evict_normal,L2::evict_first,L2::evict_last L2::cache_hint? pf?:L2::64B,L2::128B,L2::256B"
	strength = " sem?:weak,relaxed,acquire,volatile mmio? scope?:@scope"
	strongSt = " sem?:weak,relaxed,release,volatile mmio? scope?:@scope"
	places   = " ss?:global,shared,shared::cta,shared::cluster,local"
	atomic   = "sem?:relaxed,acquire,release,acq_rel scope?:@scope ss?:global,shared,shared::cta,shared::cluster L2::cache_hint?"
)

func init() {
	table = map[string][]form{}
	for _, part := range []map[string][]form{integers, logic, comparisons, floats, halves, conversions, videos, moves, memory, control,
		warps, mbarriers, textures} {
		for name, rows := range part {
			table[name] = append(table[name], rows...)
		}
	}
}

var integers = map[string][]form{
	"add": {row("3 t:u16,u32,u64,s16,s64", plain(ir.Add), "9.7.1.1"), row("3 sat? t:s32", saturated(ir.Add), "9.7.1.1"),
		row("3 t:u16x2,s16x2", packed(ir.Add), "9.7.1.1"), row("3 cc t:@int32", (*inst).addCarry, "9.7.2.1")},
	"sub": {row("3 t:u16,u32,u64,s16,s64", plain(ir.Sub), "9.7.1.2"), row("3 sat? t:s32", saturated(ir.Sub), "9.7.1.2"),
		row("3 cc t:@int32", (*inst).subCarry, "9.7.2.3")},
	"addc": {row("3 cc? t:@int32", (*inst).addCarry, "9.7.2.2")},
	"subc": {row("3 cc? t:@int32", (*inst).subCarry, "9.7.2.4")},
	"mul":  {row("3 part:lo,hi t:@int", (*inst).mul, "9.7.1.3"), row("3 part:wide t:u16,u32,s16,s32", (*inst).mul, "9.7.1.3")},
	"mad": {row("4 part:lo,hi t:@int", (*inst).mad, "9.7.1.4"), row("4 part:wide t:u16,u32,s16,s32", (*inst).mad, "9.7.1.4"),
		row("4 part:hi sat t:s32", (*inst).mad, "9.7.1.4"), row("4 part:lo,hi cc t:@int32", (*inst).mad, "9.7.2.5")},
	"madc":  {row("4 part:lo,hi cc? t:@int32", (*inst).mad, "9.7.2.6")},
	"mul24": {row("3 part:lo,hi t:u32,s32", (*inst).mul24, "9.7.1.5")},
	"mad24": {row("4 part:lo,hi t:u32,s32", (*inst).mad24, "9.7.1.6"), row("4 part:hi sat t:s32", (*inst).mad24, "9.7.1.6")},
	"sad":   {row("4 t:@int", plain(ir.Sad), "9.7.1.7")},
	"div":   {row("3 t:@int", plain(ir.Div), "9.7.1.8")},
	"rem":   {row("3 t:@int", plain(ir.Rem), "9.7.1.9")},
	"abs":   {row("2 t:s16,s32,s64", plain(ir.Abs), "9.7.1.10")},
	"neg":   {row("2 t:s16,s32,s64", plain(ir.Neg), "9.7.1.11")},
	"min": {row("3 t:u16,u32,u64,s16,s64", plain(ir.Min), "9.7.1.12"), row("3 relu? t:s32", minMax(ir.Min), "9.7.1.12"),
		row("3 t:u16x2", packed(ir.Min), "9.7.1.12"), row("3 relu? t:s16x2", packed(ir.Min), "9.7.1.12")},
	"max": {row("3 t:u16,u32,u64,s16,s64", plain(ir.Max), "9.7.1.13"), row("3 relu? t:s32", minMax(ir.Max), "9.7.1.13"),
		row("3 t:u16x2", packed(ir.Max), "9.7.1.13"), row("3 relu? t:s16x2", packed(ir.Max), "9.7.1.13")},
	"popc":  {row("2 t:b32,b64", count(ir.Popc), "9.7.1.14")},
	"clz":   {row("2 t:b32,b64", count(ir.Clz), "9.7.1.15")},
	"bfind": {row("2 shiftamt? t:@int32", count(ir.Find), "9.7.1.16")},
	"fns":   {row("4 t:b32", plain(ir.Nth), "9.7.1.17")},
	"brev":  {row("2 t:b32,b64", plain(ir.Brev), "9.7.1.18")},
	"bfe":   {row("4 t:@int32", (*inst).bfe, "9.7.1.19")},
	"bfi":   {row("5 t:b32,b64", (*inst).bfi, "9.7.1.20")},
	"szext": {row("3 mode:clamp,wrap t:u32,s32", masked(ir.Sgxt), "9.7.1.21")},
	"bmsk":  {row("3 mode:clamp,wrap t:b32", masked(ir.Mask), "9.7.1.22")},
	"dp4a":  {row("4 a:u32,s32 b:u32,s32", dot(ir.Dot4), "9.7.1.23")},
	"dp2a":  {row("4 part:lo,hi a:u32,s32 b:u32,s32", dot(ir.Dot2), "9.7.1.24")},
}

var logic = map[string][]form{
	"and":  {row("3 t:pred,@bits", plain(ir.And), "9.7.8.1")},
	"or":   {row("3 t:pred,@bits", plain(ir.Or), "9.7.8.2")},
	"xor":  {row("3 t:pred,@bits", plain(ir.Xor), "9.7.8.3")},
	"not":  {row("2 t:pred,@bits", plain(ir.Not), "9.7.8.4")},
	"cnot": {row("2 t:@bits", (*inst).cnot, "9.7.8.5")},
	"lop3": {row("5-6 bool?:and,or t:b32", (*inst).lop3, "9.7.8.6")},
	"shf":  {row("4 dir:l,r mode:clamp,wrap t:b32", (*inst).shf, "9.7.8.7")},
	"shl":  {row("3 t:@bits", shift(ir.Shl), "9.7.8.8")},
	"shr":  {row("3 t:@bits,@int", shift(ir.Shr), "9.7.8.9")},
	"prmt": {row("4 t:b32 mode?:f4e,b4e,rc8,ecl,ecr,rc16", (*inst).prmt, "9.7.9.7")},
}

var comparisons = map[string][]form{
	"setp": {row("3-4 cmp:@icmp bool?:and,or,xor s:@bits,@int", (*inst).setp, "9.7.6.2"),
		row("3-4 cmp:@fcmp bool?:and,or,xor ftz? s:f16,f32", (*inst).setp, "9.7.6.2"),
		row("3-4 cmp:@fcmp bool?:and,or,xor s:bf16,f64", (*inst).setp, "9.7.6.2"),
		row("3-4 cmp:@fcmp bool?:and,or,xor ftz? s:f16x2", (*inst).setpHalf, "9.7.7.2"),
		row("3-4 cmp:@fcmp bool?:and,or,xor s:bf16x2", (*inst).setpHalf, "9.7.7.2")},
	"set": {row("3-4 cmp:@icmp bool?:and,or,xor t:u32,s32,f32 s:@bits,@int", (*inst).set, "9.7.6.1"),
		row("3-4 cmp:@fcmp bool?:and,or,xor ftz? t:u32,s32,f32 s:f32", (*inst).set, "9.7.6.1"),
		row("3-4 cmp:@fcmp bool?:and,or,xor t:u32,s32,f32 s:f64", (*inst).set, "9.7.6.1"),
		row("3-4 cmp:@fcmp bool?:and,or,xor ftz? t:f16,u16,s16,u32,s32 s:f16", (*inst).set, "9.7.7.1"),
		row("3-4 cmp:@fcmp bool?:and,or,xor t:bf16,u16,s16,u32,s32 s:bf16", (*inst).set, "9.7.7.1"),
		row("3-4 cmp:@fcmp bool?:and,or,xor ftz? t:f16x2,u32,s32 s:f16x2", (*inst).setHalf, "9.7.7.1"),
		row("3-4 cmp:@fcmp bool?:and,or,xor t:bf16x2,u32,s32 s:bf16x2", (*inst).setHalf, "9.7.7.1")},
	"selp": {row("4 t:@any", (*inst).selp, "9.7.6.3")},
	"slct": {row("4 t:@any s:s32", (*inst).slct, "9.7.6.4"), row("4 ftz? t:@any s:f32", (*inst).slct, "9.7.6.4")},
}

var floats = map[string][]form{
	"testp":    {row("2 test:finite,infinite,number,notanumber,normal,subnormal t:f32,f64", (*inst).testp, "9.7.3.1")},
	"copysign": {row("3 t:f32,f64", float(ir.CopySign), "9.7.3.2")},
	"add": {row("3 rnd?:@round ftz? sat? t:f32", float(ir.FAdd), "9.7.3.3"), row("3 rnd?:@round t:f64", float(ir.FAdd), "9.7.3.3"),
		row("3 rnd?:@round ftz? f32x2", pairOf(ir.FAdd, false), "9.7.3.3")},
	"sub": {row("3 rnd?:@round ftz? sat? t:f32", (*inst).floatSub, "9.7.3.4"), row("3 rnd?:@round t:f64", (*inst).floatSub, "9.7.3.4"),
		row("3 rnd?:@round ftz? f32x2", pairOf(ir.FAdd, true), "9.7.3.4")},
	"mul": {row("3 rnd?:@round ftz? sat? t:f32", float(ir.FMul), "9.7.3.5"), row("3 rnd?:@round t:f64", float(ir.FMul), "9.7.3.5"),
		row("3 rnd?:@round ftz? f32x2", pairOf(ir.FMul, false), "9.7.3.5")},
	"fma": {row("4 rnd:@round ftz? sat? t:f32", float(ir.FFma), "9.7.3.6"), row("4 rnd:@round t:f64", float(ir.FFma), "9.7.3.6"),
		row("4 rnd:@round ftz? f32x2", pairOf(ir.FFma, false), "9.7.3.6")},
	"mad": {row("4 rnd:@round ftz? sat? t:f32", float(ir.FFma), "9.7.3.7"), row("4 rnd:@round t:f64", float(ir.FFma), "9.7.3.7")},
	"div": {row("3 rnd:@round ftz? t:f32", float(ir.FDiv), "9.7.3.8"), row("3 rnd:@round t:f64", float(ir.FDiv), "9.7.3.8"),
		row("3 approx ftz? f32", (*inst).divide, "9.7.3.8"), row("3 full ftz? f32", (*inst).divide, "9.7.3.8")},
	"abs": {row("2 ftz? t:f32", sign(ir.Abs), "9.7.3.9"), row("2 t:f64", sign(ir.Abs), "9.7.3.9")},
	"neg": {row("2 ftz? t:f32", sign(ir.Neg), "9.7.3.10"), row("2 t:f64", sign(ir.Neg), "9.7.3.10")},
	"min": {row("3 ftz? NaN? xorsign abs t:f32", floatMinMax(ir.Min), "9.7.3.11"), row("3-4 ftz? NaN? t:f32", floatMinMax(ir.Min), "9.7.3.11"),
		row("4 ftz? NaN? abs t:f32", floatMinMax(ir.Min), "9.7.3.11"), row("3 t:f64", floatMinMax(ir.Min), "9.7.3.11")},
	"max": {row("3 ftz? NaN? xorsign abs t:f32", floatMinMax(ir.Max), "9.7.3.12"), row("3-4 ftz? NaN? t:f32", floatMinMax(ir.Max), "9.7.3.12"),
		row("4 ftz? NaN? abs t:f32", floatMinMax(ir.Max), "9.7.3.12"), row("3 t:f64", floatMinMax(ir.Max), "9.7.3.12")},
	"rcp": {row("2 rnd:@round ftz? t:f32", float(ir.FRcp), "9.7.3.13"), row("2 rnd:@round t:f64", float(ir.FRcp), "9.7.3.13"),
		row("2 approx ftz? f32", (*inst).reciprocal, "9.7.3.13"), row("2 approx ftz f64", high(ir.ApproxRcp64H), "9.7.3.14")},
	"sqrt": {row("2 rnd:@round ftz? t:f32", float(ir.FSqrt), "9.7.3.15"), row("2 rnd:@round t:f64", float(ir.FSqrt), "9.7.3.15"),
		row("2 approx ftz? f32", root(ir.ApproxSqrt, 0x1p-12), "9.7.3.15")},
	"rsqrt": {row("2 approx ftz? f32", root(ir.ApproxRsqrt, 0x1p12), "9.7.3.16"), row("2 approx ftz f64", high(ir.ApproxRsqrt64H), "9.7.3.17"), row("2 approx f64", (*inst).rootOfDouble, "9.7.3.17")},
	"sin":   {row("2 approx ftz? f32", circular(ir.ApproxSinTurn), "9.7.3.18")},
	"cos":   {row("2 approx ftz? f32", circular(ir.ApproxCosTurn), "9.7.3.19")},
	"lg2":   {row("2 approx ftz? f32", (*inst).logarithm, "9.7.3.20")},
	"ex2": {row("2 approx ftz? f32", (*inst).exponential, "9.7.3.21"), row("2 approx t:f16,f16x2", half(ir.ApproxEx2), "9.7.4.11"),
		row("2 approx ftz t:bf16,bf16x2", half(ir.ApproxEx2), "9.7.4.11")},
	"tanh": {row("2 approx f32", (*inst).tangent, "9.7.3.22"), row("2 approx t:@half,@half2", half(ir.ApproxTanh), "9.7.4.10")},
}

var halves = map[string][]form{
	"add": {row("3 rnd?:rn ftz? sat? t:f16,f16x2", float(ir.FAdd), "9.7.4.1"), row("3 rnd?:rn t:bf16,bf16x2", float(ir.FAdd), "9.7.4.1")},
	"sub": {row("3 rnd?:rn ftz? sat? t:f16,f16x2", (*inst).floatSub, "9.7.4.2"), row("3 rnd?:rn t:bf16,bf16x2", (*inst).floatSub, "9.7.4.2")},
	"mul": {row("3 rnd?:rn ftz? sat? t:f16,f16x2", float(ir.FMul), "9.7.4.3"), row("3 rnd?:rn t:bf16,bf16x2", float(ir.FMul), "9.7.4.3")},
	"fma": {row("4 rnd:rn ftz? sat? t:f16,f16x2", float(ir.FFma), "9.7.4.4"), row("4 rnd:rn ftz? relu t:f16,f16x2", float(ir.FFma), "9.7.4.4"),
		row("4 rnd:rn relu? t:bf16,bf16x2", float(ir.FFma), "9.7.4.4")},
	"neg": {row("2 ftz? t:f16,f16x2", sign(ir.Neg), "9.7.4.5"), row("2 t:bf16,bf16x2", sign(ir.Neg), "9.7.4.5")},
	"abs": {row("2 ftz? t:f16,f16x2", sign(ir.Abs), "9.7.4.6"), row("2 t:bf16,bf16x2", sign(ir.Abs), "9.7.4.6")},
	"min": {row("3 ftz? NaN? xorsign abs t:f16,f16x2", floatMinMax(ir.Min), "9.7.4.7"), row("3 ftz? NaN? t:f16,f16x2", floatMinMax(ir.Min), "9.7.4.7"),
		row("3 NaN? xorsign abs t:bf16,bf16x2", floatMinMax(ir.Min), "9.7.4.7"), row("3 NaN? t:bf16,bf16x2", floatMinMax(ir.Min), "9.7.4.7")},
	"max": {row("3 ftz? NaN? xorsign abs t:f16,f16x2", floatMinMax(ir.Max), "9.7.4.8"), row("3 ftz? NaN? t:f16,f16x2", floatMinMax(ir.Max), "9.7.4.8"),
		row("3 NaN? xorsign abs t:bf16,bf16x2", floatMinMax(ir.Max), "9.7.4.8"), row("3 NaN? t:bf16,bf16x2", floatMinMax(ir.Max), "9.7.4.8")},
}

// cvt, PTX ISA 9.7.9.21. .ftz concerns f32 alone, and .sat of numbers that become f16, f32 or f64.
var conversions = map[string][]form{
	"cvt": {row("2 sat? t:u8,s8,@int s:u8,s8,@int", (*inst).cvtInt, "9.7.9.21"),
		row("2 rnd:rni,rzi,rmi,rpi ftz sat? t:u8,s8,@int s:f32", (*inst).cvtToInt, "9.7.9.21"),
		row("2 rnd:rni,rzi,rmi,rpi sat? t:u8,s8,@int s:f16,bf16,f32,f64", (*inst).cvtToInt, "9.7.9.21"),
		row("2 rnd:@round ftz sat? t:f32 s:u8,s8,@int", (*inst).cvtFromInt, "9.7.9.21"),
		row("2 rnd:@round sat? t:f16,f32,f64 s:u8,s8,@int", (*inst).cvtFromInt, "9.7.9.21"),
		row("2 rnd:@round t:bf16 s:u8,s8,@int", (*inst).cvtFromInt, "9.7.9.21"),
		row("2 rnd:rni,rzi,rmi,rpi ftz sat? t:f32 s:f32", (*inst).cvtRound, "9.7.9.21"),
		row("2 rnd:rni,rzi,rmi,rpi sat? t:f16,f32,f64 s:f16,f32,f64", (*inst).cvtRound, "9.7.9.21"),
		row("2 rnd:rni,rzi,rmi,rpi t:bf16 s:bf16", (*inst).cvtRound, "9.7.9.21"),
		row("2 rnd?:@round ftz sat? t:f16,f64 s:f32", (*inst).cvtFloat, "9.7.9.21"),
		row("2 rnd?:@round ftz? sat? t:f32 s:f16,f32,f64", (*inst).cvtFloat, "9.7.9.21"),
		row("2 rnd?:@round sat? t:f16,f64 s:f16,f32,f64", (*inst).cvtFloat, "9.7.9.21"),
		row("2 ftz? t:f32 s:bf16", (*inst).cvtFloat, "9.7.9.21"), row("2 t:f64 s:bf16", (*inst).cvtFloat, "9.7.9.21"),
		row("2 rnd:@round t:f16 s:bf16", (*inst).cvtFloat, "9.7.9.21"),
		row("2 rnd:rn,rz relu? satfinite? t:f16,bf16 s:f32", (*inst).cvtFloat, "9.7.9.21"),
		row("2 rnd:rm,rp t:bf16 s:f32", (*inst).cvtFloat, "9.7.9.21"), row("2 rnd:@round t:bf16 s:f16,f64", (*inst).cvtFloat, "9.7.9.21"),
		row("2 rnd:rna satfinite? t:tf32 s:f32", (*inst).cvtFloat, "9.7.9.21"), row("2 rnd:rn,rz relu? t:tf32 s:f32", (*inst).cvtFloat, "9.7.9.21"),
		row("3 rnd:rn,rz relu? satfinite? t:@half2 s:f32", (*inst).cvtPair, "9.7.9.21"),
		row("3 rnd:rn satfinite relu? t:e4m3x2,e5m2x2 s:f32", (*inst).cvtPair, "9.7.9.21"),
		row("2 rnd:rn satfinite relu? t:e4m3x2,e5m2x2 s:f16x2", (*inst).cvtHalves, "9.7.9.21"),
		row("2 rnd:rn relu? t:f16x2 s:e4m3x2,e5m2x2", (*inst).cvtSmall, "9.7.9.21"),
		row("3-4 pack sat t:u16,s16 s:s32", (*inst).cvtPack, "9.7.9.22"), row("3-4 pack sat t:u8,s8 s:s32 c:b32", (*inst).cvtPack, "9.7.9.22")},
}

var moves = map[string][]form{
	"mov":      {row("2 t:pred,b128,@any", (*inst).mov, "9.7.9.3")},
	"cvt":      {row("2 sat? t:u8,s8,@int s:u8,s8,@int", (*inst).cvtInt, "9.7.9.21")},
	"cvta":     {row("2 to? ss:const,global,local,param,param::entry,shared,shared::cta,shared::cluster t:u32,u64", (*inst).cvta, "9.7.9.20")},
	"isspacep": {row("2 ss:const,global,local,param,param::entry,shared,shared::cta,shared::cluster", (*inst).isspacep, "9.7.9.19")},
}

var memory = map[string][]form{
	"ld": {row("2-3 "+strength+" ss?:const,global,local,param,param::entry,param::func,shared,shared::cta,shared::cluster cop?:ca,cg,cs,lu,cv nc?"+
		" unified? vec?:v2,v4,v8 t:b128,@mem"+hints, (*inst).load, "9.7.9.8")},
	"ldu": {row("2 ss?:global vec?:v2,v4 t:b128,@mem", (*inst).load, "9.7.9.10")},
	"st": {row("2-3 "+strongSt+places+" vec?:v2,v4,v8 t:b128,@mem cop?:wb,cg,cs,wt"+hints, (*inst).store, "9.7.9.11"),
		row("2 ss:param,param::func vec?:v2,v4 t:b128,@mem", (*inst).store, "9.7.9.11"),
		row("3 async weak? shared::cluster mbarrier::complete_tx::bytes vec?:v2,v4 t:b32,b64,u32,u64,s32,s64,f32,f64", (*inst).storeAsync, "9.7.9.12")},
	"atom": {row("3-4 "+atomic+" op:and,or,xor t:b32,b64", (*inst).atom, "9.7.13.6"),
		row("3-4 "+atomic+" op:exch t:b32,b64,b128", (*inst).atom, "9.7.13.6"),
		row("4-5 "+atomic+" op:cas t:b16,b32,b64,b128", (*inst).atom, "9.7.13.6"),
		row("3-4 "+atomic+" op:inc,dec t:u32", (*inst).atom, "9.7.13.6"),
		row("3-4 "+atomic+" op:min,max t:@int32", (*inst).atom, "9.7.13.6"),
		row("3-4 "+atomic+" op:add t:u32,s32,u64,s64,f32,f64", (*inst).atom, "9.7.13.6"),
		row("3-4 "+atomic+" op:add noftz t:@half,@half2", (*inst).atom, "9.7.13.6")},
	"red": {row("2-3 "+atomic+" op:and,or,xor t:b32,b64", (*inst).atom, "9.7.13.7"),
		row("2-3 "+atomic+" op:inc,dec t:u32", (*inst).atom, "9.7.13.7"),
		row("2-3 "+atomic+" op:min,max t:@int32", (*inst).atom, "9.7.13.7"),
		row("2-3 "+atomic+" op:add t:u32,s32,u64,s64,f32,f64", (*inst).atom, "9.7.13.7"),
		row("2-3 "+atomic+" op:add noftz t:@half,@half2", (*inst).atom, "9.7.13.7"),
		row("3 async relaxed cluster shared::cluster mbarrier::complete_tx::bytes op:inc,dec t:u32", (*inst).storeAsync, "9.7.13.8"),
		row("3 async relaxed cluster shared::cluster mbarrier::complete_tx::bytes op:min,max t:u32,s32", (*inst).storeAsync, "9.7.13.8"),
		row("3 async relaxed cluster shared::cluster mbarrier::complete_tx::bytes op:and,or,xor t:b32", (*inst).storeAsync, "9.7.13.8"),
		row("3 async relaxed cluster shared::cluster mbarrier::complete_tx::bytes op:add t:u32,s32,u64", (*inst).storeAsync, "9.7.13.8")},
	"multimem": {row("2 ld_reduce sem?:weak,relaxed,acquire scope?:@scope ss?:global op:and,or,xor t:b32,b64", (*inst).loadReduce, "9.7.9.13"),
		row("2 ld_reduce sem?:weak,relaxed,acquire scope?:@scope ss?:global op:min,max t:u32,s32,u64,s64", (*inst).loadReduce, "9.7.9.13"),
		row("2 ld_reduce sem?:weak,relaxed,acquire scope?:@scope ss?:global op:add t:u32,s32,u64", (*inst).loadReduce, "9.7.9.13"),
		row("2 st sem?:weak,relaxed,release scope?:@scope ss?:global t:b32,u32,s32,b64,u64,s64", (*inst).store, "9.7.9.13"),
		row("2 red sem?:relaxed,release scope?:@scope ss?:global op:and,or,xor t:b32,b64", (*inst).reduceAll, "9.7.9.13"),
		row("2 red sem?:relaxed,release scope?:@scope ss?:global op:min,max t:u32,s32,u64,s64", (*inst).reduceAll, "9.7.9.13"),
		row("2 red sem?:relaxed,release scope?:@scope ss?:global op:add t:u32,s32,u64", (*inst).reduceAll, "9.7.9.13")},
	"fence": {row("0 sem?:sc,acq_rel,acquire,release scope:@scope", (*inst).fence, "9.7.13.4"),
		row("0 sem:acquire objects:sync_restrict::shared::cluster scope:cluster", (*inst).fence, "9.7.13.4"),
		row("0 sem:release objects:sync_restrict::shared::cta scope:cluster", (*inst).fence, "9.7.13.4"),
		row("0 proxy kind:alias,async sub?:global,shared::cta,shared::cluster", (*inst).proxyFence, "9.7.13.4"),
		row("0 proxy kind:async::generic sem:acquire,release objects:sync_restrict::shared::cta,sync_restrict::shared::cluster scope:cluster",
			(*inst).proxyFence, "9.7.13.4"),
		row("0 proxy:mbarrier_init sem:release scope:cluster", (*inst).fence, "9.7.13.4")},
	"membar": {row("0 scope:cta,gl,sys", (*inst).fence, "9.7.13.4")},
	"cp": {row("3-5 async cop:ca,cg ss:shared,shared::cta,shared::cluster global L2::cache_hint? pf?:L2::64B,L2::128B,L2::256B", (*inst).asyncCopy, "9.7.9.25.3"),
		row("0 async commit_group", (*inst).copyCommit, "9.7.9.25.3"), row("1 async wait_group", (*inst).copyWait, "9.7.9.25.3"),
		row("0 async wait_all", (*inst).copyWaitAll, "9.7.9.25.3"),
		row("1 async mbarrier arrive noinc? ss?:shared,shared::cta t:b64", (*inst).arriveBehind, "9.7.13.15.15"),
		row("4-5 async bulk to:shared::cluster,shared::cta from:global,shared::cta mbarrier::complete_tx::bytes L2::cache_hint?", (*inst).bulkCopy, "9.7.9.25.4"),
		row("3-5 async bulk tensor dim:1d,2d,3d,4d,5d to:shared::cluster,shared::cta global tile? mbarrier::complete_tx::bytes multicast::cluster? L2::cache_hint?",
			(*inst).tensorLoad, "9.7.9.25.5.2"),
		row("2-3 async bulk tensor dim:1d,2d,3d,4d,5d global shared::cta tile? bulk_group L2::cache_hint?", (*inst).tensorStore, "9.7.9.25.5.2"),
		row("2-3 reduce async bulk tensor dim:1d,2d,3d,4d,5d global shared::cta red:add,min,max,inc,dec,and,or,xor tile? bulk_group L2::cache_hint?",
			(*inst).tensorStore, "9.7.9.25.5.3"),
		row("1-2 async bulk prefetch tensor dim:1d,2d,3d,4d,5d L2 global tile? L2::cache_hint?", (*inst).nothing, "9.7.9.25.5.4"),
		row("5-6 async bulk to:shared::cluster from:global mbarrier::complete_tx::bytes multicast::cluster L2::cache_hint?", (*inst).bulkCopy, "9.7.9.25.4"),
		row("4-5 reduce async bulk to:shared::cluster from:shared::cta mbarrier::complete_tx::bytes op:inc,dec t:u32", (*inst).bulkCopy, "9.7.9.25.5"),
		row("4-5 reduce async bulk to:shared::cluster from:shared::cta mbarrier::complete_tx::bytes op:and,or,xor t:b32", (*inst).bulkCopy, "9.7.9.25.5"),
		row("4-5 reduce async bulk to:shared::cluster from:shared::cta mbarrier::complete_tx::bytes op:min,max t:u32,s32", (*inst).bulkCopy, "9.7.9.25.5"),
		row("4-5 reduce async bulk to:shared::cluster from:shared::cta mbarrier::complete_tx::bytes op:add t:u32,s32,u64", (*inst).bulkCopy, "9.7.9.25.5"),
		row("3-4 reduce async bulk to:global from:shared::cta bulk_group L2::cache_hint? op:inc,dec t:u32", (*inst).bulkCopy, "9.7.9.25.5"),
		row("3-4 reduce async bulk to:global from:shared::cta bulk_group L2::cache_hint? op:and,or,xor t:b32,b64", (*inst).bulkCopy, "9.7.9.25.5"),
		row("3-4 reduce async bulk to:global from:shared::cta bulk_group L2::cache_hint? op:min,max t:u32,s32,u64,s64,@half", (*inst).bulkCopy, "9.7.9.25.5"),
		row("3-4 reduce async bulk to:global from:shared::cta bulk_group L2::cache_hint? op:add t:u32,s32,u64,f32,f64", (*inst).bulkCopy, "9.7.9.25.5"),
		row("3-4 reduce async bulk to:global from:shared::cta bulk_group L2::cache_hint? op:add noftz t:@half", (*inst).bulkCopy, "9.7.9.25.5"),
		row("3-4 async bulk to:global from:shared::cta bulk_group L2::cache_hint?", (*inst).bulkCopy, "9.7.9.25.4"),
		row("0 async bulk commit_group", (*inst).copyCommit, "9.7.9.25.4"), row("1 async bulk wait_group read?", (*inst).bulkWait, "9.7.9.25.4"),
		row("2-3 async bulk prefetch L2 global L2::cache_hint?", (*inst).nothing, "9.7.9.25.4")},
	"prefetch":      {row("1 ss?:param,const tensormap", (*inst).nothing, "9.7.9.15"), row("1 ss?:global,local level:L1,L2,L2::evict_last,L2::evict_normal", (*inst).nothing, "9.7.9.15")},
	"prefetchu":     {row("1 L1", (*inst).nothing, "9.7.9.15")},
	"applypriority": {row("2 global? level:L2::evict_normal", (*inst).nothing, "9.7.9.16")},
	"createpolicy": {row("2-3 fractional p:L2::evict_last,L2::evict_normal,L2::evict_first,L2::evict_unchanged s?:L2::evict_first,L2::evict_unchanged t:b64",
		(*inst).policy, "9.7.9.18"), row("1-2 fractional p:L2::evict_last,L2::evict_normal,L2::evict_first,L2::evict_unchanged t:b64", (*inst).policy, "9.7.9.18")},
}

// mbarriers are operations on barrier objects, and on addresses of a cluster's shared memory.
var mbarriers = map[string][]form{
	"mbarrier": {row("2 init"+object, (*inst).initObject, "9.7.13.15.9"), row("1 inval"+object, (*inst).inval, "9.7.13.15.10"),
		row("2-3 op:arrive,arrive_drop"+arrival+" ss?:shared,shared::cta,shared::cluster t:b64", (*inst).arrive, "9.7.13.15.13"),
		row("3 op:arrive,arrive_drop expect_tx"+arrival+" ss?:shared,shared::cta,shared::cluster t:b64", (*inst).arrive, "9.7.13.15.13"),
		row("2 tx:expect_tx,complete_tx relaxed? scope?:cta,cluster ss?:shared,shared::cta,shared::cluster t:b64", (*inst).transactions, "9.7.13.15.11"),
		row("3 test_wait"+waiting, (*inst).testWait, "9.7.13.15.16"), row("3-4 try_wait"+waiting, (*inst).testWait, "9.7.13.15.16"),
		row("2 pending_count t:b64", (*inst).pendingCount, "9.7.13.15.17")},
	"mapa":       {row("3 ss?:shared::cluster t:u32,u64", (*inst).mapa, "9.7.9.23")},
	"getctarank": {row("2 ss?:shared::cluster t:u32,u64", (*inst).ctaRank, "9.7.9.24")},
}

const (
	object  = " ss?:shared,shared::cta t:b64"
	waiting = " parity? sem?:acquire,relaxed scope?:cta,cluster ss?:shared,shared::cta t:b64"
	arrival = " sem?:release,relaxed scope?:cta,cluster"
)

var control = map[string][]form{
	"bra":  {row("1 uni?", (*inst).bra, "9.7.12.3")},
	"brx":  {row("2 idx uni?", (*inst).brx, "9.7.12.4")},
	"call": {row("1-4 uni?", (*inst).call, "9.7.12.5")},
	"ret":  {row("0 uni?", (*inst).ret, "9.7.12.6")},
	"exit": {row("0", (*inst).exit, "9.7.12.7")},
	"trap": {row("0", (*inst).trap, "9.7.19.4")},

	"nanosleep":      {row("1 t:u32", (*inst).nothing, "9.7.19.2")},
	"pmevent":        {row("1 mask?", (*inst).nothing, "9.7.19.3")},
	"setmaxnreg":     {row("1 dir:inc,dec sync aligned t:u32", (*inst).nothing, "9.7.19.5")},
	"griddepcontrol": {row("0 what:wait,launch_dependents", (*inst).nothing, "9.7.13.13")},
}

var warps = map[string][]form{
	"bar": {row("1-2 cta? sync", (*inst).bar, "9.7.13.1"), row("2 cta? arrive", (*inst).barArrive, "9.7.13.1"),
		row("3-4 cta? red op:popc t:u32", (*inst).barRed, "9.7.13.1"), row("3-4 cta? red op:and,or t:pred", (*inst).barRed, "9.7.13.1"),
		row("1 warp sync", (*inst).warpSync, "9.7.13.2")},
	"barrier": {row("1-2 cta? sync aligned?", (*inst).bar, "9.7.13.1"), row("2 cta? arrive aligned?", (*inst).barArrive, "9.7.13.1"),
		row("3-4 cta? red op:popc aligned? t:u32", (*inst).barRed, "9.7.13.1"), row("3-4 cta? red op:and,or aligned? t:pred", (*inst).barRed, "9.7.13.1"),
		row("0 cluster arrive sem?:release aligned?", (*inst).clusterBarrier, "9.7.13.3"),
		row("0 cluster arrive relaxed aligned?", (*inst).clusterBarrier, "9.7.13.3"),
		row("0 cluster wait acquire? aligned?", (*inst).clusterBarrier, "9.7.13.3")},
	"shfl":       {row("4-5 sync? mode:idx,up,down,bfly t:b32", (*inst).shfl, "9.7.9.6")},
	"vote":       {row("2-3 sync? mode:all,any,uni t:pred", (*inst).vote, "9.7.13.9"), row("2-3 sync? mode:ballot t:b32", (*inst).vote, "9.7.13.9")},
	"match":      {row("3 mode:any,all sync t:b32,b64", (*inst).match, "9.7.13.10")},
	"activemask": {row("1 t:b32", (*inst).activemask, "9.7.13.11")},
	"redux":      {row("3 sync op:add,min,max t:u32,s32", (*inst).redux, "9.7.13.12"), row("3 sync op:and,or,xor t:b32", (*inst).redux, "9.7.13.12")},
	"elect":      {row("2 sync", (*inst).elect, "9.7.13.15")},
	"ldmatrix":   {row("2 sync aligned m8n8 n:x1,x2,x4 trans? ss?:shared,shared::cta t:b16", (*inst).loadMatrices, "9.7.14.5.15"), row("2 sync aligned n:x1,x2,x4 m8n8 trans? ss?:shared,shared::cta t:b16", (*inst).loadMatrices, "9.7.14.5.15")},
	"stmatrix":   {row("2 sync aligned m8n8 n:x1,x2,x4 trans? ss?:shared,shared::cta t:b16", (*inst).storeMatrices, "9.7.14.5.16"), row("2 sync aligned n:x1,x2,x4 m8n8 trans? ss?:shared,shared::cta t:b16", (*inst).storeMatrices, "9.7.14.5.16")},
	"mma": {row("4 sync aligned shape:m16n8k16,m16n8k8 row col d:f16,f32 a:f16 b:f16 c:f16,f32", (*inst).multiply, "9.7.14.5.14"),
		row("4 sync aligned shape:m16n8k16,m16n8k8 row col d:f32 a:bf16 b:bf16 c:f32", (*inst).multiply, "9.7.14.5.14"),
		row("4 sync aligned shape:m16n8k8,m16n8k4 row col d:f32 a:tf32 b:tf32 c:f32", (*inst).multiply, "9.7.14.5.14"),
		row("4 sync aligned shape:m16n8k32,m16n8k16,m8n8k16 row col satfinite? d:s32 a:u8,s8 b:u8,s8 c:s32", (*inst).multiply, "9.7.14.5.14"),
		row("4 sync aligned shape:m8n8k4 row col d:f64 a:f64 b:f64 c:f64", (*inst).multiply, "9.7.14.5.14")},
	"wmma": {row("2-3 load part:a,b sync aligned layout:row,col shape:m16n16k16 ss?:shared,shared::cta,global t:f16,bf16", (*inst).loadTile, "9.7.14.4.3"),
		row("2-3 load part:c sync aligned layout:row,col shape:m16n16k16 ss?:shared,shared::cta,global t:f16,f32", (*inst).loadTile, "9.7.14.4.3"),
		row("2-3 store d sync aligned layout:row,col shape:m16n16k16 ss?:shared,shared::cta,global t:f16,f32", (*inst).storeTile, "9.7.14.4.4"),
		row("4 mma sync aligned left:row,col right:row,col shape:m16n16k16 d:f16,f32 c:f16,f32", (*inst).multiplyTiles, "9.7.14.4.5"),
		row("4 mma sync aligned left:row,col right:row,col shape:m16n16k16 d:f32 a:bf16 b:bf16 c:f32", (*inst).multiplyTiles, "9.7.14.4.5")},
	"wgmma": {row("0 fence sync aligned", (*inst).productFence, "9.7.15.6"), row("0 commit_group sync aligned", (*inst).copyCommit, "9.7.15.6"),
		row("1 wait_group sync aligned", (*inst).copyWait, "9.7.15.6"),
		row("7-8 mma_async sync aligned shape:@k16 d:f16,f32 a:f16 b:f16", (*inst).groupProduct, "9.7.15.5"),
		row("7-8 mma_async sync aligned shape:@k16 d:f32 a:bf16 b:bf16", (*inst).groupProduct, "9.7.15.5"),
		row("6 mma_async sync aligned shape:@k8 d:f32 a:tf32 b:tf32", (*inst).groupProduct, "9.7.15.5"),
		row("6 mma_async sync aligned shape:@k32 d:f16,f32 a:e4m3,e5m2 b:e4m3,e5m2", (*inst).groupProduct, "9.7.15.5"),
		row("4 mma_async sync aligned shape:@k32 satfinite? d:s32 a:u8,s8 b:u8,s8", (*inst).groupProduct, "9.7.15.5")},
	"movmatrix": {row("2 sync aligned m8n8 trans t:b16", (*inst).moveMatrix, "9.7.14.5.17")},
}
