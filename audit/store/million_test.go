package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(gcChild); path != "" {
		os.Exit(gcMain(path))
	}
	syncMode = "OFF"
	os.Exit(m.Run())
}

// synthetic passes on a run like those of real compilers: half of the cells
// share their machine code with others, three of a hundred have findings.
func synthetic(tests, targets int, h event.Handler) error {
	cfg := event.Config{Schema: event.Schema, Tool: "test", Build: "b", Spec: 2, Tests: tests, Model: "default",
		Levels: []string{"O0", "O1", "O2", "O3"}, Layouts: []string{"pointers", "symbols", "offsets"}}
	for i := range 3 {
		cfg.Toolchains = append(cfg.Toolchains, event.Toolchain{ID: fmt.Sprintf("ptxas 12.%d.1", i), Build: "x"})
	}
	for i := range targets {
		cfg.Targets = append(cfg.Targets, fmt.Sprintf("sm_%d", 50+i))
	}
	cfg.Cells = tests * targets * 36
	if err := h.Handle(event.Event{Config: &cfg}); err != nil {
		return err
	}
	for i := range tests {
		t := event.Test{Name: fmt.Sprintf("MP+membar.gl+addr-p%d::x%d-xg%dyg", i%7, i, i%3), Hash: fmt.Sprintf("%032x", i*7919),
			Dialect: "GPU_PTX", Preset: "paper"}
		t.Text = fmt.Sprintf("GPU_PTX %s\n{\nx=0; y=0;\n0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y;\n1:.reg .b64 rd0 = y; 1:.reg .b64 rd1 = x;\n}\n T0                | T1                ;\n st.cg.s32 [rd0],%d | st.cg.s32 [rd0],1 ;\n st.cg.s32 [rd1],2 | ld.cg.s32 r%d,[rd1] ;\nScopeTree(grid(cta(warp T0)) (cta(warp T1)))\nx: global, y: global\nexists (1:r%d=1 /\\ y=1)\n", t.Name, i, i, i)
		if err := h.Handle(event.Event{Test: &t}); err != nil {
			return err
		}
	}
	for _, tc := range cfg.Toolchains {
		for g, target := range cfg.Targets {
			for _, level := range cfg.Levels {
				for i := range tests {
					for l, layout := range cfg.Layouts {
						c := event.Cell{Test: fmt.Sprintf("MP+membar.gl+addr-p%d::x%d-xg%dyg", i%7, i, i%3), Hash: fmt.Sprintf("%032x", i*7919),
							Toolchain: tc.ID, Target: target, Level: level, Layout: layout}
						c.Code = fmt.Sprintf("%016x", uint64(i*3+l)*0x9e3779b97f4a7c15+uint64(g/2*2)*0xc2b2ae3d27d4eb4f)
						c.Class = event.Preserved
						if (i+l)%33 == 0 && level != "O0" {
							c.Class = event.Optimised
							c.Findings = []event.Finding{{Rule: "merged", Thread: 1, Access: 1,
								Detail: fmt.Sprintf("#0 ld.global.cg [x] and #1 ld.global.cg [x] are one instruction: LDG.E.CG R%d, [R2]", i%40)}}
							c.Verdict = &event.Verdict{Model: "ptx", Source: 4, Machine: 2, Lost: []string{"1:r1=0; 1:r2=1;"},
								Lifted: fmt.Sprintf("GPU_PTX coRR\n{\nx=0;\n}\n T0 | T1 ;\n st.cg.s32 [rd0],%d | ld.cg.s32 r1,[rd0] ;\n", i)}
							if err := h.Handle(event.Event{Listing: &event.Listing{Code: c.Code,
								Threads: []event.ThreadListing{{Thread: 1, Source: []event.Line{{Text: "ld.global.cg [x]"},
									{Pos: 1, Text: fmt.Sprintf("ld.global.cg [x%d]", i)}}, Machine: []event.Line{{Text: "LDG.E.CG R2, [R2]"}}}}}}); err != nil {
								return err
							}
						}
						if err := h.Handle(event.Event{Cell: &c}); err != nil {
							return err
						}
					}
				}
				if f, ok := h.(interface{ Flush() error }); ok {
					if err := f.Flush(); err != nil {
						return err
					}
				}
			}
		}
	}
	return h.Close()
}

// TestMillion fills a store with 10^6 cells (10^5 unless OPTCHECK_FULL is set)
// and says what that costs.
func TestMillion(t *testing.T) {
	tests := 278
	if os.Getenv("OPTCHECK_FULL") != "" {
		tests = 2778
	}
	s := fresh(t, t.TempDir(), "a.store")
	clock := func(what string, f func()) {
		begin := time.Now()
		f()
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		t.Logf("%-12s %8.2f s, heap %d MiB", what, time.Since(begin).Seconds(), m.HeapAlloc>>20)
	}
	clock("generate", func() { require.NoError(t, synthetic(tests, 10, event.Tee{})) })
	clock("fill", func() { require.NoError(t, synthetic(tests, 10, s.Writer())) })
	clock("again", func() { require.NoError(t, synthetic(tests, 10, s.Writer())) })
	info, err := s.Info(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, tests*360, info.Cells)
	t.Logf("%d cells, %d bytes, %.1f a cell; %d results, %d listings", info.Cells, info.Bytes, float64(info.Bytes)/float64(info.Cells),
		info.Results, info.Listings)
	require.Less(t, info.Bytes/info.Cells, int64(300))
	var live *Live
	clock("load", func() {
		live, err = s.Follow(t.Context(), View{})
		require.NoError(t, err)
	})
	require.Len(t, live.Cells, int(info.Cells))
	clock("refresh", func() {
		n, again, err := live.Refresh(t.Context())
		require.NoError(t, err)
		require.False(t, again)
		require.Zero(t, n)
	})
	var b bytes.Buffer
	clock("export", func() {
		h := event.NewJSONLines(&b)
		require.NoError(t, s.Export(context.Background(), View{}, h))
		require.NoError(t, h.Close())
	})
	live = nil
	s2 := fresh(t, t.TempDir(), "b.store")
	clock("merge", func() {
		_, err = s2.Merge(t.Context(), s)
		require.NoError(t, err)
	})
	clock("known", func() {
		_, err := s.known(t.Context(), &event.Config{Tool: "test", Build: "b", Spec: 2, Model: "default",
			Toolchains: []event.Toolchain{{ID: "ptxas 12.0.1", Build: "x"}}})
		require.NoError(t, err)
	})
	require.NoError(t, s2.Close())
	require.NoError(t, s.Close())
}
