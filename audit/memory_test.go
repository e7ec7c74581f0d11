package audit

import (
	"reflect"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen/cycle"
	"optcheck/toolchain"
)

// texts calls f for every string that can be reached from a value.
func texts(v reflect.Value, seen map[unsafe.Pointer]bool, f func(string)) {
	switch v.Kind() {
	case reflect.String:
		f(v.String())
	case reflect.Pointer:
		if p := v.UnsafePointer(); p != nil && !seen[p] {
			seen[p] = true
			texts(v.Elem(), seen, f)
		}
	case reflect.Interface:
		if !v.IsNil() {
			texts(v.Elem(), seen, f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			texts(v.Field(i), seen, f)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			texts(v.Index(i), seen, f)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			texts(it.Key(), seen, f)
			texts(it.Value(), seen, f)
		}
	}
}

// TestNothingPinsDisassemblies: no string that an audit remembers, or passes on,
// lies in the text of a disassembly: one of a few bytes would keep megabytes.
func TestNothingPinsDisassemblies(t *testing.T) {
	tcs := listings(t)
	var kinds []string
	run := event.NewRun()
	o := Options{Tests: corpus.Tests()[:30], Toolchains: tcs[len(tcs)-1:], Targets: []string{"sm_60", "sm_80"}, Levels: []string{"O3"}, AllArtefacts: true}
	o.Artefacts = func(_ *event.Cell, list []event.Artefact) error {
		for _, x := range list {
			kinds = append(kinds, x.Kind)
		}
		return nil
	}
	jobs, err := o.plan()
	require.NoError(t, err)
	a := newAuditor(o, run)
	type span struct{ from, to uintptr }
	var mu sync.Mutex
	var dumps []span
	var keep []*isa.Func // so that nothing else comes to lie there
	a.visit = func(v kernelVisit) {
		mu.Lock()
		defer mu.Unlock()
		s := span{from: ^uintptr(0)}
		for i := range v.fn.Insts {
			p := uintptr(unsafe.Pointer(unsafe.StringData(v.fn.Insts[i].Text)))
			s.from, s.to = min(s.from, p), max(s.to, p+uintptr(len(v.fn.Insts[i].Text)))
		}
		dumps, keep = append(dumps, s), append(keep, v.fn)
	}
	require.NoError(t, a.run(t.Context(), jobs))
	require.NotEmpty(t, dumps)
	inDump := func(s string) bool {
		p := uintptr(unsafe.Pointer(unsafe.StringData(s)))
		for _, d := range dumps {
			if len(s) > 0 && p >= d.from && p < d.to {
				return true
			}
		}
		return false
	}
	require.True(t, inDump(keep[0].Insts[0].Text), "the check itself")
	n := 0
	for name, x := range map[string]any{"cache": a.cache, "judge": a.judge, "run": run} {
		texts(reflect.ValueOf(x), map[unsafe.Pointer]bool{}, func(s string) {
			n++
			require.False(t, inDump(s), "%s: %q lies in a disassembly", name, s)
		})
	}
	require.Greater(t, n, 1000, "strings were looked at")
	require.NotEmpty(t, kinds)
	runtime.KeepAlive(keep)
}

// watch is a handler that measures what is live whenever a job is done.
type watch struct {
	cells int
	most  uint64
}

func (w *watch) Handle(e event.Event) error {
	if e.Cell != nil {
		w.cells++
	}
	return nil
}

func (w *watch) Flush() error {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	w.most = max(w.most, m.HeapAlloc)
	return nil
}

func (w *watch) Close() error { return nil }

// TestMemoryIsFlat: eight times as many tests, in chunks of one size, take hardly
// more memory while they are worked on. The tests are such that every target
// refuses some of them, so that no compiler is needed.
func TestMemoryIsFlat(t *testing.T) {
	g, err := cycle.Preset("scopes")
	require.NoError(t, err)
	const chunk = 128
	targets := []string{"sm_50", "sm_52", "sm_53"}
	live := func(tests int) float64 {
		p, err := NewPacked()
		require.NoError(t, err)
		for x := range g.Tests() {
			require.NoError(t, p.Add(x, x.Hash(), "scopes", ""))
			if p.Len() == tests {
				break
			}
		}
		w := &watch{}
		o := Options{Packed: p, Toolchains: []*toolchain.Toolchain{{ID: "none", Kind: toolchain.CUDA{}, MaxPTX: "5.0", Targets: targets}}, Targets: targets, Levels: []string{"O3"}, Chunk: chunk, Jobs: 1}
		jobs, err := o.plan()
		require.NoError(t, err)
		a := newAuditor(o, w)
		require.NoError(t, a.run(t.Context(), jobs))
		require.Equal(t, tests*3*len(targets), w.cells)
		return float64(w.most)
	}
	const few, many = 4 * chunk, 32 * chunk
	small, large := live(few), live(many)
	each := (large - small) / (many - few)
	t.Logf("%.1f MiB with %d tests, %.1f MiB with %d: %.0f bytes for each of %d cells", small/(1<<20), few, large/(1<<20), many, each/float64(3*len(targets)), 3*len(targets)*many)
	require.Less(t, each, 1000.0, "bytes for each further test with all its cells; a parsed one alone takes 3,000")
}
