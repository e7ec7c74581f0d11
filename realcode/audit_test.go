package realcode

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
	"optcheck/toolchain"
)

// BenchmarkQueue: a slow cell does not keep cores from those behind it. The compiler sleeps, at one
// level of one file in eight a hundred times as long; busy is how many run at a time.
// (GOMAXPROCS=16 go test ./realcode -run xxx -bench Queue -benchtime 1x)
func BenchmarkQueue(b *testing.B) {
	tool := filepath.Join(b.TempDir(), "ptxas")
	require.NoError(b, os.WriteFile(tool, []byte("#!/bin/sh\n"+
		"case \"$(cat batch.ptx)$2\" in *slow*O2) sleep 2;; *) sleep 0.02;; esac\necho 'ptxas fatal   : none' >&2\nexit 255\n"), 0o755))
	tc := &toolchain.Toolchain{ID: "ptxas 12.4", Version: "12.4", Ptxas: tool, Targets: []string{"sm_70", "sm_80", "sm_90"}, MaxPTX: "8.4"}
	var modules []*ptx.Module
	for i := range 64 {
		name := fmt.Sprintf("fast%d", i)
		if i%8 == 0 {
			name = fmt.Sprintf("slow%d", i)
		}
		m, err := ptx.Parse(name, fmt.Appendf(nil, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry %s() { ret; }\n", name))
		require.NoError(b, err)
		modules = append(modules, m)
	}
	for b.Loop() {
		start, before := time.Now(), tc.Stats().Wall
		require.NoError(b, AuditAll(b.Context(), Options{Toolchains: []*toolchain.Toolchain{tc}}, modules, func(_ int, c *Cell) error {
			require.Equal(b, Unsupported, c.Class, c.Reason)
			return nil
		}))
		b.ReportMetric((tc.Stats().Wall-before).Seconds()/time.Since(start).Seconds(), "busy")
	}
}
