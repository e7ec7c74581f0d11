package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// greed opens connections that ask a lot and read nothing, until the test ends.
func greed(t *testing.T, address string, n int) {
	for i := range n {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		var b strings.Builder
		for k := range 200 {
			fmt.Fprintf(&b, "GET /?q=x%d&page=%d HTTP/1.1\r\nHost: %s\r\n\r\n", i, k+1, address)
		}
		go func() { _, _ = io.WriteString(conn, b.String()) }()
	}
}

// serving serves a set until the test ends. Readers that read nothing are borne
// with for an hour.
func serving(t *testing.T, tests int) (*Server, string) {
	s, err := New(t.Context(), Options{Source: &fixed{million(tests)}})
	require.NoError(t, err)
	s.stall = time.Hour
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() { cancel(); <-done })
	return s, l.Addr().String()
}

// TestGreedyClients: clients that ask for hundreds of pages and read none cost
// another one nothing.
func TestGreedyClients(t *testing.T) {
	_, address := serving(t, 400)
	greed(t, address, 100)
	time.Sleep(200 * time.Millisecond)
	client := http.Client{Timeout: patient.Long, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, page := range []string{"/", "/api/version", "/?class=optimised"} {
		start := time.Now()
		r, err := client.Get("http://" + address + page)
		require.NoError(t, err)
		data, err := io.ReadAll(r.Body)
		r.Body.Close()
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.NotEmpty(t, data)
		t.Logf("the 101st client has %s after %v", page, time.Since(start))
	}
}

// TestTooManyClients: when there is no place left, the connection makes room that
// has done nothing for the longest time.
func TestTooManyClients(t *testing.T) {
	s, address := serving(t, 10)
	s.clients.mu.Lock()
	s.clients.most = 20
	s.clients.mu.Unlock()
	for range 60 { // which say nothing at all
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
	}
	client := http.Client{Timeout: patient.Long}
	r, err := client.Get("http://" + address + "/")
	require.NoError(t, err)
	r.Body.Close()
	require.Equal(t, http.StatusOK, r.StatusCode)
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	require.LessOrEqual(t, len(s.clients.all), 20)
}

// TestStalledReader: who takes nothing of an answer is left in the end.
func TestStalledReader(t *testing.T) {
	s, address := serving(t, 400)
	s.stall = 50 * time.Millisecond
	greed(t, address, 3)
	require.Eventually(t, func() bool {
		s.clients.mu.Lock()
		defer s.clients.mu.Unlock()
		return len(s.clients.all) == 0 && s.clients.held == 0
	}, patient.Long, 10*time.Millisecond)
}

// TestQueue: a place goes to the one who has cost the least, and to nobody who
// has gone.
func TestQueue(t *testing.T) {
	q := &queue{free: 1}
	require.True(t, q.enter(t.Context(), &client{}, patient.Long))
	require.False(t, q.enter(t.Context(), &client{}, time.Millisecond))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.False(t, q.enter(gone, &client{}, patient.Long))
	order := make(chan int, 3)
	for i, spent := range []int64{30, 10, 20} {
		c := &client{}
		c.spent.Store(spent)
		go func() {
			q.enter(context.Background(), c, patient.Long)
			order <- i
			q.leave()
		}()
		require.Eventually(t, func() bool { q.mu.Lock(); defer q.mu.Unlock(); return len(q.waiting) == i+1 }, patient.Long, time.Millisecond)
	}
	q.leave()
	require.Equal(t, []int{1, 2, 0}, []int{<-order, <-order, <-order})
	require.True(t, q.enter(t.Context(), &client{}, patient.Long))
}
