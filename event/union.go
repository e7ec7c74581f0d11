package event

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

// KindMixed is the kind of the problems that say that runs of different programs,
// models or options are shown together.
const KindMixed = "mixed"

// ErrConflict says that two runs contradict each other.
var ErrConflict = errors.New("conflicting results")

// part is one of the runs that a set is of.
type part struct {
	config Config
	stats  *Stats
	tests  bitset // those that it names or has cells of
	// told counts the events of each kind, fresh those that no earlier run told.
	told  [kinds]int
	fresh int
}

// The kinds of events that a part counts.
const (
	kindTest = iota
	kindCell
	kindProblem
	kindHistogram
	kinds
)

// union keeps what is needed to make one set of several runs. It begins with the
// second one.
type union struct {
	parts  []*part
	at     map[[2]uint32]int // where the cell of a test and column is
	owner  []uint16          // by cell, the run that told it first
	seen   map[string]bool   // problems and histograms of earlier runs
	coming []string          // those of this one
}

// maxParts bounds the runs of a set.
const maxParts = 1 << 16

// begin takes in the config of a run.
func (s *Set) begin(c *Config) error {
	if s.Config.Schema == 0 {
		s.Config = *c
		return nil
	}
	if s.union == nil {
		s.firstPart()
	}
	u := s.union
	if len(u.parts) == maxParts {
		return fmt.Errorf("more than %d runs", maxParts)
	}
	for _, k := range u.coming {
		u.seen[k] = true
	}
	u.coming = u.coming[:0]
	u.parts = append(u.parts, &part{config: *c})
	return nil
}

// firstPart makes what is there the first run of a union.
func (s *Set) firstPart() {
	p := &part{config: s.Config, stats: s.Stats, fresh: 1}
	u := &union{parts: []*part{p}, at: make(map[[2]uint32]int, len(s.Cells)), owner: make([]uint16, len(s.Cells)), seen: map[string]bool{}}
	for i := range s.Tests {
		p.tests.add(uint32(i))
	}
	for i, c := range s.Cells {
		u.at[[2]uint32{c.Test, c.Column}] = i
	}
	for i := range s.Problems {
		u.coming = append(u.coming, eventKey(&s.Problems[i]))
	}
	for i := range s.Histograms {
		u.coming = append(u.coming, eventKey(&s.Histograms[i]))
	}
	p.told = [kinds]int{s.announced, len(s.Cells), len(s.Problems), len(s.Histograms)}
	s.Stats, s.union = nil, u
}

// eventKey identifies an event. What cannot be written as JSON cannot have come
// from a stream.
func eventKey(e any) string {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Sprintf("%+v", e)
	}
	return string(data)
}

// repeated counts an event of a run, and tells whether an earlier run told it.
func (u *union) repeated(kind int, event any) bool {
	p := u.parts[len(u.parts)-1]
	p.told[kind]++
	k := eventKey(event)
	if u.seen[k] {
		return true
	}
	p.fresh++
	u.coming = append(u.coming, k)
	return false
}

// unite takes in a cell of a further run. What an earlier one told of it must
// agree.
func (s *Set) unite(c *Cell, ref Ref) error {
	u := s.union
	n := len(u.parts) - 1
	p := u.parts[n]
	p.told[kindCell]++
	p.tests.add(ref.Test)
	i, ok := u.at[[2]uint32{ref.Test, ref.Column}]
	if !ok {
		p.fresh++
		u.at[[2]uint32{ref.Test, ref.Column}] = len(s.Cells)
		s.Cells, u.owner = append(s.Cells, ref), append(u.owner, uint16(n))
		return nil
	}
	old := s.Cells[i].Result
	if old == ref.Result {
		return nil
	}
	p.fresh++
	a, err := Agree(&s.Results[old], &s.Results[ref.Result])
	if err != nil {
		return err
	}
	if !a.Agree {
		return s.conflict(c, &s.Results[old], &u.parts[u.owner[i]].config, &p.config)
	}
	if a.New {
		s.Cells[i].Result, u.owner[i] = ref.Result, uint16(n)
	}
	return nil
}

// conflict returns the error of two results for one cell.
func (s *Set) conflict(c *Cell, old *Result, a, b *Config) error {
	why := ""
	if d := differ([]*Config{a, b}); len(d) > 0 {
		why = " (" + strings.Join(d, "; ") + ": show one of them, or compare them with optcheck diff)"
	}
	return fmt.Errorf("%w for %.200q (hash %s) in %s %s %s %s: one run says %s, another %s%s", ErrConflict, c.Test, c.Hash, c.Toolchain,
		c.Target, c.Level, c.Layout,
		old.Brief(), c.Brief(), why)
}

// Close makes one whole of several runs: what they set out to do and have not
// done, and what they do not have in common, is told in config and problems. Of a
// single run, and of the same run several times, all stays as it is.
func (s *Set) Close() error {
	if s.union == nil {
		return nil
	}
	parts := s.union.distinct()
	s.union = nil
	if len(parts) == 1 {
		s.Config, s.Stats = parts[0].config, parts[0].stats
		return nil
	}
	plans := &Plans{}
	for _, p := range parts {
		plan, err := plans.Add(p.config, false) // its tests are those that it named or has cells of
		if err != nil {
			return err
		}
		if plan != nil {
			plan.tests = p.tests
		}
	}
	standing := s.Standing()
	s.Problems = slices.DeleteFunc(s.Problems, func(p Problem) bool { return !standing(&p) })
	s.Config, s.Stats = s.uniteConfigs(parts), nil
	missing, problems := plans.Lacks(s)
	s.Config.Cells = min(len(s.Cells)+missing, MaxPlanned)
	s.Problems = append(s.Problems, problems...)
	if unfinished(parts) {
		s.Problems = append(s.Problems, Problem{Kind: KindIncomplete, Detail: "a run on a device did not come to its end"})
		s.Stats = &Stats{Cells: len(s.Cells), Interrupted: true}
	}
	return nil
}

// distinct leaves out runs that are there once more.
func (u *union) distinct() (out []*part) {
	seen := map[string]bool{}
	for _, p := range u.parts {
		key := eventKey([]any{p.told, p.config, p.stats})
		if p.fresh == 0 && seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, p)
	}
	return out
}

// unfinished reports whether a run on a device did not come to its end, and no
// other one with the same plan did.
func unfinished(parts []*part) bool {
	done := map[string]bool{}
	for _, p := range parts {
		if p.config.OnDevice != nil {
			k := eventKey(&p.config)
			done[k] = done[k] || p.stats != nil && !p.stats.Interrupted
		}
	}
	for _, x := range done {
		if !x {
			return true
		}
	}
	return false
}

// uniteConfigs makes one config of those of several runs, and problems of what
// they do not have in common.
func (s *Set) uniteConfigs(parts []*part) Config {
	var all []*Config
	for _, p := range parts {
		all = append(all, &p.config)
	}
	c := *all[0]
	c.Shard, c.OnDevice = "", nil
	c.Toolchains, c.Targets, c.Levels, c.Layouts = nil, nil, nil, nil
	has := make([]bool, len(s.Tests))
	for _, x := range s.Cells {
		has[x.Test] = true
	}
	tests := 0
	for _, x := range has {
		if x {
			tests++
		}
	}
	for _, x := range all {
		tests = max(tests, x.Tests)
		c.Schema = max(c.Schema, x.Schema)
		for _, t := range x.Toolchains {
			c.Toolchains = uniteToolchain(c.Toolchains, t)
		}
		c.Targets, c.Levels, c.Layouts = appendAll(c.Targets, x.Targets), appendAll(c.Levels, x.Levels), appendAll(c.Layouts, x.Layouts)
	}
	c.Tests = tests
	for _, d := range differ(all) {
		s.Problems = append(s.Problems, Problem{Kind: KindMixed, Detail: d + ": what differs between cells may come from that"})
	}
	join := func(f func(*Config) string) string {
		var list []string
		for _, x := range all {
			list = appendNew(list, f(x))
		}
		return strings.Join(list, " and ")
	}
	c.Tool, c.Build = join(func(c *Config) string { return c.Tool }), join(func(c *Config) string { return c.Build })
	c.Model, c.Source = join(func(c *Config) string { return c.Model }), join(func(c *Config) string { return c.Source })
	c.Claims = ""
	for _, x := range all {
		c.Claims = cmp.Or(c.Claims, x.Claims)
	}
	for _, x := range all {
		c.Plain = c.Plain && x.Plain
		if !slices.Equal(x.Flags, all[0].Flags) {
			c.Flags = nil // the problem names them
		}
		if x.Spec != c.Spec {
			c.Spec = 0
		}
	}
	return c
}

// uniteToolchain adds a toolchain to a list. One that has several builds is there
// once, with all of them.
func uniteToolchain(list []Toolchain, t Toolchain) []Toolchain {
	i := slices.IndexFunc(list, func(x Toolchain) bool { return x.ID == t.ID })
	if i < 0 {
		return append(list, t)
	}
	builds := strings.Split(list[i].Build, " and ")
	list[i].Build = strings.Join(appendNew(builds, t.Build), " and ")
	return list
}

// appendAll appends the words that a list does not have.
func appendAll(list, words []string) []string {
	for _, w := range words {
		list = appendNew(list, w)
	}
	return list
}

// differ says in words what decides results and is not the same in all runs. Runs
// on devices have no part in it but for the program.
func differ(all []*Config) (out []string) {
	say := func(what string, value func(*Config) string) {
		var list []string
		for _, c := range all {
			list = appendNew(list, value(c))
		}
		if len(list) > 1 {
			out = append(out, what+" "+strings.Join(list, " and "))
		}
	}
	say("different builds of optcheck:", func(c *Config) string {
		if c.Build == "" {
			return quoted(c.Tool)
		}
		return fmt.Sprintf("%s (build %.12s)", quoted(c.Tool), c.Build)
	})
	say("different versions of the markers:", func(c *Config) string { return fmt.Sprint(c.Spec) })
	var audits []*Config
	for _, c := range all {
		if c.OnDevice == nil {
			audits = append(audits, c)
		}
	}
	all = audits
	say("different models:", func(c *Config) string { return quoted(c.Model) })
	say("kernels written in different languages:", func(c *Config) string { return quoted(c.Source) })
	say("different options of the compilers:", func(c *Config) string { return fmt.Sprintf("%.200q", c.Flags) })
	say("kernels with markers and without:", func(c *Config) string { return fmt.Sprintf("markers %v", !c.Plain) })
	builds := map[string][]string{}
	var ids []string
	for _, c := range all {
		for _, t := range c.Toolchains {
			ids = appendNew(ids, t.ID)
			builds[t.ID] = appendNew(builds[t.ID], t.Build)
		}
	}
	for _, id := range ids {
		if len(builds[id]) > 1 {
			out = append(out, fmt.Sprintf("different builds of %s: %s", id, strings.Join(builds[id], " and ")))
		}
	}
	return out
}

func quoted(s string) string {
	if s == "" {
		return "(not told)"
	}
	return plain.Clip(plain.Line(s), 80)
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
