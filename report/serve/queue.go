package serve

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// client is what is known of a connection.
type client struct {
	conn  net.Conn
	spent atomic.Int64 // time for which its requests were worked on, in nanoseconds
	since atomic.Int64 // when it last got on, in nanoseconds of the clock
	work  atomic.Bool  // a request of it is being worked on, or waits for that
}

func (c *client) moved() { c.since.Store(time.Now().UnixNano()) }

type clientKey struct{}

// clientOf is the client of a request, a new one if its connection is not known.
func clientOf(ctx context.Context) *client {
	if c, ok := ctx.Value(clientKey{}).(*client); ok {
		return c
	}
	return &client{}
}

// clients are the connections that are open, at most most of them.
type clients struct {
	mu   sync.Mutex
	most int
	all  map[net.Conn]*client
	held int
}

// add takes in a connection. If there are too many, another one makes room: whoever
// is idle, or reads nothing, costs nobody else a place.
func (cs *clients) add(ctx context.Context, conn net.Conn) context.Context {
	c := &client{conn: conn}
	c.moved()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.all == nil {
		cs.all = map[net.Conn]*client{}
	}
	if len(cs.all) >= cs.most {
		cs.evict()
	}
	cs.all[conn] = c
	return context.WithValue(ctx, clientKey{}, c)
}

// evict closes the connection that has got on for the longest time no more.
func (cs *clients) evict() {
	var oldest *client
	for _, o := range cs.all {
		if !o.work.Load() && (oldest == nil || o.since.Load() < oldest.since.Load()) {
			oldest = o
		}
	}
	if oldest != nil {
		delete(cs.all, oldest.conn)
		oldest.conn.Close()
	}
}

// hold counts the bytes of answers that are being written, of which there may be
// maxHeld.
func (cs *clients) hold(n int) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.held += n; n > 0 && cs.held > maxHeld {
		cs.evict()
	}
}

func (cs *clients) remove(conn net.Conn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.all, conn)
}

// queue lets a number of requests be worked on at once. Of those that wait that
// one is next whose client has cost the least, the last one of equals: who asks much
// waits for those who ask little, and who came with a crowd for who comes alone.
type queue struct {
	mu      sync.Mutex
	free    int
	waiting []*waiter
}

type waiter struct {
	c     *client
	ready chan struct{}
}

// enter waits for a place, for at most limit; leave gives it back.
func (q *queue) enter(ctx context.Context, c *client, limit time.Duration) bool {
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.mu.Unlock()
		return true
	}
	w := &waiter{c, make(chan struct{})}
	q.waiting = append(q.waiting, w)
	q.mu.Unlock()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-w.ready:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, w); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return false
	}
	return true // it has just been given a place
}

func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.free++
		return
	}
	next := 0
	for i, w := range q.waiting {
		if w.c.spent.Load() <= q.waiting[next].c.spent.Load() {
			next = i
		}
	}
	close(q.waiting[next].ready)
	q.waiting = slices.Delete(q.waiting, next, next+1)
}
