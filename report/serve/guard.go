package serve

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Handler is the server's handler, with everything that guards it.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head(w.Header())
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.stall)) // what is no connection has none
		switch {
		case !s.knows(r):
			http.Error(w, "this server does not go by that name; see optcheck serve --help, --host", http.StatusMisdirectedRequest)
			return
		case s.posted(r):
			s.post(w, r, clientOf(r.Context()))
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this server only reads", http.StatusMethodNotAllowed)
			return
		}
		c := clientOf(r.Context())
		a := &answer{header: w.Header()}
		if s.work(c, a, r) {
			s.send(w, c, a)
			return
		}
		w.Header().Set("Retry-After", "2")
		http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
	})
}

// patience is how long a request waits for its turn.
const patience = 10 * time.Second

// work has a request answered when it is its turn; false if that takes too long.
func (s *Server) work(c *client, a *answer, r *http.Request) bool {
	c.work.Store(true)
	defer c.work.Store(false)
	if !s.busy.enter(r.Context(), c, patience) {
		return false
	}
	start := time.Now()
	defer func() {
		c.spent.Add(int64(time.Since(start)))
		c.moved()
		s.busy.leave()
	}()
	r.Body = http.MaxBytesReader(a, r.Body, 0)
	s.mux.ServeHTTP(a, r)
	return true
}

// policy lets pages load nothing from elsewhere. Attributes may hold styles:
// bars have lengths.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// head sets what every answer says.
func head(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	h.Set("Cache-Control", "no-cache")
}

// knows tells whether a request names this server: by the very address that its
// connection came to, by localhost if that is a loopback address, or by a name
// that the user gave. A page of another site whose name was made to point here
// names its own.
func (s *Server) knows(r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if slices.ContainsFunc(s.o.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	addr := at.Addr().Unmap().WithZone("")
	if named, err := netip.ParseAddr(host); err == nil {
		return named.Unmap().WithZone("") == addr
	}
	return host == "localhost" && addr.IsLoopback()
}
