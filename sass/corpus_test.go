package sass

import (
	"fmt"
	"strings"
)

// corpus writes PTX kernels that cover what occurs around litmus code: every
// memory operation in every space, width, cache operator, semantics and scope,
// barriers, warp operations, predicates, branches, calls and arithmetic.
type corpus struct {
	sm  int
	ptx int // PTX ISA version times ten: 72 is 7.2
	b   strings.Builder
	// jumps includes indirect branches: nvdisasm of 11.x gives no register life
	// ranges for a sm_3x file that has one.
	jumps bool
	n     int
}

// corpusPTX returns the kernels that a target accepts, as one module.
func corpusPTX(sm, ptx int, jumps bool) string {
	c := &corpus{sm: sm, ptx: ptx, jumps: jumps}
	fmt.Fprintf(&c.b, ".version %d.%d\n.target %s\n.address_size 64\n", ptx/10, ptx%10, archOf(sm, ptx))
	c.b.WriteString(".global .align 16 .b8 gx[256];\n.global .align 16 .b8 gy[256];\n.const .align 16 .b8 cx[256];\n")
	c.b.WriteString(".visible .func (.reg .b32 r) callee(.reg .b32 a, .reg .b64 p) {\n .reg .b32 t;\n" +
		" ld.u32 t,[p];\n add.u32 r,a,t;\n bar.warp.sync 0xffffffff;\n ret;\n}\n")
	c.loads()
	c.stores()
	c.atomics()
	c.fences()
	c.barriers()
	c.warp()
	c.compare()
	c.control()
	c.integer()
	c.float()
	c.special()
	c.async()
	c.textures()
	c.groups()
	return c.b.String()
}

// archOf is the name of a target, of sm_90 with its own features where the release knows them.
func archOf(sm, ptx int) string {
	if sm == 90 && ptx >= 80 {
		return "sm_90a"
	}
	return fmt.Sprintf("sm_%d", sm)
}

// kernel writes one kernel. The body finds p and q (u64 pointers to global
// memory), s (a shared address), l (a local one), r0..r9, rd0..rd9, f0..f3,
// fd0..fd3, h0..h3, p0..p3 and x, y (u32 parameters), z, w (u64 parameters).
func (c *corpus) kernel(body ...string) {
	c.n++
	fmt.Fprintf(&c.b, ".visible .entry k%d(.param .u64 ap,.param .u64 aq,.param .u32 ax,.param .u32 ay,.param .u64 az,.param .u64 aw) {\n",
		c.n)
	c.b.WriteString(" .reg .b64 p,q,z,w,rd<10>; .reg .b32 s,l,x,y,r<16>; .reg .f32 f<6>; .reg .f64 fd<6>; .reg .b16 h<6>; .reg .pred p<6>;\n" +
		" .shared .align 16 .b8 sh[512]; .local .align 16 .b8 lo[64];\n" +
		" ld.param.u64 p,[ap]; ld.param.u64 q,[aq]; ld.param.u32 x,[ax]; ld.param.u32 y,[ay]; ld.param.u64 z,[az]; ld.param.u64 w,[aw];\n" +
		" mov.u32 s,sh; mov.u32 l,lo; mov.u32 r0,0; mov.u32 r1,0; mov.u32 r2,0; mov.u32 r3,0; mov.u64 rd0,0; mov.u64 rd1,0; mov.f32" +
		" f0,0f00000000; mov.f64 fd0,0d0000000000000000; mov.b16 h0,0;\n" +
		" setp.ne.u32 p0,x,1;\n")
	for _, s := range body {
		c.b.WriteString(" " + s + "\n")
	}
	c.b.WriteString(" st.global.u32 [q+64],r0; st.global.u32 [q+68],r1; st.global.u32 [q+72],r2; st.global.u32 [q+76],r3; st.global.u64" +
		" [q+80],rd0; st.global.u64 [q+88],rd1;\n" +
		" st.global.f32 [q+96],f0; st.global.f64 [q+104],fd0; st.global.b16 [q+112],h0;\n ret;\n}\n")
}

var ptxTypes = []struct{ typ, reg, reg2 string }{
	{"u8", "h0", "h1"}, {"s8", "h0", "h1"}, {"u16", "h0", "h1"}, {"s16", "h0", "h1"}, {"u32", "r0", "r1"}, {"u64", "rd0", "rd1"},
	{"f32", "f0", "f1"}, {"f64", "fd0", "fd1"},
	{"v2.u32", "{r0,r1}", "{x,y}"}, {"v4.u32", "{r0,r1,r2,r3}", "{x,y,x,y}"}, {"v2.u64", "{rd0,rd1}", "{z,w}"},
}

func (c *corpus) scopes() []string {
	s := []string{"cta", "gpu", "sys"}
	if c.sm >= 90 {
		s = append(s, "cluster")
	}
	return s
}

func (c *corpus) loads() {
	addr := map[string]string{"global": "[p+4]", "": "[p+8]", "shared": "[s+16]", "local": "[l+16]", "const": "[cx+16]"}
	for _, sp := range []string{"global", "", "shared", "local", "const"} {
		dot := ""
		if sp != "" {
			dot = "." + sp
		}
		for _, t := range ptxTypes {
			a := addr[sp]
			if strings.Contains(t.typ, "64") {
				a = strings.Replace(a, "+4", "+8", 1)
			}
			if strings.HasPrefix(t.typ, "v") {
				a = strings.Replace(strings.Replace(a, "+4", "+16", 1), "+8", "+16", 1)
			}
			c.kernel(fmt.Sprintf("ld%s.%s %s,%s;", dot, t.typ, t.reg, a))
		}
	}
	for _, op := range []string{"ca", "cg", "cs", "lu", "cv"} {
		c.kernel("ld.global."+op+".u32 r0,[p];", "ld."+op+".u32 r1,[q];", "ld.global."+op+".u64 rd0,[p+8];")
	}
	c.kernel("ld.global.nc.u32 r0,[p];", "ld.global.nc.u64 rd0,[p+8];", "ld.global.nc.v4.u32 {r0,r1,r2,r3},[p+16];")
	c.kernel("ld.volatile.global.u32 r0,[p];", "ld.volatile.u32 r1,[q];", "ld.volatile.shared.u32 r2,[s+4];",
		"ld.volatile.shared.u64 rd0,[s+8];")
	c.kernel("ldu.global.u32 r0,[p];", "ldu.global.u64 rd0,[p+8];")
	c.kernel("ld.global.u32 r0,[gx+4];", "ld.shared.u32 r1,[sh+8];", "ld.global.u32 r2,[gy];")
	c.kernel("mul.wide.u32 rd2,x,4;", "add.u64 rd3,p,rd2;", "ld.global.u32 r0,[rd3+-8];", "and.b32 r4,r0,0x80000000;", "cvt.u64.u32 rd4,r4;",
		"add.u64 rd5,q,rd4;", "ld.global.u32 r1,[rd5];",
		"shl.b32 r5,x,2;", "add.u32 r6,s,r5;", "ld.shared.u32 r2,[r6+16];")
	c.kernel("and.b32 r4,x,12;", "add.u32 r5,l,r4;", "st.local.u32 [r5],y;", "st.local.u32 [l+32],x;", "ld.local.u32 r0,[r5+4];",
		"cvta.local.u64 rd2,rd0;", "ld.u32 r1,[rd2];")
	c.kernel("prefetch.global.L1 [p];", "prefetch.global.L2 [q];", "prefetchu.L1 [p];")
	if c.sm >= 70 {
		for _, sc := range c.scopes() {
			for _, sem := range []string{"relaxed", "acquire"} {
				c.kernel("ld."+sem+"."+sc+".global.u32 r0,[p];", "ld."+sem+"."+sc+".u32 r1,[q];", "ld."+sem+"."+sc+".global.u64 rd0,[p+8];")
				c.kernel("ld."+sem+"."+sc+".shared.u32 r0,[s+4];", "ld."+sem+"."+sc+".shared.u64 rd0,[s+8];")
			}
		}
		if c.ptx >= 82 {
			c.kernel("ld.mmio.relaxed.sys.global.u32 r0,[p];", "st.mmio.relaxed.sys.global.u32 [q],x;")
		}
	}
	if c.sm >= 80 && c.ptx >= 74 {
		c.kernel("createpolicy.fractional.L2::evict_last.b64 rd2,1.0;", "ld.global.L2::cache_hint.u32 r0,[p],rd2;",
			"ld.global.L1::no_allocate.u32 r1,[p+8];", "ld.global.L2::128B.u32 r2,[p+12];",
			"st.global.L2::cache_hint.u32 [q],x,rd2;", "discard.global.L2 [p],128;", "applypriority.global.L2::evict_normal [p],128;")
	}
}

func (c *corpus) stores() {
	addr := map[string]string{"global": "[q+16]", "": "[q+16]", "shared": "[s+16]", "local": "[l+16]"}
	src := map[string]string{"h0": "h5", "r0": "x", "rd0": "z", "f0": "f5", "fd0": "fd5"}
	for _, sp := range []string{"global", "", "shared", "local"} {
		dot := ""
		if sp != "" {
			dot = "." + sp
		}
		for _, t := range ptxTypes {
			v := t.reg2
			if s, ok := src[t.reg]; ok {
				v = s
			}
			c.kernel("cvt.u16.u32 h5,x;", "mov.b32 f5,x;", "mov.b64 fd5,z;", fmt.Sprintf("st%s.%s %s,%s;", dot, t.typ, addr[sp], v),
				"ld.local.u32 r0,[l+20];", "ld.shared.u32 r1,[s+20];")
		}
	}
	for _, op := range []string{"wb", "cg", "cs", "wt"} {
		c.kernel("st.global."+op+".u32 [p],x;", "st."+op+".u32 [q],y;", "st.global."+op+".u64 [p+8],z;")
	}
	c.kernel("st.volatile.global.u32 [p],x;", "st.volatile.u32 [q],y;", "st.volatile.shared.u32 [s+4],x;", "st.volatile.shared.u64 [s+8],z;")
	c.kernel("st.global.u32 [gx+4],x;", "st.shared.u32 [sh+8],y;", "@p0 st.global.u32 [p],1;", "@!p0 st.global.u32 [p+8],2;",
		"st.global.u64 [p+16],0x1234567890;")
	if c.sm >= 70 {
		for _, sc := range c.scopes() {
			for _, sem := range []string{"relaxed", "release"} {
				c.kernel("st."+sem+"."+sc+".global.u32 [p],x;", "st."+sem+"."+sc+".u32 [q],y;", "st."+sem+"."+sc+".global.u64 [p+8],z;")
				c.kernel("st."+sem+"."+sc+".shared.u32 [s+4],x;", "st."+sem+"."+sc+".shared.u64 [s+8],z;")
			}
		}
	}
}

func (c *corpus) atomics() {
	spaces := map[string]string{".global": "p", ".shared": "s", "": "q"}
	var sems []string
	sems = append(sems, "")
	if c.sm >= 60 {
		sems = append(sems, ".cta", ".gpu", ".sys")
	}
	if c.sm >= 70 {
		for _, m := range []string{".relaxed", ".acquire", ".release", ".acq_rel"} {
			for _, s := range c.scopes() {
				sems = append(sems, m+"."+s)
			}
		}
	}
	for _, sp := range []string{".global", ".shared", ""} {
		a := spaces[sp]
		for _, s := range sems {
			c.kernel("atom"+s+sp+".cas.b32 r0,["+a+"+16],x,y;", "atom"+s+sp+".exch.b32 r1,["+a+"+20],x;")
			c.kernel("atom"+s+sp+".add.u32 r0,["+a+"+16],x;", "red"+redSem(s)+sp+".add.u32 ["+a+"+20],y;")
		}
		for _, op := range []string{"and.b32", "or.b32", "xor.b32", "min.u32", "max.u32", "min.s32", "max.s32", "inc.u32", "dec.u32", "add.s32"} {
			c.kernel("atom"+sp+"."+op+" r0,["+a+"+16],x;", "red"+sp+"."+op+" ["+a+"+20],y;")
		}
		for _, op := range []string{"add.u64", "exch.b64", "and.b64", "or.b64", "xor.b64", "min.u64", "max.u64", "min.s64", "max.s64"} {
			k := []string{"atom" + sp + "." + op + " rd0,[" + a + "+16],z;"}
			if !strings.HasPrefix(op, "exch") {
				k = append(k, "red"+sp+"."+op+" ["+a+"+24],w;")
			}
			c.kernel(k...)
		}
		c.kernel("atom" + sp + ".cas.b64 rd0,[" + a + "+16],z,w;")
		c.kernel("mov.b32 f1,x;", "atom"+sp+".add.f32 f0,["+a+"+16],f1;", "red"+sp+".add.f32 ["+a+"+20],f1;")
		if c.sm >= 60 {
			c.kernel("mov.b64 fd1,z;", "atom"+sp+".add.f64 fd0,["+a+"+16],fd1;", "red"+sp+".add.f64 ["+a+"+24],fd1;")
			c.kernel("atom"+sp+".add.noftz.f16x2 r0,["+a+"+16],x;", "red"+sp+".add.noftz.f16x2 ["+a+"+20],x;")
		}
		if c.sm >= 70 {
			c.kernel("cvt.u16.u32 h1,x;", "cvt.u16.u32 h2,y;", "atom"+sp+".cas.b16 h0,["+a+"+16],h1,h2;",
				"atom"+sp+".add.noftz.f16 h3,["+a+"+20],h1;")
		}
	}
	c.kernel("atom.global.exch.b32 r4,[p],x;", "atom.shared.exch.b32 r5,[s+4],x;", "atom.global.cas.b32 r6,[p+8],0,1;",
		"@p0 atom.global.cas.b32 r0,[p+12],x,y;")
}

func redSem(s string) string {
	s = strings.Replace(s, ".acquire", ".relaxed", 1)
	s = strings.Replace(s, ".acq_rel", ".release", 1)
	return s
}

func (c *corpus) fences() {
	f := []string{"membar.cta", "membar.gl", "membar.sys"}
	if c.sm >= 70 {
		for _, s := range c.scopes() {
			f = append(f, "fence.sc."+s, "fence.acq_rel."+s)
		}
		if c.ptx >= 75 {
			f = append(f, "fence.proxy.alias")
		}
	}
	if c.sm >= 90 && c.ptx >= 80 {
		f = append(f, "fence.proxy.async", "fence.proxy.async.global", "fence.proxy.async.shared::cta", "fence.mbarrier_init.release.cluster")
	}
	for _, x := range f {
		c.kernel("st.global.u32 [p],x;", x+";", "ld.global.cg.u32 r0,[p+128];")
		c.kernel("ld.volatile.global.u32 r0,[p];", x+";", "ld.volatile.global.u32 r1,[p+128];", "st.shared.u32 [s],r1;", x+";",
			"ld.shared.u32 r2,[s+4];")
		c.kernel("@p0 bra L;", x+";", "L:", "ld.global.cg.u32 r0,[p];")
	}
}

func (c *corpus) barriers() {
	c.kernel("bar.sync 0;", "bar.sync 1,64;", "bar.arrive 2,64;", "bar.sync x;", "bar.sync x,y;")
	c.kernel("bar.red.popc.u32 r0,0,p0;", "bar.red.and.pred p1,1,p0;", "bar.red.or.pred p2,2,64,!p0;", "selp.u32 r1,1,x,p1;",
		"selp.u32 r2,1,y,p2;")
	c.kernel("barrier.sync 1;", "barrier.arrive 3,64;", "barrier.red.popc.u32 r0,4,p0;")
	c.kernel("bar.warp.sync x;", "st.shared.u32 [s],x;", "bar.warp.sync 0xffffffff;", "ld.shared.u32 r0,[s+4];", "bar.warp.sync 0xf;")
	if c.sm >= 90 && c.ptx >= 78 {
		c.kernel("barrier.cluster.arrive;", "barrier.cluster.wait;")
		if c.ptx >= 80 {
			c.kernel("barrier.cluster.arrive.release;", "barrier.cluster.wait.acquire;")
			c.kernel("barrier.cluster.arrive.relaxed;", "barrier.cluster.wait;")
		}
		c.kernel("mapa.shared::cluster.u32 r4,s,x;", "ld.shared::cluster.u32 r0,[r4];", "st.shared::cluster.u32 [r4+4],y;",
			"atom.shared::cluster.add.u32 r1,[r4+8],x;", "getctarank.shared::cluster.u32 r2,r4;")
	}
}

func (c *corpus) warp() {
	c.kernel("vote.sync.all.pred p1,p0,0xffffffff;", "vote.sync.any.pred p2,p0,0xffffffff;", "vote.sync.uni.pred p3,p0,x;",
		"vote.sync.ballot.b32 r0,p0,0xffffffff;",
		"selp.u32 r1,x,y,p1;", "selp.u32 r2,1,y,p2;", "selp.u32 r3,x,7,p3;")
	c.kernel("shfl.sync.idx.b32 r0,x,y,31,0xffffffff;", "shfl.sync.up.b32 r1|p1,x,1,0,0xffffffff;", "shfl.sync.down.b32 r2,x,2,31,y;",
		"shfl.sync.bfly.b32 r3,x,y,r1,0xffffffff;", "@p1 st.global.u32 [p],1;")
	if c.ptx >= 62 {
		c.kernel("activemask.b32 r0;")
	}
	if c.sm >= 70 {
		c.kernel("match.sync.any.b32 r0,x,0xffffffff;", "match.sync.all.b32 r1|p1,y,0xffffffff;", "match.sync.any.b64 r2,z,0xffffffff;",
			"@p1 st.global.u32 [p],1;")
	}
	if c.sm >= 80 {
		c.kernel("redux.sync.add.u32 r0,x,0xffffffff;", "redux.sync.min.s32 r1,x,0xffffffff;", "redux.sync.and.b32 r2,x,0xffffffff;",
			"redux.sync.xor.b32 r3,x,y;")
		c.kernel("redux.sync.max.u32 r0,x,0xffffffff;", "redux.sync.or.b32 r2,x,0xffffffff;")
	}
	if c.sm >= 90 && c.ptx >= 80 {
		c.kernel("elect.sync r0|p1,0xffffffff;", "@p1 st.global.u32 [p],1;")
	}
}

func (c *corpus) compare() {
	for _, op := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
		for _, t := range []struct{ t, a, b string }{{"u32", "x", "y"}, {"s32", "x", "y"}, {"u64", "z", "w"}, {"s64", "z", "w"}} {
			c.kernel("setp."+op+"."+t.t+" p1,"+t.a+","+t.b+";", "@p1 st.global.u32 [p],1;", "selp."+t.t[:1]+"32 r0,x,y,p1;",
				"setp."+op+".and."+t.t+" p2|p3,"+t.a+",5,p0;", "@p2 st.global.u32 [p+16],2;", "@!p3 st.global.u32 [p+32],3;",
				"setp."+op+".or."+t.t+" p4,"+t.a+","+t.b+",!p0;", "selp.b64 rd0,z,w,p4;", "set."+op+".u32."+t.t+" r2,"+t.a+","+t.b+";")
		}
		c.kernel("mov.b32 f1,x;", "mov.b32 f2,y;", "setp."+op+".f32 p1,f1,f2;", "setp."+op+"u.f32 p2,f1,0f3F800000;", "selp.f32 f0,f1,f2,p1;",
			"selp.u32 r0,x,1,p2;",
			"mov.b64 fd1,z;", "mov.b64 fd2,w;", "setp."+op+".f64 p3,fd1,fd2;", "selp.f64 fd0,fd1,fd2,p3;", "set."+op+".u32.f32 r3,f1,f2;")
	}
	c.kernel("setp.eq.u32 p1,x,0;", "and.pred p2,p1,p0;", "or.pred p3,p2,p1;", "xor.pred p4,p3,p0;", "not.pred p5,p4;", "selp.u32 r0,1,2,p5;",
		"selp.u32 r1,x,y,p2;", "@p3 st.global.u32 [p],x;")
	c.kernel("isspacep.shared p1,p;", "isspacep.global p2,q;", "isspacep.local p3,p;", "selp.u32 r0,1,x,p1;", "selp.u32 r1,1,x,p2;",
		"selp.u32 r2,1,x,p3;", "slct.u32.s32 r3,x,y,r0;")
}

func (c *corpus) control() {
	c.kernel("@p0 bra A;", "st.global.u32 [p],1;", "membar.gl;", "st.global.u32 [p+4],1;", "atom.global.exch.b32 r0,[p+8],1;", "bra B;", "A:",
		"ld.volatile.global.u32 r0,[p];", "ld.volatile.global.u32 r1,[p+8];", "membar.cta;", "st.global.u32 [q],3;", "B:", "bar.sync 0;")
	c.kernel("L:", "atom.global.cas.b32 r4,[p],0,1;", "setp.ne.u32 p1,r4,0;", "@p1 bra L;", "membar.gl;", "ld.volatile.global.u32 r0,[q];",
		"atom.global.exch.b32 r5,[p],0;")
	c.kernel("L:", "ld.volatile.global.u32 r4,[p];", "setp.eq.u32 p1,r4,0;", "@p1 bra L;", "ld.global.u32 r0,[q];")
	c.kernel("mov.u32 r4,0;", "L:", "ld.global.u32 r5,[p];", "add.u32 r0,r0,r5;", "add.u32 r4,r4,1;", "setp.lt.u32 p1,r4,x;", "@!p1 bra M;",
		"setp.eq.u32 p2,r5,7;", "@p2 bra M;", "bra L;", "M:")
	c.kernel("call (r0),callee,(x,p);", "call (r1),callee,(y,q);")
	if c.jumps {
		c.kernel("mov.u64 rd4,callee;", "{", "ts: .branchtargets A,B,C;", "brx.idx x,ts;", "}", "A: st.global.u32 [p],1; bra D;",
			"B: st.global.u32 [p],2; bra D;", "C: st.global.u32 [p+4],3;", "D:")
	}
	c.kernel("@p0 exit;", "st.global.u32 [p],1;")
	c.kernel("@p0 trap;", "@!p0 brkpt;")
	c.kernel("@p0 bra A;", "setp.eq.u32 p1,y,3;", "@p1 bra B;", "bar.warp.sync 0xffffffff;", "ld.volatile.global.u32 r0,[p];", "B:",
		"ld.volatile.global.u32 r1,[p+8];", "A:", "st.volatile.global.u32 [q],r0;")
	if c.sm >= 70 {
		c.kernel("nanosleep.u32 x;", "nanosleep.u32 100;")
	}
}

func (c *corpus) integer() {
	for _, t := range []string{"u32", "s32"} {
		for _, op := range []string{"add", "sub", "min", "max", "div", "rem"} {
			c.kernel(op+"."+t+" r0,x,y;", op+"."+t+" r1,x,17;")
		}
		c.kernel("mul.lo."+t+" r0,x,y;", "mul.hi."+t+" r1,x,y;", "mad.lo."+t+" r2,x,y,r0;", "mad.hi."+t+" r3,x,y,r1;", "mul.wide."+t+" rd0,x,y;",
			"mad.wide."+t+" rd1,x,y,z;")
		c.kernel("mul24.lo."+t+" r0,x,y;", "mad24.lo."+t+" r1,x,y,r0;", "sad."+t+" r2,x,y,r1;", "mul.lo."+t+" r3,x,1000003;")
		c.kernel("shr."+t+" r0,x,y;", "shr."+t+" r1,x,5;", "bfe."+t+" r2,x,y,8;", "bfe."+t+" r3,x,4,8;", "bfind."+t+" r4,x;",
			"st.global.u32 [p],r4;")
	}
	for _, t := range []string{"u64", "s64"} {
		for _, op := range []string{"add", "sub", "min", "max", "div", "rem"} {
			c.kernel(op+"."+t+" rd0,z,w;", op+"."+t+" rd1,z,17;")
		}
		c.kernel("mul.lo."+t+" rd0,z,w;", "mul.hi."+t+" rd1,z,w;", "mad.lo."+t+" rd2,z,w,rd0;", "st.global.u64 [p],rd2;")
		c.kernel("shr."+t+" rd0,z,x;", "shr."+t+" rd1,z,5;", "bfe."+t+" rd2,z,x,8;", "bfind."+t+" r0,z;", "st.global.u64 [p],rd2;")
		c.kernel("cvt."+t+".u32 rd0,x;", "cvt."+t+".s32 rd1,y;", "cvt.u32."+t+" r0,z;", "cvt.s16."+t+" h0,w;")
	}
	c.kernel("add.cc.u32 r0,x,y;", "addc.cc.u32 r1,x,r0;", "addc.u32 r2,y,y;", "sub.cc.u32 r3,x,5;", "subc.u32 r4,y,x;",
		"st.global.u32 [p],r4;")
	c.kernel("mad.lo.cc.u32 r0,x,y,x;", "madc.hi.cc.u32 r1,x,y,y;", "madc.lo.u32 r2,x,x,y;")
	c.kernel("and.b32 r0,x,y;", "or.b32 r1,x,y;", "xor.b32 r2,x,0x07f3a001;", "not.b32 r3,x;", "and.b32 r4,x,0x80000000;", "or.b32 r5,y,0x12;",
		"st.global.v2.u32 [p],{r4,r5};")
	c.kernel("and.b64 rd0,z,w;", "or.b64 rd1,z,0x1234567812345678;", "xor.b64 rd2,z,w;", "not.b64 rd3,z;", "st.global.v2.u64 [p],{rd2,rd3};")
	c.kernel("xor.b32 r0,x,0x07f3a001;", "cnot.b32 r1,x;")
	if c.sm >= 50 {
		c.kernel("lop3.b32 r2,x,y,r0,0x1e;", "lop3.b32 r3,x,y,r1,0xd8;")
	}
	c.kernel("shl.b32 r0,x,y;", "shl.b32 r1,x,3;", "shl.b64 rd0,z,x;", "shl.b64 rd1,z,7;", "shf.l.wrap.b32 r2,x,y,5;",
		"shf.r.clamp.b32 r3,x,y,r0;")
	c.kernel("shf.l.clamp.b32 r2,x,y,5;", "shf.r.wrap.b32 r3,x,y,r0;", "mad.lo.u32 r0,x,8,y;", "mad.lo.u32 r1,x,12,7;")
	c.kernel("bfi.b32 r0,x,y,4,8;", "bfi.b64 rd0,z,w,4,8;", "brev.b32 r1,x;", "brev.b64 rd1,z;", "popc.b32 r2,x;", "popc.b64 r3,z;",
		"clz.b32 r4,x;", "clz.b64 r5,z;", "st.global.v2.u32 [p],{r4,r5};")
	c.kernel("prmt.b32 r0,x,y,0x5410;", "prmt.b32 r1,x,y,0x7632;", "prmt.b32 r2,x,0,0x4440;", "prmt.b32.f4e r3,x,y,r0;", "prmt.b32 r4,x,y,r1;",
		"st.global.u32 [p],r4;")
	c.kernel("abs.s32 r0,x;", "neg.s32 r1,x;", "abs.s64 rd0,z;", "neg.s64 rd1,z;", "cvt.u8.u32 h0,x;", "cvt.s32.s8 r2,h0;")
	c.kernel("mov.b64 {r0,r1},z;", "mov.b64 rd0,{x,y};", "mov.b32 {h0,h1},x;", "mov.b32 r2,{h1,h0};", "add.u16 h2,h0,h1;",
		"mul.lo.u16 h3,h0,h2;", "cvt.u32.u16 r3,h3;")
	c.kernel("mad.wide.u16 r0,h0,h0,x;", "cvt.u16.u32 h1,x;", "cvt.u16.u32 h2,y;", "mul.wide.s16 r1,h1,h2;", "mad.lo.u16 h0,h1,h2,h1;",
		"min.u16 h3,h1,h2;", "cvt.u32.u16 r2,h3;")
	c.kernel("lea:", "mad.wide.u32 rd2,x,4,p;", "ld.global.u32 r0,[rd2];", "mad.wide.s32 rd3,y,24,q;", "ld.global.u32 r1,[rd3+4];",
		"shl.b64 rd4,z,3;", "add.u64 rd5,p,rd4;", "ld.global.u32 r2,[rd5];")
	if c.sm >= 61 {
		c.kernel("dp4a.u32.s32 r0,x,y,r1;", "dp2a.lo.s32.u32 r1,x,y,r0;")
	}
	c.kernel("vadd.s32.u32.s32 r0,x.b0,y.b2;", "vmin.u32.u32.u32 r1,x.h0,y.h1;", "vshl.u32.u32.u32.clamp r2,x,y;",
		"vabsdiff4.u32.u32.u32.add r3,x,y,r0;", "vset.u32.u32.lt r4,x,y;", "st.global.u32 [p],r4;")
}

func (c *corpus) float() {
	bits := []string{"mov.b32 f1,x;", "mov.b32 f2,y;", "mov.b64 fd1,z;", "mov.b64 fd2,w;"}
	k := func(body ...string) { c.kernel(append(append([]string{}, bits...), body...)...) }
	for _, op := range []string{"add", "sub", "mul", "min", "max", "div.rn"} {
		k(op+".f32 f0,f1,f2;", op+".f64 fd0,fd1,fd2;")
	}
	k("fma.rn.f32 f0,f1,f2,f1;", "fma.rn.f64 fd0,fd1,fd2,fd1;", "mad.rz.f32 f3,f1,0f3F800000,f2;", "st.global.f32 [p],f3;", "neg.f32 f4,f1;",
		"abs.f64 fd3,fd2;", "st.global.f32 [p+8],f4;", "st.global.f64 [p+16],fd3;")
	for _, op := range []string{"rcp.rn", "sqrt.rn", "rsqrt.approx", "sin.approx", "cos.approx", "ex2.approx", "lg2.approx",
		"rcp.approx.ftz"} {
		k(op + ".f32 f0,f1;")
	}
	k("rcp.rn.f64 fd0,fd1;", "sqrt.rn.f64 fd3,fd2;", "st.global.f64 [p],fd3;", "rsqrt.approx.f64 fd4,fd2;", "st.global.f64 [p+8],fd4;")
	k("cvt.rn.f32.f64 f0,fd1;", "cvt.f64.f32 fd0,f2;", "cvt.rzi.s32.f32 r0,f1;", "cvt.rzi.u64.f64 rd0,fd1;", "cvt.rn.f32.s32 f3,x;",
		"cvt.rn.f64.u64 fd3,z;", "cvt.rn.f64.s32 fd4,x;", "cvt.rzi.u32.f64 r1,fd2;", "cvt.rzi.s64.f32 rd1,f2;", "cvt.rn.f32.u64 f4,w;",
		"st.global.f32 [p],f3;", "st.global.f64 [p+8],fd3;", "st.global.f64 [p+16],fd4;", "st.global.f32 [p+24],f4;")
	k("cvt.rn.f16.f32 h0,f1;", "cvt.f32.f16 f0,h0;", "cvt.rn.f16.s32 h1,x;", "cvt.rzi.s16.f32 h2,f2;", "cvt.rni.f32.f32 f3,f1;",
		"cvt.sat.f32.f32 f4,f2;", "st.global.b16 [p],h1;", "st.global.b16 [p+2],h2;", "st.global.f32 [p+4],f3;", "st.global.f32 [p+8],f4;",
		"cvt.rmi.f64.f64 fd0,fd1;", "testp.finite.f32 p1,f1;", "selp.u32 r0,1,2,p1;", "copysign.f32 f5,f1,f2;", "st.global.f32 [p+12],f5;")
	if c.sm >= 53 {
		k("fma.rn.f16x2 r0,x,y,x;", "add.f16x2 r1,x,y;", "mul.f16x2 r2,x,y;", "cvt.u16.u32 h1,x;", "cvt.u16.u32 h2,y;", "fma.rn.f16 h0,h1,h2,h1;",
			"setp.lt.f16x2 p1|p2,x,y;", "selp.u32 r3,1,2,p1;", "@p2 st.global.u32 [p],7;")
		k("cvt.u16.u32 h1,x;", "cvt.u16.u32 h2,y;", "sub.f16 h0,h1,h2;", "setp.gt.f16 p1,h1,h2;", "selp.u32 r0,1,2,p1;",
			"set.eq.f16x2.f16x2 r1,x,y;", "neg.f16x2 r2,x;")
	}
	if c.sm >= 80 {
		k("min.f16x2 r0,x,y;", "max.bf16x2 r1,x,y;", "fma.rn.bf16x2 r2,x,y,x;", "cvt.rn.bf16x2.f32 r3,f1,f2;", "ex2.approx.f16x2 r4,x;",
			"tanh.approx.f32 f0,f1;", "st.global.u32 [p],r4;")
	}
	// Constants that compilers build in several ways.
	c.kernel("mov.u32 r0,1;", "mov.u32 r1,0x3c003c00;", "mov.u32 r2,0xdeadbeef;", "mov.u32 r3,0x7f3a001;", "mov.u64 rd0,0x100000002;",
		"mov.u64 rd1,3;", "mov.f64 fd0,0d3FF0000000000000;")
	for _, v := range []string{"1", "2", "3", "0x10001", "0x3c00", "0x7c00", "0xfc000000", "0x12345678", "0xffffffff", "0x80000000", "100",
		"65535"} {
		c.kernel("mov.u32 r0,"+v+";", "atom.global.cas.b32 r1,[p],x,"+v+";", "st.volatile.global.u32 [p+8],"+v+";",
			"atom.global.exch.b32 r2,[p+4],"+v+";")
	}
}

func (c *corpus) special() {
	regs := []string{"tid.x", "tid.y", "ntid.x", "ctaid.x", "ctaid.z", "nctaid.x", "laneid", "warpid", "nwarpid", "smid", "nsmid",
		"lanemask_eq", "lanemask_lt", "lanemask_ge", "clock", "clock_hi", "gridid", "dynamic_smem_size", "total_smem_size", "envreg0", "pm0"}
	if c.sm >= 90 && c.ptx >= 78 {
		regs = append(regs, "clusterid.x", "cluster_ctaid.x", "cluster_ctarank", "cluster_nctarank", "is_explicit_cluster")
	}
	for _, r := range regs {
		switch r {
		case "is_explicit_cluster":
			c.kernel("mov.pred p1,%is_explicit_cluster;", "selp.u32 r0,1,2,p1;")
		case "gridid":
			c.kernel("mov.u64 rd0,%gridid;")
		default:
			c.kernel("mov.u32 r0,%"+r+";", "mad.wide.u32 rd2,r0,4,p;", "st.global.u32 [rd2],x;")
		}
	}
	c.kernel("mov.u64 rd0,%clock64;", "mov.u64 rd1,%globaltimer;", "mov.u32 r0,%globaltimer_lo;")
	c.kernel("mov.u32 r4,%ctaid.x;", "mov.u32 r5,%ntid.x;", "mov.u32 r6,%tid.x;", "mad.lo.u32 r0,r4,r5,r6;", "and.b32 r1,r6,31;",
		"shr.u32 r2,r6,5;")
	c.kernel("cvta.to.global.u64 rd2,p;", "cvta.global.u64 rd3,gx;", "st.u32 [rd3],x;", "cvta.shared.u64 rd4,rd3;", "mov.u64 rd5,gx;",
		"st.u64 [rd2],rd4;", "st.u64 [rd2+8],rd5;", "{ .reg .u64 t; cvta.shared.u64 t,sh; st.u64 [rd2+16],t; cvta.to.shared.u64 t,q; st.u64"+
			" [rd2+24],t; }")
	if c.sm < 90 || c.ptx < 80 {
		c.kernel("pmevent 3;")
	}
}

func (c *corpus) async() {
	if c.sm == 70 || c.sm == 72 {
		for _, sum := range []string{"f16.f16.f16.f16 {r0,r1,r2,r3}", "f32.f16.f16.f16 {g0,g1,g2,g3,g4,g5,g6,g7}", "f32.f16.f16.f32 {g0,g1,g2,g3,g4,g5,g6,g7}"} {
			from := map[string]string{"f16": "{r0,r1,r2,r3}", "f32": "{g0,g1,g2,g3,g4,g5,g6,g7}"}[sum[12:15]]
			c.kernel(".reg .f32 g<8>;", "ld.global.v4.f32 {g0,g1,g2,g3},[p]; ld.global.v4.f32 {g4,g5,g6,g7},[p+16]; ld.global.v4.u32 {r0,r1,r2,r3},[p+32];",
				fmt.Sprintf("mma.sync.aligned.m8n8k4.row.col.%s,{x,y},{y,x},%s;", sum, from), fmt.Sprintf("mma.sync.aligned.m8n8k4.col.row.%s,{x,y},{y,x},%s;", sum, from),
				"st.global.v4.f32 [q],{g0,g1,g2,g3}; st.global.v4.f32 [q+16],{g4,g5,g6,g7};", "mov.b32 {h0,h1},r0;")
		}
	}
	if c.sm < 75 {
		return
	}
	c.kernel("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0,r1,r2,r3},[s];", "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {r4},[s+16];",
		"st.global.u32 [p],r4;")
	c.kernel("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {f0,f1,f2,f3},{x,y},{x},{f0,f0,f0,f0};", "st.global.v4.f32 [p],{f0,f1,f2,f3};")
	if c.sm < 80 {
		return
	}
	c.kernel("cp.async.ca.shared.global [s],[p],4;", "cp.async.cg.shared.global [s+16],[q],16;", "cp.async.commit_group;",
		"cp.async.wait_group 0;", "cp.async.wait_all;", "ld.shared.u32 r0,[s+32];")
	c.kernel("mbarrier.init.shared.b64 [s],x;", "mbarrier.arrive.shared.b64 rd0,[s];", "mbarrier.test_wait.shared.b64 p1,[s],rd0;",
		"cp.async.mbarrier.arrive.shared.b64 [s];", "selp.u32 r0,1,2,p1;", "mbarrier.inval.shared.b64 [s];")
	c.kernel("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {r0,r1,r2,r3},{x,y},{x},{r0,r0,r0,r0};")
	if c.sm >= 90 && c.ptx >= 80 {
		c.kernel("mbarrier.init.shared.b64 [s],x;", "L: mbarrier.try_wait.shared.b64 p1,[s],z;", "@!p1 bra L;",
			"mbarrier.arrive.expect_tx.shared.b64 rd0,[s],x;",
			"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+16],[p],x,[s];",
			"cp.async.bulk.global.shared::cta.bulk_group [q],[s+16],x;", "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;")
	}
}
