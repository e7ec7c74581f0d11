package html

import (
	"fmt"
	"strconv"
)

// link is the address of an overview that differs from this one in a parameter.
func (o *overview) link(key, value string) string {
	v := o.Filter.Values()
	if o.Sort != "" {
		v.Set("sort", o.Sort)
	}
	v.Set(key, value)
	return "index.html?" + v.Encode()
}

// SortLinks are the orders of the list as a server offers them; the present one
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

// Pager are the neighbouring pages of the list as a server offers them.
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
	out = append(out, Link{Text: fmt.Sprintf("Page %s of %s", Number(o.List.Page), Number(o.List.Pages))})
	add("Next", o.List.Page+1)
	if o.List.Page < o.List.Pages-1 {
		add("Last", o.List.Pages)
	}
	return out
}
