// Package serve answers browsers and programs that ask for a set of results: the
// pages of report/html with filters, lists and comparisons made on demand, and
// the same as JSON.
//
// It only reads. It answers GET and HEAD, to requests that name a host which it
// was told to be, so that no foreign page reaches it through a name of its own;
// every request's work is bounded. With a Bench there is one more page, which takes
// tests by POST from its own form and shows what compilers make of them. Where the set comes from and whether it grows
// is the business of a Source.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"optcheck/event"
	"optcheck/report/html"
)

// Source is where a set comes from.
type Source interface {
	// Next returns the set if it has changed since the last call, else nil. The
	// set may grow in the next call; it is not touched in between.
	Next(ctx context.Context) (*event.Set, error)
}

// Options say what to serve.
type Options struct {
	// Source may be nil if there is a Bench: then there are no results.
	Source Source
	// Bench, if not nil, compiles tests that readers type.
	Bench   Bench
	Finding html.FindingHooks
	// Extra are further pages, with their bodies, such as those of tables.
	Extra []html.ExtraPage
	// Hosts are names that requests may call this server by, beside localhost
	// and the address that they came to.
	Hosts []string
	// Every is the time between two looks at the source; 0 is two seconds.
	Every time.Duration
	// Foot is the last line of pages.
	Foot string
	// Log is told what goes wrong; nil is nothing.
	Log *log.Logger
}

// Server answers requests. It is made by New.
type Server struct {
	o       Options
	now     atomic.Pointer[snapshot]
	busy    queue // of requests that are worked on
	drawing queue // of pages with pictures among them
	clients clients
	stall   time.Duration // after which a reader that takes nothing is left
	bench   *bench        // nil without
	pages   cache
	mux     *http.ServeMux
}

// snapshot is the set at one time. Nothing in it changes.
type snapshot struct {
	index   *html.Index
	runs    *html.Runs
	kernels *html.Kernels
	version int64
	at      time.Time
	stale   string // why newer results could not be read, "" if they could
}

// New reads the set for the first time.
func New(ctx context.Context, o Options) (*Server, error) {
	cores := runtime.GOMAXPROCS(0)
	s := &Server{o: o, busy: queue{free: cores + 1}, drawing: queue{free: max(1, cores/2)},
		clients: clients{most: maxClients}, stall: stallTime}
	if o.Bench != nil {
		s.bench = newBench(o.Bench)
	}
	set := event.NewSet()
	if o.Source != nil || o.Bench == nil {
		var err error
		if set, err = o.Source.Next(ctx); err != nil {
			return nil, err
		}
	}
	if set == nil {
		return nil, errors.New("the source has nothing to serve")
	}
	s.take(set)
	s.routes()
	return s, nil
}

// take makes a snapshot of a set.
func (s *Server) take(set *event.Set) {
	frozen := *set
	frozen.Config.Toolchains, frozen.Tests, frozen.Columns = slices.Clone(set.Config.Toolchains), slices.Clone(set.Tests),
		slices.Clone(set.Columns)
	frozen.Listings, frozen.Histograms = maps.Clone(set.Listings), slices.Clone(set.Histograms)
	x := html.NewIndex(&frozen)
	n := &snapshot{index: x, runs: html.NewRuns(x.Set), kernels: html.NewKernels(x), version: 1, at: time.Now()}
	if old := s.now.Load(); old != nil {
		n.version = old.version + 1
	}
	s.now.Store(n)
}

// Follow takes in what the source gets, until ctx ends. It rests ten times as
// long as it worked: a set that grows all the time leaves time for requests.
func (s *Server) Follow(ctx context.Context) {
	every := s.o.Every
	if every <= 0 {
		every = 2 * time.Second
	}
	wait := every
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		start := time.Now()
		set, err := s.o.Source.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.logf("newer results cannot be read: %v", err)
			old := *s.now.Load()
			old.stale = err.Error()
			s.now.Store(&old)
		case set != nil:
			s.take(set)
		case s.now.Load().stale != "":
			old := *s.now.Load()
			old.stale = ""
			s.now.Store(&old)
		}
		wait = max(every, 10*time.Since(start))
	}
}

func (s *Server) logf(format string, args ...any) {
	if s.o.Log != nil {
		s.o.Log.Printf(format, args...)
	}
}

// Limits of connections. Writing has no limit but that of a stall: a page may be
// large and the reader far away.
const (
	headerTime = 20 * time.Second
	readTime   = 30 * time.Second
	stallTime  = 10 * time.Second
	idleTime   = 60 * time.Second
	closeTime  = 5 * time.Second
	maxHeader  = 64 << 10
	maxClients = 512
	maxHeld    = 256 << 20
)

// Serve answers requests that come to a listener until ctx ends, then lets
// those that have begun end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTime, ReadTimeout: readTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: s.o.Log, BaseContext: func(net.Listener) context.Context { return ctx }, ConnContext: s.clients.add,
		ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateClosed || state == http.StateHijacked {
				s.clients.remove(c)
			}
		}}
	if srv.ErrorLog == nil {
		srv.ErrorLog = log.New(discard{}, "", 0)
	}
	done := make(chan error, 1)
	follow, stop := context.WithCancel(ctx)
	defer stop()
	if s.o.Source != nil {
		go s.Follow(follow)
	}
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		done <- srv.Shutdown(end)
	}()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %v: %w", l.Addr(), err)
	}
	if err := <-done; err != nil {
		return srv.Close() // what has not ended by now is cut off
	}
	return nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
