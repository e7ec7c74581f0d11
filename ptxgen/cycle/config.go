package cycle

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"optcheck/depgen"
	"optcheck/internal/strictyaml"
	"optcheck/litmus"
	"optcheck/spec"
)

// Config says which tests to generate: the union of its parts, each test once.
type Config struct {
	Name  string `yaml:"name"`
	Seed  uint64 `yaml:"seed"`  // of the choices that caps make
	Limit int    `yaml:"limit"` // at most so many tests, chosen evenly by Seed; 0: all
	Parts []Part `yaml:"parts"`
	// Opportunities lists kinds of opportunities (or the single word all). The tests of the
	// parts are composed with them instead of being yielded themselves.
	Opportunities []string `yaml:"opportunities"`
	// PerKey limits the number of compositions with one Opportunity.Key, chosen evenly by the
	// seed; 0: all.
	PerKey int `yaml:"per-key"`
	// PerPair, used instead of PerKey, limits the number of compositions of a kind with one
	// sort of synchronisation (acquire, release, fence, barrier, atomic). For kinds that stay
	// at their event it limits the total, preferring events that synchronise.
	PerPair int `yaml:"per-pair"`
}

// Part describes a set of tests as a product: cycles by their threads and edges, annotations,
// placements, state spaces.
type Part struct {
	// Families restricts the cycles to these names (MP, SB, IRIW, CoRR); empty
	// means all with the given numbers of threads.
	Families []string `yaml:"families"`
	Threads  []int    `yaml:"threads"` // least and most threads; default [2, 2]
	Size     []int    `yaml:"size"`    // least and most edges; default no bound
	// Accesses is the maximum number of accesses per thread; default 2.
	Accesses int `yaml:"accesses"`
	// Coherence also generates cycles on one location, whose only edge of program order has an
	// s: CoRR, CoRW1, CoRW2, CoWR, CoWR0, CoWW.
	Coherence bool `yaml:"coherence"`
	// Edges lists the edges, with wildcards. Plain PosXX edges are used in
	// coherence cycles only: elsewhere Rfi, Fri and Coi say the same.
	Edges []string `yaml:"edges"`
	// Annotations lists how accesses are performed: cg for loads and stores,
	// ca/cg for loads/stores. Default [weak].
	Annotations []string `yaml:"annotations"`
	// Spread says which accesses are annotated alike: test (one entry for all accesses; the
	// default), thread (an entry per thread), access (each on its own).
	Spread string `yaml:"spread"`
	// Levels lists what may lie between two threads: warp (one warp), cta
	// (warps of a CTA), cluster, gpu (different CTAs), sys. Default [gpu].
	Levels []string `yaml:"levels"`
	// Regions lists the state spaces of locations: global, shared. Default
	// [global]. Shared needs all its threads in one CTA.
	Regions []string `yaml:"regions"`
	// Schemes lists the schemes of false dependencies. Default [and-high-bit].
	Schemes []string `yaml:"schemes"`
	// PerCycle limits the number of tests with one edge list, chosen by the seed; 0: all.
	PerCycle int `yaml:"per-cycle"`
	// Cycles lists the cycles themselves, as Parse reads them, instead of families,
	// edges and annotations. A * stands for each of Scopes.
	Cycles []string `yaml:"cycles"`
	// Scopes are the scopes that a * in Cycles stands for: cta, cluster, gpu, sys.
	Scopes []string `yaml:"scopes"`
}

//go:embed presets/*.yaml
var presetFiles embed.FS

// Presets lists the names of the built-in configurations, sorted.
func Presets() []string {
	entries, err := presetFiles.ReadDir("presets")
	if err != nil {
		return nil // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	sort.Strings(names)
	return names
}

// PresetText returns the text of a built-in configuration.
func PresetText(name string) ([]byte, error) {
	if !slices.Contains(Presets(), name) {
		return nil, fmt.Errorf("unknown preset %q (%s)", name, strings.Join(Presets(), ", "))
	}
	return presetFiles.ReadFile("presets/" + name + ".yaml")
}

// Preset returns the generator of a built-in configuration.
func Preset(name string) (*Generator, error) {
	text, err := PresetText(name)
	if err != nil {
		return nil, err
	}
	c, err := ReadConfig(name+".yaml", text)
	if err != nil {
		return nil, err
	}
	return c.Generator()
}

// maxConfig bounds a configuration file.
const maxConfig = 1 << 20

// ReadConfig reads a configuration. Unknown fields are errors.
func ReadConfig(file string, text []byte) (*Config, error) {
	c := &Config{}
	switch err := strictyaml.Decode(text, maxConfig, c); {
	case errors.Is(err, strictyaml.ErrMore):
		return nil, fmt.Errorf("%s: something stands behind the configuration", file)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if _, err := c.Generator(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// FieldError says which field of a configuration is wrong.
type FieldError struct {
	Field string // parts[0].edges[2]
	Err   error
}

// Error implements error.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }

func field(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &FieldError{fmt.Sprintf(format, args...), err}
}

// Generator checks the configuration and returns its generator. Errors are of
// type *FieldError.
func (c *Config) Generator() (*Generator, error) {
	g := &Generator{config: *c}
	switch {
	case c.Limit < 0:
		return nil, field(fmt.Errorf("%d is negative", c.Limit), "limit")
	case len(c.Parts) == 0:
		return nil, field(errors.New("a configuration needs at least one part"), "parts")
	}
	for i := range c.Parts {
		p, err := c.Parts[i].compile()
		if err != nil {
			var fe *FieldError
			if errors.As(err, &fe) {
				return nil, field(fe.Err, "parts[%d].%s", i, fe.Field)
			}
			return nil, err
		}
		g.parts = append(g.parts, p)
	}
	switch {
	case c.PerKey < 0:
		return nil, field(fmt.Errorf("%d is negative", c.PerKey), "per-key")
	case c.PerPair < 0:
		return nil, field(fmt.Errorf("%d is negative", c.PerPair), "per-pair")
	case c.PerKey > 0 && c.PerPair > 0:
		return nil, field(errors.New("per-key is given as well"), "per-pair")
	}
	for i, name := range c.Opportunities {
		if lookupKind(name) == nil && (name != allKinds || len(c.Opportunities) > 1) {
			return nil, field(fmt.Errorf("unknown kind %q (all, or some of %s)", name, strings.Join(OpportunityKinds(), ", ")),
				"opportunities[%d]", i)
		}
	}
	return g, nil
}

// pair is how loads and stores are annotated together.
type pair struct{ ld, st Ann }

// part is a Part ready for use.
type part struct {
	families  []string
	threads   [2]int
	size      [2]int
	accesses  int
	coherence bool
	ext       map[Kind]bool
	back      map[Kind]bool // Rfi, Fri, Coi
	inner     []Edge        // within a thread, sorted
	pairs     []pair
	spread    string
	levels    Levels
	regions   []litmus.Space
	schemes   []*depgen.Scheme
	perCycle  int
	listed    map[string]*Cycle   // by the names of their cycles, if the part lists them
	names     []string            // of listed
	runs      map[string][][]Edge // by shape
}

func (p *Part) compile() (*part, error) {
	q := &part{families: p.Families, accesses: p.Accesses, coherence: p.Coherence, spread: p.Spread, perCycle: p.PerCycle,
		ext: map[Kind]bool{}, back: map[Kind]bool{}}
	var err error
	if q.threads, err = bounds(p.Threads, 1, spec.MaxThreads, [2]int{2, 2}); err != nil {
		return nil, field(err, "threads")
	}
	if q.size, err = bounds(p.Size, 2, maxEdges, [2]int{2, maxEdges}); err != nil {
		return nil, field(err, "size")
	}
	if q.accesses == 0 {
		q.accesses = 2
	}
	if q.accesses < 2 || q.accesses > 4 {
		return nil, field(fmt.Errorf("%d is not 2, 3 or 4", p.Accesses), "accesses")
	}
	if p.PerCycle < 0 {
		return nil, field(fmt.Errorf("%d is negative", p.PerCycle), "per-cycle")
	}
	for i, f := range p.Families {
		if _, coh, ok := shapeOfName(f); !ok {
			return nil, field(fmt.Errorf("unknown family %q", f), "families[%d]", i)
		} else if coh && !p.Coherence {
			return nil, field(fmt.Errorf("%s needs coherence: true", f), "families[%d]", i)
		}
	}
	if len(p.Cycles) > 0 {
		for _, step := range []func(*Part) error{q.list, q.places, q.rest} {
			if err := step(p); err != nil {
				return nil, err
			}
		}
		return q, nil
	}
	for _, step := range []func(*Part) error{q.edges, q.annotations, q.places, q.rest} {
		if err := step(p); err != nil {
			return nil, err
		}
	}
	q.makeRuns()
	return q, nil
}

func bounds(v []int, lo, hi int, def [2]int) ([2]int, error) {
	switch len(v) {
	case 0:
		return def, nil
	case 2:
		if v[0] >= lo && v[1] >= v[0] && v[1] <= hi {
			return [2]int{v[0], v[1]}, nil
		}
	}
	return def, fmt.Errorf("%v is not a least and a most between %d and %d", v, lo, hi)
}

func (q *part) edges(p *Part) error {
	if len(p.Edges) == 0 {
		return field(errors.New("no edges"), "edges")
	}
	for i, s := range p.Edges {
		es, err := ParseEdge(s)
		if err != nil {
			return field(err, "edges[%d]", i)
		}
		for _, e := range es {
			switch {
			case e.Ext:
				q.ext[e.Kind] = true
				continue
			case e.Com():
				q.back[e.Kind] = true
			}
			q.inner = append(q.inner, e)
		}
	}
	q.inner = sortEdges(q.inner)
	return nil
}

func (q *part) annotations(p *Part) error {
	list := p.Annotations
	if len(list) == 0 {
		list = []string{"weak"}
	}
	for i, s := range list {
		ld, st, two := strings.Cut(s, "/")
		if !two {
			st = ld
		}
		l, err := ParseAnn(ld)
		if err == nil {
			err = l.allowed(Read)
		}
		if err != nil {
			return field(err, "annotations[%d]", i)
		}
		w, err := ParseAnn(st)
		if err == nil {
			err = w.allowed(Write)
		}
		if err != nil {
			return field(err, "annotations[%d]", i)
		}
		q.pairs = append(q.pairs, pair{l, w})
	}
	switch q.spread {
	case "":
		q.spread = "test"
	case "test", "thread", "access":
	default:
		return field(fmt.Errorf("%q is not test, thread or access", q.spread), "spread")
	}
	return nil
}

func (q *part) places(p *Part) error {
	levels := p.Levels
	if len(levels) == 0 {
		levels = []string{"gpu"}
	}
	for i, s := range levels {
		switch s {
		case "warp":
			q.levels.Warp = true
		case "cta":
			q.levels.CTA = true
		case "cluster":
			q.levels.Cluster = true
		case "gpu":
			q.levels.GPU = true
		case "sys":
			q.levels.Sys = true
		default:
			return field(fmt.Errorf("%q is not warp, cta, cluster, gpu or sys", s), "levels[%d]", i)
		}
	}
	return nil
}

func (q *part) rest(p *Part) error {
	regions := p.Regions
	if len(regions) == 0 {
		regions = []string{"global"}
	}
	for i, s := range regions {
		sp := litmus.Global
		switch s {
		case "global":
		case "shared":
			sp = litmus.Shared
		default:
			return field(fmt.Errorf("%q is not global or shared", s), "regions[%d]", i)
		}
		if !slices.Contains(q.regions, sp) {
			q.regions = append(q.regions, sp)
		}
	}
	slices.Sort(q.regions)
	schemes := p.Schemes
	if len(schemes) == 0 {
		schemes = []string{depgen.Default.Name}
	}
	for i, s := range schemes {
		sch, err := depgen.Lookup(s)
		if err != nil {
			return field(err, "schemes[%d]", i)
		}
		if !slices.Contains(q.schemes, sch) {
			q.schemes = append(q.schemes, sch)
		}
	}
	return nil
}
