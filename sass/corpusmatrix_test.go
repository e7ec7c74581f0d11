package sass

import (
	"fmt"
	"strings"
)

// textures writes accesses of textures and surfaces: every geometry, type, number of results and way to choose a level, of handles that are
// parameters, and of those in memory.
func (c *corpus) textures() {
	if c.sm < 70 {
		return
	}
	coords := []struct{ geom, i, f, grad, off string }{
		{"1d", "{x}", "{f0}", "{f1},{f2}", "r4"}, {"2d", "{x,y}", "{f0,f1}", "{f1,f2},{f3,f0}", "{x,y}"},
		{"3d", "{x,y,r4,r4}", "{f0,f1,f2,f2}", "{f1,f2,f3,f3},{f0,f1,f2,f2}", "{x,y,r4,r4}"}, {"a1d", "{x,y}", "{x,f0}", "{f1},{f2}", "r4"},
		{"a2d", "{x,y,r4,r4}", "{x,f0,f1,f1}", "{f1,f2},{f3,f0}", "{x,y}"}, {"cube", "", "{f0,f1,f2,f2}", "", ""}, {"acube", "", "{x,f0,f1,f2}", "", ""},
	}
	begin := []string{"cvt.rn.f32.u32 f0,x;", "cvt.rn.f32.u32 f1,y;", "add.f32 f2,f0,f1;", "mul.f32 f3,f0,f1;", "add.u32 r4,x,y;"}
	var body []string
	tex := func(form string, args ...any) {
		out := 256 + 32*len(body)
		body = append(body, fmt.Sprintf(form, args...), fmt.Sprintf("st.global.v4.u32 [q+%d],{r0,r1,r2,r3};", out), fmt.Sprintf("st.global.v4.f32 [q+%d],{f4,f5,f0,f3};", out+16))
	}
	flush := func() {
		for _, load := range []string{"", "ld.global.u64 z,[p];"} {
			c.kernel(append(append(begin, "mov.f32 f4,f0; mov.f32 f5,f0;", load), body...)...)
		}
		body = nil
	}
	for _, d := range coords {
		for _, dst := range []string{"{r0,r1,r2,r3}", "{r0,_,_,_}", "{_,r1,_,r3}", "{r0,r1,r2,_}"} {
			tex("tex.%s.v4.u32.f32 %s,[z,%s];", d.geom, dst, d.f)
		}
		tex("tex.level.%s.v4.u32.f32 {r0,r1,r2,r3},[z,%s],f3;", d.geom, d.f)
		tex("tex.level.%s.v4.u32.f32 {r0,r1,r2,r3},[z,%s],0f00000000;", d.geom, d.f)
		tex("tex.%s.v4.u32.f32 {r0,r1,r2,r3}|p1,[z,%s]; selp.u32 r4,1,2,p1; st.global.u32 [q+4],r4;", d.geom, d.f)
		tex("tex.%s.v2.f16x2.f32 {r0,r1},[z,%s];", d.geom, d.f)
		if d.grad != "" {
			tex("tex.grad.%s.v4.u32.f32 {r0,r1,r2,r3},[z,%s],%s;", d.geom, d.f, d.grad)
		}
		if d.i != "" {
			tex("tex.%s.v4.u32.s32 {r0,r1,r2,r3},[z,%s];", d.geom, d.i)
			tex("tex.level.%s.v4.u32.f32 {r0,r1,r2,r3},[z,%s],f3,%s;", d.geom, d.f, d.off)
			c.surfaces(d.geom, d.i)
		}
		if strings.HasSuffix(d.geom, "2d") || d.geom == "cube" {
			tex("tld4.r.%s.v4.u32.f32 {r0,r1,r2,r3},[z,%s];", d.geom, d.f)
			tex("tex.%s.v4.f32.f32 {f4,f5,f0,f3},[z,%s],f2;", d.geom, d.f)
		}
		flush()
	}
	tex("tex.%s.v4.u32.s32 {r0,r1,r2,r3},[z,{y,x,y,y}];", "2dms")
	tex("tex.%s.v4.u32.s32 {r0,r1,r2,r3},[z,{y,x,y,y}];", "a2dms")
	tex("txq.%s.b32 r0,[z];", "width")
	tex("txq.level.%s.b32 r0,[z],x;", "height")
	tex("suq.%s.b32 r0,[z];", "width")
	flush()
}

func (c *corpus) surfaces(geom, at string) {
	for _, load := range []string{"", "ld.global.u64 z,[p];"} {
		body := []string{"add.u32 r4,x,y;", load}
		for _, v := range []struct{ typ, regs string }{{"b8", "h0"}, {"b16", "h0"}, {"b32", "r0"}, {"b64", "rd0"}, {"v2.b32", "{r0,r1}"},
			{"v2.b64", "{rd0,rd1}"}, {"v4.b32", "{r0,r1,r2,r3}"}, {"v4.b8", "{h0,h1,h2,h3}"}} {
			body = append(body, fmt.Sprintf("suld.b.%s.%s.trap %s,[z,%s];", geom, v.typ, v.regs, at), fmt.Sprintf("sust.b.%s.%s.clamp [z,%s],%s;", geom, v.typ, at, v.regs))
		}
		body = append(body, fmt.Sprintf("sust.p.%s.v4.b32.clamp [z,%s],{x,y,r4,r4};", geom, at))
		if geom[0] != 'a' {
			body = append(body, fmt.Sprintf("sured.b.add.%s.u32.zero [z,%s],y;", geom, at), fmt.Sprintf("sured.b.min.%s.s32.trap [z,%s],y;", geom, at))
		}
		c.kernel(body...)
	}
}

// groups writes the products of a warpgroup: every type, with columns that differ, with A in registers or in shared memory, dense and sparse.
func (c *corpus) groups() {
	if archOf(c.sm, c.ptx) != "sm_90a" {
		return
	}
	for _, t := range []struct {
		types string
		k     int
		tail  string
	}{
		{"f32.f16.f16", 16, ",1,1,0,0"}, {"f16.f16.f16", 16, ",1,1,0,0"}, {"f32.bf16.bf16", 16, ",1,1,1,0"}, {"f32.tf32.tf32", 8, ",1,1"},
		{"f32.e4m3.e5m2", 32, ",1,1"}, {"f16.e5m2.e4m3", 32, ",1,1"}, {"s32.s8.u8", 32, ""}, {"s32.b1.b1", 256, ""},
	} {
		for _, n := range []int{8, 24} {
			for _, sparse := range []bool{false, true} {
				if sparse && t.k == 256 {
					continue
				}
				c.group(t.types, n, t.k, "z", t.tail, sparse)
				tail := t.tail
				if strings.Count(tail, ",") == 4 {
					tail = tail[:6]
				}
				c.group(t.types, n, t.k, "{x,y,r0,r1}", tail, sparse)
			}
		}
		c.group(t.types, 128, t.k, "z", t.tail, false)
	}
}

func (c *corpus) group(types string, n, k int, a, tail string, sparse bool) {
	typ, words := ".b32", n/2
	switch types[:3] {
	case "f32":
		typ = ".f32"
	case "f16":
		words = n / 4
	}
	sp, meta := "", ""
	if sparse {
		sp, meta, k = ".sp", ",y,0", 2*k
	}
	var regs []string
	body := []string{fmt.Sprintf(".reg %s d<%d>;", typ, words), "wgmma.fence.sync.aligned;"}
	for i := range words {
		regs = append(regs, fmt.Sprintf("d%d", i))
		body = append(body, fmt.Sprintf("ld.global%s d%d,[p+%d];", typ, i, 4*i))
	}
	if types == "s32.b1.b1" {
		types += ".and.popc"
	}
	body = append(body, fmt.Sprintf("wgmma.mma_async%s.sync.aligned.m64n%dk%d.%s {%s},%s,w%s,1%s;", sp, n, k, types, strings.Join(regs, ","), a, meta, tail),
		"wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;")
	for i := range words {
		body = append(body, fmt.Sprintf("st.global%s [q+%d],d%d;", typ, 256+4*i, i))
	}
	c.kernel(body...)
}
