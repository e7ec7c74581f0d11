package audit

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/fakeptxas"
	"optcheck/internal/required"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/spec"
)

// what finds a line of a kernel that a fault changes, and what it makes of it: $0 is the line, $1 a part of it.
type computedFault struct {
	name string
	what *regexp.Regexp
	with string
}

// access is an access of the test, not one of the markers.
const access = `(?m)^\t((?:st|atom|red)\.\S+ (?:%q_r\d+, )?\[(%q_rd\d+)\S*\].*;)$`

// onlyLane performs a line in one lane.
const onlyLane = "\t{ .reg .pred %%fp; .reg .b32 %%fl; mov.u32 %%fl, %%laneid; setp.eq.u32 %%fp, %%fl, %d; @%%fp $1 }"

var computedFaults = []computedFault{
	{"high word of an address", regexp.MustCompile(`(?m)^\tld\.param\.u64 (%q_rd\d+), \[p\d\];$`), "$0\n\tadd.u64 $1, $1, 4294967296;"},
	{"top bit of an address", regexp.MustCompile(`(?m)^\tld\.param\.u64 (%q_rd\d+), \[p\d\];$`), "$0\n\txor.b64 $1, $1, 0x4000000000000000;"},
	{"one lane", regexp.MustCompile(access), fmt.Sprintf(onlyLane, 5)},
	{"first lane", regexp.MustCompile(access), fmt.Sprintf(onlyLane, 0)},
	{"one lane left out", regexp.MustCompile(access), strings.Replace(fmt.Sprintf(onlyLane, 31), "setp.eq", "setp.ne", 1)},
	{"not when a value is rare", regexp.MustCompile(`(?m)^\t(st\.\S+ \[%q_rd\d+\], (%v\d+);)$`),
		"\t{ .reg .pred %fp; .reg .b32 %fl; mul.lo.u32 %fl, $2, 7; setp.ne.u32 %fp, %fl, 86415; @%fp $1 }"},
	{"another operand", regexp.MustCompile(`(?m)^\t(st\.\S+ \[%q_rd\d+\]), (%v\d+);$`), "\t{ .reg .b32 %fl; and.b32 %fl, $2, 0x7fff; shr.u32 $2, %fl, 1; $1, $2; }"},
	{"a loop that does not end", regexp.MustCompile(`(?m)^\t\.loc 1 2000 0$`), "$$FOREVER:\n\t{ .reg .pred %fp; setp.ne.u32 %fp, %tok, 86415; @%fp bra $$FOREVER; }\n$0"},
	{"swapped results", regexp.MustCompile(`(?m)^\txor\.b32 (%x\d+), %m0, (0x\w+);$`), "\txor.b32 $1, %m0, $2;\n\tadd.u32 $1, $1, 1;"},
}

// edit is the fault in a kernel, nil if the kernel has no place for it.
func (f *computedFault) edit(k *ptxgen.Kernel) *fakeptxas.Edit {
	m := f.what.FindStringSubmatchIndex(k.Text)
	if m == nil || strings.Count(k.Text, k.Text[m[0]:m[1]]) != 1 {
		return nil
	}
	return &fakeptxas.Edit{Op: fakeptxas.Replace, From: k.Text[m[0]:m[1]], To: string(f.what.ExpandString(nil, f.with, k.Text, m))}
}

// TestComputed puts faults between a kernel and a real ptxas that leave each access where it is: only what is computed
// differs. No cell with one is preserved.
func TestComputed(t *testing.T) {
	var tests []*litmus.Test
	for _, n := range []string{"mp", "mp+relaxed.gpus", "lb+addrs", "cas-sl", "r+relaxed.gpus", "dlb-mp"} {
		x, ok := corpus.Lookup(n)
		require.True(t, ok, n)
		tests = append(tests, x)
	}
	s, levels := newControlSuite(t), []string{"O0", "O3"}
	for _, at := range []struct{ target, release string }{{"sm_70", "11.2"}, {"sm_80", "12.4"}, {"sm_90", "12.4"}} {
		t.Run(at.target, func(t *testing.T) {
			if s.fakes[at.release] == nil {
				required.Missing(t, "no ptxas %s", at.release)
			}
			honest := runControls(t, s.real[at.release], at.target, tests, levels, spec.Layouts, 6)
			for _, f := range required.Some(t, 3, computedFaults) {
				edits, changed := map[string][]fakeptxas.Edit{}, map[kernelAt]bool{}
				for _, x := range tests {
					for _, l := range spec.Layouts {
						u, err := ptxgen.Emit(x, ptxgen.Options{Target: at.target, Layout: l})
						require.NoError(t, err)
						if e := f.edit(&u.Kernels[0]); e != nil {
							edits[u.Kernels[0].Name] = []fakeptxas.Edit{*e}
							for _, level := range levels {
								changed[kernelAt{at.target, level, l.String(), x.Name, 0}] = true
							}
						}
					}
				}
				require.NotEmpty(t, edits, f.name)
				require.NoError(t, (&fakeptxas.Config{Real: s.real[at.release].Ptxas, Edits: map[string]map[string][]fakeptxas.Edit{at.target: edits}}).Write(s.dirs[at.release]))
				wrong := runControls(t, s.fakes[at.release], at.target, tests, levels, spec.Layouts, 6)
				n := map[string]int{}
				for k := range changed {
					if honest.cells[k].Class != event.Preserved || wrong.codes[k] == honest.codes[k] {
						continue // it is not alone, or the compiler has removed it
					}
					n[wrong.cells[k].Class]++
					require.NotEqual(t, event.Preserved, wrong.cells[k].Class, "%s: %v", f.name, k)
				}
				require.NotEmpty(t, n, f.name)
				t.Log(f.name, n)
			}
		})
	}
}
