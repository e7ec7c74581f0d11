package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"optcheck/report"
)

// kindIncomplete is the kind of the problems that say which shards are missing.
// They are made anew at each reading and not believed if they are stored.
const kindIncomplete = "incomplete"

// maxPlanned bounds the numbers of tests and cells that are believed.
const maxPlanned = 1 << 40

// plan is what runs with equal options set out to do: one whole run, or the
// shards of it that the store knows.
type plan struct {
	config report.Config
	n      int         // shards that there should be; 0 for a whole run
	shards map[int]int // cells of each that is known
	tests  map[uint32]bool
	ended  bool // one of its runs came to an end
}

// planned compares what the runs of a setting set out to do with what is there.
// It corrects the number of cells in the set's config, and adds a problem for
// shards that no run did: a store that lacks something must not pass for whole.
func (l *Live) planned(ctx context.Context, setting int64) error {
	if l.view.Matrix != nil || l.view.Tests != nil {
		return nil // the caller knows what should be there
	}
	plans, err := l.plans(ctx, setting)
	if err != nil || len(plans) == 0 {
		return err
	}
	have := make([][]uint64, len(l.Columns)) // by column, a bit for each test
	for i := range have {
		have[i] = make([]uint64, len(l.Tests)/64+1)
	}
	for _, c := range l.Cells {
		have[c.Column][c.Test/64] |= 1 << (c.Test % 64)
	}
	for _, same := range plans {
		// One of them suffices: the matrix may have been divided in several ways.
		least, lacks, of := maxPlanned+1, 0, (*plan)(nil)
		for _, p := range same {
			if cells, shards := l.missing(p, have); cells < least || cells == least && shards == 0 {
				least, lacks, of = cells, shards, p
			}
		}
		l.Config.Cells = min(l.Config.Cells+least, maxPlanned)
		if least > 0 && lacks > 0 {
			l.Problems = append(l.Problems, report.Problem{Kind: kindIncomplete, Detail: of.lackText(lacks)})
		}
	}
	return nil
}

// plans lists what the runs of a setting set out to do, in the order of the runs:
// those of the same matrix together, each division of it once. Runs with builds of compilers that are not shown, and runs on
// devices, do not count.
func (l *Live) plans(ctx context.Context, setting int64) (out [][]*plan, err error) {
	at, byRun := map[string]int{}, map[int64]*plan{}
	err = l.s.each(ctx, "SELECT id, config, EXISTS(SELECT 1 FROM event e WHERE e.run=run.id AND e.kind=?) FROM run WHERE setting=? ORDER BY id", []any{kindStats, setting}, func(scan func(...any) error) error {
		var id int64
		var data []byte
		var ended bool
		if err := scan(&id, &data, &ended); err != nil {
			return err
		}
		c, err := configOf(id, data)
		if err != nil {
			return err
		}
		if c.Campaign != nil || c.Cells <= 0 || c.Cells > maxPlanned || c.Tests < 0 || c.Tests > maxPlanned || !l.shown(&c) {
			return nil
		}
		i, n := 0, 0
		cells := c.Cells
		if _, err := fmt.Sscanf(c.Shard, "%d/%d", &i, &n); err != nil || i < 1 || i > n {
			i, n = 0, 0
		}
		c.Shard, c.Cells = "", 0 // equal for all of one matrix
		key, err := json.Marshal(c)
		if err != nil {
			return err
		}
		g, ok := at[string(key)]
		if !ok {
			g = len(out)
			at[string(key)], out = g, append(out, nil)
		}
		k := slices.IndexFunc(out[g], func(p *plan) bool { return p.n == n })
		if k < 0 {
			k = len(out[g])
			out[g] = append(out[g], &plan{config: c, n: n, shards: map[int]int{}, tests: map[uint32]bool{}})
		}
		p := out[g][k]
		p.shards[i], byRun[id] = max(cells, p.shards[i]), p
		p.ended = p.ended || ended
		return nil
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	err = l.s.each(ctx, "SELECT e.run, e.ref, e.count FROM event e JOIN run r ON r.id=e.run WHERE r.setting=? AND e.kind=?", []any{setting, kindTests}, func(scan func(...any) error) error {
		var run, ref, count int64
		if err := scan(&run, &ref, &count); err != nil {
			return err
		}
		if p := byRun[run]; p != nil {
			for id := ref; id < ref+min(count, int64(len(l.tests))); id++ {
				if t, ok := l.tests[id]; ok && t != none {
					p.tests[t] = true
				}
			}
		}
		return nil
	})
	return out, err
}

// shown reports whether the set shows the builds of a run's toolchains.
func (l *Live) shown(c *report.Config) bool {
	for _, t := range c.Toolchains {
		for _, k := range l.Config.Toolchains {
			if k.ID == t.ID && k != t {
				return false
			}
		}
	}
	return true
}

// missing counts the cells of a plan that are not there, as far as is known, and
// the shards that no run did.
func (l *Live) missing(p *plan, have [][]uint64) (cells, shards int) {
	// Streams of older versions do not name their tests; nor does a run that was
	// killed at once.
	every := p.n == 0 && len(p.tests) < p.config.Tests && p.ended
	want := make([]uint64, len(l.Tests)/64+1)
	for t := range l.Tests {
		if every || p.tests[uint32(t)] {
			want[t/64] |= 1 << (t % 64)
		}
	}
	covered := 0
	places := map[[2]string]bool{}
	for i, c := range l.Columns {
		if !slices.Contains(p.config.Targets, c.Target) || !slices.Contains(p.config.Levels, c.Level) || !slices.Contains(p.config.Layouts, c.Layout) ||
			!slices.ContainsFunc(p.config.Toolchains, func(t report.Toolchain) bool { return t.ID == c.Toolchain }) {
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
		whole := min(p.config.Tests, maxPlanned/(1+len(l.Columns))) * len(places) * len(p.config.Levels) * len(p.config.Layouts)
		cells = max(cells, whole-covered, 1)
	}
	return cells, shards
}

// lackText says which shards are missing.
func (p *plan) lackText(missing int) string {
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
