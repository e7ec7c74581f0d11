package sass

import "optcheck/isa"

// lowerI2I handles the conversions that copy a word: from 32 bits to 32 bits of
// the same signedness, without saturation. Unoptimised code before sm_70 uses
// them as moves.
func lowerI2I(l *lowerer) {
	m := l.in.Mods
	if len(m) != 2 || m[0] != m[1] || m[0] != "U32" && m[0] != "S32" || !l.want(1) {
		l.bad = true
		return
	}
	a := l.word(0, 0)
	if a.Neg || a.Abs {
		l.bad = true
		return
	}
	l.put(0, isa.MicroMov, a)
}
