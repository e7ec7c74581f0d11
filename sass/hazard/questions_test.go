package hazard

import (
	"fmt"
	"slices"

	"optcheck/isa"
)

// The registers of questions: a producer writes UR10, the low word of a pair, or UR11, a consumer UR12 and UR13; UR20 to UR23 are operands.
var (
	ready = []word{umovi(10, 0x111), umovi(11, 0x222), umovi(20, 0x3000), umovi(21, 0x4000), umovi(22, 0x50000), umovi(23, 0x60000),
		umovi(12, 7), umovi(13, 8), mov(20, 0x700000), mov(8, 0x99), mov(9, 0x98)}
	results = []word{movu(8, 12), movu(9, 13)}
	pair    = uiadd64(10, 20, 22)
)

// readers read one register.
func readers(r uint64) []end {
	return []end{{"UIADD3", uiadd(12, r, 22), results}, {"UMOV", umov(12, r), results}, {"MOV", movu(8, r), nil}, {"IMAD.U32", imadu(8, r), nil}}
}

// pairReaders read the pair of a register, as either of the operands that compilers use.
func pairReaders(r uint64) []end {
	even := r &^ 1
	return []end{{"UIADD3.64 (first)", uiadd64(12, even, 22), results}, {"UIADD3.64 (second)", uiadd64(12, 22, even), results}}
}

// producers write UR10, or UR11.
func producers() []end {
	return []end{{"UMOV of a constant", umovi(10, 0xabc), nil}, {"UMOV of a constant, high word", umovi(11, 0xabc), nil}, {"UMOV", umov(10, 20), nil},
		{"ULDC", uldc(10), nil}, {"ULDC, high word", uldc(11), nil}, {"UIADD3", uiadd(10, 20, 22), nil}, {"UIADD3, high word", uiadd(11, 20, 22), nil},
		{"ULOP3", ulop(10, 20), nil}, {"ULOP3, high word", ulop(11, 20), nil}, {"ULEA", ulea(10, 20, 22), nil}, {"UFLO", uflo(10, 20), nil},
		{"R2UR", r2ur(10, 20), nil}}
}

func questions() []question {
	return slices.Concat(separated(), oneAfterAnother(), fromPairs(), addresses(), lastOfTwo(), predicated(), waitQuestions(), waitCounts(), preceded(), descriptors(),
		ordinary(), lastOfOrdinary(), overwritten())
}

// separated asks about a result with another instruction between. Linear attention of ThunderKittens has four cycles from ULOP3 by ULEA to UIADD3.64.
func separated() (list []question) {
	middle := []end{{"NOP", nop(), nil}, {"UMOV", umovi(30, 1), nil}, {"ULEA", ulea(30, 20, 22), nil}, {"UIADD3", uiadd(30, 20, 22), nil}, {"ULDC", uldc(30), nil},
		{"UIADD3.64", uiadd64(30, 20, 22), nil}}
	for _, p := range []end{{"ULOP3", ulop(10, 20), nil}, {"UMOV of a constant", umovi(10, 0xabc), nil}, {"UIADD3.64", pair, nil}} {
		for _, m := range middle {
			for gap := range uint8(2) {
				for _, c := range append(pairReaders(10), readers(10)[0]) {
					name := fmt.Sprintf("%s → %s of %d → %s", p.name, m.name, gap+1, c.name)
					list = append(list, distances(name, ready, p.word, []word{m.word.stall(gap + 1)}, c.word, c.out...))
				}
			}
		}
	}
	return list
}

// ends are the instructions that may read what a producer writes.
func ends(p word) []end {
	if r := p.result(); r&1 == 0 {
		return append(readers(r), pairReaders(r)...)
	}
	return pairReaders(p.result())
}

// oneAfterAnother asks about a result that the next instruction reads.
func oneAfterAnother() (list []question) {
	for _, p := range producers() {
		for _, c := range ends(p.word) {
			list = append(list, distances(p.name+" → "+c.name, ready, p.word, nil, c.word, c.out...))
		}
	}
	return list
}

// preceded asks the same where another instruction stands closely before.
func preceded() (list []question) {
	for _, p := range []end{{"UMOV of a constant", umovi(10, 0xabc), nil}, {"UMOV of a constant, high word", umovi(11, 0xabc), nil}, {"UIADD3", uiadd(10, 20, 22), nil}} {
		for _, b := range []end{{"UMOV", umovi(30, 1), nil}, {"UIADD3", uiadd(30, 20, 22), nil}, {"ULDC", uldc(30), nil}} {
			for gap := range uint8(2) {
				for _, c := range ends(p.word) {
					q := distances(fmt.Sprintf("%s of %d, %s → %s", b.name, gap+1, p.name, c.name), ready, p.word, nil, c.word, c.out...)
					q.body[q.at-1] = b.word.stall(gap + 1)
					list = append(list, q)
				}
			}
		}
	}
	return list
}

// fromPairs asks when both words of a sum are there.
func fromPairs() (list []question) {
	for i, half := range []string{"low", "high"} {
		for _, c := range readers(uint64(10 + i)) {
			list = append(list, distances("UIADD3.64, "+half+" word → "+c.name, ready, pair, nil, c.word, c.out...))
		}
	}
	for _, c := range pairReaders(10) {
		list = append(list, distances("UIADD3.64 → "+c.name, ready, pair, nil, c.word, c.out...))
	}
	return list
}

// addresses asks about an address in shared memory.
func addresses() (list []question) {
	before := append(slices.Clone(ready), umovi(20, 0x410), umovi(21, 0x400), umovi(22, 0x30), umovi(23, 0x50), umovi(10, 0x420), umovi(11, 0x424), mov(24, 0x448))
	for _, p := range []end{{"UIADD3.64", pair, nil}, {"UIADD3", uiadd(10, 20, 22), nil}, {"UMOV of a constant", umovi(10, 0x444), nil},
		{"ULOP3", ulop(10, 20), nil}, {"R2UR", r2ur(10, 24), nil}} {
		list = append(list, distances(p.name+" → LDS", before, p.word, nil, lds(8, 10), nop().waits(0)))
	}
	return append(list, distances("UIADD3.64, high word → LDS", before, pair, nil, lds(8, 11), nop().waits(0)))
}

// lastOfTwo asks which of two results stays.
func lastOfTwo() (list []question) {
	for _, p := range []end{{"UIADD3", uiadd(10, 20, 22), nil}, {"UIADD3.64", pair, nil}, {"R2UR", r2ur(10, 20), nil}, {"UFLO", uflo(10, 20), nil}} {
		for _, c := range []end{{"UMOV of a constant", umovi(10, 0xdef), nil}, {"UIADD3", uiadd(10, 21, 23), nil}, {"ULDC", uldc(10), nil}} {
			list = append(list, distances(p.name+", then "+c.name, ready, p.word, nil, c.word, nop(), nop(), movu(8, 10)))
		}
	}
	return append(list, distances("UIADD3.64, then UMOV of a constant to the high word", ready, pair, nil, umovi(11, 0xdef), nop(), nop(), movu(8, 11)))
}

// predicated asks about uniform predicates.
func predicated() []question {
	before := append(slices.Clone(ready), uisetp(20, 20))
	return []question{distances("UISETP → USEL", before, uisetp(20, 21), nil, usel(12, 20, 21), results...),
		distances("UISETP → guard", before, uisetp(20, 21), nil, umovi(12, 0x777).under(0), results...)}
}

// waitQuestions ask whether the last wait for a scoreboard is needed.
func waitQuestions() (list []question) {
	ask := func(name string, body ...word) {
		q := question{name: name, body: slices.Concat(ready, []word{mov(21, 0x40000000), mov(10, 5), mov(11, 6)}, body)}
		q.at = slices.IndexFunc(q.body, func(w word) bool { return w.c.Wait != 0 })
		none := q.body[q.at].c
		none.Wait = 0
		q.edits = []isa.Control{none}
		q.body = append(q.body, nop(), nop(), nop())
		list = append(list, q)
	}
	first, second, read := mufu(10, 21), mufu(11, 21), movr(8, 10).waits(0)
	unset := first.writes(isa.NoBarrier).stall(1)
	ask("MUFU, wait", first.stall(2), read)
	ask("MUFU, DEPBAR 0, wait", first.stall(2), depbarLeft(0), read)
	ask("MUFU, MUFU, DEPBAR 1, wait", first.stall(1), second.stall(2), depbarLeft(1), read)
	ask("MUFU, @!PT MUFU, DEPBAR 1, wait", first.stall(1), second.under(never).stall(2), depbarLeft(1), read)
	ask("MUFU, @!PT DEPBAR 0, wait", first.stall(2), depbarLeft(0).under(never), read)
	ask("MUFU without scoreboard, @!PT MUFU with one, wait", unset, second.under(never).writes(1).stall(2), nop().waits(1).stall(1), movr(8, 10))
	ask("MUFU without scoreboard, MUFU with one, wait", unset, second.writes(1).stall(2), nop().waits(1).stall(1), movr(8, 10))
	return list
}

// waitCounts ask from how many cycles behind DEPBAR on a result is there, and how soon DEPBAR may follow who sets the scoreboard.
func waitCounts() (list []question) {
	before := append(slices.Clone(ready), mov(21, 0x40000000), mov(10, 5), mov(11, 6))
	for left := range uint64(2) {
		for _, set := range []uint8{1, 2, 3, 4, 6, 11} {
			sets := []word{mufu(10, 21).stall(1), mufu(11, 21).stall(set)}[1-left:]
			sets[0] = mufu(10, 21).stall(sets[0].c.Stall)
			q := distances(fmt.Sprintf("MUFU of %d, DEPBAR %d → read", set, left), append(slices.Clone(before), sets...), depbarLeft(left), nil, movr(8, 10))
			q.body = slices.Delete(q.body, q.at-2, q.at)
			q.at -= 2
			q.edits = q.edits[:8]
			list = append(list, q)
		}
	}
	return list
}

// descriptors ask about the way compilers make descriptors of matrices: some constants between a producer and the sum of two pairs.
func descriptors() (list []question) {
	const low, high, a, b = 10, 11, 20, 21
	type step struct {
		name string
		word word
	}
	all := []step{{"UMOV high", umovi(high, 0x10)}, {"UMOV a", umovi(a, 0x40)}, {"UMOV b", umovi(b, 0)}}
	for _, order := range [][]int{{0, 1, 2}, {1, 2}, {2}, {1}, {0}, {2, 1}, {0, 2, 1}, {1, 2, 0}, {2, 1, 0}, {1, 0}} {
		for _, own := range []uint64{12, a} { // where the sum goes
			for _, chained := range []bool{false, true} {
				for last := uint8(1); last <= 2; last++ {
					name, between := "ULOP3", []word{}
					for n, i := range order {
						w := all[i].word.stall(1)
						if n == len(order)-1 {
							w = all[i].word.stall(last)
						}
						name += fmt.Sprintf(", %s of %d", all[i].name, w.c.Stall)
						between = append(between, w)
					}
					before, p := ready, ulop(low, b)
					if chained {
						before, name = append(slices.Clone(ready), umovi(a, 0x345678), ushf(b, a).stall(4)), "USHF of 4, "+name
					}
					q := distances(fmt.Sprintf("%s → UIADD3.64 to UR%d", name, own), before, p, between, uiadd64(own, low, a), movu(8, own), movu(9, own+1))
					if chained {
						q.body = slices.Delete(q.body, q.at-2, q.at)
						q.at -= 2
					}
					q.edits = q.edits[:6]
					list = append(list, q)
				}
			}
		}
	}
	return list
}

// Units of general registers, each by one instruction, with R12 (and on) from R28, R32, R36 (and on).
var units = []end{{"alu (LOP3)", encode(0x7212, 0x078e9600, 12, 28, 32).third(36), nil}, {"imad (IMAD)", encode(0x7224, 0x078e0200, 12, 28, 32).third(36), nil},
	{"imad (IMAD.WIDE)", encode(0x7225, 0x078e0000, 12, 28, 32).third(36), nil}, {"imad (IMAD.HI)", encode(0x7227, 0x078e0000, 12, 28, 32).third(zero), nil},
	{"ffma (FFMA)", encode(0x7223, 0, 12, 28, 32).third(36), nil}, {"half (HADD2)", encode(0x7230, 0, 12, 28, 32), nil},
	{"half (HFMA2)", encode(0x7231, 0, 12, 28, 32).third(36), nil}, {"halfm (HFMA2.MMA)", encode(0x7235, 0, 12, 28, 32).third(36), nil},
	{"fp64 (DFMA)", encode(0x722b, 0, 12, 28, 32).third(36), nil}, {"F2FP", encode(0x723e, 0xff, 12, 28, 32).third(zero), nil},
	{"CS2R", encode(0x7805, 0x0001ff00, 12), nil}, {"VOTE", encode(0x7806, 0x00040e0100, 12), nil},
	{"HMMA.16816.F32", encode(0x723c, 0x1800, 12, 28, 32).third(36), nil}, {"HMMA.16816.F16", encode(0x723c, 0x0800, 12, 28, 32).third(36), nil},
	{"IMMA.16832", encode(0x7237, 0x00405c00, 12, 28, 32).third(36), nil}}

// operands are what units read: numbers that are not small in any type.
func operandsOf(more ...word) []word {
	list := slices.Clone(ready)
	for i := range uint64(12) {
		list = append(list, mov(28+i, 0x3c013e03+0x01050107*i), mov(12+i%4, 0x101*i))
	}
	return append(list, more...)
}

// ordinary asks from how many cycles on two other units get the result of a unit, or the last word of it.
func ordinary() (list []question) {
	for _, p := range units {
		for _, slow := range []uint8{0, 10} {
			between := []word{nop().stall(10)}[:slow/10]
			for i := range uint64(2) {
				list = append(list, distances(fmt.Sprintf("%s, word %d → alu", p.name, i), operandsOf(), p.word, between, lop(8, 12+i)),
					distances(fmt.Sprintf("%s, word %d → imad", p.name, i), operandsOf(), p.word, between, movr(8, 12+i)))
			}
		}
	}
	return list
}

// lastOfOrdinary asks which result of two units stays.
func lastOfOrdinary() (list []question) {
	for _, p := range units {
		for _, c := range []end{{"alu", mov(12, 0x5a5a), nil}, {"alu, second word", mov(13, 0x5a5a), nil}, {"imad", movr(12, 38), nil}, {"imad, second word", movr(13, 38), nil},
			{"ffma", encode(0x7223, 0, 12, 38, 32).third(36), nil}, {"half", encode(0x7230, 0, 12, 38, 32), nil}} {
			for _, slow := range []uint8{0, 10} {
				list = append(list, distances(p.name+", then "+c.name, operandsOf(), p.word, []word{nop().stall(10)}[:slow/10], c.word, nop(), nop(), nop(), lop(8, 12), lop(9, 13)))
			}
		}
	}
	return list
}

// overwritten asks when the operands of an instruction may be overwritten.
func overwritten() (list []question) {
	for _, p := range units {
		for _, r := range []uint64{28, 29, 31, 32, 33, 36, 37, 39} {
			for _, c := range []end{{"alu", mov(r, 0x12345), nil}, {"imad", movr(r, 8), nil}} {
				q := distances(fmt.Sprintf("%s reads R%d, then %s", p.name, r, c.name), operandsOf(), p.word, nil, c.word, nop(), nop(), nop(), lop(8, 12), lop(9, 13))
				q.edits = q.edits[:6]
				list = append(list, q)
			}
		}
	}
	for _, p := range []end{{"UIADD3", uiadd(12, 20, 22), results}, {"ULOP3", ulop(12, 20), results}, {"UFLO", uflo(12, 20), results}, {"UIADD3.64", uiadd64(12, 20, 22), results},
		{"UMOV", umov(12, 20), results}, {"MOV", movu(8, 20), nil}, {"IMAD.U32", imadu(8, 20), nil}} {
		for _, c := range []end{{"UMOV", umovi(20, 0xdef), nil}, {"UIADD3", uiadd(20, 21, 22), nil}, {"ULDC", uldc(20), nil}} {
			list = append(list, distances(p.name+" reads UR20, then "+c.name, ready, p.word, nil, c.word, append([]word{nop()}, p.out...)...))
		}
	}
	for _, p := range []end{{"LOP3", encode(0x7c12, 0x0f8efcff, 8, 20, 20), nil}, {"FMUL", encode(0x7c20, 0x08400000, 8, 36, 20), nil}, {"USEL", usel(12, 20, 21), results},
		{"UISETP", uisetp(20, 21), []word{usel(12, 22, 23), nop(), movu(8, 12)}}} {
		for _, c := range []end{{"UMOV", umovi(20, 0x4000), nil}, {"ULDC", uldc(20), nil}} {
			list = append(list, distances(p.name+" reads UR20, then "+c.name, append(slices.Clone(ready), mov(36, 0x40490fdb), uisetp(20, 21)), p.word, nil, c.word, append([]word{nop()}, p.out...)...))
		}
	}
	shared := append(slices.Clone(ready), umovi(10, 0x420))
	for _, c := range []end{{"UMOV", umovi(10, 0x444), nil}, {"UIADD3", uiadd(10, 20, 22), nil}} {
		list = append(list, distances("LDS reads UR10, then "+c.name, append(slices.Clone(shared), umovi(20, 0x410), umovi(22, 0x30)), lds(8, 10), nil, c.word, nop().waits(0)))
	}
	setp := encode(0x722a, 0x03f0e000, 0, 28, 32) // DSETP P0
	for _, p := range []end{{"DSETP", setp, nil}, {"HSETP2", encode(0x7234, 0x03f01800|0x2000<<48, 0, 28, 32), nil}, {"ISETP", isetp(28, 32), nil}} {
		for _, c := range []end{{"DSETP", encode(0x722a, 0x03f0e000, 0, 32, 28), nil}, {"ISETP", isetp(28, 28), nil}} {
			list = append(list, distances(p.name+" of P0, then "+c.name, operandsOf(), p.word, nil, c.word, nop(), nop(), nop(), sel(8, 28, 32)))
		}
	}
	return append(list, distances("R2UR reads R20, then alu", ready, r2ur(12, 20), nil, mov(20, 0xdef), append([]word{nop(), nop()}, results...)...),
		distances("R2UR reads R20, then imad", ready, r2ur(12, 20), nil, movr(20, 9), append([]word{nop(), nop()}, results...)...))
}
