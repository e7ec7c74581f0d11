package event

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// KindIncomplete is the kind of the problems that say which shards are missing.
// They are made anew at each reading and not believed if they were told.
const KindIncomplete = "incomplete"

// MaxPlanned bounds the numbers of tests and cells that are believed.
const MaxPlanned = 1 << 40

// Plan is what one run set out to do: a whole matrix, or a shard of it.
type Plan struct {
	config Config // without what is not equal for all of one matrix
	i, n   int    // the shard; 0 for a whole run
	cells  int
	tests  bitset
	ended  bool // the run came to its end
}

// Test reports whether the run has a test of the set.
func (p *Plan) Test(i uint32) { p.tests.add(i) }

// bitset is a set of tests.
type bitset []uint64

func (b *bitset) add(i uint32) {
	for int(i/64) >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b *bitset) addAll(c bitset) {
	for len(*b) < len(c) {
		*b = append(*b, 0)
	}
	for i, w := range c {
		(*b)[i] |= w
	}
}

func (b bitset) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// plus returns the number of members of c that b has not.
func (b bitset) plus(c bitset) (n int) {
	for i, w := range c {
		if i < len(b) {
			w &^= b[i]
		}
		n += bits.OnesCount64(w)
	}
	return n
}

// division is the runs that are known of one way to divide a matrix.
type division struct {
	config Config
	n      int         // shards that there should be; 0 for a whole run
	shards map[int]int // cells of each that is known
	tests  bitset
	ended  bool // one of its runs came to an end
}

// matrix is runs of the same tests with equal options.
type matrix struct {
	tests     bitset
	size      int // number of tests
	divisions []*division
}

// Plans are what several runs set out to do, those with equal options together, in
// the order of the runs.
type Plans struct {
	list [][]*Plan
	at   map[string]int
}

// Add takes in what a run set out to do; ended says that it came to its end. It
// returns nil for runs that do not count: those on devices, and those that tell
// no believable number of cells. A shard without cells has done its part.
func (ps *Plans) Add(c Config, ended bool) (*Plan, error) {
	if c.OnDevice != nil || c.Cells < 0 || c.Cells == 0 && c.Shard == "" || c.Cells > MaxPlanned || c.Tests < 0 || c.Tests > MaxPlanned {
		return nil, nil
	}
	p := &Plan{cells: c.Cells, ended: ended}
	if _, err := fmt.Sscanf(c.Shard, "%d/%d", &p.i, &p.n); err != nil || p.i < 1 || p.i > p.n {
		p.i, p.n = 0, 0
	}
	c.Shard, c.Cells = "", 0 // equal for all of one matrix
	p.config = c
	key, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	if ps.at == nil {
		ps.at = map[string]int{}
	}
	g, ok := ps.at[string(key)]
	if !ok {
		g = len(ps.list)
		ps.at[string(key)], ps.list = g, append(ps.list, nil)
	}
	ps.list[g] = append(ps.list[g], p)
	return p, nil
}

// matrices tells runs with equal options apart that are of different tests, as far
// as they named them: of one matrix are as many as the config says, at most. Runs
// with few tests are taken in last, where most of theirs are.
func matrices(runs []*Plan) (list []*matrix) {
	size := map[*Plan]int{}
	for _, p := range runs {
		size[p] = p.tests.count()
	}
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b *Plan) int { return size[b] - size[a] })
	for _, p := range runs {
		var to *matrix
		least := 0 // tests of the run that the matrix has not
		for _, m := range list {
			n := m.tests.plus(p.tests)
			if (n == 0 || m.size+n <= p.config.Tests) && (to == nil || n < least) {
				to, least = m, n
			}
		}
		if to == nil {
			to, least = &matrix{}, size[p]
			list = append(list, to)
		}
		to.size += least
		to.add(p)
	}
	return list
}

func (m *matrix) add(p *Plan) {
	m.tests.addAll(p.tests)
	k := slices.IndexFunc(m.divisions, func(d *division) bool { return d.n == p.n })
	if k < 0 {
		k = len(m.divisions)
		m.divisions = append(m.divisions, &division{config: p.config, n: p.n, shards: map[int]int{}})
	}
	d := m.divisions[k]
	d.tests.addAll(p.tests)
	d.shards[p.i] = max(p.cells, d.shards[p.i])
	d.ended = d.ended || p.ended
}

// Lacks compares the plans with the cells of a set. It returns how many are
// missing, and the problems that say which shards no run did.
func (ps *Plans) Lacks(s *Set) (cells int, problems []Problem) {
	if len(ps.list) == 0 {
		return 0, nil
	}
	have := make([][]uint64, len(s.Columns)) // by column, a bit for each test
	for i := range have {
		have[i] = make([]uint64, len(s.Tests)/64+1)
	}
	for _, c := range s.Cells {
		have[c.Column][c.Test/64] |= 1 << (c.Test % 64)
	}
	for _, runs := range ps.list {
		for _, m := range matrices(runs) {
			// One of them suffices: the matrix may have been divided in several ways.
			least, lacks, of := MaxPlanned+1, 0, (*division)(nil)
			for _, d := range m.divisions {
				if cells, shards := d.missing(s, have); cells < least || cells == least && shards == 0 {
					least, lacks, of = cells, shards, d
				}
			}
			cells = min(cells+least, MaxPlanned)
			if least > 0 && lacks > 0 {
				problems = append(problems, Problem{Kind: KindIncomplete, Detail: of.lackText(lacks)})
			}
		}
	}
	return cells, problems
}

// missing counts the cells of a division that are not there, as far as is known, and
// the shards that no run did.
func (d *division) missing(s *Set, have [][]uint64) (cells, shards int) {
	// Streams of older versions do not name their tests; nor does a run that was
	// killed at once.
	every := d.n == 0 && d.tests.count() < d.config.Tests && d.ended
	want := make([]uint64, len(s.Tests)/64+1)
	for t := range s.Tests {
		if every || t/64 < len(d.tests) && d.tests[t/64]>>(t%64)&1 != 0 {
			want[t/64] |= 1 << (t % 64)
		}
	}
	covered := 0
	places := map[[2]string]bool{}
	for i, c := range s.Columns {
		if !slices.Contains(d.config.Targets, c.Target) || !slices.Contains(d.config.Levels,
			c.Level) || !slices.Contains(d.config.Layouts, c.Layout) ||
			!slices.ContainsFunc(d.config.Toolchains, func(t Toolchain) bool { return t.ID == c.Toolchain }) {
			continue
		}
		places[[2]string{c.Toolchain, c.Target}] = true
		for k, w := range want {
			covered += bits.OnesCount64(have[i][k] & w)
		}
	}
	total := 0
	for _, n := range d.shards {
		total += n
	}
	cells = max(0, total-covered)
	if shards = max(0, d.n-len(d.shards)); shards > 0 {
		// How large they are nobody has said: what there is of the matrix tells.
		whole := min(d.config.Tests, MaxPlanned/(1+len(s.Columns))) * len(places) * len(d.config.Levels) * len(d.config.Layouts)
		cells = max(cells, whole-covered, 1)
	}
	return cells, shards
}

// lackText says which shards are missing.
func (d *division) lackText(missing int) string {
	const most = 10
	var list []string
	for i := 1; len(list) < min(missing, most); i++ {
		if _, ok := d.shards[i]; !ok {
			list = append(list, strconv.Itoa(i))
		}
	}
	more := ""
	if missing > most {
		more = fmt.Sprintf(" and %d more", missing-most)
	}
	return fmt.Sprintf("of %d shards, no run did %s%s: merge their stores, too", d.n, strings.Join(list, ", "), more)
}
