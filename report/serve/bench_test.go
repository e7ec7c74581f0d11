package serve

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// million is a set of a million cells: 10,000 tests in 100 places, 6 % of them
// with findings of some thousand kinds.
func million(tests int) *event.Set {
	s := event.NewSet()
	s.Config = event.Config{Schema: event.Schema, Levels: []string{"O0", "O1", "O2", "O3"}, Layouts: []string{"pointers"}}
	for tc := range 5 {
		s.Config.Toolchains = append(s.Config.Toolchains, event.Toolchain{ID: fmt.Sprintf("ptxas 12.%d", tc)})
		for target := range 5 {
			for level := range 4 {
				s.AddColumn(event.Column{Toolchain: fmt.Sprintf("ptxas 12.%d", tc), Target: fmt.Sprintf("sm_%d0", target+5), Level: fmt.Sprintf("O%d",
					level), Layout: "pointers"})
			}
		}
	}
	rules := []string{"merged", "missing", "reordered", "fence-weakened", "weakened"}
	for t := range tests {
		test := s.AddTest(event.Test{Name: fmt.Sprintf("Test%d+po-%d+dep", t, t%97), Hash: fmt.Sprint(t), Preset: []string{"paper", "ptx",
			"corpus"}[t%3], Text: "GPU_PTX"})
		for c := range uint32(len(s.Columns)) {
			r := event.Result{Class: event.Preserved, Code: fmt.Sprintf("%d/%d", t, c/20)}
			switch k := (t*31 + int(c)*7) % 100; {
			case k < 30:
				r.Class, r.Code, r.Reason = event.Unsupported, "", fmt.Sprintf(".relaxed needs sm_7%d", k%3)
			case k < 36:
				r.Class = []string{event.Optimised, event.Optimised, event.Optimised, event.Miscompiled, event.Unknown, event.Optimised}[k-30]
				if r.Class != event.Unknown {
					r.Findings = []event.Finding{{Rule: rules[(t+k)%5], Thread: k % 2, Access: 1,
						Detail: fmt.Sprintf("#1 ld.relaxed.gpu [x%d] and #2 ld [y] are one instruction", t%50)}}
				} else {
					r.Reason = "the disassembly was not understood"
				}
				if k == 31 {
					r.Known = []string{"weak-loads-merged"}
				}
			}
			key := fmt.Sprintf("%s %v %s", r.Class, r.Findings, r.Reason+r.Code)
			s.Cells = append(s.Cells, event.Ref{Test: test, Column: c, Result: s.AddResult(key, r)})
		}
	}
	return s
}

type fixed struct{ set *event.Set }

func (f *fixed) Next(context.Context) (*event.Set, error) {
	s := f.set
	f.set = nil
	return s, nil
}

// requests are queries that no cache can answer, for a number that makes each
// one new.
func requests(n int) []string {
	u := func(path string, v ...string) string {
		q := url.Values{}
		for i := 0; i < len(v); i += 2 {
			q.Add(v[i], v[i+1])
		}
		return path + "?" + q.Encode()
	}
	word := fmt.Sprint("test", n%10000)
	return []string{
		u("/", "class", event.Miscompiled, "q", word),
		u("/", "rule", "merged", "target", "sm_70", "known", "new", "page", fmt.Sprint(n+1)),
		u("/", "q", fmt.Sprintf("ld.relaxed x%d", n%50), "sort", "cells", "page", fmt.Sprint(n+1)),
		u("/api/summary", "level", "O3", "release", "ptxas 12.1", "q", word),
		u("/api/cells", "class", event.Optimised, "target", "sm_80", "limit", "100", "offset", fmt.Sprint(n)),
		u("/api/findings", "rule", "reordered", "limit", "50"),
		u("/changes.html", "left", "ptxas 12.0", "right", fmt.Sprintf("ptxas 12.%d", 1+n%4)),
		u("/api/changes", "left", "ptxas 12.0", "right", fmt.Sprintf("ptxas 12.%d", 1+n%4)),
	}
}

func get(t testing.TB, h http.Handler, address string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", address, nil)
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, loopback{}))
	r.Host = "127.0.0.1:7777"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

type loopback struct{}

func (loopback) Network() string { return "tcp" }
func (loopback) String() string  { return "127.0.0.1:7777" }

// forget empties a cache.
func (c *cache) forget() {
	c.order.Init()
	c.by, c.bytes = nil, 0
}

// BenchmarkMillion measures queries over a million cells, each a new one.
func BenchmarkMillion(b *testing.B) {
	start := time.Now()
	set := million(10_000)
	made := time.Since(start)
	start = time.Now()
	s, err := New(context.Background(), Options{Source: &fixed{set}})
	require.NoError(b, err)
	indexed := time.Since(start)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	b.Logf("%d cells, %d results: made in %v, indexed in %v, %d findings; %d MB in memory", len(set.Cells), len(set.Results), made, indexed,
		len(s.now.Load().index.Groups.List), m.HeapAlloc>>20)
	h := s.Handler()
	for i, name := range requests(0) {
		path, _, _ := cut(name)
		b.Run(fmt.Sprintf("%d%s", i, path), func(b *testing.B) {
			var all []time.Duration
			n := 0
			for b.Loop() {
				n++
				s.pages.forget() // there are not many comparisons
				at := time.Now()
				w := get(b, h, requests(n)[i])
				all = append(all, time.Since(at))
				if w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body.String())
				}
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}

func cut(s string) (path, query string, ok bool) {
	u, err := url.Parse(s)
	if err != nil {
		return "", "", false
	}
	return u.Path, u.RawQuery, true
}
