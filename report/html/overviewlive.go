package html

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"optcheck/internal/plain"
)

// link returns the address of an overview that differs from this one in a parameter.
func (o *overview) link(key, value string) string {
	v := o.Filter.Values()
	if o.Sort != "" {
		v.Set("sort", o.Sort)
	}
	v.Set(key, value)
	return "index.html?" + v.Encode()
}

// place reads where a box is: its release, target and level.
func (o *overview) place(at string) (words [3]string, ok bool) {
	parts := strings.Split(at, ".")
	if len(parts) != len(words) {
		return words, false
	}
	for i, list := range [][]string{o.Index.Toolchains, o.Index.Targets, o.Index.Levels} {
		n, err := strconv.Atoi(parts[i])
		if err != nil || n < 0 || n >= len(list) {
			return words, false
		}
		words[i] = list[n]
	}
	return words, true
}

// InPlace reports whether the filter chooses exactly the place of a box.
func (o *overview) InPlace(at string) bool {
	w, ok := o.place(at)
	f := &o.Filter
	return ok && slices.Equal(f.Release, w[:1]) && slices.Equal(f.Target, w[1:2]) && slices.Equal(f.Level, w[2:])
}

// PlaceLink returns the address of an overview of the place of a box, or of all
// places if that is the present one.
func (o *overview) PlaceLink(at string) string {
	p := *o
	p.Filter.Release, p.Filter.Target, p.Filter.Level = nil, nil, nil
	if w, ok := o.place(at); ok && !o.InPlace(at) {
		p.Filter.Release, p.Filter.Target, p.Filter.Level = w[:1], w[1:2], w[2:]
	}
	return p.link("page", "1")
}

// ClassLink returns the address of an overview of a class alone, or of all if that
// is the present one.
func (o *overview) ClassLink(class string) string {
	p := *o
	if p.Filter.Class = []string{class}; slices.Equal(o.Filter.Class, p.Filter.Class) {
		p.Filter.Class = nil
	}
	return p.link("page", "1")
}

// SortLinks returns the orders of the list as a server offers them; the present one
// has no address.
func (o *overview) SortLinks() []Link {
	var out []Link
	for i, s := range Sorts {
		l := Link{Text: s}
		if s != o.Sort && (i > 0 || o.Sort != "") {
			l.Href = o.link("sort", s)
		}
		out = append(out, l)
	}
	return out
}

// Pager returns the neighbouring pages of the list as a server offers them.
func (o *overview) Pager() []Link {
	var out []Link
	add := func(text string, page int) {
		if page >= 1 && page <= o.List.Pages && page != o.List.Page {
			out = append(out, Link{text, o.link("page", strconv.Itoa(page))})
		}
	}
	if o.List.Page > 2 {
		add("First", 1)
	}
	add("Previous", o.List.Page-1)
	out = append(out, Link{Text: fmt.Sprintf("Page %s of %s", plain.Number(o.List.Page), plain.Number(o.List.Pages))})
	add("Next", o.List.Page+1)
	if o.List.Page < o.List.Pages-1 {
		add("Last", o.List.Pages)
	}
	return out
}
