package fakeptxas

import (
	"regexp"
	"slices"
)

// independent reports whether two instructions may change places as far as
// registers go.
func independent(x, y *inst) bool {
	meet := func(a, b []string) bool {
		return slices.ContainsFunc(a, func(r string) bool { return slices.Contains(b, r) })
	}
	ux, uy := x.reading(), y.reading()
	return !meet(x.defs(), uy) && !meet(y.defs(), ux) && !meet(x.defs(), y.defs())
}

// reading lists all registers that an instruction names as operands.
func (in *inst) reading() []string {
	args := in.args
	if len(in.defs()) > 0 && in.name() != "call" || in.name() == "atom" {
		args = args[1:]
	}
	var out []string
	for _, a := range args {
		out = append(out, register.FindAllString(a, -1)...)
	}
	if in.guard != "" {
		out = append(out, in.pred())
	}
	return out
}

// hoist moves an access before the first thing before it that has one of
// some orders, if nothing else is in its way: other order, or an access to its
// bytes.
func hoist(kind func(*ref) bool, over sync) func(*body) bool {
	return func(b *body) bool {
		for _, x := range b.flow().accs {
			if !kind(&x) || b.code[x.i].moved {
				continue
			}
			for k := x.i - 1; k >= 0 && b.passable(x, k, over); k-- {
				if b.code[k].sync()&over != 0 {
					b.carry(x.i, k)
					return true
				}
			}
		}
		return false
	}
}

// sink moves an access after the first thing after it that has one of some
// orders.
func sink(kind func(*ref) bool, over sync) func(*body) bool {
	return func(b *body) bool {
		for _, x := range b.flow().accs {
			if !kind(&x) || b.code[x.i].moved {
				continue
			}
			for k := x.i + 1; k < len(b.code) && b.passable(x, k, over); k++ {
				if b.code[k].sync()&over != 0 {
					b.carry(x.i, k+1)
					return true
				}
			}
		}
		return false
	}
}

// noReturn are the operations after which control may be elsewhere.
var noReturn = map[string]bool{"bra": true, "brx": true, "ret": true, "exit": true, "trap": true}

// passable reports whether an access may pass instruction k.
func (b *body) passable(x ref, k int, over sync) bool {
	in := b.code[k]
	if in.op == "" || noReturn[in.name()] || in.line() >= 2000 || in.sync()&^over != 0 {
		return false
	}
	y := b.flow().of[k]
	return independent(in, b.code[x.i]) && (y == nil || !x.overlaps(y))
}

// carry moves an instruction, once.
func (b *body) carry(from, to int) {
	in := *b.code[from]
	in.moved = true
	b.code = slices.Clone(b.code)
	b.code[from] = &in
	b.move(from, to)
}

// sinkLoadBelowRelease hoists a release store above loads: they sink below it.
func sinkLoadBelowRelease(b *body) bool {
	for _, x := range b.flow().accs {
		if b.code[x.i].sync() != releases || b.code[x.i].moved {
			continue
		}
		for k := x.i - 1; k >= 0 && b.passable(x, k, releases); k-- {
			if y := b.flow().of[k]; y != nil {
				if !looseLoad(y) {
					break
				}
				b.carry(x.i, k)
				return true
			}
		}
	}
	return false
}

// storeTwice stores again after the next thing that accesses memory or orders
// accesses.
func storeTwice(b *body) bool {
	for _, x := range b.flow().accs {
		if !weakStore(&x) || b.code[x.i].moved {
			continue
		}
		for k := x.i + 1; k < len(b.code); k++ {
			in := b.code[k]
			y := b.flow().of[k]
			if in.op == "" || in.name() == "bra" || in.line() >= 2000 || !independent(in, b.code[x.i]) || y != nil && x.overlaps(y) {
				break
			}
			if in.sync() != none || in.isAccess() {
				again := *b.code[x.i]
				again.moved = true
				b.replace(x.i, &again)
				b.insert(k+1, &again)
				return true
			}
		}
	}
	return false
}

// marker is the name of a register that only a marker reads.
var marker = regexp.MustCompile(`^%[mo]\d`)

// loadAgain loads once more before the last use of what was loaded, to free
// a register in between.
func loadAgain(b *body) bool {
	for _, x := range b.flow().accs {
		if !weakLoad(&x) || b.code[x.i].moved {
			continue
		}
		r := b.code[x.i].args[0]
		last := 0
		for k := x.i + 1; k < len(b.code); k++ {
			in := b.code[k]
			if in.op == "" || in.name() == "bra" || in.line() >= 2000 {
				break
			}
			if slices.Contains(in.uses(), r) && !slices.ContainsFunc(in.defs(), marker.MatchString) {
				last = k
			}
			if slices.ContainsFunc(in.defs(), func(d string) bool { return d == r || slices.Contains(b.code[x.i].reading(), d) }) {
				break
			}
		}
		if last == 0 || b.code[last].guard != b.code[x.i].guard {
			continue
		}
		again := b.register(x.bits())
		use := b.code[last].changed(func(in *inst) {
			for k, s := range in.args {
				if k > 0 || noResult[in.name()] {
					in.args[k] = register.ReplaceAllStringFunc(s, func(n string) string {
						if n == r {
							return again
						}
						return n
					})
				}
			}
		})
		load := b.code[x.i].changed(func(in *inst) { in.args[0], in.moved = again, true })
		b.replace(last, load, use)
		first := *b.code[x.i]
		first.moved = true
		b.replace(x.i, &first)
		return true
	}
	return false
}
