package serve

import (
	"bytes"
	"net/http"
	"time"
)

// answer holds what a handler writes until it has ended: a reader that takes its
// time keeps nobody from working.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// chunk is how much of an answer must be taken in a time, in bytes.
const chunk = 64 << 10

// send writes an answer. A reader that does not take a chunk in s.stall, or has
// gone, gets no more.
func (s *Server) send(w http.ResponseWriter, c *client, a *answer) {
	s.clients.hold(a.body.Len())
	defer s.clients.hold(-a.body.Len())
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Now().Add(s.stall))
	w.WriteHeader(max(a.status, http.StatusOK))
	for data := a.body.Bytes(); len(data) > 0; {
		n, err := w.Write(data[:min(chunk, len(data))])
		if err != nil {
			return
		}
		c.moved()
		data = data[n:]
		_ = rc.SetWriteDeadline(time.Now().Add(s.stall))
	}
}
