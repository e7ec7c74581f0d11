package values

import "fmt"

// loads reads a thread's own input, or that of another one, at a place that depends on data. The thread's last bytes are not used
// by registers.
func loads(g *generator) {
	if g.function {
		int32s(g)
		return
	}
	if g.IntN(5) == 0 {
		g.line("st.global.b32", fmt.Sprintf("[%%a1+%d]", extra+4*g.IntN(4)), g.src("r"))
		return
	}
	y, z, a, b := g.t("r"), g.t("r"), g.t("a"), g.t("a")
	size := pickOf(g, "u8", "s8", "u16", "s16", "u32", "s32", "b64")
	mask := map[string]int{"u8": 127, "s8": 127, "u16": 126, "s16": 126, "u32": 124, "s32": 124, "b64": 120}[size]
	g.line("and.b32", y, g.src("r"), fmt.Sprint(mask))
	g.line("cvt.u64.u32", b, y)
	if g.IntN(3) == 0 {
		g.line("and.b32", z, g.src("r"), "31")
		g.line("mad.wide.u32", a, z, fmt.Sprint(InStride), "%a4")
		g.line("add.s64", a, a, b)
	} else {
		g.line("add.s64", a, b, "%a0")
	}
	d := g.dst("r")
	if size == "b64" {
		d = g.dst("d")
	}
	g.line(pickOf(g, "ld.global.", "ld.global.", "ld.global.nc.")+size, d, fmt.Sprintf("[%s+%d]", a, pickOf(g, 0, 8, 16, 64)))
}

// locals reads and writes an array of the thread.
func locals(g *generator) {
	if g.function {
		int32s(g)
		return
	}
	size := pickOf(g, "b8", "b16", "b32", "b64", "u8", "s8", "s16")
	mask := map[string]int{"b8": 63, "u8": 63, "s8": 63, "b16": 62, "s16": 62, "b32": 60, "b64": 56}[size]
	c := map[string]string{"b64": "d"}[size]
	if c == "" {
		c = "r"
	}
	at := "[loc+" + fmt.Sprint(g.IntN(64)&mask) + "]"
	if g.IntN(3) > 0 {
		y, z, b := g.t("r"), g.t("r"), g.t("r")
		g.line("and.b32", y, g.src("r"), fmt.Sprint(mask))
		g.line("mov.u32", b, "loc")
		g.line("add.u32", z, b, y)
		at = "[" + z + "]"
	}
	if g.IntN(2) == 0 {
		g.line("st.local."+size, at, g.src(c))
	} else {
		g.line("ld.local."+size, g.dst(c), at)
	}
}

// mayMeet reports whether a statement at which all lanes meet may stand here.
func (g *generator) mayMeet() bool {
	if g.apart || g.function {
		int32s(g)
		return false
	}
	return true
}

// shared gives a value to another thread through shared memory, between two barriers.
func shared(g *generator) {
	if !g.mayMeet() {
		return
	}
	n := g.kernel.Threads
	barrier := "bar.sync 0;"
	if n == 32 && g.IntN(3) == 0 {
		barrier = "bar.warp.sync 0xffffffff;"
	}
	wide := g.IntN(4) == 0
	c, t, scale := "r", "b32", "4"
	if wide {
		c, t, scale = "d", "b64", "8"
	}
	b, own, i, other := g.t("r"), g.t("r"), g.t("r"), g.t("r")
	g.line("mov.u32", b, "sha")
	g.line("mad.lo.u32", own, "%tid0", scale, b)
	g.line("st.shared."+t, "["+own+"]", g.src(c))
	g.now.Lines = append(g.now.Lines, barrier)
	if g.IntN(2) == 0 {
		g.line("xor.b32", i, "%tid0", g.number(1, n))
	} else {
		g.line("and.b32", i, g.src("r"), fmt.Sprint(n-1))
	}
	g.line("mad.lo.u32", other, i, scale, b)
	g.line("ld.shared."+t, g.dst(c), "["+other+"]")
	g.now.Lines = append(g.now.Lines, barrier)
}

// atomics performs atomics whose results do not depend on an order: those of a thread's own place, and commutative ones
// that give nothing back.
func atomics(g *generator) {
	if g.function {
		int32s(g)
		return
	}
	own := fmt.Sprintf("[%%a1+%d]", ownSlot+4*g.IntN(8))
	switch g.IntN(4) {
	case 0:
		g.line("st.global.b32", own, g.src("r"))
		g.line("atom.global."+pickOf(g, "add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "exch.b32", "inc.u32", "dec.u32"), g.dst("r"), own, g.src("r"))
	case 1:
		g.line("st.global.b32", own, g.src("r"))
		g.line("atom.global.cas.b32", g.dst("r"), own, g.any("r"), g.src("r"))
	default: // each slot has one kind, so that they commute
		i := g.IntN(7)
		op := []string{"add.u32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32"}[i]
		g.line("red.global."+op, fmt.Sprintf("[%%a3+%d]", 4*i), g.any("r"))
	}
}

// shuffle exchanges values between the lanes of a warp.
func shuffle(g *generator) {
	if !g.mayMeet() {
		return
	}
	d := g.dst("r")
	if g.IntN(3) == 0 {
		d += "|" + g.dst("p")
	}
	lane := func() string {
		if g.IntN(3) > 0 {
			return g.number(0, 32)
		}
		y := g.t("r")
		g.line("and.b32", y, g.src("r"), "31")
		return y
	}
	switch g.IntN(4) {
	case 0:
		g.line("shfl.sync.idx.b32", d, g.src("r"), lane(), pickOf(g, "31", "0x1c1f", "0x181f"), "0xffffffff")
	case 1:
		g.line("shfl.sync.up.b32", d, g.src("r"), lane(), pickOf(g, "0", "0x1800"), "0xffffffff")
	case 2:
		g.line("shfl.sync.down.b32", d, g.src("r"), lane(), pickOf(g, "31", "0x181f"), "0xffffffff")
	default:
		g.line("shfl.sync.bfly.b32", d, g.src("r"), lane(), "31", "0xffffffff")
	}
}

func votes(g *generator) {
	if !g.mayMeet() {
		return
	}
	switch g.IntN(4) {
	case 0:
		g.line("vote.sync."+pickOf(g, "any", "all", "uni")+".pred", g.dst("p"), pickOf(g, "", "!")+g.src("p"), "0xffffffff")
	case 1:
		g.line("match.any.sync.b32", g.dst("r"), g.src("r"), "0xffffffff")
	default:
		g.line("vote.sync.ballot.b32", g.dst("r"), pickOf(g, "", "!")+g.src("p"), "0xffffffff")
	}
}

func reductions(g *generator) {
	if !g.mayMeet() {
		return
	}
	g.line("redux.sync."+pickOf(g, "add.s32", "add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"), g.dst("r"), g.src("r"), "0xffffffff")
}
