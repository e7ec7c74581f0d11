package optcheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// laneState is what one lane has in code of AMD's: words, masks of which it is one bit, and whether it is active.
type laneState struct {
	v      [5]uint32
	s      [5]bool
	exec   bool
	stored map[string]uint32 // by the offset of the store
}

// laneOp is an instruction, and what it does to a lane; with to it leads there where no lane is active, and all are alike.
type laneOp struct {
	text string
	do   func(l *laneState)
	to   int
}

// maskedCode is code that computes words under masks which it narrows, turns and widens again.
func maskedCode(t *rapid.T) (list []laneOp) {
	draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
	mask := func(k int) string { return fmt.Sprintf("s[%d:%d]", 10+2*k, 11+2*k) }
	vector := func(text string, do func(l *laneState)) {
		list = append(list, laneOp{text, func(l *laneState) {
			if l.exec {
				do(l)
			}
		}, 0})
	}
	scalar := func(text string, do func(l *laneState)) { list = append(list, laneOp{text, do, 0}) }
	compare := func(m int) {
		a, b, k := 1+draw(3), 1+draw(3), draw(3)
		name := []string{"eq", "lt", "ge"}[k]
		scalar(fmt.Sprintf("v_cmp_%s_u32_e64 %s, v%d, v%d", name, mask(m), a, b), func(l *laneState) {
			l.s[m] = l.exec && []bool{l.v[a] == l.v[b], l.v[a] < l.v[b], l.v[a] >= l.v[b]}[k]
		})
	}
	for m := range 4 {
		compare(m)
	}
	stores := 0
	for range 6 + draw(14) {
		a, b, d, m, n, k := 1+draw(3), 1+draw(3), 1+draw(3), draw(4), draw(4), draw(4)
		switch draw(10) {
		case 9:
			to := len(list) + 1 + draw(6)
			list = append(list, laneOp{fmt.Sprintf("s_cbranch_execz .LBB0_%d", to), func(*laneState) {}, to})
		case 0:
			compare(m)
		case 1:
			scalar(fmt.Sprintf("s_and_saveexec_b64 %s, %s", mask(m), mask(n)), func(l *laneState) { l.s[m], l.exec = l.exec, l.exec && l.s[n] })
		case 2:
			scalar(fmt.Sprintf("s_or_b64 exec, exec, %s", mask(m)), func(l *laneState) { l.exec = l.exec || l.s[m] })
		case 3:
			scalar(fmt.Sprintf("s_xor_b64 exec, exec, %s", mask(m)), func(l *laneState) { l.exec = l.exec != l.s[m] })
		case 4:
			scalar(fmt.Sprintf("s_%s_b64 %s, %s, %s", []string{"and", "or", "xor", "andn2"}[k], mask(m), mask(n), mask(a)), func(l *laneState) {
				l.s[m] = []bool{l.s[n] && l.s[a], l.s[n] || l.s[a], l.s[n] != l.s[a], l.s[n] && !l.s[a]}[k]
			})
		case 5:
			vector(fmt.Sprintf("v_mov_b32_e32 v%d, v%d", d, a), func(l *laneState) { l.v[d] = l.v[a] })
		case 6:
			vector(fmt.Sprintf("v_add_u32_e32 v%d, v%d, v%d", d, a, b), func(l *laneState) { l.v[d] = l.v[a] + l.v[b] })
		case 7:
			vector(fmt.Sprintf("v_cndmask_b32_e64 v%d, v%d, v%d, %s", d, a, b, mask(m)), func(l *laneState) {
				l.v[d] = map[bool]uint32{false: l.v[a], true: l.v[b]}[l.s[m]]
			})
		case 8:
			stores++
			at := fmt.Sprintf("offset:%d", 4*stores)
			vector(fmt.Sprintf("global_store_dword v0, v%d, s[0:1] %s", a, at), func(l *laneState) { l.stored[at] = l.v[a] })
		}
	}
	return list
}

// run does what a lane does.
func (l *laneState) run(list []laneOp) {
	for i := 0; i < len(list); i++ {
		if list[i].do(l); list[i].to > 0 && !l.exec {
			i = list[i].to - 1
		}
	}
}

// masked is the text of code, and loads in front of it.
func masked(list []laneOp) string {
	body := "s_load_dwordx2 s[0:1], s[4:5], 0x0\nv_mov_b32_e32 v0, 0\ns_waitcnt lgkmcnt(0)\n"
	for i := 1; i < 4; i++ {
		body += fmt.Sprintf("global_load_dword v%d, v0, s[0:1] offset:%d\n", i, 256+4*i)
	}
	body += "s_waitcnt vmcnt(0)\n"
	for i := range len(list) + 8 {
		if slices.ContainsFunc(list, func(o laneOp) bool { return o.to > 0 && o.to == i }) {
			body += fmt.Sprintf(".LBB0_%d:\n", i)
		}
		if i < len(list) {
			body += list[i].text + "\n"
		}
	}
	return body + "s_nop 0\n"
}

// TestMaskedValues: what a store of AMD's code is found to store, and under which mask, is what a lane does.
func TestMaskedValues(t *testing.T) {
	performed, not := 0, 0
	for range 10 {
		rapid.Check(t, func(r *rapid.T) {
			list := maskedCode(r)
			body := masked(list)
			fn := amdCode(t, "gfx900", fenced(litmus.OpLd, litmus.SemNone, memFence), body)
			tr, err := walk(fn, walkOptions{})
			require.NoError(r, err)
			e := newEvaluator(&pass{tr: tr, s: &spec.Spec{}, owner: make([][]int, len(tr.events))})
			for _, read := range []someWords{{0, 1, 2}, {1, 0, 1 << 31}, {5, 5, 5}, {7, 3, 7}, {3, 9, 3}} {
				l := &laneState{exec: true, stored: map[string]uint32{}}
				for i := range 3 {
					l.v[1+i] = read[(unmatched+i)%len(read)]
				}
				l.run(list)
				e.set(read)
				for i := range tr.events {
					x := &tr.events[i]
					if x.role != isa.RoleStore {
						continue
					}
					text := tr.fn.Insts[x.inst].Text
					want, runs := l.stored[text[strings.Index(text, "offset"):]]
					acts, known := e.acts(x.when)
					if x.cond && len(x.when) == 0 || !known {
						continue
					}
					require.Equal(r, runs, acts, "whether %s runs, with %v:\n%s", text, read, body)
					if !runs {
						not++
						continue
					}
					if got, ok := e.eval(x.data[0], 0); ok {
						performed++
						require.Equal(r, want, got, "what %s stores, with %v:\n%s", text, read, body)
					}
				}
			}
		})
	}
	require.Greater(t, performed, 500)
	require.Greater(t, not, 200)
}

// TestRestoredBehindSkip: where a jump skips for nobody, lanes have what the code behind it gave them back, not what they had at the jump.
func TestRestoredBehindSkip(t *testing.T) {
	fn := amdCode(t, "gfx900", fenced(litmus.OpLd, litmus.SemNone, memFence), `s_load_dwordx2 s[0:1], s[4:5], 0x0
v_mov_b32_e32 v0, 0
s_waitcnt lgkmcnt(0)
global_load_dword v1, v0, s[0:1] offset:260
global_load_dword v2, v0, s[0:1] offset:264
s_waitcnt vmcnt(0)
v_cmp_eq_u32_e64 s[10:11], v1, v1
v_mov_b32_e32 v3, v2
s_and_saveexec_b64 s[10:11], s[10:11]
v_mov_b32_e32 v2, v1
s_cbranch_execz .LBB0_11
v_mov_b32_e32 v2, v3
.LBB0_11:
global_store_dword v0, v2, s[0:1] offset:4
s_nop 0
`)
	tr, err := walk(fn, walkOptions{})
	require.NoError(t, err)
	e := newEvaluator(&pass{tr: tr, s: &spec.Spec{}, owner: make([][]int, len(tr.events))})
	e.set(someWords{3, 5, 7})
	store := slices.IndexFunc(tr.events, func(x event) bool { return x.role == isa.RoleStore })
	got, ok := e.eval(tr.events[store].data[0], 0)
	second, _ := e.eval(tr.pool.mk(node{kind: kLoad, a: 1, b: 0, c: none}), 0)
	require.True(t, !ok || got == second, "%d, not %d, is stored", got, second)
}
