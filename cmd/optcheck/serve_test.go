package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/audit/store"
	"optcheck/event"
	"optcheck/internal/patient"
)

// output is what a program prints, for reading while it runs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

var servedAt = regexp.MustCompile(`http://[^ ]*/`)

// startServe runs optcheck serve until the test ends, and returns its address.
func startServe(t *testing.T, args ...string) string {
	return startServeWith(t, func(string) string { return "" }, args...)
}

// startServeWith is startServe with an environment.
func startServeWith(t *testing.T, getenv func(string) string, args ...string) string {
	ctx, cancel := context.WithCancel(context.Background())
	var out output
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, getenv, strings.NewReader(""), io.Discard, &out,
			append([]string{"serve", "--addr", "127.0.0.1:0"}, args...))
	}()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done, "an interrupt ends it without an error")
	})
	require.Eventually(t, func() bool {
		select {
		case err := <-done:
			done <- err
			return true
		default:
			return servedAt.MatchString(out.String())
		}
	}, patient.Long, 5*time.Millisecond)
	at := servedAt.FindString(out.String())
	require.NotEmpty(t, at, out.String())
	return at
}

func fetch(t require.TestingT, address string) string {
	r, err := http.Get(address)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, r.StatusCode, string(body))
	return string(body)
}

// TestServeStreams: several streams are one whole, and what shards and builds lack or
// do not have in common is told.
func TestServeStreams(t *testing.T) {
	dir := t.TempDir()
	write := func(name, build, shard string, levels ...string) string {
		file := filepath.Join(dir, name)
		f, err := os.Create(file)
		require.NoError(t, err)
		h := event.NewJSONLines(f)
		require.NoError(t, h.Handle(event.Event{Config: &event.Config{Schema: event.Schema, Tool: "t", Build: build, Tests: 1,
			Cells: len(levels), Shard: shard,
			Toolchains: []event.Toolchain{{ID: "ptxas 12.4.131", Build: "b"}}, Targets: []string{"sm_80"}, Levels: []string{"O0", "O1", "O2",
				"O3"}, Layouts: []string{"pointers"}}}))
		require.NoError(t, h.Handle(event.Event{Test: &event.Test{Name: "mp", Hash: "1", Dialect: "GPU_PTX", Text: "GPU_PTX mp"}}))
		for _, level := range levels {
			require.NoError(t, h.Handle(event.Event{Cell: &event.Cell{Test: "mp", Hash: "1", Toolchain: "ptxas 12.4.131", Target: "sm_80",
				Level: level, Layout: "pointers",
				Result: event.Result{Class: event.Preserved}}}))
		}
		require.NoError(t, h.Close())
		require.NoError(t, f.Close())
		return file
	}
	a, b, other := write("a", "b1", "1/3", "O0", "O3"), write("b", "b1", "3/3", "O1"), write("c", "b2", "", "O2")
	var got struct {
		Cells      int
		Incomplete string
		Mixed      []string
	}
	at := startServe(t, a, b, a)
	require.NoError(t, json.Unmarshal([]byte(fetch(t, at+"api/summary")), &got))
	require.Equal(t, 3, got.Cells)
	require.Equal(t, "the run is incomplete: 3 of 4 cells are there", got.Incomplete)
	require.Empty(t, got.Mixed)
	require.Contains(t, fetch(t, at), "of 3 shards, no run did 2")
	at = startServe(t, a, b, other)
	require.NoError(t, json.Unmarshal([]byte(fetch(t, at+"api/summary")), &got))
	require.Equal(t, 4, got.Cells)
	require.Len(t, got.Mixed, 1)
	require.Contains(t, fetch(t, at), "different builds of optcheck: t (build b1) and t (build b2)")
}

// TestServeStore: while a writer adds cells to a store, a server of it shows
// them, in whole batches, with known findings marked.
func TestServeStore(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "campaign.db")
	s, err := store.Open(ctx, path, store.Create)
	require.NoError(t, err)
	defer s.Close()
	w := s.Writer()
	config := event.Config{Schema: event.Schema, Tool: "t", Spec: 2, Model: "default",
		Toolchains: []event.Toolchain{{ID: "ptxas 12.4.131", Build: "b"}},
		Targets:    []string{"sm_80"}, Levels: []string{"O3"}, Layouts: []string{"pointers"}}
	require.NoError(t, w.Handle(event.Event{Config: &config}))
	add := func(n int) {
		name := fmt.Sprintf("coRR+%d", n)
		require.NoError(t, w.Handle(event.Event{Test: &event.Test{Name: name, Hash: fmt.Sprint(n), Dialect: "GPU_PTX",
			Text: "GPU_PTX " + name}}))
		c := event.Cell{Test: name, Hash: fmt.Sprint(n), Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: "pointers",
			Result: event.Result{Class: event.Optimised, Code: fmt.Sprintf("%016x", n+1),
				Findings: []event.Finding{{Rule: "merged", Thread: 1, Access: 1,
					Detail: "#0 ld.global.cg [x] and #1 ld.global.cg [x] are one instruction: LDG.E.STRONG.GPU R2, [R2.64]"}}}}
		require.NoError(t, w.Handle(event.Event{Listing: &event.Listing{Code: c.Code, Threads: []event.ThreadListing{{Thread: 1}}}}))
		require.NoError(t, w.Handle(event.Event{Cell: &c}))
	}
	add(0)
	require.NoError(t, w.Flush())
	at := startServe(t, path, "--refresh", "100ms")
	type summary struct {
		Cells  int
		Facets map[string]map[string]int
	}
	count := func() (s summary) {
		require.NoError(t, json.Unmarshal([]byte(fetch(t, at+"api/summary")), &s))
		return s
	}
	require.Equal(t, 1, count().Cells)
	for n := 1; n < 30; n++ {
		add(n)
		if n%10 != 9 {
			continue
		}
		require.NoError(t, w.Flush())
		require.Eventually(t, func() bool { return count().Cells == n+1 }, patient.Long, 20*time.Millisecond)
		require.Contains(t, fetch(t, fmt.Sprintf("%s?q=corr%%2B%d", at, n)), fmt.Sprintf("coRR&#43;%d", n))
	}
	require.Equal(t, 30, count().Facets["known"]["known"], "the built-in list knows this finding; stores do not keep what a list said")
	require.Contains(t, fetch(t, at+"?known=known"), "weak-loads-merged")
	require.NoError(t, w.Close())
}
