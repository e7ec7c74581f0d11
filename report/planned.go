package report

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

// Plan is what runs with equal options set out to do: one whole run, or the
// shards of it that are known.
type Plan struct {
	config Config
	n      int         // shards that there should be; 0 for a whole run
	shards map[int]int // cells of each that is known
	tests  map[uint32]bool
	ended  bool // one of its runs came to an end
}

// Test tells that the runs of a plan have a test of the set.
func (p *Plan) Test(i uint32) { p.tests[i] = true }

// Plans are what several runs set out to do, in the order of the runs: those of
// the same matrix together, each division of it once.
type Plans struct {
	list [][]*Plan
	at   map[string]int
}

// Add takes in what a run set out to do; ended says that it came to its end. It
// returns nil for runs that do not count: those on devices, and those that tell
// no believable number of cells.
func (ps *Plans) Add(c Config, ended bool) (*Plan, error) {
	if c.Campaign != nil || c.Cells <= 0 || c.Cells > MaxPlanned || c.Tests < 0 || c.Tests > MaxPlanned {
		return nil, nil
	}
	i, n := 0, 0
	cells := c.Cells
	if _, err := fmt.Sscanf(c.Shard, "%d/%d", &i, &n); err != nil || i < 1 || i > n {
		i, n = 0, 0
	}
	c.Shard, c.Cells = "", 0 // equal for all of one matrix
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
	k := slices.IndexFunc(ps.list[g], func(p *Plan) bool { return p.n == n })
	if k < 0 {
		k = len(ps.list[g])
		ps.list[g] = append(ps.list[g], &Plan{config: c, n: n, shards: map[int]int{}, tests: map[uint32]bool{}})
	}
	p := ps.list[g][k]
	p.shards[i] = max(cells, p.shards[i])
	p.ended = p.ended || ended
	return p, nil
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
	for _, same := range ps.list {
		// One of them suffices: the matrix may have been divided in several ways.
		least, lacks, of := MaxPlanned+1, 0, (*Plan)(nil)
		for _, p := range same {
			if cells, shards := p.missing(s, have); cells < least || cells == least && shards == 0 {
				least, lacks, of = cells, shards, p
			}
		}
		cells = min(cells+least, MaxPlanned)
		if least > 0 && lacks > 0 {
			problems = append(problems, Problem{Kind: KindIncomplete, Detail: of.lackText(lacks)})
		}
	}
	return cells, problems
}

// missing counts the cells of a plan that are not there, as far as is known, and
// the shards that no run did.
func (p *Plan) missing(s *Set, have [][]uint64) (cells, shards int) {
	// Streams of older versions do not name their tests; nor does a run that was
	// killed at once.
	every := p.n == 0 && len(p.tests) < p.config.Tests && p.ended
	want := make([]uint64, len(s.Tests)/64+1)
	for t := range s.Tests {
		if every || p.tests[uint32(t)] {
			want[t/64] |= 1 << (t % 64)
		}
	}
	covered := 0
	places := map[[2]string]bool{}
	for i, c := range s.Columns {
		if !slices.Contains(p.config.Targets, c.Target) || !slices.Contains(p.config.Levels, c.Level) || !slices.Contains(p.config.Layouts, c.Layout) ||
			!slices.ContainsFunc(p.config.Toolchains, func(t Toolchain) bool { return t.ID == c.Toolchain }) {
			continue
		}
		places[[2]string{c.Toolchain, c.Target}] = true
		for k, w := range want {
			covered += bits.OnesCount64(have[i][k] & w)
		}
	}
	total := 0
	for _, n := range p.shards {
		total += n
	}
	cells = max(0, total-covered)
	if shards = max(0, p.n-len(p.shards)); shards > 0 {
		// How large they are nobody has said: what there is of the matrix tells.
		whole := min(p.config.Tests, MaxPlanned/(1+len(s.Columns))) * len(places) * len(p.config.Levels) * len(p.config.Layouts)
		cells = max(cells, whole-covered, 1)
	}
	return cells, shards
}

// lackText says which shards are missing.
func (p *Plan) lackText(missing int) string {
	const most = 10
	var list []string
	for i := 1; len(list) < min(missing, most); i++ {
		if _, ok := p.shards[i]; !ok {
			list = append(list, strconv.Itoa(i))
		}
	}
	more := ""
	if missing > most {
		more = fmt.Sprintf(" and %d more", missing-most)
	}
	return fmt.Sprintf("of %d shards, no run did %s%s: merge their stores, too", p.n, strings.Join(list, ", "), more)
}
