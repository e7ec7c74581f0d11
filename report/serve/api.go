package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"optcheck/report/html"
)

func (s *Server) apiRoutes() {
	s.mux.HandleFunc("/api/version", s.api(func(n *snapshot, r *http.Request) (any, error) {
		if err := only(r.URL.Query()); err != nil {
			return nil, err
		}
		return map[string]any{"version": n.version, "read": n.at.UTC().Format("2006-01-02T15:04:05Z"), "stale": n.stale}, nil
	}))
	s.mux.HandleFunc("/api/summary", s.api(func(n *snapshot, r *http.Request) (any, error) {
		f, v, err := query(r)
		if err == nil {
			err = errors.Join(onlyKnown(v), n.index.Check(f))
		}
		if err != nil {
			return nil, err
		}
		return n.index.Summary(f), nil
	}))
	s.mux.HandleFunc("/api/cells", s.api(listed("cells", (*html.Index).Cells)))
	s.mux.HandleFunc("/api/findings", s.api(listed("findings", (*html.Index).FindingList)))
	s.mux.HandleFunc("/api/findings/{id}", func(w http.ResponseWriter, r *http.Request) {
		n := s.now.Load()
		if err := only(r.URL.Query()); err != nil {
			s.json(w, r, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		f, ok := n.index.Finding(r.PathValue("id"))
		if !ok {
			s.json(w, r, http.StatusNotFound, map[string]string{"error": "no such finding"})
			return
		}
		s.json(w, r, http.StatusOK, f)
	})
	s.mux.HandleFunc("/api/changes", s.api(func(n *snapshot, r *http.Request) (any, error) {
		v, err := url.ParseQuery(r.URL.RawQuery)
		if err == nil {
			err = only(v, "left", "right")
		}
		if err != nil {
			return nil, err
		}
		p, err := pair(n.index, v)
		if err != nil {
			return nil, err
		}
		return changesAnswer(n.index.Compare(p[0], p[1], maxAPIChanges)), nil
	}))
	s.mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		s.json(w, r, http.StatusNotFound,
			map[string]string{"error": "no such resource; there are version, summary, cells, findings, findings/ID and changes"})
	})
}

// api answers with what f returns; an error is one of the request.
func (s *Server) api(f func(*snapshot, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f(s.now.Load(), r)
		if err != nil {
			s.json(w, r, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		s.json(w, r, http.StatusOK, v)
	}
}

func (s *Server) json(w http.ResponseWriter, r *http.Request, status int, v any) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil { // escapes what could end a script
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	write(w, r, status, b.Bytes())
}

// Bounds of a part of a list.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// part reads the filter of a request and which part of the list it wants.
func part(r *http.Request) (f html.Filter, offset, limit int, err error) {
	f, v, err := query(r)
	if err == nil {
		err = onlyKnown(v, "offset", "limit")
	}
	if err == nil {
		offset, err = whole(v, "offset", 0, 0, maxPage)
	}
	if err == nil {
		limit, err = whole(v, "limit", defaultLimit, 1, maxLimit)
	}
	return f, offset, limit, err
}

// onlyKnown refuses parameters that are none: a program whose filter is
// misspelt must not take all cells for those that it asked for.
func onlyKnown(v url.Values, more ...string) error { return only(v, slices.Concat(html.Keys, more)...) }

// only refuses parameters that are not among the keys.
func only(v url.Values, keys ...string) error {
	for _, k := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(keys, k) {
			return fmt.Errorf("no parameter %q (%s)", html.Short(k, 40), cmp.Or(strings.Join(keys, ", "), "there are none"))
		}
	}
	return nil
}

// listed answers with a part of a list of what a filter leaves.
func listed[T any](name string,
	list func(x *html.Index, f html.Filter, offset, limit int) ([]T, int)) func(*snapshot, *http.Request) (any, error) {
	return func(n *snapshot, r *http.Request) (any, error) {
		f, offset, limit, err := part(r)
		if err == nil {
			err = n.index.Check(f)
		}
		if err != nil {
			return nil, err
		}
		some, total := list(n.index, f, offset, limit)
		return partOf(name, some, offset, total), nil
	}
}

// partOf is the answer that holds a part of a list.
func partOf[T any](name string, part []T, offset, total int) map[string]any {
	if part == nil {
		part = []T{}
	}
	return map[string]any{name: part, "offset": offset, "total": total}
}

// maxAPIChanges bounds the changes of one answer.
const maxAPIChanges = 10_000

func changesAnswer(c *html.Comparison) map[string]any {
	type side struct {
		Class string `json:"class"`
		Found string `json:"found"`
	}
	type change struct {
		Test  string `json:"test"`
		From  side   `json:"from"`
		To    side   `json:"to"`
		Cells int    `json:"cells"`
		Where string `json:"where"`
	}
	changes := []change{}
	for _, x := range c.Changes {
		changes = append(changes, change{x.Test, side{x.From.Class, x.From.Found}, side{x.To.Class, x.To.Found}, x.Cells, x.Where})
	}
	return map[string]any{"left": c.Left, "right": c.Right, "both": c.Both, "class_differs": c.Class,
		"findings_differ": c.Found, "code_differs": c.Code,
		"only_left": c.OnlyLeft, "only_right": c.OnlyRight, "changes": changes, "total": len(c.Changes) + c.More}
}
