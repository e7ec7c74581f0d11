package ptxgen

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
)

// irCarried is a phi at the head of a loop that lacks what comes from its end, which is
// not there yet.
type irCarried struct {
	label, name string
	known       int // edges that it has
	at          int // where it ends in the text
}

// startRounds sets the numbers of rounds, and what is copied in some of them.
func (k *irBody) startRounds() {
	for n, l := range k.rounds {
		if !l.counted {
			continue
		}
		k.env[roundName(n)] = irValue{"i32", "0"}
		for _, ents := range k.entries()[l.head : l.back+1] {
			for _, e := range ents {
				for _, name := range k.held(e) {
					k.env[name] = irValue{"i32", "%tok"}
				}
			}
		}
	}
}

func roundName(n int) string { return fmt.Sprintf(" round%d", n) }

// countRound counts a round at the end of a loop.
func (k *irBody) countRound() {
	for n := range k.rounds {
		if l := &k.rounds[n]; l.back == k.at && l.counted {
			next := k.fresh("n")
			k.ir("%s = add i32 %s, 1", next, k.env[roundName(n)].name)
			k.env[roundName(n)] = irValue{"i32", next}
		}
	}
}

// inRound is v in a copy's round, and what was before in others.
func (k *irBody) inRound(c copy, v, before irValue) irValue {
	is, out := k.fresh("b"), k.fresh("m")
	k.ir("%s = icmp eq i32 %s, %d", is, k.env[roundName(c.loop)].name, c.round)
	k.ir("%s = select i1 %s, i32 %s, i32 %s", out, is, v.name, before.name)
	return irValue{"i32", out}
}

// writes reports whether a loop with the label at its head writes a register or copy.
func (k *irBody) writes(label, name string) bool {
	for n, l := range k.rounds {
		if !slices.Contains(k.th.Body[l.head].Labels, label) {
			continue
		}
		if slices.ContainsFunc(k.th.Body[l.head:l.back+1], func(in litmus.Instr) bool { return in.Dst == name }) || l.counted &&
			name == roundName(n) {
			return true
		}
		for _, ents := range k.entries()[l.head : l.back+1] {
			for _, e := range ents {
				if slices.Contains(k.held(e), name) {
					return true
				}
			}
		}
	}
	return false
}

// incoming is what a phi says of an edge.
func incoming(e irEdge, name string) string {
	return fmt.Sprintf("[ %s, %%%s ]", e.env[name].name, e.from)
}

// code is the text of the kernel, with phis that have all their edges.
func (k *irBody) code() string {
	text, last := k.out.String(), 0
	var b strings.Builder
	for _, c := range k.carried {
		b.WriteString(text[last:c.at])
		for _, e := range k.jumps[c.label][c.known:] {
			b.WriteString(", " + incoming(e, c.name))
		}
		last = c.at
	}
	b.WriteString(text[last:])
	return b.String()
}
