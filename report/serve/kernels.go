package serve

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"optcheck/report"
	"optcheck/report/html"
)

func (s *Server) kernels(w http.ResponseWriter, r *http.Request) {
	n := s.now.Load()
	body, err := s.pages.get(fmt.Sprintf("k/%d", n.version), func() (template.HTML, error) {
		return n.kernels.Index(func(k *html.Kernel) string { return "kernel/" + k.ID + ".html" })
	})
	if err != nil {
		s.fail(w, err)
		return
	}
	s.page(w, r, n, &html.Page{Title: "Kernels", Here: html.KernelsFile, Body: body})
}

func (s *Server) kernel(w http.ResponseWriter, r *http.Request) {
	id, _ := strings.CutSuffix(r.PathValue("page"), ".html")
	n := s.now.Load()
	k, ok := n.kernels.ByID(id)
	if !ok {
		s.missing(w, r, "There is no such kernel.")
		return
	}
	h, crowded := s.hooks(r)
	body, err := s.drawn(fmt.Sprintf("k/%d/%s", n.version, k.ID), crowded, func() (template.HTML, error) {
		return n.kernels.Body(r.Context(), k, h, func(g *report.Group) string { return "../" + html.PageOf(g) })
	})
	if err != nil {
		s.fail(w, err)
		return
	}
	s.page(w, r, n, &html.Page{Title: k.Name, Root: "../", Here: html.KernelsFile, Body: body,
		Crumbs: []html.Link{{Text: "Kernels", Href: html.KernelsFile}, {Text: k.Name}}})
}
