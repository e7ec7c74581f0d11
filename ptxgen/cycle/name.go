package cycle

import (
	"errors"
	"fmt"
	"strings"
)

var tagNames = map[Kind]string{Po: "po", Bar: "bar", Addr: "addr", Data: "data", Ctrl: "ctrl", BarRed: "barred", BarWarp: "barwarp", Mbar: "mbar",
	Cluster: "cluster", ProxyAsync: "proxyasync", Rf: "rfi", Fr: "fri", Co: "coi"}

// sameLoc marks an edge of program order whose ends access one location.
const sameLoc = ".loc"

// tag formats an edge within a thread. The reader infers directions; coh says that all edges of
// the name stay on one location.
func (e Edge) tag(coh bool) string {
	s := tagNames[e.Kind] + e.fence()
	if e.Same && !e.Com() && !coh {
		s += sameLoc
	}
	return s
}

// Name returns the name of the cycle without placement: the family, then one tag per thread.
// The cycle must be canonical; see NewSpec. In a tag, edges and annotations of accesses are in
// program order, joined by hyphens.
//
// If all accesses, or all loads and all stores, are annotated alike, the name says so once at
// the end: all-cg, all-ca-cg. Threads with one access are omitted unless one of them is
// annotated. An edge to a write in the middle of a thread ends in W unless something else shows
// it. Equal tags appear once, in the plural; plain program order everywhere is omitted.
func (c *Cycle) Name() string {
	family, _ := c.family()
	coh := c.isCoherence()
	all := c.allTag()
	ann := c.Ann
	if all != "" {
		ann = make([]Ann, len(c.Ann))
	}
	var multi, tags []string
	single := false
	for t := range c.start {
		from, to := c.span(t)
		tag := c.threadTag(from, to, ann, coh)
		tags = append(tags, tag)
		if to-from > 1 {
			multi = append(multi, tag)
		} else if ann[from] != (Ann{}) {
			single = true
		}
	}
	if !single {
		tags = multi
		same := true
		for _, t := range tags {
			same = same && t == tags[0]
		}
		switch {
		case same && len(tags) > 0 && tags[0] == "po":
			tags = nil
		case same && len(tags) > 1:
			tags = []string{tags[0] + "s"}
		}
	}
	if all != "" {
		tags = append(tags, all)
	}
	return strings.Join(append([]string{family}, tags...), "+")
}

// allTag returns the tag for the annotation of all accesses, "" if they are plain or not
// annotated alike.
func (c *Cycle) allTag() string {
	var ann [2]Ann
	var seen [2]bool
	for i, a := range c.Ann {
		d := c.dir(i)
		if seen[d] && ann[d] != a {
			return ""
		}
		ann[d], seen[d] = a, true
	}
	switch {
	case !seen[Read] || !seen[Write]:
		if a := c.Ann[0]; a != (Ann{}) {
			return "all-" + a.String()
		}
		return ""
	case ann[Read] == ann[Write]:
		if ann[Read] == (Ann{}) {
			return ""
		}
		return "all-" + ann[Read].String()
	}
	return "all-" + ann[Read].String() + "-" + ann[Write].String()
}

// threadTag formats one thread, without the last edge, which leaves it.
func (c *Cycle) threadTag(from, to int, ann []Ann, coh bool) string {
	var parts []string
	for i := from; i < to; i++ {
		if ann[i] != (Ann{}) || to-from == 1 {
			parts = append(parts, ann[i].String())
		}
		if i == to-1 {
			break
		}
		tag := c.Edges[i].tag(coh)
		if i < to-2 && c.Edges[i].Dst == Write && !fixes(c.Edges[i], c.Edges[i+1]) {
			tag += "W"
		}
		parts = append(parts, tag)
	}
	return strings.Join(parts, "-")
}

// fixes reports whether the edges alone show that the access between them is a write. Otherwise
// it is a read.
func fixes(in, out Edge) bool {
	return in.Com() || in.Kind == Data || out.Kind == Co || out.Kind == Rf
}

// ParseCycleName reads what Cycle.Name returns.
func ParseCycleName(name string) (*Cycle, error) {
	tags := strings.Split(name, "+")
	shape, coh, tags, err := splitFamily(tags)
	if err != nil {
		return nil, err
	}
	all := ""
	if n := len(tags); n > 0 && strings.HasPrefix(tags[n-1], "all-") {
		all, tags = tags[n-1][len("all-"):], tags[:n-1]
	}
	tags, err = perThread(shape, tags)
	if err != nil {
		return nil, err
	}
	p := nameParser{coh: coh}
	for t, s := range shape {
		if err := p.thread(s, tags[t]); err != nil {
			return nil, err
		}
		p.leave(shape, t, coh)
	}
	if all != "" {
		if err := p.annotate(all); err != nil {
			return nil, err
		}
	}
	return New(p.edges, p.ann)
}

// splitFamily removes the family from the parts of a name. Classic names may contain a +.
func splitFamily(parts []string) (shape []string, coh bool, rest []string, err error) {
	for n := min(2, len(parts)); n > 0; n-- {
		if s, coh, ok := shapeOfName(strings.Join(parts[:n], "+")); ok {
			return strings.Split(s, "+"), coh, parts[n:], nil
		}
	}
	n := 0
	for n < len(parts) && len(parts[n]) <= 2 && parts[n] != "" && strings.Trim(parts[n], "RW") == "" {
		n++
	}
	if n < 2 {
		return nil, false, nil, fmt.Errorf("%q is no family of cycles", parts[0])
	}
	return parts[:n], false, parts[n:], nil
}

// perThread assigns each thread its tag: "" for a plain single access.
func perThread(shape, tags []string) ([]string, error) {
	out := make([]string, len(shape))
	multi := 0
	for _, s := range shape {
		if len(s) > 1 {
			multi++
		}
	}
	plural := len(tags) == 1 && multi > 1
	if plural {
		if !strings.HasSuffix(tags[0], "s") {
			return nil, fmt.Errorf("one tag %q for %d threads is not in the plural", tags[0], multi)
		}
		tags = []string{strings.TrimSuffix(tags[0], "s")}
	}
	if len(tags) != 0 && !plural && len(tags) != multi && len(tags) != len(shape) {
		return nil, fmt.Errorf("%d tags for %d threads, %d of them with more than one access", len(tags), len(shape), multi)
	}
	k := 0
	for t, s := range shape {
		switch {
		case len(s) == 1 && len(tags) != len(shape):
		case len(tags) == 0:
			out[t] = "po"
		case plural:
			out[t] = tags[0]
		default:
			out[t] = tags[k]
			k++
		}
	}
	return out, nil
}

// nameParser gathers the edges and annotations of a name.
type nameParser struct {
	coh   bool
	edges []Edge
	ann   []Ann
}

// thread reads the tag of one thread whose first and last access are shape.
func (p *nameParser) thread(shape, tag string) error {
	cur := Ann{}
	var edges []Edge
	var ann []Ann
	if tag != "" {
		for _, word := range strings.Split(tag, "-") {
			if a, err := ParseAnn(word); err == nil {
				cur = a
				continue
			}
			e, err := parseTag(word, p.coh)
			if err != nil {
				return err
			}
			edges, ann, cur = append(edges, e), append(ann, cur), Ann{}
		}
	}
	ann = append(ann, cur)
	if (len(edges) == 0) != (len(shape) == 1) {
		return fmt.Errorf("tag %q does not fit a thread %s", tag, shape)
	}
	dir := dirOf(shape[0])
	for i := range edges {
		e := &edges[i]
		e.Src = dir
		if e.Kind == Addr || e.Kind == Data || e.Kind == Ctrl {
			e.Src = Read
		}
		switch {
		case i == len(edges)-1:
			e.Dst = dirOf(shape[1])
		case e.Com():
			e.Dst = Write
			if e.Kind == Rf {
				e.Dst = Read
			}
		case e.Dst == Write || e.Kind == Data:
			e.Dst = Write
		case edges[i+1].Kind == Co || edges[i+1].Kind == Rf:
			e.Dst = Write
		}
		dir = e.Dst
	}
	p.edges, p.ann = append(p.edges, edges...), append(p.ann, ann...)
	return nil
}

// leave adds the communication from thread t to the next.
func (p *nameParser) leave(shape []string, t int, coh bool) {
	s, next := shape[t], shape[(t+1)%len(shape)]
	src, dst := dirOf(s[len(s)-1]), dirOf(next[0])
	e := Edge{Kind: Co, Ext: len(shape) > 1 || !coh, Same: true, Src: src, Dst: dst}
	switch {
	case src == Write && dst == Read:
		e.Kind = Rf
	case src == Read:
		e.Kind = Fr
	}
	p.edges = append(p.edges, e)
}

// annotate applies the tag for all accesses.
func (p *nameParser) annotate(all string) error {
	load, store, two := strings.Cut(all, "-")
	if !two {
		store = load
	}
	l, err1 := ParseAnn(load)
	s, err2 := ParseAnn(store)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	for i := range p.ann {
		if p.ann[i] != (Ann{}) {
			return errors.New("annotations of single accesses beside all-" + all)
		}
		p.ann[i] = l
		if n := len(p.edges); p.edges[(i+n-1)%n].Dst == Write {
			p.ann[i] = s
		}
	}
	return nil
}

func dirOf(c byte) Dir {
	if c == 'W' {
		return Write
	}
	return Read
}

// parseTag reads the tag of an edge; Dst is Write if the tag says so.
func parseTag(s string, coh bool) (Edge, error) {
	base, dst := s, Read
	if t, ok := strings.CutSuffix(base, "W"); ok {
		base, dst = t, Write
	} else {
		base = strings.TrimSuffix(base, "R")
	}
	base, same := strings.CutSuffix(base, sameLoc)
	for kind, n := range tagNames {
		if base == n {
			com := kind >= Rf
			return Edge{Kind: kind, Same: same || com || coh, Dst: dst}, nil
		}
	}
	e, ok := fences[base]
	if f, dep := strings.CutPrefix(base, "ctrl"); dep {
		e, ok = fences[f]
		e.Kind = Ctrl
	}
	if !ok {
		return Edge{}, fmt.Errorf("unknown tag %q", s)
	}
	e.Same, e.Dst = same || coh, dst
	return e, nil
}
